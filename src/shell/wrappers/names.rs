//! The names that a pipeline hands to a command: what lists them, and what they pass on the way. What comes out of a filter
//! depends on its flags in ways that the catalogue does not express.

use super::super::{Arg, Command, Input};
use super::find::{Found, fd_found, first_action, found, prints_names, takes_away};
use super::{git, xargs};
use crate::programs::code::lists;
use crate::programs::roles;
use crate::shell::effects::options_of;
use crate::verdict::limits::Meter;
use compact_str::CompactString;

/// What a command in a pipeline does to a list of names.
enum Step {
    /// It lets them through as they are, all of them or only some.
    Passes { some: bool },
    /// It lists them itself.
    Lists(Found),
    /// It lists just these.
    Words(Vec<Arg>),
    /// What comes out is only known when it runs.
    Changes,
}

/// The names that a pipeline hands over, as words.
pub(in super::super) struct Names {
    /// For what takes files away.
    taken: Vec<Arg>,
    /// For what does anything else with them.
    touched: Vec<Arg>,
}

impl Names {
    /// The names with further ones; without others, what there is remains unknown too.
    pub fn with(names: Option<Names>, more: &[Arg]) -> Option<Names> {
        if more.is_empty() {
            return names;
        }
        let unknown = || vec![super::later("$ARGS")];
        let Names { taken, touched } = names.unwrap_or_else(|| Names { taken: unknown(), touched: unknown() });
        let add = |names: Vec<Arg>| names.into_iter().chain(more.iter().cloned()).collect();
        Some(Names { taken: add(taken), touched: add(touched) })
    }

    /// A text in which `$ARGS` stands for a name, once for each name that needs no quotes.
    pub fn in_text(&self, text: &str, meter: &Meter) -> String {
        let is_plain = |name: &&Arg| name.text.chars().all(|c| c.is_ascii_alphanumeric() || "/._-+~*?$".contains(c));
        let names = self.of(&[Arg::literal(text)]).iter().filter(is_plain).filter(|_| text.contains("$ARGS"));
        let texts = names.filter_map(|name| meter.replace(text, "$ARGS", &name.text));
        let texts: Vec<String> = [text.to_owned()].into_iter().chain(texts).collect();
        texts.join("\n")
    }

    /// The words for a command.
    pub fn of(&self, args: &[Arg]) -> &[Arg] {
        if takes_away(args) { &self.taken } else { &self.touched }
    }
}

/// Words for the names that the commands before this one hand to it, the nearest first.
pub(in super::super) fn names<'a>(before: impl Iterator<Item = &'a Command>, command: &Command) -> Option<Names> {
    let elsewhere = command.input != Input::Pipe || xargs::OPTIONS.value(&command.args, "a arg-file").is_some();
    let mut picked = false;
    for other in before.filter(|_| !elsewhere) {
        match step(other) {
            Step::Passes { some } => picked |= some,
            Step::Lists(found) => {
                let found = found.narrowed(picked);
                return Some(Names { taken: found.taken("$ARGS"), touched: found.below("$ARGS") });
            }
            Step::Words(words) => return Some(Names { taken: words.clone(), touched: words }),
            Step::Changes => return None,
        }
    }
    None
}

/// Words for the names that a command lists.
pub(in super::super) fn listed(command: &Command) -> Vec<Arg> {
    match step(command) {
        Step::Lists(found) => found.below("$ARGS"),
        Step::Words(words) => words.into_iter().filter(|word| word.glob).collect(),
        Step::Passes { .. } | Step::Changes => Vec::new(),
    }
}

/// Whether a command lets names through as they are, by a pattern.
pub(super) fn is_name_filter(command: &Command) -> bool {
    command.stage > 0
        && lists(&roles::FILES_SEARCHERS, &command.program)
        && matches!(grep(command), Step::Passes { .. })
}

fn step(command: &Command) -> Step {
    let args = command.args.as_slice();
    match command.program.as_str() {
        program if lists(&roles::FILES_SEARCHERS, program) => grep(command),
        "head" | "tail" | "sort" | "uniq" | "cat" | "tac" | "shuf" | "pv" => {
            let files = options_of(&command.program).operands(args);
            // The names in a file are unknown.
            if files.iter().all(|file| file.text == "-") { Step::Passes { some: false } } else { Step::Changes }
        }
        "tee" => Step::Passes { some: false },
        // It may only change what stands between the names.
        "tr" => {
            let between = ["\\n", "\\0", "\\r", "\\000", "\\012", "\n", " "];
            let mut sets = args.iter().filter(|arg| !arg.text.starts_with('-'));
            let kept = sets.all(|arg| between.contains(&arg.text.as_str()));
            if kept { Step::Passes { some: false } } else { Step::Changes }
        }
        "find" | "gfind" if prints_names(args) => Step::Lists(found(args, first_action(args))),
        "fd" | "fdfind" => Step::Lists(fd_found(args)),
        "git" => listed_by_git(args),
        "ls" => listed_by_ls(args),
        "echo" | "printf" => printed(&command.program, args),
        _ => Step::Changes,
    }
}

/// A filter, or with `-l` a list of the files that match.
fn grep(command: &Command) -> Step {
    let options = options_of(&command.program);
    let args = command.args.as_slice();
    let has = |letters: &str, long: &[&str]| {
        args.iter().take_while(|arg| arg.text != "--").any(|arg| match arg.text.strip_prefix("--") {
            Some(name) => long.contains(&name.split('=').next().unwrap_or_default()),
            None => arg.text.strip_prefix('-').is_some_and(|cluster| {
                let plain = cluster.chars().take_while(|letter| !options.short.contains(*letter));
                plain.into_iter().any(|letter| letters.contains(letter))
            }),
        })
    };
    let patterns = options.values(args, "e f regexp file");
    let mut operands = options.operands(args);
    let all = has("", &["files"]);
    let pattern = match patterns.first() {
        Some(pattern) => pattern.text.clone(),
        None if all || operands.is_empty() => CompactString::default(),
        None => operands.remove(0).text.clone(),
    };
    let picks = pattern.contains(|c: char| c.is_alphanumeric());
    if all || has("lL", &["files-with-matches", "files-without-match"]) {
        let globs = options.values(args, "g glob t type include iglob");
        return Step::Lists(Found::in_places(&operands, picks || !globs.is_empty()));
    }
    let changes =
        has("ocnbH", &["only-matching", "count", "line-number", "byte-offset", "with-filename", "replace", "passthru"]);
    match operands.is_empty() && !changes && !has("rR", &["recursive", "dereference-recursive"]) {
        true => Step::Passes { some: picks && !has("v", &["invert-match"]) },
        false => Step::Changes,
    }
}

fn listed_by_git(args: &[Arg]) -> Step {
    let words = git::behind_global(args);
    let global = args.iter().take(args.len() - words.len());
    let here = global.into_iter().all(|arg| matches!(arg.text.as_str(), "--no-pager" | "-P"));
    let inside =
        words.iter().all(|arg| arg.is_known() && !arg.text.starts_with(['/', '~']) && !arg.text.contains(".."));
    let has = |names: &[&str]| words.iter().any(|arg| names.contains(&arg.text.as_str()));
    let letters = |of: &str| {
        let clusters = words.iter().filter_map(|arg| arg.text.strip_prefix('-'));
        clusters.filter(|cluster| !cluster.starts_with('-')).any(|cluster| cluster.contains(|c| of.contains(c)))
    };
    let lists = match words.first().map_or("", |arg| arg.text.as_str()) {
        // What git does not know cannot come back.
        "ls-files" => !has(&["--others", "--ignored", "--stage"]) && !letters("ois"),
        "diff" | "diff-tree" | "ls-tree" => has(&["--name-only"]) && !has(&["--no-index"]),
        "grep" => has(&["-l", "--files-with-matches", "-L", "--name-only"]) && !has(&["--no-index"]),
        _ => false,
    };
    if here && inside && lists { Step::Lists(Found::in_places(&[], true)) } else { Step::Changes }
}

fn listed_by_ls(args: &[Arg]) -> Step {
    let more = |arg: &Arg| match arg.text.strip_prefix("--") {
        Some(name) => ["recursive", "format", "classify"].iter().any(|long| name.starts_with(long)),
        None => arg.text.strip_prefix('-').is_some_and(|letters| letters.contains(|c| "lgonsiFpRxmZ".contains(c))),
    };
    if args.iter().any(more) {
        return Step::Changes;
    }
    let named: Vec<Arg> = args.iter().filter(|arg| !arg.text.starts_with('-')).cloned().collect();
    if named.is_empty() {
        return Step::Lists(Found::everything_here());
    }
    // Of a directory it lists what is in it, by names that another one is looked for by.
    let entries = named
        .iter()
        .all(|arg| arg.glob)
        .then(Vec::new)
        .unwrap_or_else(|| vec![Arg { text: "./$ARGS".into(), known: Some(2), glob: false }]);
    Step::Words(named.into_iter().chain(entries).collect())
}

fn printed(program: &str, args: &[Arg]) -> Step {
    if !args.iter().all(|arg| arg.is_known()) {
        return Step::Changes;
    }
    let words = |args: &[Arg]| {
        let parts = args.iter().flat_map(|arg| {
            let parts = arg.text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
            parts.into_iter().map(|text| Arg { text: text.into(), known: None, glob: arg.glob })
        });
        parts.collect::<Vec<_>>()
    };
    match args.split_first() {
        Some((format, values)) if program == "printf" => {
            let places = format.text.replace("\\n", " ").replace("\\0", " ");
            match places.contains(['%', '\\']) {
                false => Step::Words(words(&[Arg::literal(places)])),
                true if places.split_whitespace().all(|place| place == "%s") => Step::Words(words(values)),
                true => Step::Changes,
            }
        }
        Some(_) if args.iter().all(|arg| !arg.text.contains('\\')) => {
            Step::Words(words(args).into_iter().skip_while(|arg| arg.text.starts_with('-')).collect())
        }
        _ => Step::Changes,
    }
}
