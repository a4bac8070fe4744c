//! `rune quarantine status`: a summary of the telemetry log as tables or JSON.

mod read;
mod table;

use super::LogArgs;
use crate::commands::hooks::options_with_preset;
use crate::commands::style::Style;
use crate::runtime::environment::{Environment, now};
use crate::runtime::{log, session};
use anyhow::{Context, anyhow, bail};
use clap::Args;
use rune::encoding::label::Label;
use rune::telemetry::rfc3339;
use rune::telemetry::summary::Filter;
use std::io::Write;
use std::path::Path;
use time::{Date, Duration, OffsetDateTime, UtcOffset};

/// Summarises the telemetry log
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  rune quarantine status --since 7d\n  rune quarantine status --json | jq '.escalations'"
)]
pub struct StatusArgs {
    /// Count only lines since this time: 30m, 12h, 7d, 2w, or a date such as 2026-11-01
    #[arg(long, value_name = "WHEN")]
    pub since: Option<String>,
    /// Count only lines of this session
    #[arg(long, value_name = "ID")]
    pub session: Option<String>,
    /// Number of rows in each list [default: 10 in tables, all in JSON]
    #[arg(long, value_name = "N")]
    pub top: Option<usize>,
    /// Print JSON instead of tables
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub log: LogArgs,
}

pub fn run(args: &StatusArgs) -> anyhow::Result<()> {
    let environment = args.log.environment();
    let path = log::path(&environment).context("HOME is not set\n  help: set HOME or `--client-dir`")?;
    let since = args.since.as_deref().map(|since| parse_since(since, now())).transpose()?;
    let filter = Filter { since: since.map(rfc3339), session: args.session.clone() };
    let summary = read::summary(&path, &filter).with_context(|| format!("cannot read {}", path.display()))?;
    let report = summary.report();
    let mut out = std::io::stdout().lock();
    if args.json {
        let report = match args.top {
            Some(top) => report.cut(top),
            None => report,
        };
        writeln!(out, "{}", crate::commands::to_json(&report)?)?;
    } else if report.lines == 0 {
        writeln!(out, "{}", describe_empty_log(&path, &filter))?;
    } else {
        let style = Style::of(&out);
        let tables = table::render(&report, args.top.unwrap_or(10), &path, style);
        let tainted = describe_taint(&environment, args.session.as_deref(), since);
        let (_, preset) = options_with_preset(None, None)?;
        out.write_all(format!("{tables}{tainted}\n{preset}\n").as_bytes())?;
    }
    Ok(())
}

/// Describes the taint of the named session, or counts the tainted sessions.
fn describe_taint(environment: &Environment, named: Option<&str>, since: Option<OffsetDateTime>) -> String {
    match named.map(|name| session::read_taint(environment, &Label::new(name))) {
        Some(Err(what)) => format!("\n{what}\n"),
        Some(Ok(seen)) if seen.is_empty() => "\nthis session is not tainted\n".to_owned(),
        Some(Ok(seen)) => {
            format!("\n{}\n  help: `rune quarantine clear --session ID` removes the taint\n", seen.summary())
        }
        None => match session::count_tainted(environment, since) {
            0 => String::new(),
            count => format!("\nsessions that have read untrusted sources: {count}\n"),
        },
    }
}

fn describe_empty_log(path: &Path, filter: &Filter) -> String {
    let path = path.display();
    if filter.since.is_some() || filter.session.is_some() {
        return format!("no lines in {path} match\n  help: omit `--since` or `--session`");
    }
    format!("no log in {path} yet\n  help: `rune hooks install` registers the hook; the agent's next call is logged")
}

/// Parses a duration before `now`, a date, or an RFC 3339 time.
pub fn parse_since(text: &str, now: OffsetDateTime) -> anyhow::Result<OffsetDateTime> {
    let invalid = || anyhow!("invalid value `{text}` for `--since`: expected e.g. `7d` or `2026-11-01`");
    let is_date = text.len() == "2026-11-01".len();
    if let Some(Ok(date)) = is_date.then(|| Date::parse(text, &time::format_description::well_known::Iso8601::DATE)) {
        return Ok(date.midnight().assume_utc());
    }
    if let Ok(time) = OffsetDateTime::parse(text, &time::format_description::well_known::Rfc3339) {
        return Ok(time.to_offset(UtcOffset::UTC));
    }
    let unit = text.chars().last().ok_or_else(invalid)?;
    let count: i64 = text
        .strip_suffix(unit)
        .filter(|count| count.bytes().all(|byte| byte.is_ascii_digit()))
        .and_then(|count| count.parse().ok())
        .ok_or_else(invalid)?;
    let seconds: i64 = match unit {
        's' => 1,
        'm' => 60,
        'h' => 3_600,
        'd' => 86_400,
        'w' => 604_800,
        _ => bail!(invalid()),
    };
    let span = count.checked_mul(seconds).map(Duration::seconds).ok_or_else(invalid)?;
    now.checked_sub(span).ok_or_else(invalid)
}

#[cfg(test)]
#[path = "../../../tests/unit/commands/quarantine/status.rs"]
mod tests;
