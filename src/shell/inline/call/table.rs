//! The effects of library calls by name.

/// The effect of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CallEffect {
    /// Runs shell text, or a program with its arguments.
    Run,
    /// Runs a program with a list of arguments.
    Spawn,
    Delete,
    Write,
    /// Reads, or writes if the mode says so.
    Open,
    Move,
    Copy,
    Fetch,
    Send,
    Read,
    /// Runs something that its arguments do not determine.
    Unknown,
    /// Writes to the object that it is called on.
    WriteObject,
    /// Returns a function by its name.
    Lookup,
}

/// Calls by the last component of their name: `os.system` and `system` are treated alike.
const CALLS: [(CallEffect, &[&str]); 13] = [
    (
        CallEffect::Run,
        &[
            "system", "popen", "popen2", "popen3", "getoutput", "getstatusoutput", "run", "call", "check_call",
            "check_output", "Popen", "exec", "execSync", "shell_exec", "passthru", "proc_open", "capture2",
            "capture2e", "capture3", "create_subprocess_shell", "execute", "sh", "shell",
        ],
    ),
    (
        CallEffect::Spawn,
        &[
            "spawn", "spawnSync", "execFile", "execFileSync", "execl", "execlp", "execv", "execvp", "execve", "spawnl",
            "spawnv", "create_subprocess_exec", "cmd", "Command",
        ],
    ),
    (
        CallEffect::Delete,
        &[
            "rmtree", "remove", "unlink", "unlinkSync", "rmdir", "rmdirSync", "removedirs", "rm", "rmSync", "rm_rf",
            "rm_r", "rm_f", "delete", "remove_tree", "removeSync", "remove_entry",
        ],
    ),
    (
        CallEffect::Write,
        &[
            "writeFile", "writeFileSync", "appendFile", "appendFileSync", "createWriteStream", "file_put_contents",
            "write", "outputFileSync",
        ],
    ),
    (CallEffect::Open, &["open", "fopen"]),
    (CallEffect::Move, &["rename", "renameSync", "move", "replace"]),
    (CallEffect::Copy, &["copy", "copyfile", "copyFileSync", "symlink", "symlinkSync", "cpSync", "copytree", "copy2"]),
    (CallEffect::Fetch, &["urlopen", "urlretrieve", "fetch", "HTTPSConnection", "HTTPConnection"]),
    (CallEffect::Send, &["sendall", "create_connection", "SMTP", "fsockopen", "connect", "lookup"]),
    (
        CallEffect::Unknown,
        &["fork", "eval", "spawnlp", "spawnvp", "posix_spawn", "posix_spawnp", "call_user_func", "pcntl_exec"],
    ),
    (CallEffect::WriteObject, &["write_text", "write_bytes"]),
    (CallEffect::Lookup, &["getattr"]),
    (
        CallEffect::Read,
        &[
            "readFileSync", "readFile", "file_get_contents", "readTextFile", "readTextFileSync", "createReadStream",
            "binread", "foreach", "read", "readlines", "readfile",
        ],
    ),
];

/// Returns the effect of a call by the last component of its name.
pub(super) fn effect_of(name: &str) -> Option<CallEffect> {
    CALLS.iter().find(|(_, names)| names.contains(&name)).map(|(effect, _)| *effect)
}

/// Names that count only with one of these modules or classes before them.
pub(super) const QUALIFIED: [(&str, &[&str]); 22] = [
    ("read", &["File", "IO"]),
    ("readlines", &["File", "IO"]),
    ("foreach", &["File", "IO"]),
    ("run", &["subprocess"]),
    ("call", &["subprocess"]),
    ("remove", &["os", "fs", "pathlib", "Deno"]),
    ("delete", &["File", "Dir", "FileUtils"]),
    ("rm", &["fs", "File", "FileUtils", "fs.promises", "shelljs", "rimraf"]),
    ("move", &["shutil"]),
    ("copy", &["shutil", "FileUtils"]),
    ("spawn", &["child_process", "pty", "cp", "Process", "Bun", "Kernel", "shelljs"]),
    ("open", &["", "File", "io", "codecs", "fs", "os", "URI"]),
    ("exec", &["", "child_process", "cp", "Kernel", "require", "shelljs"]),
    ("execute", &["os"]),
    ("cmd", &["System", "os"]),
    ("shell", &["System"]),
    ("connect", &["socket", "net", "tls", "s", "sock", "client"]),
    ("lookup", &["dns"]),
    ("write", &["File", "IO", "fs"]),
    ("eval", &[""]),
    ("replace", &["os"]),
    ("Command", &["Deno"]),
];
