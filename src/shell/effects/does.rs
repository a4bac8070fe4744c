//! What a command does beyond the files that it names, by the catalogue, its code and the requests that it sends.

use super::super::statements::{mongo_effect, redis_effect, sql_effect};
use super::super::{Arg, Command};
use super::{fetch, forge};
use crate::encoding::address::Address;
use crate::programs::code::{self, lists};
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
        // Data of tests can be made again: `MIX_ENV=test mix ecto.reset`.
        let is_test = |(name, value): &(String, Option<String>)| {
            matches!(value.as_deref(), Some("test" | "testing")) && lists(&code::WORDS_TEST_VARIABLES, name)
        };
        let for_tests = line.language().is_some() && self.env.iter().any(is_test);
        let named = line.does.filter(|does| !(for_tests && *does == Does::Lose));
        let named = self.narrowed(line, named);
        let does = named.max(self.code_effect(line)).max(self.request_effect(line));
        Doing { does, reveals: line.reveals(), brings: line.brings(), activates: line.activates() }
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
        let all: Vec<&str> = code.chain(self.input.text().map(AsRef::as_ref)).collect();
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
        let methods = self.values(&["-X", "--request", "--method"]);
        let method = methods.first().map(|method| method.text.as_str());
        let forge = matches!(self.program.as_str(), "gh" | "glab" | "hub");
        if forge && line.path.last().is_some_and(|verb| verb.names.iter().any(|name| name == "api")) {
            return forge::effect(self, method);
        }
        let deletes = match self.program.as_str() {
            "curl" | "wget" | "wget2" => method.is_some_and(|method| method.eq_ignore_ascii_case("delete")),
            "http" | "https" | "xh" | "xhs" => self.args.iter().any(|arg| arg.text.eq_ignore_ascii_case("delete")),
            _ => false,
        };
        let local = |address: &Arg| Address::parse(&address.text).is_nearby();
        let addresses = fetch::addresses(self);
        (deletes && !addresses.is_empty() && !addresses.iter().all(local)).then_some(Does::Destroy)
    }
}
