use super::Pause;
use time::{Duration, OffsetDateTime};

const NOW: OffsetDateTime = OffsetDateTime::UNIX_EPOCH;

#[test]
fn a_pause_ends_by_itself_and_is_at_most_eight_hours_long() {
    let pause = Pause::new(NOW, Duration::minutes(15)).unwrap();
    let text = pause.to_text();
    assert_eq!(pause.to_string(), "until 00:15 UTC");
    assert_eq!(Pause::read(&text, NOW), Some(pause));
    assert_eq!(Pause::read(&text, NOW + Duration::seconds(899)), Some(pause));
    for other in [NOW + Duration::seconds(900), NOW - Duration::seconds(1)] {
        assert_eq!(Pause::read(&text, other), None);
    }
    assert!(Pause::new(NOW, Duration::hours(8)).is_some());
    for length in [Duration::ZERO, Duration::seconds(-1), Duration::hours(8) + Duration::seconds(1), Duration::MAX] {
        assert_eq!(Pause::new(NOW, length), None, "{length}");
    }
}

#[test]
fn another_form_is_no_pause() {
    let text = Pause::new(NOW, Duration::hours(1)).unwrap().to_text();
    let longer = text.replace("until 1970-01-01T01", "until 1970-01-01T09");
    assert_ne!(longer, text);
    for text in [
        "",
        text.trim_end(),
        &longer,
        &format!("{text}\n"),
        &format!("{text}until 1970-01-01T02:00:00Z\n"),
        &text.replace("/1", "/2"),
        &text.replace("until", "Until"),
        &text.replace("1970", "x"),
        &text.replace('\n', "\r\n"),
    ] {
        assert_eq!(Pause::read(text, NOW), None, "{text:?}");
    }
}
