//! `rune mcp wrap`: stands between the client and a server, and records what the client is really served.
//!
//! The client starts it as the server, so an agent may start it too, by any name and with any program. All that it
//! can do is to record an observation, which approves nothing: approvals are in another file, which is not written
//! here. But a server that has changed could be made to look unchanged by whoever shows the old list once more. So a
//! wrap that the client's configuration does not start, word for word, records only what makes nothing look better.
//! What is left to an agent is to start the very words of the configuration with other programs on `PATH`; the rules
//! of the hook deny it all verbs of this program that write.

use super::install;
use super::record::{Sighting, Strip, Voucher, record};
use super::relay::Relay;
use super::stdio::ENDING_SIGNALS;
use crate::runtime::environment::Environment;
use crate::runtime::exit_code::{FAILED, REFUSED};
use crate::runtime::mcp::servers::{Configured, Servers};
use crate::runtime::options::Dirs;
use clap::Args;
use rune::client::claude::server::Launch;
use rune::encoding::label::Label;
use rune::mcp::Source;
use rune::mcp::protocol::{ListUpdate, Served};
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process, waitid};
use rustix::stdio::{dup2_stdin, dup2_stdout};
use signal_hook::iterator::Signals;
use signal_hook::low_level::emulate_default_handler;
use std::ffi::OsString;
use std::fs::File;
use std::io::Write;
use std::os::fd::AsFd;
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// Stands between the client and a stdio server, and records what is really served
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  rune mcp wrap --install github --strip\n  rune mcp wrap --uninstall github\n  rune mcp wrap --server github -- npx -y @modelcontextprotocol/server-github\n\n\
Every byte is passed on as it comes. With --strip, tools that are not approved are taken out of lists before the\n\
client sees them. --install and --uninstall are for people only."
)]
pub struct WrapArgs {
    /// The server, as the client's configuration names it
    #[arg(long, value_name = "NAME", required_unless_present_any = ["install", "uninstall"])]
    pub server: Option<String>,
    /// Take tools that are not approved out of what the client is served
    #[arg(long)]
    pub strip: bool,
    /// Put this into the configuration of a server
    #[arg(long, value_name = "SERVER", conflicts_with_all = ["uninstall", "server", "command"])]
    pub install: Option<String>,
    /// Take it out again
    #[arg(long, value_name = "SERVER", conflicts_with_all = ["server", "command", "strip"])]
    pub uninstall: Option<String>,
    /// Where records are kept [default: $XDG_DATA_HOME/rune]
    #[arg(long, value_name = "DIR")]
    pub data_dir: Option<PathBuf>,
    /// The program of the server, and its arguments
    #[arg(last = true, value_name = "CMD", required_unless_present_any = ["install", "uninstall"])]
    pub command: Vec<OsString>,
}

/// How long a list that goes on is waited for before what is there is recorded.
const PAGES: Duration = Duration::from_millis(300);

/// How long the last record may take when the server has ended.
const LAST: Duration = Duration::from_secs(2);

/// How often we look whether it is done.
const STEP: Duration = Duration::from_millis(2);

/// How long a server that has ended may leave something in its output when the client leaves too.
const QUIET: Duration = Duration::from_millis(500);

pub fn run(args: &WrapArgs) -> anyhow::Result<u8> {
    let environment = Environment::look(&Dirs { data: args.data_dir.clone(), ..Dirs::default() });
    match (&args.install, &args.uninstall, &args.server) {
        (Some(server), ..) => install::install(server, args.strip, &environment),
        (_, Some(server), _) => install::uninstall(server, &environment),
        (None, None, Some(server)) => Ok(pass(server, args, &environment)),
        (None, None, None) => Ok(REFUSED),
    }
}

/// What may end the relay.
enum Moment {
    /// The client has closed the server's input, or somebody wants us to end.
    Leaving,
    /// The server, and whoever else holds its output, has closed it.
    OutputEnded,
    /// The server has ended.
    Exited(ExitStatus),
}

/// What is to be recorded.
pub enum Note {
    Sight(Served, ListUpdate),
    End,
}

fn pass(name: &str, args: &WrapArgs, environment: &Environment) -> u8 {
    match try_pass(name, args, environment) {
        Ok(status) => leave(status),
        Err(error) => {
            complain(name, &format!("it cannot be started: {error}"));
            FAILED
        }
    }
}

fn try_pass(name: &str, args: &WrapArgs, environment: &Environment) -> std::io::Result<ExitStatus> {
    let (from_client, mut to_client) = streams()?;
    let mut words = args.command.iter();
    let mut command = Command::new(words.next().cloned().unwrap_or_default());
    let mut child = command.args(words).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
    let (Some(input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
        return Err(std::io::Error::other("its streams are missing"));
    };
    let running = Arc::new(Mutex::new(i32::try_from(child.id()).ok().and_then(Pid::from_raw)));
    let (happened, moments) = channel();
    // After the server has started: it inherits what was ignored before.
    let signals = Signals::new(ENDING_SIGNALS)?;
    let (told, target) = (happened.clone(), Arc::clone(&running));
    thread::spawn(move || forward(signals, &target, &told));
    let (recorder, notes) = channel();
    let relay = Relay::new(recorder.clone());
    let (server, place) = (name.to_owned(), environment.clone());
    let records = thread::spawn(move || keep_records(&server, &place, &notes));
    let (other, told) = (relay.clone(), happened.clone());
    thread::spawn(move || {
        other.to_server(from_client, input);
        told.send(Moment::Leaving).ok();
    });
    let told = happened.clone();
    let strip = args.strip.then(|| Strip::new(environment, name));
    thread::spawn(move || {
        match strip {
            Some(strip) => relay.to_client_stripped(output, &mut to_client, &strip),
            None => relay.to_client(output, &mut to_client),
        }
        drop(to_client);
        told.send(Moment::OutputEnded).ok();
    });
    thread::spawn(move || wait(child, &running).map(|status| happened.send(Moment::Exited(status))));
    let status = last_moment(&moments);
    recorder.send(Note::End).ok();
    let until = Instant::now() + LAST;
    while !records.is_finished() && Instant::now() < until {
        thread::sleep(STEP);
    }
    status
}

/// The streams to the client, as the only ones of this process: when we are done with one, the client sees its end.
fn streams() -> std::io::Result<(File, File)> {
    let from = File::from(std::io::stdin().as_fd().try_clone_to_owned()?);
    let to = File::from(std::io::stdout().as_fd().try_clone_to_owned()?);
    let nothing = File::options().read(true).write(true).open("/dev/null")?;
    dup2_stdin(&nothing)?;
    dup2_stdout(&nothing)?;
    Ok((from, to))
}

/// Waits until nothing can come any more.
fn last_moment(moments: &Receiver<Moment>) -> std::io::Result<ExitStatus> {
    let (mut status, mut ended, mut leaving) = (None, false, false);
    loop {
        let next = match status {
            // Whoever still holds the output of a server that is gone is waited for as long as the client is there.
            Some(status) if leaving => moments.recv_timeout(QUIET).map_err(|_| status),
            _ => moments.recv().map_err(|_| status.unwrap_or_default()),
        };
        match next {
            Ok(Moment::Leaving) => leaving = true,
            Ok(Moment::OutputEnded) => ended = true,
            Ok(Moment::Exited(exit)) => status = Some(exit),
            Err(status) => return Ok(status),
        }
        if let Some(status) = status.filter(|_| ended) {
            return Ok(status);
        }
    }
}

/// Forwards signals to the server while it runs.
fn forward(mut signals: Signals, running: &Mutex<Option<Pid>>, told: &Sender<Moment>) {
    for signal in &mut signals {
        let running = running.lock().unwrap_or_else(PoisonError::into_inner);
        if let (Some(pid), Some(signal)) = (*running, Signal::from_named_raw(signal)) {
            kill_process(pid, signal).ok();
        }
        told.send(Moment::Leaving).ok();
    }
}

/// Waits for the end of the server. From then on its number may be somebody else's.
fn wait(mut child: Child, running: &Mutex<Option<Pid>>) -> std::io::Result<ExitStatus> {
    let pid = *running.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(pid) = pid {
        waitid(WaitId::Pid(pid), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT).ok();
    }
    *running.lock().unwrap_or_else(PoisonError::into_inner) = None;
    child.wait()
}

/// Ends as the server has ended: with its exit code, or by the signal that ended it.
fn leave(status: ExitStatus) -> u8 {
    if let Some(code) = status.code() {
        return u8::try_from(code).unwrap_or(FAILED);
    }
    let number = status.signal().unwrap_or_default();
    // Does not return for a signal that ends a process.
    emulate_default_handler(number).ok();
    u8::try_from(128 + number).unwrap_or(FAILED)
}

/// Records what was served, apart from the stream: a disk that hangs must not hold it up.
fn keep_records(name: &str, environment: &Environment, notes: &Receiver<Note>) {
    let mut known = None;
    let mut open: Option<Served> = None;
    loop {
        let note = match &open {
            Some(_) => notes.recv_timeout(PAGES),
            None => notes.recv().map_err(|_| RecvTimeoutError::Disconnected),
        };
        let end = matches!(note, Ok(Note::End) | Err(RecvTimeoutError::Disconnected));
        let seen = match note {
            Ok(Note::Sight(served, ListUpdate::Partial)) => {
                open = Some(served);
                continue;
            }
            Ok(Note::Sight(served, ListUpdate::Complete | ListUpdate::Unchanged)) => Some(served),
            // The client may be content with the pages that it has.
            Ok(Note::End) | Err(_) => open.clone(),
        };
        open = None;
        if let Some(served) = seen.filter(|served| known.as_ref() != Some(served)) {
            if let Err(what) = keep(name, environment, &served) {
                complain(name, &what);
            }
            known = Some(served);
        }
        if end {
            return;
        }
    }
}

fn keep(name: &str, environment: &Environment, served: &Served) -> Result<String, String> {
    let here = std::env::current_dir().map_err(|error| error.to_string())?;
    let servers = Servers::for_directory(environment, &here);
    let server = servers.named(name);
    let words: Option<Vec<String>> = std::env::args_os().skip(1).map(|word| word.into_string().ok()).collect();
    let alike = |launch: Launch| matches!(launch, Launch::Stdio { args, .. } if Some(&args) == words.as_ref());
    let known = server.and_then(|server| server.expanded(&here).ok()).is_some_and(alike);
    let voucher = if known { Voucher::Known } else { Voucher::Nobody };
    let identity = server.and_then(Configured::identity);
    record(environment, &Sighting { server: name, source: Source::Wrap, identity, served, voucher })
}

fn complain(name: &str, what: &str) {
    writeln!(std::io::stderr().lock(), "rune: {}: {what}", Label::new(name)).ok();
}
