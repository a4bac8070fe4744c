//! The labelled cases: effect and rule in both presets.

use crate::support::cases::{Case, CaseFile, Expected, KNOWN_GAPS, files};
use crate::support::judge::{Directories, policy, quarantined};
use crate::support::sandbox::{Sandbox, finish};
use rune::client::Client as _;
use rune::client::claude::Claude;
use rune::encoding::label::Label;
use rune::event::Event;
use rune::event::Nonce;
use rune::event::taint::Taint;
use rune::policy::Config;
use rune::rules::{Owner, Rule, RuleKind};
use rune::verdict::Phase;
use rune::verdict::Verdict;
use std::collections::BTreeMap;

/// Whether the session has taken in untrusted content.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Session {
    Clean,
    Tainted,
}

/// The answers of Rune to a case.
#[derive(Debug)]
struct Answers {
    strict: Expected,
    gentle: Expected,
    /// The answer of strict in a tainted session, if it differs.
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

    fn answers(&self, file: &CaseFile, case: &Case) -> Answers {
        let (strict, _) = judged(file, case, &self.strict, Session::Clean);
        let (gentle, context) = judged(file, case, &self.gentle, Session::Clean);
        // In the other files the call is stopped anyway.
        let tainted = (file.expected() == "allow" && !case.is_after())
            .then(|| judged(file, case, &self.strict, Session::Tainted).0)
            .filter(|tainted| *tainted != strict);
        Answers { strict, gentle, tainted, context }
    }
}

/// The answer to a case, and the text for the model.
fn judged(file: &CaseFile, case: &Case, config: &Config, session: Session) -> (Expected, String) {
    let payload = quarantined(file.event(case));
    let verdict = match Claude.parse(&payload) {
        Ok(message) => {
            let mut event = Directories::new(file.home(case), file.project(case)).locate(message);
            set_up(case, &mut event);
            if session == Session::Tainted {
                event.facts.taint = Taint::of([Label::of("mcp", "desk")]);
            }
            rune::decide(&event, config)
        }
        Err(unread) => {
            let of_argument = if case.is_after() { Phase::After } else { Phase::Before };
            Verdict::of(unread.failure.finding(unread.header.phase.or(Some(of_argument)), config.failure))
        }
    };
    let rule = verdict.deciding().next().map(|finding| finding.rule().to_string());
    let context = verdict.findings().iter().map(|finding| finding.reason()).collect::<Vec<_>>().join("\n");
    (Expected { effect: verdict.effect().name().to_owned(), rule }, context)
}

/// Adds the facts that the runtime would have collected.
fn set_up(case: &Case, event: &mut Event<'_>) {
    event.facts.nonce = Some(Nonce::new([7; 16]));
    let paths: Vec<String> = rune::decide::touched_paths(event).into_iter().map(Into::into).collect();
    for path in paths {
        for (link, target) in &case.links {
            let rest = path.strip_prefix(link.as_str()).filter(|rest| rest.is_empty() || rest.starts_with('/'));
            if let Some(rest) = rest {
                event.facts.real_paths.insert(path.clone(), format!("{target}{rest}"));
            }
        }
    }
    let files = case.files.iter().map(|(path, text)| (path.clone(), text.clone()));
    event.facts.contents.extend(files);
}

/// Calls `check` for every file, on one thread per processor.
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

/// Writes the current rule ids, the answers of gentle and the answers in tainted sessions into a file.
///
/// It does not change the effect in strict: a case whose effect changes has to be moved to another directory by hand.
fn update(file: &mut CaseFile, policies: &Policies) {
    let path = file.clone();
    for case in &mut file.cases {
        let now = policies.answers(&path, case);
        case.strict.rule =
            if now.strict.effect == case.strict.effect { now.strict.rule } else { case.strict.rule.take() };
        (case.gentle, case.tainted) = (now.gentle, now.tainted);
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
        let cases = file.cases.iter().map(|case| (case, policies.answers(file, case)));
        cases.flat_map(|(case, now)| mistakes(file, case, &now)).collect::<Vec<_>>()
    });
    let wrong: Vec<String> = wrong.into_iter().flatten().collect();
    assert!(wrong.is_empty(), "{} wrong answers; see tests/README.md\n{}", wrong.len(), wrong.join("\n"));
}

/// The differences between the answers to a case and the expected ones.
fn mistakes(file: &CaseFile, case: &Case, now: &Answers) -> Vec<String> {
    let mut wrong = Vec::new();
    let text = |expected: &Option<Expected>| expected.as_ref().map_or("the same".to_owned(), ToString::to_string);
    for (what, expected, now) in [
        ("strict", case.strict.to_string(), now.strict.to_string()),
        ("gentle", case.gentle.to_string(), now.gentle.to_string()),
        ("tainted", text(&case.tainted), text(&now.tainted)),
    ] {
        if expected != now {
            wrong.push(format!("{what}: `{now}`, expected `{expected}`"));
        }
    }
    if case.wanted.is_some_and(|wanted| wanted.is_met_by(&now.strict.effect)) {
        wrong.push(format!("this gap is closed: move it to tests/cases/{}/", now.strict.effect));
    }
    for text in &case.not_in_notice {
        if now.context.contains(text) {
            wrong.push(format!("the notice contains `{text}`"));
        }
    }
    let shown: String = String::from_utf8_lossy(&file.event(case)).chars().take(600).collect();
    wrong.iter().map(|wrong| format!("{} ({}): {wrong}\n    {shown}", case.id, case.why)).collect()
}

/// A rule of this kind that every subject of the kind is compared with: no prefilter rules out a validator.
fn unfiltered_rule(kind: RuleKind) -> Vec<Rule> {
    let text = "block \"probe\"\n  validator ForkBomb\n  nudge \"none\"\n";
    let (rules, errors) = rune::rules::parse(text, "test.rules", kind, Owner::Operator);
    assert_eq!(errors, []);
    rules
}

#[test]
fn every_subject_of_a_case_is_of_a_kind_that_its_event_needs() {
    let wrong = for_each_file(&mut files(), |policies, file| {
        // Every comparison of a subject with a rule is a step.
        let steps = |event: &Event<'_>, kinds: &[RuleKind]| {
            let mut config = Config { rules: Vec::new(), ..policies.strict.clone() };
            kinds.iter().for_each(|kind| config.add_rules(unfiltered_rule(*kind)));
            rune::decide(event, &config).steps()
        };
        let is_wrong = |case: &&Case| {
            let payload = quarantined(file.event(case));
            let Ok(message) = Claude.parse(&payload) else { return false };
            let mut event = Directories::new(file.home(case), file.project(case)).locate(message);
            set_up(case, &mut event);
            let mut needed = rune::decide::needed_kinds(&event);
            needed.extend(rune::decide::inspects_result(&event, &policies.strict).then_some(RuleKind::Post));
            let others: Vec<_> = RuleKind::all().into_iter().filter(|kind| !needed.contains(kind)).collect();
            steps(&event, &others) > steps(&event, &[])
        };
        file.cases.iter().filter(is_wrong).map(|case| case.id.clone()).collect::<Vec<_>>()
    });
    let wrong: Vec<String> = wrong.into_iter().flatten().collect();
    assert!(wrong.is_empty(), "`needed_kinds` lacks a kind for {wrong:?}");
}

#[test]
fn every_case_is_well_formed_and_unique() {
    let mut ids = BTreeMap::new();
    let mut inputs = BTreeMap::new();
    let mut wrong = Vec::new();
    for file in files() {
        assert!(!file.cases.is_empty(), "{} has no cases", file.path.display());
        for case in &file.cases {
            let mut complain = |what: String| wrong.push(format!("{}: {}: {what}", file.path.display(), case.id));
            if !case.id.starts_with(&format!("{}/", file.class())) {
                complain(format!("the id does not begin with `{}/`", file.class()));
            }
            let is_gap = file.expected() == KNOWN_GAPS;
            if case.wanted.is_some() != is_gap {
                complain("`wanted` belongs to known gaps, and to all of them".to_owned());
            }
            if !is_gap && case.strict.effect != file.expected() {
                complain(format!("`strict` is `{}`", case.strict));
            }
            if let Some(other) = ids.insert(case.id.clone(), file.path.clone()) {
                complain(format!("the id is also used in {}", other.display()));
            }
            let input =
                (file.event(case), file.home(case).to_owned(), file.project(case).to_owned(), case.files.clone());
            if let Some(other) = inputs.insert((input, case.links.clone(), case.phase().to_owned()), case.id.clone()) {
                complain(format!("the same call as {other}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// How many cases of each file the program is asked about: the first ones without links and files.
const SAMPLED: usize = 2;

#[test]
fn the_program_answers_as_the_library_does() {
    let mut files = files();
    let asked = for_each_file(&mut files, |_, file| {
        let cases = file.cases.iter().filter(|case| case.links.is_empty() && case.files.is_empty());
        cases.take(SAMPLED).map(|case| ask_program(file, case)).count()
    });
    assert!(asked.iter().all(|count| *count > 0), "a file has no case without links and files");
}

/// Runs the hook with the home and project directory of a case. Its files are written elsewhere.
fn ask_program(file: &CaseFile, case: &Case) {
    for (preset, expected) in [("strict", &case.strict), ("gentle", &case.gentle)] {
        let scratch = Sandbox::new();
        // The library judges cases without records of MCP servers.
        scratch.write(".config/config.local.toml", "[mcp]\npins = 'off'\n");
        let [config, state, data, client] =
            [".config", ".state", ".data", ".claude"].map(|name| scratch.path(name).to_str().unwrap().to_owned());
        let directories =
            ["--config-dir", &config, "--state-dir", &state, "--data-dir", &data, "--client-dir", &client];
        let words = [&["hook", case.phase(), "--preset", preset][..], &directories].concat();
        let mut command = scratch.command(&words);
        command.env("HOME", file.home(case)).env("CLAUDE_PROJECT_DIR", file.project(case));
        let output = finish(command.spawn().unwrap(), &file.event(case));
        let logged = scratch.log();
        assert_eq!(logged.len(), 1, "{}: {output:?}", case.id);
        let effect = match (output.stdout.is_empty(), output.decision()) {
            (true, _) => "allow".to_owned(),
            (false, decision) if decision.is_empty() => "advise".to_owned(),
            (false, decision) => decision,
        };
        // After a call the log line names all rules, failures first.
        let logged_rule = logged[0]["rule"].as_str().filter(|rule| !rule.is_empty()).map(str::to_owned);
        let rule = if case.is_after() { expected.rule.clone() } else { logged_rule };
        assert_eq!(Expected { effect, rule }, *expected, "{} in {preset}: {output:?} {logged:?}", case.id);
    }
}
