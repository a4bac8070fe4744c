//! Clients other than Claude Code: registration, recognition and answers of the whole program.

use crate::support::sandbox::terminal::Stdin;
use crate::support::sandbox::{Sandbox, finish};
use rune::client;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::fs;
use std::path::Path;

/// The clients that are registered by another form than Claude Code, each with its file and what may stand in it.
const FILES: [(&str, &str, &str); 8] = [
    ("codex", ".codex/hooks.json", "{\n  \"hooks\": {\"Stop\": [ {\"hooks\": []} ]}\n}\n"),
    ("gemini", ".gemini/settings.json", "{ // mine\n  \"general\": {\"vimMode\": true},\n}\n"),
    (
        "qwen",
        ".qwen/settings.json",
        "{\"hooks\":{\"PreToolUse\":[{\"matcher\":\"*\",\"hooks\":[{\"command\":\"x\"}]}]}}",
    ),
    ("copilot", ".copilot/hooks/rune.json", ""),
    ("opencode", ".config/opencode/plugin/rune.js", ""),
    ("droid", ".factory/settings.json", "{\r\n\t\"model\": \"x\"\r\n}\r\n"),
    ("cline", ".cline/hooks/PreToolUse", ""),
    (
        "kimi",
        ".kimi-code/config.toml",
        "# mine\ndefault_model = \"k\" # keep\n\n[[hooks]]\nevent = \"Stop\"\ncommand = \"x\"\n",
    ),
];

fn install(home: &Sandbox, client: &str) -> String {
    let output = home.run(&["hooks", "install", "--client", client, "--preset", "gentle"], "");
    assert_eq!(output.exit, 0, "{client}: {output:?}");
    output.stdout
}

fn text(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_default()
}

#[test]
fn each_client_is_registered_in_its_form_and_gets_its_bytes_back() {
    for (client, file, before) in FILES {
        let home = Sandbox::new();
        let path = home.path(file);
        if !before.is_empty() {
            home.write(file, before);
        }
        install(&home, client);
        let registered = text(&path);
        assert!(registered.contains("--preset") && registered.contains(env!("CARGO_BIN_EXE_rune")), "{client}");
        assert!(install(&home, client).contains("is as it should be"), "{client}");
        let status = home.run(&["hooks", "status", "--client", client, "--json"], "");
        // Codex runs hooks only after the user has confirmed them.
        let expected = if client == "codex" { "off" } else { "on" };
        assert_eq!(status.json()["guard"], expected, "{client}: {status:?}");
        let removed = home.run_as_person(&["hooks", "uninstall", "--client", client, "--yes"]);
        assert_eq!(removed.exit, 0, "{client}: {removed:?}");
        assert_eq!(text(&path), before, "{client}");
        assert_eq!(path.exists(), !before.is_empty(), "{client}");
        assert!(!home.path(".cline/hooks/PostToolUse").exists());
    }
}

#[test]
fn an_edited_file_keeps_the_edits_when_the_entries_go() {
    for (client, file, before) in FILES.into_iter().filter(|(.., before)| !before.is_empty()) {
        let home = Sandbox::new();
        let path = home.write(file, before);
        install(&home, client);
        let edited = match client {
            "kimi" => format!("added = 1\n{}", text(&path)),
            _ => text(&path).replacen('{', "{\"added\": 1,", 1),
        };
        fs::write(&path, &edited).unwrap();
        assert_eq!(home.run_as_person(&["hooks", "uninstall", "--client", client, "--yes"]).exit, 0, "{client}");
        let left = text(&path);
        assert!(left.contains("added") && !left.contains("--preset"), "{client}: {left}");
    }
}

#[test]
fn clients_that_are_found_are_registered_together() {
    let home = Sandbox::new();
    for directory in [".gemini", ".kimi-code"] {
        fs::create_dir(home.path(directory)).unwrap();
    }
    let output = home.run(&["hooks", "install", "--preset", "strict"], "");
    assert_eq!(output.exit, 0, "{output:?}");
    assert!(home.path(".gemini/settings.json").exists() && home.path(".kimi-code/config.toml").exists());
    assert!(!home.path(".claude/settings.json").exists() && !home.path(".codex").exists());
}

#[test]
fn codex_is_off_until_its_hooks_are_confirmed() {
    let home = Sandbox::new();
    let note = install(&home, "codex");
    assert!(note.contains("/hooks"), "{note}");
    let doctor = home.run(&["doctor", "--client", "codex"], "");
    assert!(doctor.exit == 1 && doctor.stdout.contains("not-confirmed"), "{doctor:?}");
    let file = home.path(".codex/hooks.json").canonicalize().unwrap();
    let hooks: Value = serde_json::from_str(&text(&file)).unwrap();
    let mut config = String::new();
    for (event, name) in [
        ("PreToolUse", "pre_tool_use"),
        ("PostToolUse", "post_tool_use"),
        ("UserPromptSubmit", "user_prompt_submit"),
        ("SessionEnd", "session_end"),
    ] {
        let command = hooks["hooks"][event][0]["hooks"][0]["command"].as_str().unwrap();
        // As the client was seen to do: all fields, sorted, without blanks.
        let normal = json!({"event_name": name, "hooks": [
            {"async": false, "command": command, "timeout": 10, "type": "command"}
        ]});
        let digest = Sha256::digest(normal.to_string());
        let hash = digest.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
        config += &format!("[hooks.state.\"{}:{name}:0:0\"]\ntrusted_hash = \"sha256:{hash}\"\n", file.display());
    }
    home.write(".codex/config.toml", &config);
    let status = home.run(&["hooks", "status", "--client", "codex"], "");
    assert_eq!(status.exit, 0, "{status:?}");
    home.write(".codex/config.toml", &config.replace("sha256:", "sha256:0"));
    assert_eq!(home.run(&["hooks", "status", "--client", "codex"], "").exit, 1);
}

fn copilot_event(command: &str) -> String {
    json!({"sessionId": "s", "timestamp": 1, "cwd": "/w", "toolName": "bash", "toolArgs": {"command": command}})
        .to_string()
}

#[test]
fn a_mark_of_the_payload_overrides_the_command_line() {
    let home = Sandbox::new();
    for words in [&["hook", "pre"][..], &["hook", "pre", "--client", "gemini"]] {
        let output = home.run(words, copilot_event("rm -rf ~"));
        assert_eq!(output.json()["permissionDecision"], "deny", "{output:?}");
        assert_eq!(home.run(words, copilot_event("ls")).stdout, "");
    }
}

#[test]
fn a_program_that_is_not_known_gets_the_answer_that_blocks_everywhere() {
    let home = Sandbox::new();
    for event in ["{\"a\": 1}", "", "not json", "{\"agent_action_name\": \"x\", \"hook_event_name\": \"PreToolUse\"}"] {
        for words in [&["hook"][..], &["hook", "pre"]] {
            let output = home.run(words, event);
            assert_eq!(output.exit, 2, "{event}: {output:?}");
            let answer = output.json();
            let keys =
                ["decision", "permissionDecision", "permission"].map(|key| answer[key].as_str().unwrap().to_owned());
            assert_eq!(keys, ["deny", "deny", "deny"], "{event}");
            assert!(answer["cancel"] == true && output.stderr.contains("rune/event"), "{output:?}");
        }
    }
    assert_eq!(home.run(&["hook", "post"], "not json").exit, 0);
}

#[test]
fn the_program_without_arguments_answers_a_hook_event() {
    let home = Sandbox::new();
    let mut command = home.command(&[]);
    let child = command.env("COPILOT_CLI", "1").spawn().unwrap();
    let output = finish(child, copilot_event("rm -rf ~").as_bytes());
    assert_eq!(output.json()["permissionDecision"], "deny", "{output:?}");
}

#[test]
fn several_commands_and_files_of_one_call_are_all_judged() {
    let home = Sandbox::new();
    let run = |tool: &str, input: Value| {
        let event = json!({"clineVersion": "", "hookName": "tool_call", "taskId": "t", "workspaceInfo": {"rootPath": "/w"},
            "tool_call": {"id": "c", "name": tool, "input": input}});
        home.run(&["hook", "pre"], event.to_string()).stdout
    };
    assert_eq!(run("run_commands", json!({"commands": ["ls", "echo x"]})), "");
    assert!(run("run_commands", json!({"commands": ["echo 'x", "rm -rf ~"]})).contains("overrideInput"));
    assert!(run("read_files", json!({"files": [{"path": "/w/a"}, {"path": "~/.ssh/id_rsa"}]})).contains("cancel"));
    assert!(run("read_files", json!({"files": [{"file": "/w/a"}]})).contains("cancel"), "no file can be read");
}

#[test]
fn a_stopped_call_is_found_in_the_transcript_and_allowed() {
    let home = Sandbox::new();
    let project = home.path("p");
    fs::create_dir(&project).unwrap();
    let input = json!({"command": "git push --force origin main", "description": "run"});
    let (session, command) = ("s-1", "git push --force origin main");
    home.write(
        &format!(".copilot/session-state/{session}/events.jsonl"),
        &format!("{}\n", json!({"data": {"toolRequests": [{"toolCallId": "c", "name": "bash", "arguments": input}]}})),
    );
    let event = json!({"sessionId": session, "timestamp": 1, "cwd": project, "toolName": "bash", "toolArgs": input});
    let stop = || home.run(&["hook", "pre", "--client", "copilot"], event.to_string()).stdout;
    assert!(stop().contains("git-force-push"));
    let words = ["allow", "--last", "--yes", "--reason", "mine"];
    let allowed = home.start_as_person(&project, Stdin::Null, &words).finish();
    assert_eq!(allowed.exit, 0, "{allowed:?}");
    assert!(!stop().contains("git-force-push"), "{command}");
}

#[test]
fn a_name_with_several_joints_is_split_by_the_servers_that_are_known() {
    let home = Sandbox::new();
    let stop = |tool: &str| {
        let event = json!({"sessionId": "s", "timestamp": 1, "cwd": "/w", "toolName": tool, "toolArgs": {}});
        home.run(&["hook", "pre"], event.to_string()).stdout
    };
    assert!(stop("github-mcp-server-get_me").contains("`mcp__github-mcp-server__get_me`"));
    assert!(stop("my-desk-read_ticket").contains("has a name that does not tell a server"));
    home.write(".config/rune/config.local.toml", "[[mcp.servers]]\nname = \"my-desk\"\n");
    assert_eq!(stop("my-desk-read_ticket"), "");
}

#[test]
fn every_client_has_a_row_in_the_documentation() {
    let table = fs::read_to_string("config/README.md").unwrap();
    for client in client::ALL {
        assert!(table.contains(&format!("| `{}` | ", client.name())), "{}", client.name());
    }
}
