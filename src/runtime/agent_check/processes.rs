//! The process table: from `/proc` where there is one, else from `ps`.

use rustix::process::{getgid, getuid};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::IsTerminal;
#[cfg(target_os = "linux")]
use std::io::{ErrorKind, Read};
use std::path::Path;

/// A terminal that processes run in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Terminal {
    /// A pseudo-terminal, by its number: `/dev/pts/3`, `/dev/ttys003`.
    Pty(u32),
    /// A console or a serial line: a device that no process has made.
    Line(u32),
}

/// A running process, as far as this user may see it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Process {
    pub pid: u32,
    /// 0 where the parent is outside of the pid namespace.
    pub parent: u32,
    /// The name that the system keeps; on Linux cut to 15 bytes.
    pub name: String,
    /// The path of the file that it runs; `None` where the system does not tell, as for another user's process.
    pub exe: Option<String>,
    /// The system does not tell `exe` although the process has the same ids as this one: it has asked for that, or it had
    /// more rights before.
    pub hides_exe: bool,
    /// The command line; empty where it cannot be read.
    pub argv: Vec<String>,
    /// Names of the variables that it was started with. Another user's process does not tell them.
    pub variables: Vec<String>,
    pub uid: u32,
    pub group: u32,
    /// The controlling terminal.
    pub terminal: Option<Terminal>,
    /// The foreground process group of the controlling terminal.
    pub foreground: Option<u32>,
    pub is_stopped: bool,
    /// Pseudo-terminals of which it holds the master side.
    pub masters: Vec<u32>,
}

/// How far a process table can be believed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(not(target_os = "linux"), expect(dead_code, reason = "only Linux tells how it sees processes"))]
pub enum TableOrigin {
    /// The kernel's own table, seen from the initial user namespace.
    #[default]
    InitialNamespace,
    /// The process is in a user namespace other than the initial one. Any user can create one, and in it a pid namespace
    /// that hides the ancestors, or a mount namespace with another `/proc`.
    NestedNamespace,
    /// `/proc` is not a procfs, or it contradicts what system calls tell of this process.
    Forged,
}

/// All processes that can be seen.
#[derive(Debug, Default)]
pub struct ProcessTable {
    processes: BTreeMap<u32, Process>,
    pub origin: TableOrigin,
    /// Whether the system hides the processes of others (`hidepid`).
    pub hides_others: bool,
}

impl ProcessTable {
    pub fn new(processes: impl IntoIterator<Item = Process>) -> Self {
        let processes = processes.into_iter().map(|process| (process.pid, process));
        ProcessTable { processes: processes.collect(), ..ProcessTable::default() }
    }

    pub fn get(&self, pid: u32) -> Option<&Process> {
        self.processes.get(&pid)
    }

    pub fn iter(&self) -> impl Iterator<Item = &Process> {
        self.processes.values()
    }

    /// The processes that hold the master side of a terminal.
    pub fn holders(&self, terminal: Terminal) -> impl Iterator<Item = &Process> {
        self.iter()
            .filter(move |process| matches!(terminal, Terminal::Pty(number) if process.masters.contains(&number)))
    }
}

/// Reads the process table. What cannot be read is missing in it.
pub fn collect() -> ProcessTable {
    // On Linux `ps` reads `/proc` too: where that is missing it has nothing to tell.
    let on_linux = cfg!(target_os = "linux");
    let mut table = if on_linux || Path::new("/proc/self/stat").exists() { from_proc() } else { from_ps() };
    table.origin = check_origin(&table);
    // A terminal that cannot be opened exists only in the table.
    let has_terminal = File::open("/dev/tty").is_ok_and(|terminal| terminal.is_terminal());
    if !has_terminal && let Some(own) = table.processes.get_mut(&std::process::id()) {
        own.terminal = None;
    }
    table
}

/// Checks the table against the kernel. A bind mount can replace `/proc` or files in it, so each file that is read has to
/// lie on a procfs, and the table's entry for this process has to agree with system calls.
#[cfg(target_os = "linux")]
fn check_origin(table: &ProcessTable) -> TableOrigin {
    use rustix::fs::{PROC_SUPER_MAGIC, fstatfs};
    use std::os::unix::process::parent_id;
    let pid = std::process::id();
    let is_procfs = |file: &File| fstatfs(file).is_ok_and(|found| found.f_type == PROC_SUPER_MAGIC);
    let is_own = |path: &str| File::open(path).is_ok_and(|file| is_procfs(&file));
    let agrees = |own: &Process| (own.parent, own.uid) == (parent_id(), getuid().as_raw());
    // A procfs of another pid namespace has another number for this process.
    let is_here = std::fs::read_link("/proc/self").is_ok_and(|own| own == Path::new(&pid.to_string()));
    let folder = format!("/proc/{pid}");
    let is_real = ["/proc", &folder, &format!("{folder}/stat")].into_iter().all(is_own);
    if !is_here || !is_real || !table.get(pid).is_some_and(agrees) {
        return TableOrigin::Forged;
    }
    match File::open(format!("{folder}/uid_map")) {
        Ok(file) if !is_procfs(&file) => TableOrigin::Forged,
        Ok(mut file) => {
            let mut map = String::new();
            if file.read_to_string(&mut map).is_ok() && is_initial(&map) {
                TableOrigin::InitialNamespace
            } else {
                TableOrigin::NestedNamespace
            }
        }
        // A kernel without user namespaces.
        Err(error) if error.kind() == ErrorKind::NotFound => TableOrigin::InitialNamespace,
        Err(_) => TableOrigin::NestedNamespace,
    }
}

#[cfg(not(target_os = "linux"))]
fn check_origin(_: &ProcessTable) -> TableOrigin {
    TableOrigin::InitialNamespace
}

/// Whether a `uid_map` is the one of the initial user namespace, which maps all ids to themselves.
#[cfg(target_os = "linux")]
fn is_initial(uid_map: &str) -> bool {
    uid_map.split_whitespace().eq(["0", "0", "4294967295"])
}

fn from_proc() -> ProcessTable {
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    let mut table = ProcessTable::new(pids.filter_map(in_proc));
    table.hides_others = table.get(1).is_none();
    table
}

fn in_proc(pid: u32) -> Option<Process> {
    let folder = format!("/proc/{pid}");
    let stat = std::fs::read(format!("{folder}/stat")).ok()?;
    let stat = String::from_utf8_lossy(&stat);
    // `12 (a name) S 11 …`: the name may hold brackets and blanks.
    let (head, rest) = stat.rsplit_once(") ")?;
    let fields: Vec<&str> = rest.split_whitespace().collect();
    let number = |at: usize| fields.get(at).and_then(|field| field.parse::<i64>().ok());
    let positive = |at: usize| number(at).and_then(|number| u32::try_from(number).ok());
    let status = std::fs::read_to_string(format!("{folder}/status")).unwrap_or_default();
    // The real, effective, saved and file system id.
    let ids = |name: &str| -> Vec<u32> {
        let line = status.lines().find_map(|line| line.strip_prefix(name)).unwrap_or_default();
        line.split_whitespace().filter_map(|id| id.parse().ok()).collect()
    };
    let (uids, gids) = (ids("Uid:"), ids("Gid:"));
    let is_alike = uids.iter().all(|id| *id == getuid().as_raw()) && gids.iter().all(|id| *id == getgid().as_raw());
    let exe = std::fs::read_link(format!("{folder}/exe")).ok().map(|exe| {
        let exe = exe.to_string_lossy();
        // The kernel marks a file that an update has replaced.
        exe.strip_suffix(" (deleted)").unwrap_or(&exe).to_owned()
    });
    Some(Process {
        pid,
        parent: positive(1)?,
        name: head.split_once('(')?.1.to_owned(),
        hides_exe: exe.is_none() && is_alike,
        exe,
        argv: texts(&format!("{folder}/cmdline")),
        variables: texts(&format!("{folder}/environ")).iter().map(|pair| variable(pair)).collect(),
        // The process has ended since: no user id.
        uid: uids.first().copied().unwrap_or(u32::MAX),
        group: positive(2)?,
        terminal: positive(4).and_then(terminal_of_device),
        foreground: positive(5),
        is_stopped: matches!(fields.first(), Some(&("T" | "t"))),
        masters: masters(&folder),
    })
}

/// The texts of a file that ends each with a zero byte.
fn texts(path: &str) -> Vec<String> {
    let bytes = std::fs::read(path).unwrap_or_default();
    let texts = bytes.split(|byte| *byte == 0).filter(|text| !text.is_empty());
    texts.map(|text| String::from_utf8_lossy(text).into_owned()).collect()
}

fn variable(pair: &str) -> String {
    pair.split_once('=').map_or(pair, |(name, _)| name).to_owned()
}

/// Decodes `tty_nr` of proc(5): bits 8 to 19 are the major number, the others the minor one.
fn terminal_of_device(device: u32) -> Option<Terminal> {
    let (major, minor) = (device >> 8 & 0xfff, device & 0xff | device >> 12 & 0xf_ff00);
    match major {
        0 => None,
        // Unix98 pseudo-terminals.
        136..=143 => Some(Terminal::Pty((major - 136) * 256 + minor)),
        _ => Some(Terminal::Line(device)),
    }
}

/// The pseudo-terminals of which a process holds the master side: the kernel tells their number in `fdinfo`.
fn masters(folder: &str) -> Vec<u32> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(format!("{folder}/fd")).into_iter().flatten().flatten() {
        let Ok(target) = std::fs::read_link(entry.path()) else { continue };
        // `/dev/ptmx`, `/dev/pts/ptmx`, and wherever else the device lies.
        if !target.to_string_lossy().contains("ptmx") {
            continue;
        }
        let name = entry.file_name();
        let info = std::fs::read_to_string(format!("{folder}/fdinfo/{}", name.to_string_lossy())).unwrap_or_default();
        let number = info.lines().find_map(|line| line.strip_prefix("tty-index:")?.trim().parse().ok());
        found.extend(number.filter(|number| !found.contains(number)));
    }
    found
}

/// Where there is no `/proc`, as on macOS: who holds a terminal is not told, nor are the environments of other users.
fn from_ps() -> ProcessTable {
    let ask = |words: &[&str]| {
        let output = std::process::Command::new("/bin/ps").args(words).output();
        output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).unwrap_or_default()
    };
    let rows = ask(&["-A", "-o", "pid=,ppid=,pgid=,tpgid=,uid=,tty=,stat=,comm="]);
    let mut table = ProcessTable::new(rows.lines().filter_map(in_ps));
    // The environment stands behind the words of the command, and neither can be told from the other. So it is asked for
    // only of those above this process, where it matters.
    let mut pid = std::process::id();
    let mut above = Vec::new();
    while let Some(process) = table.get(pid).filter(|_| !above.contains(&pid)) {
        above.push(pid);
        pid = process.parent;
    }
    let flags = if cfg!(target_os = "macos") { "-Eww" } else { "eww" };
    for pid in above {
        let Some(process) = table.processes.get_mut(&pid) else { continue };
        let pid = process.pid.to_string();
        let words = ask(&["-ww", "-o", "command=", "-p", &pid]);
        process.argv = words.split_whitespace().map(str::to_owned).collect();
        let all = ask(&[flags, "-o", "command=", "-p", &pid]);
        process.variables = all.split_whitespace().filter(|word| word.contains('=')).map(variable).collect();
    }
    table
}

fn in_ps(row: &str) -> Option<Process> {
    let mut rest = row;
    let mut next = || {
        let (field, behind) = rest.trim_start().split_once(char::is_whitespace)?;
        rest = behind;
        Some(field)
    };
    let (pid, parent, group) = (next()?.parse().ok()?, next()?.parse().ok()?, next()?.parse().ok()?);
    let (foreground, uid, terminal, state) = (next()?.parse().ok(), next()?.parse().ok()?, next()?, next()?);
    // On macOS this is a path.
    let path = rest.trim();
    Some(Process {
        pid,
        parent,
        name: path.rsplit('/').next().unwrap_or_default().to_owned(),
        exe: path.contains('/').then(|| path.to_owned()),
        uid,
        group,
        terminal: terminal_of_name(terminal),
        foreground,
        is_stopped: state.starts_with('T'),
        ..Process::default()
    })
}

/// Parses the terminal column of `ps`: `ttys003`, `pts/3`, `tty1`, `console`; `?` and `??` mean no terminal.
fn terminal_of_name(name: &str) -> Option<Terminal> {
    if name.starts_with('?') || name == "-" {
        return None;
    }
    let pty = name.strip_prefix("pts/").or_else(|| name.strip_prefix("ttys"));
    let digits = name.trim_start_matches(|c: char| !c.is_ascii_digit());
    match pty.map(str::parse) {
        Some(Ok(number)) => Some(Terminal::Pty(number)),
        Some(Err(_)) => None,
        None => Some(Terminal::Line(digits.parse().unwrap_or_default())),
    }
}

#[cfg(test)]
#[path = "../../../tests/unit/runtime/agent_check/processes.rs"]
mod tests;
