//! Modes of files in code: numbers in the notations of each language, texts and constants.

use super::super::Language;
use super::super::expression::{Code, last_component};
use super::super::value::Value;
use super::argument::Argument;
use crate::programs::code::{self, lists};

/// The arguments of a call that changes a mode, with the mode first, as `chmod` takes it: `os.chmod("x", 0o777)`,
/// `chmod 0777, "x"`. A mode that is not known is an unknown value.
pub(super) fn first(code: &Code<'_>, start: usize, end: usize, given: &[Argument]) -> Vec<Argument> {
    let leads = matches!(code.language, Language::Perl | Language::Ruby);
    let at = if leads { 0 } else { given.len().saturating_sub(1) };
    let text = given.get(at).and_then(|argument| argument.values().first()).and_then(Value::text);
    code.meter.charge(end.saturating_sub(start));
    let named = (start..end).filter_map(|at| code.name(at)).find_map(|name| of_name(code.language, name));
    let mode = named.or(text.filter(|text| !text.is_empty()));
    let mode = Argument::Value(mode.map_or_else(Value::unknown, |mode| Value::of_text(&mode)));
    let others = given.iter().enumerate().filter(|(position, _)| *position != at).map(|(_, argument)| argument.clone());
    [mode].into_iter().chain(others).collect()
}

/// The mode that a number or a constant stands for: `0o755`, `0755`, `493`, `stat.S_IWOTH`.
fn of_name(language: Language, name: &str) -> Option<String> {
    let constant = last_component(name);
    if lists(&code::WORDS_WRITABLE_BY_ALL, constant) {
        return Some("o+w".to_owned());
    }
    if lists(&code::WORDS_SET_ID, constant) {
        return Some("u+s".to_owned());
    }
    let digits = name.replace('_', "");
    if !digits.starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    let octal = digits.strip_prefix("0o").or_else(|| digits.strip_prefix("0O"));
    let octal = octal.or_else(|| digits.strip_prefix('0').filter(|_| language != Language::Python));
    let mode = match octal {
        Some(octal) => u16::from_str_radix(octal, 8),
        None => digits.parse(),
    };
    mode.ok().map(|mode| format!("{mode:03o}"))
}
