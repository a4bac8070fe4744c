//! What commands show of a file with secrets: only names of files, only names of variables, or variables without secrets.

use super::{SEARCHERS, is_secret_name};
use crate::decide::context::Context;
use crate::shell::{Arg, Command};

/// Endings of variables whose value often contains a password.
const ADDRESSES: [&str; 5] = ["URL", "URI", "DSN", "STRING", "CONNECTION"];

/// Last words of variables that hold no secret.
const PLAIN: [&str; 10] = ["DEBUG", "DIR", "ENV", "HOST", "LEVEL", "MODE", "PORT", "REGION", "TIMEOUT", "VERSION"];

/// Whether a command lists files without showing what is in them: `rg --files`.
pub(in super::super) fn shows_file_names(command: &Command) -> bool {
    command.program == "rg" && command.args.iter().any(|arg| arg.text == "--files")
}

/// Whether a command shows only the names of variables: `cut -d= -f1 .env`, `sed 's/=.*//' .env`, `awk -F= '{print $1}' .env`.
///
/// Only words that are known to show no more are accepted.
pub(super) fn shows_names(command: &Command) -> bool {
    if !command.args.iter().all(Arg::is_known) {
        return false;
    }
    let words: Vec<&str> = command.args.iter().map(|arg| arg.text.as_str()).collect();
    match command.program.as_str() {
        "cut" => {
            let Some(operands) =
                split_options(&words, &["-d=", "--delimiter==", "-f1", "--fields=1", "-s"], &["-d =", "-f 1"])
            else {
                return false;
            };
            let has = |forms: [&str; 3]| {
                words.iter().any(|word| forms.contains(word)) || words.windows(2).any(|pair| pair.join(" ") == forms[2])
            };
            !operands.is_empty() && has(["-d=", "--delimiter==", "-d ="]) && has(["-f1", "--fields=1", "-f 1"])
        }
        "awk" | "gawk" | "mawk" => {
            let prints_first = |word: &str| word.replace(' ', "") == "{print$1}";
            let separated = words.contains(&"-F=") || words.windows(2).any(|pair| pair == ["-F", "="]);
            let operands = split_options(&words, &["-F="], &["-F ="]).unwrap_or_default();
            separated && operands.first().is_some_and(|program| prints_first(program))
        }
        "sed" | "gsed" => {
            let Some(operands) = split_options(&words, &["-E", "-r", "-n", "-nE", "-nr", "-En"], &[]) else {
                return false;
            };
            let prints = if words.iter().any(|word| word.starts_with("-n") || *word == "-En") { "p" } else { "" };
            operands.first().is_some_and(|script| {
                let mut steps = script.split(';').map(str::trim).peekable();
                // Lines may be left out before the values are removed.
                while steps.next_if(|step| step.starts_with('/') && step.ends_with("/d") && step.len() > 3).is_some() {}
                steps.next().is_some_and(|step| hides_value(step, prints)) && steps.next().is_none()
            })
        }
        program if SEARCHERS.contains(&program) => {
            let is_cluster = |word: &&str| {
                let letters = word.strip_prefix('-').unwrap_or_default();
                !letters.is_empty() && letters.chars().all(|letter| "oEGPhHnsa".contains(letter))
            };
            let long = ["--only-matching", "--no-filename", "--extended-regexp"];
            let (options, operands): (Vec<&str>, Vec<&str>) = words.iter().partition(|word| word.starts_with('-'));
            let only_matching = options.iter().any(|word| *word == long[0] || is_cluster(word) && word.contains('o'));
            only_matching
                && options.iter().all(|word| is_cluster(word) || long.contains(word))
                && operands.first().is_some_and(|pattern| matches_name(pattern))
        }
        _ => false,
    }
}

/// The operands of a command, if all its options are listed, alone or with their value.
fn split_options<'w>(words: &[&'w str], options: &[&str], pairs: &[&str]) -> Option<Vec<&'w str>> {
    let mut operands = Vec::new();
    let mut rest = words.iter();
    while let Some(word) = rest.next() {
        if !word.starts_with('-') {
            operands.push(*word);
        } else if !options.contains(word) {
            let value = rest.next()?;
            if !pairs.iter().any(|pair| pair.split_once(' ') == Some((*word, *value))) {
                return None;
            }
        }
    }
    Some(operands)
}

/// Whether a substitution of `sed` replaces everything behind the first `=` by a fixed text.
fn hides_value(script: &str, prints: &str) -> bool {
    let mut parts = script.strip_prefix(['s']).and_then(|rest| {
        let delimiter = rest.chars().next().filter(|delimiter| "/|#,".contains(*delimiter))?;
        rest.get(1..).map(|rest| rest.split(delimiter))
    });
    let mut next = || parts.as_mut().and_then(Iterator::next);
    let (Some(pattern), Some(replacement), Some(flags), None) = (next(), next(), next(), next()) else { return false };
    matches!(pattern, "=.*" | "=.*$" | "=.\\+" | "=.+" | "=.+$")
        && !replacement.contains(['&', '\\'])
        && flags.trim_start_matches('g') == prints
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
    let is_search = SEARCHERS.contains(&command.program.as_str());
    // No lines around those that match, no other patterns, no lines that do not match.
    let shows_more = |word: &str| {
        word.strip_prefix('-').is_some_and(|letters| !letters.chars().all(|letter| "EFGPhHnioqswxlca".contains(letter)))
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
