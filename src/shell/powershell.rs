//! PowerShell text, read into the same steps as bash text.
//!
//! Cmdlets become the programs that the rules know (`table`), script blocks become lists, and expressions are read
//! for the commands in them. Pipelines run in the process of the shell, so the state that they change stays changed.

mod cmdlets;
mod expression;
mod methods;
mod run;
mod statements;
mod table;
mod words;

use super::Reading;
use super::eval;
use super::syntax::Word;
use super::syntax::{Direction, Loop, Part, Parts, Redirect, Scope, Script, Simple, Step, Target, Unreadable};
use crate::path::Place;
use crate::verdict::limits::{PATH_BYTES, SHELL_BYTES, SHELL_COMMANDS, SHELL_DEPTH};
use cmdlets::Item;
use std::collections::BTreeSet;
use std::ops::Range;

/// Reads a text as PowerShell would run it from `place`.
pub fn read(text: &str, place: &Place) -> Reading {
    if text.len() > SHELL_BYTES.most {
        return Reading { exceeded: Some(&SHELL_BYTES), ..Reading::default() };
    }
    let mut reader = Reader { text, at: 0, out: Output::default(), depth: 0, within: None, feed: None };
    reader.script(None);
    let mut script = reader.out.script;
    if !script.flaws.is_empty() {
        script.steps.push(Step::End);
        script.steps.push(Step::Simple(Box::new(Simple { words: unread(text), ..Simple::default() })));
    }
    Reading { place: place.clone(), ..eval::walk_powershell(script, text.len(), place) }
}

/// A command that holds all of a text as code: each word of it that names a protected file counts.
fn unread(text: &str) -> Vec<Word> {
    let mut plain = text.replace('\\', "/");
    for home in ["$env:USERPROFILE", "$HOME", "$env:HOME", "${HOME}"] {
        plain = plain.replace(home, "~");
    }
    vec![word(quoted("pwsh")), word(quoted("-Command")), word(quoted(&plain))]
}

/// What has been read so far.
#[derive(Default)]
struct Output {
    script: Script,
    commands: usize,
    substitutions: usize,
    /// The variables of the environment that the text sets.
    exported: BTreeSet<String>,
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
    out: Output,
    depth: usize,
    /// Where the text stands in the line, if it is not the line.
    within: Option<Range<usize>>,
    /// The files that the command before hands on, where they are known.
    feed: Option<Vec<Word>>,
}

fn quoted(text: &str) -> Parts {
    Parts::from_iter([Part::Quoted(text.into())])
}

fn unknown() -> Parts {
    Parts::from_iter([Part::Unknown { quoted: true }])
}

fn word(parts: Parts) -> Word {
    Word { parts, span: 0..0 }
}

/// The text of a word that is written out.
fn literal(word: &Word) -> Option<String> {
    let text = |part: &Part| match part {
        Part::Plain(text) | Part::Quoted(text) => Some(text.to_string()),
        Part::Variable(_) | Part::Output { .. } | Part::List(_) | Part::Unknown { .. } => None,
    };
    word.parts.iter().map(text).collect::<Option<Vec<_>>>().map(|texts| texts.concat())
}

/// The bytes of a word that are written out, at least one for each part.
fn length(word: &Word) -> usize {
    let of = |part: &Part| match part {
        Part::Plain(text) | Part::Quoted(text) => text.len() + 1,
        Part::Variable(_) | Part::Output { .. } | Part::List(_) | Part::Unknown { .. } => 1,
    };
    word.parts.iter().map(of).sum()
}

fn is_single(c: char) -> bool {
    matches!(c, '\'' | '\u{2018}'..='\u{201b}')
}

fn is_double(c: char) -> bool {
    matches!(c, '"' | '\u{201c}'..='\u{201e}')
}

fn is_dash(c: char) -> bool {
    matches!(c, '-' | '\u{2013}'..='\u{2015}')
}

fn is_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

impl Reader<'_> {
    fn rest(&self) -> &str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn second(&self) -> Option<char> {
        self.rest().chars().nth(1)
    }

    fn take(&mut self) -> Option<char> {
        let c = self.peek()?;
        self.at += c.len_utf8();
        Some(c)
    }

    fn bump(&mut self) {
        self.take();
    }

    fn eat(&mut self, text: &str) -> bool {
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

    fn step(&mut self, step: Step) {
        self.out.script.steps.push(step);
    }

    fn flaw(&mut self, flaw: Unreadable) {
        if self.out.script.flaws.is_empty() {
            self.out.script.flaws.push((flaw, self.at));
        }
    }

    /// Stops reading: what was found before still counts.
    fn stop(&mut self, limit: &'static crate::verdict::limits::Limit) {
        self.out.script.exceeded.get_or_insert(limit);
        self.at = self.text.len();
    }

    /// Skips blanks, comments and continued lines; with `lines`, line ends too.
    fn skip(&mut self, lines: Lines) {
        loop {
            match self.peek() {
                Some('\n' | '\r') if lines == Lines::Stop => return,
                Some(c) if c.is_whitespace() => self.bump(),
                Some('#') => drop(self.take_while(|c| c != '\n')),
                Some('<') if self.rest().starts_with("<#") => match self.rest().find("#>") {
                    Some(end) => self.at += end + 2,
                    None => {
                        self.flaw(Unreadable::Unterminated("<#"));
                        self.at = self.text.len();
                    }
                },
                Some('`') if matches!(self.second(), Some('\n' | '\r')) => {
                    self.bump();
                    self.take_while(|c| c == '\r');
                    self.bump();
                }
                _ => return,
            }
        }
    }

    /// Emits a command.
    fn simple(&mut self, simple: Simple) {
        self.out.commands += 1;
        if self.out.commands > SHELL_COMMANDS.most {
            return self.stop(&SHELL_COMMANDS);
        }
        self.step(Step::Simple(Box::new(simple)));
    }

    /// Emits a command of these words.
    fn emit(&mut self, words: Vec<Word>, redirects: Vec<Redirect>, start: usize) {
        let span = self.within.clone().unwrap_or(start..self.at);
        self.simple(Simple { words, redirects, span, ..Simple::default() });
    }

    /// Sets a variable to one of these words; to something unknown where there are none.
    fn assign(&mut self, name: String, words: Option<Vec<Word>>) {
        let words = words.filter(|words| !words.is_empty());
        self.step(Step::Loop(Box::new(Loop { name, words })));
    }

    /// Reads something that stands in something else of its kind.
    fn nested<T>(&mut self, read: impl FnOnce(&mut Self) -> T) -> T {
        self.depth += 1;
        if self.depth > SHELL_DEPTH.most {
            self.stop(&SHELL_DEPTH);
        }
        let value = read(self);
        self.depth -= 1;
        value
    }

    /// Reads what stands for its output: the words of its value, or what it prints.
    fn captured(&mut self, read: impl FnOnce(&mut Self) -> Option<Vec<Word>>) -> Vec<Word> {
        self.out.substitutions += 1;
        let (number, before) = (self.out.substitutions, self.out.script.steps.len());
        self.step(Step::Open(Scope::Substitution(number)));
        let value = self.nested(read);
        if value.is_some() && self.out.script.steps.len() == before + 1 {
            self.out.script.steps.pop();
        } else {
            self.step(Step::Close);
        }
        let listed = self.feed.take();
        let output = || vec![word(Parts::from_iter([Part::Output { number, quoted: true }]))];
        value.or(listed).unwrap_or_else(output)
    }

    /// Reads statements up to `close`. The value, where there is only one and it is an expression that runs nothing.
    fn script(&mut self, close: Option<char>) -> Option<Vec<Word>> {
        let mut value: Option<Vec<Word>> = None;
        let mut statements = 0;
        loop {
            self.skip(Lines::Cross);
            match self.peek() {
                None => {
                    if close.is_some() {
                        self.flaw(Unreadable::Unterminated(if close == Some(')') { "(" } else { "{" }));
                    }
                    break;
                }
                Some(c) if Some(c) == close => {
                    self.bump();
                    break;
                }
                Some(';' | ',') => self.bump(),
                Some(')' | '}' | ']') => {
                    self.flaw(Unreadable::Syntax("bracket".to_owned()));
                    self.bump();
                }
                Some(_) => {
                    if let Some(before) = value.take() {
                        self.echo(before);
                    }
                    let start = self.at;
                    value = self.statement();
                    statements += 1;
                    // INVARIANT: each round consumes something.
                    if self.at == start {
                        self.flaw(Unreadable::Syntax("character".to_owned()));
                        self.bump();
                    }
                    if value.is_none() {
                        self.step(Step::End);
                    }
                }
            }
        }
        if statements > 1 {
            value.take().into_iter().for_each(|value| self.echo(value));
        }
        value
    }

    fn echo(&mut self, words: Vec<Word>) {
        let at = self.at;
        self.emit(std::iter::once(word(quoted("echo"))).chain(words).collect(), Vec::new(), at);
        self.step(Step::End);
    }

    /// Reads `( … )` or `$( … )` behind its opening: the words that it stands for.
    fn substitution(&mut self) -> Vec<Word> {
        self.captured(|reader| reader.script(Some(')')))
    }

    /// Reads `{ … }`, where it stands, as a list of this kind.
    fn block(&mut self, scope: Scope) {
        self.skip(Lines::Cross);
        if !self.eat("{") {
            return self.flaw(Unreadable::Syntax("block".to_owned()));
        }
        self.step(Step::Open(scope));
        let value = self.nested(|reader| reader.script(Some('}')));
        value.into_iter().for_each(|value| self.echo(value));
        self.step(Step::Close);
    }

    /// Reads `( … )` of a statement for the commands in it.
    fn condition(&mut self) {
        self.skip(Lines::Cross);
        if self.eat("(") {
            self.substitution();
            self.step(Step::End);
        }
    }

    /// Whether a statement ends here.
    fn ends(&self) -> bool {
        matches!(self.peek(), None | Some(';' | '\n' | '\r' | ')' | '}' | ']'))
    }

    /// Pipelines with `&&`, `||` and `&` between them.
    fn chain(&mut self) -> Option<Vec<Word>> {
        loop {
            let value = self.pipeline();
            self.skip(Lines::Stop);
            let next = if self.eat("&&") {
                Step::Then
            } else if self.eat("||") {
                Step::Else
            } else if self.peek() == Some('&') {
                self.bump();
                Step::Background
            } else {
                return value;
            };
            value.into_iter().for_each(|value| self.echo(value));
            let ends = next == Step::Background;
            self.step(next);
            if ends {
                return None;
            }
            self.skip(Lines::Cross);
        }
    }

    /// Commands and expressions that feed each other.
    fn pipeline(&mut self) -> Option<Vec<Word>> {
        let mut fed: Option<Vec<Word>> = None;
        for stage in 0.. {
            self.feed = None;
            self.skip(Lines::Stop);
            let start = self.at;
            let words = if self.begins_command() {
                self.command(stage, fed.clone())
            } else {
                self.expression(expression::Position::Statement)
            };
            fed = self.feed.take();
            let redirects = self.redirects();
            let piped = self.pipes();
            if let Some(words) = words {
                if stage == 0 && !piped && redirects.is_empty() {
                    return Some(words);
                }
                fed = Some(words.clone());
                self.emit(std::iter::once(word(quoted("echo"))).chain(words).collect(), redirects, start);
            }
            // What is longer than a path counts as unknown: each stage copies it.
            fed = fed.filter(|words| words.iter().map(length).sum::<usize>() <= PATH_BYTES.most);
            if !piped || self.at == start {
                break;
            }
            self.skip(Lines::Cross);
            self.eat("|");
            self.step(Step::Pipe);
            self.skip(Lines::Cross);
        }
        self.feed = fed;
        None
    }

    /// Whether a pipe comes next, perhaps on the next line.
    fn pipes(&self) -> bool {
        let rest = self.rest().trim_start();
        rest.starts_with('|') && !rest.starts_with("||")
    }

    fn ends_command(&self) -> bool {
        self.ends() || matches!(self.peek(), Some('|' | '&'))
    }

    /// Whether a command begins here and no expression.
    fn begins_command(&self) -> bool {
        match self.peek() {
            Some('&') => true,
            Some('.') => !self.second().is_some_and(|c| c.is_ascii_digit()),
            Some(c) if is_single(c) || is_double(c) || is_dash(c) => false,
            Some(c) => !c.is_ascii_digit() && !"$@([{+!,".contains(c),
            None => false,
        }
    }

    /// Reads a command and emits what it runs. The value of one that only names files.
    fn command(&mut self, stage: usize, fed: Option<Vec<Word>>) -> Option<Vec<Word>> {
        let start = self.at;
        let (mut items, mut redirects) = (Vec::new(), Vec::new());
        let operator = match self.peek() {
            Some('&') => self.take(),
            Some('.') if self.second().is_some_and(|c| c.is_whitespace() || "$({\"'".contains(c)) => self.take(),
            _ => None,
        };
        self.skip(Lines::Stop);
        let blocks = self.out.script.steps.len();
        while !self.ends_command() && self.out.script.exceeded.is_none() {
            let before = self.at;
            redirects.extend(self.redirects());
            // `--%`: the rest of the line stands as it is.
            if self.eat("--%") {
                let line = self.take_while(|c| c != '\n' && c != '|');
                items.extend(line.split_whitespace().map(|text| Item::Words(vec![word(quoted(text))])));
            } else if self.peek() == Some('{') {
                if stage > 0 && !items.iter().any(|item| matches!(item, Item::Block)) {
                    self.assign("psitem".to_owned(), fed.clone());
                }
                self.block(if operator.is_some() { Scope::Group } else { Scope::Loop });
                items.push(Item::Block);
            } else if !self.ends_command() {
                items.push(self.argument());
            }
            self.skip(Lines::Stop);
            if self.at == before {
                self.bump();
            }
        }
        let ran_block = self.out.script.steps.len() > blocks;
        self.run(items, redirects, &cmdlets::Call { start, stage, fed, dotted: operator == Some('.'), ran_block })
    }

    /// Reads redirections to files: `> x`, `2>> x`, `*> x`. Those to other streams and to `$null` are dropped.
    fn redirects(&mut self) -> Vec<Redirect> {
        let mut found = Vec::new();
        loop {
            self.skip(Lines::Stop);
            let rest = self.rest();
            let stream = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit() || c == '*').len();
            if stream > 1 || !rest.get(stream..).is_some_and(|rest| rest.starts_with('>')) {
                return found;
            }
            let aside = !matches!(rest.chars().next(), Some('>' | '1' | '*'));
            self.at += stream;
            self.take_while(|c| c == '>');
            if self.eat("&") {
                self.take_while(|c| c.is_ascii_digit());
                continue;
            }
            self.skip(Lines::Stop);
            let words = self.argument().into_words();
            let is_null = |word: &Word| literal(word).is_some_and(|text| text.is_empty());
            found.extend(words.into_iter().filter(|word| !is_null(word)).map(|word| Redirect {
                aside,
                direction: Direction::To,
                target: Target::Word(word),
            }));
        }
    }
}

/// Whether line ends are skipped like blanks.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Lines {
    Cross,
    Stop,
}

#[cfg(test)]
#[path = "../../tests/unit/shell/powershell.rs"]
mod tests;
