//! Receipts on disk: written by the hook and by commands that people run.

mod append;
pub mod key;
mod loosenings;
mod policy;

pub use key::{create as create_key, random_bytes};
pub use loosenings::{mark_reported, record_loosening, unreported_loosenings};
pub use policy::PolicySnapshot;

use super::options::Options;
use crate::runtime::environment::Environment;
use crate::runtime::policy_files::{PolicyTexts, open_with};
use append::Writer;
use rune::encoding::label::Label;
use rune::event::Header;
use rune::policy::Receipts;
use rune::receipt::{Decision, ReceiptBody};
use rune::verdict::Verdict;
use rune::verdict::limits::RECORD_RECEIPT_BYTES;
use rustix::fs::OFlags;
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};
use time::OffsetDateTime;

/// The file name of the receipts for what people did. No session file name contains `@`.
pub const OPERATOR_FILE: &str = "@operator";

/// A decision whose receipt is not written yet.
#[derive(Debug)]
pub struct PendingReceipt {
    pub decision: Decision,
    /// The directory of the project's policy, if it has one.
    pub project_policy: Option<PathBuf>,
    /// The policy files that were read for the decision.
    pub texts: PolicyTexts,
}

impl PendingReceipt {
    /// Builds the receipt for an event that was not judged, if the policy asks for one.
    pub fn for_failure(header: &Header, wanted: Receipts, verdict: &Verdict) -> Option<PendingReceipt> {
        let decision = Decision::of_failure(header, wanted, verdict)?;
        Some(PendingReceipt { decision, project_policy: None, texts: PolicyTexts::default() })
    }

    /// Writes the receipt. The error names the file.
    pub fn write(self, options: &Options, environment: &Environment, session: &Label) -> Result<(), String> {
        let policy =
            PolicySnapshot::read(options, environment, self.project_policy.as_deref(), &self.texts).list().hash();
        let body = ReceiptBody::Decision(Box::new(self.decision), policy);
        Writer::of_session(environment, session, options.client.name(), options.at)?.append(&body)
    }
}

/// Seals the receipts of a session that has ended.
pub fn seal(options: &Options, environment: &Environment, session: &Label) -> Result<(), String> {
    Writer::of_session(environment, session, options.client.name(), options.at)?.seal()
}

/// Writes a receipt for what a person did.
pub fn record_operator_action(
    environment: &Environment,
    body: &ReceiptBody,
    at: Option<OffsetDateTime>,
) -> Result<(), String> {
    Writer::of_operator(environment, at)?.append(body)
}

/// The receipts of what people did, part by part, to look up approvals in them.
///
/// # Errors
///
/// If a part cannot be read, or if there are more than [`RECORD_RECEIPT_BYTES`].
pub fn operator_parts(environment: &Environment) -> Result<Vec<Vec<u8>>, String> {
    parts(&folder(environment)?, OPERATOR_FILE)
}

/// The receipts about what a server serves, part by part. The errors are those of [`operator_parts`].
pub fn observed_parts(environment: &Environment, server: &str) -> Result<Vec<Vec<u8>>, String> {
    parts(&observed_folder(environment)?, &observed_name(server))
}

/// Writes a receipt for a change of an observed record.
pub fn record_observation(environment: &Environment, server: &str, body: &ReceiptBody) -> Result<(), String> {
    Writer::of_observed(environment, server)?.append(body)
}

/// The directory of the receipts about what servers serve. It is beside the records, because `rune mcp wrap` is told where
/// these are.
fn observed_folder(environment: &Environment) -> Result<PathBuf, String> {
    let data = environment.data_dir.as_ref().ok_or("receipts: HOME is not set and no `--data-dir` is given")?;
    Ok(data.join("observed-receipts"))
}

/// The name of a server in those of its receipt files.
fn observed_name(server: &str) -> String {
    let name = rune::mcp::file_name(server);
    name.strip_suffix(".json").unwrap_or(&name).to_owned()
}

fn parts(folder: &Path, name: &str) -> Result<Vec<Vec<u8>>, String> {
    let (mut parts, mut bytes) = (Vec::new(), 0);
    for part in 1.. {
        let path = folder.join(file_name(name, part));
        let in_file = |error: std::io::Error| format!("receipts: {}: {error}", path.display());
        let (file, length) = match open_with(&path, OFlags::NOFOLLOW) {
            Ok(opened) => opened,
            Err(error) if error.kind() == ErrorKind::NotFound => break,
            Err(error) => return Err(in_file(error)),
        };
        bytes += length;
        if bytes > RECORD_RECEIPT_BYTES.most as u64 {
            return Err(in_file(std::io::Error::other(RECORD_RECEIPT_BYTES.what)));
        }
        let mut text = Vec::new();
        file.take(length).read_to_end(&mut text).map_err(in_file)?;
        parts.push(text);
    }
    Ok(parts)
}

/// Seals the receipts of what people did.
pub fn seal_operator(environment: &Environment, at: OffsetDateTime) -> Result<(), String> {
    Writer::of_operator(environment, Some(at))?.seal()
}

/// The name of a part of the receipts of `name`, which is [`OPERATOR_FILE`] or a [`session_name`].
pub fn file_name(name: &str, part: u64) -> String {
    if part == 1 { format!("{name}.jsonl") } else { format!("{name}.{part}.jsonl") }
}

/// The name of a session in those of its receipt files. A call without a session leaves a receipt as well.
pub fn session_name(session: &Label) -> String {
    super::session::file_name(session).unwrap_or_else(|| "@none".to_owned())
}

pub fn folder(environment: &Environment) -> Result<PathBuf, String> {
    let state = environment.state_dir.as_ref().ok_or("receipts: HOME is not set and no `--state-dir` is given")?;
    Ok(state.join("receipts"))
}

/// The time for a receipt: `at`, or now.
pub fn time(at: Option<OffsetDateTime>) -> String {
    rune::telemetry::rfc3339(at.unwrap_or_else(crate::runtime::environment::now))
}
