//! What `rune mcp approve` and `rune mcp diff` show of a server: one line for each tool, the risky ones first.

use super::inventory::{Inventory, ServerState, describe_status};
use crate::commands::explain::preview;
use crate::commands::say;
use crate::runtime::options::Options;
use rune::client::SampleEvent;
use rune::encoding::canonical::Value;
use rune::encoding::escape::one_line;
use rune::mcp::status::Annotations;
use rune::mcp::{Identity, Status, changes, scan};
use rune::quarantine::visible;
use rune::verdict::Phase;
use serde_json::json;

/// Characters of a name or of a server's instructions that are shown. `--full` shows everything.
const MAX_SHOWN_CHARS: usize = 300;

/// Printed where not everything is shown.
const FULL_HINT: &str = "`--full` shows the tools as the server describes them";

/// A tool for a summary.
pub struct ToolSummary<'a> {
    pub name: &'a str,
    pub status: &'a Status,
    pub approved: Option<&'a Value>,
    pub served: Option<&'a Value>,
}

impl<'a> ToolSummary<'a> {
    /// The tool of this name in the records of a server.
    pub fn of(state: &'a ServerState, name: &'a str, status: &'a Status) -> ToolSummary<'a> {
        let served = state.observed.as_ref().and_then(|observed| observed.tool(name)?.body().ok());
        ToolSummary { name, status, approved: state.pin.as_ref().and_then(|pin| pin.tool(name)), served }
    }

    /// Whether a person has nothing to read about it.
    pub fn is_settled(&self) -> bool {
        matches!(self.status, Status::Approved(Annotations::Same))
    }

    fn line(&self, warnings: &[String]) -> String {
        let mut parts = vec![describe_status(self.status)];
        parts.extend(warnings.iter().map(|warning| visible(warning).replace('\n', " ")));
        match (self.approved, self.served) {
            (Some(approved), Some(served)) if approved != served => parts.extend(changes::describe(approved, served)),
            (None, Some(served)) => parts.push(changes::introduce(served)),
            _ => {}
        }
        let mark = if warnings.is_empty() { ' ' } else { '!' };
        format!("{mark} {}  {}", one_line(self.name, MAX_SHOWN_CHARS), parts.join("; "))
    }
}

/// Prints a line for each tool that is not settled, those with warnings first, and the number of the others.
pub fn print_tools(inventory: &Inventory, server: &str, tools: &[ToolSummary<'_>]) -> anyhow::Result<()> {
    let names = tools_of_other_servers(inventory, server);
    let (settled, open): (Vec<_>, Vec<_>) = tools.iter().partition(|tool| tool.is_settled());
    let mut lines = Vec::new();
    for tool in open {
        let warnings = tool.served.map_or(Ok(Vec::new()), |body| tool_warnings(body, &names))?;
        let is_changed = matches!(tool.status, Status::Changed(_));
        lines.push((warnings.len(), is_changed, tool.line(&warnings)));
    }
    // The sort is stable: tools with the same rank stay in the order of their names.
    lines.sort_by_key(|(warnings, is_changed, _)| std::cmp::Reverse((*warnings, *is_changed)));
    lines.iter().try_for_each(|(.., line)| say(line))?;
    if !settled.is_empty() {
        say!("{} tools are unchanged since they were approved", settled.len())?;
    }
    if lines.is_empty() { Ok(()) } else { say(FULL_HINT) }
}

/// Everything that a tool is suspected of: matches of the content rules, and what the scan finds.
pub fn tool_warnings(body: &Value, others: &[(String, String)]) -> anyhow::Result<Vec<String>> {
    let mut warnings = scan::tool(body, others);
    warnings.extend(content_findings(&scan::all_text(body))?);
    Ok(warnings)
}

/// The same for the instructions of a server.
pub fn text_warnings(text: &str) -> anyhow::Result<Vec<String>> {
    let mut warnings = scan::text(text);
    warnings.extend(content_findings(text)?);
    Ok(warnings)
}

/// Prints the instructions of a server: their beginning, or all of them.
pub fn print_instructions(text: &str, full: bool) -> anyhow::Result<()> {
    if full {
        say!("instructions:\n{}", visible(text))?;
    } else {
        say!("instructions ({} characters): {}", text.chars().count(), one_line(text, MAX_SHOWN_CHARS))?;
    }
    print_warnings(&text_warnings(text)?)
}

pub fn print_warnings(warnings: &[String]) -> anyhow::Result<()> {
    warnings.iter().try_for_each(|warning| say!("  warning: {}", visible(warning)))
}

/// How a server is started or reached, on one line.
pub fn describe_identity(identity: &Identity) -> String {
    let words = identity.command.iter().chain(&identity.args).map(|word| rune::shell::quote_word(word));
    let mut parts: Vec<String> = words.map(|word| word.to_string()).collect();
    parts.extend(identity.url.clone());
    let list = |what: &str, names: &std::collections::BTreeSet<String>| {
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        (!names.is_empty()).then(|| format!(", {what} {}", names.join(" ")))
    };
    let place = identity.cwd.as_ref().map(|cwd| format!(", in {cwd}"));
    let owner = identity.owner.as_ref().map(|owner| format!(", of {owner}"));
    let rest = identity.rest.map(|hash| format!(", other settings {}", hash.short()));
    let more = [place, owner, list("variables", &identity.env), list("headers", &identity.headers), rest];
    visible(&format!("{}{}", parts.join(" "), more.into_iter().flatten().collect::<String>())).replace('\n', " ")
}

/// Lists the tools of all other servers, as pairs of server and tool.
pub fn tools_of_other_servers(inventory: &Inventory, server: &str) -> Vec<(String, String)> {
    let others = inventory.names().into_iter().filter(|name| name != server);
    let states = others.filter_map(|name| inventory.server_state(&name).ok());
    states
        .flat_map(|state| state.tools.into_iter().map(|(tool, _)| (state.name.clone(), tool)).collect::<Vec<_>>())
        .collect()
}

/// Reasons of the content rules that match a text, as if it were a fetched page.
fn content_findings(text: &str) -> anyhow::Result<Vec<String>> {
    let (input, result) = (json!({"url": "", "prompt": ""}), Some(json!({"result": text})));
    let sample = SampleEvent { session: "", cwd: "/", phase: Phase::After, tool: "WebFetch", input, result };
    let options = Options::parse(&[]);
    let judged = preview(&options.client.sample_event(&sample), &options, &options.environment())?;
    let findings =
        judged.verdict.distinct().into_iter().filter(|finding| finding.rule().as_str().starts_with("content-"));
    Ok(findings.map(|finding| finding.reason().to_owned()).collect())
}
