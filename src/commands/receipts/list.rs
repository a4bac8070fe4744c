//! `rune receipts list` and `show`: what the files say. Whether it is true, `verify` tells.

use crate::commands::hooks::say;
use crate::commands::receipts::{ListArgs, ShowArgs};
use crate::runtime::policy_files;
use crate::runtime::receipts::{OPERATOR_FILE, folder};
use crate::runtime::session;
use anyhow::{Context, anyhow, bail};
use rune::encoding::label::Label;
use rune::receipt::{OPERATOR_SESSION, Receipt, ReceiptKind};
use serde::Serialize;
use std::path::{Path, PathBuf};

/// A file of receipts in one line.
#[derive(Serialize)]
struct Row {
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
    let folder = folder(&args.dirs.environment()?).map_err(|what| anyhow!(what))?;
    let files = files(&folder)?;
    if files.is_empty() && !args.json {
        return say("there are no receipts yet");
    }
    for file in files {
        let receipts = read(&file)?;
        let count =
            |verdict: &str| receipts.iter().filter(|receipt| receipt.verdict.as_deref() == Some(verdict)).count();
        let last = receipts.last();
        let row = Row {
            session: Label::new(last.map_or("", |receipt| &receipt.session)),
            part: last.map_or(1, |receipt| receipt.part),
            receipts: receipts.len(),
            denied: count("deny"),
            asked: count("ask"),
            sealed: last.is_some_and(|receipt| receipt.kind == ReceiptKind::Seal),
            last: plain(last.map_or("", |receipt| &receipt.time)),
            file: file.display().to_string(),
        };
        if args.json {
            say(&serde_json::to_string(&row)?)?;
        } else {
            let Row { session, part, receipts, denied, asked, sealed, last, .. } = row;
            let sealed = if sealed { "sealed" } else { "open" };
            say(&format!(
                "{session:<36} {part:>4} {receipts:>6} receipts {denied:>5} denied {asked:>5} asked  {sealed:<6}  {last}"
            ))?;
        }
    }
    Ok(())
}

pub fn show(args: &ShowArgs) -> anyhow::Result<()> {
    let named = PathBuf::from(&args.session);
    let files = if named.is_file() {
        vec![named]
    } else {
        let folder = folder(&args.dirs.environment()?).map_err(|what| anyhow!(what))?;
        of_session(&folder, &args.session)?
    };
    for receipt in files.iter().map(|file| read(file)).collect::<anyhow::Result<Vec<_>>>()?.into_iter().flatten() {
        if args.json {
            say(String::from_utf8_lossy(&receipt.to_line()).trim_end())?;
            continue;
        }
        let text = |text: &Option<String>| plain(text.as_deref().unwrap_or("-"));
        let what = match receipt.kind {
            ReceiptKind::Decision => text(&receipt.verdict),
            ReceiptKind::Seal => "sealed".to_owned(),
            ReceiptKind::Rotate => "new key".to_owned(),
            ReceiptKind::Approve => "approved".to_owned(),
            ReceiptKind::Block => "blocked".to_owned(),
            ReceiptKind::Unblock => "unblocked".to_owned(),
            ReceiptKind::Loosen => format!("loosened by `{}`", receipt.loosened().map_or("", |loosened| loosened.verb)),
        };
        let (tool, server) = (text(&receipt.tool), text(&receipt.server));
        let name = if tool == "-" { server } else { tool };
        say(&format!("{:>5} {} {what:<9} {:<28} {name}", receipt.seq, plain(&receipt.time), text(&receipt.reason)))?;
    }
    Ok(())
}

/// The files of receipts in a folder, in order.
pub fn files(folder: &Path) -> anyhow::Result<Vec<PathBuf>> {
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

/// The files of one session.
pub fn of_session(folder: &Path, session: &str) -> anyhow::Result<Vec<PathBuf>> {
    let name = if session == OPERATOR_SESSION {
        OPERATOR_FILE.to_owned()
    } else {
        session::file_name(&Label::new(session)).unwrap_or_default()
    };
    let is_part = |path: &PathBuf| path.file_name().is_some_and(|file| stem(&file.to_string_lossy()).0 == name);
    let mut files = files(folder)?;
    files.retain(is_part);
    files.sort_by_key(|path| stem(&path.file_name().unwrap_or_default().to_string_lossy()).1);
    if files.is_empty() {
        bail!(
            "there are no receipts of session `{}`\n  help: `rune receipts list` names those that have some",
            Label::new(session)
        );
    }
    Ok(files)
}

/// The name of a session's files, and the part that this one is.
pub fn stem(file: &str) -> (String, u64) {
    let name = file.strip_suffix(".jsonl").unwrap_or(file);
    match name.rsplit_once('.').and_then(|(name, part)| Some((name, part.parse().ok()?))) {
        Some((name, part)) => (name.to_owned(), part),
        None => (name.to_owned(), 1),
    }
}

/// The receipts of a file that can be read.
pub fn read(file: &Path) -> anyhow::Result<Vec<Receipt>> {
    let bytes = policy_files::read_bytes(file).with_context(|| file.display().to_string())?;
    Ok(bytes.split(|byte| *byte == b'\n').filter_map(|line| serde_json::from_slice(line).ok()).collect())
}

/// What anybody may have written, for a terminal.
fn plain(text: &str) -> String {
    text.chars().map(|c| if c.is_ascii_graphic() { c } else { '?' }).take(128).collect()
}
