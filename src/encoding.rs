//! Encodings: JSON, canonical JSON, addresses, hex, labels, escaped text, patches.

pub mod address;
pub(crate) mod bytes;
pub mod canonical;
pub mod escape;
pub mod hex;
pub mod json;
pub mod label;
mod nearest;
pub mod patch;

pub use nearest::nearest;
