//! Unit tests of `src/path.rs`.

use super::*;

#[test]
fn paths_resolve_without_following_symlinks() {
    let place = Place { cwd: "/home/user/proj".into(), home: Some("/home/user".into()), project: None };
    for (raw, expected) in [
        ("/a/b", "a/b"),
        ("x/./y//z", "home/user/proj/x/y/z"),
        ("../other", "home/user/other"),
        ("/../../etc", "etc"),
        ("~/x", "home/user/x"),
        ("~", "home/user"),
        ("~other/x", "home/user/proj/~other/x"),
        ("", "home/user/proj"),
        ("C:\\proj\\uploads\\x", "C:/proj/uploads/x"),
        ("a\\b", "home/user/proj/a\\b"),
    ] {
        assert_eq!(AbsPath::resolve(raw, &place).components().join("/"), expected, "{raw:?}");
    }
}

#[test]
fn a_tilde_in_a_name_is_kept_where_the_directory_is_home() {
    let place = Place { cwd: "/home/user".into(), home: Some("/home/user".into()), project: None };
    for (raw, expected) in [
        ("~backup", "home/user/~backup"),
        ("~~/x", "home/user/~~/x"),
        ("~", "home/user"),
        ("~/~x", "home/user/~x"),
        ("x", "home/user/x"),
    ] {
        assert_eq!(AbsPath::resolve(raw, &place).components().join("/"), expected, "{raw:?}");
    }
}

#[test]
fn below_compares_components() {
    let place = Place::default();
    let at = |raw| AbsPath::resolve(raw, &place);
    assert!(at("/proj/src/a").is_below(&at("/proj")));
    assert!(!at("/proj-evil/a").is_below(&at("/proj")));
    assert!(!at("/proj").is_below(&at("/proj")));
}
