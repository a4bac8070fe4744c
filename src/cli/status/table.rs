//! The tables of `rune quarantine status`, within 80 columns.

use rune::telemetry::summary::{ESCALATION, Report};
use std::fmt::Write;
use std::path::Path;

/// How the tables look.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Style {
    Plain,
    Colour,
}

const NAME: usize = 40;
const BAR: usize = 24;

/// One row: a name, a count, and whatever else there is to say.
struct Row {
    name: String,
    count: u64,
    aside: String,
}

pub fn render(report: &Report, path: &Path, style: Style) -> String {
    let mut text = String::new();
    let range = match (&report.first_ts, &report.last_ts) {
        (Some(first), Some(last)) => format!(", {} to {}", day_and_minute(first), day_and_minute(last)),
        _ => String::new(),
    };
    let sessions = report.session_count;
    line(&mut text, &format!("{} lines in {sessions} sessions{range}", report.lines));
    line(&mut text, &path.display().to_string());
    if report.malformed > 0 {
        line(&mut text, &paint(style, "33", &format!("{} malformed lines", report.malformed)));
    }
    if let Some(us) = report.us {
        line(&mut text, &format!("own time: p50 {} us, p95 {} us, p99 {} us", us.p50, us.p95, us.p99));
    }
    let row = |name: &str, count, aside| Row { name: name.to_owned(), count, aside };
    let decisions = report.decisions.iter().map(|(name, count)| row(name, *count, String::new())).collect();
    table(&mut text, style, "decisions", decisions);
    let sources = report.sources.iter().map(|at| {
        let aside = if at.skip > 0 { format!("{} skipped", at.skip) } else { String::new() };
        row(at.source.as_str(), at.emit, aside)
    });
    table(&mut text, style, "marked by source", sources.collect());
    table(
        &mut text,
        style,
        "tools",
        report.tools.iter().map(|at| row(at.tool.as_str(), at.lines, String::new())).collect(),
    );
    table(
        &mut text,
        style,
        "days",
        report.days.iter().map(|at| row(at.day.as_str(), at.lines, String::new())).collect(),
    );
    let sessions = report.sessions.iter().filter(|at| at.emit > 0);
    table(
        &mut text,
        style,
        "marked by session",
        sessions.map(|at| row(at.session_id.as_str(), at.emit, String::new())).collect(),
    );
    if !report.escalations.is_empty() {
        let title = format!("escalations ({ESCALATION} or more notices for one source in one session)");
        line(&mut text, "");
        line(&mut text, &paint(style, "1;31", &title));
        for at in &report.escalations {
            line(
                &mut text,
                &format!("  {:>6}  {}  {}", at.count, cut(at.source.as_str(), 30), cut(at.session_id.as_str(), 36)),
            );
        }
    }
    text
}

fn table(text: &mut String, style: Style, title: &str, rows: Vec<Row>) {
    let Some(most) = rows.iter().map(|row| row.count).max() else { return };
    line(text, "");
    line(text, &paint(style, "1", title));
    for Row { name, count, aside } in rows {
        let name = if name.is_empty() { "(none)".to_owned() } else { cut(&name, NAME) };
        let length = usize::try_from((count * BAR as u64).div_ceil(most.max(1))).unwrap_or(BAR).min(BAR);
        let bar = match style {
            Style::Plain => "#".repeat(length),
            Style::Colour => paint(style, "36", &"\u{2588}".repeat(length)),
        };
        // What does not fit beside the bar replaces it.
        let end = if aside.is_empty() { bar } else { aside };
        line(text, format!("  {name:<NAME$} {count:>9}  {end}").trim_end());
    }
}

fn cut(name: &str, longest: usize) -> String {
    if name.chars().count() <= longest {
        return format!("{name:<longest$}");
    }
    let head: String = name.chars().take(longest.saturating_sub(2)).collect();
    format!("{head}..")
}

fn paint(style: Style, code: &str, text: &str) -> String {
    match style {
        Style::Plain => text.to_owned(),
        Style::Colour => format!("\u{1b}[{code}m{text}\u{1b}[0m"),
    }
}

/// `2026-11-16T01:02:03.004Z` to `2026-11-16 01:02`.
fn day_and_minute(ts: &str) -> String {
    ts.chars().take(16).map(|c| if c == 'T' { ' ' } else { c }).collect()
}

fn line(text: &mut String, words: &str) {
    writeln!(text, "{words}").ok();
}
