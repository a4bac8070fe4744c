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
