//! Addresses of servers: URLs and host names, in every spelling that clients accept, in one canonical form.

use std::net::{Ipv4Addr, Ipv6Addr};

// `NETWORK_ENDINGS`, `ADMINISTRATION_PORTS`, `ADMINISTRATION_PATHS`, `METADATA_HOSTS`, `THIS_MACHINE_HOSTS`,
// `FORGE_PREFIXES`, `FORGE_HOSTS`, `SHARED_DOMAINS`, `ECHO_DOMAINS`, `SERVICES_VARIABLES` and `SERVICES_KEYS`.
include!(concat!(env!("OUT_DIR"), "/addresses.rs"));

/// Schemes that are known without `//` behind them. In `localhost:3000`, what precedes the colon is a host.
const PLAIN_SCHEMES: [&str; 14] = [
    "about", "blob", "data", "dict", "file", "ftp", "gopher", "http", "https", "jar", "javascript", "ldap", "ldaps",
    "view-source",
];

/// An address.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Address<'a> {
    /// The scheme in lower case, or nothing.
    pub scheme: String,
    /// User and password, as written.
    pub user: &'a str,
    /// The host in canonical form, without brackets. Characters of unknown parts, such as `$`, stay in it.
    pub host: String,
    /// The port, as written.
    pub port: &'a str,
    /// Path, query and fragment, as written.
    pub location: &'a str,
    /// The host as written.
    pub written_host: &'a str,
}

impl<'a> Address<'a> {
    /// Reads an address as browsers and curl do: any number of slashes or backslashes behind the scheme, user and
    /// password before the last `@`, numbers in any base for IPv4.
    pub fn parse(text: &'a str) -> Self {
        let text = text.trim_matches(|c: char| c.is_whitespace() || c.is_control());
        let (scheme, rest) = split_scheme(text);
        let rest = rest.trim_start_matches(['/', '\\']);
        let end = rest.find(['/', '\\', '?', '#']).unwrap_or(rest.len());
        let (authority, location) = rest.split_at(end);
        let (user, host) = authority.rsplit_once('@').unwrap_or(("", authority));
        let (written_host, port) = split_port(host);
        Address { scheme, user, host: canonical_host(written_host), port, location, written_host }
    }

    /// Whether the host gives out the keys of the machine's cloud account.
    pub fn is_metadata(&self) -> bool {
        is_listed(&METADATA_HOSTS, &self.host)
    }

    /// Whether the host is this machine. A port that is a variable is accepted, a host is not.
    pub fn is_this_machine(&self) -> bool {
        let is_port = self.port.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"${}_".contains(&byte));
        let named = is_listed(&THIS_MACHINE_HOSTS, &self.host) || self.host.ends_with(".localhost");
        // `:3000` is a port of this machine.
        let is_bare_port = self.host.is_empty() && !self.port.is_empty() && self.scheme.is_empty();
        is_port && (named || is_bare_port)
    }

    /// Whether the host is this machine, in its network, or a container beside it, whose name has no dot.
    pub fn is_nearby(&self) -> bool {
        let is_name = self.host.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte));
        let is_container = is_name && !self.host.is_empty();
        !self.is_metadata() && (self.is_this_machine() || is_container || self.host.ends_with(".local"))
    }

    /// Whether anybody can have a place of their own on the host, so that its name alone says little.
    pub fn is_shared(&self) -> bool {
        SHARED_DOMAINS
            .iter()
            .any(|domain| self.host.strip_suffix(domain).is_some_and(|rest| rest.is_empty() || rest.ends_with('.')))
    }

    /// Whether the host is in a private network, by its number or its name, and not this machine.
    pub fn is_of_network(&self) -> bool {
        let is_private = |address: Ipv4Addr| address.is_private() || address.is_link_local();
        let is_local = |address: Ipv6Addr| address.is_unique_local() || address.is_unicast_link_local();
        let is_name = !self.host.is_empty() && !self.host.contains(['.', ':', '$', '{']) && !self.scheme.is_empty();
        !self.is_this_machine()
            && (is_name
                || self.host.parse().is_ok_and(is_private)
                || self.host.parse().is_ok_and(is_local)
                || NETWORK_ENDINGS.iter().any(|end| self.host.ends_with(end))
                // `169.254.169.254.example.com` is meant to lead there.
                || METADATA_HOSTS.iter().any(|host| host.len() > 10 && self.host.starts_with(&format!("{host}."))))
    }

    /// Whether it is a service of this machine that administers it or holds its data: a cluster, a database, a store of
    /// secrets.
    pub fn is_administration(&self) -> bool {
        self.is_this_machine()
            && (ADMINISTRATION_PORTS.contains(&self.port)
                || ADMINISTRATION_PATHS.iter().any(|path| self.location.starts_with(path)))
    }

    /// Whether the host is a forge itself, so that the first two parts of a path are a repository.
    pub fn is_forge(&self) -> bool {
        FORGE_HOSTS.contains(&self.host.as_str())
    }

    /// Whether it is an HTTPS address of a domain or a subdomain.
    pub fn is_of_service(&self, domain: &str) -> bool {
        let host = self.host.as_str();
        self.scheme == "https" && (host == domain || host.strip_suffix(domain).is_some_and(|rest| rest.ends_with('.')))
    }
}

/// Whether a text names code on another machine: a URL, or a repository such as `github:owner/name`.
pub fn is_remote_code(text: &str) -> bool {
    let text = text.strip_prefix("git+").unwrap_or(text);
    let address = Address::parse(text);
    let is_url =
        matches!(address.scheme.as_str(), "http" | "https" | "ftp" | "git" | "ssh") && !address.host.is_empty();
    is_url && !address.is_nearby() || FORGE_PREFIXES.iter().any(|prefix| text.starts_with(prefix))
}

/// The services with a secret in a variable: the prefix of the variable and the domain.
pub fn services_by_variable() -> impl Iterator<Item = (&'static str, &'static str)> {
    SERVICES_VARIABLES.iter().filter_map(|row| row.split_once(' '))
}

/// The services by the form of their keys: the prefix of the key, and the domain or nothing if there is more than one.
pub fn services_by_key() -> impl Iterator<Item = (&'static str, &'static str)> {
    SERVICES_KEYS.iter().filter_map(|row| row.split_once(' ')).map(|(key, domain)| (key, domain.trim_matches('*')))
}

fn split_scheme(text: &str) -> (String, &str) {
    let is_scheme = |scheme: &str| {
        scheme.starts_with(|c: char| c.is_ascii_alphabetic())
            && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+.-".contains(&byte))
    };
    if let Some((scheme, rest)) = text.split_once(':').filter(|(scheme, _)| is_scheme(scheme)) {
        let scheme = scheme.to_ascii_lowercase();
        if rest.starts_with("//") || rest.starts_with("\\\\") || PLAIN_SCHEMES.contains(&scheme.as_str()) {
            return (scheme, rest);
        }
    }
    (String::new(), text)
}

fn split_port(host: &str) -> (&str, &str) {
    if let Some((inner, rest)) = host.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        return (inner, rest.trim_start_matches(':'));
    }
    // An IPv6 address without brackets has no port.
    if host.parse::<Ipv6Addr>().is_ok() {
        return (host, "");
    }
    host.split_once(':').unwrap_or((host, ""))
}

fn canonical_host(host: &str) -> String {
    let host: String = unescaped(host).chars().filter_map(plain_char).collect();
    let host = host.trim_end_matches('.').to_ascii_lowercase();
    if let Ok(address) = host.split('%').next().unwrap_or_default().parse::<Ipv6Addr>() {
        let embedded = address.to_ipv4_mapped().or_else(|| translated(address));
        return embedded.map_or_else(|| address.to_string(), |address| address.to_string());
    }
    if let Some(address) = numeric(&host) {
        return address.to_string();
    }
    let echoed = ECHO_DOMAINS.iter().find_map(|domain| host.strip_suffix(domain)?.strip_suffix('.'));
    echoed.and_then(embedded_address).map_or(host, |address| address.to_string())
}

/// IPv4 in the prefix of NAT64 (RFC 6052) or as a compatible address (RFC 4291).
fn translated(address: Ipv6Addr) -> Option<Ipv4Addr> {
    let [first, second, .., high, low] = address.segments();
    let is_zero = address.segments().iter().skip(2).take(4).all(|part| *part == 0);
    let prefix = (first, second) == (0x64, 0xff9b) || (first, second) == (0, 0) && high != 0;
    (is_zero && prefix).then(|| Ipv4Addr::from(u32::from(high) << 16 | u32::from(low)))
}

/// The address in `app-10-0-0-1`, `app.10.0.0.1` or `7f000001`. Of several, as services of rebinding have them, it is one
/// that gives out keys, or else the last.
fn embedded_address(name: &str) -> Option<Ipv4Addr> {
    let parts: Vec<&str> = name.split(['.', '-']).collect();
    let is_hex = |part: &&str| part.len() == 8 && part.bytes().all(|byte| byte.is_ascii_hexdigit());
    let hex = parts.iter().copied().filter(is_hex).filter_map(|part| u32::from_str_radix(part, 16).ok());
    let numbers = parts.windows(4).filter_map(|four| {
        let mut bytes = [0; 4];
        for (byte, part) in bytes.iter_mut().zip(four) {
            *byte = part.parse().ok()?;
        }
        Some(Ipv4Addr::from(bytes))
    });
    let found: Vec<Ipv4Addr> = hex.map(Ipv4Addr::from).chain(numbers).collect();
    let gives_keys = |address: &&Ipv4Addr| is_listed(&METADATA_HOSTS, &address.to_string());
    found.iter().find(gives_keys).or(found.last()).copied()
}

/// An IPv4 address as `inet_aton` reads it: one to four numbers, each decimal, octal or hexadecimal.
fn numeric(host: &str) -> Option<Ipv4Addr> {
    let number = |part: &str| match part.strip_prefix("0x") {
        Some("") => Some(0),
        Some(hex) => u32::from_str_radix(hex, 16).ok(),
        None if part.len() > 1 && part.starts_with('0') => u32::from_str_radix(part, 8).ok(),
        None => part.parse().ok(),
    };
    let parts: Vec<u32> = host.split('.').map(number).collect::<Option<_>>()?;
    let (last, first) = parts.split_last().filter(|(_, first)| first.len() < 4)?;
    let shift = 8 * u32::try_from(4 - first.len()).ok()?;
    let head = first.iter().try_fold(0_u32, |sum, part| (*part < 256).then_some(sum << 8 | part))?;
    let fits = shift == 32 || *last < 1 << shift;
    fits.then(|| Ipv4Addr::from(head.checked_shl(shift).unwrap_or(0) | last))
}

/// Replaces `%xx` by its character.
pub(crate) fn unescaped(host: &str) -> String {
    let mut parts = host.split('%');
    let mut plain = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let code = part.get(..2).and_then(|digits| u8::from_str_radix(digits, 16).ok()).filter(u8::is_ascii_graphic);
        match code {
            Some(byte) => {
                plain.push(char::from(byte));
                plain.push_str(part.get(2..).unwrap_or_default());
            }
            None => plain.extend(["%", part]),
        }
    }
    plain
}

/// A character as UTS 46 maps it in host names: full-width forms, circled digits, ideographic full stops.
fn plain_char(c: char) -> Option<char> {
    match c {
        '\u{3002}' | '\u{ff0e}' | '\u{ff61}' => Some('.'),
        '\u{ff01}'..='\u{ff5e}' => char::from_u32(u32::from(c) - 0xfee0),
        '\u{2460}'..='\u{2468}' => char::from_digit(u32::from(c) - 0x245f, 10),
        '\u{24ea}' => Some('0'),
        '\u{ad}' | '\u{200b}'..='\u{200d}' | '\u{2060}' | '\t' | '\n' | '\r' => None,
        _ => Some(c),
    }
}

fn is_listed(hosts: &[&str], host: &str) -> bool {
    hosts.iter().any(|listed| match listed.split_once('*') {
        Some((start, "")) => {
            host.starts_with(start) && host.bytes().all(|byte| byte.is_ascii_hexdigit() || b".:".contains(&byte))
        }
        Some((start, end)) => host.starts_with(start) && host.ends_with(end),
        None => host == *listed,
    })
}

#[cfg(test)]
#[path = "../../tests/unit/encoding/address.rs"]
mod tests;
