//! Unit tests of `src/shell/effects/mode.rs`.

use super::*;

#[test]
fn modes_say_what_is_left() {
    for (mode, owner, others) in [
        ("000", 0, 0),
        ("700", 7, 0),
        ("0755", 7, 5),
        ("1777", 7, 7),
        ("600", 6, 0),
        ("664", 6, 6),
        ("u+x", 7, 0),
        ("+x", 7, 1),
        ("-x", 6, 0),
        ("a-rwx", 0, 0),
        ("go-rwx", 7, 0),
        ("u=rw,go=r", 6, 4),
        ("u-w,o+w", 5, 2),
        ("u=rwX,g-w", 7, 0),
        ("o=u", 7, 7),
        ("u=", 0, 0),
        ("u=rw+x", 7, 0),
    ] {
        assert_eq!(of_mode(mode), Some(Rights { owner, others, recursive: false }), "{mode}");
    }
    for mode in ["", "8", "dev", "x+r", "u+q"] {
        assert_eq!(of_mode(mode), None, "{mode}");
    }
}
