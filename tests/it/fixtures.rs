//! Events that were captured from the real client.

use crate::support::judge::{Directories, policy_without_rules, quarantined};
use rune::client::Client as _;
use rune::client::claude::Claude;
use rune::verdict::Effect;
use rune::verdict::Phase;

/// The phase of a fixture, and the source that its result is marked with.
fn expected(name: &str) -> (Phase, Option<&'static str>) {
    let phase = match name.split('-').next().unwrap() {
        "pretooluse" => Phase::Before,
        "posttooluse" => Phase::After,
        "posttoolusefailure" => Phase::Failed,
        "configchange" => Phase::Settings,
        "userpromptsubmit" => Phase::Prompt,
        "sessionstart" => Phase::Start,
        "sessionend" => Phase::End,
        _ => Phase::Other,
    };
    let source = match name {
        "posttooluse-mcp__demo__page" | "posttooluse-mcp__demo__pair" | "posttoolusefailure-mcp__demo__fail" => {
            Some("mcp:demo")
        }
        "posttooluse-readmcpresourcetool" => Some("mcp:demo"),
        "posttooluse-webfetch" => Some("webfetch:pages.example.com"),
        "posttooluse-websearch" => Some("websearch"),
        _ => None,
    };
    (phase, source)
}

#[test]
fn captured_events_are_parsed_and_untrusted_results_are_marked() {
    let config = policy_without_rules("gentle");
    let mut count = 0;
    for entry in std::fs::read_dir("tests/fixtures").unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_str().unwrap();
        let payload = quarantined(std::fs::read(&path).unwrap());
        let message = Claude.parse(&payload).unwrap_or_else(|unread| panic!("{name}: {unread:?}"));
        let event = Directories::default().locate(message);
        let (phase, source) = expected(name);
        assert_eq!(event.phase, phase, "{name}");
        assert_eq!(event.failure, None, "{name}");
        assert_eq!(event.result.is_some(), phase.is_after(), "{name}");
        let verdict = rune::decide(&event, &config);
        assert_eq!(verdict.surface().map(|surface| surface.source.as_str()), source, "{name}");
        assert_eq!(verdict.effect(), if source.is_some() { Effect::Advise } else { Effect::Pass }, "{name}");
        let answer = Claude.answer(&event.header, &verdict);
        assert_eq!(answer.stdout.is_some(), source.is_some(), "{name}");
        count += 1;
    }
    assert_eq!(count, 39);
}
