//! Unit tests of `src/mcp/hash.rs`.

use super::*;

#[test]
fn a_hash_is_read_as_it_is_written_and_no_other_way() {
    let hash = Hash::of(HashSubject::Tool, &Value::Null);
    let text = hash.to_string();
    assert_eq!(Hash::parse(&text), Some(hash));
    for other in [
        text.replace("v1", "v2"),
        text.to_uppercase(),
        text.replace("sha256/v1:", ""),
        format!("{text}0"),
        text.chars().take(73).collect(),
        text.chars().take(72).chain(['g', '0']).collect(),
        text.chars().take(73).chain(['/']).collect(),
        text.chars().take(72).chain(['\u{e9}']).collect(),
        String::new(),
    ] {
        assert_eq!(Hash::parse(&other), None, "{other}");
    }
}

#[test]
fn equal_values_of_different_subjects_have_different_hashes() {
    let value = Value::String("x".to_owned());
    let subjects = [HashSubject::Tool, HashSubject::Instructions, HashSubject::Identity, HashSubject::Proposal];
    let mut hashes: Vec<Hash> = subjects.iter().map(|subject| Hash::of(*subject, &value)).collect();
    hashes.sort();
    hashes.dedup();
    assert_eq!(hashes.len(), subjects.len());
}

#[test]
fn version_1_hashes_do_not_change() {
    // printf 'rune/mcp/tool/v1\n{"name":"echo"}' | sha256sum
    let tool = Value::read(br#"{ "name" : "echo" }"#).unwrap();
    let expected = "sha256/v1:98f5c1ab0af567824052c376ed16a7cb201d96ad585a7805f5d7031acf4df2a1";
    assert_eq!(Hash::of(HashSubject::Tool, &tool).to_string(), expected);
}
