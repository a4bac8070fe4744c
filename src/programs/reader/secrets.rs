//! Whether the words of a command ask for credentials to be printed.
//!
//! An entry lists the verbs that its author knows. Clients of hosted services have thousands of verbs, which their entries
//! describe by patterns such as `* get-*`: of those the words decide.

use super::super::code::{
    SECRETS_ACTIONS, SECRETS_EXEMPT, SECRETS_FLAGS, SECRETS_NOUNS, SECRETS_PAIRS, SECRETS_PRINTED, SECRETS_SETTINGS,
    SECRETS_TABLES, SECRETS_WHOLES, lists,
};
use super::super::command_line::{WordUse, is_off};
use super::super::entry::Entry;
use super::Reader;
use super::effect::is_verb;

impl Reader<'_> {
    /// Whether a flag or, for a hosted service, the verb or the selected parts say that credentials are printed.
    pub(super) fn asks_for_secrets(&self) -> bool {
        let is_hosted = self.line.path.first().is_some_and(|entry| entry.hosted);
        self.has_revealing_flag() || is_hosted && (self.verbs_name_secret() || self.shows_settings())
    }

    /// Whether a description shows the settings of a workload: as a whole, or because an option selects them.
    fn shows_settings(&self) -> bool {
        let value =
            |used: &WordUse| self.words.get(used.word).and_then(|word| word.get(used.start..)).unwrap_or_default();
        let given = |names: &'static [&'static str]| {
            self.line.uses.iter().filter(move |used| used.option.is_some_and(|name| names.contains(&name))).map(value)
        };
        // `--format 'value(status.url)'` of gcloud selects as `--query` of the others does.
        let queries = given(&["--query"]).chain(given(&["--format"]).filter(|format| format.contains('(')));
        let mut selects = false;
        for query in queries {
            selects = true;
            if selects_settings(query) {
                return true;
            }
        }
        let has_tables =
            self.line.path.first().is_some_and(|entry| entry.names.iter().any(|name| lists(&SECRETS_TABLES, name)));
        let shows_little = |format: &str| match format {
            "table" => has_tables,
            "name" | "id" | "disable" | "none" => true,
            _ => false,
        };
        let tabular = given(&["--format", "-o", "--output"]).next_back().is_some_and(shows_little);
        let formats = given(&["--format"]).next().is_some();
        // Without a format, gcloud prints a table or a summary.
        let has_columns = self.value_option("--format").is_some() && !formats;
        let describes = self.line.path.iter().any(|entry| entry.describes);
        describes && !selects && !tabular && !has_columns
    }

    /// `--show-secrets`, `--populate-secrets true`. A flag that the entry lists means what the entry says.
    fn has_revealing_flag(&self) -> bool {
        self.line.flags.iter().filter(|flag| flag.start == 0).any(|flag| {
            let word = self.words.get(flag.word).copied().unwrap_or_default();
            let name = word.get(..flag.end).unwrap_or_default();
            lists(&SECRETS_FLAGS, name) && !is_off(word) && !self.is_flag(name)
        })
    }

    /// Whether verbs that the entry knows only by a pattern say that credentials are printed: `GetSecretValue`,
    /// `dps connection-string show`.
    fn verbs_name_secret(&self) -> bool {
        let is_pattern = |name: &str| name.contains('*');
        let mut verbs = self.line.path.iter().skip(1);
        let by_pattern = verbs.any(|verb| verb.names.first().is_some_and(|name| is_pattern(name)));
        // Behind an option that is listed as a verb stands its value, and the entry tells what that means.
        let is_option = |verb: &&Entry| verb.names.first().is_some_and(|name| name.starts_with('-'));
        if self.line.path.iter().skip(1).any(is_option) {
            return false;
        }
        let is_unknown = self.line.unknown_verb;
        if !by_pattern && !self.by_pattern && !is_unknown {
            return false;
        }
        let word = |index: usize| self.words.get(index).copied().unwrap_or_default();
        let operands = self.line.uses.iter().filter(|used| !used.by_option && is_unknown);
        let operands = operands.map(|used| word(used.word)).take_while(|word| is_verb(word));
        let (mut has_noun, mut acts, mut is_listed, mut is_printed) = (false, false, false, false);
        for verb in self.line.verbs.iter().map(|index| word(*index)).chain(operands) {
            let parts = parts(verb);
            let pair = |pair: &[String]| matches!(pair, [first, second] if lists(&SECRETS_PAIRS, &format!("{first} {second}")));
            if parts.iter().any(|part| lists(&SECRETS_EXEMPT, part)) {
                continue;
            }
            has_noun |= parts.iter().any(|part| lists(&SECRETS_NOUNS, part)) || parts.windows(2).any(pair);
            is_printed |= parts.iter().any(|part| lists(&SECRETS_PRINTED, part)) || verb.contains("connection-string");
            acts |= parts.iter().any(|part| lists(&SECRETS_ACTIONS, part));
            is_listed |= parts.iter().any(|part| matches!(part.as_str(), "list" | "describe" | "config"));
        }
        has_noun && (acts || is_listed && is_printed)
    }
}

/// Whether a query of JMESPath or a format of gcloud selects settings, parts that hold them, or all.
fn selects_settings(query: &str) -> bool {
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    let mut rest = query;
    let mut names = 0_usize;
    while let Some(start) = rest.find(is_name) {
        let from = rest.get(start..).unwrap_or_default();
        let end = from.find(|c| !is_name(c)).unwrap_or(from.len());
        let (name, behind) = from.split_at(end);
        // `Functions[0].Name`: what stands in the brackets is a condition or a number.
        let mut next = behind;
        while let Some(inner) =
            next.strip_prefix('[').filter(|inner| !inner.starts_with(|c| is_name(c) && !c.is_ascii_digit()))
        {
            let Some((_, after)) = inner.split_once(']') else { break };
            next = after;
        }
        // `{name:Path.To.It}`: a label.
        let is_label = next.starts_with([':', '(']);
        let is_last = !is_label && !next.starts_with('.') || next.starts_with(".*");
        let lower = name.to_ascii_lowercase();
        names += usize::from(name.starts_with(|c: char| c.is_ascii_alphabetic()));
        let is_whole = next.starts_with(".*") || next.len() < behind.len() && next.is_empty();
        if !is_label && lists(&SECRETS_SETTINGS, &lower) || is_last && (lists(&SECRETS_WHOLES, &lower) || is_whole) {
            return true;
        }
        rest = next;
    }
    names == 0 || selects_node(query)
}

/// Whether a query selects all of what it has reached: `{all: @}`. In `length(@)` the sign is an argument.
fn selects_node(query: &str) -> bool {
    query.match_indices('@').any(|(at, _)| {
        let before = query.get(..at).unwrap_or_default().trim_end();
        let behind = query.get(at + 1..).unwrap_or_default().trim_start();
        (before.is_empty() || before.ends_with([':', ',', '[', '|']))
            && (behind.is_empty() || behind.starts_with([',', '}', ']']))
    })
}

/// The words in a verb, in lower case and singular: `list-admin-keys`, `GetSecretValue`, `config:get`.
fn parts(verb: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    let mut was_lower = false;
    for c in verb.chars() {
        let is_break = !c.is_ascii_alphanumeric() || c.is_ascii_uppercase() && was_lower;
        if is_break && parts.last().is_some_and(|part| !part.is_empty()) {
            parts.push(String::new());
        }
        was_lower = c.is_ascii_lowercase() || c.is_ascii_digit();
        if let (true, Some(part)) = (c.is_ascii_alphanumeric(), parts.last_mut()) {
            part.push(c.to_ascii_lowercase());
        }
    }
    let singular = |part: String| match part.strip_suffix('s') {
        Some(stem) if stem.len() > 2 && !stem.ends_with(['s', 'u']) => stem.to_owned(),
        _ => part,
    };
    parts.into_iter().map(singular).collect()
}
