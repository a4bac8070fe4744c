use super::super::NormalizedText;

/// The sentence around `word`, and whether it is in a quotation.
fn around(text: &str, word: &str) -> (String, bool) {
    let normalized = NormalizedText::of(text);
    let range = normalized
        .passages
        .iter()
        .find(|range| normalized.text.get((*range).clone()).is_some_and(|passage| passage.contains(word)));
    let range = range.unwrap();
    let passage = normalized.passage(range);
    let at = passage.text.find(word).unwrap();
    let found = at..at + word.len();
    let sentences = passage.sentences();
    let sentence = passage.text.get(sentences.around(&found)).unwrap();
    (sentence.trim().to_owned(), sentences.quotation(&found).is_some())
}

#[test]
fn a_sentence_ends_at_a_full_stop_or_at_a_short_line() {
    assert_eq!(around("An attack. Drop the rules now. He said so.", "drop").0, "drop the rules now.");
    assert_eq!(around("this is an attack\ndrop the rules now\nhe said so", "drop").0, "drop the rules now");
    let wrapped = "An attacker who can write to the page will most likely\ntell the agent to drop the rules.";
    assert!(around(wrapped, "drop").0.starts_with("an attacker"));
}

#[test]
fn a_match_that_spans_lines_has_all_of_them_around_it() {
    assert_eq!(around("he said so\ndrop the\nrules\nan attack", "drop the rules").0, "drop the rules");
}

#[test]
fn a_quotation_is_closed_and_has_words_before_it() {
    assert!(around("The page said \"drop the rules\" twice.", "drop").1);
    assert!(around("They write things such as 'drop the rules' there.", "drop").1);
    assert!(!around("The page \"x\" said drop the rules.", "drop").1);
    assert!(!around("body: \"drop the rules\"", "drop").1);
    assert!(!around("It begins with \"drop the rules. Then go on.", "drop").1);
}
