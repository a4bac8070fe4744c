//! The file whose code an interpreter runs: the first word behind its options and their values.

use super::super::options::Options;
use super::super::{Arg, Command};
use super::{git, shells};
use crate::shell::inline::Language;

/// Programs that run a file of code which an option names, and these options.
const NAMED: [(&[&str], &str); 9] = [
    (&["vi", "vim", "nvim", "view", "ex", "vimdiff", "gvim"], "S u"),
    (&["emacs"], "l load script"),
    (&["gdb", "lldb"], "x command source"),
    (&["make", "gmake"], "f file makefile"),
    (&["psql", "duckdb"], "f file"),
    (&["awk", "gawk", "mawk", "sed", "gsed"], "f file"),
    (&["expect", "tclsh"], "f"),
    (&["R", "julia"], "f file load L"),
    (&["tmux", "screen", "just", "task"], "f c justfile taskfile"),
];

/// Programs that run the first file that they are given.
const FIRST: &[&str] =
    &["Rscript", "bats", "escript", "expect", "groovy", "guile", "julia", "osascript", "racket", "swipl", "tclsh"];

impl Command {
    /// Whether it is a shell.
    pub(crate) fn is_shell(&self) -> bool {
        shells::is_shell(&self.program)
    }

    /// The file that it runs as a shell or another interpreter.
    pub(crate) fn script(&self) -> Option<Arg> {
        let args = self.args.as_slice();
        if matches!(self.program.as_str(), "source" | ".") {
            return Options::NONE.behind(args).first().cloned();
        }
        if shells::is_shell(&self.program) {
            let read = shells::words(&self.program, args);
            return read.operand.filter(|_| !read.text).cloned();
        }
        let (short, long): (&'static str, &'static [&'static str]) = match Language::from_program(&self.program)? {
            Language::Awk | Language::Sed | Language::Lisp | Language::Sql | Language::Other => return None,
            Language::Python => ("WXQ", &["check-hash-based-pycs"]),
            Language::Perl => ("I", &[]),
            Language::Ruby => ("IrCEx", &["encoding", "external-encoding"]),
            Language::Node => (
                "rCcP",
                &[
                    "cert", "conditions", "config", "env-file", "experimental-loader", "import", "import-map",
                    "loader", "location", "lock", "preload", "project", "require", "seed", "tsconfig",
                ],
            ),
            Language::Php => ("cdzSt", &["php-ini", "define"]),
            Language::Lua => ("el", &[]),
            Language::Elixir => ("rSpe", &["cookie", "erl", "name", "sname"]),
        };
        let options = Options { short, long };
        let end = options.end(args);
        let inline = Language::from_program(&self.program)
            .and_then(|language| language.inline_code(args.get(..end + 1).unwrap_or(args)));
        let module = args.iter().take(end).any(|arg| arg.text == "-m");
        if inline.is_some() || module {
            return None;
        }
        let named = Options { short: "fcd", long: &["file"] }.value(args, "f file").filter(|_| self.program == "php");
        let first = named.or_else(|| options.behind(args).first().cloned());
        match first {
            // `deno run file`, `tsx watch file`
            Some(verb) if matches!(verb.text.as_str(), "run" | "watch" | "serve" | "bench") => {
                options.behind(options.behind(args).get(1..)?).first().cloned()
            }
            first => first,
        }
    }

    /// Whether it runs what it reads, where it is given no file.
    pub(super) fn reads_program(&self) -> bool {
        let file = self.args.iter().find(|arg| !arg.text.starts_with('-') || arg.text == "-");
        let none = file.is_none_or(|file| matches!(file.text.as_str(), "-" | "/dev/stdin" | "/dev/fd/0"));
        none && FIRST.contains(&self.program.as_str())
            && matches!(self.input, super::super::Input::Pipe | super::super::Input::Unknown)
            && !self.args.iter().any(|arg| matches!(arg.text.as_str(), "-e" | "-E" | "--version" | "--help"))
    }

    /// All files of code that it is told to run.
    pub(crate) fn scripts(&self) -> Vec<Arg> {
        let program = self.program.as_str();
        let named = NAMED.iter().filter(|(programs, _)| programs.contains(&program));
        let named = named.flat_map(|(_, names)| Options { short: "fSulxLc", long: &[] }.values(&self.args, names));
        let first = self.args.iter().find(|arg| !arg.text.starts_with('-')).filter(|_| FIRST.contains(&program));
        let started = if shells::is_shell(program) { shells::words(program, &self.args).started } else { None };
        self.script().into_iter().chain(named).chain(first.cloned()).chain(started.cloned()).collect()
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
