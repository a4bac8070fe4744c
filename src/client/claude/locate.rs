//! Locating: the line and column of a value in a settings file.

use jsonc_parser::ast::Value;
use jsonc_parser::common::Ranged;
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};

/// The line and column, from 1, of what a JSON pointer names: of a member its name, of an element its value.
pub fn locate(text: &str, pointer: &str) -> Option<(usize, usize)> {
    find(text, pointer.split('/').skip(1))
}

/// The same by names, which may hold a `/`.
pub fn find<'a>(text: &str, steps: impl Iterator<Item = &'a str>) -> Option<(usize, usize)> {
    let body = text.strip_prefix('\u{feff}').unwrap_or(text);
    let parsed = parse_to_ast(body, &CollectOptions::default(), &ParseOptions::default()).ok()?;
    let root = parsed.value?;
    let (mut value, mut start) = (&root, root.start());
    for step in steps {
        (value, start) = match value {
            // Of several members of one name the client takes the last.
            Value::Object(object) => {
                let member = object.properties.iter().rfind(|member| member.name.as_str() == step)?;
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
