//! Canonical text: one spelling for each command, whatever it was typed as.

use super::Arg;

/// Directories in which a program is what its name says.
const STANDARD: [&str; 8] = [
    "/bin/",
    "/sbin/",
    "/usr/bin/",
    "/usr/sbin/",
    "/usr/local/bin/",
    "/usr/local/sbin/",
    "/opt/homebrew/bin/",
    "/opt/local/bin/",
];

/// The program's name: its base name in a standard directory, else the word as it is.
pub(super) fn program(word: &str) -> &str {
    let base = STANDARD.iter().find_map(|directory| word.strip_prefix(directory));
    base.filter(|base| !base.is_empty() && !base.contains('/')).unwrap_or(word)
}

/// The same of a word that is no longer needed.
pub(super) fn cut(word: String) -> String {
    let name = program(&word);
    if name.len() == word.len() { word } else { name.to_owned() }
}

/// Words that mean something else where a program stands.
const KEYWORDS: [&str; 22] = [
    "!", "[[", "]]", "case", "coproc", "do", "done", "elif", "else", "esac", "fi", "for", "function", "if", "in",
    "select", "then", "time", "until", "while", "{", "}",
];

/// One blank between words, each quoted where a shell would otherwise read something else.
pub(super) fn line(first: &Arg, args: &[Arg]) -> String {
    let name = program(&first.text);
    let mut line = String::with_capacity(name.len() + args.iter().map(|arg| arg.text.len() + 1).sum::<usize>());
    if KEYWORDS.contains(&name) || name.contains('=') {
        quote(name, &mut line);
    } else {
        word(name, first, &mut line);
    }
    for arg in args {
        line.push(' ');
        word(&arg.text, arg, &mut line);
    }
    line
}

fn word(text: &str, arg: &Arg, line: &mut String) {
    let special = |c: char| {
        matches!(
            c,
            '"' | '\'' | '\\' | '`' | '$' | '&' | '|' | ';' | '<' | '>' | '(' | ')' | '#' | '!' | '*' | '?' | '['
        ) || c.is_whitespace()
            || c.is_control()
    };
    // What cannot be known is written as it is, and so is a pattern: quotes would make another word of it.
    let bare = !arg.is_known() || arg.glob;
    let list = text.contains('{') && text.contains([',', '.']);
    let strange = text.contains(special) || text.starts_with('~') || list;
    if text.is_empty() || (!bare && strange) {
        quote(text, line);
    } else {
        line.push_str(text);
    }
}

fn quote(text: &str, line: &mut String) {
    line.push('\'');
    line.push_str(&text.replace('\'', "'\\''"));
    line.push('\'');
}
