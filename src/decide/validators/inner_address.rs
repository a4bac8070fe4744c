//! Addresses that belong to the machine or its cloud: metadata services, and schemes that reach files and other protocols.

use super::{Context, command, suspicious_if};
use crate::decide::subject::{Subject, SubjectKind};
use crate::encoding::address::Address;
use crate::programs::code::lists;
use crate::programs::roles;
use crate::programs::{Does, Use, WordUse};
use crate::rules::Match;
use crate::shell::{Command, addresses};

pub(super) fn find(subject: &Subject<'_>, _: &Context<'_>) -> Option<Match> {
    if let SubjectKind::Page(url) = &subject.kind {
        let address = Address::parse(url);
        let is_web = matches!(address.scheme.as_str(), "http" | "https" | "");
        let is_inner = address.is_metadata() || address.is_of_network() || address.is_administration();
        return suspicious_if(!is_web, "is not an address of the web")
            .or_else(|| suspicious_if(is_inner, "is an address of the private network or of this machine"));
    }
    let command = command(subject)?;
    let is_inner = |address: &str| {
        let address = Address::parse(address);
        address.is_metadata() || is_inner_scheme(&address.scheme) && address.scheme != "file"
    };
    let fetched = || {
        lists(&roles::NETWORK_FETCHERS, &command.program) && addresses(command).iter().any(|arg| is_inner(&arg.text))
    };
    let reaches = asked_addresses(command).any(is_inner) || fetched();
    suspicious_if(reaches || is_led_to_metadata(command), "")
}

/// Whether a scheme reaches files, or speaks another protocol to any port.
pub(super) fn is_inner_scheme(scheme: &str) -> bool {
    matches!(scheme, "dict" | "file" | "gopher" | "jar" | "ldap" | "ldaps" | "netdoc" | "php" | "tftp" | "view-source")
}

/// The addresses that a command asks: its operands for programs of the network, and all words with a scheme unless the
/// catalogue says that they are texts.
fn asked_addresses(command: &Command) -> impl Iterator<Item = &str> {
    let line = command.parsed.as_deref();
    let is_network = |used: &WordUse| matches!(used.takes, Some(Use::To | Use::From));
    let is_network = line.is_some_and(|line| line.uses.iter().any(is_network));
    let use_of = move |at: usize| line.and_then(|line| line.uses_of(at).first()).and_then(|used| used.takes);
    // The program of a container may be any: `docker run curl 169.254.169.254/latest/meta-data/`.
    let runs_in_containers =
        |program: &str| lists(&roles::CONTAINERS_ENGINES, program) || lists(&roles::CONTAINERS_CLUSTERS, program);
    let may_ask = command.via.iter().map(String::as_str).chain([command.program.as_str()]).any(runs_in_containers)
        || matches!(command.does(), None | Some(Does::Run));
    command.args.iter().enumerate().filter_map(move |(at, arg)| {
        let has_scheme = arg.text.contains("://") || arg.text.contains(":\\\\");
        let asked = match use_of(at) {
            Some(Use::To | Use::From) => true,
            Some(Use::Text | Use::Match | Use::Code | Use::Variable) => false,
            Some(_) => has_scheme,
            None => has_scheme || is_network,
        };
        let is_metadata = || arg.text.contains("/latest/meta-data") || arg.text.contains("/computeMetadata/");
        let asked = asked || may_ask && is_metadata();
        asked.then_some(arg.text.as_str())
    })
}

/// Whether an option of a fetching program resolves a name to a metadata address: `--resolve x:80:169.254.169.254`.
fn is_led_to_metadata(command: &Command) -> bool {
    command.is_rerouted()
        && command.args.iter().any(|arg| {
            let parts =
                arg.text.split([':', ',', '/', '@']).filter(|part| part.contains('.') || part.starts_with("0x"));
            parts.into_iter().any(|part| Address::parse(part).is_metadata())
        })
}
