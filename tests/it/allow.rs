//! `rune allow`: from a false alarm to silence, and what is refused.

use crate::support::sandbox::{Output, Sandbox, finish};
use crate::support::snapshot;
use serde_json::{Value, json};

/// A home with a registered guard and a project, in which the test runs commands.
fn home(preset: &str) -> Sandbox {
    let home = Sandbox::new();
    assert_eq!(home.run(&["hooks", "install", "--preset", preset], "").exit, 0);
    std::fs::create_dir_all(home.path("proj/.git")).unwrap();
    std::fs::create_dir_all(home.path("other/.git")).unwrap();
    home
}

fn bash(command: &str) -> Value {
    json!({"command": command})
}

/// Judges a call and records it in the transcript of its session.
fn call(home: &Sandbox, preset: &str, session: &str, id: &str, folder: &str, input: &Value) -> Output {
    let output = judge(home, preset, session, id, folder, input);
    record(home, session, id, folder, input);
    output
}

fn judge(home: &Sandbox, preset: &str, session: &str, id: &str, folder: &str, input: &Value) -> Output {
    let event = json!({"session_id": session, "transcript_path": "/t.jsonl", "cwd": home.path(folder), "tool_input": input,
        "hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_use_id": id});
    home.run(&["hook", "pre", "--preset", preset], event.to_string())
}

fn record(home: &Sandbox, session: &str, id: &str, folder: &str, input: &Value) {
    let name = format!(".claude/projects/-x-{folder}/{session}.jsonl");
    let before = std::fs::read_to_string(home.path(&name)).unwrap_or_default();
    let part = json!({"type": "tool_use", "id": id, "name": "Bash", "input": input});
    let line =
        json!({"type": "assistant", "cwd": home.path(folder), "message": {"role": "assistant", "content": [part]}});
    home.write(&name, &format!("{before}{line}\n"));
}

/// Runs `rune allow` as a person in the project, without questions.
fn allow(home: &Sandbox, words: &[&str]) -> Output {
    use crate::support::sandbox::terminal::Stdin;
    home.start_as_person(&home.path("proj"), Stdin::Null, &[&["allow"], words, &["--yes"]].concat()).finish()
}

fn local(home: &Sandbox) -> String {
    std::fs::read_to_string(home.path(".config/rune/config.local.toml")).unwrap_or_default()
}

#[track_caller]
fn assert_refused(home: &Sandbox, output: &Output, why: &str) {
    assert!(output.exit == 1 && output.stderr.contains(why), "{output:?}");
    assert_eq!(local(home), "", "nothing is written");
}

/// Hides ids and dates.
fn redact(home: &Sandbox, output: &Output) -> String {
    let text = output.combined();
    let id = text.split("--remove ").nth(1).and_then(|rest| rest.split('`').next()).unwrap_or("no id").to_owned();
    let date = time::OffsetDateTime::from(std::time::SystemTime::now()).date() + time::Duration::days(30);
    snapshot::redact(home, &text.replace(&id, "[ID]").replace(&date.to_string(), "[IN 30 DAYS]"))
}

#[test]
fn a_false_alarm_is_allowed_by_one_command_and_the_exception_is_named_and_removed() {
    let home = home("strict");
    home.write(".config/rune/config.local.toml", "preset = \"strict\" # mine\n\n# the end\n");
    let push = bash("git push --force origin 'my branch'");
    assert_eq!(call(&home, "strict", "s1", "toolu_1", "proj", &push).decision(), "deny");
    let allowed = allow(&home, &["--last", "--reason", "my own branch"]);
    assert_eq!(allowed.exit, 0, "{allowed:?}");
    let mut text = redact(&home, &allowed);
    assert_eq!(judge(&home, "strict", "s1", "toolu_2", "proj", &push).decision(), "");
    let other = bash("git push --force origin 'my branch' main");
    assert_eq!(judge(&home, "strict", "s1", "toolu_3", "proj", &other).decision(), "deny", "the match is exact");
    let id = home.log()[1]["exception"].as_str().unwrap().to_owned();
    assert!(local(&home).starts_with("preset = \"strict\" # mine\n\n# the end\n") && local(&home).contains(&id));

    let words = ["explain", "--preset", "strict", "--", "git push --force origin 'my branch'"];
    let explained = home.run(&words, "");
    text += &snapshot::redact(&home, &explained.combined()).replace(&id, "[ID]");
    let json = home.run(&[&words[..3], &["--json"], &words[3..]].concat(), "").json();
    assert_eq!((&json["effect"], &json["exceptions"][0]["id"]), (&json!("pass"), &json!(id)));
    let list = home.run(&["allow", "--list"], "");
    text += &redact(&home, &list).replace(&id, "[ID]");
    assert_eq!(home.run(&["allow", "--list", "--json"], "").json()["exceptions"][0]["uses"], 1);

    let removed = allow(&home, &["--remove", &id]);
    text += &redact(&home, &removed).replace(&id, "[ID]");
    assert_eq!(judge(&home, "strict", "s1", "toolu_4", "proj", &push).decision(), "deny");
    snapshot::check("allow", &text);
}

#[test]
fn the_change_is_shown_and_made_only_after_a_yes() {
    let home = home("strict");
    let words = ["allow", "git-force-push", "--match", "origin sand\u{202e}box", "--reason", "mine"];
    let answer = |typed: &'static str| {
        home.run_and_type(&words, move |shown| shown.ends_with("[y/N] ").then(|| format!("{typed}\r")))
    };
    let output = answer("n");
    assert!(output.exit == 0 && output.stdout.contains("+match = ") && output.stdout.contains("nothing was changed"));
    assert!(output.stdout.contains("\\u{202e}") && !output.stdout.contains('\u{202e}'), "{output:?}");
    assert_eq!(local(&home), "");
    assert_eq!(answer("y").exit, 0);
    assert!(local(&home).contains("[[exceptions]]"));
    let receipts = home.run(&["receipts", "show", "rune:operator"], "").stdout;
    assert!(receipts.contains("allow"), "{receipts}");
}

#[test]
fn one_of_the_last_stops_can_be_chosen() {
    let home = home("strict");
    call(&home, "strict", "s1", "toolu_1", "proj", &bash("git push --force origin one"));
    call(&home, "strict", "s1", "toolu_2", "proj", &bash("git push --force origin two"));
    let session = home.start_as_person(
        &home.path("proj"),
        crate::support::sandbox::terminal::Stdin::Terminal,
        &["allow", "--last", "--reason", "mine"],
    );
    let output = session.answer(&[("default 1] ", "2\r"), ("[y/N] ", "y\r")]);
    assert_eq!(output.exit, 0, "{output:?}");
    assert!(output.stdout.contains("1  git-force-push           git push --force origin two"), "{output:?}");
    assert!(local(&home).contains("origin one") && !local(&home).contains("origin two"));
}

#[test]
fn stops_that_cannot_be_allowed_are_not_offered_and_the_newest_says_why() {
    let home = home("strict");
    for (id, command) in [
        ("toolu_1", "git push --force origin one"),
        ("toolu_2", "rm -rf ~"),
        ("toolu_3", "git push --force origin two"),
        ("toolu_4", "rune hooks uninstall"),
    ] {
        call(&home, "strict", "s1", id, "proj", &bash(command));
    }
    let start = || {
        let words = ["allow", "--last", "--reason", "mine"];
        home.start_as_person(&home.path("proj"), crate::support::sandbox::terminal::Stdin::Terminal, &words)
    };
    let output = start().answer(&[("Which one? [1-2, default 1] ", "\r"), ("[y/N] ", "y\r")]);
    assert!(output.stdout.contains("The newest stop cannot be allowed: `self-protection`"), "{output:?}");
    assert!(!output.stdout.contains("rm -rf") && !output.stdout.contains("rune hooks uninstall"), "{output:?}");
    assert!(local(&home).contains("origin two") && !local(&home).contains("origin one"), "{}", local(&home));
    // Only one is left, and it is not the newest, so that the person is asked.
    let output = start().answer(&[("Which one? [1-1, default 1] ", "2\r")]);
    assert!(output.exit == 1 && output.combined().contains("invalid choice `2`"), "{output:?}");
    assert!(!local(&home).contains("origin one"), "{}", local(&home));
}

#[test]
fn an_exception_that_covers_more_than_the_call_says_so() {
    let home = home("strict");
    let input =
        json!({"file_path": home.path("proj/package.json"), "old_string": "a", "new_string": "\"postinstall\": \"x\""});
    let event = json!({"session_id": "s1", "transcript_path": "/t.jsonl", "cwd": home.path("proj"), "tool_input": input,
        "hook_event_name": "PreToolUse", "tool_name": "Edit", "tool_use_id": "toolu_1"});
    assert_ne!(home.run(&["hook", "pre", "--preset", "strict"], event.to_string()).decision(), "");
    let part = json!({"type": "tool_use", "id": "toolu_1", "name": "Edit", "input": input});
    let line = json!({"type": "assistant", "cwd": home.path("proj"), "message": {"content": [part]}});
    home.write(".claude/projects/x/s1.jsonl", &format!("{line}\n"));
    let allowed = allow(&home, &["--last", "--reason", "r"]);
    assert!(allowed.exit == 0 && allowed.stdout.contains("covers every change of `package.json`"), "{allowed:?}");
}

#[test]
fn a_file_that_changes_during_the_question_is_not_overwritten() {
    let home = home("strict");
    let words = ["allow", "--program", "frobnicate", "--reason", "ours"];
    let output = home.run_and_type(&words, |shown| {
        let is_asked = shown.ends_with("[y/N] ");
        is_asked.then(|| {
            home.write(".config/rune/config.local.toml", "preset = \"strict\"\n");
            "y\r".to_owned()
        })
    });
    assert!(output.exit == 1 && output.combined().contains("has changed since it was read"), "{output:?}");
    assert_eq!(local(&home), "preset = \"strict\"\n");
}

#[test]
fn a_program_and_a_directory_are_allowed_by_name() {
    let home = home("strict");
    let ask = |line: &str| judge(&home, "strict", "s1", "toolu_1", "proj", &bash(line)).decision();
    assert_eq!(ask("frobnicate now"), "ask");
    assert_eq!(allow(&home, &["--program", "frobnicate", "--reason", "ours"]).exit, 0);
    assert_eq!(ask("frobnicate now"), "");
    std::fs::create_dir_all(home.path("data/x")).unwrap();
    let line = format!("rm -r {}/y", home.path("data/x").display());
    assert_ne!(ask(&line), "");
    assert_eq!(allow(&home, &["--dir", "../data/x", "--reason", "ours"]).exit, 0);
    assert_eq!(ask(&line), "");
    let list = home.run(&["allow", "--list", "--json"], "").json();
    assert_eq!((&list["programs"], &list["directories"]), (&json!(["frobnicate"]), &json!([home.path("data/x")])));
    for name in ["frobnicate", home.path("data/x").to_str().unwrap()] {
        assert_eq!(allow(&home, &["--remove", name]).exit, 0);
    }
    assert_eq!((ask("frobnicate on").as_str(), ask(&line).is_empty()), ("", false), "asked once for each session");
    // An unknown program that was stopped is allowed by its name.
    call(&home, "strict", "s2", "toolu_9", "proj", &bash("frobnicate now"));
    assert_eq!(allow(&home, &["--last", "--reason", "ours"]).exit, 0);
    assert!(local(&home).contains("\"frobnicate\"") && !local(&home).contains("[[exceptions]]"), "{}", local(&home));
}

#[test]
fn what_guards_the_guard_and_what_is_no_rule_is_refused() {
    let home = home("strict");
    std::fs::create_dir_all(home.path(".config/rune")).unwrap();
    let matching = ["--match", "x", "--reason", "r"];
    for (rule, why) in [
        ("self-protection", "guards Rune itself"),
        ("guard-files", "guards Rune itself"),
        ("guard-copy", "guards Rune itself"),
        ("destructive-delete", "always_deny"),
        ("tainted-network", "untrusted content"),
        ("mcp-pin-server-unknown", "approve"),
        ("rune/timeout", "failure"),
        ("git-force-posh", "did you mean `git-force-push`"),
        ("nothing-of-the-kind", "rune rules list"),
    ] {
        assert_refused(&home, &allow(&home, &[&[rule], &matching[..]].concat()), why);
    }
    for (words, why) in [
        (&["git-force-push", "--match", "(", "--reason", "r"][..], "pattern"),
        (&["git-force-push", "--match", ".*", "--reason", "r"], "matches every call"),
        (&["git-force-push", "--match", "x", "--reason", " "], "blank"),
        (&["git-force-push", "--match", "x", "--reason", "r", "--until", "2020-01-01"], "past"),
        (&["git-force-push", "--match", "x", "--reason", "r", "--until", "soon"], "expected e.g. `30d`"),
        (&["--program", "a/b", "--reason", "r"], "without a directory"),
        (&["--program", "git", "--reason", "r"], "allowed already"),
        (&["--dir", "/", "--reason", "r"], "contains home"),
        (&["--dir", "..", "--reason", "r"], "contains home"),
        (&["--dir", "/etc", "--reason", "r"], "system"),
        (&["--dir", "nowhere", "--reason", "r"], "no such directory"),
        (&["--dir", "../.config/rune", "--reason", "r"], "help"),
        (&["--remove", "abcde"], "rune allow --list"),
        (&["--last", "--reason", "r"], "no stopped call"),
    ] {
        assert_refused(&home, &allow(&home, words), why);
    }
    for words in [&["git-force-push", "--reason", "r"][..], &["--last"], &["--last", "--list"], &[]] {
        let output = allow(&home, words);
        assert!(output.exit == 2 && local(&home).is_empty(), "{output:?}");
    }
}

#[test]
fn a_tampered_transcript_another_project_and_a_changed_policy_are_refused() {
    let home = home("strict");
    let push = bash("git push --force origin main");
    let last = ["--last", "--reason", "r"];
    judge(&home, "strict", "s1", "toolu_1", "proj", &push);
    record(&home, "s1", "toolu_1", "proj", &bash("git push --force origin other"));
    assert_refused(&home, &allow(&home, &last), "another input");
    record(&home, "s1", "toolu_1", "other", &push);
    assert_refused(&home, &allow(&home, &last), "no stopped call");
    let home = self::home("strict");
    call(&home, "strict", "s1", "toolu_1", "other", &push);
    assert_refused(&home, &allow(&home, &last), "no stopped call");
    // The newest stop of the project counts, and it is one of a guard rule.
    call(&home, "strict", "s1", "toolu_2", "proj", &push);
    call(&home, "strict", "s1", "toolu_3", "proj", &bash("rune hooks uninstall"));
    assert_refused(&home, &allow(&home, &last), "guards Rune itself");
    call(&home, "strict", "s1", "toolu_4", "proj", &push);
    home.write(
        ".config/rune/config.toml",
        "[[exceptions]]\nrule = \"git-force-push\"\nmatch = \"main\"\nreason = \"r\"\n",
    );
    assert_refused(&home, &allow(&home, &last), "now the answer is pass");
    home.write(".config/rune/config.toml", "[rules]\ndisabled = [\"git-force-push\"]\n");
    assert_refused(&home, &allow(&home, &last), "is disabled");
}

#[test]
fn an_agent_may_only_list() {
    let home = home("gentle");
    let agent = |words: &[&str]| {
        let mut command = home.command(words);
        command.env("CLAUDECODE", "1");
        finish(command.spawn().unwrap(), b"")
    };
    let list = agent(&["allow", "--list"]);
    assert!(list.exit == 0 && list.stdout == "there are no exceptions\n", "{list:?}");
    for words in [
        &["allow", "--last", "--reason", "r", "--yes"][..],
        &["allow", "git-force-push", "--match", "x", "--reason", "r", "--yes"],
        &["allow", "--remove", "x", "--yes"],
        &["pause", "15m", "--yes"],
    ] {
        let output = agent(words);
        assert!(output.is_refused_to_agents() && local(&home).is_empty(), "{output:?}");
    }
}
