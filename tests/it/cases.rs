//! The labelled cases: effect and rule in both presets.

use crate::support::cases::{CaseFile, Expected, KNOWN_GAPS, Row, files};
use crate::support::judge::{Directories, policy, sealed};
use crate::support::sandbox::{Sandbox, finish};
use rune::client::Client as _;
use rune::client::claude::Claude;
use rune::encoding::label::Label;
use rune::event::Event;
use rune::event::Nonce;
use rune::event::taint::Taint;
use rune::policy::Config;
use rune::verdict::Phase;
use rune::verdict::Verdict;
use std::collections::BTreeMap;

/// Whether the session has taken in untrusted content.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Session {
    Clean,
    Tainted,
}

/// What Rune says to a case.
#[derive(Debug)]
struct Answers {
    strict: Expected,
    gentle: Expected,
    /// The answer of strict in a tainted session, where it differs.
    tainted: Option<Expected>,
    /// The text for the model.
    context: String,
}

struct Policies {
    strict: Config,
    gentle: Config,
}

impl Policies {
    fn shipped() -> Policies {
        Policies { strict: policy("strict"), gentle: policy("gentle") }
    }

    fn answers(&self, file: &CaseFile, row: &Row) -> Answers {
        let (strict, _) = judged(file, row, &self.strict, Session::Clean);
        let (gentle, context) = judged(file, row, &self.gentle, Session::Clean);
        // Elsewhere the call is stopped anyway.
        let tainted = (file.expected() == "allow" && !row.is_after())
            .then(|| judged(file, row, &self.strict, Session::Tainted).0)
            .filter(|tainted| *tainted != strict);
        Answers { strict, gentle, tainted, context }
    }
}

/// The answer to a case, and the text for the model.
fn judged(file: &CaseFile, row: &Row, config: &Config, session: Session) -> (Expected, String) {
    let payload = sealed(file.event(row));
    let verdict = match Claude.parse(&payload) {
        Ok(message) => {
            let mut event = Directories::new(file.home(row), file.project(row)).locate(message);
            set_up(row, &mut event);
            if session == Session::Tainted {
                event.facts.taint = Taint::of([Label::of("mcp", "desk")]);
            }
            rune::decide(&event, config)
        }
        Err(unread) => {
            let told = if row.is_after() { Phase::After } else { Phase::Before };
            Verdict::of(unread.failure.finding(unread.header.phase.or(Some(told)), config.failure))
        }
    };
    let rule = verdict.deciding().next().map(|finding| finding.rule().to_string());
    let context = verdict.findings().iter().map(|finding| finding.reason()).collect::<Vec<_>>().join("\n");
    (Expected { effect: verdict.effect().name().to_owned(), rule }, context)
}

/// Adds the facts that the runtime would have collected.
fn set_up(row: &Row, event: &mut Event<'_>) {
    event.facts.nonce = Some(Nonce::new([7; 16]));
    let paths: Vec<String> = rune::decide::touched_paths(event).into_iter().map(Into::into).collect();
    for path in paths {
        for (link, target) in &row.links {
            let rest = path.strip_prefix(link.as_str()).filter(|rest| rest.is_empty() || rest.starts_with('/'));
            if let Some(rest) = rest {
                event.facts.real_paths.insert(path.clone(), format!("{target}{rest}"));
            }
        }
    }
    let files = row.files.iter().map(|(path, text)| (path.clone(), text.clone()));
    event.facts.contents.extend(files);
}

/// Calls `check` for every file, on all processors.
fn for_each_file<T: Send>(files: &mut [CaseFile], check: impl Fn(&Policies, &mut CaseFile) -> T + Sync) -> Vec<T> {
    let threads = std::thread::available_parallelism().map_or(2, std::num::NonZero::get);
    let next = std::sync::Mutex::new(files.iter_mut());
    let results = std::sync::Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                let policies = Policies::shipped();
                loop {
                    let Some(file) = next.lock().unwrap().next() else { return };
                    let result = check(&policies, file);
                    results.lock().unwrap().push(result);
                }
            });
        }
    });
    results.into_inner().unwrap()
}

/// With `UPDATE_CASES=1`, writes the rule ids, the answers of gentle and the answers in tainted sessions into the rows.
/// The effect in strict is never changed: a row whose effect in strict changes is moved by hand.
fn update(file: &mut CaseFile, policies: &Policies) {
    let path = file.clone();
    for row in &mut file.rows {
        let now = policies.answers(&path, row);
        row.strict.rule = if now.strict.effect == row.strict.effect { now.strict.rule } else { row.strict.rule.take() };
        (row.gentle, row.tainted) = (now.gentle, now.tainted);
    }
    file.write();
}

#[test]
fn every_case_is_answered_as_expected_in_both_presets() {
    let mut files = files();
    let is_update = std::env::var_os("UPDATE_CASES").is_some();
    let wrong = for_each_file(&mut files, |policies, file| {
        if is_update {
            update(file, policies);
        }
        let rows = file.rows.iter().map(|row| (row, policies.answers(file, row)));
        rows.flat_map(|(row, now)| mistakes(file, row, &now)).collect::<Vec<_>>()
    });
    let wrong: Vec<String> = wrong.into_iter().flatten().collect();
    assert!(wrong.is_empty(), "{} wrong answers; see tests/README.md\n{}", wrong.len(), wrong.join("\n"));
}

/// What is wrong with the answers to a case.
fn mistakes(file: &CaseFile, row: &Row, now: &Answers) -> Vec<String> {
    let mut wrong = Vec::new();
    let text = |expected: &Option<Expected>| expected.as_ref().map_or("the same".to_owned(), ToString::to_string);
    for (what, expected, now) in [
        ("strict", row.strict.to_string(), now.strict.to_string()),
        ("gentle", row.gentle.to_string(), now.gentle.to_string()),
        ("tainted", text(&row.tainted), text(&now.tainted)),
    ] {
        if expected != now {
            wrong.push(format!("{what}: `{now}`, expected `{expected}`"));
        }
    }
    if row.wanted.is_some_and(|wanted| wanted.is_met_by(&now.strict.effect)) {
        wrong.push(format!("this gap is closed: move it to tests/cases/{}/", now.strict.effect));
    }
    for text in &row.not_in_notice {
        if now.context.contains(text) {
            wrong.push(format!("the notice repeats `{text}`"));
        }
    }
    let shown: String = String::from_utf8_lossy(&file.event(row)).chars().take(600).collect();
    wrong.iter().map(|wrong| format!("{} ({}): {wrong}\n    {shown}", row.id, row.why)).collect()
}

#[test]
fn every_case_is_well_formed_and_there_once() {
    let mut ids = BTreeMap::new();
    let mut inputs = BTreeMap::new();
    let mut wrong = Vec::new();
    for file in files() {
        assert!(!file.rows.is_empty(), "{} has no rows", file.path.display());
        for row in &file.rows {
            let mut complain = |what: String| wrong.push(format!("{}: {}: {what}", file.path.display(), row.id));
            if !row.id.starts_with(&format!("{}/", file.class())) {
                complain(format!("the id does not begin with `{}/`", file.class()));
            }
            let is_gap = file.expected() == KNOWN_GAPS;
            if row.wanted.is_some() != is_gap {
                complain("`wanted` belongs to known gaps, and to all of them".to_owned());
            }
            if !is_gap && row.strict.effect != file.expected() {
                complain(format!("`strict` is `{}`", row.strict));
            }
            if let Some(other) = ids.insert(row.id.clone(), file.path.clone()) {
                complain(format!("the id is used in {} too", other.display()));
            }
            let input = (file.event(row), file.home(row).to_owned(), file.project(row).to_owned(), row.files.clone());
            if let Some(other) = inputs.insert((input, row.links.clone(), row.phase().to_owned()), row.id.clone()) {
                complain(format!("the same call as {other}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The first rows of every file that need no links or files of their own.
const SAMPLED: usize = 2;

#[test]
fn the_program_answers_as_the_library_does() {
    let mut files = files();
    let asked = for_each_file(&mut files, |_, file| {
        let rows = file.rows.iter().filter(|row| row.links.is_empty() && row.files.is_empty());
        rows.take(SAMPLED).map(|row| ask_program(file, row)).count()
    });
    assert!(asked.iter().all(|count| *count > 0), "a file without a row to ask about");
}

/// Runs the hook with the home and project of a case; nothing is written there.
fn ask_program(file: &CaseFile, row: &Row) {
    for (preset, expected) in [("strict", &row.strict), ("gentle", &row.gentle)] {
        let scratch = Sandbox::new();
        // The cases say nothing about pins, which the library is not told here either.
        scratch.file(".config/config.local.toml", "[mcp]\npins = 'off'\n");
        let [config, state, data, client] =
            [".config", ".state", ".data", ".claude"].map(|name| scratch.path(name).to_str().unwrap().to_owned());
        let directories =
            ["--config-dir", &config, "--state-dir", &state, "--data-dir", &data, "--client-dir", &client];
        let words = [&["hook", row.phase(), "--preset", preset][..], &directories].concat();
        let mut command = scratch.command(&words);
        command.env("HOME", file.home(row)).env("CLAUDE_PROJECT_DIR", file.project(row));
        let ran = finish(command.spawn().unwrap(), &file.event(row));
        let logged = scratch.log();
        assert_eq!(logged.len(), 1, "{}: {ran:?}", row.id);
        let effect = match (ran.stdout.is_empty(), ran.decision()) {
            (true, _) => "allow".to_owned(),
            (false, decision) if decision.is_empty() => "advise".to_owned(),
            (false, decision) => decision,
        };
        // After a call the line names all rules, and a failure first.
        let logged_rule = logged[0]["rule"].as_str().filter(|rule| !rule.is_empty()).map(str::to_owned);
        let rule = if row.is_after() { expected.rule.clone() } else { logged_rule };
        assert_eq!(Expected { effect, rule }, *expected, "{} in {preset}: {ran:?} {logged:?}", row.id);
    }
}
