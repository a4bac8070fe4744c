//! Unit tests of `src/runtime/agent_check/programs.rs`.

use super::*;

#[test]
fn the_file_of_names_can_be_read() {
    let people: People = toml::from_str(include_str!("../../../../rules/people.toml")).unwrap();
    assert!(people.terminals.iter().any(|name| name == "xterm"));
    assert!(people.markers.iter().any(|name| name == "CLAUDECODE"));
}
