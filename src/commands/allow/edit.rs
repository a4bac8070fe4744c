//! Edits of `config.local.toml` that keep comments and formatting.

use anyhow::{Context, bail};
use rune::encoding::escape::one_line;
use time::Date;
use toml_edit::{
    Array, ArrayOfTables, Datetime, DocumentMut, InlineTable, Item, RawString, Table, TableLike, Value, value,
};

/// An exception to be written.
#[derive(Clone, Debug)]
pub struct NewException {
    pub id: String,
    pub rule: String,
    pub pattern: String,
    pub reason: String,
    pub until: Option<Date>,
}

impl NewException {
    fn fill(&self, table: &mut dyn TableLike) -> anyhow::Result<()> {
        table.insert("id", value(&self.id));
        table.insert("rule", value(&self.rule));
        table.insert("match", value(&self.pattern));
        table.insert("reason", value(&self.reason));
        if let Some(until) = self.until {
            table.insert("until", value(until.to_string().parse::<Datetime>()?));
        }
        Ok(())
    }
}

/// Appends exceptions.
pub fn add_exceptions(text: &str, exceptions: &[NewException]) -> anyhow::Result<String> {
    let mut document = parse(text)?;
    let mut comments = Some(take_trailing(&mut document));
    let item = document.entry("exceptions").or_insert_with(|| Item::ArrayOfTables(ArrayOfTables::new()));
    for exception in exceptions {
        match item {
            Item::ArrayOfTables(tables) => {
                let mut table = Table::new();
                table.decor_mut().set_prefix(comments.take().unwrap_or_default() + "\n");
                exception.fill(&mut table)?;
                tables.push(table);
            }
            Item::Value(Value::Array(array)) => {
                let mut table = InlineTable::new();
                exception.fill(&mut table)?;
                array.push(table);
            }
            Item::None | Item::Value(_) | Item::Table(_) => bail!("`exceptions` is not a list of tables"),
        }
    }
    if let Some(comments) = comments {
        document.set_trailing(comments);
    }
    Ok(finish(&document))
}

/// Appends a text to a list, on a line of its own below its reason.
pub fn add_to_list(text: &str, table: &str, key: &str, item: &str, reason: &str) -> anyhow::Result<String> {
    let mut document = parse(text)?;
    let is_new = document.get(table).is_none();
    let comments = if is_new { take_trailing(&mut document) } else { String::new() };
    let section = document.entry(table).or_insert_with(|| {
        let mut new = Table::new();
        new.decor_mut().set_prefix(comments + "\n");
        Item::Table(new)
    });
    let section = section.as_table_like_mut().with_context(|| format!("`{table}` is not a table"))?;
    let list = section.entry(key).or_insert_with(|| value(Array::new()));
    let list = list.as_array_mut().with_context(|| format!("`{table}.{key}` is not a list"))?;
    let mut entry = Value::from(item);
    // Comments behind the last entry stay there. A line end in the reason would end the comment.
    let comments = list.trailing().as_str().unwrap_or_default().trim_end();
    entry.decor_mut().set_prefix(format!("{comments}\n    # {}\n    ", one_line(reason, 500)));
    list.push_formatted(entry);
    list.set_trailing_comma(true);
    list.set_trailing("\n");
    Ok(finish(&document))
}

/// Removes the exception with this id, or this program or directory.
pub fn remove(text: &str, name: &str) -> anyhow::Result<String> {
    let mut document = parse(text)?;
    let is_named = |table: &dyn TableLike| table.get("id").and_then(Item::as_str) == Some(name);
    let mut comments = String::new();
    let removed = match document.get_mut("exceptions") {
        Some(Item::ArrayOfTables(tables)) => {
            let before = tables.len();
            tables.retain(|table| {
                let prefix = table.decor().prefix().and_then(RawString::as_str).unwrap_or_default();
                if is_named(table) && prefix.contains('#') {
                    comments.push_str(prefix);
                }
                !is_named(table)
            });
            before - tables.len()
        }
        Some(Item::Value(Value::Array(array))) => {
            let before = array.len();
            array.retain(|value| !value.as_inline_table().is_some_and(|table| is_named(table)));
            before - array.len()
        }
        _ => 0,
    };
    let lists = [("executables", "allowed"), ("paths", "work")].map(|(table, key)| {
        let list = document.get_mut(table).and_then(|table| table.get_mut(key)).and_then(Item::as_array_mut);
        list.map_or(0, |list| remove_from_list(list, name))
    });
    if removed + lists.iter().sum::<usize>() == 0 {
        bail!(
            "config.local.toml has no exception `{}`\n  help: `rune allow --list` shows the ids",
            one_line(name, 100)
        );
    }
    // The exception may stand below comments on something else.
    let trailing = document.trailing().as_str().unwrap_or_default().to_owned();
    document.set_trailing(
        comments.trim_end_matches('\n').to_owned() + if comments.is_empty() { "" } else { "\n" } + &trailing,
    );
    Ok(finish(&document))
}

/// Removes the entries of this name with their reasons, and returns how many there were. Comments above a reason stay.
fn remove_from_list(list: &mut Array, name: &str) -> usize {
    let mut removed = 0;
    loop {
        let position = list.iter().position(|value| value.as_str() == Some(name));
        let Some(at) = position else { return removed };
        let prefix = list.remove(at).decor().prefix().and_then(RawString::as_str).unwrap_or_default().to_owned();
        removed += 1;
        let Some((comments, _)) = prefix.trim_end().rsplit_once('\n').filter(|(text, _)| text.contains('#')) else {
            continue;
        };
        if let Some(next) = list.get_mut(at) {
            let prefix = next.decor().prefix().and_then(RawString::as_str).unwrap_or_default().to_owned();
            next.decor_mut().set_prefix(comments.to_owned() + &prefix);
        } else {
            let trailing = list.trailing().as_str().unwrap_or_default().to_owned();
            list.set_trailing(comments.to_owned() + &trailing);
        }
    }
}

fn parse(text: &str) -> anyhow::Result<DocumentMut> {
    text.parse().context("config.local.toml cannot be edited")
}

/// The document as text, without blank lines at its start.
fn finish(document: &DocumentMut) -> String {
    document.to_string().trim_start_matches('\n').to_owned()
}

/// Takes the comments at the end, below which new tables go.
fn take_trailing(document: &mut DocumentMut) -> String {
    let comments = document.trailing().as_str().unwrap_or_default().to_owned();
    document.set_trailing("");
    comments
}

#[cfg(test)]
#[path = "../../../tests/unit/commands/allow/edit.rs"]
mod tests;
