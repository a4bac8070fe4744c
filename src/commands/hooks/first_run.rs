//! What `install.sh` ends with: what is guarded, what strict would need, and the commands of everyday use.

use super::registered::options_with_preset;
use crate::commands::mcp::Inventory;
use crate::commands::style::{COLUMNS, wrap};
use clap::Args;
use rune::quarantine::visible;

/// Prints what is guarded and the commands of everyday use
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  rune hooks first-run")]
pub struct FirstRunArgs {}

/// MCP servers that are named; the others are counted.
const MAX_SERVERS: usize = 8;

pub fn run() -> anyhow::Result<()> {
    let (options, preset) = options_with_preset(None, None)?;
    let title = options.client.title();
    say!("guarded in new sessions of {title}: each tool call, and results from outside")?;
    say!("{preset}")?;
    let inventory = Inventory::load()?;
    let names = inventory.names();
    let approved = |name: &&String| inventory.server_state(name).is_ok_and(|state| state.worst().is_approved());
    let open: Vec<String> = names.iter().filter(|name| !approved(name)).map(|name| visible(name)).collect();
    let list = |names: &[String]| {
        let more = names.len().saturating_sub(MAX_SERVERS);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        format!("{}{more}", names.iter().take(MAX_SERVERS).cloned().collect::<Vec<_>>().join(", "))
    };
    let shown: Vec<String> = names.iter().map(|name| visible(name)).collect();
    let servers = if shown.is_empty() { "none".to_owned() } else { list(&shown) };
    wrap(&format!("MCP servers found: {servers}"), COLUMNS).iter().try_for_each(|line| say!("{line}"))?;
    if !open.is_empty() {
        let needs = format!(
            "  strict denies their tools until you approve them: `rune mcp probe`, then `rune mcp approve NAME` for {}",
            list(&open)
        );
        wrap(&needs, COLUMNS).iter().try_for_each(|line| say!("{line}"))?;
    }
    say!("everyday use, in a terminal:")?;
    say!("  rune log                             what was asked about and denied")?;
    say!("  rune allow --last --reason '…'       an exception for the last stop")?;
    say!("  rune pause 15m                       a pause; rune resume ends it")?;
    say!("  rune hooks install --preset strict   another preset: gentle, strict, off")?;
    say!("  rune doctor                          whether all is well")
}
