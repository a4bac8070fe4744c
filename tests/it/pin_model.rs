//! Pins against naive models: a tool is approved only if a person approved the same bytes.

use crate::support::judge::{Directories, quarantined};
use proptest::prelude::*;
use rune::client::Client as _;
use rune::client::claude::Claude;
use rune::event::Facts;
use rune::mcp::protocol::Served;
use rune::mcp::{CallTarget, Identity, Observation, Observed, Pin, Proposal, Source, Status, Transport, status};
use rune::mcp::{ConfiguredIdentity, PinCheck, PinFacts, PinPolicy, RecordFile, RefusalCode};
use rune::receipt::{
    ChainEnd, ChainPosition, LastChange, Loosening, OPERATOR_SESSION, Receipt, ReceiptBody, ReceiptKind, RecordChange,
    Secret,
};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use time::OffsetDateTime;

const AT: OffsetDateTime = OffsetDateTime::UNIX_EPOCH;

fn observed(source: Source, identity: Option<Identity>, instructions: Option<&str>, tools: &[String]) -> Observed {
    let served = Served {
        instructions: instructions.map(|text| json!(text).to_string().into_bytes()),
        tools: tools.iter().map(|tool| tool.as_bytes().to_vec()).collect(),
        ..Served::default()
    };
    Observed::new(Observation { server: "s", source, at: AT, identity, served: &served, capabilities: None })
}

fn identity(command: &str) -> Identity {
    Identity { command: Some(command.to_owned()), ..Identity::new(Transport::Stdio) }
}

/// Approves what is recorded by its hash; returns whether there was something to approve.
fn approve(pin: &mut Pin, observed: &Observed, live: Option<&Identity>, tool: Option<&str>) -> bool {
    let Ok(proposal) = Proposal::of(Some(pin), observed, live, tool) else { return false };
    let hash = proposal.hash().short();
    pin.approve(proposal.confirm(&hash).unwrap(), AT);
    true
}

/// The standing of a call of the tool `t` without arguments.
fn call(pin: Option<&Pin>, observed: Option<&Observed>, live: Option<&Identity>) -> PinCheck {
    let record = |text: Option<String>| text.map_or(RecordFile::Missing, |text| RecordFile::Bytes(text.into_bytes()));
    let target = CallTarget::Tool { server: "s".to_owned(), tool: "t".to_owned() };
    let configured = live.map_or(ConfiguredIdentity::Missing, |live| ConfiguredIdentity::Known(live.clone()));
    let facts = |text: Option<String>| {
        PinFacts::new(target.clone(), configured.clone(), record(text), record(observed.map(Observed::write)))
    };
    let check = call_with(facts(pin.map(Pin::write)), &json!({}));
    if let Some(edited) = pin.map(Pin::write).filter(|text| text.contains("\"name\":\"t\"")) {
        let edited = edited.replace("\"name\":\"t\"", "\"name\":\"t\",\"x\":1");
        let refused = call_with(facts(Some(edited)), &json!({}));
        assert!(
            matches!(refused, PinCheck::Refused(RefusalCode::LockInvalid, _)),
            "an edited tool does not match its hash: {refused:?}"
        );
    }
    check
}

fn call_with(facts: PinFacts, arguments: &Value) -> PinCheck {
    let payload = json!({"session_id": "s", "cwd": "/p", "hook_event_name": "PreToolUse", "tool_name": "mcp__s__t",
        "tool_input": arguments, "mcp_server": {"name": "s", "source": "user"}});
    let payload = quarantined(payload.to_string());
    let event = Directories::default().locate(Claude.parse(&payload).unwrap());
    event.with_facts(Facts { pins: Some(facts), ..Facts::default() }).check_pins(PinPolicy::Required)
}

/// Whether a tool equals the approved one. Annotations may be missing, and new ones may be added unless they promise that
/// the tool is harmless.
fn is_same_tool(approved: &str, served: &str) -> bool {
    let (Ok(mut approved), Ok(mut served)) = (parse(approved), parse(served)) else { return false };
    if approved == served {
        return true;
    }
    let (before, now) = (remove(&mut approved), remove(&mut served));
    let mild = |now: &Value| now["readOnlyHint"] != true && now["destructiveHint"] != false;
    approved == served
        && match (before, now) {
            (Some(_), None) => true,
            (None, Some(now)) => mild(&now),
            _ => false,
        }
}

fn parse(text: &str) -> serde_json::Result<Value> {
    serde_json::from_str(text)
}

fn remove(tool: &mut Value) -> Option<Value> {
    tool.as_object_mut()?.remove("annotations")
}

/// The tools of the enumerated model.
const TOOLS: [&str; 9] = [
    r#"{"name":"t"}"#,
    r#"{"name":"t","description":"d"}"#,
    r#"{"name":"t","inputSchema":{"type":"object"}}"#,
    r#"{"name":"t","outputSchema":{}}"#,
    r#"{"name":"t","_meta":{}}"#,
    r#"{"name":"t","annotations":{"title":"T"}}"#,
    r#"{"name":"t","annotations":{"readOnlyHint":true}}"#,
    r#"{"name":"t","annotations":{"readOnlyHint":false}}"#,
    r#"{"name":"t","annotations":{"destructiveHint":false}}"#,
];

#[test]
fn a_tool_is_approved_only_if_it_equals_the_approved_one() {
    let identities = [None, Some(identity("a")), Some(identity("b"))];
    let instructions = [None, Some("x"), Some("y")];
    let served: Vec<Vec<String>> = TOOLS
        .iter()
        .map(|tool| vec![(*tool).to_owned()])
        .chain([vec![], vec![r#"{"name":"t","x":1,"x":1}"#.to_owned()], vec![TOOLS[0].to_owned(), TOOLS[0].to_owned()]])
        .collect();
    let mut states = Vec::new();
    for tools in &served {
        for (nth, identity) in identities.iter().enumerate() {
            for text in instructions {
                states.push((tools, nth, text, observed(Source::Probe, identity.clone(), text, tools)));
            }
        }
    }
    let (mut seen, mut approved) = (0, 0);
    for (tools, who, text, before) in &states {
        for blocked in [None, Some("server"), Some("tool")] {
            let mut pin = Pin::new("s");
            assert!(approve(&mut pin, before, None, None));
            match blocked {
                Some("server") => pin.block(None),
                Some(_) => pin.block(Some("t")),
                None => {}
            }
            for (now_tools, now_who, now_text, now) in &states {
                seen += 1;
                let pinnable = |tools: &[String]| matches!(tools, [one] if TOOLS.contains(&one.as_str()));
                let same = pinnable(tools) && pinnable(now_tools) && is_same_tool(&tools[0], &now_tools[0]);
                let tool = status::tool(Some(&pin), Some(now), "t");
                assert_eq!(tool.is_approved(), same && blocked.is_none(), "{tools:?} {now_tools:?} {blocked:?}");
                if blocked.is_some() && (who, text) != (now_who, now_text) {
                    continue;
                }
                let live = identities[*now_who].as_ref();
                let whole = same && blocked.is_none() && who == now_who && text == now_text;
                let check = call(Some(&pin), Some(now), live);
                assert_eq!(check == PinCheck::Approved, whole, "{tools:?} {now_tools:?} {check:?}");
                approved += usize::from(whole);
            }
        }
    }
    assert!(seen == states.len() * states.len() * 3 && approved > 0, "{seen} {approved}");
    for (.., now) in &states {
        assert!(!status::tool(None, Some(now), "t").is_approved());
        assert!(!status::tool(Some(&Pin::new("s")), Some(now), "t").is_approved());
        assert_ne!(call(None, Some(now), None), PinCheck::Approved);
        assert_ne!(call(Some(&Pin::new("s")), Some(now), None), PinCheck::Approved);
    }
}

#[test]
fn of_several_reasons_the_strongest_is_reported() {
    let base = || observed(Source::Probe, Some(identity("a")), None, &[TOOLS[2].to_owned()]);
    let mut reported = std::collections::BTreeSet::new();
    for faults in 0_u32..512 {
        let has = |bit: u32| faults >> bit & 1 == 1;
        let [invalid, collision, blocked, config, tool_blocked, changed, unpinned, args, stale] =
            std::array::from_fn(|bit| has(bit as u32));
        // Impossible combinations: a tool without approval has no change and no schema, one without a record no change.
        if unpinned && (changed || args) || stale && changed {
            continue;
        }
        let mut pin = Pin::new("s");
        let first = if unpinned { observed(Source::Probe, Some(identity("a")), None, &[]) } else { base() };
        assert!(approve(&mut pin, &first, None, None));
        if blocked {
            pin.block(None);
        }
        if tool_blocked {
            pin.block(Some("t"));
        }
        let now =
            if changed { observed(Source::Probe, Some(identity("a")), None, &[TOOLS[1].to_owned()]) } else { base() };
        let facts = PinFacts::new(
            if collision {
                CallTarget::Collision
            } else {
                CallTarget::Tool { server: "s".to_owned(), tool: "t".to_owned() }
            },
            ConfiguredIdentity::Known(identity(if config { "b" } else { "a" })),
            if invalid { RecordFile::Unreadable } else { RecordFile::Bytes(pin.write().into_bytes()) },
            if stale { RecordFile::Missing } else { RecordFile::Bytes(now.write().into_bytes()) },
        );
        let expected = [
            (invalid, RefusalCode::LockInvalid),
            (collision, RefusalCode::NameCollision),
            (blocked, RefusalCode::ServerBlocked),
            (config, RefusalCode::ServerConfigChanged),
            (tool_blocked, RefusalCode::ToolBlocked),
            (changed, RefusalCode::ToolChanged),
            (unpinned, RefusalCode::ToolUnpinned),
            (args, RefusalCode::ArgsOffSchema),
            (stale, RefusalCode::PinStale),
        ];
        let expected = expected.into_iter().find_map(|(holds, code)| holds.then_some(code));
        let arguments = if args { json!({"stranger": 1}) } else { json!({}) };
        let code = match call_with(facts, &arguments) {
            PinCheck::Refused(code, _) => Some(code),
            PinCheck::Approved => None,
            PinCheck::NotApplicable => panic!("silent: {faults:b}"),
        };
        assert_eq!(code, expected, "{faults:b}");
        reported.extend(code);
    }
    assert_eq!(reported.len(), RefusalCode::ALL.len() - 1, "all but the unknown server, which has no records");
}

/// What a person or an agent does to the pin of the server `s` or `u`, or to the receipts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ChainStep {
    /// A change by a command, which writes this version of the server's pin and its receipt.
    Write(&'static str, u8),
    /// A receipt that is not about a pin.
    Other,
}

const CHAIN_STEPS: [ChainStep; 6] = [
    ChainStep::Write("s", 1),
    ChainStep::Write("s", 2),
    ChainStep::Write("s", 3),
    ChainStep::Write("u", 1),
    ChainStep::Write("u", 2),
    ChainStep::Other,
];

fn pin_file(server: &str, version: u8) -> Vec<u8> {
    format!("{server} {version}").into_bytes()
}

/// The receipts of these steps, one line each, as the program writes them.
fn chain(steps: &[ChainStep], secret: &Secret) -> Vec<Vec<u8>> {
    let mut lines: Vec<Vec<u8>> = Vec::new();
    for step in steps {
        let body = match step {
            ChainStep::Write(server, version) => {
                // The last version is a block; the kind does not matter for the search.
                let kind = if *version == 3 { ReceiptKind::Block } else { ReceiptKind::Approve };
                ReceiptBody::RecordChange(RecordChange::of_pin(kind, server, None, None, &pin_file(server, *version)))
            }
            ChainStep::Other => ReceiptBody::Loosen(Loosening::McpProbe),
        };
        let position = match ChainEnd::read(&lines.concat(), 1).0 {
            Some(ChainEnd::Open(position)) => position,
            _ => ChainPosition::first(OPERATOR_SESSION),
        };
        let time = "2026-06-09T00:00:00.000Z".to_owned();
        lines.push(Receipt::sign(&body, OPERATOR_SESSION, "rune", time, position, secret).to_line());
    }
    lines
}

/// Every sequence of steps up to this length.
fn sequences(length: usize) -> Vec<Vec<ChainStep>> {
    let mut all = vec![vec![]];
    let mut last = all.clone();
    for _ in 0..length {
        last = last.iter().flat_map(|steps| CHAIN_STEPS.map(|step| [steps.as_slice(), &[step]].concat())).collect();
        all.extend(last.clone());
    }
    all
}

/// The version that the last change wrote, in the naive model.
fn last_version(steps: &[ChainStep], server: &str) -> Option<u8> {
    steps.iter().rev().find_map(|step| match step {
        ChainStep::Write(name, version) if *name == server => Some(*version),
        ChainStep::Write(..) | ChainStep::Other => None,
    })
}

#[test]
fn a_pin_is_authentic_only_if_the_last_change_wrote_it() {
    let (secret, forger) = (Secret::new([1; 32], [2; 32]), Secret::new([3; 32], [2; 32]));
    let find = |lines: &[Vec<u8>], server: &str| LastChange::of_pin(&[lines.concat()], server, &secret.keys());
    let mut tampered = 0;
    for steps in sequences(3) {
        let lines = chain(&steps, &secret);
        let forged = chain(&steps, &forger);
        for server in ["s", "u"] {
            let last = last_version(&steps, server);
            let found = find(&lines, server);
            assert_eq!(found == LastChange::None, last.is_none(), "{steps:?}");
            for version in 1..=3 {
                assert_eq!(
                    found.wrote(&pin_file(server, version)),
                    last == Some(version),
                    "{steps:?} {server} {version}"
                );
                let other = if server == "s" { "u" } else { "s" };
                assert!(!found.wrote(&pin_file(other, version)), "{steps:?}");
            }
            // Whatever is done to the receipts but cutting off their end, no other file becomes the last one.
            let mut attacks: Vec<Vec<Vec<u8>>> = vec![forged.clone()];
            for at in 0..lines.len() {
                let mut without = lines.clone();
                without.remove(at);
                if at + 1 < lines.len() {
                    attacks.push(without);
                }
                for to in 0..lines.len() {
                    let (mut swapped, mut repeated, mut copied) = (lines.clone(), lines.clone(), lines.clone());
                    swapped.swap(at, to);
                    repeated.push(lines[at].clone());
                    copied[to] = lines[at].clone();
                    attacks.extend([swapped, repeated, copied]);
                }
                let (mut replaced, mut renamed, mut garbled) = (lines.clone(), lines.clone(), lines.clone());
                replaced[at] = forged[at].clone();
                let text = String::from_utf8(lines[at].clone()).unwrap();
                renamed[at] = text.replace("\"server\":\"s\"", "\"server\":\"u\"").into_bytes();
                garbled[at] = b"{}\n".to_vec();
                let mut extended = lines.clone();
                extended.push(forged[at].clone());
                attacks.extend([replaced, renamed, garbled, extended]);
            }
            for attack in attacks.into_iter().filter(|attack| *attack != lines) {
                tampered += 1;
                let found = find(&attack, server);
                for version in 1..=3 {
                    let is_valid = found.wrote(&pin_file(server, version));
                    assert!(!is_valid || last == Some(version), "{steps:?} {server} {version}: {found:?}");
                }
            }
        }
    }
    assert!(tampered > 10_000, "{tampered}");
}

/// One step of a random history of a server.
#[derive(Clone, Debug)]
enum HistoryStep {
    /// One field of one tool gets one of a few values.
    Change {
        tool: usize,
        field: usize,
        value: usize,
    },
    Drop {
        tool: usize,
    },
    Instruct {
        value: usize,
    },
    Reconfigure {
        value: usize,
    },
    /// The tool becomes the approved one, or disappears if there is none.
    Revert {
        tool: usize,
    },
    Reconnect,
    Approve {
        tool: usize,
    },
    ApproveAll,
    /// An approval with a wrong hash.
    Guess {
        typed: String,
    },
    Block {
        tool: usize,
    },
    Unblock {
        tool: usize,
    },
    Restart,
    /// A weaker source records the approved tools.
    WeakerRecord,
}

fn step() -> impl Strategy<Value = HistoryStep> {
    let tool = 0_usize..3;
    prop_oneof![
        4 => (tool.clone(), 0_usize..6, 0_usize..3).prop_map(|(tool, field, value)| HistoryStep::Change { tool, field, value }),
        1 => tool.clone().prop_map(|tool| HistoryStep::Drop { tool }),
        1 => (0_usize..3).prop_map(|value| HistoryStep::Instruct { value }),
        1 => (0_usize..2).prop_map(|value| HistoryStep::Reconfigure { value }),
        2 => tool.clone().prop_map(|tool| HistoryStep::Revert { tool }),
        2 => Just(HistoryStep::Reconnect),
        2 => tool.clone().prop_map(|tool| HistoryStep::Approve { tool }),
        2 => Just(HistoryStep::ApproveAll),
        1 => "[0-9a-f]{8}".prop_map(|typed| HistoryStep::Guess { typed }),
        1 => tool.clone().prop_map(|tool| HistoryStep::Block { tool }),
        1 => tool.prop_map(|tool| HistoryStep::Unblock { tool }),
        1 => Just(HistoryStep::Restart),
        1 => Just(HistoryStep::WeakerRecord),
    ]
}

const NAMES: [&str; 3] = ["t", "u", "v.w"];

/// The values of a field; the first removes it.
fn field(field: usize, value: usize) -> (&'static str, Value) {
    let (name, values) = match field {
        0 => ("description", [json!(null), json!("d"), json!("D\u{200b}")]),
        1 => (
            "inputSchema",
            [json!(null), json!({"type": "object"}), json!({"type": "object", "properties": {"k": {}}})],
        ),
        2 => ("outputSchema", [json!(null), json!({"type": "object"}), json!({"type": "string"})]),
        3 => ("annotations", [json!(null), json!({"readOnlyHint": true}), json!({"readOnlyHint": false})]),
        4 => ("title", [json!(null), json!("T"), json!("t")]),
        _ => ("_meta", [json!(null), json!({"a": 1}), json!({"a": 2})]),
    };
    (name, values[value].clone())
}

/// The server, its records, and what the person has approved in the naive model.
struct History {
    tools: BTreeMap<&'static str, Value>,
    instructions: usize,
    live: usize,
    observed: Observed,
    pin: Pin,
    approved: BTreeMap<&'static str, Value>,
    approved_server: Option<(usize, usize)>,
    blocked: Vec<&'static str>,
}

const INSTRUCTIONS: [Option<&str>; 3] = [None, Some("x"), Some("y")];
const COMMANDS: [&str; 2] = ["a", "b"];

impl History {
    fn new() -> History {
        History {
            tools: BTreeMap::new(),
            instructions: 0,
            live: 0,
            observed: observed(Source::Probe, Some(identity("a")), None, &[]),
            pin: Pin::new("s"),
            approved: BTreeMap::new(),
            approved_server: None,
            blocked: Vec::new(),
        }
    }

    fn discover(&mut self) {
        let tools: Vec<String> = self.tools.values().map(ToString::to_string).collect();
        let seen =
            observed(Source::Probe, Some(identity(COMMANDS[self.live])), INSTRUCTIONS[self.instructions], &tools);
        assert!(seen.replaces(&self.observed));
        self.observed = seen;
    }

    fn take(&mut self, step: &HistoryStep) {
        let live = identity(COMMANDS[self.live]);
        match step {
            HistoryStep::Change { tool, field: nth, value } => {
                let name = NAMES[*tool];
                let body = self.tools.entry(name).or_insert_with(|| json!({"name": name}));
                let (key, value) = field(*nth, *value);
                let body = body.as_object_mut().unwrap();
                if value.is_null() {
                    body.remove(key);
                } else {
                    body.insert(key.to_owned(), value);
                }
                self.discover();
            }
            HistoryStep::Drop { tool } => {
                self.tools.remove(NAMES[*tool]);
                self.discover();
            }
            HistoryStep::Instruct { value } => {
                self.instructions = *value;
                self.discover();
            }
            HistoryStep::Reconfigure { value } => {
                self.live = *value;
                self.discover();
            }
            HistoryStep::Revert { tool } => {
                let name = NAMES[*tool];
                match self.approved.get(name) {
                    Some(body) => drop(self.tools.insert(name, body.clone())),
                    None => drop(self.tools.remove(name)),
                }
                self.discover();
            }
            HistoryStep::Reconnect => self.discover(),
            HistoryStep::Approve { tool } => {
                let name = NAMES[*tool];
                if approve(&mut self.pin, &self.observed, Some(&live), Some(name)) {
                    self.approved.insert(name, self.tools[name].clone());
                    self.approved_server = Some((self.live, self.instructions));
                }
            }
            HistoryStep::ApproveAll => {
                if approve(&mut self.pin, &self.observed, Some(&live), None) {
                    let fit = self.tools.iter().filter(|(name, _)| !self.blocked.contains(name));
                    self.approved.extend(fit.map(|(name, body)| (*name, body.clone())).collect::<Vec<_>>());
                    self.approved_server = Some((self.live, self.instructions));
                }
            }
            HistoryStep::Guess { typed } => {
                let proposal = Proposal::of(Some(&self.pin), &self.observed, Some(&live), None).unwrap();
                if *typed != proposal.hash().short() {
                    assert!(proposal.confirm(typed).is_none());
                }
            }
            HistoryStep::Block { tool } => {
                self.pin.block(Some(NAMES[*tool]));
                self.blocked.push(NAMES[*tool]);
            }
            HistoryStep::Unblock { tool } => {
                self.pin.unblock(Some(NAMES[*tool]));
                self.blocked.retain(|name| *name != NAMES[*tool]);
            }
            HistoryStep::Restart => {
                self.pin = Pin::read(self.pin.write().as_bytes()).unwrap();
                self.observed = Observed::read(self.observed.write().as_bytes()).unwrap();
            }
            HistoryStep::WeakerRecord => {
                let approved: Vec<String> = self.approved.values().map(ToString::to_string).collect();
                let other = observed(Source::Import, None, None, &approved);
                assert!(!other.replaces(&self.observed), "a weaker source replaced the record");
            }
        }
    }

    fn check(&self, after: &HistoryStep) {
        for name in NAMES {
            let status = status::tool(Some(&self.pin), Some(&self.observed), name);
            let same = match (self.approved.get(name), self.tools.get(name)) {
                (Some(approved), Some(served)) => is_same_tool(&approved.to_string(), &served.to_string()),
                _ => false,
            };
            let blocked = self.blocked.contains(&name);
            assert_eq!(status.is_approved(), same && !blocked, "{name} after {after:?}: {status:?}");
            let expected = match (self.approved.get(name), self.tools.get(name)) {
                _ if blocked => "blocked",
                (None, _) => "pending",
                (Some(_), None) => "removed",
                (Some(_), Some(_)) if same => "approved",
                (Some(_), Some(_)) => "changed",
            };
            assert_eq!(status.as_str(), expected, "{name} after {after:?}");
        }
        let live = identity(COMMANDS[self.live]);
        let server = status::server(Some(&self.pin), Some(&self.observed), Some(&live));
        let same = self.approved_server == Some((self.live, self.instructions));
        assert_eq!(server.is_approved(), same, "after {after:?}: {server:?}");
        if matches!(server, Status::Pending) {
            assert_eq!(self.approved_server, None);
        }
        let tool = status::tool(Some(&self.pin), Some(&self.observed), "t").is_approved();
        let check = call(Some(&self.pin), Some(&self.observed), Some(&live));
        assert_eq!(check == PinCheck::Approved, tool && same, "after {after:?}: {check:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_history_approves_a_tool_without_a_person(steps in proptest::collection::vec(step(), 1..40)) {
        let mut history = History::new();
        for step in &steps {
            history.take(step);
            history.check(step);
        }
    }
}
