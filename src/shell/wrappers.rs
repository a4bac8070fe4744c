//! What runs its argument: one row a program, and for the few with a grammar of their own, one file.

mod by_entry;
mod container;
mod cwd;
mod find;
mod git;
mod names;
mod option;
mod package;
mod parallel;
mod script;
mod shells;
mod table;
mod terminal;
mod tool;
mod windows;
mod xargs;

pub(super) use container::{Container, container};
pub(super) use find::Search;
pub(super) use git::{behind_global, works_in};
pub(super) use names::{Names, names};

use super::options::Options;
use super::{Arg, Command, Input};
use crate::programs::{self, Does, Entry};
use crate::shell::inline::Language;
use crate::verdict::limits::Meter;
use cwd::{moved, text_in};
use table::{RUNNERS, Shape, row_of};
use tool::{behind, behind_verb, hyperfine, monorepo, option_code, prompts};

/// What putting one word together costs, in steps.
const WORD: usize = 16;

/// Something that a command runs.
#[derive(Debug)]
pub(super) enum Inner {
    /// A program with arguments.
    Command {
        args: Vec<Arg>,
        /// Where it runs, if not where its runner does; the inner `None` is a directory that cannot be known.
        cwd: Option<Option<String>>,
        env: Vec<(String, Option<String>)>,
    },
    /// Shell text; `shared` if it runs in the shell that runs the command.
    Text { text: String, shared: bool },
    /// PowerShell text, which runs in a process of its own.
    PowerShell { text: String },
    /// A program in another language.
    Code { language: Language, text: String },
}

impl Inner {
    /// Says what the names are that a pipeline hands over, where that is known.
    pub fn found_below(&mut self, names: &Names, meter: &Meter) {
        let Inner::Command { args, .. } = self else { return };
        let names = names.of(args);
        meter.charge(WORD * names.len());
        let named = |arg: Arg| match arg.text.strip_prefix("$ARGS") {
            Some(end) if arg.known == Some(0) => {
                let with = |name: &Arg| Arg { text: format!("{}{end}", name.text).into(), ..name.clone() };
                let affordable = |name: &&Arg| meter.affords(name.text.len() + end.len());
                names.iter().filter(affordable).map(with).collect()
            }
            _ => vec![arg],
        };
        *args = std::mem::take(args).into_iter().flat_map(named).collect();
    }

    fn command(args: Vec<Arg>) -> Inner {
        Inner::Command { args, cwd: None, env: Vec::new() }
    }

    fn text(text: impl Into<String>) -> Inner {
        Inner::Text { text: text.into(), shared: false }
    }
}

/// Whether what a command runs is run by an option, a setting or code, and not because that is what it is for.
pub(super) fn hides(command: &Command) -> bool {
    let program = command.program.as_str();
    if program.starts_with("git-") {
        return false;
    }
    if program == "git" {
        let verb = behind_global(&command.args).first().map_or("", |arg| arg.text.as_str());
        // An alias for a verb of git runs nothing else.
        let plain = verb == "config" && !command.args.iter().any(|arg| arg.text.starts_with('!'));
        let asked =
            plain || matches!(verb, "submodule" | "bisect" | "rebase" | "filter-branch" | "difftool" | "mergetool");
        return !asked || git::sets_program(&command.args);
    }
    let words: Vec<&str> = command.args.iter().map(|arg| arg.text.as_str()).collect();
    let runs = |entry: &'static Entry| {
        programs::parse(entry, &words).command.is_some() || entry.does == Some(Does::Run) && entry.language.is_none()
    };
    let is_artisan = program == "php" && words.first() == Some(&"artisan");
    let has_script = || by_entry::script_program(command).is_some();
    let asked = RUNNERS.contains(&program)
        || row_of(program).is_some()
        || shells::is_shell(program)
        || windows::is_powershell(program)
        || windows::is_cmd(program)
        || is_artisan
        || has_script()
        || programs::embedded(program).is_some_and(runs);
    // Any of them may be told to run something else by its options.
    !asked || !option::options(program, &command.args).is_empty()
}

/// What a shell's text finds in `$0`, `$1` and so on.
pub(super) fn parameters(command: &Command) -> Option<Vec<Arg>> {
    if !shells::is_shell(&command.program) {
        return None;
    }
    let text = command
        .args
        .iter()
        .position(|arg| arg.text.starts_with('-') && !arg.text.starts_with("--") && arg.text.contains('c'))?;
    Some(command.args.get(text + 2..).unwrap_or_default().to_vec())
}

/// Everything that a command runs, in order.
pub(super) fn inner(command: &Command, meter: &Meter) -> Vec<Inner> {
    let args = command.args.as_slice();
    match command.program.as_str() {
        "command" => not_a_question(args),
        "env" | "cross-env" | "cross-env-shell" | "dotenv" | "env-cmd" => env(command),
        "xargs" | "gxargs" => xargs::xargs(args, &command.input, meter),
        "parallel" => parallel::parallel(command, meter),
        "lerna" | "nx" | "turbo" => monorepo(args),
        "hyperfine" => hyperfine(args, meter),
        // `php artisan x` is `artisan x`.
        "php" if args.first().is_some_and(|arg| arg.text == "artisan") => one(args.to_vec()),
        // `ruby -run -e cp -- a b`: the library `un` has a command for each file operation.
        "ruby" if args.iter().any(|arg| arg.text == "-run" || arg.text == "-run.rb") => ruby_un(args),
        "mix" if args.first().is_some_and(|arg| arg.text == "eval") => args
            .get(1)
            .map(|arg| Inner::Code { language: Language::Elixir, text: arg.text.to_string() })
            .into_iter()
            .collect(),
        "concurrently" => {
            let texts = args.iter().filter(|arg| !arg.text.starts_with('-') && arg.text.contains(' '));
            texts.map(|arg| Inner::text(arg.text.clone())).collect()
        }
        "rustup" | "pyenv" | "conda" | "mamba" | "opam" | "stack" | "nvm" | "tox" | "rbenv" | "asdf" | "perf"
        | "volta" | "fnm" | "bundler" | "foreman" | "ruby-install" | "sdk" => behind_verb(command),
        "find" | "gfind" | "bfs" => find::find(command, meter),
        "fd" | "fdfind" => find::fd(args, meter),
        program if program.starts_with("git-") && program.len() > 4 => {
            let verb = program.get(4..).map(Arg::literal);
            one([Arg::literal("git")].into_iter().chain(verb).chain(args.iter().cloned()).collect())
        }
        "git" => git::git(args),
        "docker" | "podman" | "nerdctl" => container::docker(args),
        "docker-compose" => container::compose(args),
        "kubectl" | "oc" => container::kubectl(args),
        "rune" => behind(args, &["mcp", "wrap"]),
        "zellij" => behind(args, &[]),
        "deno" if args.iter().any(|arg| arg.text.starts_with("npm:") || arg.text.starts_with("jsr:")) => {
            package::of_registry(args)
        }
        "bun" if option_code(args).is_some() => {
            option_code(args).map(|text| Inner::Code { language: Language::Node, text }).into_iter().collect()
        }
        "bun" if args.iter().any(|arg| arg.text == "-") => code(Language::Node, command),
        "npm" | "pnpm" | "yarn" | "yarnpkg" | "bun" | "bundle" | "uv" | "pipx" | "poetry" | "rye" | "pdm" | "mise"
        | "hatch" | "pipenv" | "devbox" | "pixi" => package::package_runner(command),
        "tmux" => terminal::tmux(args),
        "screen" => terminal::screen(args),
        "cmake" if args.iter().take(2).map(|arg| arg.text.as_str()).eq(["-E", "env"]) => {
            env(&Command { args: args.get(2..).unwrap_or_default().into(), ..command.clone() })
        }
        "ed" | "ex" | "red" => prompts(command),
        "mix" | "rake" if option_code(args).is_some() => {
            let language = if command.program == "mix" { Language::Elixir } else { Language::Ruby };
            option_code(args).map(|text| Inner::Code { language, text }).into_iter().collect()
        }
        program if windows::is_powershell(program) => windows::powershell(command),
        program if windows::is_cmd(program) => windows::cmd(args),
        _ if command.reads_program() => unknown_script(),
        "eval" => shells::eval(args),
        "trap" => shells::trap(args),
        "alias" => shells::alias(args),
        "source" | "." => shells::source(command),
        program => match shells::shell(program, command) {
            Some(inner) => inner,
            None => match Language::from_program(program) {
                Some(language) => {
                    let mut inner = code(language, command);
                    inner.extend(by_entry::loose_code(command));
                    inner.extend(by_entry::script_program(command).map(Inner::command));
                    inner
                }
                None => {
                    let mut inner = by_table(command);
                    inner.extend(option::options(program, args));
                    if inner.is_empty() {
                        inner = by_entry::inner(command);
                    }
                    inner
                }
            },
        },
    }
}

fn by_table(command: &Command) -> Vec<Inner> {
    let (program, args) = (command.program.as_str(), command.args.as_slice());
    // Without an argument there is nothing to run.
    if args.is_empty() {
        return Vec::new();
    }
    let Some(row) = row_of(program) else { return Vec::new() };
    // Options may also stand behind the operands that come before the command: `ssh host -p 22 x`.
    let rest = |skip: usize| {
        let behind = args.get(row.options.end(args) + skip..).unwrap_or_default();
        let texts = matches!(row.shape, Shape::Text(1..) | Shape::Either(1.., _));
        let more = if texts { row.options.end(behind) } else { 0 };
        behind.get(more..).unwrap_or_default().to_vec()
    };
    let option = |names: &str| row.options.anywhere(args, names).map(|value| vec![Inner::text(value.text.clone())]);
    match row.shape {
        // `sudo A=1 x`
        Shape::Command(skip) => {
            let mut args: Vec<Arg> = rest(skip).into_iter().skip_while(|arg| is_assignment(&arg.text)).collect();
            if matches!(program, "bunx" | "pnpx" | "uvx") {
                args.iter_mut().take(1).for_each(|name| *name = package::unversioned(name));
            }
            let cwd = moved(row.options.value(command.args.as_slice(), table::directory(program)), command);
            if args.is_empty() { Vec::new() } else { vec![Inner::Command { args, cwd, env: Vec::new() }] }
        }
        Shape::Text(skip) => joined(&rest(skip)),
        Shape::Before(names) => {
            let text = row.options.value(args, names).map(|value| vec![Inner::text(value.text.clone())]);
            text.unwrap_or_else(|| package::line_or_command(&rest(0)))
        }
        Shape::Either(skip, names) => option(names).unwrap_or_else(|| one(rest(skip))),
        Shape::OnlyOption(names) => option(names).unwrap_or_default(),
    }
}

/// `ruby -run -e cp -- a b`
fn ruby_un(args: &[Arg]) -> Vec<Inner> {
    let verb = args.iter().skip_while(|arg| arg.text != "-e").nth(1);
    let operands = args.iter().skip_while(|arg| arg.text != "--").skip(1);
    one(verb.into_iter().chain(operands).cloned().collect())
}

fn one(args: Vec<Arg>) -> Vec<Inner> {
    if args.is_empty() { Vec::new() } else { vec![Inner::command(args)] }
}

/// The words, joined, as shell text. What cannot be known stands in it as an expansion again.
fn joined(args: &[Arg]) -> Vec<Inner> {
    let text = args.iter().map(|arg| arg.text.as_str()).collect::<Vec<_>>().join(" ");
    if text.trim().is_empty() { Vec::new() } else { vec![Inner::text(text)] }
}

fn is_assignment(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| {
        !name.is_empty()
            && !name.starts_with(|c: char| c.is_ascii_digit())
            && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    })
}

fn is_setting(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| !name.is_empty() && !name.starts_with('-'))
}

/// `command -v x` asks where `x` is; `command x` runs it.
fn not_a_question(args: &[Arg]) -> Vec<Inner> {
    let start = Options { short: "", long: &[] }.end(args);
    let asks = args.iter().take(start).any(|arg| arg.text.contains(['v', 'V']));
    if asks { Vec::new() } else { one(args.iter().skip(start).cloned().collect()) }
}

fn env(command: &Command) -> Vec<Inner> {
    let args = command.args.as_slice();
    let options = Options { short: "uCSa", long: &["unset", "chdir", "split-string", "argv0"] };
    // `env -` is `env -i`.
    let start = options.end(args);
    let start = start + args.iter().skip(start).take_while(|arg| arg.text == "-").count();
    let given = args.iter().skip(start);
    // A name may hold anything here but the sign itself.
    let sets = given.clone().take_while(|arg| is_setting(&arg.text));
    let variables = sets.filter_map(|arg| {
        let (name, value) = arg.text.split_once('=')?;
        Some((name.to_owned(), arg.is_known().then(|| value.to_owned())))
    });
    let rest: Vec<Arg> = given.skip_while(|arg| is_setting(&arg.text)).cloned().collect();
    let directory = options.value(args, "C chdir");
    let named = |arg: &Arg| {
        let name = arg.text.strip_prefix("--").map(|name| name.split('=').next().unwrap_or_default());
        name.is_some_and(|name| options.meant(name) == "split-string")
    };
    let split = args.iter().take(start).position(|arg| clustered_split(&arg.text).is_some() || named(arg));
    if let Some(at) = split {
        let option = args.get(at).map_or("", |arg| arg.text.as_str());
        let long = option.strip_prefix("--").map(|option| option.split_once('=').map_or("", |(_, text)| text));
        let attached = long.or_else(|| clustered_split(option)).unwrap_or_default();
        let next = args.get(at + 1).map_or("", |arg| arg.text.as_str());
        let (text, used) = if attached.is_empty() { (next, 2) } else { (attached, 1) };
        // Its words are split like a shell's, and what follows is added to them as it is.
        let more = args.iter().skip(at + used).map(|arg| quoted(&arg.text));
        let words = [text.replace("\\_", " ")].into_iter().chain(more).collect::<Vec<_>>().join(" ");
        return vec![Inner::text(text_in(directory.as_ref(), format!("env {words}")))];
    }
    let cwd = moved(directory, command);
    if rest.is_empty() { Vec::new() } else { vec![Inner::Command { args: rest, cwd, env: variables.collect() }] }
}

/// What stands behind `-S`, also in a cluster such as `-vS`.
fn clustered_split(option: &str) -> Option<&str> {
    let letters = option.strip_prefix('-').filter(|letters| !letters.starts_with('-'))?;
    let at = letters
        .find('S')
        .filter(|at| letters.get(..*at).is_some_and(|before| before.chars().all(|c| "iv0".contains(c))))?;
    letters.get(at + 1..)
}

/// The word in single quotes.
fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', "'\\''"))
}

/// A word that is only known when the command runs.
fn later(written: &str) -> Arg {
    Arg { text: written.into(), known: Some(0), glob: false }
}

/// A word with something in place of a mark that is only known when the command runs.
fn replaced(arg: &Arg, mark: &str, by: &str) -> Arg {
    Arg { text: arg.text.replace(mark, by).into(), known: arg.text.find(mark), glob: false }
}

/// An interpreter that reads its program from somewhere that cannot be known.
fn unknown_script() -> Vec<Inner> {
    vec![Inner::command(vec![later("$SCRIPT")])]
}

/// Code on the command line, or on the standard input of an interpreter without a file.
fn code(language: Language, command: &Command) -> Vec<Inner> {
    let found = language.inline_code(&command.args);
    let texts = match (found, &command.input) {
        (Some(texts), _) => texts,
        (None, Input::Text(text)) if language.reads_input(&command.args) || language.reads_program(&command.args) => {
            vec![text.clone()]
        }
        (None, Input::Pipe | Input::Unknown)
            if language.reads_input(&command.args) || language.reads_program(&command.args) =>
        {
            return unknown_script();
        }
        (None, _) => Vec::new(),
    };
    texts.into_iter().map(|text| Inner::Code { language, text }).collect()
}
