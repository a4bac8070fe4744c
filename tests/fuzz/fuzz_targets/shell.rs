//! Any text is read, quickly, and reading it again gives the same.
#![no_main]

use libfuzzer_sys::fuzz_target;
use rune::event::Place;
use rune::shell;

fuzz_target!(|bytes: &[u8]| {
    let Ok(line) = std::str::from_utf8(bytes) else { return };
    let place = Place { cwd: "/home/u/proj".to_owned(), home: Some("/home/u".to_owned()) };
    let reading = shell::read(line, &place);
    for command in &reading.commands {
        assert!(!command.canonical.is_empty());
        assert!(command.span.start <= line.len());
    }
    // A command that is known, written canonically, is read as itself.
    for command in reading.commands.iter().filter(|command| command.known && !command.is_dynamic()).take(20) {
        let plain = command.args.iter().all(|arg| !arg.glob);
        if plain {
            let again = shell::read(&command.canonical, &place);
            let first = again.commands.first().map(|again| again.canonical.as_str());
            assert_eq!(first, Some(command.canonical.as_str()), "{line:?}");
        }
    }
});
