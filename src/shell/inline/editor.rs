//! Commands of editors, debuggers and database shells: their ranges, modifiers and abbreviations.

use super::strings::{Delimiter, Escapes, string};
use super::{Call, Language, words};
use crate::programs::code::{self, lists};
use crate::verdict::limits::Meter;

/// What a line of an editor or a debugger hands to a shell: `:1,$!ls`, `she ls`, `.sys ls`.
pub(super) fn shell_text(line: &str) -> Option<Call> {
    let line = line.trim();
    if let Some(text) = abbreviated(line) {
        return Some(text);
    }
    let command = behind_modifiers(line);
    let (word, rest) = split_word(command);
    // `:%!ls`, `:0r!ls`, `:w !ls`
    if command.len() < line.len() && word.is_empty() {
        return command.strip_prefix('!').filter(|text| !text.starts_with(['=', '(', '~'])).map(text_of);
    }
    let reads = matches!(word, "r" | "re" | "rea" | "read" | "w" | "wr" | "wri" | "writ" | "write" | "ter" | "term");
    if reads && let Some(text) = rest.trim_start().strip_prefix('!').filter(|text| !text.starts_with('=')) {
        return Some(text_of(text));
    }
    // `:norm :!ls`
    if word.starts_with("norm") && "normal".starts_with(word) {
        let (_, text) = rest.split_once(":!")?;
        return Some(text_of(text.split(['\r', '\n']).next().unwrap_or_default()));
    }
    if matches!(word, "exe" | "exec" | "execu" | "execut" | "execute") {
        return executed(rest);
    }
    None
}

/// What a computed command of an editor runs: `exe "!ls"`, `exe join(x)`.
fn executed(rest: &str) -> Option<Call> {
    let rest = rest.trim_start();
    let quote = rest.chars().next().filter(|c| matches!(c, '"' | '\''));
    let Some(quote) = quote else {
        let is_call = rest.contains('(') && rest.starts_with(|c: char| c.is_ascii_alphabetic());
        let name = rest.split('(').next().unwrap_or_default();
        let computes = is_call && lists(&code::LINES_COMPUTE, name);
        return computes.then(Call::unknown);
    };
    let escapes = if quote == '"' { Escapes::Of(Language::Other) } else { Escapes::None };
    let (text, _) = string(rest.get(1..)?, Delimiter::quote(&quote.to_string()), escapes);
    shell_text(&text).or_else(|| text.trim_start_matches(':').strip_prefix('!').map(text_of))
}

fn text_of(text: &str) -> Call {
    Call::Text(text.trim_end_matches(['\r', '"', '\'']).replace("<CR>", "").trim().to_owned())
}

/// What a debugger or a database shell runs by an abbreviated command.
fn abbreviated(line: &str) -> Option<Call> {
    let (first, rest) = line.split_once(char::is_whitespace)?;
    let means = |word: &str, table: &[&str]| {
        table.iter().any(|entry| {
            entry.split_once(':').is_some_and(|(least, full)| word.starts_with(least) && full.starts_with(word))
        })
    };
    let rest = rest.trim_start();
    if means(first, &code::LINES_SHORT_SHELL) {
        return Some(text_of(rest));
    }
    // `platform shell ls`
    if means(first, &code::LINES_SHORT_PLATFORM) {
        let (second, text) = rest.split_once(char::is_whitespace)?;
        return means(second, &code::LINES_SHORT_PLATFORM_SHELL).then(|| text_of(text));
    }
    // `.out '|ls'`
    if means(first, &code::LINES_SHORT_PIPE) {
        let text = rest.trim_start_matches(['\'', '"']).strip_prefix('|')?;
        let end = text.find(['\'', '"']).unwrap_or(text.len());
        return text.get(..end).map(text_of);
    }
    // `| print x | ls`
    if first == "|" {
        return rest.split_once('|').map(|(_, text)| text_of(text));
    }
    // `alias x = shell`
    let is_alias = first == "alias" || first == "define";
    let named = rest.rsplit_once('=').map(|(_, command)| command.trim()).filter(|_| is_alias)?;
    means(named.split(' ').next().unwrap_or_default(), &code::LINES_SHORT_SHELL).then(Call::unknown)
}

/// The command behind its range and the words that only change how it is shown.
fn behind_modifiers(line: &str) -> &str {
    let mut rest = line;
    loop {
        let trimmed = rest.trim_start_matches(|c: char| ":0123456789.,;$%+-".contains(c) || c.is_whitespace());
        let (word, behind) = split_word(trimmed);
        // `g/x/exe "…"`
        if matches!(word, "g" | "v" | "global" | "vglobal")
            && let Some(delimiter) = behind.trim_start_matches('!').chars().next().filter(char::is_ascii_punctuation)
            && let Some((_, command)) =
                behind.trim_start_matches('!').get(1..).and_then(|pattern| pattern.split_once(delimiter))
        {
            rest = command;
            continue;
        }
        let is_modifier = lists(&code::LINES_MODIFIERS, word);
        if !is_modifier {
            return trimmed;
        }
        // `silent! !ls`
        rest = match behind.strip_prefix('!') {
            Some(more) if more.starts_with(' ') => more,
            _ => behind,
        };
    }
}

fn split_word(text: &str) -> (&str, &str) {
    text.split_at(text.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(text.len()))
}

/// Commands of Tcl in braces and brackets, and of TeX: `if 1 {exec ls}`, `\write18{ls}`.
pub(super) fn embedded(text: &str, meter: &Meter) -> Vec<Call> {
    let mut found = Vec::new();
    for mark in ["{exec ", "{spawn ", "[spawn ", "write18{", "ShellEscape{"] {
        found.extend(behind(text, mark, meter).map(|inner| Call::Text(unbraced(inner))));
    }
    let removed =
        behind(text, "{file delete ", meter).map(|inner| inner.trim_start_matches("-force").trim_start_matches(" --"));
    found.extend(removed.map(|paths| Call::Text(format!("rm -rf {}", unbraced(paths)))));
    // Tcl: `open |[list ls]`, `open "|ls"`; TeX: `\input|"ls"`
    for mark in ["open |[list ", "open \"|", "open {|", "input|\"", "input|"] {
        let texts = behind(text, mark, meter).map(|inner| inner.split('"').next().unwrap_or_default());
        found.extend(texts.map(|inner| Call::Text(unbraced(inner))));
    }
    // A command of Tcl under another name.
    let renames = |line: &str| {
        let mut words = line.split(|c: char| c.is_whitespace() || c == ';').filter(|word| !word.is_empty());
        let first = words.next();
        matches!(first, Some("interp" | "rename" | "set"))
            && words.any(|word| matches!(word, "exec" | "spawn" | "eval"))
    };
    if text.lines().any(renames) {
        found.push(Call::unknown());
    }
    found.retain(|call| !matches!(call, Call::Text(text) if text.trim().is_empty() || words::is_plain_word(text)));
    found
}

/// The commands behind a mark, up to the end of the bracket or of the line, with those in their words.
fn behind<'a>(text: &'a str, mark: &'a str, meter: &'a Meter) -> impl Iterator<Item = &'a str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let (_, inner) = rest.split_once(mark)?;
        let command = inner.get(..command_end(inner)).unwrap_or_default();
        rest = inner;
        // A command in the words of another is read again for each of those around it.
        meter.try_charge(command.len()).then_some(command)
    })
}

/// Where a command ends: at the end of the bracket around it, or at a line end or semicolon outside of brackets.
fn command_end(text: &str) -> usize {
    let mut depth = 0_usize;
    for (at, c) in text.char_indices() {
        match c {
            '{' | '[' => depth += 1,
            '}' | ']' if depth == 0 => return at,
            '}' | ']' => depth -= 1,
            '\n' | ';' if depth == 0 => return at,
            _ => {}
        }
    }
    text.len()
}

/// The words of Tcl as words of a shell: braces quote.
fn unbraced(text: &str) -> String {
    text.replace(['{', '}'], "'")
}
