//! The catalogue: what programs do, from `rules/programs/*.toml`.
//!
//! The build script compiles the shipped files into tables; an operator's files are read at run time and win. The
//! evaluator of shell text looks each program up in a [`Catalogue`] and parses its words once.

mod catalogue;
pub(crate) mod code;
pub mod command_line;
pub mod entry;
mod reader;
pub mod schema;
pub(crate) mod words;

pub use catalogue::{Catalogue, Trust};
pub use command_line::{CommandLine, FlagUse, WordUse};
pub use entry::{Does, Entry, Tail, Use};
pub use reader::parse;

use entry::{List, Operands, Scope, Style, Text, ValueOption};
use std::borrow::Cow;

// `PROGRAMS`: every name of a shipped program, with its entry. `EXAMPLES`: the examples of all entries.
include!(concat!(env!("OUT_DIR"), "/programs.rs"));

/// Elements of a table, for the generated code.
const fn elements_at<T>(table: &'static [T], start: usize, count: usize) -> &'static [T] {
    table.split_at(start).1.split_at(count).0
}

/// A part of a text, for the generated code.
const fn text_at(text: &'static str, start: usize, length: usize) -> &'static str {
    text.split_at(start).1.split_at(length).0
}

/// Looks up a shipped program by its name, without its version: `python3.12` is `python`.
pub fn embedded(name: &str) -> Option<&'static Entry> {
    by_name(name, shipped)
}

/// The shipped entry of exactly this name.
fn shipped(name: &str) -> Option<&'static Entry> {
    PROGRAMS.get(name).copied()
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
