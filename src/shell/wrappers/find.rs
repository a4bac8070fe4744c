//! Searches: where `find` and `fd` begin, what they find there, and what they run on it. An expression of `find` has a
//! grammar of its own, with branches and with several commands, each up to its `;` or `+`.

use super::super::options::Options;
use super::super::{Arg, Command};
use super::cwd::rooted;
use super::{Inner, WORD};
use crate::programs::code::lists;
use crate::programs::roles;
use crate::verdict::limits::Meter;
use std::collections::BTreeMap;

/// What a search finds.
#[derive(Clone, Debug, Default)]
pub(in super::super) struct Found {
    /// Where it begins.
    starts: Vec<Arg>,
    /// By one of these names only; empty if there are others.
    names: Vec<String>,
    /// By this path below a start.
    path: Option<String>,
    /// A test picks some of what there is.
    picks: bool,
}

impl Found {
    /// Some or all of what lies below these.
    pub fn in_places(starts: &[&Arg], picks: bool) -> Found {
        let starts: Vec<Arg> = starts.iter().copied().cloned().collect();
        let starts = if starts.is_empty() { vec![Arg::literal(".")] } else { starts };
        Found { starts, picks, ..Found::default() }
    }

    /// All names in the directory in force.
    pub fn everything_here() -> Found {
        Found { starts: vec![Arg { text: "*".into(), known: None, glob: true }], ..Found::default() }
    }

    /// Where it begins.
    pub fn starts(&self) -> &[Arg] {
        &self.starts
    }

    /// Whether all that is found has one of some names.
    pub fn is_named(&self) -> bool {
        !self.names.is_empty() || self.path.is_some()
    }

    /// The same where something later picks from it.
    pub fn narrowed(mut self, picked: bool) -> Found {
        if picked && !self.picks {
            self.picks = true;
            // A pattern that stands for names has no names below it.
            self.starts.iter_mut().filter(|start| start.text == "*").for_each(|start| *start = Arg::literal("."));
        }
        self
    }

    /// A word for each of the files that are found; `mark` stands in it for the unknown name.
    pub fn below(&self, mark: &str) -> Vec<Arg> {
        let glob = self.starts.iter().any(|start| start.glob);
        Found { picks: self.picks || !glob, ..self.clone() }.words(mark)
    }

    /// For what takes them away: the files, and the directory where nothing of it is left.
    pub fn taken(&self, mark: &str) -> Vec<Arg> {
        let below = if self.picks { Vec::new() } else { self.below(mark) };
        self.words(mark).into_iter().chain(below.into_iter().filter(|word| !word.is_known())).collect()
    }

    /// The same, where all that there is counts as the directory that it is in.
    pub fn words(&self, mark: &str) -> Vec<Arg> {
        let below = |start: &Arg| -> Vec<Arg> {
            let base = format!("{}/", start.text.trim_end_matches('/'));
            if self.names.is_empty() || !start.is_known() {
                let known = start.known.or(Some(base.len()));
                return vec![Arg { known, text: format!("{base}{mark}").into(), glob: false }];
            }
            // By name it is that name, somewhere below.
            let named = |name: &String| Arg { text: format!("{base}**/{name}").into(), known: None, glob: true };
            self.names.iter().map(named).collect()
        };
        let named = |start: &Arg| {
            let path = self.path.as_ref().filter(|_| start.is_known())?;
            let text = format!("{}/{path}", start.text.trim_end_matches('/'));
            Some(Arg { text: text.into(), known: None, glob: true })
        };
        let words = |start: &Arg| match self.picks {
            true => below(start).into_iter().chain(named(start)).collect(),
            false => vec![start.clone()],
        };
        self.starts.iter().flat_map(words).collect()
    }
}

/// Words of `find` that do something.
const ACTIONS: [&str; 13] = [
    "-delete", "-exec", "-execdir", "-ok", "-okdir", "-print", "-print0", "-printf", "-ls", "-fls", "-fprint",
    "-fprint0", "-fprintf",
];

/// Tests that pick some files by what they are called or like; the kind and the depth pick too many.
const TESTS: [&str; 27] = [
    "-amin", "-anewer", "-atime", "-cmin", "-cnewer", "-ctime", "-empty", "-gid", "-group", "-ilname", "-iname",
    "-inum", "-ipath", "-iregex", "-iwholename", "-lname", "-links", "-mmin", "-mtime", "-name", "-newer", "-path",
    "-perm", "-regex", "-size", "-user", "-wholename",
];

/// Words that say where to begin: how many options stand before them, and they themselves.
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
    // The names stand in a file, or come through a pipe.
    if args.iter().any(|arg| arg.text == "-files0-from") {
        return vec![super::later("$START")];
    }
    if starts.is_empty() { vec![Arg::literal(".")] } else { starts }
}

/// What a `find` has found when it comes to the word at this place, or to its end.
pub(in super::super) fn found(args: &[Arg], at: usize) -> Found {
    Search::of(args).found(at)
}

/// A `find` that was looked through once.
pub(in super::super) struct Search {
    found: Found,
    /// For each word that is a test or an action: whether a test stands in the way to it.
    picks: BTreeMap<usize, bool>,
    /// The same for what is printed at the end, and for what is no word of its own.
    at_end: bool,
    elsewhere: bool,
    length: usize,
}

impl Search {
    pub fn of(args: &[Arg]) -> Search {
        let words: Vec<&str> = args.iter().map(|arg| arg.text.as_str()).collect();
        let names = only_names(args);
        let path = only_path(args);
        let mut search = Search {
            found: Found { starts: starts(args), picks: !names.is_empty(), names, path },
            picks: BTreeMap::new(),
            at_end: false,
            elsewhere: false,
            length: words.len(),
        };
        search.look(&words);
        search
    }

    /// What was found when it comes to the word at this place, or to its end.
    pub fn found(&self, at: usize) -> Found {
        let test = if at >= self.length { self.at_end } else { *self.picks.get(&at).unwrap_or(&self.elsewhere) };
        Found { picks: self.found.picks || test, ..self.found.clone() }
    }

    /// Notes for each action whether a test stands in the way to it: in its own branch, and not turned around.
    fn look(&mut self, words: &[&str]) {
        let mut branch = Branch::default();
        let mut outer: Vec<Branch> = Vec::new();
        // Outer branches in which a test has picked.
        let mut outer_picks = 0_usize;
        let last_end = words.iter().rposition(|word| *word == ";");
        let mut at = 0;
        while let Some(word) = words.get(at) {
            if word.starts_with('-') {
                self.picks.insert(at, branch.here || outer_picks > 0);
            }
            at += 1;
            match *word {
                "(" => {
                    outer_picks += usize::from(branch.here);
                    outer.push(std::mem::take(&mut branch));
                }
                ")" => {
                    let inner = std::mem::take(&mut branch);
                    if let Some(above) = outer.pop() {
                        outer_picks -= usize::from(above.here);
                        branch = above;
                    }
                    branch.add(inner.here && inner.earlier);
                }
                "-o" | "-or" => {
                    branch = Branch { earlier: branch.earlier && branch.here, ..Branch::default() };
                }
                "," => branch = Branch::default(),
                "!" | "-not" => branch.turned = true,
                // Links and their like are few; files and directories are everything.
                "-type" | "-xtype" => {
                    branch.add(words.get(at).is_some_and(|kind| kind.chars().all(|c| "lpsbcD".contains(c))));
                    branch.turned = false;
                    at += 1;
                }
                test if TESTS.contains(&test) || test.starts_with("-newer") => {
                    branch.add(!words.get(at).is_some_and(|value| lets_all_through(test, value)));
                    at += usize::from(test != "-empty");
                }
                "-exec" | "-execdir" | "-ok" | "-okdir" => at += run_length(words, at, last_end),
                _ => branch.turned = branch.turned && !word.starts_with('-'),
            }
        }
        self.elsewhere = branch.here || outer_picks > 0;
        // At the end, what any branch lets through is printed.
        self.at_end = branch.here && branch.earlier || outer_picks > 0;
    }
}

/// Whether a pattern for names or paths lets all of them through: `-name '*'`, `-path './*'`, `-regex '.*'`.
fn lets_all_through(test: &str, pattern: &str) -> bool {
    let signs = match test {
        "-regex" | "-iregex" => "*?.+^$/\\()|",
        "-path" | "-ipath" | "-wholename" | "-iwholename" => "*?./",
        _ if test.contains("name") => "*?.",
        _ => return false,
    };
    pattern.chars().all(|c| signs.contains(c))
}

/// One branch of an expression: whether a test has picked in it, and in all of those before it.
struct Branch {
    here: bool,
    earlier: bool,
    turned: bool,
}

impl Default for Branch {
    fn default() -> Self {
        Branch { here: false, earlier: true, turned: false }
    }
}

impl Branch {
    fn add(&mut self, picks: bool) {
        self.here |= picks && !std::mem::take(&mut self.turned);
    }
}

/// How many words the command has that begins at this place: up to `;`, or to a `+` behind `{}` or with no `;` to end
/// it later.
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
    let args = command.args.as_slice();
    let words: Vec<&str> = args.iter().map(|arg| arg.text.as_str()).collect();
    let last_end = words.iter().rposition(|word| *word == ";");
    let search = Search::of(args);
    let mut inner = Vec::new();
    let mut at = 0;
    while let Some(word) = words.get(at) {
        let action = at;
        at += 1;
        if !matches!(*word, "-exec" | "-execdir" | "-ok" | "-okdir") {
            continue;
        }
        let length = run_length(&words, at, last_end);
        // One command for each place where the search begins.
        let run = args.get(at..at + length).unwrap_or_default();
        at += length;
        if !meter.try_charge(WORD * (1 + length) * search.found.starts.len()) {
            continue;
        }
        // There it runs where the file lies, which is only known when it does.
        let apart = word.ends_with("dir");
        let mut found = search.found(action);
        if apart {
            found.starts = found.starts.iter().map(|start| rooted(start, command)).collect();
        }
        let cwd = apart.then_some(None);
        let words = if takes_away(run) { found.taken("$FOUND") } else { found.below("$FOUND") };
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

/// Whether a command takes files away, so that of all in a directory nothing is left.
pub(super) fn takes_away(args: &[Arg]) -> bool {
    let names = args.iter().flat_map(|arg| arg.text.split(|c: char| c.is_whitespace() || matches!(c, '/' | ';' | '"')));
    names.into_iter().any(|word| lists(&roles::FILES_REMOVERS, word))
}

/// `{}` stands for whatever is found.
fn placed(arg: &Arg, found: &Arg, meter: &Meter) -> Arg {
    let Some(at) = arg.text.find("{}") else { return arg.clone() };
    let known = found.known.map(|known| at + known);
    match meter.replace(&arg.text, "{}", &found.text) {
        Some(text) => Arg { text: text.into(), known, glob: found.glob && found.is_known() },
        None => super::later("$FOUND"),
    }
}

/// The names that are searched for, if everything that is found has one of them.
fn only_names(args: &[Arg]) -> Vec<String> {
    let words: Vec<&str> = args.iter().map(|arg| arg.text.as_str()).collect();
    let mut names = Vec::new();
    for branch in words.split(|word| matches!(*word, "-o" | "-or" | ",")) {
        let tests = branch.iter().enumerate().filter(|(_, test)| matches!(**test, "-name" | "-iname"));
        let is_turned = |at: usize| at.checked_sub(1).is_some_and(|at| matches!(branch.get(at), Some(&("!" | "-not"))));
        let given = tests.filter(|(at, _)| !is_turned(*at)).filter_map(|(at, _)| branch.get(at + 1));
        let is_telling = |name: &&&str| !name.contains(['/', '$']) && name.contains(|c| !matches!(c, '*' | '?' | '.'));
        // One name of a branch is enough, since all of its tests must hold.
        match given.into_iter().find(is_telling) {
            Some(name) => names.push((*name).to_owned()),
            None => return Vec::new(),
        }
    }
    // `! ( -name a )`
    let is_turned_group = words.windows(2).any(|pair| matches!(pair, ["!" | "-not", "("]));
    if is_turned_group { Vec::new() } else { names }
}

/// The one path that is searched for, as it would lie right below a start.
fn only_path(args: &[Arg]) -> Option<String> {
    let is_test = |arg: &Arg| matches!(arg.text.as_str(), "-path" | "-ipath" | "-wholename" | "-iwholename");
    let mut paths = args.iter().zip(args.iter().skip(1)).filter(|(test, _)| is_test(test));
    let (_, path) = paths.next().filter(|_| paths.next().is_none())?;
    let either = args.iter().any(|arg| matches!(arg.text.as_str(), "-o" | "-or" | "!" | "-not" | ","));
    let path = path.text.trim_start_matches('.').trim_start_matches(['*', '/']);
    let path = if path.starts_with(|c: char| c.is_alphanumeric() || c == '.') { path } else { return None };
    (!either && !path.is_empty()).then(|| path.to_owned())
}

/// Whether a `find` prints the names that it finds, and nothing else.
pub(super) fn prints_names(args: &[Arg]) -> bool {
    let others = ["-exec", "-execdir", "-ok", "-okdir", "-ls"];
    let formats = args.iter().zip(args.iter().skip(1)).filter(|(action, _)| action.text == "-printf");
    let plain = |format: &str| matches!(format, "%p\\n" | "%p\\0" | "%p " | "%p\n");
    !args.iter().any(|arg| others.contains(&arg.text.as_str()))
        && formats.into_iter().all(|(_, format)| plain(&format.text))
}

/// Where the first action of a `find` stands.
pub(super) fn first_action(args: &[Arg]) -> usize {
    args.iter().position(|arg| ACTIONS.contains(&arg.text.as_str())).unwrap_or(args.len())
}

const FD: Options = Options {
    short: "dEeSotcjC",
    long: &[
        "and", "base-directory", "batch-size", "changed-before", "changed-within", "color", "exact-depth", "exclude",
        "extension", "format", "ignore-file", "max-depth", "max-results", "min-depth", "newer", "older", "owner",
        "path-separator", "search-path", "size", "threads", "type",
    ],
};

/// What a `fd` finds.
pub(in super::super) fn fd_found(args: &[Arg]) -> Found {
    let end = args.iter().position(is_fd_run).unwrap_or(args.len());
    let args = args.get(..end).unwrap_or_default();
    let operands = FD.operands(args);
    let pattern = operands.first().map_or("", |arg| arg.text.as_str());
    let picked = FD.values(args, "e extension S size newer older changed-within changed-before and");
    let base = FD.anywhere(args, "C base-directory");
    let named = operands.iter().skip(1).map(|arg| (*arg).clone());
    let mut starts: Vec<Arg> = named.chain(FD.values(args, "search-path")).collect();
    if starts.is_empty() {
        starts.push(Arg::literal("."));
    }
    if let Some(base) = base {
        let below = |start: &Arg| match start.text.starts_with('/') {
            true => start.clone(),
            false => Arg { text: format!("{}/{}", base.text.trim_end_matches('/'), start.text).into(), ..base.clone() },
        };
        starts = starts.iter().map(below).collect();
    }
    let picks = !picked.is_empty() || pattern.contains(|c| !matches!(c, '.' | '*' | '^' | '$' | '?'));
    Found { starts, picks, ..Found::default() }
}

fn is_fd_run(arg: &Arg) -> bool {
    let cluster = |letters: &str| !letters.starts_with('-') && letters.ends_with(['x', 'X']);
    matches!(arg.text.as_str(), "--exec" | "--exec-batch")
        || arg
            .text
            .strip_prefix('-')
            .is_some_and(|letters| cluster(letters) && !letters.chars().any(|letter| FD.short.contains(letter)))
}

pub(super) fn fd(args: &[Arg], meter: &Meter) -> Vec<Inner> {
    let Some(at) = args.iter().position(is_fd_run) else { return Vec::new() };
    let run: Vec<&Arg> = args.iter().skip(at + 1).take_while(|arg| arg.text != ";").collect();
    let found = fd_found(args);
    if !meter.try_charge(WORD * (1 + run.len()) * found.starts.len()) {
        return Vec::new();
    }
    let above = Found { picks: false, ..fd_found(args) };
    let marked = run.iter().any(|arg| arg.text.contains('{'));
    let owned: Vec<Arg> = run.iter().map(|arg| (*arg).clone()).collect();
    let words = if takes_away(&owned) { found.words("$FOUND") } else { found.below("$FOUND") };
    let both = words.into_iter().zip(above.words("$FOUND"));
    let inner = both.map(|(word, above)| {
        // `{//}` is the directory that it lies in, which may be the first one.
        let place = |arg: &&Arg| match arg.text.as_str() {
            "{//}" => above.clone(),
            "{}" | "{.}" | "{/}" | "{/.}" => word.clone(),
            text if text.contains("{}") => placed(arg, &word, meter),
            _ => (*arg).clone(),
        };
        let end = (!marked).then(|| word.clone());
        Inner::command(run.iter().map(place).chain(end).collect())
    });
    inner.collect()
}
