//! Unit tests of `src/policy/update.rs`.

use super::*;

const OLD: &str =
    "# version: 1.0.0\n\nblock \"a\"\n  match a\n  nudge \"A\"\n\nblock \"b\"\n  match b\n  nudge \"B\"\n";
const NEW: &str =
    "# version: 1.1.0\n\nblock \"a\"\n  match a\n  nudge \"A\"\n\nblock \"b\"\n  match b+\n  nudge \"B\"\n";

fn plan(current: &str, base: Option<&str>, pending: Option<&str>) -> FileUpdate {
    let owned = |text: Option<&str>| text.map(str::to_owned);
    let installed = Installed { current: Some(current.to_owned()), base: owned(base), pending: owned(pending) };
    EmbeddedFile { name: "rules/bash.rules".to_owned(), text: NEW }.plan_update(&installed)
}

#[test]
fn a_file_without_edits_is_replaced() {
    assert_eq!(plan(NEW, None, None), FileUpdate::Unchanged);
    assert_eq!(plan(OLD, Some(OLD), None), FileUpdate::Replace);
    assert_eq!(embedded_files().first().map(|file| file.plan_update(&Installed::default())), Some(FileUpdate::Write));
}

#[test]
fn edits_are_kept() {
    let edited = OLD.replace("match a", "match aa");
    let text = NEW.replace("match a", "match aa");
    assert_eq!(plan(&edited, Some(OLD), None), FileUpdate::Merge(Merged { text, kept: Vec::new() }));
    assert_eq!(plan(&NEW.replace("match a", "match aa"), Some(NEW), None), FileUpdate::KeepEdited);
}

#[test]
fn an_edited_rule_stays_and_the_other_rules_are_updated() {
    let edited = OLD
        .replace("match b", "match bb")
        .replace("block \"a\"", "# Ours.\nsuspicious \"own\"\n  match own\n  nudge \"O\"\n\nblock \"a\"");
    let FileUpdate::Merge(merged) = plan(&edited, Some(OLD), None) else { panic!("not merged") };
    assert_eq!(merged.kept, ["b"]);
    let own = "\n# Ours.\nsuspicious \"own\"\n  match own\n  nudge \"O\"\n";
    assert_eq!(merged.text, NEW.replace("match b+", "match bb") + own);
    // A rule that the operator has removed does not come back.
    let removed = OLD.replace("block \"a\"\n  match a\n  nudge \"A\"\n\n", "").replace("match b", "match bb");
    let FileUpdate::Merge(merged) = plan(&removed, Some(OLD), None) else { panic!("not merged") };
    assert_eq!(merged.text, "# version: 1.1.0\n\nblock \"b\"\n  match bb\n  nudge \"B\"\n");
}

#[test]
fn an_edited_setting_stays_and_the_other_settings_are_updated() {
    let base = "[decision]\nblock = \"ask\"\nfailure = \"ask\"\nalways_deny = [\"a\", \"b\"]\n";
    let edited =
        "[decision]\nblock = \"deny\"\nfailure = \"ask\"\nalways_deny = [\"b\", \"own\"]\nalways_ask = [\"x\"]\n";
    let new =
        "# new\n[decision]\nblock = \"advise\"\nfailure = \"deny\"\nalways_deny = [\n    \"a\", \"b\", \"c\",\n]\n";
    let merged = merge_settings(base, edited, new).unwrap();
    assert_eq!(
        merged.text,
        "# new\n[decision]\nalways_ask = [\"x\"]\nblock = \"deny\"\nfailure = \"deny\"\nalways_deny = [\"b\", \"c\", \"own\"]\n"
    );
    assert_eq!(merged.kept, ["decision.block"]);
}

#[test]
fn what_cannot_be_merged_is_left_to_the_operator() {
    let edited = OLD.replace("match b", "match bb");
    assert_eq!(plan(&edited, None, None), FileUpdate::WriteBeside(Conflict::UnknownBase));
    assert_eq!(plan(&edited, Some(NEW), Some(NEW)), FileUpdate::WriteBeside(Conflict::Pending));
    assert_eq!(
        plan(&edited, Some(OLD), Some(OLD)),
        FileUpdate::WriteBeside(Conflict::Pending),
        "pending from an earlier version"
    );
    assert_eq!(plan(&edited, Some(OLD), Some(&edited)), FileUpdate::WriteBeside(Conflict::PendingEdited));
    assert_eq!(plan(&edited, Some(NEW), None), FileUpdate::KeepEdited, "the operator has merged it");
    // The merge succeeds, but the result is not a valid file of rules.
    let broken = OLD.replace("  match a\n", "  mach a\n");
    assert_eq!(plan(&broken, Some(OLD), None), FileUpdate::WriteBeside(Conflict::Unmergeable));
}

#[test]
fn a_newer_file_is_kept() {
    for version in ["1.2.0", "1.10.0", "2", "1.1.0.1"] {
        let newer = OLD.replace("1.0.0", version);
        assert_eq!(plan(&newer, Some(&newer), None), FileUpdate::KeepNewer, "{version}");
        assert_eq!(plan(&newer, None, None), FileUpdate::KeepNewer, "{version}");
    }
    assert_eq!(plan(&OLD.replace("1.0.0", "1.0.12"), None, None), FileUpdate::WriteBeside(Conflict::UnknownBase));
}

#[test]
fn every_embedded_file_is_valid_and_has_a_version() {
    for file in embedded_files() {
        assert!(file.is_valid(file.text), "{}", file.name);
        assert!(compare(version(file.text), None) == Ordering::Greater, "{}", file.name);
        assert!(DIGESTS.contains(&(&file.name, &digest(file.text.as_bytes()))), "{}", file.name);
    }
    assert_eq!(version("[meta]\nversion = \"1.2.3\"\n"), Some("1.2.3"));
    assert_eq!(version("block \"version\"\n  match version\n"), None);
}
