//! What judging a call of an MCP tool needs to know of its server: two records and its entry in the configuration.

use crate::runtime::environment::Environment;
use crate::runtime::mcp::live::Servers;
use crate::runtime::mcp::records::{Store, bytes, hides_name, skim, start};
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

/// What pins are for, by the stricter of the operator's policy and the project's.
fn wanted(config: &Config) -> Pins {
    let project = config.project.as_ref().map(|project| project.pins);
    match [Some(config.pins), project] {
        all if all.contains(&Some(Pins::Required)) => Pins::Required,
        all if all.contains(&Some(Pins::WhenPresent)) => Pins::WhenPresent,
        _ => Pins::Off,
    }
}

/// Whether nothing was ever pinned here, and nothing has to be.
fn is_idle(config: &Config, environment: &Environment) -> bool {
    match wanted(config) {
        Pins::Off => true,
        Pins::WhenPresent => environment.data_dir.as_ref().is_some_and(|data| is_missing(&data.join("pins"))),
        Pins::Required => false,
    }
}

/// Looks up what was approved of the tool that a call is about.
pub fn look_up(event: &Event<'_>, config: &Config, environment: &Environment) -> Option<Lookup> {
    let Action::Mcp { server, .. } = &event.action else { return None };
    if is_idle(config, environment) {
        return None;
    }
    let reason = Reason::new("which server and tool a call is about").ok()?;
    let call = event.tool.expose(reason, &mut Audit::new(|_| {}));
    let servers = Servers::look(environment, &event.place.cwd);
    let told = server.as_ref().map(|server| server.name.as_str());
    let mut names = servers.names();
    let mut resolved = resolve(call, told, &names);
    let unknown = |resolved: Resolved, pin: Record| Lookup::new(resolved, Live::Nowhere, pin, Record::Missing);
    let Ok(store) = Store::of(environment) else { return Some(unknown(resolved, Record::Unreadable)) };
    if is_guess(&resolved, told, &names) {
        let (recorded, unreadable) = store.servers();
        names.extend(recorded);
        resolved = resolve(call, told, &names);
        // A record that does not tell its name may be that of this very server.
        if is_guess(&resolved, told, &names) && unreadable.iter().any(|one| hides_name(&one.path)) {
            return Some(unknown(resolved, Record::Unreadable));
        }
    }
    let Resolved::Tool { server: name, tool } = &resolved else { return Some(unknown(resolved, Record::Missing)) };
    let (pin, observed) = (store.pin_path(name), store.observed_path(name));
    // Most calls are of a tool that has not changed, and the first lines tell.
    let skimmed = found(skim(&pin, tool).map(Record::Start));
    if skimmed == Record::Missing && wanted(config) == Pins::WhenPresent {
        return None;
    }
    let live = if name.starts_with("plugin:") {
        plugin(environment, &event.place.cwd, name)
    } else {
        servers.live(name, server.as_ref().map(|server| server.source.as_str()))
    };
    let lookup = Lookup::new(resolved.clone(), live, skimmed, found(start(&observed).map(Record::Start)));
    Some(if lookup.is_plain() { lookup } else { lookup.with_all(record(&pin), record(&observed)) })
}

/// Whether the server of a call is only what stands in its name: older clients do not say whom they mean, and what
/// plugins, connectors and command lines bring along stands in no file that is read for every call.
fn is_guess(resolved: &Resolved, told: Option<&str>, names: &[String]) -> bool {
    matches!(resolved, Resolved::Tool { server, .. } if told != Some(server) && !names.contains(server))
}

/// How the server of a plugin is started or reached: plugins are many files, and read for nobody else.
fn plugin(environment: &Environment, cwd: &str, name: &str) -> Live {
    let servers = AllServers::look(environment, Path::new(cwd));
    let Some(server) = servers.named(name) else { return Live::Nowhere };
    server.identity().map_or(Live::Unreadable, Live::Entry)
}

fn record(path: &Path) -> Record {
    found(bytes(path).map(Record::Bytes))
}

fn found(record: std::io::Result<Record>) -> Record {
    match record {
        Ok(record) => record,
        Err(error) if error.kind() == ErrorKind::NotFound => Record::Missing,
        Err(_) => Record::Unreadable,
    }
}

/// Which of the configured servers nobody has approved, or not as they are configured now.
pub fn unapproved_servers(event: &Event<'_>, config: &Config, environment: &Environment) -> UnapprovedServers {
    let mut unapproved = UnapprovedServers::default();
    let Ok(store) = Store::of(environment) else { return unapproved };
    if is_idle(config, environment) {
        return unapproved;
    }
    let servers = Servers::look(environment, &event.place.cwd);
    for name in servers.names() {
        let approved = match bytes(&store.pin_path(&name)).map(|bytes| approved(&bytes)) {
            Ok(Some((true, _))) => continue,
            Ok(Some((false, approved))) => approved,
            Err(error) if error.kind() == ErrorKind::NotFound => None,
            Ok(None) | Err(_) => {
                unapproved.changed.push(Label::new(&name));
                continue;
            }
        };
        match approved {
            None if wanted(config) == Pins::Required => unapproved.unpinned.push(Label::new(&name)),
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

/// Whether a pin blocks its server, and what it approves of it; `None` where it cannot be read.
fn approved(bytes: &[u8]) -> Option<(bool, Option<ApprovedHead>)> {
    match PinHead::read(bytes) {
        Some(head) => head.ok().map(|head| (head.blocked, head.approved)),
        None => Pin::read(bytes).ok().map(|pin| (pin.is_blocked(), pin.head().approved)),
    }
}
