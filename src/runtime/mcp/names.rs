//! Names of calls that do not tell by themselves where the name of the server ends.

use crate::runtime::environment::Environment;
use crate::runtime::mcp::servers::Servers;
use crate::runtime::options::Options;
use crate::runtime::policy_files;
use rune::event::{Action, Message};
use rune::quarantined::{Audit, Reason};

/// Names the server and the tool of a call whose name can be split in several ways, by the servers that are configured or
/// registered. A name that no server explains stays as it is, and rules refuse it.
pub fn resolve<'a>(message: Message<'a>, options: &Options, environment: &Environment) -> Message<'a> {
    let (Action::Mcp { server: None, .. }, Ok(reason)) = (&message.action, Reason::new("which server a call is about"))
    else {
        return message;
    };
    let name = message.tool.expose(reason, &mut Audit::new(|_| {}));
    let Some(rest) = name.strip_prefix("mcp__").filter(|rest| !rest.contains("__")) else { return message };
    let mut servers = Servers::for_call(environment, &message.cwd).names();
    servers.extend(policy_files::settings(options, environment).servers.into_iter().map(|server| server.name));
    let Some((server, tool)) = environment.client.split_call(rest, &servers) else { return message };
    message.with_tool(format!("mcp__{server}__{tool}"))
}
