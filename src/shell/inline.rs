//! Code in other languages on a command line: calls in it that run, delete, write or send.
//!
//! This is not a parser of these languages. It finds calls by name with literal arguments, which is what people and agents
//! write on a command line. A call with computed arguments becomes a command with unknown arguments.

mod call;
mod sed;
mod token;

use super::Arg;
use crate::verdict::limits::{Meter, SHELL_COMMANDS};
use std::collections::HashSet;

/// A language whose code can be on a command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Language {
    Awk,
    Elixir,
    Lua,
    Node,
    Perl,
    Php,
    Python,
    Ruby,
    Sed,
}

/// The equivalent of a call in terms of the shell.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Call {
    /// A program with its arguments; an unknown word is `None`.
    Command(Vec<Option<String>>),
    /// Shell text.
    Text(String),
}

impl Call {
    fn from_words(words: &[&str]) -> Call {
        Call::Command(words.iter().map(|word| Some((*word).to_owned())).collect())
    }
}

impl Language {
    /// Returns the language that a program interprets.
    pub fn from_program(program: &str) -> Option<Language> {
        let base = program.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
        Some(match base {
            "awk" | "gawk" | "mawk" | "nawk" => Language::Awk,
            "elixir" | "iex" => Language::Elixir,
            "lua" | "luajit" => Language::Lua,
            "node" | "nodejs" | "deno" | "tsx" | "ts-node" | "bun" => Language::Node,
            "perl" => Language::Perl,
            "php" => Language::Php,
            "python" | "pypy" | "ipython" => Language::Python,
            "ruby" | "irb" => Language::Ruby,
            "sed" | "gsed" => Language::Sed,
            _ => return None,
        })
    }

    /// Returns the code among the arguments of an interpreter.
    pub fn inline_code(self, args: &[Arg]) -> Option<Vec<String>> {
        let flags = match self {
            Language::Python => "c",
            Language::Elixir | Language::Lua => "e",
            Language::Node => "ep",
            Language::Perl => "eE",
            Language::Ruby => "e",
            Language::Php => "rBRE",
            Language::Sed => "e",
            Language::Awk => "",
        };
        let long = ["--eval", "--print", "--expression", "--run", "eval"];
        let mut texts = Vec::new();
        let mut args = args.iter();
        let mut operand = None;
        let mut file = false;
        while let Some(arg) = args.next() {
            let text = arg.text.as_str();
            if let Some((_, value)) = text.split_once('=').filter(|(name, _)| long.contains(name)) {
                texts.push(value.to_owned());
            } else if long.contains(&text) {
                texts.extend(args.next().map(|code| code.text.to_string()));
            } else if text.starts_with('-') && !text.starts_with("--") && text.len() > 1 {
                let letters: Vec<char> = text.chars().skip(1).collect();
                match letters.iter().position(|letter| flags.contains(*letter)) {
                    // Python takes the rest of the word; others take the next word at the end of a cluster.
                    Some(at) if at + 1 < letters.len() && self.attaches(&letters, at) => {
                        texts.push(letters.iter().skip(at + 1).collect());
                    }
                    Some(_) => texts.extend(args.next().map(|code| code.text.to_string())),
                    None => {
                        let takes = self.takes_next(&letters);
                        file |= takes && letters.last() == Some(&'f');
                        if takes {
                            args.next();
                        }
                    }
                }
            } else if !text.starts_with("--") && operand.is_none() {
                operand = Some(text.to_owned());
            }
        }
        let bare = matches!(self, Language::Awk | Language::Sed) && texts.is_empty() && !file;
        texts.extend(operand.filter(|_| bare));
        (!texts.is_empty()).then_some(texts)
    }

    /// Whether the letters after the flag at `at` are its value and not more flags.
    fn attaches(self, letters: &[char], at: usize) -> bool {
        match self {
            Language::Python | Language::Php | Language::Sed | Language::Awk => true,
            Language::Node => false,
            // `perl -e'code'` or `perl -en`: code is longer than a few flags.
            Language::Perl | Language::Ruby | Language::Elixir | Language::Lua => letters.len() > at + 3,
        }
    }

    /// Whether a cluster of flags takes the next word as its value.
    fn takes_next(self, letters: &[char]) -> bool {
        let valued = match self {
            Language::Awk => "Ffv",
            Language::Sed => "fl",
            Language::Python => "WXm",
            Language::Node => "r",
            Language::Perl | Language::Ruby | Language::Php | Language::Elixir | Language::Lua => "",
        };
        letters.last().is_some_and(|letter| letters.len() == 1 && valued.contains(*letter))
    }

    /// Whether an option names standard input as the file of the program: `awk -f -`.
    pub fn reads_program(self, args: &[Arg]) -> bool {
        let pairs = args.iter().zip(args.iter().skip(1));
        matches!(self, Language::Awk | Language::Sed)
            && pairs.into_iter().any(|(option, file)| matches!(option.text.as_str(), "-f" | "--file") && is_stdin(file))
    }

    /// Whether an interpreter with these arguments reads its program from standard input.
    pub fn reads_input(self, args: &[Arg]) -> bool {
        let mut operands = args.iter().filter(|arg| !arg.text.starts_with('-') || arg.text == "-");
        let operand = operands.find(|arg| arg.text != "run");
        !matches!(self, Language::Awk | Language::Sed) && operand.is_none_or(is_stdin)
    }
}

/// Returns the different calls in a piece of code that run, delete, write or send.
pub(super) fn calls(language: Language, code: &str, meter: &Meter) -> Vec<Call> {
    meter.charge(code.len() / 2);
    if language == Language::Sed { distinct(sed::calls(code), meter) } else { call::calls(language, code, meter) }
}

/// Removes repeated calls. All calls of a piece of code run in the same place, so a repetition adds nothing to judge, but it
/// counts for the limit.
fn distinct(mut calls: Vec<Call>, meter: &Meter) -> Vec<Call> {
    if calls.len() > SHELL_COMMANDS.most {
        meter.report(&SHELL_COMMANDS);
    }
    let mut seen = HashSet::with_capacity(calls.len().min(64));
    calls.retain(|call| !seen.contains(call) && seen.insert(call.clone()));
    calls
}

fn is_stdin(file: &Arg) -> bool {
    matches!(file.text.as_str(), "-" | "/dev/stdin" | "/dev/fd/0")
}
