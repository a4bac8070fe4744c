//! `rune policy`, as a whole process in a home of its own.

use crate::support::sandbox::{Output, Sandbox, finish};
use rune::policy::update::shipped;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

const BASH: &str = "rules/bash.rules";

fn policy(home: &Sandbox, verb: &str) -> Output {
    home.run_as_person(&["policy", verb])
}

fn done(home: &Sandbox, verb: &str) -> String {
    let output = policy(home, verb);
    assert_eq!(output.exit, 0, "{output:?}");
    output.stdout
}

fn mine(home: &Sandbox, name: &str) -> String {
    fs::read_to_string(home.path(&format!(".config/rune/{name}"))).unwrap()
}

fn write_mine(home: &Sandbox, name: &str, text: &str) {
    home.write(&format!(".config/rune/{name}"), text);
}

fn base(home: &Sandbox, name: &str) -> String {
    fs::read_to_string(home.path(&format!(".local/share/rune/policy/{name}"))).unwrap()
}

fn ours(name: &str) -> &'static str {
    shipped().into_iter().find(|file| file.name == name).unwrap().text
}

/// The version of a file that ships.
fn now(name: &str) -> &'static str {
    rune::policy::update::version(shipped().into_iter().find(|file| file.name == name).unwrap().text).unwrap()
}

/// A home in which an older default of one file was installed.
fn with_older(name: &str, older: impl Fn(&str) -> String) -> (Sandbox, String) {
    let home = Sandbox::new();
    done(&home, "install");
    let old = older(&ours(name).replacen(now(name), "0.9.0", 1));
    assert_ne!(old, ours(name));
    write_mine(&home, name, &old);
    home.write(&format!(".local/share/rune/policy/{name}"), &old);
    (home, old)
}

/// A default from before there was a rule for forced pushes.
fn without_forced_pushes(text: &str) -> String {
    let rules: Vec<&str> = text.split("\n\n").filter(|rule| !rule.starts_with("block \"git-force-push\"")).collect();
    rules.join("\n\n")
}

#[test]
fn what_is_missing_is_written_once() {
    let home = Sandbox::new();
    let shown = home.run(&["policy", "install", "--dry-run"], "");
    assert!(shown.exit == 0 && shown.stdout.contains("rules/bash.rules"), "{shown:?}");
    assert!(home.all_files().is_empty(), "a dry run writes nothing");
    let told = done(&home, "install");
    for file in shipped() {
        let version = rune::policy::update::version(file.text).unwrap();
        assert!(told.lines().any(|line| line.contains(&file.name) && line.contains(version)), "{told}");
        assert_eq!(mine(&home, &file.name), file.text);
        assert_eq!(base(&home, &file.name), file.text);
    }
    for (name, mode) in [
        (".config/rune", 0o700),
        (".config/rune/config.toml", 0o600),
        (".config/rune/config.local.toml", 0o600),
        (".local/share/rune/policy", 0o700),
        (".local/share/rune/policy/rules/bash.rules", 0o600),
    ] {
        assert_eq!(fs::metadata(home.path(name)).unwrap().permissions().mode() & 0o777, mode, "{name}");
    }
    let before = home.all_files();
    for verb in ["install", "update"] {
        done(&home, verb);
        assert!(home.all_files() == before, "{verb}");
    }
    assert_eq!(home.run(&["rules", "check"], "").exit, 0);
    fs::remove_file(home.path(".config/rune/rules/bash.rules")).unwrap();
    assert!(done(&home, "install").contains("rules/bash.rules"));
    assert!(home.all_files().len() == before.len());
}

#[test]
fn install_touches_no_file_that_is_there() {
    let home = Sandbox::new();
    for name in ["config.local.toml", "config.toml", BASH] {
        write_mine(&home, name, "# mine\n");
    }
    done(&home, "install");
    done(&home, "update");
    for name in ["config.local.toml", "config.toml", BASH] {
        assert_eq!(mine(&home, name), "# mine\n", "{name}");
    }
    let home = Sandbox::new();
    fs::create_dir_all(home.path(".config/rune")).unwrap();
    symlink("/nowhere/local.toml", home.path(".config/rune/config.local.toml")).unwrap();
    done(&home, "install");
    assert!(home.path(".config/rune/config.local.toml").is_symlink());
}

#[test]
fn a_file_that_nobody_edited_is_replaced() {
    let (home, old) = with_older(BASH, without_forced_pushes);
    done(&home, "install");
    assert_eq!(mine(&home, BASH), old, "install is not update");
    let before = home.all_files();
    let shown = home.run(&["policy", "update", "--dry-run"], "");
    assert!(
        shown.stdout.contains("0.9.0")
            && shown.stdout.contains(now(BASH))
            && shown.stdout.contains("\n+block \"git-force-push\""),
        "{shown:?}"
    );
    assert!(home.all_files() == before, "a dry run writes nothing");
    assert!(done(&home, "update").contains("rules/bash.rules"));
    assert_eq!((mine(&home, BASH).as_str(), base(&home, BASH).as_str()), (ours(BASH), ours(BASH)));
}

#[test]
fn edits_survive_an_update() {
    let (home, old) = with_older(BASH, without_forced_pushes);
    let edit = "  hits rm -rf /\n  hits rm -rf /srv\n";
    write_mine(&home, BASH, &old.replacen("  hits rm -rf /\n", edit, 1));
    let main = ours("config.toml").replace("disabled = []", "disabled = [\"mcp-fetch\"]");
    write_mine(&home, "config.toml", &main);
    let told = done(&home, "update");
    assert!(told.contains("rules/bash.rules") && !told.contains("config.toml"), "{told}");
    assert_eq!(mine(&home, BASH), ours(BASH).replacen("  hits rm -rf /\n", edit, 1));
    assert_eq!(mine(&home, "config.toml"), main);
    let before = home.all_files();
    done(&home, "update");
    assert!(home.all_files() == before);

    let (home, old) = with_older("config.toml", |text| text.replace("\"rg\", ", ""));
    write_mine(&home, "config.toml", &old.replace("disabled = []", "disabled = [\"mcp-fetch\"]"));
    assert!(done(&home, "update").contains("config.toml"));
    assert_eq!(mine(&home, "config.toml"), main);
}

#[test]
fn where_both_changed_the_same_lines_the_operators_stay() {
    let (home, old) = with_older(BASH, |text| text.replacen("  nudge \"Delete inside", "  nudge \"Delete only in", 1));
    let edited = old.replacen("  nudge \"Delete only in", "  nudge \"Kindly delete in", 1);
    write_mine(&home, BASH, &edited);
    let told = done(&home, "update");
    assert!(told.contains("bash.rules.new"), "{told}");
    assert_eq!((mine(&home, BASH), mine(&home, "rules/bash.rules.new").as_str()), (edited.clone(), ours(BASH)));
    assert_eq!(home.run(&["rules", "check"], "").exit, 0, "the file beside is no rule");
    let before = home.all_files();
    assert!(done(&home, "update").contains("bash.rules.new"));
    assert!(home.all_files() == before);
    // Whoever deletes it has looked.
    fs::remove_file(home.path(".config/rune/rules/bash.rules.new")).unwrap();
    assert!(!done(&home, "update").contains("bash.rules"));
    assert_eq!(mine(&home, BASH), edited);
}

#[test]
fn whoever_takes_the_new_default_is_not_asked_again() {
    let (home, _) = with_older(BASH, without_forced_pushes);
    fs::remove_dir_all(home.path(".local/share/rune")).unwrap();
    let told = done(&home, "update");
    assert!(told.contains("rules/bash.rules"), "{told}");
    assert!(!mine(&home, BASH).contains("git-force-push"));
    fs::copy(home.path(".config/rune/rules/bash.rules.new"), home.path(".config/rune/rules/bash.rules")).unwrap();
    done(&home, "update");
    assert!(!home.path(".config/rune/rules/bash.rules.new").exists());
}

#[test]
fn an_older_program_changes_nothing() {
    let home = Sandbox::new();
    done(&home, "install");
    write_mine(&home, BASH, &ours(BASH).replacen(now(BASH), "9.0.0", 1));
    let before = home.all_files();
    let told = done(&home, "update");
    assert!(told.contains("rules/bash.rules") && told.contains("9.0.0"), "{told}");
    assert!(home.all_files() == before);
}

#[test]
fn an_update_that_loosens_is_said_and_needs_a_person() {
    let gone = "block \"no-npm\"\n  match ^npm publish\n  nudge \"Ask first\"\n\n";
    let (home, old) = with_older(BASH, |text| text.replacen("block \"", &format!("{gone}block \""), 1));
    let agent = |words: &[&str]| finish(home.command(words).env("CLAUDECODE", "1").spawn().unwrap(), b"");
    let refused = agent(&["policy", "update", "--yes"]);
    assert!(refused.is_refused_to_agents(), "{refused:?}");
    let refused = policy(&home, "update");
    assert!(refused.exit == 1 && refused.stderr.contains("--yes"), "{refused:?}");
    assert!(refused.stdout.contains("no-npm"), "{refused:?}");
    assert_eq!(mine(&home, BASH), old);
    assert_eq!(home.run_as_person(&["policy", "update", "--yes"]).exit, 0);
    assert_eq!(mine(&home, BASH), ours(BASH));
    // With nothing to change, nobody is refused.
    for verb in ["install", "update"] {
        assert_eq!(agent(&["policy", verb]).exit, 0, "{verb}");
    }
    for (name, text) in [("presets/gentle.toml", "suspicious = \"advise\""), ("config.toml", "untrusted = []")] {
        let stricter = if name == "config.toml" { "untrusted = [\"github\"]" } else { "suspicious = \"deny\"" };
        let (home, _) = with_older(name, |old| old.replace(text, stricter));
        let refused = policy(&home, "update");
        assert!(refused.exit == 1 && refused.stderr.contains("--yes"), "{name}: {refused:?}");
    }
}

#[test]
fn agents_change_no_rule() {
    let (home, old) = with_older(BASH, without_forced_pushes);
    let refused = finish(home.command(&["policy", "update"]).env("CLAUDECODE", "1").spawn().unwrap(), b"");
    assert!(refused.is_refused_to_agents(), "{refused:?}");
    assert_eq!(mine(&home, BASH), old);
}

#[test]
fn links_and_modes_stay() {
    let (home, old) = with_older(BASH, without_forced_pushes);
    let link = home.path(".config/rune/rules/bash.rules");
    let real = home.write("dotfiles/bash.rules", &old);
    fs::set_permissions(&real, fs::Permissions::from_mode(0o444)).unwrap();
    fs::remove_file(&link).unwrap();
    symlink(&real, &link).unwrap();
    done(&home, "update");
    assert!(link.is_symlink());
    assert_eq!(fs::read_to_string(&real).unwrap(), ours(BASH));
    assert_eq!(fs::metadata(&real).unwrap().permissions().mode() & 0o777, 0o444);
}

#[test]
fn what_cannot_be_read_stops_everything() {
    let home = Sandbox::new();
    fs::create_dir_all(home.path(".config/rune/rules/mcp.rules")).unwrap();
    for verb in ["install", "update"] {
        let refused = policy(&home, verb);
        assert!(refused.exit == 1 && refused.stderr.contains("mcp.rules"), "{refused:?}");
    }
    assert!(home.all_files().is_empty());
}

#[test]
fn completions_and_man_pages_come_from_the_binary() {
    let home = Sandbox::new();
    for (shell, sign) in [("bash", "_rune()"), ("zsh", "#compdef rune"), ("fish", "complete -c rune")] {
        let made = home.run(&["completions", shell], "");
        assert!(made.exit == 0 && made.stdout.contains(sign) && made.stdout.contains("policy"), "{shell}");
    }
    assert!(home.run(&["man"], "").stdout.contains(".TH rune 1"));
    assert_eq!(home.run_as_person(&["man", "--out", "man1"]).exit, 0);
    assert_eq!(home.run_as_person(&["man", "--out", "man1"]).exit, 0, "again");
    let mode = fs::metadata(home.path("man1/rune.1")).unwrap().permissions().mode();
    assert_eq!(mode & 0o444, 0o444, "anybody may read it");
    let page = fs::read_to_string(home.path("man1/rune-policy-update.1")).unwrap();
    assert!(page.contains("rune policy update"), "{page}");
}

#[test]
fn man_pages_are_not_written_through_links_nor_for_agents() {
    let home = Sandbox::new();
    let settings = home.write(".claude/settings.json", "{}");
    fs::create_dir_all(home.path("man1")).unwrap();
    for page in ["rune.1", "rune-hook.1"] {
        symlink(&settings, home.path("man1").join(page)).unwrap();
        let refused = home.run_as_person(&["man", "--out", "man1"]);
        assert!(refused.exit == 1 && refused.stderr.contains(page), "{refused:?}");
        assert_eq!(fs::read_to_string(&settings).unwrap(), "{}");
        fs::remove_file(home.path("man1").join(page)).unwrap();
    }
    let refused = finish(home.command(&["man", "--out", "man2"]).env("CLAUDECODE", "1").spawn().unwrap(), b"");
    assert!(refused.is_refused_to_agents(), "{refused:?}");
    assert!(!home.path("man2").exists());
}

#[test]
fn a_default_that_waits_and_was_edited_stays() {
    let (home, old) = with_older(BASH, |text| text.replacen("  nudge \"Delete inside", "  nudge \"Delete only in", 1));
    let edited = old.replacen("  nudge \"Delete only in", "  nudge \"Kindly delete in", 1);
    write_mine(&home, BASH, &edited);
    let new = format!("{BASH}.new");
    // What waits is the default of an earlier version: it makes way.
    write_mine(&home, &new, &old);
    done(&home, "update");
    assert_eq!(mine(&home, &new), ours(BASH));
    // Somebody works on it.
    home.write(&format!(".local/share/rune/policy/{BASH}"), &old);
    write_mine(&home, &new, "# half done\n");
    let before = home.all_files();
    let told = done(&home, "update");
    assert!(told.contains("bash.rules.new"), "{told}");
    assert!(home.all_files() == before);
    // Also where the file itself has become the default.
    write_mine(&home, BASH, ours(BASH));
    done(&home, "update");
    assert_eq!(mine(&home, &new), "# half done\n");
}
