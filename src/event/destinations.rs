//! Destinations: where a call of an MCP tool sends something, and the containers of what it reads or changes.
//!
//! Arguments hold destinations by their name (`recipient`, `channelId`) or by the shape of their value (mail addresses,
//! URLs, host names, account numbers, mentions), wherever they stand: a link in a text is a destination too.

use crate::encoding::words;
use serde_json::Value;
use std::collections::BTreeSet;

// `NAMES_WHOLE`, `NAMES_WORDS`, `NAMES_EXCEPT`, `CONTAINERS_OWNER`, and so on.
include!(concat!(env!("OUT_DIR"), "/destinations.rs"));

/// The fewest characters of an account number (IBAN), and digits of a telephone number.
const MIN_IBAN_CHARS: usize = 15;
const MIN_PHONE_DIGITS: usize = 7;

/// The length from which a word counts within another one.
const MIN_FUSED_CHARS: usize = 7;

/// The destinations and containers of one call.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Destinations {
    /// The destinations, as sequences of tokens joined by blanks.
    all: BTreeSet<String>,
    /// The destinations that only name a container.
    of_container: BTreeSet<String>,
    /// The containers, each after its kind: `repo:owner/name`.
    containers: BTreeSet<String>,
    /// All texts and numbers, except for dates and times.
    values: BTreeSet<String>,
    /// The names of what the call creates.
    created: BTreeSet<String>,
}

impl Destinations {
    /// Finds the destinations in the arguments of a call. Arguments that cannot be read have none.
    pub fn of(arguments: &[u8]) -> Destinations {
        let mut found = Destinations::default();
        let Ok(arguments) = serde_json::from_slice::<Value>(arguments) else { return found };
        found.find_values(&arguments);
        let skipped = found.find_containers(&arguments);
        if let Value::Object(members) = &arguments {
            for (name, value) in members {
                if NAMES_CREATED.contains(&words::of_name(name).join(" ").as_str()) {
                    found.created.extend(scalar(value));
                }
                if !skipped.contains(&name.as_str()) {
                    found.visit(value, is_destination_name(name));
                }
            }
        }
        found
    }

    /// Whether no destination was recognised.
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// All destinations.
    pub fn all(&self) -> impl Iterator<Item = &str> {
        self.all.iter().map(String::as_str)
    }

    /// The destinations besides those that only name a container.
    pub fn besides_containers(&self) -> impl Iterator<Item = &str> {
        self.all.difference(&self.of_container).map(String::as_str)
    }

    /// The containers.
    pub fn containers(&self) -> impl Iterator<Item = &str> {
        self.containers.iter().map(String::as_str)
    }

    /// All texts and numbers in the arguments, except for dates and times.
    pub fn values(&self) -> impl Iterator<Item = &str> {
        self.values.iter().map(String::as_str)
    }

    /// The names of what the call creates: titles and files.
    pub fn created(&self) -> impl Iterator<Item = &str> {
        self.created.iter().map(String::as_str)
    }

    fn find_values(&mut self, value: &Value) {
        match value {
            Value::Object(members) => members.values().for_each(|value| self.find_values(value)),
            Value::Array(items) => items.iter().for_each(|item| self.find_values(item)),
            Value::String(_) | Value::Number(_) => {
                self.values.extend(scalar(value).filter(|text| !is_date(text)));
            }
            Value::Bool(_) | Value::Null => {}
        }
    }

    /// Finds the containers among the arguments, and returns the names of those that hold nothing else.
    fn find_containers<'v>(&mut self, arguments: &'v Value) -> Vec<&'v str> {
        let Value::Object(members) = arguments else { return Vec::new() };
        let named = |list: &[&str]| {
            let is_named = |name: &String| list.contains(&words::of_name(name).join("_").as_str());
            let mut members = members.iter().filter_map(|(name, value)| Some((name.as_str(), scalar(value)?)));
            members.find(|(name, _)| is_named(&(*name).to_owned()))
        };
        let (owner, repository) = (named(&CONTAINERS_OWNER), named(&CONTAINERS_REPOSITORY));
        let repository = repository.map(|(name, value)| match &owner {
            Some((owner_name, owner)) => (vec![*owner_name, name], format!("{owner}/{value}")),
            None => (vec![name], value),
        });
        let single = |found: Option<(&'v str, String)>| found.map(|(name, value)| (vec![name], value));
        let mut skipped = Vec::new();
        for (kind, found) in [
            ("repo", repository),
            ("project", single(named(&CONTAINERS_PROJECT))),
            ("team", single(named(&CONTAINERS_TEAM))),
            ("issue", single(named(&CONTAINERS_ISSUE).or_else(|| issue_key(members)))),
        ] {
            let Some((names, value)) = found else { continue };
            let tokens = tokens(&value).join(" ");
            self.containers.insert(format!("{kind}:{tokens}"));
            self.of_container.insert(tokens.clone());
            self.all.insert(tokens);
            skipped.extend(names);
        }
        skipped
    }

    fn visit(&mut self, value: &Value, is_destination: bool) {
        match value {
            Value::Object(members) => {
                for (name, value) in members {
                    self.text(name, is_destination && is_shaped(name));
                    self.visit(value, is_destination || is_destination_name(name));
                }
            }
            Value::Array(items) => items.iter().for_each(|item| self.visit(item, is_destination)),
            Value::String(text) => self.text(text, is_destination),
            Value::Number(number) if is_destination => self.text(&number.to_string(), true),
            Value::Number(_) | Value::Bool(_) | Value::Null => {}
        }
    }

    fn text(&mut self, text: &str, is_destination: bool) {
        if is_destination {
            for part in text.split([',', ';', '\n']).map(str::trim).filter(|part| !part.is_empty()) {
                // Of `Name <address>` the address counts.
                let inner = part.strip_suffix('>').and_then(|part| part.rsplit_once('<')).map(|(_, inner)| inner);
                let tokens = tokens(inner.unwrap_or(part)).join(" ");
                self.all.insert(if tokens.is_empty() { part.to_owned() } else { tokens });
            }
        }
        // A text in a field for a destination may hold others between its words.
        self.all.extend(pieces(text).filter(|piece| is_shaped(piece)).filter_map(|piece| tokens(piece).pop()));
    }
}

/// The value of a string or a number.
fn scalar(value: &Value) -> Option<String> {
    match value {
        Value::String(text) if !text.trim().is_empty() => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::String(_) | Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    }
}

/// Whether a text is a date or a time in digits.
fn is_date(text: &str) -> bool {
    let is_part = |byte: u8| byte.is_ascii_digit() || b"-:/.+TZ ".contains(&byte);
    text.bytes().all(is_part) && text.contains(['-', ':', '/']) && text.starts_with(|c: char| c.is_ascii_digit())
}

/// A top-level argument with the key of an issue: `ABC-12`.
fn issue_key(members: &serde_json::Map<String, Value>) -> Option<(&str, String)> {
    members.iter().find_map(|(name, value)| {
        let text = value.as_str()?;
        let (project, number) = text.split_once('-')?;
        let is_key = project.starts_with(|c: char| c.is_ascii_uppercase())
            && project.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit())
            && !number.is_empty()
            && number.bytes().all(|byte| byte.is_ascii_digit());
        is_key.then(|| (name.as_str(), text.to_owned()))
    })
}

/// Whether an argument of this name holds a destination.
fn is_destination_name(name: &str) -> bool {
    let words = words::of_name(name);
    let whole = words.join(" ");
    !NAMES_EXCEPT.contains(&whole.as_str())
        && (NAMES_WHOLE.contains(&whole.as_str()) || words.iter().any(|word| is_destination_word(word)))
}

/// Whether a word of a name says that a destination follows. Long words also count within others: `sendtorecipient`.
fn is_destination_word(word: &str) -> bool {
    NAMES_WORDS.contains(&word)
        || NAMES_WORDS.iter().any(|known| known.len() >= MIN_FUSED_CHARS && word.contains(known))
}

/// The pieces of a running text that may be a destination.
fn pieces(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| c.is_whitespace() || c.is_control() || "<>()[]{}\"'`,;|*".contains(c))
        .filter(|piece| !piece.is_empty())
}

/// Whether a value has the shape of a destination.
pub(crate) fn is_shaped(piece: &str) -> bool {
    let piece = piece.trim_end_matches(['.', ':', '!', '?']);
    let is_mention = piece.strip_prefix('@').is_some_and(|name| name.starts_with(char::is_alphanumeric));
    is_mention || piece.contains("://") || is_mail_address(piece) || is_host(piece) || is_iban(piece) || is_phone(piece)
}

fn is_mail_address(piece: &str) -> bool {
    piece.split_once('@').is_some_and(|(user, host)| !user.is_empty() && host.contains('.'))
        || piece.contains("mailto:")
}

fn is_host(piece: &str) -> bool {
    let end = piece.find(['/', '?', '#', ':']).unwrap_or(piece.len());
    let (host, behind) = piece.split_at_checked(end).unwrap_or_default();
    // `main.rs:12` is a place in a file.
    let has_path = behind.len() > 1 && behind.starts_with('/');
    let labels: Vec<&str> = host.split('.').collect();
    let Some((last, others)) = labels.split_last().filter(|(_, others)| !others.is_empty()) else { return false };
    let is_plain = others.iter().all(|label| !label.is_empty());
    let is_name = last.chars().count() >= 2 && last.chars().all(char::is_alphabetic);
    let is_number = labels.len() == 4 && labels.iter().all(|label| label.parse::<u8>().is_ok());
    let begins = host.get(..4).is_some_and(|begin| begin.eq_ignore_ascii_case("www."));
    let is_listed = HOSTS_ENDINGS.contains(&last.to_ascii_lowercase().as_str());
    is_plain && (is_number || begins || is_name && (is_listed || has_path))
}

fn is_iban(piece: &str) -> bool {
    let bytes = piece.as_bytes();
    let begin = |range: std::ops::Range<usize>, test: fn(&u8) -> bool| {
        bytes.get(range).is_some_and(|part| part.iter().all(test))
    };
    bytes.len() >= MIN_IBAN_CHARS
        && begin(0..2, u8::is_ascii_alphabetic)
        && begin(2..4, u8::is_ascii_digit)
        && bytes.iter().all(u8::is_ascii_alphanumeric)
        && bytes.iter().filter(|byte| byte.is_ascii_digit()).count() * 2 > bytes.len()
}

fn is_phone(piece: &str) -> bool {
    let digits = piece.bytes().filter(u8::is_ascii_digit).count();
    piece.starts_with('+')
        && digits >= MIN_PHONE_DIGITS
        && piece.bytes().skip(1).all(|byte| byte.is_ascii_digit() || b"-./".contains(&byte))
}

/// The tokens of a text, by which destinations are compared with what was typed: words in lower case, without
/// punctuation around them, and without the scheme of a URL. Letters outside of ASCII are kept as they are, so that
/// look-alikes differ.
pub(crate) fn tokens(text: &str) -> Vec<String> {
    pieces(text).map(token).filter(|token| !token.is_empty()).collect()
}

fn token(piece: &str) -> String {
    let piece = piece.trim_matches(|c: char| ".:!?#@\u{201c}\u{201d}\u{2018}\u{2019}\u{2026}".contains(c));
    let lower = piece.to_ascii_lowercase();
    let plain = lower.strip_prefix("mailto:").unwrap_or(&lower);
    // What precedes an `@` in a URL is a user, so that it is no mail address.
    let without_scheme = plain.strip_prefix("https://").or_else(|| plain.strip_prefix("http://"));
    let plain = without_scheme.filter(|plain| !plain.contains('@')).unwrap_or(plain);
    plain.trim_end_matches('/').to_owned()
}

#[cfg(test)]
#[path = "../../tests/unit/event/destinations.rs"]
mod tests;
