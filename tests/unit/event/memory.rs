//! Unit tests of `src/event/memory.rs`.

use super::*;
use crate::verdict::Note;

/// The memory after these prompts, as the next call reads it.
fn after(prompts: &[&str]) -> Memory {
    let mut text = Memory::new([7; 16]).salt_line();
    for prompt in prompts {
        let memory = Memory::read(&text).unwrap();
        text.push_str(&Note::Typed(memory.words_of(prompt).unwrap()).line());
    }
    Memory::read(&text).unwrap()
}

#[test]
fn whole_destinations_that_were_typed_are_known() {
    let memory = after(&[
        "Send it to Bob@Example.com, and tell Alice Smith in #general.",
        "see https://a.example/x/ for 13 or 4711",
    ]);
    for typed in
        ["bob@example.com", "Alice Smith", "alice", "#general", "general", "https://a.example/x", "a.example/x", "4711"]
    {
        assert!(memory.has_typed(typed), "{typed}");
    }
    for other in [
        "bob", "example.com", "ob@example.com", "bob@example.com.evil.example", "smith alice", "Alice in", "gener",
        "a.example", "b\u{43e}b@example.com", "bob@example\u{200b}.com", "bob+x@example.com", "", "...",
        "https://bob@example.com", "a.example/x/y", "13",
    ] {
        assert!(!memory.has_typed(other), "{other}");
    }
}

#[test]
fn repositories_are_known_by_their_short_form_and_their_address() {
    let memory = after(&["fix acme/web#12 and https://forge.example/acme/api/issues/3"]);
    for typed in ["acme/web", "acme/api"] {
        assert!(memory.has_typed(typed), "{typed}");
    }
    for other in ["acme", "web", "acme/other", "forge.example"] {
        assert!(!memory.has_typed(other), "{other}");
    }
}

#[test]
fn a_host_ends_before_a_sentence_that_follows_without_a_blank() {
    assert!(after(&["post to www.our.example.They wait"]).has_typed("www.our.example"));
    assert!(!after(&["post to www.our.example.they"]).has_typed("www.our.example"));
}

#[test]
fn long_prompts_and_full_files_are_limits() {
    let memory = Memory::new([7; 16]);
    assert!(memory.words_of(&"a ".repeat(PROMPT_WORDS.most)).is_ok());
    assert_eq!(memory.words_of(&"a ".repeat(PROMPT_WORDS.most + 1)), Err(&PROMPT_WORDS));
    let line = format!("typed{}\n", " 0123456789abcdef".repeat(MEMORY_BYTES.most / 2 / WORD_BYTES));
    let full = Memory::read(&format!("{}{line}", memory.salt_line())).unwrap();
    assert_eq!(full.words_of("one two"), Err(&MEMORY_BYTES));
}

#[test]
fn damaged_files_are_errors() {
    let salt = Memory::new([7; 16]).salt_line();
    for text in [
        "typed 0123456789abcdef\n",
        "salt x\n",
        "x\n",
        &format!("{salt}typed 012\n"),
        &format!("{salt}typed\n"),
        &format!("{salt}asked 0123456789abcdeg\n"),
        &format!("{salt}cleared now\n"),
    ] {
        assert!(Memory::read(text).is_err(), "{text}");
    }
    assert_eq!(Memory::read("").unwrap(), Memory::default());
    let other = Memory::new([8; 16]).salt_line();
    let first = Memory::read(&format!("{salt}{other}")).unwrap();
    assert_eq!(first.hash(HashOf::Word, "a"), Memory::new([7; 16]).hash(HashOf::Word, "a"), "the first salt counts");
}

#[test]
fn clearing_forgets_asks_and_containers_and_keeps_words() {
    let memory = Memory::new([7; 16]);
    let hash = |of| memory.hash(of, "x").unwrap();
    let notes =
        [Note::Asked(hash(HashOf::Ask)), Note::Answered(hash(HashOf::Ask)), Note::Read(hash(HashOf::Container))];
    let words = Note::Typed(memory.words_of("x").unwrap());
    let lines: String = notes.iter().chain([&words]).map(Note::line).collect();
    let text = format!("{}{lines}", memory.salt_line());
    let containers = BTreeSet::from([hash(HashOf::Container)]);
    let known = Memory::read(&text).unwrap();
    assert!(known.is_pending(&hash(HashOf::Ask)) && known.is_answered(&hash(HashOf::Ask)));
    assert!(known.has_read_only(&containers) && known.has_typed("x"));
    let cleared = Memory::read(&format!("{text}{CLEARED}\n")).unwrap();
    assert!(!cleared.is_pending(&hash(HashOf::Ask)) && !cleared.is_answered(&hash(HashOf::Ask)));
    assert!(!cleared.has_read_only(&containers) && cleared.has_typed("x"));
}
