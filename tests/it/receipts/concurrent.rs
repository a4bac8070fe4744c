//! Many writers at once, and writers that are killed.

use super::*;
use crate::support::sandbox::{Sandbox, before};
use std::io::Write;
use std::process::Child;

/// Starts hooks that all wait for the end of their event, and then ends it for all of them.
fn together(home: &Sandbox, count: usize) -> Vec<Child> {
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
fn sixty_four_at_once_make_one_chain_and_lose_nothing() {
    let home = Sandbox::new();
    // Not even the key is there yet: all of them make one, and have the same.
    for child in together(&home, 64) {
        let output = child.wait_with_output().unwrap();
        assert_eq!(String::from_utf8_lossy(&output.stderr), "");
        assert!(String::from_utf8_lossy(&output.stdout).contains("\"deny\""));
    }
    let found = receipts(&file(&home, "s1"));
    assert_eq!(found.iter().map(|receipt| receipt.seq).collect::<Vec<_>>(), (1..=64).collect::<Vec<_>>());
    let mut marks: Vec<_> = found.iter().map(|receipt| receipt.args_sha256.clone()).collect();
    marks.sort();
    marks.dedup();
    assert_eq!(marks.len(), 64, "each call has its own");
    assert_eq!(verify(&home, &file(&home, "s1"), &[]).1, [("RECEIPT_UNSEALED".to_owned(), Some(64))]);
    end(&home, "s1");
    assert_eq!(verify(&home, &file(&home, "s1"), &[]).0, 0);
}

#[test]
fn writers_that_are_killed_leave_a_chain_that_is_whole() {
    let home = Sandbox::new();
    call(&home, "s1", DENIED, json!({}));
    let mut answered = 0;
    for round in 0..12 {
        let mut children = together(&home, 8);
        // Some are killed at once, some after others have ended: at every point of their way.
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
        let (exit, codes, told) = verify(&home, &file(&home, "s1"), &[]);
        assert_eq!(exit, 2, "{told}");
        assert!(codes.iter().all(|(code, _)| ["RECEIPT_UNSEALED", "RECEIPT_TORN"].contains(&code.as_str())), "{told}");
        assert_eq!(told["files"][0]["whole"], told["files"][0]["lines"]);
    }
    assert!(answered >= 48, "{answered}");
    assert!(receipts(&file(&home, "s1")).len() > answered, "whoever was not killed has left a receipt");
}

/// A write that ends anywhere, as a kill or a full disk may leave it.
#[test]
fn a_torn_line_is_told_and_the_next_writer_cuts_it_off() {
    let home = Sandbox::new();
    for _ in 0..3 {
        call(&home, "s1", DENIED, json!({}));
    }
    let path = file(&home, "s1");
    let whole = std::fs::read(&path).unwrap();
    let second = whole.iter().enumerate().filter(|(_, byte)| **byte == b'\n').nth(1).unwrap().0 + 1;
    for cut in [second + 1, second + 100, whole.len() - 2, whole.len() - 1] {
        std::fs::write(&path, &whole[..cut]).unwrap();
        let (exit, codes, told) = verify(&home, &path, &[]);
        assert_eq!(exit, 2);
        assert_eq!(codes[0], ("RECEIPT_TORN".to_owned(), Some(3)), "{told}");
        assert_eq!(told["files"][0]["whole"], 2);
        call(&home, "s1", DENIED, json!({}));
        let found = receipts(&path);
        assert_eq!(found.len(), 3);
        assert_eq!(found[2].torn, (cut - second) as u64, "what was lost is said");
        let (exit, codes, told) = verify(&home, &path, &[]);
        assert_eq!((exit, codes), (2, vec![("RECEIPT_UNSEALED".to_owned(), Some(3))]));
        assert_eq!(told["notes"].as_array().unwrap().len(), 1, "{told}");
    }
    // A torn line that is longer than what is looked at first.
    let whole = std::fs::read(&path).unwrap();
    std::fs::write(&path, [whole.as_slice(), &[b'x'; 3_000]].concat()).unwrap();
    call(&home, "s1", DENIED, json!({}));
    assert_eq!(receipts(&path).iter().map(|receipt| receipt.torn).next_back(), Some(3_000));
    assert!(std::fs::read(&path).unwrap().starts_with(&whole));
    // Nothing but a torn line.
    std::fs::write(&path, b"{\"args").unwrap();
    call(&home, "s1", DENIED, json!({}));
    assert_eq!(receipts(&path).iter().map(|receipt| (receipt.seq, receipt.torn)).collect::<Vec<_>>(), [(1, 6)]);
}

#[test]
fn what_is_no_chain_any_more_is_left_alone_and_the_next_receipt_is_kept() {
    let home = Sandbox::new();
    call(&home, "s1", DENIED, json!({}));
    for mess in [&b"garbage\n"[..], &[b'x'; 20_000][..], b"{}\n"] {
        std::fs::remove_file(file(&home, "s1.2")).ok();
        std::fs::write(file(&home, "s1"), mess).unwrap();
        call(&home, "s1", DENIED, json!({}));
        assert_eq!(std::fs::read(file(&home, "s1")).unwrap(), mess);
        assert_eq!(receipts(&file(&home, "s1.2")).len(), 1);
        assert_eq!(verify(&home, &folder(&home), &[]).0, if mess.len() > 10_000 { 2 } else { 1 });
    }
}

/// Somebody holds the file and never lets go.
#[test]
fn a_lock_that_is_never_released_holds_no_answer_back() {
    use rustix::fs::{FlockOperation, flock};
    let home = Sandbox::new();
    call(&home, "s1", DENIED, json!({}));
    let held = std::fs::File::open(file(&home, "s1")).unwrap();
    flock(&held, FlockOperation::LockExclusive).unwrap();
    let output = call(&home, "s1", DENIED, json!({}));
    assert_eq!((output.decision().as_str(), output.exit), ("deny", 0));
    assert!(!output.stderr.is_empty());
}
