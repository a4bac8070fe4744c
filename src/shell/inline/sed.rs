//! `sed` scripts: commands that run programs or write files.

use super::Call;

/// Returns what a script runs (`e`, `s///e`) and writes (`w`, `s///w`).
pub(super) fn calls(script: &str) -> Vec<Call> {
    let mut found = Vec::new();
    let mut rest = script;
    while let Some(start) = skip_to_command(rest) {
        let mut chars = start.chars();
        let Some(letter) = chars.next() else { break };
        let body = chars.as_str();
        rest = match letter {
            'e' => {
                let (text, rest) = split_line(body);
                found.push(if text.trim().is_empty() { Call::unknown() } else { Call::Text(text.trim().to_owned()) });
                rest
            }
            'w' | 'W' => {
                let (file, rest) = split_line(body);
                found.push(Call::same(&["tee", file.trim()]));
                rest
            }
            'a' | 'i' | 'c' => skip_text(body),
            'r' | 'R' | '#' => split_line(body).1,
            ':' | 'b' | 't' | 'T' => body.find([';', '\n', '}']).and_then(|end| body.get(end..)).unwrap_or_default(),
            's' | 'y' => {
                let (flags, rest) = split_flags(body);
                if letter == 's' {
                    let (letters, file) =
                        flags.split_once('w').map_or((flags, None), |(letters, file)| (letters, Some(file)));
                    if letters.contains('e') {
                        found.push(Call::unknown());
                    }
                    found.extend(file.map(|file| Call::same(&["tee", file.trim()])));
                }
                rest
            }
            _ => body,
        };
    }
    found
}

/// Skips blanks, separators, braces and addresses before the next command.
fn skip_to_command(mut rest: &str) -> Option<&str> {
    loop {
        rest = rest.trim_start_matches(|c: char| c.is_whitespace() || ";{}!,$+~".contains(c) || c.is_ascii_digit());
        let mut chars = rest.chars();
        match chars.next()? {
            '/' => rest = skip_past(chars.as_str(), '/')?,
            '\\' => {
                let delimiter = chars.next()?;
                rest = skip_past(chars.as_str(), delimiter)?;
            }
            // Flags of an address.
            'I' | 'M' => rest = chars.as_str(),
            _ => return Some(rest),
        }
    }
}

/// Returns the text after the next unescaped `delimiter`.
fn skip_past(text: &str, delimiter: char) -> Option<&str> {
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        if c == '\\' {
            chars.next();
        } else if c == delimiter {
            return Some(chars.as_str());
        }
    }
    None
}

/// Splits the text after `s` or `y` into the flags of `s/a/b/flags` and the rest.
fn split_flags(body: &str) -> (&str, &str) {
    let mut chars = body.chars();
    let Some(delimiter) = chars.next() else { return ("", "") };
    let rest = skip_past(chars.as_str(), delimiter).and_then(|rest| skip_past(rest, delimiter)).unwrap_or_default();
    let length = rest.find([';', '\n', '}']).unwrap_or(rest.len());
    (rest.get(..length).unwrap_or_default(), rest.get(length..).unwrap_or_default())
}

/// Returns the rest after the text of `a`, `i` or `c`, which continues after a line that ends with a backslash.
fn skip_text(body: &str) -> &str {
    let mut rest = body;
    loop {
        let (line, after) = split_line(rest);
        // A backslash before the one at the end is a character of the text.
        let backslashes = line.len() - line.trim_end_matches('\\').len();
        if backslashes % 2 == 0 || after.is_empty() {
            return after;
        }
        rest = after;
    }
}

/// Splits at the first line end.
fn split_line(body: &str) -> (&str, &str) {
    body.split_once('\n').unwrap_or((body, ""))
}
