//! Compound commands with keywords: `if`, `while`, `for`, `case`.

use super::super::syntax::{Instruction, LoopVariable, Scope, Unreadable, Word};
use super::list::ListEnd;
use super::{ArithForm, FrameKind, Parser};

/// A compound command that consists of lists only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Compound {
    If,
    /// `while` and `until`
    Loop,
}

impl Compound {
    pub(super) fn name(self) -> &'static str {
        match self {
            Compound::If => "if",
            Compound::Loop => "while",
        }
    }
}

/// The head of a `for` or `select`.
#[derive(Debug)]
pub(super) struct ForHead {
    stage: ForStage,
    name: String,
    words: Option<Vec<Word>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ForStage {
    Name,
    /// After the name: `in`, `do`, `{` or a separator.
    Named,
    Words,
    /// `do` or `{`.
    Body,
}

impl ForHead {
    pub(super) fn new() -> Self {
        ForHead { stage: ForStage::Name, name: String::new(), words: None }
    }
}

/// The position within a `case`, outside of its clauses.
#[derive(Debug)]
pub(super) struct CaseHead {
    stage: CaseStage,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CaseStage {
    Subject,
    In,
    /// A pattern, `(` before it, or `esac`.
    Start,
    /// A pattern must follow.
    Pattern,
    /// `|` or `)`.
    Next,
}

impl CaseHead {
    pub(super) fn new() -> Self {
        CaseHead { stage: CaseStage::Subject }
    }
}

impl Parser<'_> {
    pub(super) fn open_compound(&mut self, compound: Compound, until: &'static [&'static str]) {
        let scope = if compound == Compound::Loop { Scope::Loop } else { Scope::Group };
        self.open_scope(FrameKind::Compound(compound), scope);
        self.open_list(ListEnd::Keyword(until), Scope::Group);
    }

    /// Opens the list that follows `keyword` in the compound command of the top frame.
    pub(super) fn open_next_list(&mut self, keyword: &str) {
        let until: &'static [&'static str] = match keyword {
            "then" => &["elif", "else", "fi"],
            "elif" => &["then"],
            "else" => &["fi"],
            "do" => &["done"],
            _ => return self.finish_compound(),
        };
        self.open_list(ListEnd::Keyword(until), Scope::Branch);
    }

    /// Closes the compound command of the top frame.
    pub(super) fn finish_compound(&mut self) {
        self.pop();
        self.emit(Instruction::Close);
        self.mark_compound_done();
    }

    /// Continues after `}`, which closes a group or the body of a `for`.
    pub(super) fn finish_brace(&mut self) {
        if matches!(self.top().kind, FrameKind::For(_)) {
            self.finish_compound();
        } else {
            self.mark_compound_done();
        }
    }

    pub(super) fn add_for_word(&mut self, word: Word) {
        let bare = word.bare().map(str::to_owned);
        let at = word.span.start;
        let FrameKind::For(head) = &mut self.top().kind else { return };
        match (head.stage, bare.as_deref()) {
            (ForStage::Name, name) => {
                head.name = name.unwrap_or("?").to_owned();
                head.stage = ForStage::Named;
            }
            (ForStage::Named, Some("in")) => {
                head.stage = ForStage::Words;
                head.words = Some(Vec::new());
            }
            (ForStage::Named | ForStage::Body, Some("do")) => self.open_for_body(ListEnd::Keyword(&["done"])),
            (ForStage::Named | ForStage::Body, Some("{")) => self.open_for_body(ListEnd::Brace),
            (ForStage::Words, _) => head.words.get_or_insert_default().push(word),
            (ForStage::Named | ForStage::Body, other) => {
                let what = other.unwrap_or("word").to_owned();
                self.report_at(Unreadable::Syntax(what), at);
            }
        }
    }

    fn open_for_body(&mut self, close: ListEnd) {
        let FrameKind::For(head) = &mut self.top().kind else { return };
        let (name, words) = (std::mem::take(&mut head.name), head.words.take());
        self.emit(Instruction::LoopVariable(Box::new(LoopVariable { name, words })));
        self.open_list(close, Scope::Branch);
    }

    pub(super) fn end_for_line(&mut self) {
        let FrameKind::For(head) = &mut self.top().kind else { return };
        match head.stage {
            ForStage::Words => head.stage = ForStage::Body,
            ForStage::Name => self.report_unexpected("line end"),
            ForStage::Named | ForStage::Body => {}
        }
    }

    pub(super) fn parse_for_operator(&mut self, byte: u8) {
        self.end_word();
        let at = self.at;
        let arith = self.looking_at("((") && self.is_arith(at + 2);
        let FrameKind::For(head) = &mut self.top().kind else { return };
        match (head.stage, byte) {
            (ForStage::Name, b'(') if arith => {
                self.at += 2;
                self.open(FrameKind::Arith { form: ArithForm::For, depth: 0 });
            }
            (ForStage::Words | ForStage::Named, b';') => {
                head.stage = ForStage::Body;
                self.at += 1;
            }
            (ForStage::Body, b';') if head.name == "((" => {
                head.name.clear();
                self.at += 1;
            }
            _ => {
                self.report_unexpected("operator");
                self.at += 1;
            }
        }
    }

    /// Continues after `for (( … ))`. The name `((` marks that one `;` may follow.
    pub(super) fn finish_for_arith(&mut self) {
        if let FrameKind::For(head) = &mut self.top().kind {
            head.stage = ForStage::Body;
            head.name = "((".to_owned();
        }
    }

    pub(super) fn add_case_word(&mut self, word: &Word) {
        let esac = word.bare() == Some("esac");
        let is_in = word.bare() == Some("in");
        let FrameKind::Case(case) = &mut self.top().kind else { return };
        match case.stage {
            CaseStage::Subject => case.stage = CaseStage::In,
            CaseStage::In if is_in => case.stage = CaseStage::Start,
            CaseStage::Start if esac => self.finish_compound(),
            CaseStage::Start | CaseStage::Pattern => case.stage = CaseStage::Next,
            CaseStage::In | CaseStage::Next => self.report_unexpected("word"),
        }
    }

    pub(super) fn parse_case_operator(&mut self, byte: u8) {
        self.end_word();
        if !matches!(self.top().kind, FrameKind::Case(_)) {
            return; // The word was `esac`; the list below parses this byte.
        }
        self.at += 1;
        let FrameKind::Case(case) = &mut self.top().kind else { return };
        match (case.stage, byte) {
            (CaseStage::Start, b'(') => case.stage = CaseStage::Pattern,
            (CaseStage::Next, b'|') => case.stage = CaseStage::Pattern,
            (CaseStage::Next, b')') => {
                case.stage = CaseStage::Start;
                self.open_list(ListEnd::Clause, Scope::Branch);
            }
            _ => self.report_unexpected("operator"),
        }
    }

    /// Continues after `;;`.
    pub(super) fn finish_clause(&mut self) {
        if let FrameKind::Case(case) = &mut self.top().kind {
            case.stage = CaseStage::Start;
        }
    }
}
