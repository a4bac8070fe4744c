//! Canonical text: one spelling for each command, whatever it was typed as.

use super::Arg;

/// Directories in which a program is what its name says.
const STANDARD: [&str; 8] = [
    "/bin/",
    "/sbin/",
    "/usr/bin/",
    "/usr/sbin/",
    "/usr/local/bin/",
    "/usr/local/sbin/",
    "/opt/homebrew/bin/",
    "/opt/local/bin/",
];

/// The program's name: its base name in a standard directory, else the word as it is.
pub(super) fn program(word: &str) -> &str {
    let base = STANDARD.iter().find_map(|directory| word.strip_prefix(directory));
    base.filter(|base| !base.is_empty() && !base.contains('/')).unwrap_or(word)
}

/// One blank between words, each quoted where a shell would otherwise read something else.
pub(super) fn line(program: &Arg, args: &[Arg]) -> String {
    let words: Vec<String> = [program].into_iter().chain(args).map(word).collect();
    words.join(" ")
}

fn word(arg: &Arg) -> String {
    let special = |c: char| c.is_whitespace() || c.is_control() || "\"'\\`$&|;<>()#!".contains(c);
    let pattern = |c: char| "*?[".contains(c);
    let bare = !arg.is_known() || arg.glob;
    let quoted = arg.text.is_empty() || (!bare && arg.text.contains(|c| special(c) || pattern(c)));
    if quoted { format!("'{}'", arg.text.replace('\'', "'\\''")) } else { arg.text.clone() }
}
