//! A glance at a pattern: whether it is plain to see that it begins otherwise than a text.
//!
//! Of thousands of rules most are done with after it. What is not plain, and what only the compiler could refuse, is left
//! to those who look closer.

/// Whether a pattern wants another beginning than texts have that begin with these letters, in either case.
pub(super) fn begins_otherwise(pattern: &str, begin_with: impl Fn(u8) -> bool) -> bool {
    let Some(rest) = pattern.strip_prefix("(?i)").unwrap_or(pattern).strip_prefix('^') else { return false };
    // The first letters of a group of plain words, or of the one word.
    let (alike, behind) = match rest.as_bytes().split_first() {
        Some((b'(', group)) => {
            let mut rest = group;
            // Before the first word, and behind every bar.
            let (mut begins, mut alike) = (true, false);
            loop {
                let Some((byte, behind)) = rest.split_first() else { return false };
                rest = behind;
                match byte {
                    _ if class(*byte) == Class::Word => {
                        alike |= begins && begin_with(*byte);
                        begins = false;
                    }
                    // An empty word begins like everything.
                    _ if begins => return false,
                    b'|' => begins = true,
                    b')' => break (alike, rest),
                    _ => return false,
                }
            }
        }
        Some((first, behind)) if class(*first) == Class::Word => (begin_with(*first), behind),
        _ => return false,
    };
    let optional = matches!(behind.first(), Some(b'?' | b'*' | b'{'));
    !alike && !optional && is_plain(behind)
}

/// Whether the rest of a pattern is well-formed for sure, and has no `|` outside of its groups.
fn is_plain(pattern: &[u8]) -> bool {
    let mut rest = pattern;
    let mut depth = 0_usize;
    // Something stands before that can be repeated.
    let mut repeatable = true;
    while let Some((byte, behind)) = rest.split_first() {
        rest = behind;
        if class(*byte) != Class::Sign {
            repeatable = true;
            continue;
        }
        repeatable = match byte {
            b'\\' => {
                let Some((escaped, behind)) = rest.split_first() else { return false };
                rest = behind;
                if *escaped != b'b' && !is_escape(*escaped) {
                    return false;
                }
                *escaped != b'b'
            }
            b'[' => {
                let Some(behind) = class_end(rest, 0).and_then(|end| rest.get(end..)) else { return false };
                rest = behind;
                true
            }
            b'(' => {
                depth += 1;
                match rest {
                    [b'?', b':', behind @ ..] => rest = behind,
                    [b'?', ..] => return false,
                    _ => {}
                }
                false
            }
            b')' if depth > 0 => {
                depth -= 1;
                true
            }
            b'|' if depth > 0 => false,
            b'*' | b'+' | b'?' if repeatable => {
                rest = rest.strip_prefix(b"?").unwrap_or(rest);
                false
            }
            b'^' | b'$' => false,
            b')' | b'|' | b'*' | b'+' | b'?' | b'{' | b'}' | b']' => return false,
            _ => true,
        };
        if depth > 16 {
            return false;
        }
    }
    depth == 0
}

/// What a character is in a pattern.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    /// It may mean something else than itself.
    Sign,
    /// Words are made of it.
    Word,
    Other,
}

static CLASSES: [Class; 256] = {
    let mut classes = [Class::Other; 256];
    let mut byte = 0;
    while byte < classes.len() {
        #[expect(clippy::indexing_slicing, reason = "the bound stands right above, and nothing else is const")]
        {
            classes[byte] = match byte as u8 {
                b'\\' | b'[' | b']' | b'(' | b')' | b'|' | b'*' | b'+' | b'?' | b'^' | b'$' | b'{' | b'}' => {
                    Class::Sign
                }
                b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b' ' => Class::Word,
                _ => Class::Other,
            };
        }
        byte += 1;
    }
    classes
};

fn class(byte: u8) -> Class {
    CLASSES.get(usize::from(byte)).copied().unwrap_or(Class::Sign)
}

fn is_escape(byte: u8) -> bool {
    matches!(byte, b'd' | b's' | b'w' | b'D' | b'S' | b'W')
        || (byte.is_ascii_punctuation() && !matches!(byte, b'<' | b'>'))
}

/// Where a class of the plain kind ends that begins at `at`.
fn class_end(pattern: &[u8], mut at: usize) -> Option<usize> {
    at += usize::from(pattern.get(at) == Some(&b'^'));
    if pattern.get(at) == Some(&b']') {
        return None;
    }
    loop {
        let from = *pattern.get(at)?;
        at += 1;
        match from {
            b']' => return Some(at),
            b'[' | b'&' | b'~' => return None,
            b'\\' => {
                pattern.get(at).filter(|escaped| is_escape(**escaped))?;
                at += 1;
                // A range from an escape.
                if pattern.get(at) == Some(&b'-') && pattern.get(at + 1) != Some(&b']') {
                    return None;
                }
            }
            _ if pattern.get(at) == Some(&b'-') && pattern.get(at + 1) != Some(&b']') => {
                let to = *pattern.get(at + 1)?;
                if !from.is_ascii_alphanumeric() || !to.is_ascii_alphanumeric() || from > to {
                    return None;
                }
                at += 2;
                if pattern.get(at) == Some(&b'-') && pattern.get(at + 1) != Some(&b']') {
                    return None;
                }
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::gist::Letters;
    use super::*;
    use proptest::prelude::*;
    use regex_lite::Regex;

    #[test]
    fn most_patterns_are_gone_after_a_glance() {
        let gone = |pattern: &str, text: &str| begins_otherwise(pattern, |byte| Letters::of(text).begin_with(byte));
        for pattern in ["^git push\\b.* --force( |$)", "^(npm|yarn) publish\\b", "(?i)^sudo", "^chmod\\b.* [0-7]?[0-7]"]
        {
            assert!(gone(pattern, "ls -la"), "{pattern}");
        }
        for pattern in
            ["^ls|^x", "ls", "^l", "^(x|l)s", "^x?ls", "^(x|)ls", "^x(", "^x[z-a]", "^x**", "^x\\q", "^x{3,1}"]
        {
            assert!(!gone(pattern, "ls -la"), "{pattern}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 20_000, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn a_glance_hides_neither_a_match_nor_a_mistake(
            pattern in "(\\(\\?i\\))?\\^(a|b|\\(a\\|b\\)|\\(a\\)|\\(a\\|\\))((a|b|x|-|\\?|\\*|\\+|\\||\\{2\\}|\\(|\\)|\\(\\?:|\\$|\\^|\\[a\\|\\]|\\[b-a\\]|\\[\\]\\|\\]|\\\\b|\\\\d|\\\\q|\\\\\\.){0,6}|[ab()|*+?\\[\\]{}\\\\^$-]{0,6})",
            text in "[abxA|]{0,4}",
        ) {
            let gone = begins_otherwise(&pattern, |byte| Letters::of(&text).begin_with(byte));
            match Regex::new(&pattern) {
                Ok(regex) => prop_assert!(!gone || !regex.is_match(&text), "{pattern:?} {text:?}"),
                Err(_) => prop_assert!(!gone, "{pattern:?} is broken and must be seen to be"),
            }
        }
    }
}
