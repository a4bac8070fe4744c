//! Unit tests of `src/encoding/words.rs`.

use super::*;

#[test]
fn names_in_every_case_are_split() {
    for (name, words) in [
        ("get_issue", "get issue"),
        ("notion-search", "notion search"),
        ("BankManagerPayBill", "bank manager pay bill"),
        ("getURLInfo", "get url info"),
        ("HTTPGet", "http get"),
        ("user_id2", "user id2"),
        ("__x--y", "x y"),
        ("", ""),
    ] {
        assert_eq!(of_name(name).join(" "), words, "{name}");
    }
}
