//! Tilde expansion: `~`, `~+` and `~name` where bash looks for them.

use super::super::state::State;
use super::{Piece, Pieces, Quoting, chars};

/// Where bash looks for tildes in a word.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Tildes {
    /// At the start.
    Start,
    /// At the start; in a word that begins like an assignment, as in its value.
    Word,
    /// In the value of an assignment: at the start and behind every colon.
    Value,
}

/// Expands tildes. Whose home `~name` is cannot be known.
///
/// A tilde-prefix ends at a slash or a colon, and nothing of it may be quoted. Checked against bash 5.2, which differs in
/// one case: it leaves `$x` as it is in `~:$x`.
pub(super) fn tilde(pieces: Pieces, tildes: Tildes, state: &State) -> Pieces {
    if !pieces.contains(&Piece::Char('~', Quoting::Bare)) {
        return pieces;
    }
    let start = match tildes {
        Tildes::Word => value_start(&pieces),
        Tildes::Start | Tildes::Value => None,
    };
    let is_value = tildes == Tildes::Value || start.is_some();
    let start = start.unwrap_or_default();
    let mut expanded = Pieces::with_capacity(pieces.len());
    let mut at = 0;
    while let Some(piece) = pieces.get(at) {
        let behind_colon =
            || is_value && at.checked_sub(1).and_then(|at| pieces.get(at)) == Some(&Piece::Char(':', Quoting::Bare));
        if *piece != Piece::Char('~', Quoting::Bare) || (at != start && (at < start || !behind_colon())) {
            expanded.push(piece.clone());
            at += 1;
            continue;
        }
        let rest = pieces.get(at + 1..).unwrap_or_default();
        let ends = |piece: &Piece| matches!(piece, Piece::Char('/' | ':', Quoting::Bare));
        let user = rest.get(..rest.iter().position(ends).unwrap_or(rest.len())).unwrap_or_default();
        // Outside of a value, a quote anywhere before the next slash makes the tilde a character.
        let quoted = !is_value
            && rest
                .iter()
                .take_while(|piece| **piece != Piece::Char('/', Quoting::Bare))
                .any(|piece| matches!(piece, Piece::Char(_, Quoting::Quoted)));
        let home = if quoted { None } else { home_of(user, state) };
        expanded.extend(home.unwrap_or_else(|| [std::slice::from_ref(piece), user].concat()));
        at += 1 + user.len();
    }
    expanded
}

/// Where the value begins in a word that looks like an assignment: `name=`, `name+=`, `name[…]=`.
fn value_start(pieces: &[Piece]) -> Option<usize> {
    let bare = |at: usize| match pieces.get(at) {
        Some(Piece::Char(c, Quoting::Bare)) => Some(*c),
        _ => None,
    };
    let is_name = |c: &char| c.is_ascii_alphanumeric() || *c == '_';
    bare(0).filter(|first| is_name(first) && !first.is_ascii_digit())?;
    let mut at = (0..pieces.len()).find(|at| bare(*at).is_none_or(|c| !is_name(&c)))?;
    if bare(at) == Some('[') {
        at += pieces.iter().skip(at).position(|piece| *piece == Piece::Char(']', Quoting::Bare))? + 1;
    }
    if bare(at) == Some('+') {
        at += 1;
    }
    (bare(at) == Some('=')).then_some(at + 1)
}

/// What a tilde before these characters becomes; `None` where it is a character.
fn home_of(user: &[Piece], state: &State) -> Option<Pieces> {
    let mut name = String::new();
    for piece in user {
        match piece {
            Piece::Char(c, Quoting::Bare) => name.push(*c),
            Piece::Char(..) => return None,
            Piece::Break | Piece::Hole(_) => name.push('?'),
        }
    }
    let home = match name.as_str() {
        "" => state.home.clone(),
        "+" => state.cwd.as_deref().map(str::to_owned),
        _ => None,
    };
    Some(home.map_or_else(|| vec![Piece::Hole(format!("~{name}"))], |home| chars(&home, Quoting::Quoted)))
}

/// Whether the part of a word at this place may hold a tilde that stands for a directory.
pub(super) fn may_hold_tilde(at: usize, text: &str) -> bool {
    text.contains("=~") || text.contains(":~") || text.starts_with('~') && at == 0
}
