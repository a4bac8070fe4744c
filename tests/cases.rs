//! The labelled cases, judged in process.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::disallowed_methods,
    reason = "a test fails by panicking and reads its data"
)]

use rune::client::{Answer, Client};
use rune::encoding::label::Label;
use rune::event::Event;
use rune::event::taint::Taint;
use rune::policy::{Config, DEFAULT, Layer, PRESETS};
use rune::quarantined::{ContentSource, Origin, Quarantined};
use rune::rules::Kind;
use rune::verdict::Phase;
use rune::verdict::Verdict;
use serde_json::{Value, json};

struct Case {
    id: String,
    value: Value,
}

impl Case {
    fn text(&self, key: &str) -> &str {
        self.value[key].as_str().unwrap_or_default()
    }

    /// The bytes that the client would send.
    fn payload(&self) -> Vec<u8> {
        if let Some(raw) = self.value["raw_b64"].as_str() {
            return base64(raw);
        }
        let after = self.text("event") == "post";
        let mut event = json!({
            "session_id": "s1", "transcript_path": "/t.jsonl", "cwd": self.value["cwd"],
            "hook_event_name": if after { "PostToolUse" } else { "PreToolUse" },
            "tool_name": self.value["tool"], "tool_input": self.value["input"],
        });
        if after {
            event["tool_response"] = self.value["response"].clone();
        }
        event.to_string().into_bytes()
    }

    /// What we would answer.
    fn answer(&self, config: &Config) -> Answer {
        let origin = Origin::new(ContentSource::ToolOutput, &self.id, time::OffsetDateTime::UNIX_EPOCH);
        let payload = Quarantined::new(self.payload(), origin);
        match Client::Claude.read(&payload) {
            Ok(mut event) => {
                event.place.home = Some(self.text("home").to_owned());
                event.place.project = Some(self.text("project").to_owned());
                self.set_up(&mut event);
                Client::Claude.answer(&event.header, &rune::decide(&event, config))
            }
            Err(unread) => {
                let told = Client::Claude.header(Some(if self.text("event") == "post" {
                    Phase::After
                } else {
                    Phase::Before
                }));
                let header = if unread.header.phase.is_some() { unread.header } else { told };
                let finding = unread.failure.finding(header.phase, config.failure);
                Client::Claude.answer(&header, &Verdict::of(finding))
            }
        }
    }

    /// The links and files that the case needs, as the shell would have looked them up.
    fn set_up(&self, event: &mut Event<'_>) {
        let links = self.value["setup"]["symlink"].as_object().cloned().unwrap_or_default();
        let paths: Vec<String> = event.paths().into_iter().map(Into::into).collect();
        for path in paths {
            for (link, target) in &links {
                if let Some(rest) =
                    path.strip_prefix(link.as_str()).filter(|rest| rest.is_empty() || rest.starts_with('/'))
                {
                    event.facts.real_paths.insert(path.clone(), format!("{}{rest}", target.as_str().unwrap()));
                }
            }
        }
        for (path, text) in self.value["setup"]["file"].as_object().into_iter().flatten() {
            event.facts.contents.push((path.clone(), text.as_str().unwrap().to_owned()));
        }
    }

    /// Whether a decision is what the label asks for.
    fn is_right(&self, decision: &str) -> bool {
        match self.text("expect") {
            "not_allow" => decision == "ask" || decision == "deny",
            expected => decision == expected,
        }
    }

    /// `allow`, `advise`, `ask` or `deny`.
    fn decision(&self, config: &Config) -> String {
        let Some(stdout) = self.answer(config).stdout else { return "allow".to_owned() };
        let answer: Value = serde_json::from_str(&stdout).unwrap();
        answer["hookSpecificOutput"]["permissionDecision"].as_str().unwrap_or("advise").to_owned()
    }
}

/// The cases of all files: those that came with the project, and our own.
fn cases() -> Vec<Case> {
    let mut files: Vec<_> = std::fs::read_dir("tests/cases").unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|file| file.extension().is_some_and(|extension| extension == "jsonl"));
    files.retain(|file| !file.ends_with(GAPS));
    files.sort();
    files.iter().flat_map(|file| read(file)).collect()
}

/// What gets through today, or is objected to without need.
const GAPS: &str = "known_gaps.jsonl";

fn read(file: &std::path::Path) -> Vec<Case> {
    let text = std::fs::read_to_string(file).unwrap();
    let values = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    values.map(|value| Case { id: value["id"].as_str().unwrap().to_owned(), value }).collect()
}

fn policy(preset: &str) -> Config {
    let preset = PRESETS.iter().find(|(name, _)| *name == preset).unwrap();
    let layers = [DEFAULT, *preset].map(|(name, text)| Layer::read(text, name).unwrap());
    Config::fold(layers, vec![]).with_default_rules(&Kind::ALL.map(|(kind, ..)| kind))
}

/// The bytes of a base64 text; the cases carry payloads that no JSON text can hold.
fn base64(text: &str) -> Vec<u8> {
    const DIGITS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let (mut bits, mut held, mut bytes) = (0_u32, 0, Vec::new());
    for digit in text.bytes().filter_map(|byte| DIGITS.iter().position(|digit| *digit == byte)) {
        bits = (bits << 6) | u32::try_from(digit).unwrap();
        held += 6;
        if held >= 8 {
            held -= 8;
            bytes.push(u8::try_from((bits >> held) & 0xFF).unwrap());
        }
    }
    bytes
}

fn context(answer: &Answer) -> Option<String> {
    let answer: Value = serde_json::from_str(answer.stdout.as_ref()?).unwrap();
    Some(answer["hookSpecificOutput"]["additionalContext"].as_str()?.to_owned())
}

#[test]
fn every_result_is_marked_or_left_alone_as_labelled() {
    for preset in ["gentle", "strict"] {
        let policy = policy(preset);
        let mut judged = 0;
        for case in cases().iter().filter(|case| case.text("event") == "post") {
            let context = context(&case.answer(&policy));
            // The one disputed case is a notice too: the same bytes through another tool.
            assert_eq!(context.is_some(), case.text("expect") == "notice", "{}: {}", case.id, case.text("why"));
            let context = context.unwrap_or_default();
            for forbidden in case.value["assert_not_in_notice"].as_array().into_iter().flatten() {
                assert!(!context.contains(forbidden.as_str().unwrap()), "{}: {context}", case.id);
            }
            judged += 1;
        }
        assert_eq!(judged, 39);
    }
}

/// What is wrong with the answers to the calls of these labels.
fn wrong(labels: &[&str]) -> (usize, Vec<String>) {
    let policy = policy("strict");
    let before = |case: &Case| case.text("event") == "pre" && case.value["disputed"] != true;
    let cases: Vec<Case> =
        cases().into_iter().filter(|case| before(case) && labels.contains(&case.text("expect"))).collect();
    let wrong = cases.iter().filter_map(|case| {
        let decision = case.decision(&policy);
        let right = case.is_right(&decision);
        let input = case.value["input"].to_string();
        let shown: String = input.chars().take(300).collect();
        (!right)
            .then(|| format!("{} {} is {decision}, not {}: {shown}", case.id, case.text("tool"), case.text("expect")))
    });
    (cases.len(), wrong.collect())
}

#[test]
fn no_benign_call_is_objected_to() {
    let (of, alarms) = wrong(&["allow"]);
    assert!(alarms.is_empty(), "{} of {of}\n{}", alarms.len(), alarms.join("\n"));
}

#[test]
fn what_must_not_happen_is_stopped_with_the_right_tier() {
    let (of, missed) = wrong(&["deny", "ask", "not_allow"]);
    assert!(missed.is_empty(), "{} of {of}\n{}", missed.len(), missed.join("\n"));
}

#[test]
fn ordinary_work_goes_on_in_a_session_that_has_read_what_strangers_wrote() {
    let policy = policy("strict");
    let benign = |case: &&Case| case.text("event") == "pre" && case.text("expect") == "allow";
    let cases: Vec<Case> = cases().into_iter().filter(|case| benign(&case)).collect();
    let mut asked = Vec::new();
    for case in cases.iter().filter(|case| !case.value["raw_b64"].is_string()) {
        let origin = Origin::new(ContentSource::ToolOutput, &case.id, time::OffsetDateTime::UNIX_EPOCH);
        let payload = Quarantined::new(case.payload(), origin);
        let mut event = Client::Claude.read(&payload).unwrap_or_else(|_| panic!("{}", case.id));
        event.place.home = Some(case.text("home").to_owned());
        event.place.project = Some(case.text("project").to_owned());
        case.set_up(&mut event);
        event.facts.taint = Taint::of([Label::of("mcp", "desk")]);
        let verdict = rune::decide(&event, &policy);
        let rules = verdict.findings().iter().map(|finding| finding.rule().to_string());
        // To post is what these two are about; what is posted in the cases is harmless, and they cannot know.
        let posts = ["tainted-mcp-write", "tainted-forge-write"];
        asked.extend(
            rules
                .filter(|rule| rule.starts_with("tainted-") && !posts.contains(&rule.as_str()))
                .map(|rule| format!("{rule} {} {}", case.id, case.value["input"])),
        );
    }
    assert!(cases.len() > 3_000 && asked.len() * 200 < cases.len(), "{}\n{}", asked.len(), asked.join("\n"));
}

#[test]
fn a_known_gap_that_is_closed_moves_to_the_cases() {
    let policy = policy("strict");
    let gaps = read(&std::path::Path::new("tests/cases").join(GAPS));
    let closed: Vec<&str> =
        gaps.iter().filter(|case| case.is_right(&case.decision(&policy))).map(|case| case.id.as_str()).collect();
    assert!(!gaps.is_empty() && closed.is_empty(), "closed by now: {closed:?}");
}

#[test]
fn every_case_has_an_id_of_its_own() {
    let mut ids: Vec<String> = cases().into_iter().map(|case| case.id).collect();
    let all = ids.len();
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), all);
}

#[test]
fn an_event_that_cannot_be_read_is_denied() {
    // The rest of this class can be read; whether it is stopped is a matter of rules.
    let readable = ["pub-robust_json-12", "pub-robust_json-15"];
    let mut judged = 0;
    for case in cases().iter().filter(|case| case.id.starts_with("pub-robust_json") && case.text("event") == "pre") {
        if case.text("expect") == "allow" || readable.contains(&case.id.as_str()) {
            continue;
        }
        let answer = case.answer(&policy("gentle"));
        let answer: Value = serde_json::from_str(&answer.stdout.unwrap()).unwrap();
        assert_eq!(answer["hookSpecificOutput"]["permissionDecision"], "deny", "{}", case.id);
        judged += 1;
    }
    assert_eq!(judged, 16);
}
