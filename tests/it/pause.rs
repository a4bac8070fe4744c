//! `rune pause` and `rune resume`.

use crate::support::sandbox::{Sandbox, before};
use crate::support::snapshot;
use serde_json::json;
use std::os::unix::fs::{PermissionsExt, symlink};

const FILE: &str = ".local/state/rune/paused";

fn home(preset: &str) -> Sandbox {
    let home = Sandbox::new();
    std::fs::create_dir_all(home.path("proj")).unwrap();
    assert_eq!(home.run(&["hooks", "install", "--preset", preset], "").exit, 0);
    home
}

fn pause(home: &Sandbox, duration: &str) {
    let output = home.run_as_person(&["pause", duration, "--yes"]);
    assert!(output.exit == 0 && output.stdout.starts_with("the guard is paused until "), "{output:?}");
}

/// The decision of strict on a command that it denies.
fn decision(home: &Sandbox) -> String {
    let push = before("Bash", json!({"command": "git push --force origin main"}));
    home.run(&["hook", "pre", "--preset", "strict"], push).decision()
}

#[test]
fn a_pause_lets_everything_pass_but_what_is_always_denied_and_resume_ends_it() {
    for preset in ["gentle", "strict"] {
        let home = home(preset);
        assert_eq!(decision(&home), "deny");
        pause(&home, "15m");
        assert_eq!(decision(&home), "");
        for line in ["rm -rf ~", "rune hooks uninstall", "rune pause 8h"] {
            let denied = home.run(&["hook", "pre", "--preset", preset], before("Bash", json!({"command": line})));
            assert!(
                denied.decision() == "deny" && denied.reason().contains("The guard is paused until "),
                "{denied:?}"
            );
        }
        let file = home.path(FILE).display().to_string();
        let edit = before("Write", json!({"file_path": file, "content": ""}));
        assert_eq!(home.run(&["hook", "pre", "--preset", preset], edit).decision(), "deny");
        let resumed = home.run(&["resume"], "");
        assert_eq!(resumed.stdout, "the pause has ended: the guard is on again\n");
        assert_eq!(decision(&home), "deny");
        assert_eq!(home.run(&["resume"], "").stdout, "the guard was not paused\n");
    }
}

#[test]
fn a_pause_is_shown_by_status_doctor_explain_and_the_next_session() {
    let home = home("strict");
    pause(&home, "2h");
    let here = ["--managed-dir", "etc", "--project", "proj"];
    let mut text = String::new();
    for words in [&["hooks", "status"][..], &["doctor"]] {
        let output = home.run(&[words, &here].concat(), "");
        assert_eq!(output.exit, 1, "{output:?}");
        text += &snapshot::render(&home, words, &output);
    }
    let words = ["explain", "--preset", "strict", "--", "git push --force"];
    text += &snapshot::render(&home, &words, &home.run(&words, ""));
    let until = text.split("until ").nth(1).unwrap().split(' ').next().unwrap().to_owned();
    snapshot::check("paused", &text.replace(&until, "[HH:MM]"));
    let start = json!({"session_id": "s2", "cwd": "/proj", "hook_event_name": "SessionStart", "source": "startup"});
    let output = home.run(&["hook", "--preset", "strict"], start.to_string()).json();
    let message = output["systemMessage"].as_str().unwrap();
    assert!(message.contains("the guard is paused until") && message.contains("`rune pause`"), "{message}");
    let json = home.run(&[&["hooks", "status", "--json"], &here[..]].concat(), "").json();
    assert_eq!(json["guard"], "paused");
}

#[test]
fn the_policy_itself_is_not_paused() {
    let home = home("strict");
    pause(&home, "15m");
    // Making the guard less strict needs a person, although both presets pass everything now.
    let output = home.run_orphan("\"$0\" hooks install --preset gentle --yes");
    assert!(output.is_refused_to_agents(), "{output:?}");
}

#[test]
fn a_pause_skips_no_prompt_of_the_client() {
    let home = home("strict");
    home.write(".config/rune/config.local.toml", "[decision]\nallow = \"explicit\"\n");
    let list = || home.run(&["hook", "pre", "--preset", "strict"], before("Bash", json!({"command": "ls"}))).decision();
    assert_eq!(list(), "allow");
    pause(&home, "15m");
    assert_eq!((list().as_str(), decision(&home).as_str()), ("", ""));
}

#[test]
fn invalid_durations_are_refused_and_a_no_changes_nothing() {
    let home = home("strict");
    for duration in ["", "15", "0m", "9h", "481m", "8hh", "-1m", "99999999999999999999h", "1d", "m", "1ö"] {
        let output = home.run_as_person(&["pause", "--yes", "--", duration]);
        assert!(output.exit != 0 && !home.path(FILE).exists(), "{duration}: {output:?}");
    }
    let output = home.run_and_type(&["pause", "15m"], |shown| shown.ends_with("[y/N] ").then(|| "n\r".to_owned()));
    assert!(output.exit == 0 && output.stdout.contains("nothing was changed") && !home.path(FILE).exists());
}

#[test]
fn a_file_that_is_not_the_guards_own_is_no_pause() {
    let home = home("strict");
    pause(&home, "8h");
    assert_eq!(decision(&home), "");
    let path = home.path(FILE);
    let text = std::fs::read_to_string(&path).unwrap();
    let rights = |mode| std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
    rights(0o620);
    assert_eq!(decision(&home), "deny", "others may write it");
    rights(0o600);
    let link = home.path("link");
    std::fs::hard_link(&path, &link).unwrap();
    assert_eq!(decision(&home), "deny", "a hard link");
    std::fs::remove_file(&path).unwrap();
    symlink(&link, &path).unwrap();
    assert_eq!(decision(&home), "deny", "a symlink");
    std::fs::remove_file(&path).unwrap();
    std::fs::create_dir(&path).unwrap();
    assert_eq!(decision(&home), "deny", "a directory");
    std::fs::remove_dir(&path).unwrap();
    rustix::fs::mkfifoat(rustix::fs::CWD, &path, rustix::fs::Mode::RWXU).unwrap();
    assert_eq!(decision(&home), "deny", "a pipe");
    std::fs::remove_file(&path).unwrap();
    for text in ["", "paused", &text.replace("until 2", "until 3"), &format!("{text}{}", "\n".repeat(300))] {
        home.write(FILE, text);
        rights(0o600);
        assert_eq!(decision(&home), "deny", "{text:?}");
    }
    home.write(FILE, &text);
    rights(0o600);
    assert_eq!(decision(&home), "");
}
