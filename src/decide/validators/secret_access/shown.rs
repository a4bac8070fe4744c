//! What commands show of a file with secrets: only names of files, only names of variables, or variables without secrets.

use super::is_secret_name;
use crate::decide::context::Context;
use crate::programs::code::lists;
use crate::programs::roles;
use crate::shell::Command;

/// Endings of variables whose value often contains a password.
const ADDRESSES: [&str; 5] = ["URL", "URI", "DSN", "STRING", "CONNECTION"];

/// Last words of variables that hold no secret.
const PLAIN: [&str; 10] = ["DEBUG", "DIR", "ENV", "HOST", "LEVEL", "MODE", "PORT", "REGION", "TIMEOUT", "VERSION"];

/// Whether a command lists files without showing what is in them: `rg --files`.
pub(in super::super) fn shows_file_names(command: &Command) -> bool {
    command.program == "rg" && command.args.iter().any(|arg| arg.text == "--files")
}

/// Whether a command shows only the names of variables: `cut -d= -f1 .env`, `sed 's/=.*//' .env`, `awk -F= '{print $1}' .env`.
pub(super) fn shows_names(command: &Command) -> bool {
    let words: Vec<&str> = command.args.iter().map(|arg| arg.text.as_str()).collect();
    let has = |forms: &[&[&str]]| forms.iter().any(|form| words.windows(form.len()).any(|window| window == *form));
    match command.program.as_str() {
        "cut" => has(&[&["-d="], &["-d", "="], &["--delimiter=="]]) && has(&[&["-f1"], &["-f", "1"], &["--fields=1"]]),
        "awk" | "gawk" | "mawk" => {
            let prints_first = |word: &&str| word.replace(' ', "").trim_matches(['{', '}']) == "print$1";
            has(&[&["-F="], &["-F", "="]]) && words.iter().any(prints_first)
        }
        "sed" | "gsed" => {
            let mut scripts = words.iter().filter(|word| word.starts_with("s/") || word.starts_with("s|")).peekable();
            scripts.peek().is_some() && scripts.any(|script| hides_value(script)) && !has(&[&["-i"]])
        }
        program if lists(&roles::FILES_SEARCHERS, program) => {
            let only_matching =
                words.iter().any(|word| word.starts_with('-') && !word.starts_with("--") && word.contains('o'));
            let mut patterns = words.iter().filter(|word| !word.starts_with('-'));
            only_matching && patterns.next().is_some_and(|pattern| matches_name(pattern))
        }
        _ => false,
    }
}

/// Whether a substitution of `sed` replaces everything behind `=` by a fixed text.
fn hides_value(script: &str) -> bool {
    let Some(delimiter) = script.chars().nth(1) else { return false };
    let mut parts = script.split(delimiter).skip(1);
    let (pattern, replacement) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
    matches!(pattern, "=.*" | "=.*$" | "=.\\+" | "=.+" | "=.+$") && !replacement.contains(['&', '\\'])
}

/// Whether a pattern matches only the name at the beginning of a line: `^[A-Z_]*`, `^[^=]+`.
fn matches_name(pattern: &str) -> bool {
    let class = pattern.strip_prefix("^[").and_then(|rest| rest.split_once(']'));
    class.is_some_and(|(class, rest)| {
        let excludes_value =
            if class.starts_with('^') { class.contains('=') } else { !class.contains(['=', '.', ' ']) };
        excludes_value && matches!(rest, "*" | "+" | "\\+" | "*=" | "+=" | "\\+=")
    })
}

/// Whether a search shows only variables whose names say that they hold no secret: `grep '^PORT=' .env`.
pub(super) fn shows_plain_variables(command: &Command, context: &Context<'_>) -> bool {
    let is_search = lists(&roles::FILES_SEARCHERS, &command.program);
    let shows_more = |word: &str| {
        let letters = word.strip_prefix('-').filter(|letters| !letters.starts_with('-')).unwrap_or_default();
        letters.contains(['v', 'A', 'B', 'C', 'f', 'r', 'R', 'e', 'z']) || word.starts_with("--")
    };
    let mut words = command.args.iter().map(|arg| arg.text.as_str());
    let Some(pattern) = words.clone().find(|word| !word.starts_with('-')).filter(|_| is_search) else { return false };
    // The name must be whole, or end in a word that no secret ends in: `DB` also matches `DB_PASSWORD`.
    let is_whole = pattern.starts_with('^') && pattern.ends_with('=');
    let is_plain = |name: &str| {
        let is_name = |byte: u8| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_';
        let last = name.rsplit('_').next().unwrap_or_default();
        name.len() > 2
            && name.bytes().all(is_name)
            && (is_whole || PLAIN.contains(&last))
            && !is_secret_name(&format!("X_{name}"), context)
            && !ADDRESSES.contains(&last)
    };
    let names: String = pattern.chars().filter(|c| !"^$()=\\\"'".contains(*c)).collect();
    command.args.iter().all(|arg| arg.is_known()) && !words.any(shows_more) && names.split('|').all(is_plain)
}
