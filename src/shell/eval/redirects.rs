//! Redirections: the files that a command opens, its input, and the known contents of files that it writes.

use super::super::syntax::{Instruction, ParsedRedirect, RedirectOperator, RedirectTarget, SimpleCommand, WordParts};
use super::super::{Arg, Input, Redirect, expand};
use super::execution::{Execution, OnClose};
use super::output;
use super::variables::known_text;
use std::rc::Rc;

impl Execution {
    /// Returns the files that the redirections of a command open.
    pub(super) fn redirects(&self, simple: &SimpleCommand) -> Vec<Redirect> {
        let files = simple.redirects.iter().filter_map(|redirect| match &redirect.target {
            RedirectTarget::Word(word) => Some((redirect.operator, word)),
            RedirectTarget::Heredoc(_) => None,
        });
        let opened = files.filter_map(|(operator, word)| {
            let (writes, reads) = match operator {
                RedirectOperator::Output | RedirectOperator::Append => (true, false),
                RedirectOperator::Input => (false, true),
                RedirectOperator::InputOutput => (true, true),
                RedirectOperator::DuplicateOutput
                | RedirectOperator::DuplicateInput
                | RedirectOperator::HereString
                | RedirectOperator::Heredoc { .. } => return None,
            };
            let targets = expand::expand_string(word, &self.state).into_iter();
            let appends = operator == RedirectOperator::Append;
            Some(targets.map(move |target| Redirect { writes, reads, appends, target }))
        });
        opened.flatten().collect()
    }

    /// Returns what a command prints of its words or its heredoc. Unknown parts appear as they are written in the source.
    pub(super) fn draft(&self, name: &str, args: &[Arg], simple: &SimpleCommand) -> Option<String> {
        let words: Vec<&str> = args.iter().skip(1).map(|arg| arg.text.as_str()).collect();
        match name {
            "echo" => output::echo(&words),
            "printf" => output::printf(&words, &self.state.meter),
            "cat" | "tee" => {
                let texts = self.here_texts(simple)?;
                let reads_files = name == "cat" && words.iter().any(|word| !word.starts_with('-'));
                (!reads_files).then(|| texts.iter().map(|text| text.text.as_str()).collect::<Vec<_>>().join("\n"))
            }
            _ => None,
        }
    }

    /// Returns the text of the last heredoc or here-string of a command, if parts of it are unknown.
    pub(super) fn unknown_here_text(&self, simple: &SimpleCommand) -> Option<String> {
        let texts = self.here_texts(simple)?;
        let is_unknown = texts.iter().any(|text| !text.is_known());
        is_unknown.then(|| texts.iter().map(|text| text.text.as_str()).collect::<Vec<_>>().join("\n"))
    }

    /// Returns the possible texts of the last heredoc or here-string of a command.
    fn here_texts(&self, simple: &SimpleCommand) -> Option<Vec<Arg>> {
        simple.redirects.iter().rev().find_map(|redirect| match (&redirect.target, redirect.operator) {
            (RedirectTarget::Heredoc(number), _) => {
                let parts = self.heredocs.get(*number).map(WordParts::as_slice).unwrap_or_default();
                Some(expand::expand_heredoc(parts, &self.state))
            }
            (RedirectTarget::Word(word), RedirectOperator::HereString) => Some(expand::expand_value(word, &self.state)),
            _ => None,
        })
    }

    /// Returns the standard input of the list that was just opened, if it is known: that of its redirection, the pipe, or the
    /// list around it.
    pub(super) fn list_input(&mut self, is_fed: bool) -> Option<Rc<str>> {
        let mut depth = 0_usize;
        let mut scanned = 0_usize;
        let mut redirects = None;
        let mut instructions = self.instructions.iter();
        while let Some(instruction) = instructions.next() {
            scanned += 1;
            match (instruction, depth.checked_sub(1)) {
                (Instruction::Open(_), _) => depth += 1,
                (Instruction::Close, Some(outer)) => depth = outer,
                (Instruction::Close, None) => {
                    redirects = instructions.next().filter(|next| matches!(next, Instruction::Redirects(_)));
                    break;
                }
                _ => {}
            }
        }
        self.state.meter.charge(scanned / 8);
        if let Some(Instruction::Redirects(simple)) = redirects.cloned()
            && simple.redirects.iter().any(|redirect| !redirect.other_descriptor && redirect.operator.reads())
        {
            let Input::Text(text) = self.input(&simple) else { return None };
            return Some(text);
        }
        let list = self.list();
        match (list.stage, is_fed) {
            (1.., true) => list.output.as_deref().map(Rc::from),
            (0, true) => list.input.clone(),
            _ => None,
        }
    }

    /// Makes a text or a file the input of the commands that follow in the same shell, as `exec` does.
    pub(super) fn keep_input(&mut self, input: &Input) {
        if *input == Input::Inherited {
            return;
        }
        let text = if let Input::Text(text) = input { Some(text) } else { None };
        for list in self.lists.iter_mut().rev() {
            list.input = text.cloned();
            list.fed = text.is_none();
            if !matches!(list.on_close, OnClose::Keep(_) | OnClose::Join(_)) {
                break;
            }
        }
    }

    /// Returns the standard input of a command: its last redirection, else the pipe.
    pub(super) fn input(&mut self, simple: &SimpleCommand) -> Input {
        let list = self.list();
        let (fed, stage) = (list.fed, list.stage);
        let inherited = || match &list.input {
            Some(text) => Input::Text(Rc::clone(text)),
            None if fed => Input::Pipe,
            None => Input::Inherited,
        };
        let inherited = inherited();
        if stage == 0 && simple.redirects.is_empty() {
            return inherited;
        }
        let output = list.output.clone();
        // If the text may be one of several, all of them count.
        let to_input = |args: Vec<Arg>| {
            let texts: Option<Vec<String>> = args.iter().map(known_text).collect();
            texts.map_or(Input::Unknown, |texts| Input::Text(texts.join("\n").into()))
        };
        // `3<<x <&3`: the redirection of any descriptor may be the input.
        let duplicates = simple.redirects.iter().any(|redirect| redirect.operator == RedirectOperator::DuplicateInput);
        let mut candidates = simple.redirects.iter().rev().filter(|redirect| duplicates || !redirect.other_descriptor);
        let redirected = candidates.find_map(|redirect| match (&redirect.target, redirect.operator) {
            (RedirectTarget::Heredoc(number), _) => {
                let parts = self.heredocs.get(*number).map(WordParts::as_slice).unwrap_or_default();
                Some(to_input(expand::expand_heredoc(parts, &self.state)))
            }
            (RedirectTarget::Word(word), RedirectOperator::HereString) => {
                Some(to_input(expand::expand_value(word, &self.state)))
            }
            (RedirectTarget::Word(word), RedirectOperator::Input | RedirectOperator::InputOutput) => {
                let empty = expand::expand_string(word, &self.state).iter().all(|file| file.text == "/dev/null");
                Some(if empty { Input::Text(Rc::from("")) } else { Input::Unknown })
            }
            _ => None,
        });
        let redirected = redirected.or(duplicates.then_some(Input::Unknown));
        match redirected {
            Some(input) => input,
            None if stage > 0 => output.map_or(Input::Pipe, |text| Input::Text(text.into())),
            None => inherited,
        }
    }
}

/// Whether a redirection sets the standard input.
pub(super) fn sets_input(redirect: &ParsedRedirect) -> bool {
    !redirect.other_descriptor && redirect.operator.reads()
}

/// Whether the standard output of a command is not redirected.
pub(super) fn prints_here(simple: &SimpleCommand) -> bool {
    !simple.redirects.iter().any(|redirect| {
        !redirect.other_descriptor
            && matches!(
                redirect.operator,
                RedirectOperator::Output
                    | RedirectOperator::Append
                    | RedirectOperator::InputOutput
                    | RedirectOperator::DuplicateOutput
            )
    })
}
