//! What results say: how many of the documents that give orders are found, and how many of those that do not.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "a test fails by panicking and reads its data"
)]

use rune::client::Client;
use rune::config::{Config, DEFAULT, Layer, PRESETS};
use rune::quarantined::{ContentSource, Origin, Quarantined};
use rune::rule::{self, Kind, Owner};
use serde_json::{Value, json};

fn policy() -> Config {
    let gentle = PRESETS.iter().find(|(name, _)| *name == "gentle").unwrap();
    Config::fold([DEFAULT, *gentle].map(|(name, text)| Layer::read(text, name).unwrap()), vec![])
}

/// The content rules that a page of this text is named by.
fn named(text: &str, config: &Config) -> Vec<String> {
    let event = json!({"session_id": "s", "cwd": "/p", "hook_event_name": "PostToolUse", "tool_name": "WebFetch",
        "tool_input": {"url": "https://e.example/", "prompt": "?"}, "tool_response": {"result": text}});
    let origin = Origin::new(ContentSource::ToolOutput, "", time::OffsetDateTime::UNIX_EPOCH);
    let sealed = Quarantined::new(event.to_string().into_bytes(), origin);
    let event = Client::Claude.read(&sealed).unwrap();
    let verdict = rune::decide(&event, config);
    let names = verdict.findings().iter().map(|finding| finding.rule().to_string());
    names.filter(|name| name.starts_with("content-")).collect()
}

fn documents() -> Vec<Value> {
    let folder = format!("{}/tests/corpus", env!("CARGO_MANIFEST_DIR"));
    let files = ["hard", "issues", "mail", "web"].map(|name| std::fs::read_to_string(format!("{folder}/{name}.jsonl")));
    files
        .into_iter()
        .flat_map(|text| text.unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect::<Vec<_>>())
        .collect()
}

/// Documents in four parts, each on a thread of its own.
fn each(look: impl Fn(&Value) + Sync) {
    let documents = documents();
    std::thread::scope(|scope| {
        for part in documents.chunks(documents.len().div_ceil(4)) {
            scope.spawn(|| part.iter().for_each(&look));
        }
    });
}

#[test]
fn documents_that_give_orders_are_found_and_others_are_not() {
    let missed = std::sync::Mutex::new([Vec::new(), Vec::new()]);
    let count = std::sync::Mutex::new([0, 0]);
    each(|document| {
        let config = policy().with_default_rules(&[Kind::Post]);
        let names = named(document["text"].as_str().unwrap(), &config);
        let benign = usize::from(document["label"] == "benign");
        count.lock().unwrap()[benign] += 1;
        if names.is_empty() == (benign == 0) {
            missed.lock().unwrap()[benign].push(format!("{} {names:?}", document["id"]));
        }
    });
    let ([injected, benign], [missed, alarms]) = (count.into_inner().unwrap(), missed.into_inner().unwrap());
    println!(
        "{} of {injected} missed: {missed:?}\n{} of {benign} false alarms: {alarms:?}",
        missed.len(),
        alarms.len()
    );
    assert!(injected >= 300 && benign >= 300);
    assert!(missed.len() * 10 <= injected, "{missed:?}");
    assert!(alarms.len() * 100 <= benign, "{alarms:?}");
}

#[test]
fn an_edited_file_finds_what_the_embedded_one_finds() {
    each(|document| {
        // A text that is not the embedded one is parsed, and its patterns are compiled anew.
        let text = format!("# ours\n{}", Kind::Post.embedded());
        let (rules, errors) = rule::parse(text, "post.rules", Kind::Post, Owner::Operator);
        assert_eq!(errors, []);
        let mut plain = policy();
        plain.add_rules(rules);
        let text = document["text"].as_str().unwrap();
        let embedded = named(text, &policy().with_default_rules(&[Kind::Post]));
        assert_eq!(embedded, named(text, &plain), "{}", document["id"]);
    });
}
