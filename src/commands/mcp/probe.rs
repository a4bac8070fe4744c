//! `rune mcp probe`: asks every configured server what it serves, all at once.

use super::dialogue::{LATE, learn, left};
use super::http::HttpServer;
use super::install::unwrapped;
use super::record::{Sighting, Voucher, record};
use super::stdio::{self, StdioServer};
use crate::commands::hooks::say;
use crate::runtime::environment::Environment;
use crate::runtime::exit_code::{DONE, FAILED};
use crate::runtime::mcp::servers::{Configured, Scope, Servers};
use crate::runtime::options::Dirs;
use crate::runtime::{agent_check, receipts};
use anyhow::Context;
use clap::Args;
use rune::client::claude::server::Launch;
use rune::encoding::label::Label;
use rune::mcp::Source;
use rune::mcp::protocol::Served;
use rune::quarantine::Namespace;
use rune::receipt::Loosening;
use std::collections::BTreeMap;
use std::io::{IsTerminal, Write};
use std::path::Path;
use std::process::Command;
use std::sync::mpsc::{Sender, channel};
use std::time::{Duration, Instant};

/// Asks the configured servers what they serve, and records it; approves nothing; for people only
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  rune mcp probe\n  rune mcp probe github docs\n\n\
Starts every server that the client would start here, asks for its tools, and ends it. A server may tell us other\n\
things than it tells the client; `rune mcp wrap` sees what the client sees. Exit 1: a server could not be asked.")]
pub struct ProbeArgs {
    /// Only these servers [default: all]
    #[arg(value_name = "SERVER")]
    pub servers: Vec<String>,
    /// Start also what the project itself configures, without asking
    #[arg(long)]
    pub yes: bool,
    /// Seconds for each server
    #[arg(long, value_name = "SECONDS", default_value_t = 10.0, hide = true)]
    pub timeout: f64,
}

/// How long the end of a server may take after its deadline, before nobody waits for it any more.
const LAST: Duration = Duration::from_secs(2);

/// What became of one server.
struct Row {
    name: String,
    scope: String,
    ms: Option<u128>,
    outcome: Result<String, String>,
}

pub fn run(args: &ProbeArgs) -> anyhow::Result<u8> {
    agent_check::check("`rune mcp probe`")?;
    let environment = Environment::look(&Dirs::default());
    let here = std::env::current_dir().context("the current directory cannot be told")?;
    let servers = Servers::for_directory(&environment, &here);
    let (chosen, mut rows) = choose(args, &servers);
    let (chosen, refused) = confirmed(chosen, args.yes, &here)?;
    rows.extend(refused);
    let limit = Duration::try_from_secs_f64(args.timeout).context("`--timeout` is no time")?;
    if !chosen.is_empty() {
        receipts::loosen(&environment, Loosening::McpProbe)?;
    }
    rows.extend(ask_all(&chosen, &here, limit, &environment)?);
    for flaw in &servers.flaws {
        writeln!(std::io::stderr().lock(), "rune: {}", harmless(flaw)).ok();
    }
    if rows.is_empty() {
        say("no server is configured here")?;
    }
    table(&mut rows)?;
    let whole = servers.flaws.is_empty() && rows.iter().all(|row| row.outcome.is_ok());
    Ok(if whole { DONE } else { FAILED })
}

/// The servers that are to be asked, and rows for those that cannot be.
fn choose<'a>(args: &ProbeArgs, servers: &'a Servers) -> (Vec<&'a Configured>, Vec<Row>) {
    let mut rows = Vec::new();
    for name in &args.servers {
        if servers.named(name).is_none() {
            let what = "no server of this name is configured here".to_owned();
            rows.push(Row { name: name.clone(), scope: "-".to_owned(), ms: None, outcome: Err(what) });
        }
    }
    let wanted = |server: &&Configured| args.servers.is_empty() || args.servers.contains(&server.name);
    let mut by_name: BTreeMap<String, Vec<&Configured>> = BTreeMap::new();
    for server in servers.effective() {
        by_name.entry(folded(server)).or_default().push(server);
    }
    let mut chosen = Vec::new();
    for server in servers.effective().filter(wanted) {
        let alike = by_name.get(&folded(server)).map_or(0, Vec::len);
        if alike > 1 {
            let what =
                "the client cannot tell its name from another one's\n  help: rename one of the servers".to_owned();
            rows.push(Row::of(server, None, Err(what)));
        } else {
            chosen.push(server);
        }
    }
    (chosen, rows)
}

/// Asks whether what a project configures may be started: until then, nothing that the project wrote runs.
fn confirmed<'a>(
    chosen: Vec<&'a Configured>,
    yes: bool,
    here: &Path,
) -> anyhow::Result<(Vec<&'a Configured>, Vec<Row>)> {
    let (strange, own): (Vec<_>, Vec<_>) = chosen.into_iter().partition(|server| server.scope == Scope::Project);
    if yes || strange.is_empty() {
        return Ok((strange.into_iter().chain(own).collect(), Vec::new()));
    }
    let mut agreed = false;
    if std::io::stdin().is_terminal() {
        say(&format!("the project in {} configures these servers:", here.display()))?;
        for server in &strange {
            say(&format!("  {}: {}", Label::new(&server.name), harmless(&words(server))))?;
        }
        write!(std::io::stdout().lock(), "type `yes` to start them: ")?;
        std::io::stdout().flush()?;
        let mut typed = String::new();
        std::io::stdin().read_line(&mut typed)?;
        agreed = typed.trim() == "yes";
    }
    if agreed {
        return Ok((strange.into_iter().chain(own).collect(), Vec::new()));
    }
    let what =
        "not started, because the project configures it\n  help: look at its entry, then run this again with `--yes`";
    let refused = strange.into_iter().map(|server| Row::of(server, None, Err(what.to_owned()))).collect();
    Ok((own, refused))
}

/// What starting a server would run or call.
fn words(server: &Configured) -> String {
    match &server.launch {
        Ok(Launch::Stdio { command, args, .. }) => {
            [command].into_iter().chain(args).map(|word| rune::shell::typed(word)).collect::<Vec<_>>().join(" ")
        }
        Ok(Launch::Http { url, .. }) => url.clone(),
        Err(what) => what.clone(),
    }
}

/// Asks all servers at once; one that hangs keeps nobody from being recorded.
fn ask_all(
    chosen: &[&Configured],
    here: &Path,
    limit: Duration,
    environment: &Environment,
) -> anyhow::Result<Vec<Row>> {
    let _held = stdio::Held::new()?;
    let started = Instant::now();
    let deadline = started.checked_add(limit).context("`--timeout` is too long")?;
    let (told, answers) = channel();
    for (nth, server) in chosen.iter().enumerate() {
        let (server, here, told) = ((*server).clone(), here.to_owned(), told.clone());
        std::thread::spawn(move || ask(nth, &server, &here, deadline, &told));
    }
    drop(told);
    let mut rows: BTreeMap<usize, Row> = BTreeMap::new();
    let progress = std::io::stderr().is_terminal();
    while let Ok((nth, answer)) = answers.recv_timeout(left(deadline + LAST)) {
        let Some(server) = chosen.get(nth) else { continue };
        let ms = started.elapsed().as_millis();
        let outcome = answer.and_then(|served: Served| keep(server, &served, environment));
        if progress {
            writeln!(std::io::stderr().lock(), "{} of {} done", rows.len() + 1, chosen.len()).ok();
        }
        rows.insert(nth, Row::of(server, Some(ms), outcome));
    }
    for (nth, server) in chosen.iter().enumerate() {
        rows.entry(nth).or_insert_with(|| Row::of(server, None, Err(LATE.to_owned())));
    }
    Ok(rows.into_values().collect())
}

fn keep(server: &Configured, served: &Served, environment: &Environment) -> Result<String, String> {
    let (identity, voucher) = (server.identity(), Voucher::Known);
    let sighting = Sighting { server: &server.name, source: Source::Probe, identity, served, voucher };
    let outcome = record(environment, &sighting)?;
    let prompts = if served.prompts.is_empty() { String::new() } else { format!(", {} prompts", served.prompts.len()) };
    Ok(format!("{} tools{prompts}, {outcome}", served.tools.len()))
}

/// Asks one server, and ends it before anybody is told.
fn ask(
    nth: usize,
    server: &Configured,
    here: &Path,
    deadline: Instant,
    told: &Sender<(usize, Result<Served, String>)>,
) {
    let root = here.to_string_lossy();
    let answer = server.expanded(here).and_then(|launch| match launch {
        Launch::Stdio { command, args, env, cwd } => {
            // Through our own pass-through it would be recorded twice, and once as what the client was served.
            let (command, args) = unwrapped(&command, &args).unwrap_or((command, args));
            let mut program = Command::new(command);
            program.args(args).current_dir(cwd.map_or(here.to_owned(), |cwd| here.join(cwd)));
            program.envs([("CLAUDECODE", "1"), ("CLAUDE_CODE_ENTRYPOINT", "cli"), ("CLAUDE_PROJECT_DIR", &*root)]);
            if let Some(plugin) = &server.plugin {
                program.env("CLAUDE_PLUGIN_ROOT", &plugin.root);
            }
            program.envs(env);
            let mut server = StdioServer::start(program, deadline)?;
            let served = learn(&mut server, &root);
            server.end();
            served
        }
        Launch::Http { url, headers, sse } => {
            let mut server = HttpServer::new(&url, headers, sse, deadline)?;
            let served = learn(&mut server, &root);
            server.end();
            served
        }
    });
    told.send((nth, answer)).ok();
}

impl Row {
    fn of(server: &Configured, ms: Option<u128>, outcome: Result<String, String>) -> Row {
        Row { name: server.name.clone(), scope: server.scope.to_string(), ms, outcome }
    }
}

fn table(rows: &mut [Row]) -> anyhow::Result<()> {
    rows.sort_by(|one, other| one.name.cmp(&other.name));
    let names: Vec<Label> = rows.iter().map(|row| Label::new(&row.name)).collect();
    let width = names.iter().map(|name| name.as_str().len()).max().unwrap_or_default();
    for (row, name) in rows.iter().zip(&names) {
        let ms = row.ms.map_or_else(|| "-".to_owned(), |ms| format!("{ms} ms"));
        let (mark, what) = match &row.outcome {
            Ok(what) => ("ok", what),
            Err(what) => ("failed", what),
        };
        say(&format!("{:width$}  {:8}  {ms:>9}  {mark:6}  {}", name.as_str(), row.scope, harmless(what)))?;
    }
    Ok(())
}

/// Its name as it stands in the names of its tools.
fn folded(server: &Configured) -> String {
    Namespace::of_server(&server.name).as_str().to_owned()
}

/// A text for a terminal: what may not be seen, or may lead the eye astray, is written by its number.
fn harmless(text: &str) -> String {
    let plain = |c: char| c == '\n' || c == ' ' || c.is_ascii_graphic();
    text.chars().fold(String::new(), |mut out, c| {
        if plain(c) {
            out.push(c)
        } else {
            out.extend(c.escape_unicode())
        }
        out
    })
}
