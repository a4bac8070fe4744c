//! Hashes of what is pinned, written as `sha256/v1:` and 64 hex digits.

use crate::encoding::canonical::Value;
use crate::encoding::hex;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::fmt;

/// What a hash covers. Each subject has its own tag in the hashed bytes, so that equal values of different subjects
/// have different hashes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HashSubject {
    /// A whole tool object as served.
    Tool,
    /// The instructions of a server.
    Instructions,
    /// How a server is started or reached.
    Identity,
    /// What a person is asked to approve.
    Proposal,
}

impl HashSubject {
    fn tag(self) -> &'static str {
        match self {
            HashSubject::Tool => "rune/mcp/tool/v1\n",
            HashSubject::Instructions => "rune/mcp/instructions/v1\n",
            HashSubject::Identity => "rune/mcp/identity/v1\n",
            HashSubject::Proposal => "rune/mcp/proposal/v1\n",
        }
    }
}

/// A SHA-256 hash over a tag and a value in canonical form (version 1, the only one).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Hash([u8; 32]);

const PREFIX: &str = "sha256/v1:";

/// Hex digits of the short form that a person compares and types.
const SHORT_DIGITS: usize = 8;

impl Hash {
    /// Hashes a value.
    pub fn of(subject: HashSubject, value: &Value) -> Hash {
        Hash(Sha256::new().chain_update(subject.tag()).chain_update(value.to_string()).finalize().into())
    }

    /// Parses the written form; `None` for anything else, including a hash of another version.
    pub fn parse(text: &str) -> Option<Hash> {
        hex::decode(text.strip_prefix(PREFIX)?).map(Hash)
    }

    /// The first 8 hex digits.
    pub fn short(&self) -> String {
        self.to_string().chars().skip(PREFIX.len()).take(SHORT_DIGITS).collect()
    }
}

impl fmt::Display for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{PREFIX}{}", hex::encode(&self.0))
    }
}

impl fmt::Debug for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl From<Hash> for String {
    fn from(hash: Hash) -> String {
        hash.to_string()
    }
}

impl TryFrom<String> for Hash {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Hash, Self::Error> {
        Hash::parse(&text).ok_or("not a hash of a known version")
    }
}

#[cfg(test)]
#[path = "../../tests/unit/mcp/hash.rs"]
mod tests;
