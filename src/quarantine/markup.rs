//! Markup that is somebody else's to write: the client's, a model's, and our own.

use super::content::letters::{lookalike, undressed};

/// What stands behind `<` or `</`, whatever follows.
const TAGS: [&str; 42] = [
    "system-reminder", "system_reminder", "system", "assistant", "human", "user", "instructions", "function_calls",
    "function_results", "function_result", "antml:", "invoke", "parameter", "tool_use", "tool_call", "tool_result",
    "tool_response", "tool_output", "local-command-", "command-name", "command-message", "persisted-output",
    "untrusted", "thinking", "command-args", "command-contents", "bash-", "session-start-hook",
    "user-prompt-submit-hook", "post-tool-use-hook", "pre-tool-use-hook", "ide_", "new-diagnostics",
    "task-notification", "teammate-message", "env>", "claudemd", "result>", "budget:", "total_tokens", "start_of_turn",
    "end_of_turn",
];

/// Marks that mean something wherever they stand.
const MARKS: [&str; 11] = [
    "<|", "<<sys>>", "<</sys>>", "[inst]", "[/inst]", "[system]", "[/system]", "[quarantine-notice",
    "[quarantine notice", "quarantine-notice:", "[system:",
];

/// What begins a line that somebody else says.
const SPEAKERS: [&str; 8] = ["human", "assistant", "system", "user", "claude", "developer", "tool", "instruction"];

/// What may stand before a speaker at the beginning of a line, or around them.
pub(super) fn is_ornament(c: char) -> bool {
    matches!(c, ' ' | '\t' | '>' | '-' | '*' | '#' | '"' | '\'' | '[' | ']' | '(' | ')' | '_' | '`')
}

/// Whether markup may begin with this character.
pub(super) fn may_begin(c: char, line_begins: bool) -> bool {
    matches!(plain(c), '<' | '[' | '-' | 'q')
        || line_begins && matches!(plain(c), 'h' | 'a' | 's' | 'u' | 'c' | 'd' | 't' | 'i')
}

/// Whether markup begins here.
pub(super) fn begins(text: &str, line_begins: bool) -> bool {
    let starts = |with: &&str| starts_with(text.chars(), with).is_some();
    MARKS.iter().any(starts) || is_tag(text) || is_delimiter(text) || line_begins && is_speaker(text)
}

/// `Human:`, `**System**:`, `[user] :`
fn is_speaker(text: &str) -> bool {
    SPEAKERS.iter().any(|speaker| {
        let behind = starts_with(text.chars(), speaker);
        let mut behind = behind.into_iter().flatten().take(6).skip_while(|c| is_ornament(*c) || c.is_whitespace());
        behind.next().is_some_and(|c| plain(c) == ':')
    })
}

/// Our own lines, with however many strokes.
fn is_delimiter(text: &str) -> bool {
    let mut rest = text.chars();
    let mut strokes = 0;
    while rest.clone().next().is_some_and(|c| plain(c) == '-' || strokes > 1 && c.is_whitespace()) && strokes < 64 {
        rest.next();
        strokes += 1;
    }
    let behind = |word: &str| {
        let mut rest = starts_with(rest.clone(), word)?;
        while rest.clone().next().is_some_and(char::is_whitespace) {
            rest.next();
        }
        starts_with(rest, "untrusted")
    };
    strokes > 1 && ["begin", "end", "withheld"].iter().any(|word| behind(word).is_some())
}

fn is_tag(text: &str) -> bool {
    let mut rest = text.chars();
    if rest.next().map(plain) != Some('<') {
        return false;
    }
    // `< / system-reminder` is meant to be read as one.
    let mut behind = rest.clone();
    for _ in 0..8 {
        let next = behind.next();
        if !next.is_some_and(|c| c == '/' || plain(c) == '/' || c.is_whitespace()) {
            break;
        }
        rest = behind.clone();
    }
    TAGS.iter().any(|tag| starts_with(rest.clone(), tag).is_some())
}

/// What stands behind a word that the text starts with.
fn starts_with<'a>(mut text: std::str::Chars<'a>, with: &str) -> Option<std::str::Chars<'a>> {
    with.chars().all(|wanted| text.next().map(plain) == Some(wanted)).then_some(text)
}

/// A character as it looks: full width and other forms are what they stand for, in lower case.
fn plain(c: char) -> char {
    match c {
        '\u{fe64}' | '\u{2039}' | '\u{27e8}' | '\u{3008}' | '\u{2329}' => '<',
        '\u{fe58}' | '\u{fe63}' => '-',
        '\u{2215}' | '\u{2044}' => '/',
        _ => {
            let c = undressed(c);
            lookalike(c).unwrap_or(c)
        }
    }
}

#[cfg(test)]
#[path = "../../tests/unit/quarantine/markup.rs"]
mod tests;
