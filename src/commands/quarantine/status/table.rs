//! The tables of `rune quarantine status`, within 80 columns.

use rune::event::taint::ESCALATION;
use rune::telemetry::report::LogReport;
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

pub fn render(report: &LogReport, top: usize, path: &Path, style: Style) -> String {
    let mut text = String::new();
    let table = |text: &mut String, title: &str, rows: Vec<Row>| table(text, style, title, rows, top);
    let range = match (&report.first_ts, &report.last_ts) {
        (Some(first), Some(last)) => format!(", {} to {} UTC", day_and_minute(first), day_and_minute(last)),
        _ => String::new(),
    };
    let counts = format!("{} in {}", plural(report.lines, "line"), plural(report.sessions.len() as u64, "session"));
    line(&mut text, &format!("{counts}{range}"));
    line(&mut text, &path.display().to_string());
    if report.malformed > 0 {
        line(&mut text, &paint(style, "33", &format!("{} malformed", plural(report.malformed, "line"))));
    }
    if let Some(us) = report.us {
        line(&mut text, &format!("own time: p50 {} us, p95 {} us, p99 {} us", us.p50, us.p95, us.p99));
    }
    let row = |name: &str, count, aside| Row { name: name.to_owned(), count, aside };
    let decisions = report.decisions.iter().map(|(name, count)| row(name, *count, String::new())).collect();
    table(&mut text, "decisions", decisions);
    let sources = report.sources.iter().map(|at| {
        let aside = if at.skip > 0 { format!("{} skipped", at.skip) } else { String::new() };
        row(at.source.as_str(), at.emit, aside)
    });
    table(&mut text, "marked by source", sources.collect());
    table(&mut text, "tools", report.tools.iter().map(|at| row(at.tool.as_str(), at.lines, String::new())).collect());
    table(&mut text, "rules", report.rules.iter().map(|at| row(at.rule.as_str(), at.lines, String::new())).collect());
    table(&mut text, "days", report.days.iter().map(|at| row(at.day.as_str(), at.lines, String::new())).collect());
    let sessions = report.sessions.iter().filter(|at| at.emit > 0);
    table(
        &mut text,
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

fn table(text: &mut String, style: Style, title: &str, rows: Vec<Row>, top: usize) {
    let Some(most) = rows.iter().map(|row| row.count).max() else { return };
    let rest = rows.len().saturating_sub(top);
    line(text, "");
    line(text, &paint(style, "1", title));
    for Row { name, count, aside } in rows.into_iter().take(top) {
        let name = cut(&name, NAME);
        let length = usize::try_from((count * BAR as u64).div_ceil(most.max(1))).unwrap_or(BAR).min(BAR);
        let bar = match style {
            Style::Plain => "#".repeat(length),
            Style::Colour => paint(style, "36", &"\u{2588}".repeat(length)),
        };
        // What does not fit beside the bar replaces it.
        let end = if aside.is_empty() { bar } else { aside };
        line(text, format!("  {name:<NAME$} {count:>9}  {end}").trim_end());
    }
    if rest > 0 {
        line(text, &format!("  and {rest} more; `--top {}` shows them", rest + top));
    }
}

fn plural(count: u64, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

fn cut(name: &str, longest: usize) -> String {
    let name = if name.is_empty() { "(none)" } else { name };
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
