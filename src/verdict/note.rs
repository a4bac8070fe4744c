//! Notes: what a verdict asks the runtime to remember for later calls of the session.

/// Hex digits of a hash.
const HASH_DIGITS: usize = 16;

/// A salted hash. The text that it is of cannot be told from it without the salt of the session.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SaltedHash(String);

impl SaltedHash {
    /// Takes the first digits of a longer hash.
    pub(crate) fn of_digest(digest: &str) -> Option<SaltedHash> {
        digest.get(..HASH_DIGITS).and_then(SaltedHash::parse)
    }

    /// Parses the written form.
    pub(crate) fn parse(text: &str) -> Option<SaltedHash> {
        let is_hash = text.len() == HASH_DIGITS && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        is_hash.then(|| SaltedHash(text.to_owned()))
    }
}

/// Something to remember.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Note {
    /// A person is asked about a call.
    Asked(SaltedHash),
    /// The result of such a call arrived: the person let it run.
    Answered(SaltedHash),
    /// A container was read.
    Read(SaltedHash),
    /// Words of a prompt.
    Typed(Vec<SaltedHash>),
}

impl Note {
    /// The line for the file of the session.
    pub fn line(&self) -> String {
        let (kind, hashes) = match self {
            Note::Asked(hash) => ("asked", std::slice::from_ref(hash)),
            Note::Answered(hash) => ("answered", std::slice::from_ref(hash)),
            Note::Read(hash) => ("read", std::slice::from_ref(hash)),
            Note::Typed(hashes) => ("typed", hashes.as_slice()),
        };
        let words: String = hashes.iter().map(|hash| format!(" {}", hash.0)).collect();
        if hashes.is_empty() { String::new() } else { format!("{kind}{words}\n") }
    }
}
