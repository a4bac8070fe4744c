//! Sessions by day and time of day: a bar for each, a band from where it had read untrusted content, and marks.

use super::page::{clock, name, number};
use maud::{Markup, html};
use rune::telemetry::history::{DayPart, Decision, History, Moment, Session};
use std::collections::BTreeMap;
use std::fmt::Write;
use time::Date;

const WIDTH: u32 = 960;

/// The distance of two lines of the axis.
const STEP_SECONDS: u32 = 3 * 3600;

/// The height of a lane, and of the axis above them.
const LANE: u32 = 18;
const AXIS: u32 = 16;

/// The narrowest bar, and the room between two bars in a lane.
const MIN_BAR: u32 = 4;
const GAP: u32 = 6;

/// A session within one day, in units of the drawing.
struct Bar<'a> {
    id: &'a str,
    session: &'a Session,
    part: &'a DayPart,
    from: u32,
    to: u32,
    tainted: Option<u32>,
    hot: Option<u32>,
    lane: u32,
}

/// The hours of the day in which there are sessions.
#[derive(Clone, Copy)]
struct Axis {
    from: u32,
    to: u32,
}

impl Axis {
    fn of(history: &History) -> Axis {
        let parts = || history.sessions.values().flat_map(|session| session.days.values()).filter_map(|part| part.span);
        let first = parts().map(|(first, _)| first).min().unwrap_or_default();
        let last = parts().map(|(_, last)| last).max().unwrap_or_default();
        let from = first / STEP_SECONDS * STEP_SECONDS;
        Axis { from, to: (last + 1).next_multiple_of(STEP_SECONDS).max(from + STEP_SECONDS) }
    }

    fn x(self, second: u32) -> u32 {
        let along = u64::from(second.saturating_sub(self.from)) * u64::from(WIDTH);
        u32::try_from(along / u64::from(self.to - self.from)).unwrap_or(WIDTH)
    }

    fn ticks(self) -> impl Iterator<Item = u32> {
        (self.from..self.to).step_by(3 * 3600)
    }
}

pub fn render(history: &History) -> Markup {
    let axis = Axis::of(history);
    let mut days: BTreeMap<Date, Vec<Bar<'_>>> = BTreeMap::new();
    for (id, session) in &history.sessions {
        for (day, part) in &session.days {
            days.entry(*day).or_default().extend(bar(id, session, *day, part, axis));
        }
    }
    let numbers: BTreeMap<&str, usize> =
        history.sessions.keys().enumerate().map(|(at, id)| (id.as_str(), at)).collect();
    html! {
        p { "A bar is a session, by time of day. " a href="#tables" { "The same as a table" } "." }
        (legend())
        @if days.is_empty() { p { "The log has no lines in this time." } }
        @for (day, mut bars) in days.into_iter().rev() {
            (render_day(day, &mut bars, history, &numbers, axis))
        }
    }
}

fn bar<'a>(id: &'a str, session: &'a Session, day: Date, part: &'a DayPart, axis: Axis) -> Option<Bar<'a>> {
    let (first, last) = part.span?;
    let from = axis.x(first).min(WIDTH - MIN_BAR);
    let since = |at: Option<Moment>| {
        let at = at.filter(|at| at.day <= day)?;
        Some(if at.day < day { from } else { axis.x(at.second) })
    };
    let to = axis.x(last).max(from + MIN_BAR);
    Some(Bar { id, session, part, from, to, tainted: since(session.tainted), hot: since(session.hot), lane: 0 })
}

/// Puts each bar into the first lane that is free, and returns the number of lanes.
fn assign_lanes(bars: &mut [Bar<'_>]) -> u32 {
    bars.sort_by_key(|bar| (bar.from, bar.to));
    let mut ends: Vec<u32> = Vec::new();
    for bar in bars {
        let free = ends.iter().position(|end| *end + GAP <= bar.from).unwrap_or(ends.len());
        match ends.get_mut(free) {
            Some(end) => *end = bar.to,
            None => ends.push(bar.to),
        }
        bar.lane = u32::try_from(free).unwrap_or(u32::MAX);
    }
    u32::try_from(ends.len()).unwrap_or(u32::MAX)
}

fn render_day(
    day: Date,
    bars: &mut [Bar<'_>],
    history: &History,
    numbers: &BTreeMap<&str, usize>,
    axis: Axis,
) -> Markup {
    let lanes = assign_lanes(bars);
    let height = AXIS + lanes * LANE + 2;
    let counts = history.days.get(&day).map(|day| (day.calls, day.counts)).unwrap_or_default();
    let (calls, counts) = counts;
    let tainted = bars.iter().filter(|bar| bar.tainted.is_some()).count();
    let text = format!(
        "{} sessions, {} calls, {} denied, {} asked, {} advised; {tainted} with untrusted content",
        bars.len(),
        number(calls),
        counts.denied,
        counts.asked,
        counts.advised
    );
    html! {
        figure class="day" {
            figcaption { h3 { (day.weekday()) ", " time { (day) } } " " span { (text) } }
            svg viewBox={ "0 0 " (WIDTH) " " (height) } role="img" aria-label={ "Sessions on " (day) ": " (text) } {
                @for second in axis.ticks() {
                    @let at = axis.x(second);
                    line class="grid" x1=(at) x2=(at) y1=(AXIS - 3) y2=(height) {}
                    text class="tick" x=(at + 3) y="11" { (clock(second)) }
                }
                @for bar in bars.iter() { (render_bar(bar, numbers, axis)) }
            }
        }
    }
}

fn render_bar(bar: &Bar<'_>, numbers: &BTreeMap<&str, usize>, axis: Axis) -> Markup {
    let Bar { id, session, part, from, to, .. } = *bar;
    let y = AXIS + bar.lane * LANE + 3;
    let (first, last) = part.span.unwrap_or_default();
    let counts = session.counts;
    let title = format!(
        "{} {}, {}–{}: {} calls, {} denied, {} asked, {} advised, {} results marked",
        name(&session.client),
        name(id),
        clock(first),
        clock(last),
        number(session.calls),
        counts.denied,
        counts.asked,
        counts.advised,
        counts.marked
    );
    let row = numbers.get(id).copied().unwrap_or_default();
    html! {
        // Not in the order of the keyboard: the table has a row for each session.
        a href={ "#s" (row) } tabindex="-1" {
            title { (title) }
            rect class="session" x=(from) y=(y) width=(to - from) height=(LANE - 6) rx="2" {}
            @if let Some(start) = bar.tainted {
                @let start = start.min(to - 2);
                rect class="taint" x=(start) y=(y) width=(to - start) height=(LANE - 6) rx="2" {}
            }
            @if let Some(start) = bar.hot {
                @let start = start.min(to - 2);
                rect class="hot" x=(start) y=(y) width=(to - start) height="3" {}
            }
            @for decision in Decision::ALL {
                @let path = marks(part, decision, y + (LANE - 6) / 2, axis);
                @if !path.is_empty() { path class=(class(decision)) d=(path) {} }
            }
        }
    }
}

/// The marks of one decision as one path. Of those at the same place one is drawn.
fn marks(part: &DayPart, decision: Decision, y: u32, axis: Axis) -> String {
    let mut path = String::new();
    let mut last = None;
    let mut places: Vec<u32> =
        part.marks.iter().filter(|(_, of)| *of == decision).map(|(second, _)| axis.x(*second)).collect();
    places.sort_unstable();
    for at in places {
        if last.is_none_or(|last| at >= last + 3) {
            write!(path, "M{at} {y}{}", shape(decision)).ok();
            last = Some(at);
        }
    }
    path
}

/// The shape of a mark around its place, so that it is known without its colour.
fn shape(decision: Decision) -> &'static str {
    match decision {
        // A thin line.
        Decision::Marked => "m-.5-6h1v12h-1z",
        // A diamond.
        Decision::Advised => "m0-4l4 4l-4 4l-4-4z",
        // A triangle.
        Decision::Asked => "m0-5.5l5.5 10h-11z",
        // A square.
        Decision::Denied => "m-5-5h10v10h-10z",
    }
}

pub fn class(decision: Decision) -> &'static str {
    match decision {
        Decision::Marked => "marked",
        Decision::Advised => "advised",
        Decision::Asked => "asked",
        Decision::Denied => "denied",
    }
}

fn legend() -> Markup {
    let marks = [
        (Decision::Denied, "denied"),
        (Decision::Asked, "asked"),
        (Decision::Advised, "advised"),
        (Decision::Marked, "result marked as untrusted"),
    ];
    html! {
        ul class="legend" {
            @for (decision, text) in marks {
                li {
                    svg viewBox="-7 -7 14 14" aria-hidden="true" { path class=(class(decision)) d={ "M0 0" (shape(decision)) } {} }
                    (text)
                }
            }
            li { svg viewBox="0 0 28 14" class="wide" aria-hidden="true" { rect class="session" y="1" width="28" height="12" rx="2" {} } "session" }
            li {
                svg viewBox="0 0 28 14" class="wide" aria-hidden="true" {
                    rect class="session" y="1" width="28" height="12" rx="2" {}
                    rect class="taint" x="8" y="1" width="20" height="12" rx="2" {}
                }
                "has read untrusted content"
            }
            li {
                svg viewBox="0 0 28 14" class="wide" aria-hidden="true" {
                    rect class="taint" y="1" width="28" height="12" rx="2" {}
                    rect class="hot" y="1" width="28" height="3" {}
                }
                "that looks like instructions to the model"
            }
        }
    }
}
