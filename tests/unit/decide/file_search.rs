//! Unit tests of `src/decide/file_search.rs`.

use super::*;

fn texts(base: &str, patterns: Option<&str>, shows: Shows) -> Vec<String> {
    let place = Place { cwd: "/home/u/p".into(), home: Some("/home/u".into()), project: None };
    let target = known_target(AbsPath::resolve(base, &place));
    let base = Access { act: Act::Read, target, deep: false, unlikely: false, row: None };
    let text = |access: Access| format!("{}{}", access.target.text, if access.deep { " and below" } else { "" });
    accesses(&base, patterns, shows).unwrap().into_iter().map(text).collect()
}

#[test]
fn a_search_reads_the_files_that_its_patterns_match() {
    for (base, patterns, expected) in [
        (".", None, vec!["/home/u/p", "/home/u/p and below"]),
        (".", Some("*"), vec!["/home/u/p", "/home/u/p and below"]),
        (".", Some("!*.md"), vec!["/home/u/p", "/home/u/p and below"]),
        (".", Some("*.ts"), vec!["/home/u/p", "/home/u/p/**/*.ts"]),
        (".", Some("**/.env*"), vec!["/home/u/p", "/home/u/p/**/**/.env*"]),
        (".", Some("*.md, .env"), vec!["/home/u/p", "/home/u/p/**/*.md", "/home/u/p/**/.env"]),
        (".", Some("{a,.en{v,w}}"), vec!["/home/u/p", "/home/u/p/**/a", "/home/u/p/**/.enw", "/home/u/p/**/.env"]),
        (".", Some("apps/**/.env"), vec!["/home/u/p", "/home/u/p/**/apps/**/.env"]),
        ("~", Some(".ssh/**"), vec!["/home/u", "/home/u/**/.ssh and below"]),
        (".", Some("\\.en\\v"), vec!["/home/u/p", "/home/u/p/**/.env"]),
        (".", Some("[!x]*"), vec!["/home/u/p", "/home/u/p and below"]),
        ("~", Some("id_*"), vec!["/home/u", "/home/u/**/id_*"]),
    ] {
        let mut found = texts(base, patterns, Shows::Lines);
        let mut expected: Vec<String> = expected.into_iter().map(str::to_owned).collect();
        found.sort();
        found.dedup();
        expected.sort();
        assert_eq!(found, expected, "{base} {patterns:?}");
    }
}

#[test]
fn too_many_patterns_are_a_failure() {
    for (many, limit) in [
        ("{a,b}".repeat(10), &SEARCH_PATTERNS),
        ("{".repeat(10_000), &PATH_BYTES),
        ("a,".repeat(1_000), &SEARCH_PATTERNS),
        ("{a}".repeat(1_000), &SEARCH_PATTERNS),
        (format!("{{{}id_rsa}}", "a,".repeat(256)), &SEARCH_PATTERNS),
    ] {
        assert_eq!(expand_both_ways(&many), Err(limit), "{many:.20}");
    }
}

#[test]
fn a_literal_brace_or_comma_hides_no_pattern() {
    for pattern in
        ["{[}a]*,id_rsa}", "{a\\},id_rsa}", "x[,id_rsa", "[,]x,id_rsa", "x\\,id_rsa", "{a[,]b,id_rsa}", "id_rs[a,]"]
    {
        let names = expand_both_ways(pattern).unwrap();
        let found = |name: &String| name == "id_rsa" || name == "id_rs[a?]";
        assert!(names.iter().any(found), "{pattern}: {names:?}");
    }
}

#[test]
fn a_search_that_shows_only_names_does_not_read_below() {
    assert_eq!(texts("~", None, Shows::Matches), ["/home/u"]);
    assert_eq!(texts("~", Some("**/*.ts"), Shows::Names), ["/home/u", "/home/u/**/**/*.ts"]);
}
