//! Properties of events, shared by the fuzzer and the test of its stored inputs.

use rune::client::claude::Claude;
use rune::client::{self, Client, Payload};
use rune::encoding::json::Fields;
use rune::event::{Facts, Nonce};
use rune::policy::{Config, Layer};
use rune::programs::Catalogue;
use rune::quarantined::{ContentSource, Origin, Quarantined};
use rune::rules::RuleKind;
use rune::telemetry::LogLine;
use rune::verdict::Phase;
use rune::verdict::{Effect, Verdict};
use time::OffsetDateTime;

/// Panics if a property does not hold for an event of these bytes.
pub fn check(bytes: &[u8]) {
    check_for(&Claude, bytes);
    let input =
        Quarantined::new(bytes.to_vec(), Origin::new(ContentSource::ToolOutput, "", OffsetDateTime::UNIX_EPOCH));
    if let client::Caller::Known(caller) = client::recognise(&Payload::read(&input))
        && caller.name() != Claude.name()
    {
        check_for(caller, bytes);
    }
    for client in client::ALL {
        client.parse(&input).ok();
    }
}

fn check_for(client: &dyn Client, bytes: &[u8]) {
    let now = OffsetDateTime::UNIX_EPOCH;
    let layers = ["config.toml", "strict"].map(|name| Layer::embedded(name).unwrap());
    let config = Config::fold(layers, Vec::new()).with_default_rules(&RuleKind::all());
    let input = Quarantined::new(bytes.to_vec(), Origin::new(ContentSource::ToolOutput, "stdin", now));
    let (header, verdict) = match client.parse(&input) {
        Ok(message) => {
            let facts = Facts { nonce: Some(Nonce::new([7; 16])), ..Facts::default() };
            let event = message.into_event(None, None, &Catalogue::shipped()).with_facts(facts);
            let verdict = rune::decide(&event, &config);
            assert_eq!(verdict, rune::decide(&event, &config), "the verdict is not deterministic");
            (event.header.clone(), verdict)
        }
        Err(unread) => {
            let header = (*unread.header).clone();
            (header, Verdict::of(unread.failure.finding(unread.header.phase, config.failure)))
        }
    };
    let answer = client.answer(&header, &verdict);
    if let Some(text) = &answer.stdout {
        assert_eq!(Fields::read(text.as_bytes()).error(), None, "{text}");
        assert!(verdict.replacement().is_none() || text.contains(Nonce::new([7; 16]).as_str()), "{text}");
    }
    if header.phase == Some(Phase::Before) && verdict.effect() > Effect::Advise {
        assert!(answer.stdout.is_some() || answer.exit != 0, "the call is stopped without an answer");
    }
    let line = LogLine::new(&header, &verdict, now, 1).to_json();
    assert!(line.ends_with('\n') && line.matches('\n').count() == 1, "not one line: {line}");
    assert!(serde_json::from_str::<serde_json::Value>(&line).is_ok(), "{line}");
}

/// Builds an event whose name, tool, members and values are selected by the bytes.
pub fn build(bytes: &[u8]) -> Vec<u8> {
    let mut bytes = bytes.iter().copied();
    let mut pick = |from: &[&str]| from.get(usize::from(bytes.next().unwrap_or(0)) % from.len()).unwrap().to_string();
    let event_name =
        pick(&["PreToolUse", "PostToolUse", "PostToolUseFailure", "SessionStart", "ConfigChange", "Stop", "x"]);
    let tool = pick(&[
        "Bash", "Write", "Edit", "Read", "WebFetch", "WebSearch", "mcp__a__b", "mcp__", "Agent", "NotebookEdit",
        "Glob", "ReadMcpResourceTool", "PowerShell", "", "\\u0000",
    ]);
    let key = pick(&["command", "file_path", "url", "notebook_path", "content", "server", "prompt", "x", "command"]);
    let wrap = pick(&["\"@\"", "@", "[\"@\"]", "{\"text\":\"@\"}", "null", "\"@\",\"command\":\"rm -rf /\"", "{"]);
    let response = pick(&[
        "",
        ",\"tool_response\":\"@\"",
        ",\"tool_response\":[{\"type\":\"text\",\"text\":\"@\"}]",
        ",\"error\":\"@\"",
        ",",
    ]);
    let text: Vec<u8> = bytes.collect();
    let text = String::from_utf8_lossy(&text).replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
    let value = wrap.replace('@', &text);
    let response = response.replace('@', &text);
    format!(
        r#"{{"session_id":"s","cwd":"/home/u/proj","hook_event_name":"{event_name}","tool_name":"{tool}","tool_input":{{"{key}":{value}}}{response}}}"#
    )
    .into_bytes()
}
