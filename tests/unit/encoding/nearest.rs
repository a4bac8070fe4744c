//! Unit tests of `src/encoding/nearest.rs`.

use super::*;

#[test]
fn distance_counts_edits() {
    for (a, b, edits) in [("", "", 0), ("abc", "abc", 0), ("abc", "acb", 2), ("prset", "preset", 1), ("a", "", 1)] {
        assert_eq!(distance(a, b), edits, "{a} {b}");
    }
}
