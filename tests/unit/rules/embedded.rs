//! Unit tests of `src/rules/embedded.rs`.

use super::super::parse::parse_text;
use super::*;

#[test]
fn the_build_script_and_the_parser_produce_the_same_rules() {
    assert_eq!(EMBEDDED_RULES.len(), RuleKind::all().len(), "every file in rules/ has a kind");
    for kind in RuleKind::all() {
        let (name, text) = (kind.name(), kind.embedded());
        let (parsed, errors) = parse_text(text, name, kind, Owner::Operator);
        assert_eq!(errors, []);
        assert_eq!(rules(text, name, kind, Owner::Operator), Some(parsed), "{name}");
    }
}
