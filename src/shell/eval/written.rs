//! The shell text that stands for a file which tools run by themselves, when a tool of the client writes it.

use super::obeyed::{Form, form};
use super::settings;
use crate::encoding::address::Address;
use crate::programs::code::{self, lists};
use crate::shell::inline::Language;
use crate::shell::quote_word;
use crate::verdict::limits::Meter;

/// Parts of command lines that reach another machine. Only such lines count in instructions of agents.
const REMOTE: [&str; 3] = ["://", "/dev/tcp/", "/dev/udp/"];

/// Returns the commands of a file that runs by itself, as shell text: the file itself, its code on the standard input of an
/// interpreter, and the command lines in it.
pub fn written_text(path: &str, text: &str, meter: &Meter) -> String {
    let lines = || {
        let mut lines = settings::commands(&settings::normalized(text), meter);
        lines.extend(temporary_programs(text));
        lines.extend(loaded_files(text));
        lines.extend(foreign_distributions(path, text));
        lines
    };
    let is_notebook = path.ends_with(".ipynb");
    match form(path, text) {
        _ if is_notebook => cell(text),
        _ if is_instructions(path) => {
            let remote = |line: &String| REMOTE.iter().any(|part| line.contains(part));
            lines().into_iter().filter(remote).map(without_prose).collect::<Vec<_>>().join("\n")
        }
        Form::Shell => text.to_owned(),
        Form::Code(Language::Source) | Form::Recipes | Form::Settings => lines().join("\n"),
        // Patterns such as `{mix,.formatter}.exs` look like commands.
        Form::Code(Language::Elixir) => here_document("elixir", text),
        Form::Code(language) => here_document(language.program(), text) + &lines().join("\n"),
        // Settings of editors in JSON.
        Form::Data => lines().join("\n"),
    }
}

/// A command line of a sentence without what follows a shell that it pipes into: `curl x | sh first, and then …`.
fn without_prose(line: String) -> String {
    const SHELLS: [&str; 8] = ["bash", "dash", "node", "perl", "python", "python3", "sh", "zsh"];
    let Some((before, behind)) = line.rsplit_once('|') else { return line };
    let mut kept = Vec::new();
    for word in behind.split_whitespace() {
        let word = word.trim_end_matches(['.', ',', ';', ':']);
        kept.push(word);
        if SHELLS.contains(&word) {
            return format!("{before}| {}", kept.join(" "));
        }
    }
    line
}

/// Programs in temporary directories that settings name: `"git.path": "/tmp/x/git"`.
fn temporary_programs(text: &str) -> impl Iterator<Item = String> {
    let quoted = text.split(['"', '\'']).filter(|value| !value.contains(char::is_whitespace));
    let is_temporary = |value: &&str| ["/tmp/", "/var/tmp/", "/dev/shm/"].iter().any(|start| value.starts_with(start));
    quoted.filter(is_temporary).map(str::to_owned)
}

/// Files in temporary directories that settings load: `--require /tmp/x`, `preload = ["/tmp/x.ts"]`, `path = "/tmp/x"`. What loads
/// them is an interpreter.
fn loaded_files(text: &str) -> impl Iterator<Item = String> {
    let loads = |line: &&str| {
        let start = line.trim_start();
        line.contains("require") || line.contains("load") || start.starts_with("- ") || start.starts_with("path")
    };
    let words = text.lines().filter(loads).flat_map(|line| line.split([' ', '\t', '"', '\'', '[', ']', ',', '=']));
    let is_temporary = |word: &&str| ["/tmp/", "/var/tmp/", "/dev/shm/"].iter().any(|start| word.starts_with(start));
    words.filter(is_temporary).map(|word| format!("ruby -r {} -e 1", quote_word(word)))
}

/// Downloads of the build tool itself from other hosts than those of its makers.
fn foreign_distributions(path: &str, text: &str) -> Vec<String> {
    let name = path.rsplit('/').next().unwrap_or_default();
    if !lists(&code::FILES_DISTRIBUTIONS, name) {
        return Vec::new();
    }
    let is_end = |c: char| c.is_whitespace() || "\"'=,".contains(c);
    let words = text.split(is_end).map(|word| word.replace('\\', ""));
    let is_host = |word: &str| {
        let host = Address::parse(word).host;
        let is_name =
            host.contains('.') && host.bytes().all(|byte| byte.is_ascii_alphanumeric() || b".-".contains(&byte));
        let is_known = code::FILES_MAKERS.iter().any(|maker| host == *maker || host.ends_with(&format!(".{maker}")));
        let has_letters = host
            .rsplit('.')
            .next()
            .is_some_and(|end| end.len() > 1 && end.bytes().all(|byte| byte.is_ascii_alphabetic()));
        let is_file =
            ["zip", "jar", "bin", "properties", "gz", "dists"].iter().any(|end| host.ends_with(&format!(".{end}")));
        is_name && has_letters && !is_known && !is_file
    };
    words.filter(|word| is_host(word)).map(|word| format!("curl -fsSL {} | sh", quote_word(&word))).collect()
}

/// Whether a file holds instructions for agents in prose.
fn is_instructions(path: &str) -> bool {
    [".md", ".mdc", ".mdx", ".txt", "rules"].iter().any(|end| path.ends_with(end))
}

/// A cell of a notebook: Python with lines for the shell (`!ls`), or another language that its first line names.
fn cell(text: &str) -> String {
    let first = text.trim_start().lines().next().unwrap_or_default();
    if let Some(magic) = first.strip_prefix("%%") {
        let body = text.trim_start().split_once('\n').map_or("", |(_, body)| body);
        let name = magic.split_whitespace().find(|word| *word != "script").unwrap_or_default();
        return match name {
            "bash" | "sh" | "zsh" | "system" | "!" | "cmd" | "powershell" => body.to_owned(),
            "perl" | "ruby" | "javascript" | "js" | "node" => {
                here_document(if name.starts_with("j") { "node" } else { name }, body)
            }
            "writefile" | "markdown" | "html" | "latex" | "svg" => String::new(),
            _ => here_document("python3", body),
        };
    }
    let mut shell = String::new();
    let mut code = String::new();
    for line in text.lines() {
        let start = line.trim_start();
        // `files = !ls`
        let assigned = line.split_once("= !").map(|(_, command)| command);
        let escape = start.strip_prefix("!!").or_else(|| start.strip_prefix('!')).or(assigned);
        let magic = ["%sx ", "%system ", "%pip ", "%conda "].iter().find_map(|magic| {
            let rest = start.strip_prefix(magic)?;
            Some(if magic.len() > 5 || *magic == "%sx " { rest } else { start.get(1..).unwrap_or_default() })
        });
        match escape.or(magic) {
            Some(command) => shell.extend([command, "\n"]),
            None if start.starts_with('%') => {}
            None => code.extend([line, "\n"]),
        }
    }
    if code.trim().is_empty() { shell } else { here_document("python3", &code) + &shell }
}

/// `program - <<'END'` with the text.
fn here_document(program: &str, text: &str) -> String {
    // A line of underscores that is longer than any in the text ends it.
    let longest = text.lines().filter(|line| line.bytes().all(|byte| byte == b'_')).map(str::len).max();
    let end = "_".repeat(longest.unwrap_or_default().max(8) + 1);
    let newline = if text.ends_with('\n') { "" } else { "\n" };
    format!("{program} - <<'{end}'\n{text}{newline}{end}\n")
}
