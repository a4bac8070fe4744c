//! What a command line does, once its words are read.

use super::super::code::{VERBS_EXECUTION, VERBS_REMOVAL, VERBS_TARGETS, lists};
use super::super::command_line::{CommandLine, FlagUse, WordUse, is_off};
use super::super::entry::{Does, Entry};
use super::{HELP, Reader, fits, has_verbs};
use crate::encoding::address::Address;

impl Reader<'_> {
    pub(super) fn finish(mut self) -> CommandLine {
        // The value of an abbreviated option is noted before the word itself is read.
        self.line.uses.sort_by_key(|used| used.word);
        self.assign_operands();
        let mut recursive = self.line.path.iter().rev().filter(|entry| !entry.recursive.is_empty());
        let told = recursive.next().map(|entry| entry.recursive.iter().any(|name| name == "*" || self.is_begun(name)));
        self.line.recursive = told;
        let is_dry = |name: &str| self.is_given(name) && !self.is_undone(name) && self.is_only_value(name);
        let dry = self.line.path.iter().any(|entry| entry.dry.iter().any(|name| is_dry(name))) && !self.executes();
        // Without the verb that it expects, a program prints its help.
        let is_bare = self.line.flags.is_empty() && self.line.uses.is_empty() && self.line.command.is_none();
        // `* list`: a word that only fits `*` may be the verb itself.
        let is_named = |entry: &Entry| !entry.names.first().is_some_and(|name| name.contains('*'));
        let expects_verb =
            |entry: &Entry| has_verbs(entry) && is_named(entry) && (entry.does.is_none() || self.line.path.len() == 1);
        let lacks_verb = is_bare && self.deepest().is_some_and(expects_verb);
        let named = self.line.path.iter().rev().find_map(|entry| entry.does);
        let named = if lacks_verb { named.min(Some(Does::Work)) } else { named };
        let named = if self.removes_by_unlisted_verb(named) { Some(Does::Lose) } else { named };
        let is_local = self.is_local(named);
        self.line.elsewhere = named.filter(|_| is_local);
        let named = if is_local { Some(Does::Work) } else { named };
        let is_remote = self.is_remote();
        let raised = self.line.path.iter().flat_map(|entry| entry.flags.iter());
        // `kubectl --context kind-x delete pod --all`: the value of the option says where all of it is.
        let is_named_local =
            is_local && self.line.path.iter().any(|entry| entry.local.iter().any(|name| name.contains('=')));
        let raised = raised.filter(|(_, does)| !(is_named_local && *does == Does::Destroy));
        let raised = raised.filter(|(name, _)| self.is_begun(name)).map(|(_, does)| *does).max();
        let asks_help = self.asks_help();
        let helps = asks_help || self.asks_version();
        // `cargo yank --version 1.0.0`: with a verb, the flag may be one that takes a value.
        let is_certain = asks_help || self.line.path.len() == 1;
        let is_alone = self.line.uses.is_empty() && self.line.command.is_none() && !self.line.unknown_verb;
        self.line.only_helps = helps && is_certain && is_alone;
        self.line.asks_for_secrets = self.asks_for_secrets();
        let does = match named.max(raised) {
            Some(Does::Work) if is_remote => Some(Does::Change),
            Some(Does::Lose) if is_remote => Some(Does::Destroy),
            does => does,
        };
        self.line.does = if dry || helps { Some(Does::Look) } else { does };
        self.line
    }

    /// Whether `--help` makes the program print its help: directly behind the program or a verb, or as the last word. Behind
    /// an option that the entry does not list it may be the value of that.
    fn asks_help(&self) -> bool {
        self.bare_flags("--help").any(|at| {
            let before = at.checked_sub(1);
            let is_verb = before.is_none_or(|before| self.line.verbs.contains(&before));
            is_verb || at + 1 == self.words.len() && !before.is_some_and(|before| self.may_take_value(before))
        })
    }

    /// Whether `--version` makes the program print its version. With an operand or the value of an option it may be an
    /// option with a value: `gcloud app deploy --version v2`.
    fn asks_version(&self) -> bool {
        let is_alone = self.line.uses.is_empty() && self.line.command.is_none();
        is_alone
            && self.bare_flags("--version").any(|at| {
                let before = at.checked_sub(1);
                !self.line.verbs.iter().any(|verb| *verb > at)
                    && !before.is_some_and(|before| self.may_take_value(before))
            })
    }

    /// The indices of the words that are this flag, without a value.
    fn bare_flags<'s>(&'s self, name: &'s str) -> impl Iterator<Item = usize> + 's {
        let is = move |flag: &&FlagUse| flag.start == 0 && self.words.get(flag.word).is_some_and(|word| *word == name);
        self.line.flags.iter().filter(is).map(|flag| flag.word)
    }

    /// Whether a word is an option that may take the next word as its value, as far as the entry tells.
    fn may_take_value(&self, index: usize) -> bool {
        let word = self.words.get(index).copied().unwrap_or_default();
        word.len() > 1 && word.starts_with('-') && !word.contains('=') && !HELP.contains(&word) && !self.is_flag(word)
    }

    /// Whether a flag says that what another one would only show is done: `--print --execute`.
    fn executes(&self) -> bool {
        self.line.flags.iter().filter(|flag| flag.start == 0).any(|flag| {
            let word = self.words.get(flag.word).copied().unwrap_or_default();
            let name = word.get(..flag.end).unwrap_or_default();
            let is_dry = |entry: &&Entry| entry.dry.iter().any(|dry| dry == name);
            lists(&VERBS_EXECUTION, name) && !is_off(word) && !self.line.path.iter().any(is_dry)
        })
    }

    /// Whether an option that is dry with a value has no other value, and no option names a target besides:
    /// `--network=hardhat --network mainnet`, `--env=testing --database=prod`.
    fn is_only_value(&self, name: &str) -> bool {
        let Some((option, _)) = name.split_once('=') else { return true };
        let is_dry = |value: &str| {
            let mut dry = self.line.path.iter().flat_map(|entry| entry.dry.iter());
            dry.any(|name| name.split_once('=') == Some((option, value)))
        };
        let mut uses = self.line.uses.iter().filter(|used| used.option == Some(option));
        uses.all(|used| self.words.get(used.word).and_then(|word| word.get(used.start..)).is_some_and(is_dry))
            && self.bare_flags(option).next().is_none()
            && !self.line.flags.iter().any(|flag| {
                let name = self.words.get(flag.word).and_then(|word| word.get(..flag.end)).unwrap_or_default();
                flag.start == 0 && lists(&VERBS_TARGETS, name)
            })
    }

    /// Whether a flag is taken back: `--dry-run --no-dry-run`, `--dry-run=client --dry-run=none`.
    fn is_undone(&self, name: &str) -> bool {
        let flags = self.line.flags.iter().filter(|flag| flag.start == 0);
        flags.filter_map(|flag| Some((flag, self.words.get(flag.word)?))).any(|(flag, word)| {
            let given = word.get(..flag.end).unwrap_or_default();
            let opposite = name.strip_prefix("--").zip(given.strip_prefix("--no-"));
            given == name && is_off(word) || opposite.is_some_and(|(bare, taken)| bare == taken)
        })
    }

    /// Whether a verb that no entry lists says that something is removed, where the entry would leave that to `work`.
    fn removes_by_unlisted_verb(&self, named: Option<Does>) -> bool {
        let is_mild = matches!(named, Some(Does::Look | Does::Work));
        if !is_mild || !self.line.unknown_verb || self.line.command.is_some() {
            return false;
        }
        let operands = self.line.uses.iter().filter(|used| !used.by_option);
        let mut verbs = operands.filter_map(|used| self.words.get(used.word).copied()).take_while(|word| is_verb(word));
        verbs.any(removes)
    }

    /// Whether an option before the verb names another machine that does the work: `docker --context prod rm x`.
    fn is_remote(&self) -> bool {
        let Some(entry) = self.line.path.first().filter(|entry| !entry.remote.is_empty()) else { return false };
        let end = self.line.verbs.first().copied().unwrap_or(self.words.len());
        let value =
            |used: &WordUse| self.words.get(used.word).and_then(|word| word.get(used.start..)).unwrap_or_default();
        let is_this = |wanted: &str, text: &str| match wanted {
            "nearby" => Address::parse(text).is_this_machine(),
            _ => fits(wanted, text),
        };
        self.line.uses.iter().filter(|used| used.word < end).any(|used| {
            let mut settings = entry.remote.iter().filter_map(|name| name.split_once('='));
            let of_option = settings.clone().any(|(option, _)| used.option == Some(option));
            of_option && !settings.any(|(option, wanted)| used.option == Some(option) && is_this(wanted, value(used)))
        })
    }

    /// Whether the options say that a change or a removal is one of this machine. Each listed option that is given must say so.
    fn is_local(&self, named: Option<Does>) -> bool {
        let Some(does) = named.filter(|does| matches!(does, Does::Change | Does::Destroy)) else { return false };
        let Some(entry) = self.line.path.iter().rev().find(|entry| !entry.local.is_empty()) else { return false };
        let value =
            |used: &WordUse| self.words.get(used.word).and_then(|word| word.get(used.start..)).unwrap_or_default();
        let is_here = |text: &str| Address::parse(text).is_this_machine() && !text.contains(['$', '`', ',', ' ']);
        // A name without a dot may be that of a server elsewhere.
        let is_near = |text: &str| is_here(text) || does == Does::Change && Address::parse(text).is_nearby();
        let says = |wanted: &str, text: &str| if wanted == "nearby" { is_near(text) } else { fits(wanted, text) };
        let settings = || entry.local.iter().filter_map(|name| name.split_once('='));
        let given = |option: &str| settings().any(|(name, _)| name == option);
        let fitting = |option: &str, text: &str| settings().any(|(name, wanted)| name == option && says(wanted, text));
        let mut is_local = entry.local.iter().any(|name| !name.contains('=') && self.is_given(name));
        for used in &self.line.uses {
            match used.option {
                Some(option) if given(option) && fitting(option, value(used)) => is_local = true,
                Some(option) if given(option) => return false,
                // `nmap localhost`
                None if !used.by_option && entry.local.iter().any(|name| name == "nearby") => {
                    if !is_here(value(used)) {
                        return false;
                    }
                    is_local = true;
                }
                // An address elsewhere says more than a name: `--context kind-dev --server https://prod.example`.
                _ if value(used).contains("://") && !is_near(value(used)) => return false,
                _ => {}
            }
        }
        is_local
    }
}

/// Whether a word may be a verb, or a noun before one: not a path, a file, an address or a text.
pub(super) fn is_verb(word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_alphabetic())
        && word.chars().all(|c| c.is_ascii_alphanumeric() || "-_:".contains(c))
}

/// Whether a part of a verb says that something is removed: `delete`, `bulk-delete`, `db:wipe`, `deleteUser`.
fn removes(verb: &str) -> bool {
    let is_listed = |part: &str| VERBS_REMOVAL.iter().any(|word| part.eq_ignore_ascii_case(word));
    let hump = verb.char_indices().skip(1).find(|(_, c)| c.is_ascii_uppercase()).map_or(verb.len(), |(at, _)| at);
    verb.split(['-', '_', ':']).chain(verb.get(..hump)).any(is_listed)
}
