use super::wrap;

#[test]
fn a_text_is_broken_between_words_and_long_words_within() {
    assert_eq!(wrap("", 4), Vec::<String>::new());
    assert_eq!(wrap("one two six", 7), ["one two", "six"]);
    assert_eq!(wrap("a abcdefghij b", 4), ["a", "abcd", "efgh", "ij b"]);
    assert_eq!(wrap("äöüß", 2), ["äö", "üß"]);
}
