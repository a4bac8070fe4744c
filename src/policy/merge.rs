//! Merges a new default policy file with the operator's edits, rule by rule or key by key. Used where a merge by lines fails.
//!
//! What the operator has not edited becomes the new default. What the operator has edited stays as it is.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use toml::de::{DeTable, DeValue};

/// A merged file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Merged {
    /// The text.
    pub text: String,
    /// The edited rules or keys whose default has changed as well.
    pub kept: Vec<String>,
}

/// Merges a file of rules.
pub fn merge_rules(base: &str, current: &str, new: &str) -> Merged {
    let (base, current, new) = (RuleBlocks::of(base), RuleBlocks::of(current), RuleBlocks::of(new));
    let mut blocks = vec![new.head.trim_end()];
    let mut kept = Vec::new();
    for (name, default) in &new.blocks {
        match (current.find(name), base.find(name)) {
            (None, Some(_)) => {} // the operator has removed the rule
            (Some(edited), before) if Some(edited) != before => {
                blocks.push(edited);
                kept.extend((before != Some(default) && edited != *default).then(|| (*name).to_owned()));
            }
            _ => blocks.push(default),
        }
    }
    let is_own = |name: &str, block: &str| new.find(name).is_none() && base.find(name) != Some(block);
    blocks.extend(current.blocks.iter().filter(|(name, block)| is_own(name, block)).map(|(_, block)| *block));
    Merged { text: blocks.join("\n\n") + "\n", kept }
}

/// A file of rules in parts.
struct RuleBlocks<'t> {
    /// The text before the first rule.
    head: &'t str,
    /// The name of each rule, and its text with the comment above it.
    blocks: Vec<(&'t str, &'t str)>,
}

impl<'t> RuleBlocks<'t> {
    fn of(text: &'t str) -> Self {
        let mut starts: Vec<(&str, usize)> = Vec::new();
        let mut comment = None;
        let mut at = 0;
        for line in text.split_inclusive('\n') {
            if let Some(rule) = line.strip_prefix("block ").or_else(|| line.strip_prefix("suspicious ")) {
                starts.push((rule.trim().trim_matches('"'), comment.unwrap_or(at)));
            }
            comment = if line.starts_with('#') { comment.or(Some(at)) } else { None };
            at += line.len();
        }
        let ends = starts.iter().skip(1).map(|(_, start)| *start).chain([text.len()]);
        let block = |((name, start), end): (&(&'t str, usize), usize)| (*name, text.get(*start..end));
        let blocks = starts.iter().zip(ends).map(block);
        let blocks = blocks.map(|(name, block)| (name, block.unwrap_or_default().trim_end())).collect();
        let head = starts.first().and_then(|(_, start)| text.get(..*start)).unwrap_or(text);
        RuleBlocks { head, blocks }
    }

    fn find(&self, name: &str) -> Option<&'t str> {
        self.blocks.iter().find(|(known, _)| *known == name).map(|(_, block)| *block)
    }
}

/// Merges a TOML file. Returns `None` if a file is invalid or contains an array of tables.
pub fn merge_settings(base: &str, current: &str, new: &str) -> Option<Merged> {
    let (base, current, defaults) = (settings(base)?, settings(current)?, settings(new)?);
    let mut kept = Vec::new();
    let mut edits: Vec<(Range<usize>, String)> = Vec::new();
    for (path, setting) in &current {
        let (before, default) = (base.get(path), defaults.get(path));
        if before.is_some_and(|before| before.source == setting.source) {
            continue;
        }
        let value = match (&setting.items, before, default) {
            (Some(items), Some(Setting { items: Some(before), .. }), Some(Setting { items: Some(default), .. })) => {
                merge_items(before, items, default)
            }
            _ => setting.source.to_owned(),
        };
        match default {
            Some(default) => {
                let has_changed = before.is_some_and(|before| before.source != default.source);
                kept.extend((has_changed && setting.items.is_none()).then(|| path.join(".")));
                edits.push((default.span.clone(), value));
            }
            None => edits.push(insertion(new, path, &value)?),
        }
    }
    edits.sort_by_key(|(span, _)| span.start);
    let mut text = String::new();
    let mut at = 0;
    for (span, value) in edits {
        text.push_str(new.get(at..span.start)?);
        text.push_str(&value);
        at = span.end;
    }
    text.push_str(new.get(at..)?);
    Some(Merged { text, kept })
}

/// The value of a key.
struct Setting<'t> {
    span: Range<usize>,
    source: &'t str,
    /// The elements of an array, as they are written.
    items: Option<Vec<&'t str>>,
}

/// Returns the values of a TOML file by their paths.
fn settings(text: &str) -> Option<BTreeMap<Vec<String>, Setting<'_>>> {
    let mut found = BTreeMap::new();
    let table = DeTable::parse(text).ok()?;
    add_settings(text, table.get_ref(), &[], &mut found)?;
    Some(found)
}

/// The recursion depth is bounded by the parser of the `toml` crate.
fn add_settings<'t>(
    text: &'t str,
    table: &DeTable<'_>,
    above: &[String],
    found: &mut BTreeMap<Vec<String>, Setting<'t>>,
) -> Option<()> {
    for (key, value) in table {
        let path = [above, &[key.get_ref().to_string()]].concat();
        let items = match value.get_ref() {
            DeValue::Table(table) => {
                add_settings(text, table, &path, found)?;
                continue;
            }
            DeValue::Array(items) if items.iter().any(|item| matches!(item.get_ref(), DeValue::Table(_))) => {
                return None;
            }
            DeValue::Array(items) => Some(items.iter().map(|item| text.get(item.span())).collect::<Option<Vec<_>>>()?),
            DeValue::String(_)
            | DeValue::Integer(_)
            | DeValue::Float(_)
            | DeValue::Boolean(_)
            | DeValue::Datetime(_) => None,
        };
        found.insert(path, Setting { span: value.span(), source: text.get(value.span())?, items });
    }
    Some(())
}

/// The new default of an array, with what the operator has added to the old one and without what was removed from it.
fn merge_items(before: &[&str], edited: &[&str], default: &[&str]) -> String {
    let removed: BTreeSet<&str> = before.iter().copied().filter(|item| !edited.contains(item)).collect();
    let added = edited.iter().filter(|item| !before.contains(item) && !default.contains(item));
    let items: Vec<&str> = default.iter().filter(|item| !removed.contains(*item)).chain(added).copied().collect();
    format!("[{}]", items.join(", "))
}

/// Inserts a key that the new default does not have below the header of its table, or with a new header at the end.
fn insertion(new: &str, path: &[String], value: &str) -> Option<(Range<usize>, String)> {
    let (key, tables) = path.split_last()?;
    let header = format!("[{}]", tables.join("."));
    let mut at = 0;
    for line in new.split_inclusive('\n') {
        at += line.len();
        if line.trim_end() == header {
            return Some((at..at, format!("{key} = {value}\n")));
        }
    }
    Some((at..at, format!("\n{header}\n{key} = {value}\n"))).filter(|_| !tables.is_empty())
}
