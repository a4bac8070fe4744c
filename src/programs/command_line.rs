//! The option parser: reads the words of one command by the entry of its program.
//!
//! It knows clusters (`-cI 'cmd'`), attached values (`-ofile`, `--out=file`), abbreviated long options, `--`, and verbs
//! at any depth. A word whose use the entry does not tell is reported with the use `None`.

use super::entry::{Does, Entry, Operands, Style, Use};

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
}

/// A command line as its program reads it.
#[derive(Clone, Debug)]
pub struct CommandLine<'e> {
    /// The program and its verbs, outermost first.
    pub path: Vec<&'e Entry>,
    /// Values of options and operands, in order. Verbs are not among them.
    pub uses: Vec<WordUse>,
    /// Where the command begins that the program runs, if its operands are one.
    pub command: Option<usize>,
    /// What it does, where the entries tell.
    pub does: Option<Does>,
    /// Whether the first operand should have been a verb, and is none of those listed.
    pub unknown_verb: bool,
}

impl CommandLine<'_> {
    /// Whether it prints credentials.
    pub fn reveals(&self) -> bool {
        self.path.iter().any(|entry| entry.reveals)
    }

    /// Whether it prints text that strangers wrote.
    pub fn brings(&self) -> bool {
        self.path.iter().any(|entry| entry.brings)
    }

    /// Whether it prints shell text that is made to be evaluated.
    pub fn activates(&self) -> bool {
        self.path.iter().any(|entry| entry.activates)
    }

    /// The language of its code.
    pub fn language(&self) -> Option<&str> {
        self.path.iter().rev().find_map(|entry| entry.language.as_deref())
    }
}

/// Flags that make any program print and exit.
const HELP: [&str; 2] = ["--help", "--version"];

/// An option word without a value, as it may be compared with names of flags.
enum Flag<'w> {
    Word(&'w str),
    /// An option with an attached value: its name, and the whole word.
    Valued(&'w str, &'w str),
    Letter(char),
}

impl Flag<'_> {
    fn is(&self, name: &str) -> bool {
        match self {
            Flag::Word(word) => *word == name,
            Flag::Valued(option, word) => *word == name || *option == name && !is_off(word),
            Flag::Letter(letter) => {
                let mut chars = name.chars();
                chars.next() == Some('-') && chars.next() == Some(*letter) && chars.next().is_none()
            }
        }
    }
}

/// Whether an attached value switches a flag off: `--dry-run=false`.
fn is_off(word: &str) -> bool {
    ["=false", "=no", "=0", "=none", "=never"].iter().any(|end| word.ends_with(end))
}

/// Reads the words behind a program's name.
pub fn parse<'e>(program: &'e Entry, words: &[&str]) -> CommandLine<'e> {
    let mut line = Reader {
        line: CommandLine { path: vec![program], uses: Vec::new(), command: None, does: None, unknown_verb: false },
        flags: Vec::new(),
        operands: Vec::new(),
        general: Vec::new(),
        skipped_unknown_option: false,
    };
    line.read(words);
    line.finish()
}

struct Reader<'e, 'w> {
    line: CommandLine<'e>,
    flags: Vec<Flag<'w>>,
    /// The indices of the operands, without verbs.
    operands: Vec<usize>,
    /// Entries with `*` in their names that fit the verbs too: `* delete-*` holds for `dynamodb delete-table`.
    general: Vec<&'e Entry>,
    /// The word before was an option that no entry knows: what follows may be its value.
    skipped_unknown_option: bool,
}

impl<'e, 'w> Reader<'e, 'w> {
    fn read(&mut self, words: &[&'w str]) {
        let mut index = 0;
        let mut only_operands = false;
        while let Some(word) = words.get(index).copied() {
            if self.begins_command() {
                self.line.command = Some(if word == "--" && !only_operands { index + 1 } else { index })
                    .filter(|start| *start < words.len() && (only_operands || !self.is_option(word) || word == "--"));
                if self.line.command.is_some() {
                    return;
                }
            }
            if !only_operands && word == "--" {
                only_operands = true;
                index += 1;
            } else if !only_operands && self.is_option(word) {
                index += self.option(word, index);
            } else if let Some(length) = self.assignment(word) {
                self.line.uses.push(WordUse { word: index, start: length.0, takes: Some(length.1), by_option: true });
                index += 1;
            } else {
                self.operand(word, index);
                only_operands |= self.has_script();
                index += 1;
            }
        }
    }

    fn is_option(&self, word: &str) -> bool {
        word.len() > 1 && (word.starts_with('-') || word.starts_with('+') && self.value_option("+").is_some())
    }

    fn deepest(&self) -> Option<&'e Entry> {
        self.line.path.last().copied()
    }

    /// What the operands of the deepest entry that tells are used for.
    fn operand_spec(&self) -> Option<&'e Operands> {
        self.line.path.iter().rev().find_map(|entry| entry.operands.as_ref())
    }

    /// Whether the next operand is the first word of a command that the program runs.
    fn begins_command(&self) -> bool {
        let awaits_verb = self.operands.is_empty() && self.deepest().is_some_and(|entry| !entry.verbs.is_empty());
        !awaits_verb
            && self.operand_spec().is_some_and(|spec| {
                spec.rest == Some(Use::Run) && spec.last.is_empty() && self.operands.len() == spec.first.len()
            })
    }

    /// `name=value` operands that are options: the length of `name=`, and the use of the value.
    fn assignment(&self, word: &str) -> Option<(usize, Use)> {
        let options = self.line.path.iter().rev().flat_map(|entry| entry.options.iter());
        let mut named = options.filter(|option| option.name.ends_with('='));
        named.find(|option| word.starts_with(option.name.as_ref())).map(|option| (option.name.len(), option.takes))
    }

    /// What the value of an option is used for, by its exact name.
    fn value_option(&self, name: &str) -> Option<Use> {
        let options = self.line.path.iter().rev().flat_map(|entry| entry.options.iter());
        options.into_iter().find(|option| option.name == name).map(|option| option.takes)
    }

    fn is_flag(&self, name: &str) -> bool {
        let mut entries = self.line.path.iter();
        entries.any(|entry| entry.dry.iter().any(|dry| dry == name) || entry.flags.iter().any(|(flag, _)| flag == name))
    }

    /// The name of a long option, completed where it is an abbreviation of exactly one.
    fn complete(&self, name: &'w str) -> String {
        if self.value_option(name).is_some() || self.is_flag(name) || name.len() < 4 {
            return name.to_owned();
        }
        let values = self.line.path.iter().flat_map(|entry| entry.options.iter().map(|option| option.name.as_ref()));
        let flags = self.line.path.iter().flat_map(|entry| {
            entry.flags.iter().map(|(flag, _)| flag.as_ref()).chain(entry.dry.iter().map(AsRef::as_ref))
        });
        let mut fitting = values.chain(flags).filter(|known| known.starts_with(name));
        match (fitting.next(), fitting.next()) {
            (Some(only), None) => only.to_owned(),
            _ => name.to_owned(),
        }
    }

    fn note(&mut self, word: usize, start: usize, takes: Option<Use>) {
        self.line.uses.push(WordUse { word, start, takes, by_option: true });
    }

    /// Reads an option word; returns how many words it takes.
    fn option(&mut self, word: &'w str, index: usize) -> usize {
        self.skipped_unknown_option = false;
        if let Some(takes) = self.value_option("+").filter(|_| word.starts_with('+')) {
            self.note(index, 1, Some(takes));
            return 1;
        }
        let single = self.line.path.iter().any(|entry| entry.style == Style::Single);
        if word.starts_with("--") || single || self.value_option(word).is_some() {
            let (name, value) = word.split_once('=').map_or((word, None), |(name, _)| (name, Some(name.len() + 1)));
            let alternative = if single { name.strip_prefix('-').filter(|name| name.starts_with('-')) } else { None };
            let full = if name.starts_with("--") { self.complete(name) } else { name.to_owned() };
            let takes = self.value_option(&full).or_else(|| alternative.and_then(|name| self.value_option(name)));
            return match (takes, value) {
                (takes, Some(start)) => {
                    // A flag may have a value too: `--dry-run=client`, `--prune=now`.
                    self.flags.push(Flag::Valued(name, word));
                    self.note(index, start, takes);
                    1
                }
                // An abbreviation may also be a flag of its own, so the next word is read as an operand too.
                (Some(takes), None) if full != name && alternative.is_none() => {
                    self.note(index + 1, 0, Some(takes));
                    self.flags.push(Flag::Word(name));
                    1
                }
                (Some(takes), None) => {
                    self.note(index + 1, 0, Some(takes));
                    2
                }
                (None, None) => {
                    self.skipped_unknown_option = !self.is_flag(&full) && !HELP.contains(&name);
                    self.flags.push(Flag::Word(name));
                    1
                }
            };
        }
        let first = word.chars().next().unwrap_or('-');
        for (at, letter) in word.char_indices().skip(1) {
            let behind = at + letter.len_utf8();
            let name: String = [first, letter].iter().collect();
            if let Some(takes) = self.value_option(&name) {
                if behind < word.len() {
                    self.note(index, behind, Some(takes));
                    return 1;
                }
                self.note(index + 1, 0, Some(takes));
                return 2;
            }
            self.skipped_unknown_option = !self.is_flag(&name);
            self.flags.push(Flag::Letter(letter));
        }
        self.flags.push(Flag::Word(word));
        1
    }

    /// Whether a flag is given without a value.
    fn is_bare(&self, name: &str) -> bool {
        self.flags.iter().any(|flag| matches!(flag, Flag::Word(word) if *word == name))
    }

    /// Whether the last operand is a script: what follows are its own arguments.
    fn has_script(&self) -> bool {
        let count = self.operands.len();
        let position = count.checked_sub(1);
        let by_option = |used: &WordUse| used.by_option && matches!(used.takes, Some(Use::Code | Use::Execute));
        let is_first = self.operand_spec().zip(position).is_some_and(|(spec, position)| {
            spec.first.get(position) == Some(&Use::Execute) && !self.line.uses.iter().any(by_option)
        });
        is_first && self.line.path.iter().rev().find_map(|entry| entry.does) == Some(Does::Run)
    }

    /// Reads a word that is no option: a verb or an operand.
    fn operand(&mut self, word: &str, index: usize) {
        let verbs = self.deepest().map_or(&[][..], |entry| &entry.verbs);
        if self.operands.is_empty() && !verbs.is_empty() {
            let lists = std::iter::once(verbs).chain(self.general.iter().map(|entry| &*entry.verbs));
            let fitting: Vec<&'e Entry> =
                lists.flatten().filter(|verb| verb.names.iter().any(|name| fits(name, word))).collect();
            let exact = fitting.iter().find(|verb| verb.names.iter().any(|name| name == word));
            // `*-delete` says more about a word than `*`.
            let literal = |verb: &&&Entry| verb.names.iter().map(|name| name.len() - name.matches('*').count()).max();
            let closest = fitting.iter().rev().max_by_key(literal);
            if let Some(verb) = exact.or(closest).copied() {
                self.line.path.push(verb);
                self.general = fitting.into_iter().filter(|other| !std::ptr::eq(*other, verb)).collect();
                self.skipped_unknown_option = false;
                return;
            }
            if self.skipped_unknown_option {
                self.skipped_unknown_option = false;
                self.note(index, 0, None);
                return;
            }
            self.line.unknown_verb = true;
        }
        self.skipped_unknown_option = false;
        self.operands.push(index);
        self.line.uses.push(WordUse { word: index, start: 0, takes: None, by_option: false });
    }

    fn finish(mut self) -> CommandLine<'e> {
        if let Some(spec) = self.operand_spec() {
            // `sed -e s/a/b/ file`: with the code in an option, the first operand is the second one of the entry.
            let by_option = |used: &WordUse| used.by_option && matches!(used.takes, Some(Use::Code | Use::Execute));
            let is_code = matches!(spec.first.first(), Some(Use::Code | Use::Execute));
            let skip = usize::from(is_code && self.line.uses.iter().any(by_option));
            let first = spec.first.get(skip..).unwrap_or_default();
            let count = self.operands.len();
            let last_from = count.saturating_sub(spec.last.len()).max(first.len().min(count));
            // The operands are in the order of their uses.
            let operands = self.line.uses.iter_mut().filter(|used| !used.by_option);
            for (position, used) in operands.enumerate() {
                used.takes = match position {
                    position if position >= last_from && !spec.last.is_empty() => {
                        spec.last.get(position - last_from).copied()
                    }
                    position if position < first.len() => first.get(position).copied(),
                    _ => spec.rest,
                };
            }
        }
        let given = |names: &str| self.flags.iter().any(|flag| flag.is(names));
        let dry = self.line.path.iter().any(|entry| entry.dry.iter().any(|name| given(name)));
        // Without the verb that it expects, a program prints its help.
        let is_bare = self.flags.is_empty() && self.line.uses.is_empty();
        let lacks_verb = is_bare && self.deepest().is_some_and(|entry| !entry.verbs.is_empty());
        let named = self.line.path.iter().rev().find_map(|entry| entry.does);
        let named = if lacks_verb { named.min(Some(Does::Work)) } else { named };
        let raised = self.line.path.iter().flat_map(|entry| entry.flags.iter());
        let raised = raised.filter(|(name, _)| given(name)).map(|(_, does)| *does).max();
        self.line.does =
            if dry || HELP.iter().any(|name| self.is_bare(name)) { Some(Does::Look) } else { named.max(raised) };
        self.line
    }
}

/// Whether a name with `*` in it fits a word.
fn fits(name: &str, word: &str) -> bool {
    // Most names differ in their first letter.
    if name.bytes().next() != word.bytes().next() && !name.starts_with('*') {
        return false;
    }
    let Some((start, end)) = name.split_once('*') else { return name == word };
    let Some(rest) = word.strip_prefix(start) else { return false };
    match end.split_once('*') {
        None => rest.len() >= end.len() && rest.ends_with(end),
        Some((middle, end)) => {
            rest.find(middle).and_then(|at| rest.get(at + middle.len()..)).is_some_and(|rest| rest.ends_with(end))
        }
    }
}
