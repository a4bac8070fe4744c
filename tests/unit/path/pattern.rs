//! Unit tests of `src/path/pattern.rs`.

use super::*;
use crate::path::Place;
use proptest::prelude::*;

#[test]
fn wildcards_on_both_sides_meet() {
    let place = Place { cwd: "/p".into(), home: Some("/home/u".into()), project: None };
    let at = |path: &str| AbsPath::resolve(path, &place);
    let home = at("~");
    for (pattern, path, reach, expected) in [
        ("~/.ssh/**", "~/.ssh/id", Reach::Itself, true),
        ("~/.ssh/**", "~/.ssh", Reach::Itself, true),
        ("~/.ssh/**", "~/.SSH/id", Reach::Itself, true),
        ("~/.ssh/**", "/p/.ssh/id", Reach::Itself, false),
        ("**/.claude/settings*.json", "/p/.claude/settings.local.json", Reach::Itself, true),
        ("**/.claude/settings*.json", "/p/.claude/*", Reach::Itself, true),
        ("**/.claude/settings*.json", "/p/.claude/set*", Reach::Itself, true),
        ("**/.claude/settings*.json", "/p/.claude/agents/x.md", Reach::Itself, false),
        ("**/.claude/settings*.json", "/p/.claude", Reach::Below, true),
        ("**/.claude/settings*.json", "/p/.claude", Reach::Itself, false),
        ("**/.claude/settings*.json", "/p/build", Reach::Below, false),
        ("**/.git/hooks/**", "/p/.git", Reach::Below, true),
        ("**/.env", "/p/.en?", Reach::Itself, true),
        ("**/.env", "/p/.en[vw]", Reach::Itself, true),
        ("**/.env", "/p/*", Reach::Itself, false),
        ("**/.env", "/p/x.env", Reach::Itself, false),
        ("/etc/**", "/etc/x/y", Reach::Itself, true),
    ] {
        assert_eq!(touches(Glob::new(pattern), &at(path), reach, Some(&home)), expected, "{pattern} {path} {reach:?}");
    }
}

#[test]
fn a_search_is_about_what_it_names() {
    let place = Place { cwd: "/home/u/p".into(), home: Some("/home/u".into()), project: None };
    let at = |path: &str| AbsPath::resolve(path, &place);
    let home = at("~");
    for (pattern, path, reach, expected) in [
        ("~/.ssh/id_*", "~/**/id_x", Reach::Itself, true),
        ("~/.ssh/id_*", "/**/id_x", Reach::Itself, true),
        ("~/.ssh/id_*", "~/**/?ssh/*", Reach::Itself, true),
        ("~/.ssh/id_*", "~/**/[.]ssh/**", Reach::Itself, true),
        ("~/.ssh/id_*", "~/.ssh/**", Reach::Itself, true),
        ("~/.ssh/id_*", "~/**/*.log", Reach::Itself, false),
        ("~/.ssh/id_*", "~/**/*test*", Reach::Itself, false),
        ("~/.ssh/id_*", "~/**", Reach::Below, false),
        ("~/.ssh/id_*", "/home/u/p/**/id_x", Reach::Itself, false),
        ("~/.ssh/*.pem", "~/**/*.pem", Reach::Itself, true),
        ("~/.ssh/**", "~/**/.ssh", Reach::Itself, true),
        ("~/.ssh/**", "~/**/.ssh/a/b", Reach::Itself, true),
        ("~/.gnupg/**", "~/**/*.log", Reach::Itself, false),
        ("**/.claude/hooks/**", "~/**/.claude", Reach::Below, true),
        ("**/.claude/hooks/**", "~/**/.claude", Reach::Itself, false),
        ("**/.claude/hooks/**", "/home/u/p/.claude/**/*.md", Reach::Itself, false),
        ("**/.git/config", "/home/u/p/**/.git/**", Reach::Itself, true),
        ("**/a/**/b", "/**/a/**/x/**/b", Reach::Itself, true),
        ("**/a/**/b", "/**/c/**/b/c", Reach::Itself, false),
        ("**/.mcp.json", "/home/u/p/**/*.json", Reach::Itself, false),
        ("**/.mcp.json", "/home/u/p/**/*mcp.json", Reach::Itself, true),
        ("~/.claude.json", "~/**/*.json", Reach::Itself, true),
        ("/etc/shadow", "/**/sh?dow", Reach::Itself, true),
    ] {
        let found = touches(Glob::new(pattern), &at(path), reach, Some(&home));
        assert_eq!(found, expected, "{pattern} {path} {reach:?}");
    }
    let netrc = Glob::new("~/.netrc");
    for (path, expected) in [
        ("/root/.netrc", true),
        ("/home/x/.netrc", true),
        ("/Users/x/.netrc", true),
        ("/srv/.netrc", false),
        ("/home/.netrc", false),
        ("/root", false),
        ("/root/**/*netrc", true),
        ("/home/**/.netrc", true),
        ("/srv/**/.netrc", false),
    ] {
        assert_eq!(touches_any_home(netrc, &at(path), Reach::Itself), expected, "{path}");
    }
}

/// The same by recursion, letter by letter.
fn slow(a: &[u8], b: &[u8]) -> bool {
    let literal = |a: &[u8], b: &[u8]| match (a, b) {
        ([x, more @ ..], [y, rest @ ..]) => x.eq_ignore_ascii_case(y) && slow(more, rest),
        _ => false,
    };
    match (a, b) {
        ([], []) => true,
        ([b'*', more @ ..], _) => slow(more, b) || b.split_first().is_some_and(|(_, rest)| slow(a, rest)),
        (_, [b'*', ..]) => slow(b, a),
        ([b'[', ..], [_, rest @ ..]) => class(a).is_some_and(|more| slow(more, rest)) || literal(a, b),
        ([_, rest @ ..], [b'[', ..]) => class(b).is_some_and(|more| slow(rest, more)) || literal(a, b),
        ([b'?', more @ ..], [_, rest @ ..]) | ([_, more @ ..], [b'?', rest @ ..]) => slow(more, rest),
        _ => literal(a, b),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_meets_by_recursion_meets(a in "[aB*?]{0,6}(\\[[ab]\\]?)?[a*]{0,2}", b in "[Ab*?]{0,6}(\\[[ab]\\]?)?[b*]{0,2}") {
        prop_assert!(!slow(a.as_bytes(), b.as_bytes()) || meet(a.as_bytes(), b.as_bytes()), "{a} {b}");
    }

    #[test]
    fn what_meets_without_classes_meets_by_recursion(a in "[aB*?]{0,7}", b in "[Ab*?]{0,7}") {
        prop_assert_eq!(slow(a.as_bytes(), b.as_bytes()), meet(a.as_bytes(), b.as_bytes()), "{} {}", a, b);
    }

    #[test]
    fn the_names_of_a_path_never_hide_what_it_touches(
        pattern in "(/|~/|\\*\\*/)?([.]?[aB*]{0,2}/){0,2}(\\*\\*|[.]?[ab]{0,2})",
        path in "(/|~/)?([.]?[ab*?]{0,2}/){0,2}([.]?[Ab]{0,2}|\\*\\*)",
        below: bool,
        tree: bool,
    ) {
        let place = Place { cwd: "/a".into(), home: Some("/b/.a".into()), project: None };
        let (path, home) = (AbsPath::resolve(&path, &place), AbsPath::resolve("~", &place));
        let reach = if below { Reach::Below } else { Reach::Itself };
        let end = if tree { End::Tree } else { End::Exact };
        let touched = touches_until(&pattern, &path, reach, Some(&home), end);
        prop_assert!(!touched || path.names().may_be(Glob::new(&pattern).name), "{pattern} {path}");
    }
}
