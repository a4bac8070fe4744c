//! `rune mcp probe`: asks all configured servers at once what they serve, and records it.

use super::discovery::{Connection, TIMED_OUT, discover, remaining};
use super::http::HttpServer;
use super::install::wrapped_command;
use super::inventory::{Inventory, describe_status};
use super::record::{Provenance, ServerSnapshot, record};
use super::stdio::{ServerReaper, StdioServer};
use crate::commands::{ask, current_dir, say};
use crate::runtime::environment::Environment;
use crate::runtime::exit_code::{DONE, FAILED};
use crate::runtime::mcp::records::{ForgetOutcome, Store};
use crate::runtime::mcp::servers::{Configured, Servers};
use crate::runtime::options::Dirs;
use crate::runtime::{agent_check, receipts};
use anyhow::Context;
use clap::Args;
use rune::client::server::{Introduction, Launch, ServerScope};
use rune::encoding::label::Label;
use rune::mcp::protocol::Served;
use rune::mcp::{Source, Status};
use rune::quarantine::Namespace;
use rune::receipt::Loosening;
use std::collections::BTreeMap;
use std::io::{IsTerminal, Write};
use std::path::Path;
use std::process::Command;
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

/// Asks the configured servers what they serve, and records it; approves nothing; for people only
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  rune mcp probe\n  rune mcp probe github docs\n\n\
Starts every server that the client would start here, asks for its tools, and ends it. A server may answer the client \
differently; `rune mcp wrap` records what the client is served. Exit 1: a server did not answer.")]
pub struct ProbeArgs {
    /// Servers to ask [default: all]
    #[arg(value_name = "SERVER")]
    pub servers: Vec<String>,
    /// Start the servers that the project configures without asking
    #[arg(long)]
    pub yes: bool,
    /// Time limit for each server
    #[arg(long, value_name = "SECONDS", default_value_t = 10.0, hide = true)]
    pub timeout: f64,
}

/// How long shutting down a server may take after the deadline.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(2);

struct ProbeResult {
    name: String,
    scope: String,
    ms: Option<u128>,
    outcome: Result<String, String>,
}

pub fn run(args: &ProbeArgs) -> anyhow::Result<u8> {
    agent_check::require_person("`rune mcp probe`")?;
    let environment = Environment::read(&Dirs::default());
    let here = current_dir()?;
    let servers = Servers::for_directory(&environment, &here);
    let (selected, mut results) = select_servers(args, &servers);
    let (selected, refused) = confirm_project_servers(selected, args.yes, &here)?;
    results.extend(refused);
    let limit = Duration::try_from_secs_f64(args.timeout)
        .with_context(|| format!("invalid value `{}` for `--timeout`", args.timeout))?;
    if !selected.is_empty() {
        receipts::record_loosening(&environment, Loosening::McpProbe)?;
    }
    results.extend(probe_all(&selected, &here, limit, &environment)?);
    for flaw in &servers.flaws {
        writeln!(std::io::stderr().lock(), "rune: {}", escape_unprintable(flaw)).ok();
    }
    if results.is_empty() {
        say("no server is configured here")?;
    }
    print_table(&mut results, &Inventory::load()?)?;
    let all_answered = servers.flaws.is_empty() && results.iter().all(|result| result.outcome.is_ok());
    Ok(if all_answered { DONE } else { FAILED })
}

/// Selects the servers to ask, and returns results for those that cannot be asked.
fn select_servers<'a>(args: &ProbeArgs, servers: &'a Servers) -> (Vec<&'a Configured>, Vec<ProbeResult>) {
    let mut results = Vec::new();
    for name in args.servers.iter().filter(|name| servers.named(name).is_none()) {
        let outcome = Err("no server of this name is configured here".to_owned());
        results.push(ProbeResult { name: name.clone(), scope: "-".to_owned(), ms: None, outcome });
    }
    let namespace = |server: &Configured| Namespace::of_server(&server.name).as_str().to_owned();
    let mut same_namespace: BTreeMap<String, usize> = BTreeMap::new();
    for server in servers.effective() {
        *same_namespace.entry(namespace(server)).or_default() += 1;
    }
    let mut selected = Vec::new();
    for server in servers.effective() {
        if !args.servers.is_empty() && !args.servers.contains(&server.name) {
            continue;
        }
        if same_namespace.get(&namespace(server)).is_some_and(|count| *count > 1) {
            let what = "the client cannot distinguish its name from another server's\n  help: rename one of them";
            results.push(ProbeResult::of(server, None, Err(what.to_owned())));
        } else {
            selected.push(server);
        }
    }
    (selected, results)
}

/// Asks whether the servers that the project configures may be started. Before that, no program of the project runs.
fn confirm_project_servers<'a>(
    selected: Vec<&'a Configured>,
    yes: bool,
    here: &Path,
) -> anyhow::Result<(Vec<&'a Configured>, Vec<ProbeResult>)> {
    let (of_project, others): (Vec<_>, Vec<_>) =
        selected.into_iter().partition(|server| server.scope == ServerScope::Project);
    if yes || of_project.is_empty() || ask_to_start(&of_project, here)? {
        return Ok((of_project.into_iter().chain(others).collect(), Vec::new()));
    }
    let what = "not started: the project configures it\n  help: check its entry, then run this again with `--yes`";
    let refused = of_project.into_iter().map(|server| ProbeResult::of(server, None, Err(what.to_owned()))).collect();
    Ok((others, refused))
}

fn ask_to_start(servers: &[&Configured], here: &Path) -> anyhow::Result<bool> {
    if !std::io::stdin().is_terminal() {
        return Ok(false);
    }
    say!("the project in {} configures these servers:", here.display())?;
    for server in servers {
        say!("  {}: {}", Label::new(&server.name), escape_unprintable(&launch_text(server)))?;
    }
    Ok(ask("type `yes` to start them: ")?.trim() == "yes")
}

/// The command line or address of a server.
fn launch_text(server: &Configured) -> String {
    match &server.launch {
        Ok(Launch::Stdio { command, args, .. }) => {
            [command].into_iter().chain(args).map(|word| rune::shell::quote_word(word)).collect::<Vec<_>>().join(" ")
        }
        Ok(Launch::Http { url, .. }) => url.clone(),
        Err(what) => what.clone(),
    }
}

/// Asks all servers at once, and records each answer as it comes.
fn probe_all(
    selected: &[&Configured],
    here: &Path,
    limit: Duration,
    environment: &Environment,
) -> anyhow::Result<Vec<ProbeResult>> {
    let _reaper = ServerReaper::install()?;
    let started = Instant::now();
    let deadline = started.checked_add(limit).context("`--timeout` is too large")?;
    let (sender, answers) = channel();
    for (index, server) in selected.iter().enumerate() {
        let (server, here, sender) = ((*server).clone(), here.to_owned(), sender.clone());
        let introduction = environment.client.introduction();
        let probe = move || probe_server(&server, &here, &introduction, deadline);
        std::thread::spawn(move || sender.send((index, probe())).ok());
    }
    drop(sender);
    let mut results: BTreeMap<usize, ProbeResult> = BTreeMap::new();
    let progress = std::io::stderr().is_terminal();
    while let Ok((index, answer)) = answers.recv_timeout(remaining(deadline + SHUTDOWN_TIMEOUT)) {
        let Some(server) = selected.get(index) else { continue };
        let ms = started.elapsed().as_millis();
        let outcome = answer.and_then(|served| record_served(server, &served, environment));
        let outcome = outcome.map_err(|what| mark_unseen(server, what, environment));
        if progress {
            writeln!(std::io::stderr().lock(), "{} of {} done", results.len() + 1, selected.len()).ok();
        }
        results.insert(index, ProbeResult::of(server, Some(ms), outcome));
    }
    for (index, server) in selected.iter().enumerate() {
        results.entry(index).or_insert_with(|| {
            let what = mark_unseen(server, TIMED_OUT.to_owned(), environment);
            ProbeResult::of(server, None, Err(what))
        });
    }
    Ok(results.into_values().collect())
}

fn record_served(server: &Configured, served: &Served, environment: &Environment) -> Result<String, String> {
    let (identity, provenance) = (server.identity(), Provenance::Trusted);
    let snapshot = ServerSnapshot { server: &server.name, source: Source::Probe, identity, served, provenance };
    let outcome = record(environment, &snapshot)?;
    let prompts = if served.prompts.is_empty() { String::new() } else { format!(", {} prompts", served.prompts.len()) };
    Ok(format!("{} tools{prompts}, {outcome}", served.tools.len()))
}

/// Marks a server that could not be asked as not seen, so that an earlier approval is not in force any more.
fn mark_unseen(server: &Configured, what: String, environment: &Environment) -> String {
    match Store::of(environment).and_then(|store| store.forget(&server.name)) {
        Ok(ForgetOutcome::Unrecorded) => what,
        Ok(ForgetOutcome::Removed) => format!("{what}; marked as not seen"),
        Ok(ForgetOutcome::Kept(stronger)) => format!("{what}; the record that `{stronger}` made is kept"),
        Err(error) => format!("{what}; cannot be marked as not seen: {error:#}"),
    }
}

/// Asks one server, and shuts it down before the answer is returned.
fn probe_server(
    server: &Configured,
    here: &Path,
    introduction: &Introduction,
    deadline: Instant,
) -> Result<Served, String> {
    let root = here.to_string_lossy();
    let mut connection: Box<dyn Connection> = match server.expanded(here)? {
        Launch::Stdio { command, args, env, cwd } => {
            // Without the wrap, which would record the answer a second time, as served to the client.
            let (command, args) = wrapped_command(&command, &args).unwrap_or((command, args));
            let mut program = Command::new(command);
            program.args(args).current_dir(cwd.map_or(here.to_owned(), |cwd| here.join(cwd)));
            program.envs(server.environment(here)).envs(env);
            Box::new(StdioServer::start(program, deadline)?)
        }
        Launch::Http { url, headers, sse } => {
            let mut server = HttpServer::new(&url, headers, deadline);
            if sse {
                server.open_sse()?;
            }
            Box::new(server)
        }
    };
    let served = discover(&mut *connection, &root, introduction);
    connection.shut_down();
    served
}

impl ProbeResult {
    fn of(server: &Configured, ms: Option<u128>, outcome: Result<String, String>) -> ProbeResult {
        ProbeResult { name: server.name.clone(), scope: server.scope.to_string(), ms, outcome }
    }
}

fn print_table(results: &mut [ProbeResult], inventory: &Inventory) -> anyhow::Result<()> {
    results.sort_by(|one, other| one.name.cmp(&other.name));
    let names: Vec<Label> = results.iter().map(|result| Label::new(&result.name)).collect();
    let width = names.iter().map(|name| name.as_str().len()).max().unwrap_or_default();
    for (result, name) in results.iter().zip(&names) {
        let ms = result.ms.map_or_else(|| "-".to_owned(), |ms| format!("{ms} ms"));
        let (mark, what) = match &result.outcome {
            Ok(what) => ("ok", what),
            Err(what) => ("failed", what),
        };
        say!("{:width$}  {:8}  {ms:>9}  {mark:6}  {}", name.as_str(), result.scope, escape_unprintable(what))?;
        if result.outcome.is_ok() {
            print_tools(inventory, &result.name)?;
        }
    }
    Ok(())
}

/// Tools of one status that are named; the others are counted.
const MAX_NAMED_TOOLS: usize = 12;

/// Prints which tools of a server are new, changed, gone or as approved.
fn print_tools(inventory: &Inventory, server: &str) -> anyhow::Result<()> {
    let Ok(state) = inventory.server_state(server) else { return Ok(()) };
    let with = |wanted: &'static str| {
        state.tools.iter().filter(move |(_, status)| status.as_str() == wanted).map(|(name, _)| Label::new(name))
    };
    if matches!(state.status, Status::Changed(_)) {
        say!("    {}", describe_status(&state.status))?;
    }
    for (status, what) in [
        ("changed", "changed"),
        ("unpinnable", "cannot be approved"),
        ("pending", "not approved"),
        ("removed", "gone"),
        ("blocked", "blocked"),
    ] {
        let names: Vec<String> = with(status).take(MAX_NAMED_TOOLS).map(|name| name.to_string()).collect();
        let more = with(status).count().saturating_sub(names.len());
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        if !names.is_empty() {
            say!("    {what}: {}{more}", names.join(", "))?;
        }
    }
    let approved = with("approved").count();
    if approved > 0 { say!("    as approved: {approved}") } else { Ok(()) }
}

/// Escapes everything but printable ASCII and line ends, for a terminal.
fn escape_unprintable(text: &str) -> String {
    text.chars().fold(String::new(), |mut out, c| {
        if c == '\n' || c == ' ' || c.is_ascii_graphic() {
            out.push(c);
        } else {
            out.extend(c.escape_unicode());
        }
        out
    })
}
