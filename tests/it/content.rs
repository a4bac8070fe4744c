//! What results say: how many of the documents that give orders are found, and how many of those that do not.

use crate::support::judge::{Directories, judge, policy_without_rules};
use crate::support::sandbox::after;
use rune::policy::Config;
use rune::rules;
use rune::rules::{Owner, RuleKind};
use serde_json::{Value, json};

fn policy() -> Config {
    policy_without_rules("gentle")
}

/// The content rules that a page of this text is named by.
fn named(text: &str, config: &Config) -> Vec<String> {
    let event = after("WebFetch", json!({"url": "https://e.example/", "prompt": "?"}), json!({"result": text}));
    let verdict = judge(event, config, Directories::default(), |_| {});
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
        let config = policy().with_default_rules(&[RuleKind::Post]);
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
        let text = format!("# ours\n{}", RuleKind::Post.embedded());
        let (rules, errors) = rules::parse(text, "post.rules", RuleKind::Post, Owner::Operator);
        assert_eq!(errors, []);
        let mut plain = policy();
        plain.add_rules(rules);
        let text = document["text"].as_str().unwrap();
        let embedded = named(text, &policy().with_default_rules(&[RuleKind::Post]));
        assert_eq!(embedded, named(text, &plain), "{}", document["id"]);
    });
}
