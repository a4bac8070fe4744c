//! Quarantine: untrusted surfaces, the notice about their results, and the wrap around them.

pub(crate) mod content;
mod fetched;
mod markup;
mod namespace;
mod notice;
pub(crate) mod result;
mod surface;
mod wrap;

pub use namespace::Namespace;
pub use notice::notice;
pub use surface::surface;
pub use wrap::Wrapper;

/// Escapes an untrusted text for a terminal: hidden characters and control characters become visible.
pub fn visible(text: &str) -> String {
    let mut escaped = String::new();
    wrap::escape_into(text, &mut escaped);
    escaped
}
