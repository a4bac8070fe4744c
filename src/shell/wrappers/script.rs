//! The files of code that a command runs: the `execute` uses of the catalogue, and what a shell is given.

use super::super::{Arg, Command};
use super::{git, shells};
use crate::programs::{Tail, Use, WordUse};
use crate::shell::inline::Language;

impl Command {
    /// Whether it is a shell.
    pub(crate) fn is_shell(&self) -> bool {
        shells::is_shell(&self.program)
    }

    /// The file that it runs as a shell or another interpreter.
    pub(crate) fn script(&self) -> Option<Arg> {
        if matches!(self.program.as_str(), "source" | ".") {
            return self.args.iter().find(|arg| arg.text != "--").cloned();
        }
        if self.is_shell() {
            let read = shells::words(&self.program, &self.args);
            return read.operand.filter(|_| !read.text).cloned();
        }
        Language::from_program(&self.program)?;
        self.executed(|used| !used.by_option).into_iter().next()
    }

    /// All files of code that it is told to run.
    pub(crate) fn scripts(&self) -> Vec<Arg> {
        if self.is_shell() || matches!(self.program.as_str(), "source" | ".") {
            let started = if self.is_shell() { shells::words(&self.program, &self.args).started } else { None };
            return self.script().into_iter().chain(started.cloned()).collect();
        }
        self.executed(|_| true)
    }

    /// The files that the catalogue says it executes.
    pub(in crate::shell) fn executed(&self, is_wanted: impl Fn(&WordUse) -> bool) -> Vec<Arg> {
        let Some(line) = self.parsed.as_deref() else { return Vec::new() };
        let used = line.uses.iter().filter(|used| used.takes == Some(Use::Execute) && is_wanted(used));
        // `bun run file.ts`
        let script = line.command.filter(|_| line.tail == Some(Tail::Script)).and_then(|start| self.args.get(start));
        used.filter_map(|used| self.value(used)).chain(script.cloned()).collect()
    }

    /// Whether a `git` command sets this key by an option.
    pub(crate) fn sets_key(&self, key: &str) -> bool {
        git::sets_key(&self.args, key)
    }

    /// The verb of a `git` command and what follows it.
    pub(crate) fn behind_global(&self) -> &[Arg] {
        git::behind_global(&self.args)
    }
}
