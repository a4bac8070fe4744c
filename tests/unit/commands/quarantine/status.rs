//! Unit tests of `src/commands/quarantine/status.rs`.

use super::*;

#[test]
fn since_takes_spans_dates_and_times() {
    let now = OffsetDateTime::from_unix_timestamp(1_000_000).unwrap();
    for (text, expected) in [
        ("90s", 999_910),
        ("30m", 998_200),
        ("2h", 992_800),
        ("7d", 395_200),
        ("1w", 395_200),
        ("1970-01-02", 86_400),
        ("1970-01-01T01:00:00+01:00", 0),
        ("1970-01-01T12:00:00Z", 43_200),
    ] {
        assert_eq!(parse_since(text, now).unwrap().unix_timestamp(), expected, "{text}");
    }
    for text in ["", "d", "-1d", "7x", "soon", "99999999999999999999w", "9000000000000w", "+5d", "\u{e9}"] {
        assert!(parse_since(text, now).is_err(), "{text}");
    }
}
