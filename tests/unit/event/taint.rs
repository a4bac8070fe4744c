//! Unit tests of `src/event/taint.rs`.

use super::*;

#[test]
fn sources_are_counted_and_the_first_are_named() {
    let label = |name: &str| Label::of("mcp", name);
    let taint = Taint::of(["a", "b", "a", "c", "d"].map(label));
    assert_eq!((taint.times(&label("a")), taint.times(&label("x"))), (2, 0));
    assert_eq!(taint.words(), "this session has read mcp:a, mcp:b, mcp:c and 1 more");
    assert!(Taint::default().is_empty() && !Taint::unknown().is_empty());
    assert_eq!(Taint::read("mcp:a\nmcp:b\n\nmcp:a\nmcp:c\nmcp:d\n", true), taint);
    assert_eq!(Taint::read("mcp:a\nmcp:a\nmcp:b\nmcp:a", true).times(&label("a")), 3);
    assert!(!Taint::of([label("a")]).has_other_source(&label("a")));
    let cut = Taint::read("mcp:a\n", false);
    assert!(cut.times(&label("x")) >= ESCALATION && cut.has_other_source(&label("a")));
}
