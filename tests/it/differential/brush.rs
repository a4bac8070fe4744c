//! Collects the programs in a syntax tree of the crate `brush-parser`.

use super::{EXPANDS, Programs};
use brush_parser::ast::{self, CommandPrefixOrSuffixItem as Item, CompoundCommand};
use brush_parser::word::{self, ParameterExpr, WordPiece, WordPieceWithSource};
use brush_parser::{Parser, ParserOptions};

/// Maximum depth of nested substitutions.
const MAX_DEPTH: usize = 12;

pub(super) fn programs(line: &str) -> Option<Programs> {
    // The default of bash.
    let options = ParserOptions { enable_extended_globbing: false, ..ParserOptions::default() };
    let mut finder = Finder { options, found: Programs::default() };
    finder.text(line, 0).then_some(finder.found)
}

struct Finder {
    options: ParserOptions,
    found: Programs,
}

impl Finder {
    /// Parses a text; returns whether it is valid.
    fn text(&mut self, text: &str, depth: usize) -> bool {
        let Ok(program) = Parser::new(text.as_bytes(), &self.options).parse_program() else { return false };
        program.complete_commands.iter().for_each(|list| self.list(list, depth));
        true
    }

    fn list(&mut self, list: &ast::CompoundList, depth: usize) {
        for item in &list.0 {
            let more = item.0.additional.iter().map(|next| match next {
                ast::AndOr::And(pipeline) | ast::AndOr::Or(pipeline) => pipeline,
            });
            for pipeline in std::iter::once(&item.0.first).chain(more) {
                pipeline.seq.iter().for_each(|command| self.command(command, depth));
            }
        }
    }

    fn command(&mut self, command: &ast::Command, depth: usize) {
        match command {
            ast::Command::Simple(simple) => self.simple(simple, depth),
            ast::Command::Compound(compound, redirects) => {
                self.compound(compound, depth);
                self.redirects(redirects.as_ref(), depth);
            }
            ast::Command::Function(function) => {
                self.compound(&function.body.0, depth);
                self.redirects(function.body.1.as_ref(), depth);
            }
            ast::Command::ExtendedTest(test, redirects) => {
                self.test(&test.expr, depth);
                self.redirects(redirects.as_ref(), depth);
            }
        }
    }

    fn simple(&mut self, simple: &ast::SimpleCommand, depth: usize) {
        if let Some(word) = &simple.word_or_name {
            match self.name(&word.value) {
                Some(name) => drop(self.found.known.insert(name)),
                None => self.found.dynamic = true,
            }
            self.word(&word.value, depth);
        }
        let before = simple.prefix.iter().flat_map(|prefix| &prefix.0);
        let behind = simple.suffix.iter().flat_map(|suffix| &suffix.0);
        for item in before.chain(behind) {
            match item {
                Item::IoRedirect(redirect) => self.redirect(redirect, depth),
                Item::Word(word) => self.word(&word.value, depth),
                Item::AssignmentWord(assignment, _) => match &assignment.value {
                    ast::AssignmentValue::Scalar(value) => self.word(&value.value, depth),
                    ast::AssignmentValue::Array(values) => {
                        values.iter().for_each(|(_, value)| self.word(&value.value, depth));
                    }
                },
                Item::ProcessSubstitution(_, shell) => self.list(&shell.list, depth),
            }
        }
    }

    fn compound(&mut self, compound: &CompoundCommand, depth: usize) {
        match compound {
            CompoundCommand::Arithmetic(_) => {}
            CompoundCommand::ArithmeticForClause(clause) => self.list(&clause.body.list, depth),
            CompoundCommand::BraceGroup(group) => self.list(&group.list, depth),
            CompoundCommand::Subshell(shell) => self.list(&shell.list, depth),
            CompoundCommand::ForClause(clause) => {
                clause.values.iter().flatten().for_each(|word| self.word(&word.value, depth));
                self.list(&clause.body.list, depth);
            }
            CompoundCommand::CaseClause(clause) => {
                self.word(&clause.value.value, depth);
                for case in &clause.cases {
                    case.patterns.iter().for_each(|word| self.word(&word.value, depth));
                    case.cmd.iter().for_each(|list| self.list(list, depth));
                }
            }
            CompoundCommand::IfClause(clause) => {
                self.list(&clause.condition, depth);
                self.list(&clause.then, depth);
                for other in clause.elses.iter().flatten() {
                    other.condition.iter().for_each(|list| self.list(list, depth));
                    self.list(&other.body, depth);
                }
            }
            CompoundCommand::WhileClause(clause) | CompoundCommand::UntilClause(clause) => {
                self.list(&clause.0, depth);
                self.list(&clause.1.list, depth);
            }
            CompoundCommand::Coprocess(coprocess) => self.command(&coprocess.body, depth),
        }
    }

    fn test(&mut self, test: &ast::ExtendedTestExpr, depth: usize) {
        match test {
            ast::ExtendedTestExpr::And(left, right) | ast::ExtendedTestExpr::Or(left, right) => {
                self.test(left, depth);
                self.test(right, depth);
            }
            ast::ExtendedTestExpr::Not(inner) | ast::ExtendedTestExpr::Parenthesized(inner) => {
                self.test(inner, depth);
            }
            ast::ExtendedTestExpr::UnaryTest(_, word) => self.word(&word.value, depth),
            ast::ExtendedTestExpr::BinaryTest(_, left, right) => {
                self.word(&left.value, depth);
                self.word(&right.value, depth);
            }
        }
    }

    fn redirects(&mut self, redirects: Option<&ast::RedirectList>, depth: usize) {
        redirects.iter().flat_map(|list| &list.0).for_each(|redirect| self.redirect(redirect, depth));
    }

    fn redirect(&mut self, redirect: &ast::IoRedirect, depth: usize) {
        match redirect {
            ast::IoRedirect::File(_, _, target) => match target {
                ast::IoFileRedirectTarget::Filename(word) | ast::IoFileRedirectTarget::Duplicate(word) => {
                    self.word(&word.value, depth);
                }
                ast::IoFileRedirectTarget::ProcessSubstitution(_, shell) => self.list(&shell.list, depth),
                ast::IoFileRedirectTarget::Fd(_) => {}
            },
            ast::IoRedirect::HereDocument(_, document) if document.requires_expansion => {
                let pieces = word::parse_heredoc(&document.doc.value, &self.options).unwrap_or_default();
                self.pieces(&pieces, depth);
            }
            ast::IoRedirect::HereDocument(..) => {}
            ast::IoRedirect::HereString(_, word) | ast::IoRedirect::OutputAndError(word, _) => {
                self.word(&word.value, depth);
            }
        }
    }

    /// Collects the commands in the substitutions of a word.
    fn word(&mut self, word: &str, depth: usize) {
        let pieces = word::parse(word, &self.options).unwrap_or_default();
        self.pieces(&pieces, depth);
    }

    fn pieces(&mut self, pieces: &[WordPieceWithSource], depth: usize) {
        if depth >= MAX_DEPTH {
            return;
        }
        for piece in pieces {
            match &piece.piece {
                WordPiece::CommandSubstitution(text) | WordPiece::BackquotedCommandSubstitution(text) => {
                    self.text(text, depth + 1);
                }
                WordPiece::DoubleQuotedSequence(inner) | WordPiece::GettextDoubleQuotedSequence(inner) => {
                    self.pieces(inner, depth + 1);
                }
                WordPiece::ArithmeticExpression(expression) => self.word(&expression.value, depth + 1),
                WordPiece::ParameterExpansion(
                    ParameterExpr::UseDefaultValues { default_value: Some(word), .. }
                    | ParameterExpr::AssignDefaultValues { default_value: Some(word), .. },
                ) => self.word(word, depth + 1),
                _ => {}
            }
        }
    }

    /// The value of a word, if it is known without running anything.
    fn name(&self, word: &str) -> Option<String> {
        let mut name = String::new();
        literal(&word::parse(word, &self.options).ok()?, false, &mut name)?;
        Some(name)
    }
}

fn literal(pieces: &[WordPieceWithSource], quoted: bool, name: &mut String) -> Option<()> {
    for piece in pieces {
        match &piece.piece {
            WordPiece::Text(text) => {
                let expands = !quoted && text.len() > 1 && text.contains(|c| EXPANDS.contains(c));
                if expands || text.contains("\\\n") {
                    return None;
                }
                name.push_str(text);
            }
            WordPiece::SingleQuotedText(text) => name.push_str(text),
            // The text of this piece includes the backslash.
            WordPiece::EscapeSequence(text) => match text.strip_prefix('\\') {
                Some("\n") => {}
                Some(escaped) => name.push_str(escaped),
                None => return None,
            },
            WordPiece::DoubleQuotedSequence(inner) => literal(inner, true, name)?,
            // The text of this piece is not decoded.
            WordPiece::AnsiCQuotedText(text) if !text.contains('\\') => name.push_str(text),
            _ => return None,
        }
    }
    Some(())
}
