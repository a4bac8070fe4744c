//! Unit tests of `src/mcp/name.rs`.

use super::*;
use crate::client::{Client as _, claude::Claude};

#[test]
fn a_call_resolves_to_one_server_or_a_collision() {
    let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
    let one = |server: &str, tool: &str| CallTarget::Tool { server: server.to_owned(), tool: tool.to_owned() };
    for (call, told, configured, expected) in [
        ("mcp__demo__page", None, &["demo"][..], one("demo", "page")),
        ("mcp__demo__page", Some("demo"), &[], one("demo", "page")),
        ("mcp__demo__page", None, &[], one("demo", "page")),
        ("mcp__a_b__x", None, &["a.b"], one("a.b", "x")),
        ("mcp__a_b__x", Some("a.b"), &["a.b"], one("a.b", "x")),
        ("mcp__a_b__x", None, &["a.b", "a_b"], CallTarget::Collision),
        ("mcp__a_b__x", Some("a.b"), &["a.b", "a_b"], CallTarget::Collision),
        ("mcp__a_b__x", Some("a.b"), &["a_b"], CallTarget::Collision),
        ("mcp__a__b__c", None, &["a", "a__b"], one("a__b", "c")),
        ("mcp__a__b__c", Some("a"), &["a", "a__b"], one("a", "b__c")),
        ("mcp__a__b__c", None, &[], one("a", "b__c")),
        ("mcp__plugin_p_s__t", None, &["plugin:p:s"], one("plugin:p:s", "t")),
        ("mcp__claude_ai_Google_Drive__t", Some("claude.ai Google  Drive"), &[], one("claude.ai Google  Drive", "t")),
        ("mcp__demo__page", Some("other"), &["demo"], one("demo", "page")),
        ("mcp__demo__page", Some(""), &["demo", ""], one("demo", "page")),
        ("mcp__demo", None, &["demo"], one("demo", "")),
        ("mcp__", None, &["demo"], one("", "")),
    ] {
        let target = resolve_call(call, told, &names(configured), |name| Claude.server_name_in_calls(name));
        assert_eq!(target, expected, "{call} {told:?} {configured:?}");
    }
}
