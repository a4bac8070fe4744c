//! Unit tests of `src/client/claude/register.rs`.

use super::*;

fn registration(preset: &str) -> Registration {
    let words = ["--preset", preset, "--config-dir", "/c"].map(str::to_owned).to_vec();
    Registration { program: "/opt/rune".to_owned(), words, file: Some("/h/settings.json".to_owned()) }
}

const FOREIGN: &str = r#"{"hooks":{"PreToolUse":[{"hooks":[{"type":"command","command":"x"}]}]},"z":[1, 2]}"#;

fn texts() -> Vec<String> {
    let pretty = "{\n  \"model\": \"opus\",\n  \"hooks\": {\n    \"Stop\": [\n      {\n        \"hooks\": [\n          {\n            \"type\": \"command\",\n            \"command\": \"x\"\n          }\n        ]\n      }\n    ],\n    \"PreToolUse\": []\n  },\n  \"z\": 1\n}\n";
    let tabs = pretty.replace("  ", "\t");
    let windows = pretty.replace('\n', "\r\n");
    let mixed = pretty.replacen('\n', "\r\n", 3);
    let texts = ["", " \n", "{}", "{}\n", "{ }", "{\n}\n", FOREIGN, pretty, &tabs, &windows, &mixed];
    texts.iter().flat_map(|text| [(*text).to_owned(), format!("\u{feff}{text}")]).collect()
}

#[test]
fn what_goes_in_comes_out_again_to_the_byte() {
    for text in texts() {
        let installed = registration("gentle").install(&text, None).unwrap();
        assert_eq!(registration("gentle").install(&installed, Some(&text)).unwrap(), installed, "{text:?}");
        let strict = registration("strict").install(&installed, Some(&text)).unwrap();
        assert_eq!(strict, registration("strict").install(&text, None).unwrap(), "{text:?}");
        assert_eq!(Registration::of(&Settings::read(&strict).unwrap()), Some(registration("strict")));
        assert_eq!(remove(&strict, Some(&text)).unwrap().as_deref(), Some(text.as_str()));
    }
    let made = registration("gentle").install("", None).unwrap();
    assert_eq!(remove(&made, None).unwrap(), None, "a file that was not there is gone again");
}

#[test]
fn what_others_added_since_stays() {
    for text in texts() {
        let before = Settings::read(&text).unwrap();
        let installed = registration("gentle").install(&text, None).unwrap();
        let worked_on = edit(&installed, |root| {
            root.append("added", CstInputValue::Bool(true));
            Ok(())
        });
        let left = remove(&worked_on.unwrap(), Some(&text)).unwrap().unwrap();
        let settings = Settings::read(&left).unwrap();
        assert!(settings.is_on("added"), "{left}");
        assert_eq!(
            settings.hooks().iter().map(|hook| hook.entry()).collect::<Vec<_>>(),
            before.hooks().iter().map(|hook| hook.entry()).collect::<Vec<_>>(),
            "{text:?}"
        );
    }
}

#[test]
fn a_group_that_we_share_keeps_the_other_hook() {
    let shared = r#"{"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [
        {"type": "command", "command": "/elsewhere/rune hook pre"}, {"type": "command", "command": "lint"}]}]}}"#;
    let left = remove(shared, None).unwrap().unwrap();
    let settings = Settings::read(&left).unwrap();
    let calls: Vec<_> = settings.hooks().iter().filter_map(Hook::call).map(|(program, _)| program).collect();
    assert_eq!(calls, ["lint"], "{left}");
}

#[test]
fn what_cannot_be_edited_is_refused_with_its_place() {
    for (text, place) in [
        ("{\n  // mine\n  \"a\": 1\n}", (2, 3)),
        ("{\"a\": 1,}", (1, 9)),
        ("{\n \"a\": 1", (2, 7)),
        ("[]", (1, 1)),
        (r#"{"hooks": []}"#, (1, 1)),
        (r#"{"hooks": {"PreToolUse": {}}}"#, (1, 1)),
        (r#"{"hooks": {}, "hooks": {}}"#, (1, 1)),
    ] {
        let broken = registration("gentle").install(text, None).unwrap_err();
        assert_eq!((broken.line, broken.column), place, "{text}: {broken:?}");
    }
}

#[test]
fn a_change_that_costs_us_a_hook_is_a_loss() {
    let own = registration("gentle");
    let text = own.install(FOREIGN, None).unwrap();
    let losses = |text: &str| own.losses(&Settings::read(text).unwrap(), true);
    assert_eq!(losses(&text), [] as [String; 0]);
    assert_eq!(losses(&registration("strict").install(&text, None).unwrap()), [] as [String; 0], "tighter");
    for (what, from, to) in [
        ("looser", "gentle", "off"),
        ("another program", "/opt/rune", "/tmp/rune"),
        ("another policy", "\"/c\"", "\"/tmp/c\""),
        ("another moment", "\"PreToolUse\"", "\"PreToolUses\""),
        ("no time", "\"timeout\": 10", "\"timeout\": 1"),
        ("an entry that voids the file", "\"timeout\": 10", "\"timeout\": \"10\""),
        ("some tools only", "\"hooks\": [", "\"matcher\": \"Read\", \"hooks\": ["),
        ("a prompt", "\"type\": \"command\"", "\"type\": \"prompt\", \"prompt\": \"?\""),
        ("a member that voids the file", "\"z\":", "\"model\": 3, \"z\":"),
        ("not waited for", "\"timeout\": 10", "\"timeout\": 10, \"async\": true"),
        ("switched off", "\"z\":", "\"disableAllHooks\": true, \"z\":"),
    ] {
        let changed = text.replace(from, to);
        assert_ne!(changed, text, "{what}");
        assert_ne!(losses(&changed), [] as [String; 0], "{what}");
    }
    assert_ne!(losses(FOREIGN), [] as [String; 0]);
    assert_eq!(own.losses(&Settings::read(FOREIGN).unwrap(), false), [] as [String; 0], "not where we are");
}
