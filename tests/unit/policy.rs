//! Unit tests of `src/policy.rs`.

use super::*;

fn layer(text: &str) -> Layer {
    Layer::read(text, "test.toml").unwrap()
}

#[test]
fn every_embedded_text_is_a_layer() {
    for (name, text) in PRESETS.iter().chain([&DEFAULT]) {
        Layer::read(text, name).unwrap();
    }
}

#[test]
fn scalars_overwrite_and_lists_append_and_subtract() {
    let config = Config::fold(
        [
            layer("[decision]\nfailure = 'deny'\n[quarantine]\ntrusted = ['a', 'b']"),
            layer("[decision]\nfailure = 'ask'\n[quarantine]\ntrusted = ['c']\nuntrusted = ['a']"),
        ],
        vec![],
    );
    assert_eq!(config.failure, Effect::Ask);
    assert_eq!(config.trust, Trust::Names(vec!["b".into(), "c".into()]));
}

#[test]
fn of_an_edited_copy_of_the_embedded_list_only_the_added_paths_are_the_operators() {
    let shipped = Layer::embedded(DEFAULT.0).unwrap().sensitive;
    let list = |names: &[CompactString]| layer(&format!("[paths]\nsensitive = {names:?}"));
    let own = |layers: Vec<Layer>| Config::fold(layers, vec![]).operator_sensitive;
    assert_eq!(own(vec![layer(DEFAULT.1)]), [""; 0]);
    assert_eq!(own(vec![layer(DEFAULT.1), list(&shipped)]), [""; 0]);
    let longer: Vec<CompactString> = shipped.iter().cloned().chain(["~/private".into()]).collect();
    assert_eq!(own(vec![layer(DEFAULT.1), list(&longer)]), ["~/private"]);
    assert_eq!(own(vec![layer(DEFAULT.1), list(&["/etc/passwd".into()])]), ["/etc/passwd"]);
    let older: Vec<CompactString> = longer.into_iter().skip(1).collect();
    assert_eq!(own(vec![layer(DEFAULT.1), list(&older)]), ["~/private"]);
}

#[test]
fn a_key_that_no_layer_sets_has_its_strictest_value() {
    let config = Config::fold([layer("")], vec![]);
    assert_eq!((config.failure, config.results), (Effect::Deny, Results::Notice));
}

#[test]
fn the_allowlist_takes_names_with_and_without_the_prefix() {
    let mut config = Config::fold([layer("")], vec![]);
    config.trust_servers("# mine\nmcp__acme\n  desk  # support\n\n");
    assert_eq!(config.trust, Trust::Names(vec!["acme".into(), "desk".into()]));
}

#[test]
fn no_server_is_trusted_after_a_failure() {
    let config = Config::fold([layer("[quarantine]\ntrusted = ['a']")], vec![]);
    let mut config = config.with_failures(vec![Failure::Config("x".into())]);
    config.trust_servers("b");
    assert_eq!(config.trust, Trust::Unknown);
    let config = Config::fold([layer("[quarantine]\ntrusted = ['a']")], vec![Failure::Bug]);
    assert_eq!(config.trust, Trust::Unknown);
}
