//! Unit tests of `src/commands/mcp/relay.rs`.

use super::*;

#[test]
fn lines_are_the_same_however_they_are_cut() {
    let text = b"a\n\nbb\ncccccccccc\nd\nend";
    for size in 1..=text.len() {
        let mut lines = LineBuffer::new(6);
        let mut found = Vec::new();
        for chunk in text.chunks(size) {
            lines.push(chunk, &mut |line| match line {
                Line::Whole(line) => found.push(line.to_vec()),
                Line::TooLong => found.push(b"...".to_vec()),
            });
        }
        assert_eq!(found, [&b"a\n"[..], b"\n", b"bb\n", b"...", b"d\n"], "{size}");
        assert_eq!(lines.rest().as_deref(), Some(&b"end"[..]));
    }
}
