//! Variables that arithmetic expressions assign to: `((i++))`, `$((x=5))`, `${a[i+=1]}`.

use super::super::state::{Value, copy_cost};
use super::execution::Execution;
use crate::verdict::limits::SHELL_STEPS;
use std::collections::BTreeSet;

/// Steps for one expression.
const EXPRESSION_STEPS: usize = 16;

/// A name in an arithmetic expression.
pub(super) struct ArithmeticName<'a> {
    pub text: &'a str,
    pub is_assigned: bool,
}

/// Operators that assign, without their equals sign.
const ASSIGNING: [&str; 10] = ["<<", ">>", "+", "-", "*", "/", "%", "&", "^", "|"];

/// Returns the names in an arithmetic expression.
pub(super) fn arithmetic_names(expression: &str) -> Vec<ArithmeticName<'_>> {
    let bytes = expression.as_bytes();
    let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
    let subscript_ends = subscript_ends(bytes);
    let mut names = Vec::new();
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        let length = bytes.iter().skip(at).take_while(|byte| is_part(byte)).count();
        if length == 0 || byte.is_ascii_digit() {
            at += length.max(1);
            continue;
        }
        let before = expression.get(..at).unwrap_or_default().trim_end();
        let end = subscript_ends.get(at + length).copied().unwrap_or(at + length);
        let behind = expression.get(end..).unwrap_or_default().trim_start();
        let is_stepped = before.ends_with("++") || before.ends_with("--");
        let text = expression.get(at..at + length).unwrap_or_default();
        names.push(ArithmeticName { text, is_assigned: is_stepped || is_assignment(behind) });
        at += length;
    }
    names
}

/// For each position the end of the subscript that begins there, or the position itself.
fn subscript_ends(bytes: &[u8]) -> Vec<usize> {
    let mut ends: Vec<usize> = (0..bytes.len()).collect();
    let mut open = Vec::new();
    for (at, byte) in bytes.iter().enumerate() {
        match byte {
            b'[' => open.push(at),
            b']' => {
                if let Some(end) = open.pop().and_then(|start: usize| ends.get_mut(start)) {
                    *end = at + 1;
                }
            }
            _ => {}
        }
    }
    ends
}

/// Whether the text behind a name assigns to it.
fn is_assignment(behind: &str) -> bool {
    if behind.starts_with("++") || behind.starts_with("--") {
        return true;
    }
    let operator = ASSIGNING.iter().find_map(|operator| behind.strip_prefix(operator)).unwrap_or(behind);
    operator.starts_with('=') && !behind.starts_with("==")
}

impl Execution {
    /// Makes the variables uncertain that an expression assigns to. The value of a variable in it is an expression too.
    pub(super) fn run_arithmetic(&mut self, expression: &str) {
        let mut expressions = vec![expression.to_owned()];
        let mut seen: BTreeSet<String> = BTreeSet::new();
        let mut assigned: BTreeSet<String> = BTreeSet::new();
        'all: while let Some(expression) = expressions.pop() {
            self.state.meter.charge(EXPRESSION_STEPS + expression.len());
            for name in arithmetic_names(&expression) {
                if name.is_assigned && self.state.variables.contains_key(name.text) {
                    assigned.insert(name.text.to_owned());
                }
                if !seen.insert(name.text.to_owned()) {
                    continue;
                }
                // The limit is reported by the evaluation loop.
                if self.state.meter.exceeds(&SHELL_STEPS) {
                    break 'all;
                }
                let Some(value) = self.state.variables.get(name.text) else { continue };
                self.state.meter.charge(copy_cost(value.size()));
                let is_expression = |text: &&str| text.bytes().any(|byte| byte.is_ascii_alphabetic() || byte == b'_');
                expressions.extend(value.texts().filter(is_expression).map(str::to_owned));
            }
        }
        for name in assigned {
            // The expression may not be evaluated: `((0 && (x = 5)))`, `[[ a == x=5 ]]`.
            let perhaps = self.state.value(&name).map_or(Value::Unknown, |value| value.join(None));
            self.set(&name, perhaps);
        }
    }
}
