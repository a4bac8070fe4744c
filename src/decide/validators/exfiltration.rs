//! Data that leaves the machine: files, secrets, and whatever is piped into a program that sends.

use super::secret_access::{is_secret_file, is_secret_name, names_secret};
use super::{Context, block, suspicious};
use crate::decide::subject::{Subject, SubjectKind};
use crate::rules::Match;
use crate::shell::{Act, Arg, Command, Input, addresses, bodies, reroutes, uploads};
use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::ops::Range;

/// Programs that send what they read.
const PIPES: &[&str] = &["nc", "ncat", "netcat", "socat", "telnet", "openssl", "websocat"];

/// Programs that ask a server by name.
const LOOKUPS: &[&str] = &["dig", "host", "nslookup", "ping", "ping6", "drill", "traceroute"];

/// Programs that talk to servers.
const TALKERS: &[&str] = &[
    "aria2c", "curl", "ftp", "http", "https", "lynx", "mail", "mutt", "sendmail", "sftp", "ssh", "tftp", "wget", "xh",
];

/// Secrets and the services that they are for.
const OWN: [(&str, &str); 12] = [
    ("GITHUB", "github.com"),
    ("GH", "github.com"),
    ("GITLAB", "gitlab.com"),
    ("OPENAI", "openai.com"),
    ("ANTHROPIC", "anthropic.com"),
    ("STRIPE", "stripe.com"),
    ("NPM", "npmjs.org"),
    ("HF", "huggingface.co"),
    ("SENTRY", "sentry.io"),
    ("SLACK", "slack.com"),
    ("LINEAR", "linear.app"),
    ("CLOUDFLARE", "cloudflare.com"),
];

pub(super) fn find(subject: &Subject<'_>, context: &Context<'_>) -> Option<Match> {
    match &subject.subject {
        SubjectKind::Command(command, at) => by_command(command, *at, context),
        SubjectKind::Access(access) => {
            let path = access.target.path.as_ref()?.components();
            let socket = matches!(path, [dev, net, ..] if dev == "dev" && (net == "tcp" || net == "udp"));
            (access.act.changes() && socket).then(|| block("it sends what it writes to another machine")).flatten()
        }
        SubjectKind::Line => pushes_to_new_remote(context),
        SubjectKind::Pipeline(_)
        | SubjectKind::File(_)
        | SubjectKind::Page(_)
        | SubjectKind::Mcp
        | SubjectKind::Agent
        | SubjectKind::Passage(..) => None,
    }
}

fn by_command(command: &Command, at: usize, context: &Context<'_>) -> Option<Match> {
    let program = command.program.as_str();
    let sends = || block("it sends data to another machine");
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
            // What a command prints, as a body: nobody has seen it.
            let built = bodies(command).iter().any(|body| !body.is_known() && body.text.contains("$()"));
            match uploaded || carries_secret(command, at, context) {
                true => sends(),
                false if built || carries_output(command, at, context) => {
                    suspicious("it sends what another command prints")
                }
                false => searched.then(|| suspicious("it talks to a server for every file that is found")).flatten(),
            }
        }
        "openssl" if !command.args.iter().any(|arg| arg.text == "s_client") => None,
        _ if PIPES.contains(&program) => {
            // A word that ends the talk is no data.
            let farewell = matches!(&command.input, Input::Text(text) if text.trim().len() < 2);
            (piped && !farewell && !waits(command) && !is_local(command, context)
                || carries_secret(command, at, context))
            .then(sends)
            .flatten()
        }
        "ssh" => (piped || carries_secret(command, at, context)).then(sends).flatten(),
        "mail" | "mutt" | "sendmail" | "mailx" if piped => sends(),
        "scp" | "sftp" | "rsync" => sends_file(command, at, context),
        _ if LOOKUPS.contains(&program) => {
            // A name that is put together carries what it is put together from.
            let built = command.args.iter().any(|arg| !arg.is_known() && arg.text.contains("$()"));
            match carries_secret(command, at, context) {
                true => sends(),
                false => built.then(|| suspicious("it asks a server for a name that is put together")).flatten(),
            }
        }
        _ if TALKERS.contains(&program) => carries_secret(command, at, context).then(sends).flatten(),
        "git" => pushes_elsewhere(command),
        "gh" => {
            let words: Vec<&str> = command.args.iter().map(|arg| arg.text.as_str()).collect();
            let publishes = words.starts_with(&["gist", "create"]) || words.starts_with(&["gist", "new"]);
            let secret =
                accesses(at, context).any(|path| is_secret_file(path, context)) || carries_secret(command, at, context);
            match (secret, publishes) {
                (true, _) => block("it publishes secrets"),
                (false, true) => suspicious("it publishes files"),
                (false, false) => None,
            }
        }
        _ => None,
    }
}

/// Whether a program waits to be called, or only tries a door.
fn waits(command: &Command) -> bool {
    let cluster = |arg: &Arg| {
        let letters = arg.text.strip_prefix('-').filter(|letters| !letters.starts_with('-')).unwrap_or_default();
        letters.chars().take_while(|letter| !"egimpqsTwXx".contains(*letter)).any(|letter| matches!(letter, 'l' | 'z'))
    };
    match command.program.as_str() {
        "nc" | "ncat" | "netcat" => command.args.iter().any(|arg| cluster(arg) || arg.text == "--listen"),
        "socat" => {
            let talks = |arg: &&Arg| !arg.text.starts_with('-') && arg.text.contains(':');
            let mut talks = command.args.iter().filter(talks).map(|arg| arg.text.to_ascii_uppercase()).peekable();
            talks.peek().is_some()
                && talks.all(|address| address.split(':').next().is_some_and(|kind| kind.ends_with("LISTEN")))
        }
        "websocat" => command.args.iter().any(|arg| matches!(arg.text.as_str(), "-s" | "--server-mode")),
        _ => false,
    }
}

/// A remote target of a copy.
fn sends_file(command: &Command, at: usize, context: &Context<'_>) -> Option<Match> {
    let remote = |arg: &Arg| {
        arg.text.split_once(':').is_some_and(|(host, _)| !host.contains('/') && !host.is_empty())
            || arg.text.contains("://")
    };
    let last = command.args.iter().rfind(|arg| !arg.text.starts_with('-'))?;
    if !remote(last) {
        return None;
    }
    let secret = accesses(at, context).any(|path| is_secret_file(path, context));
    if secret { block("it sends secrets to another machine") } else { suspicious("it sends files to another machine") }
}

fn accesses<'a>(at: usize, context: &Context<'a>) -> impl Iterator<Item = &'a crate::path::AbsPath> {
    let all = context.effects().map(|effects| effects.of_command(at)).unwrap_or_default();
    all.iter().filter(|access| access.act == Act::Read).filter_map(|access| access.target.path.as_ref())
}

/// `git push <url>`: a remote that nobody has configured.
fn pushes_elsewhere(command: &Command) -> Option<Match> {
    let text = crate::shell::without_global_options(command).unwrap_or_default();
    let text = if text.is_empty() { command.canonical.as_str() } else { text.as_str() };
    let rest = text.strip_prefix("git push ")?;
    let target = rest.split(' ').find(|word| !word.starts_with('-')).unwrap_or_default();
    let named = rest.split(' ').any(|word| word.starts_with("--repo=") && word.contains("://"));
    // `host:path`, but not `from:to`, which comes behind the name of a remote.
    let elsewhere = target.split_once(':').is_some_and(|(host, _)| host.contains(['@', '.']));
    let literal = named || target.contains("://") || elsewhere;
    literal.then(|| suspicious("it pushes to a place that is not one of the project's remotes")).flatten()
}

/// A remote that is set up and pushed to in one go.
fn pushes_to_new_remote(context: &Context<'_>) -> Option<Match> {
    let commands = context.reading()?.commands.iter();
    let texts = commands.filter(|command| matches!(command.program.as_str(), "git" | "gh"));
    let mut texts = texts
        .map(|command| crate::shell::without_global_options(command).unwrap_or_else(|| command.canonical.to_string()));
    // Who has read what strangers wrote may have been told what to clone.
    let tainted = !context.event.facts.taint.is_empty();
    let set = texts.by_ref().any(|text| {
        text.starts_with("git remote add ")
            || text.starts_with("git remote set-url ")
            || (tainted && (text.starts_with("git clone ") || text.starts_with("gh repo clone ")))
    });
    let pushed = set && texts.any(|text| text.starts_with("git push"));
    pushed.then(|| suspicious("it pushes to a remote that was set up just before")).flatten()
}

/// Whether the words of a command, or what makes them, hold a secret.
fn carries_secret(command: &Command, at: usize, context: &Context<'_>) -> bool {
    let addresses = addresses(command);
    let body: Vec<Arg> = bodies(command);
    let own = |arg: &Arg| {
        let header = arg.text.contains(':') && !arg.text.contains("://") && !body.contains(arg);
        let upper = arg.text.to_ascii_uppercase();
        header
            && !is_rerouted(command, context)
            && OWN.iter().any(|(name, service)| {
                upper.contains(&format!("${name}_")) | upper.contains(&format!("${{{name}_"))
                    && !addresses.is_empty()
                    && addresses.iter().all(|address| belongs(&address.text, service))
            })
    };
    // curl can look a variable up by itself: `--variable %NAME`.
    let looked_up = command.args.iter().any(|arg| {
        arg.text
            .strip_prefix('%')
            .is_some_and(|name| is_secret_name(name.split('=').next().unwrap_or_default(), context))
    });
    let named = looked_up || command.args.iter().any(|arg| names_secret(arg, context) && !own(arg));
    let dynamic = command.args.iter().any(|arg| !arg.is_known());
    named || (dynamic && fed_by_secret(command, at, context))
}

/// Whether the host of a URL is the service itself or part of it.
pub(super) fn belongs(url: &str, service: &str) -> bool {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let host = rest.split(['/', '?', '#', ' ']).next().unwrap_or_default().rsplit('@').next().unwrap_or_default();
    let host = host.split(':').next().unwrap_or_default();
    url.starts_with("https://")
        && (host == service || host.strip_suffix(service).is_some_and(|rest| rest.ends_with('.')))
}

/// Whether an address is put together from what tells about this machine, or from what was encoded to fit in.
fn carries_output(command: &Command, at: usize, context: &Context<'_>) -> bool {
    let built = command.args.iter().any(|arg| !arg.is_known() && arg.text.contains("$()"));
    built && context.sources.tells(context).within(&command.span, at, command.span.start + 1)
}

/// Whether something within the command, or before it in its pipeline, reads a secret.
fn fed_by_secret(command: &Command, at: usize, context: &Context<'_>) -> bool {
    // `$(< .env)` is read by the shell itself.
    let secrets = context.sources.secrets(context);
    secrets.by_shell || secrets.within(&command.span, at, command.span.start) || secrets.before(command, at)
}

/// What the commands of a line print that others of its commands may send, found once for the whole line.
#[derive(Debug, Default)]
pub(crate) struct Sources {
    secrets: OnceCell<Rows>,
    tells: OnceCell<Rows>,
    /// The line sets a proxy.
    rerouted: OnceCell<bool>,
}

impl Sources {
    /// Commands that read or print secrets.
    fn secrets(&self, context: &Context<'_>) -> &Rows {
        self.secrets.get_or_init(|| {
            let is_secret = |row: usize, command: &Command| {
                dumps(command)
                    || command.args.iter().any(|arg| names_secret(arg, context))
                    || accesses(row, context).any(|path| is_secret_file(path, context))
            };
            let by_shell = context.effects().is_some_and(|effects| {
                let mut loose = effects.of_command(usize::MAX).iter().filter(|access| access.act == Act::Read);
                loose.any(|access| access.target.path.as_ref().is_some_and(|path| is_secret_file(path, context)))
            });
            Rows { by_shell, ..Rows::of(context, is_secret) }
        })
    }

    /// Commands that tell about this machine, or encode what they read.
    fn tells(&self, context: &Context<'_>) -> &Rows {
        let tells = ["base32", "base64", "gzip", "hostname", "id", "od", "tar", "uname", "whoami", "xxd"];
        self.tells.get_or_init(|| Rows::of(context, |_, command| tells.contains(&command.program.as_str())))
    }
}

/// Some of the commands of a line, by where they stand and by their pipelines.
#[derive(Debug, Default)]
struct Rows {
    /// Where they begin and end, and which they are, in the order of where they begin.
    spans: Vec<(usize, usize, usize)>,
    /// The first two stages of each pipeline that are among them, and which commands those are.
    stages: BTreeMap<usize, Vec<(usize, usize)>>,
    /// The shell itself reads a secret.
    by_shell: bool,
}

impl Rows {
    fn of(context: &Context<'_>, is_one: impl Fn(usize, &Command) -> bool) -> Self {
        let mut rows = Rows::default();
        let commands = context.reading().map(|reading| reading.commands.as_slice()).unwrap_or_default();
        for (row, command) in commands.iter().enumerate().filter(|(row, command)| is_one(*row, command)) {
            rows.spans.push((command.span.start, command.span.end, row));
            let stages = rows.stages.entry(command.pipeline).or_default();
            stages.push((command.stage, row));
            stages.sort_unstable();
            stages.truncate(2);
        }
        rows.spans.sort_unstable();
        rows
    }

    /// Whether one of them, other than the command itself, begins at or behind `from` and ends within the span.
    fn within(&self, span: &Range<usize>, at: usize, from: usize) -> bool {
        let first = self.spans.partition_point(|(start, ..)| *start < from);
        let rest = self.spans.get(first..).unwrap_or_default().iter();
        rest.take_while(|(start, ..)| *start <= span.end).any(|(_, end, row)| *end <= span.end && *row != at)
    }

    /// Whether one of them stands before the command in its pipeline. Of two, one is another command.
    fn before(&self, command: &Command, at: usize) -> bool {
        let stages = self.stages.get(&command.pipeline).map(Vec::as_slice).unwrap_or_default();
        stages.iter().any(|(stage, row)| *stage < command.stage && *row != at)
    }
}

/// Whether what a command says to one server goes to another, by its own options or by what the line has set before.
pub(super) fn is_rerouted(command: &Command, context: &Context<'_>) -> bool {
    let by_line = || context.effects().is_some_and(|effects| reroutes(&effects.env));
    command.is_rerouted() || *context.sources.rerouted.get_or_init(by_line)
}

/// Whether a command prints every variable.
fn dumps(command: &Command) -> bool {
    let mut args = command.args.iter().map(|arg| arg.text.as_str());
    match command.program.as_str() {
        "env" | "printenv" | "gprintenv" | "genv" => args.all(|word| word.starts_with('-')),
        "set" => command.args.is_empty(),
        "export" | "declare" | "typeset" | "readonly" | "local" => args.all(|word| word.starts_with('-')),
        _ => false,
    }
}

/// Whether everything that a command talks to is this machine.
pub(super) fn is_local(command: &Command, context: &Context<'_>) -> bool {
    let hosts = ["localhost", "127.0.0.1", "[::1]", "0.0.0.0", "::1", "host.docker.internal"];
    let is_host = |arg: &Arg| {
        let rest = arg.text.split_once("://").map_or(arg.text.as_str(), |(_, rest)| rest);
        let authority = rest.split(['/', '?', '#', '\\']).next().unwrap_or_default();
        // `localhost:80@elsewhere` is elsewhere, and `:3000` is a port of this machine.
        let (host, port) =
            authority.rsplit_once(':').filter(|_| !hosts.contains(&authority)).unwrap_or((authority, ""));
        let here = hosts.contains(&host) || (host.is_empty() && !port.is_empty());
        let is_port = port.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"${}_".contains(&byte));
        here && is_port && arg.prefix().len() >= host.len()
    };
    let addresses = addresses(command);
    !addresses.is_empty() && addresses.iter().all(is_host) && !is_rerouted(command, context)
}
