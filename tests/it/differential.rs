//! Our reading of bash texts against three others': bash's own, rable's and brush's.
//!
//! The texts are data (`tests/corpus/shell/lines.jsonl`) and only ever parsed: bash is called with `-n`. Where we differ
//! from bash and mean to, `tests/corpus/shell/differences.jsonl` says why; where another parser is wrong,
//! `tests/corpus/shell/other_parsers.jsonl` does. Both lists are honest: an entry that no longer differs fails the test.

mod brush;
mod rable;

use rune::path::Place;
use rune::shell::{self, Unreadable};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::panic;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::OnceLock;
use std::thread;

/// The lines of a data file, each of them JSON.
fn data(name: &str) -> Vec<Value> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/corpus/shell").join(name);
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let parse = |(number, line): (usize, &str)| {
        serde_json::from_str(line).unwrap_or_else(|error| panic!("{name}:{}: {error}", number + 1))
    };
    text.lines().enumerate().map(parse).collect()
}

fn corpus() -> Vec<String> {
    data("lines.jsonl").iter().map(|line| line.as_str().expect("a string per line").to_owned()).collect()
}

/// Whether we can read the line itself; what it runs in turn, bash reads only when it runs it.
fn accepts(line: &str) -> bool {
    let reading = shell::read(line, &Place::default());
    reading.exceeded.is_none()
        && !reading.uncertainties.iter().any(|doubt| !doubt.inner && doubt.reason != Unreadable::Lookalike)
}

/// What bash says about a text, and whether it warned about a heredoc that the text's end cuts off.
struct Answer {
    silent: bool,
    warned: bool,
}

fn ask_bash(text: &str) -> Answer {
    // An empty environment, because BASH_ENV names a file to read and messages come in the user's language; but PATH,
    // because the bash of a Mac's /bin is 3.2 and a newer one stands elsewhere. `--`, because texts begin with `-`.
    let output = Command::new("bash")
        .args(["--norc", "--noprofile", "-n", "-c", "--", text])
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("LC_ALL", "C")
        .stdin(Stdio::null())
        .output()
        .unwrap_or_else(|error| panic!("this test needs bash on the PATH: {error}"));
    // A complaint may go on over several lines; its first one begins with the name of the shell.
    let said = String::from_utf8_lossy(&output.stderr);
    let complaints = said.lines().filter(|line| line.starts_with("bash:"));
    let (warnings, errors): (Vec<_>, Vec<_>) = complaints.partition(|line| line.contains("warning:"));
    Answer { silent: output.status.success() && errors.is_empty(), warned: !warnings.is_empty() }
}

/// Whether bash can read the text.
fn bash_accepts(text: &str) -> bool {
    let answer = ask_bash(text);
    if !answer.silent || answer.warned {
        return answer.silent;
    }
    // Behind some errors, `[[ ]]` for one, bash stops reading without a word and without an exit code. If it has read
    // all of the text, it has to stumble over what we append; if it stopped before, it stays silent.
    !ask_bash(&format!("{text}\n)")).silent
}

/// What bash accepts, asked once for all tests and in two threads.
fn bash() -> &'static BTreeMap<String, bool> {
    static ANSWERS: OnceLock<BTreeMap<String, bool>> = OnceLock::new();
    ANSWERS.get_or_init(|| {
        let version = Command::new("bash").args(["-c", "echo ${BASH_VERSINFO[0]}"]).output();
        let version = version.unwrap_or_else(|error| panic!("this test needs bash on the PATH: {error}"));
        let major: u32 = String::from_utf8_lossy(&version.stdout).trim().parse().unwrap_or_default();
        assert!(major >= 5, "this test needs bash 5 or later, the one on the PATH is {major}");
        let corpus = corpus();
        thread::scope(|scope| {
            let halves = corpus.chunks(corpus.len().div_ceil(2));
            let threads: Vec<_> = halves
                .map(|half| {
                    scope.spawn(|| half.iter().map(|line| (line.clone(), bash_accepts(line))).collect::<Vec<_>>())
                })
                .collect();
            threads.into_iter().flat_map(|thread| thread.join().expect("bash is asked")).collect()
        })
    })
}

#[test]
fn the_corpus_is_large_and_without_repetition() {
    let corpus = corpus();
    let distinct: BTreeSet<_> = corpus.iter().collect();
    assert_eq!(distinct.len(), corpus.len(), "a line stands twice");
    assert!(corpus.len() >= 1_600, "only {} lines", corpus.len());
    let refused = bash().values().filter(|accepted| !**accepted).count();
    assert!(refused * 5 >= corpus.len(), "only {refused} of {} lines are refused", corpus.len());
}

#[test]
fn accepts_and_rejects_like_bash() {
    let mut listed: BTreeMap<String, (bool, bool)> = BTreeMap::new();
    for entry in data("differences.jsonl") {
        let text = entry["line"].as_str().expect("a line").to_owned();
        assert!(entry["why"].as_str().is_some_and(|why| !why.is_empty()), "no reason for {text:?}");
        let answers = (entry["bash"].as_bool().expect("bash"), entry["ours"].as_bool().expect("ours"));
        assert!(listed.insert(text.clone(), answers).is_none(), "listed twice: {text:?}");
    }
    let bash = bash();
    let mut wrong = Vec::new();
    for text in listed.keys().filter(|text| !bash.contains_key(*text)) {
        wrong.push(format!("listed, but not in the corpus: {text:?}"));
    }
    for (text, theirs) in bash {
        let both = (*theirs, accepts(text));
        match listed.get(text) {
            Some(expected) if *expected == both && both.0 != both.1 => {}
            Some(expected) => wrong.push(format!("listed as {expected:?}, is {both:?}: {text:?}")),
            None if both.0 == both.1 => {}
            None => wrong.push(format!("bash {}, we {}: {text:?}", both.0, both.1)),
        }
    }
    assert!(wrong.is_empty(), "{} differences (true: accepts)\n{}", wrong.len(), wrong.join("\n"));
}

/// The programs that one reader finds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Programs {
    /// Those whose name is known without running anything.
    known: BTreeSet<String>,
    /// Those of `known` that no other program runs: not the `ls` of `bash -c ls`.
    direct: BTreeSet<String>,
    /// A name that only a running shell knows was among them.
    dynamic: bool,
}

/// What we find.
fn ours(line: &str) -> Programs {
    let mut programs = Programs::default();
    for command in shell::read(line, &Place::default()).commands {
        if !command.known {
            programs.dynamic = true;
            continue;
        }
        if command.via.is_empty() {
            programs.direct.insert(command.program.to_string());
        }
        programs.known.insert(command.program.to_string());
    }
    programs
}

/// Brackets within brackets, roughly and never too low: the other parsers recurse, and a stack that overflows
/// cannot be caught.
fn depth(line: &str) -> usize {
    let words = line.split(|c: char| !c.is_ascii_alphanumeric());
    let keywords = words.filter(|word| matches!(*word, "if" | "for" | "while" | "until" | "case" | "select")).count();
    let (mut now, mut deepest) = (0_usize, 0);
    for c in line.chars() {
        match c {
            '(' | '{' | '[' | '`' => now += 1,
            ')' | '}' | ']' => now = now.saturating_sub(1),
            _ => {}
        }
        deepest = deepest.max(now);
    }
    deepest + keywords
}

/// Characters that expand, unquoted: a word with them is not statically known.
const EXPANDS: &str = "*?[{~";

/// Runs another parser, and takes a panic for a refusal.
fn guarded(parser: fn(&str) -> Option<Programs>, line: &str) -> Option<Programs> {
    panic::catch_unwind(|| parser(line)).ok().flatten()
}

#[test]
fn names_the_same_programs_as_other_parsers() {
    type Parser = fn(&str) -> Option<Programs>;
    let parsers: [(&str, Parser); 2] = [("rable", rable::programs), ("brush", brush::programs)];
    let mut excused: BTreeMap<(String, String), String> = BTreeMap::new();
    for entry in data("other_parsers.jsonl") {
        let field = |key: &str| entry[key].as_str().unwrap_or_else(|| panic!("no {key}: {entry}")).to_owned();
        excused.insert((field("line"), field("parser")), field("why"));
    }
    // A text that bash reads and we refuse on purpose is never let through, so its programs do not matter.
    let refused: BTreeSet<String> =
        data("differences.jsonl").iter().filter_map(|entry| entry["line"].as_str().map(str::to_owned)).collect();
    let mut wrong = Vec::new();
    let mut compared = BTreeMap::new();
    let lines = bash().iter().filter(|(text, accepted)| **accepted && !refused.contains(*text) && depth(text) < 20);
    for (text, _) in lines {
        for (name, parser) in parsers {
            let Some(theirs) = guarded(parser, text) else { continue };
            *compared.entry(name).or_insert(0_usize) += usize::from(!theirs.known.is_empty());
            let ours = ours(text);
            let key = (text.clone(), name.to_owned());
            match (disagreement(text, &ours, &theirs), excused.remove(&key)) {
                (None, None) | (Some(_), Some(_)) => {}
                (None, Some(_)) => wrong.push(format!("{name} is excused, but agrees: {text:?}")),
                (Some(what), None) => wrong.push(format!("{name}: {what}: {text:?}")),
            }
        }
    }
    for (text, name) in excused.keys() {
        wrong.push(format!("{name} is excused, but never compared: {text:?}"));
    }
    // What is never compared proves nothing.
    for (name, _) in parsers {
        let count = compared.get(name).copied().unwrap_or_default();
        assert!(count >= 1_000, "{name} names programs in {count} lines only");
    }
    assert!(wrong.is_empty(), "{} disagreements\n{}", wrong.len(), wrong.join("\n"));
}

/// How two findings contradict each other, if they do.
fn disagreement(text: &str, ours: &Programs, theirs: &Programs) -> Option<String> {
    // We also look into what runs its arguments (`bash -c`, `xargs`, `env`), into `${x:-$(…)}` and into bodies of
    // heredocs; they may not. So what they find we must find, and the reverse does not follow.
    let missed: Vec<_> = theirs.known.difference(&ours.known).collect();
    if !missed.is_empty() {
        // We may know that a name is dynamic where they take it at its word (`alias`, a function's argument). That is
        // the safe side, but only once: a second name has no such excuse.
        if !(ours.dynamic && missed.len() == 1) {
            return Some(format!("finds {missed:?}, which we miss"));
        }
    }
    // Where nothing can hide commands from them, what no other program runs has to be in their tree as well.
    let hides = ["$(", "`", "<(", ">(", "${", "<<", "$((", "$[", "(("].iter().any(|opener| text.contains(opener));
    let invented: Vec<_> = ours.direct.difference(&theirs.known).collect();
    if !hides && !theirs.dynamic && !invented.is_empty() {
        return Some(format!("does not find {invented:?}, which we name"));
    }
    None
}
