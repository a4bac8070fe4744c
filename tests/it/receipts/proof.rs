//! `rune mcp proof`: every case is refused for its own reason, and the pack proves it.

use super::*;
use crate::support::sandbox::{Sandbox, files_below};
use std::collections::BTreeMap;

const AT: &str = "2026-06-09T00:00:00Z";

const CASES: [(&str, &str); 10] = [
    ("control", "NO_OBJECTION"),
    ("unknown-server", "MCP_SERVER_UNKNOWN"),
    ("prompt-injected-output", "TAINTED_MCP_WRITE"),
    ("excessive-agency", "MCP_UNREGISTERED"),
    ("confused-deputy", "MCP_SERVER_CONFIG_CHANGED"),
    ("missing-pin", "MCP_TOOL_UNPINNED"),
    ("schema-drift", "MCP_TOOL_CHANGED"),
    ("off-schema-arguments", "MCP_ARGS_OFF_SCHEMA"),
    ("name-collision", "MCP_NAME_COLLISION"),
    ("replay-or-reordering", "MCP_TOOL_BLOCKED"),
];

/// Makes a proof; returns its directory and the report.
fn proof(home: &Sandbox, name: &str, scenario: &str) -> (PathBuf, Value) {
    let out = home.path(name);
    let words = ["mcp", "proof", "--scenario", scenario, "--run-id", "demo", "--at", AT, "--json", "--out"];
    let output = home.run(&[&words[..], &[out.to_str().unwrap()]].concat(), "");
    assert_eq!(output.exit, 0, "{output:?}");
    (out, output.json())
}

/// The files below a directory, by name.
fn files(folder: &Path) -> BTreeMap<String, String> {
    let name = |path: &Path| path.strip_prefix(folder).unwrap().to_str().unwrap().to_owned();
    files_below(folder).into_iter().map(|path| (name(&path), std::fs::read_to_string(path).unwrap())).collect()
}

fn verified(home: &Sandbox, key: &str, pack: &Path) -> Output {
    home.run(&["receipts", "verify", "--json", "--key", key, pack.to_str().unwrap()], "")
}

#[test]
fn every_case_is_refused_for_its_own_reason_and_not_dispatched() {
    let home = Sandbox::new();
    let (out, report) = proof(&home, "proof", "all");
    let cases = report["cases"].as_array().unwrap();
    let found: Vec<_> =
        cases.iter().map(|case| (case["scenario"].as_str().unwrap(), case["reason"].as_str().unwrap())).collect();
    assert_eq!(found, CASES);
    let reasons: std::collections::BTreeSet<_> = found.iter().map(|(_, reason)| reason).collect();
    assert_eq!(reasons.len(), CASES.len(), "each case has its own reason");
    for case in cases {
        let control = case["scenario"] == "control";
        assert_eq!(case["dispatched"], i32::from(control), "{case}");
        assert_eq!(["deny", "ask"].contains(&case["verdict"].as_str().unwrap()), !control, "{case}");
    }
    let replay = &cases[9]["found"];
    assert_eq!(*replay, json!(["RECEIPT_DUPLICATE", "RECEIPT_FOREIGN_SESSION", "RECEIPT_REORDERED"]));
    // Every case has a receipt. That of a denial says that the call was not dispatched.
    let key = report["key"].as_str().unwrap();
    for (name, reason) in CASES {
        let receipts = receipts(&out.join(format!("receipts/proof-demo-{name}.jsonl")));
        let last = &receipts[receipts.len() - 2];
        assert_eq!(last.reason.as_deref(), Some(reason));
        assert_eq!(last.dispatched, if last.verdict.as_deref() == Some("deny") { Some(false) } else { None });
        let policy = std::fs::read_to_string(out.join(format!("policy/{name}/policy.json"))).unwrap();
        assert_eq!(last.policy, Some(rune::receipt::hash(policy.as_bytes())), "the hash of the policy in the pack");
    }
    let drift = receipts(&out.join("receipts/proof-demo-schema-drift.jsonl"));
    assert!(drift[0].pin.is_some() && drift[0].observed.is_some() && drift[0].pin != drift[0].observed);
    let control = receipts(&out.join("receipts/proof-demo-control.jsonl"));
    assert!(control[0].pin.is_some() && control[0].pin == control[0].observed);
    assert_eq!(verified(&home, key, &out).exit, 0);
    assert!(std::fs::read_to_string(out.join("report.md")).unwrap().contains("MCP_NAME_COLLISION"));
    // Another key than that of the run is not accepted.
    session(&home, "s1");
    assert_eq!(verified(&home, secret(&home).public(), &out).exit, 1);
    let (exit, text) = super::python::verify_with_python(key, &out);
    assert_eq!(exit, 0, "{text}");
    let existing = home.run(&["mcp", "proof", "--out", out.to_str().unwrap()], "");
    assert_eq!(existing.exit, 1, "the directory exists: {existing:?}");
}

/// Runs a proof with a shell script in place of the hook. In the script, `RUNE` is the real one.
fn stand_in(home: &Sandbox, name: &str, script: &str) -> Output {
    use std::os::unix::fs::PermissionsExt;
    let program = home.write(name, &format!("#!/bin/sh\n{}\n", script.replace("RUNE", env!("CARGO_BIN_EXE_rune"))));
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    let out = home.path(&format!("{name}-proof"));
    home.run(&["mcp", "proof", "--json", "--hook", program.to_str().unwrap(), "--out", out.to_str().unwrap()], "")
}

#[test]
fn a_guard_that_does_not_refuse_fails_the_proof() {
    let home = Sandbox::new();
    // Whether the control is correct, how many other cases are, and all cases.
    let ok = |output: &Output| {
        let report = output.json();
        assert_eq!(report["verified"], "valid", "the pack is genuine in every case");
        let cases = report["cases"].as_array().unwrap().clone();
        (cases[0]["ok"] == true, cases[1..].iter().filter(|case| case["ok"] == true).count(), cases)
    };
    let output = stand_in(&home, "whole", "exec RUNE \"$@\"");
    assert_eq!((output.exit, ok(&output).1), (0, CASES.len() - 1), "{output:?}");
    // A hook whose answers are lost: it writes receipts of denials, and the server counts the calls.
    let output = stand_in(&home, "mute", "RUNE \"$@\" > /dev/null");
    let (control, others, cases) = ok(&output);
    assert_eq!((output.exit, control, others), (1, true, 0), "{output:?}");
    assert!(cases[1..].iter().all(|case| case["dispatched"] != 0 && case["verdict"] != "allow"), "{cases:?}");
    // A hook with another preset, which passes more calls and writes fewer receipts.
    let output = stand_in(&home, "loose", "exec RUNE $(echo \"$@\" | sed 's/strict/gentle/')");
    assert_ne!(output.exit, 0, "{output:?}");
    let report = std::fs::read_to_string(home.path("mute-proof/report.md")).unwrap();
    assert!(report.contains("/mute"), "{report}");
    let missing = home.run(&["mcp", "proof", "--hook", "/nowhere", "--out", "x"], "");
    assert!(missing.exit == 1 && missing.stderr.contains("/nowhere"), "{missing:?}");
}

#[test]
fn a_proof_is_rejected_after_any_edit() {
    let home = Sandbox::new();
    let (out, report) = proof(&home, "proof", "all");
    let key = report["key"].as_str().unwrap();
    let mut names: Vec<String> = files(&out).into_keys().collect();
    // The policy files of one case suffice.
    names.retain(|name| !name.starts_with("policy/") || name.starts_with("policy/control/"));
    assert!(names.len() > 20, "{names:?}");
    for name in names {
        let path = out.join(&name);
        let bytes = std::fs::read(&path).unwrap();
        let mut edited = bytes.clone();
        match edited.len() / 2 {
            0 => edited.push(b'x'),
            middle => edited[middle] ^= 1,
        }
        std::fs::write(&path, edited).unwrap();
        let output = verified(&home, key, &out);
        assert_eq!(output.exit, 1, "{name}: {output:?}");
        std::fs::remove_file(&path).unwrap();
        assert_eq!(verified(&home, key, &out).exit, 1, "{name} is missing");
        std::fs::write(&path, bytes).unwrap();
    }
    assert_eq!(verified(&home, key, &out).exit, 0, "restored");
}

#[test]
fn two_runs_differ_only_in_their_keys_and_what_depends_on_them() {
    let home = Sandbox::new();
    let [one, other] = ["one", "other"].map(|name| files(&proof(&home, name, "all").0));
    assert_eq!(one.keys().collect::<Vec<_>>(), other.keys().collect::<Vec<_>>());
    let mut compared = 0;
    for (name, text) in &one {
        if ["key.pub", "seal.json", "index.json"].contains(&name.as_str()) {
            continue;
        }
        let masked = |text: &str| {
            if !name.starts_with("receipts/") && !name.starts_with("replay/") {
                return text.to_owned();
            }
            let mask = |line: &str| {
                let mut receipt: Value = serde_json::from_str(line).unwrap();
                for member in ["key", "signature", "prev", "head"] {
                    receipt[member] = Value::Null;
                }
                format!("{receipt}\n")
            };
            text.lines().map(mask).collect()
        };
        assert_eq!(masked(text), masked(&other[name]), "{name}");
        compared += 1;
    }
    assert!(compared > 60, "{compared}");
}

#[test]
fn a_single_scenario_can_be_run_and_invalid_arguments_are_refused() {
    let home = Sandbox::new();
    for (name, _) in CASES.iter().skip(1) {
        let (out, report) = proof(&home, name, name);
        assert_eq!(report["cases"].as_array().unwrap().len(), 2, "the case and the control");
        assert_eq!(verified(&home, report["key"].as_str().unwrap(), &out).exit, 0, "{name}");
    }
    let output = home.run(&["mcp", "proof", "--scenario", "nothing", "--out", "x"], "");
    assert!(output.exit == 1 && output.stderr.contains("schema-drift"), "{output:?}");
    for wrong in ["../x", "", "a b", &"x".repeat(33)] {
        assert_eq!(home.run(&["mcp", "proof", "--run-id", wrong, "--out", "x"], "").exit, 1, "{wrong}");
    }
}
