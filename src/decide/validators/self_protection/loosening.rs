//! The guard's own verbs that loosen it, under its name, under others, and behind programs that run or type their arguments.

use super::super::Context;
use super::super::unknown_executable::is_known;
use super::file_name;
use crate::shell::{Arg, Command};

/// Verbs of the guard that loosen it.
const LOOSENING: [&[&str]; 12] = [
    &["hooks", "uninstall"],
    &["hooks", "install"],
    &["policy", "update"],
    // What it writes takes the place of the defaults of every later version.
    &["policy", "install"],
    &["mcp", "approve"],
    &["mcp", "unblock"],
    &["mcp", "import"],
    &["mcp", "probe"],
    &["mcp", "wrap"],
    &["taint", "clear"],
    &["quarantine", "clear"],
    &["receipts", "key", "rotate"],
];

/// The nouns of the loosening verbs.
const NOUNS: &[&str] = &["hooks", "mcp", "policy", "quarantine", "receipts", "taint"];

/// Options of the loosening verbs.
const OPTIONS: &[&str] = &[
    "--client", "--client-dir", "--config-dir", "--data-dir", "--hash", "--preset", "--scope", "--session",
    "--settings", "--state-dir", "--yes",
];

/// Programs that print or search words, or name files by them: what they are told is not run.
const DATA: &[&str] = &[
    "ag", "alias", "cat", "cd", "cp", "diff", "echo", "egrep", "fgrep", "find", "git", "grep", "head", "less", "ls",
    "man", "mkdir", "mv", "printf", "rg", "tail", "touch", "wc", "which",
];

/// Programs that type text into a terminal.
const TYPISTS: &[&str] =
    &["expect", "kitten", "kitty", "osascript", "screen", "wezterm", "wtype", "xdotool", "ydotool", "zellij"];

/// A word of a command line, as far as it is known.
#[derive(Clone, Copy)]
struct Word<'a> {
    text: &'a str,
    /// What it begins with, where not all of it is known.
    unknown_behind: Option<&'a str>,
}

impl<'a> Word<'a> {
    fn of(arg: &'a Arg) -> Self {
        let prefix = arg.prefix();
        let plain = if arg.glob { prefix.split(['*', '?', '[']).next().unwrap_or_default() } else { prefix };
        Word { text: &arg.text, unknown_behind: (arg.glob || !arg.is_known()).then_some(plain) }
    }

    fn known(text: &'a str) -> Self {
        Word { text, unknown_behind: None }
    }

    fn is(self, text: &str) -> bool {
        self.unknown_behind.is_none() && self.text == text
    }

    fn is_option(self) -> bool {
        self.text.starts_with('-')
    }

    /// Whether it is one of the guard's options, with or without its value.
    fn is_own_option(self) -> bool {
        self.is_option() && OPTIONS.contains(&self.text.split('=').next().unwrap_or_default())
    }
}

fn operands<'a>(words: &[Word<'a>]) -> impl Iterator<Item = Word<'a>> {
    words.iter().copied().filter(|word| !word.is_option())
}

/// A loosening verb at the beginning of the operands.
enum Verb {
    Known(&'static [&'static str]),
    /// A word that is only known when it runs may make it one, alone or as several.
    Possible,
}

/// The first word of a verb that may be unknown.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Unknown {
    Noun,
    Verb,
    None,
}

impl Verb {
    fn find(words: &[Word<'_>], unknown: Unknown) -> Option<Verb> {
        let mut operands = operands(words);
        let found = [operands.next(), operands.next(), operands.next()];
        LOOSENING.iter().find_map(|verb| {
            for (at, (expected, word)) in verb.iter().zip(found).enumerate() {
                let word = word?;
                let allowed = if at == 0 { unknown == Unknown::Noun } else { unknown <= Unknown::Verb };
                match word.unknown_behind {
                    Some(prefix) if allowed && expected.starts_with(prefix) => return Some(Verb::Possible),
                    None if word.text == *expected => {}
                    Some(_) | None => return None,
                }
            }
            Some(Verb::Known(verb))
        })
    }
}

/// Whether `rune` with these arguments loosens the guard.
pub(super) fn is_loosened_by_guard(command: &Command) -> bool {
    let words: Vec<Word<'_>> = command.args.iter().map(Word::of).collect();
    loosens(&words, Unknown::Noun)
}

fn loosens(words: &[Word<'_>], unknown: Unknown) -> bool {
    let has = |option: &str| words.iter().any(|word| word.is(option));
    let begins_with = |verb: &str| operands(words).next().is_some_and(|word| word.is(verb));
    match Verb::find(words, unknown) {
        Some(Verb::Possible) => true,
        Some(Verb::Known(verb)) => !only_shows(verb, words),
        // A call that nobody made, and a receipt for it.
        None if begins_with("hook") => !has("--dry-run") && !has("--help"),
        // Its pages may lie where a link to the settings does.
        None => begins_with("man") && words.iter().any(|word| word.text.to_ascii_lowercase().contains("--out")),
    }
}

/// Whether a loosening verb only prints its help or what it would change.
fn only_shows(verb: &[&str], words: &[Word<'_>]) -> bool {
    // What stands behind `--` is an operand.
    let mut options = words.iter().take_while(|word| !word.is("--"));
    match verb {
        // The command that it wraps may have these options too.
        ["mcp", "wrap"] => false,
        ["hooks", _] => options.any(|word| word.is("--dry-run") || word.is("--help") || word.is("-h")),
        // It writes to the directory of its data for a moment, which is to be its own.
        ["policy", _] if !words.iter().any(|word| word.is_own_option() || word.unknown_behind.is_some()) => {
            options.any(|word| word.is("--dry-run") || word.is("--help") || word.is("-h"))
        }
        _ => options.any(|word| word.is("--help") || word.is("-h")),
    }
}

/// Whether a program that is not called `rune` loosens the guard: a copy of it, or one that runs or types what it is told.
pub(super) fn is_loosened_by_another(name: &str, command: &Command, context: &Context<'_>) -> bool {
    let is_ours = |text: &str| NOUNS.contains(&text) || file_name(text) == "rune";
    let typist = TYPISTS.contains(&name);
    // A program by its path may be a copy of the guard, whatever its name: those of the system stand here without one.
    let data = DATA.contains(&command.program.as_str());
    // Most commands hold none of these words.
    if data || !typist && !command.args.iter().any(|arg| is_ours(&arg.text)) {
        return false;
    }
    let words: Vec<Word<'_>> = command.args.iter().map(Word::of).collect();
    is_by_another_name(&command.program, &words, context) || is_wrapped(&words) || typist && is_typed(&words)
}

/// The guard's own loosening words, given to a program of any name: it may be a copy of the guard.
fn is_by_another_name(program: &str, words: &[Word<'_>], context: &Context<'_>) -> bool {
    // A program by its path may be anything. One by its name is what everybody knows by that name.
    let by_path = program.contains('/');
    let unknown = if by_path { Unknown::Verb } else { Unknown::None };
    let Some(verb) = Verb::find(words, unknown) else { return false };
    let options = Options::of(words);
    match verb {
        Verb::Known(verb) if only_shows(verb, words) => false,
        _ if by_path => is_copy(&verb, words, &options),
        // Nobody else has these presets.
        Verb::Known(["hooks", "install"]) => options.mild_preset,
        Verb::Known(verb) => is_certain(verb, &options) && !is_known(program, context),
        Verb::Possible => false,
    }
}

/// Whether a program by its path, given this verb, is taken for a copy of the guard. Other programs have verbs of the same
/// name, so what the guard alone has must follow.
fn is_copy(verb: &Verb, words: &[Word<'_>], options: &Options) -> bool {
    let Verb::Known(verb) = verb else { return true };
    let operand = || operands(words).nth(verb.len());
    match verb {
        ["hooks", "uninstall"] | ["receipts", ..] => true,
        ["hooks", "install"] => options.mild_preset,
        ["mcp", "approve" | "unblock"] => options.own || options.all || operand().is_some(),
        ["mcp", "import"] => options.server,
        ["mcp", "wrap"] => options.wraps,
        // What is unknown may be an option.
        _ => options.own || operand().is_some_and(|word| word.unknown_behind.is_some()),
    }
}

/// Which of the guard's options a command line has. They are looked for once: a line may name thousands of programs.
#[derive(Default)]
struct Options {
    own: bool,
    all: bool,
    server: bool,
    wraps: bool,
    mild_preset: bool,
}

impl Options {
    fn of(words: &[Word<'_>]) -> Options {
        let mild = |preset: &str| matches!(preset, "off" | "gentle");
        let mut options = Options::default();
        for (at, word) in words.iter().enumerate().filter(|(_, word)| word.is_option()) {
            let (name, value) =
                word.text.split_once('=').map_or((word.text, None), |(name, value)| (name, Some(value)));
            let value = || value.or_else(|| words.get(at + 1).map(|next| next.text)).unwrap_or_default();
            options.own |= OPTIONS.contains(&name);
            options.all |= name == "--all";
            options.server |= name == "--server";
            options.wraps |= matches!(name, "--install" | "--uninstall");
            options.mild_preset |= name == "--preset" && mild(value());
        }
        options
    }
}

/// Whether a verb comes with words by which it is the guard's, where everything else about the program is unknown.
fn is_certain(verb: &[&str], options: &Options) -> bool {
    match verb {
        ["hooks", "uninstall"] | ["receipts", ..] => true,
        ["mcp", "approve" | "unblock" | "probe"] | [_, "clear"] => options.own,
        _ => false,
    }
}

/// The guard, or a program by its path with the guard's loosening words, among the arguments of a program that runs others
/// and that the shell reader does not know.
fn is_wrapped(words: &[Word<'_>]) -> bool {
    let is_guard = |word: &Word<'_>| !word.is_option() && file_name(word.text) == "rune";
    let behind = |at: usize| words.get(at + 1..).unwrap_or_default();
    // All that follows is looked at once, behind the first: this stays linear.
    let first = words.iter().position(is_guard);
    let options = Options::of(words);
    first.is_some_and(|at| loosens(behind(at), Unknown::Verb))
        || words.iter().enumerate().any(|(at, word)| {
            let (guard, by_path) = (is_guard(word), word.text.contains('/') && !word.is_option());
            // Whose options follow cannot be told here, so `--dry-run` may be another program's.
            (guard || by_path)
                && Verb::find(behind(at), Unknown::Verb)
                    .is_some_and(|verb| guard || is_copy(&verb, behind(at), &options))
        })
}

/// The guard's loosening words within a text that is typed into a terminal.
fn is_typed(words: &[Word<'_>]) -> bool {
    let is_end = |c: char| c.is_whitespace() || matches!(c, ';' | '&' | '|' | '"' | '\'' | '\\' | '^');
    words.iter().any(|word| {
        let parts = word.text.split(is_end).filter(|part| !part.is_empty());
        is_wrapped(&parts.map(Word::known).collect::<Vec<_>>())
    })
}
