//! Eight bytes at a time: short texts are searched on every call, and nothing larger may ask the processor what it can do.

/// A one in every byte.
const ONES: u64 = 0x0101_0101_0101_0101;

/// Marks of bytes, in their highest bits. Only the lowest mark is sure: a byte that is less borrows from those above it.
pub(crate) struct Marks(u64);

impl Marks {
    /// The bytes of a word that are this one.
    pub fn same(word: u64, byte: u8) -> Self {
        Marks::less(word ^ (ONES * u64::from(byte)), 1)
    }

    /// The bytes that are less than this one, which is at most 128.
    pub fn less(word: u64, than: u8) -> Self {
        Marks(word.wrapping_sub(ONES * u64::from(than)) & !word & (ONES << 7))
    }

    /// The bytes that do not stand for themselves in a JSON string, and all that are not ASCII.
    pub fn not_plain(word: u64) -> Self {
        // With one bit turned, a quote follows the controls. What is not ASCII keeps its highest bit in one of the two.
        let controls_and_quote = (word ^ (ONES * 2)).wrapping_sub(ONES * 0x21);
        let backslash = (word ^ (ONES * u64::from(b'\\'))).wrapping_sub(ONES);
        Marks((controls_and_quote | backslash) & (ONES << 7))
    }

    /// Those of both.
    pub fn or(self, other: Marks) -> Self {
        Marks(self.0 | other.0)
    }

    /// Which byte is the first that is marked.
    pub fn first(self) -> Option<usize> {
        (self.0 != 0).then(|| (self.0.trailing_zeros() / 8) as usize)
    }
}

/// Which bytes are among these, as a table for loops that ask it of every byte of a text.
pub(crate) const fn table(bytes: &[u8]) -> [bool; 256] {
    let (mut table, mut at) = ([false; 256], 0);
    while at < bytes.len() {
        #[expect(clippy::indexing_slicing, reason = "it is counted up to the length, and a byte is one of 256")]
        {
            table[bytes[at] as usize] = true;
        }
        at += 1;
    }
    table
}

/// Whether eight bytes are digits where a shape has a zero, and are those of the shape elsewhere.
#[inline]
pub(crate) fn has_shape(bytes: &[u8; 8], shape: &[u8; 8]) -> bool {
    let beyond = u64::from_le_bytes(*bytes) ^ u64::from_le_bytes(*shape);
    // A digit differs from zero by at most nine, and what differs by more reaches the highest bit.
    let room = shape.map(|byte| if byte == b'0' { 0x7f - 9 } else { 0x7f });
    (beyond | beyond.wrapping_add(u64::from_le_bytes(room))) & (ONES << 7) == 0
}

/// Where a byte stands first.
pub(crate) fn find(bytes: &[u8], wanted: u8) -> Option<usize> {
    find_either(bytes, wanted, wanted)
}

/// Where a byte stands last.
pub(crate) fn find_last(bytes: &[u8], wanted: u8) -> Option<usize> {
    let (head, words) = bytes.as_rchunks::<8>();
    let in_part = |part: &[u8]| part.iter().rposition(|byte| *byte == wanted);
    for (at, word) in words.iter().enumerate().rev() {
        if Marks::same(u64::from_le_bytes(*word), wanted).first().is_some() {
            return in_part(word).map(|place| head.len() + at * 8 + place);
        }
    }
    in_part(head)
}

/// Where one of two bytes stands first.
#[inline]
pub(crate) fn find_either(bytes: &[u8], one: u8, other: u8) -> Option<usize> {
    // Whether it is in a piece at all, the compiler asks of sixteen bytes at once; where, is asked once.
    let (pieces, _) = bytes.as_chunks::<64>();
    let is = |byte: u8| u8::from(byte == one) | u8::from(byte == other);
    let has = |piece: &[u8; 64]| piece.iter().fold(0, |has, byte| has | is(*byte)) != 0;
    let before = 64 * pieces.iter().position(has).unwrap_or(pieces.len());
    Some(before + find_slowly(bytes.get(before..)?, one, other)?)
}

#[inline]
fn find_slowly(bytes: &[u8], one: u8, other: u8) -> Option<usize> {
    let (words, tail) = bytes.as_chunks::<8>();
    for (at, word) in words.iter().enumerate() {
        let word = u64::from_le_bytes(*word);
        if let Some(first) = Marks::same(word, one).or(Marks::same(word, other)).first() {
            return Some(at * 8 + first);
        }
    }
    tail.iter().position(|byte| *byte == one || *byte == other).map(|at| bytes.len() - tail.len() + at)
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
                assert_eq!(Marks::less(word, one + 1).or(Marks::same(word, b'x')).first(), Some(at), "{bytes:?}");
            }
        }
    }

    #[test]
    fn what_is_not_plain_is_marked() {
        for at in 0..8 {
            for other in [b'a', b' ', b'!', b'#', b'[', b']', 0x7f] {
                for byte in 0..=255 {
                    let mut bytes = [other; 8];
                    *bytes.get_mut(at).unwrap() = byte;
                    let marked = byte < 0x20 || byte == b'"' || byte == b'\\' || byte >= 0x80;
                    let first = Marks::not_plain(u64::from_le_bytes(bytes)).first();
                    assert_eq!(first, marked.then_some(at), "{bytes:?}");
                }
            }
        }
    }

    #[test]
    fn a_byte_is_found_where_it_stands_first() {
        let text = b"abcdefgh\x80\x01ijklmnop\nqrs\n";
        for before in [0, 1, 40, 63, 64, 65, 127, 128, 200] {
            let text = [&vec![b'-'; before], text.as_slice()].concat();
            for byte in 0..=255 {
                let place = text.iter().position(|known| *known == byte);
                assert_eq!(find(&text, byte), place, "{byte} behind {before}");
                let last = text.iter().rposition(|known| *known == byte);
                assert_eq!(find_last(&text, byte), last, "the last {byte} behind {before}");
                let either = text.iter().position(|known| *known == byte || *known == b'p');
                assert_eq!(find_either(&text, byte, b'p'), either, "{byte} or p behind {before}");
            }
        }
    }
}
