//! Conditional commands: `[[ … ]]`.

use super::super::syntax::{Unreadable, Word, WordPart};
use super::expansion::may_assign_variable;
use super::subscript::runs_in_subscript;
use super::{FrameKind, Parser};

#[derive(Debug)]
pub(super) struct Conditional {
    stage: CondStage,
    /// Open parentheses of the expression.
    depth: usize,
    /// The next word is a pattern, in which parentheses and bars are literal.
    pattern: PatternKind,
    /// Open parentheses within the pattern.
    open: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PatternKind {
    None,
    /// After `=~`.
    Regex,
    /// After `==`, `=` or `!=`, where groups such as `@(a|b)` are allowed.
    Glob,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CondStage {
    /// A word, `!` or `(`.
    Operand,
    /// After a unary operator such as `-f`. Without an operand, `-f` is a word.
    Unary,
    /// An operator, or the end of the expression.
    Operator,
    /// The right-hand side of a comparison.
    Right,
    /// After a complete expression.
    Done,
}

impl Conditional {
    pub(super) fn new() -> Self {
        Conditional { stage: CondStage::Operand, depth: 0, pattern: PatternKind::None, open: 0 }
    }
}

impl Parser<'_> {
    /// Takes a byte that would be an operator but is literal within a pattern. Returns whether it was one.
    pub(super) fn take_pattern_byte(&mut self, byte: u8) -> bool {
        let top = self.top();
        let FrameKind::Cond(cond) = &mut top.kind else { return false };
        let group = match top.parts.last() {
            Some(WordPart::Plain(text)) => text.ends_with(['@', '?', '*', '+', '!']),
            _ => false,
        };
        let taken = match (cond.pattern, byte) {
            (PatternKind::None, _) => false,
            (PatternKind::Regex, b'(') => true,
            (PatternKind::Glob, b'(') => group || cond.open > 0,
            (_, b')' | b'|' | b' ' | b'\t' | b'&' | b';' | b'<' | b'>') if cond.open > 0 => true,
            (PatternKind::Regex, b'|') => true,
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

    pub(super) fn add_cond_word(&mut self, word: &Word) {
        let is_evaluated = |part: &WordPart| matches!(part, WordPart::Quoted(text) if text.contains("[$(") || text.contains("[`") || runs_in_subscript(text));
        if word.parts.iter().any(is_evaluated) {
            self.report_at(Unreadable::Ambiguous("an expansion in a quoted subscript"), word.span.start);
        }
        let bare = word.bare().unwrap_or_default().to_owned();
        // `[[ i=1 -eq 1 ]]` assigns.
        for part in &word.parts {
            if let WordPart::Plain(text) | WordPart::Quoted(text) = part
                && may_assign_variable(text)
            {
                self.emit_arithmetic(text);
            }
        }
        let FrameKind::Cond(cond) = &mut self.top().kind else { return };
        cond.pattern = PatternKind::None;
        cond.open = 0;
        let closes = bare == "]]" && matches!(cond.stage, CondStage::Unary | CondStage::Operator | CondStage::Done);
        if closes {
            if cond.depth > 0 {
                self.report_unexpected("]]");
            }
            self.pop();
            return self.mark_compound_done();
        }
        let mut unexpected = false;
        cond.stage = match cond.stage {
            CondStage::Operand if bare == "!" => CondStage::Operand,
            CondStage::Operand if is_unary(&bare) => CondStage::Unary,
            CondStage::Operand => CondStage::Operator,
            // `-f == x`: here `-f` is a word.
            CondStage::Unary | CondStage::Operator if is_binary(&bare) => {
                cond.pattern = match bare.as_str() {
                    "=~" => PatternKind::Regex,
                    "==" | "=" | "!=" => PatternKind::Glob,
                    _ => PatternKind::None,
                };
                CondStage::Right
            }
            CondStage::Unary | CondStage::Right => CondStage::Done,
            CondStage::Operator | CondStage::Done => {
                unexpected = true;
                CondStage::Done
            }
        };
        if unexpected {
            self.report_unexpected("word");
        }
    }

    pub(super) fn parse_cond_operator(&mut self, byte: u8) {
        self.end_word();
        let two = self.looking_at("&&") || self.looking_at("||");
        let FrameKind::Cond(cond) = &mut self.top().kind else { return };
        let whole = matches!(cond.stage, CondStage::Unary | CondStage::Operator | CondStage::Done);
        match byte {
            b'&' | b'|' if two && whole => {
                cond.stage = CondStage::Operand;
                self.at += 2;
                return;
            }
            b'(' if cond.stage == CondStage::Operand => cond.depth += 1,
            b')' if whole && cond.depth > 0 => {
                cond.depth -= 1;
                cond.stage = CondStage::Done;
            }
            b'<' | b'>' if matches!(cond.stage, CondStage::Unary | CondStage::Operator) => {
                cond.stage = CondStage::Right
            }
            _ => self.report_unexpected("operator"),
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
