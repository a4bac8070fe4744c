//! MCP servers on this machine: the client's configuration, the records on disk, and the facts that a call needs.

pub mod facts;
pub mod own;
pub mod records;
pub mod servers;
