//! Markup that untrusted text must not imitate: that of clients, of models, and of the wrap itself.

use super::content::letters::{latin_lookalike, plain_letter};

/// Beginnings of tag names, after `<` or `</`.
const TAGS: [&str; 42] = [
    "system-reminder", "system_reminder", "system", "assistant", "human", "user", "instructions", "function_calls",
    "function_results", "function_result", "antml:", "invoke", "parameter", "tool_use", "tool_call", "tool_result",
    "tool_response", "tool_output", "local-command-", "command-name", "command-message", "persisted-output",
    "untrusted", "thinking", "command-args", "command-contents", "bash-", "session-start-hook",
    "user-prompt-submit-hook", "post-tool-use-hook", "pre-tool-use-hook", "ide_", "new-diagnostics",
    "task-notification", "teammate-message", "env>", "claudemd", "result>", "budget:", "total_tokens", "start_of_turn",
    "end_of_turn",
];

/// Markup that is recognized at any position.
const MARKERS: [&str; 11] = [
    "<|", "<<sys>>", "<</sys>>", "[inst]", "[/inst]", "[system]", "[/system]", "[quarantine-notice",
    "[quarantine notice", "quarantine-notice:", "[system:",
];

/// Roles that begin a line of a conversation.
const SPEAKERS: [&str; 8] = ["human", "assistant", "system", "user", "claude", "developer", "tool", "instruction"];

/// Whether a character may surround a role at the beginning of a line.
pub(super) fn is_ornament(c: char) -> bool {
    matches!(c, ' ' | '\t' | '>' | '-' | '*' | '#' | '"' | '\'' | '[' | ']' | '(' | ')' | '_' | '`')
}

/// Whether markup may begin with this character; a prefilter for [`begins`].
pub(super) fn may_begin(c: char, line_begins: bool) -> bool {
    matches!(plain(c), '<' | '[' | '-' | 'q')
        || line_begins && matches!(plain(c), 'h' | 'a' | 's' | 'u' | 'c' | 'd' | 't' | 'i')
}

/// Whether markup begins here.
pub(super) fn begins(text: &str, line_begins: bool) -> bool {
    let starts = |with: &&str| starts_with(text.chars(), with).is_some();
    MARKERS.iter().any(starts) || is_tag(text) || is_delimiter(text) || line_begins && is_speaker(text)
}

/// Whether the text begins with a role, as in `Human:`, `**System**:` or `[user] :`.
fn is_speaker(text: &str) -> bool {
    SPEAKERS.iter().any(|speaker| {
        let after = starts_with(text.chars(), speaker);
        let mut after = after.into_iter().flatten().take(6).skip_while(|c| is_ornament(*c) || c.is_whitespace());
        after.next().is_some_and(|c| plain(c) == ':')
    })
}

/// Whether the text begins with a delimiter of the wrap, with any number of dashes.
fn is_delimiter(text: &str) -> bool {
    let mut rest = text.chars();
    let mut dashes = 0;
    while rest.clone().next().is_some_and(|c| plain(c) == '-' || dashes > 1 && c.is_whitespace()) && dashes < 64 {
        rest.next();
        dashes += 1;
    }
    let after = |word: &str| {
        let mut rest = starts_with(rest.clone(), word)?;
        while rest.clone().next().is_some_and(char::is_whitespace) {
            rest.next();
        }
        starts_with(rest, "untrusted")
    };
    dashes > 1 && ["begin", "end", "withheld"].iter().any(|word| after(word).is_some())
}

fn is_tag(text: &str) -> bool {
    let mut rest = text.chars();
    if rest.next().map(plain) != Some('<') {
        return false;
    }
    // Blanks and slashes may precede the name, as in `< / system-reminder`.
    let mut after = rest.clone();
    for _ in 0..8 {
        let next = after.next();
        if !next.is_some_and(|c| c == '/' || plain(c) == '/' || c.is_whitespace()) {
            break;
        }
        rest = after.clone();
    }
    TAGS.iter().any(|tag| starts_with(rest.clone(), tag).is_some())
}

/// The text after a prefix, if the text starts with it in plain letters.
fn starts_with<'a>(mut text: std::str::Chars<'a>, with: &str) -> Option<std::str::Chars<'a>> {
    with.chars().all(|wanted| text.next().map(plain) == Some(wanted)).then_some(text)
}

/// The plain lower-case form of a character, also for lookalikes.
fn plain(c: char) -> char {
    match c {
        '\u{fe64}' | '\u{2039}' | '\u{27e8}' | '\u{3008}' | '\u{2329}' => '<',
        '\u{fe58}' | '\u{fe63}' => '-',
        '\u{2215}' | '\u{2044}' => '/',
        _ => {
            let c = plain_letter(c);
            latin_lookalike(c).unwrap_or(c)
        }
    }
}

#[cfg(test)]
#[path = "../../tests/unit/quarantine/markup.rs"]
mod tests;
