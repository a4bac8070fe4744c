//! `[[ … ]]`: a language of its own between two words.

use super::super::syntax::{Part, Unreadable, Word};
use super::{FrameKind, Parser};

#[derive(Debug)]
pub(super) struct Cond {
    stage: Stage,
    depth: usize,
    /// The word that comes is a pattern, in which parentheses and bars stand for themselves.
    pattern: Pattern,
    /// Parentheses that are open within it.
    open: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Pattern {
    No,
    /// Behind `=~`.
    Regex,
    /// Behind `==`, `=` or `!=`: groups such as `@(a|b)`.
    Glob,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// A word, `!` or `(`.
    Operand,
    /// The operand of `-f` and its like; it may be missing, then `-f` was a word.
    Unary,
    /// An operator, or the end of the expression.
    Operator,
    /// The right-hand side of a comparison.
    Right,
    /// Behind a whole expression.
    Done,
}

impl Cond {
    pub(super) fn new() -> Self {
        Cond { stage: Stage::Operand, depth: 0, pattern: Pattern::No, open: 0 }
    }
}

impl Parser<'_> {
    /// Within a pattern of `[[ … ]]` some operators are characters; tells whether this byte was one.
    pub(super) fn pattern_byte(&mut self, byte: u8) -> bool {
        let top = self.top();
        let FrameKind::Cond(cond) = &mut top.kind else { return false };
        let group = match top.parts.last() {
            Some(Part::Plain(text)) => text.ends_with(['@', '?', '*', '+', '!']),
            _ => false,
        };
        let taken = match (cond.pattern, byte) {
            (Pattern::No, _) => false,
            (Pattern::Regex, b'(') => true,
            (Pattern::Glob, b'(') => group || cond.open > 0,
            (_, b')' | b'|' | b' ' | b'\t' | b'&' | b';' | b'<' | b'>') if cond.open > 0 => true,
            (Pattern::Regex, b'|') => true,
            _ => false,
        };
        if !taken {
            return false;
        }
        match byte {
            b'(' => cond.open += 1,
            b')' => cond.open -= 1,
            _ => {}
        }
        self.push(&char::from(byte).to_string(), true);
        self.at += 1;
        true
    }

    pub(super) fn cond_word(&mut self, word: &Word) {
        let evaluated = word.parts.iter().any(|part| match part {
            Part::Quoted(text) => text.contains("[$(") || text.contains("[`"),
            Part::Plain(_) | Part::Variable(_) | Part::Output { .. } | Part::List(_) | Part::Unknown { .. } => false,
        });
        if evaluated {
            self.flaw(Unreadable::Unclear("an expansion in a quoted subscript"), word.span.start);
        }
        let bare = word.bare().unwrap_or_default().to_owned();
        let FrameKind::Cond(cond) = &mut self.top().kind else { return };
        cond.pattern = Pattern::No;
        cond.open = 0;
        let closes = bare == "]]" && matches!(cond.stage, Stage::Unary | Stage::Operator | Stage::Done);
        if closes {
            if cond.depth > 0 {
                self.unexpected("]]");
            }
            self.frames.pop();
            return self.compound_done();
        }
        let mut strange = false;
        cond.stage = match cond.stage {
            Stage::Operand if bare == "!" => Stage::Operand,
            Stage::Operand if is_unary(&bare) => Stage::Unary,
            Stage::Operand => Stage::Operator,
            // `-f == x`: the dash was a word after all.
            Stage::Unary | Stage::Operator if is_binary(&bare) => {
                cond.pattern = match bare.as_str() {
                    "=~" => Pattern::Regex,
                    "==" | "=" | "!=" => Pattern::Glob,
                    _ => Pattern::No,
                };
                Stage::Right
            }
            Stage::Unary | Stage::Right => Stage::Done,
            Stage::Operator | Stage::Done => {
                strange = true;
                Stage::Done
            }
        };
        if strange {
            self.unexpected("word");
        }
    }

    pub(super) fn cond_operator(&mut self, byte: u8) {
        self.end_word();
        let two = self.looking_at("&&") || self.looking_at("||");
        let FrameKind::Cond(cond) = &mut self.top().kind else { return };
        let whole = matches!(cond.stage, Stage::Unary | Stage::Operator | Stage::Done);
        match byte {
            b'&' | b'|' if two && whole => {
                cond.stage = Stage::Operand;
                self.at += 2;
                return;
            }
            b'(' if cond.stage == Stage::Operand => cond.depth += 1,
            b')' if whole && cond.depth > 0 => {
                cond.depth -= 1;
                cond.stage = Stage::Done;
            }
            b'<' | b'>' if matches!(cond.stage, Stage::Unary | Stage::Operator) => cond.stage = Stage::Right,
            _ => self.unexpected("operator"),
        }
        self.at += 1;
    }
}

fn is_unary(word: &str) -> bool {
    let mut chars = word.chars();
    chars.next() == Some('-') && chars.next().is_some_and(|c| c.is_ascii_alphabetic()) && chars.next().is_none()
}

fn is_binary(word: &str) -> bool {
    matches!(word, "=" | "==" | "!=" | "=~" | "-eq" | "-ne" | "-lt" | "-le" | "-gt" | "-ge" | "-nt" | "-ot" | "-ef")
}
