//! MCP servers on this machine: the client's configuration, the records on disk, and the facts for a call.

pub mod facts;
pub mod names;
pub mod records;
pub mod seen;
pub mod servers;
