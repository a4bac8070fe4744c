//! Unit tests of `src/telemetry/summary.rs`.

use super::*;

fn summary(lines: &[&str], filter: &Filter) -> LogReport {
    let mut summary = Summary::default();
    for line in lines {
        summary.add(line.as_bytes(), filter);
    }
    summary.report()
}

fn line(ts: &str, decision: &str, source: &str, session: &str) -> String {
    format!(
        r#"{{"event":"quarantine","ts":"{ts}","tool":"WebFetch","decision":"{decision}","source":"{source}","session_id":"{session}","us":120}}"#
    )
}

#[test]
fn lines_are_counted_and_broken_ones_too() {
    let whole = line("2026-11-16T01:00:00.000Z", "emit", "webfetch:a", "s1");
    let half = whole.get(..40).unwrap();
    let report = summary(&[&whole, half, "[]", "{}", r#"{"ts":"yesterday","decision":"emit"}"#], &Filter::default());
    assert_eq!((report.lines, report.malformed), (5, 4));
    assert_eq!(report.decisions.get("emit"), Some(&1));
}

#[test]
fn rules_are_counted_where_a_line_names_one() {
    let old = line("2026-11-16T01:00:00.000Z", "emit", "webfetch:a", "s1");
    let new = old.replace("\"us\"", "\"rule\":\"quarantine-webfetch\",\"us\"");
    let rules = summary(&[&old, &new, &new], &Filter::default()).rules;
    assert_eq!(
        rules.iter().map(|row| (row.rule.as_str(), row.lines)).collect::<Vec<_>>(),
        [("quarantine-webfetch", 2)]
    );
}

#[test]
fn the_fifth_notice_for_one_source_in_one_session_escalates() {
    let same = line("2026-11-16T01:00:00.000Z", "emit", "mcp:desk", "s1");
    let other = line("2026-11-16T01:00:00.000Z", "emit", "mcp:desk", "s2");
    let four = [&*same, &same, &same, &same, &other];
    assert!(summary(&four, &Filter::default()).escalations.is_empty());
    let skipped = line("2026-11-16T01:00:00.000Z", "skip", "mcp:desk", "s2");
    let five = [&*other, &skipped, &skipped, &skipped, &skipped, &same, &same, &same, &same, &same];
    let report = summary(&five, &Filter::default());
    let escalations = report.escalations.iter().map(|row| (row.session_id.as_str(), row.source.as_str(), row.count));
    assert_eq!(escalations.collect::<Vec<_>>(), [("s1", "mcp:desk", 5)]);
    let sessions = report.sessions.iter().map(|row| (row.session_id.as_str(), row.emit));
    assert_eq!(sessions.collect::<Vec<_>>(), [("s1", 5), ("s2", 1)]);
}

#[test]
fn filters_leave_out_what_is_early_or_of_another_session() {
    let lines = [
        line("2026-11-15T23:59:59.999Z", "emit", "webfetch:a", "s1"),
        line("2026-11-16T00:00:00.000Z", "skip", "webfetch:a", "s1"),
        line("2026-11-16T00:00:00.000Z", "emit", "webfetch:a", "s2"),
    ];
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    let filter = Filter { since: Some("2026-11-16T00:00:00.000Z".into()), session: Some("s1".into()) };
    let report = summary(&lines, &filter);
    assert_eq!(report.lines, 1);
    assert_eq!(report.first_ts.as_deref(), Some("2026-11-16T00:00:00.000Z"));
}

#[test]
fn a_name_with_blanks_is_one_rule_before_a_call_and_a_list_is_counted_apart_after_one() {
    let line = |event: &str, rule: &str| {
        let line = line("2026-11-16T01:00:00.000Z", "emit", "webfetch:a", "s1");
        line.replace("\"us\"", &format!("\"rule\":\"{rule}\",\"us\"")).replace("quarantine", event)
    };
    let lines = [
        line("PreToolUse", "My Rule 2"),
        line("PreToolUse", "My Rule 2"),
        line("quarantine", "My Rule 2"),
        line("PreToolUse", "rune/limit"),
        line("PreToolUse", "a\\u001b[31m`\\u202e"),
    ];
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    let report = summary(&lines, &Filter::default());
    let mut rules: Vec<(&str, u64)> = report.rules.iter().map(|row| (row.rule.as_str(), row.lines)).collect();
    rules.sort_unstable();
    let escaped = r"a\u{1b}[31m\u{60}\u{202e}";
    assert_eq!(rules, [("2", 1), ("My", 1), ("My Rule 2", 2), ("Rule", 1), (escaped, 1), ("rune/limit", 1)]);
}

/// The fields of a line, in the order of the log.
fn fields(at: usize) -> [(&'static str, String); 8] {
    let (event, decision) = [("quarantine", "emit"), ("quarantine", "skip"), ("PreToolUse", "allow")][at % 3];
    [
        ("event", event.to_owned()),
        ("ts", format!("2026-11-{:02}T{:02}:00:{:02}.{:03}Z", at % 28 + 1, at * 5 % 24, at % 60, at % 1000)),
        ("tool", ["Bash", "", "mcp__desk__get_ticket", "caf\u{e9}"][at % 4].to_owned()),
        ("decision", decision.to_owned()),
        ("source", format!("webfetch:host-{}.example", at % 7)),
        ("session_id", format!("{:08x}-1c1a", at % 13)),
        ("rule", ["quarantine-webfetch", "one two", ""][at % 5 % 3].to_owned()),
        ("us", (at * at % 9_999).to_string()),
    ]
}

#[test]
fn a_line_counts_the_same_however_it_is_written() {
    let quoted = |(name, value): (&str, String)| match name {
        "us" => format!(r#""us":{value}"#),
        _ => format!(r#""{name}":"{value}""#),
    };
    let escape = |value: String| value.chars().map(|c| format!("\\u{:04x}", c as u32)).collect();
    let escaped = |(name, value)| (name, if name == "us" { value } else { escape(value) });
    let told = |write: &dyn Fn(usize) -> Vec<String>| {
        let lines: Vec<String> = (0..2_000).map(|at| format!("{{{}}}", write(at * 7_919).join(","))).collect();
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        serde_json::to_string(&summary(&lines, &Filter::default())).unwrap()
    };
    let escaped_lines = told(&|at| fields(at).map(escaped).map(quoted).to_vec());
    assert!(escaped_lines.starts_with(r#"{"lines":2000,"malformed":0,"#), "{escaped_lines}");
    assert_eq!(told(&|at| fields(at).map(quoted).to_vec()), escaped_lines);
    assert_eq!(told(&|at| fields(at).map(quoted).into_iter().rev().collect()), escaped_lines);
}

#[test]
fn the_first_and_the_last_time_are_those_of_all_lines() {
    let times = ["2026-11-16T01:00:00.5Z", "2026-11-15T23:00:00Z", "2026-11-16T01:00:00.25Z", "2026-11-16T00:00:00Z"];
    let lines = times.map(|ts| line(ts, "emit", "webfetch:a", "s1"));
    let report = summary(&lines.each_ref().map(String::as_str), &Filter::default());
    assert_eq!(report.first_ts.as_deref(), Some(times[1]));
    assert_eq!(report.last_ts.as_deref(), Some(times[0]));
}

#[test]
fn a_timestamp_has_digits_and_punctuation_in_their_places() {
    let shape = "0000-00-00T00:00:00";
    for time in ["2026-11-16T01:02:03Z", "2026-11-16T01:02:03.456Z", "9999-99-99T99:99:99.Z"] {
        assert!(is_timestamp(time), "{time}");
        for (at, sign) in shape.bytes().enumerate() {
            for byte in 0..=127_u8 {
                let mut changed = time.as_bytes().to_vec();
                changed[at] = byte;
                let changed = String::from_utf8(changed).unwrap();
                let fits = if sign == b'0' { byte.is_ascii_digit() } else { byte == sign };
                assert_eq!(is_timestamp(&changed), fits, "{changed:?}");
            }
        }
    }
    for other in ["", "2026-11-16", "2026-11-16T01:02:03", "2026-11-16T01:02:03.456", "2026-11-16T01:02:0Z"] {
        assert!(!is_timestamp(other), "{other}");
    }
}
