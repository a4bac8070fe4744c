//! What people see: who is told what in an answer, the status bar, presets in view, and clients that are too old.

use crate::support::sandbox::{Output, Sandbox, before, finish};
use crate::support::snapshot::{check, render};
use serde_json::{Value, json};

fn installed(preset: &str) -> Sandbox {
    let home = Sandbox::new();
    std::fs::create_dir_all(home.path("proj/.git")).unwrap();
    assert_eq!(home.run(&["hooks", "install", "--preset", preset], "").exit, 0);
    home
}

fn answer(preset: &str, command: &str, attended: &str) -> Value {
    let home = Sandbox::new();
    let mut hook = home.command(&["hook", "pre", "--preset", preset]);
    hook.env("CLAUDE_CODE_SESSION_ATTENDED", attended);
    finish(hook.spawn().unwrap(), before("Bash", json!({"command": command})).as_bytes()).json()
}

#[test]
fn a_text_reaches_the_model_once_and_only_people_are_told_the_command_that_allows_a_call() {
    let reason = |answer: &Value| answer["hookSpecificOutput"]["permissionDecisionReason"].as_str().unwrap().to_owned();
    let context = |answer: &Value| answer["hookSpecificOutput"]["additionalContext"].clone();
    let push = "git push --force origin main";
    let (asked, headless, denied) =
        (answer("gentle", push, "1"), answer("gentle", push, "0"), answer("strict", push, "1"));
    assert!(reason(&asked).contains("\nAllow (you, in a terminal): rune allow --last"), "{asked}");
    for to_model in [&headless, &denied] {
        let text = reason(to_model);
        assert!(!text.contains("rune allow") && text.contains("\nA person can allow this: `rune log`"), "{to_model}");
    }
    for answer in [&asked, &headless, &denied] {
        assert!(reason(answer).starts_with(&format!("Rune (git-force-push): `{push}` ")), "{answer}");
        assert!(reason(answer).contains("\nSafer: ") && context(answer).is_null(), "{answer}");
    }
    let advice = answer("gentle", "terraform apply", "1");
    assert_eq!(context(&advice), advice["systemMessage"], "advice is shown to both");
    assert!(reason(&answer("gentle", "terraform destroy", "1")).contains("Safer: "));
    for certain in ["rm -rf ~", "rune hooks uninstall", "terraform destroy"] {
        let text = reason(&answer("gentle", certain, "1"));
        assert!(!text.contains("llow"), "{certain}: {text}");
    }
}

#[test]
fn further_findings_are_counted() {
    let line = "sudo a; npm unpublish x@1; git push -f; git clean -fdx src; chmod 777 x";
    let reason = answer("gentle", line, "1")["hookSpecificOutput"]["permissionDecisionReason"].to_string();
    assert_eq!(reason.matches("Rune (").count(), 3, "{reason}");
    assert!(reason.contains("more findings: `rune explain --last`"), "{reason}");
}

#[test]
fn a_client_that_starts_the_guard_without_arguments_is_told_and_its_calls_are_blocked() {
    let home = Sandbox::new();
    let denied = home.run(&[], before("Bash", json!({"command": "ls"})));
    assert!(denied.exit == 2 && denied.stderr.contains("Claude Code before 2.1.139"), "{denied:?}");
    let start = json!({"session_id": "s", "cwd": "/x", "hook_event_name": "SessionStart", "source": "startup"});
    let started = home.run(&[], start.to_string());
    assert!(started.exit == 0 && started.json()["systemMessage"].as_str().unwrap().contains("2.1.139"), "{started:?}");
    let help = home.run(&[], "");
    assert!(help.exit == 2 && help.stderr.contains("Usage: rune"), "{help:?}");
}

#[test]
fn a_client_that_is_too_old_is_not_registered_with() {
    use std::os::unix::fs::PermissionsExt;
    let home = Sandbox::new();
    let client = home.write("bin/claude", "#!/bin/sh\necho '2.1.100 (Claude Code)'\n");
    std::fs::set_permissions(client, std::fs::Permissions::from_mode(0o755)).unwrap();
    let mut install = home.command(&["hooks", "install"]);
    std::fs::create_dir_all(home.path("proj/.git")).unwrap();
    install.env("PATH", format!("{}:/usr/bin:/bin", home.path("bin").display())).current_dir(home.path("proj"));
    let refused = finish(install.spawn().unwrap(), b"");
    assert!(refused.exit == 1 && refused.stderr.contains("2.1.100"), "{refused:?}");
    assert!(!home.path(".claude/settings.json").exists());
}

fn statusline(home: &Sandbox, input: &str) -> Output {
    let mut command = home.command(&["statusline"]);
    command.env("NO_COLOR", "1");
    finish(command.spawn().unwrap(), input.as_bytes())
}

#[test]
fn the_status_line_shows_preset_taint_stops_and_pause() {
    let home = installed("gentle");
    let input = json!({"session_id": "s1", "model": {"id": "x"}, "workspace": {"current_dir": "/proj"}}).to_string();
    assert_eq!(statusline(&home, &input).stdout, "Rune gentle\n");
    home.run(&["hook", "pre", "--preset", "gentle"], before("Bash", json!({"command": "rm -rf ~"})));
    home.run(&["hook", "pre", "--preset", "gentle"], before("Bash", json!({"command": "git push -f"})));
    home.run(&["quarantine", "notice", "--source", "mail:x"], "");
    let event = crate::support::sandbox::after("mcp__desk__get", json!({}), json!("text"));
    home.run(&["hook", "post"], event);
    assert_eq!(statusline(&home, &input).stdout, "Rune gentle · tainted · 1 denied, 1 asked\n");
    assert_eq!(statusline(&home, "{\"session_id\": 7}").stdout, "Rune gentle\n");
    assert_eq!(statusline(&home, "no JSON").exit, 0);
    assert_eq!(home.run_as_person(&["pause", "15m", "--yes"]).exit, 0);
    assert!(statusline(&home, &input).stdout.starts_with("Rune paused until "), "{:?}", statusline(&home, &input));
    assert_eq!(statusline(&Sandbox::new(), &input).stdout, "Rune: not registered\n");
}

#[test]
fn the_status_line_the_slash_command_and_the_skill_come_and_go_with_the_registration() {
    let home = Sandbox::new();
    let settings = "{\n  \"theme\": \"dark\"\n}\n";
    home.write(".claude/settings.json", settings);
    home.write(".claude/commands/mine.md", "mine");
    let install = ["hooks", "install", "--preset", "strict", "--statusline"];
    assert_eq!(home.run(&install, "").exit, 0);
    let read = |name: &str| std::fs::read_to_string(home.path(name)).unwrap_or_default();
    let line = |text: &str| serde_json::from_str::<Value>(text).unwrap()["statusLine"]["command"].clone();
    assert!(line(&read(".claude/settings.json")).as_str().unwrap().ends_with("rune statusline"));
    assert_eq!(home.run(&["hooks", "install"], "").exit, 0);
    assert!(!line(&read(".claude/settings.json")).is_null(), "a further installation keeps the line");
    assert!(read(".claude/commands/rune.md").contains("rune quarantine status"));
    assert!(read(".claude/skills/quarantine/SKILL.md").starts_with("---\nname: quarantine\n"));
    assert_eq!(home.run_as_person(&["hooks", "install", "--preset", "off", "--yes"]).exit, 0);
    assert_eq!(read(".claude/settings.json"), settings);
    assert!(!home.path(".claude/commands/rune.md").exists() && !home.path(".claude/skills").exists());
    assert_eq!(read(".claude/commands/mine.md"), "mine");

    let other = "{\"statusLine\": {\"type\": \"command\", \"command\": \"mine\"}}\n";
    home.write(".claude/settings.json", other);
    home.write(".claude/commands/rune.md", "my own");
    let output = home.run(&install, "");
    assert!(output.exit == 0 && output.stdout.contains("shows something else"), "{output:?}");
    assert_eq!(home.run_as_person(&["hooks", "uninstall", "--yes"]).exit, 0);
    assert_eq!(read(".claude/settings.json"), other);
    assert_eq!(read(".claude/commands/rune.md"), "my own");
}

#[test]
fn commands_use_the_registered_preset_and_name_it() {
    let home = installed("strict");
    let explain = home.run(&["explain", "--json", "--", "git push -f"], "").json();
    assert_eq!((&explain["effect"], &explain["preset"]["name"]), (&json!("deny"), &json!("strict")), "{explain}");
    assert_eq!(explain["preset"]["source"], "registered in ~/.claude/settings.json");
    for words in [&["rules", "list"][..], &["log"], &["explain", "--", "ls"]] {
        let output = home.run(words, "");
        assert!(output.stdout.contains("preset: strict (registered in ~/.claude/settings.json)"), "{output:?}");
    }
    for (words, near) in [
        (&["explain", "--preset", "strikt", "--", "ls"][..], "did you mean `strict`?"),
        (&["explain", "--tool", "Wriet", "--", "a.txt"], "did you mean `Write`?"),
        (&["rules", "list", "--preset", "gentel"], "did you mean `gentle`?"),
    ] {
        let output = home.run(words, "");
        assert!(output.exit == 1 && output.stderr.contains(near), "{output:?}");
    }
}

#[test]
fn the_newest_stop_is_explained() {
    use crate::support::sandbox::terminal::Stdin;
    let home = installed("strict");
    let input = json!({"command": "sudo a; git push -f"});
    let event = json!({"session_id": "s1", "transcript_path": "/t.jsonl", "cwd": home.path("proj"), "tool_input": input,
        "hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_use_id": "toolu_1"});
    home.run(&["hook", "pre", "--preset", "strict"], event.to_string());
    let part = json!({"type": "tool_use", "id": "toolu_1", "name": "Bash", "input": input});
    let line =
        json!({"type": "assistant", "cwd": home.path("proj"), "message": {"role": "assistant", "content": [part]}});
    home.write(".claude/projects/-x-proj/s1.jsonl", &format!("{line}\n"));
    let explained = home.start_as_person(&home.path("proj"), Stdin::Null, &["explain", "--last"]).finish();
    assert!(
        explained.stdout.contains("git-force-push (deny)") && explained.stdout.contains("privilege"),
        "{explained:?}"
    );
    let mut agent = home.command(&["explain", "--last"]);
    agent.env("CLAUDECODE", "1").current_dir(home.path("proj"));
    let refused = finish(agent.spawn().unwrap(), b"");
    assert!(refused.is_refused_to_agents(), "{refused:?}");
}

/// The commands of the README that print to a terminal.
const README_COMMANDS: [&[&str]; 17] = [
    &["explain", "--", "rm -rf ~"],
    &["hooks", "status"],
    &["hooks", "first-run"],
    &["log"],
    &["log", "--denied"],
    &["allow", "--list"],
    &["resume"],
    &["statusline"],
    &["quarantine", "status"],
    &["quarantine", "notice", "--source", "ticket:1"],
    &["rules", "list"],
    &["rules", "check"],
    &["policy", "install", "--dry-run"],
    &["policy", "update", "--dry-run"],
    &["mcp", "status"],
    &["receipts", "list"],
    &["receipts", "key", "show"],
];

#[test]
fn what_the_commands_of_the_readme_print_fits_80_columns() {
    let home = installed("gentle");
    home.write(".claude.json", r#"{"mcpServers": {"tickets": {"command": "tickets-server"}}}"#);
    home.run(
        &["hook", "pre", "--preset", "gentle"],
        before("Bash", json!({"command": "git push --force origin main"})),
    );
    home.run(&["hook", "pre", "--preset", "gentle"], before("mcp__acme__run", json!({"x": 1})));
    let mut text = String::new();
    for words in README_COMMANDS {
        let mut command = home.command(words);
        command.env("NO_COLOR", "1");
        let rendered = render(&home, words, &finish(command.spawn().unwrap(), b""));
        let long: Vec<&str> = rendered.lines().filter(|line| line.chars().count() > 80).collect();
        assert!(long.is_empty(), "{words:?}: {long:#?}");
        text += &format!("{rendered}\n");
    }
    check("readme", &text);
}
