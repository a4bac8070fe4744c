//! Names: which module a piece of code asks for, and which other names it gives.

use super::super::token::Token;
use super::table::CALLS;
use std::collections::{BTreeMap, BTreeSet};

/// The modules that a piece of code asks for by name.
pub(super) struct Imported {
    pub subprocess: bool,
    pub modules: BTreeSet<String>,
}

impl Imported {
    pub fn of(tokens: &[Token], code: &str) -> Self {
        let asked = tokens.windows(3).filter_map(|near| match near {
            [Token::Name(ask), Token::Sign('('), Token::Text(Some(module))] if ask == "require" || ask == "import" => {
                Some(module)
            }
            [_, Token::Name(ask), Token::Text(Some(module))] if ask == "from" || ask == "import" => Some(module),
            _ => None,
        });
        let modules = asked.map(|module| {
            let module = module.strip_prefix("node:").unwrap_or(module);
            module.strip_suffix("/promises").unwrap_or(module).to_owned()
        });
        Imported { subprocess: code.contains("subprocess"), modules: modules.collect() }
    }

    pub fn has(&self, modules: &[&str]) -> bool {
        modules.iter().any(|module| self.modules.contains(*module))
    }
}

/// The tokens with other names for modules and calls put back: `import os as o`, `f = os.system`.
pub(super) fn aliased(mut tokens: Vec<Token>) -> Vec<Token> {
    // The first meaning of a name counts.
    let mut names: BTreeMap<String, String> = BTreeMap::new();
    for near in tokens.windows(3) {
        match near {
            [Token::Name(module), Token::Name(word), Token::Name(alias)] if word == "as" => {
                names.entry(alias.clone()).or_insert_with(|| module.clone());
            }
            [Token::Name(alias), Token::Sign('='), Token::Name(call)] if is_call(call) => {
                names.entry(alias.clone()).or_insert_with(|| call.clone());
            }
            _ => {}
        }
    }
    if names.is_empty() {
        return tokens;
    }
    for token in &mut tokens {
        let Token::Name(name) = token else { continue };
        let (first, rest) = name.split_once('.').map_or((name.as_str(), None), |(first, rest)| (first, Some(rest)));
        if let Some(meant) = names.get(first) {
            *name = rest.map_or_else(|| meant.clone(), |rest| format!("{meant}.{rest}"));
        }
    }
    tokens
}

/// Whether a dotted name is that of a call which we know.
fn is_call(name: &str) -> bool {
    name.rsplit_once('.').is_some_and(|(_, last)| CALLS.iter().any(|(call, _)| *call == last))
}

pub(super) fn makes_path(name: &str) -> bool {
    let last = name.rsplit(['.', ':']).next().unwrap_or_default();
    [
        "Path", "open", "join", "resolve", "expanduser", "expand_path", "abspath", "PurePath", "readFileSync", "read",
        "File",
    ]
    .contains(&last)
}
