//! Unit tests of `src/decide/validators/obfuscation.rs`.

use super::*;

#[test]
fn paths_and_hashes_are_not_encoded_texts() {
    assert!(is_encoded(&"QUJDREVGR0hJSktMTU5P".repeat(6)));
    assert!(!is_encoded(&"src/main/java/Com1/example".repeat(8)));
    assert!(!is_encoded(&"3f2a9c1b7d5e4f60".repeat(8)));
    assert!(!is_encoded(&"a".repeat(200)));
}
