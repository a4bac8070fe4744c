//! The tables of `rune quarantine status`, at most 80 columns wide.

use crate::commands::style::{Style, paint};
use rune::event::taint::ESCALATION;
use rune::telemetry::report::LogReport;
use std::path::Path;

const NAME_COLUMNS: usize = 40;
const BAR_COLUMNS: usize = 24;

/// A name, a count, and a remark that is shown instead of the bar.
struct TableRow<'a> {
    name: &'a str,
    count: u64,
    remark: Option<String>,
}

/// Renders the report, with at most `top` rows in each table.
pub fn render(report: &LogReport, top: usize, path: &Path, style: Style) -> String {
    let range = match (&report.first_ts, &report.last_ts) {
        (Some(first), Some(last)) => format!(", {} to {} UTC", day_and_minute(first), day_and_minute(last)),
        _ => String::new(),
    };
    let (lines, sessions) = (plural(report.lines, "line"), plural(report.sessions.len() as u64, "session"));
    let mut text = vec![format!("{lines} in {sessions}{range}"), path.display().to_string()];
    if report.malformed > 0 {
        text.push(paint(style, "33", &format!("{} malformed", plural(report.malformed, "line"))));
    }
    if let Some(us) = report.us {
        text.push(format!("time of the hook: p50 {} us, p95 {} us, p99 {} us", us.p50, us.p95, us.p99));
    }
    let row = |name, count| TableRow { name, count, remark: None };
    let sources = report.sources.iter().map(|entry| TableRow {
        remark: (entry.skip > 0).then(|| format!("{} skipped", entry.skip)),
        ..row(entry.source.as_str(), entry.emit)
    });
    let sessions = report.sessions.iter().filter(|entry| entry.emit > 0);
    let tables: [(&str, Vec<TableRow<'_>>); 6] = [
        ("decisions", report.decisions.iter().map(|(name, count)| row(name, *count)).collect()),
        ("marked by source", sources.collect()),
        ("tools", report.tools.iter().map(|entry| row(entry.tool.as_str(), entry.lines)).collect()),
        ("rules", report.rules.iter().map(|entry| row(entry.rule.as_str(), entry.lines)).collect()),
        ("days", report.days.iter().map(|entry| row(entry.day.as_str(), entry.lines)).collect()),
        ("marked by session", sessions.map(|entry| row(entry.session_id.as_str(), entry.emit)).collect()),
    ];
    for (title, rows) in tables {
        text.extend(table(style, title, &rows, top));
    }
    if !report.escalations.is_empty() {
        let title = format!("escalations ({ESCALATION} or more notices for one source in one session)");
        text.extend([String::new(), paint(style, "1;31", &title)]);
        text.extend(report.escalations.iter().map(|entry| {
            let (source, session) = (fit(entry.source.as_str(), 30), fit(entry.session_id.as_str(), 36));
            format!("  {:>6}  {source}  {session}", entry.count)
        }));
    }
    text.join("\n") + "\n"
}

fn table(style: Style, title: &str, rows: &[TableRow<'_>], top: usize) -> Vec<String> {
    let Some(most) = rows.iter().map(|row| row.count).max() else { return Vec::new() };
    let mut lines = vec![String::new(), paint(style, "1", title)];
    for TableRow { name, count, remark } in rows.iter().take(top) {
        let length = usize::try_from((count * BAR_COLUMNS as u64).div_ceil(most.max(1))).unwrap_or(BAR_COLUMNS);
        let length = length.min(BAR_COLUMNS);
        let bar = match style {
            Style::Plain => "#".repeat(length),
            Style::Colour => paint(style, "36", &"\u{2588}".repeat(length)),
        };
        let end = remark.as_deref().unwrap_or(&bar);
        lines.push(format!("  {} {count:>9}  {end}", fit(name, NAME_COLUMNS)).trim_end().to_owned());
    }
    let rest = rows.len().saturating_sub(top);
    if rest > 0 {
        lines.push(format!("  and {rest} more; use `--top {}` to show them", rest + top));
    }
    lines
}

fn plural(count: u64, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

/// Pads or truncates a name to `longest` columns.
fn fit(name: &str, longest: usize) -> String {
    let name = if name.is_empty() { "(none)" } else { name };
    if name.chars().count() <= longest {
        return format!("{name:<longest$}");
    }
    let head: String = name.chars().take(longest.saturating_sub(2)).collect();
    format!("{head}..")
}

/// `2026-11-16T01:02:03.004Z` to `2026-11-16 01:02`.
fn day_and_minute(ts: &str) -> String {
    ts.chars().take(16).map(|c| if c == 'T' { ' ' } else { c }).collect()
}
