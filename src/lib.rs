//! The library of `rune`, a guard for coding agents that judges tool calls and marks untrusted results.
//!
//! ```text
//! stdin ─> client.parse ─> Message ─> Event ─┐
//!                                            ├─> decide(&Event, &Config) ─> Verdict ─> client.answer ─> stdout, exit code
//! files ─> policy ───────> Config ───────────┘                                └─> telemetry ─> one log line
//! any step fails ─> Failure ─> Verdict
//! ```
//!
//! 1. The runtime (`src/runtime/hook.rs`, in the binary) reads stdin into a [`quarantined::Quarantined`].
//! 2. [`client`] parses it into an [`event::Message`], or returns an [`event::EventError`].
//! 3. The runtime adds directories, the parsed shell text and [`event::Facts`] about the machine: an [`event::Event`].
//! 4. The runtime reads the policy into a [`policy::Config`].
//! 5. [`decide()`] returns the [`verdict::Verdict`]. The hook, the commands and the tests judge only by this function.
//! 6. [`client`] renders the verdict, and [`telemetry`] writes one log line.
//!
//! The library does no input or output and reads no clock and no random numbers (`.clippy.toml` forbids it).
//!
//! INVARIANT: the modules below are listed in the order of their layers. A module imports only from those listed before
//! it; `tests/it/layers.rs` checks that.
#![forbid(unsafe_code)]

pub mod quarantined;
pub mod encoding;
pub mod path;
pub mod verdict;
pub mod programs;
pub mod shell;
pub mod mcp;
pub mod event;
pub mod rules;
pub mod policy;
pub mod quarantine;
pub mod decide;
pub mod receipt;
pub mod telemetry;
pub mod client;
pub mod self_test;

pub use decide::decide;
