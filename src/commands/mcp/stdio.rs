//! MCP servers on stdin and stdout: each runs in a process group of its own, and none outlives this process.

use super::discovery::{Connection, ENDED, TIMED_OUT, remaining, too_large};
use crate::runtime::watchdog::park_forever;
use rune::mcp::protocol::MAX_SERVED_BYTES;
use rustix::process::{
    Pid, Signal as Kill, WaitId, WaitIdOptions, WaitOptions, kill_process, kill_process_group, waitid, waitpid,
};
use serde_json::Value;
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};
use signal_hook::iterator::Signals;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, SyncSender, channel, sync_channel};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// How long a server may take to exit after its input is closed, and again after SIGTERM.
const EXIT_TIMEOUT: Duration = Duration::from_millis(250);

const POLL_INTERVAL: Duration = Duration::from_millis(5);

/// How often remaining child processes are searched for: each may have started more.
const MAX_REAP_ROUNDS: usize = 100;

/// Lines that are read ahead; the pipe holds back a server that sends more.
const MAX_QUEUED_LINES: usize = 16;

pub struct StdioServer {
    child: Child,
    group: Pid,
    /// `None` once the input is closed.
    input: Option<Sender<Vec<u8>>>,
    lines: Receiver<Result<Vec<u8>, String>>,
    deadline: Instant,
}

impl StdioServer {
    /// Starts a server. Its stderr is discarded.
    pub fn start(mut command: Command, deadline: Instant) -> Result<StdioServer, String> {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).process_group(0);
        // INVARIANT: the lock is held until the group is registered, so that `kill_all` misses no server.
        let mut groups = server_groups();
        if TERMINATING.load(Ordering::SeqCst) {
            return Err("not started: this process is terminating".to_owned());
        }
        let mut child = command.spawn().map_err(|error| format!("cannot start the server: {error}"))?;
        let group = i32::try_from(child.id()).ok().and_then(Pid::from_raw).ok_or("the server has no process id")?;
        groups.push(group);
        drop(groups);
        let (input, to_write) = channel::<Vec<u8>>();
        let (sender, lines) = sync_channel(MAX_QUEUED_LINES);
        // These threads are never joined: a process that the server has started may keep a pipe open.
        if let Some(mut stdin) = child.stdin.take() {
            std::thread::spawn(move || while to_write.recv().is_ok_and(|bytes| stdin.write_all(&bytes).is_ok()) {});
        }
        if let Some(stdout) = child.stdout.take() {
            std::thread::spawn(move || read_lines(stdout, &sender));
        }
        Ok(StdioServer { child, group, input: Some(input), lines, deadline })
    }

    /// Waits until the server has exited, without reaping it. Returns whether it has.
    fn exits_within(&self, limit: Duration) -> bool {
        let until = Instant::now() + limit;
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        while !matches!(waitid(WaitId::Pid(self.group), options), Ok(Some(_)) | Err(_)) {
            if Instant::now() >= until {
                return false;
            }
            std::thread::sleep(POLL_INTERVAL);
        }
        true
    }
}

impl Connection for StdioServer {
    fn send(&mut self, message: &Value) -> Result<(), String> {
        let sent = self.input.as_ref().is_some_and(|input| input.send(format!("{message}\n").into_bytes()).is_ok());
        if sent { Ok(()) } else { Err("the server has closed its input".to_owned()) }
    }

    fn receive(&mut self) -> Result<Vec<u8>, String> {
        match self.lines.recv_timeout(remaining(self.deadline)) {
            Ok(line) => line,
            Err(RecvTimeoutError::Timeout) => Err(TIMED_OUT.to_owned()),
            Err(RecvTimeoutError::Disconnected) => Err(ENDED.to_owned()),
        }
    }

    /// Ends the server and its process group.
    fn shut_down(mut self: Box<Self>) {
        self.input = None;
        if !self.exits_within(EXIT_TIMEOUT) {
            kill_process_group(self.group, Kill::TERM).ok();
            self.exits_within(EXIT_TIMEOUT);
        }
        // INVARIANT: the child is not reaped yet, so the group id cannot belong to another process.
        server_groups().retain(|group| *group != self.group);
        kill_process_group(self.group, Kill::KILL).ok();
        self.child.wait().ok();
    }
}

/// Sends the lines of a server to `sender`, up to the size limit.
fn read_lines(stdout: ChildStdout, sender: &SyncSender<Result<Vec<u8>, String>>) {
    let mut lines = BufReader::new(stdout).take(MAX_SERVED_BYTES as u64 + 1);
    loop {
        let mut line = Vec::new();
        let read = lines.read_until(b'\n', &mut line);
        let full = lines.limit() == 0;
        let received = match read {
            _ if full => Err(too_large()),
            Ok(0) | Err(_) => return,
            // The server ended within a line.
            Ok(_) if !line.ends_with(b"\n") => return,
            Ok(_) if line.trim_ascii().is_empty() => continue,
            Ok(_) => Ok(line),
        };
        if sender.send(received).is_err() || full {
            return;
        }
    }
}

/// The process groups of running servers.
fn server_groups() -> MutexGuard<'static, Vec<Pid>> {
    static GROUPS: Mutex<Vec<Pid>> = Mutex::new(Vec::new());
    GROUPS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Kills all servers when it is dropped or a signal terminates this process.
pub struct ServerReaper;

impl ServerReaper {
    pub fn install() -> std::io::Result<ServerReaper> {
        // Orphans of a server become children of this process instead of init.
        #[cfg(target_os = "linux")]
        rustix::process::set_child_subreaper(Some(rustix::process::getpid()))?;
        // The signals are caught instead of blocked: a child would inherit the mask.
        let mut signals = Signals::new(TERMINATION_SIGNALS)?;
        std::thread::spawn(move || {
            if let Some(signal) = signals.forever().next() {
                // INVARIANT: set before the servers are killed, so that the main thread does not report their end.
                TERMINATING.store(true, Ordering::SeqCst);
                kill_all();
                std::process::exit(128 + signal);
            }
        });
        Ok(ServerReaper)
    }
}

impl Drop for ServerReaper {
    fn drop(&mut self) {
        if TERMINATING.load(Ordering::SeqCst) {
            park_forever();
        }
        kill_all();
    }
}

/// The signals by which a terminal, a user or a supervisor ends a process.
pub const TERMINATION_SIGNALS: [i32; 4] = [SIGINT, SIGTERM, SIGHUP, SIGQUIT];

/// Whether a signal is terminating this process.
static TERMINATING: AtomicBool = AtomicBool::new(false);

/// Kills the groups of all servers, then the processes that have left their group.
fn kill_all() {
    for group in server_groups().drain(..) {
        kill_process_group(group, Kill::KILL).ok();
    }
    for _ in 0..MAX_REAP_ROUNDS {
        let children = child_processes();
        if children.is_empty() {
            return;
        }
        for child in children {
            kill_process(child, Kill::KILL).ok();
            waitpid(Some(child), WaitOptions::empty()).ok();
        }
    }
}

/// Lists the children of this process, by `/proc`. Without `/proc` the list is empty.
fn child_processes() -> Vec<Pid> {
    let own_pid = std::process::id().to_string();
    let processes = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let child = |entry: std::fs::DirEntry| {
        let pid = entry.file_name().to_str()?.parse().ok()?;
        let stat = std::fs::read_to_string(entry.path().join("stat")).ok()?;
        let (_, rest) = stat.rsplit_once(')')?;
        (rest.split_whitespace().nth(1)? == own_pid).then(|| Pid::from_raw(pid))?
    };
    processes.filter_map(child).collect()
}
