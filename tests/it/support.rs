//! What several test modules use.

pub mod cases;
pub mod judge;
pub mod mcp_server;
pub mod sandbox;
pub mod snapshot;
