//! `rune mcp wrap`: runs a stdio server for the client, and records what the client is served.
//!
//! The client starts the wrap as the server, so an agent can start it too, with any name and any program. The wrap can
//! only write observations; approvals are in another file, which it does not write. But an agent could hide that a
//! server has changed by replaying its old list. So a wrap whose command line is not, word for word, in the client's
//! configuration records only what restores no approval. What remains possible is to start the configured command
//! line with another program first on `PATH`; the rules of the hook deny agents all commands of `rune` that write.

use super::install;
use super::record::{ApprovedTools, Provenance, ServerSnapshot, record};
use super::relay::Relay;
use super::stdio::TERMINATION_SIGNALS;
use crate::runtime::environment::Environment;
use crate::runtime::exit_code::{FAILED, REFUSED};
use crate::runtime::mcp::servers::{Configured, Servers};
use crate::runtime::options::Dirs;
use clap::Args;
use rune::client::server::Launch;
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
use std::time::Duration;

/// Runs a stdio server for the client, and records what it serves
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  rune mcp wrap --install github --strip\n  rune mcp wrap --uninstall github\n  rune mcp wrap --server github -- npx -y @modelcontextprotocol/server-github\n\n\
Messages are passed on unchanged. With --strip, tools and instructions that are not approved are removed before the client sees them. --install and --uninstall are for people only."
)]
pub struct WrapArgs {
    /// Name of the server in the client's configuration
    #[arg(long, value_name = "NAME", required_unless_present_any = ["install", "uninstall"])]
    pub server: Option<String>,
    /// Remove tools and instructions that are not approved from what the client is served
    #[arg(long)]
    pub strip: bool,
    /// Wrap this server in the client's configuration
    #[arg(long, value_name = "SERVER", conflicts_with_all = ["uninstall", "server", "command"])]
    pub install: Option<String>,
    /// Remove the wrap from the client's configuration
    #[arg(long, value_name = "SERVER", conflicts_with_all = ["server", "command", "strip"])]
    pub uninstall: Option<String>,
    /// Directory of the records [default: $XDG_DATA_HOME/rune]
    #[arg(long, value_name = "DIR")]
    pub data_dir: Option<PathBuf>,
    /// Program of the server, and its arguments
    #[arg(last = true, value_name = "CMD", required_unless_present_any = ["install", "uninstall"])]
    pub command: Vec<OsString>,
}

/// How long the next page of a list is waited for before the pages so far are recorded.
const PAGE_TIMEOUT: Duration = Duration::from_millis(300);

/// How long the last record may take after the server has exited.
const RECORD_TIMEOUT: Duration = Duration::from_secs(2);

/// How long to wait for remaining output of a server that has exited, once the client is gone.
const OUTPUT_TIMEOUT: Duration = Duration::from_millis(500);

pub fn run(args: &WrapArgs) -> anyhow::Result<u8> {
    let environment = Environment::read(&Dirs { data: args.data_dir.clone(), ..Dirs::default() });
    if let Some(server) = &args.install {
        let flags: &[&str] = if args.strip { &["--strip"] } else { &[] };
        return install::install(server, flags, &environment);
    }
    if let Some(server) = &args.uninstall {
        return install::uninstall(server, &environment);
    }
    let Some(server) = &args.server else { return Ok(REFUSED) };
    Ok(match run_server(server, args, &environment) {
        Ok(status) => exit_as(status),
        Err(error) => {
            report_error(server, &format!("cannot start the server: {error}"));
            FAILED
        }
    })
}

/// An event that may end the relay.
enum RelayEvent {
    /// The client has closed its stream, or a termination signal has arrived.
    Stopping,
    /// All holders of the server's output have closed it.
    OutputEnded,
    Exited(ExitStatus),
}

/// A message to the thread that writes records.
pub enum RecorderMessage {
    /// What is served now, and whether more pages of a list follow.
    Served(Served, ListUpdate),
    End,
}

/// Runs the server until it has exited and its output is passed on.
fn run_server(name: &str, args: &WrapArgs, environment: &Environment) -> std::io::Result<ExitStatus> {
    let (from_client, mut to_client) = take_standard_streams()?;
    let mut words = args.command.iter();
    let mut command = Command::new(words.next().cloned().unwrap_or_default());
    let mut child = command.args(words).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
    let (Some(input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
        return Err(std::io::Error::other("its streams are missing"));
    };
    let running = Arc::new(Mutex::new(i32::try_from(child.id()).ok().and_then(Pid::from_raw)));
    let (events, received_events) = channel();
    // Installed after the start of the server, which inherits the signals that are ignored.
    let signals = Signals::new(TERMINATION_SIGNALS)?;
    let (sender, target) = (events.clone(), Arc::clone(&running));
    thread::spawn(move || forward_signals(signals, &target, &sender));
    let (recorder, messages) = channel();
    let (server, recorder_environment) = (name.to_owned(), environment.clone());
    let (finished, recorder_finished) = channel::<()>();
    thread::spawn(move || {
        record_served(&server, &recorder_environment, &messages);
        drop(finished);
    });
    let relay = Relay::new(recorder.clone());
    let (to_server, sender) = (relay.clone(), events.clone());
    thread::spawn(move || {
        to_server.to_server(from_client, input);
        sender.send(RelayEvent::Stopping).ok();
    });
    let sender = events.clone();
    let approved = args.strip.then(|| ApprovedTools::new(environment, name));
    thread::spawn(move || {
        match approved {
            Some(approved) => relay.to_client_stripped(output, &mut to_client, &approved),
            None => relay.to_client(output, &mut to_client),
        }
        drop(to_client);
        sender.send(RelayEvent::OutputEnded).ok();
    });
    thread::spawn(move || wait_for_exit(child, &running).map(|status| events.send(RelayEvent::Exited(status))));
    let status = wait_for_end(&received_events);
    recorder.send(RecorderMessage::End).ok();
    // The recorder sends nothing; its end closes the channel.
    recorder_finished.recv_timeout(RECORD_TIMEOUT).ok();
    Ok(status)
}

/// Moves the streams to the client away from stdin and stdout, so that the client sees the end of a stream when its
/// copy is dropped.
fn take_standard_streams() -> std::io::Result<(File, File)> {
    let from = File::from(std::io::stdin().as_fd().try_clone_to_owned()?);
    let to = File::from(std::io::stdout().as_fd().try_clone_to_owned()?);
    let null = File::options().read(true).write(true).open("/dev/null")?;
    dup2_stdin(&null)?;
    dup2_stdout(&null)?;
    Ok((from, to))
}

/// Waits until the server has exited and no more output can come.
fn wait_for_end(events: &Receiver<RelayEvent>) -> ExitStatus {
    let (mut status, mut output_ended, mut stopping) = (None, false, false);
    loop {
        let next = match status {
            // Another process may hold the output open; it is only waited for as long as the client is there.
            Some(status) if stopping => events.recv_timeout(OUTPUT_TIMEOUT).map_err(|_| status),
            _ => events.recv().map_err(|_| status.unwrap_or_default()),
        };
        match next {
            Ok(RelayEvent::Stopping) => stopping = true,
            Ok(RelayEvent::OutputEnded) => output_ended = true,
            Ok(RelayEvent::Exited(exit)) => status = Some(exit),
            Err(status) => return status,
        }
        if let Some(status) = status.filter(|_| output_ended) {
            return status;
        }
    }
}

/// Forwards signals to the server while it runs.
fn forward_signals(mut signals: Signals, running: &Mutex<Option<Pid>>, events: &Sender<RelayEvent>) {
    for signal in &mut signals {
        let running = running.lock().unwrap_or_else(PoisonError::into_inner);
        if let (Some(pid), Some(signal)) = (*running, Signal::from_named_raw(signal)) {
            kill_process(pid, signal).ok();
        }
        events.send(RelayEvent::Stopping).ok();
    }
}

/// Waits for the server to exit, and clears `running` before it is reaped: from then on its pid may be reused.
fn wait_for_exit(mut child: Child, running: &Mutex<Option<Pid>>) -> std::io::Result<ExitStatus> {
    let pid = *running.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(pid) = pid {
        waitid(WaitId::Pid(pid), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT).ok();
    }
    *running.lock().unwrap_or_else(PoisonError::into_inner) = None;
    child.wait()
}

/// Returns the exit code of the server, or ends this process by the signal that ended the server.
fn exit_as(status: ExitStatus) -> u8 {
    if let Some(code) = status.code() {
        return u8::try_from(code).unwrap_or(FAILED);
    }
    let number = status.signal().unwrap_or_default();
    // Does not return if the default action of the signal is to terminate.
    emulate_default_handler(number).ok();
    u8::try_from(128 + number).unwrap_or(FAILED)
}

/// Records what is served, whenever it changes, until [`RecorderMessage::End`].
fn record_served(name: &str, environment: &Environment, messages: &Receiver<RecorderMessage>) {
    let mut recorded = None;
    // Pages of a list whose next page is outstanding.
    let mut pages: Option<Served> = None;
    loop {
        let message = match &pages {
            Some(_) => messages.recv_timeout(PAGE_TIMEOUT),
            None => messages.recv().map_err(|_| RecvTimeoutError::Disconnected),
        };
        let end = matches!(message, Ok(RecorderMessage::End) | Err(RecvTimeoutError::Disconnected));
        let served = match message {
            Ok(RecorderMessage::Served(served, ListUpdate::Partial)) => {
                pages = Some(served);
                continue;
            }
            Ok(RecorderMessage::Served(served, ListUpdate::Complete | ListUpdate::Unchanged)) => Some(served),
            // The client may never ask for the next page.
            Ok(RecorderMessage::End) | Err(_) => pages.take(),
        };
        pages = None;
        if let Some(served) = served.filter(|served| recorded.as_ref() != Some(served)) {
            if let Err(error) = record_one(name, environment, &served) {
                report_error(name, &error);
            }
            recorded = Some(served);
        }
        if end {
            return;
        }
    }
}

fn record_one(name: &str, environment: &Environment, served: &Served) -> Result<String, String> {
    let here = std::env::current_dir().map_err(|error| error.to_string())?;
    let servers = Servers::for_directory(environment, &here);
    let server = servers.named(name);
    let words: Option<Vec<String>> = std::env::args_os().skip(1).map(|word| word.into_string().ok()).collect();
    let is_this = |launch: Launch| matches!(launch, Launch::Stdio { args, .. } if Some(&args) == words.as_ref());
    let is_configured = server.and_then(|server| server.expanded(&here).ok()).is_some_and(is_this);
    let provenance = if is_configured { Provenance::Trusted } else { Provenance::Unverified };
    let identity = server.and_then(Configured::identity);
    record(environment, &ServerSnapshot { server: name, source: Source::Wrap, identity, served, provenance })
}

fn report_error(name: &str, error: &str) {
    writeln!(std::io::stderr().lock(), "rune: {}: {error}", Label::new(name)).ok();
}
