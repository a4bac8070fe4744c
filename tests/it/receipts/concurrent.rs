//! Concurrent and killed writers of receipts.

use super::*;
use crate::support::sandbox::{Sandbox, before};
use std::io::Write;
use std::process::Child;

/// Starts hooks that wait for the end of their input, then ends the input of all of them.
fn start_together(home: &Sandbox, count: usize) -> Vec<Child> {
    let start = |number: usize| {
        let mut child = home.command(&STRICT).spawn().unwrap();
        let event = before(DENIED, json!({"id": number}));
        child.stdin.as_mut().unwrap().write_all(event.as_bytes()).unwrap();
        child
    };
    let mut children: Vec<Child> = (0..count).map(start).collect();
    for child in &mut children {
        drop(child.stdin.take());
    }
    children
}

#[test]
fn sixty_four_concurrent_writers_make_one_chain() {
    let home = Sandbox::new();
    // The key does not exist yet. One of them creates it, and all use it.
    for child in start_together(&home, 64) {
        let output = child.wait_with_output().unwrap();
        assert_eq!(String::from_utf8_lossy(&output.stderr), "");
        assert!(String::from_utf8_lossy(&output.stdout).contains("\"deny\""));
    }
    let found = receipts(&file(&home, "s1"));
    assert_eq!(found.iter().map(|receipt| receipt.seq).collect::<Vec<_>>(), (1..=64).collect::<Vec<_>>());
    let mut marks: Vec<_> = found.iter().map(|receipt| receipt.args_sha256.clone()).collect();
    marks.sort();
    marks.dedup();
    assert_eq!(marks.len(), 64, "each call has its own hash");
    assert_eq!(verify(&home, &file(&home, "s1"), &[]).1, [("RECEIPT_UNSEALED".to_owned(), Some(64))]);
    end(&home, "s1");
    assert_eq!(verify(&home, &file(&home, "s1"), &[]).0, 0);
}

#[test]
fn killed_writers_leave_a_valid_chain() {
    let home = Sandbox::new();
    call(&home, "s1", DENIED, json!({}));
    let mut answered = 0;
    for round in 0..12 {
        let mut children = start_together(&home, 8);
        // Some are killed at once, some after others have exited, so at different points.
        for (number, child) in children.iter_mut().enumerate() {
            if number % 2 == round % 2 {
                child.kill().unwrap();
            } else {
                child.wait().unwrap();
            }
        }
        for child in children {
            answered += usize::from(child.wait_with_output().unwrap().status.code() == Some(0));
        }
        let (exit, codes, report) = verify(&home, &file(&home, "s1"), &[]);
        assert_eq!(exit, 2, "{report}");
        assert!(
            codes.iter().all(|(code, _)| ["RECEIPT_UNSEALED", "RECEIPT_TORN"].contains(&code.as_str())),
            "{report}"
        );
        assert_eq!(report["files"][0]["whole"], report["files"][0]["lines"]);
    }
    assert!(answered >= 48, "{answered}");
    assert!(receipts(&file(&home, "s1")).len() > answered, "a writer that was not killed wrote no receipt");
}

/// A kill or a full disk may leave an incomplete line.
#[test]
fn an_incomplete_line_is_reported_and_the_next_writer_removes_it() {
    let home = Sandbox::new();
    for _ in 0..3 {
        call(&home, "s1", DENIED, json!({}));
    }
    let path = file(&home, "s1");
    let whole = std::fs::read(&path).unwrap();
    let second = whole.iter().enumerate().filter(|(_, byte)| **byte == b'\n').nth(1).unwrap().0 + 1;
    for cut in [second + 1, second + 100, whole.len() - 2, whole.len() - 1] {
        std::fs::write(&path, &whole[..cut]).unwrap();
        let (exit, codes, report) = verify(&home, &path, &[]);
        assert_eq!(exit, 2);
        assert_eq!(codes[0], ("RECEIPT_TORN".to_owned(), Some(3)), "{report}");
        assert_eq!(report["files"][0]["whole"], 2);
        call(&home, "s1", DENIED, json!({}));
        let found = receipts(&path);
        assert_eq!(found.len(), 3);
        assert_eq!(found[2].torn, (cut - second) as u64, "the number of removed bytes");
        let (exit, codes, report) = verify(&home, &path, &[]);
        assert_eq!((exit, codes), (2, vec![("RECEIPT_UNSEALED".to_owned(), Some(3))]));
        assert_eq!(report["notes"].as_array().unwrap().len(), 1, "{report}");
    }
    // An incomplete line that is longer than the part of the file that is read first.
    let whole = std::fs::read(&path).unwrap();
    std::fs::write(&path, [whole.as_slice(), &[b'x'; 3_000]].concat()).unwrap();
    call(&home, "s1", DENIED, json!({}));
    assert_eq!(receipts(&path).iter().map(|receipt| receipt.torn).next_back(), Some(3_000));
    assert!(std::fs::read(&path).unwrap().starts_with(&whole));
    // A file with nothing but an incomplete line.
    std::fs::write(&path, b"{\"args").unwrap();
    call(&home, "s1", DENIED, json!({}));
    assert_eq!(receipts(&path).iter().map(|receipt| (receipt.seq, receipt.torn)).collect::<Vec<_>>(), [(1, 6)]);
}

#[test]
fn an_invalid_file_is_not_changed_and_the_next_receipt_goes_to_a_new_part() {
    let home = Sandbox::new();
    call(&home, "s1", DENIED, json!({}));
    for content in [&b"garbage\n"[..], &[b'x'; 20_000][..], b"{}\n"] {
        std::fs::remove_file(file(&home, "s1.2")).ok();
        std::fs::write(file(&home, "s1"), content).unwrap();
        call(&home, "s1", DENIED, json!({}));
        assert_eq!(std::fs::read(file(&home, "s1")).unwrap(), content);
        assert_eq!(receipts(&file(&home, "s1.2")).len(), 1);
        assert_eq!(verify(&home, &folder(&home), &[]).0, if content.len() > 10_000 { 2 } else { 1 });
    }
}

#[test]
fn a_lock_that_is_never_released_does_not_block_the_answer() {
    use rustix::fs::{FlockOperation, flock};
    let home = Sandbox::new();
    call(&home, "s1", DENIED, json!({}));
    let held = std::fs::File::open(file(&home, "s1")).unwrap();
    flock(&held, FlockOperation::LockExclusive).unwrap();
    let output = call(&home, "s1", DENIED, json!({}));
    assert_eq!((output.decision().as_str(), output.exit), ("deny", 0));
    assert!(!output.stderr.is_empty());
}
