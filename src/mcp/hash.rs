//! Hashes of what is pinned: `sha256/v1:` and 64 digits.

use crate::encoding::canonical::Value;
use crate::encoding::hex;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use sha2::{Digest, Sha256};
use std::fmt;

/// What a hash is of. Each has a tag of its own, so that the hash of one thing is never that of another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subject {
    /// A whole tool object as it is served.
    Tool,
    /// A part of a tool object, which only explains.
    Part,
    /// The instructions of a server.
    Instructions,
    /// How a server is started or reached.
    Identity,
    /// What a person is asked to approve.
    Proposal,
}

impl Subject {
    fn tag(self) -> &'static str {
        match self {
            Subject::Tool => "rune/mcp/tool/v1\n",
            Subject::Part => "rune/mcp/part/v1\n",
            Subject::Instructions => "rune/mcp/instructions/v1\n",
            Subject::Identity => "rune/mcp/identity/v1\n",
            Subject::Proposal => "rune/mcp/proposal/v1\n",
        }
    }
}

/// A hash of the first version; there is no other yet, and one of another version is not read as if it were this one.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Hash([u8; 32]);

const PREFIX: &str = "sha256/v1:";

/// Digits that a person compares and types.
const SHORT: usize = 8;

impl Hash {
    /// The hash of a value.
    pub fn of(subject: Subject, value: &Value) -> Hash {
        Hash(Sha256::new().chain_update(subject.tag()).chain_update(value.to_string()).finalize().into())
    }

    /// Reads a hash as it is written; `None` for anything else, also for one of a version that is not known.
    pub fn parse(text: &str) -> Option<Hash> {
        hex::decode(text.strip_prefix(PREFIX)?).map(Hash)
    }

    /// The first digits, for people.
    pub fn short(&self) -> String {
        self.to_string().chars().skip(PREFIX.len()).take(SHORT).collect()
    }
}

impl fmt::Display for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(PREFIX)?;
        f.write_str(&hex::encode(&self.0))
    }
}

impl fmt::Debug for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Serialize for Hash {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Hash {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Hash::parse(&text)
            .ok_or_else(|| serde::de::Error::custom("a hash of a version that this program does not know"))
    }
}

#[cfg(test)]
#[path = "../../tests/unit/mcp/hash.rs"]
mod tests;
