//! Packs: receipts and related files in one directory, with a sealed index.

use super::key::{Secret, TrustedKeys, is_signed};
use super::{FaultCode, ReceiptFault, hash};
use crate::encoding::hex::digest;
use crate::policy::update::{self, EmbeddedFile};
use serde::{Deserialize, Serialize};

/// The version of an index.
pub const VERSION: &str = "rune.pack/1";

/// The version of a seal, and the tag that it is signed under.
const SEAL_VERSION: &str = "rune.pack.seal/1";

/// The version of a list of policy files.
const POLICY_VERSION: &str = "rune.policy/1";

/// The index of a pack.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(missing_docs, reason = "FORMAT.md describes each member")]
pub struct Index {
    pub at: String,
    pub chains: Vec<ChainEntry>,
    pub files: Vec<FileEntry>,
    pub kind: String,
    pub run_id: String,
    pub version: String,
}

/// A receipt file in a pack.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(missing_docs, reason = "FORMAT.md describes each member")]
pub struct ChainEntry {
    pub count: u64,
    pub head: String,
    pub path: String,
    pub sealed: bool,
    pub session: String,
}

/// Any file in a pack.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(missing_docs, reason = "FORMAT.md describes each member")]
pub struct FileEntry {
    pub path: String,
    pub sha256: String,
}

/// The signature under an index.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Seal {
    index_sha256: String,
    key: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    signature: Option<String>,
    time: String,
    version: String,
}

/// The files of a policy. The `policy` of a receipt is the hash of this list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(missing_docs, reason = "FORMAT.md describes each member")]
pub struct PolicyList {
    pub files: Vec<PolicyFile>,
    pub preset: String,
    pub version: String,
}

/// One file of a policy.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(missing_docs, reason = "FORMAT.md describes each member")]
pub struct PolicyFile {
    pub name: String,
    pub sha256: String,
}

impl PolicyList {
    /// Lists these texts under a preset.
    pub fn new<'a>(preset: &str, texts: impl IntoIterator<Item = (&'a str, &'a [u8])>) -> Self {
        // Most texts are the shipped ones, whose hashes are known.
        let shipped = update::embedded_files();
        let file = |(name, text): (&str, &[u8])| {
            let known = shipped.iter().find(|known| known.name == name && known.text.as_bytes() == text);
            PolicyFile { name: name.to_owned(), sha256: known.map_or_else(|| digest(text), EmbeddedFile::digest) }
        };
        let mut files: Vec<PolicyFile> = texts.into_iter().map(file).collect();
        files.sort();
        PolicyList { files, preset: preset.to_owned(), version: POLICY_VERSION.to_owned() }
    }

    /// The hashed line, without its line end.
    pub fn to_text(&self) -> String {
        line_of(self)
    }

    /// The hash of the policy.
    pub fn hash(&self) -> String {
        hash(self.to_text().as_bytes())
    }
}

impl Index {
    /// The text of `index.json`.
    pub fn to_text(&self) -> String {
        format!("{}\n", line_of(self))
    }

    /// Reads an index and verifies that a trusted key has sealed it.
    pub fn read(text: &[u8], seal: &[u8], keys: &TrustedKeys) -> Result<Index, ReceiptFault> {
        let fault = |code: FaultCode, what: &str| Err(ReceiptFault { code, line: None, what: what.to_owned() });
        let read: Option<Seal> = parse_canonical(seal);
        let Some(read) = read else {
            return fault(FaultCode::PackSealWrong, "seal.json is not a seal in canonical form");
        };
        if read.version != SEAL_VERSION {
            return fault(FaultCode::PackVersionUnknown, "seal.json has another version");
        }
        if !keys.trusts(&read.key) {
            return fault(FaultCode::PackKeyWrong, "the pack is sealed by a key that is not trusted");
        }
        let unsigned = Seal { signature: None, ..read.clone() };
        let signature = read.signature.as_deref().unwrap_or_default();
        if !is_signed(&read.key, signature, SEAL_VERSION, line_of(&unsigned).as_bytes()) {
            return fault(FaultCode::PackSealWrong, "seal.json or its signature was edited");
        }
        if digest(text) != read.index_sha256 {
            return fault(FaultCode::PackIndexWrong, "index.json is not the one that was sealed");
        }
        match parse_canonical::<Index>(text) {
            Some(index) if index.version == VERSION => Ok(index),
            Some(_) => fault(FaultCode::PackVersionUnknown, "index.json has another version"),
            None => fault(FaultCode::PackIndexWrong, "index.json is not an index in canonical form"),
        }
    }

    /// The text of `seal.json` for this index.
    pub fn seal(&self, time: String, secret: &Secret) -> String {
        let index_sha256 = digest(self.to_text().as_bytes());
        let key = secret.public().to_owned();
        let mut seal = Seal { index_sha256, key, signature: None, time, version: SEAL_VERSION.to_owned() };
        seal.signature = Some(secret.sign(SEAL_VERSION, line_of(&seal).as_bytes()));
        format!("{}\n", line_of(&seal))
    }
}

/// The head of a pack: the hash of its seal without the line end.
pub fn head(seal: &str) -> String {
    hash(seal.trim_end_matches('\n').as_bytes())
}

/// A value as canonical JSON.
///
/// INVARIANT: the members of these types are sorted by name, so that serde writes the RFC 8785 form.
fn line_of(value: &impl Serialize) -> String {
    serde_json::to_string(value).unwrap_or_default()
}

/// Parses a line that is in canonical form.
fn parse_canonical<T: Serialize + for<'de> Deserialize<'de>>(text: &[u8]) -> Option<T> {
    let value: T = serde_json::from_slice(text).ok()?;
    (format!("{}\n", line_of(&value)).as_bytes() == text).then_some(value)
}
