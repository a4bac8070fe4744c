//! `rune policy install` and `rune policy update`, completions and man pages.

use crate::support::sandbox::{Output, Sandbox, finish};
use rune::policy::update::embedded_files;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

const BASH: &str = "rules/bash.rules";

fn policy(home: &Sandbox, verb: &str) -> Output {
    home.run_as_person(&["policy", verb])
}

/// Runs `rune policy`, which must succeed; returns stdout.
fn run_policy(home: &Sandbox, verb: &str) -> String {
    let output = policy(home, verb);
    assert_eq!(output.exit, 0, "{output:?}");
    output.stdout
}

/// Reads a file of the installed policy.
fn installed(home: &Sandbox, name: &str) -> String {
    fs::read_to_string(home.path(&format!(".config/rune/{name}"))).unwrap()
}

fn write_policy(home: &Sandbox, name: &str, text: &str) {
    home.write(&format!(".config/rune/{name}"), text);
}

/// Reads the shipped file that an installed one was made from.
fn base(home: &Sandbox, name: &str) -> String {
    fs::read_to_string(home.path(&format!(".local/share/rune/policy/{name}"))).unwrap()
}

/// The text of a shipped file.
fn embedded(name: &str) -> &'static str {
    embedded_files().into_iter().find(|file| file.name == name).unwrap().text
}

/// The version of a shipped file.
fn version(name: &str) -> &'static str {
    rune::policy::update::version(embedded(name)).unwrap()
}

/// A home in which an older version of one shipped file was installed.
fn with_older(name: &str, older: impl Fn(&str) -> String) -> (Sandbox, String) {
    let home = Sandbox::new();
    run_policy(&home, "install");
    let old = older(&embedded(name).replacen(version(name), "0.9.0", 1));
    assert_ne!(old, embedded(name));
    write_policy(&home, name, &old);
    home.write(&format!(".local/share/rune/policy/{name}"), &old);
    (home, old)
}

/// Removes the rule about forced pushes.
fn without_forced_pushes(text: &str) -> String {
    let rules: Vec<&str> = text.split("\n\n").filter(|rule| !rule.starts_with("block \"git-force-push\"")).collect();
    rules.join("\n\n")
}

#[test]
fn missing_files_are_written_once() {
    let home = Sandbox::new();
    let shown = home.run(&["policy", "install", "--dry-run"], "");
    assert!(shown.exit == 0 && shown.stdout.contains("rules/bash.rules"), "{shown:?}");
    assert!(home.all_files().is_empty(), "a dry run writes nothing");
    let stdout = run_policy(&home, "install");
    for file in embedded_files() {
        let version = rune::policy::update::version(file.text).unwrap();
        assert!(stdout.lines().any(|line| line.contains(&file.name) && line.contains(version)), "{stdout}");
        assert_eq!(installed(&home, &file.name), file.text);
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
        run_policy(&home, verb);
        assert!(home.all_files() == before, "{verb}");
    }
    assert_eq!(home.run(&["rules", "check"], "").exit, 0);
    fs::remove_file(home.path(".config/rune/rules/bash.rules")).unwrap();
    assert!(run_policy(&home, "install").contains("rules/bash.rules"));
    assert!(home.all_files().len() == before.len());
}

#[test]
fn install_does_not_change_existing_files() {
    let home = Sandbox::new();
    for name in ["config.local.toml", "config.toml", BASH] {
        write_policy(&home, name, "# mine\n");
    }
    run_policy(&home, "install");
    run_policy(&home, "update");
    for name in ["config.local.toml", "config.toml", BASH] {
        assert_eq!(installed(&home, name), "# mine\n", "{name}");
    }
    let home = Sandbox::new();
    fs::create_dir_all(home.path(".config/rune")).unwrap();
    symlink("/nowhere/local.toml", home.path(".config/rune/config.local.toml")).unwrap();
    run_policy(&home, "install");
    assert!(home.path(".config/rune/config.local.toml").is_symlink());
}

#[test]
fn an_unedited_file_is_replaced_by_update_only() {
    let (home, old) = with_older(BASH, without_forced_pushes);
    run_policy(&home, "install");
    assert_eq!(installed(&home, BASH), old, "install does not update");
    let before = home.all_files();
    let shown = home.run(&["policy", "update", "--dry-run"], "");
    assert!(
        shown.stdout.contains("0.9.0")
            && shown.stdout.contains(version(BASH))
            && shown.stdout.contains("\n+block \"git-force-push\""),
        "{shown:?}"
    );
    assert!(home.all_files() == before, "a dry run writes nothing");
    assert!(run_policy(&home, "update").contains("rules/bash.rules"));
    assert_eq!((installed(&home, BASH).as_str(), base(&home, BASH).as_str()), (embedded(BASH), embedded(BASH)));
}

#[test]
fn edits_survive_an_update() {
    let (home, old) = with_older(BASH, without_forced_pushes);
    let edit = "  hits rm -rf /\n  hits rm -rf /srv\n";
    write_policy(&home, BASH, &old.replacen("  hits rm -rf /\n", edit, 1));
    let main = embedded("config.toml").replace("disabled = []", "disabled = [\"mcp-fetch\"]");
    write_policy(&home, "config.toml", &main);
    let stdout = run_policy(&home, "update");
    assert!(stdout.contains("rules/bash.rules") && !stdout.contains("config.toml"), "{stdout}");
    assert_eq!(installed(&home, BASH), embedded(BASH).replacen("  hits rm -rf /\n", edit, 1));
    assert_eq!(installed(&home, "config.toml"), main);
    let before = home.all_files();
    run_policy(&home, "update");
    assert!(home.all_files() == before);

    let (home, old) = with_older("config.toml", |text| text.replace("\"rg\", ", ""));
    write_policy(&home, "config.toml", &old.replace("disabled = []", "disabled = [\"mcp-fetch\"]"));
    assert!(run_policy(&home, "update").contains("config.toml"));
    assert_eq!(installed(&home, "config.toml"), main);
}

#[test]
fn in_a_conflict_the_operators_rule_stays_and_the_other_rules_are_updated() {
    let (home, old) = with_older(BASH, |text| {
        let text = text.replacen("  nudge \"name what", "  nudge \"name only what", 1);
        text.replacen("  misses rune quarantine status\n", "", 1)
    });
    write_policy(&home, BASH, &old.replacen("  nudge \"name only what", "  nudge \"kindly name what", 1));
    let stdout = run_policy(&home, "update");
    assert!(stdout.contains("`destructive-delete`"), "{stdout}");
    let wanted = embedded(BASH).replacen("  nudge \"name what", "  nudge \"kindly name what", 1);
    assert_eq!(installed(&home, BASH).trim_end(), wanted.trim_end());
    assert_eq!(home.run(&["rules", "check"], "").exit, 0);
    let before = home.all_files();
    assert!(!run_policy(&home, "update").contains("bash.rules"));
    assert!(home.all_files() == before);
}

#[test]
fn the_new_file_is_removed_once_the_new_default_is_in_place() {
    let (home, _) = with_older(BASH, without_forced_pushes);
    fs::remove_dir_all(home.path(".local/share/rune")).unwrap();
    let stdout = run_policy(&home, "update");
    assert!(stdout.contains("rules/bash.rules"), "{stdout}");
    assert!(!installed(&home, BASH).contains("git-force-push"));
    fs::copy(home.path(".config/rune/rules/bash.rules.new"), home.path(".config/rune/rules/bash.rules")).unwrap();
    run_policy(&home, "update");
    assert!(!home.path(".config/rune/rules/bash.rules.new").exists());
}

#[test]
fn an_older_program_changes_nothing() {
    let home = Sandbox::new();
    run_policy(&home, "install");
    write_policy(&home, BASH, &embedded(BASH).replacen(version(BASH), "9.0.0", 1));
    let before = home.all_files();
    let stdout = run_policy(&home, "update");
    assert!(stdout.contains("rules/bash.rules") && stdout.contains("9.0.0"), "{stdout}");
    assert!(home.all_files() == before);
}

#[test]
fn an_update_that_loosens_is_shown_and_needs_a_person() {
    let gone = "block \"no-npm\"\n  match ^npm publish\n  nudge \"Ask first\"\n\n";
    let (home, old) = with_older(BASH, |text| text.replacen("block \"", &format!("{gone}block \""), 1));
    let agent = |words: &[&str]| finish(home.command(words).env("CLAUDECODE", "1").spawn().unwrap(), b"");
    let refused = agent(&["policy", "update", "--yes"]);
    assert!(refused.is_refused_to_agents(), "{refused:?}");
    let refused = policy(&home, "update");
    assert!(refused.exit == 1 && refused.stderr.contains("--yes"), "{refused:?}");
    assert!(refused.stdout.contains("no-npm"), "{refused:?}");
    assert_eq!(installed(&home, BASH), old);
    assert_eq!(home.run_as_person(&["policy", "update", "--yes"]).exit, 0);
    assert_eq!(installed(&home, BASH), embedded(BASH));
    // Without a change, an agent is not refused.
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
fn agents_cannot_update_rules() {
    let (home, old) = with_older(BASH, without_forced_pushes);
    let refused = finish(home.command(&["policy", "update"]).env("CLAUDECODE", "1").spawn().unwrap(), b"");
    assert!(refused.is_refused_to_agents(), "{refused:?}");
    assert_eq!(installed(&home, BASH), old);
}

#[test]
fn an_update_keeps_symlinks_and_modes() {
    let (home, old) = with_older(BASH, without_forced_pushes);
    let link = home.path(".config/rune/rules/bash.rules");
    let real = home.write("dotfiles/bash.rules", &old);
    fs::set_permissions(&real, fs::Permissions::from_mode(0o444)).unwrap();
    fs::remove_file(&link).unwrap();
    symlink(&real, &link).unwrap();
    run_policy(&home, "update");
    assert!(link.is_symlink());
    assert_eq!(fs::read_to_string(&real).unwrap(), embedded(BASH));
    assert_eq!(fs::metadata(&real).unwrap().permissions().mode() & 0o777, 0o444);
}

#[test]
fn an_unreadable_file_stops_install_and_update() {
    let home = Sandbox::new();
    fs::create_dir_all(home.path(".config/rune/rules/mcp.rules")).unwrap();
    for verb in ["install", "update"] {
        let refused = policy(&home, verb);
        assert!(refused.exit == 1 && refused.stderr.contains("mcp.rules"), "{refused:?}");
    }
    assert!(home.all_files().is_empty());
}

#[test]
fn the_binary_prints_completions_and_writes_man_pages() {
    let home = Sandbox::new();
    for (shell, sign) in [("bash", "_rune()"), ("zsh", "#compdef rune"), ("fish", "complete -c rune")] {
        let made = home.run(&["completions", shell], "");
        assert!(made.exit == 0 && made.stdout.contains(sign) && made.stdout.contains("policy"), "{shell}");
    }
    assert!(home.run(&["man"], "").stdout.contains(".TH rune 1"));
    assert_eq!(home.run_as_person(&["man", "--out", "man1"]).exit, 0);
    assert_eq!(home.run_as_person(&["man", "--out", "man1"]).exit, 0, "again");
    let mode = fs::metadata(home.path("man1/rune.1")).unwrap().permissions().mode();
    assert_eq!(mode & 0o444, 0o444, "not world-readable");
    let page = fs::read_to_string(home.path("man1/rune-policy-update.1")).unwrap();
    assert!(page.contains("rune policy update"), "{page}");
}

#[test]
fn man_pages_are_not_written_through_symlinks_nor_for_agents() {
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
fn an_edited_new_file_is_kept() {
    let (home, old) = with_older(BASH, |text| text.replacen("  nudge \"name what", "  nudge \"name only what", 1));
    let edited = old.replacen("  nudge \"name only what", "  nudge \"kindly name what", 1);
    write_policy(&home, BASH, &edited);
    let new = format!("{BASH}.new");
    // An unedited new file of an earlier version is replaced.
    write_policy(&home, &new, &old);
    run_policy(&home, "update");
    assert_eq!(installed(&home, &new), embedded(BASH));
    // An edited one is not.
    home.write(&format!(".local/share/rune/policy/{BASH}"), &old);
    write_policy(&home, &new, "# half done\n");
    let before = home.all_files();
    let stdout = run_policy(&home, "update");
    assert!(stdout.contains("bash.rules.new"), "{stdout}");
    assert!(home.all_files() == before);
    // Not even if the file itself equals the new default.
    write_policy(&home, BASH, embedded(BASH));
    run_policy(&home, "update");
    assert_eq!(installed(&home, &new), "# half done\n");
}
