//! The hook, and everything that reads from or writes to the machine.

pub mod abort;
pub mod bare;
pub mod agent_check;
pub mod environment;
pub mod exit_code;
pub mod facts;
pub mod files;
pub mod hook;
pub mod log;
pub mod mcp;
pub mod options;
pub mod pause;
pub mod policy_files;
pub mod receipts;
pub mod session;
pub mod stage;
pub mod stderr;
pub mod stdin;
pub mod stdout;
pub mod symlinks;
pub mod transcripts;
pub mod watchdog;
