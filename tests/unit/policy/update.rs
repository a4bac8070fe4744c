//! Unit tests of `src/policy/update.rs`.

use super::*;

const OLD: &str =
    "# version: 1.0.0\n\nblock \"a\"\n  match a\n  nudge \"A\"\n\nblock \"b\"\n  match b\n  nudge \"B\"\n";
const NEW: &str =
    "# version: 1.1.0\n\nblock \"a\"\n  match a\n  nudge \"A\"\n\nblock \"b\"\n  match b+\n  nudge \"B\"\n";

fn step(mine: &str, base: Option<&str>, waiting: Option<&str>) -> Step {
    let owned = |text: Option<&str>| text.map(str::to_owned);
    let found = Installed { mine: Some(mine.to_owned()), base: owned(base), waiting: owned(waiting) };
    Shipped { name: "rules/bash.rules".to_owned(), text: NEW }.step(&found)
}

#[test]
fn a_file_that_nobody_edited_follows_the_default() {
    assert_eq!(step(NEW, None, None), Step::Same);
    assert_eq!(step(OLD, Some(OLD), None), Step::Replace);
    assert_eq!(shipped().first().map(|file| file.step(&Installed::default())), Some(Step::Write));
}

#[test]
fn edits_survive() {
    let edited = OLD.replace("match a", "match aa");
    assert_eq!(step(&edited, Some(OLD), None), Step::Merge(NEW.replace("match a", "match aa")));
    assert_eq!(step(&NEW.replace("match a", "match aa"), Some(NEW), None), Step::Edited);
}

#[test]
fn a_person_looks_where_we_cannot_know() {
    let edited = OLD.replace("match b", "match bb");
    assert_eq!(step(&edited, Some(OLD), None), Step::Beside(Conflict::Conflict));
    assert_eq!(step(&edited, None, None), Step::Beside(Conflict::NoBase));
    assert_eq!(step(&edited, Some(NEW), Some(NEW)), Step::Beside(Conflict::Waiting));
    assert_eq!(step(&edited, Some(OLD), Some(OLD)), Step::Beside(Conflict::Waiting), "of an earlier version");
    assert_eq!(step(&edited, Some(OLD), Some(&edited)), Step::Beside(Conflict::WorkedOn));
    assert_eq!(step(&edited, Some(NEW), None), Step::Edited, "they have looked");
    // It merges, and the result is no file of rules.
    let broken = OLD.replace("  match a\n", "  mach a\n");
    assert_eq!(step(&broken, Some(OLD), None), Step::Beside(Conflict::Conflict));
}

#[test]
fn nothing_goes_back_to_an_older_version() {
    for version in ["1.2.0", "1.10.0", "2", "1.1.0.1"] {
        let newer = OLD.replace("1.0.0", version);
        assert_eq!(step(&newer, Some(&newer), None), Step::Newer, "{version}");
        assert_eq!(step(&newer, None, None), Step::Newer, "{version}");
    }
    assert_eq!(step(&OLD.replace("1.0.0", "1.0.12"), None, None), Step::Beside(Conflict::NoBase));
}

#[test]
fn every_file_that_ships_reads_and_has_a_version() {
    for file in shipped() {
        assert!(file.reads(file.text), "{}", file.name);
        assert!(compare(version(file.text), None) == Ordering::Greater, "{}", file.name);
        assert!(DIGESTS.contains(&(&file.name, &digest(file.text.as_bytes()))), "{}", file.name);
    }
    assert_eq!(version("[meta]\nversion = \"1.2.3\"\n"), Some("1.2.3"));
    assert_eq!(version("block \"version\"\n  match version\n"), None);
}
