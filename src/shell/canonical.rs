//! Canonical text: one spelling for equivalent commands.

use super::{Arg, Command};
use crate::path::AbsPath;
use crate::path::Place;
use compact_str::CompactString;

/// Directories whose programs are identified by their base names.
const STANDARD_DIRECTORIES: [&str; 10] = [
    "/usr/lib/git-core/", "/usr/libexec/git-core/", "/bin/", "/sbin/", "/usr/bin/", "/usr/sbin/", "/usr/local/bin/",
    "/usr/local/sbin/", "/opt/homebrew/bin/", "/opt/local/bin/",
];

/// Returns the base name of a program in a standard directory, or the word unchanged.
pub(super) fn program_name(word: &str) -> &str {
    if !word.starts_with('/') {
        return word;
    }
    let base = STANDARD_DIRECTORIES.iter().find_map(|directory| word.strip_prefix(directory));
    base.filter(|base| !base.is_empty() && !base.contains('/')).unwrap_or(word)
}

/// Normalises an absolute path: `//bin//rm` and `/usr/../bin/rm` become `/bin/rm`.
pub(super) fn normalize(word: CompactString) -> CompactString {
    let redundant = word.starts_with('/') && ["//", "/./", "/../"].iter().any(|part| word.contains(part));
    if redundant { String::from(&AbsPath::resolve(&word, &Place::default())).into() } else { word }
}

/// Whether a word is a keyword at the start of a command.
#[rustfmt::skip]
fn is_keyword(word: &str) -> bool {
    matches!(
        word,
        "!" | "[[" | "]]" | "case" | "coproc" | "do" | "done" | "elif" | "else" | "esac" | "fi" | "for" | "function"
            | "if" | "in" | "select" | "then" | "time" | "until" | "while" | "{" | "}"
    )
}

/// Renders a command with single blanks between words, quoted where needed.
fn render(first: &Arg, args: &[Arg]) -> String {
    let mut line = String::new();
    render_into(&mut line, first, args);
    line
}

/// Does what [`render`] does, in an existing buffer.
pub(super) fn render_into(line: &mut String, first: &Arg, args: &[Arg]) {
    let name = program_name(&first.text);
    line.clear();
    line.reserve(name.len() + args.iter().map(|arg| arg.text.len() + 1).sum::<usize>());
    if is_keyword(name) || name.contains('=') {
        push_quoted(name, line);
    } else {
        push_word(name, first, line);
    }
    for arg in args {
        line.push(' ');
        push_word(&arg.text, arg, line);
    }
}

/// Renders a command without the options before its verb: `git -C x push` and `git-push` become `git push`. Returns `None`
/// if there are none, or if the program has no verbs.
pub fn without_global_options(command: &Command) -> Option<String> {
    let verb = command.program.strip_prefix("git-").map(Arg::literal);
    let has_verbs =
        || command.parsed.as_ref().and_then(|line| line.program()).is_some_and(|entry| !entry.verbs.is_empty());
    let args = match (&verb, command.program.as_str()) {
        (Some(_), _) => command.args.as_slice(),
        (None, "git") => command.behind_global(),
        (None, _) if has_verbs() => command.behind_options(),
        (None, _) => return None,
    };
    let name = if verb.is_some() { "git" } else { command.program.as_str() };
    let words: Vec<Arg> = verb.into_iter().chain(args.iter().cloned()).collect();
    (words.len() != command.args.len()).then(|| render(&Arg::literal(name), &words))
}

/// Quotes a text so that a shell reads it as one word.
pub fn quote_word(text: &str) -> String {
    let mut line = String::new();
    push_word(text, &Arg::literal(text), &mut line);
    line
}

fn push_word(text: &str, arg: &Arg, line: &mut String) {
    // Most words need no quotes.
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'/' | b'.' | b':' | b',');
    if !text.is_empty() && text.bytes().all(plain) {
        return line.push_str(text);
    }
    let special = |c: char| {
        matches!(
            c,
            '"' | '\'' | '\\' | '`' | '$' | '&' | '|' | ';' | '<' | '>' | '(' | ')' | '#' | '!' | '*' | '?' | '['
        ) || c.is_whitespace()
            || c.is_control()
    };
    // Quotes would change the meaning of an unknown word or a pattern.
    let bare = !arg.is_known() || arg.glob;
    let has_braces = text.contains('{') && text.contains([',', '.']);
    let needs_quotes = text.contains(special) || text.starts_with('~') || text.contains("=~") || has_braces;
    if text.is_empty() || (!bare && needs_quotes) {
        push_quoted(text, line);
    } else {
        line.push_str(text);
    }
}

fn push_quoted(text: &str, line: &mut String) {
    line.push('\'');
    line.push_str(&text.replace('\'', "'\\''"));
    line.push('\'');
}
