//! Protected files that a command names without the catalogue telling what it does with them.
//!
//! A word of unknown use that names a protected file counts as the worst use of it: a write for settings and start-up
//! files, a read for keys. The same holds for each part of a word behind `=`, `:`, `,`, `@` or `file://`, for a value
//! in a cluster such as `-ofile`, and for each word in code of any language.

mod values;

use super::super::{Arg, Command, Input};
use super::{Access, Act, Target, words};
use crate::path::Extent;
use crate::path::protected::{self, Class, WorstUse};
use crate::path::zones::{Area, Zones};
use crate::programs::code::lists;
use crate::programs::{Does, Use, roles};
use crate::verdict::limits::{PATH_BYTES, SHELL_STEPS};
use compact_str::CompactString;
use std::cell::LazyCell;
use std::collections::{BTreeMap, BTreeSet};

/// Bytes of a path that is compared with the protected paths in one step.
const PATH_BYTES_PER_STEP: usize = 2;

/// What comparing the patterns of an address with the protected paths costs in steps.
const ADDRESS_STEPS: usize = 4_000;

/// What decoding a byte of an address costs in steps.
const ADDRESS_BYTE_STEPS: usize = 24;

/// What comparing the path of a module with the protected paths costs in steps.
const MODULE_STEPS: usize = 100;

/// What the words of a command may be used for, beyond what is known.
pub(super) struct Mentions {
    pub(super) accesses: Vec<Access>,
    /// The steps that are spent after this command.
    pub(super) steps: usize,
    /// Whether there was more to look at than the steps allow.
    pub(super) exceeded: bool,
}

/// The uses that a command's words may be put to, beyond those that are known. `steps` are spent before.
pub(super) fn of_command(
    command: &Command,
    row: Option<usize>,
    known: &[Access],
    zones: &Zones,
    steps: usize,
) -> Mentions {
    let line = command.parsed.as_deref();
    let (explained, seen) = (None, BTreeSet::new());
    let mentions = Mentions { accesses: Vec::new(), steps, exceeded: false };
    let mut finder = Finder { command, row, known, zones, explained, seen, mentions };
    // A command may have thousands of words and accesses.
    let accessed = LazyCell::new(|| known.iter().map(|access| access.target.text.as_str()).collect::<BTreeSet<_>>());
    for (index, arg) in command.args.iter().enumerate() {
        if line.and_then(|line| line.command).is_some_and(|start| index >= start) {
            break;
        }
        let option = index.checked_sub(1).and_then(|before| command.args.get(before)).map_or("", |arg| &arg.text);
        let option = if option.starts_with('-') { option } else { "" };
        let uses = line.map(|line| line.uses_of(index)).unwrap_or_default();
        // A word without a use is a verb, or an option without a known value.
        if uses.is_empty() && (line.is_none() || arg.text.starts_with('-')) {
            finder.word(arg, option);
        }
        for used in uses {
            let Some((start, value)) = arg.text.get(..used.start).and_then(|start| Some((start, arg.behind(start)?)))
            else {
                continue;
            };
            match used.takes {
                Some(Use::Code) => finder.code(&value.text),
                Some(Use::Read | Use::Send | Use::Execute) => {
                    finder.path(&value, Act::Read);
                    // `curl -w @file`: the sign is not a part of the name.
                    if let Some(file) = value.behind("@") {
                        finder.path(&file, Act::Read);
                    }
                }
                Some(Use::Write | Use::Redirect | Use::Replace | Use::Empty | Use::Remove) => {
                    finder.path(&value, Act::Write)
                }
                Some(Use::Into) => finder.directory(&value),
                Some(Use::Directory) if line.is_some_and(|line| line.does != Some(Does::Look)) => {
                    finder.directory(&value);
                }
                Some(
                    Use::Text
                    | Use::List
                    | Use::Match
                    | Use::Load
                    | Use::Run
                    | Use::To
                    | Use::From
                    | Use::Variable
                    | Use::Rights
                    | Use::Unknown
                    | Use::Directory,
                ) => finder.trusted(&value, used, if start.is_empty() { option } else { start }),
                None => {
                    finder.word(&value, if start.is_empty() { option } else { start });
                    // Files may be written into a directory of which neither the entry nor a parser tells the use.
                    let is_open = known.is_empty() || value.text.starts_with(['/', '~']);
                    if !used.by_option
                        && is_open
                        && line.is_some_and(|line| line.does != Some(Does::Look))
                        && !lists(&roles::FILES_RIGHTS, &command.program)
                        && !accessed.contains(value.text.as_str())
                    {
                        finder.directory(&value);
                    }
                }
            }
            // The word may be the value of an option that the entry does not list.
            if used.doubtful && line.is_some_and(|line| line.does != Some(Does::Look)) {
                finder.doubtful(&value, option);
            }
        }
    }
    // In zsh, `>! file` is a redirection to the file.
    if command.redirects.iter().any(|redirect| redirect.writes && redirect.target.text == "!") {
        command.args.iter().for_each(|arg| finder.path(arg, Act::Write));
    }
    for (name, value) in &command.env {
        finder.variable(name, value.as_deref());
    }
    let reads_code = line.is_some_and(|line| line.language().is_some());
    if let (Input::Text(text), true) = (&command.input, reads_code) {
        finder.code(text);
    }
    if let Input::Text(text) = &command.input {
        if words::INCLUDES_PROGRAMS.contains(&command.program.as_str()) {
            finder.included(text);
        }
        if words::INCLUDES_FORMATS.contains(&command.program.as_str()) {
            finder.code(text);
        }
    }
    if matches!(command.program.as_str(), "jq" | "jaq" | "gojq") {
        finder.jq_modules();
    }
    if command.program == "yq" {
        command.args.iter().for_each(|arg| {
            finder.included(&arg.text);
            finder.code(&arg.text);
        });
    }
    finder.mentions
}

/// The path of an address with its escapes decoded, and with `*` for the patterns of curl: `{a,b}`, `[1-9]`.
pub(super) fn address_path(path: &str) -> Arg {
    let mut plain = String::new();
    let mut rest = path;
    let last = |close: char| path.rfind(close).unwrap_or_default();
    let (last_brace, last_bracket) = (last('}'), last(']'));
    while let Some(c) = rest.chars().next() {
        let at = path.len() - rest.len();
        let number = rest.get(1..3).filter(|_| c == '%').and_then(|digits| u8::from_str_radix(digits, 16).ok());
        let group = match c {
            '{' if at < last_brace => rest.find('}'),
            '[' if at < last_bracket => rest.find(']'),
            _ => None,
        };
        let (letter, length) = match (number, group) {
            (Some(number), _) => (char::from(number), 3),
            (None, Some(end)) => ('*', end + 1),
            (None, None) => (c, c.len_utf8()),
        };
        plain.push(letter);
        rest = rest.get(length..).unwrap_or_default();
    }
    Arg { glob: plain.contains('*'), ..Arg::literal(plain) }
}

/// Whether an option that names an output may empty a directory before writing into it. `-o` usually names a file.
fn may_empty(option: &str) -> bool {
    !option.trim_end_matches('=').eq_ignore_ascii_case("-o")
}

/// Whether a word tells a program to remove what it has stored: a cache is where a variable says.
fn is_cleaning(word: &str) -> bool {
    let verbs = ["clean", "clear", "cleanup", "gc", "prune", "purge", "remove", "reset", "rm", "uninstall", "wipe"];
    word.trim_start_matches('-').split([':', '-', '_']).any(|part| verbs.contains(&part))
}

/// Whether the value of an option is probably written to.
fn names_output(option: &str) -> bool {
    let name = option.trim_end_matches('=').to_ascii_lowercase();
    name == "-o"
        || words::OUTPUT_PARTS.iter().any(|part| name.starts_with('-') && name.len() > 2 && name.contains(part))
}

struct Finder<'a> {
    command: &'a Command,
    row: Option<usize>,
    known: &'a [Access],
    /// The paths that are accessed for a known reason or found before, and whether they are changed. Filled with `known`
    /// when the first protected path is found, because most commands name none.
    explained: Option<BTreeMap<String, bool>>,
    zones: &'a Zones,
    /// The words that were looked at, how much of them is known, and the options before them. A command may repeat a word
    /// thousands of times.
    seen: BTreeSet<(CompactString, Option<usize>, bool, CompactString)>,
    mentions: Mentions,
}

impl Finder<'_> {
    /// Looks at a word and at the parts of it that may be paths. `option` is the option before it, or empty.
    fn word(&mut self, arg: &Arg, option: &str) {
        if !self.seen.insert((arg.text.clone(), arg.known, arg.glob, option.into())) {
            return;
        }
        if !arg.text.starts_with('-') {
            self.candidate(arg, option);
        } else if !arg.text.starts_with("--") {
            // `-ofile`
            let at = arg.text.char_indices().nth(2).map(|(at, _)| at);
            if let Some((name, value)) =
                at.and_then(|at| arg.text.get(..at)).and_then(|name| Some((name, arg.behind(name)?)))
            {
                self.candidate(&value, name);
            }
        }
        if arg.text.contains(':') {
            self.addresses(&arg.text, option);
        }
        let name = arg.text.split('=').next().filter(|name| name.starts_with('-')).unwrap_or(option);
        for (at, separator) in arg.text.match_indices(['=', ':', ',', '@']) {
            let start = at + separator.len();
            // No path is longer, so the rest of a long word need not be looked at for each of its parts.
            let rest = arg.text.get(start..).unwrap_or_default();
            let longest = (0..=PATH_BYTES.most.min(rest.len())).rev().find(|end| rest.is_char_boundary(*end));
            let rest = rest.get(..longest.unwrap_or_default()).unwrap_or_default();
            let shown = rest.split([',', ':']).next().unwrap_or_default();
            if !self.affords(shown.len() / PATH_BYTES_PER_STEP) {
                break;
            }
            let known = arg.known.map(|known| known.saturating_sub(start)).filter(|known| *known < shown.len());
            let value = Arg { text: shown.trim_start_matches("//").into(), known, glob: arg.glob };
            self.candidate(&value, name);
        }
    }

    /// Looks at the files in addresses: `{file:///a,file:///b}`, `{file,ftp}:///a`.
    pub(super) fn addresses(&mut self, text: &str, option: &str) {
        let mut scheme = "";
        for path in text.split("://") {
            let is_scheme = |c: char| c.is_ascii_alphanumeric() || "{}[],-".contains(c);
            let before =
                std::mem::replace(&mut scheme, path.get(path.trim_end_matches(is_scheme).len()..).unwrap_or(""));
            let is_pattern = before.contains(['{', '[']) && path.starts_with('/');
            if !is_pattern && !before.ends_with("file") {
                continue;
            }
            if !self.affords(ADDRESS_STEPS + ADDRESS_BYTE_STEPS * path.len()) {
                break;
            }
            let shown = path.split(['"', '\'', '`', ' ']).next().unwrap_or_default();
            // A pattern may stand around the address.
            let alone = shown.split([',', '}']).next().unwrap_or_default();
            let alone = Some(alone).filter(|alone| *alone != shown);
            let group = shown.strip_prefix('{').and_then(|group| group.split_once('}'));
            for start in group.into_iter().flat_map(|(starts, _)| starts.split(',')) {
                let rest = group.map_or("", |(_, rest)| rest);
                if self.affords(ADDRESS_STEPS + ADDRESS_BYTE_STEPS * (start.len() + rest.len())) {
                    self.candidate(&address_path(&format!("{start}{rest}")), option);
                }
            }
            for path in std::iter::once(shown).chain(alone) {
                let mut path = address_path(path);
                // The pattern may hold the beginning of the path.
                if path.text.starts_with('*') {
                    path.text = format!("/**/{}", path.text).into();
                }
                self.candidate(&path, option);
            }
        }
    }

    /// Adds a use that the catalogue tells, unless it is already known.
    fn path(&mut self, arg: &Arg, act: Act) {
        let target = Target::of(arg, self.command.cwd.as_deref());
        let Some(path) = target.path.clone() else { return };
        let protected = protected::classes(&path, Extent::Exact, self.zones.home.as_ref()).next().is_some();
        let is_known = |changes: bool| changes || !act.changes();
        if protected && !self.command.is_contained(&path) && !self.explanation(&target).is_some_and(is_known) {
            self.add(Access { act, target, deep: false, astray: false, row: self.row });
        }
    }

    /// Adds a directory that files of unknown names are written into, if that may replace a protected file.
    fn directory(&mut self, arg: &Arg) {
        let target = Target::of(arg, self.command.cwd.as_deref());
        let Some(path) = target.path.clone() else { return };
        let home = self.zones.home.as_ref();
        let holds = |class: Class| class.worst() == WorstUse::Write && class.contains(&path, Extent::Tree, home);
        let above = [Some(&self.zones.project), home].into_iter().flatten();
        let is_above = above.into_iter().any(|known| known.components().starts_with(path.components()));
        let classes = [Class::Guard, Class::Startup, Class::Repository];
        if !is_above && classes.into_iter().any(holds) && !self.command.is_contained(&path) {
            self.add(Access { act: Act::Write, target, deep: true, astray: false, row: self.row });
        }
    }

    /// Looks at the files that a text includes: `#include "x"`, `.so x`, `include::x[]`.
    fn included(&mut self, text: &str) {
        for line in text.lines() {
            // `load("/x" + "/y")`
            let line = &line.replace("\" + \"", "").replace("\"+\"", "");
            let behind = words::INCLUDES_MARKS.iter().flat_map(|mark| line.split(*mark).skip(1));
            for rest in behind {
                let rest = rest.trim_start_matches([' ', '"', '\'', '<', ':', '`']);
                let rest = rest.strip_prefix("file://").unwrap_or(rest);
                let name = rest.split(['"', '\'', '>', '<', ')', '}', '[', ' ', '`']).next().unwrap_or_default();
                let text = match (name.strip_prefix("~/"), &self.zones.home) {
                    (Some(rest), Some(home)) => format!("{home}/{rest}"),
                    _ => name.to_owned(),
                };
                if !text.is_empty() {
                    self.candidate(&Arg::literal(text), "");
                }
            }
        }
    }

    /// Looks at the data that programs of jq import: `jq -L ~ 'import ".x" as $d; $d'`.
    fn jq_modules(&mut self) {
        let args = &self.command.args;
        let texts = || args.iter().map(|arg| arg.text.as_str());
        let behind = |mark: &'static str| {
            texts()
                .flat_map(move |text| text.split(mark).skip(1))
                .filter_map(|rest| rest.trim_start().strip_prefix('"'))
        };
        let name = |rest: &str| rest.split('"').next().unwrap_or_default().to_owned();
        let modules: Vec<String> = behind("import ").chain(behind("include ")).map(name).collect();
        if modules.is_empty() {
            return;
        }
        let options = args.iter().zip(args.iter().skip(1));
        let separate = options.filter(|(option, _)| matches!(option.text.as_str(), "-L" | "--library-path"));
        let separate = separate.map(|(_, directory)| directory.text.to_string());
        let attached = texts().filter_map(|text| text.strip_prefix("-L")).filter(|text| !text.is_empty());
        // `{search: "x"}`, `{"search" : "x"}`
        let searched = texts().flat_map(|text| text.split("search").skip(1)).filter_map(|rest| {
            let rest = rest.strip_prefix('"').unwrap_or(rest).trim_start().strip_prefix(':')?;
            rest.trim_start().strip_prefix('"')
        });
        let searched = searched.map(name);
        let directories: Vec<String> =
            separate.chain(attached.map(str::to_owned)).chain(searched).chain([".".to_owned()]).collect();
        if !self.affords(MODULE_STEPS * modules.len() * directories.len()) {
            return;
        }
        for directory in &directories {
            for module in &modules {
                self.candidate(&Arg::literal(format!("{}/{module}.json", directory.trim_end_matches('/'))), "");
            }
        }
    }

    /// Takes steps for work that has not been done yet, unless there are too few left.
    fn affords(&mut self, steps: usize) -> bool {
        let spent = self.mentions.steps + steps;
        let affords = spent <= SHELL_STEPS.most;
        if affords {
            self.mentions.steps = spent;
        } else {
            self.mentions.exceeded = true;
        }
        affords
    }

    /// Whether a path is changed, if it is already known what is done to it.
    fn explanation(&mut self, target: &Target) -> Option<bool> {
        self.explained().get(&target.text).copied()
    }

    fn explained(&mut self) -> &mut BTreeMap<String, bool> {
        let known = self.known;
        self.explained.get_or_insert_with(|| {
            let mut explained = BTreeMap::new();
            for access in known {
                *explained.entry(access.target.text.clone()).or_default() |= access.act.changes();
            }
            explained
        })
    }

    /// Whether the catalogue says that the command changes nothing.
    fn only_looks(&self) -> bool {
        self.command.parsed.as_deref().is_some_and(|line| line.does == Some(Does::Look))
    }

    fn add(&mut self, access: Access) {
        *self.explained().entry(access.target.text.clone()).or_default() |= access.act.changes();
        self.mentions.accesses.push(access);
    }

    /// Looks at the value of a variable that is set for the command: `GIT_TRACE=~/.bashrc`.
    fn variable(&mut self, name: &str, value: Option<&str>) {
        let Some(value) = value.filter(|value| value.contains('/') && name != "HOME") else { return };
        let target = Target::of(&Arg::literal(value), self.command.cwd.as_deref());
        let Some(path) = target.path.clone() else { return };
        if self.zones.area(&path) == Area::Vital && self.command.args.iter().any(|arg| is_cleaning(&arg.text)) {
            return self.add(Access { act: Act::Remove, target, deep: true, astray: false, row: self.row });
        }
        let class = protected::classes(&path, Extent::Exact, self.zones.home.as_ref()).max();
        if class.is_some_and(|class| class.worst() == WorstUse::Write && class != Class::Credentials) {
            self.add(Access { act: Act::Write, target, deep: false, astray: false, row: self.row });
        }
    }

    /// Looks at every word in code.
    fn code(&mut self, code: &str) {
        self.addresses(code, "");
        let is_path = |c: char| c.is_alphanumeric() || "/._-~+".contains(c);
        // The names of the calls around a word: `s.replace('~/.bashrc', …)` only works on text.
        let is_quote = |c: char| matches!(c, '"' | '\'' | '`');
        let mut calls: Vec<&str> = Vec::new();
        let mut before = "";
        let mut end = 0;
        for word in code.split(|c: char| !is_path(c)) {
            let start = end;
            end += word.len()
                + code.get(start + word.len()..).and_then(|rest| rest.chars().next()).map_or(0, char::len_utf8);
            let separator = code.get(start + word.len()..end).unwrap_or_default();
            let name = if word.is_empty() { before } else { word };
            if separator == "(" {
                calls.push(name.rsplit('.').next().unwrap_or_default());
            } else if separator == ")" {
                calls.pop();
            }
            before = word;
            let in_text_call = calls.last().is_some_and(|call| words::TEXT_CALLS.contains(call));
            // A name without a directory is a file only as a whole literal: `.env` may also be part of a pattern.
            let preceding = code.get(..start).and_then(|text| text.chars().next_back());
            let is_literal =
                preceding.is_some_and(is_quote) && separator.chars().all(is_quote) && !separator.is_empty();
            let is_file = word.contains('/') || word.contains('.') && is_literal;
            if !is_file || in_text_call && separator != "(" {
                continue;
            }
            let text = match (word.strip_prefix("~/"), &self.zones.home) {
                (Some(rest), Some(home)) => format!("{home}/{rest}"),
                _ => word.to_owned(),
            };
            // `HOME + "/.aws/credentials"`: the beginning of the path is computed.
            if let (true, Some(home)) = (word.starts_with("/.") && !word.starts_with("/.."), &self.zones.home) {
                let path = format!("{home}{word}");
                let target = Target::of(&Arg::literal(path.as_str()), None);
                let is_secret = |class| class != Class::ToolSettings;
                if target.path.is_some_and(|path| protected::classes(&path, Extent::Exact, Some(home)).any(is_secret)) {
                    self.candidate(&Arg::literal(path), "");
                }
            }
            self.candidate(&Arg::literal(text), "");
        }
    }

    /// Adds the worst use of a protected path, unless what is done to the path is already known.
    fn candidate(&mut self, arg: &Arg, option: &str) {
        if let Some(access) = self.worst_use(arg, option)
            && self.explanation(&access.target).is_none()
        {
            self.add(access);
        }
    }

    /// Adds the worst use of a protected path, unless something as bad is known to be done to it.
    fn doubtful(&mut self, arg: &Arg, option: &str) {
        if let Some(access) = self.worst_use(arg, option)
            && !self.explanation(&access.target).is_some_and(|changes| changes || !access.act.changes())
        {
            self.add(access);
        }
    }

    /// The worst use of a path, if it is protected or probably an output in a system directory.
    fn worst_use(&self, arg: &Arg, option: &str) -> Option<Access> {
        // A quoted wildcard is one only for programs that expand it themselves.
        let is_path = |c: char| c.is_alphanumeric() || "/._-~+*?[] ".contains(c);
        let is_wild = arg.text.contains(['*', '?', '[']) && !arg.glob;
        if arg.prefix().is_empty() || is_wild && !arg.text.chars().all(is_path) {
            return None;
        }
        let target = Target::of(arg, self.command.cwd.as_deref());
        let path = target.path.as_ref()?;
        let home = self.zones.home.as_ref();
        let class = protected::classes(path, Extent::Exact, home).max();
        let (act, deep) = match (class.map(Class::worst), self.zones.area(path)) {
            (Some(WorstUse::Read), _) => (Act::Read, false),
            (Some(WorstUse::Write), _) => (Act::Write, false),
            (None, Area::System | Area::Vital) if self.only_looks() || !names_output(option) => return None,
            (None, Area::Vital) if may_empty(option) => (Act::Remove, true),
            (None, Area::System | Area::Vital) => (Act::Write, false),
            (None, _) => return None,
        };
        let is_contained = self.command.is_contained(path);
        (!is_contained).then_some(Access { act, target, deep, astray: false, row: self.row })
    }
}
