//! Collects the facts about the server of an MCP call: its pin, its observed record, and its entry in the configuration.

use crate::runtime::environment::Environment;
use crate::runtime::mcp::live::Servers;
use crate::runtime::mcp::records::{Store, hides_name, read_bytes, read_start, skim};
use crate::runtime::mcp::servers::Servers as AllServers;
use crate::runtime::policy_files::is_missing;
use rune::encoding::label::Label;
use rune::event::{Action, Event, UnapprovedServers};
use rune::mcp::Pins;
use rune::mcp::{ApprovedHead, Pin, PinHead, Resolved, resolve};
use rune::mcp::{Live, Lookup, Record};
use rune::policy::Config;
use rune::quarantined::{Audit, Reason};
use std::io::ErrorKind;
use std::path::Path;

/// The stricter pin mode of the operator's policy and the project's.
fn pin_mode(config: &Config) -> Pins {
    let modes = [Some(config.pins), config.project.as_ref().map(|project| project.pins)];
    let strictest_first = [Pins::Required, Pins::WhenPresent];
    strictest_first.into_iter().find(|mode| modes.contains(&Some(*mode))).unwrap_or(Pins::Off)
}

/// Whether pins do not matter: none exist and none are required.
fn are_pins_unused(config: &Config, environment: &Environment) -> bool {
    match pin_mode(config) {
        Pins::Off => true,
        Pins::WhenPresent => environment.data_dir.as_ref().is_some_and(|data| is_missing(&data.join("pins"))),
        Pins::Required => false,
    }
}

/// Looks up the records and the configured entry for the tool of a call; `None` if pins do not matter for it.
pub fn look_up(event: &Event<'_>, config: &Config, environment: &Environment) -> Option<Lookup> {
    let Action::Mcp { server, .. } = &event.action else { return None };
    if are_pins_unused(config, environment) {
        return None;
    }
    let reason = Reason::new("which server and tool a call is about").ok()?;
    let call = event.tool.expose(reason, &mut Audit::new(|_| {}));
    let servers = Servers::look(environment, &event.place.cwd);
    let named = server.as_ref().map(|server| server.name.as_str());
    let mut names = servers.names();
    let mut resolved = resolve(call, named, &names);
    let unknown = |resolved: Resolved, pin: Record| Lookup::new(resolved, Live::Nowhere, pin, Record::Missing);
    let Ok(store) = Store::of(environment) else { return Some(unknown(resolved, Record::Unreadable)) };
    if is_guess(&resolved, named, &names) {
        let (recorded, unreadable) = store.servers();
        names.extend(recorded);
        resolved = resolve(call, named, &names);
        // An unreadable record whose file name hides the server's name may be the record of this server.
        if is_guess(&resolved, named, &names) && unreadable.iter().any(|error| hides_name(&error.path)) {
            return Some(unknown(resolved, Record::Unreadable));
        }
    }
    let Resolved::Tool { server: name, tool } = &resolved else { return Some(unknown(resolved, Record::Missing)) };
    let (pin, observed) = (store.pin_path(name), store.observed_path(name));
    // For a tool that has not changed, the first lines of the records suffice.
    let skimmed = record_from(skim(&pin, tool).map(Record::Start));
    if skimmed == Record::Missing && pin_mode(config) == Pins::WhenPresent {
        return None;
    }
    let live = if name.starts_with("plugin:") {
        live_of_plugin(environment, &event.place.cwd, name)
    } else {
        servers.live(name, server.as_ref().map(|server| server.source.as_str()))
    };
    let lookup = Lookup::new(resolved.clone(), live, skimmed, record_from(read_start(&observed).map(Record::Start)));
    Some(if lookup.is_plain() { lookup } else { lookup.with_all(record_at(&pin), record_at(&observed)) })
}

/// Whether the server of a call is known only from the tool's name. Older clients do not name the server, and servers of
/// plugins, connectors and command lines are in no file that is read for every call.
fn is_guess(resolved: &Resolved, named: Option<&str>, names: &[String]) -> bool {
    matches!(resolved, Resolved::Tool { server, .. } if named != Some(server) && !names.contains(server))
}

/// The configured entry of a plugin's server. Plugins are many files, so they are read for such servers only.
fn live_of_plugin(environment: &Environment, cwd: &str, name: &str) -> Live {
    let servers = AllServers::look(environment, Path::new(cwd));
    let Some(server) = servers.named(name) else { return Live::Nowhere };
    server.identity().map_or(Live::Unreadable, Live::Entry)
}

fn record_at(path: &Path) -> Record {
    record_from(read_bytes(path).map(Record::Bytes))
}

fn record_from(record: std::io::Result<Record>) -> Record {
    match record {
        Ok(record) => record,
        Err(error) if error.kind() == ErrorKind::NotFound => Record::Missing,
        Err(_) => Record::Unreadable,
    }
}

/// The configured servers without an approval, and those that are configured differently from their approval.
pub fn unapproved_servers(event: &Event<'_>, config: &Config, environment: &Environment) -> UnapprovedServers {
    let mut unapproved = UnapprovedServers::default();
    let Ok(store) = Store::of(environment) else { return unapproved };
    if are_pins_unused(config, environment) {
        return unapproved;
    }
    let servers = Servers::look(environment, &event.place.cwd);
    for name in servers.names() {
        let approved = match read_bytes(&store.pin_path(&name)).map(|bytes| read_approval(&bytes)) {
            Ok(Some((true, _))) => continue,
            Ok(Some((false, approved))) => approved,
            Err(error) if error.kind() == ErrorKind::NotFound => None,
            Ok(None) | Err(_) => {
                unapproved.changed.push(Label::new(&name));
                continue;
            }
        };
        match approved {
            None if pin_mode(config) == Pins::Required => unapproved.unpinned.push(Label::new(&name)),
            Some(approved)
                if servers.live(&name, None) != approved.identity.clone().map_or(Live::Nowhere, Live::Entry) =>
            {
                unapproved.changed.push(Label::new(&name));
            }
            None | Some(_) => {}
        }
    }
    unapproved
}

/// Whether a pin blocks its server, and what it approves; `None` if it cannot be read.
fn read_approval(bytes: &[u8]) -> Option<(bool, Option<ApprovedHead>)> {
    match PinHead::read(bytes) {
        Some(head) => head.ok().map(|head| (head.blocked, head.approved)),
        None => Pin::read(bytes).ok().map(|pin| (pin.is_blocked(), pin.head().approved)),
    }
}
