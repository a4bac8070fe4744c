//! Canonical text: one spelling for equivalent commands.

use super::{Arg, Command};
use crate::path::AbsPath;
use crate::path::Place;
use crate::programs::code::lists;
use crate::programs::roles;
use compact_str::CompactString;

/// Directories whose programs are identified by their base names.
const STANDARD_DIRECTORIES: [&str; 10] = [
    "/usr/lib/git-core/", "/usr/libexec/git-core/", "/bin/", "/sbin/", "/usr/bin/", "/usr/sbin/", "/usr/local/bin/",
    "/usr/local/sbin/", "/opt/homebrew/bin/", "/opt/local/bin/",
];

/// Programs that Windows has under the same name, with an ending.
const PORTED: [&str; 10] = ["bash", "curl", "ftp", "git", "node", "python", "scp", "sftp", "ssh", "tar"];

/// Returns the base name of a program in a standard directory, or the word unchanged.
pub(super) fn program_name(word: &str) -> &str {
    if !word.starts_with('/') {
        return word.strip_suffix(".exe").filter(|name| PORTED.contains(name)).unwrap_or(word);
    }
    let base = STANDARD_DIRECTORIES.iter().find_map(|directory| word.strip_prefix(directory));
    base.filter(|base| !base.is_empty() && !base.contains('/')).unwrap_or(word)
}

/// Normalises an absolute path: `//bin//rm` and `/usr/../bin/rm` become `/bin/rm`. A known program that is named as on
/// Windows gets its plain name: `git.exe`, `/c/Program Files/Git/bin/git.exe`.
pub(super) fn normalize(word: CompactString) -> CompactString {
    let redundant = word.starts_with('/') && ["//", "/./", "/../"].iter().any(|part| word.contains(part));
    let word = if redundant { String::from(&AbsPath::resolve(&word, &Place::default())).into() } else { word };
    windows_program(&word).unwrap_or(word)
}

/// The extensions of programs on Windows.
const WINDOWS_EXTENSIONS: [&str; 4] = [".exe", ".cmd", ".bat", ".com"];

/// The plain name of a known program with an extension of Windows, alone or in a directory where programs are installed.
fn windows_program(word: &str) -> Option<CompactString> {
    let end = word.len().checked_sub(4)?;
    let extension = word.get(end..)?;
    if !WINDOWS_EXTENSIONS.iter().any(|known| extension.eq_ignore_ascii_case(known)) {
        return None;
    }
    let (directory, name) = word.get(..end)?.rsplit_once(['/', '\\']).unwrap_or(("", word.get(..end)?));
    let place = directory.to_ascii_lowercase().replace('\\', "/");
    let is_installed = WINDOWS_DIRECTORIES.iter().any(|known| place.contains(known)) && !place.contains("/..");
    let lower = name.to_ascii_lowercase();
    let known = [name, &lower].into_iter().find(|name| crate::programs::embedded(name).is_some());
    known.filter(|_| directory.is_empty() || is_installed).map(CompactString::from)
}

/// Directories in which programs are installed on Windows, in lower case, behind the drive.
const WINDOWS_DIRECTORIES: [&str; 4] =
    [":/program files", "/c/program files", ":/windows/system32", "/c/windows/system32"];

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

/// Renders a command without the options before its subcommand: `git -C x push` and `git-push` become `git push`. Returns
/// `None` if there are none.
pub fn without_global_options(command: &Command) -> Option<String> {
    let name = command.program.as_str();
    let (name, args): (&str, &[Arg]) = match name.strip_prefix("git-") {
        Some(_) => ("git", &command.args),
        None if name == "git" => (name, crate::shell::wrappers::behind_global(&command.args)),
        None => {
            let line = command.parsed.as_deref().filter(|_| lists(&roles::VERBS_PROGRAMS, name))?;
            let is_value = |at: usize| line.uses_of(at).iter().any(|used| used.by_option && used.start == 0);
            let is_verb = |(at, arg): (usize, &Arg)| !arg.text.starts_with(['-', '+']) && !is_value(at);
            let verb = command.args.iter().enumerate().position(is_verb)?;
            (name, command.args.get(verb..)?)
        }
    };
    let verb = command.program.strip_prefix("git-").map(Arg::literal);
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
