//! A Bloom filter for the names in a path. Most paths contain none of the names that patterns look for.

/// A set of names in 64 bits. The bit of a name depends on its first and last letter, in lower case, and its length. Names
/// that begin with a dot have bits of their own, because a wildcard at the start of a name does not match a dot.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct NameSet(u64);

/// The bits of names that begin with a dot.
const HIDDEN: u64 = 0xffff_ffff;

impl NameSet {
    /// The set of all names.
    const ANY: NameSet = NameSet(u64::MAX);

    /// The first component of a pattern, after `~` and `**`; all names if it contains a wildcard.
    pub const fn first_in(pattern: &[u8]) -> NameSet {
        let mut rest = pattern;
        while let [b'/', more @ ..] | [b'~', b'/', more @ ..] | [b'*', b'*', b'/', more @ ..] = rest {
            rest = more;
        }
        let name = rest;
        let mut length = 0;
        while let [byte, more @ ..] = rest {
            match byte {
                b'/' => break,
                b'*' | b'?' | b'[' => return NameSet::ANY,
                _ => length += 1,
            }
            rest = more;
        }
        NameSet::of(name.split_at(length).0)
    }

    /// The set of one name without wildcards.
    const fn of(name: &[u8]) -> NameSet {
        let (Some(first), Some(last)) = (name.first(), name.last()) else { return NameSet::ANY };
        let is_hidden = *first == b'.';
        let first = if let ([b'.', second, ..], true) = (name, is_hidden) { second } else { first };
        let letters = first.to_ascii_lowercase().wrapping_mul(5) ^ last.to_ascii_lowercase().wrapping_mul(3);
        let bit = (letters ^ (name.len() as u8)) & 31;
        NameSet(1 << (bit + if is_hidden { 0 } else { 32 }))
    }

    /// Adds a name of a path; `is_wild` says whether it contains a wildcard.
    pub fn with(self, name: &str, is_wild: bool) -> NameSet {
        let more = match name.as_bytes() {
            name if !is_wild => NameSet::of(name),
            b"**" => NameSet::ANY,
            [b'*' | b'?' | b'[', ..] => NameSet(!HIDDEN),
            _ => NameSet::ANY,
        };
        NameSet(self.0 | more.0)
    }

    /// Whether the set may contain a name of the other set.
    pub const fn may_contain(self, name: NameSet) -> bool {
        self.0 & name.0 != 0 || name.0 == NameSet::ANY.0
    }
}
