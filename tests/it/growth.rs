//! The work of a judgement grows no faster than the call: twice the size costs at most 2.2 times the steps.

mod shapes;

use crate::support::judge::{Directories, judge, policy};
use rune::policy::{Config, Layer};
use rune::rules;
use rune::rules::{Owner, RuleKind};
use rune::verdict::limits::{CONTENT_STEPS, SHELL_STEPS};
use serde_json::Value;
use shapes::SHAPES;

/// How many more steps twice the size may cost.
const FACTOR: f64 = 2.2;

/// How many more bytes it may allocate: buffers grow by doubling, so the bytes do not grow evenly.
const BYTES_FACTOR: f64 = 2.6;

/// Entries of the smaller of two policies.
const ENTRIES: usize = 1_200;

/// Work of less than this is constant cost.
const LEAST_STEPS: usize = 20_000;
const LEAST_BYTES: u64 = 2 << 20;

/// What one judgement cost.
#[derive(Clone, Copy)]
struct Cost {
    /// Steps that the code counts itself.
    steps: usize,
    /// Bytes that were allocated: what is copied again and again shows here, whether or not it is counted.
    bytes: u64,
}

fn cost_of(event: &Value, config: &Config) -> Cost {
    let text = event.to_string();
    let mut steps = 0;
    let used = allocation_counter::measure(|| {
        steps = judge(&text, config, Directories::new("/home/user", "/home/user/proj"), |_| {}).steps();
    });
    Cost { steps, bytes: used.bytes_total }
}

/// The factors by which steps and bytes grow, and what is wrong with them.
fn growth(name: &str, small: Cost, large: Cost) -> Option<String> {
    let limit = SHELL_STEPS.most.min(CONTENT_STEPS.most);
    // Beyond its budget a judgement ends in a failure.
    let exhausted = large.steps >= limit;
    let steps = large.steps as f64 / small.steps.max(LEAST_STEPS) as f64;
    let bytes = large.bytes as f64 / small.bytes.max(LEAST_BYTES) as f64;
    println!("{name:40} steps x{steps:.2} ({}), bytes x{bytes:.2} ({} KB)", large.steps, large.bytes >> 10);
    let wrong = !exhausted && (steps > FACTOR || bytes > BYTES_FACTOR);
    wrong.then(|| format!("{name}: steps x{steps:.2}, bytes x{bytes:.2}"))
}

#[test]
fn twice_the_call_costs_at_most_twice_the_work() {
    let config = policy("strict");
    let mut wrong = Vec::new();
    for shape in &SHAPES {
        let [small, large] = [shape.size, 2 * shape.size].map(|size| cost_of(&(shape.event)(size), &config));
        wrong.extend(growth(shape.name, small, large));
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn twice_the_policy_costs_at_most_twice_the_work() {
    let rules = |n: usize| -> String {
        (0..n).map(|i| format!("block \"r{i}\"\n  match x{i} [a-z]+\n  nudge \"n\"\n\n")).collect()
    };
    let servers = |n: usize| -> String {
        let names: Vec<String> = (0..n).map(|i| format!("\"s{i}\"")).collect();
        format!("[quarantine]\ntrusted = [{}]\n", names.join(", "))
    };
    let exceptions = |n: usize| -> String {
        (0..n).map(|i| format!("[[exceptions]]\nrule = \"r{i}\"\nmatch = [\"x{i}\"]\nreason = \"r\"\n")).collect()
    };
    let parse_rules = |text: &str| {
        let (rules, _) = rules::parse(text, "test.rules", RuleKind::Bash, Owner::Operator);
        assert!(!rules.is_empty());
    };
    let parse_config = |text: &str| drop(Layer::read(text, "config.toml"));
    let mut wrong = Vec::new();
    type Text<'a> = &'a dyn Fn(usize) -> String;
    type Parse<'a> = &'a dyn Fn(&str);
    let all: [(&str, Text<'_>, Parse<'_>); 3] = [
        ("rules", &rules, &parse_rules),
        ("servers of a config", &servers, &parse_config),
        ("exceptions of a config", &exceptions, &parse_config),
    ];
    for (name, text, parse) in all {
        let cost = |size: usize| {
            let text = text(size);
            Cost { steps: 0, bytes: allocation_counter::measure(|| parse(&text)).bytes_total }
        };
        wrong.extend(growth(name, cost(ENTRIES), cost(2 * ENTRIES)));
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}
