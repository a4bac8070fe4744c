//! Unit tests of `src/quarantine/content/encoded.rs`.

use super::*;

/// The traits of a line, letter by letter.
fn naive_traits(line: &str) -> (bool, bool) {
    let letter = |c: &u8| c.is_ascii_alphanumeric() || *c == b'@';
    let padded = [b" ", line.as_bytes(), b" "].concat();
    let (mut alone, mut spaced) = (0, false);
    for three in padded.windows(3) {
        if letter(&three[1]) {
            alone = if letter(&three[0]) || letter(&three[2]) { 0 } else { alone + 1 };
            spaced |= alone > 4;
        }
    }
    let mixed = line.as_bytes().windows(2).filter(|two| two[0].is_ascii_digit() && two[1].is_ascii_lowercase());
    (spaced, mixed.count() > 2)
}

#[test]
fn traits_agree_with_a_letter_by_letter_check() {
    for number in 0..4_usize.pow(9) {
        let line: String = (0..9).map(|at| ['a', ' ', '1', 'B'][number >> (2 * at) & 3]).collect();
        let found = LineTraits::of(&line);
        assert_eq!((found.spaced, found.mixed), naive_traits(&line), "{line}");
    }
    for line in ["i g n o r e", "i g n o", "ig n o r e x", "1a2b3c", "1a2b", "@ @ @ @ @", "a.b.c.d.e", "1A2B3C"] {
        let found = LineTraits::of(line);
        assert_eq!((found.spaced, found.mixed), naive_traits(line), "{line}");
    }
}
