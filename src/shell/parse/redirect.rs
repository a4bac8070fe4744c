//! Redirections: an operator, and the word that it takes.

use super::super::syntax::{Direction, Part, Redirect, Target, Word};
use super::list::State;
use super::{Parser, assignment::is_name};

impl Parser<'_> {
    pub(super) fn redirect_operator(&mut self) {
        const FORMS: [(&str, Direction); 13] = [
            ("<<<", Direction::String),
            ("<<-", Direction::Heredoc { strip: true }),
            ("<<", Direction::Heredoc { strip: false }),
            ("<>", Direction::Both),
            ("<&", Direction::CopyFrom),
            ("<", Direction::From),
            ("&>>", Direction::To),
            ("&>", Direction::To),
            (">>", Direction::To),
            (">|", Direction::To),
            (">&", Direction::Copy),
            (">", Direction::To),
            ("", Direction::To),
        ];
        // `<&-` and `>&-` close a descriptor and take no word: what follows is the next one.
        if self.looking_at("<&-") || self.looking_at(">&-") {
            let start = self.at;
            self.at += 3;
            let list = self.list();
            if matches!(list.state, State::Start | State::Prefixed) {
                list.state = State::Words;
                list.simple.span.start = start;
            }
            return;
        }
        let found = FORMS.iter().find(|(form, _)| self.looking_at(form));
        let (form, direction) = found.copied().unwrap_or((">", Direction::To));
        let start = self.at;
        self.at += form.len().max(1);
        let list = self.list();
        if list.redirect.replace(direction).is_some() {
            self.unexpected("redirection");
        }
        let list = self.list();
        match list.state {
            State::Start | State::Prefixed => {
                list.state = State::Words;
                list.simple.span.start = start;
            }
            State::FunctionName | State::FunctionBody => self.unexpected("redirection"),
            State::Words | State::Done => {}
        }
    }

    pub(super) fn redirect_to(&mut self, direction: Direction, word: Word) {
        let target = match direction {
            Direction::Heredoc { strip } => Target::Heredoc(self.heredoc(&word, strip)),
            Direction::From
            | Direction::To
            | Direction::Both
            | Direction::Copy
            | Direction::CopyFrom
            | Direction::String => Target::Word(word),
        };
        // `>&` to anything but a descriptor is a file.
        let direction = match (&target, direction) {
            (Target::Word(word), Direction::Copy | Direction::CopyFrom) if !word.bare().is_some_and(is_copy) => {
                Direction::To
            }
            _ => direction,
        };
        let aside = std::mem::take(&mut self.list().aside);
        self.list().simple.redirects.push(Redirect { aside, direction, target });
    }
}

/// A descriptor number, `-` to close, or a number that moves.
fn is_copy(word: &str) -> bool {
    let digits = word.strip_suffix('-').unwrap_or(word);
    digits.bytes().all(|byte| byte.is_ascii_digit())
}

/// The descriptor that `<` or `>` redirects, if that is what the word before it is.
pub(super) fn descriptor(parts: &[Part]) -> Option<&str> {
    match parts {
        [Part::Plain(text)] => {
            let number = text.bytes().all(|byte| byte.is_ascii_digit());
            let named = text.strip_prefix('{').and_then(|text| text.strip_suffix('}')).is_some_and(is_name);
            (number || named).then_some(text)
        }
        _ => None,
    }
}
