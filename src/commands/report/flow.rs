//! Which sources were read in which sessions, and which rules stopped calls there.

use super::page::{name, number};
use maud::{Markup, html};
use rune::telemetry::history::{History, Session};
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// Rows of each column, besides one for all others.
const MAX_SOURCES: usize = 10;
const MAX_SESSIONS: usize = 12;
const MAX_RULES: usize = 10;

const ROW: u32 = 30;
const WIDTH: u32 = 960;
/// Where the columns are: sources end, sessions begin and end, rules begin.
const COLUMNS: [u32; 4] = [230, 390, 590, 730];
/// The widest line.
const MAX_LINE: u64 = 24;

/// A link from a row of one column to a row of the next, and its weight.
type Links = BTreeMap<(usize, usize), u64>;

/// The rows of a column, heaviest first, with one for the others at the end.
struct Column {
    names: Vec<String>,
    rows: BTreeMap<String, usize>,
    others: usize,
}

impl Column {
    fn new(weights: &BTreeMap<&str, u64>, most: usize, others: &str) -> Column {
        let mut ranked: Vec<(&str, u64)> = weights.iter().map(|(name, weight)| (*name, *weight)).collect();
        ranked.sort_by_key(|(_, weight)| Reverse(*weight));
        let more = ranked.len().saturating_sub(most);
        ranked.truncate(most);
        let rows = ranked.iter().enumerate().map(|(row, (name, _))| ((*name).to_owned(), row)).collect();
        let mut names: Vec<String> = ranked.iter().map(|(text, _)| name(text)).collect();
        let others = if more > 0 { vec![format!("{more} other {others}")] } else { Vec::new() };
        names.extend(others);
        let others = names.len().saturating_sub(1);
        Column { names, rows, others }
    }

    fn row(&self, name: &str) -> usize {
        self.rows.get(name).copied().unwrap_or(self.others)
    }
}

fn sum_of<'h>(
    history: &'h History,
    counts: impl Fn(&'h Session) -> &'h BTreeMap<String, u64>,
) -> BTreeMap<&'h str, u64> {
    let mut sums: BTreeMap<&str, u64> = BTreeMap::new();
    for (name, count) in history.sessions.values().flat_map(counts) {
        *sums.entry(name).or_default() += count;
    }
    sums
}

pub fn render(history: &History) -> Markup {
    let sources = Column::new(&sum_of(history, |session| &session.sources), MAX_SOURCES, "sources");
    let rules = Column::new(&sum_of(history, |session| &session.stopped_by), MAX_RULES, "rules");
    let tainted = history.sessions.iter().filter(|(_, session)| session.tainted.is_some());
    // Sessions in which calls were stopped come first.
    let weight = |session: &Session| session.counts.stops() * 1_000_000 + session.counts.marked;
    let weights: BTreeMap<&str, u64> = tainted.map(|(id, session)| (id.as_str(), weight(session))).collect();
    let mut sessions = Column::new(&weights, MAX_SESSIONS, "sessions");
    let clean = sessions.names.len();
    let clean_sessions: Vec<&Session> =
        history.sessions.values().filter(|session| session.tainted.is_none() && session.counts.stops() > 0).collect();
    if !clean_sessions.is_empty() {
        sessions.names.push(format!("{} that read none", clean_sessions.len()));
    }
    let (mut read, mut stopped) = (Links::new(), Links::new());
    for (id, session) in &history.sessions {
        let row = if session.tainted.is_some() { sessions.row(id) } else { clean };
        for (source, count) in &session.sources {
            *read.entry((sources.row(source), row)).or_default() += count;
        }
        for (rule, count) in &session.stopped_by {
            *stopped.entry((row, rules.row(rule))).or_default() += count;
        }
    }
    if read.is_empty() && stopped.is_empty() {
        return html! { p { "No result was marked, and no call was stopped." } };
    }
    let rows =
        [&sources.names, &sessions.names, &rules.names].iter().map(|names| names.len()).max().unwrap_or_default();
    let height = 34 + u32::try_from(rows).unwrap_or_default() * ROW;
    let columns = [
        (COLUMNS[0], "end", 28, "Sources, by marked results", &sources.names),
        (COLUMNS[1], "start", 24, "Sessions", &sessions.names),
        (COLUMNS[3], "start", 28, "Rules, by stopped calls", &rules.names),
    ];
    html! {
        figure {
            svg viewBox={ "0 0 " (WIDTH) " " (height) } role="img"
                aria-label="Sources of untrusted content, the sessions that read them, and the rules that stopped calls there; the same as a table below" {
                (lines(&read, COLUMNS[0] + 6, COLUMNS[1] - 6, "read"))
                (lines(&stopped, COLUMNS[2] + 6, COLUMNS[3] - 6, "stopped"))
                @for (at, anchor, most, title, names) in columns {
                    text class="column" x=(at) y="14" text-anchor=(anchor) { (title) }
                    @for (row, text) in names.iter().enumerate() {
                        text x=(at) y=(y(row) + 4) text-anchor=(anchor) { (shortened(text, most)) title { (text) } }
                    }
                }
            }
        }
        details {
            summary { "The same as tables" }
            (table("Marked results by source and session", ["source", "session"], &read, &sources.names, &sessions.names))
            (table("Stopped calls by session and rule", ["session", "rule"], &stopped, &sessions.names, &rules.names))
        }
    }
}

fn y(row: usize) -> u32 {
    34 + u32::try_from(row).unwrap_or_default() * ROW + ROW / 2
}

/// A name that fits its column.
fn shortened(text: &str, most: usize) -> String {
    if text.chars().count() <= most { text.to_owned() } else { text.chars().take(most - 1).chain(['…']).collect() }
}

/// Draws links as curves whose width grows with the weight. The lines at a row lie side by side.
fn lines(links: &Links, from: u32, to: u32, class: &str) -> Markup {
    let mut totals: [BTreeMap<usize, u64>; 2] = Default::default();
    for ((start, end), weight) in links {
        let [starts, ends] = &mut totals;
        *starts.entry(*start).or_default() += weight;
        *ends.entry(*end).or_default() += weight;
    }
    let most = totals.iter().flat_map(BTreeMap::values).copied().max().unwrap_or(1).max(1);
    // In tenths of a unit, and visible if small.
    let width = |weight: u64| (weight * MAX_LINE * 10 / most).max(8);
    let mut used: [BTreeMap<usize, u64>; 2] = Default::default();
    let mut place = |side: usize, row: usize, width: u64, total: u64| -> String {
        let used = used.get_mut(side).map(|used| used.entry(row).or_default());
        let before = used.map_or(0, |used| std::mem::replace(used, *used + width));
        // The middle of the row, less half of all lines, plus those before, plus half of this one.
        let tenths = i64::from(y(row)) * 10 - i64::try_from(total).unwrap_or_default() / 2
            + i64::try_from(before + width / 2).unwrap_or_default();
        format!("{}.{}", tenths / 10, tenths % 10)
    };
    let total = |side: usize, row: usize| -> u64 {
        let is_at = |(start, end): &(usize, usize)| if side == 0 { *start == row } else { *end == row };
        links.iter().filter(|(link, _)| is_at(link)).map(|(_, weight)| width(*weight)).sum()
    };
    let middle = u32::midpoint(from, to);
    let paths: Vec<(String, String, u64)> = links
        .iter()
        .map(|((start, end), weight)| {
            let width = width(*weight);
            let (y1, y2) = (place(0, *start, width, total(0, *start)), place(1, *end, width, total(1, *end)));
            let path = format!("M{from} {y1}C{middle} {y1} {middle} {y2} {to} {y2}");
            (path, format!("{}.{}", width / 10, width % 10), *weight)
        })
        .collect();
    html! {
        @for (path, width, weight) in paths {
            path class={ "link " (class) } d=(path) stroke-width=(width) { title { (number(weight)) } }
        }
    }
}

fn table(caption: &str, heads: [&str; 2], links: &Links, from: &[String], to: &[String]) -> Markup {
    let name = |names: &[String], row: usize| names.get(row).cloned().unwrap_or_default();
    html! {
        div class="scroll" { table {
            caption { (caption) }
            thead { tr { @for head in heads { th scope="col" { (head) } } th scope="col" class="number" { "count" } } }
            tbody {
                @for ((start, end), weight) in links {
                    tr { td { (name(from, *start)) } td { (name(to, *end)) } td class="number" { (number(*weight)) } }
                }
            }
        } }
    }
}
