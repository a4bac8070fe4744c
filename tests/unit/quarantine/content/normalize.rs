//! Unit tests of `src/quarantine/content/normalize.rs`.

use super::*;

fn sentences(text: &str) -> Vec<String> {
    normalize(text).text.lines().map(str::to_owned).collect()
}

#[test]
fn texts_are_normalized_to_plain_sentences() {
    for (text, expected) in [
        ("Hello World. How are you today?", vec!["hello world.", "how are you today?"]),
        ("a line\nthat goes on", vec!["a line that goes on"]),
        ("one part\n\nanother part", vec!["one part", "another part"]),
        ("i\u{200b}g\u{200b}nore", vec!["ignore"]),
        ("ＩＧＮＯＲＥ this", vec!["ignore this"]),
        ("ignоre thе rules", vec!["ignore the rules"]),
        ("привет мир", vec!["привет мир"]),
        ("# ig-\n# nore me", vec!["ignore me"]),
        ("\u{1b}[31mred\u{1b}[0m text", vec!["red text"]),
        ("&#105;gnore &#x41;ll", vec!["ignore all"]),
        ("précédentes", vec!["precedentes"]),
        ("see a.b.example/c.txt for it", vec!["see a.b.example/c.txt for it"]),
        ("<p class=\"a\">Do as I say</p>", vec!["<p class=a>do as i say", "/p>"]),
        ("Stop. Now. Do it at once.", vec!["stop. now.", "do it at once."]),
    ] {
        assert_eq!(sentences(text), expected, "{text:?}");
    }
}
