//! The content of a result in the form that content rules match: passages of a few sentences in plain lower-case
//! letters, and passages that were hidden or encoded in the text.

mod encoded;
mod normalize;
pub(super) mod letters;
mod hidden_html;
mod passage;

use crate::verdict::limits::Meter;
pub(crate) use normalize::NormalizedText;
pub(crate) use passage::{Passage, Sentences};

/// The passages of a text that are invisible to a person or encoded, each with a prefix that names its kind.
pub(crate) fn hidden_passages(text: &str, meter: &Meter) -> Vec<String> {
    let hidden = letters::hidden_texts(text).into_iter().map(|part| ("<hidden> ", part));
    let html = hidden_html::parts(text, meter).into_iter().map(|part| ("<unseen> ", part));
    let encoded = encoded::parts(text).into_iter().map(|part| ("<decoded> ", part));
    hidden.chain(html).chain(encoded).flat_map(|(prefix, part)| normalize::prefixed_passages(&part, prefix)).collect()
}

#[cfg(test)]
#[path = "../../tests/unit/quarantine/content.rs"]
mod tests;
