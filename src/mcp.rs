//! Pins: what an MCP server serves, what of it a person has approved, and what follows from the two.
//!
//! ```text
//! tools/list ──> Observed ─┐
//!                          ├──> status ──> pending, approved, changed, removed, blocked, unpinnable
//! a person ────> Pin ──────┘
//! ```
//!
//! Nothing here stores a status: it is computed from what is served and from what was approved, so no sequence of
//! passes can turn a change into an approval. A [`Pin`] grows by [`Proposal::confirm`] alone.

pub(crate) mod file;
mod hash;
mod identity;
pub mod name;
mod observed;
pub mod protocol;
mod record;
pub mod scan;
pub mod schema;
mod standing;
pub mod status;
pub(crate) mod tool;

pub use file::{ApprovedHead, Invalid, LARGEST, Mark, Marks, ObservedHead, PinHead, Skim, file_name};
pub use hash::{Hash, Subject};
pub use identity::{BadEntry, Identity, Transport};
pub use name::{Resolved, resolve};
pub use observed::{Instructions, Observed, Served, Source};
pub use record::{Approval, Mismatch, Pin, Proposal, Unfit};
pub use standing::{Code, Live, Lookup, Pins, Record, Standing};
pub use status::{Part, Status};
pub use tool::{InvalidTool, Tool};

#[cfg(test)]
#[path = "../tests/unit/mcp.rs"]
mod tests;
