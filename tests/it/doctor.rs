//! `rune doctor` and `rune hooks status`.

mod faults;

use crate::support::sandbox::{self, Output, Sandbox, after, finish};
use faults::{FAULTS, Plant};
use serde::Deserialize;
use serde_json::{Value, json};
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

const SETTINGS: &str = ".claude/settings.json";
const PROJECT: &str = "proj/.claude/settings.json";
const LOCAL: &str = "proj/.claude/settings.local.json";
const MANAGED: &str = "etc/managed-settings.json";
const RUNE: &str = env!("CARGO_BIN_EXE_rune");

/// A home with a registered guard and a project.
fn installed(preset: &str) -> Sandbox {
    let home = Sandbox::new();
    fs::create_dir_all(home.path("proj/.claude")).unwrap();
    // A first registration tightens, so it needs no person.
    let output = home.run(&["hooks", "install", "--preset", preset], "");
    assert_eq!(output.exit, 0, "{output:?}");
    home
}

/// Runs a command in the project, with managed settings below the home directory.
fn ask(home: &Sandbox, words: &[&str]) -> Output {
    let managed = home.path("etc");
    let words = [words, &["--managed-dir", managed.to_str().unwrap()]].concat();
    let mut command = home.command(&words);
    let project = home.path("proj");
    command.current_dir(if project.is_dir() { &project } else { home.home.path() });
    finish(command.spawn().unwrap(), b"")
}

/// A finding of `rune doctor --json`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Finding {
    id: String,
    #[serde(default)]
    place: Option<String>,
    what: String,
    advice: String,
}

impl Finding {
    fn place(&self) -> &str {
        self.place.as_deref().unwrap_or_default()
    }
}

fn findings(home: &Sandbox) -> Vec<Finding> {
    let output = ask(home, &["doctor", "--json"]);
    let report = output.json();
    let findings: Vec<Finding> = serde_json::from_value(report["findings"].clone()).unwrap();
    assert_eq!(output.exit, i32::from(!findings.is_empty()), "{output:?}");
    assert_eq!(report["healthy"], findings.is_empty());
    findings
}

fn ids(home: &Sandbox) -> Vec<String> {
    findings(home).into_iter().map(|finding| finding.id).collect()
}

/// Changes the text of the user's settings.
fn replace(home: &Sandbox, from: &str, to: &str) {
    let file = home.path(SETTINGS);
    let text = fs::read_to_string(&file).unwrap();
    let changed = text.replacen(from, to, 1);
    assert_ne!(changed, text, "{from}");
    fs::write(file, changed).unwrap();
}

/// Adds a member to the user's settings.
fn add(home: &Sandbox, member: &str) {
    replace(home, "{", &format!("{{\n{member},"));
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
}

/// Writes a program named `rune` that only leaves a file when it runs.
fn impostor(home: &Sandbox, name: &str) -> String {
    let file = home.write(name, "#!/bin/sh\ntouch \"$0.ran\"\n");
    set_mode(&file, 0o755);
    file.to_str().unwrap().to_owned()
}

/// Makes a named pipe without a writer, in place of a file of the policy.
fn make_policy_pipe(home: &Sandbox, name: &str) {
    let path = home.path(".config/rune").join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    sandbox::make_pipe(path);
}

#[test]
fn every_planted_fault_is_found() {
    for (name, id, place, plant) in FAULTS {
        let home = installed("gentle");
        plant(&home);
        let findings = findings(&home);
        let found = findings.iter().find(|finding| finding.id == *id && finding.place().contains(place));
        let found = found.unwrap_or_else(|| panic!("{name}: no {id} in {place}: {findings:#?}"));
        assert!(found.place().is_empty() || found.place().starts_with('/'), "{name}: {found:?}");
        assert!(!found.what.is_empty() && !found.advice.is_empty(), "{name}");
    }
}

#[test]
fn a_healthy_guard_is_reported_in_one_line_and_no_file_changes() {
    for preset in ["gentle", "strict"] {
        let home = installed(preset);
        let before = home.all_files();
        let output = ask(&home, &["doctor"]);
        assert_eq!((output.exit, output.stdout.lines().count(), output.stderr.as_str()), (0, 1, ""), "{output:?}");
        assert_eq!(ask(&home, &["doctor", "--json"]).stdout, "{\"healthy\":true,\"findings\":[]}\n");
        assert_eq!(home.all_files(), before, "{preset}");
        // The log, a session and a policy file do not count as faults.
        home.write(".config/rune/config.local.toml", "[executables]\nallowed = ['terraform']\n");
        set_mode(&home.path(".config/rune"), 0o755);
        set_mode(&home.path(".config/rune/config.local.toml"), 0o644);
        home.run(&["hook", "post"], after("WebFetch", json!({"url": "https://a.example"}), json!({})));
        assert_eq!(ids(&home), [] as [String; 0], "{preset}");
        assert_eq!(home.log().len(), 1, "sample events are not logged");
    }
}

#[test]
fn servers_that_strict_denies_are_reported_until_they_are_approved() {
    for (preset, expected) in [("gentle", &[][..]), ("strict", &["server-unpinned"])] {
        let home = installed(preset);
        home.write(".claude.json", r#"{"mcpServers": {"demo": {"command": "demo-server"}}}"#);
        assert_eq!(ids(&home), expected, "{preset}");
        let dump = home.write("dump.json", r#"{"tools": [{"name": "echo"}]}"#);
        assert_eq!(home.run_as_person(&["mcp", "import", dump.to_str().unwrap(), "--server", "demo"]).exit, 0);
        assert_eq!(ids(&home), expected, "{preset}: a record is not an approval");
        home.approve(&["demo"]);
        assert_eq!(ids(&home), [] as [String; 0], "{preset}");
        home.write(".local/share/rune/pins/demo.json", "{}");
        assert_eq!(ids(&home), ["pin-unreadable"], "{preset}");
    }
}

#[test]
fn a_client_that_is_too_old_is_reported() {
    let home = installed("gentle");
    let check = |version: &str| {
        let program = home.write("client/claude", &format!("#!/bin/sh\necho '{version} (Claude Code)'\n"));
        set_mode(&program, 0o755);
        let mut command = home.command(&["doctor", "--json", "--managed-dir", home.path("etc").to_str().unwrap()]);
        command.current_dir(home.path("proj")).env("PATH", format!("{}:/usr/bin:/bin", home.path("client").display()));
        finish(command.spawn().unwrap(), b"").stdout.contains("client-too-old")
    };
    for (version, is_too_old) in
        [("2.1.138", true), ("1.0.200", true), ("2.1.139", false), ("2.2.0", false), ("x", false)]
    {
        assert_eq!(check(version), is_too_old, "{version}");
    }
}

#[test]
fn in_a_fresh_home_the_only_finding_is_that_no_hook_is_registered() {
    let home = Sandbox::new();
    assert_eq!(ids(&home), ["not-registered"]);
    assert_eq!(ask(&home, &["doctor"]).exit, 1);
    assert_eq!(home.all_files(), [] as [u8; 0], "a file was written");
}

#[test]
fn advice_can_be_followed() {
    let home = installed("gentle");
    home.write(PROJECT, r#"{"disableAllHooks": true}"#);
    let advice = &findings(&home)[0].advice;
    assert!(advice.contains(r#"claude --settings '{"disableAllHooks": false}'"#), "{advice}");
    home.write("on.json", r#"{"disableAllHooks": false}"#);
    let on = home.path("on.json");
    assert_eq!(ask(&home, &["hooks", "status", "--settings", on.to_str().unwrap()]).exit, 0, "back on");
    fs::remove_file(home.path(PROJECT)).unwrap();
    replace(&home, "\"timeout\": 10", "\"timeout\": 2");
    assert_eq!(ids(&home), ["timeout-too-short"]);
    assert_eq!(home.run_as_person(&["hooks", "install", "--yes"]).exit, 0);
    assert_eq!(ids(&home), [] as [String; 0]);
}

#[test]
fn settings_with_a_member_of_the_wrong_type_are_reported_as_void() {
    for (member, place) in [
        (r#""model": 3"#, ":1:2"),
        (r#""permissions": []"#, ":1:2"),
        (r#""permissions": {"allow": "Bash"}"#, ":1:18"),
        (r#""permissions": {"deny": {}}"#, ":1:18"),
        (r#""permissions": {"ask": null}"#, ":1:18"),
        (r#""env": ["A=1"]"#, ":1:2"),
        (r#""permissions": {"defaultMode": "foo"}"#, ":1:18"),
        (r#""cleanupPeriodDays": "7""#, ":1:2"),
        (r#""sandbox": true"#, ":1:2"),
        (r#""statusLine": "x""#, ":1:2"),
    ] {
        let home = installed("gentle");
        home.write(LOCAL, &format!("{{{member}}}"));
        let found = findings(&home);
        let is_void =
            |finding: &Finding| finding.id == "settings-void" && finding.place().ends_with(&format!("{LOCAL}{place}"));
        assert!(found.iter().any(is_void), "{member}: {found:?}");
    }
    let home = installed("gentle");
    let fine = r#"{"model": "opus", "permissions": {"allow": [], "deny": []}, "env": {"A": "1", "PORT": 3000}, "disableAllHooks": false,
        "cleanupPeriodDays": 7, "sandbox": {}, "statusLine": {}, "other": 1,
        "hooks": {"Stop": [{"hooks": [{"type": "prompt", "prompt": "p"}, {"type": "http", "url": "u"}]}]}}"#;
    home.write(LOCAL, fine);
    assert_eq!(ids(&home), [] as [String; 0]);
}

#[test]
fn a_pipe_in_place_of_a_file_is_not_waited_for() {
    for name in ["config.toml", "config.local.toml", "presets/strict.toml"] {
        let home = installed("strict");
        make_policy_pipe(&home, name);
        let checked = home.run(&["rules", "check"], "");
        assert!(checked.exit == 1 && checked.stderr.contains(name), "{checked:?}");
        assert_eq!(ask(&home, &["doctor"]).exit, 1, "{name}");
    }
}

#[test]
fn doctor_does_not_start_programs_that_a_project_registers() {
    for (has_user_settings, file, id, started) in [
        (true, SETTINGS, "program-other", true),
        (true, PROJECT, "project-registers", false),
        (true, LOCAL, "project-registers", false),
        (false, PROJECT, "program-other", false),
        (false, LOCAL, "program-other", false),
    ] {
        let home = installed("gentle");
        let program = impostor(&home, "proj/rune");
        let text = fs::read_to_string(home.path(SETTINGS)).unwrap();
        if !has_user_settings {
            fs::remove_file(home.path(SETTINGS)).unwrap();
        }
        home.write(file, &text.replace(RUNE, &program));
        let found = ids(&home);
        assert!(found.contains(&id.to_owned()), "{file}: {found:?}");
        assert_eq!(home.path("proj/rune.ran").exists(), started, "{file}");
    }
    // Also if only one entry of the project names the other program.
    let home = installed("gentle");
    let program = impostor(&home, "proj/rune");
    let mut value: Value = serde_json::from_slice(&fs::read(home.path(SETTINGS)).unwrap()).unwrap();
    fs::remove_file(home.path(SETTINGS)).unwrap();
    value["hooks"]["PostToolUse"][0]["hooks"][0]["command"] = json!(program);
    home.write(PROJECT, &value.to_string());
    assert!(ids(&home).contains(&"entry-differs".to_owned()));
    assert!(!home.path("proj/rune.ran").exists());
}

#[test]
fn control_characters_of_a_project_are_not_printed() {
    let home = installed("gentle");
    home.write(PROJECT, "{\"env\": {\"LD_\\u001b[2J\": \"x\"}}");
    let output = ask(&home, &["doctor"]);
    assert!(output.stdout.contains("LD_") && !output.stdout.contains('\u{1b}'), "{output:?}");
}

#[test]
fn hooks_that_only_the_project_registers_are_healthy() {
    let home = Sandbox::new();
    fs::create_dir_all(home.path("proj/.claude")).unwrap();
    let mut command = home.command(&["hooks", "install", "--scope", "project"]);
    assert_eq!(finish(command.current_dir(home.path("proj")).spawn().unwrap(), b"").exit, 0);
    assert_eq!(ids(&home), [] as [String; 0]);
}

#[test]
fn without_a_home_or_a_named_directory_the_exit_code_is_2() {
    let home = Sandbox::new();
    for words in [["doctor"].as_slice(), &["hooks", "status"]] {
        let output = finish(home.command(words).env_remove("HOME").spawn().unwrap(), b"");
        assert!(output.exit == 2 && output.stderr.contains("HOME"), "{output:?}");
    }
    assert_eq!(home.run(&["doctor", "--nonsense"], "").exit, 2);
    let home = installed("gentle");
    for verb in [["doctor"].as_slice(), &["hooks", "status"]] {
        for place in [["--settings", "/nope/x.json"], ["--project", "/nope"]] {
            let output = ask(&home, &[verb, &place].concat());
            assert!(output.exit == 2 && output.stderr.contains("/nope"), "{output:?}");
        }
    }
}

#[test]
fn status_reports_the_guard_as_on_off_or_partly_on() {
    let status = |home: &Sandbox| {
        let output = ask(home, &["hooks", "status", "--json"]);
        let report = output.json();
        let word = report["guard"].as_str().unwrap().to_owned();
        assert_eq!(output.exit, i32::from(word != "on"), "{output:?}");
        (word, report)
    };
    let home = Sandbox::new();
    assert_eq!(status(&home).0, "off");
    let home = installed("strict");
    let (word, report) = status(&home);
    assert_eq!(word, "on");
    let files = report["files"].as_array().unwrap();
    let scopes: Vec<&str> = files.iter().map(|row| row["scope"].as_str().unwrap()).collect();
    assert_eq!(scopes, ["managed", "local", "project", "user"], "strongest first");
    let user = &files[3]["registered"];
    assert_eq!((&user["preset"], &user["program"], &user["in_force"]), (&json!("strict"), &json!(RUNE), &json!(true)));
    assert_eq!((user["events"].as_array().unwrap().len(), &user["drift"]), (7, &json!([])));

    replace(&home, "\"ConfigChange\"", "\"ConfigChanges\"");
    let (word, report) = status(&home);
    assert_eq!((word.as_str(), &report["files"][3]["registered"]["in_force"]), ("partly", &json!(true)));
    assert!(report["files"][3]["registered"]["drift"].to_string().contains("ConfigChange"), "{report}");

    let home = installed("gentle");
    replace(&home, "\"type\": \"command\"", "\"type\": \"prompt\", \"prompt\": \"?\"");
    assert_eq!(status(&home).0, "partly", "a prompt starts no program");

    let off: [(&str, Plant); 7] = [
        ("a preset that stops nothing", |home| {
            let text = fs::read_to_string(home.path(SETTINGS)).unwrap();
            home.write(SETTINGS, &text.replace("\"gentle\"", "\"off\""));
        }),
        ("an empty program", |home| {
            let program = home.write("bin/rune", "");
            set_mode(&program, 0o755);
            let text = fs::read_to_string(home.path(SETTINGS)).unwrap();
            home.write(SETTINGS, &text.replace(RUNE, program.to_str().unwrap()));
        }),
        ("hooks disabled by the project", |home| drop(home.write(PROJECT, r#"{"disableAllHooks": true}"#))),
        ("managed hooks only", |home| drop(home.write(MANAGED, r#"{"allowManagedHooksOnly": true}"#))),
        ("settings that the client drops", |home| replace(home, "\"timeout\": 10", "\"timeout\": \"10\"")),
        ("a missing program", |home| {
            let text = fs::read_to_string(home.path(SETTINGS)).unwrap();
            home.write(SETTINGS, &text.replace(RUNE, "/nowhere/rune"));
        }),
        ("unreadable settings", |home| drop(home.write(SETTINGS, "{"))),
    ];
    for (why, plant) in off {
        let home = installed("gentle");
        plant(&home);
        assert_eq!(status(&home).0, "off", "{why}");
    }
    // A project cannot switch off managed hooks.
    let home = installed("gentle");
    fs::create_dir_all(home.path("etc")).unwrap();
    let managed = home.path(MANAGED);
    assert_eq!(home.run(&["hooks", "install", "--settings", managed.to_str().unwrap()], "").exit, 0);
    home.write(PROJECT, r#"{"disableAllHooks": true}"#);
    assert_eq!(status(&home).0, "on");
}
