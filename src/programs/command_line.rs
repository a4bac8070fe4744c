//! A command line as its program reads it: the result of the option parser in `reader`.

use super::entry::{Does, Entry, Scope, Tail, Use};

/// A part of a word, and what the program uses it for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WordUse {
    /// The index of the word.
    pub word: usize,
    /// Where in the word the value begins, in bytes.
    pub start: usize,
    /// What it is used for, where the entry tells.
    pub takes: Option<Use>,
    /// Whether it is the value of an option.
    pub by_option: bool,
    /// The option, if the entry lists it.
    pub option: Option<&'static str>,
    /// It is a setting (`-o ProxyCommand=x`), or the value of an option of a program that is not made to run others.
    pub aside: bool,
    /// The word follows an option that the entry does not list, so it may as well be the value of that.
    pub doubtful: bool,
}

/// An option without a value: a part of a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlagUse {
    /// The index of the word.
    pub word: usize,
    /// Where in the word its name begins, in bytes. A letter of a cluster does not begin at 0.
    pub start: usize,
    /// Where in the word its name ends.
    pub end: usize,
}

impl FlagUse {
    /// Whether it is the flag of this name, which has its dashes. `word` is the whole word.
    pub fn is(&self, name: &str, word: &str) -> bool {
        let given = word.get(self.start..self.end).unwrap_or_default();
        if self.start > 0 {
            return name.strip_suffix(given).is_some_and(|sign| sign.len() == 1 && word.starts_with(sign));
        }
        word == name || given == name && !is_off(word)
    }
}

/// A command line as its program reads it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CommandLine {
    /// The program and its verbs, outermost first.
    pub path: Vec<&'static Entry>,
    /// The indices of the words that are verbs.
    pub verbs: Vec<usize>,
    /// Values of options and operands, in the order of their words. Verbs are not among them.
    pub uses: Vec<WordUse>,
    /// Where the command begins that the program runs, if its operands are one.
    pub command: Option<usize>,
    /// How that command is written.
    pub tail: Option<Tail>,
    /// What it does, where the entries tell.
    pub does: Option<Does>,
    /// What it would do if its options did not say that it is about this machine only.
    pub elsewhere: Option<Does>,
    /// Whether the first operand should have been a verb, and is none of those listed.
    pub unknown_verb: bool,
    /// Whether a flag, or the words of a verb that the entry knows only by a pattern, ask for credentials.
    pub asks_for_secrets: bool,
    /// Whether it only asks for the help or the version: a flag for that, and no operand and no value of an option.
    pub only_helps: bool,
    /// Whether a flag is given with which it prints credentials.
    pub reveals_by_flag: bool,
    /// Options without a value, in order.
    pub flags: Vec<FlagUse>,
    /// Whether what it does to a directory holds for everything below; `None` if the entries do not tell.
    pub recursive: Option<bool>,
}

impl CommandLine {
    /// The entry of the program.
    pub fn program(&self) -> Option<&'static Entry> {
        self.path.first().copied()
    }

    /// What the parts of a word are used for.
    pub fn uses_of(&self, word: usize) -> &[WordUse] {
        let start = self.uses.partition_point(|used| used.word < word);
        let end = self.uses.partition_point(|used| used.word <= word);
        self.uses.get(start..end).unwrap_or_default()
    }

    /// The name of the deepest verb, as the entry has it; empty without a verb.
    pub fn verb(&self) -> &'static str {
        self.path.get(1..).and_then(<[_]>::last).and_then(|verb| verb.names.first()).map_or("", |name| name.as_ref())
    }

    /// Whether it prints credentials. Where an option selects what is printed, that counts alone: `--query Runtime`.
    pub fn reveals(&self) -> bool {
        let is_option = |entry: &&Entry| entry.names.first().is_some_and(|name| name.starts_with("--"));
        let reveals = match self.path.as_slice() {
            [.., option, selected] if is_option(option) => selected.reveals,
            all => all.iter().any(|entry| entry.reveals),
        };
        !self.only_helps && (reveals || self.reveals_by_flag || self.asks_for_secrets)
    }

    /// Whether it gives secrets to the command that it runs.
    pub fn injects(&self) -> bool {
        self.path.iter().any(|entry| entry.injects)
    }

    /// Whether it prints text that strangers wrote.
    pub fn brings(&self) -> bool {
        self.path.iter().any(|entry| entry.brings)
    }

    /// Whether it downloads packages that its operands name.
    pub fn installs(&self) -> bool {
        self.path.iter().any(|entry| entry.installs)
    }

    /// Whether it prints shell text that is made to be evaluated.
    pub fn activates(&self) -> bool {
        self.path.iter().any(|entry| entry.activates)
    }

    /// The program whose words an `again*` tail is, if not the same.
    pub fn runs_as(&self) -> Option<&'static str> {
        self.path.iter().rev().find_map(|entry| entry.runs_as.as_deref())
    }

    /// What a change is about.
    pub fn scope(&self) -> Scope {
        self.path.iter().rev().map(|entry| entry.scope).find(|scope| *scope != Scope::Shared).unwrap_or_default()
    }

    /// The language of its code.
    pub fn language(&self) -> Option<&'static str> {
        self.path.iter().rev().find_map(|entry| entry.language.as_deref())
    }
}

/// Whether an attached value switches a flag off: `--dry-run=false`.
pub(super) fn is_off(word: &str) -> bool {
    ["=false", "=no", "=0", "=none", "=never"].iter().any(|end| word.ends_with(end))
}
