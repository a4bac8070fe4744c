//! Command lines in the values of variables and settings: `CC='rm -rf x' make`, `cmake -DX=…`, `npm pkg set scripts.test=…`.
//! Which program runs which value is not known for all of them, so a value that reads as a command line is judged as one.

use super::deferred::{Deferred, DeferredText, extend_via};
use super::{Evaluator, is_builtin};
use crate::programs::code::lists;
use crate::programs::{self, Does, Use, roles};
use crate::shell::syntax::{Instruction, Scope, ScriptLanguage, WordPart};
use crate::shell::wrappers::{self, quoted};
use crate::shell::{Command, canonical, parse};
use crate::verdict::limits::Meter;

/// Characters in front of a command in a value that many programs run: `!x`, `|x`.
const MARKS: [char; 5] = ['!', '|', '@', ' ', '\t'];

/// What parsing a byte of a value costs in steps.
const PARSE_STEPS: usize = 10;

/// Words of the shell that stand in front of a command.
const KEYWORDS: [&str; 10] = ["!", "do", "elif", "else", "eval", "exec", "if", "then", "until", "while"];

impl Evaluator<'_> {
    /// Adds the values of a command that read as command lines.
    pub(super) fn add_value_lines(&mut self, command: &Command, deferred: &mut Deferred) {
        let exports = command.program == "export";
        if is_builtin(&command.program) && !exports || wrappers::container(command).is_some() {
            return;
        }
        let mut values: Vec<String> = command.env.iter().filter_map(|(_, value)| value.clone()).collect();
        if exports || !lists(&roles::VALUES_ELSEWHERE, &command.program) {
            values.extend(settings(command));
        }
        let mut context = command.inner_base();
        context.hidden = false;
        context.env.clear();
        context.via = extend_via(command.via.clone(), &command.program);
        for value in values {
            // It is searched, and then parsed.
            self.meter.charge(2 * value.len());
            for text in command_lines(&value, &self.meter) {
                deferred.texts.push(DeferredText {
                    text,
                    language: ScriptLanguage::Bash,
                    in_shell: false,
                    context: context.clone(),
                    parameters: None,
                    alias: None,
                });
            }
        }
    }
}

/// Whether the catalogue says that a command changes nothing and runs nothing.
fn only_looks(command: &Command) -> bool {
    let looks = |line: &programs::CommandLine| line.does == Some(Does::Look) && line.language().is_none();
    !lists(&roles::VALUES_MAKERS, &command.program) && command.parsed.as_deref().is_some_and(looks)
}

/// The values of the words `name=value` and of those that begin with a mark, unless the catalogue knows them as code or text.
fn settings(command: &Command) -> Vec<String> {
    let line = command.parsed.as_deref();
    let is_known = |word: usize| {
        let uses = line.map(|line| line.uses_of(word)).unwrap_or_default();
        uses.iter()
            .any(|used| matches!(used.takes, Some(Use::Code | Use::Text | Use::Run | Use::Send | Use::To | Use::From)))
    };
    let is_behind = |word: usize| line.and_then(|line| line.command).is_some_and(|start| word >= start);
    let words = command.args.iter().enumerate();
    let words = words.filter(|(word, arg)| arg.is_known() && !is_known(*word) && !is_behind(*word));
    let looks = only_looks(command);
    let value = |(word, text): (usize, &str)| -> Option<String> {
        if text.contains("unixexec:") || text.starts_with(['!', '|']) && !looks {
            return Some(text.to_owned());
        }
        let (name, value) = text.split_once('=')?;
        let before =
            word.checked_sub(1).and_then(|before| command.args.get(before)).map_or("", |arg| arg.text.as_str());
        // What only looks at files takes settings from its options.
        let is_set = !looks || before == "--config" || name.starts_with("--") && !is_text(name);
        (is_key(name) && is_set).then(|| value.to_owned())
    };
    words.filter_map(|(word, arg)| value((word, arg.text.as_str()))).collect()
}

/// Whether the name of an option says that its value is compared or shown.
fn is_text(name: &str) -> bool {
    roles::VALUES_TEXT_OPTIONS.iter().any(|part| name.contains(part))
}

fn is_key(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || "_.:-[]+".contains(c))
}

/// The command lines that a value may be, in the notations of shells, lists, make, JSON and D-Bus.
fn command_lines(value: &str, meter: &Meter) -> Vec<String> {
    if let Some(text) = bus_command(value) {
        return vec![text];
    }
    if !value.contains([' ', '\t', ';', '\n', '`']) && !value.contains("$(") && !value.contains("${IFS}") {
        return Vec::new();
    }
    let plain = value.replace("$$", "$").replace("$(shell", "$(");
    let mut found: Vec<String> = shell_text(&plain, meter).into_iter().collect();
    // A list of CMake.
    let words: Vec<&str> = value.split(';').collect();
    let first = words.first().copied().unwrap_or_default();
    if starts_command(first) && (words.len() > 2 && is_program(first) || words.len() > 1 && !value.contains(' ')) {
        found.push(words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" "));
    }
    // A list of JSON.
    if let Some(list) = value.trim().strip_prefix("[\"").and_then(|list| list.strip_suffix(']')) {
        found.push(format!("\"{}", list.replace("\",\"", "\" \"").replace("\", \"", "\" \"")));
    }
    // `testenv.commands=…`
    if let Some((_, inner)) = value.split_once('=').filter(|(name, _)| is_key(name)) {
        found.extend(shell_text(inner, meter));
    }
    found
}

/// A value as shell text, if a command of the catalogue begins in it. Words in front of it are options of another program.
fn shell_text(value: &str, meter: &Meter) -> Option<String> {
    let value = value.trim_start_matches(MARKS);
    let begins = |part: &str| {
        let mut words = part.split([' ', '\t', '\n']).filter(|word| !word.is_empty() && !KEYWORDS.contains(word));
        words.next().is_some_and(starts_command)
    };
    if begins(value) {
        return Some(value.to_owned());
    }
    // Redirections and assignments may stand before the name of a program, and quotes around parts of it.
    if !meter.try_charge(PARSE_STEPS * value.len()) {
        return Some(value.to_owned());
    }
    let script = parse::parse(value, meter);
    let programs = programs_of(&script.instructions);
    if script.errors.is_empty() && programs.iter().any(|(_, program)| starts_command(program)) {
        let first = programs.iter().find(|(is_inner, _)| !is_inner);
        let begins = first.is_some_and(|(_, program)| starts_command(program));
        return Some(if begins { value.to_owned() } else { format!(": {value}") });
    }
    let mut parts = value.split([';', '|', '&', '`', '(', '{', '\n']).skip(1);
    parts.any(begins).then(|| format!(": {value}"))
}

/// The first words of simple commands, as far as they are literal, and whether the command stands in a word of another.
fn programs_of(instructions: &[Instruction]) -> Vec<(bool, String)> {
    let literal = |part: &WordPart| match part {
        WordPart::Plain(text) | WordPart::Quoted(text) => Some(text.to_string()),
        WordPart::Variable(_)
        | WordPart::Output { .. }
        | WordPart::List(_)
        | WordPart::Arithmetic { .. }
        | WordPart::Unknown { .. } => None,
    };
    let is_word = |scope: &Scope| matches!(scope, Scope::Substitution(_) | Scope::InputProcess | Scope::OutputProcess);
    let mut found = Vec::new();
    // For each open list, whether it stands in a word.
    let mut open: Vec<bool> = Vec::new();
    for instruction in instructions {
        match instruction {
            Instruction::Open(scope) => open.push(is_word(scope) || open.last() == Some(&true)),
            Instruction::Close => drop(open.pop()),
            Instruction::Simple(command) => {
                let program = command.words.first().map(|word| word.parts.iter().map_while(literal).collect());
                found.extend(program.map(|program| (open.last() == Some(&true), program)));
            }
            Instruction::Redirects(_)
            | Instruction::Pipe
            | Instruction::And
            | Instruction::Or
            | Instruction::End
            | Instruction::Background
            | Instruction::LoopVariable(_)
            | Instruction::Arithmetic(_)
            | Instruction::Backquoted(_) => {}
        }
    }
    found
}

/// Whether a word begins with the name of a program: `rm`, `rm${IFS}-rf`, `/bin/rm`.
fn starts_command(word: &str) -> bool {
    is_program(word.split('$').next().unwrap_or_default())
}

fn is_program(word: &str) -> bool {
    let name = canonical::program_name(word);
    !name.is_empty() && (programs::embedded(name).is_some() || matches!(name, ":" | "eval" | "exec" | "." | "source"))
}

/// The command of an address of D-Bus: `unixexec:path=/bin/sh,argv1=-c`.
fn bus_command(value: &str) -> Option<String> {
    let (_, rest) = value.split_once("unixexec:")?;
    let decoded = |text: &str| {
        let mut parts = text.split('%');
        let first = parts.next().unwrap_or_default().to_owned();
        parts.fold(first, |text, part| {
            let code = part.get(..2).and_then(|digits| u8::from_str_radix(digits, 16).ok());
            match code {
                Some(code) => text + &char::from(code).to_string() + part.get(2..).unwrap_or_default(),
                None => text + "%" + part,
            }
        })
    };
    let pairs = rest.split([',', ';']).filter_map(|pair| pair.split_once('='));
    let words = pairs.filter(|(name, _)| *name == "path" || name.starts_with("argv") && *name != "argv0");
    Some(words.map(|(_, word)| quoted(&decoded(word))).collect::<Vec<_>>().join(" "))
}
