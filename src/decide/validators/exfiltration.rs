//! Commands that send data to other machines: files, secrets, and the output of other commands.

mod exports;
mod sending;
mod sources;

use sources::CommandSet;
pub(crate) use sources::DataSources;

use self::sending::{is_content, prints_whole_file};
use super::carried_data::is_read;
use super::secret_access::{is_secret_file, is_secret_name, names_secret};
use super::{Context, block, block_if, suspicious, suspicious_if};
use crate::decide::subject::{Subject, SubjectKind};
use crate::encoding::address::{Address, services_by_variable};
use crate::path::AbsPath;
use crate::programs::code::lists;
use crate::programs::{CommandLine, roles};
use crate::rules::Match;
use crate::shell::{Act, Arg, Command, Input, addresses, bodies, reroutes, uploads};

pub(super) fn find(subject: &Subject<'_>, context: &Context<'_>) -> Option<Match> {
    if let SubjectKind::Command(command, at) = subject.kind {
        let sends_file = || sending::serves_file(command) || sending::fills_database(command);
        return find_in_command(command, at, context)
            .or_else(|| suspicious_if(sends_file(), "sends a file to another machine"));
    }
    if let Some(access) = subject.file_access() {
        let path = access.target.path.as_ref()?.components();
        let socket = matches!(path, [dev, net, ..] if dev == "dev" && (net == "tcp" || net == "udp"));
        // The port may be a variable, the host may not.
        let is_host_known = |host: &str| !access.target.open || access.target.text.contains(&format!("/{host}/"));
        let is_this = |host: &str| Address::parse(host).is_this_machine() && is_host_known(host);
        // A tool would write a file of that name.
        let by_tool = matches!(subject.kind, SubjectKind::ToolAccess(_));
        let socket = socket && (by_tool || !path.get(2).is_some_and(|host| is_this(host)));
        return block_if(access.act.changes() && socket, "");
    }
    if matches!(subject.kind, SubjectKind::Line) { find_push_to_new_remote(context) } else { None }
}

fn find_in_command(command: &Command, at: usize, context: &Context<'_>) -> Option<Match> {
    let program = command.program.as_str();
    let sends_if = |condition| block_if(condition, "sends data to another machine");
    let has_secret = || carries_secret(command, at, context);
    let piped = match &command.input {
        Input::Pipe | Input::Unknown => true,
        Input::Text(text) => !text.is_empty(),
        Input::Inherited => false,
    };
    match program {
        "curl" | "wget" | "http" | "https" | "xh" => {
            if is_local(command, context) {
                return None;
            }
            let unseen = matches!(command.input, Input::Pipe | Input::Unknown);
            let httpie = matches!(program, "http" | "https" | "xh");
            let reads = httpie && !command.args.iter().any(|arg| arg.text == "--ignore-stdin");
            let uploaded = !uploads(command).is_empty() || (unseen && reads);
            let searched = command.via.iter().any(|runner| matches!(runner.as_str(), "find" | "fd" | "fdfind"));
            // The body is the output of a command.
            let built = bodies(command).iter().any(|body| !body.is_known() && body.text.contains("$()"));
            let by_line = program == "wget" && !command.values(&["-B", "--base"]).is_empty();
            // A container may get files that hold no secrets.
            let is_secret = |path: &AbsPath| is_secret_file(path, context);
            // What code sends may be anything.
            let nearby =
                !unseen && !command.hidden && is_nearby(command, context) && !read_paths(at, context).any(is_secret);
            if uploaded && !nearby || has_secret() {
                sends_if(true)
            } else if nearby {
                None
            } else if by_line || built || carries_output(command, at, context) || carries_lines(command, at, context) {
                suspicious("sends what another command prints to another machine")
            } else {
                suspicious_if(searched, "talks to a server for every file that is found")
            }
        }
        "openssl" if !command.args.iter().any(|arg| arg.text == "s_client") => None,
        _ if lists(&roles::NETWORK_PIPES, program) => {
            // A single character, such as `q`, only ends the connection.
            let ends = matches!(&command.input, Input::Text(text) if text.trim().len() < 2);
            let carries = || !is_local(command, context) && carries_output(command, at, context);
            sends_if(piped && !ends && !only_listens(command) && !is_local(command, context) || has_secret())
                .or_else(|| suspicious_if(carries(), "sends what another command prints to another machine"))
        }
        "ssh" => sends_if(piped || has_secret()).or_else(|| {
            suspicious_if(carries_output(command, at, context), "sends what another command prints to another machine")
        }),
        _ if piped && lists(&roles::NETWORK_MAILERS, program) => sends_if(true),
        "rcp" | "scp" | "sftp" | "rsync" => find_in_copy(command, at, context),
        _ if lists(&roles::NETWORK_LOOKUPS, program) => {
            // A host name with the output of a command sends this output to a DNS server.
            let asks = program != "getent"
                || command
                    .args
                    .iter()
                    .any(|arg| matches!(arg.text.as_str(), "hosts" | "ahosts" | "ahostsv4" | "ahostsv6"));
            let has_end = |arg: &Arg| arg.text.rsplit('$').next().is_some_and(|end| end.contains('.'));
            let is_built = |arg: &Arg| arg.text.contains("$()") || has_end(arg) && is_read(arg, command, context);
            let built = asks && command.args.iter().any(|arg| !arg.is_known() && is_built(arg));
            let reads_names = matches!(program, "dig" | "fping") && command.args.iter().any(|arg| arg.text == "-f");
            sends_if(has_secret())
                .or_else(|| suspicious_if(built, "asks a server for a name that is put together"))
                .or_else(|| suspicious_if(reads_names, "asks a server for every line of a file"))
        }
        _ if lists(&roles::NETWORK_CLIENTS, program) => sends_if(has_secret()).or_else(|| {
            suspicious_if(carries_output(command, at, context), "sends what another command prints to another machine")
        }),
        "git" => find_push_to_url(command).or_else(|| {
            let has_address = command.args.iter().any(|arg| arg.text.contains("://"));
            let carries = || has_address && carries_output(command, at, context);
            sends_if(has_address && has_secret())
                .or_else(|| suspicious_if(carries(), "sends what another command prints to another machine"))
        }),
        _ if lists(&roles::NETWORK_NAMED_HOSTS, program) && puts_data_in_name(command, at, context) => {
            suspicious("asks a server for a name that is put together")
        }
        "docker" | "podman" | "docker-compose" if builds_elsewhere(command) => {
            suspicious("sends files to another machine")
        }
        _ if copies_to_database(command) => suspicious("sends files to another machine"),
        "gh" => {
            let words: Vec<&str> = command.args.iter().map(|arg| arg.text.as_str()).collect();
            let publishes = words.starts_with(&["gist", "create"]) || words.starts_with(&["gist", "new"]);
            let secret = read_paths(at, context).any(|path| is_secret_file(path, context))
                || has_secret()
                || publishes && fed_by_secret(command, at, context);
            block_if(secret, "publishes secrets").or_else(|| suspicious_if(publishes, "publishes files"))
        }
        // Any other program that is given an address, or a host by the catalogue.
        _ => {
            let is_address = |arg: &Arg| arg.text.contains("://") || arg.text.starts_with("host=");
            let has_address = command.args.iter().any(is_address) || command.sends_to_address();
            let is_remote = || has_address && !is_local(command, context) || sending::has_foreign_host(command);
            let carries = || is_remote() && carries_output(command, at, context);
            // The values of options that take an address, or else the addresses among the words.
            let is_foreign = |address: &Arg| !Address::parse(&address.text).is_nearby();
            let verb = command.parsed.as_deref().map_or("", CommandLine::verb);
            let pushes = matches!(verb, "push" | "sync" | "import");
            let sends = (piped || pushes) && command.sends_to_address() || command.sends_file();
            let sends_file = || sends && command.destinations().iter().any(is_foreign) || logs_file_elsewhere(command);
            sends_if(is_remote() && has_secret())
                .or_else(|| suspicious_if(carries(), "sends what another command prints to another machine"))
                .or_else(|| suspicious_if(sends_file(), "sends a file to another machine"))
        }
    }
}

/// Whether a program only listens for connections, or only scans a port.
fn only_listens(command: &Command) -> bool {
    let has_letter = |arg: &Arg| {
        let letters = arg.text.strip_prefix('-').filter(|letters| !letters.starts_with('-')).unwrap_or_default();
        letters.chars().take_while(|letter| !"egimpqsTwXx".contains(*letter)).any(|letter| matches!(letter, 'l' | 'z'))
    };
    match command.program.as_str() {
        "nc" | "ncat" | "netcat" => command.args.iter().any(|arg| has_letter(arg) || arg.text == "--listen"),
        "socat" => {
            let local =
                ["LISTEN", "STDIO", "STDIN", "STDOUT", "UNIX", "UNIX-CONNECT", "UNIX-CLIENT", "FILE", "OPEN", "PIPE"];
            let mut addresses =
                command.args.iter().filter(|arg| arg.text == "-" || !arg.text.starts_with('-')).peekable();
            addresses.peek().is_some()
                && addresses.all(|address| {
                    let kind = address.text.split([':', ',']).next().unwrap_or_default().to_ascii_uppercase();
                    // A path is a file or a socket of this machine.
                    address.is_known()
                        && (address.text.starts_with(['/', '.', '-']) || local.iter().any(|end| kind.ends_with(end)))
                })
        }
        "websocat" => command.args.iter().any(|arg| matches!(arg.text.as_str(), "-s" | "--server-mode")),
        _ => false,
    }
}

/// Judges `scp`, `sftp` and `rsync` with a remote target.
fn find_in_copy(command: &Command, at: usize, context: &Context<'_>) -> Option<Match> {
    let is_remote = |arg: &Arg| {
        arg.text.split_once(':').is_some_and(|(host, _)| !host.contains('/') && !host.is_empty())
            || arg.text.contains("://")
    };
    let is_dry = command.parsed.as_deref().is_some_and(|line| {
        let flags = line.flags.iter().filter_map(|flag| Some((flag, command.args.get(flag.word)?)));
        flags.into_iter().any(|(flag, word)| flag.is("-n", &word.text) || flag.is("--dry-run", &word.text))
    });
    let is_dry = command.program == "rsync" && is_dry;
    if is_dry || !copy_targets(command).into_iter().any(is_remote) {
        return None;
    }
    let secret = read_paths(at, context).any(|path| is_secret_file(path, context));
    if secret { block("sends secrets to another machine") } else { suspicious("sends files to another machine") }
}

/// The operands that may be the target of a copy: the last one. If one of them may be the value of an option that the
/// catalogue does not list, it is not known which is the last.
fn copy_targets(command: &Command) -> Vec<&Arg> {
    let Some(line) = command.parsed.as_deref() else { return command.args.iter().collect() };
    let operands = line.uses.iter().filter(|used| !used.by_option || used.doubtful || used.option.is_none());
    let is_doubtful = line.uses.iter().any(|used| used.doubtful);
    let words: Vec<&Arg> = operands.filter_map(|used| command.args.get(used.word)).collect();
    if is_doubtful { words } else { words.last().copied().into_iter().collect() }
}

/// The paths that a command reads.
fn read_paths<'a>(at: usize, context: &Context<'a>) -> impl Iterator<Item = &'a AbsPath> {
    let all = context.effects().map(|effects| effects.of_command(at)).unwrap_or_default();
    all.iter().filter(|access| access.act == Act::Read).filter_map(|access| access.target.path.as_ref())
}

/// Judges `git push` to a URL instead of a configured remote.
fn find_push_to_url(command: &Command) -> Option<Match> {
    let text = crate::shell::without_global_options(command).unwrap_or_default();
    let text = if text.is_empty() { command.canonical.as_str() } else { text.as_str() };
    let rest = text.strip_prefix("git push ")?;
    let target = rest.split(' ').find(|word| !word.starts_with('-')).unwrap_or_default();
    let named = rest.split(' ').any(|word| word.starts_with("--repo=") && word.contains("://"));
    // `host:path`, but not the refspec `from:to`, which comes after the name of a remote.
    let is_scp_url = target.split_once(':').is_some_and(|(host, _)| host.contains(['@', '.']));
    // A repository in another place of this machine may be a share that others read.
    let is_temporary = ["/tmp/", "/var/tmp/", "/private/tmp/"].iter().any(|place| target.starts_with(place));
    let is_path = target.starts_with(['/', '~']) && !is_temporary;
    let is_url = named || target.contains("://") || is_scp_url || is_path;
    suspicious_if(is_url, "pushes to a place that is not one of the project's remotes")
}

/// Finds a `git push` after the remote was set in the same shell text.
fn find_push_to_new_remote(context: &Context<'_>) -> Option<Match> {
    let commands = context.reading()?.commands.iter();
    let texts = commands.filter(|command| matches!(command.program.as_str(), "git" | "gh"));
    let mut texts = texts
        .map(|command| crate::shell::without_global_options(command).unwrap_or_else(|| command.canonical.to_string()));
    // In a tainted session, the clone may come from injected instructions.
    let tainted = !context.event.facts.taint.is_empty();
    let set = texts.by_ref().any(|text| {
        text.starts_with("git remote add ")
            || text.starts_with("git remote set-url ")
            || (tainted && (text.starts_with("git clone ") || text.starts_with("gh repo clone ")))
    });
    let pushed = set && texts.any(|text| text.starts_with("git push"));
    suspicious_if(pushed, "pushes to a remote that was set up just before")
}

/// Whether an argument of a command contains a secret, other than in a header for the service that issued it.
fn carries_secret(command: &Command, at: usize, context: &Context<'_>) -> bool {
    let addresses = addresses(command);
    let body: Vec<Arg> = bodies(command);
    let is_for_service = |arg: &Arg| {
        let header = arg.text.contains(':') && !arg.text.contains("://") && !body.contains(arg);
        let upper = arg.text.to_ascii_uppercase();
        header
            && !is_rerouted(command, context)
            && services_by_variable().any(|(name, service)| {
                (upper.contains(&format!("${name}_")) || upper.contains(&format!("${{{name}_")))
                    && !addresses.is_empty()
                    && addresses.iter().all(|address| Address::parse(&address.text).is_of_service(service))
            })
    };
    // curl expands environment variables itself: `--variable %NAME`.
    let looked_up = command.args.iter().any(|arg| {
        arg.text
            .strip_prefix('%')
            .is_some_and(|name| is_secret_name(name.split('=').next().unwrap_or_default(), context))
    });
    let named = looked_up || command.args.iter().any(|arg| names_secret(arg, context) && !is_for_service(arg));
    let dynamic = command.args.iter().any(|arg| !arg.is_known());
    named || (dynamic && fed_by_secret(command, at, context))
}

/// Whether the name of a package or an image holds data behind or before its host.
fn puts_data_in_name(command: &Command, at: usize, context: &Context<'_>) -> bool {
    let asks = command.args.iter().any(|arg| {
        matches!(
            arg.text.as_str(),
            "pull" | "push" | "list" | "get" | "install" | "copy" | "inspect" | "manifest" | "run"
        )
    });
    let has_host = |arg: &Arg| {
        let name = arg.text.split_once("://").map_or(arg.text.as_str(), |(_, name)| name);
        let host = name.split('/').next().unwrap_or_default();
        !arg.is_known() && arg.text.contains('/') && arg.text.contains("$()") && host.contains('.')
    };
    let inside = |sources: &CommandSet| sources.within(&command.span, at, command.span.start + 1);
    let sources = &context.data_sources;
    asks && command.args.iter().any(has_host)
        && [sources.encoding(context), sources.describing(context), sources.printing(context)].into_iter().any(inside)
}

/// Whether `logger` sends the lines of a file to another machine.
fn logs_file_elsewhere(command: &Command) -> bool {
    let is_remote = |host: &Arg| host.is_known() && !Address::parse(&host.text).is_nearby();
    command.program == "logger"
        && command.values(&["-n", "--server"]).iter().any(is_remote)
        && !command.values(&["-f", "--file"]).is_empty()
}

/// Whether docker builds on another machine, to which it sends the directory.
fn builds_elsewhere(command: &Command) -> bool {
    let elsewhere = |host: &Arg| host.text.contains("://") && !Address::parse(&host.text).is_nearby();
    let is_remote = |host: &Arg| elsewhere(host) && !host.text.starts_with("unix:") && !host.text.starts_with("npipe:");
    command.values(&["-H", "--host"]).iter().any(is_remote)
        && command.args.iter().any(|arg| matches!(arg.text.as_str(), "build" | "cp" | "load" | "import" | "buildx"))
}

/// Whether a client of a database copies a file of this machine into one of another machine.
fn copies_to_database(command: &Command) -> bool {
    let reads = |start: &str, words: &[&str]| {
        command.args.iter().any(|arg| {
            let text = arg.text.to_ascii_lowercase();
            text.contains(start) && words.iter().all(|word| text.contains(word))
        })
    };
    let copies = match command.program.as_str() {
        "psql" | "pgcli" => reads("\\copy", &[" from "]),
        "mysql" | "mariadb" | "mycli" => reads("load data", &["local", "infile"]),
        "redis-cli" | "valkey-cli" | "keydb-cli" => command.args.iter().any(|arg| arg.text == "-x" || arg.text == "-X"),
        _ => false,
    };
    let by_option = command.values(&["-h", "--host"]);
    let in_words = command.args.iter().filter_map(|arg| {
        let (_, rest) = arg.text.split_once("host=")?;
        rest.split_whitespace().next().map(Arg::literal)
    });
    let by_address = command.args.iter().filter(|arg| arg.text.contains("://")).cloned();
    let mut hosts = by_option.into_iter().chain(in_words).chain(by_address);
    copies
        && hosts.any(|host| host.is_known() && !host.text.starts_with('/') && !Address::parse(&host.text).is_nearby())
}

/// Whether an argument contains the output of a command that describes this machine, encodes data or prints whole files.
fn carries_output(command: &Command, at: usize, context: &Context<'_>) -> bool {
    let is_credential = |arg: &Arg| arg.text.to_ascii_lowercase().starts_with("authorization:");
    let built = command.args.iter().any(|arg| !arg.is_known() && arg.text.contains("$()") && !is_credential(arg));
    let inside = |sources: &CommandSet| sources.within(&command.span, at, command.span.start + 1);
    built && (inside(context.data_sources.describing(context)) || inside(context.data_sources.printing(context)))
}

/// Whether a substitution in the command, or an earlier stage of its pipeline, reads a secret.
fn fed_by_secret(command: &Command, at: usize, context: &Context<'_>) -> bool {
    let secrets = context.data_sources.reading_secrets(context);
    secrets.shell_reads_secret || secrets.within(&command.span, at, command.span.start) || secrets.before(command, at)
}

/// Whether the requests of a command go through another server, by its options or by a proxy that the shell text sets.
pub(in crate::decide) fn is_rerouted(command: &Command, context: &Context<'_>) -> bool {
    let sets_proxy = || context.effects().is_some_and(|effects| reroutes(&effects.env));
    command.is_rerouted() || *context.data_sources.sets_proxy.get_or_init(sets_proxy)
}

/// Whether a request to a known server holds what a loop or `xargs` reads from a file of the project.
fn carries_lines(command: &Command, at: usize, context: &Context<'_>) -> bool {
    let urls = addresses(command);
    let is_known = |url: &Arg| url.prefix().contains("://");
    let reads = |arg: &Arg| !arg.is_known() && is_read(arg, command, context);
    if !urls.iter().any(is_known) || !urls.iter().chain(&command.args).any(reads) {
        return false;
    }
    let by_shell = || {
        let all = context.effects().map(|effects| effects.of_command(usize::MAX)).unwrap_or_default();
        let read = all.iter().filter(|access| access.act == Act::Read && !access.target.open);
        read.filter_map(|access| access.target.path.as_ref()).any(|path| is_content(path, context))
    };
    let is_piped = command.via.iter().any(|runner| matches!(runner.as_str(), "xargs" | "gxargs" | "parallel"));
    let sources = context.data_sources.describing(context);
    if is_piped { sources.before(command, at) } else { by_shell() || !sources.is_empty() }
}

/// Whether a command prints all environment variables.
pub(super) fn prints_environment(command: &Command) -> bool {
    let mut args = command.args.iter().map(|arg| arg.text.as_str());
    match command.program.as_str() {
        "env" | "printenv" | "gprintenv" | "genv" => args.all(|word| word.starts_with('-')),
        "set" => command.args.is_empty(),
        "export" | "declare" | "typeset" | "readonly" | "local" => args.all(|word| word.starts_with('-')),
        _ => false,
    }
}

/// Whether all addresses of a command are this machine.
pub(super) fn is_local(command: &Command, context: &Context<'_>) -> bool {
    all_addresses(command, context, |address| address.is_this_machine())
}

/// Whether all addresses of a command are this machine or containers beside it.
fn is_nearby(command: &Command, context: &Context<'_>) -> bool {
    all_addresses(command, context, |address| address.is_nearby())
}

fn all_addresses(command: &Command, context: &Context<'_>, test: fn(&Address<'_>) -> bool) -> bool {
    let addresses = addresses(command);
    !addresses.is_empty()
        && addresses.iter().all(|address| test(&Address::parse(&address.text)))
        && !is_rerouted(command, context)
}
