//! The names that a command may print: what it lists with the hidden files, and what it is asked for. They are patterns of
//! what may be named, not all of it: the caller keeps those that are about protected files.

use super::super::{Arg, Command, Input};
use super::find::{fd_found, first_action, found};
use super::{WORD, git, names};
use crate::programs::{Use, WordUse};
use crate::shell::effects::options_of;
use crate::verdict::limits::Meter;
use std::collections::BTreeMap;

/// The guard's own programs, which are below this directory of the home directory.
const OWN_PROGRAMS: [&str; 3] = ["rune", "quarantine", "security-hook"];
const OWN_DIRECTORY: &str = ".local/bin";

/// What a filter lets through.
#[derive(Default)]
struct Narrowing {
    /// Parts of names as patterns for file names.
    parts: Vec<String>,
    inverted: bool,
}

impl Narrowing {
    /// What `grep` or a similar filter with one plain pattern lets through.
    fn of(command: &Command) -> Option<Narrowing> {
        if !names::is_name_filter(command) {
            return None;
        }
        let options = options_of(&command.program);
        let mut patterns = options.values(&command.args, "e regexp");
        if patterns.is_empty() {
            patterns.extend(options.operands(&command.args).first().map(|pattern| (*pattern).clone()));
        }
        let letters =
            |arg: &Arg| arg.text.strip_prefix('-').is_some_and(|rest| !rest.starts_with('-') && rest.contains('v'));
        let inverted = command.args.iter().any(|arg| letters(arg) || arg.text == "--invert-match");
        let parts = patterns.iter().flat_map(|pattern| pattern.text.split(['|', '\n'])).map(to_part).collect();
        Some(Narrowing { parts, inverted })
    }

    /// Whether a name may pass.
    fn passes(&self, name: &str) -> bool {
        let overlaps = |part: &String| crate::path::names_overlap(name.as_bytes(), part.as_bytes());
        self.parts.iter().any(overlaps) != self.inverted
    }
}

/// Converts a plain regular expression for a part of a name to a pattern for names; another one is `*`.
fn to_part(pattern: &str) -> String {
    let pattern = pattern.trim_end_matches('\\').trim_matches(['(', ')']);
    let (start, rest) = pattern.strip_prefix('^').map_or(("*", pattern), |rest| ("", rest));
    let (rest, end) = rest.strip_suffix('$').map_or((rest, "*"), |rest| (rest, ""));
    let mut part = start.to_owned();
    let mut chars = rest.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\\' => match chars.next() {
                Some(c) if !c.is_alphanumeric() => part.push(c),
                _ => return "*".to_owned(),
            },
            '.' if chars.next_if(|next| matches!(next, '*' | '+')).is_some() => part.push('*'),
            '.' => part.push('?'),
            c if c.is_alphanumeric() || "_-/ ~".contains(c) => part.push(c),
            _ => return "*".to_owned(),
        }
    }
    part.push_str(end);
    // A part behind the last slash is about the name.
    part.rsplit('/').next().filter(|name| !name.trim_matches('*').is_empty()).map_or(part.clone(), str::to_owned)
}

/// The names that the output of some commands of one text may hold.
pub(in super::super) fn shown(commands: &[&Command], home: Option<&str>, meter: &Meter) -> Vec<Arg> {
    let mut narrowings: BTreeMap<usize, Vec<Narrowing>> = BTreeMap::new();
    for command in commands {
        if let Some(narrowing) = Narrowing::of(command) {
            narrowings.entry(command.pipeline).or_default().push(narrowing);
        }
    }
    let mut all = Vec::new();
    for command in commands {
        let narrowings = narrowings.get(&command.pipeline).map(Vec::as_slice).unwrap_or_default();
        let parts: usize = narrowings.iter().map(|by| by.parts.len()).sum();
        if meter.try_charge(WORD * (1 + command.args.len()) * (1 + parts)) {
            all.extend(shown_by(command, narrowings, home));
        }
        // What a filter makes of a text may be any part of it.
        if let Input::Text(text) = &command.input
            && meter.try_charge(text.len())
        {
            let words = text.lines().chain(text.split_whitespace());
            let words = words.filter_map(|word| Some((word.trim(), word.get(word.find('/')?..)?.trim())));
            all.extend(words.flat_map(|(word, path)| [Arg::literal(word), Arg::literal(path)]));
        }
    }
    all
}

fn shown_by(command: &Command, narrowings: &[Narrowing], home: Option<&str>) -> Vec<Arg> {
    let args = command.args.as_slice();
    let operands = || args.iter().filter(|arg| !arg.text.starts_with('-')).cloned();
    let has = |letters: &str, long: &[&str]| args.iter().any(|arg| is_flag(&arg.text, letters, long));
    match command.program.as_str() {
        "which" | "whereis" | "whence" | "where" | "type" | "command" | "hash" => {
            operands().filter_map(|name| own_program(&name.text, home)).collect()
        }
        "find" | "gfind" | "bfs" => {
            let search = found(args, first_action(args));
            let words = search.below("$ARGS");
            let base = |start: &Arg| narrowed_below(start, narrowings);
            let starts: Vec<Arg> = search.starts().iter().filter(|start| start.is_known()).cloned().collect();
            // Everything below home includes the keys.
            let searched = starts.iter().filter(|_| !search.is_named());
            let everything = searched.flat_map(|start| keys_below(start, home));
            let everything: Vec<Arg> = everything.filter(|_| narrowings.iter().all(|by| by.parts.is_empty())).collect();
            let paths = path_tests(args, &starts);
            words.into_iter().chain(everything).chain(paths).chain(starts.iter().flat_map(base)).collect()
        }
        "fd" | "fdfind" => {
            let search = fd_found(args);
            let hidden = has("Hu", &["hidden", "unrestricted"]);
            let name = operands().next().filter(|_| hidden).map(|name| to_part(&name.text));
            let by_name = Narrowing { parts: name.into_iter().collect(), inverted: false };
            search.starts().iter().flat_map(|start| narrowed_below(start, std::slice::from_ref(&by_name))).collect()
        }
        "ls" | "dir" | "vdir" | "gls" | "eza" | "exa" | "lsd" | "tree" | "du" => {
            let hidden = has("aAf", &["all", "almost-all"]) || command.program == "du";
            let mut places: Vec<Arg> = operands().filter(|place| place.is_known()).collect();
            if places.is_empty() {
                places.push(Arg::literal("."));
            }
            let inside = places.iter().flat_map(|place| entries(place, hidden, narrowings));
            let given = places.iter().filter(|place| place.text != "." && passes_all(&place.text, narrowings));
            inside.chain(given.cloned()).collect()
        }
        "compgen" => {
            let patterns = args.iter().zip(args.iter().skip(1)).filter(|(option, _)| option.text == "-G");
            let files =
                has("fd", &[]) || args.iter().any(|arg| matches!(arg.text.as_str(), "file" | "directory" | "default"));
            let prefix = args.last().filter(|last| files && last.is_known() && !last.text.starts_with('-'));
            let begun = prefix.map(|prefix| pattern(format!("{}*", prefix.text)));
            patterns.map(|(_, glob)| pattern(glob.text.to_string())).chain(begun).collect()
        }
        "locate" | "plocate" | "mlocate" | "mdfind" => {
            let name = |name: Arg| {
                let home = home?;
                let last = name.text.rsplit('/').next()?.to_owned();
                Some(pattern(format!("{home}/**/{last}")))
            };
            let own = operands().filter_map(|name| own_program(&name.text, home)).collect::<Vec<_>>();
            operands().filter_map(name).chain(own).collect()
        }
        "git" => shown_by_git(args, narrowings),
        "echo" | "printf" | "print" | "expr" | "realpath" | "readlink" | "stat" | "dirname" => {
            operands().filter(|arg| arg.text.contains('/') || arg.glob).collect()
        }
        // `seq -f /a/b%.0f 1 9`
        "seq" | "jot" => {
            let formats = operands().filter(|arg| arg.text.contains('/'));
            formats.map(|arg| pattern(arg.text.split('%').next().unwrap_or_default().to_owned() + "*")).collect()
        }
        "systemd-path" | "xdg-user-dir" => home
            .filter(|_| operands().any(|arg| arg.text.contains("configuration")))
            .map(|home| Arg::literal(format!("{home}/.config")))
            .into_iter()
            .collect(),
        _ if args.is_empty() => Vec::new(),
        _ => {
            let words = args.iter().filter(|arg| arg.is_known() && arg.text.contains(['/', '~', '.']));
            let literals = quoted_in_code(command, home);
            let below = words.chain(&literals).flat_map(|word| keys_below(word, home)).collect::<Vec<_>>();
            literals.into_iter().chain(below).collect()
        }
    }
}

/// The keys below a directory, which a program of which this is not known may list: the home directory, one above it or one
/// of the hidden ones in it.
fn keys_below(directory: &Arg, home: Option<&str>) -> Vec<Arg> {
    let base = directory.text.trim_end_matches('/').trim_end_matches("/.");
    let is_upward = !base.is_empty() && base.split('/').all(|name| matches!(name, "." | "..")) && base.contains("..");
    let is_above = |home: &str| {
        base.starts_with('/') && home.strip_prefix(base).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    // A name with an ending is that of a file: `~/.tool/data.db`.
    let has_ending = base.rsplit('/').next().is_some_and(|name| name.trim_start_matches('.').contains('.'));
    let is_hidden = |home: &str| !has_ending && base.strip_prefix(home).is_some_and(|rest| rest.starts_with("/."));
    let keys: &[&str] = match home {
        Some(home) if is_hidden(home) => &["id_rsa", "credentials"],
        Some(home) if is_above(home) => return vec![Arg::literal(format!("{home}/.ssh/id_rsa"))],
        _ if is_upward => &[".ssh/id_rsa", ".aws/credentials"],
        _ => &[],
    };
    keys.iter().map(|key| Arg::literal(format!("{base}/{key}"))).collect()
}

fn is_flag(word: &str, letters: &str, long: &[&str]) -> bool {
    match word.strip_prefix("--") {
        Some(name) => long.contains(&name),
        None => word.strip_prefix('-').is_some_and(|cluster| cluster.contains(|letter| letters.contains(letter))),
    }
}

fn pattern(text: String) -> Arg {
    Arg { glob: text.contains(['*', '?', '[']), text: text.into(), known: None }
}

/// zsh: `=rune` and `$commands[rune]` are the path of the program.
pub(in super::super) fn expand_own_program(arg: &mut Arg, home: Option<&str>) {
    let name = arg.text.strip_prefix('=').or_else(|| {
        let rest = arg.text.strip_prefix("$commands[").or_else(|| arg.text.strip_prefix("${commands["))?;
        rest.trim_end_matches('}').strip_suffix(']')
    });
    if let Some(path) = name.and_then(|name| own_program(name, home)) {
        *arg = path;
    }
}

/// The path of a program of the guard.
fn own_program(name: &str, home: Option<&str>) -> Option<Arg> {
    let name = name.rsplit('/').next().filter(|name| OWN_PROGRAMS.contains(name))?;
    home.map(|home| Arg::literal(format!("{home}/{OWN_DIRECTORY}/{name}")))
}

fn passes_all(path: &str, narrowings: &[Narrowing]) -> bool {
    let name = path.rsplit('/').next().unwrap_or_default();
    narrowings.iter().all(|by| by.passes(name))
}

/// The entries of a directory, by their names and by their paths.
fn entries(place: &Arg, hidden: bool, narrowings: &[Narrowing]) -> Vec<Arg> {
    let base = place.text.trim_end_matches('/');
    let positive = narrowings.iter().filter(|by| !by.inverted).flat_map(|by| by.parts.iter());
    let mut found: Vec<String> = Vec::new();
    for part in positive.filter(|part| !part.trim_matches('*').is_empty()) {
        found.push(part.clone());
        // A part of a name may begin behind the dot of a hidden one.
        found.extend(part.strip_prefix('*').filter(|_| hidden).map(|rest| format!(".{rest}")));
    }
    if hidden && passes_all(".env", narrowings) {
        found.push(".env".to_owned());
    }
    found.retain(|name| hidden || !name.starts_with('.'));
    let both = |name: String| [pattern(format!("{base}/{name}")), pattern(name)];
    found.into_iter().flat_map(both).collect()
}

/// What lies below a start by names that filters let through.
fn narrowed_below(start: &Arg, narrowings: &[Narrowing]) -> Vec<Arg> {
    let base = start.text.trim_end_matches('/');
    let positive = narrowings.iter().filter(|by| !by.inverted).flat_map(|by| by.parts.iter());
    let telling = positive.filter(|part| !part.trim_matches(['*', '?']).is_empty() && start.is_known());
    telling.flat_map(|part| [format!("{base}/**/{part}"), format!("{base}/**/{part}/**")].map(pattern)).collect()
}

/// The paths that the tests of a `find` ask for: `-path '*ssh*'`.
fn path_tests(args: &[Arg], starts: &[Arg]) -> Vec<Arg> {
    let is_test = |arg: &Arg| matches!(arg.text.as_str(), "-path" | "-ipath" | "-wholename" | "-iwholename" | "-regex");
    let tests = args.iter().zip(args.iter().skip(1)).enumerate().filter(|(_, (test, _))| is_test(test));
    let is_turned = |at: usize| {
        at.checked_sub(1).and_then(|at| args.get(at)).is_some_and(|arg| matches!(arg.text.as_str(), "!" | "-not"))
    };
    let given =
        tests.filter(|(at, _)| !is_turned(*at)).map(|(_, (_, path))| path.text.trim_start_matches('.').to_owned());
    let below = |path: String| {
        let ends = path.ends_with('*');
        let inner = path.trim_start_matches(['*', '/']).to_owned();
        let lead = if path.starts_with("*/") || path.starts_with('/') { "" } else { "*" };
        let path = format!("{lead}{inner}");
        starts.iter().flat_map(move |start| {
            let base = start.text.trim_end_matches('/');
            let exact = pattern(format!("{base}/**/{path}"));
            let deep = ends.then(|| pattern(format!("{base}/**/{path}/**")));
            std::iter::once(exact).chain(deep).collect::<Vec<_>>()
        })
    };
    given.filter(|path| path.contains(char::is_alphanumeric)).flat_map(below).collect()
}

/// What git ignores holds the secrets of the project.
fn shown_by_git(args: &[Arg], narrowings: &[Narrowing]) -> Vec<Arg> {
    let words = git::behind_global(args);
    let Some((verb, rest)) = words.split_first() else { return Vec::new() };
    let has = |letters: &str, long: &[&str]| rest.iter().any(|arg| is_flag(&arg.text, letters, long));
    let shows_ignored = match verb.text.as_str() {
        "check-ignore" => return rest.iter().filter(|arg| !arg.text.starts_with('-')).cloned().collect(),
        "ls-files" => has("i", &["ignored"]) || has("o", &["others"]) && !has("X", &["exclude-standard"]),
        "status" => rest.iter().any(|arg| arg.text.starts_with("--ignored")),
        "clean" => has("n", &["dry-run"]) && has("xX", &[]),
        _ => false,
    };
    if shows_ignored && passes_all(".env", narrowings) { vec![Arg::literal(".env")] } else { Vec::new() }
}

/// The paths in code that computes what it prints, and the program that it looks up.
fn quoted_in_code(command: &Command, home: Option<&str>) -> Vec<Arg> {
    let Some(line) = command.parsed.as_deref() else { return Vec::new() };
    let is_code = |used: &&WordUse| used.takes == Some(Use::Code) || command.program == "jq" && !used.by_option;
    let code = line.uses.iter().filter(is_code).filter_map(|used| command.value(used));
    let mut found = Vec::new();
    for code in code {
        // Parts that are joined: `".e" + "nv"`.
        let joined: String = code.text.split(['"', '\'', '`']).skip(1).step_by(2).collect();
        found.extend(Some(pattern(joined)).filter(|word| word.text.len() > 3));
        for literal in code.text.split(['"', '\'', '`']).skip(1).step_by(2) {
            found.extend(own_program(literal, home));
            let rooted = match (literal.strip_prefix("~/"), home) {
                (Some(rest), Some(home)) => format!("{home}/{rest}"),
                _ => literal.to_owned(),
            };
            found.extend(Some(pattern(rooted)).filter(|_| literal.contains('/') && !literal.contains("://")));
        }
    }
    found
}
