//! Compares `rune receipts verify` with a verifier in Python that was written from `src/receipt/FORMAT.md` alone.

use super::*;
use crate::support::sandbox::Sandbox;
use std::process::Command;

const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/receipts/verify.py");

/// The exit code and the output of the verifier in Python.
pub fn verify_with_python(key: &str, path: &Path) -> (i32, String) {
    let output = Command::new("python3").arg("-I").arg(SCRIPT).arg(key).arg(path).output();
    let output = output.unwrap_or_else(|error| panic!("this test needs python3 on the PATH: {error}"));
    let text = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    (output.status.code().unwrap(), text)
}

#[test]
fn both_verifiers_agree() {
    let home = Sandbox::new();
    session(&home, "s1");
    call(&home, "s2", DENIED, json!({}));
    home.run_as_person(&["receipts", "key", "rotate", "--yes"]);
    session(&home, "s3");
    let out = home.path("pack");
    home.run(&["receipts", "export", "s3", "--out", out.to_str().unwrap()], "");
    let keys = receipts(&folder(&home).join("@operator.jsonl"));
    let (old, new) = (keys[0].key.clone(), secret(&home).public().to_owned());
    assert_ne!(old, new);
    let verify_with_rune =
        |key: &str, path: &Path| home.run(&["receipts", "verify", "--key", key, path.to_str().unwrap()], "").exit;
    let text = std::fs::read_to_string(file(&home, "s1")).unwrap();
    let copy = |name: &str, text: String| home.write(name, &text);
    let lines: Vec<&str> = text.lines().collect();
    let join = |lines: &[&str]| lines.iter().map(|line| format!("{line}\n")).collect::<String>();
    for (key, path, expected) in [
        (&old, file(&home, "s1"), 0),
        (&old, file(&home, "s2"), 2),
        (&new, file(&home, "s3"), 0),
        (&new, file(&home, "s1"), 1),
        (&old, out.clone(), 0),
        (&new, out.clone(), 1),
        (&old, copy("a.jsonl", text.replacen("deny", "pass", 1)), 1),
        (&old, copy("b.jsonl", join(&lines[1..])), 1),
        (&old, copy("c.jsonl", join(&[lines[0], lines[2], lines[1], lines[3], lines[4], lines[5], lines[6]])), 1),
        (&old, copy("d.jsonl", join(&lines[..5])), 2),
        (&old, copy("e.jsonl", join(&[&lines[..], &lines[6..]].concat())), 1),
        (&old, copy("f.jsonl", text.replacen("\"seq\":2", "\"seq\": 2", 1)), 1),
        (&old, copy("g.jsonl", text.trim_end().to_owned()), 2),
    ] {
        let (exit, text) = verify_with_python(key, &path);
        assert_eq!((exit, verify_with_rune(key, &path)), (expected, expected), "{}: {text}", path.display());
    }
}
