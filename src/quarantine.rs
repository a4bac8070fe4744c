//! Quarantine: which results come from an untrusted surface, the notice that marks them, and the wrap around them.

pub(crate) mod content;
mod fetched;
mod markup;
mod namespace;
mod notice;
pub(crate) mod result;
mod spill;
mod surface;
mod wrap;

pub use namespace::Namespace;
pub use notice::notice;
pub use surface::surface;
pub use wrap::Wrap;

/// A text of strangers as a person may see it: nothing in it is hidden, and nothing steers a terminal.
pub fn visible(text: &str) -> String {
    let mut shown = String::new();
    wrap::visible(text, &mut shown);
    shown
}
