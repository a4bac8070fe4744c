//! Which names a path holds, as a small set: most paths hold none of the names that patterns ask for.

/// Names by their first and last letter and their length, in either case; several may share a place. Those that begin
/// with a dot have places of their own: no wildcard at the start of a name stands for a dot.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Names(u64);

/// The places of names that begin with a dot.
const HIDDEN: u64 = 0xffff_ffff;

impl Names {
    /// Whatever names.
    const ANY: Names = Names(u64::MAX);

    /// The first name in a pattern that says which it is; whatever names where none does.
    pub const fn first_in(pattern: &[u8]) -> Names {
        let mut rest = pattern;
        while let [b'/', more @ ..] | [b'~', b'/', more @ ..] | [b'*', b'*', b'/', more @ ..] = rest {
            rest = more;
        }
        let name = rest;
        let mut length = 0;
        while let [byte, more @ ..] = rest {
            match byte {
                b'/' => break,
                b'*' | b'?' | b'[' => return Names::ANY,
                _ => length += 1,
            }
            rest = more;
        }
        Names::of(name.split_at(length).0)
    }

    /// One name without a wildcard.
    const fn of(name: &[u8]) -> Names {
        let (Some(first), Some(last)) = (name.first(), name.last()) else { return Names::ANY };
        let hidden = *first == b'.';
        let first = if let ([b'.', second, ..], true) = (name, hidden) { second } else { first };
        let letters = first.to_ascii_lowercase().wrapping_mul(5) ^ last.to_ascii_lowercase().wrapping_mul(3);
        let place = (letters ^ (name.len() as u8)) & 31;
        Names(1 << (place + if hidden { 0 } else { 32 }))
    }

    /// With one more name of a path, which may be `wild`: hold a wildcard.
    pub fn with(self, name: &str, wild: bool) -> Names {
        let more = match name.as_bytes() {
            name if !wild => Names::of(name),
            b"**" => Names::ANY,
            [b'*' | b'?' | b'[', ..] => Names(!HIDDEN),
            _ => Names::ANY,
        };
        Names(self.0 | more.0)
    }

    /// Whether one of these names may be that one.
    pub const fn may_be(self, name: Names) -> bool {
        self.0 & name.0 != 0 || name.0 == Names::ANY.0
    }
}
