//! Encodings: JSON, canonical JSON, addresses, base64, hex, labels, escaped text, patches, words in names.

pub mod address;
pub(crate) mod base64;
pub(crate) mod bytes;
pub mod canonical;
pub mod escape;
pub mod hex;
pub mod json;
pub mod label;
mod nearest;
pub mod patch;
pub(crate) mod words;

pub use nearest::nearest;
