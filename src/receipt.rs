//! Receipts: signed and chained records of decisions.
//!
//! The format is specified in `src/receipt/FORMAT.md`. A receipt holds labels, hashes and constants, never payload.

mod chain;
mod decision;
mod key;
pub mod pack;
mod record_change;

pub use chain::{ExpectedChain, FaultCode, Outcome, ReceiptFault, VerifyReport, verify};
pub use decision::Decision;
pub use key::{ArgumentsKey, PublicKey, Secret, TrustedKeys};
pub use record_change::{LastChange, RecordChange, observed_session};

use crate::encoding::hex::digest;
use crate::encoding::label::Label;
use crate::event::LooseningRecord;
use serde::{Deserialize, Serialize};

/// The version of the format, and the tag that receipts are signed under.
pub const VERSION: &str = "rune.receipt/1";

/// The session of commands that people ran. It contains `:`, which is not part of a client's session id.
pub const OPERATOR_SESSION: &str = "rune:operator";

/// What a receipt is about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ReceiptKind {
    /// A call was judged.
    #[default]
    Decision,
    /// The part has ended.
    Seal,
    /// Another key signs the following receipts.
    Rotate,
    /// A person approved a tool or a server.
    Approve,
    /// A person blocked a tool or a server.
    Block,
    /// A person removed a block.
    Unblock,
    /// What a server serves was recorded.
    Observe,
    /// A person loosened the guard by another command, which `reason` names.
    Loosen,
}

/// Commands that loosen the guard and have no receipt kind of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "each is the command of its name")]
pub enum Loosening {
    Allow,
    HooksInstall,
    HooksUninstall,
    McpImport,
    McpProbe,
    McpWrapInstall,
    McpWrapUninstall,
    Pause,
    Person,
    PolicyUpdate,
    QuarantineClear,
}

impl Loosening {
    /// Every command: its code in a receipt, and its words after `rune`.
    const ALL: [(Loosening, &'static str, &'static str); 11] = [
        (Loosening::Allow, "ALLOW", "allow"),
        (Loosening::HooksInstall, "HOOKS_INSTALL", "hooks install"),
        (Loosening::HooksUninstall, "HOOKS_UNINSTALL", "hooks uninstall"),
        (Loosening::McpImport, "MCP_IMPORT", "mcp import"),
        (Loosening::McpProbe, "MCP_PROBE", "mcp probe"),
        (Loosening::McpWrapInstall, "MCP_WRAP_INSTALL", "mcp wrap --install"),
        (Loosening::McpWrapUninstall, "MCP_WRAP_UNINSTALL", "mcp wrap --uninstall"),
        (Loosening::Pause, "PAUSE", "pause"),
        (Loosening::Person, "PERSON", "person"),
        (Loosening::PolicyUpdate, "POLICY_UPDATE", "policy update"),
        (Loosening::QuarantineClear, "QUARANTINE_CLEAR", "quarantine clear"),
    ];

    /// Its code in a receipt.
    pub fn code(self) -> &'static str {
        Self::ALL.iter().find(|(command, ..)| *command == self).map_or("", |(_, code, _)| code)
    }
}

/// The length of a time up to its seconds.
const SECONDS_LENGTH: usize = "2026-06-09T00:00:00".len();

/// One receipt, with the members of the format.
///
/// INVARIANT: the members are sorted by name and their texts are ASCII, so that serde writes the RFC 8785 form.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(missing_docs, reason = "FORMAT.md describes each member")]
pub struct Receipt {
    pub args_sha256: Option<String>,
    pub client: String,
    pub count: Option<u64>,
    pub dispatched: Option<bool>,
    pub head: Option<String>,
    pub key: String,
    pub kind: ReceiptKind,
    pub next: Option<String>,
    pub observed: Option<String>,
    pub part: u64,
    pub pin: Option<String>,
    pub policy: Option<String>,
    pub prev: String,
    pub reason: Option<String>,
    pub rule: Option<String>,
    pub seq: u64,
    pub server: Option<String>,
    pub session: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub signature: Option<String>,
    pub time: String,
    pub tool: Option<String>,
    pub torn: u64,
    pub verdict: Option<String>,
    pub version: String,
}

/// The members that only one kind of receipt has.
#[derive(Debug)]
pub enum ReceiptBody {
    /// A judged call, and the hash of the policy.
    Decision(Box<Decision>, String),
    /// The end of a part.
    Seal,
    /// The key that signs the following receipts.
    Rotate(PublicKey),
    /// The command by which a person loosened the guard.
    Loosen(Loosening),
    /// A change of the record of a server.
    RecordChange(RecordChange),
}

/// The position of the next receipt in a chain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChainPosition {
    /// The part.
    pub part: u64,
    /// The number of the receipt in the part.
    pub seq: u64,
    /// The hash of the receipt before.
    pub prev: String,
    /// Bytes of a torn line that were cut off before it.
    pub torn: u64,
}

/// The state at the end of a receipt file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ChainEnd {
    /// The part is open, and the next receipt has this position.
    Open(ChainPosition),
    /// The part is sealed or cannot be continued. The next part begins at this position.
    Closed(ChainPosition),
}

/// The members of the last receipt that determine the next position. Its signature is not checked here.
#[derive(Deserialize)]
struct LastReceipt {
    kind: ReceiptKind,
    seq: u64,
    version: String,
}

impl ChainPosition {
    /// The position of the first receipt of a session.
    pub fn first(session: &str) -> Self {
        ChainPosition { part: 1, seq: 1, prev: first_prev(session), torn: 0 }
    }
}

impl ChainEnd {
    /// Reads the last bytes of the file of a part. Returns the state, or `None` if there is no complete line, and the
    /// number of bytes of a torn line.
    pub fn read(tail: &[u8], part: u64) -> (Option<ChainEnd>, usize) {
        let start_of_last_line = |text: &[u8]| text.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        let whole = start_of_last_line(tail);
        let torn = tail.len() - whole;
        let Some(last) = tail.get(..whole.saturating_sub(1)).filter(|_| whole > 0) else { return (None, torn) };
        let last = last.get(start_of_last_line(last)..).unwrap_or_default();
        let (prev, torn_bytes) = (hash(last), torn as u64);
        let end = match serde_json::from_slice::<LastReceipt>(last) {
            Ok(last) if last.kind != ReceiptKind::Seal && last.version == VERSION => {
                ChainEnd::Open(ChainPosition { part, seq: last.seq.saturating_add(1), prev, torn: torn_bytes })
            }
            // A seal, or a line that is not a known receipt: the chain continues in a new part.
            Ok(_) | Err(_) => ChainEnd::Closed(ChainPosition { part: part + 1, seq: 1, prev, torn: 0 }),
        };
        (Some(end), torn)
    }
}

impl Receipt {
    /// Creates and signs a receipt of a session.
    pub fn sign(
        body: &ReceiptBody,
        session: &str,
        client: &str,
        time: String,
        position: ChainPosition,
        secret: &Secret,
    ) -> Self {
        let mut receipt = Receipt {
            client: client.to_owned(),
            part: position.part,
            prev: position.prev,
            seq: position.seq,
            session: session.to_owned(),
            time,
            torn: position.torn,
            version: VERSION.to_owned(),
            ..Receipt::default()
        };
        match body {
            ReceiptBody::Decision(decision, policy) => {
                receipt.policy = Some(policy.clone());
                decision.fill(&mut receipt, secret);
            }
            ReceiptBody::Seal => {
                receipt.kind = ReceiptKind::Seal;
                receipt.head = Some(receipt.prev.clone());
                receipt.count = Some(receipt.seq.saturating_sub(1));
            }
            ReceiptBody::Rotate(next) => {
                receipt.kind = ReceiptKind::Rotate;
                receipt.next = Some(next.as_str().to_owned());
            }
            ReceiptBody::Loosen(command) => {
                receipt.kind = ReceiptKind::Loosen;
                receipt.reason = Some(command.code().to_owned());
            }
            ReceiptBody::RecordChange(change) => change.fill(&mut receipt),
        }
        receipt.signed_by(secret)
    }

    /// Reads the receipts of a file, and skips lines that are not receipts. Signatures are not checked.
    pub fn read_lines(bytes: &[u8]) -> impl DoubleEndedIterator<Item = Receipt> {
        bytes.split(|byte| *byte == b'\n').filter_map(|line| serde_json::from_slice(line).ok())
    }

    /// The loosening that this receipt records, if it records one.
    pub fn loosened(&self) -> Option<LooseningRecord> {
        let verb = match self.kind {
            ReceiptKind::Approve => "mcp approve",
            ReceiptKind::Unblock => "mcp unblock",
            ReceiptKind::Rotate => "receipts key rotate",
            ReceiptKind::Loosen => {
                let code = self.reason.as_deref().unwrap_or_default();
                let named = Loosening::ALL.iter().find(|(_, known, _)| *known == code);
                named.map_or("an unknown verb", |(.., verb)| verb)
            }
            ReceiptKind::Decision | ReceiptKind::Seal | ReceiptKind::Block | ReceiptKind::Observe => return None,
        };
        // The line may be forged, so only characters of a time are shown.
        let is_time = |c: &char| c.is_ascii_digit() || matches!(c, '-' | ':' | 'T');
        let time = self.time.chars().filter(is_time).take(SECONDS_LENGTH).collect();
        Some(LooseningRecord { verb, time, position: (self.part, self.seq) })
    }

    /// Signs the receipt with this key.
    #[must_use]
    pub fn signed_by(self, secret: &Secret) -> Self {
        let mut receipt = Receipt { key: secret.public().to_owned(), signature: None, ..self };
        receipt.signature = Some(secret.sign(VERSION, &receipt.to_bytes()));
        receipt
    }

    /// The line of the receipt, with its line end.
    pub fn to_line(&self) -> Vec<u8> {
        let mut line = self.to_bytes();
        line.push(b'\n');
        line
    }

    fn to_bytes(&self) -> Vec<u8> {
        // A struct of strings and numbers always serializes.
        serde_json::to_vec(self).unwrap_or_default()
    }

    /// The bytes that are signed.
    fn signed_bytes(&self) -> Vec<u8> {
        Receipt { signature: None, ..self.clone() }.to_bytes()
    }
}

/// The hash of a line without its line end.
pub fn hash(line: &[u8]) -> String {
    format!("sha256:{}", digest(line))
}

/// The label as a member; an empty one is `null`.
fn member(label: &Label) -> Option<String> {
    Some(label.to_string()).filter(|text| !text.is_empty())
}

/// The `prev` of the first receipt of a session.
fn first_prev(session: &str) -> String {
    hash(format!("{VERSION} begins {session}").as_bytes())
}
