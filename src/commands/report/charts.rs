//! The time per call by day.

use super::page::number;
use maud::{Markup, html};
use rune::telemetry::Quantiles;
use rune::telemetry::history::History;
use std::fmt::Write;
use time::Date;

const WIDTH: u32 = 960;
const HEIGHT: u32 = 200;
const LEFT: u32 = 60;
const BOTTOM: u32 = 24;
const TOP: u32 = 10;

/// One of the quantiles.
type Quantile = fn(&Quantiles) -> u64;

/// Milliseconds with two decimals.
pub fn milliseconds(us: u64) -> String {
    format!("{}.{:02} ms", number(us / 1000), us % 1000 / 10)
}

pub fn times(history: &History) -> Markup {
    let days: Vec<(Date, Quantiles)> = history.days.iter().filter_map(|(day, of)| Some((*day, of.times()?))).collect();
    let (Some(all), Some((first, _)), Some((last, _))) = (history.times(), days.first(), days.last()) else {
        return html! { p { "The log has no times." } };
    };
    let most = days.iter().map(|(_, times)| times.p99).max().unwrap_or(1).max(1);
    let text = format!(
        "half took at most {}, 95 of 100 at most {}, and 99 of 100 at most {}",
        milliseconds(all.p50),
        milliseconds(all.p95),
        milliseconds(all.p99)
    );
    let span = (*last - *first).whole_days().max(1);
    let x = |day: Date| {
        let room = i64::from(WIDTH - LEFT - 60);
        i64::from(LEFT) + (day - *first).whole_days() * room / span
    };
    let y = |us: u64| u64::from(HEIGHT - BOTTOM) - us * u64::from(HEIGHT - BOTTOM - TOP) / most;
    let quantiles: [(&str, Quantile); 3] =
        [("p99", |times| times.p99), ("p95", |times| times.p95), ("p50", |times| times.p50)];
    let line = |of: Quantile| {
        let mut points = String::new();
        for (day, times) in &days {
            write!(points, "{},{} ", x(*day), y(of(times))).ok();
        }
        points
    };
    // Labels of lines that end close to each other are moved apart.
    let mut next_label = 0;
    let mut label = |of: Quantile| {
        let wanted = days.last().map_or(0, |(_, times)| y(of(times))) + 4;
        let at = wanted.max(next_label);
        next_label = at + 14;
        at
    };
    html! {
        p { "Of the calls, " (text) ". " a href="#days" { "By day as a table" } "." }
        figure {
            svg viewBox={ "0 0 " (WIDTH) " " (HEIGHT + 24) } role="img" aria-label={ "Time per call by day: " (text) } {
                @for part in 0..=4u64 {
                    @let us = most * part / 4;
                    line class="grid" x1=(LEFT) x2=(WIDTH - 60) y1=(y(us)) y2=(y(us)) {}
                    text class="tick" x=(LEFT - 6) y=(y(us) + 4) text-anchor="end" { (milliseconds(us)) }
                }
                text class="tick" x=(LEFT) y=(HEIGHT - 6) { (first) }
                @if first != last { text class="tick" x=(x(*last)) y=(HEIGHT - 6) text-anchor="end" { (last) } }
                @for (name, of) in quantiles {
                    polyline class={ "line " (name) } points=(line(of)) {}
                    @if days.len() == 1 { circle class=(name) cx=(LEFT) cy=(label(of) - 4) r="3" {} }
                    @else { text class="tick" x=(x(*last) + 6) y=(label(of)) { (name) } }
                }
            }
        }
    }
}
