//! Unit tests of `src/decide/validators/dependency_mutation/manifest.rs`.

use super::*;

#[test]
fn only_changed_dependencies_are_a_change() {
    for (name, before, after, expected) in [
        (
            "package.json",
            r#"{"version":"1","dependencies":{"a":"1"}}"#,
            r#"{"version":"2","dependencies":{"a":"1"}}"#,
            false,
        ),
        ("package.json", r#"{"dependencies":{"a":"1"}}"#, r#"{"dependencies":{"a":"2"}}"#, true),
        ("package.json", r#"{"dependencies":{"a":"1"}}"#, r#"{"dependencies":{"a":"1"}"#, true),
        (
            "Cargo.toml",
            "[package]\nversion = \"1\"\n[dependencies]\na = \"1\"\n",
            "[package]\nversion = \"2\"\n[dependencies]\na = \"1\"\n",
            false,
        ),
        ("Cargo.toml", "[dependencies]\na = \"1\"\n", "[dependencies]\na = \"1\"\nb = \"1\"\n", true),
        ("Cargo.toml", "[target.x.dependencies]\na = \"1\"\n", "[target.x.dependencies]\na = \"2\"\n", true),
        ("requirements.txt", "a==1\n", "# why\na==1\n", false),
        ("requirements-dev.txt", "a==1\n", "a==2\n", true),
        ("go.mod", "module x\n\ngo 1.22\n", "module x\n\ngo 1.23\n", false),
        ("go.mod", "module x\n", "module x\nrequire a v1.0.0\n", true),
        ("mix.exs", "version: \"1\"\n{:a, \"1\"}\n", "version: \"2\"\n{:a, \"1\"}\n", false),
        ("Gemfile", "gem \"a\"\n", "gem \"a\"\ngem \"b\"\n", true),
    ] {
        let manifest = Manifest::of(name).unwrap();
        assert_eq!(manifest.has_changed(before, after), expected, "{name} {before:?} {after:?}");
    }
    assert_eq!(Manifest::of("main.rs"), None);
}
