//! File names in a pipeline: the commands that list them, and the filters between these and an `xargs`.

use super::super::{Arg, Command, Input};
use super::find::{Found, Search, fd_found, first_action, prints_names, removes};
use super::{git, xargs};
use compact_str::CompactString;

/// What a command of a pipeline prints.
enum Printed {
    /// The names that it reads, or with `is_filtered` some of them.
    SameNames {
        is_filtered: bool,
    },
    /// The names of these files.
    Files(Found),
    /// These words.
    Words(Vec<Arg>),
    Unknown,
}

/// The file names that an `xargs` reads, as words.
pub(in super::super) struct Names {
    /// For a command that removes the files.
    removed: Vec<Arg>,
    /// For any other command.
    others: Vec<Arg>,
}

impl Names {
    /// The words for a command.
    pub fn of(&self, args: &[Arg]) -> &[Arg] {
        if removes(args) { &self.removed } else { &self.others }
    }
}

/// The file names that an `xargs` reads from the commands before it, the nearest first.
pub(in super::super) fn names<'a>(before: impl Iterator<Item = &'a Command>, command: &Command) -> Option<Names> {
    let reads_pipe = command.input == Input::Pipe && !xargs::reads_file(command);
    let mut is_narrowed = false;
    for other in before.filter(|_| reads_pipe) {
        match printed_by(other) {
            Printed::SameNames { is_filtered } => is_narrowed |= is_filtered,
            Printed::Files(found) => {
                let found = if is_narrowed { found.filtered() } else { found };
                return Some(Names { removed: found.removed("$ARGS"), others: found.below("$ARGS") });
            }
            Printed::Words(words) => return Some(Names { removed: words.clone(), others: words }),
            Printed::Unknown => return None,
        }
    }
    None
}

/// The file names that a command prints, as words.
pub(in super::super) fn listed(command: &Command) -> Vec<Arg> {
    match printed_by(command) {
        Printed::Files(found) => found.below("$ARGS"),
        Printed::Words(words) => words.into_iter().filter(|word| word.glob).collect(),
        Printed::SameNames { .. } | Printed::Unknown => Vec::new(),
    }
}

fn printed_by(command: &Command) -> Printed {
    let args = command.args.as_slice();
    match command.program.as_str() {
        "grep" | "egrep" | "fgrep" | "rg" | "ag" | "ugrep" => grep(command),
        "head" | "tail" | "sort" | "uniq" | "cat" | "tac" | "shuf" | "pv" => {
            // The content of a file is not known.
            if command.operands().iter().all(|file| file.text == "-") {
                Printed::SameNames { is_filtered: false }
            } else {
                Printed::Unknown
            }
        }
        "tee" => Printed::SameNames { is_filtered: false },
        // It may only change the separators.
        "tr" => {
            let between = ["\\n", "\\0", "\\r", "\\000", "\\012", "\n", " "];
            let mut sets = args.iter().filter(|arg| !arg.text.starts_with('-'));
            let kept = sets.all(|arg| between.contains(&arg.text.as_str()));
            if kept { Printed::SameNames { is_filtered: false } } else { Printed::Unknown }
        }
        "find" | "gfind" if prints_names(args) => Printed::Files(Search::of(args).found(first_action(args))),
        "fd" | "fdfind" => Printed::Files(fd_found(command)),
        "git" => listed_by_git(args),
        "ls" => listed_by_ls(args),
        "echo" | "printf" => printed(&command.program, args),
        _ => Printed::Unknown,
    }
}

/// A filter, or with `-l` a list of the files that match.
fn grep(command: &Command) -> Printed {
    let patterns = command.values(&["-e", "-f", "--regexp", "--file"]);
    let mut operands = command.operands();
    let all = command.has_flag(&["--files"]);
    let pattern = match patterns.first() {
        Some(pattern) => pattern.text.clone(),
        None if all || operands.is_empty() => CompactString::default(),
        None => operands.remove(0).text.clone(),
    };
    let is_filter = pattern.contains(|c: char| c.is_alphanumeric());
    if all || command.has_flag(&["-l", "-L", "--files-with-matches", "--files-without-match"]) {
        let globs = command.values(&["-g", "--glob", "-t", "--type", "--include", "--iglob"]);
        return Printed::Files(Found::below_starts(&operands, is_filter || !globs.is_empty()));
    }
    let changes = command.has_flag(&[
        "-o", "-c", "-n", "-b", "-H", "--only-matching", "--count", "--line-number", "--byte-offset",
        "--with-filename", "--passthru", "-r", "-R", "--recursive", "--dereference-recursive",
    ]) || !command.values(&["-r", "--replace"]).is_empty();
    match operands.is_empty() && !changes {
        true => Printed::SameNames { is_filtered: is_filter && !command.has_flag(&["-v", "--invert-match"]) },
        false => Printed::Unknown,
    }
}

fn listed_by_git(args: &[Arg]) -> Printed {
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
        // Files that git does not track cannot be restored.
        "ls-files" => !has(&["--others", "--ignored", "--stage"]) && !letters("ois"),
        "diff" | "diff-tree" | "ls-tree" => has(&["--name-only"]) && !has(&["--no-index"]),
        "grep" => has(&["-l", "--files-with-matches", "-L", "--name-only"]) && !has(&["--no-index"]),
        _ => false,
    };
    if here && inside && lists { Printed::Files(Found::below_starts(&[], true)) } else { Printed::Unknown }
}

fn listed_by_ls(args: &[Arg]) -> Printed {
    let more = |arg: &Arg| match arg.text.strip_prefix("--") {
        Some(name) => ["recursive", "format", "classify"].iter().any(|long| name.starts_with(long)),
        None => arg.text.strip_prefix('-').is_some_and(|letters| letters.contains(|c| "lgonsiFpRxmZ".contains(c))),
    };
    if args.iter().any(more) {
        return Printed::Unknown;
    }
    let named: Vec<Arg> = args.iter().filter(|arg| !arg.text.starts_with('-')).cloned().collect();
    if named.is_empty() {
        return Printed::Files(Found::everything_here());
    }
    // A directory is listed by the names in it, which `xargs` looks for in the working directory.
    let entries = named
        .iter()
        .all(|arg| arg.glob)
        .then(Vec::new)
        .unwrap_or_else(|| vec![Arg { text: "./$ARGS".into(), known: Some(2), glob: false }]);
    Printed::Words(named.into_iter().chain(entries).collect())
}

fn printed(program: &str, args: &[Arg]) -> Printed {
    if !args.iter().all(|arg| arg.is_known()) {
        return Printed::Unknown;
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
                false => Printed::Words(words(&[Arg::literal(places)])),
                true if places.split_whitespace().all(|place| place == "%s") => Printed::Words(words(values)),
                true => Printed::Unknown,
            }
        }
        Some(_) if args.iter().all(|arg| !arg.text.contains('\\')) => {
            Printed::Words(words(args).into_iter().skip_while(|arg| arg.text.starts_with('-')).collect())
        }
        _ => Printed::Unknown,
    }
}
