//! What statements of databases do: SQL, and the commands of Redis and MongoDB.

use crate::programs::Does;
use crate::programs::code::{self, lists};
use std::fmt::Write;

/// What SQL statements do: those that remove tables, rows or whole databases lose data.
pub(super) fn sql_effect(text: &str) -> Option<Does> {
    // A comment separates words, and some servers drop it: `DR/**/OP`.
    let plain = [Comment::Blank, Comment::Nothing].map(|comment| without_comments(text, comment));
    plain.iter().flat_map(|plain| plain.split(';')).filter_map(statement_effect).max()
}

/// Whether a text in code of another language is an SQL statement that loses data, and not a sentence.
pub(super) fn is_sql_loss(text: &str) -> bool {
    let lower = text.to_ascii_lowercase();
    let mut words = lower.split(|c: char| !is_word(c)).filter(|word| !word.is_empty());
    let (first, second) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let begins = match first {
        "drop" => lists(&code::STATEMENTS_SQL_DROP, second),
        "truncate" => !lower.contains(" -") && (second == "table" || words.count() <= 2 && !second.is_empty()),
        "delete" => second == "from" || second == "delete",
        "alter" | "update" | "with" | "begin" | "detach" | "match" | "set" | "select" => true,
        _ => false,
    };
    begins && sql_effect(text).is_some()
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

fn statement_effect(statement: &str) -> Option<Does> {
    let lower = statement.to_ascii_lowercase();
    let words: Vec<&str> = lower.split(|c: char| !is_word(c)).filter(|word| !word.is_empty()).collect();
    let first = words.first().copied()?;
    // A statement that another one puts together cannot be read.
    let is_dynamic = first == "exec" && lower.contains('+') || first == "prepare" && words.contains(&"concat");
    let is_user = matches!(words.as_slice(), ["alter", "user" | "role" | "login", ..]);
    let widens = is_user && words.contains(&"superuser") || first == "grant" && words.ends_with(&["to", "public"]);
    let stops = words.iter().any(|word| lists(&code::STATEMENTS_SQL_LOSING_FUNCTIONS, word));
    if is_dynamic || widens || stops || words.starts_with(&["insert", "overwrite"]) {
        return Some(Does::Lose);
    }
    if changes_server(&words, &lower) {
        return Some(Does::Change);
    }
    // `create or replace table x`: what the table or the whole database held is gone. Views and functions hold nothing.
    let replaced = match words.as_slice() {
        ["create", "or", "replace", "transient" | "external" | "permanent", kind, ..]
        | ["create", "or", "replace", kind, ..] => lists(&code::STATEMENTS_SQL_REPLACED, kind),
        _ => false,
    };
    let merges = first == "merge" && words.windows(2).any(|pair| pair == ["then", "delete"]);
    // A command of the shell of SQLite: `.restore empty.db`.
    let restores = lower.trim_start().starts_with(".restore");
    if replaced || merges || restores || matches!(words.as_slice(), ["rename", "table" | "database", ..]) {
        return Some(Does::Lose);
    }
    if lists(&code::STATEMENTS_SQL_HARMLESS, first) {
        return None;
    }
    // A database of tests is made anew by each run.
    let is_test = |name: &str| name.ends_with("_test") || name.starts_with("test_") || name == "test";
    if matches!(words.as_slice(), ["drop", "database", name] | ["drop", "database", "if", "exists", name] if is_test(name))
    {
        return None;
    }
    // The verb may stand behind a prefix: `explain analyze`, `with x as (…)`.
    let at = words.iter().position(|word| lists(&code::STATEMENTS_SQL_VERBS, word))?;
    let next = words.get(at + 1).copied().unwrap_or_default();
    let has = |word: &str| words.contains(&word);
    let is_filtered = has("where") && !is_always_true(&lower);
    let loses = match words.get(at).copied()? {
        "drop" if at == 0 => !matches!(next, "temporary" | "temp" | ""),
        "drop" | "remove" => lists(&code::STATEMENTS_SQL_DROP, next),
        "truncate" => true,
        "detach" => matches!(next, "delete" | "table" | "database"),
        "delete" => (has("from") || first == "match") && !is_filtered,
        "alter" => {
            has("default_time_to_live")
                || has("drop")
                || has("truncate")
                || has("delete") && !is_filtered
                || has("detach")
        }
        "update" => has("set") && !is_filtered,
        "purge" => matches!(next, "binary" | "master" | "recyclebin" | "table" | "index" | "dba_recyclebin"),
        "flush" | "reset" => matches!(next, "tables" | "master" | "slave" | "replica"),
        _ => false,
    };
    loses.then_some(Does::Lose)
}

/// Whether a statement changes rights on the whole server or its role, beyond what a database for development needs.
fn changes_server(words: &[&str], lower: &str) -> bool {
    let has = |word: &str| words.contains(&word);
    let calls = words.iter().any(|word| lists(&code::STATEMENTS_SQL_SERVER_FUNCTIONS, word));
    match words {
        ["grant", ..] => {
            lower.contains("*.*") || words.windows(2).any(|pair| matches!(pair, ["grant" | "admin", "option"]))
        }
        ["create", "role" | "user" | "login", ..] => has("superuser"),
        ["revoke", "all", ..] => has("from"),
        ["set", "global" | "persist", name, ..] => lists(&code::STATEMENTS_SQL_SERVER_SETTINGS, name),
        ["shutdown"] => true,
        _ => calls,
    }
}

/// Whether a condition of a statement holds for every row: `where true`, `where 1=1`, `where id = id`, `… or 1=1`.
fn is_always_true(statement: &str) -> bool {
    // `delete from a where id in (select id from a)`: a subselect from the same table, without a condition, finds every row.
    let asked = statement.split_once("where").and_then(|(_, condition)| condition.split_once("select "));
    let is_whole = |inner: &str| !["where", " join ", " limit "].iter().any(|word| inner.contains(word));
    if let Some((_, inner)) = asked.filter(|(_, inner)| is_whole(inner)) {
        let table = |text: &str| {
            let rest = text.split_once(" from ")?.1.trim_start();
            Some(rest.split(|c: char| !is_word(c) && c != '.').next()?.to_owned())
        };
        let changed = statement.split_once(" where").and_then(|(head, _)| table(head));
        let negated = statement.contains(" not in ") || statement.contains("not exists");
        if !negated && (table(inner).is_none() || table(inner) == changed) {
            return true;
        }
    }
    statement.split("where").skip(1).any(holds_for_all)
}

/// Whether a condition, or one of those that are joined by `or`, holds for every row.
fn holds_for_all(condition: &str) -> bool {
    let end = [" order ", " limit ", " returning "].iter().filter_map(|word| condition.find(word)).min();
    let condition = condition.get(..end.unwrap_or(condition.len())).unwrap_or_default();
    let parts = condition.split(" or ").map(|part| part.trim().trim_matches(['(', ')']).trim());
    parts.into_iter().any(|part| {
        let same = part.split_once('=').is_some_and(|(left, right)| left.trim() == right.trim());
        let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        let numbers = part.split_once(['<', '>']).is_some_and(|(left, right)| {
            is_number(left.trim()) && is_number(right.trim_start_matches(['=', '>']).trim())
        });
        same || numbers || holds_for_keys(part) || matches!(part, "true" | "1" | "not false" | "t")
    })
}

/// Whether a condition holds for every row that has a key: `id > 0`, `id is not null`, `id between 0 and 999999`,
/// `created_at < now() + interval '1 year'`.
fn holds_for_keys(condition: &str) -> bool {
    if condition.contains(" and ") && !condition.contains(" between ") {
        return false;
    }
    let words: Vec<&str> = condition.split_whitespace().collect();
    let is_least = |number: &str| matches!(number, "0" | "-1" | "1");
    match words.as_slice() {
        [_, "is", "not", "null"] => true,
        // A pattern of nothing but `%`, and the length of a text. Literals are in hexadecimal.
        [_, "like" | "ilike", pattern] => {
            pattern.strip_prefix('\'').is_some_and(|hex| !hex.is_empty() && hex.replace("25", "").is_empty())
        }
        [measured, ">" | ">=" | "<>" | "!=", least] if is_measured(measured) => is_least(least),
        // A date before there was any data.
        [_, ">" | ">=", date] if date.starts_with("'3139") || date.starts_with("'323030") => true,
        [name, ">" | ">=" | "<>" | "!=", least] => {
            is_least(least)
                && (name.ends_with("id") || name.ends_with("key"))
                && !(words.contains(&">") && *least == "1")
        }
        [_, "between", least, "and", most] => is_least(least) && most.len() >= 6,
        [_, "<" | "<=", rest @ ..] => {
            let rest = rest.join(" ");
            (rest.starts_with("now()") || rest.starts_with("current_")) && rest.contains('+')
        }
        _ => false,
    }
}

/// Whether a text is the length of a value: `length(email)`.
fn is_measured(text: &str) -> bool {
    ["length(", "char_length(", "octet_length(", "len("].iter().any(|function| text.starts_with(function))
}

/// What is put in the place of a comment.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Comment {
    Blank,
    Nothing,
}

/// SQL without comments. Literals are replaced by words that say nothing, the same for the same literal.
fn without_comments(text: &str, comment: Comment) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let skipped = if rest.starts_with("--") {
            rest.find('\n').unwrap_or(rest.len())
        } else if rest.starts_with("/*!") {
            // MySQL executes such a comment.
            3 + rest
                .get(3..)
                .map_or(0, |behind| behind.len() - behind.trim_start_matches(|c: char| c.is_ascii_digit()).len())
        } else if rest.starts_with("/*") {
            rest.find("*/").map_or(rest.len(), |end| end + 2)
        } else if rest.starts_with("*/") {
            2
        } else if c == '\'' {
            let end = rest.get(1..).and_then(|behind| behind.find('\'')).map_or(rest.len() - 1, |end| end);
            plain.push_str(" '");
            for byte in rest.get(1..=end).unwrap_or_default().bytes() {
                // Writing to a string succeeds.
                let _ = write!(plain, "{byte:02x}");
            }
            (end + 2).min(rest.len())
        } else {
            0
        };
        if skipped > 0 {
            if comment == Comment::Blank || c == '\'' || c == '-' {
                plain.push(' ');
            }
            rest = rest.get(skipped..).unwrap_or_default();
        } else {
            plain.push(c);
            rest = rest.get(c.len_utf8()..).unwrap_or_default();
        }
    }
    plain
}

/// Commands of Redis, one per line, that remove everything or change where the server writes.
pub(super) fn redis_effect(text: &str) -> Option<Does> {
    let lower = text.to_ascii_lowercase();
    lower.lines().filter_map(redis_command_effect).max()
}

fn redis_command_effect(line: &str) -> Option<Does> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let first = words.first().copied()?;
    let is_unknown = |word: &&str| word.contains(['*', '$', '`']);
    let in_script = || line.split(|c: char| !is_word(c)).any(|word| lists(&code::STATEMENTS_REDIS_LOSE, word));
    // A script that removes what a pattern finds.
    let removes_found = || {
        let named = |names: &[&str]| line.split(|c: char| !is_word(c)).any(|word| names.contains(&word));
        named(&["del", "unlink"]) && named(&["keys", "scan"])
    };
    let loses = lists(&code::STATEMENTS_REDIS_LOSE, first)
        || lists(&code::STATEMENTS_REDIS_REMOVE, first) && words.iter().skip(1).any(is_unknown)
        || lists(&code::STATEMENTS_REDIS_STORE, first)
        || matches!(first, "eval" | "eval_ro" | "multi" | "fcall" | "script") && (in_script() || removes_found())
        // An empty range is kept: `ltrim jobs 1 0`.
        || matches!(words.as_slice(), ["ltrim", _, "1" | "-1", "0"])
        || matches!(words.as_slice(), ["zremrangebyrank", _, "0", "-1"] | ["zremrangebyscore", _, "-inf", "+inf" | "inf"] | ["zremrangebylex", _, "-", "+"] | ["function", "flush", ..] | ["cluster", "reset" | "flushslots", ..])
        || matches!(words.as_slice(), ["spop" | "lpop" | "rpop" | "zpopmin" | "zpopmax", _, count] if count.len() > 3)
        || matches!(words.as_slice(), ["expire" | "pexpire" | "expireat" | "pexpireat", key, "0" | "1" | "-1", ..] if is_unknown(key) || key.contains(['{', '*']));
    let changes =
        matches!(words.as_slice(), ["acl", "setuser" | "deluser" | "load", ..] | ["client", "kill", "type", ..])
            || first == "config" && words.get(1).is_some_and(|verb| matches!(*verb, "set" | "rewrite"))
            || lists(&code::STATEMENTS_REDIS_CHANGE, first);
    if loses { Some(Does::Lose) } else { changes.then_some(Does::Change) }
}

/// Calls of MongoDB's shell that remove documents, collections or databases: `db.x.drop()`, `db["x"]["drop"]()`.
pub(super) fn mongo_effect(text: &str) -> Option<Does> {
    let mut before = ' ';
    let mut rest = text;
    let mut loses = false;
    // `createIndex({expiresAt: 1}, {expireAfterSeconds: 0})`: the documents say when they expire.
    let names_expiry = text.replace("expireAfterSeconds", "").contains("expir");
    let reduces = text.contains("mapReduce");
    while let Some(start) = rest.find(|c: char| c.is_alphanumeric()) {
        before = rest.get(..start).and_then(|gap| gap.chars().next_back()).unwrap_or(before);
        let word = rest.get(start..).unwrap_or_default();
        let end = word.find(|c: char| !c.is_alphanumeric()).unwrap_or(word.len());
        let (name, behind) = word.split_at_checked(end).unwrap_or((word, ""));
        let behind_name = behind.trim_start();
        let called = before == '.' && behind_name.starts_with('(')
            || matches!(before, '"' | '\'') && behind.get(1..).is_some_and(|rest| rest.starts_with("]("))
            || before == '{' && behind_name.starts_with(':');
        // All documents are changed, or a collection is replaced by the result.
        let all = matches!(name, "updateMany" | "update" | "replaceOne")
            && behind_name.strip_prefix('(').is_some_and(|first| first.trim_start().starts_with("{}"));
        let replaces = before == '$' && name == "out";
        let number = || behind_name.trim_start_matches([':', ' ', '"', '\'']);
        let digits = || number().split(|c: char| !c.is_ascii_digit()).next().unwrap_or_default();
        // Documents that expire within the hour, and a collection that a result replaces.
        let expires_soon = || digits().parse().is_ok_and(|seconds: u32| seconds < 3_600) && !names_expiry;
        loses |= name == "expireAfterSeconds" && expires_soon()
            || name == "replace" && before == '{' && behind_name.starts_with(':') && reduces;
        loses |= called && (lists(&code::STATEMENTS_MONGO_LOSE, name) || all) || replaces;
        rest = behind;
        before = ' ';
    }
    loses.then_some(Does::Lose)
}
