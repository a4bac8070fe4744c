//! The shell text that stands for a file which tools run by themselves, when a tool of the client writes it.

use super::obeyed::{Form, form};
use super::settings;
use crate::encoding::address::Address;
use crate::programs::code::{self, lists};
use crate::programs::roles;
use crate::shell::inline::Language;
use crate::shell::quote_word;
use crate::shell::wrappers::quoted;
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
    let Some((before, behind)) = line.rsplit_once('|') else { return line };
    let mut kept = Vec::new();
    for word in behind.split_whitespace() {
        let word = word.trim_end_matches(['.', ',', ';', ':']);
        kept.push(word);
        if lists(&roles::CODE_PIPED_TO, word) {
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
    let settings = text.lines().filter(|line| !line.trim_start().starts_with(['#', '!']));
    let words = settings.flat_map(|line| line.split(is_end)).map(|word| word.replace('\\', ""));
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

/// Whether a file holds instructions for agents in prose. `CMakeLists.txt` and `debian/rules` are run by tools.
fn is_instructions(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or_default();
    let is_text = name.ends_with(".txt") && !lists(&code::FILES_SETTINGS, name) && !lists(&code::FILES_RECIPES, name);
    is_text
        || name.contains('.') && name.ends_with("rules")
        || [".md", ".mdc", ".mdx"].iter().any(|end| name.ends_with(end))
}

/// A cell of a notebook: Python with lines for the shell (`!ls`), or another language that its first line names.
fn cell(text: &str) -> String {
    let mut text = text.trim_start();
    let mut code = String::new();
    while let Some((magic, body)) = text.strip_prefix("%%").map(|rest| rest.split_once('\n').unwrap_or((rest, ""))) {
        let (name, words) = magic.trim().split_once(char::is_whitespace).unwrap_or((magic.trim(), ""));
        let rest = match name {
            _ if lists(&roles::NOTEBOOKS_SHELLS, name) => Some(body.to_owned()),
            "script" => Some(heredoc(&script_command(words), body)),
            "perl" | "ruby" => Some(here_document(name, body)),
            "javascript" | "js" | "node" => Some(here_document("node", body)),
            "writefile" | "file" => Some(written_file(words, body)),
            _ if lists(&roles::NOTEBOOKS_TEXTS, name) => Some(String::new()),
            // The other ones run the rest of the cell, after the code behind their names.
            _ => None,
        };
        if let Some(rest) = rest {
            return with_python(&code, &rest);
        }
        if lists(&roles::NOTEBOOKS_RUNNERS, name) {
            code.extend([statement(words), "\n"]);
        }
        text = body.trim_start();
    }
    let mut shell = String::new();
    let mut continues = false;
    for line in text.lines() {
        let command = if continues { Some(line.to_owned()) } else { shell_line(line) };
        continues = command.as_ref().is_some_and(|command| command.ends_with('\\'));
        let start = line.trim_start();
        match (command, start.strip_prefix('%').and_then(|magic| magic.split_once(' '))) {
            (Some(command), _) => shell.extend([command.as_str(), "\n"]),
            (None, Some((name, words))) if lists(&roles::NOTEBOOKS_RUNNERS, name) => {
                match shell_line(statement(words)) {
                    Some(command) => shell.extend([command.as_str(), "\n"]),
                    None => code.extend([statement(words), "\n"]),
                }
            }
            (None, _) if start.starts_with('%') => {}
            (None, _) => code.extend([line, "\n"]),
        }
    }
    with_python(&code, &shell)
}

/// Shell text behind Python code.
fn with_python(code: &str, shell: &str) -> String {
    if code.trim().is_empty() { shell.to_owned() } else { here_document("python3", code) + shell }
}

/// The command that a line of a cell gives to the shell: `!ls`, `files = !ls`, `%sx ls`, `%rm x`.
fn shell_line(line: &str) -> Option<String> {
    let start = assigned(line).unwrap_or(line).trim_start();
    if let Some(command) = start.strip_prefix("!!").or_else(|| start.strip_prefix('!')) {
        return Some(command.to_owned());
    }
    let magic = start.strip_prefix('%')?;
    let (name, words) = magic.split_once(char::is_whitespace).unwrap_or((magic, ""));
    if lists(&roles::NOTEBOOKS_SHELLS, name) {
        return Some(words.to_owned());
    }
    lists(&roles::NOTEBOOKS_COMMANDS, name).then(|| magic.to_owned())
}

/// What a line assigns, if that is the output of a command: `x = !ls`, `x=%sx ls`.
fn assigned(line: &str) -> Option<&str> {
    let mut quote = None;
    let mut bytes = line.bytes().enumerate().peekable();
    while let Some((at, byte)) = bytes.next() {
        match (byte, quote) {
            (b'\\', Some(_)) => drop(bytes.next()),
            (b'"' | b'\'', None) => quote = Some(byte),
            (_, Some(open)) if byte == open => quote = None,
            (b'=', None) => {
                let value = line.get(at + 1..).unwrap_or_default().trim_start();
                if value.starts_with(['!', '%']) && !value.starts_with("!=") {
                    return Some(value);
                }
            }
            _ => {}
        }
    }
    None
}

/// The statement behind the options of a magic that runs one: `-n 10 f()`.
fn statement(words: &str) -> &str {
    let mut rest = words.trim_start();
    while rest.starts_with('-') || rest.starts_with(|c: char| c.is_ascii_digit()) {
        rest = rest.split_once(char::is_whitespace).map_or("", |(_, rest)| rest.trim_start());
    }
    rest
}

/// The command of `%%script --bg --out x bash -e` without the options of the magic.
fn script_command(words: &str) -> String {
    let mut words = words.split_whitespace().peekable();
    while let Some(option) = words.next_if(|word| word.starts_with('-')) {
        if lists(&roles::NOTEBOOKS_SCRIPT_VALUES, option) {
            words.next();
        }
    }
    words.collect::<Vec<_>>().join(" ")
}

/// `%%writefile x` and `%%writefile -a x`, as shell text that writes the file. A tilde is the home directory.
fn written_file(words: &str, body: &str) -> String {
    let (operator, file) = match words.trim().strip_prefix("-a ").or_else(|| words.trim().strip_prefix("--append ")) {
        Some(file) => (">>", file.trim()),
        None => (">", words.trim()),
    };
    let file = file.trim_matches(['"', '\'']);
    let file = match file.strip_prefix("~/") {
        Some(rest) => format!("~/{}", quoted(rest)),
        None => quoted(file),
    };
    heredoc(&format!("cat {operator} {file}"), body)
}

/// `program - <<'END'` with the text.
fn here_document(program: &str, text: &str) -> String {
    heredoc(&format!("{program} -"), text)
}

/// `command <<'END'` with the text.
fn heredoc(command: &str, text: &str) -> String {
    // A line of underscores that is longer than any in the text ends it.
    let longest = text.lines().filter(|line| line.bytes().all(|byte| byte == b'_')).map(str::len).max();
    let end = "_".repeat(longest.unwrap_or_default().max(8) + 1);
    let newline = if text.ends_with('\n') { "" } else { "\n" };
    format!("{command} <<'{end}'\n{text}{newline}{end}\n")
}
