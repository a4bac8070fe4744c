//! Commands of the guard that loosen it: run as `rune`, as a copy with another name, or through another program.

use super::super::Context;
use super::super::unknown_executable::is_known;
use super::file_name;
use crate::programs::code::lists;
use crate::programs::roles;
use crate::shell::{Arg, Command};

/// Subcommands of `rune` that loosen the guard.
const LOOSENING: [&[&str]; 14] = [
    &["allow"],
    &["pause"],
    &["hooks", "uninstall"],
    &["hooks", "install"],
    &["policy", "update"],
    // The installed files override the embedded ones of all later versions.
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

/// First words of these subcommands.
const NOUNS: &[&str] = &["allow", "hooks", "mcp", "pause", "policy", "quarantine", "receipts", "taint"];

/// GuardOptions of these subcommands.
const OPTIONS: &[&str] = &[
    "--client", "--client-dir", "--config-dir", "--data-dir", "--hash", "--preset", "--scope", "--session",
    "--settings", "--state-dir", "--yes",
];

/// A word of a command.
#[derive(Clone, Copy)]
struct ArgText<'a> {
    text: &'a str,
    /// The known prefix, if the word is not known completely.
    known_prefix: Option<&'a str>,
}

impl<'a> ArgText<'a> {
    fn of(arg: &'a Arg) -> Self {
        let prefix = arg.prefix();
        let plain = if arg.glob { prefix.split(['*', '?', '[']).next().unwrap_or_default() } else { prefix };
        ArgText { text: &arg.text, known_prefix: (arg.glob || !arg.is_known()).then_some(plain) }
    }

    fn known(text: &'a str) -> Self {
        ArgText { text, known_prefix: None }
    }

    fn is(self, text: &str) -> bool {
        self.known_prefix.is_none() && self.text == text
    }

    fn is_option(self) -> bool {
        self.text.starts_with('-')
    }

    /// Whether it is an option of a loosening subcommand, with or without `=value`.
    fn is_guard_option(self) -> bool {
        self.is_option() && OPTIONS.contains(&self.text.split('=').next().unwrap_or_default())
    }
}

fn operands<'a>(words: &[ArgText<'a>]) -> impl Iterator<Item = ArgText<'a>> {
    words.iter().copied().filter(|word| !word.is_option())
}

/// A loosening subcommand at the beginning of the operands.
enum LooseningCommand {
    Known(&'static [&'static str]),
    /// A word that is only known when the command runs may expand to the rest of one.
    Possible,
}

/// The first word of a subcommand that may be unknown.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum FirstUnknown {
    Noun,
    Verb,
    None,
}

impl LooseningCommand {
    fn find(words: &[ArgText<'_>], unknown: FirstUnknown) -> Option<LooseningCommand> {
        let mut operands = operands(words);
        let words = [operands.next(), operands.next(), operands.next()];
        LOOSENING.iter().find_map(|subcommand| {
            for (at, (expected, word)) in subcommand.iter().zip(words).enumerate() {
                let word = word?;
                let allowed = if at == 0 { unknown == FirstUnknown::Noun } else { unknown <= FirstUnknown::Verb };
                match word.known_prefix {
                    Some(prefix) if allowed && expected.starts_with(prefix) => return Some(LooseningCommand::Possible),
                    None if word.text == *expected => {}
                    Some(_) | None => return None,
                }
            }
            Some(LooseningCommand::Known(subcommand))
        })
    }
}

/// Whether a command of `rune` loosens the guard.
pub(super) fn is_loosening(command: &Command) -> bool {
    let words: Vec<ArgText<'_>> = command.args.iter().map(ArgText::of).collect();
    loosens(&words, FirstUnknown::Noun)
}

fn loosens(words: &[ArgText<'_>], unknown: FirstUnknown) -> bool {
    let has = |option: &str| words.iter().any(|word| word.is(option));
    let begins_with = |subcommand: &str| operands(words).next().is_some_and(|word| word.is(subcommand));
    match LooseningCommand::find(words, unknown) {
        Some(LooseningCommand::Possible) => true,
        Some(LooseningCommand::Known(subcommand)) => !is_dry_run(subcommand, words),
        // It would judge a forged event and write a receipt for it.
        None if begins_with("hook") => !has("--dry-run") && !has("--help"),
        // The output directory may be a symlink to a protected directory.
        None => begins_with("man") && words.iter().any(|word| word.text.to_ascii_lowercase().contains("--out")),
    }
}

/// Whether a loosening subcommand only prints its help or what it would change.
fn is_dry_run(subcommand: &[&str], words: &[ArgText<'_>]) -> bool {
    // Words after `--` are operands.
    let mut options = words.iter().take_while(|word| !word.is("--"));
    let has_dry_run = match subcommand {
        // The options may belong to the wrapped command.
        ["mcp", "wrap"] => return false,
        ["hooks", _] => true,
        // `--list` excludes the options that change something.
        ["allow"] if options.clone().any(|word| word.is("--list")) => return true,
        // A dry run writes temporary files to the data directory, so that must be the default one.
        ["policy", _] => !words.iter().any(|word| word.is_guard_option() || word.known_prefix.is_some()),
        _ => false,
    };
    options.any(|word| word.is("--help") || word.is("-h") || has_dry_run && word.is("--dry-run"))
}

/// Whether another program loosens the guard: a copy of it, or a program that runs or types its arguments.
pub(super) fn is_loosening_through(name: &str, command: &Command, context: &Context<'_>) -> bool {
    let mentions_guard = |text: &str| NOUNS.contains(&text) || file_name(text) == "rune";
    let types = lists(&roles::GUARD_TYPING, name);
    // The parser strips the path from system programs; a program with a path may be a copy of the guard.
    let is_data = lists(&roles::GUARD_DATA, &command.program);
    // Most commands end here.
    if is_data || !types && !command.args.iter().any(|arg| mentions_guard(&arg.text)) {
        return false;
    }
    let words: Vec<ArgText<'_>> = command.args.iter().map(ArgText::of).collect();
    is_renamed(&command.program, &words, context) || is_wrapped(&words) || types && is_typed(&words)
}

/// Whether a program with another name is a copy of the guard, by its arguments.
fn is_renamed(program: &str, words: &[ArgText<'_>], context: &Context<'_>) -> bool {
    // A program without a path is the well-known one with that name.
    let by_path = program.contains('/');
    let unknown = if by_path { FirstUnknown::Verb } else { FirstUnknown::None };
    let Some(subcommand) = LooseningCommand::find(words, unknown) else { return false };
    let options = GuardOptions::of(words);
    match subcommand {
        LooseningCommand::Known(subcommand) if is_dry_run(subcommand, words) => false,
        _ if by_path => is_copy(&subcommand, words, &options),
        // Only the guard has these presets.
        LooseningCommand::Known(["hooks", "install"]) => options.mild_preset,
        LooseningCommand::Known(subcommand) => is_only_of_guard(subcommand, &options) && !is_known(program, context),
        LooseningCommand::Possible => false,
    }
}

/// Whether a program with a path and this subcommand is treated as a copy of the guard. Other programs have
/// subcommands with the same names, so options or operands of the guard must follow.
fn is_copy(subcommand: &LooseningCommand, words: &[ArgText<'_>], options: &GuardOptions) -> bool {
    let LooseningCommand::Known(subcommand) = subcommand else { return true };
    let operand = || operands(words).nth(subcommand.len());
    match subcommand {
        ["hooks", "uninstall"] | ["receipts", ..] => true,
        ["hooks", "install"] => options.mild_preset,
        ["mcp", "approve" | "unblock"] => options.guard || options.all || operand().is_some(),
        ["mcp", "import"] => options.server,
        ["mcp", "wrap"] => options.wraps,
        ["allow"] => options.allows(),
        ["pause"] => operand().is_some_and(|word| word.known_prefix.is_some() || is_duration(word.text)),
        // An unknown word may be an option.
        _ => options.guard || operand().is_some_and(|word| word.known_prefix.is_some()),
    }
}

/// The options of a command that belong to the guard. They are collected once per command, to stay linear in its size.
#[derive(Default)]
struct GuardOptions {
    guard: bool,
    all: bool,
    server: bool,
    wraps: bool,
    mild_preset: bool,
    /// `--reason`, without which nothing is allowed.
    reason: bool,
    /// What is allowed.
    exception: bool,
}

impl GuardOptions {
    /// Whether these are options of `allow`.
    fn allows(&self) -> bool {
        self.reason && self.exception
    }

    fn of(words: &[ArgText<'_>]) -> GuardOptions {
        let mild = |preset: &str| matches!(preset, "off" | "gentle");
        let mut options = GuardOptions::default();
        for (at, word) in words.iter().enumerate().filter(|(_, word)| word.is_option()) {
            let (name, value) =
                word.text.split_once('=').map_or((word.text, None), |(name, value)| (name, Some(value)));
            let value = || value.or_else(|| words.get(at + 1).map(|next| next.text)).unwrap_or_default();
            options.guard |= OPTIONS.contains(&name);
            options.all |= name == "--all";
            options.server |= name == "--server";
            options.reason |= name == "--reason";
            options.exception |= matches!(name, "--dir" | "--last" | "--match" | "--program");
            options.wraps |= matches!(name, "--install" | "--uninstall");
            options.mild_preset |= name == "--preset" && mild(value());
        }
        options
    }
}

/// Whether only the guard has this subcommand with these options.
fn is_only_of_guard(subcommand: &[&str], options: &GuardOptions) -> bool {
    match subcommand {
        ["hooks", "uninstall"] | ["receipts", ..] => true,
        ["allow"] => options.allows(),
        ["mcp", "approve" | "unblock" | "probe"] | [_, "clear"] => options.guard,
        _ => false,
    }
}

/// Whether a word is a duration as `pause` takes it.
fn is_duration(text: &str) -> bool {
    text.strip_suffix(['s', 'm', 'h'])
        .is_some_and(|count| !count.is_empty() && count.bytes().all(|byte| byte.is_ascii_digit()))
}

/// Whether the arguments of a program contain the guard or a copy of it with a loosening subcommand. The program may
/// run its arguments in a way that the shell parser does not know.
fn is_wrapped(words: &[ArgText<'_>]) -> bool {
    let is_guard = |word: &ArgText<'_>| !word.is_option() && file_name(word.text) == "rune";
    let after = |at: usize| words.get(at + 1..).unwrap_or_default();
    // Only the words after the first `rune` are searched for options, to stay linear.
    let first = words.iter().position(is_guard);
    let options = GuardOptions::of(words);
    first.is_some_and(|at| loosens(after(at), FirstUnknown::Verb))
        || words.iter().enumerate().any(|(at, word)| {
            let (guard, by_path) = (is_guard(word), word.text.contains('/') && !word.is_option());
            // `--dry-run` is not considered here, because it may be an option of the other program.
            (guard || by_path)
                && LooseningCommand::find(after(at), FirstUnknown::Verb)
                    .is_some_and(|subcommand| guard || is_copy(&subcommand, after(at), &options))
        })
}

/// Whether a text that is typed into a terminal contains a loosening command.
fn is_typed(words: &[ArgText<'_>]) -> bool {
    let is_separator = |c: char| c.is_whitespace() || matches!(c, ';' | '&' | '|' | '"' | '\'' | '\\' | '^');
    words.iter().any(|word| {
        let parts = word.text.split(is_separator).filter(|part| !part.is_empty());
        is_wrapped(&parts.map(ArgText::known).collect::<Vec<_>>())
    })
}
