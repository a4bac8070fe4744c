//! Properties of the hook and of `decide`, for random events.

use crate::support::judge::{Directories, policy, quarantined};
use crate::support::sandbox::Sandbox;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use rune::client::Client as _;
use rune::client::claude::Claude;
use rune::telemetry::LogLine;
use rune::verdict::{Effect, Verdict};
use serde_json::{Value, json};

/// An event of the real client that was truncated, repeated, or has a byte changed or bytes inserted.
fn damaged() -> impl Strategy<Value = Vec<u8>> {
    let fixtures: Vec<Vec<u8>> = std::fs::read_dir("tests/fixtures/claude")
        .unwrap()
        .map(|entry| std::fs::read(entry.unwrap().path()).unwrap())
        .collect();
    (select(fixtures), any::<Index>(), any::<u8>(), 0..5).prop_map(|(mut bytes, at, byte, kind)| {
        let at = at.index(bytes.len());
        match kind {
            0 => bytes.truncate(at),
            1 => bytes[at] = byte,
            2 => bytes.insert(at, byte),
            3 => bytes.extend_from_within(..),
            _ => drop(bytes.splice(at..at, *b"\\ud800")),
        }
        bytes
    })
}

fn any_input() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![damaged(), proptest::collection::vec(any::<u8>(), 0..200)]
}

/// Whether stdout is an answer that the client accepts as a decision before a call.
fn is_decision(stdout: &str) -> bool {
    let Ok(answer) = serde_json::from_str::<Value>(stdout) else { return false };
    let output = &answer["hookSpecificOutput"];
    let decision = ["ask", "deny"].contains(&output["permissionDecision"].as_str().unwrap_or_default());
    let reason = output["permissionDecisionReason"].as_str().is_some_and(|reason| !reason.trim().is_empty());
    decision && reason && output["hookEventName"] == "PreToolUse"
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_bytes_on_stdin_get_an_answer(input in any_input()) {
        let home = Sandbox::new();
        let readable = Claude.parse(&quarantined(&input)).is_ok_and(|event| event.failure.is_none());
        let header = Claude.parse(&quarantined(&input)).map_or_else(|unread| *unread.header, |event| event.header);

        let post = home.run(&["hook", "post"], &input);
        prop_assert!(post.exit == 0, "{post:?}");
        prop_assert!(post.stdout.is_empty() || post.json().is_object(), "{post:?}");

        let pre = home.run(&["hook", "pre"], &input);
        // An event that names another phase is answered as such.
        let is_before = header.phase.is_none_or(|phase| phase == rune::verdict::Phase::Before);
        if !readable && is_before {
            prop_assert!(pre.exit == 2 || is_decision(&pre.stdout), "{pre:?}");
        } else {
            prop_assert!(pre.exit == 0 && (pre.stdout.is_empty() || pre.json().is_object()), "{pre:?}");
        }
        prop_assert_eq!(home.log().len(), 2);
    }
}

/// The effect, and everything that leaves the process: stdout, stderr and the log line.
fn output_of(event: &Value) -> (Effect, String) {
    let payload = quarantined(event.to_string().as_bytes());
    let (header, verdict) = match Claude.parse(&payload) {
        Ok(message) => {
            let event = Directories::default().locate(message);
            let verdict = rune::decide(&event, &policy("gentle"));
            (event.header, verdict)
        }
        Err(unread) => {
            let finding = unread.failure.finding(unread.header.phase, Effect::Ask);
            (*unread.header, Verdict::of(finding))
        }
    };
    let answer = Claude.answer(&header, &verdict);
    let line = LogLine::new(&header, &verdict, time::OffsetDateTime::UNIX_EPOCH, 1).to_json();
    (verdict.effect(), [answer.stdout.unwrap_or_default(), answer.stderr.unwrap_or_default(), line].join("\n"))
}

/// A text that does not occur in other output.
fn secret() -> impl Strategy<Value = String> {
    "[A-Za-z0-9]{12,40}"
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_payload_leaves_the_process(
        secrets in proptest::collection::vec(secret(), 8),
        tool in select(vec!["Bash", "Read", "Edit", "WebFetch", "WebSearch", "mcp__acme__get", "mcp__github__get", "ReadMcpResourceTool",
            "Agent", "NotebookEdit", "Glob", "Invented", "Monitor", "Write"]),
        event_name in select(vec!["PreToolUse", "PostToolUse", "PostToolUseFailure", "PermissionRequest"]),
        missing in select(vec!["", "command", "file_path", "url", "server", "prompt"]),
    ) {
        let s = |at: usize| secrets[at].as_str();
        // Hosts, servers and file names may become labels, so they are not secret here.
        let mut input = json!({
            "command": format!("curl -H 'X: {}' https://h.example/{}", s(0), s(1)),
            "file_path": format!("/home/{}/uploads/f.md", s(2)), "notebook_path": format!("/{}/n.ipynb", s(2)),
            "url": format!("https://{}:{}@h.example/{}?q={}#{}", s(0), s(1), s(2), s(3), s(4)),
            "server": "acme", "uri": format!("x://{}", s(5)), "prompt": s(6), "query": s(5), "content": s(4), "old_string": s(3),
            "nested": [{"a": {"b": [s(7)]}}],
        });
        if !missing.is_empty() {
            input[missing] = json!({"not": [s(7)]});
        }
        let event = json!({"session_id": "s", "cwd": format!("/{}", s(6)), "transcript_path": format!("/{}", s(5)), "hook_event_name": event_name,
            "tool_name": tool, "tool_input": input, "error": s(3), "unknown": {"x": s(1)},
            "tool_response": {"stdout": s(0), "result": s(1), "content": [{"type": "text", "text": s(2)}]}});
        let (_, output) = output_of(&event);
        // A reason before a call names its command, file or address. The log line does not, and no answer has other fields.
        let (_, line) = output.trim_end().rsplit_once('\n').unwrap();
        let names_call = event_name == "PreToolUse";
        for secret in &secrets {
            prop_assert!(!line.contains(secret.as_str()), "{tool} {event_name}: {output}");
            prop_assert!(!output.contains(secret.as_str()) || names_call && secret != &secrets[7], "{tool} {event_name}: {output}");
        }
    }

    #[test]
    fn no_name_can_break_out_of_the_notice(
        name in "\\PC{0,80}|[\\x00-\\x7f\u{85}\u{2028}\u{202e}\u{200b}\u{ff3d}]{0,80}",
        at in 0..4_usize,
    ) {
        let (tool, input) = match at {
            0 => ("WebFetch".to_owned(), json!({"url": format!("https://{name}/")})),
            1 => ("Read".to_owned(), json!({"file_path": format!("/p/uploads/{name}x")})),
            2 => (format!("mcp__{name}__get"), json!({})),
            _ => ("ReadMcpResourceTool".to_owned(), json!({"server": name, "uri": "x"})),
        };
        let event = json!({"session_id": name, "cwd": "/p", "hook_event_name": "PostToolUse", "tool_name": tool, "tool_input": input});
        let payload = quarantined(event.to_string().as_bytes());
        let event = Directories::default().locate(Claude.parse(&payload).unwrap());
        let verdict = rune::decide(&event, &policy("gentle"));
        // A name with `/..` or `/` may lead out of uploads, so there may be no notice.
        for finding in verdict.findings().iter().filter(|finding| finding.effect() == Effect::Advise) {
            let lines: Vec<&str> = finding.reason().split('\n').collect();
            prop_assert_eq!(lines.len(), 4);
            let first = lines[0].strip_prefix('[').unwrap().strip_suffix(']').unwrap();
            let plain = |c: char| c.is_ascii_alphanumeric() || " _.:=-".contains(c);
            prop_assert!(first.chars().all(plain), "{}", lines[0]);
            prop_assert!(lines[0].len() < 300);
        }
        let line = LogLine::new(&event.header, &verdict, time::OffsetDateTime::UNIX_EPOCH, 1).to_json();
        prop_assert_eq!(line.matches('\n').count(), 1);
        prop_assert!(serde_json::from_str::<Value>(&line).is_ok());
    }

    #[test]
    fn an_error_in_the_policy_never_loosens_an_answer(event_name in select(vec!["PreToolUse", "PostToolUse", "ConfigChange", "SessionStart"]),
        tool in select(vec!["Bash", "WebFetch", "mcp__github__x", "mcp__acme__x"])) {
        let input = json!({"command": "ls", "url": "https://e.example/"});
        let event = json!({"session_id": "s", "cwd": "/p", "hook_event_name": event_name, "tool_name": tool, "tool_input": input});
        let payload = quarantined(event.to_string().as_bytes());
        let event = Directories::default().locate(Claude.parse(&payload).unwrap());
        let sound = rune::decide(&event, &policy("gentle")).effect();
        let failure = rune::verdict::failure::Failure::Config("x".to_owned());
        let flawed = policy("gentle").with_failures(vec![failure]);
        let flawed = rune::decide(&event, &flawed).effect();
        prop_assert!(flawed >= sound);
        if event_name == "PreToolUse" {
            prop_assert!(flawed >= Effect::Ask);
        }
    }
}
