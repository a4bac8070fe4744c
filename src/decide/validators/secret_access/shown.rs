//! What commands show of a file with secrets: only names of files, only names of variables, or variables without secrets.

use super::is_secret_name;
use crate::decide::context::Context;
use crate::programs::code::lists;
use crate::programs::roles;
use crate::shell::{Access, Arg, Command};

/// Endings of variables whose value often contains a password.
const ADDRESSES: [&str; 5] = ["URL", "URI", "DSN", "STRING", "CONNECTION"];

/// Last words of variables that hold no secret.
const PLAIN: [&str; 10] = ["DEBUG", "DIR", "ENV", "HOST", "LEVEL", "MODE", "PORT", "REGION", "TIMEOUT", "VERSION"];

/// What each command of the shell text shows of the files that it reads. It is collected once, because a command may read
/// thousands of files.
#[derive(Debug, Default)]
pub(crate) struct ShownParts(Vec<Shown>);

#[derive(Clone, Copy, Debug)]
struct Shown {
    /// Only the names of files.
    file_names: bool,
    /// No value of a variable with a secret.
    no_secrets: bool,
}

impl ShownParts {
    fn of_row(row: Option<usize>, context: &Context<'_>) -> Option<Shown> {
        let commands = || context.reading().map(|reading| reading.commands.as_slice()).unwrap_or_default();
        let shown = |command: &Command| Shown {
            file_names: shows_file_names(command),
            no_secrets: shows_names(command) || shows_plain_variables(command, context),
        };
        let parts = context.shown_parts.get_or_init(|| ShownParts(commands().iter().map(shown).collect()));
        parts.0.get(row?).copied()
    }
}

/// Whether a command lists files without showing what is in them.
pub(in super::super) fn lists_files(access: &Access, context: &Context<'_>) -> bool {
    ShownParts::of_row(access.row, context).is_some_and(|shown| shown.file_names)
}

/// Whether a command shows only the names of variables, or variables without secrets.
pub(super) fn hides_secrets(access: &Access, context: &Context<'_>) -> bool {
    ShownParts::of_row(access.row, context).is_some_and(|shown| shown.no_secrets)
}

/// `rg --files`
fn shows_file_names(command: &Command) -> bool {
    command.program == "rg" && command.args.iter().any(|arg| arg.text == "--files")
}

/// Whether a command shows only the names of variables: `cut -d= -f1 .env`, `sed 's/=.*//' .env`, `awk -F= '{print $1}' .env`.
///
/// Only words that are known to show no more are accepted.
fn shows_names(command: &Command) -> bool {
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
            let has = |alone: [&str; 2], pair: [&str; 2]| {
                words.iter().any(|word| alone.contains(word)) || words.windows(2).any(|words| words == pair)
            };
            !operands.is_empty()
                && has(["-d=", "--delimiter=="], ["-d", "="])
                && has(["-f1", "--fields=1"], ["-f", "1"])
        }
        "awk" | "gawk" | "mawk" => {
            let prints_first = |word: &str| word.replace(' ', "") == "{print$1}";
            let separated = words.contains(&"-F=") || words.windows(2).any(|pair| pair == ["-F", "="]);
            let operands = split_options(&words, &["-F="], &["-F ="]).unwrap_or_default();
            // A file whose name contains `=` is an assignment, which may set another separator.
            let is_file = |word: &&str| !word.contains('=');
            let (program, files) = operands.split_first().unzip();
            separated
                && program.is_some_and(|program| prints_first(program))
                && files.is_some_and(|files| files.iter().all(is_file))
        }
        "sed" | "gsed" => {
            let Some(operands) = split_options(&words, &["-E", "-r", "-n", "-nE", "-nr", "-En"], &[]) else {
                return false;
            };
            let has_letter = |letter| words.iter().any(|word| word.starts_with('-') && word.contains(letter));
            let prints = if has_letter('n') { "p" } else { "" };
            let syntax = if has_letter('E') || has_letter('r') { Syntax::Extended } else { Syntax::Basic };
            operands.first().filter(|script| !script.contains('\n')).is_some_and(|script| {
                let mut steps = script.split(';').map(|step| step.trim_matches(' ')).peekable();
                // Lines may be left out before the values are removed.
                while steps.next_if(|step| only_deletes(step)).is_some() {}
                steps.next().is_some_and(|step| hides_value(step, prints, syntax)) && steps.next().is_none()
            })
        }
        program if lists(&roles::FILES_SEARCHERS, program) => {
            let listed = if is_grep(program) { "oEGPhHnsa" } else { name_letters(program) };
            let is_cluster = |word: &&str| {
                let letters = word.strip_prefix('-').unwrap_or_default();
                !letters.is_empty() && letters.chars().all(|letter| listed.contains(letter))
            };
            let long: &[&str] = match program {
                "rg" => &["--only-matching", "--no-filename"],
                _ if is_grep(program) => &["--only-matching", "--no-filename", "--extended-regexp"],
                _ => &[],
            };
            let (options, operands): (Vec<&str>, Vec<&str>) = words.iter().partition(|word| word.starts_with('-'));
            let only_matching = options.iter().any(|word| match word.strip_prefix("--") {
                Some(name) => name == "only-matching",
                None => word.contains('o'),
            });
            only_matching
                && options.iter().all(|word| is_cluster(word) || long.contains(word))
                && operands.first().is_some_and(|pattern| matches_name(pattern))
        }
        _ => false,
    }
}

/// The syntax of a regular expression of `sed`.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Syntax {
    /// `+` is a character, `\+` an operator.
    Basic,
    /// `+` is an operator, `\+` a character.
    Extended,
}

/// Whether a program is one whose options are those of `grep`.
fn is_grep(program: &str) -> bool {
    matches!(program, "grep" | "egrep" | "fgrep")
}

/// The letters of options of another searching program that take no value and show no more than the match.
fn name_letters(program: &str) -> &'static str {
    if program == "rg" { "oPHInNs" } else { "" }
}

/// Whether a step of `sed` leaves out lines and does nothing else: `/^#/d`.
fn only_deletes(step: &str) -> bool {
    let expression = step.strip_prefix('/').and_then(|rest| rest.strip_suffix("/d"));
    expression.is_some_and(|expression| !expression.is_empty() && !expression.contains(['/', '\\']))
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
fn hides_value(script: &str, prints: &str, syntax: Syntax) -> bool {
    let mut parts = script.strip_prefix(['s']).and_then(|rest| {
        let delimiter = rest.chars().next().filter(|delimiter| "/|#,".contains(*delimiter))?;
        rest.get(1..).map(|rest| rest.split(delimiter))
    });
    let mut next = || parts.as_mut().and_then(Iterator::next);
    let (Some(pattern), Some(replacement), Some(flags), None) = (next(), next(), next(), next()) else { return false };
    let is_whole = match pattern {
        "=.*" | "=.*$" => true,
        "=.\\+" | "=.\\+$" => syntax == Syntax::Basic,
        "=.+" | "=.+$" => syntax == Syntax::Extended,
        _ => false,
    };
    is_whole && !replacement.contains(['&', '\\']) && flags.trim_start_matches('g') == prints
}

/// Whether a pattern matches only the name at the beginning of a line: `^[A-Z_]*`, `^[^=]+`.
fn matches_name(pattern: &str) -> bool {
    let class = pattern.strip_prefix("^[").and_then(|rest| rest.split_once(']'));
    class.is_some_and(|(class, rest)| {
        let excludes_value = match class.strip_prefix('^') {
            Some(excluded) => excluded.contains('=') && excluded.chars().all(|c| "=# ".contains(c) || is_name_char(c)),
            None => is_class_of_names(class),
        };
        excludes_value && matches!(rest, "*" | "+" | "\\+" | "*=" | "+=" | "\\+=")
    })
}

fn is_name_char(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

/// Whether a class of characters holds only those of names: `A-Z0-9_`.
fn is_class_of_names(class: &str) -> bool {
    let mut rest = class;
    while !rest.is_empty() {
        let range = ["A-Z", "a-z", "0-9"].iter().find_map(|range| rest.strip_prefix(range));
        match range.or_else(|| rest.strip_prefix(is_name_char)) {
            Some(behind) => rest = behind,
            None => return false,
        }
    }
    !class.is_empty()
}

/// Whether a search shows only variables whose names say that they hold no secret: `grep '^PORT=' .env`.
fn shows_plain_variables(command: &Command, context: &Context<'_>) -> bool {
    let is_search = lists(&roles::FILES_SEARCHERS, &command.program);
    // No lines around those that match, no other patterns, no lines that do not match.
    let listed = match command.program.as_str() {
        program if is_grep(program) => "EFGPhHnioqswxlca",
        "rg" => "FHINPSacilnoqswx",
        "ag" => "FHQSacilosw",
        _ => "i",
    };
    let shows_more = |word: &str| {
        word.strip_prefix('-').is_some_and(|letters| !letters.chars().all(|letter| listed.contains(letter)))
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
