//! Receipts on disk: made by the hook and by what people do, shown and verified by commands.

pub mod append;
pub mod key;
mod loosenings;
mod policy;

pub use key::{make as make_key, random};
pub use loosenings::{loosen, loosenings, mark_told};
pub use policy::Texts;

use super::options::Options;
use crate::runtime::environment::Environment;
use crate::runtime::policy_files::PolicyTexts;
use append::Writer;
use rune::encoding::label::Label;
use rune::receipt::{Decision, ReceiptBody, ReceiptKind};
use std::path::PathBuf;
use time::OffsetDateTime;

/// The name of the file of what people did; no session's name has such a sign.
pub const OPERATOR_FILE: &str = "@operator";

/// A decision that is to leave a receipt.
#[derive(Debug)]
pub struct PendingReceipt {
    pub decision: Decision,
    /// The project's own policy, where it took part.
    pub own: Option<PathBuf>,
    /// What was read of the policy.
    pub memory: PolicyTexts,
}

impl PendingReceipt {
    /// Writes the receipt. The error names the file.
    pub fn write(self, options: &Options, environment: &Environment, session: &Label) -> Result<(), String> {
        let policy = Texts::read(options, environment, self.own.as_deref(), &self.memory).list().hash();
        let matter = ReceiptBody::Decision(Box::new(self.decision), policy);
        Writer::of_session(environment, session, options.client.name(), options.at)?.append(&matter)
    }
}

/// Seals the receipts of a session that has ended, where it has any.
pub fn seal(options: &Options, environment: &Environment, session: &Label) -> Result<(), String> {
    Writer::of_session(environment, session, options.client.name(), options.at)?.seal()
}

/// Notes what a person did to a server or a tool.
pub fn deed(
    environment: &Environment,
    kind: ReceiptKind,
    server: Label,
    tool: Option<Label>,
    pin: Option<String>,
    at: Option<OffsetDateTime>,
) -> Result<(), String> {
    Writer::of_operator(environment, at)?.append(&ReceiptBody::PinChange { kind, server, tool, pin })
}

/// Seals what people did, where the installation ends with it.
pub fn seal_operator(environment: &Environment, at: OffsetDateTime) -> Result<(), String> {
    Writer::of_operator(environment, Some(at))?.seal()
}

/// The file of the first part of a session.
pub fn file_of(environment: &Environment, session: &Label) -> Result<PathBuf, String> {
    let name = super::session::file_name(session).unwrap_or_else(|| "@none".to_owned());
    Ok(folder(environment)?.join(format!("{name}.jsonl")))
}

/// The folder of the receipts.
pub fn folder(environment: &Environment) -> Result<PathBuf, String> {
    let state = environment.state_dir.as_ref().ok_or("receipts: HOME is not set and no `--state-dir` is given")?;
    Ok(state.join("receipts"))
}

/// The time that a receipt says.
pub fn time(at: Option<OffsetDateTime>) -> String {
    rune::telemetry::rfc3339(at.unwrap_or_else(crate::runtime::environment::now))
}
