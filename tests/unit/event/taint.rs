//! Unit tests of `src/event/taint.rs`.

use super::*;

#[test]
fn sources_are_counted_and_the_first_are_named() {
    let label = |name: &str| Label::of("mcp", name);
    let taint = Taint::of(["a", "b", "a", "c", "d"].map(label));
    assert_eq!((taint.count(&label("a")), taint.count(&label("x"))), (2, 0));
    assert_eq!(taint.summary(), "this session has read mcp:a, mcp:b, mcp:c and 1 more");
    assert!(Taint::default().is_empty() && !Taint::unknown().is_empty());
    assert_eq!(Taint::read("mcp:a\nmcp:b\n\nmcp:a\nmcp:c\nmcp:d\n"), taint);
    assert_eq!(Taint::read("mcp:a\nmcp:a\nmcp:b\nmcp:a").count(&label("a")), 3);
    assert!(!Taint::of([label("a")]).has_other_source(&label("a")));
    let cut = Taint::read("mcp:a\n").with_unread_sources();
    assert!(cut.count(&label("x")) >= ESCALATION && cut.has_other_source(&label("a")));
}

#[test]
fn the_summary_says_when_and_by_which_tool_a_source_was_read_and_whether_it_is_hot() {
    let line = |name: &str, heat| {
        Taint::line(&Label::of("mcp", name), "2026-11-19T04:20:31.123Z", &Label::tool("mcp__desk__get_ticket"), heat)
    };
    let one = Taint::read(&line("desk", Heat::Ordinary));
    assert_eq!(one.summary(), "this session has read mcp:desk (by mcp__desk__get_ticket at 04:20 UTC)");
    assert!(!one.is_hot() && one.count(&Label::of("mcp", "desk")) == 1);
    let two = Taint::read(&format!("{}{}", line("desk", Heat::Hot), line("web", Heat::Ordinary)));
    assert!(two.is_hot(), "a source that is not hot does not cool the session");
    assert!(
        two.summary().contains("the last was mcp:web") && two.summary().contains("what mcp:desk returned"),
        "{two:?}"
    );
    assert_eq!(two.sources_with(Some(&Label::of("mcp", "a"))).unwrap(), "mcp:a\nmcp:desk\nmcp:web");
}
