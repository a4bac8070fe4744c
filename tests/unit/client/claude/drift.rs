//! Unit tests of `src/client/claude/drift.rs`.

use super::*;
use crate::client::claude::register::install;

#[test]
fn every_difference_is_named() {
    let own = Registration { program: "/opt/rune".to_owned(), words: Vec::new(), file: None };
    let text = install(&own, "", None).unwrap();
    let drift = |text: &str| -> Vec<String> {
        drift(&own, &SettingsJson::read(text).unwrap()).iter().map(ToString::to_string).collect()
    };
    assert_eq!(drift(&text), [] as [&str; 0]);
    for (from, to, named) in [
        ("\"SessionEnd\"", "\"SessionEnds\"", "SessionEnd: not registered"),
        ("\"SessionEnd\"", "\"Stop\"", "Stop: registered without need"),
        ("\"matcher\": \"^(", "\"matcher\": \"(", "PostToolUse: differs in matcher"),
        ("\"onFailure\": \"block\"", "\"onFailure\": \"continue\"", "PreToolUse: differs in onFailure"),
        ("\"timeout\": 10,", "\"timeout\": 10, \"async\": true,", "PreToolUse: differs in async"),
        ("\"timeout\": 10,", "\"if\": \"Bash\", \"timeout\": 1,", "PreToolUse: differs in timeout, if"),
    ] {
        let changed = text.replacen(from, to, 1);
        assert!(drift(&changed).contains(&named.to_owned()), "{named}: {:?}", drift(&changed));
    }
}
