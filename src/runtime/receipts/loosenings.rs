//! Loosenings of the guard: their receipts, and which of them the next session reports.

use super::{OPERATOR_FILE, file_name, folder, record_operator_action};
use crate::runtime::environment::Environment;
use crate::runtime::files::write_private;
use crate::runtime::policy_files::read_bytes;
use anyhow::{Context, anyhow};
use rune::event::LooseningRecord;
use rune::receipt::{Loosening, Receipt, ReceiptBody};
use std::path::PathBuf;

/// Writes the receipt of a loosening. Callers do so before the change: if it fails, nothing is loosened.
pub fn record_loosening(environment: &Environment, verb: Loosening) -> anyhow::Result<()> {
    let written = record_operator_action(environment, &ReceiptBody::Loosen(verb), None);
    written.map_err(|what| anyhow!(what)).context("nothing was changed: there is no receipt of it")
}

/// The loosenings that no session has reported yet, oldest first.
pub fn unreported_loosenings(environment: &Environment) -> Vec<LooseningRecord> {
    let cursor = cursor_path(environment).and_then(|path| std::fs::read_to_string(path).ok());
    let last = cursor.as_deref().and_then(parse_position).unwrap_or_default();
    let all = operator_receipts(environment, last.0).into_iter().filter_map(|receipt| receipt.loosened());
    all.filter(|loosening| loosening.position > last).collect()
}

/// Stores that these loosenings were reported. If that fails, the next session reports them again.
pub fn mark_reported(environment: &Environment, reported: &[LooseningRecord]) -> anyhow::Result<()> {
    let (Some(path), Some(last)) = (cursor_path(environment), reported.last()) else { return Ok(()) };
    let (part, seq) = last.position;
    write_private(&path, format!("{part} {seq}\n").as_bytes())
}

/// The file with the position of the last reported receipt.
fn cursor_path(environment: &Environment) -> Option<PathBuf> {
    Some(environment.state_dir.as_ref()?.join("loosenings-told"))
}

/// Parses `PART SEQ`.
fn parse_position(text: &str) -> Option<(u64, u64)> {
    let (part, seq) = text.trim().split_once(' ')?;
    Some((part.parse().ok()?, seq.parse().ok()?))
}

/// The receipts of what people did, from this part on, oldest first.
fn operator_receipts(environment: &Environment, from: u64) -> Vec<Receipt> {
    let Ok(folder) = folder(environment) else { return Vec::new() };
    let files = (from.max(1)..).map(|part| folder.join(file_name(OPERATOR_FILE, part)));
    files
        .map_while(|file| read_bytes(&file).ok())
        .flat_map(|text| Receipt::read_lines(&text).collect::<Vec<_>>())
        .collect()
}
