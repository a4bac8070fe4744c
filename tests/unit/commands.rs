//! Unit tests of `src/commands.rs`.

use super::*;

#[test]
fn the_help_of_every_verb_has_an_example_of_it() {
    let mut verbs = vec![(vec!["rune".to_owned()], build_cli())];
    let mut seen = 0;
    while let Some((path, verb)) = verbs.pop() {
        seen += 1;
        let path_text = path.join(" ");
        let help = verb.get_after_help().map(ToString::to_string).unwrap_or_default();
        assert!(help.starts_with("Example") && help.contains(&path_text), "{path_text}: {help}");
        for below in verb.get_subcommands() {
            let path = path.iter().cloned().chain([below.get_name().to_owned()]).collect();
            verbs.push((path, below.clone()));
        }
    }
    assert!(seen > 15, "{seen}");
    build_cli().debug_assert();
}
