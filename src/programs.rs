//! The catalogue: what programs do, from `rules/programs/*.toml`.
//!
//! The build script encodes the shipped entries; an operator's files are read at run time and win. The
//! evaluator of shell text looks each program up in a [`Catalogue`] and parses its words once.

mod catalogue;
pub(crate) mod code;
pub mod command_line;
pub mod entry;
mod reader;
pub(crate) mod roles;
pub mod schema;

pub use catalogue::{Catalogue, Trust};
pub use command_line::{CommandLine, WordUse};
pub use entry::{Does, Entry, Tail, Use, Verb};
pub use reader::parse;

use std::sync::OnceLock;

// `PROGRAMS`: every name of a shipped program, with the number of its entry. `ENDS`: where the entries of programs and verbs
// end in `ENTRIES`. `EXAMPLES`: the examples of all entries.
include!(concat!(env!("OUT_DIR"), "/programs.rs"));

/// The shipped entries, one after the other, in the format of `postcard`.
static ENTRIES: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/programs.bin"));

/// The entries that have been used.
static DECODED: [OnceLock<Box<Entry>>; ENDS.len()] = [const { OnceLock::new() }; ENDS.len()];

/// Looks up a shipped program by its name, without its version: `python3.12` is `python`.
pub fn embedded(name: &str) -> Option<&'static Entry> {
    by_name(name, shipped)
}

/// The shipped entry of exactly this name.
fn shipped(name: &str) -> Option<&'static Entry> {
    entry_at(*PROGRAMS.get(name)?)
}

/// The shipped entry of this number.
fn entry_at(number: u32) -> Option<&'static Entry> {
    let number = number as usize;
    Some(DECODED.get(number)?.get_or_init(|| {
        // A test decodes all entries.
        Box::new(decode(number).unwrap_or_default())
    }))
}

fn decode(number: usize) -> Option<Entry> {
    let start = number.checked_sub(1).and_then(|before| ENDS.get(before)).map_or(0, |end| *end as usize);
    postcard::from_bytes(ENTRIES.get(start..*ENDS.get(number)? as usize)?).ok()
}

impl Verb {
    /// Whether a name may fit a word with this bit for its first letter; cheap, and false for most words. A program may have
    /// hundreds of verbs.
    fn may_fit(&self, letter_bit: u32) -> bool {
        match self {
            Verb::Told(_) => true,
            Verb::Shipped { letters, .. } => *letters == u32::MAX || letters & letter_bit != 0,
        }
    }

    /// Its entry.
    pub fn entry(&self) -> &Entry {
        static NONE: OnceLock<Entry> = OnceLock::new();
        match self {
            Verb::Told(entry) => entry,
            Verb::Shipped { number, .. } => entry_at(*number).unwrap_or_else(|| NONE.get_or_init(Entry::default)),
        }
    }
}

/// What `find` has for a name, or else for the name without its version.
fn by_name(name: &str, find: impl Fn(&str) -> Option<&'static Entry>) -> Option<&'static Entry> {
    let unversioned = || {
        let plain = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.').trim_end_matches('-');
        if plain.is_empty() || plain == name { None } else { find(plain) }
    };
    find(name).or_else(unversioned)
}

/// The examples of the shipped entries: a command line, and what the catalogue says about it.
pub fn embedded_examples() -> &'static [(&'static str, &'static [&'static str])] {
    &EXAMPLES
}

impl Use {
    /// The name of the use in catalogue files.
    pub fn name(self) -> &'static str {
        schema::USES.iter().find(|(_, known)| *known == self).map_or("", |(name, _)| name)
    }
}

impl Does {
    /// The name of the effect in catalogue files.
    pub fn name(self) -> &'static str {
        schema::DOES.iter().find(|(_, known)| *known == self).map_or("", |(name, _)| name)
    }
}

#[cfg(test)]
#[path = "../tests/unit/programs.rs"]
mod tests;
