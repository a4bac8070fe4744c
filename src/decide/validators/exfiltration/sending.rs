//! What commands print of a project, and ways of sending files that are no requests.

use super::{prints_environment, read_paths};
use crate::decide::context::Context;
use crate::encoding::address::Address;
use crate::path::AbsPath;
use crate::programs::code::lists;
use crate::programs::{CommandLine, roles};
use crate::shell::{Arg, Command, Input, Target};

/// Verbs of git that print content of files or commits.
const HISTORY: [&str; 11] = [
    "archive", "blame", "bundle", "cat-file", "diff", "diff-tree", "format-patch", "grep", "log", "show", "stash show",
];

/// Programs that describe what runs: processes, containers, a cluster.
const DESCRIBERS: [&str; 12] =
    ["docker", "journalctl", "kubectl", "last", "lsof", "netstat", "nerdctl", "oc", "podman", "ps", "ss", "systemctl"];

/// Files of which commands take single values: settings, manifests, lists.
const SETTINGS: [&str; 16] = [
    ".json", ".toml", ".yaml", ".yml", ".lock", ".xml", ".cfg", ".ini", ".properties", ".gradle", ".mod", ".env",
    ".html", ".plist", ".conf", ".kts",
];

/// Whether a command prints content of the project, its history, a database, the environment or what runs.
pub(super) fn prints_content(command: &Command, at: usize, context: &Context<'_>) -> bool {
    let line = command.parsed.as_deref();
    let verb = line.map(CommandLine::verb).filter(|verb| !verb.is_empty()).unwrap_or_else(|| {
        command.args.iter().map(|arg| arg.text.as_str()).find(|word| !word.starts_with('-')).unwrap_or_default()
    });
    let has = |parts: &[&str]| command.args.iter().any(|arg| parts.iter().any(|part| arg.text.starts_with(part)));
    match command.program.as_str() {
        "git" => HISTORY.contains(&verb) && !prints_field(verb, command),
        program if DESCRIBERS.contains(&program) => {
            let prints =
                ["ps", "inspect", "logs", "get", "describe", "events", "images", "top", "show", "cat", "config"];
            let is_list = matches!(program, "journalctl" | "last" | "lsof" | "netstat" | "ps" | "ss");
            let is_field = has(&[
                "-f", "--format", "-o=jsonpath", "-ojsonpath", "jsonpath", "go-template", "custom-columns", "-oname",
                "-q", "--quiet", "-p", "--property", "--template",
            ]);
            (is_list || prints.contains(&verb) || command.args.iter().any(|arg| prints.contains(&arg.text.as_str())))
                && !is_field
        }
        _ if prints_environment(command) => true,
        _ if is_database(command) => true,
        "crontab" | "history" | "fc" | "dmesg" | "w" | "who" | "finger" => true,
        "curl" | "wget" | "http" | "ls" | "wc" | "stat" | "sha256sum" | "shasum" | "md5sum" | "sha1sum" | "cksum"
        | "basename" | "dirname" | "realpath" | "test" | "date" | "file" => false,
        _ => {
            let is_setting = |name: &str| {
                let name = name.to_ascii_lowercase();
                SETTINGS.iter().any(|end| name.ends_with(end)) || !name.contains('.')
            };
            read_paths(at, context).any(|path| {
                let name = path.components().last().map_or("", |name| name.as_str());
                let is_line = [".txt", ".csv", ".tsv", ".jsonl", ".ndjson"].iter().any(|end| name.ends_with(end))
                    && path.is_below(&context.zones.project);
                !is_setting(name) && (is_content(path, context) || is_line && names_data(name))
            })
        }
    }
}

/// Whether a `git` command prints only a field or a summary of commits: `git log -1 --format=%H`.
fn prints_field(verb: &str, command: &Command) -> bool {
    let args = || command.behind_global().iter().map(|arg| arg.text.as_str());
    let has = |options: &[&str]| args().any(|arg| options.iter().any(|option| arg.starts_with(option)));
    let shows_patch = || {
        has(&[
            "-p", "-u", "-U", "-c", "-L", "--patch", "--unified", "--cc", "--dd", "--diff-merges", "--word-diff",
            "--color-words", "--binary", "--remerge-diff",
        ])
    };
    // `%+b` and `%-b` differ from `%b` only in the line breaks before them.
    let says_more = |arg: &str| {
        let mut parts = arg.split('%').skip(1).map(|part| part.trim_start_matches(['+', '-', ' ']));
        let more = ["a", "b", "B", "cl", "cL", "cn", "cN", "ce", "cE", "f", "gs", "N", "s", "(trailers"];
        parts.any(|part| more.iter().any(|field| part.starts_with(field)))
    };
    let has_summary =
        || has(&["--no-patch", "--name-only", "--stat", "--shortstat", "--numstat"]) || args().any(|arg| arg == "-s");
    // `--pretty=full` and the like print whole messages.
    let is_field = |arg: &str| {
        let format = arg.strip_prefix("--format").or_else(|| arg.strip_prefix("--pretty"));
        let value = format.and_then(|format| format.strip_prefix('='));
        arg == "--oneline" || value.is_some_and(|value| value.is_empty() || value == "oneline" || value.contains('%'))
    };
    // `HEAD:VERSION`
    let is_value = |arg: &str| {
        let path = arg.split_once(':').map(|(_, path)| path);
        path.is_some_and(|path| is_value_name(path.rsplit('/').next().unwrap_or_default()))
    };
    let mut operands = args().filter(|arg| !arg.starts_with('-') && *arg != verb).peekable();
    let shows_values = operands.peek().is_some() && operands.all(is_value);
    match verb {
        "show" if shows_values => true,
        "diff" if args().any(|arg| arg == "--quiet") => true,
        "log" => (has_summary() || args().any(is_field)) && !shows_patch() && !args().any(says_more),
        "show" | "diff" | "diff-tree" | "stash show" => has_summary() && !shows_patch() && !args().any(says_more),
        // The size or the type of an object.
        "cat-file" => args().any(|arg| matches!(arg, "-s" | "-t" | "-e")),
        _ => false,
    }
}

/// Whether a command writes what it reads in the form of addresses.
pub(super) fn escapes(command: &Command) -> bool {
    command.args.iter().any(|arg| roles::OUTPUT_ESCAPING.iter().any(|name| arg.text.contains(name)))
}

/// Whether a command does so with a file as a whole: `jq -r @uri settings.json`, or prints one in one line.
pub(super) fn escapes_file(command: &Command, at: usize, context: &Context<'_>) -> bool {
    let is_filter = matches!(command.program.as_str(), "jq" | "jaq" | "gojq" | "yq");
    let is_whole = |filter: &str| {
        let first = filter.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').next().unwrap_or_default();
        matches!(filter, "." | ".[]" | "..")
            || ["@", ". |", ".|"].iter().any(|start| filter.starts_with(start))
            || matches!(first, "to_entries" | "tojson" | "tostream" | "tostring")
    };
    let uses = command.parsed.iter().flat_map(|line| line.uses.iter());
    let mut operands = uses.filter(|used| !used.by_option).filter_map(|used| command.args.get(used.word));
    let is_read = |file: &Arg| {
        let path = Target::of(file, command.cwd.as_deref()).path;
        path.is_some_and(|path| read_paths(at, context).any(|read| *read == path))
    };
    // Without a filter, all is printed.
    let mut prints_whole = || match (operands.next(), operands.next()) {
        (None, _) => true,
        (Some(filter), next) => is_whole(filter.text.trim()) || next.is_none() && is_read(filter),
    };
    is_filter && read_paths(at, context).next().is_some() && prints_whole()
}

/// Whether a command prints only a number or one value of what it is given: `wc -l`, `jq -r .version`.
pub(super) fn reduces(command: &Command) -> bool {
    let mut operands = command.args.iter().map(|arg| arg.text.as_str()).filter(|word| !word.starts_with('-'));
    let is_member = |filter: &str| {
        filter.strip_prefix('.').is_some_and(|names| {
            names.split('.').all(|name| {
                name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
                    && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
            })
        })
    };
    match command.program.as_str() {
        "wc" | "gwc" => operands.next().is_none(),
        "jq" | "jaq" | "gojq" => operands.next().is_some_and(is_member) && operands.next().is_none(),
        _ => false,
    }
}

/// Whether a command may print more than a value that the line itself says.
pub(super) fn prints_more(command: &Command, at: usize, context: &Context<'_>) -> bool {
    // With a file, a program in which a person chooses prints lines of it.
    let is_choice = lists(&roles::OUTPUT_CHOOSING, &command.program) && read_paths(at, context).next().is_none();
    let says_name = is_choice || lists(&roles::OUTPUT_NAMING, &command.program);
    let words: Vec<&str> = command.args.iter().map(|arg| arg.text.as_str()).collect();
    let says_repository = matches!(command.program.as_str(), "gh" | "glab") && words.starts_with(&["repo", "view"]);
    let names = ["rev-parse", "describe", "branch", "config", "remote", "symbolic-ref"];
    let says_ref = command.program == "git" && command.args.iter().any(|arg| names.contains(&arg.text.as_str()));
    !(lists(&roles::OUTPUT_SAYING, &command.program) || escapes(command) || says_ref || says_name || says_repository)
}

/// Whether the name of a list says that its lines are data of people or keys.
fn names_data(name: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    [
        "customer", "people", "person", "order", "invoice", "payment", "billing", "salar", "patient", "employee",
        "transaction", "subscriber", "license", "licence", "user", "email", "key", "account", "member", "client",
        "lead", "contact", "dump",
    ]
    .iter()
    .any(|part| lower.contains(part))
}

/// Whether a program is the client of a database.
pub(super) fn is_database(command: &Command) -> bool {
    let language = command.parsed.as_deref().and_then(CommandLine::language);
    language.is_some_and(|language| matches!(language, "psql" | "mysql" | "sqlite" | "sql" | "redis" | "mongo"))
        || matches!(
            command.program.as_str(),
            "mysqldump" | "pg_dump" | "mongodump" | "mariadb-dump" | "duckdb" | "pg_restore"
        )
}

/// Whether an option names a host on another network: `-h db.example.com`.
pub(super) fn has_foreign_host(command: &Command) -> bool {
    let is_option = |word: &str| matches!(word, "-h" | "-H" | "--host" | "--hostname" | "--server" | "-n");
    let words = command.args.iter().zip(command.args.iter().skip(1));
    let next = words.filter(|(option, _)| is_option(&option.text)).map(|(_, host)| host.clone());
    let attached = command.args.iter().filter_map(|arg| {
        let (name, _) = arg.text.split_once('=')?;
        if is_option(name) { arg.behind(&format!("{name}=")) } else { None }
    });
    next.chain(attached).any(|host| {
        let address = Address::parse(&host.text);
        host.is_known() && address.host.contains('.') && !address.is_nearby() && !host.text.starts_with(['/', '.'])
    })
}

/// Whether a file or the output of a program becomes the statements of a database on another machine.
pub(super) fn fills_database(command: &Command) -> bool {
    let is_url = |arg: &Arg| {
        arg.is_known() && arg.text.contains("://") && {
            let address = Address::parse(&arg.text);
            address.host.contains('.') && !address.is_nearby()
        }
    };
    let is_fed =
        matches!(command.input, Input::Pipe | Input::Unknown) || command.redirects.iter().any(|file| file.reads);
    let copies = command.args.iter().any(|arg| {
        let text = arg.text.to_ascii_lowercase();
        text.contains("copy ")
            && [" to 's3:", " to 'http", " to 'gcs:", " to 'gs:", " to 'azure:", " to 'r2:"]
                .iter()
                .any(|to| text.contains(to))
    });
    is_database(command) && (copies || is_fed && (has_foreign_host(command) || command.args.iter().any(is_url)))
}

/// Whether a program connects a file of this machine with an address, or serves it to whoever connects.
pub(super) fn serves_file(command: &Command) -> bool {
    let reads_file = command.redirects.iter().any(|file| file.reads && file.target.text != "/dev/null");
    match command.program.as_str() {
        "nc" | "ncat" | "netcat" => reads_file && super::only_listens(command),
        "socat" => {
            let kind = |arg: &Arg| arg.text.split([':', ',']).next().unwrap_or_default().to_ascii_uppercase();
            let ends: Vec<&Arg> = command.args.iter().filter(|arg| arg.text.contains(':')).collect();
            let is_file = |arg: &&&Arg| matches!(kind(arg).as_str(), "FILE" | "OPEN" | "GOPEN" | "CREATE");
            let network = ["TCP", "UDP", "SCTP", "SSL", "OPENSSL", "PROXY", "SOCKS", "DCCP", "VSOCK", "IP"];
            // `TCP:host:port`, or a listening end, which serves anyone.
            let is_foreign = |arg: &&&Arg| {
                let host = arg.text.split([':', ',']).nth(1).unwrap_or_default();
                let kind = kind(arg);
                network.iter().any(|start| kind.starts_with(start))
                    && (kind.contains("LISTEN") || !Address::parse(host).is_this_machine())
            };
            ends.iter().any(|arg| is_file(&arg)) && ends.iter().any(|arg| is_foreign(&arg))
        }
        _ => false,
    }
}

/// Whether a file of the project or the home directory holds more than a list or a value, such as a version or a number.
pub(super) fn is_content(path: &AbsPath, context: &Context<'_>) -> bool {
    let is_list = |name: &str| {
        let lower = name.to_ascii_lowercase();
        roles::OUTPUT_LISTS.iter().any(|end| lower.ends_with(end))
    };
    let home = context.zones.home.as_ref();
    let near = path.is_below(&context.zones.project) || home.is_some_and(|home| path.is_below(home));
    near && path.components().last().is_some_and(|name| !is_value_name(name) && !is_list(name))
}

/// Whether the name of a file says that it holds one value, such as a version or a number.
fn is_value_name(name: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    lower.split(|c: char| !c.is_ascii_alphanumeric()).any(|word| lists(&roles::OUTPUT_VALUES, word))
        || ["version", "token"].iter().any(|part| lower.contains(part))
}

/// Whether a command prints the content of a file that holds more than one value, such as a version or a number.
pub(super) fn prints_whole_file(command: &Command, at: usize, context: &Context<'_>) -> bool {
    let raw = |arg: &Arg| arg.text.starts_with('-') && !arg.text.starts_with("--") && arg.text.contains('R');
    let reads_raw = command.program == "jq" && command.args.iter().any(raw);
    (lists(&roles::OUTPUT_PRINTING, &command.program) || reads_raw)
        && read_paths(at, context).any(|path| is_content(path, context))
}
