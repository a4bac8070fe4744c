//! Rules by noise and by day, exceptions, and the tables of sessions and days.

use super::charts::milliseconds;
use super::page::{moment, name, number};
use maud::{Markup, html};
use rune::telemetry::history::{Counts, History, RuleHistory};
use std::cmp::Reverse;
use time::{Date, Duration};

/// Days in the strip of a rule; of a longer log the last ones.
const MAX_STRIP_DAYS: i64 = 92;

/// Sources of a session that are named.
const MAX_SOURCES: usize = 4;

const DECISIONS: [&str; 4] = ["denied", "asked", "advised", "marked"];

fn of(counts: &Counts) -> [u64; 4] {
    [counts.denied, counts.asked, counts.advised, counts.marked]
}

/// A table that may be wider than the page.
fn scroll(table: Markup) -> Markup {
    html! { div class="scroll" { (table) } }
}

/// A cell with a count; of nothing, a mark that does not draw attention.
fn cell(count: u64) -> Markup {
    html! { td class="number" { @if count == 0 { span class="none" { "0" } } @else { (number(count)) } } }
}

pub fn rules(history: &History) -> Markup {
    let mut rules: Vec<(&String, &RuleHistory)> = history.rules.iter().collect();
    rules.sort_by_key(|(_, rule)| Reverse((rule.counts.stops(), rule.counts.advised, rule.counts.marked)));
    let Some((first, last)) = history.days.first_key_value().zip(history.days.last_key_value()) else {
        return html! { p { "No rule decided." } };
    };
    let last = *last.0;
    let first = (*first.0).max(last - Duration::days(MAX_STRIP_DAYS - 1));
    scroll(html! {
        table class="rules" {
            caption { "Rules, those that stopped most calls first. The strip shows each day from " (first) " to " (last) ": the stronger the colour, the more." }
            thead {
                tr {
                    th scope="col" { "rule" }
                    @for head in DECISIONS { th scope="col" class="number" { (head) } }
                    th scope="col" { "by day" }
                }
            }
            tbody {
                @for (id, rule) in rules {
                    tr {
                        th scope="row" { (name(id)) }
                        @for count in of(&rule.counts) { (cell(count)) }
                        td { (strip(rule, first, last)) }
                    }
                }
            }
        }
    })
}

/// A square for each day, and the busiest day in words.
fn strip(rule: &RuleHistory, first: Date, last: Date) -> Markup {
    let most = rule.days.values().map(Counts::all).max().unwrap_or(1).max(1);
    let busiest = rule.days.iter().max_by_key(|(_, counts)| counts.all());
    let text = busiest.map_or_else(String::new, |(day, counts)| {
        format!("on {} days; most on {day}: {}", rule.days.len(), counts.all())
    });
    let days = (last - first).whole_days() + 1;
    html! {
        svg class="strip" viewBox={ "0 0 " (days * 8) " 14" } width=(days * 8) role="img" aria-label=(text) {
            title { (text) }
            rect class="empty" width=(days * 8) height="14" {}
            @for (day, counts) in rule.days.range(first..=last) {
                // Four steps, the weakest visible.
                @let step = (counts.all() * 4).div_ceil(most).clamp(1, 4);
                rect class={ (class(counts)) " step" (step) } x=((*day - first).whole_days() * 8) width="7" height="14" {}
            }
        }
    }
}

/// What most of the stops of a day are, or else what the calls got.
fn class(counts: &Counts) -> &'static str {
    match counts {
        Counts { denied, asked, .. } if denied > asked => "denied",
        Counts { asked: 1.., .. } => "asked",
        Counts { advised: 1.., .. } => "advised",
        Counts { .. } => "marked",
    }
}

pub fn exceptions(history: &History) -> Markup {
    if history.exceptions.is_empty() {
        return html! { p { "No exception was used. " code { "rune allow --list" } " shows those that there are." } };
    }
    let mut used: Vec<_> = history.exceptions.iter().collect();
    used.sort_by_key(|(_, exception)| Reverse(exception.uses));
    scroll(html! {
        table {
            caption { "Exceptions that let calls pass; " code { "rune allow --list" } " shows what each of them covers" }
            thead {
                tr {
                    th scope="col" { "exception" }
                    @for head in ["uses", "sessions"] { th scope="col" class="number" { (head) } }
                    @for head in ["first use", "last use"] { th scope="col" { (head) } }
                }
            }
            tbody {
                @for (id, exception) in used {
                    tr {
                        th scope="row" { (name(id)) }
                        (cell(exception.uses))
                        (cell(exception.sessions.len() as u64))
                        td { (moment(exception.span.0)) }
                        td { (moment(exception.span.1)) }
                    }
                }
            }
        }
    })
}

pub fn details(history: &History) -> Markup {
    html! {
        h3 id="days" { "Days" }
        (days(history))
        h3 id="sessions" { "Sessions" }
        (sessions(history))
    }
}

fn days(history: &History) -> Markup {
    scroll(html! {
        table {
            caption { "Calls, decisions and the time per call by day, newest first" }
            thead {
                tr {
                    th scope="col" { "day" }
                    th scope="col" class="number" { "calls" }
                    @for head in DECISIONS { th scope="col" class="number" { (head) } }
                    @for head in ["p50", "p95", "p99"] { th scope="col" class="number" { (head) } }
                }
            }
            tbody {
                @for (day, of_day) in history.days.iter().rev() {
                    tr {
                        th scope="row" { (day) }
                        (cell(of_day.calls))
                        @for count in of(&of_day.counts) { (cell(count)) }
                        @if let Some(times) = of_day.times() {
                            @for us in [times.p50, times.p95, times.p99] { td class="number" { (milliseconds(us)) } }
                        } @else { td {} td {} td {} }
                    }
                }
            }
        }
    })
}

fn sessions(history: &History) -> Markup {
    // The rows are numbered as the timeline links to them.
    let mut rows: Vec<_> = history.sessions.iter().enumerate().collect();
    rows.sort_by_key(|(_, (_, session))| Reverse(session.first()));
    scroll(html! {
        table class="sessions" {
            caption { "Sessions, newest first" }
            thead {
                tr {
                    @for head in ["began", "session", "client"] { th scope="col" { (head) } }
                    th scope="col" class="number" { "calls" }
                    @for head in DECISIONS { th scope="col" class="number" { (head) } }
                    @for head in ["untrusted content", "sources"] { th scope="col" { (head) } }
                }
            }
            tbody {
                @for (row, (id, session)) in rows {
                    tr id={ "s" (row) } {
                        td class="whole" { @if let Some(at) = session.first() { (moment(at)) } }
                        th scope="row" class="whole" { (name(id)) }
                        td { (name(&session.client)) }
                        (cell(session.calls))
                        @for count in of(&session.counts) { (cell(count)) }
                        td {
                            @if let Some(at) = session.tainted { "from " (moment(at)) }
                            @if let Some(at) = session.hot { ", like instructions from " (moment(at)) }
                        }
                        td { (sources(session)) }
                    }
                }
            }
        }
    })
}

fn sources(session: &rune::telemetry::history::Session) -> Markup {
    let more = session.sources.len().saturating_sub(MAX_SOURCES);
    html! {
        @for (at, (source, count)) in session.sources.iter().take(MAX_SOURCES).enumerate() {
            @if at > 0 { ", " }
            (name(source)) @if *count > 1 { " ×" (number(*count)) }
        }
        @if more > 0 { " and " (more) " more" }
    }
}
