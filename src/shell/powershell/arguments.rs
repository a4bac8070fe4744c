//! Arguments of commands, their binding to the parameters of a cmdlet, and words that are paths.

use super::cmdlets::{COMMON, Cmdlet};
use super::{quoted, word};
use crate::shell::syntax::{Variable, Word, WordPart, WordParts};

/// An argument of a command.
pub(super) enum Argument {
    /// `-Name`, `-Name:value`
    Parameter { name: String, value: Option<Vec<Word>> },
    /// A value. A list has several words.
    Words(Vec<Word>),
    /// A script block, whose commands are already parsed.
    Block,
}

impl Argument {
    /// Returns the words that a program receives.
    pub(super) fn into_words(self) -> Vec<Word> {
        match self {
            Argument::Words(words) => words,
            Argument::Block => Vec::new(),
            Argument::Parameter { name, value: None } => vec![word(quoted(&format!("-{name}")))],
            Argument::Parameter { name, value: Some(words) } => {
                let mut parts = quoted(&format!("-{name}:"));
                parts.extend(words.into_iter().flat_map(|word| word.parts));
                vec![word(parts)]
            }
        }
    }
}

/// The context in which a command is invoked.
pub(super) struct Invocation {
    pub start: usize,
    pub stage: usize,
    /// The files or values from the previous stage of the pipeline, if they are known.
    pub fed: Option<Vec<Word>>,
    /// `. file`
    pub dotted: bool,
    /// One of its arguments is a script block.
    pub ran_block: bool,
}

/// The arguments of a cmdlet, bound to its parameters.
pub(super) struct BoundArguments<'c> {
    pub row: &'c Cmdlet,
    pub values: Vec<(&'c str, Vec<Word>)>,
    pub switches: Vec<&'c str>,
    /// Arguments that belong to no parameter.
    pub rest: Vec<Word>,
}

impl BoundArguments<'_> {
    pub(super) fn of(&self, name: &str) -> Vec<Word> {
        self.values.iter().filter(|(known, _)| *known == name).flat_map(|(_, words)| words.clone()).collect()
    }
}

impl Cmdlet {
    /// Finds a parameter by its name or an abbreviation, and returns whether it is a switch.
    pub(super) fn find_parameter(&self, given: &str) -> Option<(&'static str, bool)> {
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
    pub(super) fn bind(&self, items: Vec<Argument>) -> BoundArguments<'_> {
        let mut bound = BoundArguments { row: self, values: Vec::new(), switches: Vec::new(), rest: Vec::new() };
        let mut positional = Vec::new();
        let mut awaiting: Option<&str> = None;
        for item in items {
            match item {
                Argument::Words(words) => match awaiting.take() {
                    Some(name) => bound.values.push((name, words)),
                    None => positional.push(words),
                },
                Argument::Block => awaiting = None,
                Argument::Parameter { name, value } => {
                    awaiting = None;
                    match (self.find_parameter(&name), value) {
                        (Some((name, true)), _) => bound.switches.push(name),
                        (Some((name, false)), Some(words)) => bound.values.push((name, words)),
                        (Some((name, false)), None) => awaiting = Some(name),
                        // An option of a program of the same name. Longer names are switches without an equivalent.
                        (None, value) if name.len() <= 2 => {
                            bound.rest.extend(Argument::Parameter { name, value }.into_words());
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

/// Converts a word to a path: `\` becomes `/`, and a leading `~` the home directory.
pub(super) fn to_path(given: Word) -> Word {
    let mut parts = WordParts::new();
    let is_special = |text: &str| text.contains(['\n', '"', '\'', '|', ';', '<', '>', '{']);
    if given.parts.iter().filter_map(WordPart::literal).any(is_special) {
        return given;
    }
    let with_slashes = |text: &str| WordPart::Quoted(text.replace('\\', "/").into());
    for (index, part) in given.parts.into_iter().enumerate() {
        if let (0, Some(text)) = (index, part.literal()) {
            let text = text.strip_prefix("\\\\?\\").unwrap_or(text);
            let lower = text.to_ascii_lowercase();
            let text = lower.find("filesystem::").and_then(|at| text.get(at + 12..)).unwrap_or(text);
            let below_home = text.strip_prefix('~').filter(|rest| rest.is_empty() || rest.starts_with(['/', '\\']));
            parts.extend(below_home.map(|_| Variable::plain("HOME".to_owned(), true)));
            parts.push(with_slashes(below_home.unwrap_or(text)));
        } else if let WordPart::Quoted(text) = &part {
            parts.push(with_slashes(text));
        } else {
            parts.push(part);
        }
    }
    Word { parts, span: given.span }
}

/// Joins words to a path.
pub(super) fn join_path(words: impl Iterator<Item = Word>) -> Word {
    let mut parts = WordParts::new();
    for word in words {
        if !parts.is_empty() {
            parts.push(WordPart::Quoted("/".into()));
        }
        parts.extend(to_path(word).parts);
    }
    word(parts)
}

/// Converts a word to a path in which wildcards are active in quotes too.
pub(super) fn to_pattern(given: Word) -> Word {
    let given = to_path(given);
    let mut parts = WordParts::new();
    for part in given.parts {
        let text = if let WordPart::Quoted(text) = &part { text.as_str() } else { "" };
        if !text.contains(['*', '?']) {
            parts.push(part);
            continue;
        }
        for piece in text.split_inclusive(['*', '?']) {
            let plain = piece.trim_end_matches(['*', '?']);
            parts.push(WordPart::Quoted(plain.into()));
            if let Some(wild) = piece.get(plain.len()..).filter(|wild| !wild.is_empty()) {
                parts.push(WordPart::Plain(wild.into()));
            }
        }
    }
    Word { parts, span: given.span }
}
