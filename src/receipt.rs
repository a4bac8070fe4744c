//! Receipts: what was decided about a call, signed and chained, so that it can be shown later.
//!
//! The format is specified in `src/receipt/FORMAT.md`. A receipt holds labels, hashes and constants: there is no place
//! for payload.

mod chain;
mod decision;
mod key;
pub mod pack;

pub use chain::{Code, Expected, Fault, Outcome, Report, verify};
pub use decision::Decision;
pub use key::{Keys, PublicKey, Secret};

use crate::encoding::hex::digest;
use crate::encoding::label::Label;
use crate::event::LooseningRecord;
use serde::{Deserialize, Serialize};

/// The version of the format, and the tag that receipts are signed under.
pub const VERSION: &str = "rune.receipt/1";

/// What people did with the commands is a session of its own, of a name that no client's file has.
pub const OPERATOR: &str = "rune:operator";

/// What a receipt is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ReceiptKind {
    /// A call was judged.
    Decision,
    /// The part ends here.
    Seal,
    /// Another key signs from here on.
    Rotate,
    /// A person approved a tool or a server.
    Approve,
    /// A person blocked one.
    Block,
    /// A person took a block back.
    Unblock,
    /// A person loosened the guard by another verb, which `reason` names.
    Loosen,
}

/// Verbs that loosen the guard and have no kind of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "each is the verb of its name")]
pub enum Loosening {
    HooksInstall,
    HooksUninstall,
    McpImport,
    McpProbe,
    McpWrapInstall,
    McpWrapUninstall,
    Person,
    PolicyUpdate,
    QuarantineClear,
}

impl Loosening {
    /// All of them: the code in a receipt, and the verb as it is typed.
    const ALL: [(Loosening, &'static str, &'static str); 9] = [
        (Loosening::HooksInstall, "HOOKS_INSTALL", "hooks install"),
        (Loosening::HooksUninstall, "HOOKS_UNINSTALL", "hooks uninstall"),
        (Loosening::McpImport, "MCP_IMPORT", "mcp import"),
        (Loosening::McpProbe, "MCP_PROBE", "mcp probe"),
        (Loosening::McpWrapInstall, "MCP_WRAP_INSTALL", "mcp wrap --install"),
        (Loosening::McpWrapUninstall, "MCP_WRAP_UNINSTALL", "mcp wrap --uninstall"),
        (Loosening::Person, "PERSON", "person"),
        (Loosening::PolicyUpdate, "POLICY_UPDATE", "policy update"),
        (Loosening::QuarantineClear, "QUARANTINE_CLEAR", "quarantine clear"),
    ];

    /// The code that a receipt names it by.
    pub fn code(self) -> &'static str {
        Self::ALL.iter().find(|(verb, ..)| *verb == self).map_or("", |(_, code, _)| code)
    }
}

/// How long a time is that ends with its seconds.
const SECONDS: usize = "2026-06-09T00:00:00".len();

/// One receipt, member by member as the format has them.
///
/// INVARIANT: the members are in the order of their names, and all texts that we write are ASCII, so that what serde
/// writes is the form of RFC 8785.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(missing_docs, reason = "the format describes each member, in one place")]
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

/// What a receipt is about, with what only this kind has.
#[derive(Debug)]
pub enum Matter {
    /// A call was judged, under a policy of this hash.
    Decision(Box<Decision>, String),
    /// The part ends here.
    Seal,
    /// This key signs from here on.
    Rotate(PublicKey),
    /// A person loosened the guard by this verb.
    Loosen(Loosening),
    /// A person did something to a tool or, where none is named, to a server.
    Deed {
        /// What.
        kind: ReceiptKind,
        /// The server.
        server: Label,
        /// The tool.
        tool: Option<Label>,
        /// The hash that it is about.
        pin: Option<String>,
    },
}

/// Where the next receipt of a file goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The part.
    pub part: u64,
    /// The number in the part.
    pub seq: u64,
    /// The hash of what stands before.
    pub prev: String,
    /// Bytes of a torn line that were cut off.
    pub torn: u64,
}

/// What the end of a file of receipts tells.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum End {
    /// The next receipt goes here.
    Open(Place),
    /// The part is closed, or cannot be gone on with; the next one begins like this.
    Closed(Place),
}

/// What of the last receipt says where the next one goes. Whether it is genuine, whoever verifies finds out.
#[derive(Deserialize)]
struct Last {
    kind: ReceiptKind,
    seq: u64,
    version: String,
}

impl Place {
    /// The beginning of a session.
    pub fn first(session: &str) -> Self {
        Place { part: 1, seq: 1, prev: beginning(session), torn: 0 }
    }
}

impl End {
    /// Reads the last bytes of a file of part `part`; tells also how many of them are a torn line. `None` where they are no whole line.
    pub fn read(tail: &[u8], part: u64) -> (Option<End>, usize) {
        let last_line = |text: &[u8]| text.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        let whole = last_line(tail);
        let torn = tail.len() - whole;
        let Some(last) = tail.get(..whole.saturating_sub(1)).filter(|_| whole > 0) else { return (None, torn) };
        let last = last.get(last_line(last)..).unwrap_or_default();
        let (prev, torn_bytes) = (hash(last), torn as u64);
        let end = match serde_json::from_slice::<Last>(last) {
            Ok(last) if last.kind != ReceiptKind::Seal && last.version == VERSION => {
                End::Open(Place { part, seq: last.seq.saturating_add(1), prev, torn: torn_bytes })
            }
            // Whatever stands there, what follows is kept: in a part of its own.
            Ok(_) | Err(_) => End::Closed(Place { part: part + 1, seq: 1, prev, torn: 0 }),
        };
        (Some(end), torn)
    }
}

impl Receipt {
    /// Signs what happened in a session at a place of its file.
    pub fn sign(matter: &Matter, session: &str, client: &str, time: String, place: Place, secret: &Secret) -> Self {
        let mut receipt = Receipt {
            args_sha256: None,
            client: client.to_owned(),
            count: None,
            dispatched: None,
            head: None,
            key: secret.public().to_owned(),
            kind: ReceiptKind::Decision,
            next: None,
            observed: None,
            part: place.part,
            pin: None,
            policy: None,
            prev: place.prev,
            reason: None,
            rule: None,
            seq: place.seq,
            server: None,
            session: session.to_owned(),
            signature: None,
            time,
            tool: None,
            torn: place.torn,
            verdict: None,
            version: VERSION.to_owned(),
        };
        let text = |label: &Label| Some(label.to_string()).filter(|text| !text.is_empty());
        match matter {
            Matter::Decision(decision, policy) => {
                receipt.policy = Some(policy.clone());
                decision.fill(&mut receipt, secret);
            }
            Matter::Seal => {
                receipt.kind = ReceiptKind::Seal;
                receipt.head = Some(receipt.prev.clone());
                receipt.count = Some(receipt.seq.saturating_sub(1));
            }
            Matter::Rotate(next) => {
                receipt.kind = ReceiptKind::Rotate;
                receipt.next = Some(next.as_str().to_owned());
            }
            Matter::Loosen(verb) => {
                receipt.kind = ReceiptKind::Loosen;
                receipt.reason = Some(verb.code().to_owned());
            }
            Matter::Deed { kind, server, tool, pin } => {
                receipt.kind = *kind;
                receipt.server = text(server);
                receipt.tool = tool.as_ref().and_then(text);
                receipt.pin.clone_from(pin);
            }
        }
        receipt.signed_by(secret)
    }

    /// What loosened the guard, where the receipt is about that.
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
            ReceiptKind::Decision | ReceiptKind::Seal | ReceiptKind::Block => return None,
        };
        // Whoever wrote the line, what is shown of its time is one: to the second.
        let is_time = |c: &char| c.is_ascii_digit() || matches!(c, '-' | ':' | 'T');
        let time = self.time.chars().filter(is_time).take(SECONDS).collect();
        Some(LooseningRecord { verb, time, position: (self.part, self.seq) })
    }

    /// The same, signed by this key.
    #[must_use]
    pub fn signed_by(self, secret: &Secret) -> Self {
        let mut receipt = Receipt { key: secret.public().to_owned(), signature: None, ..self };
        receipt.signature = Some(secret.sign(VERSION, &receipt.to_bytes()));
        receipt
    }

    /// The receipt as its line has it, with the line end.
    pub fn to_line(&self) -> Vec<u8> {
        let mut line = self.to_bytes();
        line.push(b'\n');
        line
    }

    fn to_bytes(&self) -> Vec<u8> {
        // A struct of texts and numbers always serialises.
        serde_json::to_vec(self).unwrap_or_default()
    }

    /// The bytes that the signature is over.
    fn signed(&self) -> Vec<u8> {
        Receipt { signature: None, ..self.clone() }.to_bytes()
    }
}

/// The hash of a line, without its end.
pub fn hash(line: &[u8]) -> String {
    format!("sha256:{}", digest(line))
}

/// What stands before the first receipt of a session.
fn beginning(session: &str) -> String {
    hash(format!("{VERSION} begins {session}").as_bytes())
}
