//! Unit tests of `src/commands/help.rs`.

use super::*;

#[test]
fn every_topic_prints_its_file() {
    for (topic, file) in [
        ("rules", "rules/README.md"),
        ("config", "config/README.md"),
        ("presets", "presets/README.md"),
        ("architecture", "src/README.md"),
        ("receipts", "src/receipt/FORMAT.md"),
        ("tests", "tests/README.md"),
        ("benches", "benches/README.md"),
    ] {
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(file);
        assert_eq!(find_topic(topic), Some(std::fs::read_to_string(path).unwrap().as_str()), "{topic}");
    }
    assert_eq!(TOPICS.len(), 7);
}

#[test]
fn an_unknown_word_gets_the_nearest_topic_or_command() {
    let hint = |word| unknown_word(word, &["hooks".to_owned()]).lines().last().map(str::to_owned);
    assert_eq!(hint("preset").as_deref(), Some("  help: did you mean `presets`?"));
    assert_eq!(hint("hook").as_deref(), Some("  help: did you mean `hooks`?"));
    assert!(hint("emacs").is_some_and(|help| help.contains("architecture")));
}
