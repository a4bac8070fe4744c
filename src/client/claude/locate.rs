//! The line and column of a value in a JSON file.

use jsonc_parser::ast::Value;
use jsonc_parser::common::Ranged;
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};

/// The line and column, from 1, of the value that names and indexes lead to: of a member its name, of an element its
/// value.
pub(in crate::client) fn locate(text: &str, steps: &[&str]) -> Option<(usize, usize)> {
    let body = text.strip_prefix('\u{feff}').unwrap_or(text);
    let parsed = parse_to_ast(body, &CollectOptions::default(), &ParseOptions::default()).ok()?;
    let root = parsed.value?;
    let (mut value, mut start) = (&root, root.start());
    for step in steps {
        (value, start) = match value {
            // Of several members with one name the client uses the last.
            Value::Object(object) => {
                let member = object.properties.iter().rfind(|member| member.name.as_str() == *step)?;
                (&member.value, member.start())
            }
            Value::Array(array) => {
                let element = array.elements.get(step.parse::<usize>().ok()?)?;
                (element, element.start())
            }
            Value::StringLit(_) | Value::NumberLit(_) | Value::BooleanLit(_) | Value::NullKeyword(_) => return None,
        };
    }
    let before = body.get(..start)?;
    let line = before.rsplit('\n').next().unwrap_or_default();
    Some((before.matches('\n').count() + 1, line.chars().count() + 1))
}

#[cfg(test)]
#[path = "../../../tests/unit/client/claude/locate.rs"]
mod tests;
