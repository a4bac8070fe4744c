//! Terminals that outlive the call: `tmux` and `screen`.

use super::super::Arg;
use super::super::options::Options;
use super::cwd::text_in;
use super::{Inner, quoted};

const SCREEN: Options = Options { short: "ceFnstxyCSTh", long: &[] };

/// Options of `tmux` itself; `-c` is a command.
const GLOBAL: Options = Options { short: "cfLST", long: &[] };

/// What the words behind a verb's options are.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Shape {
    /// Shell text, in the directory of `-c` or `-d`.
    Text(&'static str),
    /// Keys, which are typed.
    Keys,
    /// Shell text, then verbs of `tmux`.
    Condition,
    /// Verbs of `tmux` behind this many words.
    Verbs(usize),
}

/// The verbs that run something: name, short name, options with a value.
const VERBS: [(&str, &str, &str, Shape); 14] = [
    ("new-session", "new", "ceFfnstxy", Shape::Text("c")),
    ("new-window", "neww", "ceFnt", Shape::Text("c")),
    ("split-window", "splitw", "ceFlpt", Shape::Text("c")),
    ("respawn-pane", "respawnp", "cet", Shape::Text("c")),
    ("respawn-window", "respawnw", "cet", Shape::Text("c")),
    ("run-shell", "run", "cdt", Shape::Text("c")),
    ("display-popup", "popup", "bcdehsSTtwxy", Shape::Text("d")),
    ("pipe-pane", "pipep", "t", Shape::Text("")),
    ("send-keys", "send", "cNt", Shape::Keys),
    ("if-shell", "if", "t", Shape::Condition),
    ("set-hook", "set-hook", "t", Shape::Verbs(1)),
    ("bind-key", "bind", "NT", Shape::Verbs(1)),
    ("confirm-before", "confirm", "cpt", Shape::Verbs(0)),
    ("command-prompt", "command-prompt", "IpTt", Shape::Verbs(0)),
];

/// Keys by name, which type no text.
const KEYS: [&str; 20] = [
    "Enter", "KPEnter", "Tab", "BTab", "Escape", "Space", "BSpace", "Up", "Down", "Left", "Right", "Home", "End",
    "PageUp", "PageDown", "PPage", "NPage", "DC", "IC", "Delete",
];

/// Whether a word is the name of a key, such as `Tab`, `C-c` or `F5`.
fn is_key(word: &str) -> bool {
    let with_modifier = ["C-", "M-", "S-", "^"].iter().find_map(|start| word.strip_prefix(start));
    KEYS.contains(&word)
        || with_modifier.is_some_and(|key| key.chars().count() == 1 || KEYS.contains(&key))
        || word.strip_prefix('F').is_some_and(|number| !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit()))
}

pub(super) fn screen(args: &[Arg]) -> Vec<Inner> {
    text_of(SCREEN.behind(args), None)
}

/// Each verb of a `tmux` line, up to the `;` behind it.
pub(super) fn tmux(args: &[Arg]) -> Vec<Inner> {
    let shell = GLOBAL.value(args, "c").map(|text| Inner::text(text.text));
    let verbs = GLOBAL.behind(args).split(|arg| arg.text == ";");
    shell.into_iter().chain(verbs.flat_map(verb)).collect()
}

fn verb(words: &[Arg]) -> Vec<Inner> {
    let Some((verb, args)) = words.split_first() else { return Vec::new() };
    // Any beginning of a name will do that is no other's.
    let begins = |name: &str| verb.text.len() > 2 && name.starts_with(verb.text.as_str());
    let known = VERBS.iter().find(|(name, short, ..)| *short == verb.text || *name == verb.text);
    let Some((_, _, short, shape)) = known.or_else(|| VERBS.iter().find(|(name, ..)| begins(name))) else {
        return Vec::new();
    };
    let options = Options { short, long: &[] };
    let rest = options.behind(args);
    let of_tmux = |arg: &Arg| Inner::text(format!("tmux {}", arg.text));
    match shape {
        // `run-shell -C` runs a verb.
        Shape::Text("c") if args.iter().any(|arg| arg.text == "-C") => rest.iter().map(of_tmux).collect(),
        Shape::Text(directory) => text_of(rest, options.value(args, directory)),
        Shape::Keys => {
            let keys = rest.iter().filter(|arg| !is_key(&arg.text));
            text_of(&keys.cloned().collect::<Vec<_>>(), None)
        }
        Shape::Condition => {
            let condition = rest.first().filter(|_| !args.iter().any(|arg| arg.text == "-F"));
            let condition = condition.map(|arg| Inner::text(arg.text.clone()));
            condition.into_iter().chain(rest.iter().skip(1).map(of_tmux)).collect()
        }
        Shape::Verbs(skip) => match rest.get(*skip..).unwrap_or_default() {
            [] => Vec::new(),
            [only] => vec![of_tmux(only)],
            words => vec![of_tmux(&Arg::literal(as_line(words)))],
        },
    }
}

/// One word is a line; several are a command with its words.
fn text_of(words: &[Arg], directory: Option<Arg>) -> Vec<Inner> {
    let text = match words {
        [] => return Vec::new(),
        [only] => only.text.to_string(),
        _ => as_line(words),
    };
    if text.trim().is_empty() { Vec::new() } else { vec![Inner::text(text_in(directory.as_ref(), text))] }
}

fn as_line(words: &[Arg]) -> String {
    let word = |arg: &Arg| if arg.is_known() { quoted(&arg.text) } else { arg.text.to_string() };
    words.iter().map(word).collect::<Vec<_>>().join(" ")
}
