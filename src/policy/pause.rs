//! A pause: until it ends, the guard answers as under the preset `off`, but the rules in `always_deny` still deny.

use std::fmt;
use time::format_description::well_known::Rfc3339;
use time::{Duration, OffsetDateTime, UtcOffset};

/// The first line of the file.
const HEADER: &str = "rune.pause/1";

/// A pause that is in force. It ends by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pause {
    from: OffsetDateTime,
    until: OffsetDateTime,
}

impl Pause {
    /// The length of the longest pause.
    pub const MAX: Duration = Duration::hours(8);

    /// A pause that begins now; `None` unless the length is positive and at most [`Pause::MAX`].
    pub fn new(now: OffsetDateTime, length: Duration) -> Option<Pause> {
        let until = now.checked_add(length)?;
        (length.is_positive() && length <= Self::MAX).then_some(Pause { from: now, until })
    }

    /// The text of the file.
    pub fn to_text(self) -> String {
        let format = |time: OffsetDateTime| time.to_offset(UtcOffset::UTC).format(&Rfc3339).unwrap_or_default();
        format!("{HEADER}\nfrom {}\nuntil {}\n", format(self.from), format(self.until))
    }

    /// Parses the text of the file. `None` if the text has another form, the pause is longer than [`Pause::MAX`], or `now` is
    /// before its beginning or not before its end.
    pub fn read(text: &str, now: OffsetDateTime) -> Option<Pause> {
        let mut lines = text.strip_suffix('\n')?.split('\n');
        lines.next().filter(|line| *line == HEADER)?;
        let mut time = |name: &str| OffsetDateTime::parse(lines.next()?.strip_prefix(name)?, &Rfc3339).ok();
        let pause = Pause { from: time("from ")?, until: time("until ")? };
        let is_allowed = pause.until - pause.from <= Self::MAX;
        (lines.next().is_none() && is_allowed && pause.from <= now && now < pause.until).then_some(pause)
    }
}

/// When it ends. A time without a date suffices, because that is less than a day away.
impl fmt::Display for Pause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (hour, minute, _) = self.until.to_offset(UtcOffset::UTC).to_hms();
        write!(f, "until {hour:02}:{minute:02} UTC")
    }
}

#[cfg(test)]
#[path = "../../tests/unit/policy/pause.rs"]
mod tests;
