//! A pause: for some time the guard answers as under the preset `off`, except for `always_deny`.

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
    /// The longest pause.
    pub const MAX: Duration = Duration::hours(8);

    /// A pause from now on; `None` if it would be empty or too long.
    pub fn new(now: OffsetDateTime, length: Duration) -> Option<Pause> {
        let until = now.checked_add(length)?;
        (length.is_positive() && length <= Self::MAX).then_some(Pause { from: now, until })
    }

    /// The text of the file.
    pub fn to_text(self) -> String {
        let format = |time: OffsetDateTime| time.to_offset(UtcOffset::UTC).format(&Rfc3339).unwrap_or_default();
        format!("{HEADER}\nfrom {}\nuntil {}\n", format(self.from), format(self.until))
    }

    /// Parses the text of the file. `None` if the pause is not in force at `now`: it has ended, begins later, is longer than
    /// [`Pause::MAX`], or the text has another form.
    pub fn read(text: &str, now: OffsetDateTime) -> Option<Pause> {
        let mut lines = text.strip_suffix('\n')?.split('\n');
        lines.next().filter(|line| *line == HEADER)?;
        let mut time = |name: &str| OffsetDateTime::parse(lines.next()?.strip_prefix(name)?, &Rfc3339).ok();
        let pause = Pause { from: time("from ")?, until: time("until ")? };
        let is_allowed = pause.until - pause.from <= Self::MAX;
        (lines.next().is_none() && is_allowed && pause.from <= now && now < pause.until).then_some(pause)
    }
}

/// The time of its end, which is less than a day away.
impl fmt::Display for Pause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (hour, minute, _) = self.until.to_offset(UtcOffset::UTC).to_hms();
        write!(f, "until {hour:02}:{minute:02} UTC")
    }
}

#[cfg(test)]
#[path = "../../tests/unit/policy/pause.rs"]
mod tests;
