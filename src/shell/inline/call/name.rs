//! Imports and aliases in a piece of code.

use super::super::token::Token;
use crate::programs::code::{CallEffect, effect_of};
use std::collections::{BTreeMap, BTreeSet};

/// The modules that a piece of code imports.
pub(in crate::shell::inline) struct Imported {
    /// The code mentions `subprocess`.
    pub subprocess: bool,
    pub modules: BTreeSet<String>,
    /// The code names a method of requests that carries data.
    pub posts: bool,
    /// The code calls functions of C libraries.
    pub is_foreign: bool,
}

impl Imported {
    pub fn of(tokens: &[Token], code: &str) -> Self {
        let imports = tokens.windows(3).filter_map(|near| match near {
            [Token::Name(keyword), Token::Sign('('), Token::Text(module)]
                if keyword.rsplit('.').next().is_some_and(|word| word == "require") || keyword == "import" =>
            {
                Some(module)
            }
            [_, Token::Name(keyword), Token::Text(module)] if keyword == "from" || keyword == "import" => Some(module),
            // `from os import system`
            [Token::Name(keyword), Token::Name(module), Token::Name(import)]
                if keyword == "from" && import == "import" =>
            {
                Some(module)
            }
            _ => None,
        });
        let posts = tokens.iter().any(|token| match token {
            Token::Text(text) => matches!(text.as_str(), "POST" | "PUT" | "PATCH"),
            Token::Name(name) => matches!(name.as_str(), "CURLOPT_POSTFIELDS" | "CURLOPT_POST" | "CURLOPT_UPLOAD"),
            Token::Mixed(_) | Token::Command(_) | Token::Sign(_) => false,
        });
        let modules = imports.map(|module| {
            let module = module.strip_prefix("node:").unwrap_or(module);
            module.strip_suffix("/promises").unwrap_or(module).to_owned()
        });
        let is_foreign = tokens.iter().any(|token| matches!(token, Token::Name(name) if name.starts_with("FFI")));
        Imported { subprocess: code.contains("subprocess"), modules: modules.collect(), posts, is_foreign }
    }

    pub fn has(&self, modules: &[&str]) -> bool {
        modules.iter().any(|module| self.modules.contains(*module))
    }
}

/// The length of a name from which on only its last component is followed.
const LONG_NAME: usize = 256;

/// Replaces aliases of modules and calls by their names: `import os as o`, `f = os.system`, `{execSync: e} = require(…)`.
pub(super) fn resolve_aliases(mut tokens: Vec<Token>) -> Vec<Token> {
    // The first definition of a name counts.
    let mut names: BTreeMap<String, String> = BTreeMap::new();
    let mut alias = |alias: &String, name: &String| {
        // The last component tells what a call does. Long names would be copied to every use.
        let name = if name.len() > LONG_NAME { name.rsplit('.').next().unwrap_or(name) } else { name };
        if name.len() <= LONG_NAME {
            names.entry(alias.clone()).or_insert_with(|| name.to_owned());
        }
    };
    for near in tokens.windows(4) {
        match near {
            [Token::Name(module), Token::Name(word), Token::Name(name), _]
            | [_, Token::Name(module), Token::Name(word), Token::Name(name)]
                if word == "as" =>
            {
                alias(name, module);
            }
            [Token::Name(name), Token::Sign('='), Token::Name(call), next]
                if is_call(call) && *next != Token::Sign('(') && *next != Token::Sign('[') =>
            {
                alias(name, call);
            }
            [Token::Sign('{' | ','), Token::Name(call), Token::Sign(':'), Token::Name(name)]
                if effect_of(call).is_some_and(|effect| effect != CallEffect::Lookup) && !name.contains('.') =>
            {
                alias(name, call);
            }
            _ => {}
        }
    }
    if let [.., Token::Name(name), Token::Sign('='), Token::Name(call)] = tokens.as_slice()
        && is_call(call)
    {
        alias(name, call);
    }
    for (name, module) in tokens.windows(5).filter_map(required) {
        names.entry(name).or_insert(module);
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

/// `c = require("child_process")` and the import of a whole module: the name and the module.
fn required(near: &[Token]) -> Option<(String, String)> {
    match near {
        [Token::Name(name), Token::Sign('='), Token::Name(require), Token::Sign('('), Token::Text(module)]
            if require == "require" =>
        {
            let module = module.strip_prefix("node:").unwrap_or(module);
            let is_plain = module.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-/".contains(&byte));
            Some((name.clone(), module.to_owned()))
                .filter(|_| is_plain && !name.contains('.') && module.len() <= LONG_NAME)
        }
        _ => None,
    }
}

/// Whether a dotted name is that of a known call.
fn is_call(name: &str) -> bool {
    name.rsplit_once('.').is_some_and(|(_, last)| effect_of(last).is_some())
}
