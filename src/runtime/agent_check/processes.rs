//! Reads the process table, from `/proc` or from `ps`.

use rustix::process::{getgid, getuid};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::IsTerminal;
#[cfg(target_os = "linux")]
use std::io::{ErrorKind, Read};
use std::path::Path;

/// A controlling terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Terminal {
    /// A pseudo-terminal, by its number: 3 for `/dev/pts/3` and `/dev/ttys003`.
    Pty(u32),
    /// A console or a serial line.
    Line(u32),
}

/// A running process, as far as this user can see it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Process {
    pub pid: u32,
    /// 0 if the parent is outside of the pid namespace.
    pub parent: u32,
    /// The name in the process table; on Linux truncated to 15 bytes.
    pub name: String,
    /// The path of the executable; `None` if it cannot be read, as for another user's process.
    pub exe: Option<String>,
    /// Whether `exe` cannot be read although the process has the same ids as this one. Such a process is not dumpable,
    /// by its own choice or because it had other privileges before.
    pub hides_exe: bool,
    /// The command line; empty if it cannot be read.
    pub argv: Vec<String>,
    /// Names of the environment variables that it was started with; empty for another user's process.
    pub variables: Vec<String>,
    pub uid: u32,
    pub group: u32,
    pub terminal: Option<Terminal>,
    /// The foreground process group of the controlling terminal.
    pub foreground: Option<u32>,
    pub is_stopped: bool,
    /// Pseudo-terminals whose master side it holds.
    pub masters: Vec<u32>,
}

/// Where a process table comes from, which decides whether it can be trusted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(not(target_os = "linux"), expect(dead_code, reason = "only Linux has other origins"))]
pub enum TableOrigin {
    /// The kernel, seen from the initial user namespace.
    #[default]
    InitialNamespace,
    /// The kernel, seen from another user namespace. Any user can create one, and in it a pid namespace that hides the
    /// ancestors, or a mount namespace with another `/proc`.
    NestedNamespace,
    /// Not the kernel: `/proc` is not a procfs, or it contradicts system calls about this process.
    Forged,
}

/// All visible processes.
#[derive(Debug, Default)]
pub struct ProcessTable {
    processes: BTreeMap<u32, Process>,
    pub origin: TableOrigin,
    /// Whether the processes of other users are hidden (`hidepid`).
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

/// Reads the process table. Processes that cannot be read are missing.
pub fn collect() -> ProcessTable {
    // On Linux `ps` reads `/proc` as well, so it is no alternative.
    let on_linux = cfg!(target_os = "linux");
    let mut table = if on_linux || Path::new("/proc/self/stat").exists() { from_proc() } else { from_ps() };
    table.origin = check_origin(&table);
    // A terminal that cannot be opened is not a controlling terminal, whatever the table says.
    let has_terminal = File::open("/dev/tty").is_ok_and(|terminal| terminal.is_terminal());
    if !has_terminal && let Some(own) = table.processes.get_mut(&std::process::id()) {
        own.terminal = None;
    }
    table
}

/// Checks the table against the kernel. A bind mount can replace `/proc` or files in it, so each file that is read has to
/// be on a procfs, and the table's entry for this process has to agree with system calls.
#[cfg(target_os = "linux")]
fn check_origin(table: &ProcessTable) -> TableOrigin {
    use rustix::fs::{PROC_SUPER_MAGIC, fstatfs};
    use std::os::unix::process::parent_id;
    let pid = std::process::id();
    let is_procfs = |file: &File| fstatfs(file).is_ok_and(|found| found.f_type == PROC_SUPER_MAGIC);
    let is_genuine = |path: &str| File::open(path).is_ok_and(|file| is_procfs(&file));
    let agrees = |own: &Process| (own.parent, own.uid) == (parent_id(), getuid().as_raw());
    // A procfs of another pid namespace has another number for this process.
    let is_here = std::fs::read_link("/proc/self").is_ok_and(|own| own == Path::new(&pid.to_string()));
    let folder = format!("/proc/{pid}");
    let is_real = ["/proc", &folder, &format!("{folder}/stat")].into_iter().all(is_genuine);
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
        // The kernel has no user namespaces.
        Err(error) if error.kind() == ErrorKind::NotFound => TableOrigin::InitialNamespace,
        Err(_) => TableOrigin::NestedNamespace,
    }
}

#[cfg(not(target_os = "linux"))]
fn check_origin(_: &ProcessTable) -> TableOrigin {
    TableOrigin::InitialNamespace
}

/// Whether a `uid_map` is that of the initial user namespace, which maps all ids to themselves.
#[cfg(target_os = "linux")]
fn is_initial(uid_map: &str) -> bool {
    uid_map.split_whitespace().eq(["0", "0", "4294967295"])
}

fn from_proc() -> ProcessTable {
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    let mut table = ProcessTable::new(pids.filter_map(read_proc));
    table.hides_others = table.get(1).is_none();
    table
}

fn read_proc(pid: u32) -> Option<Process> {
    let folder = format!("/proc/{pid}");
    let stat = std::fs::read(format!("{folder}/stat")).ok()?;
    let stat = String::from_utf8_lossy(&stat);
    // `12 (a name) S 11 …`: the name may contain brackets and spaces.
    let (head, rest) = stat.rsplit_once(") ")?;
    let fields: Vec<&str> = rest.split_whitespace().collect();
    let number = |at: usize| fields.get(at).and_then(|field| field.parse::<i64>().ok());
    let positive = |at: usize| number(at).and_then(|number| u32::try_from(number).ok());
    let status = std::fs::read_to_string(format!("{folder}/status")).unwrap_or_default();
    // The real, effective, saved and filesystem id.
    let ids = |name: &str| -> Vec<u32> {
        let line = status.lines().find_map(|line| line.strip_prefix(name)).unwrap_or_default();
        line.split_whitespace().filter_map(|id| id.parse().ok()).collect()
    };
    let (uids, gids) = (ids("Uid:"), ids("Gid:"));
    let has_same_ids = uids.iter().all(|id| *id == getuid().as_raw()) && gids.iter().all(|id| *id == getgid().as_raw());
    let exe = std::fs::read_link(format!("{folder}/exe")).ok().map(|exe| {
        let exe = exe.to_string_lossy();
        // The kernel marks an executable that was replaced, for example by an update.
        exe.strip_suffix(" (deleted)").unwrap_or(&exe).to_owned()
    });
    Some(Process {
        pid,
        parent: positive(1)?,
        name: head.split_once('(')?.1.to_owned(),
        hides_exe: exe.is_none() && has_same_ids,
        exe,
        argv: read_strings(&format!("{folder}/cmdline")),
        variables: read_strings(&format!("{folder}/environ")).iter().map(|pair| variable_name(pair)).collect(),
        // Unknown if the process has ended in the meantime.
        uid: uids.first().copied().unwrap_or(u32::MAX),
        group: positive(2)?,
        terminal: positive(4).and_then(terminal_of_device),
        foreground: positive(5),
        is_stopped: matches!(fields.first(), Some(&("T" | "t"))),
        masters: read_masters(&folder),
    })
}

/// Reads a file of strings that are separated by zero bytes.
fn read_strings(path: &str) -> Vec<String> {
    let bytes = std::fs::read(path).unwrap_or_default();
    let strings = bytes.split(|byte| *byte == 0).filter(|text| !text.is_empty());
    strings.map(|text| String::from_utf8_lossy(text).into_owned()).collect()
}

fn variable_name(pair: &str) -> String {
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

/// The pseudo-terminals whose master side a process holds. Their numbers are in `fdinfo`.
fn read_masters(folder: &str) -> Vec<u32> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(format!("{folder}/fd")).into_iter().flatten().flatten() {
        let Ok(target) = std::fs::read_link(entry.path()) else { continue };
        // `/dev/ptmx`, `/dev/pts/ptmx`, or the device below another name.
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

/// Reads the table where there is no `/proc`, as on macOS. Holders of terminals and environments of other users are unknown.
fn from_ps() -> ProcessTable {
    let ps = |words: &[&str]| {
        let output = std::process::Command::new("/bin/ps").args(words).output();
        output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).unwrap_or_default()
    };
    let rows = ps(&["-A", "-o", "pid=,ppid=,pgid=,tpgid=,uid=,tty=,stat=,comm="]);
    let mut table = ProcessTable::new(rows.lines().filter_map(parse_ps_row));
    // Only the ancestors of this process need a command line and an environment. `ps` prints both on one line, without
    // a separator.
    let mut pid = std::process::id();
    let mut ancestors = Vec::new();
    while let Some(process) = table.get(pid).filter(|_| !ancestors.contains(&pid)) {
        ancestors.push(pid);
        pid = process.parent;
    }
    let flags = if cfg!(target_os = "macos") { "-Eww" } else { "eww" };
    for pid in ancestors {
        let Some(process) = table.processes.get_mut(&pid) else { continue };
        let pid = process.pid.to_string();
        let words = ps(&["-ww", "-o", "command=", "-p", &pid]);
        process.argv = words.split_whitespace().map(str::to_owned).collect();
        let all = ps(&[flags, "-o", "command=", "-p", &pid]);
        process.variables = all.split_whitespace().filter(|word| word.contains('=')).map(variable_name).collect();
    }
    table
}

fn parse_ps_row(row: &str) -> Option<Process> {
    let mut rest = row;
    let mut next = || {
        let (field, after) = rest.trim_start().split_once(char::is_whitespace)?;
        rest = after;
        Some(field)
    };
    let (pid, parent, group) = (next()?.parse().ok()?, next()?.parse().ok()?, next()?.parse().ok()?);
    let (foreground, uid, terminal, state) = (next()?.parse().ok(), next()?.parse().ok()?, next()?, next()?);
    // A path on macOS, a name elsewhere.
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
