//! Calls by name in scripting languages other than sed.

mod argument;
mod paths;
mod name;
mod table;

use super::token::{Token, tokens};
use super::{Call, Language, distinct};
use crate::verdict::limits::{Meter, SHELL_STEPS};
use argument::{Argument, arguments, closing};
use name::{Imported, makes_path, resolve_aliases};
use std::cell::RefCell;
use std::collections::HashMap;
use table::{CallEffect, QUALIFIED, effect_of};

pub(super) fn calls(language: Language, code: &str, meter: &Meter) -> Vec<Call> {
    let tokens = resolve_aliases(tokens(language, code));
    let imported = Imported::of(&tokens, code);
    let closing = closing(&tokens);
    let code_tokens = Tokens { all: &tokens, closing: &closing, effects: RefCell::default(), meter };
    let mut found = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        if meter.exceeds(&SHELL_STEPS) {
            break;
        }
        match token {
            Token::Command(text) => found.push(Call::Text(text.clone())),
            // `/x/.exec("y")` is a method of a regular expression.
            Token::Name(_) if at >= 2 && is_method_of_a_sign(&tokens, at) => {}
            // `$db->exec()` and `db?.exec()` are methods of something.
            Token::Name(name)
                if matches!(name.as_str(), "exec" | "system" | "query")
                    && at >= 2
                    && tokens.get(at - 1) == Some(&Token::Sign('>'))
                    && tokens.get(at - 2) == Some(&Token::Sign('-')) => {}
            // `model().eval()` is a method of an unknown object.
            Token::Name(name)
                if name == "eval" && at.checked_sub(1).and_then(|at| tokens.get(at)) == Some(&Token::Sign('.')) => {}
            Token::Name(name)
                if language == Language::Php
                    && name.starts_with('$')
                    && tokens.get(at + 1) == Some(&Token::Sign('(')) =>
            {
                found.push(Call::Command(vec![None]));
            }
            // The file is the path that the method is called on.
            Token::Name(name) if matches!(name.rsplit('.').next(), Some("read_text" | "read_bytes")) => {
                found.push(Call::Command(vec![Some("cat".to_owned()), None]));
            }
            Token::Name(name) => {
                found.extend(resolve_call(language, name, &imported, &code_tokens, at + 1));
            }
            Token::Sign('|') if language == Language::Awk => {
                let double = [at.checked_sub(1), Some(at + 1)]
                    .into_iter()
                    .flatten()
                    .any(|at| tokens.get(at) == Some(&Token::Sign('|')));
                if !double {
                    found.extend(awk_pipe(&tokens, at));
                }
            }
            Token::Sign('>') if language == Language::Awk => {
                if let Some(Token::Text(Some(file))) = tokens.get(at + 1) {
                    found.push(Call::from_words(&["tee", file]));
                }
            }
            // gawk connects to the network through special file names.
            Token::Text(Some(text)) if language == Language::Awk && text.starts_with("/inet") => {
                found.push(Call::from_words(&["curl", "--data", "@-", text]));
            }
            Token::Text(_) | Token::Sign(_) => {}
        }
        found.extend(path_method(tokens.get(at..).unwrap_or_default()));
    }
    let mut found = distinct(found, meter);
    // If the file that a call changes or reads is unknown, it may be any that the code names.
    for (kind, all) in [(changes as fn(&[Option<String>]) -> bool, false), (reads, true)] {
        let vague =
            found.iter().find(|call| matches!(call, Call::Command(words) if words.contains(&None) && kind(words)));
        let Some(Call::Command(words)) = vague.cloned() else { continue };
        let verb: Vec<Option<String>> = words.iter().flatten().cloned().map(Some).collect();
        let mut texts = named_paths(&tokens, code, meter);
        if words.first().is_some_and(|verb| verb.as_deref() == Some("rm")) && paths::names_home(&tokens) {
            texts.push("~/".to_owned());
        }
        found.extend(texts.into_iter().map(|text| Call::Command(verb.iter().cloned().chain([Some(text)]).collect())));
        let left = |words: &[Option<String>]| words.contains(&None) && kind(words) && (all || writes(words));
        found.retain(|call| !matches!(call, Call::Command(words) if left(words)));
    }
    distinct(found, meter)
}

/// Returns the paths in a piece of code, literal or composed.
fn named_paths(tokens: &[Token], code: &str, meter: &Meter) -> Vec<String> {
    let path = |token: &Token| match token {
        Token::Text(Some(text)) if !text.is_empty() && !text.contains([' ', '\n', '*', '(']) => Some(text.clone()),
        Token::Text(_) | Token::Name(_) | Token::Sign(_) | Token::Command(_) => None,
    };
    // Assigned to a name, or passed to a call that creates or opens a path.
    let single = tokens.windows(3).filter_map(|near| match near {
        [Token::Name(maker), Token::Sign('('), text] if makes_path(maker) => path(text),
        [Token::Name(_), Token::Sign('='), text] => path(text).filter(|text| text.contains(['/', '.'])),
        _ => None,
    });
    single.chain(paths::joined_paths(tokens, meter)).chain(paths::interpolated_paths(code)).collect()
}

fn reads(words: &[Option<String>]) -> bool {
    matches!(words.first(), Some(Some(verb)) if verb == "cat")
}

fn changes(words: &[Option<String>]) -> bool {
    matches!(words.first(), Some(Some(verb)) if ["cp", "mv", "rm", "tee"].contains(&verb.as_str()))
}

fn writes(words: &[Option<String>]) -> bool {
    matches!(words.first(), Some(Some(verb)) if verb == "tee")
}

fn is_method_of_a_sign(tokens: &[Token], at: usize) -> bool {
    let before = |back: usize| at.checked_sub(back).and_then(|at| tokens.get(at));
    before(1) == Some(&Token::Sign('.')) && matches!(before(2), Some(Token::Sign(sign)) if *sign != ')')
}

/// Returns the command of `"cmd" | getline` or `print | "cmd"`.
fn awk_pipe(tokens: &[Token], at: usize) -> Option<Call> {
    let before = at.checked_sub(1).and_then(|at| tokens.get(at));
    // `|&` is a pipe in both directions.
    let next = if tokens.get(at + 1) == Some(&Token::Sign('&')) { at + 2 } else { at + 1 };
    match (before, tokens.get(next)) {
        (Some(Token::Text(Some(text))), Some(Token::Name(name))) if name == "getline" => Some(Call::Text(text.clone())),
        (_, Some(Token::Text(Some(text)))) => Some(Call::Text(text.clone())),
        (_, Some(Token::Name(name))) if name != "getline" => Some(Call::Command(vec![None])),
        (Some(Token::Name(_) | Token::Sign(')')), Some(Token::Name(_))) => Some(Call::Command(vec![None])),
        _ => None,
    }
}

/// The tokens of a piece of code, with the positions of closing brackets.
struct Tokens<'a> {
    all: &'a [Token],
    closing: &'a [usize],
    /// The effects of names that were looked up, because code may repeat a name thousands of times.
    effects: RefCell<HashMap<&'a str, Option<CallEffect>>>,
    meter: &'a Meter,
}

impl<'a> Tokens<'a> {
    fn effect_of(&self, name: &'a str) -> Option<CallEffect> {
        *self.effects.borrow_mut().entry(name).or_insert_with(|| effect_of(name))
    }
}

fn resolve_call<'a>(
    language: Language,
    name: &'a str,
    imported: &Imported,
    tokens: &Tokens<'a>,
    behind: usize,
) -> Option<Call> {
    let rest = tokens.all.get(behind..).unwrap_or_default();
    // PHP suppresses errors with `@unlink`.
    let name = name.trim_start_matches('@');
    let (module, last) =
        name.rsplit_once(['.', ':']).map_or(("", name), |(module, last)| (module.trim_end_matches(':'), last));
    let effect = tokens.effect_of(last).or_else(|| http_request(name));
    let effect = effect.or_else(|| {
        (imported.has(&["http", "https"]) && matches!(last, "get" | "request")).then_some(CallEffect::Fetch)
    })?;
    let qualified = QUALIFIED.iter().find(|(call, _)| *call == last).map(|(_, modules)| *modules);
    let innermost = module.rsplit(['.', ':']).next().unwrap_or_default();
    // `from subprocess import run` allows the bare name.
    let bare_import = imported.subprocess && module.is_empty() && matches!(last, "run" | "call")
        || qualified.is_some_and(|modules| imported.has(modules));
    if qualified.is_some_and(|modules| !modules.contains(&module) && !modules.contains(&innermost))
        && language != Language::Perl
        && !bare_import
    {
        return None;
    }
    // `p.unlink()` deletes the file that `p` names.
    let empty = matches!(rest, [Token::Sign('('), Token::Sign(')'), ..]);
    if empty && effect == CallEffect::Delete && matches!(last, "unlink" | "rmdir" | "rmtree") && !module.is_empty() {
        return Some(Call::Command(vec![Some("rm".to_owned()), Some("-rf".to_owned()), None]));
    }
    // `fork` in Perl needs no parentheses.
    if effect == CallEffect::Unknown && last == "fork" && language == Language::Perl {
        return build_call(effect, &[]);
    }
    // Only some languages allow calls without parentheses.
    let called = matches!(rest.first(), Some(Token::Sign('(')));
    let plain = matches!(last, "system" | "exec" | "unlink" | "rmtree" | "remove_tree" | "rmdir");
    let bare = matches!(language, Language::Perl | Language::Ruby | Language::Php)
        && match rest.first() {
            Some(Token::Text(_)) => true,
            Some(Token::Name(_)) => plain,
            _ => false,
        };
    if !called && !bare {
        return None;
    }
    // `exec` is also a method of regular expressions.
    if last == "exec"
        && !module.is_empty()
        && language == Language::Node
        && !["child_process", "cp"].contains(&innermost)
    {
        return None;
    }
    let arguments = arguments(tokens.all, behind + usize::from(called), tokens.closing, tokens.meter);
    build_call(effect, &arguments)
}

/// Returns the effect of a call of an HTTP client: `requests.post`, `axios.get`, `Net::HTTP.get`.
fn http_request(name: &str) -> Option<CallEffect> {
    let (module, verb) = name.rsplit_once('.')?;
    let client =
        ["requests", "httpx", "axios", "http", "https", "Net::HTTP", "urllib3", "session", "aiohttp"].contains(&module);
    match verb {
        "get" | "head" | "request" if client => Some(CallEffect::Fetch),
        "post" | "put" | "patch" if client => Some(CallEffect::Send),
        _ => None,
    }
}

fn build_call(effect: CallEffect, arguments: &[Argument]) -> Option<Call> {
    let text = |at: usize| match arguments.get(at) {
        Some(Argument::Text(text)) => text.clone(),
        _ => None,
    };
    let with = |words: &[&str], operands: Vec<Option<String>>| {
        let words = words.iter().map(|word| Some((*word).to_owned()));
        Some(Call::Command(words.chain(operands).collect()))
    };
    // A method without arguments acts on its object, which is unknown here.
    if arguments.is_empty() && !matches!(effect, CallEffect::Unknown | CallEffect::WriteObject) {
        return None;
    }
    match effect {
        CallEffect::Run => match arguments.first()? {
            // Several strings are a program and its arguments.
            Argument::Text(_)
                if arguments.len() > 1 && arguments.iter().all(|argument| matches!(argument, Argument::Text(_))) =>
            {
                Some(Call::Command((0..arguments.len()).map(text).collect()))
            }
            Argument::Text(Some(text)) => Some(Call::Text(text.clone())),
            Argument::List(words) => Some(Call::Command(words.clone())),
            Argument::Text(None) | Argument::Other | Argument::Keyword(..) => Some(Call::Command(vec![None])),
        },
        CallEffect::Spawn => {
            let mut words = Vec::new();
            for argument in arguments {
                match argument {
                    Argument::Text(text) => words.push(text.clone()),
                    Argument::List(list) => words.extend(list.clone()),
                    Argument::Other => words.push(None),
                    Argument::Keyword(..) => {}
                }
            }
            Some(Call::Command(words))
        }
        CallEffect::Delete => with(&["rm", "-rf"], vec![text(0)]),
        CallEffect::Write => with(&["tee"], vec![text(0)]),
        CallEffect::Open => {
            let named = arguments.iter().find_map(|argument| match argument {
                Argument::Keyword(name, value) if name == "mode" => value.clone(),
                Argument::Keyword(..) | Argument::Text(_) | Argument::List(_) | Argument::Other => None,
            });
            // A computed second argument may be a mode that writes.
            if let [_, Argument::Text(None), ..] = arguments {
                return with(&["tee"], vec![None]);
            }
            let Some(mode) = named.or_else(|| text(1)) else {
                let Some(file) = text(0) else { return with(&["cat"], vec![None]) };
                // Ruby: `open("|cmd")` runs a command.
                return Some(match file.strip_prefix('|') {
                    Some(command) => Call::Text(command.to_owned()),
                    None if file.contains("://") => Call::from_words(&["curl", &file]),
                    None => Call::from_words(&["cat", &file]),
                });
            };
            // Perl: mode and name in one argument, `open(F, ">x")`.
            if let Some(file) =
                mode.strip_prefix('>').map(|file| file.trim_start_matches('>').trim()).filter(|file| !file.is_empty())
            {
                return with(&["tee"], vec![Some(file.to_owned())]);
            }
            // Perl: a command, `open(F, "cmd |")`.
            if let Some(command) = mode.trim().strip_suffix('|').or_else(|| mode.trim().strip_prefix('|')) {
                let command = if command.trim_matches('-').is_empty() { text(2) } else { Some(command.to_owned()) };
                return Some(command.map_or(Call::Command(vec![None]), Call::Text));
            }
            // Perl: mode and name apart, `open(my $f, ">>", "x")`.
            if mode.starts_with('>') && text(2).is_some() {
                return with(&["tee"], vec![text(2)]);
            }
            let writes = mode.len() <= 4 && mode.contains(['w', 'a', 'x', '+', '>']);
            // Perl: the first argument is a handle, `open(F, "x")`, `open(F, "<", "x")`.
            let file = text(0).or_else(|| text(2)).unwrap_or_else(|| mode.trim_start_matches(['<', ' ']).to_owned());
            if writes { with(&["tee"], vec![text(0)]) } else { Some(Call::from_words(&["cat", &file])) }
        }
        CallEffect::Move => with(&["mv"], vec![text(0), text(1)]),
        CallEffect::Copy => with(&["cp"], vec![text(0), text(1)]),
        CallEffect::Fetch => with(&["curl"], vec![text(0)]),
        CallEffect::Send => with(&["curl", "--data", "@-"], vec![text(0)]),
        CallEffect::Read => Some(match text(0) {
            Some(file) if file.contains("://") => Call::from_words(&["curl", &file]),
            Some(file) => Call::from_words(&["cat", &file]),
            None => return with(&["cat"], vec![None]),
        }),
        // A computed name may find any call.
        CallEffect::Lookup => {
            let harmless = text(1).is_some_and(|name| effect_of(&name).is_none());
            (!harmless).then(|| Call::Command(vec![None]))
        }
        CallEffect::Unknown => Some(Call::Command(vec![None])),
        CallEffect::WriteObject => with(&["tee"], vec![None]),
    }
}

/// Recognises methods of a literal path: `Path("…").unlink()`.
fn path_method(tokens: &[Token]) -> Option<Call> {
    let [
        Token::Name(name),
        Token::Sign('('),
        Token::Text(Some(file)),
        Token::Sign(')'),
        Token::Sign('.'),
        Token::Name(method),
        ..,
    ] = tokens
    else {
        return None;
    };
    match method.as_str() {
        _ if name != "Path" && !name.ends_with(".Path") => None,
        "unlink" | "rmdir" => Some(Call::from_words(&["rm", "-rf", file])),
        "write_text" | "write_bytes" | "touch" => Some(Call::from_words(&["tee", file])),
        "open" if matches!(tokens.get(7), Some(Token::Text(Some(mode))) if mode.contains(['w', 'a', 'x', '+'])) => {
            Some(Call::from_words(&["tee", file]))
        }
        _ => None,
    }
}
