//! `rune allow --list`: the exceptions, how often each was used, and when it ends.

use super::Target;
use crate::commands::log::LogFile;
use crate::commands::say;
use crate::commands::style::{COLUMNS, wrap};
use crate::runtime::environment::now;
use crate::runtime::log;
use anyhow::Context;
use rune::encoding::escape::one_line;
use rune::policy::{Config, Exception};
use serde::Serialize;
use std::collections::BTreeMap;

/// The output of `--json`.
#[derive(Serialize)]
struct Exceptions<'a> {
    exceptions: Vec<ListedException<'a>>,
    programs: Vec<&'a str>,
    directories: Vec<&'a str>,
}

#[derive(Serialize)]
struct ListedException<'a> {
    id: Option<&'a str>,
    rule: &'a str,
    #[serde(rename = "match")]
    pattern: Option<&'a str>,
    reason: &'a str,
    until: Option<String>,
    expired: bool,
    /// The calls in the log that it was used for.
    uses: u64,
    source: &'a str,
}

pub fn run(target: &Target, json: bool) -> anyhow::Result<()> {
    let path = log::path(&target.environment).context("HOME is not set\n  help: set it")?;
    let mut uses: BTreeMap<String, u64> = BTreeMap::new();
    LogFile::new(&path)
        .read(|record| {
            for name in record.exception.split(' ').filter(|name| !name.is_empty()) {
                *uses.entry(name.to_owned()).or_default() += 1;
            }
        })
        .with_context(|| format!("cannot read {}", path.display()))?;
    let listed = collect(&target.config, &uses);
    if json { say(&crate::commands::to_json(&listed)?) } else { say(&render(&listed)) }
}

fn collect<'a>(config: &'a Config, uses: &BTreeMap<String, u64>) -> Exceptions<'a> {
    let today = now().date();
    let exception = |exception: &'a Exception| {
        let name = exception.id.clone().unwrap_or_else(|| exception.rule.replace(' ', "_"));
        ListedException {
            id: exception.id.as_deref(),
            rule: &exception.rule,
            pattern: exception.patterns.first().map(rune::rules::Pattern::as_str),
            reason: &exception.reason,
            until: exception.until.map(|until| until.to_string()),
            expired: exception.is_expired(Some(today)),
            uses: uses.get(&name).copied().unwrap_or_default(),
            source: &exception.source,
        }
    };
    let shipped = crate::runtime::policy_files::shipped("gentle", &[]);
    let is_own =
        |name: &&str| !shipped.as_ref().is_some_and(|shipped| shipped.executables.iter().any(|known| known == name));
    Exceptions {
        exceptions: config.exceptions.iter().map(exception).collect(),
        programs: config.executables.iter().map(compact_str::CompactString::as_str).filter(is_own).collect(),
        directories: config.work.iter().map(compact_str::CompactString::as_str).collect(),
    }
}

fn render(listed: &Exceptions<'_>) -> String {
    let mut lines = Vec::new();
    for exception in &listed.exceptions {
        let until = match &exception.until {
            Some(until) if exception.expired => format!("expired {until}"),
            Some(until) => format!("until {until}"),
            None => "no end".to_owned(),
        };
        let id = exception.id.map_or("-".into(), |id| one_line(id, 32));
        let used = if exception.uses == 1 { "used once".to_owned() } else { format!("used {} times", exception.uses) };
        lines.push(format!("{id:<6} {}  {until}, {used}", one_line(exception.rule, 40)));
        let pattern = exception.pattern.map(|pattern| format!("match: {}", one_line(pattern, 300)));
        let pattern = pattern.unwrap_or_else(|| "for every call".to_owned());
        let where_it_is =
            if exception.id.is_none() { Some(one_line(exception.source, 300).into_owned()) } else { None };
        let below = [Some(pattern), Some(one_line(exception.reason, 300).into_owned()), where_it_is];
        let below = below.iter().flatten().flat_map(|text| wrap(text, COLUMNS - 7));
        lines.extend(below.map(|line| format!("       {line}")));
    }
    for (what, names) in [("program", &listed.programs), ("directory", &listed.directories)] {
        lines.extend(names.iter().map(|name| format!("{what} {}", one_line(name, 200))));
    }
    if lines.is_empty() { "there are no exceptions".to_owned() } else { lines.join("\n") }
}
