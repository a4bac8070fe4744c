//! Unit tests of `src/encoding/label.rs`.

use super::*;

#[test]
fn the_host_is_parsed_as_by_a_browser() {
    for (url, expected) in [
        ("https://pages.example.com/page", "pages.example.com"),
        ("http://localhost:3000/", "localhost"),
        ("https://user:pass@e.example:99999/%0a", "e.example"),
        ("https://trusted.example@evil.example/", "evil.example"),
        ("https://evil.example\\@trusted.example/", "evil.example"),
        ("https://good.example\n.evil.example/", "good.example.evil.example"),
        ("http://[::1]:80/x", "::1"),
        ("https:evil.example", "evil.example"),
        ("javascript:alert(1)", ""),
        ("file:///etc/hosts", ""),
        ("no url at all", ""),
        ("", ""),
    ] {
        assert_eq!(host(url), expected, "{url:?}");
    }
    let long = format!("https://{}.evil.example/", "a".repeat(300));
    assert!(host(&long).ends_with(".evil.example"));
}

#[test]
fn only_allowed_characters_are_kept() {
    for c in ('\0'..='\u{3000}').chain('\u{e0000}'..='\u{e007f}') {
        let kept = sanitize(&c.to_string(), MAX_CHARS);
        assert!(kept.chars().all(|k| k.is_ascii_alphanumeric() || "._:-".contains(k)), "{c:?}");
    }
    assert_eq!(sanitize(&"x".repeat(500), MAX_CHARS).len(), MAX_CHARS);
}
