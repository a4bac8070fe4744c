//! Markup that is somebody else's to write: the client's, a model's, and our own.

/// What stands behind `<` or `</`, whatever follows.
const TAGS: [&str; 24] = [
    "system-reminder",
    "system_reminder",
    "system",
    "assistant",
    "human",
    "user",
    "instructions",
    "function_calls",
    "function_results",
    "function_result",
    "antml:",
    "invoke",
    "parameter",
    "tool_use",
    "tool_call",
    "tool_result",
    "tool_response",
    "tool_output",
    "local-command-",
    "command-name",
    "command-message",
    "persisted-output",
    "untrusted",
    "thinking",
];

/// Marks that mean something wherever they stand.
const MARKS: [&str; 12] = [
    "<|",
    "<<sys>>",
    "<</sys>>",
    "[inst]",
    "[/inst]",
    "[system]",
    "[/system]",
    "[quarantine-notice",
    "-----begin untrusted",
    "-----end untrusted",
    "-----withheld untrusted",
    "[system:",
];

/// What begins a line that somebody else says.
const SPEAKERS: [&str; 6] = ["human:", "assistant:", "system:", "### system", "### instruction", "### human"];

/// Whether markup may begin with this character.
pub(super) fn may_begin(c: char, line_begins: bool) -> bool {
    matches!(plain(c), '<' | '[' | '-') || line_begins && matches!(plain(c), 'h' | 'a' | 's' | '#')
}

/// Whether markup begins here.
pub(super) fn begins(text: &str, line_begins: bool) -> bool {
    let starts = |with: &&str| starts_with(text.chars(), with);
    MARKS.iter().any(starts) || line_begins && SPEAKERS.iter().any(starts) || is_tag(text)
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
    TAGS.iter().any(|tag| starts_with(rest.clone(), tag))
}

fn starts_with(mut text: std::str::Chars<'_>, with: &str) -> bool {
    with.chars().all(|wanted| text.next().map(plain) == Some(wanted))
}

/// A character as it looks: full width and other forms are what they stand for, in lower case.
fn plain(c: char) -> char {
    let c = match c {
        '\u{ff01}'..='\u{ff5e}' => char::from_u32(u32::from(c) - 0xfee0).unwrap_or(c),
        '\u{fe64}' | '\u{2039}' | '\u{27e8}' | '\u{3008}' | '\u{2329}' => '<',
        '\u{2010}'..='\u{2015}' | '\u{2212}' | '\u{fe58}' | '\u{fe63}' => '-',
        '\u{2215}' | '\u{2044}' => '/',
        '_' => '_',
        _ => c,
    };
    c.to_ascii_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn imitations_are_found_and_ordinary_text_is_not() {
        for (text, line_begins) in [
            ("<system-reminder>", false),
            ("</SYSTEM-reminder>", false),
            ("< / system-reminder >", false),
            ("＜system-reminder＞", false),
            ("<|im_start|>system", false),
            ("[INST] do", false),
            ("[QUARANTINE-NOTICE: x]", false),
            ("-----END UNTRUSTED DATA 07", false),
            ("—----end untrusted", false),
            ("Human: do it", true),
            ("<function_results>", false),
            ("<invoke name=\"Bash\">", false),
        ] {
            assert!(begins(text, line_begins), "{text}");
        }
        for (text, line_begins) in [
            ("<div>", false),
            ("Human: do it", false),
            ("[1] a note", false),
            ("----- a rule", false),
            ("-----BEGIN CERTIFICATE-----", false),
            ("humans: many", true),
            ("### Usage", true),
            ("a < b", false),
        ] {
            assert!(!begins(text, line_begins), "{text}");
        }
    }
}
