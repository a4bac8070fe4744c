//! Unit tests of `src/rules/parse.rs`.

use super::*;

fn errors(text: &str) -> Vec<String> {
    parse(text, "f.rules", RuleKind::Bash, Owner::Operator).1.iter().map(ToString::to_string).collect()
}

#[test]
fn a_rule_is_parsed_with_all_its_clauses() {
    let text = "# version: 1.0.0\n\nblock \"a-b\"\n  match_any\n    ^x  y \n    z\n  except_when q\n  nudge \"do {command}\"\n  hits x  y\n  misses w\n";
    let (rules, errors) = parse(text, "f.rules", RuleKind::Bash, Owner::Operator);
    assert_eq!(errors, []);
    let rule = &rules[0];
    assert_eq!((rule.id.as_str(), rule.tier, rule.source.line), ("a-b", Tier::Block, 3));
    assert_eq!(rule.matcher, Matcher::Patterns(vec![Pattern::new("^x  y "), Pattern::new("z")].into()));
    assert_eq!(rule.nudge, "do {command}");
    assert_eq!((rule.hits().count(), rule.misses().count(), rule.except_when.len()), (1, 1, 1));
    assert_eq!(rule.hits().map(|hit| (hit.line, hit.text().to_owned())).collect::<Vec<_>>(), [(9, "x  y".to_owned())]);
}

#[test]
fn all_errors_of_a_file_are_reported_with_position_and_help() {
    let text = "blok \"a\"\n  match x\nblock \"b\"\n  match x\n  nuge \"y\"\nblock \"\"\nblock \"d\"\n  validator Nothing\n  nudge \"{comand}\"\nblock \"e\"\n  match x\n";
    let found = errors(text);
    let expected = [
        "f.rules:1:1: unknown tier `blok`\n  help: did you mean `block`?",
        "f.rules:2:1: a clause outside of a rule",
        "f.rules:5:3: unknown clause `nuge`\n  help: did you mean `nudge`?",
        "f.rules:6:7: a rule without a name\n  help: write `block \"my-rule\"`",
        "f.rules:8:13: unknown validator `Nothing`",
        "f.rules:9:10: unknown variable `{comand}`\n  help: did you mean `{command}`?",
        "f.rules:10:1: a rule without a nudge",
    ];
    assert_eq!(found.len(), expected.len(), "{found:#?}");
    for (found, expected) in found.iter().zip(expected) {
        assert!(found.starts_with(expected), "{found}");
    }
}

#[test]
fn of_rules_with_one_name_only_the_first_is_kept() {
    let rule = |name: &str, pattern: &str| format!("block \"{name}\"\n  match {pattern}\n  nudge \"n\"\n");
    let text = [rule("b", "x"), rule("a", "y"), rule("b", "z")].concat();
    let (rules, errors) = parse(text, "f.rules", RuleKind::Bash, Owner::Operator);
    assert_eq!(rules.iter().map(|rule| (rule.id.as_str(), rule.source.line)).collect::<Vec<_>>(), [("b", 1), ("a", 4)]);
    let errors: Vec<String> = errors.iter().map(ToString::to_string).collect();
    assert_eq!(errors, ["f.rules:7:7: a second rule named `b`\n  help: the first one is on line 1"]);
}

#[test]
fn a_name_is_any_text_between_quotes() {
    let long = "n".repeat(100);
    for name in ["My Rule 2", "Größe: ätzend!", "a'b", "unnamed", "rune", "x/rune/y", "\u{1b}[31m", long.as_str()] {
        let (rules, errors) = parse(
            format!("block  \"{name}\" \n  match x\n  nudge \"n\"\n"),
            "f.rules",
            RuleKind::Bash,
            Owner::Operator,
        );
        assert_eq!((rules.len(), errors), (1, vec![]), "{name}");
        assert_eq!(rules[0].id.as_str(), name);
    }
    let (rules, _) =
        parse("block \"a\u{1b}`b\"\n  match x\n  nudge \"n\"\n", "f.rules", RuleKind::Bash, Owner::Operator);
    assert_eq!(rules[0].id.to_string(), r"a\u{1b}\u{60}b", "it is shown escaped");
}

#[test]
fn an_invalid_name_is_an_error_with_its_position() {
    let long = format!("\"{}\"", "n".repeat(101));
    for (name, expected) in [
        ("\"\"", "a rule without a name"),
        ("\"  \"", "a rule without a name"),
        ("x", "the name of a rule is not in double quotes"),
        ("\"x", "the name of a rule is not in double quotes"),
        ("\"", "the name of a rule is not in double quotes"),
        ("\"a\"b\"", "a double quote within the name of a rule"),
        (&long, "the name of a rule is longer than 100 characters"),
        ("\"rune/limit\"", "names that begin with `rune/` are reserved for failures of the guard"),
        ("\" Rune/x\"", "names that begin with `rune/` are reserved for failures of the guard"),
    ] {
        for owner in [Owner::Operator, Owner::Project] {
            let text = format!("suspicious {name}\n  match x\n  nudge \"n\"\n");
            let (rules, errors) = parse(text, "f.rules", RuleKind::Bash, owner);
            let errors: Vec<String> = errors.iter().map(ToString::to_string).collect();
            assert_eq!(rules, []);
            let expected = format!("f.rules:1:12: {expected}\n  help: write `suspicious \"my-rule\"`");
            assert_eq!(errors, [expected], "{name}");
        }
    }
}

#[test]
fn a_file_without_rules_is_an_error() {
    for text in ["", "# version: 1\n", "\n\n"] {
        assert_eq!(errors(text).len(), 1, "{text:?}");
    }
}

#[test]
fn definitions_are_replaced_in_patterns_and_in_later_definitions() {
    let text = "define one (a|b)\ndefine two {one}c\nsuspicious \"x\"\n  match ^{two}{2}$\n  nudge \"n\"\n";
    let (rules, found) = parse(text, "f.rules", RuleKind::Bash, Owner::Operator);
    assert_eq!(found, []);
    let Matcher::Patterns(patterns) = &rules[0].matcher else { panic!("{:?}", rules[0].matcher) };
    assert_eq!(patterns[0].matches("acbc"), Ok(true));
    assert_eq!(patterns[0].matches("ac"), Ok(false));
    for text in ["define One x\n", "define one\n", "define one x\ndefine one y\n"] {
        assert!(errors(text)[0].starts_with("f.rules:"), "{text}");
    }
}
