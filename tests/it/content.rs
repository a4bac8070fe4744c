//! Content rules: how many documents with injected instructions they find, and how many others they report.

use crate::support::judge::{Directories, judge, policy_without_rules};
use crate::support::sandbox::after;
use rune::policy::Config;
use rune::rules;
use rune::rules::{Owner, Rule, RuleKind, Tier};
use serde::Deserialize;
use serde_json::json;
use std::sync::Mutex;

/// A document of `tests/corpus`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    id: String,
    label: Label,
    /// The main trait of the document.
    class: String,
    text: String,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Label {
    Inject,
    Benign,
}

fn policy() -> Config {
    policy_without_rules("gentle")
}

/// The content rules that match a page with this text.
fn matching_rules(text: &str, config: &Config) -> Vec<String> {
    let event = after("WebFetch", json!({"url": "https://e.example/", "prompt": "?"}), json!({"result": text}));
    let verdict = judge(event, config, Directories::default(), |_| {});
    let names = verdict.findings().iter().map(|finding| finding.rule().to_string());
    names.filter(|name| name.starts_with("content-")).collect()
}

fn documents() -> Vec<Document> {
    let folder = format!("{}/tests/corpus", env!("CARGO_MANIFEST_DIR"));
    let files = ["hard", "issues", "mail", "web"].map(|name| std::fs::read_to_string(format!("{folder}/{name}.jsonl")));
    let parse = |line: &str| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
    files.into_iter().flat_map(|text| text.unwrap().lines().map(parse).collect::<Vec<_>>()).collect()
}

/// Calls `check` for every document, on four threads.
fn for_each_document(check: impl Fn(&Document) + Sync) {
    let documents = documents();
    std::thread::scope(|scope| {
        for chunk in documents.chunks(documents.len().div_ceil(4)) {
            scope.spawn(|| chunk.iter().for_each(&check));
        }
    });
}

#[test]
fn injected_instructions_are_found_and_benign_documents_are_not_reported() {
    /// Documents of one label, and those of them that are judged wrongly.
    #[derive(Default)]
    struct Tally {
        count: usize,
        wrong: Vec<String>,
    }
    let (injected, benign) = (Mutex::new(Tally::default()), Mutex::new(Tally::default()));
    for_each_document(|document| {
        let config = policy().with_default_rules(&[RuleKind::Post]);
        let rules = matching_rules(&document.text, &config);
        let (tally, is_wrong) = match document.label {
            Label::Inject => (&injected, rules.is_empty()),
            Label::Benign => (&benign, !rules.is_empty()),
        };
        let mut tally = tally.lock().unwrap();
        tally.count += 1;
        if is_wrong {
            tally.wrong.push(format!("{} ({}) {rules:?}", document.id, document.class));
        }
    });
    let (injected, benign) = (injected.into_inner().unwrap(), benign.into_inner().unwrap());
    println!("{} of {} missed: {:?}", injected.wrong.len(), injected.count, injected.wrong);
    println!("{} of {} false positives: {:?}", benign.wrong.len(), benign.count, benign.wrong);
    assert!(injected.count >= 300 && benign.count >= 300);
    assert!(injected.wrong.len() * 100 <= injected.count * 8, "{:?}", injected.wrong);
    assert!(benign.wrong.len() * 100 <= benign.count, "{:?}", benign.wrong);
}

#[test]
fn no_benign_document_matches_a_rule_that_withholds() {
    let config = policy().with_default_rules(&[RuleKind::Post]);
    let is_blocking = |rule: &Rule| rule.kind == RuleKind::Post && rule.tier == Tier::Block;
    let blocking: Vec<String> =
        config.rules.iter().filter(|rule| is_blocking(rule)).map(|rule| rule.id.to_string()).collect();
    assert_eq!(blocking, ["content-fake-markup", "content-hidden-text", "content-unseen-orders"]);
    for_each_document(|document| {
        if matches!(document.label, Label::Benign) {
            let config = policy().with_default_rules(&[RuleKind::Post]);
            let rules = matching_rules(&document.text, &config);
            assert!(!rules.iter().any(|rule| blocking.contains(rule)), "{}: {rules:?}", document.id);
        }
    });
}

#[test]
fn there_are_at_most_thirty_content_rules() {
    let (rules, _) = rules::parse(RuleKind::Post.embedded(), "post.rules", RuleKind::Post, Owner::Operator);
    assert!(rules.len() <= 30, "{}", rules.len());
}

#[test]
fn a_line_that_would_be_exempt_does_not_hide_the_instructions_in_other_lines() {
    let lines =
        "He said that this is an attack with a malicious payload.\nconst prompt = `${text}`; a template, e.g. \"x";
    let (found, hidden) = (Mutex::new(0), Mutex::new(Vec::new()));
    for_each_document(|document| {
        let config = policy().with_default_rules(&[RuleKind::Post]);
        if matches!(document.label, Label::Inject) && !matching_rules(&document.text, &config).is_empty() {
            *found.lock().unwrap() += 1;
            let text = format!("{lines}\n{}\n{lines}", document.text);
            if matching_rules(&text, &config).is_empty() {
                hidden.lock().unwrap().push(document.id.clone());
            }
        }
    });
    let (found, hidden) = (found.into_inner().unwrap(), hidden.into_inner().unwrap());
    println!("{} of {found} hidden: {hidden:?}", hidden.len());
    assert!(hidden.len() * 50 <= found, "{hidden:?}");
}

#[test]
fn the_ids_of_documents_are_unique() {
    let mut ids = std::collections::BTreeSet::new();
    for document in documents() {
        assert!(ids.insert(document.id.clone()), "{} is used twice", document.id);
    }
}

#[test]
fn rules_parsed_at_run_time_match_as_the_embedded_ones_do() {
    for_each_document(|document| {
        // The comment makes the text differ from the embedded one, so it is parsed and its patterns are compiled.
        let text = format!("# edited\n{}", RuleKind::Post.embedded());
        let (rules, errors) = rules::parse(text, "post.rules", RuleKind::Post, Owner::Operator);
        assert_eq!(errors, []);
        let mut plain = policy();
        plain.add_rules(rules);
        let embedded = policy().with_default_rules(&[RuleKind::Post]);
        let expected = matching_rules(&document.text, &embedded);
        assert_eq!(expected, matching_rules(&document.text, &plain), "{}", document.id);
    });
}
