//! Unit tests of `src/commands/quarantine/status/read.rs`.

use super::*;

#[test]
fn every_line_counts_once_whatever_the_size_of_the_buffer() {
    let line = r#"{"event":"quarantine","ts":"2026-11-16T01:00:00.000Z","tool":"T","decision":"emit","source":"s","session_id":"i","us":7}"#;
    let padded = |length: usize| format!("{line}{}", " ".repeat(length - line.len()));
    let longest = padded(MAX_LINE_BYTES);
    let too_long = padded(MAX_LINE_BYTES + 1);
    let very_long = padded(3 * MAX_LINE_BYTES);
    for (lines, whole, malformed) in [
        (vec![""], 0, 0),
        (vec!["", ""], 0, 0),
        (vec![line], 1, 0),
        (vec![line, ""], 1, 0),
        (vec!["", "", line, "half a li", line], 2, 1),
        (vec![&longest, &longest], 2, 0),
        (vec![&too_long, line, &too_long], 1, 2),
        (vec![&very_long, line, "", &longest, &very_long], 2, 2),
    ] {
        let text = lines.join("\n");
        for buffer in [1, 1_000, MAX_LINE_BYTES, MAX_LINE_BYTES + 1, BUFFER_BYTES] {
            let log = BufReader::with_capacity(buffer, text.as_bytes());
            let report = summarize(log, &Filter::default()).unwrap().report();
            assert_eq!((report.lines, report.malformed), (whole + malformed, malformed), "{buffer} bytes");
        }
    }
}
