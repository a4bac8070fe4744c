//! Redirections: the files that a command opens, its input, and the known contents of files that it writes.

use super::super::syntax::{RedirectOperator, RedirectTarget, SimpleCommand, WordParts};
use super::super::{Arg, Input, Redirect, expand};
use super::execution::Execution;
use super::variables::known_text;
use crate::shell::Target;

impl Execution {
    /// Returns the files that a command writes, with their contents, as far as both are known.
    pub(super) fn written_files(
        &self,
        redirects: &[Redirect],
        args: &[Arg],
        input: &Input,
        output: Option<&String>,
    ) -> Vec<(String, String)> {
        let resolve = |file: &Arg| {
            let target = Target::of(file, self.state.cwd.as_deref());
            target.path.filter(|_| !target.open).map(|path| path.to_string())
        };
        let mut found = Vec::new();
        if let Some(text) = output {
            let files = redirects.iter().filter(|redirect| redirect.writes);
            found.extend(files.filter_map(|redirect| Some((resolve(&redirect.target)?, text.clone()))));
        }
        if let Input::Text(text) = input
            && let [program, files @ ..] = args
            && program.text == "tee"
        {
            let files = files.iter().filter(|file| !file.text.starts_with('-'));
            found.extend(files.filter_map(|file| Some((resolve(file)?, text.clone()))));
        }
        found
    }

    /// Returns the files that the redirections of a command open.
    pub(super) fn redirects(&self, simple: &SimpleCommand) -> Vec<Redirect> {
        let files = simple.redirects.iter().filter_map(|redirect| match &redirect.target {
            RedirectTarget::Word(word) => Some((redirect.operator, word)),
            RedirectTarget::Heredoc(_) => None,
        });
        let opened = files.filter_map(|(operator, word)| {
            let (writes, reads) = match operator {
                RedirectOperator::Output => (true, false),
                RedirectOperator::Input => (false, true),
                RedirectOperator::InputOutput => (true, true),
                RedirectOperator::DuplicateOutput
                | RedirectOperator::DuplicateInput
                | RedirectOperator::HereString
                | RedirectOperator::Heredoc { .. } => return None,
            };
            let targets = expand::expand_string(word, &self.state).into_iter();
            Some(targets.map(move |target| Redirect { writes, reads, target }))
        });
        opened.flatten().collect()
    }

    /// Returns the standard input of a command: its last redirection, else the pipe.
    pub(super) fn input(&mut self, simple: &SimpleCommand) -> Input {
        let list = self.list();
        let (fed, stage) = (list.fed, list.stage);
        if stage == 0 && simple.redirects.is_empty() {
            return if fed { Input::Pipe } else { Input::Inherited };
        }
        let output = list.output.clone();
        // If the text may be one of several, all of them count.
        let to_input = |args: Vec<Arg>| {
            let texts: Option<Vec<String>> = args.iter().map(known_text).collect();
            texts.map_or(Input::Unknown, |texts| Input::Text(texts.join("\n")))
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
                Some(if empty { Input::Text(String::new()) } else { Input::Unknown })
            }
            _ => None,
        });
        let redirected = redirected.or(duplicates.then_some(Input::Unknown));
        match redirected {
            Some(input) => input,
            None if stage > 0 => output.map_or(Input::Pipe, Input::Text),
            None if fed => Input::Pipe,
            None => Input::Inherited,
        }
    }
}

/// Whether the standard output of a command is not redirected.
pub(super) fn prints_here(simple: &SimpleCommand) -> bool {
    !simple.redirects.iter().any(|redirect| {
        !redirect.other_descriptor
            && matches!(
                redirect.operator,
                RedirectOperator::Output | RedirectOperator::InputOutput | RedirectOperator::DuplicateOutput
            )
    })
}
