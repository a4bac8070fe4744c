//! Imports and aliases in a piece of code.

use super::super::token::Token;
use super::table::effect_of;
use std::collections::{BTreeMap, BTreeSet};

/// The modules that a piece of code imports.
pub(super) struct Imported {
    /// The code mentions `subprocess`.
    pub subprocess: bool,
    pub modules: BTreeSet<String>,
}

impl Imported {
    pub fn of(tokens: &[Token], code: &str) -> Self {
        let imports = tokens.windows(3).filter_map(|near| match near {
            [Token::Name(keyword), Token::Sign('('), Token::Text(Some(module))]
                if keyword == "require" || keyword == "import" =>
            {
                Some(module)
            }
            [_, Token::Name(keyword), Token::Text(Some(module))] if keyword == "from" || keyword == "import" => {
                Some(module)
            }
            _ => None,
        });
        let modules = imports.map(|module| {
            let module = module.strip_prefix("node:").unwrap_or(module);
            module.strip_suffix("/promises").unwrap_or(module).to_owned()
        });
        Imported { subprocess: code.contains("subprocess"), modules: modules.collect() }
    }

    pub fn has(&self, modules: &[&str]) -> bool {
        modules.iter().any(|module| self.modules.contains(*module))
    }
}

/// Replaces aliases of modules and calls by their names: `import os as o`, `f = os.system`.
pub(super) fn resolve_aliases(mut tokens: Vec<Token>) -> Vec<Token> {
    // The first definition of a name counts.
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
        if let Some(name_of_alias) = names.get(first) {
            *name = rest.map_or_else(|| name_of_alias.clone(), |rest| format!("{name_of_alias}.{rest}"));
        }
    }
    tokens
}

/// Whether a dotted name is that of a known call.
fn is_call(name: &str) -> bool {
    name.rsplit_once('.').is_some_and(|(_, last)| effect_of(last).is_some())
}

/// Whether a call creates a path from its arguments.
pub(super) fn makes_path(name: &str) -> bool {
    let last = name.rsplit(['.', ':']).next().unwrap_or_default();
    [
        "Path", "open", "join", "resolve", "expanduser", "expand_path", "abspath", "PurePath", "readFileSync", "read",
        "File",
    ]
    .contains(&last)
}
