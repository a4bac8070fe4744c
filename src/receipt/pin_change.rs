//! Changes of pins: the members of their receipts, and the search for the last one of a server.
//!
//! The receipt of a change holds the hash of the pin file that the change wrote. A pin file without such a receipt, or
//! one that differs from the last change, was not written by a person's command.

use super::key::{TrustedKeys, is_signed};
use super::{OPERATOR_SESSION, Receipt, ReceiptKind, VERSION, first_prev, hash, member};
use crate::encoding::label::Label;

/// A change of a server's pin.
#[derive(Debug)]
pub struct PinChange {
    kind: ReceiptKind,
    server: Label,
    tool: Option<Label>,
    approved: Option<String>,
    file: String,
}

impl PinChange {
    /// The approval, block or unblock (`kind`) of a tool, or of a server. `approved` is the hash of what a person was
    /// shown, and `file` the text of the pin file after the change.
    pub fn new(kind: ReceiptKind, server: &str, tool: Option<&str>, approved: Option<String>, file: &[u8]) -> Self {
        PinChange { kind, server: Label::new(server), tool: tool.map(Label::new), approved, file: hash(file) }
    }

    pub(super) fn fill(&self, receipt: &mut Receipt) {
        receipt.kind = self.kind;
        receipt.server = member(&self.server);
        receipt.tool = self.tool.as_ref().and_then(member);
        receipt.pin.clone_from(&self.approved);
        receipt.head = Some(self.file.clone());
    }
}

/// The last change of a server's pin, by the receipts of what people did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LastPinChange {
    /// No receipt is about the server.
    None,
    /// A change wrote the pin file with this hash.
    Wrote(String),
    /// There are receipts about the server, and they are not authentic.
    Broken,
}

impl LastPinChange {
    /// Searches the parts of the receipts of what people did, which are in their order.
    ///
    /// The last line must have a valid signature, and each line before it the hash that the line after it has for it, so
    /// that no receipt of a later change can be edited, replaced or taken out of the middle.
    pub fn find(parts: &[impl AsRef<[u8]>], server: &str, keys: &TrustedKeys) -> Self {
        let server = member(&Label::new(server));
        let named = format!("\"server\":\"{}\"", server.as_deref().unwrap_or_default());
        let is_named = |line: &[u8]| line.windows(named.len()).any(|part| part == named.as_bytes());
        // A torn last line was never written completely.
        let complete = |part: &'_ [u8]| part.iter().rposition(|byte| *byte == b'\n').unwrap_or_default();
        let texts: Vec<&[u8]> =
            parts.iter().map(AsRef::as_ref).map(|part| part.get(..complete(part)).unwrap_or_default()).collect();
        if !texts.iter().any(|text| is_named(text)) {
            return LastPinChange::None;
        }
        let lines = texts.iter().rev().filter(|text| !text.is_empty());
        let lines = lines.flat_map(|text| text.rsplit(|byte| *byte == b'\n'));
        let mut expected: Option<String> = None;
        for line in lines {
            let Ok(receipt) = serde_json::from_slice::<Receipt>(line) else { return LastPinChange::Broken };
            let is_linked = match &expected {
                Some(expected) => hash(line) == *expected,
                None => is_authentic(&receipt, line, keys),
            };
            if !is_linked || receipt.session != OPERATOR_SESSION {
                return LastPinChange::Broken;
            }
            let is_change = matches!(receipt.kind, ReceiptKind::Approve | ReceiptKind::Block | ReceiptKind::Unblock);
            if is_change && receipt.server == server {
                // The key of the receipt may have been replaced since.
                let written = receipt.head.clone().filter(|_| is_authentic(&receipt, line, keys));
                return written.map_or(LastPinChange::Broken, LastPinChange::Wrote);
            }
            expected = Some(receipt.prev);
        }
        if expected == Some(first_prev(OPERATOR_SESSION)) { LastPinChange::None } else { LastPinChange::Broken }
    }

    /// Whether the last change wrote this pin file.
    pub fn wrote(&self, file: &[u8]) -> bool {
        matches!(self, LastPinChange::Wrote(written) if *written == hash(file))
    }
}

/// Whether a line is a receipt in canonical form that a trusted key has signed.
fn is_authentic(receipt: &Receipt, line: &[u8], keys: &TrustedKeys) -> bool {
    let signature = receipt.signature.as_deref().unwrap_or_default();
    receipt.version == VERSION
        && receipt.to_bytes() == line
        && keys.trusts(&receipt.key)
        && is_signed(&receipt.key, signature, VERSION, &receipt.signed_bytes())
}
