//! Unit tests of `src/quarantine/wrap.rs`.

use super::*;
use proptest::prelude::*;

fn wrapped(text: &str) -> (String, String) {
    let (nonce, source) = (Nonce::new([7; 16]), Label::of("mcp", "desk"));
    let wrap = Wrapper { nonce: &nonce, source: &source, max_bytes: 1 << 20, judge: &|_| None };
    let whole = wrap.text(text);
    let inside = whole.strip_prefix(&wrap.begin()).and_then(|rest| rest.strip_suffix(&wrap.end())).unwrap();
    (inside.strip_prefix('\n').unwrap().strip_suffix('\n').unwrap().to_owned(), whole)
}

#[test]
fn hidden_characters_are_escaped() {
    for (text, expected) in [
        ("plain text\n\twith lines", "plain text\n\twith lines"),
        ("a\u{200b}b", "a⟦U+200B⟧b"),
        ("\u{1b}[31mred", "⟦U+001B⟧[31mred"),
        ("\u{202e}gnp.exe", "⟦U+202E⟧gnp.exe"),
        ("\u{e0041}\u{e0042}", "⟦U+E0041⟧⟦U+E0042⟧"),
        ("⟦U+0041⟧", "⟦U+27E6⟧U+0041⟦U+27E7⟧"),
        ("naïve 日本 🙂", "naïve 日本 🙂"),
    ] {
        assert_eq!(wrapped(text).0, expected);
    }
}

#[test]
fn every_document_of_the_corpus_stays_inside() {
    let files = [
        include_str!("../../corpus/hard.jsonl"),
        include_str!("../../corpus/issues.jsonl"),
        include_str!("../../corpus/mail.jsonl"),
        include_str!("../../corpus/web.jsonl"),
    ];
    let mut seen = 0;
    for line in files.iter().flat_map(|file| file.lines()) {
        let document: serde_json::Value = serde_json::from_str(line).unwrap();
        let text = document["text"].as_str().unwrap();
        let (inside, _) = wrapped(text);
        assert_eq!(restore(&inside).as_deref(), Some(text), "{}", document["id"]);
        let lower = inside.to_lowercase();
        let markup =
            ["<system-reminder", "</system-reminder", "<|im_start|>", "[inst]", "<tool_result", "-----end untrusted"];
        assert!(!inside.chars().any(is_hidden), "{}: hidden", document["id"]);
        assert!(markup.iter().all(|markup| !lower.contains(markup)), "{}: markup", document["id"]);
        seen += 1;
    }
    assert_eq!(seen, 660);
}

#[test]
fn the_beginning_and_end_of_a_long_text_are_passed() {
    let (nonce, source) = (Nonce::new([7; 16]), Label::of("mcp", "desk"));
    let wrap = Wrapper { nonce: &nonce, source: &source, max_bytes: 10, judge: &|_| None };
    let text = wrap.text("0123456789é0123456789");
    assert!(text.contains("\n01234\n-----WITHHELD") && text.contains("12 bytes-----\n56789\n"), "{text}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_payload_stays_inside_and_nothing_of_it_is_lost(
        text in "(.|\n|-----(BEGIN|END) UNTRUSTED DATA [0-9a-f]{0,3}|07070707070707070707070707070707|</?system-reminder>|⟦U\\+41⟧|\u{200b}|\u{e0041}|\n\nHuman:|\\[QUARANTINE-NOTICE|<\\|im_start\\|>){0,12}",
    ) {
        let (inside, whole) = wrapped(&text);
        prop_assert_eq!(restore(&inside), Some(text));
        let nonce = Nonce::new([7; 16]);
        let lines = |start: &str| whole.lines().filter(|line| line.starts_with(&format!("-----{start} {}", nonce.as_str()))).count();
        prop_assert_eq!((lines(BEGIN), lines(END), lines(WITHHELD)), (1, 1, 0));
        prop_assert!(!inside.contains("-----BEGIN UNTRUSTED") && !inside.contains("-----END UNTRUSTED"));
    }
}
