//! What the fuzzers kept still holds.

#[path = "../fuzz/holds/config.rs"]
mod config;
#[path = "../fuzz/holds/event.rs"]
mod event;
#[path = "../fuzz/holds/rules.rs"]
mod rules;

/// Every kept input of a target, with its name should it fail.
fn each(target: &str, holds: impl Fn(&[u8])) {
    let folder = format!("{}/tests/fuzz/corpus/{target}", env!("CARGO_MANIFEST_DIR"));
    let mut kept = 0;
    for entry in std::fs::read_dir(&folder).unwrap() {
        let path = entry.unwrap().path();
        let bytes = std::fs::read(&path).unwrap();
        eprintln!("{}", path.display());
        holds(&bytes);
        kept += 1;
    }
    assert!(kept > 10, "{folder} has lost its inputs");
}

#[test]
fn events() {
    each("event", |bytes| {
        event::holds(bytes);
        event::holds(&event::grown(bytes));
    });
}

#[test]
fn files_of_rules() {
    each("rules", |bytes| rules::holds(&String::from_utf8_lossy(bytes)));
}

#[test]
fn policies() {
    each("config", |bytes| config::holds(&String::from_utf8_lossy(bytes)));
}
