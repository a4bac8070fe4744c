//! Functions that code mentions without calling them, and strings that look like code.
//!
//! A function that runs, deletes or evaluates something counts as called with unknown arguments where it is a value:
//! `[os.system][0](x)`, `rawget(os, "execute")`, `f <- unlink`. So does a module of such functions, because every function
//! can be looked up in it.

use super::call::Imported;
use super::expression::{Code, is_home, last_component};
use super::folds::Counts;
use super::mutation::is_about_home;
use super::token::{Piece, Token, called_names};
use super::words::{is_remover, opens_files, removes_trees};
use super::{Call, Language, Word};
use crate::programs;
use crate::programs::code::{self, CallEffect, effect_of, lists, modules_of};
use crate::verdict::limits::SHELL_STEPS;
use std::collections::HashSet;
use std::ops::Range;

/// Whether a call says all that matters about what it does.
pub(super) fn is_definite(call: &Call) -> bool {
    match call {
        Call::Run(words) => words.first().is_some_and(|word| !word.is_unknown()),
        Call::Same(words) => !words.iter().any(Word::is_unknown),
        Call::Text(text) | Call::Loose(text) => !text.trim_start().starts_with("$1"),
    }
}

/// Whether a call counts that is found only where comments and patterns are read as code: it is one for certain, and a text
/// that it runs begins with a program.
pub(super) fn is_command(call: &Call) -> bool {
    let begins = |text: &str| {
        let first = text.split_whitespace().next().and_then(|word| word.rsplit('/').next());
        first.is_some_and(|program| programs::embedded(program).is_some())
    };
    is_definite(call)
        && match call {
            Call::Text(text) | Call::Loose(text) => begins(text),
            Call::Run(_) | Call::Same(_) => true,
        }
}

/// The strings of a reading that are no strings in another one, and that look like code.
pub(super) fn other_strings<'a>(usual: &'a [Token], flat: &'a [Token]) -> impl Iterator<Item = String> + 'a {
    let known: HashSet<&str> = usual.iter().filter_map(plain_text).collect();
    let texts = flat.iter().filter(move |token| plain_text(token).is_none_or(|text| !known.contains(text)));
    texts.filter_map(whole_text).filter(|text| looks_like_code(text))
}

fn plain_text(token: &Token) -> Option<&str> {
    if let Token::Text(text) = token { Some(text) } else { None }
}

/// The text of a string with the code of its interpolated values.
fn whole_text(token: &Token) -> Option<String> {
    match token {
        Token::Text(text) => Some(text.clone()),
        Token::Mixed(pieces) | Token::Command(pieces) => {
            let texts = pieces.iter().map(|piece| match piece {
                Piece::Text(text) | Piece::Code(text) => text.as_str(),
            });
            Some(texts.collect())
        }
        Token::Name(_) | Token::Sign(_) => None,
    }
}

/// The code of interpolated values that is more than a variable.
pub(super) fn code_of(pieces: &[Piece]) -> impl Iterator<Item = String> + '_ {
    let is_variable = |c: char| c.is_alphanumeric() || "_$@.:->".contains(c);
    pieces.iter().filter_map(move |piece| match piece {
        Piece::Code(code) if !code.trim().chars().all(is_variable) => Some(code.clone()),
        Piece::Code(_) | Piece::Text(_) => None,
    })
}

/// Whether a text calls a function by a name that runs, deletes, reads or writes something.
pub(super) fn looks_like_code(text: &str) -> bool {
    let acts = |effect: CallEffect| !matches!(effect, CallEffect::Move | CallEffect::Lose | CallEffect::Chdir);
    called_names(text).any(|(_, name, _)| effect_of(name).is_some_and(acts))
        // A command between backquotes.
        || text.matches('`').count() > 1 && text.len() > 4
}

/// Finds a literal path below a home directory that the code cuts or changes, which hides what it names: `"x/home/a/.b"[1:]`.
pub(super) fn cut_path(code: &Code<'_>) -> Option<Call> {
    let is_private = |text: &str| {
        let begins = ["/home/", "/Users/", "/root/", "~/"].iter().any(|start| text.contains(start));
        (begins || is_about_home(text)) && text.len() > 8 && !text.contains([' ', '\n'])
    };
    // In languages whose calls are not known, a function that shapes texts hides which file is opened.
    let opens = code.language == Language::Source
        && code.tokens.iter().any(|token| matches!(token, Token::Name(name) if opens_files(last_component(name)) || is_remover(last_component(name))));
    let shapes = |name: &str| opens && lists(&code::WORDS_SHAPING, &last_component(name).to_ascii_lowercase());
    let is_above_homes = |text: &str| matches!(text, "/home" | "/Users" | "/root");
    let private =
        Counts::of(code.tokens, |token| matches!(token, Token::Text(text) if is_private(text) || is_above_homes(text)));
    let is_cut = |at: usize| match code.token(at) {
        Some(Token::Text(text)) if is_private(text) => {
            let transforms = |at: usize| {
                let method = code.name(at).and_then(|name| name.split('.').next());
                method.is_some_and(|method| lists(&code::DECODE_TRANSFORMS, method))
            };
            let by_method = matches!(code.token(at + 1), Some(Token::Sign('.' | ':'))) && transforms(at + 2);
            let by_shape = code.is_sign(at + 1, '.') && code.name(at + 2).is_some_and(shapes);
            let by_index = code.is_sign(at + 1, '[') && code.language != Language::Other;
            let is_head = code.language == Language::Lisp && at > 1 && code.is_sign(at - 2, '(') && transforms(at - 1);
            by_method || by_shape || by_index || is_head
        }
        Some(Token::Name(name)) if code.is_sign(at + 1, '(') && shapes(name) => private.any(at + 2, code.close(at + 1)),
        // `["/home", "u", ".x"].join("/")`
        Some(Token::Sign('[' | '{')) if opens => {
            let close = code.close(at);
            code.is_sign(close + 1, '.') && code.name(close + 2).is_some_and(shapes) && private.any(at + 1, close)
        }
        Some(Token::Name(name)) if code.is_sign(at + 1, '(') => {
            let close = code.close(at + 1);
            let is_method = at > 0 && (code.is_sign(at - 1, '.') || arrow_before(code, at));
            !is_method && private.any(at, close) && code.transforms_path(name, at + 1, close)
        }
        _ => false,
    };
    (0..code.tokens.len()).any(is_cut).then(|| Call::same(&["code-file"]))
}

/// Trees that code of a compiled language removes above its directory or in the home directory: `remove_dir_all(w.parent())`.
pub(super) fn removed_above(code: &Code<'_>) -> Option<Call> {
    if code.language != Language::Source {
        return None;
    }
    let leads_up = |token: &Token| match token {
        Token::Name(name) => is_home(name) || lists(&code::WORDS_UPWARD, &last_component(name).to_ascii_lowercase()),
        Token::Text(text) => matches!(text.as_str(), ".." | "../.." | "../../.." | "/home" | "/Users"),
        Token::Mixed(_) | Token::Command(_) | Token::Sign(_) => false,
    };
    let upward = Counts::of(code.tokens, leads_up);
    let is_removal = |at: usize| {
        let removes = code.name(at).is_some_and(|name| removes_trees(last_component(name)));
        removes && code.is_sign(at + 1, '(') && upward.any(at + 2, code.close(at + 1))
    };
    let remove = || Call::Same(vec![Word::known("rm"), Word::known("-rf"), Word::unknown()]);
    (0..code.tokens.len()).any(is_removal).then(remove)
}

/// Files that functions of SQL read or write, where their names are put together.
pub(super) fn sql_files(code: &Code<'_>) -> Vec<Call> {
    let mut found = Vec::new();
    for at in 0..code.tokens.len() {
        let Some(name) = code.name(at).filter(|_| code.is_sign(at + 1, '(')) else { continue };
        if !lists(&code::MENTIONED_SQL_FILES, &name.to_ascii_lowercase()) {
            continue;
        }
        let end = code.statement_end(at + 2);
        match code.tokens.get(at + 2..end).unwrap_or_default() {
            [Token::Text(file)] => {
                let program = if name.to_ascii_lowercase().contains("write") { "tee" } else { "cat" };
                found.push(Call::same(&[program, file]));
            }
            tokens => {
                code.meter.charge(tokens.len());
                if code.meter.exceeds(&SHELL_STEPS) {
                    break;
                }
                let is_path = |token: &Token| matches!(token, Token::Text(text) if text.contains('/'));
                found.extend(tokens.iter().any(is_path).then(|| Call::same(&["code-file"])));
            }
        }
    }
    found
}

/// What a piece of code in a language with known calls mentions as a value.
pub(super) fn callables(code: &Code<'_>, imported: &Imported, judged: &[bool]) -> Option<Call> {
    let mut heads: Vec<&str> = Vec::new();
    let mut imports = false;
    // The bracket behind the name of a function or class.
    let mut parameters = 0..0;
    let brackets = Counts::of(code.tokens, |token| *token == Token::Sign('['));
    for (at, token) in code.tokens.iter().enumerate() {
        let head = heads.last().copied().unwrap_or_default();
        match token {
            Token::Sign('(' | '[' | '{') => {
                let name = at.checked_sub(1).and_then(|at| code.name(at));
                heads.push(name.filter(|_| code.is_sign(at, '(')).unwrap_or(head));
            }
            Token::Sign(')' | ']' | '}') => {
                heads.pop();
            }
            Token::Sign(';' | '\n') => imports = false,
            // `import("fs")` is a call.
            Token::Name(name)
                if matches!(name.as_str(), "import" | "from" | "use" | "global") && !code.is_sign(at + 1, '(') =>
            {
                imports = true;
            }
            Token::Name(name) if matches!(name.as_str(), "def" | "class") => {
                let end = if code.is_sign(at + 2, '(') { code.close(at + 2) } else { at + 2 };
                parameters = at + 2..end;
            }
            Token::Name(_) if is_parameter(code, &parameters, at) => {}
            Token::Name(name) if !imports && judged.get(at) != Some(&true) => {
                let is_found = !looks_only(head)
                    && (is_callable_value(code, name, at, imported)
                        || is_module_value(code, name, at)
                        || finds_module(code, name, at, &brackets));
                if is_found || is_reflection(name) || is_named_method(code, name, at, head) {
                    return Some(Call::unknown());
                }
            }
            Token::Text(text) if is_callback(code, text, at, head) => return Some(Call::unknown()),
            Token::Text(_) | Token::Name(_) | Token::Mixed(_) | Token::Command(_) | Token::Sign(_) => {}
        }
    }
    None
}

/// Whether a name behind `def` or `class` is the one that is defined, or one of its parameters or bases.
fn is_parameter(code: &Code<'_>, parameters: &Range<usize>, at: usize) -> bool {
    let begins = || matches!(code.token(at - 1), Some(Token::Sign('(' | ',' | '*')));
    at + 1 == parameters.start || parameters.contains(&at) && begins()
}

fn looks_only(head: &str) -> bool {
    lists(&code::MENTIONED_LOOKS, head) || lists(&code::MENTIONED_LOOKS, last_component(head))
}

/// Whether something is done with a name other than calling it, assigning it or naming a member by it.
fn is_value(code: &Code<'_>, at: usize) -> bool {
    let before = at.checked_sub(1).and_then(|at| code.token(at));
    let is_member = matches!(before, Some(Token::Sign('.'))) || arrow_before(code, at);
    let is_assigned = code.is_sign(at + 1, '=') && !code.is_sign(at + 2, '=');
    // The whole value of a variable is followed by its name: `f = os.system`.
    let is_alias = matches!(before, Some(Token::Sign('=')))
        && at.checked_sub(2).is_some_and(|at| code.name(at).is_some())
        && matches!(code.token(at + 1), None | Some(Token::Sign(';' | '\n')));
    let is_called = code.is_sign(at + 1, '(');
    let is_key = code.is_sign(at + 1, ':') && !matches!(before, Some(Token::Sign('?' | ':')));
    let is_defined = matches!(before, Some(Token::Name(word)) if matches!(word.as_str(), "function" | "def" | "sub" | "as" | "local" | "fn"));
    !is_member && !is_assigned && !is_alias && !is_called && !is_key && !is_defined
}

fn arrow_before(code: &Code<'_>, at: usize) -> bool {
    at.checked_sub(2).is_some_and(|start| code.is_sign(start, '-') && code.is_sign(start + 1, '>'))
}

/// A function that runs, deletes or evaluates something, as a value.
fn is_callable_value(code: &Code<'_>, name: &str, at: usize, imported: &Imported) -> bool {
    // A decorator is called with what it decorates.
    let is_decorator = name.starts_with('@') && code.language == Language::Python;
    let name = name.trim_start_matches('@');
    let last = last_component(name);
    let own = match code.language {
        Language::Python => Some(&code::MENTIONED_PYTHON_OWN),
        Language::Node => Some(&code::MENTIONED_NODE_OWN),
        Language::Lua => Some(&code::MENTIONED_LUA_OWN),
        Language::Awk
        | Language::Elixir
        | Language::Perl
        | Language::Php
        | Language::Ruby
        | Language::Sed
        | Language::Lisp
        | Language::Sql
        | Language::Other
        | Language::Source => None,
    };
    if own.is_some_and(|own| lists(own, name)) {
        return is_decorator || is_value(code, at);
    }
    let serious = matches!(
        effect_of(last),
        Some(CallEffect::Run | CallEffect::Spawn | CallEffect::Delete | CallEffect::Code | CallEffect::Lookup)
    );
    if !serious {
        return false;
    }
    let Some((module, _)) = name.rsplit_once('.') else {
        // `from os import system`; `{execSync}` is a member, or a pattern that takes it out of its module.
        let is_imported = imported.has(&code::MENTIONED_IMPORTED);
        let is_member = code.language == Language::Node
            && matches!(at.checked_sub(1).and_then(|at| code.token(at)), Some(Token::Sign('{' | ',')))
            && matches!(code.token(at + 1), Some(Token::Sign('}' | ',')));
        let is_own = matches!(code.language, Language::Python | Language::Node);
        return is_own
            && is_imported
            && !is_member
            && effect_of(name).is_some()
            && is_value(code, at)
            && !is_applied(code, at);
    };
    let is_module = lists(&code::MENTIONED_MODULES, module)
        || modules_of(last).is_some_and(|modules| modules.contains(&module)) && imported.has(&[module]);
    // `p: subprocess.Popen`
    let before = at.checked_sub(1).and_then(|at| code.token(at));
    let is_type = last == "Popen" && matches!(before, Some(Token::Sign(':' | '>' | '|')));
    is_module && !is_type && (is_decorator || is_value(code, at) && !is_applied(code, at))
}

/// `map(os.remove, files)`, which is judged with what else `map` is given.
fn is_applied(code: &Code<'_>, at: usize) -> bool {
    let head = at.checked_sub(2).and_then(|at| code.name(at)).unwrap_or_default();
    code.is_sign(at.wrapping_sub(1), '(')
        && code.is_sign(at + 1, ',')
        && lists(&code::MENTIONED_APPLIERS, last_component(head))
}

/// A module that holds such functions, as a value: `vars(os)`.
fn is_module_value(code: &Code<'_>, name: &str, at: usize) -> bool {
    let modules = match code.language {
        Language::Python => &code::MENTIONED_PYTHON,
        Language::Lua => &code::MENTIONED_LUA,
        Language::Node => &code::MENTIONED_NODE,
        Language::Awk
        | Language::Elixir
        | Language::Perl
        | Language::Php
        | Language::Ruby
        | Language::Sed
        | Language::Lisp
        | Language::Sql
        | Language::Other
        | Language::Source => return false,
    };
    // `os.__dict__.get(x)`
    let dict = name.split_once(".__dict__").map(|(module, _)| module);
    if dict.is_some_and(|module| lists(modules, module)) {
        return true;
    }
    if !lists(modules, name) {
        return false;
    }
    // `child_process[x]`, `os.__dict__["system"]`
    let is_indexed = code.is_sign(at + 1, '[') && !is_harmless_key(code, at + 1);
    let is_called = code.is_sign(at + 1, '(') || code.is_sign(at + 1, '.') || code.is_sign(at + 1, ':');
    is_indexed || !code.is_sign(at + 1, '[') && !is_called && is_value(code, at)
}

/// Whether a bracket holds the name of a function that does nothing serious.
fn is_harmless_key(code: &Code<'_>, open: usize) -> bool {
    let key = code.evaluate(open + 1, code.close(open)).text();
    key.is_some_and(|key| effect_of(&key).is_none())
}

/// `sys.modules.get("os")`, `Object.values(require("child_process"))`, `require("fs")["rm" + x]`
fn finds_module(code: &Code<'_>, name: &str, at: usize, brackets: &Counts) -> bool {
    let is_open = code.is_sign(at + 1, '(') || code.is_sign(at + 1, '[');
    let Some(Token::Text(module)) = code.token(at + 2).filter(|_| is_open) else { return false };
    let module = module.strip_prefix("node:").unwrap_or(module);
    if name == "sys.modules" || name == "sys.modules.get" {
        return lists(&code::MENTIONED_PYTHON, module);
    }
    if last_component(name) != "require" || !lists(&code::MENTIONED_REQUIRED, module) {
        return false;
    }
    let close = code.close(at + 1);
    let before = at.checked_sub(1).and_then(|at| code.token(at));
    let behind = code.token(close + 1);
    let is_argument =
        matches!(before, Some(Token::Sign('(' | ',' | '['))) && matches!(behind, Some(Token::Sign(')' | ',' | ']')));
    let is_indexed = code.is_sign(close + 1, '[') && !matches!(code.token(close + 2), Some(Token::Text(_)))
        || code.is_sign(close + 1, '[') && code.close(close + 1) != close + 3;
    // `const {["exec" + "Sync"]: f} = require("child_process")`
    let pattern = at.checked_sub(2).filter(|close| code.is_sign(close + 1, '=') && code.is_sign(*close, '}'));
    let is_computed = pattern
        .and_then(|close| Some((code.open(close)?, close)))
        .is_some_and(|(open, close)| brackets.any(open, close));
    is_argument || is_indexed || is_computed
}

fn is_reflection(name: &str) -> bool {
    lists(&code::MENTIONED_REFLECTION, name)
        || name.contains('_') && name.split('.').any(|part| lists(&code::MENTIONED_REFLECTION, part))
}

/// Ruby: `Kernel.method(:system)`, `FileUtils.send(:rm_rf, x)`
fn is_named_method(code: &Code<'_>, name: &str, at: usize, head: &str) -> bool {
    let is_symbol = at > 1 && code.is_sign(at - 1, ':');
    // `alias z system`
    let is_renamed = at > 1 && code.name(at - 2) == Some("alias");
    // Elixir: `&File.rm_rf/1`
    let is_captured = at > 0 && code.is_sign(at - 1, '&') && code.is_sign(at + 1, '/');
    let name = if is_captured { last_component(name) } else { name };
    (code.language == Language::Ruby
        && (is_renamed || is_symbol && lists(&code::MENTIONED_RUBY_LOOKUP, last_component(head)))
        || code.language == Language::Elixir && is_captured)
        && matches!(
            effect_of(name),
            Some(CallEffect::Run | CallEffect::Spawn | CallEffect::Delete | CallEffect::Code | CallEffect::Unknown)
        )
}

/// PHP: `array_map("system", …)`, `("sys" . "tem")(…)`
fn is_callback(code: &Code<'_>, text: &str, at: usize, head: &str) -> bool {
    let serious = || {
        matches!(
            effect_of(text.trim_start_matches('\\')),
            Some(CallEffect::Run | CallEffect::Spawn | CallEffect::Delete | CallEffect::Code)
        )
    };
    let before = at.checked_sub(1).and_then(|at| code.token(at));
    let is_argument = matches!(before, Some(Token::Sign('(' | ',' | '[')))
        && matches!(code.token(at + 1), Some(Token::Sign(')' | ',' | ']')));
    let is_called = code.is_sign(at + 1, ')') && code.is_sign(at + 2, '(');
    match code.language {
        Language::Php => {
            let is_data = head.is_empty() || lists(&code::MENTIONED_PHP_LOOKS, head);
            // `include "php://stdin"`
            let includes = matches!(before, Some(Token::Name(word)) if matches!(word.as_str(), "include" | "require" | "include_once" | "require_once"));
            let is_stream = includes && (text.starts_with("php://") || text.starts_with("data:"));
            is_stream || serious() && is_argument && (!is_data || is_called) && !text.contains('.')
        }
        // `logging.config.dictConfig({"()": "os.system"})`
        Language::Python => {
            let module = text.rsplit_once('.').map(|(module, _)| module);
            let effect = effect_of(last_component(text));
            module.is_some_and(|module| lists(&code::MENTIONED_MODULES, module))
                && matches!(effect, Some(CallEffect::Run | CallEffect::Spawn | CallEffect::Code))
                && matches!(before, Some(Token::Sign(':')))
        }
        // `File::Path->can("remove_tree")`
        Language::Perl => is_argument && last_component(head) == "can" && serious(),
        // `rawget(os, "execute")`
        Language::Lua => is_argument && head == "rawget" && serious(),
        Language::Awk
        | Language::Elixir
        | Language::Node
        | Language::Ruby
        | Language::Sed
        | Language::Lisp
        | Language::Sql
        | Language::Other
        | Language::Source => false,
    }
}

/// What a piece of code in a language whose calls are not known by name mentions as a value.
pub(super) fn values(code: &Code<'_>) -> Option<Call> {
    if code.language == Language::Source {
        return None;
    }
    (0..code.tokens.len()).any(|at| is_other_value(code, at)).then(Call::unknown)
}

fn is_other_value(code: &Code<'_>, at: usize) -> bool {
    let before = |back: usize| at.checked_sub(back).and_then(|at| code.token(at));
    let behind = code.token(at + 1);
    let ends = matches!(behind, None | Some(Token::Sign(';' | '\n' | ')' | ',' | '}' | ']')));
    match code.token(at) {
        Some(Token::Name(name)) => {
            let plain = last_component(name);
            let is_listed = lists(&code::MENTIONED_OTHER, name.trim_start_matches('@'))
                || lists(&code::MENTIONED_OTHER, plain) && name.contains("::");
            let is_quoted = code.language == Language::Lisp && matches!(before(1), Some(Token::Sign('\'')));
            let is_handle = name.starts_with('@')
                || matches!((before(2), before(1)), (Some(Token::Sign('<')), Some(Token::Sign('-'))))
                || matches!((before(2), before(1)), (Some(Token::Name(_)), Some(Token::Sign('='))));
            // `ccall(:system, …)`
            let is_symbol = matches!((before(2), before(1)), (Some(Token::Sign('(')), Some(Token::Sign(':'))));
            is_listed && (is_quoted || code.language != Language::Lisp && ends && (is_handle || is_symbol))
        }
        Some(Token::Text(text)) => {
            let is_argument = matches!(before(1), Some(Token::Sign('(' | '[' | '$' | ',') | Token::Name(_))) && ends;
            let head =
                before(2).and_then(|token| if let Token::Name(name) = token { Some(name.as_str()) } else { None });
            let shows = head.is_some_and(|head| head != "get" && lists(&code::WORDS_TEXT, last_component(head)));
            // `function('delete')`
            let names_function = head.is_some_and(|head| matches!(head, "function" | "funcref" | "call"));
            if names_function && is_argument && (effect_of(text).is_some() || super::is_remover(text)) {
                return true;
            }
            lists(&code::MENTIONED_OTHER_TEXTS, text) && is_argument && !shows
        }
        _ => false,
    }
}
