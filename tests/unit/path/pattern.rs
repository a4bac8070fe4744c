//! Unit tests of `src/path/pattern.rs`.

use super::*;
use crate::path::Place;
use proptest::prelude::*;

#[test]
fn wildcards_on_both_sides_overlap() {
    let place = Place { cwd: "/p".into(), home: Some("/home/u".into()), project: None };
    let at = |path: &str| AbsPath::resolve(path, &place);
    let home = at("~");
    for (pattern, path, extent, expected) in [
        ("~/.ssh/**", "~/.ssh/id", Extent::Exact, true),
        ("~/.ssh/**", "~/.ssh", Extent::Exact, true),
        ("~/.ssh/**", "~/.SSH/id", Extent::Exact, true),
        ("~/.ssh/**", "/p/.ssh/id", Extent::Exact, false),
        ("**/.claude/settings*.json", "/p/.claude/settings.local.json", Extent::Exact, true),
        ("**/.claude/settings*.json", "/p/.claude/*", Extent::Exact, true),
        ("**/.claude/settings*.json", "/p/.claude/set*", Extent::Exact, true),
        ("**/.claude/settings*.json", "/p/.claude/agents/x.md", Extent::Exact, false),
        ("**/.claude/settings*.json", "/p/.claude", Extent::Tree, true),
        ("**/.claude/settings*.json", "/p/.claude", Extent::Exact, false),
        ("**/.claude/settings*.json", "/p/build", Extent::Tree, false),
        ("**/.git/hooks/**", "/p/.git", Extent::Tree, true),
        ("**/.env", "/p/.en?", Extent::Exact, true),
        ("**/.env", "/p/.en[vw]", Extent::Exact, true),
        ("**/.env", "/p/*", Extent::Exact, false),
        ("**/.env", "/p/x.env", Extent::Exact, false),
        ("/etc/**", "/etc/x/y", Extent::Exact, true),
    ] {
        assert_eq!(
            touches(Glob::new(pattern), &at(path), extent, Some(&home)),
            expected,
            "{pattern} {path} {extent:?}"
        );
    }
}

#[test]
fn a_search_counts_for_the_names_in_it() {
    let place = Place { cwd: "/home/u/p".into(), home: Some("/home/u".into()), project: None };
    let at = |path: &str| AbsPath::resolve(path, &place);
    let home = at("~");
    for (pattern, path, extent, expected) in [
        ("~/.ssh/id_*", "~/**/id_x", Extent::Exact, true),
        ("~/.ssh/id_*", "/**/id_x", Extent::Exact, true),
        ("~/.ssh/id_*", "~/**/?ssh/*", Extent::Exact, true),
        ("~/.ssh/id_*", "~/**/[.]ssh/**", Extent::Exact, true),
        ("~/.ssh/id_*", "~/.ssh/**", Extent::Exact, true),
        ("~/.ssh/id_*", "~/**/*.log", Extent::Exact, false),
        ("~/.ssh/id_*", "~/**/*test*", Extent::Exact, false),
        ("~/.ssh/id_*", "~/**", Extent::Tree, false),
        ("~/.ssh/id_*", "/home/u/p/**/id_x", Extent::Exact, false),
        ("~/.ssh/*.pem", "~/**/*.pem", Extent::Exact, true),
        ("~/.ssh/**", "~/**/.ssh", Extent::Exact, true),
        ("~/.ssh/**", "~/**/.ssh/a/b", Extent::Exact, true),
        ("~/.gnupg/**", "~/**/*.log", Extent::Exact, false),
        ("**/.claude/hooks/**", "~/**/.claude", Extent::Tree, true),
        ("**/.claude/hooks/**", "~/**/.claude", Extent::Exact, false),
        ("**/.claude/hooks/**", "/home/u/p/.claude/**/*.md", Extent::Exact, false),
        ("**/.git/config", "/home/u/p/**/.git/**", Extent::Exact, true),
        ("**/a/**/b", "/**/a/**/x/**/b", Extent::Exact, true),
        ("**/a/**/b", "/**/c/**/b/c", Extent::Exact, false),
        ("**/.mcp.json", "/home/u/p/**/*.json", Extent::Exact, false),
        ("**/.mcp.json", "/home/u/p/**/*mcp.json", Extent::Exact, true),
        ("~/.claude.json", "~/**/*.json", Extent::Exact, true),
        ("/etc/shadow", "/**/sh?dow", Extent::Exact, true),
    ] {
        let found = touches(Glob::new(pattern), &at(path), extent, Some(&home));
        assert_eq!(found, expected, "{pattern} {path} {extent:?}");
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
        assert_eq!(touches_any_home(netrc, &at(path), Extent::Exact), expected, "{path}");
    }
}

/// A naive `names_overlap`, by recursion.
fn slow(a: &[u8], b: &[u8]) -> bool {
    let literal = |a: &[u8], b: &[u8]| match (a, b) {
        ([x, more @ ..], [y, rest @ ..]) => x.eq_ignore_ascii_case(y) && slow(more, rest),
        _ => false,
    };
    match (a, b) {
        ([], []) => true,
        ([b'*', more @ ..], _) => slow(more, b) || b.split_first().is_some_and(|(_, rest)| slow(a, rest)),
        (_, [b'*', ..]) => slow(b, a),
        ([b'[', ..], [_, rest @ ..]) => after_class(a).is_some_and(|more| slow(more, rest)) || literal(a, b),
        ([_, rest @ ..], [b'[', ..]) => after_class(b).is_some_and(|more| slow(rest, more)) || literal(a, b),
        ([b'?', more @ ..], [_, rest @ ..]) | ([_, more @ ..], [b'?', rest @ ..]) => slow(more, rest),
        _ => literal(a, b),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn names_that_overlap_by_recursion_overlap(a in "[aB*?]{0,6}(\\[[ab]\\]?)?[a*]{0,2}", b in "[Ab*?]{0,6}(\\[[ab]\\]?)?[b*]{0,2}") {
        prop_assert!(!slow(a.as_bytes(), b.as_bytes()) || names_overlap(a.as_bytes(), b.as_bytes()), "{a} {b}");
    }

    #[test]
    fn names_without_classes_overlap_as_by_recursion(a in "[aB*?]{0,7}", b in "[Ab*?]{0,7}") {
        prop_assert_eq!(slow(a.as_bytes(), b.as_bytes()), names_overlap(a.as_bytes(), b.as_bytes()), "{} {}", a, b);
    }

    #[test]
    fn the_prefilter_never_hides_a_match(
        pattern in "(/|~/|\\*\\*/)?([.]?[aB*]{0,2}/){0,2}(\\*\\*|[.]?[ab]{0,2})",
        path in "(/|~/)?([.]?[ab*?]{0,2}/){0,2}([.]?[Ab]{0,2}|\\*\\*)",
        below: bool,
        tree: bool,
    ) {
        let place = Place { cwd: "/a".into(), home: Some("/b/.a".into()), project: None };
        let (path, home) = (AbsPath::resolve(&path, &place), AbsPath::resolve("~", &place));
        let extent = if below { Extent::Tree } else { Extent::Exact };
        let pattern_extent = if tree { Extent::Tree } else { Extent::Exact };
        let extents = Extents { path: extent, pattern: pattern_extent };
        let touched = compare(Glob::new(&pattern), &path, extents, Some(&home));
        prop_assert!(!touched || path.names.may_contain(Glob::new(&pattern).name), "{pattern} {path}");
    }
}
