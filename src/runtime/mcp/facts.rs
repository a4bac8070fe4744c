//! Looks up what is needed to check a call of an MCP tool: the records of its server and its configuration entry.

use crate::runtime::environment::Environment;
use crate::runtime::mcp::records::{Store, hides_name, read_bytes};
use crate::runtime::mcp::servers::Servers;
use crate::runtime::policy_files::is_missing;
use rune::encoding::label::Label;
use rune::event::{Action, Event, UnapprovedServers};
use rune::mcp::{CallTarget, ConfiguredIdentity, PinFacts, PinFile, PinPolicy, RecordFile, resolve_call};
use rune::policy::Config;
use rune::quarantined::{Audit, Reason};
use std::io::ErrorKind;
use std::path::Path;

/// The stricter of the operator's and the project's pin policy.
fn pin_mode(config: &Config) -> PinPolicy {
    config.project.as_ref().map_or(config.pins, |project| config.pins.min(project.pins))
}

/// Whether there are no pins and none are required.
fn are_pins_unused(config: &Config, environment: &Environment) -> bool {
    match pin_mode(config) {
        PinPolicy::Off => true,
        PinPolicy::WhenPresent => environment.data_dir.as_ref().is_some_and(|data| is_missing(&data.join("pins"))),
        PinPolicy::Required => false,
    }
}

/// Looks up what is known about the server and tool of a call; `None` if no pin applies to it.
pub fn look_up(event: &Event<'_>, config: &Config, environment: &Environment) -> Option<PinFacts> {
    let Action::Mcp { server, .. } = &event.action else { return None };
    if are_pins_unused(config, environment) {
        return None;
    }
    let reason = Reason::new("which server and tool a call is about").ok()?;
    let call = event.tool.expose(reason, &mut Audit::new(|_| {}));
    let servers = Servers::for_call(environment, &event.place.cwd);
    let named = server.as_ref().map(|server| server.name.as_str());
    let mut names = servers.names();
    let name_in_calls = |name: &str| environment.client.server_name_in_calls(name);
    let mut target = resolve_call(call, named, &names, name_in_calls);
    let without_records =
        |target, pin| Some(PinFacts::new(target, ConfiguredIdentity::Missing, pin, RecordFile::Missing));
    let Ok(store) = Store::of(environment) else { return without_records(target, RecordFile::Unreadable) };
    if is_guess(&target, named, &names) {
        let (recorded, unreadable) = store.servers();
        names.extend(recorded);
        target = resolve_call(call, named, &names, name_in_calls);
        // An unreadable record with a hashed file name may be that of this server.
        if is_guess(&target, named, &names) && unreadable.iter().any(|one| hides_name(&one.path)) {
            return without_records(target, RecordFile::Unreadable);
        }
    }
    let CallTarget::Tool { server: name, .. } = &target else { return without_records(target, RecordFile::Missing) };
    let pin = record(&store.pin_path(name));
    if pin == RecordFile::Missing && pin_mode(config) == PinPolicy::WhenPresent {
        return None;
    }
    let observed = record(&store.observed_path(name));
    let configured = if name.starts_with("plugin:") {
        let servers = Servers::for_directory(environment, Path::new(&event.place.cwd));
        servers.named(name).map_or(ConfiguredIdentity::Missing, |server| {
            server.identity().map_or(ConfiguredIdentity::Unreadable, ConfiguredIdentity::Known)
        })
    } else {
        servers.identity(name, server.as_ref().map(|server| server.source.as_str()))
    };
    Some(PinFacts::new(target, configured, pin, observed))
}

/// Whether the server of a call is only guessed from its name. Older clients do not name the server, and servers of
/// plugins, connectors and command lines are in no file that is read for every call.
fn is_guess(target: &CallTarget, named: Option<&str>, names: &[String]) -> bool {
    matches!(target, CallTarget::Tool { server, .. } if named != Some(server) && !names.contains(server))
}

fn record(path: &Path) -> RecordFile {
    match read_bytes(path) {
        Ok(bytes) => RecordFile::Bytes(bytes),
        Err(error) if error.kind() == ErrorKind::NotFound => RecordFile::Missing,
        Err(_) => RecordFile::Unreadable,
    }
}

/// The configured servers that are not approved, or not as they are configured now.
pub fn unapproved_servers(event: &Event<'_>, config: &Config, environment: &Environment) -> UnapprovedServers {
    let mut unapproved = UnapprovedServers::default();
    let Ok(store) = Store::of(environment) else { return unapproved };
    if are_pins_unused(config, environment) {
        return unapproved;
    }
    let servers = Servers::for_call(environment, &event.place.cwd);
    for name in servers.names() {
        let head = match record(&store.pin_path(&name)) {
            RecordFile::Missing => Ok(None),
            RecordFile::Unreadable => Err(()),
            RecordFile::Bytes(bytes) => PinFile::parse(&bytes).map(|file| Some(file.head)).map_err(drop),
        };
        let is_blocked = matches!(&head, Ok(Some(head)) if head.blocked);
        let is_changed = |approved: Option<_>| {
            servers.identity(&name, None) != approved.map_or(ConfiguredIdentity::Missing, ConfiguredIdentity::Known)
        };
        match head.map(|head| head.and_then(|head| head.approved)) {
            Ok(_) if is_blocked => {}
            Ok(None) if pin_mode(config) == PinPolicy::Required => unapproved.unpinned.push(Label::new(&name)),
            Ok(None) => {}
            Ok(Some(approved)) if !is_changed(approved.identity.clone()) => {}
            Ok(Some(_)) | Err(()) => unapproved.changed.push(Label::new(&name)),
        }
    }
    unapproved
}
