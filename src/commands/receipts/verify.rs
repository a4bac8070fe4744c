//! `rune receipts verify`: offline, by keys that the caller names.

use crate::commands::hooks::say;
use crate::commands::receipts::VerifyArgs;
use crate::commands::receipts::list;
use crate::runtime::policy_files;
use crate::runtime::receipts::{OPERATOR_FILE, key};
use crate::runtime::session;
use anyhow::{Context, anyhow, bail};
use rune::encoding::hex::digest;
use rune::encoding::label::Label;
use rune::receipt::pack::{self, Index};
use rune::receipt::{self, Code, Expected, Fault, Keys, OPERATOR, Outcome, PublicKey, Report};
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// What was found out about everything that was verified.
#[derive(Debug, Serialize)]
pub struct Verification {
    pub outcome: Outcome,
    /// What is wrong with a pack, beyond its receipts.
    pub faults: Vec<Fault>,
    pub files: Vec<VerifiedFile>,
    /// What a reader may want to know, though nothing is wrong with it.
    pub notes: Vec<String>,
}

/// A file of receipts.
#[derive(Debug, Serialize)]
pub struct VerifiedFile {
    pub path: String,
    pub outcome: Outcome,
    #[serde(flatten)]
    pub report: Report,
}

pub fn run(args: &VerifyArgs) -> anyhow::Result<u8> {
    let keys = keys(args)?;
    let verification = verify(&args.path, keys, args.head.as_deref())?;
    if args.json {
        say(&serde_json::to_string(&verification)?)?;
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

/// The keys that the caller names, else the installation's own.
fn keys(args: &VerifyArgs) -> anyhow::Result<Keys> {
    let named = |text: &String| {
        let key = PublicKey::read(text).or_else(|| PublicKey::read(&std::fs::read_to_string(text).ok()?));
        key.with_context(|| format!("`{text}`: neither a public key nor a file with one"))
    };
    if !args.key.is_empty() {
        return Ok(Keys::new(args.key.iter().map(named).collect::<anyhow::Result<Vec<_>>>()?));
    }
    let own = key::read(&args.dirs.environment()?).map_err(|what| anyhow!(what))?;
    Ok(own.context("whose receipts are these?\n  help: name the public key with `--key`")?.keys())
}

/// Verifies a file, a folder or a pack.
pub fn verify(path: &Path, keys: Keys, head: Option<&str>) -> anyhow::Result<Verification> {
    let found = std::fs::metadata(path).with_context(|| path.display().to_string())?;
    let head = head.map(|head| head.trim().to_owned());
    if found.is_file() {
        return Ok(Verification::new(
            Vec::new(),
            verify_files(&[path.to_owned()], keys, &|_| Expected { head: head.clone(), ..Expected::default() })?,
        ));
    }
    if path.join("index.json").exists() || path.join("seal.json").exists() {
        return verify_pack(path, keys, head.as_deref());
    }
    let files = list::receipt_files(path)?;
    if files.is_empty() {
        bail!("{}: neither a pack nor a folder of receipts", path.display());
    }
    let mut files = verify_files(&files, keys, &|_| Expected::default())?;
    files.iter_mut().for_each(check_file_name);
    let faults = head.filter(|head| !files.iter().any(|file| contains_receipt(file, head)));
    let faults =
        faults.map(|head| fault(Code::ReceiptTruncated, format!("the receipt {head} is in none of the files")));
    Ok(Verification::new(faults.into_iter().collect(), files))
}

/// A file in the folder of an installation is named by its session.
fn check_file_name(file: &mut VerifiedFile) {
    let (name, part) = split_file_name(Path::new(&file.path));
    let Some(session) = &file.report.session else { return };
    // A client may call a session as we call what people did; its file then has another name.
    let operator = session == OPERATOR && name == OPERATOR_FILE;
    let own = session::file_name(&Label::new(session)).unwrap_or_else(|| "@none".to_owned());
    if !operator && own != name || file.report.part != Some(part) {
        let what = format!("all of it is of session `{}`", Label::new(session));
        file.report.faults.push(Fault { code: Code::ReceiptForeignSession, line: Some(1), what });
        file.outcome = Outcome::Invalid;
    }
}

fn contains_receipt(file: &VerifiedFile, head: &str) -> bool {
    let bytes = policy_files::read_bytes(Path::new(&file.path)).unwrap_or_default();
    bytes.split(|byte| *byte == b'\n').any(|line| receipt::hash(line) == head)
}

/// Verifies files of receipts: first what people did, because there keys are handed on.
fn verify_files(
    paths: &[PathBuf],
    mut keys: Keys,
    expected: &dyn Fn(&Path) -> Expected,
) -> anyhow::Result<Vec<VerifiedFile>> {
    let mut paths: Vec<PathBuf> = paths.to_vec();
    let name = |path: &Path| split_file_name(path).0;
    paths.sort_by_key(|path| (name(path) != OPERATOR_FILE, split_file_name(path)));
    let alone = match paths.as_slice() {
        [one] => Some(one.clone()),
        _ => None,
    };
    // A single file may be one that a new key has signed: what lies beside it says so, if the old one has.
    let beside = alone.as_ref().filter(|path| name(path) != OPERATOR_FILE);
    let beside = beside.map(|path| path.with_file_name(format!("{OPERATOR_FILE}.jsonl")));
    if let Some(bytes) = beside.and_then(|path| policy_files::read_bytes(&path).ok()) {
        receipt::verify(&bytes, &mut keys, &Expected::default());
    }
    let mut files = Vec::new();
    for path in paths {
        let bytes = policy_files::read_bytes(&path).with_context(|| path.display().to_string())?;
        let expected = Expected { before: previous_part_hash(&path), ..expected(&path) };
        let report = receipt::verify(&bytes, &mut keys, &expected);
        let mut outcome = report.outcome();
        // What people did has no end; as part of more it is there to hand on keys.
        if alone.is_none() && name(&path) == OPERATOR_FILE && outcome == Outcome::CannotTell {
            outcome = Outcome::Valid;
        }
        files.push(VerifiedFile { path: path.display().to_string(), outcome, report });
    }
    Ok(files)
}

fn split_file_name(path: &Path) -> (String, u64) {
    list::split_file_name(&path.file_name().unwrap_or_default().to_string_lossy())
}

/// The hash of the last line of the part before, where that is there.
fn previous_part_hash(path: &Path) -> Option<String> {
    let (name, part) = split_file_name(path);
    let file = match part {
        0 | 1 => return None,
        2 => format!("{name}.jsonl"),
        _ => format!("{name}.{}.jsonl", part - 1),
    };
    let bytes = policy_files::read_bytes(&path.with_file_name(file)).ok()?;
    let mut lines = bytes.rsplit(|byte| *byte == b'\n');
    lines.next();
    lines.next().map(receipt::hash)
}

fn verify_pack(folder: &Path, mut keys: Keys, head: Option<&str>) -> anyhow::Result<Verification> {
    let read = |name: &str| policy_files::read_bytes(&folder.join(name)).unwrap_or_default();
    let seal = read("seal.json");
    // The key that sealed the pack may be one that an older one has handed on.
    receipt::verify(&read(&format!("receipts/{OPERATOR_FILE}.jsonl")), &mut keys, &Expected::default());
    let mut faults = Vec::new();
    if let Some(head) = head.filter(|head| *head != pack::head(&String::from_utf8_lossy(&seal))) {
        faults.push(fault(Code::PackSealWrong, format!("this is not the pack with the head {}", plain(head))));
    }
    let index = match Index::read(&read("index.json"), &seal, &keys) {
        Ok(index) => index,
        Err(wrong) => {
            faults.push(wrong);
            return Ok(Verification::new(faults, Vec::new()));
        }
    };
    let mut there = hash_files(folder)?;
    let mut edited = Vec::new();
    for entry in &index.files {
        match there.remove(&entry.path) {
            None => faults.push(fault(Code::PackFileMissing, format!("`{}` is not there", plain(&entry.path)))),
            Some(sha256) if sha256 != entry.sha256 => edited.push(entry.path.clone()),
            Some(_) => {}
        }
    }
    let unlisted = there.keys().filter(|name| !["index.json", "seal.json"].contains(&name.as_str()));
    faults.extend(unlisted.map(|name| fault(Code::PackFileUnlisted, format!("`{}` is not in the index", plain(name)))));
    faults.extend(edited.iter().map(|name| fault(Code::PackFileEdited, format!("`{}` was edited", plain(name)))));
    if !faults.iter().any(|fault| fault.code == Code::PackFileMissing) {
        let own = String::from_utf8_lossy(&read("key.pub")).trim().to_owned();
        if !keys.believes(&own) {
            faults.push(fault(Code::PackKeyWrong, "`key.pub` is not a key that was named".to_owned()));
        }
    }
    let paths: Vec<PathBuf> =
        index.chains.iter().map(|chain| folder.join(&chain.path)).filter(|path| path.is_file()).collect();
    let expected = |path: &Path| {
        let chain = index.chains.iter().find(|chain| folder.join(&chain.path) == path);
        chain.map_or_else(Expected::default, |chain| Expected {
            head: Some(chain.head.clone()),
            count: Some(chain.count),
            session: Some(chain.session.clone()),
            before: None,
        })
    };
    let mut files = verify_files(&paths, keys, &expected)?;
    for file in &mut files {
        file.path = file.path.strip_prefix(&format!("{}/", folder.display())).unwrap_or(&file.path).to_owned();
    }
    Ok(Verification::new(faults, files))
}

/// Every file below a folder, by its name there, with the hash of its bytes.
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
                // A link is no file of the pack: what it leads to may change.
                let bytes = if kind.is_file() { policy_files::read_bytes(&entry.path())? } else { Vec::new() };
                found.insert(name, if kind.is_file() { digest(&bytes) } else { String::new() });
            }
        }
    }
    Ok(found)
}

fn fault(code: Code, what: String) -> Fault {
    Fault { code, line: None, what }
}

fn plain(name: &str) -> String {
    name.chars().map(|c| if c.is_ascii_graphic() { c } else { '?' }).take(128).collect()
}

impl Verification {
    fn new(faults: Vec<Fault>, files: Vec<VerifiedFile>) -> Self {
        let each = files.iter().map(|file| file.outcome).chain([Outcome::of(&faults)]);
        let outcome = each.max().unwrap_or(Outcome::Valid);
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
            let Report { lines: count, whole, sealed, head, .. } = &file.report;
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
