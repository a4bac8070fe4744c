//! Requests to servers of this machine or its network that hold data and rights of others: a proxy to a cluster, a container
//! engine, a store of secrets.

use super::super::{Arg, Command};
use super::{does, fetch};
use crate::encoding::address::Address;
use crate::programs::Does;
use crate::programs::code::{self, lists};

/// The effect of a request that is not a GET, given its address. `removes`: its method removes what the path names.
pub(super) fn effect(command: &Command, address: &str, removes: bool) -> Option<Does> {
    let parsed = Address::parse(address);
    let by_path = does::path_effect(address);
    let search = lists(&code::REQUESTS_SEARCH_PORTS, parsed.port);
    if search && parsed.is_this_machine() {
        let is_whole = |part: &str| part == "_all" || part.contains('*');
        let path = parsed.location.split('?').next().unwrap_or_default();
        let whole = removes && path.split('/').any(is_whole);
        return by_path.filter(|does| *does == Does::Destroy).or(whole.then_some(Does::Lose)).map(|_| Does::Lose);
    }
    let is_admin = search
        || lists(&code::REQUESTS_PORTS, parsed.port)
        || begins(&parsed, &code::REQUESTS_ADMIN)
        || uses_engine(command)
        || by_path == Some(Does::Destroy) && !parsed.is_this_machine() && !parsed.host.is_empty();
    let named = if removes { Some(Does::Destroy) } else { by_path.max(Some(Does::Change)) };
    named.filter(|_| is_admin)
}

/// Whether a request prints the secrets that such a server holds.
pub(super) fn reveals(command: &Command) -> bool {
    let is_client = matches!(command.program.as_str(), "curl" | "wget" | "wget2" | "http" | "https" | "xh" | "xhs");
    let names_secret = |address: &Arg| {
        let parsed = Address::parse(&address.text);
        let path = parsed.location.split('?').next().unwrap_or_default();
        let in_cluster = path.contains("/api/v1/") && path.split('/').any(|part| part == "secrets");
        in_cluster || parsed.is_nearby() && begins(&parsed, &code::REQUESTS_SECRETS)
    };
    is_client && fetch::addresses(command).iter().any(names_secret)
}

/// Whether the path of an address begins with one of these.
fn begins(address: &Address<'_>, beginnings: &[&str]) -> bool {
    let path = address.location.trim_start_matches('/');
    beginnings.iter().any(|start| {
        path.strip_prefix(start)
            .is_some_and(|rest| start.ends_with('/') || rest.is_empty() || rest.starts_with(['/', '?']))
    })
}

/// Whether the request goes to the socket of a container engine.
fn uses_engine(command: &Command) -> bool {
    let is_engine =
        |socket: &Arg| ["docker", "podman", "containerd", "crio"].iter().any(|name| socket.text.contains(name));
    command.values(&["--unix-socket", "--abstract-unix-socket"]).iter().any(is_engine)
}
