//! Rotation of the signing key.

use super::*;
use crate::support::sandbox::{Sandbox, finish};

#[test]
fn only_the_old_key_vouches_for_the_new_one() {
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
    assert_eq!(verified(&old, &path).exit, 0, "the receipt of the rotation is in the same directory");
    assert_eq!(verified(&old, &all).exit, 0);
    let output = verified(&new, &path);
    assert!(
        output.exit == 1 && output.stdout.lines().any(|line| line.contains("1") && line.contains("RECEIPT_KEY_WRONG")),
        "{output:?}"
    );
    assert_eq!(
        home.run(&["receipts", "verify", all.to_str().unwrap()], "").exit,
        0,
        "with the key of the installation"
    );
    // A pack is sealed with the new key and can be verified with the old one.
    let pack = home.path("pack");
    assert_eq!(home.run(&["receipts", "export", "--out", pack.to_str().unwrap()], "").exit, 0);
    assert_eq!(verified(&old, &pack).exit, 0);
    // Not without the receipt of the rotation.
    std::fs::remove_file(all.join("@operator.jsonl")).unwrap();
    let output = verified(&old, &path);
    assert!(
        output.exit == 1 && output.stdout.lines().any(|line| line.contains("2") && line.contains("RECEIPT_KEY_WRONG")),
        "{output:?}"
    );
}

#[test]
fn a_replaced_key_is_not_accepted_for_later_receipts() {
    let home = Sandbox::new();
    call(&home, "s1", DENIED, json!({}));
    let old = secret(&home);
    home.run_as_person(&["receipts", "key", "rotate", "--yes"]);
    call(&home, "s1", DENIED, json!({}));
    // A thief of the old key continues the chain.
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
fn agents_cannot_rotate_the_key() {
    let home = Sandbox::new();
    call(&home, "s1", DENIED, json!({}));
    let key = secret(&home).public().to_owned();
    let mut command = home.command(&["receipts", "key", "rotate", "--yes"]);
    let output = finish(command.env("CLAUDECODE", "1").spawn().unwrap(), b"");
    assert!(output.is_refused_to_agents(), "{output:?}");
    assert_eq!(secret(&home).public(), key);
}
