//! The page: its head, the figures, and the order of its sections.

use super::{charts, flow, tables, timeline};
use maud::{DOCTYPE, Markup, PreEscaped, html};
use rune::encoding::escape::one_line;
use rune::telemetry::history::{History, Moment};
use time::Date;

/// Characters of a name that are shown.
const MAX_NAME_CHARS: usize = 60;

/// The sections: id, title.
const SECTIONS: [(&str, &str); 6] = [
    ("timeline", "Sessions"),
    ("flow", "From sources to stopped calls"),
    ("rules", "Rules"),
    ("times", "Time per call"),
    ("exceptions", "Exceptions"),
    ("tables", "Sessions and days as tables"),
];

/// A name from the log, without characters that cannot be seen.
pub fn name(text: &str) -> String {
    if text.is_empty() { "(none)".to_owned() } else { one_line(text, MAX_NAME_CHARS).into_owned() }
}

/// A number with separators between thousands.
pub fn number(count: u64) -> String {
    let digits = count.to_string();
    let with_separator = |(at, digit): (usize, char)| {
        let separator = if at > 0 && (digits.len() - at).is_multiple_of(3) { "," } else { "" };
        format!("{separator}{digit}")
    };
    digits.chars().enumerate().map(with_separator).collect()
}

pub fn clock(second: u32) -> String {
    format!("{:02}:{:02}", second / 3600, second / 60 % 60)
}

pub fn moment(at: Moment) -> String {
    format!("{} {}", at.day, clock(at.second))
}

pub fn render(history: &History, today: Date) -> Markup {
    let span = history.days.first_key_value().zip(history.days.last_key_value());
    let span = span.map_or_else(|| "no lines".to_owned(), |((first, _), (last, _))| format!("{first} to {last}"));
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                // Nothing is loaded and nothing runs, whatever a name in the log says.
                meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; img-src data:";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { "Rune: " (span) }
                link rel="icon" href="data:,";
                style { (PreEscaped(include_str!("page.css"))) }
            }
            body {
                a class="skip" href="#main" { "Skip to the content" }
                header {
                    h1 { "What Rune decided" }
                    p { (span) ", times in UTC, written " (today) ". The log holds no commands; " code { "rune log" } " looks them up." }
                    (figures(history))
                    nav aria-label="Sections" {
                        ul { @for (id, title) in SECTIONS { li { a href={ "#" (id) } { (title) } } } }
                    }
                }
                main id="main" {
                    @for (id, title) in SECTIONS {
                        section aria-labelledby=(id) {
                            h2 id=(id) { (title) }
                            (section(id, history))
                        }
                    }
                }
            }
        }
    }
}

fn section(id: &str, history: &History) -> Markup {
    match id {
        "timeline" => timeline::render(history),
        "flow" => flow::render(history),
        "rules" => tables::rules(history),
        "times" => charts::times(history),
        "exceptions" => tables::exceptions(history),
        _ => tables::details(history),
    }
}

fn figures(history: &History) -> Markup {
    let (counts, calls) = (history.counts(), history.calls());
    let tainted = history.sessions.values().filter(|session| session.tainted.is_some()).count();
    let per_100 = |count: u64| {
        let hundredths = (count * 10_000).checked_div(calls).unwrap_or_default();
        format!("{}.{:02} per 100 calls", hundredths / 100, hundredths % 100)
    };
    let figures = [
        ("", number(history.sessions.len() as u64), "sessions", format!("{tainted} read untrusted content")),
        ("", number(calls), "calls", String::new()),
        ("denied", number(counts.denied), "denied", per_100(counts.denied)),
        ("asked", number(counts.asked), "asked", per_100(counts.asked)),
        ("advised", number(counts.advised), "with advice", per_100(counts.advised)),
        ("marked", number(counts.marked), "results marked", String::new()),
    ];
    html! {
        dl class="figures" {
            @for (class, count, what, more) in figures {
                div class=(class) { dt { (what) } dd { (count) @if !more.is_empty() { small { (more) } } } }
            }
        }
    }
}
