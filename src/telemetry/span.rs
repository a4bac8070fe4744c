//! Times: what counts as one, and the first and the last of many.

use crate::swar::has_shape;

/// The first and the last time.
#[derive(Clone, Debug, Default)]
pub(super) struct Span {
    first: Option<String>,
    last: Option<String>,
    /// The minutes of both. Most times are between them, and need no closer look.
    minutes: Option<(u128, u128)>,
}

impl Span {
    /// The earliest of all.
    pub fn first(&self) -> Option<&str> {
        self.first.as_deref()
    }

    /// The latest of all.
    pub fn last(&self) -> Option<&str> {
        self.last.as_deref()
    }

    /// Takes in a time.
    #[inline]
    pub fn add(&mut self, ts: &[u8]) {
        let between = |(minute, (first, last))| first < minute && minute < last;
        if !minute(ts).zip(self.minutes).is_some_and(between) {
            self.widen(ts);
        }
    }

    #[cold]
    fn widen(&mut self, ts: &[u8]) {
        let text = || Some(String::from_utf8_lossy(ts).into_owned());
        if self.first().is_none_or(|first| ts < first.as_bytes()) {
            self.first = text();
        }
        if self.last().is_none_or(|last| ts > last.as_bytes()) {
            self.last = text();
        }
        let minute = |ts: Option<&str>| minute(ts?.as_bytes());
        self.minutes = minute(self.first()).zip(minute(self.last()));
    }

    /// Takes in the times of another.
    pub fn join(&mut self, other: &Span) {
        other.first.iter().chain(&other.last).for_each(|ts| self.add(ts.as_bytes()));
    }
}

/// What a time begins with, to the minute, as a number. Numbers have the order of their times.
fn minute(ts: &[u8]) -> Option<u128> {
    ts.first_chunk().map(|start| u128::from_be_bytes(*start))
}

/// `2026-11-16T01:02:03Z`, with any number of decimals.
#[inline]
pub(super) fn is_time(ts: &[u8]) -> bool {
    let shaped =
        |at: usize, shape| ts.get(at..).and_then(<[u8]>::first_chunk).is_some_and(|word| has_shape(word, shape));
    shaped(0, b"0000-00-") && shaped(8, b"00T00:00") && shaped(11, b"00:00:00") && ts.ends_with(b"Z")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_and_the_last_are_those_of_all() {
        // Many in the same minute, and some of another length.
        let time = |at: u64| {
            let (day, hour, second) = (at * at % 3, 9 - at % 4, at * 31 % 60);
            format!("2026-11-1{day}T0{hour}:00:{second:02}{}Z", ["", ".5", ".25"][at as usize % 3])
        };
        for start in 0..50 {
            let all: Vec<String> = (start..start + 1 + start % 9).map(time).collect();
            let (mut span, mut other) = (Span::default(), Span::default());
            let (here, there) = all.split_at(all.len() / 2);
            here.iter().for_each(|ts| span.add(ts.as_bytes()));
            there.iter().for_each(|ts| other.add(ts.as_bytes()));
            span.join(&other);
            let expected = (all.iter().min().map(String::as_str), all.iter().max().map(String::as_str));
            assert_eq!((span.first(), span.last()), expected, "{all:?}");
        }
    }

    #[test]
    fn a_time_has_digits_and_signs_where_they_belong() {
        let shape = "0000-00-00T00:00:00";
        for time in ["2026-11-16T01:02:03Z", "2026-11-16T01:02:03.456Z", "9999-99-99T99:99:99.Z"] {
            assert!(is_time(time.as_bytes()), "{time}");
            for (at, sign) in shape.bytes().enumerate() {
                for byte in 0..=255_u8 {
                    let mut changed = time.as_bytes().to_vec();
                    changed[at] = byte;
                    let fits = if sign == b'0' { byte.is_ascii_digit() } else { byte == sign };
                    assert_eq!(is_time(&changed), fits, "{}", changed.escape_ascii());
                }
            }
        }
        for none in ["", "2026-11-16", "2026-11-16T01:02:03", "2026-11-16T01:02:03.456", "2026-11-16T01:02:0Z"] {
            assert!(!is_time(none.as_bytes()), "{none}");
        }
    }
}
