//! Splits names of tools and arguments into words.

/// Splits a name in snake case, kebab case, camel case or Pascal case into words in lower case. A run of capitals is one
/// word: `getURLInfo` is `get`, `url`, `info`.
pub(crate) fn of_name(name: &str) -> Vec<String> {
    let chars: Vec<char> = name.chars().collect();
    let mut words: Vec<String> = Vec::new();
    let mut previous: Option<char> = None;
    for (at, c) in chars.iter().enumerate() {
        if !c.is_alphanumeric() {
            previous = None;
            continue;
        }
        let next_is_lower = chars.get(at + 1).is_some_and(|next| next.is_lowercase());
        let begins = previous.is_none_or(|before| c.is_uppercase() && (!before.is_uppercase() || next_is_lower));
        if begins {
            words.push(String::new());
        }
        if let Some(word) = words.last_mut() {
            word.extend(c.to_lowercase());
        }
        previous = Some(*c);
    }
    words
}

#[cfg(test)]
#[path = "../../tests/unit/encoding/words.rs"]
mod tests;
