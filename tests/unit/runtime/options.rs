//! Unit tests of `src/runtime/options.rs`.

use super::*;

fn parse(line: &str) -> Options {
    Options::parse(&line.split_whitespace().map(OsString::from).collect::<Vec<_>>())
}

#[test]
fn both_spellings_of_a_value_are_read() {
    for line in ["pre --preset strict --config-dir /c", "pre bash --preset=strict --config-dir=/c --data-dir /d"] {
        let options = parse(line);
        assert_eq!(options.phase, Some(Phase::Before), "{line}");
        assert_eq!(options.preset.as_deref(), Some("strict"), "{line}");
        assert_eq!(options.dirs.config, Some(PathBuf::from("/c")), "{line}");
        assert_eq!(options.failures, [], "{line}");
    }
}

#[test]
fn every_mistake_is_a_failure() {
    for line in
        ["--prset strict", "--preset", "prr", "--client emacs", "--config-dir relative", "--client-dir ~/x", "pre post"]
    {
        assert!(!parse(line).failures.is_empty(), "{line}");
    }
}
