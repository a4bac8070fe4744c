//! What a command does beyond the files that it names, by the catalogue, its code and the requests that it sends.

use super::super::statements::{mongo_effect, redis_effect, sql_effect};
use super::super::{Arg, Command, Input};
use super::scratch::{self, Database};
use super::{admin, fetch, forge};
use crate::encoding::address::Address;
use crate::programs::code::{self, lists};
use crate::programs::{CommandLine, Does, Use, WordUse, roles};

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
        let does = self.does();
        let reveals = line.reveals()
            || self.shows_injected(line)
            || self.edits_by_printer()
            || self.shows_typed()
            || admin::reveals(self);
        Doing { does, reveals, brings: line.brings(), activates: line.activates() }
    }

    /// The strongest effect; `None` where the program is unknown.
    pub fn does(&self) -> Option<Does> {
        let line = self.parsed.as_deref()?;
        let narrowed = self.narrowed(line, line.does);
        self.in_database(line, narrowed.max(self.code_effect(line))).max(self.request_effect(line))
    }

    /// The effect, given which database it is about. Data of tests can be made again: `MIX_ENV=test mix ecto.reset`. A
    /// migration of a database on this machine is local work.
    fn in_database(&self, line: &CommandLine, does: Option<Does>) -> Option<Does> {
        if !matches!(does, Some(Does::Lose | Does::Change)) {
            return does;
        }
        if self.loses_volumes_of_tests(line) {
            return Some(Does::Work);
        }
        let program = self.program.as_str();
        let is_migrator = lists(&code::WORDS_MIGRATORS, program);
        if line.language().is_none() && !is_migrator {
            return does;
        }
        let language = line.language().unwrap_or_default();
        match scratch::database(self, line) {
            Database::Scratch if does == Some(Does::Lose) => {
                let leaves = self.code_texts(line).iter().any(|text| scratch::leaves(text, language));
                if leaves { does } else { Some(Does::Work) }
            }
            Database::Scratch | Database::Nearby if is_migrator && does == Some(Does::Change) => Some(Does::Work),
            Database::Any | Database::Nearby | Database::Scratch => does,
        }
    }

    /// `docker compose -p test down -v`, `docker compose -f compose.e2e.yml down -v`: all names are those of tests.
    fn loses_volumes_of_tests(&self, line: &CommandLine) -> bool {
        let is_compose = lists(&roles::CONTAINERS_ENGINES, &self.program);
        if !is_compose || line.verb() != "down" || !self.args.iter().all(Arg::is_known) {
            return false;
        }
        let words: Vec<&str> = self.args.iter().map(|arg| arg.text.as_str()).collect();
        let (mut project, mut files) = (None, Vec::new());
        for pair in words.windows(2) {
            match pair {
                ["-p" | "--project-name", name] => project = Some(*name),
                ["-f" | "--file", file] => files.push(*file),
                ["-H" | "--host" | "-c" | "--context", _] => return false,
                _ => {}
            }
        }
        let is_test_file = |file: &&str| {
            let name = file.rsplit('/').next().unwrap_or_default();
            name.split('.').any(scratch::is_test_name)
        };
        match project {
            Some(name) => scratch::is_test_name(name),
            None => !files.is_empty() && files.iter().all(is_test_file),
        }
    }

    /// Whether the catalogue says that it sends data to an address that it is given.
    pub fn sends_to_address(&self) -> bool {
        self.parsed.as_ref().is_some_and(|line| line.uses.iter().any(|used| used.takes == Some(Use::To)))
    }

    /// Whether the catalogue says that it sends the content of a file.
    pub fn sends_file(&self) -> bool {
        self.parsed.as_ref().is_some_and(|line| line.uses.iter().any(|used| used.takes == Some(Use::Send)))
    }

    /// The addresses that it sends data to: those that the catalogue tells, or else the words that are one.
    pub fn destinations(&self) -> Vec<Arg> {
        let uses = self.parsed.as_ref().map(|line| line.uses.as_slice()).unwrap_or_default();
        let told: Vec<Arg> =
            uses.iter().filter(|used| used.takes == Some(Use::To)).filter_map(|used| self.value(used)).collect();
        if told.is_empty() { self.args.iter().filter(|arg| arg.text.contains("://")).cloned().collect() } else { told }
    }

    /// The effect of statements in its code and on its standard input.
    fn code_effect(&self, line: &CommandLine) -> Option<Does> {
        let language = line.language()?;
        let all = self.code_texts(line);
        match language {
            // The words of a command of Redis are operands.
            "redis" => redis_effect(&all.join(" ")),
            "mongo" => all.iter().filter_map(|code| mongo_effect(code)).max(),
            "psql" | "mysql" | "sqlite" | "sql" => all.iter().filter_map(|code| sql_effect(code)).max(),
            _ => None,
        }
    }

    /// Its code and its standard input, as far as they are known.
    fn code_texts(&self, line: &CommandLine) -> Vec<&str> {
        let value = |used: &WordUse| {
            let arg = self.args.get(used.word)?;
            arg.text.get(used.start..)
        };
        let code = line.uses.iter().filter(|used| used.takes == Some(Use::Code)).filter_map(value);
        let input = match &self.input {
            Input::Text(text) => Some(text.as_ref()),
            Input::Inherited | Input::Pipe | Input::Unknown => None,
        };
        code.chain(input).collect()
    }

    /// The effect of an HTTP request, by its method.
    fn request_effect(&self, line: &CommandLine) -> Option<Does> {
        let forge = matches!(self.program.as_str(), "gh" | "glab" | "hub");
        if forge && line.path.last().is_some_and(|verb| verb.names.iter().any(|name| name == "api")) {
            return forge::effect(self, method(&self.args));
        }
        let method = match self.program.as_str() {
            "curl" | "wget" | "wget2" => method(&self.args).map(str::to_ascii_uppercase),
            "http" | "https" | "xh" | "xhs" => {
                let words = self.args.iter().map(|arg| arg.text.as_str().to_ascii_uppercase());
                words.take_while(|word| !word.contains('/')).find(|word| METHODS.contains(&word.as_str()))
            }
            _ => return None,
        };
        let local = |address: &Arg| Address::parse(&address.text).is_nearby();
        let addresses = fetch::addresses(self);
        let changes = |method: &str| !matches!(method, "GET" | "HEAD" | "OPTIONS" | "PROPFIND");
        let changes = method.as_deref().map_or(!fetch::bodies(self).is_empty(), changes);
        if addresses.is_empty() || addresses.iter().all(local) {
            let removes = matches!(method.as_deref(), Some("DELETE" | "PURGE"));
            let effects = addresses.iter().map(|address| admin::effect(self, &address.text, removes));
            return effects.max().flatten().filter(|_| changes);
        }
        // Commands to a server for files: `curl -Q 'DELE x'`.
        let quoted = self.values(&["-Q", "--quote"]);
        let is_removal = |arg: &Arg| {
            let text = arg.text.trim_start_matches(['-', '+', '*']).to_ascii_lowercase();
            ["dele ", "rmd ", "rnfr ", "rm ", "rmdir ", "rename "].iter().any(|command| text.starts_with(command))
        };
        if quoted.iter().any(is_removal) {
            return Some(Does::Destroy);
        }
        match method.as_deref() {
            Some("DELETE" | "PURGE" | "MOVE" | "BAN") => Some(Does::Destroy),
            Some("GET" | "HEAD" | "OPTIONS" | "PROPFIND") => None,
            None if fetch::bodies(self).is_empty() => None,
            _ => addresses.iter().filter_map(|address| path_effect(&address.text)).max(),
        }
    }
}

/// Methods that are written as a word of their own: `http DELETE host`.
const METHODS: [&str; 12] =
    ["GET", "HEAD", "OPTIONS", "PROPFIND", "POST", "PUT", "PATCH", "DELETE", "PURGE", "MOVE", "BAN", "COPY"];

/// The effect of a request that is not a GET, by the parts of its path.
pub(super) fn path_effect(address: &str) -> Option<Does> {
    let path = address.split(['?', '#']).next().unwrap_or_default();
    let path = path.split_once("://").map_or(path, |(_, rest)| rest);
    let parts = path.split('/').skip(1);
    let effect = |part: &str| match part {
        part if lists(&code::REQUESTS_REMOVAL, &part.to_ascii_lowercase()) => Some(Does::Destroy),
        part if lists(&code::REQUESTS_CHANGE, part) => Some(Does::Change),
        _ => None,
    };
    parts.filter_map(effect).max()
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
