//! `find` and `fd`: the files that they find, and the commands that they run on them. An expression of `find` may have
//! branches and several commands, each up to its `;` or `+`.

use super::super::{Arg, Command};
use super::cwd::rooted;
use super::{Inner, WORD};
use crate::programs::{FlagUse, words};
use crate::verdict::limits::Meter;
use std::collections::BTreeMap;
use std::ops::Range;

/// The files that a search finds.
#[derive(Clone, Debug, Default)]
pub(in super::super) struct Found {
    /// The files and directories in which the search begins.
    starts: Vec<Arg>,
    /// The names that all files found have one of; empty if there may be others.
    names: Vec<String>,
    /// The only path below a start that is found.
    path: Option<String>,
    /// A test leaves out some of the files.
    is_filtered: bool,
}

impl Found {
    /// The files below `starts`, or below the working directory if there are none.
    pub fn below_starts(starts: &[&Arg], is_filtered: bool) -> Found {
        let starts: Vec<Arg> = starts.iter().copied().cloned().collect();
        let starts = if starts.is_empty() { vec![Arg::literal(".")] } else { starts };
        Found { starts, is_filtered, ..Found::default() }
    }

    /// All names in the working directory.
    pub fn everything_here() -> Found {
        Found { starts: vec![Arg { text: "*".into(), known: None, glob: true }], ..Found::default() }
    }

    /// What is left of it behind a filter.
    pub fn filtered(mut self) -> Found {
        if !self.is_filtered {
            self.is_filtered = true;
            // `*` stands for names, which have no names below them.
            self.starts.iter_mut().filter(|start| start.text == "*").for_each(|start| *start = Arg::literal("."));
        }
        self
    }

    /// A word for the files below each start. `mark` stands in it for an unknown name.
    pub fn below(&self, mark: &str) -> Vec<Arg> {
        let glob = self.starts.iter().any(|start| start.glob);
        Found { is_filtered: self.is_filtered || !glob, ..self.clone() }.words(mark)
    }

    /// The words for a command that removes the files: also the starts themselves, if all files below them are found.
    pub fn removed(&self, mark: &str) -> Vec<Arg> {
        let below = if self.is_filtered { Vec::new() } else { self.below(mark) };
        self.words(mark).into_iter().chain(below.into_iter().filter(|word| !word.is_known())).collect()
    }

    /// As [`Found::below`], but if all files below a start are found, the start itself stands for them.
    pub fn words(&self, mark: &str) -> Vec<Arg> {
        let below = |start: &Arg| -> Vec<Arg> {
            let base = format!("{}/", start.text.trim_end_matches('/'));
            if self.names.is_empty() || !start.is_known() {
                let known = start.known.or(Some(base.len()));
                return vec![Arg { known, text: format!("{base}{mark}").into(), glob: false }];
            }
            let named = |name: &String| Arg { text: format!("{base}**/{name}").into(), known: None, glob: true };
            self.names.iter().map(named).collect()
        };
        let named = |start: &Arg| {
            let path = self.path.as_ref().filter(|_| start.is_known())?;
            let text = format!("{}/{path}", start.text.trim_end_matches('/'));
            Some(Arg { text: text.into(), known: None, glob: true })
        };
        let words = |start: &Arg| match self.is_filtered {
            true => below(start).into_iter().chain(named(start)).collect(),
            false => vec![start.clone()],
        };
        self.starts.iter().flat_map(words).collect()
    }
}

/// The operands before the expression: where the search begins.
fn starts(args: &[Arg]) -> Vec<Arg> {
    let mut starts = Vec::new();
    let mut at = 0;
    while let Some(arg) = args.get(at) {
        let text = arg.text.as_str();
        let cluster = text
            .strip_prefix('-')
            .is_some_and(|letters| !letters.is_empty() && letters.chars().all(|letter| "HLPEXdsx".contains(letter)));
        match text {
            "-D" => at += 1,
            // BSD: `find -f path`.
            "-f" => {
                starts.extend(args.get(at + 1).cloned());
                at += 1;
            }
            "--" => {}
            _ if cluster || text.starts_with("-O") => {}
            _ => break,
        }
        at += 1;
    }
    let begins = |arg: &&Arg| !arg.text.starts_with('-') && !matches!(arg.text.as_str(), "(" | "!" | "," | ")");
    starts.extend(args.iter().skip(at).take_while(begins).cloned());
    // The starts are read from a file or a pipe.
    if args.iter().any(|arg| arg.text == "-files0-from") {
        return vec![super::later("$START")];
    }
    if starts.is_empty() { vec![Arg::literal(".")] } else { starts }
}

/// The expression of a `find`.
pub(in super::super) struct Search {
    found: Found,
    /// For each test and action, whether a test before it leaves out files.
    is_filtered: BTreeMap<usize, bool>,
    /// The same for the files that are printed at the end, and for other words.
    at_end: bool,
    elsewhere: bool,
    /// The actions that run a command, and the words of these commands.
    runs: Vec<(usize, Range<usize>)>,
    length: usize,
}

impl Search {
    pub fn of(args: &[Arg]) -> Search {
        let words: Vec<&str> = args.iter().map(|arg| arg.text.as_str()).collect();
        let names = only_names(args);
        let path = only_path(args);
        let mut search = Search {
            found: Found { starts: starts(args), is_filtered: !names.is_empty(), names, path },
            is_filtered: BTreeMap::new(),
            at_end: false,
            elsewhere: false,
            runs: Vec::new(),
            length: words.len(),
        };
        search.scan(&words);
        search
    }

    /// The files that reach the word at `at`, or the end of the expression.
    pub fn found(&self, at: usize) -> Found {
        let test = if at >= self.length { self.at_end } else { *self.is_filtered.get(&at).unwrap_or(&self.elsewhere) };
        Found { is_filtered: self.found.is_filtered || test, ..self.found.clone() }
    }

    /// Notes for each action whether a test in its own branch, that is not negated, comes before it.
    fn scan(&mut self, words: &[&str]) {
        let mut branch = Branch::default();
        let mut outer: Vec<Branch> = Vec::new();
        // The number of outer branches with a test.
        let mut outer_tests = 0_usize;
        let last_end = words.iter().rposition(|word| *word == ";");
        let mut at = 0;
        while let Some(word) = words.get(at) {
            if word.starts_with('-') {
                self.is_filtered.insert(at, branch.has_test || outer_tests > 0);
            }
            at += 1;
            match *word {
                "(" => {
                    outer_tests += usize::from(branch.has_test);
                    outer.push(std::mem::take(&mut branch));
                }
                ")" => {
                    let inner = std::mem::take(&mut branch);
                    if let Some(above) = outer.pop() {
                        outer_tests -= usize::from(above.has_test);
                        branch = above;
                    }
                    branch.add(inner.has_test && inner.all_before_have);
                }
                "-o" | "-or" => {
                    let all_before_have = branch.all_before_have && branch.has_test;
                    branch = Branch { all_before_have, ..Branch::default() };
                }
                "," => branch = Branch::default(),
                "!" | "-not" => branch.is_negated = true,
                // Most files are plain files and directories.
                "-type" | "-xtype" => {
                    branch.add(words.get(at).is_some_and(|kind| kind.chars().all(|c| "lpsbcD".contains(c))));
                    branch.is_negated = false;
                    at += 1;
                }
                test if words::FIND_TESTS.contains(&test) || test.starts_with("-newer") => {
                    let all = words.get(at).is_some_and(|value| value.chars().all(|c| "*?.".contains(c)));
                    branch.add(!(all && test.contains("name")));
                    at += usize::from(test != "-empty");
                }
                "-exec" | "-execdir" | "-ok" | "-okdir" => {
                    let end = at + run_length(words, at, last_end);
                    self.runs.push((at - 1, at..end));
                    at = end;
                }
                _ => branch.is_negated = branch.is_negated && !word.starts_with('-'),
            }
        }
        self.elsewhere = branch.has_test || outer_tests > 0;
        // The files that pass any branch are printed.
        self.at_end = branch.has_test && branch.all_before_have || outer_tests > 0;
    }
}

/// A branch of an expression; `-o` separates branches.
struct Branch {
    has_test: bool,
    /// All branches before it have a test.
    all_before_have: bool,
    /// The next test is negated.
    is_negated: bool,
}

impl Default for Branch {
    fn default() -> Self {
        Branch { has_test: false, all_before_have: true, is_negated: false }
    }
}

impl Branch {
    fn add(&mut self, is_test: bool) {
        self.has_test |= is_test && !std::mem::take(&mut self.is_negated);
    }
}

/// The number of words of the command that begins at `start`. It ends at `;`, or at a `+` behind `{}` or behind the last `;`.
fn run_length(words: &[&str], start: usize, last_end: Option<usize>) -> usize {
    let rest = words.get(start..).unwrap_or_default();
    let ends = |(at, word): (usize, &&str)| match *word {
        "+" => {
            let behind_name = at.checked_sub(1).and_then(|at| rest.get(at)) == Some(&"{}");
            behind_name || last_end.is_none_or(|end| end < start + at)
        }
        word => word == ";",
    };
    rest.iter().enumerate().position(ends).unwrap_or(rest.len())
}

/// Every `-exec` of a `find`.
pub(super) fn find(command: &Command, meter: &Meter) -> Vec<Inner> {
    let search = Search::of(&command.args);
    let mut inner = Vec::new();
    for (action, words) in &search.runs {
        let run = command.args.get(words.clone()).unwrap_or_default();
        // There is one command for each start.
        if !meter.try_charge(WORD * (1 + run.len()) * search.found.starts.len()) {
            continue;
        }
        // `-execdir` runs the command in the directory of the file, which is not known.
        let in_directory = command.args.get(*action).is_some_and(|action| action.text.ends_with("dir"));
        let mut found = search.found(*action);
        if in_directory {
            found.starts = found.starts.iter().map(|start| rooted(start, command)).collect();
        }
        let cwd = in_directory.then_some(None);
        let words = if removes(run) { found.removed("$FOUND") } else { found.below("$FOUND") };
        for word in words {
            let args = run.iter().map(|arg| placed(arg, &word, meter)).collect();
            inner.push(Inner::Command { args, cwd: cwd.clone(), env: Vec::new() });
            if !run.iter().any(|arg| arg.text.contains("{}")) {
                break;
            }
        }
    }
    inner
}

/// Whether a command removes or moves files.
pub(super) fn removes(args: &[Arg]) -> bool {
    let removers = ["rm", "rmdir", "unlink", "shred", "trash", "srm", "wipe", "rimraf", "del-cli", "grm", "mv", "gmv"];
    let names = args.iter().flat_map(|arg| arg.text.split(|c: char| c.is_whitespace() || matches!(c, '/' | ';' | '"')));
    names.into_iter().any(|word| removers.contains(&word))
}

/// Replaces `{}` by a file that is found.
fn placed(arg: &Arg, found: &Arg, meter: &Meter) -> Arg {
    let Some(at) = arg.text.find("{}") else { return arg.clone() };
    let known = found.known.map(|known| at + known);
    match meter.replace(&arg.text, "{}", &found.text) {
        Some(text) => Arg { text: text.into(), known, glob: found.glob && found.is_known() },
        None => super::later("$FOUND"),
    }
}

/// The names that are searched for, if all files that are found have one of them.
fn only_names(args: &[Arg]) -> Vec<String> {
    let words: Vec<&str> = args.iter().map(|arg| arg.text.as_str()).collect();
    let mut names = Vec::new();
    for branch in words.split(|word| matches!(*word, "-o" | "-or" | ",")) {
        let tests = branch.iter().enumerate().filter(|(_, test)| matches!(**test, "-name" | "-iname"));
        let is_negated =
            |at: usize| at.checked_sub(1).is_some_and(|at| matches!(branch.get(at), Some(&("!" | "-not"))));
        let given = tests.filter(|(at, _)| !is_negated(*at)).filter_map(|(at, _)| branch.get(at + 1));
        let is_specific = |name: &&&str| !name.contains(['/', '$']) && name.contains(|c| !matches!(c, '*' | '?' | '.'));
        // One name of a branch is enough, since all of its tests must hold.
        match given.into_iter().find(is_specific) {
            Some(name) => names.push((*name).to_owned()),
            None => return Vec::new(),
        }
    }
    // `! ( -name a )`
    let is_negated_group = words.windows(2).any(|pair| matches!(pair, ["!" | "-not", "("]));
    if is_negated_group { Vec::new() } else { names }
}

/// The only path that is searched for, relative to a start.
fn only_path(args: &[Arg]) -> Option<String> {
    let is_test = |arg: &Arg| matches!(arg.text.as_str(), "-path" | "-ipath" | "-wholename" | "-iwholename");
    let mut paths = args.iter().zip(args.iter().skip(1)).filter(|(test, _)| is_test(test));
    let (_, path) = paths.next().filter(|_| paths.next().is_none())?;
    let either = args.iter().any(|arg| matches!(arg.text.as_str(), "-o" | "-or" | "!" | "-not" | ","));
    let path = path.text.trim_start_matches('.').trim_start_matches(['*', '/']);
    let path = if path.starts_with(|c: char| c.is_alphanumeric() || c == '.') { path } else { return None };
    (!either && !path.is_empty()).then(|| path.to_owned())
}

/// Whether a `find` only prints the names of the files.
pub(super) fn prints_names(args: &[Arg]) -> bool {
    let others = ["-exec", "-execdir", "-ok", "-okdir", "-ls"];
    let formats = args.iter().zip(args.iter().skip(1)).filter(|(action, _)| action.text == "-printf");
    let plain = |format: &str| matches!(format, "%p\\n" | "%p\\0" | "%p " | "%p\n");
    !args.iter().any(|arg| others.contains(&arg.text.as_str()))
        && formats.into_iter().all(|(_, format)| plain(&format.text))
}

/// Where the first action of a `find` stands.
pub(super) fn first_action(args: &[Arg]) -> usize {
    args.iter().position(|arg| words::FIND_ACTIONS.contains(&arg.text.as_str())).unwrap_or(args.len())
}

/// The files that a `fd` finds.
pub(super) fn fd_found(command: &Command) -> Found {
    let end = fd_command(command).unwrap_or(command.args.len());
    let uses = || command.parsed.iter().flat_map(|line| line.uses.iter()).take_while(|used| used.word < end);
    let values = |names: &[&str]| -> Vec<Arg> {
        let named = uses().filter(|used| used.option.is_some_and(|option| names.contains(&option)));
        named.filter_map(|used| command.value(used)).collect()
    };
    let operands: Vec<Arg> = uses().filter(|used| !used.by_option).filter_map(|used| command.value(used)).collect();
    let pattern = operands.first().map_or("", |arg| arg.text.as_str());
    let tests = values(&[
        "-e", "--extension", "-S", "--size", "--newer", "--older", "--changed-within", "--changed-before", "--and",
    ]);
    let mut starts: Vec<Arg> = operands.iter().skip(1).cloned().chain(values(&["--search-path"])).collect();
    if starts.is_empty() {
        starts.push(Arg::literal("."));
    }
    if let Some(base) = values(&["-C", "--base-directory"]).first() {
        let below = |start: &Arg| match start.text.starts_with('/') {
            true => start.clone(),
            false => Arg { text: format!("{}/{}", base.text.trim_end_matches('/'), start.text).into(), ..base.clone() },
        };
        starts = starts.iter().map(below).collect();
    }
    let is_filtered = !tests.is_empty() || pattern.contains(|c| !matches!(c, '.' | '*' | '^' | '$' | '?'));
    Found { starts, is_filtered, ..Found::default() }
}

/// Where the option of a `fd` stands behind which there is a command.
fn fd_command(command: &Command) -> Option<usize> {
    let line = command.parsed.as_deref()?;
    let is_run = |flag: &&FlagUse| {
        let word = command.args.get(flag.word).map_or("", |arg| arg.text.as_str());
        ["-x", "-X", "--exec", "--exec-batch"].iter().any(|name| flag.is(name, word))
    };
    line.flags.iter().find(is_run).map(|flag| flag.word)
}

pub(super) fn fd(command: &Command, meter: &Meter) -> Vec<Inner> {
    let Some(at) = fd_command(command) else { return Vec::new() };
    let run: Vec<Arg> = command.args.iter().skip(at + 1).take_while(|arg| arg.text != ";").cloned().collect();
    let found = fd_found(command);
    if !meter.try_charge(WORD * (1 + run.len()) * found.starts.len()) {
        return Vec::new();
    }
    let above = Found { is_filtered: false, ..found.clone() };
    let marked = run.iter().any(|arg| arg.text.contains('{'));
    let words = if removes(&run) { found.words("$FOUND") } else { found.below("$FOUND") };
    let both = words.into_iter().zip(above.words("$FOUND"));
    let inner = both.map(|(word, above)| {
        // `{//}` is the directory of the file, which may be a start.
        let place = |arg: &Arg| match arg.text.as_str() {
            "{//}" => above.clone(),
            "{}" | "{.}" | "{/}" | "{/.}" => word.clone(),
            text if text.contains("{}") => placed(arg, &word, meter),
            _ => arg.clone(),
        };
        let end = (!marked).then(|| word.clone());
        Inner::command(run.iter().map(place).chain(end).collect())
    });
    inner.collect()
}
