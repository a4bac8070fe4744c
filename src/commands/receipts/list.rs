//! `rune receipts list` and `show`: the content of receipt files, without verification.

use super::{ListArgs, ShowArgs, printable};
use crate::commands::say;
use crate::runtime::policy_files;
use crate::runtime::receipts::{OPERATOR_FILE, folder};
use crate::runtime::session;
use anyhow::{Context, Error, bail};
use rune::encoding::label::Label;
use rune::receipt::{OPERATOR_SESSION, Receipt, ReceiptKind};
use serde::Serialize;
use std::path::{Path, PathBuf};

/// One line of `rune receipts list`.
#[derive(Serialize)]
struct ReceiptFileSummary {
    session: Label,
    part: u64,
    receipts: usize,
    denied: usize,
    asked: usize,
    sealed: bool,
    last: String,
    file: String,
}

pub fn list(args: &ListArgs) -> anyhow::Result<()> {
    let files = receipt_files(&folder(&args.dirs.environment()?).map_err(Error::msg)?)?;
    if files.is_empty() && !args.json {
        return say("no receipts yet");
    }
    for file in files {
        let summary = summarize(&file)?;
        if args.json {
            say(&crate::commands::to_json(&summary)?)?;
        } else {
            let ReceiptFileSummary { session, part, receipts, denied, asked, sealed, last, .. } = summary;
            let sealed = if sealed { "sealed" } else { "open" };
            say!(
                "{session:<36} {part:>4} {receipts:>6} receipts {denied:>5} denied {asked:>5} asked  {sealed:<6}  {last}"
            )?;
        }
    }
    Ok(())
}

fn summarize(file: &Path) -> anyhow::Result<ReceiptFileSummary> {
    let receipts = read_receipts(file)?;
    let count = |verdict: &str| receipts.iter().filter(|receipt| receipt.verdict.as_deref() == Some(verdict)).count();
    let last = receipts.last();
    Ok(ReceiptFileSummary {
        session: Label::new(last.map_or("", |receipt| &receipt.session)),
        part: last.map_or(1, |receipt| receipt.part),
        receipts: receipts.len(),
        denied: count("deny"),
        asked: count("ask"),
        sealed: last.is_some_and(|receipt| receipt.kind == ReceiptKind::Seal),
        last: printable(last.map_or("", |receipt| &receipt.time)),
        file: file.display().to_string(),
    })
}

pub fn show(args: &ShowArgs) -> anyhow::Result<()> {
    let named = PathBuf::from(&args.session);
    let files = if named.is_file() {
        vec![named]
    } else {
        session_files(&folder(&args.dirs.environment()?).map_err(Error::msg)?, &args.session)?
    };
    let receipts = files.iter().map(|file| read_receipts(file)).collect::<anyhow::Result<Vec<_>>>()?;
    for receipt in receipts.into_iter().flatten() {
        if args.json {
            say(String::from_utf8_lossy(&receipt.to_line()).trim_end())?;
            continue;
        }
        let text = |text: &Option<String>| printable(text.as_deref().unwrap_or("-"));
        let what = match receipt.kind {
            ReceiptKind::Decision => text(&receipt.verdict),
            ReceiptKind::Seal => "sealed".to_owned(),
            ReceiptKind::Rotate => "new key".to_owned(),
            ReceiptKind::Approve => "approved".to_owned(),
            ReceiptKind::Block => "blocked".to_owned(),
            ReceiptKind::Unblock => "unblocked".to_owned(),
            ReceiptKind::Observe => "observed".to_owned(),
            ReceiptKind::Loosen => format!("loosened by `{}`", receipt.loosened().map_or("", |loosened| loosened.verb)),
        };
        let name = text(if receipt.tool.is_some() { &receipt.tool } else { &receipt.server });
        let time = printable(&receipt.time);
        say!("{:>5} {time} {what:<9} {:<28} {name}", receipt.seq, text(&receipt.reason))?;
    }
    Ok(())
}

/// Lists the receipt files of a folder, sorted by name. A missing folder has none.
pub fn receipt_files(folder: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let entries = match std::fs::read_dir(folder) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.with_context(|| folder.display().to_string())?,
    };
    let mut files = Vec::new();
    for entry in entries {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "jsonl") && path.is_file() {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

/// Lists the receipt files of a session, in order of their parts.
pub fn session_files(folder: &Path, session: &str) -> anyhow::Result<Vec<PathBuf>> {
    let name = if session == OPERATOR_SESSION {
        OPERATOR_FILE.to_owned()
    } else {
        session::file_name(&Label::new(session)).unwrap_or_default()
    };
    let mut files = receipt_files(folder)?;
    files.retain(|path| split_file_name(path).0 == name);
    files.sort_by_key(|path| split_file_name(path).1);
    if files.is_empty() {
        bail!("no receipts of session `{}`\n  help: `rune receipts list` lists the sessions", Label::new(session));
    }
    Ok(files)
}

/// Splits the name of a receipt file, `NAME.jsonl` or `NAME.PART.jsonl`, into the session's name and the part.
pub fn split_file_name(path: &Path) -> (String, u64) {
    let file = path.file_name().unwrap_or_default().to_string_lossy();
    let name = file.strip_suffix(".jsonl").unwrap_or(&file);
    match name.rsplit_once('.').and_then(|(name, part)| Some((name, part.parse().ok()?))) {
        Some((name, part)) => (name.to_owned(), part),
        None => (name.to_owned(), 1),
    }
}

fn read_receipts(file: &Path) -> anyhow::Result<Vec<Receipt>> {
    let bytes = policy_files::read_bytes(file).with_context(|| file.display().to_string())?;
    Ok(Receipt::read_lines(&bytes).collect())
}
