//! Pins: what an MCP server serves, what a person has approved, and the status that follows from both.
//!
//! ```text
//! tools/list ──> Observed ─┐
//!                          ├──> status ──> pending, approved, changed, removed, blocked, unpinnable
//! a person ────> Pin ──────┘
//! ```
//!
//! A status is computed from both records and never stored, so no sequence of observations can turn a change into an
//! approval. Only [`Proposal::confirm`] produces the [`Approval`] that adds to a [`Pin`].

pub mod changes;
mod hash;
mod identity;
pub mod name;
mod observed;
mod pin;
mod pin_check;
pub mod protocol;
pub(crate) mod record_file;
pub mod scan;
pub mod schema;
pub mod status;
pub(crate) mod tool;
mod tool_use;

pub use hash::{Hash, HashSubject};
pub use identity::{Identity, Transport};
pub use name::{CallTarget, resolve_call};
pub use observed::{Instructions, Observation, Observed, Source};
pub use pin::{Approval, Pin, Proposal, ProposalError};
pub use pin_check::{ConfiguredIdentity, PinCheck, PinFacts, PinPolicy, RecordFile, RefusalCode};
pub use record_file::{
    ApprovedHead, InvalidRecord, ObservedFile, ObservedHead, PinFile, PinHead, ToolHash, UniqueMap, file_name,
};
pub use status::{ChangedPart, Status};
pub use tool::{InvalidTool, Tool};
pub(crate) use tool_use::{FIELDS_ADDRESSES, FIELDS_NAME_ENDS, FIELDS_NAMES, FIELDS_PROGRAMS, FIELDS_PROSE};
pub(crate) use tool_use::{Hints, Holds, addresses, creates_privately, is_write, texts};

#[cfg(test)]
#[path = "../tests/unit/mcp.rs"]
mod tests;
