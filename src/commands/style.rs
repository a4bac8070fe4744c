//! Colours and line breaks for people.

use std::io::IsTerminal;
use std::path::Path;

/// Whether to use colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    Plain,
    Colour,
}

/// The width that all output fits, in columns.
pub const COLUMNS: usize = 80;

impl Style {
    /// Colours are for terminals only, and not if `NO_COLOR` is set (no-color.org).
    pub fn of(out: &impl IsTerminal) -> Style {
        let colour = out.is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
        if colour { Style::Colour } else { Style::Plain }
    }
}

/// Paints a text in a colour of ECMA-48.
pub fn paint(style: Style, code: &str, text: &str) -> String {
    match style {
        Style::Plain => text.to_owned(),
        Style::Colour => format!("\u{1b}[{code}m{text}\u{1b}[0m"),
    }
}

/// The colour of an answer, by its name in the output.
pub fn effect_colour(effect: &str) -> &'static str {
    match effect {
        "deny" => "1;31",
        "ask" => "1;33",
        "advise" | "emit" => "36",
        _ => "2",
    }
}

/// A path with `~` for the home directory.
pub fn home_relative(path: &Path, home: Option<&Path>) -> String {
    match home.and_then(|home| path.strip_prefix(home).ok()) {
        Some(rest) => format!("~/{}", rest.display()),
        None => path.display().to_string(),
    }
}

/// Breaks a text into lines of at most `width` characters, between words where that is possible.
pub fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines = Vec::new();
    let mut line = String::new();
    let mut length = 0;
    for word in text.split(' ') {
        let mut word: Vec<char> = word.chars().collect();
        if length > 0 && length + 1 + word.len() <= width {
            line.push(' ');
            length += 1;
        } else if length > 0 {
            lines.push(std::mem::take(&mut line));
            length = 0;
        }
        while length + word.len() > width {
            let rest = word.split_off(width);
            lines.push(word.into_iter().collect());
            word = rest;
        }
        length += word.len();
        line.extend(word);
    }
    if length > 0 {
        lines.push(line);
    }
    lines
}

#[cfg(test)]
#[path = "../../tests/unit/commands/style.rs"]
mod tests;
