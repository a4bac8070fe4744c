//! Unit tests of `src/client/claude/locate.rs`.

use super::*;

#[test]
fn members_and_elements_are_found() {
    let text = "\u{feff}{\n  \"é\": 1, \"a\": [0,\n    {\"b\": {}}],\n  \"a\": [{\"c\": 2}]\n}";
    for (pointer, place) in [
        ("", Some((1, 1))),
        ("/é", Some((2, 3))),
        ("/a", Some((4, 3))),
        ("/a/0", Some((4, 9))),
        ("/a/0/c", Some((4, 10))),
        ("/a/1", None),
        ("/é/x", None),
    ] {
        let steps: Vec<&str> = pointer.split('/').skip(1).collect();
        assert_eq!(locate(text, &steps), place, "{pointer}");
    }
    assert_eq!(locate("{", &["a"]), None);
}
