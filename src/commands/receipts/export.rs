//! `rune receipts export`: copies receipts into a sealed pack.

use super::{ExportArgs, list, verify};
use crate::commands::say;
use crate::runtime::files::create_private_dir;
use crate::runtime::policy_files;
use crate::runtime::receipts::{OPERATOR_FILE, file_name, folder, key, time};
use anyhow::{Context, Error, bail};
use rune::encoding::hex::digest;
use rune::receipt::pack::{self, ChainEntry, FileEntry, Index};
use rune::receipt::{Outcome, Receipt, ReceiptKind, Secret, hash};
use std::fs;
use std::path::Path;
use time::OffsetDateTime;

/// The files of a pack: relative paths and bytes.
pub type Contents = Vec<(String, Vec<u8>)>;

pub fn run(args: &ExportArgs) -> anyhow::Result<()> {
    let environment = args.dirs.environment()?;
    let folder = folder(&environment).map_err(Error::msg)?;
    let mut files = match &args.session {
        Some(session) => list::session_files(&folder, session)?,
        None => list::receipt_files(&folder)?,
    };
    let operator = folder.join(file_name(OPERATOR_FILE, 1));
    if operator.is_file() && !files.contains(&operator) {
        files.push(operator);
    }
    if files.is_empty() {
        bail!("no receipts yet");
    }
    let secret = key::read(&environment).map_err(Error::msg)?.context("this installation has no key")?;
    let mut contents = Contents::new();
    for file in files {
        let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let mut bytes = policy_files::read_bytes(&file).with_context(|| file.display().to_string())?;
        // The last line may be incomplete: a hook is writing it, or was killed while it did.
        bytes.truncate(bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1));
        if !bytes.is_empty() {
            contents.push((format!("receipts/{name}"), bytes));
        }
    }
    let head = write_pack(&args.out, contents, "export", "", None, &secret)?;
    let outcome = verify::verify(&args.out, secret.keys(), None)?.outcome;
    if args.json {
        let output = serde_json::json!({"head": head, "key": secret.public(), "out": args.out, "outcome": outcome});
        say(&output.to_string())?;
    } else {
        say!("{}\nkey  {}\nhead {head}", args.out.display(), secret.public())?;
        say("keep head and key where no agent can write: the pack is verified against them")?;
        if outcome == Outcome::CannotTell {
            say("note: a session is not sealed yet, and may get more receipts")?;
        }
    }
    if outcome == Outcome::Invalid {
        bail!(
            "the pack contains invalid receipts\n  help: `rune receipts verify {}` lists the faults",
            args.out.display()
        );
    }
    Ok(())
}

/// Writes a pack into a new or empty directory, and returns its head.
pub fn write_pack(
    out: &Path,
    mut contents: Contents,
    kind: &str,
    run_id: &str,
    at: Option<OffsetDateTime>,
    secret: &Secret,
) -> anyhow::Result<String> {
    if out.exists() && fs::read_dir(out).with_context(|| out.display().to_string())?.next().is_some() {
        bail!("{}: the directory is not empty\n  help: name a new directory", out.display());
    }
    contents.push(("key.pub".to_owned(), format!("{}\n", secret.public()).into_bytes()));
    contents.sort();
    let time = time(at);
    let chains = contents.iter().filter(|(name, _)| name.starts_with("receipts/")).filter_map(|(name, bytes)| {
        let lines: Vec<&[u8]> = bytes.strip_suffix(b"\n")?.split(|byte| *byte == b'\n').collect();
        let last = lines.last()?;
        let receipt: Option<Receipt> = serde_json::from_slice(last).ok();
        Some(ChainEntry {
            count: lines.len() as u64,
            head: hash(last),
            path: name.clone(),
            sealed: receipt.as_ref().is_some_and(|receipt| receipt.kind == ReceiptKind::Seal),
            session: receipt.map(|receipt| receipt.session).unwrap_or_default(),
        })
    });
    let index = Index {
        at: time.clone(),
        chains: chains.collect(),
        files: contents.iter().map(|(path, bytes)| FileEntry { path: path.clone(), sha256: digest(bytes) }).collect(),
        kind: kind.to_owned(),
        run_id: run_id.to_owned(),
        version: pack::VERSION.to_owned(),
    };
    let seal = index.seal(time, secret);
    let head = pack::head(&seal);
    contents.push(("index.json".to_owned(), index.to_text().into_bytes()));
    contents.push(("seal.json".to_owned(), seal.into_bytes()));
    for (name, bytes) in contents {
        let path = out.join(&name);
        if let Some(folder) = path.parent() {
            create_private_dir(folder).with_context(|| folder.display().to_string())?;
        }
        fs::write(&path, bytes).with_context(|| path.display().to_string())?;
    }
    Ok(head)
}
