//! The option parser: reads the words of one command by the entry of its program.
//!
//! It knows clusters (`-cI 'cmd'`), attached values (`-ofile`, `--out=file`), abbreviated long options, `--`, verbs at any
//! depth, and uses that depend on flags. A word whose use the entry does not tell is reported with the use `None`.

mod effect;
mod secrets;

use super::command_line::{CommandLine, FlagUse, WordUse};
use super::entry::{Does, Entry, Operands, Style, Tail, Use, Verb, letter_bit};

/// Flags that make any program print and exit.
const HELP: [&str; 2] = ["--help", "--version"];

impl Entry {
    /// The options without a value that it lists.
    fn flag_names(&self) -> impl Iterator<Item = &str> {
        let changing = self.with.iter().flat_map(|(flags, _)| flags.iter());
        let lists = self
            .dry
            .iter()
            .chain(self.local.iter())
            .chain(self.plain.iter())
            .chain(self.recursive.iter())
            .chain(changing);
        self.flags.iter().map(|(name, _)| name).chain(lists).map(AsRef::as_ref)
    }
}

/// Reads the words behind a program's name.
pub fn parse(program: &'static Entry, words: &[&str]) -> CommandLine {
    let mut reader = Reader::new(program, words, None);
    reader.read();
    let doubtful_verb = reader.doubtful_verb;
    let mut line = reader.finish();
    // A verb behind an unlisted option may be the value of that option. Then the next word is the verb, if it is one.
    if doubtful_verb.is_some() {
        let mut reader = Reader::new(program, words, doubtful_verb);
        reader.read();
        let other = reader.finish();
        if !other.unknown_verb && other.path.len() > 1 {
            line.does = line.does.max(other.does);
        }
    }
    line
}

/// What the word before says about the next one.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Before {
    /// It is not the value of an option.
    Other,
    /// It may be the value of an unlisted letter. Most letters take none, and entries list those that do.
    UnlistedLetter,
    /// It may be the value of an unlisted long option.
    UnlistedOption,
}

struct Reader<'w> {
    words: &'w [&'w str],
    line: CommandLine,
    /// How many operands there were, without verbs.
    operands: usize,
    /// Entries with `*` in their names that fit the verbs too: `* delete-*` holds for `dynamodb delete-table`.
    general: Vec<&'static Entry>,
    /// A verb is one of these.
    by_pattern: bool,
    before: Before,
    /// The first verb that may be the value of an option.
    doubtful_verb: Option<usize>,
    /// The word that is taken for the value of the option before it.
    assumed_value: Option<usize>,
    /// An operand may be the value of an unlisted option.
    has_doubtful_operand: bool,
}

impl<'w> Reader<'w> {
    fn new(program: &'static Entry, words: &'w [&'w str], assumed_value: Option<usize>) -> Self {
        Reader {
            words,
            line: CommandLine { path: vec![program], ..CommandLine::default() },
            operands: 0,
            general: Vec::new(),
            by_pattern: false,
            before: Before::Other,
            doubtful_verb: None,
            assumed_value,
            has_doubtful_operand: false,
        }
    }

    fn read(&mut self) {
        let mut index = 0;
        let mut only_operands = false;
        while let Some(word) = self.words.get(index).copied() {
            if !only_operands && word == "--" {
                only_operands = true;
                self.before = Before::Other;
                index += 1;
                if let Some(tail) = self.operand_spec().filter(|spec| spec.dashes).and_then(|spec| spec.tail) {
                    return self.begin_command(tail, index);
                }
            } else if !only_operands && self.begins_command(word) {
                return self.begin_command(Tail::Command, index + 1);
            } else if !only_operands && self.is_option(word) && !self.is_verb_option(word) {
                // An option of the other program: `nvm run 20 -e code`, `timeout 5 -a`.
                // An operand may also be the value of an unlisted option.
                let is_certain = self.operands > 0 && !self.has_doubtful_operand;
                let is_other = |tail: Tail| match tail {
                    Tail::Again => !self.is_listed(word),
                    Tail::Command => is_certain && !self.runs_value(word),
                    Tail::Shell | Tail::Script | Tail::Package => false,
                };
                if let Some((_, tail)) = self.awaited_command().filter(|(_, tail)| is_other(*tail)) {
                    return self.begin_command(tail, index);
                }
                index += self.option(word, index);
            } else if let Some((name, takes)) = self.assignment(word) {
                self.note(index, name.len(), Some(takes), Some(name));
                self.line.uses.last_mut().into_iter().for_each(|used| used.aside = true);
                index += 1;
            } else if self.reads_verb(word, index) {
                index += 1;
            } else if let Some((spec, tail)) = self.awaited_command() {
                let takes = match word {
                    // What follows the program on standard input is for that one.
                    "-" if self.line.language().is_some() => {
                        return self.note(index, 0, Some(Use::Execute), None);
                    }
                    // `env -` is `env -i`.
                    "-" => Use::Text,
                    _ if spec.variables && is_setting(word) => Use::Variable,
                    _ if spec.version && !only_operands && is_version(word) => Use::Text,
                    _ => return self.begin_command(tail, index),
                };
                self.note(index, 0, Some(takes), None);
                // Options end at the first variable: `env A=1 -a` runs `-a`.
                only_operands |= takes == Use::Variable;
                index += 1;
            } else {
                let doubtful = std::mem::replace(&mut self.before, Before::Other) == Before::UnlistedOption;
                self.operands += 1;
                self.has_doubtful_operand |= doubtful;
                self.note(index, 0, None, None);
                let used = self.line.uses.last_mut();
                used.into_iter().for_each(|used| (used.by_option, used.doubtful) = (false, doubtful));
                only_operands |= self.has_script();
                index += 1;
            }
        }
    }

    fn begin_command(&mut self, tail: Tail, start: usize) {
        if start < self.words.len() {
            self.line.command = Some(start);
            self.line.tail = Some(tail);
        }
    }

    /// Whether the rest of the line behind an option is a command.
    fn begins_command(&self, word: &str) -> bool {
        self.line.path.iter().any(|entry| entry.command.iter().any(|name| name == word))
    }

    fn is_option(&self, word: &str) -> bool {
        word.len() > 1 && (word.starts_with('-') || word.starts_with('+') && self.value_option("+").is_some())
    }

    /// Whether an option is listed as a verb: `cmake -E env`. Such verbs come first in their lists.
    fn is_verb_option(&self, word: &str) -> bool {
        let verbs = self.deepest().filter(|_| self.operands == 0).map_or(&[][..], |entry| &entry.verbs);
        verbs.iter().take_while(|verb| verb.is_option()).any(|verb| verb.names().any(|name| name == word))
    }

    fn deepest(&self) -> Option<&'static Entry> {
        self.line.path.last().copied()
    }

    /// What the operands of the deepest entry that tells are used for. A command is only that of the entry itself.
    fn operand_spec(&self) -> Option<&'static Operands> {
        let spec = self.line.path.iter().rev().find_map(|entry| entry.operands.as_ref())?;
        let is_own = self.deepest().is_some_and(|entry| entry.operands.is_some());
        Some(spec).filter(|spec| is_own || spec.tail.is_none())
    }

    /// Whether the next operand should be a verb.
    fn awaits_verb(&self) -> bool {
        self.operands == 0 && self.deepest().is_some_and(has_verbs)
    }

    /// The command that the next operand is the first word of.
    fn awaited_command(&self) -> Option<(&'static Operands, Tail)> {
        let spec = self.operand_spec().filter(|spec| !spec.dashes && self.operands == spec.first.len())?;
        Some((spec, spec.tail?))
    }

    /// `name=value` and `name:value` operands that are options: `name=`, and the use of the value.
    fn assignment(&self, word: &str) -> Option<(&'static str, Use)> {
        if !word.bytes().any(|byte| matches!(byte, b'=' | b':')) {
            return None;
        }
        let options = self.line.path.iter().rev().flat_map(|entry| entry.options.iter());
        let mut named = options.filter(|option| option.name.ends_with(['=', ':']));
        let is_given = |name: &str| match name.ends_with('=') {
            true => word.starts_with(name),
            false => word.get(..name.len()).is_some_and(|start| start.eq_ignore_ascii_case(name)),
        };
        named.find(|option| is_given(&option.name)).map(|option| (option.name.as_ref(), option.takes))
    }

    /// An option that takes a value, by its exact name: its name, and what the value is used for.
    fn value_option(&self, name: &str) -> Option<(&'static str, Use)> {
        let mut options = self.line.path.iter().rev().flat_map(|entry| entry.options.iter());
        options.find(|option| option.name == name).map(|option| (option.name.as_ref(), option.takes))
    }

    /// Whether the value of an option is a command: `flock file -c x`.
    fn runs_value(&self, word: &str) -> bool {
        let name = word.split('=').next().unwrap_or(word);
        self.value_option(name).is_some_and(|(_, takes)| takes == Use::Run)
    }

    /// Whether an entry lists a flag.
    fn is_flag(&self, name: &str) -> bool {
        self.line.path.iter().any(|entry| entry.flag_names().any(|flag| flag == name))
    }

    /// Whether an entry lists an option, with a value or without.
    fn is_listed(&self, word: &str) -> bool {
        let name = word.split('=').next().unwrap_or(word);
        let letter = word.get(..2).unwrap_or(word);
        self.value_option(name).is_some() || self.is_flag(name) || self.value_option(letter).is_some()
    }

    /// Whether an option takes a value only if that is attached: `sed -i.bak`.
    fn is_attached(&self, name: &str) -> bool {
        self.line.path.iter().any(|entry| entry.attached.iter().any(|known| known == name))
    }

    /// The name of a long option, completed where it is an abbreviation of exactly one.
    fn complete(&self, name: &'w str) -> String {
        if self.value_option(name).is_some() || self.is_flag(name) || name.len() < 4 {
            return name.to_owned();
        }
        let values = self.line.path.iter().flat_map(|entry| entry.options.iter().map(|option| option.name.as_ref()));
        let flags = self.line.path.iter().flat_map(|entry| entry.flag_names());
        let is_whole = |known: &&str| known.starts_with(name) && !known.ends_with('=') && !known.contains(':');
        let mut fitting = values.chain(flags).filter(is_whole);
        let full = match (fitting.next(), fitting.next()) {
            (Some(only), None) => Some(only),
            // Of several, the one that runs something.
            (Some(_), Some(_)) => {
                let options = self.line.path.iter().flat_map(|entry| entry.options.iter());
                let mut runs = options.filter(|option| option.takes == Use::Run).map(|option| option.name.as_ref());
                runs.find(is_whole)
            }
            (None, _) => None,
        };
        full.unwrap_or(name).to_owned()
    }

    /// Notes the value of an option. Its use may depend on the setting that it begins with.
    fn note(&mut self, word: usize, start: usize, takes: Option<Use>, option: Option<&'static str>) {
        let value = self.words.get(word).and_then(|word| word.get(start..)).unwrap_or_default();
        let options =
            || self.line.path.iter().rev().flat_map(|entry| entry.options.iter().map(move |one| (entry, one)));
        let keyed = option.and_then(|option| {
            options().find_map(|(_, known)| {
                let key = known.name.strip_prefix(option)?.strip_prefix(':')?;
                let given = value.get(..key.len()).filter(|given| given.eq_ignore_ascii_case(key))?;
                let behind = value.get(given.len()..)?.strip_prefix(['=', ':', ' '])?;
                Some((start + value.len() - behind.len(), known.takes))
            })
        });
        let owner = options().find(|(_, known)| option == Some(known.name.as_ref())).map(|(entry, _)| *entry);
        let aside = keyed.is_some() || owner.is_some_and(|entry| entry.does != Some(Does::Run));
        let (start, takes) = keyed.map_or((start, takes), |(start, takes)| (start, Some(takes)));
        let takes = takes.filter(|takes| *takes != Use::Unknown);
        self.line.uses.push(WordUse { word, start, takes, by_option: true, option, aside, doubtful: false });
    }

    /// Notes the value of an option that is not attached to it; returns how many words the option takes.
    fn note_next(&mut self, index: usize, (name, takes): (&'static str, Use)) -> usize {
        if self.line.path.iter().any(|entry| entry.pairs.iter().any(|pair| pair == name)) {
            self.note(index + 1, 0, Some(Use::Text), Some(name));
            self.note(index + 2, 0, Some(takes), Some(name));
            return 3;
        }
        self.note(index + 1, 0, Some(takes), Some(name));
        2
    }

    fn flag(&mut self, word: usize, start: usize, end: usize) {
        self.line.flags.push(FlagUse { word, start, end });
    }

    /// Reads an option word; returns how many words it takes.
    fn option(&mut self, word: &'w str, index: usize) -> usize {
        self.before = Before::Other;
        if word.starts_with('+')
            && let Some((name, takes)) = self.value_option("+")
        {
            self.note(index, 1, Some(takes), Some(name));
            return 1;
        }
        // An option whose value can only be attached: `--cov-report=html`, `-out:file`.
        if let Some((name, takes)) = self.assignment(word) {
            self.flag(index, 0, name.len() - 1);
            self.note(index, name.len(), Some(takes), Some(name));
            return 1;
        }
        let single = self.line.path.iter().any(|entry| entry.style == Style::Single);
        if word.starts_with("--") || single || self.value_option(word).is_some() || self.is_flag(word) {
            return self.long_option(word, index, single);
        }
        let first = word.chars().next().unwrap_or('-');
        for (at, letter) in word.char_indices().skip(1) {
            let behind = at + letter.len_utf8();
            let name: String = [first, letter].iter().collect();
            if let Some((name, takes)) = self.value_option(&name) {
                if behind < word.len() {
                    self.note(index, behind, Some(takes), Some(name));
                    return 1;
                }
                return self.note_next(index, (name, takes));
            }
            self.before = if self.is_flag(&name) { Before::Other } else { Before::UnlistedLetter };
            self.flag(index, at, behind);
            if self.is_attached(&name) {
                self.before = Before::Other;
                self.flag(index, 0, word.len());
                return self.words_of_attached(index);
            }
        }
        self.flag(index, 0, word.len());
        1
    }

    /// The number of words of an option with an attached value: two if an empty word follows, as in `sed -i ''` on BSD.
    fn words_of_attached(&self, index: usize) -> usize {
        if self.words.get(index + 1).is_some_and(|next| next.is_empty()) { 2 } else { 1 }
    }

    /// Reads an option whose name is the whole word, or the part before `=`.
    fn long_option(&mut self, word: &'w str, index: usize, single: bool) -> usize {
        let (name, value) = word.split_once('=').map_or((word, None), |(name, _)| (name, Some(name.len() + 1)));
        let alternative = if single { name.strip_prefix('-').filter(|name| name.starts_with('-')) } else { None };
        let full = if name.starts_with("--") { self.complete(name) } else { name.to_owned() };
        let known = self.value_option(&full).or_else(|| alternative.and_then(|name| self.value_option(name)));
        match (known, value) {
            (known, Some(start)) => {
                // A flag may have a value too: `--dry-run=client`, `--prune=now`.
                self.flag(index, 0, name.len());
                let attached = self.is_attached(&full).then_some(Use::Text);
                self.note(index, start, known.map(|(_, takes)| takes).or(attached), known.map(|(name, _)| name));
                1
            }
            // The abbreviation may instead be an unlisted flag, so the next word is also read as an operand.
            (Some((option, takes)), None) if full != name && alternative.is_none() => {
                self.note(index + 1, 0, Some(takes), Some(option));
                self.flag(index, 0, name.len());
                1
            }
            // `vault --version`: an option that has no value here is the flag.
            (Some(_), None) if HELP.contains(&name) && index + 1 >= self.words.len() => {
                self.flag(index, 0, name.len());
                1
            }
            (Some(known), None) => self.note_next(index, known),
            (None, None) => {
                let is_attached = self.is_attached(&full);
                // `--version v2`: an option that the entry does not list may take a value.
                let listed = self.is_flag(&full) || is_attached || name == "--help";
                self.before = if listed { Before::Other } else { Before::UnlistedOption };
                self.flag(index, 0, name.len());
                if is_attached { self.words_of_attached(index) } else { 1 }
            }
        }
    }

    /// Whether a flag is given. `-d=skip` is the option `-d` with the value `skip`.
    fn is_given(&self, name: &str) -> bool {
        let word = |index: usize| self.words.get(index).copied().unwrap_or_default();
        let is_value = |option: &str, value: &str| {
            let mut uses = self.line.uses.iter().filter(|used| used.option == Some(option));
            uses.any(|used| word(used.word).get(used.start..).is_some_and(|text| fits(value, text)))
        };
        self.line.flags.iter().any(|flag| flag.is(name, word(flag.word)))
            || name.split_once('=').is_some_and(|(option, value)| is_value(option, value))
    }

    /// Whether a flag is given, by its name or by a prefix of its long name that is not a listed option.
    fn is_begun(&self, name: &str) -> bool {
        let begins = |flag: &FlagUse| {
            let given = self.words.get(flag.word).and_then(|word| word.get(..flag.end)).unwrap_or_default();
            flag.start == 0
                && given.len() > 3
                && given.starts_with("--")
                && name.starts_with(given)
                && !self.is_flag(given)
                && self.value_option(given).is_none()
        };
        self.is_given(name) || self.line.flags.iter().any(begins)
    }

    /// Whether an option gives the program that the first operand would be: `awk -f file`, `python3 -c code`.
    fn has_program(&self, spec: &Operands) -> bool {
        let gives = |takes: Use| self.line.uses.iter().any(|used| used.by_option && used.takes == Some(takes));
        match spec.first.first() {
            Some(Use::Code) => gives(Use::Code) || gives(Use::Execute),
            // Other files are loaded before it: `node -r file script`.
            Some(Use::Execute) => gives(Use::Code),
            _ => false,
        }
    }

    /// Whether the last operand is a script: what follows are its own arguments.
    fn has_script(&self) -> bool {
        let position = self.operands.checked_sub(1);
        let is_first = self
            .operand_spec()
            .zip(position)
            .is_some_and(|(spec, position)| spec.first.get(position) == Some(&Use::Execute) && !self.has_program(spec));
        is_first && self.line.path.iter().rev().find_map(|entry| entry.does) == Some(Does::Run)
    }

    /// Reads a word where a verb is expected; returns whether it is one, or the value of the option before it.
    fn reads_verb(&mut self, word: &str, index: usize) -> bool {
        if self.assumed_value == Some(index) {
            self.before = Before::Other;
            self.note(index, 0, None, None);
            return true;
        }
        let verbs = self.deepest().map_or(&[][..], |entry| &entry.verbs);
        if !self.awaits_verb() && !self.is_verb_option(word) {
            return false;
        }
        let letter_bit = letter_bit(word);
        let is_fitting = |verb: &&Verb| verb.may_fit(letter_bit) && verb.names().any(|name| fits(name, word));
        let mut fitting: Vec<&'static Verb> = verbs.iter().filter(is_fitting).collect();
        self.general.iter().for_each(|entry| fitting.extend(entry.verbs.iter().filter(is_fitting)));
        // Of several patterns the longest name counts: `delete-*` before `*`.
        let longest = |verb: &&&Verb| {
            let names = verb.names().filter(|name| fits(name, word));
            names.map(|name| if name == word { usize::MAX } else { name.len() }).max()
        };
        if let Some(verb) = fitting.iter().rev().max_by_key(longest).copied() {
            self.by_pattern |= !verbs.iter().any(|own| std::ptr::eq(own, verb));
            self.line.path.push(verb.entry());
            self.line.verbs.push(index);
            let others = fitting.into_iter().filter(|other| !std::ptr::eq(*other, verb));
            self.general = others.map(Verb::entry).collect();
            if std::mem::replace(&mut self.before, Before::Other) != Before::Other {
                self.doubtful_verb.get_or_insert(index);
            }
            return true;
        }
        // Where a file may stand instead of a verb, it is more likely that: `php -q file`.
        let takes_file = self.operand_spec().is_some_and(|spec| spec.first.first() == Some(&Use::Execute));
        if self.before != Before::Other && !takes_file {
            self.before = Before::Other;
            self.note(index, 0, None, None);
            return true;
        }
        self.line.unknown_verb = true;
        false
    }

    /// Sets the uses of the operands, and of the values that the given flags change.
    fn assign_operands(&mut self) {
        let all = self.line.path.iter().rev();
        let changed = all.flat_map(|entry| entry.with.iter().map(move |(flags, changed)| (*entry, flags, changed)));
        let changed: Vec<_> = changed.filter(|(_, flags, _)| flags.iter().any(|name| self.is_begun(name))).collect();
        self.line.reveals_by_flag = changed.iter().any(|(_, _, change)| change.reveals);
        for (_, _, change) in &changed {
            for used in self.line.uses.iter_mut().filter(|used| used.option.is_some()) {
                let option = change.options.iter().find(|option| used.option == Some(option.name.as_ref()));
                used.takes = option.map_or(used.takes, |option| Some(option.takes));
            }
        }
        let changed = changed.iter().find_map(|(entry, _, change)| Some((*entry, change.operands.as_ref()?)));
        let told = self.line.path.iter().rev().find_map(|entry| Some((*entry, entry.operands.as_ref()?)));
        let Some((entry, spec)) = changed.or(told) else { return };
        // `sed -e s/a/b/ file`: with the code in an option, the first operand is the second one of the entry.
        let replaces = |used: &WordUse| used.option.is_some_and(|option| entry.first.iter().any(|name| name == option));
        let skip = self.has_program(spec)
            || self.line.uses.iter().any(replaces)
            || entry.first.iter().any(|name| self.is_given(name));
        let first = spec.first.get(usize::from(skip)..).unwrap_or_default();
        let last_from = self.operands.saturating_sub(spec.last.len()).max(first.len().min(self.operands));
        // The operands are in the order of their uses.
        let operands = self.line.uses.iter_mut().filter(|used| !used.by_option);
        for (position, used) in operands.enumerate() {
            let takes = match position {
                position if position >= last_from && !spec.last.is_empty() => {
                    spec.last.get(position - last_from).copied()
                }
                position if position < first.len() => first.get(position).copied(),
                _ => spec.rest,
            };
            used.takes = takes.filter(|takes| *takes != Use::Unknown);
        }
    }
}

/// Whether an entry has verbs that are not options.
fn has_verbs(entry: &Entry) -> bool {
    // Options that are verbs come first.
    entry.verbs.last().is_some_and(|verb| !verb.is_option())
}

/// `NAME=VALUE`: a name may contain anything but the sign itself.
fn is_setting(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| !name.is_empty() && !name.starts_with('-'))
}

/// Whether a word names a version or a toolchain: `20`, `v20.1`, `lts/iron`, `nightly-2026-01-01`, `node@20`.
fn is_version(word: &str) -> bool {
    const CHANNELS: [&str; 9] = ["stable", "nightly", "beta", "default", "node", "system", "iojs", "latest", "current"];
    let text = word.trim_start_matches(['v', '+']);
    let is_channel =
        |name: &&str| text.strip_prefix(*name).is_some_and(|rest| rest.is_empty() || rest.starts_with('-'));
    text.starts_with(|c: char| c.is_ascii_digit())
        || word.starts_with('+')
        || text.starts_with("lts/")
        || text.contains('@')
        || CHANNELS.iter().any(is_channel)
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
