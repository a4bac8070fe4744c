//! Tilde expansion of `~`, `~+` and `~name`.

use super::super::state::ShellState;
use super::{FieldChar, FieldChars, Quoting, text_chars};

/// The positions in a word at which bash expands tildes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Tildes {
    /// At the start.
    Start,
    /// At the start, or as in `Value` if the word looks like an assignment.
    Word,
    /// At the start and after every colon, as in the value of an assignment.
    Value,
}

/// Expands tildes. The result of `~name` is unknown.
///
/// A tilde-prefix ends at a slash or a colon, and nothing of it may be quoted. Checked against bash 5.2, which differs in
/// one case: it leaves `$x` as it is in `~:$x`.
pub(super) fn expand_tildes(chars: FieldChars, tildes: Tildes, state: &ShellState) -> FieldChars {
    if !chars.contains(&FieldChar::Char('~', Quoting::Bare)) {
        return chars;
    }
    let start = match tildes {
        Tildes::Word => value_start(&chars),
        Tildes::Start | Tildes::Value => None,
    };
    let is_value = tildes == Tildes::Value || start.is_some();
    let start = start.unwrap_or_default();
    let mut expanded = FieldChars::with_capacity(chars.len());
    let mut at = 0;
    while let Some(c) = chars.get(at) {
        let after_colon =
            || is_value && at.checked_sub(1).and_then(|at| chars.get(at)) == Some(&FieldChar::Char(':', Quoting::Bare));
        if *c != FieldChar::Char('~', Quoting::Bare) || (at != start && (at < start || !after_colon())) {
            expanded.push(c.clone());
            at += 1;
            continue;
        }
        let rest = chars.get(at + 1..).unwrap_or_default();
        let ends = |c: &FieldChar| matches!(c, FieldChar::Char('/' | ':', Quoting::Bare));
        let user = rest.get(..rest.iter().position(ends).unwrap_or(rest.len())).unwrap_or_default();
        // Outside a value, a quote before the next slash makes the tilde literal.
        let quoted = !is_value
            && rest
                .iter()
                .take_while(|c| **c != FieldChar::Char('/', Quoting::Bare))
                .any(|c| matches!(c, FieldChar::Char(_, Quoting::Quoted)));
        let home = if quoted { None } else { tilde_directory(user, state) };
        expanded.extend(home.unwrap_or_else(|| [std::slice::from_ref(c), user].concat()));
        at += 1 + user.len();
    }
    expanded
}

/// Returns where the value begins in a word that looks like an assignment: `name=`, `name+=`, `name[…]=`.
fn value_start(chars: &[FieldChar]) -> Option<usize> {
    let bare = |at: usize| match chars.get(at) {
        Some(FieldChar::Char(c, Quoting::Bare)) => Some(*c),
        _ => None,
    };
    let is_name = |c: &char| c.is_ascii_alphanumeric() || *c == '_';
    bare(0).filter(|first| is_name(first) && !first.is_ascii_digit())?;
    let mut at = (0..chars.len()).find(|at| bare(*at).is_none_or(|c| !is_name(&c)))?;
    if bare(at) == Some('[') {
        at += chars.iter().skip(at).position(|c| *c == FieldChar::Char(']', Quoting::Bare))? + 1;
    }
    if bare(at) == Some('+') {
        at += 1;
    }
    (bare(at) == Some('=')).then_some(at + 1)
}

/// Returns the directory for a tilde followed by `user`, or `None` if the tilde is literal.
fn tilde_directory(user: &[FieldChar], state: &ShellState) -> Option<FieldChars> {
    let mut name = String::new();
    for c in user {
        match c {
            FieldChar::Char(c, Quoting::Bare) => name.push(*c),
            FieldChar::Char(..) => return None,
            FieldChar::Break | FieldChar::Unknown(_) => name.push('?'),
        }
    }
    let home = match name.as_str() {
        "" => state.home.clone(),
        "+" => state.cwd.as_deref().map(str::to_owned),
        _ => None,
    };
    Some(home.map_or_else(|| vec![FieldChar::Unknown(format!("~{name}"))], |home| text_chars(&home, Quoting::Quoted)))
}

/// Whether the part at index `at` of a word may hold a tilde that is expanded.
pub(super) fn may_hold_tilde(at: usize, text: &str) -> bool {
    text.contains("=~") || text.contains(":~") || text.starts_with('~') && at == 0
}
