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
use rune::receipt::{
    self, ExpectedChain, FaultCode, OPERATOR_SESSION, Outcome, PublicKey, ReceiptFault, TrustedKeys, VerifyReport,
};
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// What was found out about everything that was verified.
#[derive(Debug, Serialize)]
pub struct Findings {
    pub outcome: Outcome,
    /// What is wrong with a pack, beyond its receipts.
    pub faults: Vec<ReceiptFault>,
    pub files: Vec<File>,
    /// What a reader may want to know, though nothing is wrong with it.
    pub notes: Vec<String>,
}

/// A file of receipts.
#[derive(Debug, Serialize)]
pub struct File {
    pub path: String,
    pub outcome: Outcome,
    #[serde(flatten)]
    pub report: VerifyReport,
}

pub fn run(args: &VerifyArgs) -> anyhow::Result<u8> {
    let keys = keys(args)?;
    let findings = verify(&args.path, keys, args.head.as_deref())?;
    if args.json {
        say(&serde_json::to_string(&findings)?)?;
    } else {
        for line in findings.lines() {
            say(&line)?;
        }
    }
    Ok(match findings.outcome {
        Outcome::Valid => 0,
        Outcome::Invalid => 1,
        Outcome::CannotTell => 2,
    })
}

/// The keys that the caller names, else the installation's own.
fn keys(args: &VerifyArgs) -> anyhow::Result<TrustedKeys> {
    let named = |text: &String| {
        let key = PublicKey::read(text).or_else(|| PublicKey::read(&std::fs::read_to_string(text).ok()?));
        key.with_context(|| format!("`{text}`: neither a public key nor a file with one"))
    };
    if !args.key.is_empty() {
        return Ok(TrustedKeys::new(args.key.iter().map(named).collect::<anyhow::Result<Vec<_>>>()?));
    }
    let own = key::read(&args.dirs.environment()?).map_err(|what| anyhow!(what))?;
    Ok(own.context("whose receipts are these?\n  help: name the public key with `--key`")?.keys())
}

/// Verifies a file, a folder or a pack.
pub fn verify(path: &Path, keys: TrustedKeys, head: Option<&str>) -> anyhow::Result<Findings> {
    let found = std::fs::metadata(path).with_context(|| path.display().to_string())?;
    let head = head.map(|head| head.trim().to_owned());
    if found.is_file() {
        return Ok(Findings::new(
            Vec::new(),
            chains(&[path.to_owned()], keys, &|_| ExpectedChain { head: head.clone(), ..ExpectedChain::default() })?,
        ));
    }
    if path.join("index.json").exists() || path.join("seal.json").exists() {
        return of_pack(path, keys, head.as_deref());
    }
    let files = list::files(path)?;
    if files.is_empty() {
        bail!("{}: neither a pack nor a folder of receipts", path.display());
    }
    let mut files = chains(&files, keys, &|_| ExpectedChain::default())?;
    files.iter_mut().for_each(named);
    let faults = head.filter(|head| !files.iter().any(|file| has(file, head)));
    let faults =
        faults.map(|head| fault(FaultCode::ReceiptTruncated, format!("the receipt {head} is in none of the files")));
    Ok(Findings::new(faults.into_iter().collect(), files))
}

/// A file in the folder of an installation is named by its session.
fn named(file: &mut File) {
    let (name, part) = stem(Path::new(&file.path));
    let Some(session) = &file.report.session else { return };
    // A client may call a session as we call what people did; its file then has another name.
    let operator = session == OPERATOR_SESSION && name == OPERATOR_FILE;
    let own = session::file_name(&Label::new(session)).unwrap_or_else(|| "@none".to_owned());
    if !operator && own != name || file.report.part != Some(part) {
        let what = format!("all of it is of session `{}`", Label::new(session));
        file.report.faults.push(ReceiptFault { code: FaultCode::ReceiptForeignSession, line: Some(1), what });
        file.outcome = Outcome::Invalid;
    }
}

fn has(file: &File, head: &str) -> bool {
    let bytes = policy_files::read_bytes(Path::new(&file.path)).unwrap_or_default();
    bytes.split(|byte| *byte == b'\n').any(|line| receipt::hash(line) == head)
}

/// Verifies files of receipts: first what people did, because there keys are handed on.
fn chains(
    paths: &[PathBuf],
    mut keys: TrustedKeys,
    expected: &dyn Fn(&Path) -> ExpectedChain,
) -> anyhow::Result<Vec<File>> {
    let mut paths: Vec<PathBuf> = paths.to_vec();
    let name = |path: &Path| stem(path).0;
    paths.sort_by_key(|path| (name(path) != OPERATOR_FILE, stem(path)));
    let alone = match paths.as_slice() {
        [one] => Some(one.clone()),
        _ => None,
    };
    // A single file may be one that a new key has signed: what lies beside it says so, if the old one has.
    let beside = alone.as_ref().filter(|path| name(path) != OPERATOR_FILE);
    let beside = beside.map(|path| path.with_file_name(format!("{OPERATOR_FILE}.jsonl")));
    if let Some(bytes) = beside.and_then(|path| policy_files::read_bytes(&path).ok()) {
        receipt::verify(&bytes, &mut keys, &ExpectedChain::default());
    }
    let mut files = Vec::new();
    for path in paths {
        let bytes = policy_files::read_bytes(&path).with_context(|| path.display().to_string())?;
        let expected = ExpectedChain { before: before(&path), ..expected(&path) };
        let report = receipt::verify(&bytes, &mut keys, &expected);
        let mut outcome = report.outcome();
        // What people did has no end; as part of more it is there to hand on keys.
        if alone.is_none() && name(&path) == OPERATOR_FILE && outcome == Outcome::CannotTell {
            outcome = Outcome::Valid;
        }
        files.push(File { path: path.display().to_string(), outcome, report });
    }
    Ok(files)
}

fn stem(path: &Path) -> (String, u64) {
    list::stem(&path.file_name().unwrap_or_default().to_string_lossy())
}

/// The hash of the last line of the part before, where that is there.
fn before(path: &Path) -> Option<String> {
    let (name, part) = stem(path);
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

fn of_pack(folder: &Path, mut keys: TrustedKeys, head: Option<&str>) -> anyhow::Result<Findings> {
    let read = |name: &str| policy_files::read_bytes(&folder.join(name)).unwrap_or_default();
    let seal = read("seal.json");
    // The key that sealed the pack may be one that an older one has handed on.
    receipt::verify(&read(&format!("receipts/{OPERATOR_FILE}.jsonl")), &mut keys, &ExpectedChain::default());
    let mut faults = Vec::new();
    if let Some(head) = head.filter(|head| *head != pack::head(&String::from_utf8_lossy(&seal))) {
        faults.push(fault(FaultCode::PackSealWrong, format!("this is not the pack with the head {}", plain(head))));
    }
    let index = match Index::read(&read("index.json"), &seal, &keys) {
        Ok(index) => index,
        Err(wrong) => {
            faults.push(wrong);
            return Ok(Findings::new(faults, Vec::new()));
        }
    };
    let mut there = contents(folder)?;
    let mut edited = Vec::new();
    for entry in &index.files {
        match there.remove(&entry.path) {
            None => faults.push(fault(FaultCode::PackFileMissing, format!("`{}` is not there", plain(&entry.path)))),
            Some(sha256) if sha256 != entry.sha256 => edited.push(entry.path.clone()),
            Some(_) => {}
        }
    }
    let unlisted = there.keys().filter(|name| !["index.json", "seal.json"].contains(&name.as_str()));
    faults.extend(
        unlisted.map(|name| fault(FaultCode::PackFileUnlisted, format!("`{}` is not in the index", plain(name)))),
    );
    faults.extend(edited.iter().map(|name| fault(FaultCode::PackFileEdited, format!("`{}` was edited", plain(name)))));
    if !faults.iter().any(|fault| fault.code == FaultCode::PackFileMissing) {
        let own = String::from_utf8_lossy(&read("key.pub")).trim().to_owned();
        if !keys.trusts(&own) {
            faults.push(fault(FaultCode::PackKeyWrong, "`key.pub` is not a key that was named".to_owned()));
        }
    }
    let paths: Vec<PathBuf> =
        index.chains.iter().map(|chain| folder.join(&chain.path)).filter(|path| path.is_file()).collect();
    let expected = |path: &Path| {
        let chain = index.chains.iter().find(|chain| folder.join(&chain.path) == path);
        chain.map_or_else(ExpectedChain::default, |chain| ExpectedChain {
            head: Some(chain.head.clone()),
            count: Some(chain.count),
            session: Some(chain.session.clone()),
            before: None,
        })
    };
    let mut files = chains(&paths, keys, &expected)?;
    for file in &mut files {
        file.path = file.path.strip_prefix(&format!("{}/", folder.display())).unwrap_or(&file.path).to_owned();
    }
    Ok(Findings::new(faults, files))
}

/// Every file below a folder, by its name there, with the hash of its bytes.
fn contents(folder: &Path) -> anyhow::Result<BTreeMap<String, String>> {
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

fn fault(code: FaultCode, what: String) -> ReceiptFault {
    ReceiptFault { code, line: None, what }
}

fn plain(name: &str) -> String {
    name.chars().map(|c| if c.is_ascii_graphic() { c } else { '?' }).take(128).collect()
}

impl Findings {
    fn new(faults: Vec<ReceiptFault>, files: Vec<File>) -> Self {
        let each = files.iter().map(|file| file.outcome).chain([Outcome::of(&faults)]);
        let outcome = each.max().unwrap_or(Outcome::Valid);
        let torn = |file: &File| {
            let cut = file.report.cut;
            (cut > 0).then(|| format!("{}: a writer was killed here; {cut} torn lines were cut off", file.path))
        };
        Findings { outcome, notes: files.iter().filter_map(torn).collect(), faults, files }
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
