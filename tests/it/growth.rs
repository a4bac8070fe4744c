//! The cost of a decision grows linearly: a call of twice the size takes at most 2.2 times the steps.

mod shapes;

use crate::support::judge::{Directories, judge, policy};
use rune::policy::{Config, Layer};
use rune::rules;
use rune::rules::{Owner, RuleKind};
use rune::verdict::limits::{CONTENT_STEPS, SHELL_STEPS};
use serde_json::Value;
use shapes::SHAPES;
use std::sync::Mutex;

/// The factor by which steps may grow if the size doubles.
const MAX_STEPS_FACTOR: f64 = 2.2;

/// The factor by which allocated bytes may grow. Buffers double their capacity, so bytes grow unevenly.
const MAX_BYTES_FACTOR: f64 = 2.6;

/// Entries of the smaller of two policies.
const ENTRIES: usize = 1_200;

/// Costs below these count as constant.
const MIN_STEPS: usize = 20_000;
const MIN_BYTES: u64 = 2 << 20;

/// The cost of one decision.
#[derive(Clone, Copy)]
struct Cost {
    /// Steps that the code counts.
    steps: usize,
    /// Allocated bytes. They show repeated copies that the code does not count.
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

/// Compares the costs of two sizes; returns a message if a factor is too large.
fn check_growth(name: &str, small: Cost, large: Cost) -> Option<String> {
    // A decision that exhausts its budget ends in a failure, so its cost is bounded.
    let exhausted = large.steps >= SHELL_STEPS.most.min(CONTENT_STEPS.most);
    let steps = large.steps as f64 / small.steps.max(MIN_STEPS) as f64;
    let bytes = large.bytes as f64 / small.bytes.max(MIN_BYTES) as f64;
    println!("{name:40} steps x{steps:.2} ({}), bytes x{bytes:.2} ({} KB)", large.steps, large.bytes >> 10);
    let is_wrong = !exhausted && (steps > MAX_STEPS_FACTOR || bytes > MAX_BYTES_FACTOR);
    is_wrong.then(|| format!("{name}: steps x{steps:.2}, bytes x{bytes:.2}"))
}

#[test]
fn the_cost_of_a_decision_is_linear_in_the_size_of_the_call() {
    let next = Mutex::new(SHAPES.iter());
    let wrong = Mutex::new(Vec::new());
    // Allocations are counted per thread.
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                let config = policy("strict");
                loop {
                    let Some(shape) = next.lock().unwrap().next() else { return };
                    let [small, large] =
                        [shape.size, 2 * shape.size].map(|size| cost_of(&(shape.event)(size), &config));
                    wrong.lock().unwrap().extend(check_growth(shape.name, small, large));
                }
            });
        }
    });
    let wrong = wrong.into_inner().unwrap();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn the_cost_of_parsing_a_policy_is_linear_in_its_size() {
    let rules = |n: usize| -> String {
        (0..n).map(|i| format!("block \"r{i}\"\n  match x{i} [a-z]+\n  nudge \"n\"\n\n")).collect()
    };
    let servers = |n: usize| -> String {
        let names: Vec<String> = (0..n).map(|i| format!("\"s{i}\"")).collect();
        format!("[quarantine]\ntrusted = [{}]\n", names.join(", "))
    };
    let exceptions = |n: usize| -> String {
        (0..n).map(|i| format!("[[exceptions]]\nrule = \"r{i}\"\nmatch = \"x{i}\"\nreason = \"r\"\n")).collect()
    };
    let parse_rules = |text: &str| {
        let (rules, _) = rules::parse(text, "test.rules", RuleKind::Bash, Owner::Operator);
        assert!(!rules.is_empty());
    };
    let parse_config = |text: &str| assert!(Layer::read(text, "config.toml").is_ok());
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
        wrong.extend(check_growth(name, cost(ENTRIES), cost(2 * ENTRIES)));
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}
