//! Compares Rune's shell parser with bash and with the crates `rable` and `brush-parser`.
//!
//! The lines in `tests/corpus/shell/lines.jsonl` are only parsed, never run: bash is called with `-n`. Intended differences
//! from bash are listed in `tests/corpus/shell/differences.jsonl`, errors of the other parsers in
//! `tests/corpus/shell/other_parsers.jsonl`, each with a reason. An entry that no longer differs fails the test.

mod brush;
mod rable;

use rune::path::Place;
use rune::programs::Catalogue;
use rune::shell::{self, Unreadable};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use std::collections::{BTreeMap, BTreeSet};
use std::panic;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::OnceLock;
use std::thread;

/// An intended difference from bash.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Difference {
    line: String,
    /// Whether bash accepts the line.
    bash: bool,
    /// Whether Rune accepts it.
    ours: bool,
    why: String,
}

/// A line that another parser parses wrongly.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ParserError {
    line: String,
    parser: String,
    why: String,
}

/// Reads a data file with one JSON value per line.
fn data<T: DeserializeOwned>(name: &str) -> Vec<T> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/corpus/shell").join(name);
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let parse = |(number, line): (usize, &str)| {
        serde_json::from_str(line).unwrap_or_else(|error| panic!("{name}:{}: {error}", number + 1))
    };
    text.lines().enumerate().map(parse).collect()
}

fn corpus() -> Vec<String> {
    data("lines.jsonl")
}

/// Whether Rune can parse the line itself. Code in its arguments does not count: bash parses that only when it runs.
fn accepts(line: &str) -> bool {
    let reading = shell::read(line, &Place::default(), &Catalogue::shipped());
    reading.exceeded.is_none()
        && !reading.uncertainties.iter().any(|doubt| !doubt.inner && doubt.reason != Unreadable::Lookalike)
}

/// The result of `bash -n`.
struct SyntaxCheck {
    has_errors: bool,
    /// Such as for a heredoc without its end.
    has_warnings: bool,
}

fn check_with_bash(text: &str) -> SyntaxCheck {
    // The environment is empty because BASH_ENV names a file to read and LANG translates messages. PATH is kept because
    // /bin/bash is version 3.2 on macOS. `--`, because some texts begin with `-`.
    let output = Command::new("bash")
        .args(["--norc", "--noprofile", "-n", "-c", "--", text])
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("LC_ALL", "C")
        .stdin(Stdio::null())
        .output()
        .unwrap_or_else(|error| panic!("this test needs bash on the PATH: {error}"));
    // A message may have several lines. Its first one begins with the name of the shell.
    let stderr = String::from_utf8_lossy(&output.stderr);
    let messages = stderr.lines().filter(|line| line.starts_with("bash:"));
    let (warnings, errors): (Vec<_>, Vec<_>) = messages.partition(|line| line.contains("warning:"));
    SyntaxCheck { has_errors: !output.status.success() || !errors.is_empty(), has_warnings: !warnings.is_empty() }
}

/// Whether bash can parse the text.
fn bash_accepts(text: &str) -> bool {
    let check = check_with_bash(text);
    if check.has_errors || check.has_warnings {
        return !check.has_errors;
    }
    // After some errors, such as in `[[ ]]`, bash stops parsing without a message and exits with 0. So an error is
    // appended: bash reports it only if it has parsed the text to its end.
    check_with_bash(&format!("{text}\n)")).has_errors
}

/// Which lines of the corpus bash accepts. Computed once for all tests, on two threads.
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
fn the_corpus_is_large_and_has_no_duplicates() {
    let corpus = corpus();
    let distinct: BTreeSet<_> = corpus.iter().collect();
    assert_eq!(distinct.len(), corpus.len(), "a line is listed twice");
    assert!(corpus.len() >= 1_600, "only {} lines", corpus.len());
    let refused = bash().values().filter(|accepted| !**accepted).count();
    assert!(refused * 5 >= corpus.len(), "only {refused} of {} lines are refused", corpus.len());
}

#[test]
fn the_parser_accepts_what_bash_accepts() {
    let mut listed: BTreeMap<String, (bool, bool)> = BTreeMap::new();
    for Difference { line, bash, ours, why } in data("differences.jsonl") {
        assert!(!why.is_empty(), "no reason for {line:?}");
        assert!(listed.insert(line.clone(), (bash, ours)).is_none(), "listed twice: {line:?}");
    }
    let bash = bash();
    let mut wrong = Vec::new();
    for text in listed.keys().filter(|text| !bash.contains_key(*text)) {
        wrong.push(format!("listed, but not in the corpus: {text:?}"));
    }
    for (text, accepted_by_bash) in bash {
        let both = (*accepted_by_bash, accepts(text));
        match listed.get(text) {
            Some(expected) if *expected == both && both.0 != both.1 => {}
            Some(expected) => wrong.push(format!("listed as {expected:?}, is {both:?}: {text:?}")),
            None if both.0 == both.1 => {}
            None => wrong.push(format!("bash {}, Rune {}: {text:?}", both.0, both.1)),
        }
    }
    assert!(wrong.is_empty(), "{} differences (true: accepts)\n{}", wrong.len(), wrong.join("\n"));
}

/// The programs that a parser finds in a line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Programs {
    /// Those whose name is known without running anything.
    known: BTreeSet<String>,
    /// Those of `known` that no other program runs: not the `ls` of `bash -c ls`.
    direct: BTreeSet<String>,
    /// Whether there is a name that is known only at run time.
    dynamic: bool,
}

/// The programs that Rune finds.
fn programs(line: &str) -> Programs {
    let mut programs = Programs::default();
    for command in shell::read(line, &Place::default(), &Catalogue::shipped()).commands {
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

/// An upper bound of the nesting depth. The other parsers recurse, and a stack overflow cannot be caught.
fn max_depth(line: &str) -> usize {
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

/// Characters that expand where they are not quoted, so that the word is known only at run time.
const EXPANDS: &str = "*?[{~";

/// Runs another parser. `None` if it rejects the line or panics.
fn parse_with(parser: fn(&str) -> Option<Programs>, line: &str) -> Option<Programs> {
    panic::catch_unwind(|| parser(line)).ok().flatten()
}

#[test]
fn the_parser_finds_the_same_programs_as_other_parsers() {
    type Parser = fn(&str) -> Option<Programs>;
    let parsers: [(&str, Parser); 2] = [("rable", rable::programs), ("brush", brush::programs)];
    let mut excused: BTreeSet<(String, String)> = BTreeSet::new();
    for ParserError { line, parser, why } in data("other_parsers.jsonl") {
        assert!(!why.is_empty(), "no reason for {line:?}");
        assert!(excused.insert((line.clone(), parser)), "listed twice: {line:?}");
    }
    // A line that Rune rejects on purpose is never allowed, so its programs do not matter.
    let refused: BTreeSet<String> = data("differences.jsonl").into_iter().map(|entry: Difference| entry.line).collect();
    let mut wrong = Vec::new();
    let mut compared = BTreeMap::new();
    let lines = bash().iter().filter(|(text, accepted)| **accepted && !refused.contains(*text) && max_depth(text) < 20);
    for (text, _) in lines {
        for (name, parser) in parsers {
            let Some(theirs) = parse_with(parser, text) else { continue };
            *compared.entry(name).or_insert(0_usize) += usize::from(!theirs.known.is_empty());
            let ours = programs(text);
            let key = (text.clone(), name.to_owned());
            match (disagreement(text, &ours, &theirs), excused.remove(&key)) {
                (None, false) | (Some(_), true) => {}
                (None, true) => wrong.push(format!("{name} is excused, but agrees: {text:?}")),
                (Some(what), false) => wrong.push(format!("{name}: {what}: {text:?}")),
            }
        }
    }
    for (text, name) in &excused {
        wrong.push(format!("{name} is excused, but never compared: {text:?}"));
    }
    // Guards against a parser that rejects nearly every line.
    for (name, _) in parsers {
        let count = compared.get(name).copied().unwrap_or_default();
        assert!(count >= 1_000, "{name} finds programs in {count} lines only");
    }
    assert!(wrong.is_empty(), "{} disagreements\n{}", wrong.len(), wrong.join("\n"));
}

/// How the programs that two parsers find contradict each other, if they do.
fn disagreement(text: &str, ours: &Programs, theirs: &Programs) -> Option<String> {
    // Rune also parses arguments that are commands (`bash -c`, `xargs`, `env`), `${x:-$(…)}` and bodies of heredocs; the
    // other parser may not. So Rune must find everything that it finds, but not the reverse.
    let missed: Vec<_> = theirs.known.difference(&ours.known).collect();
    if !missed.is_empty() {
        // Rune may treat a name as dynamic that the other parser takes literally (`alias`, a function's argument). That
        // is stricter, but accepted for one name only.
        if !(ours.dynamic && missed.len() == 1) {
            return Some(format!("finds {missed:?}, which Rune misses"));
        }
    }
    // If the line has no construct that the other parser may leave unparsed, it must find every direct program too.
    let hides = ["$(", "`", "<(", ">(", "${", "<<", "$((", "$[", "(("].iter().any(|opener| text.contains(opener));
    let invented: Vec<_> = ours.direct.difference(&theirs.known).collect();
    if !hides && !theirs.dynamic && !invented.is_empty() {
        return Some(format!("does not find {invented:?}, which Rune finds"));
    }
    None
}
