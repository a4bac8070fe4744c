//! The integration tests: one binary, one module per subject. `tests/README.md` explains the layout.
#![allow(
    clippy::disallowed_methods,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stderr,
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::wildcard_enum_match_arm,
    reason = "a test fails by panicking, reads and writes files, starts processes and prints what it measured"
)]

mod support;

mod allow;
mod canonical;
mod cases;
mod clients;
mod content;
mod differential;
mod doctor;
mod everyday;
mod explain;
mod fail_closed;
mod faults;
mod fixtures;
mod fuzz;
mod growth;
mod hook;
mod install;
mod layers;
mod log;
mod mcp_probe;
mod mcp_wrap;
mod output;
mod pause;
mod person;
mod pin_model;
mod pins;
mod policy;
mod policy_files;
mod prefilter;
mod programs;
mod properties;
mod quarantine;
mod quarantined;
mod receipts;
mod replay;
mod report;
mod rules;
mod shell;
mod surface;
mod taint;
mod tainted_writes;
mod wrap;
