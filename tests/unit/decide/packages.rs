//! Unit tests of `src/decide/packages.rs`.

use super::*;

#[test]
fn a_package_of_go_belongs_to_a_module_that_is_named() {
    let words: BTreeSet<String> =
        ["a.example/b/c", "a.example/b/c-d", "a.example/b/cd", "z.example", "plain/name"].map(str::to_owned).into();
    for (package, expected) in [
        ("a.example/b/c", true),
        ("a.example/b/c/d/e", true),
        ("a.example/b/c-d/e", true),
        ("a.example/b/cde/f", false),
        ("a.example/b/c-e", false),
        ("a.example/b", false),
        ("a.example/bb/c", false),
        ("z.example/b/c", false),
        ("plain/name/c", false),
        ("plain/name", true),
        ("", false),
        ("a.example/", false),
    ] {
        assert_eq!(is_named(package, &words), expected, "{package}");
    }
}
