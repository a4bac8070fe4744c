//! The catalogue that one text is read with: the operator's entries, and the shipped ones.

use super::entry::{Entry, Operands, Use};
use super::schema::{self, Example};
use std::collections::BTreeMap;

/// Where the entries of programs are looked up.
///
/// Entries live as long as the process: the shipped ones are compiled in, and an operator's files are read once.
#[derive(Clone, Debug, Default)]
pub struct Catalogue {
    /// The operator's entries, by each of their names.
    own: BTreeMap<String, &'static Entry>,
}

/// How the uses in an operator's file count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trust {
    /// As they are written, for the examples of the file.
    AsWritten,
    /// A word that is said to be harmless has an unknown use, so that a protected file in it counts as the worst use.
    Guarded,
}

impl Catalogue {
    /// The catalogue of the shipped entries.
    pub const fn shipped() -> Catalogue {
        Catalogue { own: BTreeMap::new() }
    }

    /// Looks up a program by its name, without its version: `python3.12` is `python`.
    pub fn find(&self, name: &str) -> Option<&'static Entry> {
        if self.own.is_empty() {
            return super::embedded(name);
        }
        super::by_name(name, |name| self.own.get(name).copied().or_else(|| super::shipped(name)))
    }

    /// Adds the entries of an operator's file, and returns its examples. What the file tells about a shipped program is
    /// joined with the shipped entry, and wins over it.
    ///
    /// # Errors
    ///
    /// Returns one line that names the program, the key and what is wrong with it, and a line with help. Nothing is added
    /// then.
    pub fn add(&mut self, text: &str, trust: Trust) -> Result<Vec<Example>, String> {
        let help = "help: `rules/README.md`, \"The catalogue of programs\", lists the keys, uses and effects";
        let file = schema::parse(text).map_err(|error| format!("{error}\n  {help}"))?;
        let mut added: BTreeMap<String, &'static Entry> = BTreeMap::new();
        for mut entry in file.entries {
            let names: Vec<String> = entry.names.iter().map(ToString::to_string).collect();
            let shipped = names.first().and_then(|name| super::shipped(name));
            for (position, name) in names.iter().enumerate() {
                if self.own.contains_key(name) || added.contains_key(name) {
                    return Err(format!("`{name}`: described twice\n  help: keep one of the tables"));
                }
                let other = super::shipped(name).filter(|known| !shipped.is_some_and(|own| std::ptr::eq(own, *known)));
                if position > 0 && other.is_some() {
                    let help = format!("help: give `{name}` a table of its own");
                    return Err(format!("`aliases`: `{name}` is a program that Rune knows\n  {help}"));
                }
            }
            if trust == Trust::Guarded {
                guard(&mut entry);
            }
            if let Some(shipped) = shipped {
                join(&mut entry, shipped.clone());
            }
            let entry: &'static Entry = Box::leak(Box::new(entry));
            added.extend(names.into_iter().map(|name| (name, entry)));
        }
        self.own.extend(added);
        Ok(file.examples)
    }
}

/// Adds what the shipped entry tells, verb by verb.
fn join(own: &mut Entry, shipped: Entry) {
    for verb in own.join(shipped) {
        let same = own.verbs.iter_mut().find(|known| known.names.first() == verb.names.first());
        match same {
            Some(known) => join(known, verb),
            None => own.verbs.push(verb),
        }
    }
}

/// Makes uses unknown that would take a word out of the protection of protected files.
fn guard(entry: &mut Entry) {
    let guarded = |takes: &mut Use| {
        if matches!(takes, Use::Text | Use::List | Use::Match | Use::Load) {
            *takes = Use::Unknown;
        }
    };
    entry.options.iter_mut().for_each(|option| guarded(&mut option.takes));
    if let Some(Operands { first, rest, last, .. }) = &mut entry.operands {
        first.iter_mut().chain(rest.iter_mut()).chain(last.iter_mut()).for_each(guarded);
    }
    entry.verbs.iter_mut().for_each(guard);
    entry.with.iter_mut().for_each(|(_, changed)| guard(changed));
}
