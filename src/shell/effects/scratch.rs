//! Test and scratch databases of this machine: what they lose can be made again.

use super::super::{Arg, Command};
use crate::encoding::address::Address;
use crate::programs::CommandLine;
use crate::programs::code::{self, lists};
use crate::programs::roles;

/// How sure it is that only data of tests can be lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Database {
    /// Nothing says which database it is, or it may hold data of value.
    Any,
    /// The address says that it is on this machine.
    Nearby,
    /// A test or scratch database on this machine.
    Scratch,
}

/// Which database a command is connected to, by its options, operands and variables.
pub(super) fn database(command: &Command, line: &CommandLine) -> Database {
    let mut found: Vec<Database> = Vec::new();
    let is_file = lists(&roles::DATABASES_FILES, &command.program);
    for used in &line.uses {
        let Some(value) = command.value(used) else { continue };
        let option = used.option.unwrap_or_default();
        if lists(&roles::DATABASES_OPTIONS, option) {
            found.push(of_value(&value, is_file));
        } else if lists(&roles::DATABASES_HOSTS, option) {
            found.extend(of_host(&value));
        }
    }
    let mut operands = line.uses.iter().filter(|used| !used.by_option).filter_map(|used| command.value(used));
    if lists(&roles::DATABASES_NAMED_BY_OPERAND, &command.program) {
        // `psql -d x user`: the operand behind a named database is no database.
        let is_named = found.contains(&Database::Scratch) && !is_file;
        found.extend(operands.next().filter(|_| !is_named).map(|operand| of_value(&operand, is_file)));
    } else {
        // `rails db:drop RAILS_ENV=test`
        let values = operands.filter(Arg::is_known).filter(|operand| operand.text.contains('='));
        found.extend(values.filter_map(|operand| {
            let (name, value) = operand.text.split_once('=')?;
            of_variable(name, Some(value))
        }));
    }
    found.extend(command.env.iter().filter_map(|(name, value)| of_variable(name, value.as_deref())));
    if found.is_empty() || found.contains(&Database::Any) {
        return Database::Any;
    }
    if found.contains(&Database::Scratch) { Database::Scratch } else { Database::Nearby }
}

/// What a variable says about the database.
fn of_variable(name: &str, value: Option<&str>) -> Option<Database> {
    let value = value.unwrap_or_default();
    if lists(&code::WORDS_TEST_VARIABLES, name) {
        return matches!(value, "test" | "testing").then_some(Database::Scratch);
    }
    if lists(&roles::DATABASES_VARIABLES, name) {
        return Some(of_value(&Arg::literal(value), false));
    }
    if name.ends_with("DATABASE_URL") || matches!(name, "DB_URL" | "MONGO_URL" | "MONGODB_URI" | "POSTGRES_URL") {
        return Some(of_value(&Arg::literal(value), false));
    }
    lists(&roles::DATABASES_HOST_VARIABLES, name).then(|| of_host(&Arg::literal(value)))?
}

/// What the name or the address of a server says; nothing if it is nearby, because its databases may be any.
fn of_host(value: &Arg) -> Option<Database> {
    let is_socket = value.text.starts_with('/') && !value.text.contains("..");
    let is_near = value.is_known() && (is_socket || Address::parse(&value.text).is_nearby());
    (!is_near).then_some(Database::Any)
}

/// What the name, the address or the file of a database says.
fn of_value(value: &Arg, is_file: bool) -> Database {
    let text = value.text.as_str();
    if !value.is_known() || text.is_empty() || text.contains("..") {
        return Database::Any;
    }
    if is_file || text.starts_with("file:") || text.starts_with("sqlite:") {
        return of_file(text.trim_start_matches("sqlite:").trim_start_matches("file:"));
    }
    if let Some((_, rest)) = text.split_once("://") {
        // `mongodb://a,b/x` names several servers.
        let address = Address::parse(text);
        if rest.contains(',') || !address.is_nearby() || rest.contains("host=") || rest.contains("service=") {
            return Database::Any;
        }
        let name = address.location.trim_start_matches('/').split(['?', '#', '/']).next().unwrap_or_default();
        return if is_test_name(name) { Database::Scratch } else { Database::Nearby };
    }
    // `host=localhost dbname=app_test`
    if text.contains('=') {
        let mut name = "";
        for part in text.split_whitespace() {
            match part.split_once('=') {
                Some(("dbname", value)) => name = value,
                Some(("host" | "hostaddr", host)) if of_host(&Arg::literal(host)).is_none() => {}
                Some(("user" | "port" | "password" | "sslmode", _)) => {}
                _ => return Database::Any,
            }
        }
        return if is_test_name(name) { Database::Scratch } else { Database::Any };
    }
    // `app.settings.test`
    let name = text.rsplit('.').next().unwrap_or_default();
    if is_test_name(name) && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte)) {
        Database::Scratch
    } else {
        Database::Any
    }
}

fn of_file(path: &str) -> Database {
    let path = path.trim_start_matches("//").split('?').next().unwrap_or_default();
    let path = if path.starts_with("tmp/") { format!("/{path}") } else { path.to_owned() };
    let name = path.rsplit('/').next().unwrap_or_default();
    let stem = name.split('.').next().unwrap_or_default();
    let is_temporary = ["/tmp/", "/var/tmp/"].iter().any(|folder| path.starts_with(folder)) || path == ":memory:";
    if is_temporary || is_test_name(stem) { Database::Scratch } else { Database::Any }
}

/// Whether a name is that of a database of tests: `app_test`, `test_app`, `e2e`, `app_test_3`.
pub(in super::super) fn is_test_name(name: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    let mut words: Vec<&str> = lower.split(['_', '-']).collect();
    while words.last().is_some_and(|word| word.bytes().all(|byte| byte.is_ascii_digit())) {
        words.pop();
    }
    let is_test = |word: &&str| {
        matches!(word.trim_end_matches(|c: char| c.is_ascii_digit()), "test" | "tests" | "testing" | "e2e" | "scratch")
    };
    let is_live = |word: &&str| matches!(*word, "prod" | "production" | "live" | "staging" | "main" | "master");
    (words.first().is_some_and(is_test) || words.last().is_some_and(is_test)) && !words.iter().any(is_live)
}

/// Whether statements leave the database that the command is connected to: they connect to another one, or name it.
pub(super) fn leaves(text: &str, language: &str) -> bool {
    let lower = text.to_ascii_lowercase();
    let names_another =
        ["\\c ", "\\connect", "dblink", "getsiblingdb", "attach", ".open", ".restore", "mongo(", "\\i ", ".read"];
    if names_another.iter().any(|word| lower.contains(word)) {
        return true;
    }
    let words: Vec<&str> = lower
        .split(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '.' | '-')))
        .filter(|word| !word.is_empty())
        .collect();
    let others = words.iter().enumerate().any(|(at, word)| {
        let names_other = || {
            let object = words.iter().skip(at + 1).find(|word| !matches!(**word, "if" | "exists" | "not"));
            object.is_none_or(|name| !is_test_name(name))
        };
        match *word {
            "use" | "database" | "role" | "user" | "tablespace" => names_other(),
            "dropuser" | "dropalluser" => true,
            _ => false,
        }
    });
    // In MySQL, `a.b` is the table of another database.
    let is_other = |word: &&str| word.split_once('.').is_some_and(|(name, _)| !name.is_empty() && !is_test_name(name));
    others || matches!(language, "mysql" | "sql") && words.iter().any(is_other)
}
