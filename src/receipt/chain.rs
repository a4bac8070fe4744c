//! Verifies a receipt file and reports each fault with its code and line.

use super::key::{TrustedKeys, is_signed};
use super::{Receipt, ReceiptKind, VERSION, first_prev, hash};
use crate::encoding::label::Label;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::fmt;

/// The fault codes of receipts and packs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
#[expect(missing_docs, reason = "FORMAT.md describes each code")]
pub enum FaultCode {
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

impl FaultCode {
    /// Whether the code means that the file cannot be fully verified, and not that something is wrong.
    pub fn is_inconclusive(self) -> bool {
        matches!(self, FaultCode::ReceiptTorn | FaultCode::ReceiptUnsealed)
    }

    /// The code as spelled in the format.
    pub fn name(self) -> String {
        serde_json::to_value(self).ok().and_then(|name| name.as_str().map(str::to_owned)).unwrap_or_default()
    }
}

/// A fault and its line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ReceiptFault {
    /// The code.
    pub code: FaultCode,
    /// The line, from 1; `None` for other files of a pack.
    pub line: Option<usize>,
    /// A description.
    pub what: String,
}

impl fmt::Display for ReceiptFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.line.map_or(Ok(()), |line| write!(f, "line {line}: "))?;
        write!(f, "{}: {}", self.code.name(), self.what)
    }
}

/// The result of a verification, best first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// There is no fault.
    Valid,
    /// Nothing is wrong, but the file cannot be fully verified.
    CannotTell,
    /// Something is wrong.
    Invalid,
}

impl Outcome {
    /// The result of some faults.
    pub fn of<'a>(faults: impl IntoIterator<Item = &'a ReceiptFault>) -> Self {
        let each =
            |fault: &ReceiptFault| if fault.code.is_inconclusive() { Outcome::CannotTell } else { Outcome::Invalid };
        faults.into_iter().map(each).max().unwrap_or(Outcome::Valid)
    }
}

/// What the caller knows about a receipt file from elsewhere.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExpectedChain {
    /// The hash of one of its lines.
    pub head: Option<String>,
    /// The number of its receipts.
    pub count: Option<u64>,
    /// The hash of the last line of the part before.
    pub before: Option<String>,
    /// Its session.
    pub session: Option<String>,
}

/// The result of verifying a receipt file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct VerifyReport {
    /// The session of most of its receipts.
    pub session: Option<String>,
    /// Its part.
    pub part: Option<u64>,
    /// The number of its complete lines.
    pub lines: usize,
    /// The last line before the first fault.
    pub whole: usize,
    /// Whether it has a seal.
    pub sealed: bool,
    /// The number of receipts that were written after a torn line was cut off.
    pub cut: usize,
    /// The hash of its last line.
    pub head: Option<String>,
    /// The faults, in the order of the lines.
    pub faults: Vec<ReceiptFault>,
}

/// A line with a valid signature of a trusted key.
struct AuthenticLine {
    line: usize,
    hash: String,
    receipt: Receipt,
}

/// Verifies a file. Each rotation that a trusted key has signed adds its next key to `keys`.
pub fn verify(bytes: &[u8], keys: &mut TrustedKeys, expected: &ExpectedChain) -> VerifyReport {
    let mut pieces: Vec<&[u8]> = bytes.split(|byte| *byte == b'\n').collect();
    let torn = pieces.pop().unwrap_or_default();
    let mut report = VerifyReport { lines: pieces.len(), ..VerifyReport::default() };
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
                    keys.add_rotated(next);
                }
                authentic.push(AuthenticLine { line, hash: hash(text), receipt });
            }
            Err((code, what)) => report.add(code, line, what),
        }
    }
    report.cut = authentic.iter().filter(|found| found.receipt.torn > 0).count();
    report.head = pieces.last().map(|text| hash(text));
    if let Some((session, part)) = &majority(&authentic) {
        (report.session, report.part) = (Some(session.clone()), Some(*part));
        check_order(&authentic, session, *part, expected, &mut report);
        if expected.session.as_ref().is_some_and(|expected| expected != session) {
            let what = format!("all receipts are of session `{}`", Label::new(session));
            report.add(FaultCode::ReceiptForeignSession, 1, what);
        }
    }
    let has_line = |head: &String| pieces.iter().any(|text| hash(text) == *head);
    if let Some(head) = expected.head.as_ref().filter(|head| !has_line(head)) {
        report.add(FaultCode::ReceiptTruncated, pieces.len(), format!("the receipt {head} is missing"));
    } else if let Some(count) = expected.count.filter(|count| *count != pieces.len() as u64) {
        report.add(FaultCode::ReceiptTruncated, pieces.len(), format!("expected {count} receipts"));
    }
    report.faults.sort_by_key(|fault| fault.line);
    let first = report.faults.first().and_then(|fault| fault.line);
    report.whole = first.map_or(report.lines, |line| line.saturating_sub(1));
    if !torn.is_empty() {
        let what = format!("the last line is incomplete; the file is valid up to line {}", report.whole);
        report.add(FaultCode::ReceiptTorn, pieces.len() + 1, what);
    }
    if !report.sealed {
        let what = "there is no seal, so more may have followed";
        report.add(FaultCode::ReceiptUnsealed, pieces.len(), what.to_owned());
    }
    report
}

impl VerifyReport {
    /// The outcome of all faults.
    pub fn outcome(&self) -> Outcome {
        Outcome::of(&self.faults)
    }

    fn add(&mut self, code: FaultCode, line: usize, what: String) {
        self.faults.push(ReceiptFault { code, line: Some(line), what });
    }
}

/// Parses a line and verifies its form, key and signature.
fn authenticate(text: &[u8], keys: &TrustedKeys, retired: &[String]) -> Result<Receipt, (FaultCode, String)> {
    #[derive(Deserialize)]
    struct Versioned {
        version: String,
    }
    let receipt = match serde_json::from_slice::<Receipt>(text) {
        Ok(receipt) => receipt,
        Err(error) => {
            let version = serde_json::from_slice::<Versioned>(text).map(|versioned| versioned.version);
            if version.is_ok_and(|version| version != VERSION) {
                return Err((FaultCode::ReceiptVersionUnknown, format!("expected version `{VERSION}`")));
            }
            return Err((FaultCode::ReceiptUnreadable, format!("not a receipt, at column {}", error.column())));
        }
    };
    if receipt.version != VERSION {
        return Err((FaultCode::ReceiptVersionUnknown, format!("expected version `{VERSION}`")));
    }
    if receipt.to_bytes() != text {
        return Err((FaultCode::ReceiptNotCanonical, "not in canonical form".to_owned()));
    }
    if !keys.trusts(&receipt.key) {
        return Err((FaultCode::ReceiptKeyWrong, "signed by a key that is not trusted".to_owned()));
    }
    if retired.contains(&receipt.key) {
        return Err((FaultCode::ReceiptKeyWrong, "signed by a key that was rotated away".to_owned()));
    }
    let signature = receipt.signature.as_deref().unwrap_or_default();
    if !is_signed(&receipt.key, signature, VERSION, &receipt.signed_bytes()) {
        return Err((FaultCode::ReceiptSignatureWrong, "the receipt or its signature was edited".to_owned()));
    }
    Ok(receipt)
}

/// The session and part of most receipts, so that a few foreign ones do not make the others foreign.
fn majority(authentic: &[AuthenticLine]) -> Option<(String, u64)> {
    let mut counts: HashMap<(&str, u64), usize> = HashMap::new();
    for AuthenticLine { receipt, .. } in authentic {
        *counts.entry((&receipt.session, receipt.part)).or_default() += 1;
    }
    let most = counts.values().copied().max()?;
    let first = authentic.iter().map(|found| (found.receipt.session.as_str(), found.receipt.part));
    let (session, part) = first.into_iter().find(|owner| counts.get(owner) == Some(&most))?;
    Some((session.to_owned(), part))
}

/// Checks the order and the chain of authentic receipts.
fn check_order(
    authentic: &[AuthenticLine],
    session: &str,
    part: u64,
    expected: &ExpectedChain,
    report: &mut VerifyReport,
) {
    let mut lines: HashMap<&str, usize> = HashMap::new();
    let mut seen: HashMap<u64, usize> = HashMap::new();
    let mut next = 1;
    let mut prev = if part == 1 { Some(first_prev(session)) } else { expected.before.clone() };
    let mut last_line = 0;
    let mut sealed_at = None;
    for (at, AuthenticLine { line, hash, receipt }) in authentic.iter().enumerate() {
        let line = *line;
        // Each line that is not authentic may have been a receipt of this chain.
        let unverified = (line - last_line - 1) as u64;
        last_line = line;
        if receipt.session != session || receipt.part != part {
            let what = format!("a receipt of session `{}`, part {}", Label::new(&receipt.session), receipt.part);
            report.add(FaultCode::ReceiptForeignSession, line, what);
            continue;
        }
        if let Some(first) = lines.insert(hash, line) {
            report.add(FaultCode::ReceiptDuplicate, line, format!("the same receipt is on line {first}"));
            continue;
        }
        let first = seen.get(&receipt.seq).copied();
        seen.entry(receipt.seq).or_insert(line);
        if receipt.seq < next {
            match first {
                Some(first) => {
                    let what = format!("another receipt with number {} is on line {first}", receipt.seq);
                    report.add(FaultCode::ReceiptForked, line, what);
                }
                None => report.add(FaultCode::ReceiptReordered, line, format!("number {} is too late", receipt.seq)),
            }
            continue;
        }
        if let Some(seal) = sealed_at {
            report.add(FaultCode::ReceiptAfterSeal, line, format!("the part was sealed on line {seal}"));
        }
        let missing = next..receipt.seq;
        let later = authentic.iter().skip(at + 1).map(|later| &later.receipt);
        let later = later.filter(|later| later.session == session && later.part == part);
        if receipt.seq > next + unverified {
            let (code, what) = if later.into_iter().any(|later| missing.contains(&later.seq)) {
                (FaultCode::ReceiptReordered, format!("number {} is too early", receipt.seq))
            } else {
                (
                    FaultCode::ReceiptGap,
                    format!("{} receipts are missing before number {}", receipt.seq - next, receipt.seq),
                )
            };
            report.add(code, line, what);
        } else if receipt.seq == next && prev.as_ref().is_some_and(|prev| *prev != receipt.prev) {
            report.add(FaultCode::ReceiptChainBroken, line, "`prev` is not the hash of the line before".to_owned());
        }
        if receipt.kind == ReceiptKind::Seal {
            sealed_at = Some(line);
            let is_consistent =
                receipt.head.as_ref() == Some(&receipt.prev) && receipt.count == receipt.seq.checked_sub(1);
            if !is_consistent {
                report.add(FaultCode::ReceiptSealWrong, line, "`head` or `count` does not match".to_owned());
            }
        }
        next = receipt.seq + 1;
        prev = Some(hash.clone());
    }
    report.sealed = sealed_at.is_some();
}
