//! Secrets that a program gives to the command that it runs, if that command prints them: `op run -- env`.

use super::super::{Arg, Command, Input};
use super::Target;
use crate::path::Extent;
use crate::path::protected;
use crate::programs::code::lists;
use crate::programs::roles;
use crate::programs::{self, CommandLine, Tail, Use};

/// The longest chain of programs that run each other which is followed. A longer one counts as printing secrets.
const MAX_DEPTH: usize = 4;

/// Directories of containers that hold secrets.
const SECRET_DIRECTORIES: [&str; 6] =
    ["/run/secrets/", "/vault/secrets/", "/etc/secrets/", "/var/run/secrets/", "/mnt/secrets", "/secrets/"];

/// Parts of the names of variables that hold secrets.
const SECRET_NAMES: [&str; 9] = ["KEY", "TOKEN", "SECRET", "PASS", "PWD", "CRED", "AUTH", "DSN", "DATABASE_URL"];

impl Command {
    /// Whether it gives secrets to a command that prints them.
    pub(super) fn shows_injected(&self, line: &CommandLine) -> bool {
        if !line.injects() && !self.loads_variables(line) {
            return false;
        }
        if self.code_shows_variables(line) {
            return true;
        }
        let words: Vec<&str> = self.args.iter().map(|arg| arg.text.as_str()).collect();
        let behind = line.command.and_then(|start| words.get(start..)).unwrap_or_default();
        let joined = behind.join(" ");
        let is_text = line.tail == Some(Tail::Shell) || behind.len() == 1;
        let texts = line.uses.iter().filter(|used| used.takes == Some(Use::Run));
        let texts: Vec<Arg> = texts.filter_map(|used| self.value(used)).collect();
        shows(behind, MAX_DEPTH)
            || is_text && text_shows(&joined, MAX_DEPTH)
            || texts.iter().any(|text| text_shows(&text.text, MAX_DEPTH))
    }
}

impl Command {
    /// Whether it prints what people have typed. The history of `bash -c` is empty until it is read; other shells load theirs.
    pub(super) fn shows_typed(&self) -> bool {
        let loads = |word: &str| word.starts_with('-') && word.contains(['r', 'R', 'n', 'a']);
        let by_shell = self.via.iter().any(|runner| matches!(runner.as_str(), "fish" | "zsh" | "ksh" | "mksh"));
        matches!(self.program.as_str(), "history" | "fc")
            && (by_shell || self.args.iter().any(|arg| loads(&arg.text) && self.program == "history"))
    }

    /// Whether the editor that a secret is decrypted for is another program: `EDITOR=cat sops x.yaml`.
    pub(super) fn edits_by_printer(&self) -> bool {
        let edits = roles::EDITORS_DECRYPTING.iter().any(|row| match row.split_once(' ') {
            Some((program, verb)) => self.program == program && self.args.iter().any(|arg| arg.text == verb),
            None => self.program == *row,
        });
        let is_printer = |value: &str| {
            let mut words = value.split_whitespace();
            let name = words.next().unwrap_or_default().rsplit('/').next().unwrap_or_default();
            let is_ordinary = words.all(|word| lists(&roles::EDITORS_OPTIONS, word));
            !lists(&roles::EDITORS_INTERACTIVE, name) || !is_ordinary
        };
        edits
            && self.env.iter().any(|(name, value)| {
                let is_editor = name == "VISUAL" || name.ends_with("EDITOR");
                is_editor && value.as_deref().is_none_or(is_printer)
            })
    }

    /// Whether an option gives the variables of a file to the command: `uv run --env-file .env`.
    fn loads_variables(&self, line: &CommandLine) -> bool {
        let is_env = |name: &str| {
            let name = name.to_ascii_lowercase();
            ["env-file", "envfile", "dotenv", "environmentfile", "--env="].iter().any(|part| name.contains(part))
        };
        let starter = ["foreman", "honcho", "overmind", "hivemind"].contains(&self.program.as_str());
        // An example of the file holds no secrets.
        let is_secret = |value: Arg| {
            let path = Target::of(&value, self.cwd.as_deref()).path;
            path.is_none_or(|path| protected::classes(&path, Extent::Exact, None).next().is_some())
        };
        let before = line.command.unwrap_or(self.args.len());
        let settings = self.args.iter().take(before).filter(|arg| is_env(&arg.text));
        let settings = settings.filter_map(|arg| arg.text.rsplit_once('=').map(|(_, file)| Arg::literal(file)));
        let options = line.uses.iter().filter(|used| used.option.is_some_and(is_env));
        let mut files = settings.chain(options.filter_map(|used| self.value(used)));
        starter && line.command.is_some() || files.any(is_secret)
    }

    /// Whether its code names the environment and prints: `node --env-file=.env -p process.env.X`.
    fn code_shows_variables(&self, line: &CommandLine) -> bool {
        const ENVIRONMENTS: [&str; 8] =
            ["environ", "process.env", "ENV[", "getenv", "Deno.env", "Bun.env", "import.meta.env", "%ENV"];
        const PRINTS: [&str; 10] =
            ["print", "puts", "console.", "echo", "stdout", "stderr", "write", "log(", "dump", "inspect"];
        let code = line.uses.iter().filter(|used| used.takes == Some(Use::Code));
        let shows = |text: &str, prints: bool| {
            ENVIRONMENTS.iter().any(|name| text.contains(name))
                && (prints || PRINTS.iter().any(|name| text.contains(name)))
        };
        let by_input = match &self.input {
            Input::Text(text) => line.language().is_some() && shows(text, false),
            Input::Inherited | Input::Pipe | Input::Unknown => false,
        };
        let words = line.command.and_then(|start| self.args.get(start..)).unwrap_or_default();
        by_input
            || code.filter_map(|used| Some((used, self.value(used)?))).any(|(used, text)| {
                shows(&text.text, used.option.is_some_and(|option| matches!(option, "-p" | "--print")))
            })
            || words.iter().any(|word| word.text.contains(['(', ' ']) && shows(&word.text, false))
    }
}

/// Whether a part of a text for a shell prints variables or secret files.
fn text_shows(text: &str, depth: usize) -> bool {
    let parts = text.split([';', '|', '&', '\n', '(', ')', '`', '{', '}']);
    parts.map(|part| part.trim_matches(['\'', '"', ' '])).any(|part| {
        let words: Vec<&str> = part.split_whitespace().map(|word| word.trim_matches(['\'', '"'])).collect();
        shows(&words, depth)
    })
}

/// Whether a command prints variables, or files of secrets.
fn shows(words: &[&str], depth: usize) -> bool {
    let Some((name, args)) = words.split_first() else { return false };
    let Some(depth) = depth.checked_sub(1) else { return true };
    let name = name.rsplit('/').next().unwrap_or(name);
    if let (true, Some((flag, [text, ..]))) = (is_shell(name), args.split_first()) {
        return flag.starts_with('-') && flag.contains('c') && text_shows(text, depth);
    }
    let is_file = |word: &&str| {
        SECRET_DIRECTORIES.iter().any(|start| word.starts_with(start))
            || word.starts_with("/proc/") && word.ends_with("/environ")
            || word.rsplit('/').next() == Some(".env")
    };
    match name {
        "printenv" => {
            return args.iter().all(|word| word.starts_with('-')) || args.iter().any(|word| names_secret(word));
        }
        "echo" | "printf" => return args.iter().any(|word| word.contains('$') && names_secret(word)),
        name if lists(&roles::SHELLS_VARIABLES, name) => {
            let is_plain = |word: &&str| word.starts_with('-') || name == "env" && word.contains('=');
            if args.iter().all(is_plain) {
                return true;
            }
        }
        _ => {}
    }
    let Some(entry) = programs::embedded(name) else { return false };
    let line = programs::parse(entry, args);
    match line.command {
        Some(start) => shows(args.get(start..).unwrap_or_default(), depth),
        None => line.uses.iter().any(|used| {
            let reads = matches!(used.takes, Some(Use::Read) | None);
            reads && args.get(used.word).and_then(|word| word.get(used.start..)).is_some_and(|word| is_file(&word))
        }),
    }
}

fn is_shell(name: &str) -> bool {
    lists(&roles::SHELLS_COMMON, name)
}

/// Whether the name of a variable says that it holds a secret.
fn names_secret(word: &str) -> bool {
    SECRET_NAMES.iter().any(|part| word.to_ascii_uppercase().contains(part))
}
