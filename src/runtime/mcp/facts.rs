//! Looks up what is needed to check a call of an MCP tool: the records of its server and its configuration entry.

use crate::runtime::environment::Environment;
use crate::runtime::mcp::records::{Store, hides_name};
use crate::runtime::mcp::seen;
use crate::runtime::mcp::servers::{Provided, Servers};
use crate::runtime::session::SessionState;
use rune::client::OwnServer;
use rune::encoding::label::Label;
use rune::event::taint::Taint;
use rune::event::{Action, Event, ServerProvider, UnapprovedServers};
use rune::mcp::{CallTarget, ConfiguredIdentity, PinFacts, PinFile, PinPolicy, RecordFile, resolve_call};
use rune::policy::Config;
use rune::quarantined::{Audit, Reason};
use std::path::Path;

/// The stricter of the operator's and the project's pin policy.
fn pin_mode(config: &Config) -> PinPolicy {
    config.project.as_ref().map_or(config.pins, |project| config.pins.min(project.pins))
}

/// Whether there are no pins and none are required.
fn are_pins_unused(config: &Config, environment: &Environment) -> bool {
    match pin_mode(config) {
        PinPolicy::Off => true,
        PinPolicy::WhenPresent => Store::of(environment).is_ok_and(|store| !store.has_pins()),
        PinPolicy::Required => false,
    }
}

/// Who has provided the server of a call, and the fingerprint of a server of the user that is seen for the first time.
pub fn provider(
    event: &Event<'_>,
    taint: &Taint,
    config: &Config,
    environment: &Environment,
    state: &dyn SessionState,
) -> (ServerProvider, Option<String>) {
    let other = (ServerProvider::Other, None);
    let (Action::Mcp { server, .. }, Some(call)) = (&event.action, tool_name(event)) else { return other };
    let own = environment.client.locations().own_servers;
    let may_be_own = own.iter().any(|own| call.starts_with(&format!("mcp__{}__", own.name)));
    if !may_be_own && !config.knows_user_servers {
        return other;
    }
    let servers = Servers::for_call(environment, &event.place.cwd);
    let (named, names) = (server.as_ref().map(|server| server.name.as_str()), servers.names());
    let name_in_calls = |name: &str| environment.client.server_name_in_calls(name);
    let target = resolve_call(call, named, &names, name_in_calls);
    let provided = servers.provided_of(&target, server.as_ref());
    match provided {
        Provided::NoFile if is_own_tool(&target, own) => (ServerProvider::Client, None),
        Provided::NoFile | Provided::Elsewhere => other,
        Provided::ForAllProjects(entry) => match seen::fingerprint(entry) {
            None => other,
            Some(fingerprint) if state.seen_servers().contains(&fingerprint) => (ServerProvider::User, None),
            Some(fingerprint) if taint.is_empty() => (ServerProvider::User, Some(fingerprint)),
            Some(_) => (ServerProvider::UserSinceTaint, None),
        },
    }
}

/// The servers of the user that are seen for the first time at the start of a session. In a session that is tainted, as
/// a resumed one may be, none.
pub fn new_servers(event: &Event<'_>, environment: &Environment, state: &dyn SessionState) -> Vec<String> {
    if !state.taint(&event.header.session).is_ok_and(|taint| taint.is_empty()) {
        return Vec::new();
    }
    let (servers, known) = (Servers::for_call(environment, &event.place.cwd), state.seen_servers());
    let of_user = servers.for_all_projects().filter_map(seen::fingerprint);
    of_user.filter(|fingerprint| !known.contains(fingerprint)).collect()
}

/// Whether a call is one of the client's own servers, and does not run code.
fn is_own_tool(target: &CallTarget, own: &[OwnServer]) -> bool {
    let CallTarget::Tool { server, tool } = target else { return false };
    own.iter().any(|own| own.name == server && !own.runs_code.contains(&&**tool))
}

fn tool_name<'e>(event: &'e Event<'_>) -> Option<&'e str> {
    let reason = Reason::new("which server and tool a call is about").ok()?;
    Some(event.tool.expose(reason, &mut Audit::new(|_| {})))
}

/// Looks up what is known about the server and tool of a call; `None` if no pin applies to it.
pub fn look_up(event: &Event<'_>, config: &Config, environment: &Environment) -> Option<PinFacts> {
    let Action::Mcp { server, .. } = &event.action else { return None };
    if are_pins_unused(config, environment) {
        return None;
    }
    let call = tool_name(event)?;
    let servers = Servers::for_call(environment, &event.place.cwd);
    let named = server.as_ref().map(|server| server.name.as_str());
    let mut names = servers.names();
    let name_in_calls = |name: &str| environment.client.server_name_in_calls(name);
    let mut target = resolve_call(call, named, &names, name_in_calls);
    let is_own = is_own_tool(&target, environment.client.locations().own_servers);
    if is_own && matches!(servers.provided_of(&target, server.as_ref()), Provided::NoFile) {
        return None;
    }
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
    let pin = store.pin_file(name);
    if pin == RecordFile::Missing && pin_mode(config) == PinPolicy::WhenPresent {
        return None;
    }
    let observed = store.observed_file(name);
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

/// The configured servers that are not approved, or not as they are configured now.
pub fn unapproved_servers(event: &Event<'_>, config: &Config, environment: &Environment) -> UnapprovedServers {
    let mut unapproved = UnapprovedServers::default();
    let Ok(store) = Store::of(environment) else { return unapproved };
    if are_pins_unused(config, environment) {
        return unapproved;
    }
    let servers = Servers::for_call(environment, &event.place.cwd);
    for name in servers.names() {
        let head = match store.pin_file(&name) {
            RecordFile::Missing => Ok(None),
            RecordFile::Unreadable | RecordFile::Unauthenticated => Err(()),
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
