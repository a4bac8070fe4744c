//! Whether the words of a command ask for credentials to be printed.
//!
//! An entry lists the verbs that its author knows. Clients of hosted services have thousands of verbs, which their entries
//! describe by patterns such as `* get-*`: of those the words decide.

use super::super::code::{
    SECRETS_ACTIONS, SECRETS_EXEMPT, SECRETS_FLAGS, SECRETS_NOUNS, SECRETS_PAIRS, SECRETS_PRINTED, lists,
};
use super::super::command_line::is_off;
use super::Reader;
use super::effect::is_verb;

impl Reader<'_> {
    /// Whether a flag or, for a hosted service, the verb says that credentials are printed.
    pub(super) fn asks_for_secrets(&self) -> bool {
        self.has_revealing_flag() || self.line.path.first().is_some_and(|entry| entry.hosted) && self.verbs_name_secret()
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
        if !by_pattern && !self.line.unknown_verb {
            return false;
        }
        let word = |index: usize| self.words.get(index).copied().unwrap_or_default();
        let operands = self.line.uses.iter().filter(|used| !used.by_option && self.line.unknown_verb);
        let operands = operands.map(|used| word(used.word)).take_while(|word| is_verb(word));
        let (mut has_noun, mut acts, mut is_listed, mut is_printed) = (false, false, false, false);
        for verb in self.line.verbs.iter().map(|index| word(*index)).chain(operands) {
            let parts = parts(verb);
            let pair = |pair: &[String]| matches!(pair, [first, second] if lists(&SECRETS_PAIRS, &format!("{first} {second}")));
            if parts.iter().any(|part| lists(&SECRETS_EXEMPT, part)) {
                return false;
            }
            has_noun |= parts.iter().any(|part| lists(&SECRETS_NOUNS, part)) || parts.windows(2).any(pair);
            is_printed |= parts.iter().any(|part| lists(&SECRETS_PRINTED, part)) || verb.contains("connection-string");
            acts |= parts.iter().any(|part| lists(&SECRETS_ACTIONS, part));
            is_listed |= parts.iter().any(|part| matches!(part.as_str(), "list" | "describe" | "config"));
        }
        has_noun && (acts || is_listed && is_printed)
    }
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
