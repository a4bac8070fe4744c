//! Servers on standard streams: started in a group of their own, and gone when we are done with them.

use super::dialogue::{LATE, Wire, left, too_much};
use crate::runtime::watchdog::stand_aside;
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

/// How long a server may take to end when its input has, and again when it was told to.
const GRACE: Duration = Duration::from_millis(250);

/// How often we look whether it has.
const STEP: Duration = Duration::from_millis(5);

/// How often those who were left behind are looked for: each may have left more.
const MOST_ROUNDS: usize = 100;

/// Lines that wait for us; a server that sends more has to wait.
const MOST_LINES: usize = 16;

/// A running server.
pub struct StdioServer {
    child: Child,
    group: Pid,
    /// Gone when its input is closed.
    input: Option<Sender<Vec<u8>>>,
    lines: Receiver<Result<Vec<u8>, String>>,
    deadline: Instant,
}

impl StdioServer {
    /// Starts a server. What it writes to stderr is nobody's to read here.
    pub fn start(mut command: Command, deadline: Instant) -> Result<StdioServer, String> {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).process_group(0);
        // Held until it can be found: whoever ends us starts by asking for this.
        let mut running = running();
        if ENDING.load(Ordering::SeqCst) {
            return Err("it is too late to start it".to_owned());
        }
        let mut child = command.spawn().map_err(|error| format!("it cannot be started: {error}"))?;
        let group = i32::try_from(child.id()).ok().and_then(Pid::from_raw).ok_or("it has no process id")?;
        running.push(group);
        drop(running);
        let (input, to_write) = channel::<Vec<u8>>();
        let (heard, lines) = sync_channel(MOST_LINES);
        // Both pipes may be held open or shut by whomever the server has started: nobody waits for these two.
        if let Some(mut stdin) = child.stdin.take() {
            std::thread::spawn(move || while to_write.recv().is_ok_and(|bytes| stdin.write_all(&bytes).is_ok()) {});
        }
        if let Some(stdout) = child.stdout.take() {
            std::thread::spawn(move || listen(stdout, &heard));
        }
        Ok(StdioServer { child, group, input: Some(input), lines, deadline })
    }

    /// Ends the server and everybody in its group.
    pub fn end(mut self) {
        self.input = None;
        if !self.ends_within(GRACE) {
            kill_process_group(self.group, Kill::TERM).ok();
            self.ends_within(GRACE);
        }
        // INVARIANT: the child is not reaped yet, so that its group is still its own.
        running().retain(|group| *group != self.group);
        kill_process_group(self.group, Kill::KILL).ok();
        self.child.wait().ok();
    }

    /// Waits for its end, and leaves it to be reaped.
    fn ends_within(&self, limit: Duration) -> bool {
        let until = Instant::now() + limit;
        let look = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        while !matches!(waitid(WaitId::Pid(self.group), look), Ok(Some(_)) | Err(_)) {
            if Instant::now() >= until {
                return false;
            }
            std::thread::sleep(STEP);
        }
        true
    }
}

impl Wire for StdioServer {
    fn send(&mut self, message: &Value) -> Result<(), String> {
        let sent = self.input.as_ref().is_some_and(|input| input.send(format!("{message}\n").into_bytes()).is_ok());
        if sent { Ok(()) } else { Err("it has closed its input".to_owned()) }
    }

    fn receive(&mut self) -> Result<Vec<u8>, String> {
        match self.lines.recv_timeout(left(self.deadline)) {
            Ok(line) => line,
            Err(RecvTimeoutError::Timeout) => Err(LATE.to_owned()),
            Err(RecvTimeoutError::Disconnected) => Err("it ended before it had answered".to_owned()),
        }
    }
}

/// Hands on the lines of a server, as many bytes as anybody reads.
fn listen(stdout: ChildStdout, heard: &SyncSender<Result<Vec<u8>, String>>) {
    let mut lines = BufReader::new(stdout).take(MAX_SERVED_BYTES as u64 + 1);
    loop {
        let mut line = Vec::new();
        let read = lines.read_until(b'\n', &mut line);
        let full = lines.limit() == 0;
        let told = match read {
            _ if full => Err(too_much()),
            Ok(0) | Err(_) => return,
            // Half a line is what is left of a server that has ended.
            Ok(_) if !line.ends_with(b"\n") => return,
            Ok(_) if line.trim_ascii().is_empty() => continue,
            Ok(_) => Ok(line),
        };
        if heard.send(told).is_err() || full {
            return;
        }
    }
}

/// The groups of servers that are not ended yet.
fn running() -> MutexGuard<'static, Vec<Pid>> {
    static RUNNING: Mutex<Vec<Pid>> = Mutex::new(Vec::new());
    RUNNING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// While it is there, no server outlives us: whoever ends us ends them, and so does its own end.
pub struct Held;

impl Held {
    pub fn new() -> std::io::Result<Held> {
        // Whom a server has started and left comes to us, and not to the init process.
        #[cfg(target_os = "linux")]
        rustix::process::set_child_subreaper(Some(rustix::process::getpid()))?;
        // Caught and not blocked: a child would inherit the mask.
        let mut signals = Signals::new(ENDING_SIGNALS)?;
        std::thread::spawn(move || {
            if let Some(signal) = signals.forever().next() {
                // INVARIANT: nobody who hears of the end of a server by our own hand goes on to tell about it.
                ENDING.store(true, Ordering::SeqCst);
                end_all();
                std::process::exit(128 + signal);
            }
        });
        Ok(Held)
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        if ENDING.load(Ordering::SeqCst) {
            stand_aside();
        }
        end_all();
    }
}

/// The signals by which a terminal, a user or a supervisor ends a process.
pub const ENDING_SIGNALS: [i32; 4] = [SIGINT, SIGTERM, SIGHUP, SIGQUIT];

/// Whether a signal is about to end us.
static ENDING: AtomicBool = AtomicBool::new(false);

/// Ends whoever is left: groups of servers, and those who have left their group.
fn end_all() {
    for group in running().drain(..) {
        kill_process_group(group, Kill::KILL).ok();
    }
    for _ in 0..MOST_ROUNDS {
        let children = children();
        if children.is_empty() {
            return;
        }
        for child in children {
            kill_process(child, Kill::KILL).ok();
            waitpid(Some(child), WaitOptions::empty()).ok();
        }
    }
}

/// Those whose parent we are. Where the system does not tell, those in the groups are all that we know.
fn children() -> Vec<Pid> {
    let us = std::process::id().to_string();
    let processes = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let child = |entry: std::fs::DirEntry| {
        let pid = entry.file_name().to_str()?.parse().ok()?;
        let stat = std::fs::read_to_string(entry.path().join("stat")).ok()?;
        let (_, rest) = stat.rsplit_once(')')?;
        (rest.split_whitespace().nth(1)? == us).then(|| Pid::from_raw(pid))?
    };
    processes.filter_map(child).collect()
}
