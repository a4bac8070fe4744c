//! A new key, and who believes it.

use super::*;
use crate::support::sandbox::{Sandbox, finish};

#[test]
fn the_old_key_vouches_for_the_new_one_and_nobody_else_does() {
    let home = Sandbox::new();
    call(&home, "s1", DENIED, json!({}));
    let old = secret(&home).public().to_owned();
    let output = home.run_as_person(&["receipts", "key", "rotate", "--yes"]);
    assert_eq!(output.exit, 0, "{output:?}");
    let new = secret(&home).public().to_owned();
    assert_ne!(old, new);
    call(&home, "s1", DENIED, json!({}));
    end(&home, "s1");
    let verified = |key: &str, path: &Path| home.run(&["receipts", "verify", "--key", key, path.to_str().unwrap()], "");
    let (path, all) = (file(&home, "s1"), folder(&home));
    assert_eq!(verified(&old, &path).exit, 0, "what people did lies beside it");
    assert_eq!(verified(&old, &all).exit, 0);
    let output = verified(&new, &path);
    assert!(
        output.exit == 1 && output.stdout.lines().any(|line| line.contains("1") && line.contains("RECEIPT_KEY_WRONG")),
        "{output:?}"
    );
    assert_eq!(home.run(&["receipts", "verify", all.to_str().unwrap()], "").exit, 0, "the installation knows its own");
    // A pack is sealed by the new key, and whoever has the old one believes it.
    let pack = home.path("pack");
    assert_eq!(home.run(&["receipts", "export", "--out", pack.to_str().unwrap()], "").exit, 0);
    assert_eq!(verified(&old, &pack).exit, 0);
    // Without the record of the rotation, nobody has vouched.
    std::fs::remove_file(all.join("@operator.jsonl")).unwrap();
    let output = verified(&old, &path);
    assert!(
        output.exit == 1 && output.stdout.lines().any(|line| line.contains("2") && line.contains("RECEIPT_KEY_WRONG")),
        "{output:?}"
    );
}

#[test]
fn a_key_that_was_rotated_away_from_does_not_come_back() {
    let home = Sandbox::new();
    call(&home, "s1", DENIED, json!({}));
    let old = secret(&home);
    home.run_as_person(&["receipts", "key", "rotate", "--yes"]);
    call(&home, "s1", DENIED, json!({}));
    // Whoever has stolen the old key goes on with the chain.
    let path = file(&home, "s1");
    let text = std::fs::read(&path).unwrap();
    let last = text.split(|byte| *byte == b'\n').nth(1).unwrap();
    let mut forged = receipts(&path)[1].clone();
    (forged.seq, forged.prev) = (3, rune::receipt::hash(last));
    let forged = forged.signed_by(&old).to_line();
    std::fs::write(&path, [text, forged].concat()).unwrap();
    let output = home.run(&["receipts", "verify", "--key", old.public(), path.to_str().unwrap()], "");
    assert!(
        output.exit == 1 && output.stdout.lines().any(|line| line.contains("3") && line.contains("RECEIPT_KEY_WRONG")),
        "{output:?}"
    );
}

#[test]
fn agents_do_not_rotate() {
    let home = Sandbox::new();
    call(&home, "s1", DENIED, json!({}));
    let key = secret(&home).public().to_owned();
    let mut command = home.command(&["receipts", "key", "rotate", "--yes"]);
    let output = finish(command.env("CLAUDECODE", "1").spawn().unwrap(), b"");
    assert!(output.is_refused_to_agents(), "{output:?}");
    assert_eq!(secret(&home).public(), key);
}
