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

/// Words that mean something else where a program stands.
const KEYWORDS: [&str; 22] = [
    "!", "[[", "]]", "case", "coproc", "do", "done", "elif", "else", "esac", "fi", "for", "function", "if", "in",
    "select", "then", "time", "until", "while", "{", "}",
];

/// One blank between words, each quoted where a shell would otherwise read something else.
pub(super) fn line(program: &Arg, args: &[Arg]) -> String {
    let first = if KEYWORDS.contains(&program.text.as_str()) || program.text.contains('=') {
        quoted(&program.text)
    } else {
        word(program)
    };
    let words: Vec<String> = [first].into_iter().chain(args.iter().map(word)).collect();
    words.join(" ")
}

fn word(arg: &Arg) -> String {
    let special = |c: char| c.is_whitespace() || c.is_control() || "\"'\\`$&|;<>()#!*?[".contains(c);
    // What cannot be known is written as it is, and so is a pattern: quotes would make another word of it.
    let bare = !arg.is_known() || arg.glob;
    let list = arg.text.contains('{') && (arg.text.contains(',') || arg.text.contains(".."));
    let strange = arg.text.contains(special) || arg.text.starts_with('~') || list;
    if arg.text.is_empty() || (!bare && strange) { quoted(&arg.text) } else { arg.text.clone() }
}

fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}
