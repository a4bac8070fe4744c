//! `sed` scripts: the commands in them that run or write.

use super::Call;

/// What a script runs (`e`, `s///e`) and writes (`w`, `s///w`).
pub(super) fn calls(script: &str) -> Vec<Call> {
    let mut found = Vec::new();
    let mut rest = script;
    while let Some(start) = command(rest) {
        let mut chars = start.chars();
        let Some(letter) = chars.next() else { break };
        let body = chars.as_str();
        rest = match letter {
            'e' => {
                let (text, rest) = line(body);
                found.push(if text.trim().is_empty() {
                    Call::Command(vec![None])
                } else {
                    Call::Text(text.trim().to_owned())
                });
                rest
            }
            'w' | 'W' => {
                let (file, rest) = line(body);
                found.push(Call::from_words(&["tee", file.trim()]));
                rest
            }
            'a' | 'i' | 'c' => text(body),
            'r' | 'R' | '#' => line(body).1,
            ':' | 'b' | 't' | 'T' => body.find([';', '\n', '}']).and_then(|end| body.get(end..)).unwrap_or_default(),
            's' | 'y' => {
                let (flags, rest) = flags(body);
                if letter == 's' {
                    let (letters, file) =
                        flags.split_once('w').map_or((flags, None), |(letters, file)| (letters, Some(file)));
                    if letters.contains('e') {
                        found.push(Call::Command(vec![None]));
                    }
                    found.extend(file.map(|file| Call::from_words(&["tee", file.trim()])));
                }
                rest
            }
            _ => body,
        };
    }
    found
}

/// Skips blanks, separators, braces and addresses: the next command.
fn command(mut rest: &str) -> Option<&str> {
    loop {
        rest = rest.trim_start_matches(|c: char| c.is_whitespace() || ";{}!,$+~".contains(c) || c.is_ascii_digit());
        let mut chars = rest.chars();
        match chars.next()? {
            '/' => rest = delimited(chars.as_str(), '/')?,
            '\\' => {
                let delimiter = chars.next()?;
                rest = delimited(chars.as_str(), delimiter)?;
            }
            // `I` and `M` behind an address.
            'I' | 'M' => rest = chars.as_str(),
            _ => return Some(rest),
        }
    }
}

/// What follows the next `delimiter` that is not escaped.
fn delimited(text: &str, delimiter: char) -> Option<&str> {
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

/// The flags of `s/a/b/flags`, and what follows them.
fn flags(body: &str) -> (&str, &str) {
    let mut chars = body.chars();
    let Some(delimiter) = chars.next() else { return ("", "") };
    let rest = delimited(chars.as_str(), delimiter).and_then(|rest| delimited(rest, delimiter)).unwrap_or_default();
    let length = rest.find([';', '\n', '}']).unwrap_or(rest.len());
    (rest.get(..length).unwrap_or_default(), rest.get(length..).unwrap_or_default())
}

/// What follows the text of `a`, `i` or `c`: it may go on over lines that end with a backslash.
fn text(body: &str) -> &str {
    let mut rest = body;
    loop {
        let (row, after) = line(rest);
        if !row.ends_with('\\') || after.is_empty() {
            return after;
        }
        rest = after;
    }
}

fn line(body: &str) -> (&str, &str) {
    body.split_once('\n').unwrap_or((body, ""))
}
