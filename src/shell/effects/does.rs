//! What a command does beyond the files that it names, by the catalogue, its code and the requests that it sends.

use super::super::{Arg, Command, Input};
use super::fetch;
use crate::encoding::address::Address;
use crate::programs::{CommandLine, Does, Use, WordUse};

/// What a command does beyond the files that it names.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Doing {
    /// The strongest effect; `None` where the program is unknown.
    pub does: Option<Does>,
    /// It prints credentials.
    pub reveals: bool,
    /// It prints text that strangers wrote.
    pub brings: bool,
    /// It prints shell text that is made to be evaluated.
    pub activates: bool,
}

impl Command {
    /// What it does beyond the files that it names.
    pub fn doing(&self) -> Doing {
        let Some(line) = self.parsed.as_deref() else { return Doing::default() };
        let does = line.does.max(self.code_effect(line)).max(self.request_effect(line));
        // `MIX_ENV=test mix ecto.reset`: a variable in `dry` leads the command to data of tests.
        let for_tests = line.path.iter().any(|entry| entry.dry.iter().any(|dry| self.sets(dry)));
        let does = if for_tests { does.min(Some(Does::Work)) } else { does };
        Doing { does, reveals: line.reveals(), brings: line.brings(), activates: line.activates() }
    }

    /// Whether it is run with a variable, `NAME=VALUE`.
    fn sets(&self, variable: &str) -> bool {
        let Some((name, value)) = variable.split_once('=').filter(|_| !variable.starts_with('-')) else { return false };
        self.env.iter().any(|(known, given)| known == name && given.as_deref() == Some(value))
    }

    /// Whether the catalogue says that it sends data to an address that it is given.
    pub fn sends_to_address(&self) -> bool {
        self.parsed.as_ref().is_some_and(|line| line.uses.iter().any(|used| used.takes == Some(Use::To)))
    }

    /// The effect of statements in its code and on its standard input.
    fn code_effect(&self, line: &CommandLine) -> Option<Does> {
        let language = line.language()?;
        let value = |used: &WordUse| {
            let arg = self.args.get(used.word)?;
            arg.text.get(used.start..)
        };
        let code = line.uses.iter().filter(|used| used.takes == Some(Use::Code)).filter_map(value);
        let input = match &self.input {
            Input::Text(text) => Some(text.as_str()),
            Input::Inherited | Input::Pipe | Input::Unknown => None,
        };
        let all: Vec<&str> = code.chain(input).collect();
        match language {
            // The words of a command of Redis are operands.
            "redis" => redis_effect(&all.join(" ")),
            "mongo" => all.iter().filter_map(|code| mongo_effect(code)).max(),
            "psql" | "mysql" | "sqlite" | "sql" => all.iter().filter_map(|code| sql_effect(code)).max(),
            _ => None,
        }
    }

    /// The effect of an HTTP request, by its method.
    fn request_effect(&self, line: &CommandLine) -> Option<Does> {
        let forge = matches!(self.program.as_str(), "gh" | "glab" | "hub");
        if forge && line.path.last().is_some_and(|verb| verb.names.iter().any(|name| name == "api")) {
            return forge_effect(&self.args);
        }
        let deletes = match self.program.as_str() {
            "curl" | "wget" | "wget2" => method(&self.args).is_some_and(|method| method.eq_ignore_ascii_case("delete")),
            "http" | "https" | "xh" | "xhs" => self.args.iter().any(|arg| arg.text.eq_ignore_ascii_case("delete")),
            _ => false,
        };
        let local = |address: &Arg| Address::parse(&address.text).is_nearby();
        let addresses = fetch::addresses(self);
        (deletes && !addresses.is_empty() && !addresses.iter().all(local)).then_some(Does::Destroy)
    }
}

/// The method of a request.
fn method(args: &[Arg]) -> Option<&str> {
    let mut words = args.iter().map(|arg| arg.text.as_str());
    while let Some(word) = words.next() {
        let attached = ["--request=", "--method=", "-X"].iter().find_map(|name| word.strip_prefix(name));
        if matches!(word, "-X" | "--request" | "--method") {
            return words.next();
        }
        // `-sX DELETE`, `-XDELETE`
        let clustered = word.starts_with('-') && !word.starts_with("--") && word.ends_with('X');
        if clustered {
            return words.next();
        }
        if let Some(method) = attached.filter(|method| !method.is_empty()) {
            return Some(method);
        }
    }
    None
}

/// `gh api`: by method, endpoint and query.
fn forge_effect(args: &[Arg]) -> Option<Does> {
    let words: Vec<&str> = args.iter().map(|arg| arg.text.as_str()).collect();
    let has_fields = words.iter().any(|word| {
        ["-f", "-F", "--field", "--raw-field", "--input"].iter().any(|name| word.starts_with(name))
            && !word.starts_with("--format")
    });
    let endpoint = words.iter().skip(1).find(|word| !word.starts_with('-')).copied().unwrap_or_default();
    if words.contains(&"graphql") {
        let query = words.iter().find(|word| word.contains("query=")).copied().unwrap_or_default();
        let is_mutation = query.contains("mutation");
        let deletes = is_mutation && query.to_ascii_lowercase().contains("delete");
        return Some(if deletes {
            Does::Destroy
        } else if is_mutation || !has_fields {
            Does::Change
        } else {
            Does::Look
        })
        .filter(|_| is_mutation || query.is_empty() && !has_fields || !query.is_empty());
    }
    let method = method(args).map(str::to_ascii_uppercase);
    let work = [
        "/comments", "/issues", "/pulls", "/reviews", "/labels", "/reactions", "/statuses", "/check-runs",
        "/assignees", "/notes", "/merge_requests", "/requested_reviewers", "/replies", "/dispatches",
    ];
    let is_work = work.iter().any(|part| endpoint.contains(part));
    match method.as_deref() {
        Some("GET" | "HEAD") => Some(Does::Look),
        None if !has_fields => Some(Does::Look),
        Some("DELETE") => Some(Does::Destroy),
        _ if is_work => Some(Does::Work),
        _ => Some(Does::Change),
    }
}

/// What SQL statements do: those that remove tables, rows or whole databases lose data.
fn sql_effect(code: &str) -> Option<Does> {
    let plain = without_comments(code);
    plain.split(';').filter_map(statement_effect).max()
}

fn statement_effect(statement: &str) -> Option<Does> {
    let lower = statement.to_ascii_lowercase();
    let words: Vec<&str> =
        lower.split(|c: char| !(c.is_alphanumeric() || c == '_')).filter(|word| !word.is_empty()).collect();
    // The verb may stand behind a shell's own command or a prefix: `explain`, `with x as (…) delete …`.
    // A database of tests is made anew by each run: `drop database if exists app_test`.
    let is_test = |word: &&str| word.ends_with("_test") || word.starts_with("test_") || *word == "test";
    if matches!(words.as_slice(), ["drop", "database", name] | ["drop", "database", "if", "exists", name] if is_test(name))
    {
        return None;
    }
    let at = words
        .iter()
        .position(|word| matches!(*word, "drop" | "truncate" | "delete" | "alter" | "update" | "flush" | "reset"))?;
    let next = words.get(at + 1).copied().unwrap_or_default();
    let filtered = words.contains(&"where");
    let is_text = words.first() == Some(&"select")
        || words.first() == Some(&"insert")
        || words.first() == Some(&"create")
        || words.first() == Some(&"comment");
    match words.get(at).copied()? {
        _ if is_text => None,
        "drop"
            if matches!(
                next,
                "table"
                    | "database"
                    | "schema"
                    | "owned"
                    | "role"
                    | "user"
                    | "keyspace"
                    | "collection"
                    | "materialized"
                    | "tablespace"
                    | "view"
                    | "column"
            ) =>
        {
            Some(Does::Lose)
        }
        "truncate" => Some(Does::Lose),
        "delete" if words.contains(&"from") && !filtered => Some(Does::Lose),
        "alter" if words.contains(&"drop") => Some(Does::Lose),
        "update" if words.contains(&"set") && !filtered => Some(Does::Lose),
        "flush" | "reset" if matches!(next, "tables" | "master" | "slave" | "replica") => Some(Does::Lose),
        _ => None,
    }
}

/// SQL without comments and the content of literals.
fn without_comments(code: &str) -> String {
    let mut plain = String::with_capacity(code.len());
    let mut rest = code;
    while let Some(c) = rest.chars().next() {
        let skipped = if rest.starts_with("--") {
            rest.find('\n').unwrap_or(rest.len())
        } else if rest.starts_with("/*") {
            rest.find("*/").map_or(rest.len(), |end| end + 2)
        } else if c == '\'' {
            rest.get(1..).and_then(|behind| behind.find('\'')).map_or(1, |end| end + 2)
        } else {
            0
        };
        if skipped > 0 {
            plain.push(' ');
            rest = rest.get(skipped..).unwrap_or_default();
        } else {
            plain.push(c);
            rest = rest.get(c.len_utf8()..).unwrap_or_default();
        }
    }
    plain
}

/// Commands of Redis that remove everything or change where the server writes.
fn redis_effect(code: &str) -> Option<Does> {
    let lower = code.to_ascii_lowercase();
    let words: Vec<&str> = lower.split_whitespace().collect();
    let has = |word: &str| words.contains(&word);
    if has("flushall") || has("flushdb") || has("shutdown") || has("del") || has("unlink") && has("*") {
        return Some(Does::Lose);
    }
    let changes = has("config") && has("set") || has("slaveof") || has("replicaof") || has("module") || has("debug");
    changes.then_some(Does::Change)
}

/// Calls of MongoDB's shell that remove documents, collections or databases.
fn mongo_effect(code: &str) -> Option<Does> {
    const LOSES: [&str; 8] = [
        "dropDatabase(", ".drop(", "deleteMany(", ".remove(", "dropIndexes(", "dropUser(", "dropAllUsers", "deleteOne(",
    ];
    LOSES.iter().any(|call| code.contains(call)).then_some(Does::Lose)
}
