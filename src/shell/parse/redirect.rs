//! Redirections: an operator and its operand.

use super::super::syntax::{ParsedRedirect, RedirectOperator, RedirectTarget, Word, WordPart};
use super::list::ListState;
use super::{Parser, assignment::is_name};

impl Parser<'_> {
    pub(super) fn parse_redirect_operator(&mut self) {
        const FORMS: [(&str, RedirectOperator); 12] = [
            ("<<<", RedirectOperator::HereString),
            ("<<-", RedirectOperator::Heredoc { strip: true }),
            ("<<", RedirectOperator::Heredoc { strip: false }),
            ("<>", RedirectOperator::InputOutput),
            ("<&", RedirectOperator::DuplicateInput),
            ("<", RedirectOperator::Input),
            ("&>>", RedirectOperator::Append),
            ("&>", RedirectOperator::Output),
            (">>", RedirectOperator::Append),
            (">|", RedirectOperator::Output),
            (">&", RedirectOperator::DuplicateOutput),
            (">", RedirectOperator::Output),
        ];
        let start = self.at;
        // `<&-` and `>&-` close a descriptor and take no operand.
        if self.looking_at("<&-") || self.looking_at(">&-") {
            self.at += 3;
            return self.begin_redirected(start);
        }
        let found = FORMS.iter().find(|(form, _)| self.looking_at(form));
        let (form, operator) = found.copied().unwrap_or((">", RedirectOperator::Output));
        self.at += form.len();
        if self.list().pending_redirect.replace(operator).is_some() {
            self.report_unexpected("redirection");
        }
        if matches!(self.list().state, ListState::FunctionName | ListState::FunctionBody) {
            self.report_unexpected("redirection");
        }
        self.begin_redirected(start);
    }

    /// Begins a simple command with a redirection, unless one has begun.
    fn begin_redirected(&mut self, start: usize) {
        let list = self.list();
        if matches!(list.state, ListState::Start | ListState::Prefixed) {
            list.state = ListState::Words;
            list.simple.span.start = start;
        }
    }

    pub(super) fn add_redirect(&mut self, operator: RedirectOperator, word: Word) {
        let target = if let RedirectOperator::Heredoc { strip } = operator {
            RedirectTarget::Heredoc(self.register_heredoc(&word, strip))
        } else {
            RedirectTarget::Word(word)
        };
        // `>&word` opens a file unless the word is a descriptor.
        let operator = match (&target, operator) {
            (RedirectTarget::Word(word), RedirectOperator::DuplicateOutput | RedirectOperator::DuplicateInput)
                if !word.bare().is_some_and(is_copy) =>
            {
                RedirectOperator::Output
            }
            _ => operator,
        };
        let other_descriptor = std::mem::take(&mut self.list().other_descriptor);
        self.list().simple.redirects.push(ParsedRedirect { other_descriptor, operator, target });
    }
}

/// Whether the operand of `>&` is a descriptor: a number, `-` to close it, or both to move it.
fn is_copy(word: &str) -> bool {
    let digits = word.strip_suffix('-').unwrap_or(word);
    digits.bytes().all(|byte| byte.is_ascii_digit())
}

/// Returns the descriptor if the word directly before `<` or `>` is one: `2>`, `{fd}>`.
pub(super) fn leading_descriptor(parts: &[WordPart]) -> Option<&str> {
    match parts {
        [WordPart::Plain(text)] => {
            let number = text.bytes().all(|byte| byte.is_ascii_digit());
            let named = text.strip_prefix('{').and_then(|text| text.strip_suffix('}')).is_some_and(is_name);
            (number || named).then_some(text)
        }
        _ => None,
    }
}
