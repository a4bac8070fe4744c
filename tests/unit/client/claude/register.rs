//! Unit tests of `src/client/claude/register.rs`.

use super::*;
use jsonc_parser::cst::CstInputValue;

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
        let installed = install(&registration("gentle"), &text, None).unwrap();
        assert_eq!(install(&registration("gentle"), &installed, Some(&text)).unwrap(), installed, "{text:?}");
        let strict = install(&registration("strict"), &installed, Some(&text)).unwrap();
        assert_eq!(strict, install(&registration("strict"), &text, None).unwrap(), "{text:?}");
        assert_eq!(SettingsJson::read(&strict).unwrap().summary().registration(), Some(registration("strict")));
        assert_eq!(remove(&strict, Some(&text)).unwrap().as_deref(), Some(text.as_str()));
    }
    let made = install(&registration("gentle"), "", None).unwrap();
    assert_eq!(remove(&made, None).unwrap(), None, "a file that was not there is gone again");
}

#[test]
fn what_others_added_since_stays() {
    for text in texts() {
        let before = SettingsJson::read(&text).unwrap();
        let installed = install(&registration("gentle"), &text, None).unwrap();
        let worked_on = edit(&installed, |root| {
            root.append("added", CstInputValue::Bool(true));
            Ok(())
        });
        let left = remove(&worked_on.unwrap(), Some(&text)).unwrap().unwrap();
        let settings = SettingsJson::read(&left).unwrap();
        assert_eq!(settings.value()["added"], true, "{left}");
        assert_eq!(
            settings.hooks().iter().map(|hook| hook.entry).collect::<Vec<_>>(),
            before.hooks().iter().map(|hook| hook.entry).collect::<Vec<_>>(),
            "{text:?}"
        );
    }
}

#[test]
fn a_group_that_we_share_keeps_the_other_hook() {
    let shared = r#"{"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [
        {"type": "command", "command": "/elsewhere/rune hook pre"}, {"type": "command", "command": "lint"}]}]}}"#;
    let left = remove(shared, None).unwrap().unwrap();
    let settings = SettingsJson::read(&left).unwrap();
    let calls: Vec<_> = settings.hooks().into_iter().filter_map(|hook| hook.command).map(|call| call.program).collect();
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
        let broken = install(&registration("gentle"), text, None).unwrap_err();
        assert_eq!((broken.line, broken.column), place, "{text}: {broken:?}");
    }
}

#[test]
fn a_change_that_costs_us_a_hook_is_a_loss() {
    let own = registration("gentle");
    let text = install(&own, FOREIGN, None).unwrap();
    let losses = |text: &str| losses(&own, &SettingsJson::read(text).unwrap());
    assert_eq!(losses(&text), [] as [String; 0]);
    assert_eq!(losses(&install(&registration("strict"), &text, None).unwrap()), [] as [String; 0], "tighter");
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
}

#[test]
fn every_difference_is_named() {
    let own = Registration { program: "/opt/rune".to_owned(), words: Vec::new(), file: None };
    let text = install(&own, "", None).unwrap();
    let drift = |text: &str| -> Vec<String> {
        drift(&own, &SettingsJson::read(text).unwrap()).iter().map(ToString::to_string).collect()
    };
    assert_eq!(drift(&text), [] as [&str; 0]);
    for (from, to, named) in [
        ("\"SessionEnd\"", "\"SessionEnds\"", "SessionEnd: not registered"),
        ("\"SessionEnd\"", "\"Stop\"", "Stop: registered without need"),
        ("\"matcher\": \"^(", "\"matcher\": \"(", "PostToolUse: differs in matcher"),
        ("\"onFailure\": \"block\"", "\"onFailure\": \"continue\"", "PreToolUse: differs in onFailure"),
        ("\"timeout\": 10,", "\"timeout\": 10, \"async\": true,", "PreToolUse: differs in async"),
        ("\"timeout\": 10,", "\"if\": \"Bash\", \"timeout\": 1,", "PreToolUse: differs in timeout, if"),
    ] {
        let changed = text.replacen(from, to, 1);
        assert!(drift(&changed).contains(&named.to_owned()), "{named}: {:?}", drift(&changed));
    }
}
