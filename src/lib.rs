//! Rune judges what a coding agent is about to do, and marks what strangers have written.
//!
//! ```text
//! stdin ──> client ──> Event ─┐
//!                             ├──> decide(&Event, &Config) ──> Verdict ──> client ──> stdout, exit code
//! files ──> config ─> Config ─┘                                   └──────> telemetry ──> one line
//! (any step fails) ──> Failure ──> Verdict ──────────────────────────^
//! ```
//!
//! 1. The shell (`src/cli/hook.rs`) reads stdin into a [`quarantined::Quarantined`] and nobody else ever sees it bare.
//! 2. [`client`] turns it into an [`event::Event`], or says why that cannot be done ([`event::Unread`]).
//! 3. The shell reads the policy into a [`config::Config`] and looks up the [`event::Facts`] that this event needs.
//! 4. [`decide`] judges. It is the only entry: hook, commands and tests all come through here.
//! 5. [`client`] puts the [`verdict::Verdict`] into the client's words, [`telemetry`] into one line of the log.
//!
//! This library does no input or output, asks no clock and rolls no dice: `.clippy.toml` forbids it. What a
//! judgement needs to know is in the event or in the policy.
#![forbid(unsafe_code)]

pub mod client;
pub mod decide;
pub mod encoding;
pub mod event;
pub mod mcp;
pub mod path;
pub mod policy;
pub mod quarantine;
pub mod quarantined;
pub mod receipt;
pub mod rules;
pub mod shell;
pub mod telemetry;
pub mod verdict;

pub use decide::decide;
