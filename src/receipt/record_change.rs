//! Changes of the records of MCP servers: the members of their receipts, and the search for the last one of a server.
//!
//! The receipt of a change holds the hash of the file that the change wrote. A record without such a receipt, or one
//! that differs from the last change, was not written by a command of this program.
//!
//! Receipts about pins are among those of what people did. Those about observed records are in a chain for each server.

use super::key::{TrustedKeys, is_signed};
use super::{OPERATOR_SESSION, Receipt, ReceiptKind, VERSION, first_prev, hash, member};
use crate::encoding::label::Label;

/// A change of a record.
#[derive(Debug)]
pub struct RecordChange {
    kind: ReceiptKind,
    server: Label,
    tool: Option<Label>,
    approved: Option<String>,
    file: String,
}

impl RecordChange {
    /// The approval, block or unblock (`kind`) of a tool, or of a server. `approved` is the hash of what a person was
    /// shown, and `file` the text of the pin file after the change.
    pub fn of_pin(kind: ReceiptKind, server: &str, tool: Option<&str>, approved: Option<String>, file: &[u8]) -> Self {
        RecordChange { kind, server: Label::new(server), tool: tool.map(Label::new), approved, file: hash(file) }
    }

    /// An observation of a server. `file` is the text of the observed record, which is empty if it was removed.
    pub fn of_observed(server: &str, file: &[u8]) -> Self {
        let (kind, server) = (ReceiptKind::Observe, Label::new(server));
        RecordChange { kind, server, tool: None, approved: None, file: hash(file) }
    }

    pub(super) fn fill(&self, receipt: &mut Receipt) {
        receipt.kind = self.kind;
        receipt.server = member(&self.server);
        receipt.tool = self.tool.as_ref().and_then(member);
        receipt.pin.clone_from(&self.approved);
        receipt.head = Some(self.file.clone());
    }
}

/// The session of the receipts about what a server serves.
pub fn observed_session(server: &str) -> String {
    Label::of("rune:observed", server).to_string()
}

/// The last change of a record, by its receipts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LastChange {
    /// No receipt is about the server.
    None,
    /// A change wrote the file with this hash.
    Wrote(String),
    /// There are receipts about the server, and they are not authentic.
    Broken,
}

impl LastChange {
    /// Searches the parts of the receipts of what people did for the last change of a server's pin.
    pub fn of_pin(parts: &[impl AsRef<[u8]>], server: &str, keys: &TrustedKeys) -> Self {
        let kinds = [ReceiptKind::Approve, ReceiptKind::Block, ReceiptKind::Unblock];
        LastChange::find(parts, OPERATOR_SESSION, &kinds, server, keys)
    }

    /// Searches the parts of the receipts about a server for the last change of its observed record.
    pub fn of_observed(parts: &[impl AsRef<[u8]>], server: &str, keys: &TrustedKeys) -> Self {
        LastChange::find(parts, &observed_session(server), &[ReceiptKind::Observe], server, keys)
    }

    /// Searches the parts of a chain, which are in their order.
    ///
    /// The last line must have its number and a valid signature, and each line before it the hash that the line after
    /// it has for it, so that no receipt of a later change can be edited, replaced or taken out of the middle.
    fn find(
        parts: &[impl AsRef<[u8]>],
        session: &str,
        kinds: &[ReceiptKind],
        server: &str,
        keys: &TrustedKeys,
    ) -> Self {
        let server = member(&Label::new(server));
        let named = format!("\"server\":\"{}\"", server.as_deref().unwrap_or_default());
        let is_named = |line: &[u8]| line.windows(named.len()).any(|part| part == named.as_bytes());
        // A torn last line was never written completely.
        let complete = |part: &'_ [u8]| part.iter().rposition(|byte| *byte == b'\n').unwrap_or_default();
        let texts: Vec<&[u8]> =
            parts.iter().map(AsRef::as_ref).map(|part| part.get(..complete(part)).unwrap_or_default()).collect();
        if !texts.iter().any(|text| is_named(text)) {
            return LastChange::None;
        }
        let mut nonempty = texts.iter().rev().filter(|text| !text.is_empty()).peekable();
        // Receipts of a part are numbered from 1, so an earlier line that is repeated at the end has the wrong number.
        let last_part = nonempty.peek().map(|text| text.split(|byte| *byte == b'\n').count());
        let last_seq = last_part.unwrap_or_default() as u64;
        let lines = nonempty.flat_map(|text| text.rsplit(|byte| *byte == b'\n'));
        let mut expected: Option<String> = None;
        for line in lines {
            let Ok(receipt) = serde_json::from_slice::<Receipt>(line) else { return LastChange::Broken };
            let is_linked = match &expected {
                Some(expected) => hash(line) == *expected,
                None => receipt.seq == last_seq && is_authentic(&receipt, line, keys),
            };
            if !is_linked || receipt.session != session {
                return LastChange::Broken;
            }
            if kinds.contains(&receipt.kind) && receipt.server == server {
                // The key of the receipt may have been replaced since.
                let written = receipt.head.clone().filter(|_| is_authentic(&receipt, line, keys));
                return written.map_or(LastChange::Broken, LastChange::Wrote);
            }
            expected = Some(receipt.prev);
        }
        if expected == Some(first_prev(session)) { LastChange::None } else { LastChange::Broken }
    }

    /// Whether the last change wrote this file.
    pub fn wrote(&self, file: &[u8]) -> bool {
        matches!(self, LastChange::Wrote(written) if *written == hash(file))
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
