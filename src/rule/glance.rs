//! A glance at a pattern: whether it is plain to see that it begins otherwise than a text.
//!
//! Of thousands of rules most are done with after it. What is not plain, and what only the compiler could refuse, is left
//! to those who look closer.

use super::gist::Letters;

/// Whether a pattern wants another beginning than a text with these letters has.
pub(super) fn begins_otherwise(pattern: &str, letters: &Letters) -> bool {
    let Some(rest) = pattern.strip_prefix("(?i)").unwrap_or(pattern).strip_prefix('^') else { return false };
    let plain = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b' ');
    // The first letters of a group of plain words, or of the one word.
    let (alike, behind) = match rest.as_bytes().split_first() {
        Some((b'(', group)) => {
            let Some(end) = group.iter().position(|byte| !plain(byte) && *byte != b'|') else { return false };
            let (words, behind) = group.split_at(end);
            let Some(behind) = behind.strip_prefix(b")") else { return false };
            let mut words = words.split(|byte| *byte == b'|');
            (words.any(|word| word.first().is_none_or(|first| letters.begin_with(*first))), behind)
        }
        Some((first, behind)) if plain(first) => (letters.begin_with(*first), behind),
        _ => return false,
    };
    let optional = matches!(behind.first(), Some(b'?' | b'*' | b'{'));
    !alike && !optional && is_plain(behind)
}

/// Whether the rest of a pattern is well-formed for sure, and has no `|` outside of its groups.
fn is_plain(pattern: &[u8]) -> bool {
    let (mut at, mut depth) = (0, 0_usize);
    // Something stands before that can be repeated.
    let mut repeatable = true;
    while let Some(byte) = pattern.get(at) {
        at += 1;
        repeatable = match byte {
            b'\\' => {
                at += 1;
                match pattern.get(at - 1) {
                    Some(b'b') => false,
                    Some(escaped) if is_escape(*escaped) => true,
                    _ => return false,
                }
            }
            b'[' => match class_end(pattern, at) {
                Some(end) => {
                    at = end;
                    true
                }
                None => return false,
            },
            b'(' => {
                depth += 1;
                match (pattern.get(at), pattern.get(at + 1)) {
                    (Some(b'?'), Some(b':')) => at += 2,
                    (Some(b'?'), _) => return false,
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
                at += usize::from(pattern.get(at) == Some(&b'?'));
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
    use super::*;
    use proptest::prelude::*;
    use regex_lite::Regex;

    #[test]
    fn most_patterns_are_gone_after_a_glance() {
        let gone = |pattern: &str, text: &str| begins_otherwise(pattern, &Letters::of(text));
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
            let gone = begins_otherwise(&pattern, &Letters::of(&text));
            match Regex::new(&pattern) {
                Ok(regex) => prop_assert!(!gone || !regex.is_match(&text), "{pattern:?} {text:?}"),
                Err(_) => prop_assert!(!gone, "{pattern:?} is broken and must be seen to be"),
            }
        }
    }
}
