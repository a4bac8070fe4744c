//! `rune receipts verify`: verifies receipts and packs offline, with the keys that the caller trusts.

use super::list::{receipt_files, split_file_name};
use super::{VerifyArgs, printable};
use crate::commands::say;
use crate::runtime::policy_files;
use crate::runtime::receipts::{OPERATOR_FILE, file_name, key, session_name};
use anyhow::{Context, bail};
use rune::encoding::hex::digest;
use rune::encoding::label::Label;
use rune::receipt::pack::{self, Index};
use rune::receipt::{
    self, ExpectedChain, FaultCode, OPERATOR_SESSION, Outcome, PublicKey, ReceiptFault, TrustedKeys, VerifyReport,
};
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

#[derive(Debug, Serialize)]
pub struct Verification {
    pub outcome: Outcome,
    /// Faults of a pack or folder that are not in a receipt file.
    pub faults: Vec<ReceiptFault>,
    pub files: Vec<VerifiedFile>,
    /// Remarks that do not affect the outcome.
    pub notes: Vec<String>,
}

#[derive(Debug, Serialize)]
pub struct VerifiedFile {
    pub path: String,
    pub outcome: Outcome,
    #[serde(flatten)]
    pub report: VerifyReport,
}

pub fn run(args: &VerifyArgs) -> anyhow::Result<u8> {
    let keys = keys(args)?;
    let verification = verify(&args.path, keys, args.head.as_deref())?;
    if args.json {
        say(&crate::commands::to_json(&verification)?)?;
    } else {
        for line in verification.lines() {
            say(&line)?;
        }
    }
    Ok(match verification.outcome {
        Outcome::Valid => 0,
        Outcome::Invalid => 1,
        Outcome::CannotTell => 2,
    })
}

/// Reads the keys that the caller names, else the installation's own.
fn keys(args: &VerifyArgs) -> anyhow::Result<TrustedKeys> {
    let named = |text: &String| {
        let key = PublicKey::read(text).or_else(|| PublicKey::read(&std::fs::read_to_string(text).ok()?));
        key.with_context(|| format!("`{text}`: not a public key, and not a file that contains one"))
    };
    if !args.key.is_empty() {
        return Ok(TrustedKeys::new(args.key.iter().map(named).collect::<anyhow::Result<Vec<_>>>()?));
    }
    let own = key::read(&args.dirs.environment()?).map_err(anyhow::Error::msg)?;
    Ok(own
        .context("no public key is given, and this installation has none\n  help: pass the public key with `--key`")?
        .keys())
}

/// Verifies a receipt file, a folder of them, or a pack.
pub fn verify(path: &Path, keys: TrustedKeys, head: Option<&str>) -> anyhow::Result<Verification> {
    let found = std::fs::metadata(path).with_context(|| path.display().to_string())?;
    let head = head.map(|head| head.trim().to_owned());
    if found.is_file() {
        let expected = |_: &Path| ExpectedChain { head: head.clone(), ..ExpectedChain::default() };
        return Ok(Verification::new(Vec::new(), verify_files(vec![path.to_owned()], keys, &expected)?));
    }
    if path.join("index.json").exists() || path.join("seal.json").exists() {
        return verify_pack(path, keys, head.as_deref());
    }
    let paths = receipt_files(path)?;
    if paths.is_empty() {
        bail!("{}: not a pack, and not a folder of receipts", path.display());
    }
    let mut files = verify_files(paths, keys, &|_| ExpectedChain::default())?;
    files.iter_mut().for_each(check_file_name);
    let missing = head.filter(|head| !files.iter().any(|file| contains_receipt(file, head)));
    let faults =
        missing.map(|head| fault(FaultCode::ReceiptTruncated, format!("the receipt {head} is in none of the files")));
    Ok(Verification::new(faults.into_iter().collect(), files))
}

/// Adds a fault if a file of an installation's folder is not named after its session.
fn check_file_name(file: &mut VerifiedFile) {
    let (name, part) = split_file_name(Path::new(&file.path));
    let Some(session) = &file.report.session else { return };
    // A client may choose the reserved name as a session id; the file of that session has another name.
    let operator = session == OPERATOR_SESSION && name == OPERATOR_FILE;
    let expected = session_name(&Label::new(session));
    if !operator && expected != name || file.report.part != Some(part) {
        let what = format!("all of it is of session `{}`", Label::new(session));
        file.report.faults.push(ReceiptFault { code: FaultCode::ReceiptForeignSession, line: Some(1), what });
        file.outcome = Outcome::Invalid;
    }
}

fn contains_receipt(file: &VerifiedFile, head: &str) -> bool {
    let bytes = policy_files::read_bytes(Path::new(&file.path)).unwrap_or_default();
    bytes.split(|byte| *byte == b'\n').any(|line| receipt::hash(line) == head)
}

/// Verifies receipt files, the operator's first: it records which keys replaced the trusted ones.
fn verify_files(
    mut paths: Vec<PathBuf>,
    mut keys: TrustedKeys,
    expected: &dyn Fn(&Path) -> ExpectedChain,
) -> anyhow::Result<Vec<VerifiedFile>> {
    let is_operator = |path: &Path| split_file_name(path).0 == OPERATOR_FILE;
    paths.sort_by_key(|path| (!is_operator(path), split_file_name(path)));
    let is_single = paths.len() == 1;
    // A later key may have signed a single file; the operator's file beside it records that.
    if let [path] = paths.as_slice()
        && !is_operator(path)
        && let Ok(bytes) = policy_files::read_bytes(&path.with_file_name(file_name(OPERATOR_FILE, 1)))
    {
        receipt::verify(&bytes, &mut keys, &ExpectedChain::default());
    }
    let mut files = Vec::new();
    for path in paths {
        let bytes = policy_files::read_bytes(&path).with_context(|| path.display().to_string())?;
        let expected = ExpectedChain { before: previous_part_hash(&path), ..expected(&path) };
        let report = receipt::verify(&bytes, &mut keys, &expected);
        let mut outcome = report.outcome();
        // An installation never seals the operator's file, so beside others it does not make the outcome undecided.
        if !is_single && is_operator(&path) && outcome == Outcome::CannotTell {
            outcome = Outcome::Valid;
        }
        files.push(VerifiedFile { path: path.display().to_string(), outcome, report });
    }
    Ok(files)
}

/// Returns the hash of the last line of the part before this one, if that file exists.
fn previous_part_hash(path: &Path) -> Option<String> {
    let (name, part) = split_file_name(path);
    let before = part.checked_sub(1).filter(|before| *before > 0)?;
    let bytes = policy_files::read_bytes(&path.with_file_name(file_name(&name, before))).ok()?;
    bytes.rsplit(|byte| *byte == b'\n').nth(1).map(receipt::hash)
}

fn verify_pack(folder: &Path, mut keys: TrustedKeys, head: Option<&str>) -> anyhow::Result<Verification> {
    let read = |name: &str| policy_files::read_bytes(&folder.join(name)).unwrap_or_default();
    let seal = read("seal.json");
    // A later key than the trusted one may have sealed the pack; the operator's file records that.
    receipt::verify(&read(&format!("receipts/{OPERATOR_FILE}.jsonl")), &mut keys, &ExpectedChain::default());
    let mut faults = Vec::new();
    if let Some(head) = head.filter(|head| *head != pack::head(&String::from_utf8_lossy(&seal))) {
        faults.push(fault(FaultCode::PackSealWrong, format!("this is not the pack with the head {}", printable(head))));
    }
    let index = match Index::read(&read("index.json"), &seal, &keys) {
        Ok(index) => index,
        Err(wrong) => {
            faults.push(wrong);
            return Ok(Verification::new(faults, Vec::new()));
        }
    };
    let mut present = hash_files(folder)?;
    let mut edited = Vec::new();
    for entry in &index.files {
        match present.remove(&entry.path) {
            None => faults.push(file_fault(FaultCode::PackFileMissing, &entry.path, "is not there")),
            Some(sha256) if sha256 != entry.sha256 => {
                edited.push(file_fault(FaultCode::PackFileEdited, &entry.path, "was edited"));
            }
            Some(_) => {}
        }
    }
    let unlisted = present.keys().filter(|name| !["index.json", "seal.json"].contains(&name.as_str()));
    faults.extend(unlisted.map(|name| file_fault(FaultCode::PackFileUnlisted, name, "is not in the index")));
    faults.extend(edited);
    if !faults.iter().any(|fault| fault.code == FaultCode::PackFileMissing) {
        let own = String::from_utf8_lossy(&read("key.pub")).trim().to_owned();
        if !keys.trusts(&own) {
            faults.push(fault(FaultCode::PackKeyWrong, "`key.pub` is not a key that was named".to_owned()));
        }
    }
    let paths = index.chains.iter().map(|chain| folder.join(&chain.path)).filter(|path| path.is_file()).collect();
    let expected = |path: &Path| {
        let chain = index.chains.iter().find(|chain| folder.join(&chain.path) == path);
        chain.map_or_else(ExpectedChain::default, |chain| ExpectedChain {
            head: Some(chain.head.clone()),
            count: Some(chain.count),
            session: Some(chain.session.clone()),
            before: None,
        })
    };
    let mut files = verify_files(paths, keys, &expected)?;
    for file in &mut files {
        file.path = file.path.strip_prefix(&format!("{}/", folder.display())).unwrap_or(&file.path).to_owned();
    }
    Ok(Verification::new(faults, files))
}

/// Hashes every file below a folder, by its relative path. A symlink has an empty hash, which `write_pack` never
/// writes to an index.
fn hash_files(folder: &Path) -> anyhow::Result<BTreeMap<String, String>> {
    let mut found = BTreeMap::new();
    let mut folders = vec![(folder.to_owned(), String::new())];
    while let Some((folder, prefix)) = folders.pop() {
        for entry in std::fs::read_dir(&folder).with_context(|| folder.display().to_string())? {
            let entry = entry?;
            let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
            let kind = entry.file_type()?;
            if kind.is_dir() {
                folders.push((entry.path(), format!("{name}/")));
            } else {
                let hash =
                    if kind.is_file() { digest(&policy_files::read_bytes(&entry.path())?) } else { String::new() };
                found.insert(name, hash);
            }
        }
    }
    Ok(found)
}

fn file_fault(code: FaultCode, name: &str, what: &str) -> ReceiptFault {
    fault(code, format!("`{}` {what}", printable(name)))
}

fn fault(code: FaultCode, what: String) -> ReceiptFault {
    ReceiptFault { code, line: None, what }
}

impl Verification {
    fn new(faults: Vec<ReceiptFault>, files: Vec<VerifiedFile>) -> Self {
        let outcome = files.iter().map(|file| file.outcome).fold(Outcome::of(&faults), Outcome::max);
        let torn = |file: &VerifiedFile| {
            let cut = file.report.cut;
            (cut > 0).then(|| format!("{}: a writer was killed here; {cut} torn lines were cut off", file.path))
        };
        Verification { outcome, notes: files.iter().filter_map(torn).collect(), faults, files }
    }

    fn lines(&self) -> Vec<String> {
        let word = |outcome: Outcome| match outcome {
            Outcome::Valid => "valid",
            Outcome::CannotTell => "cannot tell",
            Outcome::Invalid => "INVALID",
        };
        let mut lines = Vec::new();
        for file in &self.files {
            let VerifyReport { lines: count, whole, sealed, head, .. } = &file.report;
            let sealed = if *sealed { "sealed" } else { "not sealed" };
            let head = head.as_deref().unwrap_or("none");
            lines.push(format!(
                "{}: {}: {count} receipts, whole up to line {whole}, {sealed}, head {head}",
                file.path,
                word(file.outcome)
            ));
            lines.extend(file.report.faults.iter().map(|fault| format!("  {fault}")));
        }
        lines.extend(self.faults.iter().map(ToString::to_string));
        lines.extend(self.notes.iter().map(|note| format!("note: {note}")));
        lines.push(word(self.outcome).to_owned());
        lines
    }
}
