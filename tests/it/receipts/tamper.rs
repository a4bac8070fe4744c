//! Kinds of tampering with receipts and packs, and the fault that the verifier reports for each.

use super::*;
use crate::support::sandbox::Sandbox;
use rune::receipt::pack::Index;
use rune::receipt::{ExpectedChain, Outcome, PublicKey, TrustedKeys, hash};

/// What an attacker can use: a file of receipts, one of another session, and two keys.
struct Attack {
    lines: Vec<String>,
    other: Vec<String>,
    /// The key that signed the file.
    own: Secret,
    /// A key of the attacker.
    foreign: Secret,
}

impl Attack {
    fn receipt(&self, line: usize) -> Receipt {
        serde_json::from_str(&self.lines[line - 1]).unwrap()
    }

    /// Edits a line as text.
    fn edit(&mut self, line: usize, from: &str, to: &str) {
        let edited = self.lines[line - 1].replacen(from, to, 1);
        assert_ne!(edited, self.lines[line - 1], "{from}");
        self.lines[line - 1] = edited;
    }

    /// Replaces a line by a receipt that is signed with a key.
    fn forge(&mut self, line: usize, receipt: Receipt, secret: fn(&Attack) -> &Secret) {
        let signed = receipt.signed_by(secret(self));
        self.lines[line - 1] = text(&signed);
    }

    /// Signs all lines from one on with a key, and adapts the hashes in them.
    fn rewrite(&mut self, from: usize, secret: fn(&Attack) -> &Secret) {
        for line in from..=self.lines.len() {
            let mut receipt = self.receipt(line);
            if line > 1 {
                receipt.prev = hash(self.lines[line - 2].as_bytes());
                receipt.head = receipt.head.map(|_| receipt.prev.clone());
            }
            self.forge(line, receipt, secret);
        }
    }
}

fn text(receipt: &Receipt) -> String {
    String::from_utf8(receipt.to_line()).unwrap().trim_end().to_owned()
}

fn own(attack: &Attack) -> &Secret {
    &attack.own
}

fn foreign(attack: &Attack) -> &Secret {
    &attack.foreign
}

type Tamper = fn(&mut Attack);

/// Changes of a sealed file of seven lines: name, change, code and line of the first fault, exit code.
const KINDS: &[(&str, Tamper, &str, u64, i32)] = &[
    ("nothing is done", |_| {}, "", 0, 0),
    ("the first line is dropped", |a| drop(a.lines.remove(0)), "RECEIPT_GAP", 1, 1),
    ("a line is dropped", |a| drop(a.lines.remove(2)), "RECEIPT_GAP", 3, 1),
    ("three lines are dropped", |a| drop(a.lines.drain(1..4)), "RECEIPT_GAP", 2, 1),
    ("the last decision is dropped", |a| drop(a.lines.remove(5)), "RECEIPT_GAP", 6, 1),
    ("the seal is dropped", |a| drop(a.lines.pop()), "RECEIPT_UNSEALED", 6, 2),
    ("the end is dropped", |a| a.lines.truncate(3), "RECEIPT_UNSEALED", 3, 2),
    ("everything is dropped", |a| a.lines.clear(), "RECEIPT_UNSEALED", 0, 2),
    ("two lines are swapped", |a| a.lines.swap(1, 2), "RECEIPT_REORDERED", 2, 1),
    ("first and last are swapped", |a| a.lines.swap(0, 6), "RECEIPT_REORDERED", 1, 1),
    ("all lines are reversed", |a| a.lines.reverse(), "RECEIPT_REORDERED", 1, 1),
    (
        "a line is moved to the front",
        |a| {
            let line = a.lines.remove(3);
            a.lines.insert(0, line);
        },
        "RECEIPT_REORDERED",
        1,
        1,
    ),
    ("a line is repeated", |a| a.lines.insert(3, a.lines[2].clone()), "RECEIPT_DUPLICATE", 4, 1),
    ("a line is repeated at the end", |a| a.lines.push(a.lines[1].clone()), "RECEIPT_DUPLICATE", 8, 1),
    ("the seal is repeated", |a| a.lines.push(a.lines[6].clone()), "RECEIPT_DUPLICATE", 8, 1),
    ("the whole file is repeated", |a| a.lines.extend(a.lines.clone()), "RECEIPT_DUPLICATE", 8, 1),
    ("a line of another session is put in", |a| a.lines.insert(2, a.other[2].clone()), "RECEIPT_FOREIGN_SESSION", 3, 1),
    (
        "a line of another session takes the place of one",
        |a| a.lines[2] = a.other[2].clone(),
        "RECEIPT_FOREIGN_SESSION",
        3,
        1,
    ),
    ("the first line is that of another session", |a| a.lines[0] = a.other[0].clone(), "RECEIPT_FOREIGN_SESSION", 1, 1),
    ("the seal is that of another session", |a| a.lines[6] = a.other[6].clone(), "RECEIPT_FOREIGN_SESSION", 7, 1),
    ("another session follows", |a| a.lines.extend(a.other.clone()), "RECEIPT_FOREIGN_SESSION", 8, 1),
    (
        "a denial becomes an allowance",
        |a| a.edit(1, "\"verdict\":\"deny\"", "\"verdict\":\"allow\""),
        "RECEIPT_SIGNATURE_WRONG",
        1,
        1,
    ),
    (
        "a denied call was dispatched",
        |a| a.edit(1, "\"dispatched\":false", "\"dispatched\":true"),
        "RECEIPT_SIGNATURE_WRONG",
        1,
        1,
    ),
    ("a number is edited", |a| a.edit(3, "\"seq\":3", "\"seq\":4"), "RECEIPT_SIGNATURE_WRONG", 3, 1),
    ("the count of the seal is edited", |a| a.edit(7, "\"count\":6", "\"count\":5"), "RECEIPT_SIGNATURE_WRONG", 7, 1),
    (
        "the signature is that of the line before",
        |a| {
            let other = a.receipt(1).signature.unwrap();
            let mine = a.receipt(2).signature.unwrap();
            a.edit(2, &mine, &other);
        },
        "RECEIPT_SIGNATURE_WRONG",
        2,
        1,
    ),
    (
        "the signature is gone",
        |a| {
            let mine = a.receipt(2).signature.unwrap();
            a.edit(2, &format!("\"signature\":\"{mine}\","), "");
        },
        "RECEIPT_SIGNATURE_WRONG",
        2,
        1,
    ),
    (
        "the signature is nothing",
        |a| {
            let mine = a.receipt(2).signature.unwrap();
            a.edit(2, &format!("\"{mine}\""), "null");
        },
        "RECEIPT_NOT_CANONICAL",
        2,
        1,
    ),
    (
        "the signature is in capitals",
        |a| {
            let mine = a.receipt(2).signature.unwrap();
            let loud = format!("ed25519:{}", mine.strip_prefix("ed25519:").unwrap().to_uppercase());
            a.edit(2, &mine, &loud);
        },
        "RECEIPT_SIGNATURE_WRONG",
        2,
        1,
    ),
    (
        "a line is signed with a foreign key",
        |a| {
            let mine = a.receipt(4);
            a.forge(4, mine, foreign);
        },
        "RECEIPT_KEY_WRONG",
        4,
        1,
    ),
    ("everything is signed with a foreign key", |a| a.rewrite(1, foreign), "RECEIPT_KEY_WRONG", 1, 1),
    ("the end is rewritten with a foreign key", |a| a.rewrite(4, foreign), "RECEIPT_KEY_WRONG", 4, 1),
    (
        "the key alone is edited",
        |a| {
            let (mine, other) = (a.own.public().to_owned(), a.foreign.public().to_owned());
            a.edit(2, &mine, &other);
        },
        "RECEIPT_KEY_WRONG",
        2,
        1,
    ),
    ("a later version", |a| a.edit(2, "rune.receipt/1", "rune.receipt/2"), "RECEIPT_VERSION_UNKNOWN", 2, 1),
    (
        "a later version with a member more",
        |a| {
            a.edit(2, "rune.receipt/1", "rune.receipt/2");
            a.edit(2, "{", "{\"a\":1,");
        },
        "RECEIPT_VERSION_UNKNOWN",
        2,
        1,
    ),
    ("blanks are added", |a| a.edit(2, "\"seq\":2", "\"seq\": 2"), "RECEIPT_NOT_CANONICAL", 2, 1),
    ("a blank is added at the end", |a| a.lines[1].push(' '), "RECEIPT_NOT_CANONICAL", 2, 1),
    ("lines end as on Windows", |a| a.lines.iter_mut().for_each(|line| line.push('\r')), "RECEIPT_NOT_CANONICAL", 1, 1),
    (
        "members change places",
        |a| {
            a.edit(2, "\"torn\":0,", "");
            a.edit(2, "{", "{\"torn\":0,");
        },
        "RECEIPT_NOT_CANONICAL",
        2,
        1,
    ),
    (
        "a text is spelled otherwise",
        |a| a.edit(2, "\"client\":\"claude\"", "\"client\":\"\\u0063laude\""),
        "RECEIPT_NOT_CANONICAL",
        2,
        1,
    ),
    ("a number is spelled otherwise", |a| a.edit(2, "\"seq\":2", "\"seq\":2.0"), "RECEIPT_UNREADABLE", 2, 1),
    ("a member that is empty is dropped", |a| a.edit(2, "\"pin\":null,", ""), "RECEIPT_NOT_CANONICAL", 2, 1),
    ("a member is dropped", |a| a.edit(2, "\"seq\":2,", ""), "RECEIPT_UNREADABLE", 2, 1),
    ("a member is added", |a| a.edit(2, "{", "{\"also\":1,"), "RECEIPT_UNREADABLE", 2, 1),
    ("a member is repeated", |a| a.edit(2, "\"seq\":2", "\"seq\":2,\"seq\":2"), "RECEIPT_UNREADABLE", 2, 1),
    ("a line is no JSON", |a| a.lines[2] = "no JSON".to_owned(), "RECEIPT_UNREADABLE", 3, 1),
    ("a line of anything is put in", |a| a.lines.insert(2, "{}".to_owned()), "RECEIPT_UNREADABLE", 3, 1),
    ("an empty line is put in", |a| a.lines.insert(2, String::new()), "RECEIPT_UNREADABLE", 3, 1),
    ("an empty line follows the seal", |a| a.lines.push(String::new()), "RECEIPT_UNREADABLE", 8, 1),
    ("a mark of the byte order is put in front", |a| a.lines[0].insert(0, '\u{feff}'), "RECEIPT_UNREADABLE", 1, 1),
    (
        "two lines are joined",
        |a| {
            let second = a.lines.remove(1);
            a.lines[0].push_str(&second);
        },
        "RECEIPT_UNREADABLE",
        1,
        1,
    ),
    // From here on, the attacker has the key.
    (
        "a line is rewritten with the key",
        |a| {
            let mut mine = a.receipt(3);
            mine.reason = Some("OTHER".to_owned());
            a.forge(3, mine, own);
        },
        "RECEIPT_CHAIN_BROKEN",
        4,
        1,
    ),
    (
        "a second line of the same number",
        |a| {
            let mut mine = a.receipt(3);
            mine.reason = Some("OTHER".to_owned());
            a.lines.insert(3, String::new());
            a.forge(4, mine, own);
        },
        "RECEIPT_FORKED",
        4,
        1,
    ),
    (
        "a seal that counts wrongly",
        |a| {
            let mut mine = a.receipt(7);
            mine.count = Some(2);
            a.forge(7, mine, own);
        },
        "RECEIPT_SEAL_WRONG",
        7,
        1,
    ),
    (
        "a seal with another head",
        |a| {
            let mut mine = a.receipt(7);
            mine.head = Some(a.receipt(2).prev);
            a.forge(7, mine, own);
        },
        "RECEIPT_SEAL_WRONG",
        7,
        1,
    ),
    (
        "a receipt behind the seal",
        |a| {
            let mut mine = a.receipt(6);
            mine.seq = 8;
            mine.prev = hash(a.lines[6].as_bytes());
            a.lines.push(String::new());
            a.forge(8, mine, own);
        },
        "RECEIPT_AFTER_SEAL",
        8,
        1,
    ),
    (
        "a session that begins elsewhere",
        |a| {
            let mut mine = a.receipt(1);
            mine.prev = hash(b"elsewhere");
            a.forge(1, mine, own);
            a.rewrite(2, own);
        },
        "RECEIPT_CHAIN_BROKEN",
        1,
        1,
    ),
    (
        "a line of another part",
        |a| {
            let mut mine = a.receipt(3);
            mine.part = 2;
            a.forge(3, mine, own);
        },
        "RECEIPT_FOREIGN_SESSION",
        3,
        1,
    ),
];

#[test]
fn each_kind_of_tampering_is_reported_with_its_line() {
    let home = Sandbox::new();
    session(&home, "s1");
    session(&home, "s2");
    let lines = |session: &str| -> Vec<String> {
        std::fs::read_to_string(file(&home, session)).unwrap().lines().map(str::to_owned).collect()
    };
    assert!(KINDS.len() > 25);
    let path = home.path("tampered.jsonl");
    for (name, tamper, code, line, exit) in KINDS {
        let mut attack = Attack {
            lines: lines("s1"),
            other: lines("s2"),
            own: secret(&home),
            foreign: Secret::new([9; 32], [9; 32]),
        };
        tamper(&mut attack);
        std::fs::write(&path, attack.lines.iter().map(|line| format!("{line}\n")).collect::<String>()).unwrap();
        let (found, codes, report) = verify(&home, &path, &[]);
        assert_eq!(found, *exit, "{name}: {codes:?}");
        let first = codes.first().map_or((String::new(), 0), |(code, line)| (code.clone(), line.unwrap()));
        assert_eq!(first, ((*code).to_owned(), *line), "{name}: {codes:?}");
        // The lines before the fault are reported as valid.
        let whole = if *exit == 1 { line - 1 } else { attack.lines.len() as u64 };
        assert_eq!(report["files"][0]["whole"], whole, "{name}: {report}");
    }
}

#[test]
fn a_change_of_any_member_is_found() {
    let home = Sandbox::new();
    session(&home, "s1");
    let text = std::fs::read_to_string(file(&home, "s1")).unwrap();
    let keys = TrustedKeys::new(PublicKey::read(secret(&home).public()));
    let mut seen = 0;
    for line in [1, 3, 7] {
        let receipt: Value = serde_json::from_str(text.lines().nth(line - 1).unwrap()).unwrap();
        for (member, value) in receipt.as_object().unwrap() {
            let mut edited = receipt.clone();
            edited[member] = match value {
                Value::String(text) => json!(format!("{text}0")),
                Value::Number(number) => json!(number.as_u64().unwrap() + 1),
                Value::Bool(is) => json!(!is),
                _ if ["count"].contains(&member.as_str()) => json!(1),
                _ if member == "dispatched" => json!(false),
                Value::Null | Value::Array(_) | Value::Object(_) => json!("x"),
            };
            let edited: String = text
                .lines()
                .enumerate()
                .map(|(at, own)| if at == line - 1 { format!("{edited}\n") } else { format!("{own}\n") })
                .collect();
            let report = rune::receipt::verify(edited.as_bytes(), &mut keys.clone(), &ExpectedChain::default());
            assert_eq!(report.outcome(), Outcome::Invalid, "{member}");
            assert_eq!(report.faults[0].line, Some(line), "{member}: {:?}", report.faults);
            assert_eq!(report.faults.len(), if line == 7 { 2 } else { 1 }, "{member}: {:?}", report.faults);
            seen += 1;
        }
    }
    assert_eq!(seen, 72, "three receipts of 24 members");
}

#[test]
fn a_change_of_any_bit_is_found() {
    let home = Sandbox::new();
    call(&home, "s1", DENIED, json!({}));
    call(&home, "s1", ASKED, json!({}));
    call(&home, "s2", DENIED, json!({}));
    end(&home, "s1");
    let keys = TrustedKeys::new(PublicKey::read(secret(&home).public()));
    let mut flips = 0;
    for (session, sealed) in [("s1", true), ("s2", false)] {
        let bytes = std::fs::read(file(&home, session)).unwrap();
        let clean = rune::receipt::verify(&bytes, &mut keys.clone(), &ExpectedChain::default());
        assert_eq!(clean.outcome(), if sealed { Outcome::Valid } else { Outcome::CannotTell });
        for bit in 0..bytes.len() * 8 {
            let mut flipped = bytes.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            let report = rune::receipt::verify(&flipped, &mut keys.clone(), &ExpectedChain::default());
            assert_ne!(report.outcome(), Outcome::Valid, "{session}, bit {bit}");
            assert_ne!(report.faults, clean.faults, "{session}, bit {bit}");
            // Without its last newline, a file may be the result of a crash.
            let may_be_crash = bit / 8 == bytes.len() - 1;
            let is_invalid = report.outcome() == Outcome::Invalid;
            assert_eq!(is_invalid, !may_be_crash, "{session}, bit {bit}: {:?}", report.faults);
            flips += 1;
        }
    }
    assert!(flips > 20_000, "{flips}");
}

type PackTamper = fn(&Path, &Path);

fn edit(path: &Path, from: &str, to: &str) {
    let text = std::fs::read_to_string(path).unwrap();
    let edited = text.replacen(from, to, 1);
    assert_ne!(text, edited);
    std::fs::write(path, edited).unwrap();
}

fn copy(from: &Path, to: &Path) {
    std::fs::copy(from, to).unwrap();
}

/// Changes of a pack, with another pack to copy from: name, change, and the code of a fault that must be reported.
const PACKS: &[(&str, PackTamper, &str)] = &[
    ("the index is edited", |p, _| edit(&p.join("index.json"), "\"count\":7", "\"count\":6"), "PACK_INDEX_WRONG"),
    ("the index is spelled otherwise", |p, _| edit(&p.join("index.json"), "{", "{ "), "PACK_INDEX_WRONG"),
    ("the index is gone", |p, _| std::fs::remove_file(p.join("index.json")).unwrap(), "PACK_INDEX_WRONG"),
    ("the seal is gone", |p, _| std::fs::remove_file(p.join("seal.json")).unwrap(), "PACK_SEAL_WRONG"),
    ("the seal is edited", |p, _| edit(&p.join("seal.json"), "\"time\":\"2", "\"time\":\"1"), "PACK_SEAL_WRONG"),
    ("the seal is that of another pack", |p, o| copy(&o.join("seal.json"), &p.join("seal.json")), "PACK_INDEX_WRONG"),
    ("the seal is of a later version", |p, _| edit(&p.join("seal.json"), "seal/1", "seal/2"), "PACK_VERSION_UNKNOWN"),
    (
        "the key in the pack is another",
        |p, _| std::fs::write(p.join("key.pub"), "ed25519:00\n").unwrap(),
        "PACK_FILE_EDITED",
    ),
    (
        "the key in the pack is another, for the verifier",
        |p, _| std::fs::write(p.join("key.pub"), "ed25519:00\n").unwrap(),
        "PACK_KEY_WRONG",
    ),
    ("a file is gone", |p, _| std::fs::remove_file(p.join("receipts/s1.jsonl")).unwrap(), "PACK_FILE_MISSING"),
    ("a file is put in", |p, _| std::fs::write(p.join("receipts/s9.jsonl"), "").unwrap(), "PACK_FILE_UNLISTED"),
    (
        "a file is a link",
        |p, o| {
            let file = p.join("receipts/s1.jsonl");
            std::fs::remove_file(&file).unwrap();
            std::os::unix::fs::symlink(o.join("receipts/s1.jsonl"), &file).unwrap();
        },
        "PACK_FILE_EDITED",
    ),
    (
        "receipts lose their end",
        |p, _| {
            let file = p.join("receipts/s1.jsonl");
            let text = std::fs::read_to_string(&file).unwrap();
            let short: String = text.lines().take(3).map(|line| format!("{line}\n")).collect();
            std::fs::write(&file, short).unwrap();
        },
        "RECEIPT_TRUNCATED",
    ),
    (
        "receipts are those of another session",
        |p, _| copy(&p.join("receipts/s2.jsonl"), &p.join("receipts/s1.jsonl")),
        "RECEIPT_FOREIGN_SESSION",
    ),
    ("a receipt is edited", |p, _| edit(&p.join("receipts/s1.jsonl"), "deny", "pass"), "RECEIPT_SIGNATURE_WRONG"),
];

#[test]
fn each_change_of_a_pack_is_reported() {
    let home = Sandbox::new();
    session(&home, "s1");
    session(&home, "s2");
    let export = |name: &str| {
        let out = home.path(name);
        let output = home.run(&["receipts", "export", "--json", "--out", out.to_str().unwrap()], "");
        assert_eq!(output.exit, 0, "{output:?}");
        (out, output.json()["head"].as_str().unwrap().to_owned())
    };
    let (other, other_head) = export("other");
    for (number, (name, tamper, code)) in PACKS.iter().enumerate() {
        let (pack, head) = export(&format!("pack-{number}"));
        assert_eq!(verify(&home, &pack, &[]).0, 0, "{name}");
        assert_eq!(verify(&home, &pack, &["--head", &head]).0, 0, "{name}");
        assert_eq!(verify(&home, &pack, &["--head", &other_head]).0, 1, "{name}");
        tamper(&pack, &other);
        let (exit, codes, _) = verify(&home, &pack, &[]);
        assert_eq!(exit, 1, "{name}");
        assert!(codes.iter().any(|(found, _)| found == code), "{name}: {codes:?}");
    }
}

#[test]
fn exporting_invalid_receipts_fails_as_text_and_as_json() {
    let home = Sandbox::new();
    session(&home, "s1");
    edit(&file(&home, "s1"), "deny", "pass");
    for options in [&[][..], &["--json"]] {
        let out = home.path(&format!("pack-{}", options.len()));
        let words = [&["receipts", "export", "--out", out.to_str().unwrap()][..], options].concat();
        let output = home.run(&words, "");
        assert_eq!(output.exit, 1, "{output:?}");
        assert!(output.stderr.contains("the pack contains invalid receipts"), "{output:?}");
        assert!(options.is_empty() || output.json()["outcome"] == "invalid", "{output:?}");
    }
}

#[test]
fn the_key_in_a_pack_is_not_trusted() {
    let (home, foreign_home) = (Sandbox::new(), Sandbox::new());
    session(&home, "s1");
    session(&foreign_home, "s1");
    let out = home.path("pack");
    foreign_home.run(&["receipts", "export", "--out", out.to_str().unwrap()], "");
    assert_eq!(verify(&foreign_home, &out, &[]).0, 0);
    let (exit, codes, _) = verify(&home, &out, &[]);
    assert_eq!((exit, codes[0].0.as_str()), (1, "PACK_KEY_WRONG"));
    // Also if the trusted key seals its index.
    let text = std::fs::read_to_string(out.join("index.json")).unwrap();
    let index: Index = serde_json::from_str(&text).unwrap();
    std::fs::write(out.join("seal.json"), index.seal("2026-01-01T00:00:00.000Z".to_owned(), &secret(&home))).unwrap();
    let (exit, codes, _) = verify(&home, &out, &[]);
    assert!(exit == 1 && codes.iter().any(|(code, _)| code == "RECEIPT_KEY_WRONG"), "{codes:?}");
}

#[test]
fn a_head_that_was_stored_elsewhere_reveals_a_truncated_file() {
    let home = Sandbox::new();
    for _ in 0..4 {
        call(&home, "s1", DENIED, json!({}));
    }
    let path = file(&home, "s1");
    let text = std::fs::read_to_string(&path).unwrap();
    let head = hash(text.lines().last().unwrap().as_bytes());
    assert_eq!(verify(&home, &path, &["--head", &head]).0, 2, "not sealed");
    std::fs::write(&path, text.lines().take(2).map(|line| format!("{line}\n")).collect::<String>()).unwrap();
    assert_eq!(verify(&home, &path, &[]).0, 2, "without the head");
    let (exit, codes, _) = verify(&home, &path, &["--head", &head]);
    assert_eq!((exit, codes[0].clone()), (1, ("RECEIPT_TRUNCATED".to_owned(), Some(2))));
    assert_eq!(verify(&home, &folder(&home), &["--head", &head]).0, 1);
}

#[test]
fn without_a_key_the_exit_code_is_2() {
    let home = Sandbox::new();
    session(&home, "s1");
    let copy = home.path("copy.jsonl");
    std::fs::copy(file(&home, "s1"), &copy).unwrap();
    let elsewhere = Sandbox::new();
    let output = elsewhere.run(&["receipts", "verify", copy.to_str().unwrap()], "");
    assert!(output.exit == 2 && output.stderr.contains("--key"), "{output:?}");
    let key = elsewhere.write("audit.pub", &format!("{}\n", secret(&home).public()));
    let verified = |key: &str| elsewhere.run(&["receipts", "verify", "--key", key, copy.to_str().unwrap()], "");
    assert_eq!(verified(key.to_str().unwrap()).exit, 0);
    assert_eq!(verified(secret(&home).public().strip_prefix("ed25519:").unwrap()).exit, 0);
    assert_eq!(verified("no key").exit, 2);
    assert_eq!(elsewhere.run(&["receipts", "verify", "--key", secret(&home).public(), "/nowhere"], "").exit, 2);
}
