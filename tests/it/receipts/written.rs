//! Which decisions write a receipt, and its content.

use super::*;
use crate::support::sandbox::{Sandbox, before};

/// A home without pins, so that only rules decide.
fn home_without_pins() -> Sandbox {
    let home = Sandbox::new();
    home.write(".config/rune/config.local.toml", "[mcp]\npins = \"off\"\n");
    home
}

#[test]
fn strict_writes_a_receipt_for_every_mcp_call_and_gentle_for_those_it_stops() {
    for (preset, expected) in [
        ("strict", &[(DENIED, "deny"), (ASKED, "ask"), (PASSED, "allow")][..]),
        // Gentle asks if strict denies, and advises if strict asks.
        ("gentle", &[(DENIED, "ask")][..]),
        ("off", &[][..]),
    ] {
        let home = home_without_pins();
        for tool in [DENIED, ASKED, PASSED] {
            let output = home.run(&["hook", "pre", "--preset", preset], before(tool, json!({"id": 1})));
            assert_eq!(output.stderr, "", "{preset} {tool}");
        }
        home.run(&["hook", "pre", "--preset", preset], before("Bash", json!({"command": "rm -rf /"})));
        let found = if expected.is_empty() { Vec::new() } else { receipts(&file(&home, "s1")) };
        let found: Vec<_> =
            found.iter().map(|found| (found.tool.as_deref().unwrap(), found.verdict.as_deref().unwrap())).collect();
        assert_eq!(found, expected, "{preset}");
        assert_eq!(folder(&home).exists(), !expected.is_empty(), "{preset}");
    }
}

#[test]
fn a_receipt_contains_the_verdict_and_the_reason() {
    let home = home_without_pins();
    session(&home, "s1");
    let found = receipts(&file(&home, "s1"));
    let decision = |receipt: &Receipt| {
        let text = |text: &Option<String>| text.clone().unwrap_or_default();
        (text(&receipt.verdict), text(&receipt.reason), text(&receipt.server), receipt.dispatched)
    };
    let owned = |verdict: &str, reason: &str, server: &str, dispatched| {
        (verdict.to_owned(), reason.to_owned(), server.to_owned(), dispatched)
    };
    assert_eq!(decision(&found[0]), owned("deny", "MCP_UNREGISTERED", "acme", Some(false)));
    assert_eq!(decision(&found[1]), owned("allow", "NO_OBJECTION", "github", None));
    assert_eq!(decision(&found[2]), owned("ask", "MCP_FETCH", "jira", None));
    assert_eq!(found.iter().map(|receipt| receipt.seq).collect::<Vec<_>>(), (1..=7).collect::<Vec<_>>());
    assert_eq!((found[6].count, found[6].head.clone()), (Some(6), Some(found[6].prev.clone())));
    // Different arguments have different hashes; the policy is the same.
    assert_ne!(found[0].args_sha256, found[3].args_sha256);
    assert_eq!(found[0].policy, found[3].policy);
    home.write(".config/rune/config.local.toml", "[mcp]\npins = \"off\"\n[[mcp.servers]]\nname = \"other\"\n");
    call(&home, "s2", DENIED, json!({"id": 0}));
    let after = receipts(&file(&home, "s2"));
    assert_ne!(after[0].policy, found[0].policy);
    assert_eq!(after[0].args_sha256, found[0].args_sha256, "equal arguments have equal hashes");
}

/// The hash of a policy, computed from the description of the format.
fn policy_hash(files: &[(&str, &str)]) -> Option<String> {
    let file =
        |(name, text): &(&str, &str)| json!({"name": name, "sha256": rune::encoding::hex::digest(text.as_bytes())});
    let files: Vec<Value> = files.iter().map(file).collect();
    let list = json!({"files": files, "preset": "strict", "version": "rune.policy/1"});
    Some(rune::receipt::hash(list.to_string().as_bytes()))
}

#[test]
fn a_receipt_contains_the_hash_of_the_policy() {
    let [config, strict, rules] = ["config/config.toml", "presets/strict.toml", "rules/mcp.rules"]
        .map(|name| std::fs::read_to_string(name).unwrap());
    let own = "block \"own\"\n  match own\n  nudge \"No\"\n";
    let home = Sandbox::new();
    let project = home.path("proj");
    let calls = || {
        for (tool, input) in [(DENIED, json!({})), ("ReadMcpResourceTool", json!({"server": "acme", "uri": "x:y"}))] {
            home.run(&STRICT, before(tool, input).replace("/proj", project.to_str().unwrap()));
        }
        let found = receipts(&file(&home, "s1"));
        std::fs::remove_file(file(&home, "s1")).unwrap();
        found.into_iter().map(|receipt| receipt.policy).collect::<Vec<_>>()
    };
    let shipped = [("config.toml", config.as_str()), ("presets/strict.toml", &strict), ("rules/mcp.rules", &rules)];
    let found = calls();
    assert!(found.len() == 2 && found.iter().all(|found| *found == policy_hash(&shipped)), "{found:?}");
    home.run(&["hooks", "install", "--preset", "strict"], "");
    assert!(calls().iter().all(|found| *found == policy_hash(&shipped)), "an installed copy is the same text");
    let edited = format!("# Mine\n{config}");
    for (name, text) in [
        (".config/rune/config.toml", edited.as_str()),
        (".config/rune/config.local.toml", "# Mine\n"),
        (".config/rune/rules/mcp.own.rules", own),
        (".config/rune/rules/bash.own.rules", own),
        (".claude/quarantine.d/trusted-mcp-allowlist.txt", "acme\n"),
        ("proj/.rune/config.toml", "# Ours\n"),
        ("proj/.rune/rules/mcp.rules", own),
    ] {
        home.write(name, text);
    }
    let all = [
        ("config.local.toml", "# Mine\n"),
        ("config.toml", &edited),
        ("presets/strict.toml", &strict),
        ("project/config.toml", "# Ours\n"),
        ("project/rules/mcp.rules", own),
        ("rules/mcp.own.rules", own),
        ("rules/mcp.rules", &rules),
        ("trusted-mcp-allowlist.txt", "acme\n"),
    ];
    let found = calls();
    assert!(found.iter().all(|found| *found == policy_hash(&all)), "{found:?} {:?}", policy_hash(&all));
}

#[test]
fn a_call_that_cannot_be_parsed_writes_a_receipt() {
    let home = Sandbox::new();
    let event = before(DENIED, json!({"id": 1})).replace("\"cwd\":\"/proj\"", "\"cwd\":7");
    assert_eq!(home.run(&STRICT, event).decision(), "deny");
    let found = receipts(&file(&home, "s1"));
    assert_eq!(found[0].reason.as_deref(), Some("RUNE_EVENT"));
    assert_eq!((found[0].dispatched, found[0].args_sha256.clone()), (Some(false), None));
    let nameless = before(DENIED, json!({})).replace("\"session_id\":\"s1\",", "");
    home.run(&STRICT, nameless);
    assert_eq!(receipts(&file(&home, "@none")).len(), 1);
}

#[test]
fn receipts_contain_no_payload() {
    let home = Sandbox::new();
    let secret = "k9-payload-c4";
    for tool in [DENIED, ASKED, PASSED] {
        call(&home, "s1", tool, json!({"url": secret, "id": secret, secret: secret}));
    }
    end(&home, "s1");
    let all = home.all_files();
    assert!(!all.windows(secret.len()).any(|window| window == secret.as_bytes()));
    assert_eq!(receipts(&file(&home, "s1")).len(), 4);
}

#[test]
fn an_unwritable_receipt_is_reported_and_the_answer_stays() {
    let home = Sandbox::new();
    home.write(".local/share/rune/receipt.key", "no key\n");
    let output = call(&home, "s1", DENIED, json!({}));
    assert_eq!((output.decision().as_str(), output.exit), ("deny", 0));
    assert!(output.stderr.contains("receipt.key"), "{}", output.stderr);
    let home = Sandbox::new();
    home.write(".local/state/rune/receipts", "a file in the way");
    let output = call(&home, "s1", DENIED, json!({}));
    assert_eq!((output.decision().as_str(), output.exit), ("deny", 0));
    assert!(output.stderr.contains("receipts"), "{}", output.stderr);
}

#[test]
fn the_key_and_the_receipts_are_private() {
    use std::os::unix::fs::PermissionsExt;
    let home = Sandbox::new();
    call(&home, "s1", DENIED, json!({}));
    for path in [file(&home, "s1"), home.path(".local/share/rune/receipt.key")] {
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600, "{}", path.display());
    }
    let home = Sandbox::new();
    home.run(&["hooks", "install", "--preset", "strict"], "");
    assert!(home.path(".local/share/rune/receipt.key").exists(), "the installation creates the key");
    assert_eq!(home.run(&["receipts", "key", "show"], "").stdout.trim(), secret(&home).public());
}

#[test]
fn a_dry_run_writes_no_receipt() {
    let home = Sandbox::new();
    home.run(&[&STRICT[..], &["--dry-run"]].concat(), before(DENIED, json!({})));
    assert!(!folder(&home).exists());
}

#[test]
fn a_resumed_session_starts_a_new_part() {
    let home = Sandbox::new();
    session(&home, "s1");
    call(&home, "s1", DENIED, json!({}));
    end(&home, "s1");
    call(&home, "s1", DENIED, json!({}));
    end(&home, "s1");
    end(&home, "s1");
    let parts = ["s1", "s1.2", "s1.3"].map(|name| receipts(&file(&home, name)));
    assert_eq!(parts.each_ref().map(Vec::len), [7, 2, 2]);
    assert_eq!(parts[1][0].part, 2);
    assert_eq!(verify(&home, &folder(&home), &[]).0, 0);
    assert_eq!(verify(&home, &file(&home, "s1.2"), &[]).0, 0);
    // A copied part does not belong there.
    std::fs::copy(file(&home, "s1.3"), file(&home, "s1.2")).unwrap();
    let (exit, codes, _) = verify(&home, &folder(&home), &[]);
    assert_eq!(exit, 1);
    assert!(codes.iter().any(|(code, _)| code == "RECEIPT_FOREIGN_SESSION"), "{codes:?}");
}

#[test]
fn receipts_are_listed_and_shown() {
    let home = home_without_pins();
    assert_eq!(home.run(&["receipts", "list"], "").exit, 0);
    session(&home, "s1");
    let listed = home.run(&["receipts", "list"], "").stdout;
    assert!(listed.lines().any(|line| line.contains("s1") && line.contains('3') && line.contains('1')), "{listed}");
    let shown = home.run(&["receipts", "show", "s1"], "").stdout;
    assert_eq!(shown.lines().count(), 7, "{shown}");
    assert!(shown.contains("MCP_UNREGISTERED"), "{shown}");
    assert_ne!(home.run(&["receipts", "show", "s9"], "").exit, 0);
    let json = home.run(&["receipts", "show", "s1", "--json"], "").stdout;
    assert_eq!(json, std::fs::read_to_string(file(&home, "s1")).unwrap());
}
