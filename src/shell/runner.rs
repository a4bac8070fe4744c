//! What runs its argument: one row a program, and for the few with a grammar of their own, one file.

mod container;
mod find;
mod git;
mod option;
mod shells;
mod table;
mod tool;

use super::interpreter::Language;
use super::options::Options;
use super::{Arg, Command, Input};
use table::{ROWS, RUNNERS, Shape};
use tool::{Scripts, behind, behind_verb, option_code, package_runner, program_verbs, prompts, terminal, tool_code};

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
    /// A program in another language.
    Code { language: Language, text: String },
}

impl Inner {
    /// Says where the names lie that are only known when the command runs.
    pub fn found_below(&mut self, start: &str) {
        let Inner::Command { args, .. } = self else { return };
        for arg in args.iter_mut().filter(|arg| arg.known == Some(0) && arg.text.starts_with("$ARGS")) {
            let start = format!("{}/", start.trim_end_matches('/'));
            arg.known = Some(start.len());
            arg.text.insert_str(0, &start);
        }
    }

    fn command(args: Vec<Arg>) -> Inner {
        Inner::Command { args, cwd: None, env: Vec::new() }
    }

    fn text(text: impl Into<String>) -> Inner {
        Inner::Text { text: text.into(), shared: false }
    }
}

/// Whether a program is a shell.
pub(super) fn is_shell(program: &str) -> bool {
    shells::is_shell(program)
}

/// The one name that a `find` searches for.
pub(super) fn only_name(args: &[Arg]) -> Option<&str> {
    find::only_name(args)
}

/// The words of a `git` command behind its global options.
pub(super) fn behind_global(args: &[Arg]) -> &[Arg] {
    git::behind_global(args)
}

/// Whether what a command runs is run by an option, a setting or code, and not because that is what it is for.
pub(super) fn hides(command: &Command) -> bool {
    let program = command.program.as_str();
    if program == "git" {
        let verb = git::behind_global(&command.args).first().map_or("", |arg| arg.text.as_str());
        let asked = matches!(verb, "submodule" | "bisect" | "rebase" | "filter-branch" | "difftool" | "mergetool");
        return !asked || git::sets_program(&command.args);
    }
    let asked =
        RUNNERS.contains(&program) || ROWS.iter().any(|row| row.names.contains(&program)) || shells::is_shell(program);
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
pub(super) fn inner(command: &Command) -> Vec<Inner> {
    let args = command.args.as_slice();
    match command.program.as_str() {
        "command" => not_a_question(args),
        "env" => env(args),
        "xargs" | "gxargs" => xargs(args, &command.input),
        "parallel"
            if matches!(command.input, Input::Pipe | Input::Unknown)
                && args.iter().all(|arg| arg.text.starts_with('-')) =>
        {
            unknown_script()
        }
        "parallel" if args.is_empty() => match &command.input {
            Input::Text(text) => text.lines().map(Inner::text).collect(),
            Input::Inherited | Input::Pipe | Input::Unknown => Vec::new(),
        },
        "parallel" => parallel(args),
        "cross-env" | "dotenv" => env(args),
        "lerna" | "nx" | "turbo" if args.iter().any(|arg| arg.text == "exec") => behind(args, &[]),
        "php" if args.first().is_some_and(|arg| arg.text == "artisan") => {
            tool_code(args).map(|text| Inner::Code { language: Language::Php, text }).into_iter().collect()
        }
        "mix" if args.first().is_some_and(|arg| arg.text == "eval") => args
            .get(1)
            .map(|arg| Inner::Code { language: Language::Elixir, text: arg.text.clone() })
            .into_iter()
            .collect(),
        "bin/rails" | "./bin/rails" => {
            tool_code(args).map(|text| Inner::Code { language: Language::Ruby, text }).into_iter().collect()
        }
        "concurrently" => {
            let texts = args.iter().filter(|arg| !arg.text.starts_with('-') && arg.text.contains(' '));
            texts.map(|arg| Inner::text(arg.text.clone())).collect()
        }
        "rustup" | "pyenv" | "conda" | "mamba" | "opam" | "stack" | "nvm" | "tox" | "rbenv" | "asdf" | "perf"
        | "bundler" => behind_verb(args),
        "find" | "gfind" => find::find(args),
        "fd" | "fdfind" => find::fd(args),
        "git" => git::git(args),
        "docker" | "podman" | "nerdctl" => container::docker(args),
        "docker-compose" => container::compose(args),
        "kubectl" | "oc" => container::kubectl(args),
        "rune" => behind(args, &["mcp", "wrap"]),
        "bun" if option_code(args).is_some() => {
            option_code(args).map(|text| Inner::Code { language: Language::Node, text }).into_iter().collect()
        }
        "bun" if args.iter().any(|arg| arg.text == "-") => code(Language::Node, command),
        "npm" | "pnpm" | "yarn" | "bun" | "bundle" => package_runner(args, Scripts::Named),
        "rails" | "artisan" | "Rscript" | "julia" | "erl" if tool_code(args).is_some() => {
            let language = if command.program == "artisan" { Language::Php } else { Language::Ruby };
            tool_code(args).map(|text| Inner::Code { language, text }).into_iter().collect()
        }
        "uv" | "pipx" | "poetry" | "rye" | "pdm" | "mise" | "hatch" | "pipenv" => package_runner(args, Scripts::None),
        "tmux" | "screen" => terminal(program_verbs(&command.program), args),
        "cmake" if args.iter().take(2).map(|arg| arg.text.as_str()).eq(["-E", "env"]) => {
            env(args.get(2..).unwrap_or_default())
        }
        "psql" | "mysql" | "sqlite3" | "ed" | "ex" | "red" => prompts(command),
        "mix" | "rake" if option_code(args).is_some() => {
            let language = if command.program == "mix" { Language::Elixir } else { Language::Ruby };
            option_code(args).map(|text| Inner::Code { language, text }).into_iter().collect()
        }
        "eval" => shells::eval(args),
        "trap" => shells::trap(args),
        "alias" => shells::alias(args),
        "source" | "." => shells::source(command),
        program => match shells::shell(program, command) {
            Some(inner) => inner,
            None => match Language::of(program) {
                Some(language) => code(language, command),
                None => [by_table(program, args), option::options(program, args)].into_iter().flatten().collect(),
            },
        },
    }
}

fn by_table(program: &str, args: &[Arg]) -> Vec<Inner> {
    // Without an argument there is nothing to run.
    if args.is_empty() {
        return Vec::new();
    }
    let Some(row) = ROWS.iter().find(|row| row.names.contains(&program)) else { return Vec::new() };
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
        Shape::Command(skip) => one(rest(skip).into_iter().skip_while(|arg| is_assignment(&arg.text)).collect()),
        Shape::Text(skip) => joined(&rest(skip)),
        Shape::Before(names) => {
            let text = row.options.value(args, names).map(|value| vec![Inner::text(value.text.clone())]);
            text.unwrap_or_else(|| one(rest(0)))
        }
        Shape::Either(skip, names) => option(names).unwrap_or_else(|| one(rest(skip))),
        Shape::OnlyOption(names) => option(names).unwrap_or_default(),
    }
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

fn env(args: &[Arg]) -> Vec<Inner> {
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
    let split = args
        .iter()
        .take(start)
        .position(|arg| clustered_split(&arg.text).is_some() || arg.text.starts_with("--split-string"));
    if let Some(at) = split {
        let option = args.get(at).map_or("", |arg| arg.text.as_str());
        let attached = option.strip_prefix("--split-string=").or_else(|| clustered_split(option)).unwrap_or_default();
        let next = args.get(at + 1).map_or("", |arg| arg.text.as_str());
        let (text, used) = if attached.is_empty() { (next, 2) } else { (attached, 1) };
        // Its words are split like a shell's, and what follows is added to them as it is.
        let more = args.iter().skip(at + used).map(|arg| quoted(&arg.text));
        let words = [text.replace("\\_", " ")].into_iter().chain(more).collect::<Vec<_>>().join(" ");
        return vec![Inner::text(format!("env {words}"))];
    }
    let cwd = options.value(args, "C chdir").map(|dir| dir.is_known().then(|| dir.text.clone()));
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
    Arg { text: written.to_owned(), known: Some(0), glob: false }
}

fn xargs(args: &[Arg], given: &Input) -> Vec<Inner> {
    let options = Options {
        short: "aEILnPsd",
        long: &["arg-file", "delimiter", "max-args", "max-procs", "max-chars", "process-slot-var"],
    };
    let start = options.end(args);
    let rest: Vec<Arg> = args.iter().skip(start).cloned().collect();
    let attached = args.iter().take(start).find_map(|arg| {
        arg.text
            .strip_prefix("-i")
            .or_else(|| arg.text.strip_prefix("--replace").map(|mark| mark.trim_start_matches('=')))
    });
    let attached = attached.map(|mark| if mark.is_empty() { "{}" } else { mark });
    let mark = options.value(args, "I").map(|mark| mark.text).or(attached.map(str::to_owned));
    // Separated by something else than blanks, what comes is one word.
    let whole =
        args.iter().take(start).any(|arg| arg.text == "-0" || arg.text == "--null" || arg.text.starts_with("-d"));
    let input = match given {
        Input::Text(text) if !text.trim().is_empty() && text.lines().count() == 1 => {
            Arg::literal(text.trim_end_matches('\n'))
        }
        Input::Text(_) | Input::Inherited | Input::Pipe | Input::Unknown => later("$ARGS"),
    };
    match mark.filter(|mark| !mark.is_empty()) {
        Some(mark) => one(rest
            .iter()
            .map(|arg| match arg.text.contains(&mark) {
                true if input.is_known() => Arg { text: arg.text.replace(&mark, &input.text), ..arg.clone() },
                true => replaced(arg, &mark, &input.text),
                false => arg.clone(),
            })
            .collect()),
        None if rest.is_empty() => Vec::new(),
        None => match given {
            // The words are on the line.
            Input::Text(text) if whole => {
                one(rest.into_iter().chain([Arg::literal(text.trim_end_matches('\n'))]).collect())
            }
            Input::Text(text) if !text.contains(['"', '\'', '\\']) => {
                one(rest.into_iter().chain(text.split_whitespace().map(Arg::literal)).collect())
            }
            Input::Text(_) | Input::Inherited | Input::Pipe | Input::Unknown => {
                one(rest.into_iter().chain([input]).collect())
            }
        },
    }
}

/// A word with something in place of a mark that is only known when the command runs.
fn replaced(arg: &Arg, mark: &str, by: &str) -> Arg {
    Arg { text: arg.text.replace(mark, by), known: arg.text.find(mark), glob: false }
}

fn parallel(args: &[Arg]) -> Vec<Inner> {
    let options = Options {
        short: "jaNnLSsIdX",
        long: &["jobs", "arg-file", "max-args", "sshlogin", "delay", "timeout", "joblog"],
    };
    let rest = args.iter().skip(options.end(args));
    let template: Vec<Arg> = rest.clone().take_while(|arg| !arg.text.starts_with(":::")).cloned().collect();
    let values: Vec<Arg> = rest.skip_while(|arg| !arg.text.starts_with(":::")).skip(1).cloned().collect();
    if template.is_empty() {
        // Without a template each value is a command of its own.
        return values.iter().map(|value| Inner::text(value.text.clone())).collect();
    }
    let words = template.iter().map(|arg| arg.text.as_str()).collect::<Vec<_>>().join(" ");
    let values = values.iter().map(|arg| arg.text.as_str()).collect::<Vec<_>>().join(" ");
    let text = if words.contains("{}") { words.replace("{}", &values) } else { format!("{words} {values}") };
    vec![Inner::text(text)]
}

/// An interpreter that reads its program from somewhere that cannot be known.
fn unknown_script() -> Vec<Inner> {
    vec![Inner::command(vec![later("$SCRIPT")])]
}

/// Code on the command line, or on the standard input of an interpreter without a file.
fn code(language: Language, command: &Command) -> Vec<Inner> {
    let found = language.inline(&command.args);
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
