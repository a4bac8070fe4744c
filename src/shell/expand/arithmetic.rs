//! Arithmetic expressions of numbers and variables with known values: `$((i + 1))`, `${a[i-1]}`.

use super::super::state::Value;
use super::BoundState;
use std::iter::Peekable;
use std::str::Chars;

/// How many parentheses and signs may be nested.
const MAX_NESTING: usize = 16;

/// Returns the value of an expression with `+`, `-`, `*`, `/`, `%` and parentheses, if it is known.
pub(super) fn evaluate(text: &str, bound: BoundState<'_>) -> Option<i64> {
    bound.charge(1 + text.len()).then_some(())?;
    let plain: String = text.chars().filter(|c| !c.is_whitespace()).collect();
    // Increments, shifts, comparisons and assignments are not evaluated.
    let is_plain =
        !["++", "--", "**", "=", "<", ">", "&", "|", "?", ",", "^", "!"].iter().any(|other| plain.contains(other));
    let mut reader = Reader { rest: plain.chars().peekable(), bound };
    let value = reader.sum(0).filter(|_| is_plain)?;
    reader.rest.next().is_none().then_some(value)
}

struct Reader<'a, 'b> {
    rest: Peekable<Chars<'a>>,
    bound: BoundState<'b>,
}

impl Reader<'_, '_> {
    fn sum(&mut self, depth: usize) -> Option<i64> {
        let mut value = self.product(depth)?;
        while let Some(operator) = self.rest.next_if(|c| matches!(c, '+' | '-')) {
            let other = self.product(depth)?;
            value = if operator == '+' { value.checked_add(other)? } else { value.checked_sub(other)? };
        }
        Some(value)
    }

    fn product(&mut self, depth: usize) -> Option<i64> {
        let mut value = self.term(depth)?;
        while let Some(operator) = self.rest.next_if(|c| matches!(c, '*' | '/' | '%')) {
            let other = self.term(depth)?;
            value = match operator {
                '*' => value.checked_mul(other)?,
                '/' => value.checked_div(other)?,
                _ => value.checked_rem(other)?,
            };
        }
        Some(value)
    }

    /// A number, a variable, a sign or parentheses.
    fn term(&mut self, depth: usize) -> Option<i64> {
        if depth > MAX_NESTING {
            return None;
        }
        match self.rest.peek()? {
            '-' => {
                self.rest.next();
                self.term(depth + 1)?.checked_neg()
            }
            '+' => {
                self.rest.next();
                self.term(depth + 1)
            }
            '(' => {
                self.rest.next();
                let value = self.sum(depth + 1)?;
                self.rest.next_if_eq(&')').map(|_| value)
            }
            _ => self.operand(),
        }
    }

    fn operand(&mut self) -> Option<i64> {
        self.rest.next_if_eq(&'$');
        let braced = self.rest.next_if_eq(&'{').is_some();
        let mut word = String::new();
        while let Some(c) = self.rest.next_if(|c| c.is_ascii_alphanumeric() || *c == '_') {
            word.push(c);
        }
        if braced {
            self.rest.next_if_eq(&'}')?;
        }
        if word.starts_with(|c: char| c.is_ascii_digit()) && !braced {
            return number(&word);
        }
        match self.bound.value(&word)? {
            Value::Known(value) => number(value.trim()),
            Value::OneOf(_) | Value::Prefix(_) | Value::PerhapsOneOf(_) | Value::Words(_) | Value::Unknown => None,
        }
    }
}

/// A decimal, octal (`017`) or hexadecimal (`0x1f`) number.
fn number(word: &str) -> Option<i64> {
    if let Some(hex) = word.strip_prefix("0x") {
        return i64::from_str_radix(hex, 16).ok();
    }
    match word.strip_prefix('0').filter(|rest| !rest.is_empty()) {
        Some(octal) => i64::from_str_radix(octal, 8).ok(),
        None => word.parse().ok(),
    }
}
