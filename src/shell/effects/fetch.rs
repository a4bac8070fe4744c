//! Downloads and uploads: where to, what is sent, and with whom.

use super::super::{Arg, Command};
use super::{Act, Noted};
use crate::encoding::address::Address;

/// The words that say whom a command talks to.
pub fn addresses(command: &Command) -> Vec<Arg> {
    let operands = command.operands();
    let named = command.values(&["--url"]);
    match command.program.as_str() {
        "openssl" => command.values(&["-connect", "-host"]),
        // What follows the host is a port.
        "nc" | "ncat" | "netcat" | "telnet" => operands.into_iter().take(1).cloned().collect(),
        // `http POST host field=value`
        "http" | "https" | "xh" => {
            let methods = ["get", "post", "put", "patch", "delete", "head", "options"];
            let is_method = |text: &str| methods.iter().any(|method| method.eq_ignore_ascii_case(text));
            let verb = |arg: &&&Arg| is_method(&arg.text) || arg.text.bytes().all(|byte| byte.is_ascii_uppercase());
            operands.iter().skip_while(verb).take(1).map(|arg| (*arg).clone()).collect()
        }
        _ => operands.into_iter().cloned().chain(named).collect(),
    }
}

/// Whether what a command says to one server goes to another: by a proxy, or by an answer to whose name it is.
fn is_rerouted(command: &Command) -> bool {
    let curl = [
        "-x", "--proxy", "--preproxy", "--resolve", "--connect-to", "--doh-url", "--dns-servers", "--socks4",
        "--socks4a", "--socks5", "--socks5-hostname", "--unix-socket",
    ];
    let by_option = match command.program.as_str() {
        "curl" => command.values(&curl).iter().any(|value| elsewhere(&value.text)),
        // `-e http_proxy=…`, and addresses in a file.
        "wget" => {
            let settings = command.values(&["-e", "--execute"]);
            settings.iter().any(|setting| setting.text.to_ascii_lowercase().contains("proxy"))
                || !command.values(&["-i", "--input-file"]).is_empty()
        }
        "http" | "https" | "xh" | "xhs" => !command.values(&["--proxy", "--resolve"]).is_empty(),
        _ => false,
    };
    by_option || reroutes(&command.env)
}

/// Whether one of these variables makes programs talk to a proxy.
pub fn reroutes(variables: &[(String, Option<String>)]) -> bool {
    variables.iter().any(|(name, value)| {
        ["http_proxy", "https_proxy", "all_proxy"].iter().any(|proxy| name.eq_ignore_ascii_case(proxy))
            && value.as_deref().is_none_or(elsewhere)
    })
}

/// Whether a proxy is none of this machine, where somebody runs it.
fn elsewhere(proxy: &str) -> bool {
    !proxy.is_empty() && !Address::parse(proxy).is_this_machine()
}

impl Command {
    /// Whether what it says to one server goes to another.
    pub(crate) fn is_rerouted(&self) -> bool {
        is_rerouted(self)
    }
}

/// The words that carry what is sent.
pub fn bodies(command: &Command) -> Vec<Arg> {
    command.values(&[
        "-d", "--data", "--data-ascii", "--data-binary", "--data-raw", "--data-urlencode", "--json", "-F", "--form",
        "--post-data", "--body-data", "--url-query",
    ])
}

/// The files that are sent, `-` for the standard input.
pub fn uploads(command: &Command) -> Vec<Arg> {
    let raw = command.values(&["--data-raw", "--form-string", "--post-data", "--body-data"]);
    let bodies = bodies(command).into_iter().filter(|body| !raw.contains(body));
    let named = bodies.filter_map(|body| {
        if let Some(file) = body.behind("@") {
            return Some(file);
        }
        // `name=@file`, `name=<file`, and curl's `name@file`.
        let at = body.text.find(['@', '<']).filter(|at| {
            let before = body.text.get(..*at).unwrap_or_default();
            before.ends_with('=')
                || (!before.contains([' ', '=', '{', ':'])
                    && body.text.get(*at..).is_some_and(|rest| rest.starts_with('@')))
        })?;
        body.behind(body.text.get(..=at)?)
    });
    let named: Vec<Arg> = named.collect();
    let httpie = matches!(command.program.as_str(), "http" | "https" | "xh");
    let operands = command.args.iter().filter(|_| httpie).filter_map(|arg| {
        let at = arg.text.find("=@").or_else(|| arg.text.find('@').filter(|_| !arg.text.contains("://")))?;
        arg.behind(arg.text.get(..at)?).map(|rest| rest.behind("=@").or_else(|| rest.behind("@")).unwrap_or(rest))
    });
    // `--variable name@file`, and `--variable %NAME` for what is in the environment.
    let variables = command.values(&["--variable"]).into_iter().filter_map(|value| {
        let at = value.text.find('@')?;
        value.behind(value.text.get(..=at)?)
    });
    let headers = command
        .values(&["-H", "--header", "--proxy-header", "--url"])
        .into_iter()
        .filter_map(|header| header.behind("@"));
    named
        .into_iter()
        .chain(headers)
        .chain(variables)
        .chain(command.values(&["-T", "--upload-file", "--post-file", "--body-file"]))
        .chain(operands)
        .collect()
}

pub(super) fn note(noted: &mut Noted<'_>, operands: &[&Arg]) {
    let command = noted.command;
    let curl = command.program == "curl";
    let outputs: &[&str] = if curl {
        &["-o", "--output", "-D", "--dump-header", "-c", "--cookie-jar", "--output-dir"]
    } else {
        &["-O", "--output-document", "-o", "--output-file", "--output"]
    };
    let into = command.values(if curl { &["--output-dir"] } else { &["-P", "--directory-prefix"] });
    let below = |name: &Arg| match into.first().filter(|_| !name.text.starts_with('/')) {
        Some(directory) => {
            let base = format!("{}/", directory.text.trim_end_matches('/'));
            let known = directory.known.or(name.known.map(|known| known + base.len()));
            Arg { text: format!("{base}{}", name.text).into(), known, glob: false }
        }
        None => name.clone(),
    };
    let fetched: Vec<Arg> = command.values(outputs);
    // Only curl puts a named file there too.
    let placed: Vec<Arg> = fetched.iter().filter(|file| curl && file.text != "-").map(below).collect();
    noted.all(Act::Write, &placed);
    noted.all(Act::Write, fetched.iter().filter(|arg| arg.text != "-" && (!curl || into.is_empty())));
    if !curl {
        noted.all(Act::Write, &command.values(&["-P", "--directory-prefix"]));
    }
    // Without a name it is the last part of the address, here.
    let named = if curl {
        command.args.iter().any(|arg| {
            arg.text == "--remote-name"
                || arg.text.strip_prefix('-').is_some_and(|letters| !letters.starts_with('-') && letters.contains('O'))
        })
    } else {
        let downloads = command.args.iter().any(|arg| matches!(arg.text.as_str(), "-d" | "--download" | "-dc"));
        (command.program == "wget" || downloads) && fetched.is_empty()
    };
    for address in operands.iter().filter(|arg| named && arg.is_known() && arg.text.contains('/')) {
        let name =
            address.text.split(['?', '#']).next().and_then(|address| address.rsplit('/').next()).unwrap_or_default();
        if !name.is_empty() {
            noted.note(Act::Write, &below(&Arg::literal(name)));
        }
    }
    noted.all(Act::Read, uploads(command).iter().filter(|file| file.text != "-"));
    let named = command.values(&["--url"]);
    let local = operands.iter().copied().chain(&named).filter_map(of_this_machine);
    let local: Vec<Arg> = local
        .chain(command.values(if curl {
            &["-b", "--cookie", "-K", "--config"]
        } else {
            &["-i", "--input-file", "--load-cookies"]
        }))
        .collect();
    noted.all(Act::Read, local.iter().filter(|file| !file.text.contains('=') && !file.text.is_empty()));
    noted.all(
        Act::Write,
        &command.values(if curl { &["--trace", "--trace-ascii", "--stderr"] } else { &["--save-cookies"] }),
    );
    noted.effects.network.extend(operands.iter().map(|arg| arg.text.to_string()));
    noted.effects.network.extend(command.values(&["--url"]).into_iter().map(|arg| arg.text.into()));
}

/// The file that an address names: `file:///x`, `file://localhost/x`, `FILE:/x`.
fn of_this_machine(address: &Arg) -> Option<Arg> {
    let scheme = address.text.get(..5).filter(|scheme| scheme.eq_ignore_ascii_case("file:"))?;
    let rest = address.behind(scheme)?;
    let path = match rest.behind("//") {
        Some(rest) => rest.behind(rest.text.get(..rest.text.find('/')?)?)?,
        None => rest,
    };
    Some(if path.is_known() { super::mentions::address_path(&path.text) } else { path })
}
