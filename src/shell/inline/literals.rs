//! Code in languages whose calls are not known by name: SQL shells, editors, debuggers, Lisp, Julia, R and others.
//!
//! Finds texts that are run or removed, whatever the language: string literals that are a command line, lines that a
//! database shell or an editor hands to a shell, and names that say "remove" before a path or a home directory.

use super::Call;
use crate::programs;

/// Beginnings of a line behind which a database shell, an editor or a debugger runs shell text.
const SHELL_LINES: [&str; 11] =
    ["\\!", ".sh ", ".shell ", ".system ", "system ", "!", ":!", "shell ", "platform shell ", "r !", "w !"];

/// Parts of names of functions that remove what they are given.
const REMOVERS: [&str; 9] = ["rm", "rmtree", "remove", "delete", "unlink", "del_dir_r", "erase", "rmdir", "del_dir"];

/// Programs that code starts with their arguments as separate literals.
const WORD_PROGRAMS: [&str; 18] = [
    "rm", "sh", "bash", "zsh", "dash", "env", "sudo", "curl", "wget", "dd", "mv", "cp", "chmod", "chown", "shred",
    "kill", "git", "tee",
];

/// Names that stand for the home directory.
const HOMES: [&str; 8] = ["home", "homedir", "$HOME", "HOME", "home_dir", "homeDirectory", "user_home", "userHome"];

/// Finds what the code runs and removes.
pub(super) fn calls(code: &str) -> Vec<Call> {
    let mut calls: Vec<Call> = code.split(['\n', ';']).filter_map(shell_line).collect();
    let tokens = tokens(code);
    for (index, token) in tokens.iter().enumerate() {
        let rest = tokens.get(index..).unwrap_or_default();
        match token {
            Token::Literal(text) => calls.extend(command(text, rest)),
            Token::Backquoted(text) => calls.push(Call::Text((*text).to_owned())),
            Token::Name(name) if is_remover(name) => calls.extend(removals(rest.get(1..).unwrap_or_default())),
            Token::Name(_) | Token::Sign(_) => {}
        }
    }
    calls
}

/// Signs that code computes which function it calls.
const COMPUTED_CALLS: [&str; 16] = [
    "&$", "&{", "->$", "array_map", "call_user_func", "array_walk", "usort", "getattr", "__import__", "globals()",
    "__getattribute__", "public_send", ".send(", "Function(", "Reflect.", "child_\"+",
];

/// Finds what code in a language with known calls runs in a way that its calls do not show: literals that are opened as
/// a pipe, commands in code that computes its calls, and removals of directories close to the root by any function.
pub(super) fn hidden_calls(code: &str) -> Vec<Call> {
    let is_computed = COMPUTED_CALLS.iter().any(|sign| code.contains(sign));
    let tokens = tokens(code);
    let mut calls = Vec::new();
    for (index, token) in tokens.iter().enumerate() {
        match token {
            Token::Literal(text) if text.trim_start().starts_with('|') || text.trim_end().ends_with('|') => {
                calls.extend(command(text.trim().trim_matches('|'), &[]));
            }
            Token::Literal(text) if is_computed => calls.extend(command(text, &[])),
            Token::Name(name) if removes_trees(name) => {
                let literal = tokens.iter().skip(index + 1).take(4).find_map(|token| match token {
                    Token::Literal(text) => Some(*text),
                    Token::Name(_) | Token::Backquoted(_) | Token::Sign(_) => None,
                });
                let is_short = |path: &&str| path.starts_with(['/', '~']) && path.matches('/').count() < 3;
                calls.extend(literal.filter(is_short).map(|path| Call::from_words(&["rm", "-rf", path])));
            }
            Token::Literal(_) | Token::Name(_) | Token::Backquoted(_) | Token::Sign(_) => {}
        }
    }
    calls
}

/// Whether the name of a function says that it removes a directory with what is in it.
fn removes_trees(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    let removes = ["delete", "remove", "rmtree", "finddepth", "purge"].iter().any(|part| name.contains(part));
    removes && ["dir", "tree", "all", "recursive", "depth", "folder"].iter().any(|part| name.contains(part))
}

/// `\! cmd`, `.sh cmd`, `\o |cmd`, `.once |cmd`.
fn shell_line(line: &str) -> Option<Call> {
    // Vim: `silent !cmd`.
    let line = ["silent!", "silent"].iter().find_map(|start| line.trim().strip_prefix(start)).unwrap_or(line).trim();
    let shell = SHELL_LINES.iter().find_map(|start| line.strip_prefix(start));
    let piped = || {
        let (before, text) = line.split_once('|')?;
        let option = before.trim().trim_end_matches(['\'', '"']).trim();
        let pipes =
            matches!(option, "\\o" | "\\out" | "\\g" | "\\w" | "\\copy" | ".once" | ".output" | ".read" | ".import");
        pipes.then(|| text.trim_end_matches(['\'', '"']))
    };
    shell.or_else(piped).filter(|text| !text.trim().is_empty()).map(|text| Call::Text(text.to_owned()))
}

/// A literal that is a command line, or the first of several that are its words: `"rm", "-rf", "/x"`.
fn command(text: &str, rest: &[Token<'_>]) -> Option<Call> {
    let text = text.trim().trim_start_matches('|').trim();
    let (first, arguments) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
    let program = first.rsplit('/').next().unwrap_or_default();
    if programs::embedded(program).is_none_or(|entry| entry.does.is_none()) {
        return None;
    }
    if !arguments.is_empty() {
        return Some(Call::Text(text.to_owned()));
    }
    // A single word is a program only where it is one that code usually runs: `"now"` is also a date.
    if !WORD_PROGRAMS.contains(&program) {
        return None;
    }
    let words = rest.iter().skip(1).take_while(|token| !matches!(token, Token::Sign(')' | ']' | '}' | '\n')));
    let words = words.filter_map(|token| match token {
        Token::Literal(word) => Some(Some((*word).to_owned())),
        Token::Name(_) | Token::Sign(_) | Token::Backquoted(_) => None,
    });
    let words: Vec<Option<String>> = [Some(text.to_owned())].into_iter().chain(words).collect();
    (words.len() > 1).then_some(Call::Command(words))
}

fn is_remover(name: &str) -> bool {
    name.split(['.', ':', '/', '-', '!', '#']).any(|part| REMOVERS.contains(&part.to_ascii_lowercase().as_str()))
}

/// What a function that removes is given, up to the end of the call.
fn removals(rest: &[Token<'_>]) -> Vec<Call> {
    let remove = |target: &str| Call::from_words(&["rm", "-rf", target]);
    let arguments = rest.iter().take_while(|token| !matches!(token, Token::Sign(';' | '\n' | '}')));
    let found = arguments.filter_map(|token| match token {
        Token::Literal(text) if text.contains('/') || text.starts_with('~') => Some(remove(text)),
        Token::Name(name) if name.split(['.', '(', ':']).any(|part| HOMES.contains(&part)) => {
            Some(Call::Text("rm -rf ~".into()))
        }
        Token::Literal(_) | Token::Name(_) | Token::Sign(_) | Token::Backquoted(_) => None,
    });
    found.collect()
}

/// As much of a language as all languages have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Token<'a> {
    Name(&'a str),
    /// A text in quotes.
    Literal(&'a str),
    Backquoted(&'a str),
    Sign(char),
}

fn tokens(code: &str) -> Vec<Token<'_>> {
    let mut tokens = Vec::new();
    let mut rest = code;
    while let Some(c) = rest.chars().next() {
        let behind = rest.get(c.len_utf8()..).unwrap_or_default();
        let (token, length) = match c {
            '"' | '\'' | '`' => {
                let end = closing(behind, c);
                let text = behind.get(..end).unwrap_or_default();
                let token = if c == '`' { Token::Backquoted(text) } else { Token::Literal(text) };
                (Some(token), (1 + end + 1).min(rest.len()))
            }
            c if c.is_alphanumeric() || c == '_' || c == '$' => {
                let end = rest.find(|c: char| !(c.is_alphanumeric() || "_$.:-/!#".contains(c))).unwrap_or(rest.len());
                (rest.get(..end).map(Token::Name), end)
            }
            ' ' | '\t' => (None, 1),
            c => (Some(Token::Sign(c)), c.len_utf8()),
        };
        tokens.extend(token);
        rest = rest.get(length..).unwrap_or_default();
    }
    tokens
}

/// Where a quoted text ends.
fn closing(text: &str, quote: char) -> usize {
    let mut escaped = false;
    for (at, c) in text.char_indices() {
        if c == quote && !escaped {
            return at;
        }
        escaped = c == '\\' && !escaped;
    }
    text.len()
}
