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
mod tests {
    use super::*;

    #[test]
    fn a_hash_is_read_as_it_is_written_and_no_other_way() {
        let hash = Hash::of(Subject::Tool, &Value::Null);
        let text = hash.to_string();
        assert_eq!(Hash::parse(&text), Some(hash));
        for other in [
            text.replace("v1", "v2"),
            text.to_uppercase(),
            text.replace("sha256/v1:", ""),
            format!("{text}0"),
            text.chars().take(73).collect(),
            text.chars().take(72).chain(['g', '0']).collect(),
            text.chars().take(73).chain(['/']).collect(),
            text.chars().take(72).chain(['\u{e9}']).collect(),
            String::new(),
        ] {
            assert_eq!(Hash::parse(&other), None, "{other}");
        }
    }

    #[test]
    fn the_hash_of_one_thing_is_never_that_of_another() {
        let value = Value::String("x".to_owned());
        let subjects = [Subject::Tool, Subject::Part, Subject::Instructions, Subject::Identity, Subject::Proposal];
        let mut hashes: Vec<Hash> = subjects.iter().map(|subject| Hash::of(*subject, &value)).collect();
        hashes.sort();
        hashes.dedup();
        assert_eq!(hashes.len(), subjects.len());
    }

    #[test]
    fn the_first_version_stays_what_it_is() {
        // printf 'rune/mcp/tool/v1\n{"name":"echo"}' | sha256sum
        let tool = Value::read(br#"{ "name" : "echo" }"#).unwrap();
        let expected = "sha256/v1:98f5c1ab0af567824052c376ed16a7cb201d96ad585a7805f5d7031acf4df2a1";
        assert_eq!(Hash::of(Subject::Tool, &tool).to_string(), expected);
    }
}
