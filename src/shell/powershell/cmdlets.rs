//! Arguments: bound to the parameters of a cmdlet, and words that name files.

use super::table::{COMMON, Cmdlet};
use super::{quoted, word};
use crate::shell::syntax::{Part, Parts, Variable, Word};

/// An argument of a command.
pub(super) enum Item {
    /// `-Name`, `-Name:value`
    Parameter { name: String, value: Option<Vec<Word>> },
    /// A value; several words where it is a list.
    Words(Vec<Word>),
    /// A script block, whose commands have been read.
    Block,
}

impl Item {
    /// The words that a program is given.
    pub(super) fn into_words(self) -> Vec<Word> {
        match self {
            Item::Words(words) => words,
            Item::Block => Vec::new(),
            Item::Parameter { name, value: None } => vec![word(quoted(&format!("-{name}")))],
            Item::Parameter { name, value: Some(words) } => {
                let mut parts = quoted(&format!("-{name}:"));
                parts.extend(words.into_iter().flat_map(|word| word.parts));
                vec![word(parts)]
            }
        }
    }
}

/// How a command is called.
pub(super) struct Call {
    pub start: usize,
    pub stage: usize,
    /// The files or values that the command before it hands on, where they are known.
    pub fed: Option<Vec<Word>>,
    /// `. file`
    pub dotted: bool,
    /// One of its arguments is a script block.
    pub ran_block: bool,
}

/// The arguments of a cmdlet, bound to its parameters.
pub(super) struct Bound<'c> {
    pub row: &'c Cmdlet,
    pub values: Vec<(&'c str, Vec<Word>)>,
    pub switches: Vec<&'c str>,
    /// What no parameter takes.
    pub rest: Vec<Word>,
}

impl Bound<'_> {
    pub(super) fn of(&self, name: &str) -> Vec<Word> {
        self.values.iter().filter(|(known, _)| *known == name).flat_map(|(_, words)| words.clone()).collect()
    }
}

impl Cmdlet {
    /// The parameter that a name or its beginning means, and whether it is a switch.
    pub(super) fn parameter(&self, given: &str) -> Option<(&'static str, bool)> {
        let given = given.to_ascii_lowercase();
        let rendered = self.becomes.split(' ').skip(1).filter(|token| !token.starts_with('-'));
        let named = rendered.map(|token| match token.split_once('?') {
            Some((name, _)) => (name, true),
            None => (token.split(':').next().unwrap_or_default(), false),
        });
        let others = self.positions.split(' ').chain(self.dropped.split(' ')).chain(COMMON.split_whitespace());
        let mut all = named.chain(others.map(|name| (name, false))).filter(|(name, _)| !name.is_empty());
        let exact = all.clone().find(|(name, _)| *name == given);
        exact.or_else(|| all.find(|(name, _)| name.starts_with(given.as_str())))
    }

    /// Binds arguments to parameters.
    pub(super) fn bind(&self, items: Vec<Item>) -> Bound<'_> {
        let mut bound = Bound { row: self, values: Vec::new(), switches: Vec::new(), rest: Vec::new() };
        let mut positional = Vec::new();
        let mut awaiting: Option<&str> = None;
        for item in items {
            match item {
                Item::Words(words) => match awaiting.take() {
                    Some(name) => bound.values.push((name, words)),
                    None => positional.push(words),
                },
                Item::Block => awaiting = None,
                Item::Parameter { name, value } => {
                    awaiting = None;
                    match (self.parameter(&name), value) {
                        (Some((name, true)), _) => bound.switches.push(name),
                        (Some((name, false)), Some(words)) => bound.values.push((name, words)),
                        (Some((name, false)), None) => awaiting = Some(name),
                        // A flag of a program, or a switch without a meaning here.
                        (None, value) if name.len() <= 2 => {
                            bound.rest.extend(Item::Parameter { name, value }.into_words());
                        }
                        (None, _) => {}
                    }
                }
            }
        }
        let mut free = self.positions.split(' ').filter(|name| !name.is_empty());
        for words in positional {
            let taken = |name: &&str| !bound.values.iter().any(|(known, _)| known == name);
            match free.by_ref().find(taken) {
                Some(name) => bound.values.push((name, words)),
                None => bound.rest.extend(words),
            }
        }
        bound
    }
}

/// A word that names a file: `\` separates, `~` is the home, and wildcards count in quotes too.
pub(super) fn path(given: Word) -> Word {
    let mut parts = Parts::new();
    let strange = |part: &Part| match part {
        Part::Plain(text) | Part::Quoted(text) => text.contains(['\n', '"', '\'', '|', ';', '<', '>', '{']),
        Part::Variable(_) | Part::Output { .. } | Part::List(_) | Part::Unknown { .. } => false,
    };
    if given.parts.iter().any(strange) {
        return given;
    }
    for (index, part) in given.parts.into_iter().enumerate() {
        match part {
            Part::Plain(text) | Part::Quoted(text) if index == 0 => {
                let text = text.strip_prefix("\\\\?\\").unwrap_or(&text);
                let lower = text.to_ascii_lowercase();
                let text = lower.find("filesystem::").and_then(|at| text.get(at + 12..)).unwrap_or(text);
                match text.strip_prefix('~').filter(|rest| rest.is_empty() || rest.starts_with(['/', '\\'])) {
                    Some(rest) => {
                        parts.push(Variable::plain("HOME".to_owned(), true));
                        parts.push(Part::Quoted(rest.replace('\\', "/").into()));
                    }
                    None => parts.push(Part::Quoted(text.replace('\\', "/").into())),
                }
            }
            Part::Quoted(text) => parts.push(Part::Quoted(text.replace('\\', "/").into())),
            Part::Plain(_) | Part::Variable(_) | Part::Output { .. } | Part::List(_) | Part::Unknown { .. } => {
                parts.push(part);
            }
        }
    }
    Word { parts, span: given.span }
}

/// A path of these parts.
pub(super) fn below(words: impl Iterator<Item = Word>) -> Word {
    let mut parts = Parts::new();
    for word in words {
        if !parts.is_empty() {
            parts.push(Part::Quoted("/".into()));
        }
        parts.extend(path(word).parts);
    }
    word(parts)
}

/// The same with wildcards.
pub(super) fn pattern(given: Word) -> Word {
    let given = path(given);
    let mut parts = Parts::new();
    for part in given.parts {
        match part {
            Part::Quoted(text) if text.contains(['*', '?']) => {
                for piece in text.split_inclusive(['*', '?']) {
                    let plain = piece.trim_end_matches(['*', '?']);
                    parts.push(Part::Quoted(plain.into()));
                    if let Some(wild) = piece.get(plain.len()..).filter(|wild| !wild.is_empty()) {
                        parts.push(Part::Plain(wild.into()));
                    }
                }
            }
            Part::Plain(_)
            | Part::Quoted(_)
            | Part::Variable(_)
            | Part::Output { .. }
            | Part::List(_)
            | Part::Unknown { .. } => parts.push(part),
        }
    }
    Word { parts, span: given.span }
}
