//! Byte search for the rule reader and the content rules.

/// A one in every byte.
const ONES: u64 = 0x0101_0101_0101_0101;

/// The bytes of a word that equal one byte, as a bit mask. Only the lowest set bit is exact, because of borrows.
pub(crate) struct Marks(u64);

impl Marks {
    /// Marks the bytes of `word` that equal `byte`.
    pub fn same(word: u64, byte: u8) -> Self {
        let zero_where_equal = word ^ (ONES * u64::from(byte));
        Marks(zero_where_equal.wrapping_sub(ONES) & !zero_where_equal & (ONES << 7))
    }

    /// The index of the first marked byte.
    pub fn first(self) -> Option<usize> {
        (self.0 != 0).then(|| (self.0.trailing_zeros() / 8) as usize)
    }
}

/// A lookup table of the given bytes.
pub(crate) const fn table(bytes: &[u8]) -> [bool; 256] {
    let (mut table, mut at) = ([false; 256], 0);
    while at < bytes.len() {
        #[expect(clippy::indexing_slicing, reason = "`at` is less than the length, and a byte is less than 256")]
        {
            table[bytes[at] as usize] = true;
        }
        at += 1;
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_mark_is_the_first_such_byte() {
        for at in 0..8 {
            for (one, others) in [(b'\n', 0xff_u8), (0, 1), (b'\n', b'\n' + 1), (b'"', 0x80)] {
                let mut bytes = [others; 8];
                *bytes.get_mut(at).unwrap() = one;
                let word = u64::from_le_bytes(bytes);
                assert_eq!(Marks::same(word, one).first(), Some(at), "{bytes:?}");
                assert_eq!(Marks::same(word, b'x').first(), None, "{bytes:?}");
            }
        }
    }
}
