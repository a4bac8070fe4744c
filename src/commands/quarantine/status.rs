//! `rune quarantine status`: the log as tables or as JSON.

mod read;
mod table;

use super::LogArgs;
use crate::runtime::environment::{Environment, now};
use crate::runtime::options::Dirs;
use crate::runtime::{log, session};
use anyhow::{Context, anyhow, bail};
use clap::Args;
use rune::encoding::label::Label;
use rune::telemetry::rfc3339;
use rune::telemetry::summary::Filter;
use std::io::{ErrorKind, IsTerminal, Write};
use std::path::Path;
use time::{Date, Duration, OffsetDateTime, UtcOffset};

/// Sums up the telemetry log
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  rune quarantine status --since 7d\n  rune quarantine status --json | jq '.escalations'"
)]
pub struct StatusArgs {
    /// Only what happened since then: 30m, 12h, 7d, 2w, or a date such as 2026-11-01
    #[arg(long, value_name = "WHEN")]
    pub since: Option<String>,
    /// Only one session
    #[arg(long, value_name = "ID")]
    pub session: Option<String>,
    /// Rows a list [default: 10 in tables, all in JSON]
    #[arg(long, value_name = "N")]
    pub top: Option<usize>,
    /// JSON instead of tables
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub log: LogArgs,
}

pub fn run(args: &StatusArgs) -> anyhow::Result<()> {
    let environment = Environment::read(&Dirs { client: args.log.client_dir.clone(), ..Dirs::default() });
    let path =
        log::path(&environment).context("HOME is not set\n  help: name the client's directory with `--client-dir`")?;
    let since = args.since.as_deref().map(|since| parse_since(since, now())).transpose()?;
    let filter = Filter { since: since.map(rfc3339), session: args.session.clone() };
    let summary = read::summary(&path, &filter).with_context(|| format!("cannot read {}", path.display()))?;
    let report = summary.report();
    let mut out = std::io::stdout().lock();
    let written = if args.json {
        let report = match args.top {
            Some(top) => report.cut(top),
            None => report,
        };
        writeln!(out, "{}", serde_json::to_string(&report)?)
    } else if report.lines == 0 {
        writeln!(out, "{}", nothing(&path, &filter))
    } else {
        let fancy = out.is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
        let style = if fancy { table::Style::Colour } else { table::Style::Plain };
        let tables = table::render(&report, args.top.unwrap_or(10), &path, style);
        out.write_all(format!("{tables}{}", taint(&environment, args.session.as_deref())).as_bytes())
    };
    match written {
        // `| head` is not an error.
        Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(error.into()),
        _ => Ok(()),
    }
}

/// What sessions have taken in: one of them, or how many.
fn taint(environment: &Environment, named: Option<&str>) -> String {
    match named.map(|name| session::read_taint(environment, &Label::new(name))) {
        Some(Err(what)) => format!("\n{what}\n"),
        Some(Ok(seen)) if seen.is_empty() => "\nthis session has read nothing from strangers\n".to_owned(),
        Some(Ok(seen)) => format!("\n{}\n  help: `rune quarantine clear --session ID` forgets it\n", seen.summary()),
        None => match session::count_tainted(environment) {
            0 => String::new(),
            count => format!("\nsessions that have read untrusted sources: {count}\n"),
        },
    }
}

fn nothing(path: &Path, filter: &Filter) -> String {
    let path = path.display();
    if filter.since.is_some() || filter.session.is_some() {
        return format!("nothing in {path} matches\n  help: leave out `--since` or `--session`");
    }
    format!(
        "nothing is logged yet in {path}\n  help: register `rune hook` in your client's settings and let the agent make a call;\n  `rune hook --help` shows the command"
    )
}

/// A span before now, or a date, or a time.
fn parse_since(text: &str, now: OffsetDateTime) -> anyhow::Result<OffsetDateTime> {
    let unknown = || anyhow!("`--since {text}` is no time\n  help: say 30m, 12h, 7d, 2w, or a date such as 2026-11-01");
    let date = text.len() == "2026-11-01".len();
    if let Some(Ok(date)) = date.then(|| Date::parse(text, &time::format_description::well_known::Iso8601::DATE)) {
        return Ok(date.midnight().assume_utc());
    }
    if let Ok(time) = OffsetDateTime::parse(text, &time::format_description::well_known::Rfc3339) {
        return Ok(time.to_offset(UtcOffset::UTC));
    }
    let unit = text.chars().last().ok_or_else(unknown)?;
    let count: i64 = text
        .strip_suffix(unit)
        .filter(|count| count.bytes().all(|byte| byte.is_ascii_digit()))
        .and_then(|count| count.parse().ok())
        .ok_or_else(unknown)?;
    let seconds: i64 = match unit {
        's' => 1,
        'm' => 60,
        'h' => 3_600,
        'd' => 86_400,
        'w' => 604_800,
        _ => bail!(unknown()),
    };
    let span = count.checked_mul(seconds).map(Duration::seconds).ok_or_else(unknown)?;
    now.checked_sub(span).ok_or_else(unknown)
}

#[cfg(test)]
#[path = "../../../tests/unit/commands/quarantine/status.rs"]
mod tests;
