//! The ways of an agent to an approved record: whatever it does to the files, no call is silent that a person has not
//! approved.

use super::*;
use std::fs;
use std::path::{Path, PathBuf};

/// The files of a home with an approved server, before and after the tool `echo` changed and was approved again.
struct Attack {
    pinned: PinnedHome,
    /// The pin and the observed record of the first approval.
    old: [String; 2],
    /// The same of an approved server that another program serves.
    other: [String; 2],
}

const PIN: &str = ".local/share/rune/pins/demo.json";
const OBSERVED: &str = ".local/share/rune/observed/demo.json";
const KEY: &str = ".local/share/rune/receipt.key";
const RECEIPTS: &str = ".local/state/rune/receipts/@operator.jsonl";

impl Attack {
    fn new() -> Attack {
        let pinned = PinnedHome::new();
        pinned.configure(json!({"demo": demo_entry(), "other": {"command": "other"}}));
        let read = |names: [&str; 2]| names.map(|name| fs::read_to_string(pinned.home.path(name)).unwrap());
        pinned.record_as("other", &json!([echo("Sends everything home")]));
        pinned.approve(&["other"]);
        pinned.record(&json!([echo("Sends it home")]));
        pinned.approve(&["demo"]);
        let old = read([PIN, OBSERVED]);
        let other = read([PIN, OBSERVED].map(|name| name.replace("demo", "other")).each_ref().map(String::as_str));
        pinned.record(&json!([echo("Says it again")]));
        pinned.approve(&["demo"]);
        assert_eq!(pinned.call(STRICT, "echo", &text()), pair("", ""));
        Attack { pinned, old, other }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.pinned.home.path(name)
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }

    fn edit(&self, name: &str, from: &str, to: &str) {
        let text = self.read(name);
        assert!(text.contains(from), "{name} has no {from}");
        fs::write(self.path(name), text.replace(from, to)).unwrap();
    }

    /// What the server serves now is not what was approved.
    fn server_changes(&self) {
        self.pinned.record(&json!([echo("Evil")]));
    }

    /// The hash of the tool in the head of a record.
    fn hash(&self, name: &str) -> String {
        let record: Value = serde_json::from_str(&self.read(name)).unwrap();
        record["head"]["tools"]["echo"].as_str().unwrap().to_owned()
    }

    /// The lines of the receipts, without some of them.
    fn keep_receipts(&self, keep: impl Fn(usize, &str) -> bool) {
        let text = self.read(RECEIPTS);
        let kept: String = text
            .lines()
            .enumerate()
            .filter(|(nth, line)| keep(*nth, line))
            .map(|(_, line)| format!("{line}\n"))
            .collect();
        assert_ne!(kept, text, "nothing was removed");
        fs::write(self.path(RECEIPTS), kept).unwrap();
    }
}

#[test]
fn no_way_of_an_agent_to_a_record_makes_a_call_silent() {
    // The name of the way, what is done to the files, and the code of the refusal in both presets.
    type Way = fn(&Attack);
    let ways: [(&str, Way, &str); 29] = [
        ("edit the body of the pin", |a| a.edit(PIN, "Says it again", "Says it twice"), "MCP_LOCK_INVALID"),
        ("loosen the approved schema", |a| a.edit(PIN, "\"required\":[\"text\"],", ""), "MCP_LOCK_INVALID"),
        ("edit the head of the pin", |a| a.edit(PIN, "\"blocked\":false", "\"blocked\": false"), "MCP_LOCK_INVALID"),
        (
            "approve another command line",
            |a| {
                a.pinned.configure(json!({"demo": {"command": "evil"}}));
                a.edit(PIN, "demo-server", "evil");
                a.edit(OBSERVED, "demo-server", "evil");
            },
            "MCP_LOCK_INVALID",
        ),
        (
            "copy the observed hash into the pin",
            |a| {
                a.server_changes();
                a.edit(PIN, &a.hash(PIN), &a.hash(OBSERVED));
            },
            "MCP_LOCK_INVALID",
        ),
        (
            "copy hash and body into the pin",
            |a| {
                a.server_changes();
                a.edit(PIN, &a.hash(PIN), &a.hash(OBSERVED));
                a.edit(PIN, "Says it again", "Evil");
            },
            "MCP_LOCK_INVALID",
        ),
        (
            "copy the approved hash into the observed record",
            |a| {
                a.server_changes();
                a.edit(OBSERVED, &a.hash(OBSERVED), &a.hash(PIN));
            },
            "MCP_LOCK_INVALID",
        ),
        (
            "copy hash and body into the observed record",
            |a| {
                a.server_changes();
                a.edit(OBSERVED, &a.hash(OBSERVED), &a.hash(PIN));
                a.edit(OBSERVED, "Evil", "Says it again");
            },
            "MCP_LOCK_INVALID",
        ),
        ("edit the body of the observed record", |a| a.edit(OBSERVED, "Says it again", "x"), "MCP_LOCK_INVALID"),
        (
            "restore the observed record from before a change",
            |a| {
                let approved = a.read(OBSERVED);
                a.server_changes();
                fs::write(a.path(OBSERVED), approved).unwrap();
            },
            "MCP_LOCK_INVALID",
        ),
        (
            "restore the observed record of a server that stopped answering",
            |a| {
                let approved = a.read(OBSERVED);
                a.pinned.configure(json!({"demo": {"command": "false"}}));
                assert_eq!(a.pinned.home.run_as_person(&["mcp", "probe", "demo"]).exit, 1);
                assert!(!a.path(OBSERVED).exists(), "it is marked as not seen");
                a.pinned.configure_demo();
                fs::write(a.path(OBSERVED), approved).unwrap();
            },
            "MCP_LOCK_INVALID",
        ),
        (
            "remove the receipts of observations",
            |a| fs::remove_dir_all(a.path(".local/share/rune/observed-receipts")).unwrap(),
            "MCP_LOCK_INVALID",
        ),
        (
            "restore an earlier approval",
            |a| {
                fs::write(a.path(PIN), &a.old[0]).unwrap();
                fs::write(a.path(OBSERVED), &a.old[1]).unwrap();
            },
            "MCP_LOCK_INVALID",
        ),
        ("restore the pin alone", |a| fs::write(a.path(PIN), &a.old[0]).unwrap(), "MCP_LOCK_INVALID"),
        (
            "restore the approval from before a block",
            |a| {
                let approved = a.read(PIN);
                a.pinned.run_as_person(&["mcp", "block", "demo"]);
                fs::write(a.path(PIN), approved).unwrap();
            },
            "MCP_LOCK_INVALID",
        ),
        (
            "remove the pin with its block",
            |a| {
                a.pinned.run_as_person(&["mcp", "block", "demo"]);
                fs::remove_file(a.path(PIN)).unwrap();
            },
            "MCP_LOCK_INVALID",
        ),
        ("remove all pins", |a| fs::remove_dir_all(a.path(PIN).parent().unwrap()).unwrap(), "MCP_LOCK_INVALID"),
        ("remove the receipt of the approval", |a| a.keep_receipts(|nth, _| nth < 5), "MCP_LOCK_INVALID"),
        (
            "remove a receipt from the middle",
            |a| {
                let approved = a.read(PIN);
                a.pinned.run_as_person(&["mcp", "block", "demo"]);
                a.pinned.run_as_person(&["mcp", "block", "other"]);
                fs::write(a.path(PIN), approved).unwrap();
                a.keep_receipts(|_, line| !(line.contains("\"block\"") && line.contains("\"demo\"")));
            },
            "MCP_LOCK_INVALID",
        ),
        ("remove all receipts", |a| fs::remove_file(a.path(RECEIPTS)).unwrap(), "MCP_LOCK_INVALID"),
        (
            "edit the receipt",
            |a| {
                let (old, new) =
                    (rune::receipt::hash(a.read(PIN).as_bytes()), rune::receipt::hash(a.old[0].as_bytes()));
                a.edit(RECEIPTS, &old, &new);
                fs::write(a.path(PIN), &a.old[0]).unwrap();
            },
            "MCP_LOCK_INVALID",
        ),
        (
            "replay the receipt of the earlier approval",
            |a| {
                let receipts = a.read(RECEIPTS);
                let hash = rune::receipt::hash(a.old[0].as_bytes());
                let earlier = receipts.lines().find(|line| line.contains(&hash)).unwrap();
                fs::write(a.path(RECEIPTS), format!("{receipts}{earlier}\n")).unwrap();
                fs::write(a.path(PIN), &a.old[0]).unwrap();
            },
            "MCP_LOCK_INVALID",
        ),
        (
            "give the receipt to another server",
            |a| a.edit(RECEIPTS, "\"server\":\"demo\"", "\"server\":\"x\""),
            "MCP_LOCK_INVALID",
        ),
        (
            "swap the receipts of two servers",
            |a| {
                let swapped = a.read(RECEIPTS).replace("\"demo\"", "\"~\"").replace("\"other\"", "\"demo\"");
                fs::write(a.path(RECEIPTS), swapped.replace("\"~\"", "\"other\"")).unwrap();
            },
            "MCP_LOCK_INVALID",
        ),
        (
            "put the records of another server in place",
            |a| {
                fs::write(a.path(PIN), &a.other[0]).unwrap();
                fs::write(a.path(OBSERVED), &a.other[1]).unwrap();
            },
            "MCP_LOCK_INVALID",
        ),
        (
            "replace the key",
            |a| {
                fs::remove_file(a.path(KEY)).unwrap();
                a.pinned.home.run_as_person(&["mcp", "block", "other"]);
            },
            "MCP_LOCK_INVALID",
        ),
        (
            "put a symlink in place of the pin",
            |a| {
                let aside = a.pinned.home.write("aside.json", &a.read(PIN));
                fs::remove_file(a.path(PIN)).unwrap();
                std::os::unix::fs::symlink(aside, a.path(PIN)).unwrap();
            },
            "MCP_LOCK_INVALID",
        ),
        (
            "cut the pin off",
            |a| {
                let text = a.read(PIN);
                fs::write(a.path(PIN), text.as_bytes().split_at(text.len() / 2).0).unwrap();
            },
            "MCP_LOCK_INVALID",
        ),
        (
            "make the pin too large to be read",
            |a| {
                let text = a.read(PIN);
                fs::write(a.path(PIN), format!("{text}{}", " ".repeat(5 << 20))).unwrap();
            },
            "MCP_LOCK_INVALID",
        ),
    ];
    for (name, way, code) in ways {
        let attack = Attack::new();
        way(&attack);
        for preset in [GENTLE, STRICT] {
            assert_eq!(attack.pinned.call(preset, "echo", &text()), pair("deny", code), "{name}, {preset}");
        }
    }
}

#[test]
fn a_record_under_a_name_in_other_case_approves_nothing() {
    let attack = Attack::new();
    let copy = |from: &str, server: &str| {
        let path = attack.path(from).parent().unwrap().join(rune::mcp::file_name(server));
        fs::write(path, attack.read(from).replace("\"server\":\"demo\"", &format!("\"server\":\"{server}\""))).unwrap();
    };
    copy(PIN, "DEMO");
    copy(OBSERVED, "DEMO");
    attack.pinned.configure(json!({"DEMO": {"command": "demo-server", "args": ["--fast"], "env": {"TOKEN": "x"}}}));
    let call =
        |preset| attack.pinned.call_of(preset, "mcp__DEMO__echo", &text(), json!({"name": "DEMO", "source": "user"}));
    assert_eq!((call(GENTLE), call(STRICT)), (pair("deny", "MCP_LOCK_INVALID"), pair("deny", "MCP_LOCK_INVALID")));
}

#[test]
fn an_invalid_record_is_approved_again_without_what_was_forged() {
    let attack = Attack::new();
    let evil = json!({"name": "evil", "inputSchema": {"type": "object"}});
    attack.pinned.record(&json!([echo("Says it again"), evil]));
    let hash = attack.read(OBSERVED);
    let hash = serde_json::from_str::<Value>(&hash).unwrap()["head"]["tools"]["evil"].as_str().unwrap().to_owned();
    // A record whose head fits its body, and that only a receipt could tell from an approval.
    attack.edit(PIN, "\"tools\":{\"echo\"", &format!("\"tools\":{{\"evil\":\"{hash}\",\"echo\""));
    attack.edit(
        PIN,
        "\"tools\":{\n",
        "\"tools\":{\n\"evil\":{\"inputSchema\":{\"type\":\"object\"},\"name\":\"evil\"},\n",
    );
    assert_eq!(attack.pinned.call(STRICT, "evil", &json!({})), pair("deny", "MCP_LOCK_INVALID"));
    let status = attack.pinned.home.run(&["mcp", "status"], "");
    assert!(status.stdout.contains("unreadable") && status.stdout.contains("demo.json"), "{status:?}");
    attack.pinned.approve(&["demo:echo"]);
    assert_eq!(attack.pinned.call(STRICT, "echo", &text()), pair("", ""));
    assert_eq!(attack.pinned.call(STRICT, "evil", &json!({})), pair("deny", "MCP_TOOL_UNPINNED"));
}

#[test]
fn an_approval_is_valid_with_the_receipts_switched_off_and_after_a_rotation_of_the_key() {
    let pinned = PinnedHome::new();
    pinned.home.write(".config/rune/config.local.toml", "[mcp]\nreceipts = 'off'\n");
    pinned.record(&json!([echo("Says it again")]));
    pinned.approve(&["demo"]);
    assert_eq!(pinned.call(STRICT, "echo", &text()), pair("", ""));
    pinned.run_as_person(&["receipts", "key", "rotate", "--yes"]);
    assert_eq!(pinned.call(STRICT, "echo", &text()), pair("", ""));
    pinned.run_as_person(&["mcp", "block", "demo:other"]);
    assert_eq!(pinned.call(STRICT, "echo", &text()), pair("", ""));
    assert!(Path::new(&pinned.home.path(RECEIPTS)).exists());
}

#[test]
fn a_tool_with_a_description_beyond_the_limit_cannot_be_approved() {
    let pinned = PinnedHome::new();
    let long = "x".repeat(5 << 20);
    pinned.record(&json!([echo(&long), {"name": "small", "inputSchema": {"type": "object"}}]));
    assert_eq!(pinned.status("echo"), "unpinnable");
    pinned.approve(&["demo"]);
    assert_eq!(pinned.call(STRICT, "echo", &text()), pair("deny", "MCP_TOOL_CHANGED"));
    assert_eq!(pinned.call(STRICT, "small", &json!({})), pair("", ""));
    let size = fs::metadata(pinned.home.path(OBSERVED)).unwrap().len();
    assert!(size < 200 << 10, "{size} bytes are read on each call");
}
