//! A home in which the client has one MCP server with a hundred approved tools.

use rune::mcp::protocol::Served;
use rune::mcp::{Identity, Observation, Observed, Pin, Proposal, Source, Transport};
use serde_json::json;
use std::path::Path;
use time::OffsetDateTime;

const AT: OffsetDateTime = OffsetDateTime::UNIX_EPOCH;

/// Writes the client's configuration and the records of the server.
pub fn write(home: &Path) {
    let identity = Identity { command: Some("demo-server".to_owned()), ..Identity::new(Transport::Stdio) };
    let observed = Observed::new(Observation {
        server: "demo",
        source: Source::Probe,
        at: AT,
        identity: Some(identity.clone()),
        served: &Served { tools: (0..100).map(tool).collect(), ..Served::default() },
        capabilities: None,
    });
    let proposal = Proposal::of(None, &observed, Some(&identity), None).expect("all tools can be pinned");
    let hash = proposal.hash().short();
    let mut pin = Pin::new("demo");
    pin.approve(proposal.confirm(&hash).unwrap_or_else(|| unreachable!("the hash is that of the proposal")), AT);
    let data = home.join(".local/share/rune");
    for (folder, text) in [("pins", pin.write()), ("observed", observed.write())] {
        std::fs::create_dir_all(data.join(folder)).expect("the temporary directory is writable");
        std::fs::write(data.join(folder).join("demo.json"), text).expect("the temporary directory is writable");
    }
    let servers = json!({"mcpServers": {"demo": {"command": "demo-server"}}});
    std::fs::write(home.join(".claude.json"), servers.to_string()).expect("the temporary directory is writable");
}

/// The description of a tool, of about 900 bytes.
fn tool(number: usize) -> Vec<u8> {
    let schema = json!({"type": "object", "required": ["text"], "properties": {
        "text": {"type": "string", "description": "the subject of the request, as free text. ".repeat(6)},
        "count": {"type": "integer"},
    }});
    let description = "Runs one of a hundred operations, returns the result. ".repeat(8);
    let tool = json!({"name": format!("tool{number}"), "description": description, "inputSchema": schema,
        "annotations": {"readOnlyHint": true}});
    tool.to_string().into_bytes()
}
