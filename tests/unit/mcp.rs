//! Unit tests of `src/mcp/record_file.rs` and `src/mcp/pin.rs`.

use super::*;
use time::OffsetDateTime;

fn observed(tools: &[&str]) -> Observed {
    let served = protocol::Served {
        instructions: Some(b"\"Use echo\\nfirst\"".to_vec()),
        info: Some(br#"{"name":"x","version":"1"}"#.to_vec()),
        protocol: Some("2025-06-18".to_owned()),
        tools: tools.iter().map(|text| text.as_bytes().to_vec()).collect(),
        prompts: vec![br#"{"name":"p"}"#.to_vec()],
    };
    Observed::new(Observation {
        server: "de.mo",
        source: Source::Probe,
        at: OffsetDateTime::from_unix_timestamp_nanos(1_700_000_000_123_456_789).unwrap(),
        identity: Some(Identity { command: Some("npx".to_owned()), ..Identity::new(Transport::Stdio) }),
        served: &served,
        capabilities: Some(r#"{"roots":{}}"#),
    })
}

const TOOLS: [&str; 4] = [
    r#"{"name":"echo","description":"line\nline","inputSchema":{"type":"object"}}"#,
    r#"{"name":"bad","x":1,"x":2}"#,
    r#"{"name":"a \" \u2028 b"}"#,
    r#"{"title":"nameless"}"#,
];

fn pinned(observed: &Observed) -> Pin {
    let mut pin = Pin::new(observed.server());
    let proposal = Proposal::of(None, observed, None, None).unwrap();
    let hash = proposal.hash().short();
    pin.approve(proposal.confirm(&hash).unwrap(), OffsetDateTime::UNIX_EPOCH);
    pin.block(Some("other"));
    pin
}

#[test]
fn records_are_read_as_they_are_written() {
    let observed = observed(&TOOLS);
    let text = observed.write();
    assert_eq!(Observed::read(text.as_bytes()).unwrap(), observed);
    assert_eq!(ObservedFile::parse(text.as_bytes()).unwrap().head, observed.head());
    let pin = pinned(&observed);
    let text = pin.write();
    assert_eq!(Pin::read(text.as_bytes()).unwrap(), pin);
    assert_eq!(PinFile::parse(text.as_bytes()).unwrap().head, pin.head());
    assert_eq!(pin.tools().map(|(name, _)| name).collect::<Vec<_>>(), ["a \" \u{2028} b", "echo"]);
    let empty = Pin::new("s");
    assert_eq!(Pin::read(empty.write().as_bytes()).unwrap(), empty);
}

#[test]
fn edited_records_are_rejected() {
    let (observed, pin) = (observed(&TOOLS).write(), pinned(&observed(&TOOLS)).write());
    for (from, to) in [
        ("\"version\":1", "\"version\":2"),
        ("\"version\":1", "\"version\":1,\"more\":1"),
        ("line\\nline", "line\\nLINE"),
        ("Use echo", "Use  echo"),
        ("sha256/v1:", "sha256/v2:"),
        ("\"tools\":{\n", "\"extra\":1,\"tools\":{\n"),
        ("\"tools\":{\n", "\"tools\":{\"echo\":{\"name\":\"echo\"},\n"),
        ("\"command\":\"npx\"", "\"command\":\"npx\",\"command\":\"npx\""),
        ("\"echo\":{", "\"ecco\":{"),
    ] {
        for text in [&observed, &pin] {
            assert!(text.contains(from), "{from}");
            let changed = text.replace(from, to);
            assert!(
                Observed::read(changed.as_bytes()).is_err() && Pin::read(changed.as_bytes()).is_err(),
                "{from} {to}"
            );
        }
    }
    for text in [&observed, &pin] {
        for cut in 0..text.len() - 1 {
            let cut = text.as_bytes().get(..cut).unwrap();
            assert!(Observed::read(cut).is_err() && Pin::read(cut).is_err());
        }
    }
    assert!(Pin::read(observed.as_bytes()).is_err() && Observed::read(pin.as_bytes()).is_err());
}

#[test]
fn the_error_names_an_unsupported_version() {
    let text = Pin::new("s").write().replace("\"version\":1", "\"version\":7,\"later\":[]");
    let expected = "unsupported version 7, expected 1";
    assert_eq!(Pin::read(text.as_bytes()).unwrap_err().to_string(), expected);
    assert_eq!(PinFile::parse(text.as_bytes()).unwrap_err().to_string(), expected);
}

#[test]
fn only_the_hash_of_what_was_shown_approves_it() {
    let observed = observed(&TOOLS);
    let proposal = Proposal::of(None, &observed, None, None).unwrap();
    for typed in ["", "y", "yes", "00000000", &proposal.hash().short().replace(|c: char| c.is_ascii_digit(), "")] {
        assert!(proposal.clone().confirm(typed).is_none(), "{typed}");
    }
    let one = Proposal::of(None, &observed, None, Some("echo")).unwrap();
    assert!(proposal.clone().confirm(&one.hash().short()).is_none(), "the hash of less is not the hash of all");
    assert!(proposal.clone().confirm(&format!(" {}\n", proposal.hash().short())).is_some());
}

#[test]
fn errors_say_why_something_cannot_be_approved() {
    let observed = observed(&TOOLS);
    let mut pin = pinned(&observed);
    let of = |pin: &Pin, tool| Proposal::of(Some(pin), &observed, None, tool).map(drop);
    assert_eq!(of(&pin, Some("echo")), Ok(()));
    assert_eq!(of(&pin, Some("nothing")), Err(ProposalError::NoTool));
    assert_eq!(
        of(&pin, Some("bad")),
        Err(ProposalError::Tool(InvalidTool::Form(crate::encoding::canonical::CanonicalError::Duplicate)))
    );
    let moved = Identity::new(Transport::Http);
    let elsewhere = Proposal::of(Some(&pin), &observed, Some(&moved), Some("echo")).map(drop);
    assert_eq!(elsewhere, Err(ProposalError::ServerChanged));
    pin.block(Some("echo"));
    assert_eq!(of(&pin, Some("echo")), Err(ProposalError::Blocked));
    pin.block(None);
    assert_eq!(of(&pin, None), Err(ProposalError::Blocked));
}

#[test]
fn file_names_stay_in_their_directory_and_never_collide() {
    assert_eq!(file_name("git-hub_2"), "git-hub_2.json");
    let names = ["GitHub", "../x", "a/b", "", ".", "..", "a b", "é", "a.json", "plugin:x:y", &"a".repeat(65)];
    let mut files: Vec<String> = names.iter().map(|name| file_name(name)).collect();
    assert!(files.iter().all(|file| file.starts_with('=') && !file.contains('/') && file.len() == 70), "{files:?}");
    files.sort();
    files.dedup();
    assert_eq!(files.len(), names.len());
}
