//! Unit tests of `src/commands/mcp/http.rs`.

use super::*;

#[test]
fn an_endpoint_stays_where_the_person_has_sent_us() {
    for (endpoint, found) in [
        ("/m?s=1", Some("http://h:1/m?s=1")),
        ("m?s=1", Some("http://h:1/a/m?s=1")),
        ("http://h:1/x", Some("http://h:1/x")),
        ("http://h:12/x", None),
        ("http://h:1@evil/x", None),
        ("https://evil/x", None),
        ("//evil/x", None),
    ] {
        assert_eq!(resolve_endpoint("http://h:1/a/sse?q", endpoint).ok().as_deref(), found, "{endpoint}");
    }
    assert_eq!(resolve_endpoint("http://h", "/m").as_deref(), Ok("http://h/m"));
}
