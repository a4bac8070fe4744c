//! The parser of PowerShell text. It produces the same instructions as the parser of bash text.
//!
//! Cmdlets become the equivalent programs (`cmdlets`), script blocks become lists, and expressions are searched for
//! commands. Pipelines run in the process of the shell, so their changes of its state remain.

mod arguments;
mod cmdlets;
mod expression;
mod methods;
mod invocation;
mod statements;
mod words;

use super::Reading;
use super::eval;
use super::syntax::Word;
use super::syntax::{
    Instruction, LoopVariable, ParsedRedirect, RedirectOperator, RedirectTarget, Scope, Script, SimpleCommand,
    Unreadable, WordPart, WordParts,
};
use crate::path::Place;
use crate::programs::Catalogue;
use crate::verdict::limits::{PATH_BYTES, SHELL_BYTES, SHELL_COMMANDS, SHELL_DEPTH};
use arguments::Argument;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// Analyses a text as PowerShell would run it in `place`.
pub fn read(text: &str, place: &Place, catalogue: &Catalogue) -> Reading {
    if text.len() > SHELL_BYTES.most {
        return Reading { exceeded: Some(&SHELL_BYTES), ..Reading::default() };
    }
    let mut script = parse(text);
    if !script.errors.is_empty() {
        script.instructions.push(Instruction::End);
        script.instructions.push(Instruction::Simple(Box::new(SimpleCommand {
            words: unparsed_code(text),
            ..SimpleCommand::default()
        })));
    }
    Reading { place: place.clone(), ..eval::evaluate_powershell(script, text.len(), place, catalogue) }
}

/// Parses a text into the instructions that the evaluator executes.
pub(super) fn parse(text: &str) -> Script {
    let mut parser = PowerShellParser { text, at: 0, out: ParserOutput::default(), depth: 0, within: None, feed: None };
    parser.parse_statements(None);
    parser.out.script
}

/// Builds a command that has the whole text as code, so that each protected file that the text mentions counts.
fn unparsed_code(text: &str) -> Vec<Word> {
    let mut plain = text.replace('\\', "/");
    for home in ["$env:USERPROFILE", "$HOME", "$env:HOME", "${HOME}"] {
        plain = plain.replace(home, "~");
    }
    vec![word(quoted("pwsh")), word(quoted("-Command")), word(quoted(&plain))]
}

/// What has been parsed so far. Code that a text runs adds to the output of the text.
#[derive(Default)]
struct ParserOutput {
    script: Script,
    commands: usize,
    substitutions: usize,
    /// Environment variables that the text sets, in lower case.
    exported: BTreeSet<String>,
    /// The aliases that the text defines, in lower case, with their commands.
    aliases: BTreeMap<String, String>,
}

struct PowerShellParser<'a> {
    text: &'a str,
    at: usize,
    out: ParserOutput,
    depth: usize,
    /// The range in the line of the command that runs this text; `None` for the line itself.
    within: Option<Range<usize>>,
    /// The files or values that the last command passes to the next stage, if they are known.
    feed: Option<Vec<Word>>,
}

fn quoted(text: &str) -> WordParts {
    WordParts::from_iter([WordPart::Quoted(text.into())])
}

fn unknown() -> WordParts {
    WordParts::from_iter([WordPart::Unknown { quoted: true }])
}

fn word(parts: WordParts) -> Word {
    Word { parts, span: 0..0 }
}

/// Returns the text of a word without expansions.
fn literal_text(word: &Word) -> Option<String> {
    word.parts.iter().map(WordPart::literal).collect()
}

/// Returns the number of literal bytes of a word, plus one for each part.
fn count_bytes(word: &Word) -> usize {
    word.parts.iter().map(|part| 1 + part.literal().map_or(0, str::len)).sum()
}

fn is_single_quote(c: char) -> bool {
    matches!(c, '\'' | '\u{2018}'..='\u{201b}')
}

fn is_double_quote(c: char) -> bool {
    matches!(c, '"' | '\u{201c}'..='\u{201e}')
}

fn is_dash(c: char) -> bool {
    matches!(c, '-' | '\u{2013}'..='\u{2015}')
}

fn is_name_char(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

impl PowerShellParser<'_> {
    fn rest(&self) -> &str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn peek_second(&self) -> Option<char> {
        self.rest().chars().nth(1)
    }

    fn next_char(&mut self) -> Option<char> {
        let c = self.peek()?;
        self.at += c.len_utf8();
        Some(c)
    }

    fn advance(&mut self) {
        self.next_char();
    }

    fn consume(&mut self, text: &str) -> bool {
        let found = self.rest().starts_with(text);
        self.at += if found { text.len() } else { 0 };
        found
    }

    fn take_while(&mut self, holds: impl Fn(char) -> bool) -> String {
        let rest = self.rest();
        let taken = rest.get(..rest.find(|c| !holds(c)).unwrap_or(rest.len())).unwrap_or_default().to_owned();
        self.at += taken.len();
        taken
    }

    fn push_instruction(&mut self, step: Instruction) {
        self.out.script.instructions.push(step);
    }

    fn report_error(&mut self, flaw: Unreadable) {
        if self.out.script.errors.is_empty() {
            self.out.script.errors.push((flaw, self.at));
        }
    }

    /// Reports a limit and moves to the end of the text. What was parsed before is kept.
    fn stop_at(&mut self, limit: &'static crate::verdict::limits::Limit) {
        self.out.script.exceeded.get_or_insert(limit);
        self.at = self.text.len();
    }

    /// Skips blanks, comments and continued lines, and with [`LineEnds::Cross`] line ends.
    fn skip_blanks(&mut self, lines: LineEnds) {
        loop {
            match self.peek() {
                Some('\n' | '\r') if lines == LineEnds::Stop => return,
                Some(c) if c.is_whitespace() => self.advance(),
                Some('#') => drop(self.take_while(|c| c != '\n')),
                Some('<') if self.rest().starts_with("<#") => match self.rest().find("#>") {
                    Some(end) => self.at += end + 2,
                    None => {
                        self.report_error(Unreadable::Unterminated("<#"));
                        self.at = self.text.len();
                    }
                },
                Some('`') if matches!(self.peek_second(), Some('\n' | '\r')) => {
                    self.advance();
                    self.take_while(|c| c == '\r');
                    self.advance();
                }
                _ => return,
            }
        }
    }

    /// Appends a command.
    fn push_simple(&mut self, simple: SimpleCommand) {
        self.out.commands += 1;
        if self.out.commands > SHELL_COMMANDS.most {
            return self.stop_at(&SHELL_COMMANDS);
        }
        self.push_instruction(Instruction::Simple(Box::new(simple)));
    }

    /// Appends a command of these words, which begins at `start`.
    fn push_command(&mut self, words: Vec<Word>, redirects: Vec<ParsedRedirect>, start: usize) {
        let span = self.within.clone().unwrap_or(start..self.at);
        self.push_simple(SimpleCommand { words, redirects, span, ..SimpleCommand::default() });
    }

    /// Sets a variable to one of these words, or to an unknown value if there are none.
    fn push_assignment(&mut self, name: String, words: Option<Vec<Word>>) {
        let words = words.filter(|words| !words.is_empty());
        self.push_instruction(Instruction::LoopVariable(Box::new(LoopVariable { name, words })));
    }

    /// Parses a nested construct and checks the nesting limit.
    fn parse_nested<T>(&mut self, read: impl FnOnce(&mut Self) -> T) -> T {
        self.depth += 1;
        if self.depth > SHELL_DEPTH.most {
            self.stop_at(&SHELL_DEPTH);
        }
        let value = read(self);
        self.depth -= 1;
        value
    }

    /// Parses a construct whose value or output becomes part of a word. Returns the words.
    fn parse_captured(&mut self, read: impl FnOnce(&mut Self) -> Option<Vec<Word>>) -> Vec<Word> {
        self.out.substitutions += 1;
        let (number, before) = (self.out.substitutions, self.out.script.instructions.len());
        self.push_instruction(Instruction::Open(Scope::Substitution(number)));
        let value = self.parse_nested(read);
        if value.is_some() && self.out.script.instructions.len() == before + 1 {
            self.out.script.instructions.pop();
        } else {
            self.push_instruction(Instruction::Close);
        }
        let listed = self.feed.take();
        let output = || vec![word(WordParts::from_iter([WordPart::Output { number, quoted: true }]))];
        value.or(listed).unwrap_or_else(output)
    }

    /// Parses statements up to `close`. Returns the value if there is one statement, an expression that runs nothing.
    fn parse_statements(&mut self, close: Option<char>) -> Option<Vec<Word>> {
        let mut value: Option<Vec<Word>> = None;
        let mut statements = 0;
        loop {
            self.skip_blanks(LineEnds::Cross);
            match self.peek() {
                None => {
                    if close.is_some() {
                        self.report_error(Unreadable::Unterminated(if close == Some(')') { "(" } else { "{" }));
                    }
                    break;
                }
                Some(c) if Some(c) == close => {
                    self.advance();
                    break;
                }
                Some(';' | ',') => self.advance(),
                Some(')' | '}' | ']') => {
                    self.report_error(Unreadable::Syntax("bracket".to_owned()));
                    self.advance();
                }
                Some(_) => {
                    if let Some(before) = value.take() {
                        self.push_echo(before);
                    }
                    let start = self.at;
                    value = self.parse_statement();
                    statements += 1;
                    // INVARIANT: each round consumes something.
                    if self.at == start {
                        self.report_error(Unreadable::Syntax("character".to_owned()));
                        self.advance();
                    }
                    if value.is_none() {
                        self.push_instruction(Instruction::End);
                    }
                }
            }
        }
        if statements > 1 {
            value.take().into_iter().for_each(|value| self.push_echo(value));
        }
        value
    }

    fn push_echo(&mut self, words: Vec<Word>) {
        let at = self.at;
        self.push_command(std::iter::once(word(quoted("echo"))).chain(words).collect(), Vec::new(), at);
        self.push_instruction(Instruction::End);
    }

    /// Parses `( … )` or `$( … )` after its opening parenthesis. Returns the words of its value.
    fn parse_substitution(&mut self) -> Vec<Word> {
        self.parse_captured(|parser| parser.parse_statements(Some(')')))
    }

    /// Parses `{ … }` as a list with this scope.
    fn parse_block(&mut self, scope: Scope) {
        self.skip_blanks(LineEnds::Cross);
        if !self.consume("{") {
            return self.report_error(Unreadable::Syntax("block".to_owned()));
        }
        self.push_instruction(Instruction::Open(scope));
        let value = self.parse_nested(|parser| parser.parse_statements(Some('}')));
        value.into_iter().for_each(|value| self.push_echo(value));
        self.push_instruction(Instruction::Close);
    }

    /// Parses the condition `( … )` of a statement.
    fn parse_condition(&mut self) {
        self.skip_blanks(LineEnds::Cross);
        if self.consume("(") {
            self.parse_substitution();
            self.push_instruction(Instruction::End);
        }
    }

    /// Whether the position is at the end of a statement.
    fn is_at_statement_end(&self) -> bool {
        matches!(self.peek(), None | Some(';' | '\n' | '\r' | ')' | '}' | ']'))
    }

    /// Parses pipelines that are separated by `&&`, `||` and `&`.
    fn parse_chain(&mut self) -> Option<Vec<Word>> {
        loop {
            let value = self.parse_pipeline();
            self.skip_blanks(LineEnds::Stop);
            let next = if self.consume("&&") {
                Instruction::And
            } else if self.consume("||") {
                Instruction::Or
            } else if self.peek() == Some('&') {
                self.advance();
                Instruction::Background
            } else {
                return value;
            };
            value.into_iter().for_each(|value| self.push_echo(value));
            let ends = next == Instruction::Background;
            self.push_instruction(next);
            if ends {
                return None;
            }
            self.skip_blanks(LineEnds::Cross);
        }
    }

    /// Parses a pipeline of commands and expressions. Returns the value of a single expression.
    fn parse_pipeline(&mut self) -> Option<Vec<Word>> {
        let mut fed: Option<Vec<Word>> = None;
        for stage in 0.. {
            self.feed = None;
            self.skip_blanks(LineEnds::Stop);
            let start = self.at;
            let words = if self.is_at_command() {
                self.parse_command(stage, fed.clone())
            } else {
                self.parse_expression(expression::ExpressionPosition::Statement)
            };
            fed = self.feed.take();
            let redirects = self.parse_redirects();
            let piped = self.is_at_pipe();
            if let Some(words) = words {
                if stage == 0 && !piped && redirects.is_empty() {
                    return Some(words);
                }
                fed = Some(words.clone());
                self.push_command(std::iter::once(word(quoted("echo"))).chain(words).collect(), redirects, start);
            }
            // Each stage copies the words, so longer ones than a path become unknown.
            fed = fed.filter(|words| words.iter().map(count_bytes).sum::<usize>() <= PATH_BYTES.most);
            if !piped || self.at == start {
                break;
            }
            self.skip_blanks(LineEnds::Cross);
            self.consume("|");
            self.push_instruction(Instruction::Pipe);
            self.skip_blanks(LineEnds::Cross);
        }
        self.feed = fed;
        None
    }

    /// Whether a pipe follows, possibly on the next line.
    fn is_at_pipe(&self) -> bool {
        let rest = self.rest().trim_start();
        rest.starts_with('|') && !rest.starts_with("||")
    }

    fn is_at_command_end(&self) -> bool {
        self.is_at_statement_end() || matches!(self.peek(), Some('|' | '&'))
    }

    /// Whether a command begins at the position, and not an expression.
    fn is_at_command(&self) -> bool {
        match self.peek() {
            Some('&') => true,
            Some('.') => !self.peek_second().is_some_and(|c| c.is_ascii_digit()),
            Some(c) if is_single_quote(c) || is_double_quote(c) || is_dash(c) => false,
            Some(c) => !c.is_ascii_digit() && !"$@([{+!,".contains(c),
            None => false,
        }
    }

    /// Parses a command and appends what it runs. Returns the value of a cmdlet that only names files.
    fn parse_command(&mut self, stage: usize, fed: Option<Vec<Word>>) -> Option<Vec<Word>> {
        let start = self.at;
        let (mut items, mut redirects) = (Vec::new(), Vec::new());
        let operator = match self.peek() {
            Some('&') => self.next_char(),
            Some('.') if self.peek_second().is_some_and(|c| c.is_whitespace() || "$({\"'".contains(c)) => {
                self.next_char()
            }
            _ => None,
        };
        self.skip_blanks(LineEnds::Stop);
        let blocks = self.out.script.instructions.len();
        while !self.is_at_command_end() && self.out.script.exceeded.is_none() {
            let before = self.at;
            redirects.extend(self.parse_redirects());
            // `--%`: the rest of the line is literal.
            if self.consume("--%") {
                let line = self.take_while(|c| c != '\n' && c != '|');
                items.extend(line.split_whitespace().map(|text| Argument::Words(vec![word(quoted(text))])));
            } else if self.peek() == Some('{') {
                if stage > 0 && !items.iter().any(|item| matches!(item, Argument::Block)) {
                    self.push_assignment("psitem".to_owned(), fed.clone());
                }
                self.parse_block(if operator.is_some() { Scope::Group } else { Scope::Loop });
                items.push(Argument::Block);
            } else if !self.is_at_command_end() {
                items.push(self.parse_argument());
            }
            self.skip_blanks(LineEnds::Stop);
            if self.at == before {
                self.advance();
            }
        }
        let ran_block = self.out.script.instructions.len() > blocks;
        self.invoke(
            items,
            redirects,
            &arguments::Invocation { start, stage, fed, dotted: operator == Some('.'), ran_block },
        )
    }

    /// Parses redirections to files: `> x`, `2>> x`, `*> x`. Redirections to streams and to `$null` are dropped.
    fn parse_redirects(&mut self) -> Vec<ParsedRedirect> {
        let mut found = Vec::new();
        loop {
            self.skip_blanks(LineEnds::Stop);
            let rest = self.rest();
            let stream = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit() || c == '*').len();
            if stream > 1 || !rest.get(stream..).is_some_and(|rest| rest.starts_with('>')) {
                return found;
            }
            let other_descriptor = !matches!(rest.chars().next(), Some('>' | '1' | '*'));
            self.at += stream;
            self.take_while(|c| c == '>');
            if self.consume("&") {
                self.take_while(|c| c.is_ascii_digit());
                continue;
            }
            self.skip_blanks(LineEnds::Stop);
            let words = self.parse_argument().into_words();
            let is_null = |word: &Word| literal_text(word).is_some_and(|text| text.is_empty());
            found.extend(words.into_iter().filter(|word| !is_null(word)).map(|word| ParsedRedirect {
                other_descriptor,
                operator: RedirectOperator::Output,
                target: RedirectTarget::Word(word),
            }));
        }
    }
}

/// Whether line ends are skipped like blanks.
#[derive(Clone, Copy, PartialEq, Eq)]
enum LineEnds {
    Cross,
    Stop,
}

#[cfg(test)]
#[path = "../../tests/unit/shell/powershell.rs"]
mod tests;
