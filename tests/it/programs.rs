//! An operator's catalogue files: `programs/*.toml` beside `config.toml`.

use crate::support::sandbox::{Output, Sandbox, before};
use serde_json::json;

const FILE: &str = ".config/rune/programs/team.toml";

const ENTRY: &str = r#"
[deployer]
does = "change"
verbs.look = ["status"]
verbs.destroy = ["wipe"]
text = "--env"
write = "--report"
examples = ["deployer --env prod status => look, text prod", "deployer wipe => destroy"]
"#;

fn home_with(text: &str) -> Sandbox {
    let home = Sandbox::new();
    home.write(FILE, text);
    home
}

fn hook(home: &Sandbox, command: &str) -> Output {
    home.run(&["hook", "pre", "--preset", "strict"], before("Bash", json!({"command": command})))
}

#[test]
fn an_entry_makes_a_program_known_and_says_what_it_does() {
    let home = home_with(ENTRY);
    assert_eq!(hook(&Sandbox::new(), "deployer status").decision(), "ask");
    assert_eq!(hook(&home, "deployer status").decision(), "");
    assert_eq!(hook(&home, "deployer --env prod wipe").decision(), "deny");
    assert_eq!(hook(&home, "deployer --report ~/.bashrc status").decision(), "deny");
    // That a word is a text does not take a protected file out of its protection.
    assert_eq!(hook(&home, "deployer --env ~/.claude/settings.json status").decision(), "deny");
    let explained = home.run(&["explain", "--preset", "strict", "--", "deployer", "status"], "");
    assert!(!explained.stdout.contains("unknown-executable"), "{explained:?}");
    // The directory is found by `--config-dir` too.
    let dir = home.path(".config/rune");
    let words = ["hook", "pre", "--preset", "strict", "--config-dir", dir.to_str().unwrap()];
    let other = Sandbox::new();
    assert_eq!(other.run(&words, before("Bash", json!({"command": "deployer status"}))).decision(), "");
}

#[test]
fn a_broken_file_is_a_failure() {
    for (text, error) in [
        ("[deployer]\ndose = 'look'\n", "`deployer`: `dose`: unknown key"),
        ("[deployer]\noperands = 'eat*'\n", "`deployer`: `operands`: unknown use `eat`"),
        ("[deployer]\nverbs.look = ['a']\nverbs.work = ['a']\n", "`deployer`: `a` is listed twice"),
        ("[deployer]\naliases = 'git'\n", "`git` is a program that Rune knows"),
        ("[deployer\n", "line 1: "),
    ] {
        let home = home_with(text);
        let answer = hook(&home, "git status");
        assert_eq!(answer.decision(), "deny", "{text}");
        assert!(answer.names_rule("rune/config") && answer.reason().contains(error), "{}", answer.reason());
        let checked = home.run(&["rules", "check"], "");
        assert_eq!(checked.exit, 1, "{checked:?}");
        assert!(checked.stderr.contains("team.toml: ") && checked.stderr.contains(error), "{checked:?}");
        assert!(checked.stderr.contains("help: "), "{checked:?}");
    }
}

#[test]
fn the_check_runs_the_examples() {
    let home = home_with(ENTRY);
    assert_eq!(home.run(&["rules", "check"], "").exit, 0);
    let home = home_with(&ENTRY.replace("wipe => destroy", "wipe => look"));
    let checked = home.run(&["rules", "check"], "");
    assert_eq!(checked.exit, 1);
    assert!(checked.stderr.contains("example `deployer wipe`: expected `look`, found `destroy`"), "{checked:?}");
    // A wrong example is no reason to stop every call.
    assert_eq!(hook(&home, "git status").decision(), "");
}

#[test]
fn a_project_has_no_catalogue() {
    let home = Sandbox::new();
    home.write("proj/.rune/programs/team.toml", ENTRY);
    let event = json!({"session_id": "s", "cwd": home.path("proj"), "hook_event_name": "PreToolUse", "tool_name": "Bash",
        "tool_input": {"command": "deployer status"}});
    assert_eq!(home.run(&["hook", "pre", "--preset", "strict"], event.to_string()).decision(), "ask");
}
