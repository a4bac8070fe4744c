//! Unit tests of `src/decide/validators/unknown_executable/everyday.rs`.

#[test]
fn the_table_is_in_order() {
    assert!(super::EVERYDAY.is_sorted());
}

#[test]
fn every_name_is_found() {
    assert!(super::EVERYDAY.iter().all(|name| super::is_everyday(name)));
    assert!(["", "é", "~", "\u{7f}", "zzz", "gi"].iter().all(|name| !super::is_everyday(name)));
}
