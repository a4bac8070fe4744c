//! A home whose client has one server of a hundred tools, all of them approved.

use rune::mcp::{Identity, Observed, Pin, Proposal, ServedBytes, Source, Transport};
use serde_json::json;
use std::path::Path;
use time::OffsetDateTime;

const AT: OffsetDateTime = OffsetDateTime::UNIX_EPOCH;

/// Writes what the client is configured with, and what was observed and approved of it.
pub fn write(home: &Path) {
    let identity = Identity { command: Some("demo-server".to_owned()), ..Identity::new(Transport::Stdio) };
    let tools: Vec<Vec<u8>> = (0..100).map(tool).collect();
    let tools: Vec<&[u8]> = tools.iter().map(Vec::as_slice).collect();
    let observed = Observed::from_served(&ServedBytes {
        server: "demo",
        source: Source::Probe,
        at: AT,
        identity: Some(identity.clone()),
        instructions: None,
        info: None,
        protocol: None,
        capabilities: None,
        tools: &tools,
        prompts: &[],
    });
    let proposal = Proposal::of(None, &observed, Some(&identity), None).expect("everything can be pinned");
    let hash = proposal.hash().short();
    let mut pin = Pin::new("demo");
    pin.approve(proposal.confirm(&hash).unwrap_or_else(|_| unreachable!("it is the hash of it")), AT);
    let data = home.join(".local/share/rune");
    for (folder, text) in [("pins", pin.write()), ("observed", observed.write())] {
        std::fs::create_dir_all(data.join(folder)).expect("a scratch folder can be written to");
        std::fs::write(data.join(folder).join("demo.json"), text).expect("a scratch folder can be written to");
    }
    let servers = json!({"mcpServers": {"demo": {"command": "demo-server"}}});
    std::fs::write(home.join(".claude.json"), servers.to_string()).expect("a scratch folder can be written to");
}

/// A tool as servers describe theirs, of about 900 bytes.
fn tool(number: usize) -> Vec<u8> {
    let schema = json!({"type": "object", "required": ["text"], "properties": {
        "text": {"type": "string", "description": "what it is about, in so many words. ".repeat(6)},
        "count": {"type": "integer"},
    }});
    let description = "Does one of a hundred things, and says how it went. ".repeat(8);
    let tool = json!({"name": format!("tool{number}"), "description": description, "inputSchema": schema,
        "annotations": {"readOnlyHint": true}});
    tool.to_string().into_bytes()
}
