//! The `format` keyword. It is as lenient as servers are: a time may lack its offset, and an unknown format allows
//! everything.

use std::net::{Ipv4Addr, Ipv6Addr};

/// Whether a text has a format.
pub(super) fn matches(format: &str, text: &str) -> bool {
    match format {
        "date" => is_date(text),
        "time" => is_time(text),
        "date-time" => match text.split_once(['T', 't', ' ']) {
            Some((day, clock)) => is_date(day) && is_time(clock),
            None => is_date(text),
        },
        "email" => {
            text.rsplit_once('@').is_some_and(|(local, domain)| !local.is_empty() && !domain.is_empty())
                && is_line(text)
        }
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
fn is_date(text: &str) -> bool {
    let parts: Vec<&str> = text.split('-').collect();
    let [year, month, day] = parts.as_slice() else { return false };
    year.len() == 4 && is_number(year, 9999) && is_number(month, 12) && is_number(day, 31)
}

/// `10:15`, `10:15:30.5`, `10:15:30+02:00`, `10:15:30Z`.
fn is_time(text: &str) -> bool {
    let text = text.strip_suffix(['Z', 'z']).unwrap_or(text);
    let (clock, offset) = text.split_at_checked(text.find(['+', '-']).unwrap_or(text.len())).unwrap_or((text, ""));
    let clock = clock.split_once('.').map_or(clock, |(clock, _)| clock);
    let parts: Vec<&str> = clock.split(':').collect();
    (2..=3).contains(&parts.len())
        && parts.iter().all(|part| is_number(part, 60))
        && offset.bytes().all(|byte| byte.is_ascii_digit() || b"+-:".contains(&byte))
}

/// Whether a text consists of digits and is at most `max`.
fn is_number(text: &str, max: u32) -> bool {
    text.bytes().all(|byte| byte.is_ascii_digit()) && text.parse().is_ok_and(|number: u32| number <= max)
}

fn is_scheme(text: &str) -> bool {
    text.starts_with(|first: char| first.is_ascii_alphabetic())
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte))
}

fn is_line(text: &str) -> bool {
    !text.contains(char::is_control)
}
