//! `rune hook` as a process: arguments, stdin, files and environment; stdout, stderr, exit code and log.

use crate::support::sandbox::{Sandbox, after, before, finish, log_at, make_pipe, notice};
use serde_json::{Value, json};
use std::path::Path;

fn webfetch() -> String {
    after(
        "WebFetch",
        json!({"url": "https://pages.example.com/page", "prompt": "?"}),
        json!({"result": "PAYLOAD-canary"}),
    )
}

/// Programs take the program from the first words in backticks.
#[test]
fn a_question_about_an_unknown_program_names_the_program_first() {
    let event = before("Bash", json!({"command": "frobnicate --all | sort"}));
    let answer = Sandbox::new().run(&["hook", "pre", "--preset", "strict"], event).json();
    let reason = answer["hookSpecificOutput"]["permissionDecisionReason"].as_str().unwrap().to_owned();
    assert!(reason.starts_with("Rune (unknown-executable): `frobnicate` "), "{reason}");
}

#[test]
fn a_fetched_page_gets_the_notice_and_one_log_line() {
    let home = Sandbox::new();
    let payload = std::fs::read("tests/fixtures/claude/posttooluse-webfetch.json").unwrap();
    let output = home.run(&["hook", "post"], &payload);
    assert_eq!(output.exit, 0);
    let answer = json!({"hookSpecificOutput": {"hookEventName": "PostToolUse",
        "additionalContext": notice("WebFetch", "webfetch:pages.example.com")}});
    assert_eq!(output.json(), answer);
    let log = home.log();
    assert_eq!(log.len(), 1);
    let keys: Vec<&String> = log[0].as_object().unwrap().keys().collect();
    assert_eq!(keys.len(), 10, "{keys:?}");
    for (key, value) in [
        ("event", "quarantine"),
        ("tool", "WebFetch"),
        ("decision", "emit"),
        ("source", "webfetch:pages.example.com"),
        ("session_id", "00000000-0000-4000-8000-000000000000"),
    ] {
        assert_eq!(log[0][key], value, "{key}");
    }
    assert!(
        time::OffsetDateTime::parse(log[0]["ts"].as_str().unwrap(), &time::format_description::well_known::Rfc3339)
            .is_ok()
    );
    assert!(log[0]["us"].is_u64());
    let files = String::from_utf8(home.all_files()).unwrap();
    for secret in ["SUMMARY-BY-SIDE-MODEL", "ORIGINAL-WEB-PAGE", "What does it say", "/page"] {
        assert!(!files.contains(secret), "{secret}");
    }
}

#[test]
fn the_name_of_a_rule_is_in_the_answer_the_log_and_the_status() {
    let home = Sandbox::new();
    let rules = "block \"My Rule 2\"\n  match ^npm test\n  nudge \"not `{command}`\"\n\nblock \"a\u{1b}b\"\n  match ^npm ci\n  nudge \"n\"\n";
    home.write(".config/rune/rules/bash.mine.rules", rules);
    let hook = ["hook", "pre", "--preset", "strict"];
    let denied = home.run(&hook, before("Bash", json!({"command": "npm test -- 'a b/c.js'"})));
    assert!(denied.names_rule("My Rule 2") && denied.reason().contains("not `npm test -- 'a b/c.js'`"), "{denied:?}");
    let denied = home.run(&hook, before("Bash", json!({"command": "npm ci"})));
    assert!(denied.names_rule(r"a\u{1b}b"), "{denied:?}");
    let log = home.log();
    assert_eq!([&log[0]["rule"], &log[1]["rule"]], ["My Rule 2", "a\u{1b}b"]);
    let status = home.run_as_person(&["quarantine", "status"]);
    assert!(status.stdout.contains("My Rule 2") && status.stdout.contains(r"a\u{1b}b"), "{status:?}");
    home.write(".config/rune/rules/bash.mine.rules", "block \"rune/limit\"\n  match ^npm test\n  nudge \"n\"\n");
    let checked = home.run_as_person(&["rules", "check"]);
    assert!(checked.exit == 1 && checked.combined().contains("bash.mine.rules:1:7"), "{checked:?}");
}

#[test]
fn the_log_and_its_directory_are_private() {
    use std::os::unix::fs::PermissionsExt;
    let home = Sandbox::new();
    home.run(&["hook", "post"], webfetch());
    let mode = |name: &str| std::fs::metadata(home.path(name)).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(".claude"), mode(".claude/telemetry.jsonl")), (0o700, 0o600));
}

#[test]
fn ordinary_work_is_silent_and_logged() {
    let home = Sandbox::new();
    for (event, decision) in [
        (after("Read", json!({"file_path": "/proj/src/a.rs"}), json!("code")), "skip"),
        (after("Bash", json!({"command": "npm test"}), json!({"stdout": "ok"})), "skip"),
        (before("Bash", json!({"command": "git status"})), "allow"),
        (before("Glob", json!({"pattern": "**/*.rs"})), "allow"),
    ] {
        let output = home.run(&["hook"], &event);
        assert_eq!((output.stdout.as_str(), output.stderr.as_str(), output.exit), ("", "", 0), "{event}");
        assert_eq!(home.log().last().unwrap()["decision"], decision);
    }
    let events: Vec<Value> = home.log().iter().map(|line| line["event"].clone()).collect();
    assert_eq!(events, ["quarantine", "quarantine", "PreToolUse", "PreToolUse"]);
}

#[test]
fn an_unreadable_event_is_denied_before_a_call_in_every_preset() {
    let home = Sandbox::new();
    let deep = format!(
        r#"{{"hook_event_name":"PreToolUse","tool_name":"mcp__a__b","tool_input":{{"a":{}1{}}}}}"#,
        "[".repeat(300),
        "]".repeat(300)
    );
    let inputs: [&[u8]; 9] = [
        b"",
        b"rm -rf ~",
        b"[]",
        b"\xEF\xBB\xBF{\"hook_event_name\":\"PreToolUse\",\"tool_name\":\"Bash\",\"tool_input\":{\"command\":\"ls\"}}",
        br#"{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"echo \ud83d"}}"#,
        br#"{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"ls","command":"rm"}}"#,
        b"{\"hook_event_name\":\"PreToolUse\",\"tool_name\":\"Bash\",\"tool_input\":{\"command\":\"\xff\"}}",
        br#"{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"cmd":"ls"}}"#,
        deep.as_bytes(),
    ];
    for preset in ["gentle", "strict", "off"] {
        for input in inputs {
            let output = home.run(&["hook", "pre", "--preset", preset], input);
            // Without the name of an event the client is not known, and only this exit code blocks in all of them.
            let exit = if String::from_utf8_lossy(input).contains("hook_event_name") { 0 } else { 2 };
            assert_eq!(
                (output.decision().as_str(), output.exit),
                ("deny", exit),
                "{preset} {}",
                String::from_utf8_lossy(input)
            );
            let line = home.log().pop().unwrap();
            assert_eq!((&line["decision"], &line["rule"]), (&json!("deny"), &json!("rune/event")));
        }
    }
}

#[test]
fn an_event_that_breaks_off_before_a_call_is_denied_whatever_the_command_line_says() {
    let home = Sandbox::new();
    let broken = r#"{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"ls"#;
    for words in [&["hook"][..], &["hook", "post"], &["hook", "pre"]] {
        assert_eq!(home.run(words, broken).decision(), "deny", "{words:?}");
    }
}

#[test]
fn an_unreadable_event_of_an_unknown_phase_is_exit_code_2() {
    let home = Sandbox::new();
    let broken_stop = r#"{"hook_event_name":"Stop","tool_name":"Bash","tool_input":{"command":"ls""#;
    assert_eq!(home.run(&["hook", "pre"], broken_stop).decision(), "deny");
    for input in ["", "{}", "nonsense", r#"{"hook_event_name":"Invented","tool_name":"Bash"}"#, broken_stop] {
        let output = home.run(&["hook"], input);
        assert_eq!((output.exit, output.stdout.is_empty()), (2, input.contains("hook_event_name")), "{input}");
        assert!(output.stderr.contains("rune/event"), "{input}");
    }
    assert_eq!(home.log().len(), 6);
}

#[test]
fn a_broken_event_after_a_call_is_marked_if_its_tool_is_known() {
    let home = Sandbox::new();
    let deep = format!(
        r#"{{"hook_event_name":"PostToolUse","tool_name":"mcp__a__b","tool_input":{{}},"tool_response":{}1{}}}"#,
        "[".repeat(3000),
        "]".repeat(3000)
    );
    let cut = webfetch().replace("PAYLOAD-canary\"}}", "PAYLOAD-can");
    let inputs: [&[u8]; 6] = [
        cut.as_bytes(),
        br#"{"hook_event_name":"PostToolUse","tool_name":"WebFetch","tool_input":{"url":"https://e.example/"},"tool_response":"half \ud835"}"#,
        b"{\"hook_event_name\":\"PostToolUse\",\"tool_name\":\"WebFetch\",\"tool_input\":{\"url\":\"https://e.example/\"},\"tool_response\":\"\xff\"}",
        b"\xEF\xBB\xBF{\"hook_event_name\":\"PostToolUse\",\"tool_name\":\"WebFetch\",\"tool_input\":{\"url\":7}}",
        br#"{"hook_event_name":"PostToolUse","tool_name":"mcp__a__b","tool_name2":1,"tool_input":{"x":1,"x":2}}"#,
        deep.as_bytes(),
    ];
    for input in inputs {
        let output = home.run(&["hook", "post"], input);
        let shown = String::from_utf8_lossy(input).chars().take(200).collect::<String>();
        assert_eq!(output.exit, 0, "{shown}");
        assert!(output.context().starts_with("[QUARANTINE-NOTICE: "), "{shown}");
        assert_eq!(home.log().pop().unwrap()["decision"], "emit", "{shown}");
    }
    for input in ["", "nonsense", r#"{"hook_event_name":"PostToolUse","tool_input":{}}"#] {
        let output = home.run(&["hook", "post"], input);
        assert_eq!((output.exit, output.stdout.as_str()), (0, ""), "{input}");
        let line = home.log().pop().unwrap();
        assert_eq!((&line["event"], &line["decision"]), (&json!("quarantine"), &json!("error")), "{input}");
    }
}

#[test]
fn ten_megabytes_are_marked_and_twenty_too() {
    let home = Sandbox::new();
    for megabytes in [10, 20] {
        let event = after("mcp__acme__get", json!({}), json!("x".repeat(megabytes << 20)));
        // After the notice follows a line that not all of the result was compared with the content rules.
        let context = home.run(&["hook", "post"], &event).context();
        assert!(context.starts_with(&notice("mcp__acme__get", "mcp:acme")), "{context}");
        let event = before("Write", json!({"file_path": "/proj/a", "content": "x".repeat(megabytes << 20)}));
        let output = home.run(&["hook", "pre", "--preset", "strict"], &event);
        assert_eq!(output.decision(), if megabytes > 16 { "deny" } else { "" });
    }
    assert_eq!(home.log().pop().unwrap()["rule"], "rune/limit");
    // A complete event before the limit does not count: the rest of the input is unknown.
    let padded = format!("{}{}x", before("Bash", json!({"command": "ls"})), " ".repeat(16 << 20));
    assert_eq!(home.run(&["hook", "pre", "--preset", "strict"], padded).decision(), "deny");
    let mut event = after("mcp__github__evil__run", json!({}), json!("x".repeat(17 << 20)));
    event.insert_str(event.len() - 1, r#","mcp_server":{"name":"github__evil","source":"user"}"#);
    assert!(!home.run(&["hook", "post"], event).stdout.is_empty(), "the name of the server may be beyond the limit");
}

#[test]
fn a_stdin_that_stays_open_is_a_timeout() {
    let home = Sandbox::new();
    let children: Vec<_> = [&["hook", "post"][..], &["hook", "pre"], &["hook", "pre", "--preset", "strict"], &["hook"]]
        .iter()
        .map(|words| home.command(words).spawn().unwrap())
        .collect();
    let mut ends = Vec::new();
    for mut child in children {
        let stdin = child.stdin.take();
        let output = child.wait_with_output().unwrap();
        ends.push((output.status.code().unwrap(), String::from_utf8(output.stdout).unwrap()));
        drop(stdin);
    }
    assert_eq!(ends[0], (0, String::new()));
    for (at, decision) in [(1, "\"ask\""), (2, "\"deny\"")] {
        assert!(ends[at].0 == 0 && ends[at].1.contains(decision), "{ends:?}");
    }
    assert_eq!(ends[3], (2, String::new()));
    let mut decisions: Vec<String> =
        home.log().iter().map(|line| line["decision"].as_str().unwrap().to_owned()).collect();
    decisions.sort();
    assert_eq!(decisions, ["ask", "deny", "deny", "timeout"]);
}

#[test]
fn a_pipe_in_place_of_the_policy_is_not_waited_for() {
    for name in ["config.toml", "config.local.toml", "presets/strict.toml"] {
        let home = Sandbox::new();
        std::fs::create_dir_all(home.path(".config/rune/presets")).unwrap();
        let pipe = home.path(&format!(".config/rune/{name}"));
        make_pipe(pipe);
        let hook = ["hook", "--preset", "strict"];
        let denied = home.run(&hook, before("Bash", json!({"command": "ls"})));
        assert_eq!(denied.decision(), "deny", "{name}");
        let marked = home.run(&hook, webfetch()).context();
        assert!(marked.starts_with(&notice("WebFetch", "webfetch:pages.example.com")), "{name}: {marked}");
        assert!(home.log().iter().all(|line| line["rule"] != "rune/timeout"), "{name}");
    }
}

#[test]
fn a_broken_policy_asks_in_gentle_denies_in_strict_and_results_are_still_marked() {
    let home = Sandbox::new();
    home.write(".config/rune/config.toml", "[quarantine]\ntrustd = []\n");
    let call = before("Bash", json!({"command": "ls"}));
    let gentle = home.run(&["hook", "pre"], &call);
    assert_eq!(gentle.decision(), "ask");
    assert!(gentle.names_rule("rune/config"), "{gentle:?}");
    for part in ["config.toml:2:1", "`trusted`"] {
        assert!(gentle.reason().contains(part), "{gentle:?}");
    }
    assert_eq!(home.run(&["hook", "pre", "--preset", "strict"], &call).decision(), "deny");
    let output = home.run(&["hook", "post"], after("mcp__github__get", json!({}), json!("x")));
    assert_eq!(output.context(), notice("mcp__github__get", "mcp:github"), "a broken policy trusts no server");
    let line = home.log().pop().unwrap();
    assert_eq!((&line["decision"], &line["rule"]), (&json!("emit"), &json!("rune/config")));
}

#[test]
fn an_invalid_command_line_never_passes_a_call() {
    let home = Sandbox::new();
    let call = before("Bash", json!({"command": "ls"}));
    for words in [
        &["hook", "pre", "--prest", "strict"][..],
        &["hook", "--preset", "strikt"],
        &["hook", "--config-dir", "x"],
        &["hook", "prr"],
    ] {
        let output = home.run(words, &call);
        assert!(["ask", "deny"].contains(&output.decision().as_str()), "{words:?} {output:?}");
    }
}

#[test]
fn the_preset_comes_from_the_argument_then_the_local_policy_then_the_policy() {
    let home = Sandbox::new();
    // The error in the local policy shows the effect of failures in the selected preset.
    home.write(".config/rune/presets/mine.toml", "[decision]\nfailure = 'ask'\n");
    home.write(".config/rune/presets/empty.toml", "# to be filled\n");
    for (config, words, decision) in [
        ("preset = 'strict'\n", &["hook", "pre"][..], "deny"),
        ("preset = 'mine'\n", &["hook", "pre"], "ask"),
        ("preset = 'mine'\n", &["hook", "pre", "--preset", "strict"], "deny"),
        ("preset = 'empty'\n", &["hook", "pre"], "deny"),
        ("preset = 'strict'\noops = 1\n", &["hook", "pre"], "deny"),
        ("preset = 'nowhere'\n", &["hook", "pre"], "deny"),
        ("preset = '../../x'\n", &["hook", "pre"], "deny"),
    ] {
        home.write(".config/rune/config.toml", config);
        home.write(".config/rune/config.local.toml", "[oops]\n");
        assert_eq!(
            home.run(words, before("Bash", json!({"command": "ls"}))).decision(),
            decision,
            "{config} {words:?}"
        );
    }
    home.write(".config/rune/config.local.toml", "");
    home.write(".config/rune/config.toml", "preset = 'empty'\n");
    assert_eq!(
        home.run(&["hook", "pre"], before("Bash", json!({"command": "ls"}))).stdout,
        "",
        "an empty preset is valid"
    );
    home.write(".config/rune/config.local.toml", "preset = 'off'\n");
    assert_eq!(home.run(&["hook", "post"], webfetch()).stdout, "");
}

#[test]
fn the_allowlist_is_read_on_every_call() {
    let home = Sandbox::new();
    let list = ".claude/quarantine.d/trusted-mcp-allowlist.txt";
    let call = after("mcp__acme__get", json!({}), json!("x"));
    let trusted = after("mcp__github__get", json!({}), json!("x"));
    let marked = |event: &str| !home.run(&["hook", "post"], event).stdout.is_empty();
    assert!(marked(&call) && !marked(&trusted));
    home.write(list, "");
    assert!(marked(&call) && !marked(&trusted));
    home.write(list, "# comment\nmcp__acme   # comment\n");
    assert!(!marked(&call) && !marked(&trusted));
    assert_eq!(home.log().pop().unwrap()["decision"], "skip");
    home.write(list, "acme\n");
    assert!(!marked(&call));
    home.write(list, "Acme\nacme_x\nacm\n");
    assert!(marked(&call));
    std::fs::write(home.path(list), b"\xff\xfe").unwrap();
    assert!(marked(&call) && marked(&trusted));
    assert_eq!(home.log().pop().unwrap()["rule"], "rune/config");
    std::fs::remove_file(home.path(list)).unwrap();
    std::fs::create_dir(home.path(list)).unwrap();
    assert!(marked(&trusted));
    std::fs::remove_dir(home.path(list)).unwrap();
    std::os::unix::fs::symlink("/nowhere", home.path(list)).unwrap();
    assert!(marked(&trusted), "a dangling symlink is not a missing file");
    std::fs::remove_file(home.path(list)).unwrap();
    make_pipe(home.path(list));
    assert!(marked(&trusted));
    assert_eq!(home.log().pop().unwrap()["decision"], "emit", "a pipe is not waited for");
}

#[test]
fn a_trusted_name_that_the_project_configures_is_not_trusted() {
    let home = Sandbox::new();
    let project = home.path("proj");
    let event = |source: Option<&str>| {
        let mut event: Value = serde_json::from_str(&after("mcp__github__get", json!({}), json!("x"))).unwrap();
        event["cwd"] = json!(project);
        if let Some(source) = source {
            event["mcp_server"] = json!({"name": "github", "source": source});
        }
        event.to_string()
    };
    let marked = |event: &str| !home.run(&["hook", "post"], event).stdout.is_empty();
    assert!(!marked(&event(None)) && !marked(&event(Some("user"))));
    assert!(marked(&event(Some("project"))));
    home.write("proj/.mcp.json", r#"{"mcpServers": {"other": {}, "github": {"command": "evil"}}}"#);
    assert!(marked(&event(None)) && marked(&event(Some("user"))));
    home.write("proj/.mcp.json", r#"{"mcpServers": {"other": {}}}"#);
    assert!(!marked(&event(None)));
    home.write("proj/.mcp.json", "{ broken");
    assert!(marked(&event(None)));
}

#[test]
fn quarantine_disable_works_for_the_user_and_not_for_a_project() {
    let home = Sandbox::new();
    let project = home.path("proj");
    let event = webfetch().replace("/proj", project.to_str().unwrap());
    let marked = |value: &str| {
        let mut command = home.command(&["hook", "post"]);
        command.env("QUARANTINE_DISABLE", value).env("CLAUDE_PROJECT_DIR", &project);
        !finish(command.spawn().unwrap(), event.as_bytes()).stdout.is_empty()
    };
    assert!(marked("0") && marked(""));
    assert!(!marked("1"));
    let line = home.log().pop().unwrap();
    assert_eq!((&line["decision"], &line["source"]), (&json!("skip"), &json!("webfetch:pages.example.com")));
    home.write(".claude/settings.json", r#"{"env": {"QUARANTINE_DISABLE": "1"}}"#);
    assert!(!marked("1"), "the user's own settings may disable the notice");
    let elsewhere = home.write("proj/.claude/settings.json", r#"{"env": {"QUARANTINE_DISABLE": "1"}}"#);
    let mut command = home.command(&["hook", "post"]);
    command.env("QUARANTINE_DISABLE", "1").env("CLAUDE_CONFIG_DIR", project.join(".claude"));
    assert!(
        !finish(command.spawn().unwrap(), event.as_bytes()).stdout.is_empty(),
        "a project may set CLAUDE_CONFIG_DIR"
    );
    std::fs::remove_file(elsewhere).unwrap();
    let linked = home.path("linked");
    std::os::unix::fs::symlink(&project, &linked).unwrap();
    home.write("proj/.claude/settings.json", r#"{"env": {"QUARANTINE_DISABLE": "1"}}"#);
    let mut command = home.command(&["hook", "post"]);
    command.env("QUARANTINE_DISABLE", "1");
    let by_link = event.replace(project.to_str().unwrap(), linked.to_str().unwrap());
    assert!(!finish(command.spawn().unwrap(), by_link.as_bytes()).stdout.is_empty(), "a symlink to the project");
    for name in ["settings.json", "settings.local.json"] {
        let path = home.write(&format!("proj/.claude/{name}"), r#"{"env": {"\u0051UARANTINE_DISABLE": "1"}}"#);
        assert!(marked("1"), "{name}");
        std::fs::write(&path, "{ broken").unwrap();
        assert!(marked("1"), "{name}");
        std::fs::write(&path, r#"{"env": {"OTHER": "1"}}"#).unwrap();
        assert!(!marked("1"), "{name}");
    }
}

#[test]
fn directories_in_arguments_override_the_environment() {
    let home = Sandbox::new();
    let named = home.path("named");
    home.write("named/config/config.toml", "[quarantine]\ntrusted = ['acme']\n");
    home.write("hostile/rune/config.toml", "preset = 'off'\n");
    let mut command = home.command(&["hook", "post"]);
    for (flag, dir) in
        [("--config-dir", "config"), ("--state-dir", "state"), ("--client-dir", "client"), ("--data-dir", "data")]
    {
        command.arg(flag).arg(named.join(dir));
    }
    for variable in ["XDG_CONFIG_HOME", "XDG_STATE_HOME", "CLAUDE_CONFIG_DIR", "HOME"] {
        command.env(variable, home.path("hostile"));
    }
    assert!(!finish(command.spawn().unwrap(), webfetch().as_bytes()).stdout.is_empty());
    assert_eq!(log_at(&named.join("client/telemetry.jsonl")).len(), 1);
    assert!(named.join("state/sessions/s1").is_file());
    assert!(!home.path("hostile/telemetry.jsonl").exists());
}

#[test]
fn claude_config_dir_is_the_directory_of_the_client() {
    let home = Sandbox::new();
    let mut command = home.command(&["hook", "post"]);
    command.env("CLAUDE_CONFIG_DIR", home.path("elsewhere"));
    finish(command.spawn().unwrap(), webfetch().as_bytes());
    assert_eq!(log_at(&home.path("elsewhere/telemetry.jsonl")).len(), 1);
    assert!(home.log().is_empty());
}

#[test]
fn an_unwritable_log_does_not_change_answers() {
    let home = Sandbox::new();
    std::fs::create_dir_all(home.path(".claude/telemetry.jsonl")).unwrap();
    let output = home.run(&["hook", "post"], webfetch());
    assert_eq!((output.exit, output.context()), (0, notice("WebFetch", "webfetch:pages.example.com")));
    assert!(output.stderr.contains("telemetry"), "{}", output.stderr);
    let output = home.run(&["hook", "pre"], "broken");
    assert_eq!(output.decision(), "deny");
}

#[test]
fn without_a_home_calls_are_asked_and_results_are_marked() {
    let home = Sandbox::new();
    let run = |event: &str| {
        let mut command = home.command(&["hook"]);
        command.env_remove("HOME");
        finish(command.spawn().unwrap(), event.as_bytes())
    };
    assert_eq!(run(&before("Bash", json!({"command": "ls"}))).decision(), "ask");
    let output = run(&after("mcp__github__get", json!({}), json!("x")));
    assert_eq!(output.context(), notice("mcp__github__get", "mcp:github"));
}

#[test]
fn an_answer_that_cannot_be_written_is_exit_code_2_before_a_call() {
    let home = Sandbox::new();
    let full = || std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let run = |words: &[&str], event: &str| {
        let mut command = home.command(words);
        command.stdout(full());
        finish(command.spawn().unwrap(), event.as_bytes())
    };
    let output = run(&["hook", "pre"], "broken");
    assert_eq!(output.exit, 2);
    assert!(output.stderr.contains("rune/event"));
    assert_eq!(run(&["hook", "post"], &webfetch()).exit, 0);
    assert_eq!(home.log().len(), 2);
}

#[test]
fn the_program_can_be_called_by_its_older_names() {
    let home = Sandbox::new();
    let named = |name: &str| {
        let link = home.path(name);
        std::os::unix::fs::symlink(Path::new(env!("CARGO_BIN_EXE_rune")), &link).unwrap();
        link
    };
    let hook = named("security-hook");
    for words in [&["post", "check"][..], &["pre", "bash"], &["post"]] {
        let output = finish(home.command_at(&hook, words).spawn().unwrap(), webfetch().as_bytes());
        assert_eq!(output.context(), notice("WebFetch", "webfetch:pages.example.com"), "{words:?}");
    }
    let status = finish(home.command_at(&named("quarantine"), &["status", "--json"]).spawn().unwrap(), b"");
    assert_eq!(status.json()["lines"], 3);
}

#[test]
fn the_result_of_a_subagent_is_marked_in_a_tainted_session() {
    let home = Sandbox::new();
    let agent = after("Agent", json!({"prompt": "x"}), json!("done"));
    assert_eq!(home.run(&["hook", "post"], &agent).stdout, "");
    home.run(&["hook", "post"], webfetch());
    assert_eq!(home.run(&["hook", "post"], &agent).context(), notice("Agent", "agent"));
    let other = agent.replace("\"s1\"", "\"s2\"");
    assert_eq!(home.run(&["hook", "post"], &other).stdout, "");
    for hostile in ["..", "../../x", "/etc/passwd", ""] {
        let event = webfetch().replace("\"s1\"", &json!(hostile).to_string());
        home.run(&["hook", "post"], &event);
    }
    let names: Vec<_> = std::fs::read_dir(home.path(".local/state/rune/sessions"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    assert!(names.iter().all(|name| !name.to_string_lossy().starts_with('.')), "{names:?}");
    assert!(!home.path(".local/state/x").exists() && !home.path(".local/x").exists());
}

#[test]
fn a_symlink_into_uploads_is_an_upload() {
    let home = Sandbox::new();
    let upload = home.write("uploads/cv.md", "text");
    let link = home.path("notes.md");
    std::os::unix::fs::symlink(upload, &link).unwrap();
    let output = home.run(&["hook", "post"], after("Read", json!({"file_path": link}), json!("x")));
    assert_eq!(output.context(), notice("Read", "upload:notes.md"));
}

#[test]
fn concurrent_processes_write_complete_lines() {
    let home = Sandbox::new();
    let event = webfetch();
    std::thread::scope(|scope| {
        for _ in 0..32 {
            scope.spawn(|| {
                for _ in 0..60 {
                    assert_eq!(home.run(&["hook", "post"], &event).exit, 0);
                }
            });
        }
    });
    let log = home.log();
    assert_eq!(log.len(), 32 * 60);
    assert!(log.iter().all(|line| line["decision"] == "emit"));
}
