//! Unit tests of `src/runtime/mcp/records.rs`.

use super::*;
use crate::runtime::options::Dirs;
use rune::mcp::Observation;
use rune::mcp::protocol::Served;
use std::os::unix::fs::{PermissionsExt, symlink};
use time::OffsetDateTime;

fn store() -> (tempfile::TempDir, Store) {
    let home = tempfile::tempdir().unwrap();
    let (data_dir, state_dir) = (Some(home.path().join("rune")), Some(home.path().join("state")));
    let environment = Environment { data_dir, state_dir, ..Environment::read(&Dirs::default()) };
    let store = Store::of(&environment).unwrap();
    (home, store)
}

fn block(server: &str) -> PinChangeRequest<'_> {
    PinChangeRequest { kind: ReceiptKind::Block, server, tool: None, shown: None, at: None }
}

fn seen(server: &str, source: Source, tool: &str) -> Observed {
    let served = Served { tools: vec![tool.as_bytes().to_vec()], ..Served::default() };
    let at = OffsetDateTime::UNIX_EPOCH;
    Observed::new(Observation { server, source, at, identity: None, served: &served, capabilities: None })
}

#[test]
fn a_record_is_private_and_is_read_again() {
    let (_home, store) = store();
    assert!(store.observed("a b").unwrap().is_none() && store.pin("a b").unwrap().is_none());
    let one = seen("a b", Source::Probe, r#"{"name":"x"}"#);
    assert_eq!(store.record(&one).unwrap(), RecordOutcome::Written);
    assert_eq!(store.observed("a b").unwrap(), Some(one));
    store.change(&block("a b"), |pin| pin.block(None)).unwrap();
    assert!(store.pin("a b").unwrap().unwrap().is_blocked());
    for path in [store.pin_path("a b"), store.observed_path("a b")] {
        assert_eq!(fs::metadata(path).unwrap().permissions().mode() & 0o777, 0o600);
    }
    let (names, unreadable) = store.servers();
    assert_eq!(names.into_iter().collect::<Vec<_>>(), ["a b"]);
    assert!(unreadable.is_empty());
}

#[test]
fn a_weaker_source_never_overwrites_a_stronger_one() {
    let (_home, store) = store();
    let wrapped = seen("s", Source::Wrap, r#"{"name":"x"}"#);
    store.record(&wrapped).unwrap();
    for source in [Source::Import, Source::Probe] {
        let kept = store.record(&seen("s", source, r#"{"name":"y"}"#)).unwrap();
        assert_eq!(kept, RecordOutcome::Kept(Source::Wrap));
        assert_eq!(store.observed("s").unwrap(), Some(wrapped.clone()));
    }
    let again = seen("s", Source::Wrap, r#"{"name":"z"}"#);
    assert_eq!(store.record(&again).unwrap(), RecordOutcome::Written);
    assert_eq!(store.observed("s").unwrap(), Some(again));
}

#[test]
fn symlinks_pipes_and_records_of_other_servers_are_refused() {
    let (home, store) = store();
    store.record(&seen("s", Source::Probe, r#"{"name":"x"}"#)).unwrap();
    let path = store.observed_path("s");
    let elsewhere = home.path().join("elsewhere");
    fs::rename(&path, &elsewhere).unwrap();
    symlink(&elsewhere, &path).unwrap();
    assert!(store.observed("s").unwrap_err().to_string().contains("link"));
    assert!(store.record(&seen("s", Source::Probe, r#"{"name":"x"}"#)).is_err());
    fs::remove_file(&path).unwrap();
    fs::copy(&elsewhere, store.observed_path("t")).unwrap();
    assert!(store.observed("t").unwrap_err().to_string().contains("another server"));
    assert_eq!(store.servers().1.len(), 1);
    std::process::Command::new("mkfifo").arg(&path).status().unwrap();
    assert!(store.observed("s").unwrap_err().to_string().contains("regular file"));
    fs::remove_file(&path).unwrap();
    fs::write(&path, "{}").unwrap();
    assert!(store.observed("s").is_err());
    assert_eq!(store.record(&seen("s", Source::Import, r#"{"name":"x"}"#)).unwrap(), RecordOutcome::Written);
}

#[test]
fn a_lock_that_is_held_too_long_is_an_error() {
    let (_home, mut store) = store();
    store.lock_timeout = Duration::ZERO;
    let held = store.lock().unwrap();
    let error = store.change(&block("s"), |pin| pin.block(None)).unwrap_err().to_string();
    assert!(error.contains("/rune/.lock: another process has held it"), "{error}");
    assert!(error.contains("help: `fuser "), "{error}");
    assert!(store.record(&seen("s", Source::Probe, r#"{"name":"x"}"#)).is_err());
    assert!(!store.pin_path("s").exists() && !store.observed_path("s").exists());
    drop(held);
    store.change(&block("s"), |pin| pin.block(None)).unwrap();
    assert!(store.pin("s").unwrap().unwrap().is_blocked());
}

#[test]
fn many_writers_lose_nothing() {
    let (_home, store) = store();
    std::thread::scope(|scope| {
        for nth in 0..8 {
            let store = &store;
            scope.spawn(move || store.change(&block("s"), |pin| pin.block(Some(&format!("t{nth}")))).unwrap());
        }
    });
    assert_eq!(store.pin("s").unwrap().unwrap().blocked_tools().count(), 8);
}
