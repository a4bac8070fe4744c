//! Command lines in settings whose format has no reader: YAML, TOML, INI, XML, CMake, ninja and others.

use crate::shell::inline::{is_command_line, is_remover, serious_program};
use crate::verdict::limits::{Meter, SHELL_STEPS};

/// How formats write the home directory.
const HOMES: [&str; 7] =
    ["$ENV{HOME}", "${user.home}", "${env.HOME}", "{{.HOME}}", "{{ .HOME }}", "{env:HOME}", "{homedir}"];

/// Parts of keys whose value is a command.
const KEYS: [&str; 12] =
    ["command", "exec", "cmd", "run", "script", "shell", "entry", "program", "hook", "process", "ssh", "invoke"];

/// What stands between the words of a command that is written as a list.
const LIST_KEYS: [&str; 9] = ["args", "args:", "arguments", "arguments:", "argument", "arg", "line", "value", "argv:"];

/// Returns a text with the variables of its format in terms of the shell.
pub(super) fn normalized(text: &str) -> String {
    let mut text = text.to_owned();
    for home in HOMES {
        if text.contains(home) {
            text = text.replace(home, "$HOME");
        }
    }
    if text.contains("$$") {
        text = text.replace("$$", "$");
    }
    text = without_empty_quotes(text);
    let mut rest = text.as_str();
    let mut plain = String::with_capacity(text.len());
    while let Some((before, behind)) = rest.split_once("{{") {
        let Some((_, after)) = behind.split_once("}}") else { break };
        plain.push_str(before.strip_suffix('$').unwrap_or(before));
        plain.push_str("$_value");
        rest = after;
    }
    plain + rest
}

/// Removes empty quotes within words, which shells ignore: `r""m`.
fn without_empty_quotes(text: String) -> String {
    if !text.contains("\"\"") && !text.contains("''") {
        return text;
    }
    let is_letter = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
    let mut plain = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        let opens = matches!(c, '"' | '\'') && is_letter(plain.chars().next_back()) && chars.peek() == Some(&c);
        if !opens {
            plain.push(c);
            continue;
        }
        chars.next();
        if !is_letter(chars.peek().copied()) {
            plain.extend([c, c]);
        }
    }
    plain
}

/// Returns the texts of settings that are command lines.
pub(super) fn commands(text: &str, meter: &Meter) -> Vec<String> {
    meter.charge(text.len());
    let mut found = Vec::new();
    let mut offset = 0;
    for whole in text.split_inclusive('\n') {
        let start = offset;
        offset += whole.len();
        let line = whole.trim_end();
        if line.trim_start().starts_with("# ") || line.trim_start().starts_with("<!--") {
            continue;
        }
        for at in word_starts(line) {
            let rest = line.get(at..).unwrap_or_default();
            let first = rest.split(|c: char| c.is_whitespace() || "\"'`<>,;]})".contains(c)).next().unwrap_or_default();
            if serious_program(first).is_none() {
                continue;
            }
            let second = rest.get(first.len()..).and_then(|rest| rest.split_whitespace().next());
            if first == "." && !second.is_some_and(|file| file.contains(['/', '.'])) {
                continue;
            }
            let Some(opening) = opening(line, at) else { continue };
            meter.charge(rest.len() / 2);
            if meter.exceeds(&SHELL_STEPS) {
                return found;
            }
            let candidate = extent(rest, opening);
            let after = rest.get(first.len()..).unwrap_or_default().trim_start();
            if is_command_line(&candidate) {
                found.push(balanced(&candidate));
            } else if opening != Opening::Line
                && (after.is_empty() || after.starts_with([',', '"', '\'', '`', '<', '}', ']']))
            {
                let behind = text.get(start + at..).unwrap_or_default();
                found.extend(listed(behind).filter(|command| is_command_line(command)));
            }
        }
        found.extend(removal(line));
    }
    found
}

/// Words of settings that may name a protected file: hidden ones below the home directory or the root. A value that the
/// format puts into a name stands for any.
pub(super) fn protected_words(text: &str) -> Vec<String> {
    let is_end = |c: char| c.is_whitespace() || "\"'`,;()[]{}<>=|".contains(c);
    let is_private = |word: &&str| {
        (word.starts_with(['/', '~']) || word.starts_with("$HOME/")) && word.contains("/.") && !word.contains('&')
    };
    let mut found: Vec<String> = text.split(is_end).filter(is_private).map(str::to_owned).collect();
    let is_border = |c: char| c.is_whitespace() || "\"'`,;()<>=|".contains(c);
    let open =
        text.split(is_border).filter(|word| word.contains(['{', '[', '$']) && word.contains("/.")).filter_map(opened);
    found.extend(open.filter(|word| is_private(&word.as_str())));
    found
}

/// A word with `*` for each value that the format puts into it: `$HOME/.${d}/x`, `$HOME/.a[w]s`.
fn opened(word: &str) -> Option<String> {
    let start = ["$HOME/", "/", "~"].iter().filter_map(|begin| word.find(begin)).min()?;
    let word = word.get(start..)?;
    let (head, mut rest) = match word.strip_prefix("$HOME") {
        Some(rest) => ("$HOME", rest),
        None => ("", word),
    };
    let mut plain = head.to_owned();
    while let Some(at) = rest.find(['$', '{', '[', '%', '}', ']']) {
        plain.push_str(rest.get(..at)?);
        let behind = rest.get(at..)?;
        let end = behind.find(['}', ']', ')']).map_or(behind.len(), |end| end + 1);
        if !behind.starts_with(['}', ']']) && !plain.ends_with('*') {
            plain.push('*');
        }
        rest = behind.get(end..)?;
    }
    plain.push_str(rest);
    Some(plain)
}

/// What stands before a command.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Opening {
    /// The beginning of the line, or its first word.
    Line,
    /// A key or a mark.
    Key,
    Quote(char),
    /// `[`, in front of a list of words.
    List,
    /// `>`, the end of a tag.
    Tag,
}

/// The offsets of the words in a line.
fn word_starts(line: &str) -> impl Iterator<Item = usize> {
    let is_border = |c: char| c.is_whitespace() || "\"'`[({<>,;=:|&@".contains(c);
    let mut before = ' ';
    line.char_indices().filter_map(move |(at, c)| {
        let starts = is_border(before) && (c.is_ascii_alphanumeric() || matches!(c, '/' | '.' | '~'));
        before = c;
        starts.then_some(at)
    })
}

/// What stands before the word at an offset, if a command may begin there.
fn opening(line: &str, at: usize) -> Option<Opening> {
    let before = line.get(..at)?;
    let trimmed = before.trim_end();
    let direct = trimmed.len() == before.len();
    let Some(last) = trimmed.chars().next_back() else { return Some(Opening::Line) };
    match last {
        '"' | '\'' | '`' if direct => Some(Opening::Quote(last)),
        '[' => Some(Opening::List),
        '>' => Some(Opening::Tag),
        // gnuplot: `plot "< cmd"`
        '<' if !direct => Some(Opening::Key),
        ':' | '=' | '-' | '(' | '{' | ',' | '|' | '&' | ';' | '@' => Some(Opening::Key),
        _ => {
            let word = trimmed.rsplit(char::is_whitespace).next().unwrap_or_default();
            let is_first = trimmed.trim_start().len() == word.len();
            let lower = word.to_ascii_lowercase();
            (is_first || KEYS.iter().any(|key| lower.contains(key))).then_some(Opening::Key)
        }
    }
}

/// The part of a line that belongs to the command at its beginning.
fn extent(rest: &str, opening: Opening) -> String {
    let until = |end: char| rest.split(end).next().unwrap_or_default().to_owned();
    let text = match opening {
        Opening::Quote(quote) => until(quote),
        Opening::Tag => until('<'),
        Opening::List => {
            let words = until(']');
            words.replace([',', '"', '\''], " ").split_whitespace().collect::<Vec<_>>().join(" ")
        }
        Opening::Line | Opening::Key => rest.to_owned(),
    };
    let text = text.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"").replace("&amp;", "&");
    let text = text.trim();
    let is_open = |open: char, close: char| text.matches(close).count() > text.matches(open).count();
    let mut end = text;
    for (open, close) in [('[', ']'), ('(', ')'), ('{', '}')] {
        if is_open(open, close) {
            end = end.trim_end_matches([close, ',', ' ']);
        }
    }
    end.trim_end_matches([',', ';']).to_owned()
}

/// A command whose words are in several values: `command: rm`, `args: [-rf, x]`.
fn listed(text: &str) -> Option<String> {
    let mut words: Vec<&str> = Vec::new();
    let is_border = |c: char| c.is_whitespace() || "\"',[]{}<>()".contains(c);
    for word in text.split(is_border).filter(|word| !word.is_empty() && is_path(word)) {
        if words.len() > 1 && word.ends_with([':', '=']) && !LIST_KEYS.contains(&word) || words.len() > 16 {
            break;
        }
        let is_tag = word.ends_with(':') || LIST_KEYS.contains(&word) || word == "=" || word == "-";
        if !is_tag {
            words.push(word);
        }
    }
    // XML repeats the name of the key at its end.
    (words.len() > 1).then(|| words.join(" "))
}

/// Whether a word is a path, and not the end of a tag.
fn is_path(word: &str) -> bool {
    word.strip_prefix('/').is_none_or(|rest| rest.contains('/'))
}

/// A line that removes a directory of the user: `file(REMOVE_RECURSE $HOME/x)`.
fn removal(line: &str) -> Option<String> {
    let is_end = |c: char| c.is_whitespace() || "\"'`,;()[]{}<>=".contains(c);
    let is_home = |word: &&str| word.starts_with("$HOME") || word.starts_with('~');
    let path = line.split(is_end).find(is_home)?;
    let removes = line.split(|c: char| is_end(c) || c == '_' || c == '.').any(is_remover);
    let is_plain = path.chars().all(|c| c.is_alphanumeric() || "$~/._-".contains(c));
    (removes && is_plain).then(|| format!("rm -rf {path}"))
}

/// A text without its quotes if they are not closed.
fn balanced(text: &str) -> String {
    let is_even = |quote: char| text.matches(quote).count().is_multiple_of(2);
    // What stands in backquotes is a candidate of its own.
    let text = text.replace('`', "");
    if is_even('"') && is_even('\'') { text } else { text.replace(['"', '\''], "") }
}
