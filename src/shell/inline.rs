//! Code in other languages on a command line: calls in it that run, delete, write or send.
//!
//! This is not a parser of these languages. It finds calls by name (`call`) with arguments that it can evaluate (`value`), and
//! strings that may be used in a way that no known call shows (`literals`). A computed argument becomes an unknown word.

mod call;
mod carried;
mod decode;
mod editor;
mod escapes;
mod expression;
mod folds;
mod known_values;
mod lexis;
mod listing;
mod literals;
mod mentioned;
mod mutation;
mod other;
mod paths;
mod sed;
mod sql;
mod strings;
mod token;
mod value;
mod words;

pub(super) use words::{is_command_line, is_remover, serious_program};

use super::{Arg, Command};
use crate::programs::code::{self, lists};
use crate::programs::{Use, WordUse};
use crate::verdict::limits::{Meter, SHELL_COMMANDS};
use lexis::Reading;
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
    /// Lisp, Scheme and Clojure: calls are lists.
    Lisp,
    /// A shell of a database that reads SQL.
    Sql,
    /// Any other language: only literals and well-known words are looked at.
    Other,
    /// The same for a file that the line writes, in a compiled language or with settings.
    Source,
}

/// A word of a command.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Word {
    pub text: String,
    /// The length of the known prefix, or `None` if all of the text is known.
    pub known: Option<usize>,
}

impl Word {
    fn known(text: &str) -> Word {
        Word { text: text.to_owned(), known: None }
    }

    fn unknown() -> Word {
        Word { text: "$()".to_owned(), known: Some(0) }
    }

    fn is_unknown(&self) -> bool {
        self.known == Some(0)
    }
}

/// What code does, in terms of the shell. In shell text, `$1` is a value that is not known.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Call {
    /// A program that the code runs, with its arguments.
    Run(Vec<Word>),
    /// A program that does the same as a function of a library.
    Same(Vec<Word>),
    /// Shell text that the code runs.
    Text(String),
    /// Shell text that the code contains, and may run.
    Loose(String),
}

impl Call {
    fn same(words: &[&str]) -> Call {
        Call::Same(words.iter().map(|word| Word::known(word)).collect())
    }

    /// Code that is fetched from an address and run.
    fn fetched_code(address: &str) -> Call {
        Call::Text(format!("curl {} | sh", super::quote_word(address)))
    }

    /// A program that is not known.
    fn unknown() -> Call {
        Call::Run(vec![Word::unknown()])
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
            "python" | "py" | "pypy" | "ipython" => Language::Python,
            "ruby" | "irb" | "pry" => Language::Ruby,
            "sed" | "gsed" => Language::Sed,
            _ => return None,
        })
    }

    /// The program that runs code which names its interpreter.
    pub(super) fn program(self) -> &'static str {
        match self {
            Language::Node => "node",
            Language::Php => "php",
            Language::Ruby => "ruby",
            Language::Perl => "perl",
            Language::Lua => "lua",
            Language::Elixir => "elixir",
            Language::Awk
            | Language::Python
            | Language::Sed
            | Language::Lisp
            | Language::Sql
            | Language::Other
            | Language::Source => "python3",
        }
    }

    /// Whether calls of the language are known by name.
    fn is_searched(self) -> bool {
        !matches!(self, Language::Other | Language::Source | Language::Lisp | Language::Sql)
    }

    /// Tells languages apart.
    pub fn name(self) -> &'static str {
        match self {
            Language::Awk => "awk",
            Language::Elixir => "elixir",
            Language::Lua => "lua",
            Language::Node => "node",
            Language::Perl => "perl",
            Language::Php => "php",
            Language::Python => "python",
            Language::Ruby => "ruby",
            Language::Sed => "sed",
            Language::Lisp => "lisp",
            Language::Sql => "sql",
            Language::Other => "other",
            Language::Source => "source",
        }
    }

    /// The language of this name in the catalogue.
    pub fn from_name(name: &str) -> Language {
        match name {
            "lisp" | "scheme" | "clojure" => Language::Lisp,
            "psql" | "mysql" | "sqlite" | "sql" => Language::Sql,
            "mongo" => Language::Node,
            _ => Language::from_program(name).unwrap_or(Language::Other),
        }
    }

    /// Returns the texts among the arguments of an interpreter that are code.
    pub fn inline_code(self, args: &[Arg]) -> Vec<String> {
        let flags = match self {
            Language::Python => "c",
            Language::Elixir | Language::Lua => "e",
            Language::Node => "ep",
            Language::Perl => "eE",
            Language::Ruby => "e",
            Language::Php => "rBRE",
            Language::Sed => "e",
            Language::Awk | Language::Lisp | Language::Sql | Language::Other | Language::Source => "",
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
            } else if let Some(code) = perl_module_code(text).filter(|_| self == Language::Perl) {
                texts.push(code.to_owned());
            } else if text.starts_with('-') && !text.starts_with("--") && text.len() > 1 {
                // What follows a letter with a value of its own is that value: `-ropen3`, `-MFile::Path`.
                let perl = if self == Language::Perl { "MmIFDCx" } else { "" };
                let valued = if self == Language::Ruby { "rIECFKWTx" } else { perl };
                let letters: Vec<char> = text.chars().skip(1).take_while(|letter| !valued.contains(*letter)).collect();
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
        let bare = self.is_filter() && texts.is_empty() && !file;
        texts.extend(operand.filter(|_| bare));
        if texts.len() < 2 {
            return texts;
        }
        let whole = texts.join("\n");
        match self {
            // `-e A -e B` is one program.
            Language::Awk | Language::Perl | Language::Ruby | Language::Sed => vec![whole],
            // A string that is open at the end of one text says nothing about the next one, but variables are shared.
            Language::Elixir
            | Language::Lua
            | Language::Node
            | Language::Php
            | Language::Python
            | Language::Lisp
            | Language::Sql
            | Language::Other
            | Language::Source => texts.into_iter().chain([whole]).collect(),
        }
    }

    /// Whether the letters after the flag at `at` are its value and not more flags.
    fn attaches(self, letters: &[char], at: usize) -> bool {
        match self {
            Language::Python | Language::Php | Language::Sed | Language::Awk => true,
            Language::Node | Language::Lisp | Language::Sql | Language::Other | Language::Source => false,
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
            Language::Perl
            | Language::Ruby
            | Language::Php
            | Language::Elixir
            | Language::Lua
            | Language::Lisp
            | Language::Sql
            | Language::Other
            | Language::Source => "",
        };
        letters.last().is_some_and(|letter| letters.len() == 1 && valued.contains(*letter))
    }

    /// Whether an option names standard input as the file of the program: `awk -f -`.
    pub fn reads_program(self, args: &[Arg]) -> bool {
        let pairs = args.iter().zip(args.iter().skip(1));
        self.is_filter()
            && pairs.into_iter().any(|(option, file)| matches!(option.text.as_str(), "-f" | "--file") && is_stdin(file))
    }

    /// Whether an interpreter with these arguments shows a prompt, which reads its input also behind the code of an option.
    pub fn prompts(self, args: &[Arg]) -> bool {
        args.iter().take_while(|arg| arg.text != "--").any(|arg| is_prompt_option(self, &arg.text))
            || args.windows(2).any(|pair| matches!(pair, [option, module] if option.text == "-m" && lists(&code::PROMPTS_MODULES, &module.text)))
    }

    /// Whether an interpreter of the language reads its program from standard input: it is given no file, or standard input
    /// as one. What a verb such as `python3 -m x` reads is data.
    pub fn reads_input(self, command: &Command) -> bool {
        let Some(line) = command.parsed.as_deref().filter(|_| self.is_searched() && !self.is_filter()) else {
            return false;
        };
        if self.prompts(&command.args) {
            return true;
        }
        let is_file = |used: &&WordUse| match used.takes {
            Some(Use::Execute) => !used.by_option || matches!(used.option, None | Some("-f" | "--file")),
            _ => !used.by_option,
        };
        // `php -- a`: what follows is for the program.
        let end = command.args.iter().position(|arg| self == Language::Php && arg.text == "--");
        let mut files = line.uses.iter().filter(is_file).filter(|used| end.is_none_or(|end| used.word < end));
        match files.next().and_then(|used| command.value(used)) {
            Some(file) => is_stdin(&file),
            None => line.path.len() == 1 && line.command.is_none(),
        }
    }

    /// Whether its programs are filters, which are given on the command line.
    fn is_filter(self) -> bool {
        matches!(self, Language::Awk | Language::Sed)
    }
}

/// Returns the different calls in a piece of code that run, delete, write or send.
pub(super) fn calls(language: Language, text: &str, meter: &Meter) -> Vec<Call> {
    meter.charge(text.len() / 2);
    match language {
        Language::Sed => distinct(sed::calls(text), meter),
        Language::Other | Language::Source | Language::Lisp | Language::Sql => {
            let usual = token::tokens(language, text, Reading::Usual);
            let mut calls = literals::calls(&expression::Code::new(language, &usual, meter));
            if lexis::is_doubtful(language, text) {
                meter.charge(text.len());
                let flat = token::doubtful_tokens(language, text, meter);
                if flat != usual {
                    let found = literals::calls(&expression::Code::new(language, &flat, meter));
                    calls.extend(found.into_iter().filter(mentioned::is_command));
                    for text in mentioned::other_strings(&usual, &flat) {
                        meter.charge(text.len());
                        let tokens = token::tokens(language, &text, Reading::Usual);
                        let found = literals::calls(&expression::Code::new(language, &tokens, meter));
                        calls.extend(found.into_iter().filter(mentioned::is_command));
                    }
                }
            }
            if language == Language::Sql {
                calls.extend(sql::composed(text));
                calls.extend(sql::joined_paths(text));
            }
            // `!x` at the beginning of a line is no escape in a compiled language.
            let escapes = if language == Language::Source { Vec::new() } else { escapes::escapes(text, meter) };
            for escape in escapes {
                match escape {
                    escapes::Escape::Call(call) => calls.push(call),
                    escapes::Escape::Code(language, text) => calls.extend(call::calls(language, &text, meter)),
                }
            }
            distinct(calls, meter)
        }
        Language::Awk
        | Language::Elixir
        | Language::Lua
        | Language::Node
        | Language::Perl
        | Language::Php
        | Language::Python
        | Language::Ruby => call::calls(language, text, meter),
    }
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

/// The code behind the module that an option of Perl loads: `-M'strict;code'`.
fn perl_module_code(option: &str) -> Option<&str> {
    let module = option.strip_prefix("-M").or_else(|| option.strip_prefix("-m"))?;
    module.split_once([';', '\n']).map(|(_, code)| code)
}

/// Whether an option opens a prompt: `python3 -i -c x`.
fn is_prompt_option(language: Language, option: &str) -> bool {
    let clustered = option.starts_with('-') && !option.starts_with("--") && option.contains('i') && option.len() < 4;
    match language {
        Language::Python => clustered && !option.contains('W'),
        Language::Node | Language::Lua => matches!(option, "-i" | "--interactive"),
        Language::Php => option == "-a",
        Language::Awk
        | Language::Elixir
        | Language::Perl
        | Language::Ruby
        | Language::Sed
        | Language::Lisp
        | Language::Sql
        | Language::Other
        | Language::Source => false,
    }
}

/// Whether code may evaluate what it reads: it opens a prompt, or evaluates a value.
pub(super) fn obeys_input(code: &str) -> bool {
    let has = |list: &[&str]| list.iter().any(|text| code.contains(text));
    has(&code::PROMPTS_CALLS) || has(&code::PROMPTS_STREAMS) && has(&code::PROMPTS_LOADS)
}

fn is_stdin(file: &Arg) -> bool {
    matches!(file.text.as_str(), "-" | "/dev/stdin" | "/dev/fd/0")
}
