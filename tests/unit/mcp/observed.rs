//! Unit tests of `src/mcp/observed.rs`.

use super::*;

#[test]
fn tools_that_a_client_cannot_tell_apart_cannot_be_pinned() {
    let served = [r#"{"name":"a.b"}"#, r#"{"name":"a_b"}"#, r#"{"name":"c"}"#, r#"{"name":"d"}"#, r#"{"name":"d"}"#];
    let tools = distinct(served.iter().map(|text| Tool::read(text.as_bytes())).collect());
    let rows: Vec<(&str, bool)> = tools.iter().map(|tool| (tool.name(), tool.body().is_ok())).collect();
    assert_eq!(rows, [("a.b", false), ("a_b", false), ("c", true), ("d", false)]);
}

#[test]
fn a_stronger_source_is_not_overwritten() {
    let record = |source| {
        Observed::new(Observation {
            server: "s",
            source,
            at: OffsetDateTime::UNIX_EPOCH,
            identity: None,
            served: &Served::default(),
            capabilities: None,
        })
    };
    let order = [Source::Import, Source::Probe, Source::Wrap];
    for (nth, new) in order.into_iter().enumerate() {
        for (mth, known) in order.into_iter().enumerate() {
            assert_eq!(record(new).replaces(&record(known)), nth >= mth, "{new} {known}");
        }
    }
}
