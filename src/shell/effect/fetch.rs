//! Downloads and uploads: where to, what is sent, and with whom.

use super::super::options::Options;
use super::super::{Arg, Command};
use super::program::option;
use super::{Act, Noted};

pub(super) fn options(program: &str) -> Options {
    let (short, long): (&'static str, &'static [&'static str]) = match program {
        "curl" => (
            "AbcCdDeEFhHKmoPQrtTuUwxXyYz",
            &[
                "cacert",
                "cert",
                "config",
                "connect-timeout",
                "cookie",
                "cookie-jar",
                "data",
                "data-ascii",
                "data-binary",
                "data-raw",
                "data-urlencode",
                "dump-header",
                "form",
                "form-string",
                "header",
                "json",
                "key",
                "max-time",
                "oauth2-bearer",
                "output",
                "output-dir",
                "proxy",
                "range",
                "referer",
                "request",
                "resolve",
                "retry",
                "retry-delay",
                "unix-socket",
                "upload-file",
                "url",
                "url-query",
                "user",
                "user-agent",
                "variable",
                "write-out",
            ],
        ),
        "wget" => (
            "aAeDioOPQtTUwX",
            &[
                "body-data",
                "body-file",
                "directory-prefix",
                "header",
                "method",
                "output-document",
                "output-file",
                "password",
                "post-data",
                "post-file",
                "timeout",
                "tries",
                "user",
                "user-agent",
            ],
        ),
        _ => ("", &[]),
    };
    Options { short, long }
}

/// The words that say whom a command talks to.
pub fn addresses(command: &Command) -> Vec<Arg> {
    let operands = super::program::options(&command.program).operands(&command.args);
    let named = option(command, &["--url"]);
    match command.program.as_str() {
        // What follows the host is a port.
        "nc" | "ncat" | "netcat" | "telnet" => operands.into_iter().take(1).cloned().collect(),
        // `http POST host field=value`
        "http" | "https" | "xh" => {
            let verb = |arg: &&&Arg| arg.text.bytes().all(|byte| byte.is_ascii_uppercase());
            operands.iter().skip_while(verb).take(1).map(|arg| (*arg).clone()).collect()
        }
        _ => operands.into_iter().cloned().chain(named).collect(),
    }
}

/// The words that carry what is sent.
pub fn bodies(command: &Command) -> Vec<Arg> {
    option(
        command,
        &[
            "-d",
            "--data",
            "--data-ascii",
            "--data-binary",
            "--data-raw",
            "--data-urlencode",
            "--json",
            "-F",
            "--form",
            "--post-data",
            "--body-data",
            "--url-query",
        ],
    )
}

/// The files that are sent, `-` for the standard input.
pub fn uploads(command: &Command) -> Vec<Arg> {
    let raw = option(command, &["--data-raw", "--form-string", "--post-data", "--body-data"]);
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
    let variables = option(command, &["--variable"]).into_iter().filter_map(|value| {
        let at = value.text.find('@')?;
        value.behind(value.text.get(..=at)?)
    });
    let headers = option(command, &["-H", "--header"]).into_iter().filter_map(|header| header.behind("@"));
    named
        .into_iter()
        .chain(headers)
        .chain(variables)
        .chain(option(command, &["-T", "--upload-file", "--post-file", "--body-file"]))
        .chain(operands)
        .collect()
}

pub(super) fn note(noted: &mut Noted<'_>, operands: &[&Arg]) {
    let command = noted.command;
    let curl = command.program == "curl";
    let outputs: &[&str] = if curl {
        &["-o", "--output", "-D", "--dump-header", "-c", "--cookie-jar", "--output-dir"]
    } else {
        &["-O", "--output-document", "-o", "--output-file"]
    };
    let fetched = option(command, outputs);
    noted.all(Act::Write, fetched.iter().filter(|arg| arg.text != "-"));
    if !curl {
        noted.all(Act::Write, &option(command, &["-P", "--directory-prefix"]));
    }
    // Without a name it is the last part of the address, here.
    let named = if curl {
        command.args.iter().any(|arg| {
            arg.text == "--remote-name"
                || arg.text.strip_prefix('-').is_some_and(|letters| !letters.starts_with('-') && letters.contains('O'))
        })
    } else {
        command.program == "wget" && fetched.is_empty()
    };
    for address in operands.iter().filter(|arg| named && arg.is_known() && arg.text.contains('/')) {
        let name =
            address.text.split(['?', '#']).next().and_then(|address| address.rsplit('/').next()).unwrap_or_default();
        if !name.is_empty() {
            let into = option(command, if curl { &["--output-dir"] } else { &["-P", "--directory-prefix"] });
            let into = into.first().map_or(String::new(), |directory| format!("{}/", directory.text));
            noted.note(Act::Write, &Arg::literal(format!("{into}{name}")));
        }
    }
    noted.all(Act::Read, uploads(command).iter().filter(|file| file.text != "-"));
    let local = operands.iter().filter_map(|address| address.behind("file://"));
    let local: Vec<Arg> = local
        .chain(option(command, if curl { &["-b", "--cookie"] } else { &["-i", "--input-file", "--load-cookies"] }))
        .collect();
    noted.all(Act::Read, local.iter().filter(|file| !file.text.contains('=') && !file.text.is_empty()));
    noted.all(
        Act::Write,
        &option(command, if curl { &["--trace", "--trace-ascii", "--stderr"] } else { &["--save-cookies"] }),
    );
    noted.effects.network.extend(operands.iter().map(|arg| arg.text.clone()));
    noted.effects.network.extend(option(command, &["--url"]).into_iter().map(|arg| arg.text));
}
