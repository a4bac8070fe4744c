//! Formats of texts. As forgiving as servers are: a date may lack its offset, and a format that we do not know rules
//! nothing out.

use std::net::{Ipv4Addr, Ipv6Addr};

/// Whether a text is in a format.
pub(super) fn fits(format: &str, text: &str) -> bool {
    match format {
        "date" => date(text),
        "time" => time(text),
        "date-time" => match text.split_once(['T', 't', ' ']) {
            Some((day, clock)) => date(day) && time(clock),
            None => date(text),
        },
        "email" => text.rsplit_once('@').is_some_and(|(who, at)| !who.is_empty() && !at.is_empty()) && is_line(text),
        "ipv4" => text.parse::<Ipv4Addr>().is_ok(),
        "ipv6" => text.parse::<Ipv6Addr>().is_ok(),
        "uri" => {
            text.split_once(':').is_some_and(|(scheme, _)| is_scheme(scheme)) && !text.contains(char::is_whitespace)
        }
        "uuid" => {
            let digits = text.bytes().filter(u8::is_ascii_hexdigit).count();
            digits == 32 && text.bytes().all(|byte| byte == b'-' || byte.is_ascii_hexdigit())
        }
        _ => true,
    }
}

/// `2026-01-31`.
fn date(text: &str) -> bool {
    let parts: Vec<&str> = text.split('-').collect();
    let [year, month, day] = parts.as_slice() else { return false };
    year.len() == 4 && number(year, 9999) && number(month, 12) && number(day, 31)
}

/// `10:15`, `10:15:30.5`, `10:15:30+02:00`, `10:15:30Z`.
fn time(text: &str) -> bool {
    let text = text.strip_suffix(['Z', 'z']).unwrap_or(text);
    let (clock, offset) = text.split_at_checked(text.find(['+', '-']).unwrap_or(text.len())).unwrap_or((text, ""));
    let clock = clock.split_once('.').map_or(clock, |(clock, _)| clock);
    let parts: Vec<&str> = clock.split(':').collect();
    (2..=3).contains(&parts.len())
        && parts.iter().all(|part| number(part, 60))
        && offset.bytes().all(|byte| byte.is_ascii_digit() || b"+-:".contains(&byte))
}

/// Whether a text is one or more digits, and no more than `most`.
fn number(text: &str, most: u32) -> bool {
    text.bytes().all(|byte| byte.is_ascii_digit()) && text.parse().is_ok_and(|number: u32| number <= most)
}

fn is_scheme(text: &str) -> bool {
    text.starts_with(|first: char| first.is_ascii_alphabetic())
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte))
}

fn is_line(text: &str) -> bool {
    !text.contains(char::is_control)
}
