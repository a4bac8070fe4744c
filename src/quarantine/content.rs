//! Content: what a result says, in the form in which content rules see it. Passages of a few sentences, one a line, in
//! lower case and without disguise; and beside them what was hidden or encoded in the text.

mod encoded;
mod normalize;
pub(super) mod letters;
mod hidden_html;

use crate::verdict::limits::Meter;
pub(crate) use normalize::Folded;

/// What a text says where nobody sees it, or in another writing.
pub(crate) fn covert(text: &str, meter: &Meter) -> Vec<String> {
    let hidden = letters::hidden(text).into_iter().map(|part| ("<hidden> ", part));
    let unseen = hidden_html::parts(text, meter).into_iter().map(|part| ("<unseen> ", part));
    let encoded = encoded::parts(text).into_iter().map(|part| ("<decoded> ", part));
    hidden.chain(unseen).chain(encoded).flat_map(|(mark, part)| normalize::marked(&part, mark)).collect()
}

#[cfg(test)]
#[path = "../../tests/unit/quarantine/content.rs"]
mod tests;
