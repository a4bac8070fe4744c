//! Unit tests of `src/policy/layer.rs`.

use super::super::{DEFAULT, PRESETS};
use super::*;

#[test]
fn embedded_layers_equal_the_parsed_files() {
    for (name, text) in [DEFAULT].into_iter().chain(PRESETS) {
        assert_eq!(Layer::embedded(name), Some(Layer::read(text, name).unwrap()), "{name}");
    }
}

#[test]
fn errors_have_a_position_a_message_and_a_help_line() {
    for (text, expected) in [
        ("prset = 'x'", "f.toml:1:1: unknown field `prset`\n  help: did you mean `preset`?"),
        ("\n[quarantine]\n  results = 'wrapp'", "f.toml:3:13: unknown variant `wrapp`\n  help: did you mean `wrap`?"),
        ("[decision]\nfailure = 'pass'", "f.toml:2:11: unknown variant `pass`\n  help: expected `ask` or `deny`"),
        (
            "[[exceptions]]\nrule = 'x'\nreason = 'r'\nid = 'Two words'",
            "f.toml:2:8: invalid value for `id`: expected at most 32 lower-case letters, digits and `-`",
        ),
        ("[decision]\nfailure = 'denny'", "f.toml:2:11: unknown variant `denny`\n  help: did you mean `deny`?"),
    ] {
        assert_eq!(Layer::read(text, "f.toml").map(drop).map_err(|error| error.to_string()), Err(expected.to_owned()));
    }
    assert!(Layer::read("a = ", "f.toml").is_err_and(|error| error.to_string().starts_with("f.toml:1:")));
}
