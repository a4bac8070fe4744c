//! Lists of words, and whether one is worth a look: most words that are looked up are in none.

/// A list of words.
pub(crate) struct Table {
    words: &'static [&'static str],
    may: Words,
}

impl Table {
    /// Of these words.
    pub const fn of(words: &'static [&'static str]) -> Table {
        Table { words, may: Words::NONE.with(words) }
    }

    /// Whether the word is one of them.
    pub fn holds(&self, word: &str) -> bool {
        self.may.may_hold(word) && self.words.contains(&word)
    }
}

/// Words by their first and last letter and their length. What is not in it is in none of the tables.
pub(crate) struct Words([u64; 16]);

impl Words {
    /// No word.
    pub const NONE: Words = Words([0; 16]);

    /// With these words.
    pub const fn with(self, words: &[&str]) -> Words {
        let Words(mut places) = self;
        let mut rest = words;
        while let [word, more @ ..] = rest {
            let place = place(word.as_bytes());
            #[expect(clippy::indexing_slicing, reason = "a place is less than 1,024, and nothing else is const")]
            {
                places[place >> 6] |= 1 << (place & 63);
            }
            rest = more;
        }
        Words(places)
    }

    /// Whether the word may be one of them.
    pub fn may_hold(&self, word: &str) -> bool {
        let place = place(word.as_bytes());
        self.0.get(place >> 6).is_some_and(|places| places & (1 << (place & 63)) != 0)
    }
}

const fn place(word: &[u8]) -> usize {
    match word {
        [] => 0,
        [first, .., last] => (*first as usize * 37 + *last as usize * 11 + word.len()) & 1023,
        [only] => (*only as usize * 48 + 1) & 1023,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_put_in_is_held() {
        const WORDS: Words = Words::NONE.with(&["sudo", "", "a", "é"]).with(&["xargs"]);
        for word in ["sudo", "", "a", "é", "xargs"] {
            assert!(WORDS.may_hold(word), "{word}");
        }
        assert!(!WORDS.may_hold("git") && !WORDS.may_hold("b"));
    }

    #[test]
    fn a_table_holds_its_words_and_no_other() {
        static TABLE: Table = Table::of(&["", "a", "sudo", "xargs"]);
        for (word, held) in [("", true), ("a", true), ("sudo", true), ("xargs", true), ("sado", false), ("b", false)] {
            assert_eq!(TABLE.holds(word), held, "{word}");
        }
    }
}
