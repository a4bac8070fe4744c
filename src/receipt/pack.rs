//! Packs: receipts and what belongs to them in one directory, sealed.

use super::key::{Keys, Secret, is_signed};
use super::{Code, Fault, hash};
use crate::encoding::hex::digest;
use crate::policy::update;
use crate::policy::update::EmbeddedFile;
use serde::{Deserialize, Serialize};

/// The version of an index.
pub const VERSION: &str = "rune.pack/1";

/// The version of a seal, and the tag that it is signed under.
const SEAL: &str = "rune.pack.seal/1";

/// The version of a list of what a policy is made of.
const POLICY: &str = "rune.policy/1";

/// What is in a pack.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(missing_docs, reason = "the format describes each member, in one place")]
pub struct Index {
    pub at: String,
    pub chains: Vec<ChainEntry>,
    pub files: Vec<FileEntry>,
    pub kind: String,
    pub run_id: String,
    pub version: String,
}

/// A file of receipts in a pack.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(missing_docs, reason = "the format describes each member, in one place")]
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
#[expect(missing_docs, reason = "the format describes each member, in one place")]
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

/// The texts that calls are judged by, as a receipt's `policy` is the hash of.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(missing_docs, reason = "the format describes each member, in one place")]
pub struct PolicyList {
    pub files: Vec<PolicyFile>,
    pub preset: String,
    pub version: String,
}

/// One text of a policy.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(missing_docs, reason = "the format describes each member, in one place")]
pub struct PolicyFile {
    pub name: String,
    pub sha256: String,
}

impl PolicyList {
    /// The list of some texts under a preset.
    pub fn new<'a>(preset: &str, texts: impl IntoIterator<Item = (&'a str, &'a [u8])>) -> Self {
        // Most of them are as they ship, and their hashes are known.
        let shipped = update::embedded_files();
        let file = |(name, text): (&str, &[u8])| {
            let known = shipped.iter().find(|known| known.name == name && known.text.as_bytes() == text);
            PolicyFile { name: name.to_owned(), sha256: known.map_or_else(|| digest(text), EmbeddedFile::digest) }
        };
        let mut files: Vec<PolicyFile> = texts.into_iter().map(file).collect();
        files.sort();
        PolicyList { files, preset: preset.to_owned(), version: POLICY.to_owned() }
    }

    /// The line that the hash is over, without its end.
    pub fn to_text(&self) -> String {
        line_of(self)
    }

    /// The hash of the policy.
    pub fn hash(&self) -> String {
        hash(self.to_text().as_bytes())
    }
}

impl Index {
    /// The index as its file has it.
    pub fn to_text(&self) -> String {
        format!("{}\n", line_of(self))
    }

    /// Reads an index whose seal a believed key has signed. On an error: what is wrong.
    pub fn read(text: &[u8], seal: &[u8], keys: &Keys) -> Result<Index, Fault> {
        let fault = |code: Code, what: &str| Err(Fault { code, line: None, what: what.to_owned() });
        let read: Option<Seal> = canonical(seal);
        let Some(read) = read else { return fault(Code::PackSealWrong, "seal.json is no seal in its one spelling") };
        if read.version != SEAL {
            return fault(Code::PackVersionUnknown, "seal.json is of another version");
        }
        if !keys.believes(&read.key) {
            return fault(Code::PackKeyWrong, "the pack is sealed by a key that nobody has named");
        }
        let unsigned = Seal { signature: None, ..read.clone() };
        let signature = read.signature.as_deref().unwrap_or_default();
        if !is_signed(&read.key, signature, SEAL, line_of(&unsigned).as_bytes()) {
            return fault(Code::PackSealWrong, "seal.json or its signature was edited");
        }
        if digest(text) != read.index_sha256 {
            return fault(Code::PackIndexWrong, "index.json is not the one that was sealed");
        }
        match canonical::<Index>(text) {
            Some(index) if index.version == VERSION => Ok(index),
            Some(_) => fault(Code::PackVersionUnknown, "index.json is of another version"),
            None => fault(Code::PackIndexWrong, "index.json is no index in its one spelling"),
        }
    }

    /// The text of `seal.json` for this index.
    pub fn seal(&self, time: String, secret: &Secret) -> String {
        let index_sha256 = digest(self.to_text().as_bytes());
        let key = secret.public().to_owned();
        let mut seal = Seal { index_sha256, key, signature: None, time, version: SEAL.to_owned() };
        seal.signature = Some(secret.sign(SEAL, line_of(&seal).as_bytes()));
        format!("{}\n", line_of(&seal))
    }
}

/// The hash of a pack, to keep elsewhere: of its seal, without the line end.
pub fn head(seal: &str) -> String {
    hash(seal.trim_end_matches('\n').as_bytes())
}

/// INVARIANT: the members of these types are in the order of their names, so that this is the form of RFC 8785.
fn line_of(value: &impl Serialize) -> String {
    serde_json::to_string(value).unwrap_or_default()
}

/// Reads a line that is spelled in its one way.
fn canonical<T: Serialize + for<'de> Deserialize<'de>>(text: &[u8]) -> Option<T> {
    let value: T = serde_json::from_slice(text).ok()?;
    (format!("{}\n", line_of(&value)).as_bytes() == text).then_some(value)
}
