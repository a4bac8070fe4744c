//! Names in code of other languages and words of statements, from `rules/code.toml`.

use std::ops::Deref;

/// What a function does, by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallEffect {
    /// Runs shell text, or a program with its arguments.
    Run,
    /// Runs a program with a list of arguments.
    Spawn,
    Delete,
    Write,
    /// Changes the mode of files.
    Rights,
    /// Reads, or writes if the mode says so.
    Open,
    Move,
    Copy,
    Fetch,
    /// Asks for the address of a host.
    Resolve,
    Send,
    Read,
    /// Runs something that its arguments do not determine.
    Unknown,
    /// Writes to the object that it is called on.
    WriteObject,
    /// Returns a function by its name.
    Lookup,
    /// Runs code of the same language.
    Code,
    /// Changes the working directory.
    Chdir,
    /// Removes data from a database.
    Lose,
}

// `CALLS`: functions with their effects. `BEHIND`: the modules of names that count only behind one of them. A static for each list
// of the tables `words`, `lines` and `statements`. All but the lines are in order.
include!(concat!(env!("OUT_DIR"), "/code.rs"));

/// Returns the effect of a function by the last component of its name.
pub fn effect_of(name: &str) -> Option<CallEffect> {
    let at = CALLS.binary_search_by(|(known, _)| (*known).cmp(name)).ok()?;
    CALLS.get(at).map(|(_, effect)| *effect)
}

/// The modules of which a name must be a part to count.
pub fn modules_of(name: &str) -> Option<&'static [&'static str]> {
    let at = BEHIND.binary_search_by(|(known, _)| (*known).cmp(name)).ok()?;
    BEHIND.get(at).map(|(_, modules)| *modules)
}

/// A list of words, in order if words are looked up in it. By their first and last bytes and their lengths, most other words
/// are ruled out.
#[derive(Debug)]
pub struct WordList {
    words: &'static [&'static str],
    /// A bit for each first byte; bytes with the same lowest six bits share one.
    first_bytes: u64,
    /// The same for last bytes.
    last_bytes: u64,
    /// A bit for each length; the last one also stands for all greater lengths.
    lengths: u64,
}

impl WordList {
    /// Builds the list.
    pub const fn new(words: &'static [&'static str]) -> WordList {
        let (mut first_bytes, mut last_bytes, mut lengths) = (0, 0, 0);
        let mut rest = words;
        while let [word, more @ ..] = rest {
            first_bytes |= byte_bit(word.as_bytes().first());
            last_bytes |= byte_bit(word.as_bytes().last());
            lengths |= length_bit(word);
            rest = more;
        }
        WordList { words, first_bytes, last_bytes, lengths }
    }
}

const fn byte_bit(byte: Option<&u8>) -> u64 {
    match byte {
        Some(byte) => 1 << (*byte & 63),
        None => u64::MAX,
    }
}

const fn length_bit(word: &str) -> u64 {
    1 << if word.len() < 63 { word.len() } else { 63 }
}

impl Deref for WordList {
    type Target = [&'static str];

    fn deref(&self) -> &Self::Target {
        self.words
    }
}

/// Whether a sorted list contains a word.
pub fn lists(list: &WordList, word: &str) -> bool {
    list.first_bytes & byte_bit(word.as_bytes().first()) != 0
        && list.last_bytes & byte_bit(word.as_bytes().last()) != 0
        && list.lengths & length_bit(word) != 0
        && list.words.binary_search(&word).is_ok()
}
