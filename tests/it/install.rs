//! `rune hooks install` and `rune hooks uninstall`.

use crate::support::sandbox::{Output, Sandbox, files_below, finish};
use serde_json::Value;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

const SETTINGS: &str = ".claude/settings.json";

/// A settings file with hooks of other programs, unknown keys and irregular spacing.
const FULL: &str = r#"{
    "model": "opus",
    "permissions": { "allow": ["Bash(ls:*)"],   "deny": [] },
    "hooks": {
        "PreToolUse": [
            { "matcher": "Bash", "hooks": [ { "type": "command", "command": "lint --fast" } ] },
            {
                "hooks": [
                    { "type": "command", "command": "/opt/audit", "args": ["hook"], "timeout": 3 }
                ]
            }
        ],
        "Stop": [ { "hooks": [ { "type": "command", "command": "say done" } ] } ],
        "PostToolUse": []
    },
    "unknown": {"é": [1, 2.50, null]}
}
"#;

/// Registers the hooks as a person, which may loosen.
fn install(home: &Sandbox, preset: &str) -> Output {
    home.run_as_person(&["hooks", "install", "--preset", preset, "--yes"])
}

/// Registers the hooks without a person, which may not loosen.
fn tighten(home: &Sandbox, preset: &str) -> Output {
    home.run(&["hooks", "install", "--preset", preset], "")
}

fn bytes(path: &Path) -> Option<Vec<u8>> {
    fs::read(path).ok()
}

/// The names of all files below the home directory, with their contents.
fn tree(home: &Sandbox) -> Vec<(String, Vec<u8>)> {
    let read = |path: PathBuf| (path.display().to_string(), fs::read(&path).unwrap_or_default());
    files_below(home.home.path()).into_iter().map(read).collect()
}

/// The registered `rune` hooks: event and arguments.
fn registered(home: &Sandbox) -> Vec<(String, Vec<String>)> {
    let settings = fs::read_to_string(home.path(SETTINGS)).unwrap();
    let value: Value = serde_json::from_str(settings.trim_start_matches('\u{feff}')).unwrap();
    let mut found = Vec::new();
    for (event, groups) in value["hooks"].as_object().unwrap() {
        for hook in groups.as_array().unwrap().iter().flat_map(|group| group["hooks"].as_array().unwrap()) {
            if hook["command"].as_str().unwrap() == env!("CARGO_BIN_EXE_rune") {
                let words = hook["args"].as_array().unwrap().iter().map(|word| word.as_str().unwrap().to_owned());
                found.push((event.clone(), words.collect()));
            }
        }
    }
    found
}

#[test]
fn uninstalling_restores_every_kind_of_settings_file_byte_for_byte() {
    let large =
        format!("{{\n  \"filler\": [\n{}    0\n  ]\n}}\n", "    \"0123456789\",\n".repeat(5 * 1024 * 1024 / 18));
    assert!(large.len() > 5_000_000);
    let files: [(&str, Option<String>); 12] = [
        ("missing", None),
        ("empty", Some(String::new())),
        ("blank", Some("\n".into())),
        ("minimal", Some("{}".into())),
        ("compact", Some(r#"{"model":"opus"}"#.into())),
        ("full", Some(FULL.into())),
        ("full and compact", Some(FULL.replace(['\n'], ""))),
        ("CRLF", Some(FULL.replace('\n', "\r\n"))),
        ("tabs", Some(FULL.replace("    ", "\t"))),
        ("BOM", Some(format!("\u{feff}{FULL}"))),
        ("no newline at the end", Some(FULL.trim_end().into())),
        ("large", Some(large)),
    ];
    for (name, original) in files {
        let home = Sandbox::new();
        if let Some(original) = &original {
            home.write(SETTINGS, original);
        }
        let settings = home.path(SETTINGS);
        let first = tighten(&home, "gentle");
        assert_eq!(first.exit, 0, "{name}: {first:?}");
        let gentle = bytes(&settings).unwrap();
        assert_eq!(registered(&home).len(), 7, "{name}");
        let before = tree(&home);
        assert_eq!(tighten(&home, "gentle").exit, 0, "{name}");
        assert!(tree(&home) == before, "{name}: a second installation changes files");
        assert_eq!(home.run(&["hooks", "install"], "").exit, 0, "{name}");
        assert!(tree(&home) == before, "{name}: the default is not the registered preset");
        assert_eq!(tighten(&home, "strict").exit, 0, "{name}");
        let strict: Vec<_> = registered(&home);
        assert_eq!(strict.len(), 7, "{name}: entries were not replaced");
        assert!(strict.iter().all(|(_, words)| words.windows(2).any(|pair| pair == ["--preset", "strict"])), "{name}");
        assert_eq!(install(&home, "gentle").exit, 0, "{name}");
        assert!(bytes(&settings).unwrap() == gentle, "{name}: not the bytes of the first installation");
        assert_eq!(install(&home, "off").exit, 0, "{name}");
        assert!(bytes(&settings) == original.map(String::into_bytes), "{name}: not the original bytes");
        assert_eq!(install(&home, "off").exit, 0, "{name}: a second time");
        // The key and the receipts stay, so that the receipts can be verified.
        let receipts = home.path(".local/state/rune/receipts/@operator.jsonl");
        let expected = [settings.clone(), home.path(".local/share/rune/receipt.key"), receipts];
        let expected = expected.map(|path| path.display().to_string());
        let left: Vec<_> =
            tree(&home).into_iter().map(|(name, _)| name).filter(|name| !expected.contains(name)).collect();
        assert_eq!(left, [] as [String; 0], "{name}: files are left");
    }
}

#[test]
fn the_registered_entries_have_the_right_matchers_timeouts_and_directories() {
    let home = Sandbox::new();
    assert_eq!(install(&home, "strict").exit, 0);
    let value: Value = serde_json::from_slice(&bytes(&home.path(SETTINGS)).unwrap()).unwrap();
    let before = &value["hooks"]["PreToolUse"][0];
    assert_eq!(before.get("matcher"), None, "no matcher means every tool");
    assert_eq!(
        (&before["hooks"][0]["timeout"], &before["hooks"][0]["onFailure"]),
        (&Value::from(10), &Value::from("block"))
    );
    for (event, words) in registered(&home) {
        for flag in ["--config-dir", "--state-dir", "--data-dir", "--client-dir"] {
            let at = words.iter().position(|word| word == flag).unwrap_or_else(|| panic!("{event} lacks {flag}"));
            assert!(Path::new(&words[at + 1]).is_absolute(), "{event}: {words:?}");
        }
    }
    let matcher = regex_lite::Regex::new(value["hooks"]["PostToolUse"][0]["matcher"].as_str().unwrap()).unwrap();
    for tool in
        ["mcp__demo__page", "WebFetch", "WebSearch", "ReadMcpResourceTool", "Read", "Bash", "Agent", "Task", "Monitor"]
    {
        assert!(matcher.is_match(tool), "{tool}");
    }
    for tool in ["Edit", "Write", "ReadFoo", "xmcp__a__b", "TodoWrite"] {
        assert!(!matcher.is_match(tool), "{tool}");
    }
}

#[test]
fn settings_that_cannot_be_edited_are_refused_and_unchanged() {
    for (name, broken, place) in [
        ("comment", "{\n  // mine\n  \"a\": 1\n}\n", ":2:3:"),
        ("trailing comma", "{\"a\": 1,}", ":1:9:"),
        ("torn", "{\n  \"a\": [1", ":2:9:"),
        ("a list", "[]", ":1:1:"),
        ("hooks of the wrong type", "{\"hooks\": 3}", ":1:1:"),
    ] {
        let home = Sandbox::new();
        home.write(SETTINGS, broken);
        let before = tree(&home);
        for preset in ["gentle", "strict"] {
            let refused = install(&home, preset);
            assert_eq!(refused.exit, 1, "{name}: {refused:?}");
            assert!(refused.stderr.contains(&format!("{SETTINGS}{place}")), "{name}: {}", refused.stderr);
        }
        assert!(tree(&home) == before, "{name}");
    }
    let home = Sandbox::new();
    fs::create_dir_all(home.path(SETTINGS)).unwrap();
    assert_eq!(install(&home, "gentle").exit, 1, "a directory");
}

#[test]
fn modes_and_symlinks_are_kept() {
    for mode in [0o444, 0o600, 0o640] {
        let home = Sandbox::new();
        let file = home.write(SETTINGS, FULL);
        fs::set_permissions(&file, fs::Permissions::from_mode(mode)).unwrap();
        for preset in ["gentle", "strict", "off"] {
            assert_eq!(install(&home, preset).exit, 0, "{mode:o}");
            assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o7777, mode, "{preset}");
        }
        assert_eq!(bytes(&file).unwrap(), FULL.as_bytes(), "{mode:o}");
    }
    let home = Sandbox::new();
    let real = home.write("dotfiles/claude.json", FULL);
    fs::create_dir_all(home.path(".claude")).unwrap();
    symlink("../dotfiles/claude.json", home.path(SETTINGS)).unwrap();
    assert_eq!(install(&home, "gentle").exit, 0);
    assert!(fs::symlink_metadata(home.path(SETTINGS)).unwrap().is_symlink());
    assert_ne!(bytes(&real).unwrap(), FULL.as_bytes());
    assert_eq!(install(&home, "off").exit, 0);
    assert_eq!(bytes(&real).unwrap(), FULL.as_bytes());
    assert!(fs::symlink_metadata(home.path(SETTINGS)).unwrap().is_symlink());
    // A dangling symlink.
    let home = Sandbox::new();
    fs::create_dir_all(home.path(".claude")).unwrap();
    symlink("elsewhere.json", home.path(SETTINGS)).unwrap();
    assert_eq!(install(&home, "gentle").exit, 0);
    assert!(home.path(".claude/elsewhere.json").exists());
    assert!(fs::symlink_metadata(home.path(SETTINGS)).unwrap().is_symlink());
}

#[test]
fn the_first_change_makes_a_copy_and_later_edits_are_kept() {
    let home = Sandbox::new();
    let file = home.write(SETTINGS, FULL);
    assert_eq!(install(&home, "gentle").exit, 0);
    let copy = home.path(".claude/settings.json.before-rune");
    assert_eq!(bytes(&copy).unwrap(), FULL.as_bytes());
    let edited = fs::read_to_string(&file).unwrap().replace("\"model\": \"opus\"", "\"model\": \"sonnet\"");
    fs::write(&file, &edited).unwrap();
    assert_eq!(install(&home, "off").exit, 0);
    assert_eq!(
        String::from_utf8(bytes(&file).unwrap()).unwrap(),
        FULL.replace("opus", "sonnet").replace(",\n        \"PostToolUse\": []", "")
    );
    assert_eq!(bytes(&copy).unwrap(), FULL.as_bytes(), "the copy of the edited file stays");
}

#[test]
fn entries_that_run_rune_are_recognised_by_their_command() {
    let home = Sandbox::new();
    home.write(
        SETTINGS,
        r#"{"hooks": {"PreToolUse": [{"hooks": [
            {"type": "command", "command": "/gone/bin/rune", "args": ["hook", "pre", "--preset", "strict"]},
            {"type": "command", "command": "\"/old place/rune\" hook pre --preset gentle"},
            {"type": "command", "command": "/x/security-hook pre bash"},
            {"type": "command", "command": "prune hook"}]}]}}"#,
    );
    assert_eq!(install(&home, "strict").exit, 0);
    let all = String::from_utf8(bytes(&home.path(SETTINGS)).unwrap()).unwrap();
    assert_eq!(registered(&home).len(), 7);
    for gone in ["/gone", "/old place", "security-hook"] {
        assert!(!all.contains(gone), "{gone}: {all}");
    }
    assert!(all.contains("prune hook"), "{all}");
}

#[test]
fn a_dry_run_prints_a_diff_and_changes_nothing() {
    let home = Sandbox::new();
    home.write(SETTINGS, FULL);
    let before = tree(&home);
    let shown = home.run(&["hooks", "install", "--preset", "strict", "--dry-run"], "");
    assert_eq!(shown.exit, 0, "{shown:?}");
    assert!(
        shown.stdout.contains("\n+") && shown.stdout.contains("@@") && shown.stdout.contains(SETTINGS),
        "{}",
        shown.stdout
    );
    assert!(tree(&home) == before);
}

#[test]
fn each_scope_writes_to_its_own_file() {
    let home = Sandbox::new();
    fs::create_dir_all(home.path("work/app/.git")).unwrap();
    fs::create_dir_all(home.path("work/app/src")).unwrap();
    for (scope, file) in [("project", "settings.json"), ("local", "settings.local.json")] {
        let mut command = home.command(&["hooks", "install", "--scope", scope]);
        command.current_dir(home.path("work/app/src"));
        assert_eq!(finish(command.spawn().unwrap(), b"").exit, 0);
        assert!(home.path("work/app/.claude").join(file).is_file(), "{scope}");
    }
    let output = home.run(&["hooks", "install", "--scope", "managed", "--preset", "strict"], "");
    for part in ["sudo ", "managed-settings.json", "--preset strict", "--config-dir /"] {
        assert!(output.stdout.contains(part), "{part}: {output:?}");
    }
    assert_eq!(home.run(&["hooks", "install", "--settings", "my.json"], "").exit, 0);
    assert!(home.path("my.json").is_file());
    assert!(!home.path(SETTINGS).exists());
    let wrong = home.run(&["hooks", "install", "--preset", "strikt"], "");
    assert!(wrong.exit != 0 && wrong.stderr.contains("`strict`"), "{wrong:?}");
}

#[test]
fn agents_may_tighten_but_not_loosen() {
    let loosening: [&[&str]; 3] = [
        &["hooks", "install", "--preset", "off", "--yes"],
        &["hooks", "uninstall", "--yes"],
        &["hooks", "install", "--preset", "gentle", "--yes"],
    ];
    let agent = |home: &Sandbox, words: &[&str], marker: &str| {
        finish(home.command(words).env(marker, "1").spawn().unwrap(), b"")
    };
    for marker in ["CLAUDECODE", "CURSOR_AGENT", "GEMINI_CLI", "CODEX_SANDBOX", "OPENCODE"] {
        let home = Sandbox::new();
        assert_eq!(agent(&home, &["hooks", "install", "--preset", "gentle"], marker).exit, 0, "a first registration");
        assert_eq!(agent(&home, &["hooks", "install", "--preset", "strict"], marker).exit, 0, "tightening");
        let before = tree(&home);
        for words in loosening {
            let refused = agent(&home, words, marker);
            assert_eq!(refused.exit, 1, "{marker} {words:?}");
            assert!(refused.is_refused_to_agents(), "{refused:?}");
        }
        let moved = agent(&home, &["hooks", "install", "--preset", "strict", "--config-dir", "/tmp/mine"], marker);
        assert_eq!(moved.exit, 1, "another policy");
        assert!(tree(&home) == before, "{marker}");
    }
    // An ancestor has the variable of an agent, the process itself has not.
    let home = Sandbox::new();
    assert_eq!(install(&home, "strict").exit, 0);
    let before = tree(&home);
    let script = format!("env -u CLAUDECODE '{}' hooks uninstall --yes; exit $?", env!("CARGO_BIN_EXE_rune"));
    let mut command = home.command_at(Path::new("/bin/bash"), &["-c", &script]);
    let refused = finish(command.env("CLAUDECODE", "1").env("PATH", "/usr/bin:/bin").spawn().unwrap(), b"");
    assert_eq!(refused.exit, 1, "{refused:?}");
    assert!(tree(&home) == before);
}

#[test]
fn loosening_needs_yes_if_stdin_is_not_a_terminal() {
    let home = Sandbox::new();
    assert_eq!(install(&home, "strict").exit, 0);
    for words in [
        ["hooks", "install", "--preset", "gentle"].as_slice(),
        &["hooks", "install", "--preset", "off"],
        &["hooks", "uninstall"],
    ] {
        let refused = home.run_as_person(words);
        assert_eq!(refused.exit, 1, "{words:?}");
        assert!(refused.stderr.contains("--yes"), "{}", refused.stderr);
    }
    assert_eq!(install(&home, "gentle").exit, 0);
    assert_eq!(home.run_as_person(&["hooks", "uninstall", "--yes"]).exit, 0);
    assert!(!home.path(SETTINGS).exists());
}

#[test]
fn a_plugin_runs_the_same_binary() {
    let home = Sandbox::new();
    let made = home.run(&["hooks", "install", "--plugin", "plug", "--preset", "strict"], "");
    assert_eq!(made.exit, 0, "{made:?}");
    let json = |name: &str| -> Value { serde_json::from_slice(&bytes(&home.path(name)).unwrap()).unwrap() };
    assert_eq!(json("plug/.claude-plugin/plugin.json")["name"], "rune");
    let before = &json("plug/hooks/hooks.json")["hooks"]["PreToolUse"][0]["hooks"][0];
    assert_eq!(before["command"], env!("CARGO_BIN_EXE_rune"));
    assert!(home.path("plug/commands/rune.md").is_file());
    assert!(home.path("plug/skills/quarantine/SKILL.md").is_file());
    assert_eq!(home.run(&["hooks", "install", "--plugin", "plug", "--preset", "strict"], "").exit, 0, "again");
    home.write("other/a.txt", "mine");
    assert_eq!(home.run(&["hooks", "install", "--plugin", "other"], "").exit, 1, "the directory has other files");
}

#[test]
fn a_change_of_settings_that_disables_the_guard_is_blocked() {
    let home = Sandbox::new();
    home.write(SETTINGS, FULL);
    assert_eq!(install(&home, "strict").exit, 0);
    let settings = home.path(SETTINGS);
    let installed = fs::read_to_string(&settings).unwrap();
    let (_, words) = registered(&home).into_iter().find(|(event, _)| event == "ConfigChange").unwrap();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let change = |file: &Path| {
        let event = serde_json::json!({"session_id": "s1", "transcript_path": "/t.jsonl", "cwd": home.path("proj"),
            "hook_event_name": "ConfigChange", "source": "user_settings", "file_path": file});
        home.run(&words, event.to_string())
    };
    let project = home.write("proj/.claude/settings.json", "{\"model\": \"opus\"}");
    assert_eq!(change(&project).stdout, "", "a harmless change of the project's settings");
    assert_eq!(change(&settings).stdout, "", "unchanged settings");
    fs::write(&project, "{\"disableAllHooks\": true}").unwrap();
    assert_eq!(change(&project).json()["decision"], "block");
    fs::write(&project, "{}").unwrap();
    for text in [
        FULL,
        "",
        "{",
        &installed.replace("strict", "gentle"),
        &installed.replace(env!("CARGO_BIN_EXE_rune"), "/bin/true"),
    ] {
        fs::write(&settings, text).unwrap();
        assert_eq!(change(&settings).json()["decision"], "block", "{text}");
        assert_eq!(change(&project).json()["decision"], "block", "a change of another file: {text}");
    }
    fs::remove_file(&settings).unwrap();
    assert_eq!(change(&settings).json()["decision"], "block", "removed");
    fs::write(&settings, &installed).unwrap();
    assert_eq!(change(&settings).stdout, "");
}

#[test]
fn a_session_starts_with_one_line_if_the_guard_is_degraded() {
    let home = Sandbox::new();
    assert_eq!(install(&home, "strict").exit, 0);
    let (_, words) = registered(&home).into_iter().find(|(event, _)| event == "SessionStart").unwrap();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let start = || {
        let event = serde_json::json!({"session_id": "s1", "transcript_path": "/t.jsonl", "cwd": home.path("proj"),
            "hook_event_name": "SessionStart", "source": "startup"});
        home.run(&words, event.to_string())
    };
    assert_eq!(start().stdout, "", "healthy");
    home.write(".config/rune/config.local.toml", "[decison]\n");
    let context = start().context();
    assert!(!context.contains('\n') && context.contains("config.local.toml:1"), "{context}");
    home.write(".config/rune/config.local.toml", "");
    let settings = home.path(SETTINGS);
    let installed = fs::read_to_string(&settings).unwrap();
    fs::write(&settings, installed.replace("PostToolUse\"", "PostToolUses\"")).unwrap();
    let context = start().context();
    assert!(!context.contains('\n') && context.contains("PostToolUse"), "{context}");
}

/// The presets of the registered entries, each once.
fn presets(home: &Sandbox) -> Vec<String> {
    let named = |(_, words): (String, Vec<String>)| {
        words.iter().position(|word| word == "--preset").map(|at| words[at + 1].clone()).unwrap()
    };
    let mut presets: Vec<String> = registered(home).into_iter().map(named).collect();
    presets.sort();
    presets.dedup();
    presets
}

#[test]
fn the_strictest_of_mixed_entries_is_kept() {
    let home = Sandbox::new();
    assert_eq!(install(&home, "strict").exit, 0);
    let file = home.path(SETTINGS);
    let strict = fs::read_to_string(&file).unwrap();
    let mixed = strict.replacen("\"strict\"", "\"gentle\"", 1);
    fs::write(&file, &mixed).unwrap();
    let refused = home.run_as_person(&["hooks", "install", "--preset", "gentle"]);
    assert!(refused.exit == 1 && refused.stderr.contains("--yes"), "{refused:?}");
    assert_eq!(fs::read_to_string(&file).unwrap(), mixed);
    assert_eq!(home.run(&["hooks", "install"], "").exit, 0);
    assert_eq!(presets(&home), ["strict"]);
    fs::write(&file, strict.replacen("\"strict\"", "\"off\"", 5)).unwrap();
    assert_eq!(home.run(&["hooks", "install"], "").exit, 0);
    assert_eq!(presets(&home), ["strict"]);
}

#[test]
fn a_first_registration_uses_the_preset_of_the_policy() {
    for name in ["config.toml", "config.local.toml"] {
        let home = Sandbox::new();
        home.write(&format!(".config/rune/{name}"), "preset = 'strict'\n");
        assert_eq!(home.run(&["hooks", "install"], "").exit, 0, "{name}");
        assert_eq!(presets(&home), ["strict"], "{name}");
    }
    let home = Sandbox::new();
    assert_eq!(home.run(&["hooks", "install"], "").exit, 0);
    assert_eq!(presets(&home), ["gentle"]);
}

#[test]
fn settings_that_disable_the_entries_are_reported() {
    for (text, place) in [
        ("{\n  \"disableAllHooks\": true\n}", ":2:3"),
        ("{\n  \"disableAllHooks\": \"no\"\n}", ":2:3"),
        (r#"{"hooks": {"PreToolUse": ["x"]}}"#, ":2:20"),
        (r#"{"hooks": {"PreToolUse": [{"matcher": "x"}]}}"#, ":2:20"),
    ] {
        let home = Sandbox::new();
        home.write(SETTINGS, text);
        for times in 1..3 {
            let output = install(&home, "gentle");
            assert_eq!(output.exit, 1, "{text}");
            assert!(output.stderr.contains(&format!("{SETTINGS}{place}")), "{times}: {}", output.stderr);
            assert_eq!(fs::read_to_string(home.path(SETTINGS)).unwrap().matches("\"hook\"").count(), 7, "{text}");
        }
    }
    // The settings of a project are not reported for the user's scope.
    let home = Sandbox::new();
    home.write("proj/.claude/settings.json", r#"{"disableAllHooks": true}"#);
    let mut command = home.command(&["hooks", "install"]);
    assert_eq!(finish(command.current_dir(home.path("proj")).spawn().unwrap(), b"").exit, 0);
}

#[test]
fn an_existing_file_with_the_name_of_the_copy_is_kept() {
    for existing in ["{\"mine\": 1}", FULL] {
        let home = Sandbox::new();
        let file = home.write(SETTINGS, FULL);
        let copy = home.write(".claude/settings.json.before-rune", existing);
        let output = install(&home, "gentle");
        assert!(output.exit == 0 && output.stdout.contains("settings.json.before-rune.1"), "{output:?}");
        assert_eq!(bytes(&home.path(".claude/settings.json.before-rune.1")).unwrap(), FULL.as_bytes());
        assert_eq!(install(&home, "strict").exit, 0);
        assert_eq!(install(&home, "off").exit, 0);
        assert_eq!(bytes(&file).unwrap(), FULL.as_bytes());
        assert_eq!(bytes(&copy).unwrap(), existing.as_bytes());
        assert!(!home.path(".claude/settings.json.before-rune.1").exists());
    }
}

#[test]
fn a_relative_client_directory_in_the_environment_is_refused() {
    let home = Sandbox::new();
    let run = |words: &[&str]| finish(home.command(words).env("CLAUDE_CONFIG_DIR", "conf").spawn().unwrap(), b"");
    let refused = run(&["hooks", "install"]);
    assert!(refused.exit == 1 && refused.stderr.contains("CLAUDE_CONFIG_DIR"), "{refused:?}");
    assert!(tree(&home).is_empty());
    assert_eq!(run(&["hooks", "install", "--client-dir", "conf"]).exit, 0, "as an argument");
    assert!(home.path("conf/settings.json").is_file());
}
