//! Checks the properties of the fuzz targets on their stored inputs.

#[path = "../fuzz/properties/config.rs"]
mod config;
#[path = "../fuzz/properties/event.rs"]
mod event;
#[path = "../fuzz/properties/rules.rs"]
mod rules;

/// Calls `check` for every stored input of a target, and prints the name of the input.
fn for_each_input(target: &str, check: impl Fn(&[u8])) {
    let folder = format!("{}/tests/fuzz/corpus/{target}", env!("CARGO_MANIFEST_DIR"));
    let mut count = 0;
    for entry in std::fs::read_dir(&folder).unwrap() {
        let path = entry.unwrap().path();
        let bytes = std::fs::read(&path).unwrap();
        eprintln!("{}", path.display());
        check(&bytes);
        count += 1;
    }
    assert!(count > 10, "{folder} has {count} inputs");
}

#[test]
fn the_properties_of_events_hold_for_the_stored_inputs() {
    for_each_input("event", |bytes| {
        event::check(bytes);
        event::check(&event::build(bytes));
    });
}

#[test]
fn the_properties_of_rule_files_hold_for_the_stored_inputs() {
    for_each_input("rules", |bytes| rules::check(&String::from_utf8_lossy(bytes)));
}

#[test]
fn the_properties_of_policy_files_hold_for_the_stored_inputs() {
    for_each_input("config", |bytes| config::check(&String::from_utf8_lossy(bytes)));
}
