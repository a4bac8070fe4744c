//! Properties of parsed shell text, shared by the fuzzer and the test of its stored inputs.

use rune::path::Place;
use rune::programs::Catalogue;
use rune::shell;

/// Panics if a property does not hold for `line`.
pub fn check(line: &str) {
    let place = Place { cwd: "/home/u/proj".to_owned(), home: Some("/home/u".to_owned()), project: None };
    let reading = shell::read(line, &place, &Catalogue::shipped());
    for command in &reading.commands {
        assert!(!command.canonical.is_empty());
        assert!(command.span.start <= line.len());
    }
    // The canonical text of a command that is known entirely is parsed as the same command.
    let whole = reading.commands.iter().filter(|command| !command.is_dynamic());
    for command in whole.filter(|command| command.args.iter().all(|arg| !arg.glob)).take(20) {
        let again = shell::read(&command.canonical, &place, &Catalogue::shipped());
        let first = again.commands.first().map(|again| again.canonical.as_str());
        assert_eq!(first, Some(command.canonical.as_str()), "{line:?}");
    }
}
