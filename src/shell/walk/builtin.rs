//! Builtins: what they do to the shell that runs them, and what they print.

use super::super::{Arg, Command, Input, State, Value, canonical};
use super::Run;
use crate::event::Place;
use crate::path::AbsPath;
use std::rc::Rc;

impl Run {
    /// What a builtin does to the shell that runs it.
    pub(super) fn builtin(&mut self, command: &Command) {
        let operands = || command.args.iter().filter(|arg| !arg.text.starts_with('-') || arg.text == "-");
        match command.program.as_str() {
            "cd" | "pushd" => {
                let target = operands().next();
                let here = self.state.cwd.clone();
                let cwd = match target {
                    None if command.program == "cd" => self.state.home.as_deref().map(Rc::from),
                    Some(arg) if arg.text == "-" => self.state.before.clone(),
                    Some(arg) if arg.is_known() && !arg.glob && arg.text != "-" && !arg.text.starts_with('+') => {
                        self.resolve(&arg.text)
                    }
                    _ => None,
                };
                let value = cwd.as_deref().map_or(Value::Unknown, |cwd: &str| Value::Known(cwd.to_owned()));
                let cwd = cwd.filter(|cwd| cwd.len() <= super::LONGEST_VALUE);
                self.level().moved |= self.level().otherwise;
                Rc::make_mut(&mut self.state).cwd = cwd;
                Rc::make_mut(&mut self.state).before = here;
                Rc::make_mut(&mut self.state).variables.insert("PWD".to_owned(), value);
            }
            "popd" => {
                let before = self.state.before.clone();
                Rc::make_mut(&mut self.state).cwd = before;
                Rc::make_mut(&mut self.state).before = None;
            }
            // Another name for a variable, or a value that is changed on the way: nothing is sure any more.
            "declare" | "typeset" | "local"
                if command
                    .args
                    .iter()
                    .any(|arg| arg.text.starts_with('-') && arg.text.contains(['n', 'l', 'u', 'i'])) =>
            {
                Rc::make_mut(&mut self.state).variables.clear();
            }
            "source" | "." => Rc::make_mut(&mut self.state).variables.clear(),
            "export" | "declare" | "typeset" | "local" | "readonly" => {
                for arg in command.args.iter().filter(|arg| !arg.text.starts_with('-')) {
                    if let Some((name, value)) = arg.text.split_once('=') {
                        let known = arg.is_known().then(|| value.to_owned());
                        let written = Arg {
                            text: value.to_owned(),
                            known: arg.known.map(|known| known.saturating_sub(name.len() + 1)),
                            glob: false,
                        };
                        self.set(name, known);
                        if !arg.is_known() {
                            self.begin(name, &written);
                        }
                    }
                }
            }
            // Nothing is left of it.
            "unset" => operands().for_each(|arg| self.set(&arg.text, Some(String::new()))),
            "shift" => {
                let variables = &mut Rc::make_mut(&mut self.state).variables;
                for at in 1..9_usize {
                    match variables.remove(&(at + 1).to_string()) {
                        Some(next) => drop(variables.insert(at.to_string(), next)),
                        None => drop(variables.remove(&at.to_string())),
                    }
                }
                variables.remove("@");
                if let Some(given) = &mut self.given {
                    given.drain(..1.min(given.len()));
                    let all = super::run::joined(given);
                    variables.insert("@".to_owned(), all);
                }
            }
            // `set -- a b` gives new ones.
            "set" if command.args.first().is_some_and(|arg| arg.text == "--") => {
                let given: Vec<Arg> = command.args.iter().skip(1).cloned().collect();
                for (at, arg) in given.iter().enumerate().take(9) {
                    let value = arg.is_known().then(|| arg.text.clone());
                    self.set(&(at + 1).to_string(), value);
                }
                let all = super::run::joined(&given);
                Rc::make_mut(&mut self.state).variables.insert("@".to_owned(), all);
                self.given = Some(given);
            }
            "read" | "mapfile" | "readarray" | "getopts" | "let" => {
                for name in ["REPLY", "MAPFILE", "OPTARG"] {
                    self.set(name, None);
                }
                for arg in operands() {
                    self.set(&arg.text, None);
                }
            }
            "printf" => {
                let mut args = command.args.iter();
                if args.next().is_some_and(|arg| arg.text == "-v")
                    && let Some(name) = args.next()
                {
                    self.set(&name.text, None);
                }
            }
            program => {
                if let Some((sets, moves)) = self.state.functions.get(program).cloned() {
                    for name in sets {
                        self.set(&name, None);
                    }
                    if moves {
                        Rc::make_mut(&mut self.state).cwd = None;
                    }
                }
            }
        }
    }

    fn resolve(&self, path: &str) -> Option<Rc<str>> {
        let cwd = self.state.cwd.clone();
        if !path.starts_with('/') && cwd.is_none() {
            return None;
        }
        let place = Place {
            cwd: cwd.map(|cwd| cwd.to_string()).unwrap_or_default(),
            home: self.state.home.clone(),
            project: None,
        };
        Some(Rc::from(format!("/{}", AbsPath::resolve(path, &place).components().join("/"))))
    }
}

/// What `mktemp` makes: nobody knows its name, and it is in nobody's way.
pub const MADE: &str = "/tmp/.made-by-mktemp";

/// Commands that are part of the shell.
const BUILTINS: [&str; 62] = [
    ".",
    ":",
    "[",
    "[[",
    "alias",
    "bg",
    "bind",
    "break",
    "builtin",
    "caller",
    "cd",
    "command",
    "compgen",
    "complete",
    "compopt",
    "continue",
    "declare",
    "dirs",
    "disown",
    "echo",
    "enable",
    "eval",
    "exec",
    "exit",
    "export",
    "false",
    "fc",
    "fg",
    "getopts",
    "hash",
    "help",
    "history",
    "jobs",
    "kill",
    "let",
    "local",
    "logout",
    "mapfile",
    "popd",
    "printf",
    "pushd",
    "pwd",
    "read",
    "readarray",
    "readonly",
    "return",
    "set",
    "shift",
    "shopt",
    "source",
    "suspend",
    "test",
    "time",
    "times",
    "trap",
    "true",
    "type",
    "typeset",
    "ulimit",
    "umask",
    "unalias",
    "unset",
];

/// Whether a command is part of the shell.
pub fn is_builtin(name: &str) -> bool {
    BUILTINS.binary_search(&name).is_ok() || matches!(name, "wait" | "coproc" | "if" | "for")
}

/// What a command prints, where its words say so.
pub(super) fn output(args: &[Arg], input: &Input, state: &State) -> Option<String> {
    let (program, rest) = args.split_first()?;
    if !args.iter().all(|arg| arg.is_known() && !arg.glob) {
        return None;
    }
    let words = |from: usize| rest.iter().skip(from).map(|arg| arg.text.as_str()).collect::<Vec<_>>().join(" ");
    match canonical::program(&program.text) {
        "echo" => {
            let flags =
                rest.iter().take_while(|arg| matches!(arg.text.as_str(), "-n" | "-e" | "-E" | "-ne" | "-en")).count();
            let escapes = rest.iter().take(flags).any(|arg| arg.text.contains('e'));
            let text = words(flags);
            let text = if escapes { text.replace("\\n", "\n").replace("\\t", "\t") } else { text };
            (!escapes || !text.contains('\\')).then_some(text)
        }
        // A format with directives is put together at run time.
        "printf" => {
            let format = rest.first()?.text.clone();
            match format.as_str() {
                "%s" | "%s\\n" | "%b" | "%b\\n" if !words(1).contains('\\') => Some(words(1)),
                // As many values as places for them.
                _ if format.matches("%s").count() == rest.len() - 1
                    && format.matches('%').count() == rest.len() - 1
                    && !format.contains('\\') =>
                {
                    let mut values = rest.iter().skip(1);
                    let parts = format.split("%s").enumerate();
                    Some(
                        parts
                            .map(|(at, part)| {
                                if at == 0 {
                                    part.to_owned()
                                } else {
                                    format!("{}{part}", values.next().map_or("", |arg| arg.text.as_str()))
                                }
                            })
                            .collect(),
                    )
                }
                _ if !format.contains('%') => {
                    Some(format.replace("\\n", "\n").replace("\\t", "\t")).filter(|text| !text.contains('\\'))
                }
                _ => None,
            }
        }
        // Where a program is, is as good as the program.
        "which" | "type" | "command" => match rest {
            [name]
                if name.text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_')
                    && program.text == "which" =>
            {
                Some(name.text.clone())
            }
            [option, name] if matches!(option.text.as_str(), "-v" | "-P" | "-p") && !name.text.contains('/') => {
                Some(name.text.clone())
            }
            _ => None,
        },
        "realpath" | "readlink" | "dirname" | "basename" => {
            let mut operands = rest.iter().filter(|arg| !arg.text.starts_with('-'));
            let only = operands.next().filter(|_| operands.next().is_none())?;
            let place = Place { cwd: state.cwd.as_deref()?.to_owned(), ..Place::default() };
            match program.text.as_str() {
                "basename" => only.text.trim_end_matches('/').rsplit('/').next().map(str::to_owned),
                "dirname" => Some(only.text.rsplit_once('/').map_or(".", |(directory, _)| directory).to_owned()),
                _ => Some(AbsPath::resolve(&only.text, &place).to_string()),
            }
        }
        "pwd" if rest.is_empty() => state.cwd.as_deref().map(str::to_owned),
        // A name that nobody knows, in a place that everybody may use.
        "mktemp"
            if !rest.iter().any(|arg| {
                (arg.text.contains('/') && !arg.text.starts_with("/tmp/"))
                    || arg.text.starts_with("-p")
                    || arg.text.starts_with("--tmpdir=")
            }) =>
        {
            Some(MADE.to_owned())
        }
        "git" if words(0) == "rev-parse --show-toplevel" => {
            let (project, cwd) = (state.project.as_deref()?, state.cwd.as_deref()?);
            let inside = cwd == project || cwd.strip_prefix(project).is_some_and(|rest| rest.starts_with('/'));
            inside.then(|| project.to_owned())
        }
        "cat" if rest.is_empty() => match input {
            Input::Text(text) => Some(text.clone()),
            Input::Inherited | Input::Pipe | Input::Unknown => None,
        },
        _ => None,
    }
}

/// Whether a builtin is given the name of an array element whose subscript it would expand itself.
pub(super) fn evaluates(command: &Command) -> bool {
    let builtin = [
        "[",
        "declare",
        "export",
        "let",
        "local",
        "mapfile",
        "printf",
        "read",
        "readarray",
        "readonly",
        "test",
        "typeset",
        "unset",
        "wait",
    ];
    let hidden = |arg: &Arg| {
        let subscript = arg.text.split_once('[').map_or("", |(_, subscript)| subscript);
        let evaluated = if command.program == "let" { arg.text.as_str() } else { subscript };
        arg.is_known() && (evaluated.contains("$(") || evaluated.contains('`'))
    };
    let named = |arg: &Arg| arg.text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    builtin.contains(&command.program.as_str()) && command.args.iter().any(|arg| named(arg) && hidden(arg))
}
