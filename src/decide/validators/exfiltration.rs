//! Commands that send data to other machines: files, secrets, and the output of other commands.

mod sending;

use self::sending::{is_content, prints_whole_file};
use super::carried_data::is_read;
use super::secret_access::{is_secret_file, is_secret_name, names_secret};
use super::self_protection::ProcessSearches;
use super::{Context, block, block_if, suspicious, suspicious_if};
use crate::decide::subject::{Subject, SubjectKind};
use crate::encoding::address::{Address, services_by_variable};
use crate::path::AbsPath;
use crate::programs::CommandLine;
use crate::rules::Match;
use crate::shell::{Act, Arg, Command, Input, Target, addresses, bodies, reroutes, uploads};
use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// Programs that send their standard input.
const PIPES: &[&str] = &["nc", "ncat", "netcat", "socat", "telnet", "openssl", "websocat"];

/// Programs that resolve or contact a host name.
const LOOKUPS: &[&str] = &[
    "delv", "dig", "dnsx", "dog", "doggo", "drill", "dscacheutil", "fping", "getent", "host", "hping3", "kdig",
    "massdns", "mtr", "nping", "nslookup", "ping", "ping6", "resolvectl", "systemd-resolve", "tracepath", "traceroute",
    "whois",
];

/// Programs that resolve the host in the name of a package or an image: `registry.example.com/name`.
const NAMED_HOSTS: &[&str] = &["crane", "docker", "go", "helm", "nerdctl", "oras", "podman", "skopeo"];

/// Programs that send their arguments to a server.
const NETWORK_CLIENTS: &[&str] = &[
    "aria2c", "curl", "ftp", "http", "https", "lynx", "mail", "mutt", "sendmail", "sftp", "ssh", "tftp", "wget", "xh",
];

pub(super) fn find(subject: &Subject<'_>, context: &Context<'_>) -> Option<Match> {
    if let SubjectKind::Command(command, at) = subject.kind {
        return find_in_command(command, at, context);
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
        return block_if(access.act.changes() && socket, "it sends what it writes to another machine");
    }
    if matches!(subject.kind, SubjectKind::Line) { find_push_to_new_remote(context) } else { None }
}

fn find_in_command(command: &Command, at: usize, context: &Context<'_>) -> Option<Match> {
    let program = command.program.as_str();
    let sends_if = |condition| block_if(condition, "it sends data to another machine");
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
                suspicious("it sends what another command prints")
            } else {
                suspicious_if(searched, "it talks to a server for every file that is found")
            }
        }
        "openssl" if !command.args.iter().any(|arg| arg.text == "s_client") => None,
        _ if sending::serves_file(command) || sending::fills_database(command) => {
            suspicious("it sends a file to another machine")
        }
        _ if PIPES.contains(&program) => {
            // A single character, such as `q`, only ends the connection.
            let ends = matches!(&command.input, Input::Text(text) if text.trim().len() < 2);
            let carries = || !is_local(command, context) && carries_output(command, at, context);
            sends_if(piped && !ends && !only_listens(command) && !is_local(command, context) || has_secret())
                .or_else(|| suspicious_if(carries(), "it sends what another command prints"))
        }
        "ssh" => sends_if(piped || has_secret())
            .or_else(|| suspicious_if(carries_output(command, at, context), "it sends what another command prints")),
        "mail" | "mutt" | "sendmail" | "mailx" if piped => sends_if(true),
        "rcp" | "scp" | "sftp" | "rsync" => find_in_copy(command, at, context),
        _ if LOOKUPS.contains(&program) => {
            // A host name with the output of a command sends this output to a DNS server.
            let asks = program != "getent"
                || command
                    .args
                    .iter()
                    .any(|arg| matches!(arg.text.as_str(), "hosts" | "ahosts" | "ahostsv4" | "ahostsv6"));
            let has_end = |arg: &Arg| arg.text.rsplit('$').next().is_some_and(|end| end.contains('.'));
            let is_built = |arg: &Arg| arg.text.contains("$()") || has_end(arg) && is_read(arg, command, context);
            let built = asks && command.args.iter().any(|arg| !arg.is_known() && is_built(arg));
            let lists = matches!(program, "dig" | "fping") && command.args.iter().any(|arg| arg.text == "-f");
            sends_if(has_secret())
                .or_else(|| suspicious_if(built, "it asks a server for a name that is put together"))
                .or_else(|| suspicious_if(lists, "it asks a server for every line of a file"))
        }
        _ if NETWORK_CLIENTS.contains(&program) => sends_if(has_secret())
            .or_else(|| suspicious_if(carries_output(command, at, context), "it sends what another command prints")),
        "git" => find_push_to_url(command).or_else(|| {
            let has_address = command.args.iter().any(|arg| arg.text.contains("://"));
            let carries = || has_address && carries_output(command, at, context);
            sends_if(has_address && has_secret())
                .or_else(|| suspicious_if(carries(), "it sends what another command prints"))
        }),
        _ if NAMED_HOSTS.contains(&program) && puts_data_in_name(command, at, context) => {
            suspicious("it asks a server for a name that is put together")
        }
        "docker" | "podman" | "docker-compose" if builds_elsewhere(command) => {
            suspicious("it sends files to another machine")
        }
        _ if copies_to_database(command) => suspicious("it sends files to another machine"),
        "gh" => {
            let words: Vec<&str> = command.args.iter().map(|arg| arg.text.as_str()).collect();
            let publishes = words.starts_with(&["gist", "create"]) || words.starts_with(&["gist", "new"]);
            let secret = read_paths(at, context).any(|path| is_secret_file(path, context)) || has_secret();
            block_if(secret, "it publishes secrets").or_else(|| suspicious_if(publishes, "it publishes files"))
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
                .or_else(|| suspicious_if(carries(), "it sends what another command prints"))
                .or_else(|| suspicious_if(sends_file(), "it sends a file to another machine"))
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
    let last = command.args.iter().rfind(|arg| !arg.text.starts_with('-'))?;
    let is_dry = command.parsed.as_deref().is_some_and(|line| {
        let flags = line.flags.iter().filter_map(|flag| Some((flag, command.args.get(flag.word)?)));
        flags.into_iter().any(|(flag, word)| flag.is("-n", &word.text) || flag.is("--dry-run", &word.text))
    });
    let is_dry = command.program == "rsync" && is_dry;
    if !is_remote(last) || is_dry {
        return None;
    }
    let secret = read_paths(at, context).any(|path| is_secret_file(path, context));
    if secret { block("it sends secrets to another machine") } else { suspicious("it sends files to another machine") }
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
    let is_url = named || target.contains("://") || is_scp_url;
    suspicious_if(is_url, "it pushes to a place that is not one of the project's remotes")
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
    suspicious_if(pushed, "it pushes to a remote that was set up just before")
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
    asks && command.args.iter().any(has_host)
        && (inside(context.data_sources.encoding(context)) || inside(context.data_sources.printing(context)))
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

/// Commands of the shell text whose output other commands may send. They are found once, when they are first needed.
#[derive(Debug, Default)]
pub(crate) struct DataSources {
    reading_secrets: OnceCell<CommandSet>,
    describing: OnceCell<CommandSet>,
    encoding: OnceCell<CommandSet>,
    printing: OnceCell<CommandSet>,
    /// Where the first command begins that takes variables from a file with secrets.
    first_load: OnceCell<Option<usize>>,
    /// What commands that look for processes find.
    process_searches: OnceCell<ProcessSearches>,
    /// Whether the shell text sets a proxy.
    sets_proxy: OnceCell<bool>,
    /// The variables that hold what is read.
    read_variables: OnceCell<BTreeSet<String>>,
    /// Where each `export` begins, in order, and where the last of it and those before it ends.
    exports: OnceCell<Vec<(usize, usize)>>,
}

impl DataSources {
    /// Commands that read or print secrets.
    fn reading_secrets(&self, context: &Context<'_>) -> &CommandSet {
        self.reading_secrets.get_or_init(|| {
            let is_secret = |index: usize, command: &Command| {
                prints_environment(command)
                    || command.args.iter().any(|arg| names_secret(arg, context))
                    || read_paths(index, context).any(|path| is_secret_file(path, context))
            };
            // `$(< .env)` is read by the shell itself.
            let shell_reads_secret = context.effects().is_some_and(|effects| {
                let mut reads = effects.of_command(usize::MAX).iter().filter(|access| access.act == Act::Read);
                reads.any(|access| access.target.path.as_ref().is_some_and(|path| is_secret_file(path, context)))
            });
            CommandSet { shell_reads_secret, ..CommandSet::of(context, is_secret) }
        })
    }

    /// What the commands of the shell text that look for processes find.
    pub(crate) fn process_searches(&self, context: &Context<'_>) -> &ProcessSearches {
        let commands = || context.reading().map(|reading| reading.commands.as_slice()).unwrap_or_default();
        self.process_searches.get_or_init(|| ProcessSearches::of(commands()))
    }

    /// Whether a variable holds text that `read` or `mapfile` reads, or that a command prints.
    pub(super) fn is_read_variable(&self, name: &str, context: &Context<'_>) -> bool {
        self.read_variables.get_or_init(|| read_variables(context)).contains(name)
    }

    /// Whether the shell has taken variables from a file with secrets before a command: `set -a; . ./.env; printenv`.
    pub(super) fn loads_secrets(&self, here: &Command, context: &Context<'_>) -> bool {
        let first = self.first_load.get_or_init(|| {
            let commands = context.reading().map(|reading| reading.commands.as_slice()).unwrap_or_default();
            let reading = self.reading_secrets(context).spans.iter().filter_map(|(_, _, index)| commands.get(*index));
            let exported = reading.filter(|command| self.is_exported(command, context));
            let is_secret = |file: &Arg| {
                let target = Target::of(file, Some(context.event.place.cwd.as_str()));
                target.path.is_some_and(|path| is_secret_file(&path, context))
            };
            let sourced = commands.iter().filter(|command| matches!(command.program.as_str(), "." | "source"));
            let sourced = sourced.filter(|command| command.args.first().is_some_and(is_secret));
            exported.chain(sourced).map(|command| command.span.start).min()
        });
        first.is_some_and(|first| first < here.span.start)
    }

    /// Whether what a command prints becomes variables: `export $(grep -v '^#' .env)`.
    pub(crate) fn is_exported(&self, command: &Command, context: &Context<'_>) -> bool {
        let exports = self.exports.get_or_init(|| {
            let commands = context.reading().map(|reading| reading.commands.as_slice()).unwrap_or_default();
            let is_export = |command: &&Command| {
                command.program == "export" && !command.args.iter().any(|arg| arg.text.starts_with("-p"))
            };
            // Copies of the text, and printers of a variable that holds all of it.
            let words = commands.iter().filter(|command| command.program == "export").flat_map(|export| &export.args);
            let whole = words.filter_map(|arg| arg.text.split_once('=')).filter(|(_, value)| value.contains("$()"));
            let whole: BTreeSet<&str> = whole.map(|(name, _)| name).collect();
            let mut starts: Vec<usize> = commands.iter().map(|command| command.span.start).collect();
            starts.sort_unstable();
            let has_inner = |command: &Command| {
                let next = starts.partition_point(|start| *start <= command.span.start);
                starts.get(next).is_some_and(|start| *start < command.span.end)
            };
            // A variable that holds output stands in a word as `$X`, or as `$()` without a command in it.
            let shows_whole = |arg: &Arg, command: &Command| {
                let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
                let names = arg.text.split('$').skip(1).map(|rest| rest.trim_start_matches('{'));
                !arg.is_known()
                    && (arg.text.contains("$()") && !has_inner(command)
                        || names
                            .into_iter()
                            .any(|rest| whole.contains(rest.split(|c| !is_name(c)).next().unwrap_or_default())))
            };
            let shows = |command: &Command| {
                let prints = matches!(command.program.as_str(), "echo" | "printf" | "print" | "declare" | "typeset");
                command.program == "tee"
                    || prints && !whole.is_empty() && command.args.iter().any(|arg| shows_whole(arg, command))
            };
            if commands.iter().any(shows) {
                return Vec::new();
            }
            let mut spans: Vec<(usize, usize)> =
                commands.iter().filter(is_export).map(|export| (export.span.start, export.span.end)).collect();
            spans.sort_unstable();
            let mut last = 0;
            spans.iter_mut().for_each(|(_, end)| {
                last = last.max(*end);
                *end = last;
            });
            spans
        });
        let before = exports.partition_point(|(start, _)| *start < command.span.start);
        let nearest = before.checked_sub(1).and_then(|at| exports.get(at));
        nearest.is_some_and(|(_, end)| command.span.end <= *end)
    }

    /// Commands that describe this machine, or encode their input.
    fn describing(&self, context: &Context<'_>) -> &CommandSet {
        let programs = ["base32", "base64", "gzip", "hostname", "id", "od", "tar", "uname", "whoami", "xxd"];
        self.describing.get_or_init(|| {
            CommandSet::of(context, |at, command| {
                programs.contains(&command.program.as_str()) || prints_whole_file(command, at, context)
            })
        })
    }

    /// Commands that print content of the project, its history, processes or databases.
    fn printing(&self, context: &Context<'_>) -> &CommandSet {
        self.printing
            .get_or_init(|| CommandSet::of(context, |at, command| sending::prints_content(command, at, context)))
    }

    /// Commands that encode what they read.
    fn encoding(&self, context: &Context<'_>) -> &CommandSet {
        let programs = ["base32", "base64", "basenc", "gzip", "hexdump", "od", "tar", "xxd"];
        self.encoding.get_or_init(|| CommandSet::of(context, |_, command| programs.contains(&command.program.as_str())))
    }
}

fn read_variables(context: &Context<'_>) -> BTreeSet<String> {
    let commands = context.reading().map(|reading| reading.commands.as_slice()).unwrap_or_default();
    let is_reader = |command: &&Command| matches!(command.program.as_str(), "read" | "mapfile" | "readarray");
    let words = commands.iter().filter(is_reader).flat_map(|reader| reader.args.iter().map(|arg| arg.text.to_string()));
    let mut names: BTreeSet<String> = words.filter(|word| !word.is_empty()).collect();
    if commands.iter().any(|command| is_reader(&command)) {
        names.extend(["REPLY", "MAPFILE"].map(str::to_owned));
    }
    let set = context.effects().map(|effects| effects.env.as_slice()).unwrap_or_default();
    let is_output = |value: Option<&str>| value.is_none_or(|value| value.contains("$()"));
    names.extend(set.iter().filter(|(_, value)| is_output(value.as_deref())).map(|(name, _)| name.clone()));
    names
}

/// Some of the commands of the shell text, indexed by position and by pipeline.
#[derive(Debug, Default)]
struct CommandSet {
    /// Start, end and index of each command, in order of the start.
    spans: Vec<(usize, usize, usize)>,
    /// The first two of them in each pipeline: stage and index. Two suffice to find one that is not a given command.
    stages: BTreeMap<usize, Vec<(usize, usize)>>,
    /// Whether a redirection without a command reads a secret.
    shell_reads_secret: bool,
}

impl CommandSet {
    fn of(context: &Context<'_>, is_member: impl Fn(usize, &Command) -> bool) -> Self {
        let mut set = CommandSet::default();
        let commands = context.reading().map(|reading| reading.commands.as_slice()).unwrap_or_default();
        for (index, command) in commands.iter().enumerate().filter(|(index, command)| is_member(*index, command)) {
            set.spans.push((command.span.start, command.span.end, index));
            let stages = set.stages.entry(command.pipeline).or_default();
            stages.push((command.stage, index));
            stages.sort_unstable();
            stages.truncate(2);
        }
        set.spans.sort_unstable();
        set
    }

    /// Whether a command of the set, other than the one at index `at`, starts at or after `from` and ends within the span.
    fn within(&self, span: &Range<usize>, at: usize, from: usize) -> bool {
        let first = self.spans.partition_point(|(start, ..)| *start < from);
        let rest = self.spans.get(first..).unwrap_or_default().iter();
        rest.take_while(|(start, ..)| *start <= span.end).any(|(_, end, index)| *end <= span.end && *index != at)
    }

    /// Whether a command of the set is in a pipeline.
    fn any_piped(&self) -> bool {
        !self.spans.is_empty()
    }

    /// Whether a command of the set is at an earlier stage of the pipeline.
    fn before(&self, command: &Command, at: usize) -> bool {
        let stages = self.stages.get(&command.pipeline).map(Vec::as_slice).unwrap_or_default();
        stages.iter().any(|(stage, index)| *stage < command.stage && *index != at)
    }
}

/// Whether the requests of a command go through another server, by its options or by a proxy that the shell text sets.
pub(super) fn is_rerouted(command: &Command, context: &Context<'_>) -> bool {
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
    if is_piped { sources.before(command, at) } else { by_shell() || sources.any_piped() }
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
