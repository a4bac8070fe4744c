//! Loosenings of the guard: the receipts that they leave, and those that the next session tells of.

use super::append::Writer;
use super::{OPERATOR_FILE, folder};
use crate::runtime::environment::Environment;
use crate::runtime::files::put_private;
use crate::runtime::policy_files::read_bytes;
use anyhow::{Context, anyhow};
use rune::event::Loosened;
use rune::receipt::{Loosening, Receipt, ReceiptBody};
use std::path::PathBuf;

/// Leaves a receipt of a loosening. It comes before the change: where it cannot be written, nothing is loosened.
pub fn loosen(environment: &Environment, verb: Loosening) -> anyhow::Result<()> {
    let left = Writer::of_operator(environment, None).and_then(|writer| writer.append(&ReceiptBody::Loosen(verb)));
    left.map_err(|what| anyhow!(what)).context("nothing was changed: there is no receipt of it")
}

/// The loosenings that no session has told of yet, oldest first.
pub fn loosenings(environment: &Environment) -> Vec<Loosened> {
    let told = cursor(environment).and_then(|path| std::fs::read_to_string(path).ok());
    let told = told.as_deref().and_then(place_of).unwrap_or_default();
    let all = operator_receipts(environment, told.0).into_iter().filter_map(|receipt| receipt.loosened());
    all.filter(|loosened| loosened.place > told).collect()
}

/// Remembers that a session has told of these. Where that fails, the next one tells of them again.
pub fn mark_told(environment: &Environment, told: &[Loosened]) -> anyhow::Result<()> {
    let (Some(path), Some(last)) = (cursor(environment), told.last()) else { return Ok(()) };
    let (part, seq) = last.place;
    put_private(&path, format!("{part} {seq}\n").as_bytes())
}

fn cursor(environment: &Environment) -> Option<PathBuf> {
    Some(environment.state_dir.as_ref()?.join("loosenings-told"))
}

/// `PART SEQ`, of the last receipt that was told.
fn place_of(text: &str) -> Option<(u64, u64)> {
    let (part, seq) = text.trim().split_once(' ')?;
    Some((part.parse().ok()?, seq.parse().ok()?))
}

/// The receipts of what people did with the commands, from this part on, oldest first.
fn operator_receipts(environment: &Environment, from: u64) -> Vec<Receipt> {
    let Ok(folder) = folder(environment) else { return Vec::new() };
    let name = |part: u64| if part == 1 { String::new() } else { format!(".{part}") };
    let files = (from.max(1)..).map(|part| folder.join(format!("{OPERATOR_FILE}{}.jsonl", name(part))));
    let texts = files.map_while(|file| read_bytes(&file).ok());
    let mut receipts = Vec::new();
    for text in texts {
        let lines = text.split(|byte| *byte == b'\n');
        receipts.extend(lines.filter_map(|line| serde_json::from_slice::<Receipt>(line).ok()));
    }
    receipts
}
