//! `rune explain`.

use crate::support::sandbox::{Sandbox, after, before};
use serde_json::json;

#[test]
fn the_json_lists_commands_effects_and_findings() {
    let home = Sandbox::new();
    let output = home.run(&["explain", "--json", "--cwd", "/p", "--", "sudo rm -rf \"$X\"/y > log; A=1 cat ~/z"], "");
    assert_eq!(output.exit, 0);
    let found = output.json();
    assert_eq!((&found["tool"], &found["readable"], &found["effect"]), (&json!("Bash"), &json!(true), &json!("ask")));
    assert_eq!(
        found["commands"][1],
        json!({"program": "rm", "args": ["-rf", "$X/y"], "canonical": "rm -rf $X/y", "via": ["sudo"], "dynamic": true})
    );
    let read = home.path("z");
    assert_eq!(
        found["effects"],
        json!({"writes": ["/p/log"], "removes": ["$X/y"], "reads": [read], "env": ["A"], "network": []})
    );
    let rules: Vec<&str> =
        found["findings"].as_array().unwrap().iter().map(|row| row["rule"].as_str().unwrap()).collect();
    assert_eq!(rules, ["privilege", "uncertain-delete"]);
    let privilege = &found["findings"][0];
    assert_eq!(privilege["effect"], "ask");
    for key in ["reason", "nudge", "source", "change"] {
        assert!(privilege[key].as_str().is_some_and(|text| !text.is_empty()), "{key}");
    }
    assert!(privilege["source"].as_str().unwrap().starts_with("bash.rules:"));
}

#[test]
fn explain_agrees_with_the_hook_and_writes_no_file() {
    let home = Sandbox::new();
    home.run(&["explain", "--", "ls"], "");
    assert!(!home.path(".claude").exists() && !home.path(".local").exists());
    for line in ["ls", "echo 'a", "$($($(", "rm\u{a0}-rf /", "a &&"] {
        for preset in ["gentle", "strict"] {
            let explained = home.run(&["explain", "--json", "--preset", preset, "--", line], "").json();
            let hooked = home.run(&["hook", "pre", "--preset", preset], before("Bash", json!({"command": line})));
            let answer = if hooked.decision().is_empty() { "pass".to_owned() } else { hooked.decision() };
            assert_eq!(explained["effect"], answer, "{preset} {line}");
        }
    }
}

#[test]
fn a_result_is_shown_as_the_model_gets_it_and_is_not_recorded() {
    let home = Sandbox::new();
    let event = home.write("event.json", &after("mcp__desk__get", json!({}), json!("hi\u{200b}")));
    let words = ["explain", "--preset", "strict", "--post", event.to_str().unwrap()];
    let output = home.run(&words, "");
    assert_eq!(output.exit, 0, "{output:?}");
    assert!(output.stdout.contains("mcp:desk") && output.stdout.contains("hi⟦U+200B⟧"), "{output:?}");
    let json = home.run(&[&words[..], &["--json"]].concat(), "").json();
    assert!(json["hookSpecificOutput"]["updatedToolOutput"].as_str().unwrap().contains("UNTRUSTED DATA"));
    assert!(home.log().is_empty() && !home.path(".local/state/rune/sessions").exists());
    let wrong = home.run(&["explain", "--post", "-"], before("Bash", json!({"command": "ls"})));
    assert!(wrong.exit != 0 && wrong.stdout.is_empty(), "{wrong:?}");
}

#[test]
fn control_characters_of_a_command_are_not_printed() {
    let home = Sandbox::new();
    let output = home.run(&["explain", "--", "true && bash -c 'rm x'\u{1b}[2J"], "");
    assert_eq!(output.exit, 0);
    assert!(output.stdout.contains("rm") && !output.stdout.contains('\u{1b}'));
    assert_eq!(home.run(&["explain"], "").exit, 2);
}
