//! Events that were captured from the real clients, and the answers to them.

use crate::support::judge::{Directories, policy_without_rules, quarantined};
use crate::support::snapshot;
use rune::client::claude::Claude;
use rune::client::{self, Answer, Caller, Client, Payload};
use rune::encoding::label::Label;
use rune::event::{Action, Header};
use rune::quarantined::{Audit, Quarantined, Reason};
use rune::verdict::{Effect, Finding, Phase, RuleId, Verdict};
use std::path::PathBuf;

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
    for entry in std::fs::read_dir("tests/fixtures/claude").unwrap() {
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

/// All fixtures, with the client that sent them.
fn fixtures() -> Vec<(&'static dyn Client, PathBuf)> {
    let mut all = Vec::new();
    for folder in std::fs::read_dir("tests/fixtures").unwrap() {
        let folder = folder.unwrap().path();
        let name = folder.file_name().unwrap().to_str().unwrap().split('-').next().unwrap();
        let client = client::named(name).unwrap_or_else(|| panic!("no client is called {name}"));
        all.extend(std::fs::read_dir(&folder).unwrap().map(|file| (client, file.unwrap().path())));
    }
    all.sort_by(|one, other| one.1.cmp(&other.1));
    all
}

/// What the guard judges of an action, on one line.
fn describe(action: &Action) -> String {
    let text = |text: &Quarantined<String>| {
        text.expose(Reason::new("a test shows it").unwrap(), &mut Audit::new(|_| {})).clone()
    };
    let all = |texts: &[Quarantined<String>]| texts.iter().map(text).collect::<Vec<_>>().join(", ");
    let line = match action {
        Action::Shell { command, .. } => format!("shell {}", command.as_ref().map(text).unwrap_or_default()),
        Action::Edit { path, changes } => {
            format!("edit {} ({} changes)", path.as_ref().map(text).unwrap_or_default(), changes.len())
        }
        Action::Patch { text: patch } => format!("patch {}", patch.as_ref().map(text).unwrap_or_default()),
        Action::Read { paths } => format!("read {}", all(paths)),
        Action::Files { paths, .. } => format!("search {}", all(paths)),
        Action::Fetch { urls } => format!("fetch {}", all(urls)),
        Action::Search { .. } => "web search".to_owned(),
        Action::Mcp { server, .. } => format!("mcp {}", server.as_ref().map_or("", |server| &server.name)),
        Action::Resource { server, .. } => format!("resource {}", server.as_ref().map(text).unwrap_or_default()),
        Action::Agent { .. } => "agent".to_owned(),
        Action::Settings { .. } => "settings".to_owned(),
        Action::Prompt { text: prompt } => format!("prompt {}", prompt.as_ref().map(text).unwrap_or_default()),
        Action::Other => "nothing".to_owned(),
    };
    line.trim().replace('\n', "\\n")
}

#[test]
fn every_payload_is_recognised_and_parsed() {
    let mut table = String::new();
    for (client, path) in fixtures() {
        let payload = quarantined(std::fs::read(&path).unwrap());
        let Caller::Known(caller) = client::recognise(&Payload::read(&payload)) else {
            panic!("{} is not recognised", path.display())
        };
        assert_eq!(caller.name(), client.name(), "{}", path.display());
        let message = caller.parse(&payload).unwrap_or_else(|error| panic!("{}: {error:?}", path.display()));
        assert_eq!(message.failure, None, "{}", path.display());
        let name = path.strip_prefix("tests/fixtures").unwrap().with_extension("");
        let result = message.result.map_or(String::new(), |raw| {
            format!(" -> {} bytes", raw.expose(Reason::new("how long").unwrap(), &mut Audit::new(|_| {})).len())
        });
        let (tool, action) = (message.header.tool, describe(&message.action));
        table += &format!("{}: {:?} {tool} {action}{result}\n", name.display(), message.phase);
        assert!(message.phase == Phase::Other || !message.header.session.is_empty(), "{}", path.display());
    }
    snapshot::check("client_events", &table);
}

#[test]
fn every_answer_of_every_client_has_its_bytes() {
    let show = |answer: &Answer| {
        let line = |text: &Option<String>| text.as_deref().unwrap_or("-").replace('\n', "\\n");
        format!("exit {} stdout {} stderr {}", answer.exit, line(&answer.stdout), line(&answer.stderr))
    };
    let mut table = String::new();
    for client in client::ALL.iter().copied().chain([&client::UNKNOWN as &dyn Client]) {
        for phase in [Phase::Before, Phase::After, Phase::Failed, Phase::Prompt] {
            for effect in [Effect::Pass, Effect::Advise, Effect::Ask, Effect::Deny] {
                let finding = Finding::new(RuleId::known("a-rule"), effect, "a reason, \u{2026} and \"quotes\"");
                let verdict = Verdict::of(finding.with_nudge("another way"));
                let header = Header { tool: Label::tool("run_commands"), ..client.header(Some(phase)) };
                let answer = client.answer(&header, &verdict);
                table += &format!("{} {phase:?} {effect:?}: {}\n", client.name(), show(&answer));
                let read = client.read_answer(answer.stdout.as_deref().unwrap_or_default(), Some(answer.exit.into()));
                let blocks = read.response >= client::Response::Ask && read.response != client::Response::Invalid;
                assert_eq!(blocks, phase == Phase::Before && effect >= Effect::Ask, "{} {phase:?}", client.name());
            }
        }
    }
    snapshot::check("client_answers", &table);
}
