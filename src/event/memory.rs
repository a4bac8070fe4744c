//! What a session remembers of its person, as salted hashes: the words of the prompts, the asks and their answers, and the
//! containers that were read. The words themselves are never kept.

use super::destinations::tokens;
use crate::encoding::hex;
use crate::verdict::SaltedHash;
use crate::verdict::limits::{Limit, MEMORY_BYTES, PROMPT_WORDS};
use std::collections::BTreeSet;

/// What a hash is of. Equal texts of different kinds have different hashes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HashOf {
    /// One word, or two that follow each other.
    Word,
    /// A call that was asked about, in a session in which a person answers or, in its mode `auto`, perhaps a classifier.
    Ask,
    /// A container on a server.
    Container,
}

/// Hex digits of a salt.
const SALT_DIGITS: usize = 32;

/// Digits from which on a number counts as typed.
const MIN_NUMBER_DIGITS: usize = 4;

/// Bytes of one remembered word in the file.
const WORD_BYTES: usize = 17;

/// The memory of one session.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Memory {
    salt: Option<String>,
    typed: BTreeSet<SaltedHash>,
    asked: BTreeSet<SaltedHash>,
    answered: BTreeSet<SaltedHash>,
    read: BTreeSet<SaltedHash>,
    /// The size of the file; 0 if there is none.
    bytes: usize,
}

/// The line that voids the asks and containers before it.
pub const CLEARED: &str = "cleared";

impl Memory {
    /// An empty memory with this salt.
    pub fn new(salt: [u8; 16]) -> Self {
        Memory { salt: Some(hex::encode(&salt)), ..Memory::default() }
    }

    /// Parses the file of a memory, in which the first salt counts.
    ///
    /// # Errors
    ///
    /// If a line has another form, so that a damaged file is not taken for one without words.
    pub fn read(text: &str) -> Result<Self, String> {
        let mut memory = Memory { bytes: text.len(), ..Memory::default() };
        for (at, line) in text.lines().enumerate().filter(|(_, line)| !line.is_empty()) {
            let broken = || format!("line {} cannot be read", at + 1);
            let (kind, rest) = line.split_once(' ').unwrap_or((line, ""));
            let hashes = || rest.split(' ').map(SaltedHash::parse).collect::<Option<Vec<_>>>().ok_or_else(broken);
            match kind {
                "salt" if rest.len() == SALT_DIGITS => memory.salt = memory.salt.or_else(|| Some(rest.to_owned())),
                "typed" => memory.typed.extend(hashes()?),
                "asked" => memory.asked.extend(hashes()?),
                "answered" => memory.answered.extend(hashes()?),
                "read" => memory.read.extend(hashes()?),
                CLEARED if rest.is_empty() => {
                    let Memory { salt, typed, bytes, .. } = memory;
                    memory = Memory { salt, typed, bytes, ..Memory::default() };
                }
                _ => return Err(broken()),
            }
        }
        if memory.salt.is_none() && !text.trim().is_empty() {
            return Err("it has no salt".to_owned());
        }
        Ok(memory)
    }

    /// Whether hashes can be built.
    pub fn has_salt(&self) -> bool {
        self.salt.is_some()
    }

    /// The first line of a new file.
    pub fn salt_line(&self) -> String {
        let salt = self.salt.as_ref().filter(|_| self.bytes == 0);
        salt.map(|salt| format!("salt {salt}\n")).unwrap_or_default()
    }

    /// Hashes a text; `None` without a salt.
    pub fn hash(&self, of: HashOf, text: &str) -> Option<SaltedHash> {
        let salt = self.salt.as_ref()?;
        let digest = hex::digest(format!("{salt}\n{of:?}\n{text}").as_bytes());
        SaltedHash::of_digest(&digest)
    }

    /// The words of a prompt that are not remembered yet.
    ///
    /// # Errors
    ///
    /// If the prompt has too many, because a long text was pasted, which others may have written, or if the file is full.
    pub fn words_of(&self, prompt: &str) -> Result<Vec<SaltedHash>, &'static Limit> {
        let tokens = tokens(prompt);
        if tokens.len() > PROMPT_WORDS.most {
            return Err(&PROMPT_WORDS);
        }
        let pairs = tokens.windows(2).map(|pair| pair.join(" "));
        let names = tokens.iter().flat_map(|token| repository_names(token));
        let names = names.chain(prompt.split_whitespace().filter_map(before_sentence));
        let texts: BTreeSet<String> = tokens.iter().cloned().chain(pairs).chain(names).collect();
        let hashes = texts.iter().filter_map(|text| self.hash(HashOf::Word, text));
        let new: Vec<SaltedHash> = hashes.filter(|hash| !self.typed.contains(hash)).collect();
        // Half of the file is left for other notes.
        let is_full = self.bytes + new.len() * WORD_BYTES > MEMORY_BYTES.most / 2;
        if is_full { Err(&MEMORY_BYTES) } else { Ok(new) }
    }

    /// Whether a destination was typed: all of its tokens, one after the other. A short number may be in a prompt by chance.
    pub fn has_typed(&self, destination: &str) -> bool {
        let tokens = tokens(destination);
        let is_known = |text: &str| self.hash(HashOf::Word, text).is_some_and(|hash| self.typed.contains(&hash));
        let in_order = tokens.windows(2).all(|pair| is_known(&pair.join(" ")));
        let is_short_number =
            destination.len() < MIN_NUMBER_DIGITS && destination.bytes().all(|byte| byte.is_ascii_digit());
        !tokens.is_empty() && !is_short_number && in_order && tokens.iter().all(|token| is_known(token))
    }

    /// Whether a call was asked about and has not run yet.
    pub fn is_pending(&self, ask: &SaltedHash) -> bool {
        self.asked.contains(ask)
    }

    /// Whether a call that was asked about was let run.
    pub fn is_answered(&self, ask: &SaltedHash) -> bool {
        self.answered.contains(ask)
    }

    /// Whether the session has read these containers of a server, and no other.
    pub fn has_read_only(&self, containers: &BTreeSet<SaltedHash>) -> bool {
        !containers.is_empty() && self.read == *containers
    }
}

/// The host in front of a sentence that follows without a blank: `example.com` of `example.com.They`.
fn before_sentence(piece: &str) -> Option<String> {
    let at =
        piece.char_indices().zip(piece.chars().skip(1)).find(|((_, dot), next)| *dot == '.' && next.is_uppercase());
    let ((at, _), _) = at?;
    let (host, sentence) = piece.split_at_checked(at)?;
    let is_plain = host.chars().all(|c| !c.is_uppercase()) && host.contains('.') && !sentence.contains(['/', '@']);
    is_plain.then(|| tokens(host).join(" "))
}

/// The repository that a token names, if it names more than that: `owner/name` of `owner/name#12` and of
/// `host/owner/name/issues/12`.
fn repository_names(token: &str) -> Option<String> {
    if let Some((name, _)) = token.split_once('#').filter(|(name, _)| name.matches('/').count() == 1) {
        return Some(name.to_owned());
    }
    let (host, path) = token.split_once('/').filter(|(host, _)| host.contains('.'))?;
    let mut parts = path.split('/').filter(|part| !part.is_empty());
    let name = format!("{}/{}", parts.next()?, parts.next()?.trim_end_matches(".git"));
    (!host.is_empty()).then_some(name)
}

#[cfg(test)]
#[path = "../../tests/unit/event/memory.rs"]
mod tests;
