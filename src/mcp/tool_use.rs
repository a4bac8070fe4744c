//! Whether a call of an MCP tool writes, by the name of the tool, its arguments, and the hints in its approved definition.
//!
//! A tool is a write unless it is shown to read, because a list of writing verbs is never complete.

use crate::encoding::{json, words};
use serde_json::Value;

// The lists of `rules/mcp_tools.toml`, such as `VERBS_READ`.
include!(concat!(env!("OUT_DIR"), "/mcp_tools.rs"));

/// The words that a name may have in front of its verb: `BankManagerPayBill`.
const MAX_PREFIX_WORDS: usize = 4;

/// The words that `*` may stand for in a statement.
const MAX_WORDS_BETWEEN: usize = 6;

/// What the definition of a tool says of its use. Only the definition that a person has approved counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Hints {
    /// Nothing.
    #[default]
    None,
    /// It only reads.
    ReadOnly,
    /// It may destroy something.
    Destructive,
}

impl Hints {
    /// The hints in the definition of a tool.
    pub(crate) fn of(tool: &Value) -> Hints {
        let is_set = |name: &str| tool.pointer(&format!("/annotations/{name}")) == Some(&Value::Bool(true));
        match (is_set("destructiveHint"), is_set("readOnlyHint")) {
            (true, _) => Hints::Destructive,
            (false, true) => Hints::ReadOnly,
            (false, false) => Hints::None,
        }
    }
}

/// Whether a call of this tool of this server writes.
pub(crate) fn is_write(server: &str, tool: &str, arguments: &[u8], hints: Hints) -> bool {
    match hints {
        Hints::Destructive => true,
        Hints::ReadOnly => false,
        Hints::None => !is_reading_name(server, tool) || has_changing_argument(arguments),
    }
}

/// Whether the name of a tool says that it creates something in the user's own account and does not share it.
pub(crate) fn creates_privately(server: &str, tool: &str) -> bool {
    let (server, words) = (words::of_name(server), words::of_name(tool));
    let own = words.iter().position(|word| !server.contains(word)).unwrap_or_default();
    let begins = words.get(own).is_some_and(|verb| VERBS_CREATING.contains(&verb.as_str()));
    begins && !words.iter().any(|word| VERBS_OUTWARD.contains(&word.as_str()))
}

/// Whether the name of a tool begins with a reading verb, behind the words for a product or for what the tool is about.
fn is_reading_name(server: &str, tool: &str) -> bool {
    let (server, words) = (words::of_name(server), words::of_name(tool));
    let has_separators = tool.contains(['_', '-', '.', ' ', '/']);
    for start in 0..words.len().min(MAX_PREFIX_WORDS + 1) {
        let (prefix, rest) = words.split_at_checked(start).unwrap_or_default();
        let Some(length) = verb_length(&VERBS_READ, rest) else { continue };
        if verb_length(&VERBS_WRITE, rest).is_some_and(|other| other > length) {
            return false;
        }
        let of_server = prefix.iter().all(|word| server.contains(word));
        let of_product = !has_separators && prefix.iter().all(|word| !VERBS_WRITE.contains(&word.as_str()));
        let of_object = consists_of(&NOUNS_LEADING, prefix) && verb_length(&VERBS_BEHIND_NOUNS, rest).is_some();
        if of_server || of_product || of_object {
            return !writes_as_well(rest.get(length..).unwrap_or_default());
        }
    }
    false
}

/// The number of words of the longest verb with which the words begin.
fn verb_length(verbs: &[&str], words: &[String]) -> Option<usize> {
    let length = |verb: &&str| {
        let count = verb.split(' ').count();
        let begin = words.get(..count)?;
        begin.iter().zip(verb.split(' ')).all(|(word, of_verb)| word == of_verb).then_some(count)
    };
    verbs.iter().filter_map(length).max()
}

/// Whether words can be divided into those of a list.
fn consists_of(list: &[&str], words: &[String]) -> bool {
    words.is_empty()
        || verb_length(list, words).is_some_and(|length| consists_of(list, words.get(length..).unwrap_or_default()))
}

/// Whether the words behind a reading verb contain a verb of a write: `get_and_delete_branch`.
fn writes_as_well(words: &[String]) -> bool {
    let describes = |at: usize| {
        let behind = words.get(at..).unwrap_or_default();
        behind.iter().any(|word| NOUNS_DESCRIBING.contains(&word.as_str()))
    };
    words.iter().enumerate().any(|(at, word)| {
        let joined = at > 0 && words.get(at - 1).is_some_and(|before| matches!(before.as_str(), "and" | "or" | "then"));
        (VERBS_WRITE_BEHIND.contains(&word.as_str()) && !describes(at))
            || (joined && VERBS_WRITE.contains(&word.as_str()))
    })
}

/// Whether an argument shows that the call changes something although the name of its tool reads.
fn has_changing_argument(arguments: &[u8]) -> bool {
    let lists = |name: &str| {
        let name = words::of_name(name).join("_");
        let is_in = |list: &[&str]| list.contains(&name.as_str());
        (is_in(&ARGUMENTS_STATEMENTS), is_in(&ARGUMENTS_QUERIES), is_in(&ARGUMENTS_OPERATIONS))
    };
    json::strings(arguments).by_name(lists).any(|((is_statement, is_query, is_operation), text)| {
        is_statement && !reads_only(text)
            || is_query && changes(&statement_words(text))
            || is_operation && !is_reading_operation(text)
    })
}

/// Whether all statements of a text only read.
fn reads_only(text: &str) -> bool {
    let mut statements = text.split(';').map(statement_words).filter(|words| !words.is_empty());
    let reads = |words: Vec<String>| {
        words.first().is_some_and(|first| STATEMENTS_READING.contains(&first.as_str())) && !changes(&words)
    };
    statements.all(reads)
}

/// The words of a statement in lower case. Comments become words, so that none hides a verb.
fn statement_words(text: &str) -> Vec<String> {
    let words = text.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty());
    words.map(str::to_ascii_lowercase).collect()
}

/// Whether the words of a text contain a changing statement.
fn changes(words: &[String]) -> bool {
    let leads = |first: &String| STATEMENTS_LEADING.contains(&first.as_str()) && words.len() > 1;
    words.first().is_some_and(leads) || STATEMENTS_CHANGING.iter().any(|statement| contains_statement(words, statement))
}

fn contains_statement(words: &[String], statement: &str) -> bool {
    let parts: Vec<&str> = statement.split(' ').collect();
    (0..words.len()).any(|start| {
        let mut at = start;
        let mut gap = 0;
        parts.iter().all(|part| {
            if *part == "*" {
                gap = MAX_WORDS_BETWEEN;
                return true;
            }
            let found = words.iter().skip(at).take(gap + 1).position(|word| word == part);
            gap = 0;
            found.is_some_and(|skipped| {
                at += skipped + 1;
                true
            })
        })
    })
}

/// Whether the value of an argument that names the operation names a reading one.
fn is_reading_operation(text: &str) -> bool {
    let first = words::of_name(text).into_iter().next();
    first.is_none_or(|first| ARGUMENTS_READING_OPERATIONS.contains(&first.as_str())) || is_reading_name("", text)
}

/// What an argument of a tool that reads holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Holds {
    /// Words or a statement to search for.
    Query,
    /// What the server itself has given out, such as the place of the next page.
    Opaque,
    /// Anything else.
    Other,
}

/// The texts in the arguments of a call, and what they hold.
pub(crate) fn texts(arguments: &[u8]) -> Vec<(Holds, String)> {
    let holds = |name: &str| {
        let words = words::of_name(name);
        match words.join("_") {
            name if ARGUMENTS_QUERIES.contains(&name.as_str()) => Holds::Query,
            _ if words.iter().any(|word| ARGUMENTS_OPAQUE.contains(&word.as_str())) => Holds::Opaque,
            _ => Holds::Other,
        }
    };
    json::strings(arguments).by_name(holds).map(|(holds, text)| (holds, text.to_owned())).collect()
}

/// The addresses in the arguments of a call.
pub(crate) fn addresses(arguments: &[u8]) -> Vec<String> {
    let is_address = |name: &str| ARGUMENTS_ADDRESSES.contains(&words::of_name(name).join("_").as_str());
    let strings = json::strings(arguments);
    strings.by_name(is_address).filter(|(is_address, _)| *is_address).map(|(_, text)| text.to_owned()).collect()
}

#[cfg(test)]
#[path = "../../tests/unit/mcp/tool_use.rs"]
mod tests;
