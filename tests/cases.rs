//! The labelled cases, judged in process.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::disallowed_methods,
    reason = "a test fails by panicking and reads its data"
)]

use rune::client::{Answer, Client};
use rune::config::{Config, DEFAULT, Layer, PRESETS};
use rune::event::Phase;
use rune::quarantined::{ContentSource, Origin, Quarantined};
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
}

fn cases() -> Vec<Case> {
    let lines = std::fs::read_to_string("tests/cases/cases.jsonl").unwrap();
    let values = lines.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    values.map(|value| Case { id: value["id"].as_str().unwrap().to_owned(), value }).collect()
}

fn policy(preset: &str) -> Config {
    let preset = PRESETS.iter().find(|(name, _)| *name == preset).unwrap();
    Config::fold([DEFAULT, *preset].map(|(name, text)| Layer::read(text, name).unwrap()), vec![])
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

#[test]
fn no_benign_call_is_objected_to() {
    let policy = policy("strict");
    let benign = cases().into_iter().filter(|case| case.text("event") == "pre" && case.text("expect") == "allow");
    let alarms: Vec<String> =
        benign.filter(|case| case.answer(&policy) != Answer::default()).map(|case| case.id).collect();
    assert_eq!(alarms, Vec::<String>::new());
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
