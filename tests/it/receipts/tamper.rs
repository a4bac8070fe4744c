//! Every kind of tampering that we could think of, each named by the verifier.

use super::*;
use crate::support::sandbox::Sandbox;
use rune::receipt::pack::Index;
use rune::receipt::{Expected, Keys, Outcome, PublicKey, hash};

/// What an attacker has: the lines of the file, those of another session, and, for some, the key itself.
struct Scene {
    lines: Vec<String>,
    other: Vec<String>,
    own: Secret,
    strange: Secret,
}

impl Scene {
    fn receipt(&self, line: usize) -> Receipt {
        serde_json::from_str(&self.lines[line - 1]).unwrap()
    }

    /// Edits a line as text.
    fn edit(&mut self, line: usize, from: &str, to: &str) {
        let edited = self.lines[line - 1].replacen(from, to, 1);
        assert_ne!(edited, self.lines[line - 1], "{from}");
        self.lines[line - 1] = edited;
    }

    /// Puts a receipt in the place of a line, signed anew.
    fn forge(&mut self, line: usize, receipt: Receipt, secret: fn(&Scene) -> &Secret) {
        let signed = receipt.signed_by(secret(self));
        self.lines[line - 1] = text(&signed);
    }

    /// Signs all anew from a line on, with the hashes that follow.
    fn rewrite(&mut self, from: usize, secret: fn(&Scene) -> &Secret) {
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

fn own(scene: &Scene) -> &Secret {
    &scene.own
}

fn strange(scene: &Scene) -> &Secret {
    &scene.strange
}

type Tamper = fn(&mut Scene);

/// What is done to a sealed file of seven lines; the first fault and its line; the exit code.
const KINDS: &[(&str, Tamper, &str, u64, i32)] = &[
    ("nothing is done", |_| {}, "", 0, 0),
    ("the first line is dropped", |s| drop(s.lines.remove(0)), "RECEIPT_GAP", 1, 1),
    ("a line is dropped", |s| drop(s.lines.remove(2)), "RECEIPT_GAP", 3, 1),
    ("three lines are dropped", |s| drop(s.lines.drain(1..4)), "RECEIPT_GAP", 2, 1),
    ("the last decision is dropped", |s| drop(s.lines.remove(5)), "RECEIPT_GAP", 6, 1),
    ("the seal is dropped", |s| drop(s.lines.pop()), "RECEIPT_UNSEALED", 6, 2),
    ("the end is dropped", |s| s.lines.truncate(3), "RECEIPT_UNSEALED", 3, 2),
    ("everything is dropped", |s| s.lines.clear(), "RECEIPT_UNSEALED", 0, 2),
    ("two lines are swapped", |s| s.lines.swap(1, 2), "RECEIPT_REORDERED", 2, 1),
    ("first and last are swapped", |s| s.lines.swap(0, 6), "RECEIPT_REORDERED", 1, 1),
    ("all lines are reversed", |s| s.lines.reverse(), "RECEIPT_REORDERED", 1, 1),
    (
        "a line is moved to the front",
        |s| {
            let line = s.lines.remove(3);
            s.lines.insert(0, line);
        },
        "RECEIPT_REORDERED",
        1,
        1,
    ),
    ("a line is repeated", |s| s.lines.insert(3, s.lines[2].clone()), "RECEIPT_DUPLICATE", 4, 1),
    ("a line is repeated at the end", |s| s.lines.push(s.lines[1].clone()), "RECEIPT_DUPLICATE", 8, 1),
    ("the seal is repeated", |s| s.lines.push(s.lines[6].clone()), "RECEIPT_DUPLICATE", 8, 1),
    ("the whole file is repeated", |s| s.lines.extend(s.lines.clone()), "RECEIPT_DUPLICATE", 8, 1),
    ("a line of another session is put in", |s| s.lines.insert(2, s.other[2].clone()), "RECEIPT_FOREIGN_SESSION", 3, 1),
    (
        "a line of another session takes the place of one",
        |s| s.lines[2] = s.other[2].clone(),
        "RECEIPT_FOREIGN_SESSION",
        3,
        1,
    ),
    ("the first line is that of another session", |s| s.lines[0] = s.other[0].clone(), "RECEIPT_FOREIGN_SESSION", 1, 1),
    ("the seal is that of another session", |s| s.lines[6] = s.other[6].clone(), "RECEIPT_FOREIGN_SESSION", 7, 1),
    ("another session follows", |s| s.lines.extend(s.other.clone()), "RECEIPT_FOREIGN_SESSION", 8, 1),
    (
        "a denial becomes an allowance",
        |s| s.edit(1, "\"verdict\":\"deny\"", "\"verdict\":\"allow\""),
        "RECEIPT_SIGNATURE_WRONG",
        1,
        1,
    ),
    (
        "a denied call was dispatched",
        |s| s.edit(1, "\"dispatched\":false", "\"dispatched\":true"),
        "RECEIPT_SIGNATURE_WRONG",
        1,
        1,
    ),
    ("a number is edited", |s| s.edit(3, "\"seq\":3", "\"seq\":4"), "RECEIPT_SIGNATURE_WRONG", 3, 1),
    ("the count of the seal is edited", |s| s.edit(7, "\"count\":6", "\"count\":5"), "RECEIPT_SIGNATURE_WRONG", 7, 1),
    (
        "the signature is that of the line before",
        |s| {
            let other = s.receipt(1).signature.unwrap();
            let mine = s.receipt(2).signature.unwrap();
            s.edit(2, &mine, &other);
        },
        "RECEIPT_SIGNATURE_WRONG",
        2,
        1,
    ),
    (
        "the signature is gone",
        |s| {
            let mine = s.receipt(2).signature.unwrap();
            s.edit(2, &format!("\"signature\":\"{mine}\","), "");
        },
        "RECEIPT_SIGNATURE_WRONG",
        2,
        1,
    ),
    (
        "the signature is nothing",
        |s| {
            let mine = s.receipt(2).signature.unwrap();
            s.edit(2, &format!("\"{mine}\""), "null");
        },
        "RECEIPT_NOT_CANONICAL",
        2,
        1,
    ),
    (
        "the signature is in capitals",
        |s| {
            let mine = s.receipt(2).signature.unwrap();
            let loud = format!("ed25519:{}", mine.strip_prefix("ed25519:").unwrap().to_uppercase());
            s.edit(2, &mine, &loud);
        },
        "RECEIPT_SIGNATURE_WRONG",
        2,
        1,
    ),
    (
        "a line is signed by a stranger",
        |s| {
            let mine = s.receipt(4);
            s.forge(4, mine, strange);
        },
        "RECEIPT_KEY_WRONG",
        4,
        1,
    ),
    ("everything is signed by a stranger", |s| s.rewrite(1, strange), "RECEIPT_KEY_WRONG", 1, 1),
    ("the end is rewritten by a stranger", |s| s.rewrite(4, strange), "RECEIPT_KEY_WRONG", 4, 1),
    (
        "the key alone is edited",
        |s| {
            let (mine, other) = (s.own.public().to_owned(), s.strange.public().to_owned());
            s.edit(2, &mine, &other);
        },
        "RECEIPT_KEY_WRONG",
        2,
        1,
    ),
    ("a later version", |s| s.edit(2, "rune.receipt/1", "rune.receipt/2"), "RECEIPT_VERSION_UNKNOWN", 2, 1),
    (
        "a later version with a member more",
        |s| {
            s.edit(2, "rune.receipt/1", "rune.receipt/2");
            s.edit(2, "{", "{\"a\":1,");
        },
        "RECEIPT_VERSION_UNKNOWN",
        2,
        1,
    ),
    ("blanks are added", |s| s.edit(2, "\"seq\":2", "\"seq\": 2"), "RECEIPT_NOT_CANONICAL", 2, 1),
    ("a blank is added at the end", |s| s.lines[1].push(' '), "RECEIPT_NOT_CANONICAL", 2, 1),
    ("lines end as on Windows", |s| s.lines.iter_mut().for_each(|line| line.push('\r')), "RECEIPT_NOT_CANONICAL", 1, 1),
    (
        "members change places",
        |s| {
            s.edit(2, "\"torn\":0,", "");
            s.edit(2, "{", "{\"torn\":0,");
        },
        "RECEIPT_NOT_CANONICAL",
        2,
        1,
    ),
    (
        "a text is spelled otherwise",
        |s| s.edit(2, "\"client\":\"claude\"", "\"client\":\"\\u0063laude\""),
        "RECEIPT_NOT_CANONICAL",
        2,
        1,
    ),
    ("a number is spelled otherwise", |s| s.edit(2, "\"seq\":2", "\"seq\":2.0"), "RECEIPT_UNREADABLE", 2, 1),
    ("a member that is empty is dropped", |s| s.edit(2, "\"pin\":null,", ""), "RECEIPT_NOT_CANONICAL", 2, 1),
    ("a member is dropped", |s| s.edit(2, "\"seq\":2,", ""), "RECEIPT_UNREADABLE", 2, 1),
    ("a member is added", |s| s.edit(2, "{", "{\"also\":1,"), "RECEIPT_UNREADABLE", 2, 1),
    ("a member stands there twice", |s| s.edit(2, "\"seq\":2", "\"seq\":2,\"seq\":2"), "RECEIPT_UNREADABLE", 2, 1),
    ("a line is no JSON", |s| s.lines[2] = "no JSON".to_owned(), "RECEIPT_UNREADABLE", 3, 1),
    ("a line of anything is put in", |s| s.lines.insert(2, "{}".to_owned()), "RECEIPT_UNREADABLE", 3, 1),
    ("an empty line is put in", |s| s.lines.insert(2, String::new()), "RECEIPT_UNREADABLE", 3, 1),
    ("an empty line follows the seal", |s| s.lines.push(String::new()), "RECEIPT_UNREADABLE", 8, 1),
    ("a mark of the byte order is put in front", |s| s.lines[0].insert(0, '\u{feff}'), "RECEIPT_UNREADABLE", 1, 1),
    (
        "two lines are joined",
        |s| {
            let second = s.lines.remove(1);
            s.lines[0].push_str(&second);
        },
        "RECEIPT_UNREADABLE",
        1,
        1,
    ),
    // From here on, whoever tampers has the key.
    (
        "a line is rewritten with the key",
        |s| {
            let mut mine = s.receipt(3);
            mine.reason = Some("OTHER".to_owned());
            s.forge(3, mine, own);
        },
        "RECEIPT_CHAIN_BROKEN",
        4,
        1,
    ),
    (
        "a second line of the same number",
        |s| {
            let mut mine = s.receipt(3);
            mine.reason = Some("OTHER".to_owned());
            s.lines.insert(3, String::new());
            s.forge(4, mine, own);
        },
        "RECEIPT_FORKED",
        4,
        1,
    ),
    (
        "a seal that counts wrongly",
        |s| {
            let mut mine = s.receipt(7);
            mine.count = Some(2);
            s.forge(7, mine, own);
        },
        "RECEIPT_SEAL_WRONG",
        7,
        1,
    ),
    (
        "a seal with another head",
        |s| {
            let mut mine = s.receipt(7);
            mine.head = Some(s.receipt(2).prev);
            s.forge(7, mine, own);
        },
        "RECEIPT_SEAL_WRONG",
        7,
        1,
    ),
    (
        "a receipt behind the seal",
        |s| {
            let mut mine = s.receipt(6);
            mine.seq = 8;
            mine.prev = hash(s.lines[6].as_bytes());
            s.lines.push(String::new());
            s.forge(8, mine, own);
        },
        "RECEIPT_AFTER_SEAL",
        8,
        1,
    ),
    (
        "a session that begins elsewhere",
        |s| {
            let mut mine = s.receipt(1);
            mine.prev = hash(b"elsewhere");
            s.forge(1, mine, own);
            s.rewrite(2, own);
        },
        "RECEIPT_CHAIN_BROKEN",
        1,
        1,
    ),
    (
        "a line of another part",
        |s| {
            let mut mine = s.receipt(3);
            mine.part = 2;
            s.forge(3, mine, own);
        },
        "RECEIPT_FOREIGN_SESSION",
        3,
        1,
    ),
];

#[test]
fn each_kind_of_tampering_is_named_with_its_line() {
    let home = Sandbox::new();
    session(&home, "s1");
    session(&home, "s2");
    let lines = |session: &str| -> Vec<String> {
        std::fs::read_to_string(file(&home, session)).unwrap().lines().map(str::to_owned).collect()
    };
    assert!(KINDS.len() > 25);
    let path = home.path("tampered.jsonl");
    for (name, tamper, code, line, exit) in KINDS {
        let mut scene = Scene {
            lines: lines("s1"),
            other: lines("s2"),
            own: secret(&home),
            strange: Secret::new([9; 32], [9; 32]),
        };
        tamper(&mut scene);
        std::fs::write(&path, scene.lines.iter().map(|line| format!("{line}\n")).collect::<String>()).unwrap();
        let (found, codes, told) = verify(&home, &path, &[]);
        assert_eq!(found, *exit, "{name}: {codes:?}");
        let first = codes.first().map_or((String::new(), 0), |(code, line)| (code.clone(), line.unwrap()));
        assert_eq!(first, ((*code).to_owned(), *line), "{name}: {codes:?}");
        // What comes before the fault is whole, and is said to be.
        let whole = if *exit == 1 { line - 1 } else { scene.lines.len() as u64 };
        assert_eq!(told["files"][0]["whole"], whole, "{name}: {told}");
    }
}

/// Whatever text of whatever member: a receipt that says something else is not the one that was signed.
#[test]
fn every_member_is_signed() {
    let home = Sandbox::new();
    session(&home, "s1");
    let text = std::fs::read_to_string(file(&home, "s1")).unwrap();
    let keys = Keys::new(PublicKey::read(secret(&home).public()));
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
            let report = rune::receipt::verify(edited.as_bytes(), &mut keys.clone(), &Expected::default());
            assert_eq!(report.outcome(), Outcome::Invalid, "{member}");
            assert_eq!(report.faults[0].line, Some(line), "{member}: {:?}", report.faults);
            assert_eq!(report.faults.len(), if line == 7 { 2 } else { 1 }, "{member}: {:?}", report.faults);
            seen += 1;
        }
    }
    assert_eq!(seen, 72, "three receipts of 24 members");
}

#[test]
fn any_single_bit_that_changes_is_found() {
    let home = Sandbox::new();
    call(&home, "s1", DENIED, json!({}));
    call(&home, "s1", ASKED, json!({}));
    call(&home, "s2", DENIED, json!({}));
    end(&home, "s1");
    let keys = Keys::new(PublicKey::read(secret(&home).public()));
    let mut flips = 0;
    for (session, sealed) in [("s1", true), ("s2", false)] {
        let bytes = std::fs::read(file(&home, session)).unwrap();
        let clean = rune::receipt::verify(&bytes, &mut keys.clone(), &Expected::default());
        assert_eq!(clean.outcome(), if sealed { Outcome::Valid } else { Outcome::CannotTell });
        for bit in 0..bytes.len() * 8 {
            let mut flipped = bytes.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            let report = rune::receipt::verify(&flipped, &mut keys.clone(), &Expected::default());
            assert_ne!(report.outcome(), Outcome::Valid, "{session}, bit {bit}");
            assert_ne!(report.faults, clean.faults, "{session}, bit {bit}");
            // Only a last line that lost its end can be an accident.
            let accident = bit / 8 == bytes.len() - 1;
            assert_eq!(report.outcome() == Outcome::Invalid, !accident, "{session}, bit {bit}: {:?}", report.faults);
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

/// What is done to a pack, beside which another one lies; a code that has to be among the faults.
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
fn a_pack_is_what_was_sealed_or_it_is_said_what_it_is_not() {
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
fn a_pack_of_a_stranger_is_not_believed_for_the_key_that_it_brings() {
    let (home, stranger) = (Sandbox::new(), Sandbox::new());
    session(&home, "s1");
    session(&stranger, "s1");
    let out = home.path("pack");
    stranger.run(&["receipts", "export", "--out", out.to_str().unwrap()], "");
    assert_eq!(verify(&stranger, &out, &[]).0, 0);
    let (exit, codes, _) = verify(&home, &out, &[]);
    assert_eq!((exit, codes[0].0.as_str()), (1, "PACK_KEY_WRONG"));
    // Its index, sealed by us in its name, does not make its receipts ours.
    let text = std::fs::read_to_string(out.join("index.json")).unwrap();
    let index: Index = serde_json::from_str(&text).unwrap();
    std::fs::write(out.join("seal.json"), index.seal("2026-01-01T00:00:00.000Z".to_owned(), &secret(&home))).unwrap();
    let (exit, codes, _) = verify(&home, &out, &[]);
    assert!(exit == 1 && codes.iter().any(|(code, _)| code == "RECEIPT_KEY_WRONG"), "{codes:?}");
}

#[test]
fn a_head_that_was_kept_elsewhere_shows_what_was_cut_off() {
    let home = Sandbox::new();
    for _ in 0..4 {
        call(&home, "s1", DENIED, json!({}));
    }
    let path = file(&home, "s1");
    let text = std::fs::read_to_string(&path).unwrap();
    let head = hash(text.lines().last().unwrap().as_bytes());
    assert_eq!(verify(&home, &path, &["--head", &head]).0, 2, "not sealed");
    std::fs::write(&path, text.lines().take(2).map(|line| format!("{line}\n")).collect::<String>()).unwrap();
    assert_eq!(verify(&home, &path, &[]).0, 2, "nobody can tell without it");
    let (exit, codes, _) = verify(&home, &path, &["--head", &head]);
    assert_eq!((exit, codes[0].clone()), (1, ("RECEIPT_TRUNCATED".to_owned(), Some(2))));
    assert_eq!(verify(&home, &folder(&home), &["--head", &head]).0, 1);
}

#[test]
fn without_a_key_nothing_can_be_told() {
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
