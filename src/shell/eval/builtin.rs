//! Builtins and their effects on the state of the shell.

use super::super::state::{PossibleCwd, Value};
use super::super::{Arg, Command};
use super::execution::Execution;
use super::execution::OnClose;
use super::function::set_positional;
use crate::programs::code::{WordList, lists};
use crate::shell::wrappers;
use crate::verdict::limits::{PATH_BYTES, SHELL_DIRECTORIES};
use std::rc::Rc;

/// How many directories that the line creates are noted. A `cd` to one that is not noted may fail, so that the commands after
/// it are also judged in the directory before it.
const MAX_CREATED: usize = 32;

impl Execution {
    /// Applies the effects of a builtin. Other programs only matter if they create directories.
    pub(super) fn run_builtin(&mut self, command: &Command) {
        let operands = || command.args.iter().filter(|arg| !arg.text.starts_with('-') || arg.text == "-");
        let flagged =
            |flags: &[char]| command.args.iter().any(|arg| arg.text.starts_with('-') && arg.text.contains(flags));
        match command.program.as_str() {
            "cd" | "pushd" => self.change_directory(command),
            "popd" => {
                let state = Rc::make_mut(&mut self.state);
                let here = state.cwd.clone();
                let plain = command.args.is_empty();
                // With an empty stack, `popd` fails.
                if let Some(path) = state.directory_stack.pop().map(|path| path.filter(|_| plain)) {
                    state.set_possible_cwds(vec![PossibleCwd { path, after_failed_cd: false }]);
                    state.old_cwd = here;
                }
            }
            "exit" => self.mark_exit(),
            "return" if self.function.is_some() => self.mark_exit(),
            // Outside a function, `local` fails in bash, and sets the variable in zsh.
            "local" if !self.in_function => {
                let before = Rc::clone(&self.state);
                self.declare(command, false, true);
                self.state.join(&before);
            }
            "export" | "declare" | "typeset" | "local" | "readonly" => {
                // A nameref, or an attribute that changes assigned values.
                if command.program != "export" && flagged(&['n', 'l', 'u', 'i']) {
                    let state = Rc::make_mut(&mut self.state);
                    state.options.has_nameref = true;
                    state.weaken_variables();
                    let sets = command.args.iter().filter(|arg| flagged(&['n']) && arg.is_known());
                    let named = sets.filter_map(|arg| arg.text.split_once('='));
                    state.namerefs.extend(named.map(|(name, target)| (name.to_owned(), target.to_owned())));
                }
                self.declare(command, flagged(&['x']) || command.program == "export", flagged(&['g']));
                let is_readonly = command.program == "readonly" || flagged(&['r']);
                let names = operands().map(|arg| arg.text.split('=').next().unwrap_or_default().to_owned());
                Rc::make_mut(&mut self.state).readonly.extend(names.filter(|_| is_readonly));
            }
            "source" | "." => {
                let state = Rc::make_mut(&mut self.state);
                state.weaken_variables();
                state.options.errexit = false;
            }
            "unset" if flagged(&['f']) => {}
            // What a caller has made local is what it was outside of it.
            "unset" if self.in_function => {
                operands().for_each(|arg| self.set(&arg.text, Value::Unknown));
                if operands().any(|arg| !arg.is_known()) {
                    Rc::make_mut(&mut self.state).weaken_variables();
                }
            }
            // The text of such a trap runs between the commands that follow.
            "trap"
                if operands()
                    .any(|arg| matches!(arg.text.to_ascii_uppercase().as_str(), "DEBUG" | "RETURN" | "ERR"))
                    && operands().next().is_none_or(may_set_variables) =>
            {
                let state = Rc::make_mut(&mut self.state);
                state.options.has_nameref = true;
                state.weaken_variables();
            }
            "unset" => operands().for_each(|arg| self.set(&arg.text, Value::Known(String::new()))),
            "shift" => {
                let count = command.args.first().map_or(Some(1), |arg| arg.text.parse::<usize>().ok());
                match (self.state.positional.clone(), count) {
                    // With too large a count, `shift` fails.
                    (Some(positional), Some(count)) if positional.iter().all(|arg| arg.is_known() && !arg.glob) => {
                        set_positional(Rc::make_mut(&mut self.state), positional.get(count..).unwrap_or(&positional));
                    }
                    _ => Rc::make_mut(&mut self.state).clear_positional(),
                }
            }
            "set" => self.set_options(command),
            "shopt" => {
                let names = |name: &str| operands().any(|arg| arg.text == name || !arg.is_known());
                let (cd_searches, lastpipe) = (names("cdable_vars"), names("lastpipe") && !flagged(&['u']));
                let options = &mut Rc::make_mut(&mut self.state).options;
                options.cd_searches |= cd_searches;
                options.lastpipe |= lastpipe;
            }
            "read" | "mapfile" | "readarray" => self.read_names(command),
            "getopts" | "let" => {
                self.set("OPTARG", Value::Unknown);
                for arg in operands() {
                    let name = arg.text.split(['=', '+', '-', '*', '/']).next().unwrap_or_default();
                    self.set(name, Value::Unknown);
                }
                if command.program == "let" {
                    command.args.iter().for_each(|arg| self.run_arithmetic(&arg.text));
                }
            }
            "printf" => {
                let mut args = command.args.iter();
                let first = args.next().map_or("", |arg| arg.text.as_str());
                let name = match first.strip_prefix("-v") {
                    Some("") => args.next().map_or("", |arg| arg.text.as_str()),
                    Some(name) => name,
                    None => return,
                };
                let rest = args.as_slice();
                let texts: Option<Vec<&str>> =
                    rest.iter().map(|arg| arg.is_known().then_some(arg.text.as_str())).collect();
                let printed = texts.and_then(|texts| super::output::printf(&texts, &self.state.meter));
                // What stands before the first directive of a known format is known.
                let format = rest.iter().find(|arg| arg.text != "--").filter(|format| format.is_known());
                let start = format.and_then(|format| format.text.split(['%', '\\']).next()).unwrap_or_default();
                let begun = Arg { text: format!("{start}$()").into(), known: Some(start.len()), glob: false };
                self.set(name, printed.map_or(Value::Prefix(begun), Value::Known));
            }
            "mkdir" => self.note_created(operands()),
            "git" => {
                let args = wrappers::behind_global(&command.args);
                if args.first().is_some_and(|verb| verb.text == "clone" || verb.text == "init") {
                    self.note_created(args.last());
                }
            }
            _ => {}
        }
    }

    fn change_directory(&mut self, command: &Command) {
        let target = command.args.iter().find(|arg| !arg.text.starts_with('-') || arg.text == "-");
        let from = self.state.possible_cwds();
        let here = self.state.cwd.clone();
        let is_path = |arg: &&Arg| arg.is_known() && !arg.glob && !arg.text.starts_with('+');
        let state = &self.state;
        // `CDPATH` and `cdable_vars` apply to paths that do not begin with `/` or `.`.
        let is_searched = |path: &str| {
            let searches = state.options.cd_searches
                || state.value("CDPATH").is_some()
                || command.env.iter().any(|(name, _)| name == "CDPATH");
            searches && !path.starts_with(['/', '.'])
        };
        let own = |name: &str| command.env.iter().rev().find(|(set, _)| set == name).map(|(_, value)| value.clone());
        let path = match target {
            None if command.program == "cd" => own("HOME").unwrap_or_else(|| state.home_directory()),
            Some(arg) if arg.text == "-" => {
                own("OLDPWD").unwrap_or_else(|| state.old_cwd.as_deref().map(str::to_owned))
            }
            Some(arg) => Some(arg).filter(is_path).map(|arg| arg.text.to_string()).filter(|path| !is_searched(path)),
            None => None,
        };
        let to: Vec<PossibleCwd> = match &path {
            Some(path) => from
                .iter()
                .map(|cwd| PossibleCwd {
                    path: state.resolve(path, cwd.path.as_deref()),
                    after_failed_cd: cwd.after_failed_cd,
                })
                .collect(),
            None => vec![PossibleCwd { path: None, after_failed_cd: false }],
        };
        let length: usize = to.iter().filter_map(|cwd| cwd.path.as_deref()).map(str::len).sum();
        let longest = to.iter().filter_map(|cwd| cwd.path.as_deref()).map(str::len).max().unwrap_or_default();
        state.meter.charge(3 * length);
        let too_long = longest > PATH_BYTES.most;
        let pushes = command.program == "pushd";
        // `pushd -n` changes only the stack.
        if pushes && command.args.iter().any(|arg| arg.text == "-n") {
            let first = to.into_iter().next().and_then(|cwd| cwd.path);
            Rc::make_mut(&mut self.state).directory_stack.push(first);
            return;
        }
        let certain = to.first().and_then(|first| first.path.as_deref()).is_none_or(|at| state.directory_exists(at));
        if !certain {
            let back = from.into_iter().map(|cwd| PossibleCwd { after_failed_cd: true, ..cwd });
            self.list().fallback.extend(back);
        }
        let state = Rc::make_mut(&mut self.state);
        if too_long {
            state.meter.report(&SHELL_DIRECTORIES);
        }
        if pushes {
            let certain = state.other_cwds.iter().all(|other| other.after_failed_cd);
            state.directory_stack.push(here.clone().filter(|_| certain));
            // Without a path, or with a number, `pushd` rotates the stack.
            if target.is_none_or(|arg| !is_path(&arg)) {
                state.directory_stack.fill(None);
            }
        }
        state.set_possible_cwds(to);
        state.old_cwd = here;
    }

    /// Applies the operands of `export`, `declare` and the like: `name=value` and `name`.
    fn declare(&mut self, command: &Command, is_exported: bool, is_global: bool) {
        for arg in command.args.iter().filter(|arg| !arg.text.starts_with('-')) {
            let (name, value) =
                arg.text.split_once('=').map_or((arg.text.as_str(), None), |(name, value)| (name, Some(value)));
            let appends = name.ends_with('+');
            let name = name.trim_end_matches('+');
            let is_local = !is_global && matches!(command.program.as_str(), "local" | "declare" | "typeset");
            if is_local {
                let certain =
                    self.lists.iter().all(|list| !matches!(list.on_close, OnClose::Join(_)) && list.chain.is_none());
                let locals = if certain { &mut self.locals } else { &mut self.possible_locals };
                locals.insert(name.to_owned());
            }
            if is_exported {
                Rc::make_mut(&mut self.state).exported.insert(name.to_owned());
            }
            match value {
                Some(value) => {
                    let known = arg.known.map(|known| known.saturating_sub(arg.text.len() - value.len()));
                    let value = Arg { text: value.into(), known, glob: false };
                    let values = if appends { self.appended(name, &[value]) } else { vec![value] };
                    self.set(name, Value::from_args(&values));
                }
                // A new local variable is empty.
                None if is_local && self.in_function => self.set(name, Value::Known(String::new())),
                None => {}
            }
        }
    }

    /// Applies `set -e`, `set -a`, `set -- a b` and `set a b`.
    fn set_options(&mut self, command: &Command) {
        let mut args = command.args.iter().peekable();
        while let Some(arg) =
            args.next_if(|arg| arg.text.len() > 1 && arg.text.starts_with(['-', '+']) && arg.text != "--")
        {
            let on = arg.text.starts_with('-');
            let named = if arg.text.ends_with('o') { args.next().map_or("", |arg| arg.text.as_str()) } else { "" };
            let options = &mut Rc::make_mut(&mut self.state).options;
            if arg.text.contains('e') || named == "errexit" {
                options.errexit = on;
            }
            if arg.text.contains('a') || named == "allexport" {
                options.allexport = on;
            }
            if arg.text.contains('k') || named == "keyword" {
                options.keyword |= on;
            }
        }
        let has_separator = args.next_if(|arg| arg.text == "--" || arg.text == "-").is_some();
        let rest: Vec<Arg> = args.cloned().collect();
        if has_separator || !rest.is_empty() {
            set_positional(Rc::make_mut(&mut self.state), &rest);
        }
    }

    /// Notes directories that the line creates.
    fn note_created<'a>(&mut self, directories: impl IntoIterator<Item = &'a Arg>) {
        let here = self.state.cwd.clone();
        let known = directories.into_iter().filter(|arg| arg.is_known() && !arg.glob);
        let made: Vec<Rc<str>> =
            known.filter_map(|arg| self.state.resolve(&arg.text, here.as_deref())).take(MAX_CREATED).collect();
        let state = Rc::make_mut(&mut self.state);
        if state.created_directories.len() < MAX_CREATED {
            state.created_directories.extend(made);
        }
    }
}

/// The builtins of bash, sorted.
static BUILTINS: WordList = WordList::new(&[
    ".", ":", "[", "[[", "alias", "bg", "bind", "break", "builtin", "caller", "cd", "command", "compgen", "complete",
    "compopt", "continue", "declare", "dirs", "disown", "echo", "enable", "eval", "exec", "exit", "export", "false",
    "fc", "fg", "getopts", "hash", "help", "history", "jobs", "kill", "let", "local", "logout", "mapfile", "popd",
    "printf", "pushd", "pwd", "read", "readarray", "readonly", "return", "set", "shift", "shopt", "source", "suspend",
    "test", "time", "times", "trap", "true", "type", "typeset", "ulimit", "umask", "unalias", "unset",
]);

/// Whether a name is a builtin or a keyword that is reported as a command.
pub fn is_builtin(name: &str) -> bool {
    lists(&BUILTINS, name) || matches!(name, "wait" | "coproc" | "if" | "for")
}

/// Builtins whose arguments are names of variables.
const TAKES_NAMES: &[&str] = &[
    "[", "declare", "export", "let", "local", "mapfile", "printf", "read", "readarray", "readonly", "test", "typeset",
    "unset", "wait",
];

/// Whether a builtin expands a subscript in one of its arguments.
pub(super) fn evaluates_subscript(command: &Command) -> bool {
    let hidden = |arg: &Arg| {
        let subscript = arg.text.split_once('[').map_or("", |(_, subscript)| subscript);
        let evaluated = if command.program == "let" { arg.text.as_str() } else { subscript };
        arg.is_known() && (evaluated.contains("$(") || evaluated.contains('`'))
    };
    let named = |arg: &Arg| arg.text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    TAKES_NAMES.contains(&command.program.as_str()) && command.args.iter().any(|arg| named(arg) && hidden(arg))
}

/// Whether the text of a trap may change variables. Most of them only print where a script failed.
fn may_set_variables(text: &Arg) -> bool {
    let prints = |command: &str| {
        let mut words = command.split_whitespace();
        let first = words.next().unwrap_or(":");
        // `printf -v x` sets a variable.
        let is_option = |word: &str| word.trim_start_matches(['"', '\'']).starts_with(['-', '$', '\\']);
        matches!(first, ":" | "true" | "echo" | "exit" | "kill" | "rm" | "logger" | "date")
            || first == "printf" && !words.next().is_some_and(is_option)
    };
    let text_of_commands = text.text.trim_matches(['"', '\'']);
    !text.is_known() && !text_of_commands.starts_with("echo ")
        || text_of_commands.contains(['=', '`', '('])
        || !text_of_commands.split([';', '&', '|', '\n']).all(prints)
}
