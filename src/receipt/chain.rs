//! Verifying a file of receipts: each fault by its name and its line.

use super::key::{Keys, is_signed};
use super::{Receipt, ReceiptKind, VERSION, beginning, hash};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::fmt;

/// What can be wrong with receipts and packs, by the names of the format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
#[expect(missing_docs, reason = "the format describes each code, in one place")]
pub enum Code {
    ReceiptUnreadable,
    ReceiptNotCanonical,
    ReceiptVersionUnknown,
    ReceiptKeyWrong,
    ReceiptSignatureWrong,
    ReceiptForeignSession,
    ReceiptDuplicate,
    ReceiptReordered,
    ReceiptGap,
    ReceiptForked,
    ReceiptChainBroken,
    ReceiptSealWrong,
    ReceiptAfterSeal,
    ReceiptTruncated,
    ReceiptTorn,
    ReceiptUnsealed,
    PackIndexWrong,
    PackSealWrong,
    PackKeyWrong,
    PackVersionUnknown,
    PackFileMissing,
    PackFileEdited,
    PackFileUnlisted,
}

impl Code {
    /// Whether it says that something cannot be told, and not that something is wrong.
    pub fn is_doubt(self) -> bool {
        matches!(self, Code::ReceiptTorn | Code::ReceiptUnsealed)
    }

    /// The code as the format spells it.
    pub fn name(self) -> String {
        serde_json::to_value(self).ok().and_then(|name| name.as_str().map(str::to_owned)).unwrap_or_default()
    }
}

/// One thing that is wrong, and where.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Fault {
    /// What.
    pub code: Code,
    /// The line, from 1; none for a pack's other files.
    pub line: Option<usize>,
    /// What it means here, in words.
    pub what: String,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.line.map_or(Ok(()), |line| write!(f, "line {line}: "))?;
        write!(f, "{}: {}", self.code.name(), self.what)
    }
}

/// What follows from all faults, best first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// All is as it was written.
    Valid,
    /// Nothing is wrong, and not everything can be known.
    CannotTell,
    /// Something was changed.
    Invalid,
}

impl Outcome {
    /// What follows from some faults.
    pub fn of<'a>(faults: impl IntoIterator<Item = &'a Fault>) -> Self {
        let each = |fault: &Fault| if fault.code.is_doubt() { Outcome::CannotTell } else { Outcome::Invalid };
        faults.into_iter().map(each).max().unwrap_or(Outcome::Valid)
    }
}

/// What whoever verifies knows of a file from elsewhere.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Expected {
    /// A hash that one of its lines has to have.
    pub head: Option<String>,
    /// How many receipts it has to have.
    pub count: Option<u64>,
    /// The hash of the last line of the part before.
    pub before: Option<String>,
    /// The session that it has to be of.
    pub session: Option<String>,
}

/// What was found out about a file of receipts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Report {
    /// Its session, as most of its receipts have it.
    pub session: Option<String>,
    /// Its part.
    pub part: Option<u64>,
    /// How many lines it has, without a torn one.
    pub lines: usize,
    /// Up to which line nothing is wrong.
    pub whole: usize,
    /// It ends with its seal.
    pub sealed: bool,
    /// How many receipts were written behind a torn line that was cut off.
    pub cut: usize,
    /// The hash of its last line.
    pub head: Option<String>,
    /// What is wrong, in the order of the lines.
    pub faults: Vec<Fault>,
}

/// A line that is what its signer wrote.
struct Authentic {
    line: usize,
    hash: String,
    receipt: Receipt,
}

/// Verifies a file. Keys that believed ones hand on are believed from there on.
pub fn verify(bytes: &[u8], keys: &mut Keys, expected: &Expected) -> Report {
    let mut pieces: Vec<&[u8]> = bytes.split(|byte| *byte == b'\n').collect();
    let torn = pieces.pop().unwrap_or_default();
    let mut report = Report { lines: pieces.len(), ..Report::default() };
    let mut authentic = Vec::new();
    let mut retired: Vec<String> = Vec::new();
    let mut current: Option<String> = None;
    for (line, text) in (1..).zip(&pieces) {
        match authenticate(text, keys, &retired) {
            Ok(receipt) => {
                if current.as_ref() != Some(&receipt.key) {
                    retired.extend(current.replace(receipt.key.clone()));
                }
                if let (ReceiptKind::Rotate, Some(next)) = (receipt.kind, &receipt.next) {
                    keys.hand_on(next);
                }
                authentic.push(Authentic { line, hash: hash(text), receipt });
            }
            Err((code, what)) => report.add(code, line, what),
        }
    }
    report.cut = authentic.iter().filter(|found| found.receipt.torn > 0).count();
    report.head = pieces.last().map(|text| hash(text));
    let whose = whose(&authentic);
    if let Some((session, part)) = &whose {
        (report.session, report.part) = (Some(session.clone()), Some(*part));
        order(&authentic, session, *part, expected, &mut report);
        if expected.session.as_ref().is_some_and(|expected| expected != session) {
            let what = format!("all of it is of session `{}`", shown(session));
            report.add(Code::ReceiptForeignSession, 1, what);
        }
    }
    let has = |head: &String| pieces.iter().any(|text| hash(text) == *head);
    if let Some(head) = expected.head.as_ref().filter(|head| !has(head)) {
        report.add(Code::ReceiptTruncated, pieces.len(), format!("the receipt {head} is not there"));
    } else if let Some(count) = expected.count.filter(|count| *count != pieces.len() as u64) {
        report.add(Code::ReceiptTruncated, pieces.len(), format!("there were {count} receipts"));
    }
    report.faults.sort_by_key(|fault| fault.line);
    let first = report.faults.first().and_then(|fault| fault.line);
    report.whole = first.map_or(report.lines, |line| line.saturating_sub(1));
    if !torn.is_empty() {
        let what = format!("the last line has no end; the file is whole up to line {}", report.whole);
        report.add(Code::ReceiptTorn, pieces.len() + 1, what);
    }
    if !report.sealed {
        let what = "there is no seal, so more may have followed";
        report.add(Code::ReceiptUnsealed, pieces.len(), what.to_owned());
    }
    report
}

impl Report {
    /// What follows from it.
    pub fn outcome(&self) -> Outcome {
        Outcome::of(&self.faults)
    }

    fn add(&mut self, code: Code, line: usize, what: String) {
        self.faults.push(Fault { code, line: Some(line), what });
    }
}

/// Reads a line, and tells whether a believed key has written it just so.
fn authenticate(text: &[u8], keys: &Keys, retired: &[String]) -> Result<Receipt, (Code, String)> {
    #[derive(Deserialize)]
    struct Versioned {
        version: String,
    }
    let receipt = match serde_json::from_slice::<Receipt>(text) {
        Ok(receipt) => receipt,
        Err(error) => {
            let version = serde_json::from_slice::<Versioned>(text).map(|versioned| versioned.version);
            if version.is_ok_and(|version| version != VERSION) {
                return Err((Code::ReceiptVersionUnknown, format!("this verifier knows `{VERSION}` only")));
            }
            return Err((Code::ReceiptUnreadable, format!("no receipt, from column {} on", error.column())));
        }
    };
    if receipt.version != VERSION {
        return Err((Code::ReceiptVersionUnknown, format!("this verifier knows `{VERSION}` only")));
    }
    if receipt.to_bytes() != text {
        return Err((Code::ReceiptNotCanonical, "it is not spelled as it was signed".to_owned()));
    }
    if !keys.believes(&receipt.key) {
        return Err((Code::ReceiptKeyWrong, "it is signed by a key that nobody has named".to_owned()));
    }
    if retired.contains(&receipt.key) {
        return Err((Code::ReceiptKeyWrong, "it is signed by a key that was rotated away from".to_owned()));
    }
    let signature = receipt.signature.as_deref().unwrap_or_default();
    if !is_signed(&receipt.key, signature, VERSION, &receipt.signed()) {
        return Err((Code::ReceiptSignatureWrong, "the receipt or its signature was edited".to_owned()));
    }
    Ok(receipt)
}

/// The session and part that most receipts are of: a few that were put there do not make the rest foreign.
fn whose(authentic: &[Authentic]) -> Option<(String, u64)> {
    let mut counts: HashMap<(&str, u64), usize> = HashMap::new();
    for Authentic { receipt, .. } in authentic {
        *counts.entry((&receipt.session, receipt.part)).or_default() += 1;
    }
    let most = counts.values().copied().max()?;
    let first = authentic.iter().map(|found| (found.receipt.session.as_str(), found.receipt.part));
    let (session, part) = first.into_iter().find(|whose| counts.get(whose) == Some(&most))?;
    Some((session.to_owned(), part))
}

/// Walks through the receipts that are authentic, and names what is not where it was written.
fn order(authentic: &[Authentic], session: &str, part: u64, expected: &Expected, report: &mut Report) {
    let mut lines: HashMap<&str, usize> = HashMap::new();
    let mut seen: HashMap<u64, usize> = HashMap::new();
    let mut next = 1;
    let mut prev = if part == 1 { Some(beginning(session)) } else { expected.before.clone() };
    let mut last_line = 0;
    let mut sealed_at = None;
    for (at, Authentic { line, hash, receipt }) in authentic.iter().enumerate() {
        let line = *line;
        // Lines that are not authentic may stand in the place of receipts, or between them.
        let strange = (line - last_line - 1) as u64;
        last_line = line;
        if receipt.session != session || receipt.part != part {
            let what = format!("it is a receipt of session `{}`, part {}", shown(&receipt.session), receipt.part);
            report.add(Code::ReceiptForeignSession, line, what);
            continue;
        }
        if let Some(first) = lines.insert(hash, line) {
            report.add(Code::ReceiptDuplicate, line, format!("it stands on line {first} already"));
            continue;
        }
        let first = seen.get(&receipt.seq).copied();
        seen.entry(receipt.seq).or_insert(line);
        if receipt.seq < next {
            match first {
                Some(first) => {
                    let what = format!("another receipt of number {} stands on line {first}", receipt.seq);
                    report.add(Code::ReceiptForked, line, what);
                }
                None => report.add(Code::ReceiptReordered, line, format!("number {} comes late", receipt.seq)),
            }
            continue;
        }
        if let Some(seal) = sealed_at {
            report.add(Code::ReceiptAfterSeal, line, format!("the part was sealed on line {seal}"));
        }
        let missing = next..receipt.seq;
        let later = authentic.iter().skip(at + 1).map(|later| &later.receipt);
        let later = later.filter(|later| later.session == session && later.part == part);
        if receipt.seq > next + strange {
            let (code, what) = if later.into_iter().any(|later| missing.contains(&later.seq)) {
                (Code::ReceiptReordered, format!("number {} comes early", receipt.seq))
            } else {
                (Code::ReceiptGap, format!("{} receipts are missing before number {}", receipt.seq - next, receipt.seq))
            };
            report.add(code, line, what);
        } else if receipt.seq == next && prev.as_ref().is_some_and(|prev| *prev != receipt.prev) {
            report.add(Code::ReceiptChainBroken, line, "the line before is not the one that it follows".to_owned());
        }
        if receipt.kind == ReceiptKind::Seal {
            sealed_at = Some(line);
            let fits = receipt.head.as_ref() == Some(&receipt.prev) && receipt.count == receipt.seq.checked_sub(1);
            if !fits {
                report.add(Code::ReceiptSealWrong, line, "its head or count does not fit".to_owned());
            }
        }
        next = receipt.seq + 1;
        prev = Some(hash.clone());
    }
    report.sealed = sealed_at.is_some();
}

/// A name from a file that anybody may have written.
fn shown(name: &str) -> String {
    crate::encoding::label::Label::new(name).to_string()
}
