//! The hook at run time: everything that it reads from and writes to the machine.

pub mod abort;
pub mod agent_check;
pub mod environment;
pub mod exit_code;
pub mod facts;
pub mod files;
pub mod hook;
pub mod log;
pub mod mcp;
pub mod options;
pub mod policy_files;
pub mod receipts;
pub mod session;
pub mod stage;
pub mod stdin;
pub mod stdout;
pub mod symlinks;
pub mod watchdog;
