//! The person check: commands that loosen the guard work for a person in a terminal multiplexer and for no other process.

use crate::support::sandbox::terminal::Stdin;
use crate::support::sandbox::{Output, Sandbox, after, hash_in, make_pipe};
use crate::support::snapshot;
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use serde_json::json;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

const RUNE: &str = env!("CARGO_BIN_EXE_rune");

/// A home for the loosening commands: a strict guard, a recorded server, a configured server and a tainted session.
fn home() -> Sandbox {
    let home = Sandbox::new();
    assert_eq!(home.run(&["hooks", "install", "--preset", "strict"], "").exit, 0);
    let list = json!({"tools": [{"name": "echo", "description": "Says it", "inputSchema": {"type": "object"}}]});
    home.write("list.json", &list.to_string());
    let servers = json!({"mcpServers": {"demo": {"command": "/bin/false", "args": []}}});
    home.write(".claude.json", &servers.to_string());
    assert_eq!(home.run_as_person(&["mcp", "import", "list.json", "--server", "demo"]).exit, 0);
    let page = after("WebFetch", json!({"url": "https://example.com/"}), json!("text"));
    assert_eq!(home.run(&["hook", "post", "--preset", "strict"], page).exit, 0);
    assert!(home.path(".local/state/rune/sessions/s1").exists());
    start(&home);
    home
}

/// Starts a session and returns the message for the person.
fn start(home: &Sandbox) -> String {
    let event = json!({"session_id": "s2", "cwd": "/proj", "hook_event_name": "SessionStart", "source": "startup"});
    let output = home.run(&["hook", "--preset", "gentle"], event.to_string());
    if output.stdout.is_empty() { String::new() } else { output.json()["systemMessage"].as_str().unwrap().to_owned() }
}

/// Every command that loosens the guard, with `--yes` where it would ask.
fn loosening_commands(home: &Sandbox) -> Vec<Vec<String>> {
    let shown = home.run_as_person(&["mcp", "approve", "--yes", "demo"]);
    let hash = hash_in(&shown.stdout);
    let lines = [
        "person",
        "mcp probe --yes",
        "mcp import list.json --server demo",
        &format!("mcp approve demo --yes --hash {hash}"),
        "mcp unblock demo --yes",
        "mcp wrap --install demo",
        "mcp wrap --uninstall demo",
        "quarantine clear --session s1 --yes",
        "allow git-force-push --match x --reason y --yes",
        "pause 1m --yes",
        "receipts key rotate --yes",
        "hooks install --preset strict --config-dir elsewhere",
        "hooks install --preset gentle --yes",
        "hooks uninstall --yes",
    ];
    lines.iter().map(|line| line.split(' ').map(str::to_owned).collect()).collect()
}

/// A script that exits at once and leaves a process behind. This process waits for a signal, then uninstalls the guard.
struct Orphan {
    /// Outside of the home, because the files of the home are compared.
    folder: TempDir,
}

impl Orphan {
    fn new() -> Orphan {
        let orphan = Orphan { folder: tempfile::tempdir().unwrap() };
        let pipes = [orphan.file("go"), orphan.file("end")];
        pipes.iter().for_each(make_pipe);
        let [go, end] = pipes.map(|pipe| pipe.display().to_string());
        let script = format!("(read -r _ <'{go}'; '{RUNE}' hooks uninstall --yes; echo $? >'{end}') &\n");
        std::fs::write(orphan.file("orphan.sh"), script).unwrap();
        orphan
    }

    fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// A shell command: starts the script, waits for it, signals the orphan, and exits with its code.
    fn lines(&self, start: &str) -> String {
        let [script, go, end] = ["orphan.sh", "go", "end"].map(|name| self.file(name).display().to_string());
        format!("{start} '{script}'; echo go >'{go}'; read -r code <'{end}'; exit \"$code\"")
    }
}

#[track_caller]
fn assert_refused(home: &Sandbox, before: &[u8], output: &Output) {
    assert!(output.is_refused_to_agents(), "{output:?}");
    assert!(home.all_files() == before, "a file has changed: {output:?}");
}

/// Attempts that are refused, and the output of each.
struct Refusals<'a> {
    home: &'a Sandbox,
    before: Vec<u8>,
    text: String,
}

impl Refusals<'_> {
    fn of(home: &Sandbox) -> Refusals<'_> {
        Refusals { home, before: home.all_files(), text: String::new() }
    }

    #[track_caller]
    fn add(&mut self, attempt: &str, output: &Output) {
        assert_refused(self.home, &self.before, output);
        self.text += &format!("# {attempt}\n{}\n", output.combined().replace('\r', "").trim());
    }

    fn check(self, name: &str) {
        snapshot::check(name, &snapshot::redact(self.home, &self.text));
    }
}

#[test]
fn a_person_in_a_multiplexer_may_loosen_and_the_next_session_reports_it() {
    let home = home();
    assert_eq!(start(&home), "", "reported once only");
    for words in loosening_commands(&home) {
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let output = home.run_as_person(&words);
        // The configured server does not answer, so the probe fails.
        assert_eq!(output.exit, i32::from(words.contains(&"probe")), "{words:?}: {output:?}");
        let verb = if words.contains(&"wrap") { words[..3].join(" ") } else { words[..words.len().min(2)].join(" ") };
        let verb = if words.contains(&"rotate") { "receipts key rotate".to_owned() } else { verb };
        let verb = if matches!(words[0], "allow" | "pause") { words[0].to_owned() } else { verb };
        let message = start(&home);
        assert!(!message.contains('\n') && message.contains(&format!("`rune {verb}`")), "{words:?}: {message}");
        assert!(!message.contains("s1"), "{message}");
    }
    let shown = home.run(&["receipts", "show", "rune:operator"], "").stdout;
    assert!(shown.contains("hooks uninstall"), "{shown}");
}

#[test]
fn the_receipt_of_an_uninstallation_is_in_the_registered_directories() {
    let home = home();
    let output =
        home.run_as_person(&["hooks", "uninstall", "--yes", "--state-dir", "elsewhere", "--data-dir", "elsewhere"]);
    assert_eq!(output.exit, 0, "{output:?}");
    assert!(start(&home).contains("`rune hooks uninstall`"));
    assert!(!home.path("elsewhere").exists());
}

#[test]
fn no_command_loosens_without_a_terminal() {
    let home = home();
    let commands = loosening_commands(&home);
    let before = home.all_files();
    for words in &commands {
        let line = words.join(" ");
        assert_refused(&home, &before, &home.run_orphan(&format!("\"$0\" {line}")));
    }
    // A copy of the binary under another name checks as well.
    let copy = tempfile::tempdir().unwrap();
    let copy = copy.path().join("r");
    std::fs::copy(RUNE, &copy).unwrap();
    let output = home.run_orphan(&format!("'{}' quarantine clear --session s1 --yes", copy.display()));
    assert_refused(&home, &before, &output);
}

#[test]
fn a_new_session_or_a_new_terminal_does_not_pass_the_check() {
    let home = home();
    let orphan = Orphan::new();
    let spawn = "import os, pty, sys\nsys.exit(os.waitstatus_to_exitcode(pty.spawn(['/bin/sh', '-c', sys.argv[1]])))\n";
    let spawn = home.write("tmux-x.py", spawn);
    let script = home.write("setup.sh", &format!("'{RUNE}' mcp probe --yes && '{RUNE}' mcp approve demo --yes\n"));
    let mut refusals = Refusals::of(&home);
    let script = script.display();
    // `setsid --fork` as in a real attack; `--wait` returns its exit code.
    let output = home.run_orphan(&format!("setsid --fork --wait env -i PATH=/usr/bin:/bin sh '{script}'"));
    refusals.add("setsid", &output);
    let output = home.run_orphan("env -i PATH=/usr/bin:/bin script -qec \"$0 hooks uninstall --yes\" /dev/null");
    refusals.add("script", &output);
    // The names and arguments of terminals do not make a program one.
    let python = format!("python3 '{}' \"$0 hooks uninstall --yes\"", spawn.display());
    for (attempt, line) in [
        ("script as st", "bash -c 'exec -a st script -qec \"$0 hooks uninstall --yes\" /dev/null' \"$0\""),
        ("python", &python),
        ("python --type=ptyHost", &format!("{python} --type=ptyHost")),
        ("python com.intellij.idea.Main", &format!("{python} com.intellij.idea.Main")),
    ] {
        refusals.add(attempt, &home.run_orphan(line));
    }
    // The agent is an ancestor, known by its environment variable.
    let output = home.run_orphan("CLAUDECODE=1 script -qec \"env -i HOME=$HOME $0 hooks uninstall --yes\" /dev/null");
    refusals.add("script below an agent", &output);
    // The process is an orphan in the new terminal. Only the holder of the terminal has the agent as ancestor.
    let line = orphan.lines("env -i HOME=\"$HOME\" sh").replace('\'', "'\\''");
    let output = home.run_orphan(&format!("CLAUDECODE=1 script -qec '{line}' /dev/null"));
    refusals.add("an orphan in a terminal of an agent", &output);
    refusals.check("refused-new-terminal");
}

#[test]
fn a_namespace_that_hides_the_agent_does_not_pass_the_check() {
    let home = home();
    let mut refusals = Refusals::of(&home);
    let mut attempts = Vec::new();
    for namespaces in ["-Urpf --mount-proc", "-Urm", "-Ur"] {
        let line = format!("unshare {namespaces} env -i HOME=$HOME $0 hooks uninstall --yes");
        attempts.push((format!("unshare {namespaces}"), line));
    }
    // With the process table of the outer namespace, and with files mounted over the process table.
    let copy = "mount -t tmpfs x /mnt && mkdir /mnt/\\$\\$ && cat /proc/\\$\\$/stat >/mnt/\\$\\$/stat && \
                cat /proc/\\$\\$/status >/mnt/\\$\\$/status && mount --bind /mnt /proc &&";
    for (namespaces, first) in [("-Urpf", ""), ("-Urm", copy)] {
        let line = format!("unshare {namespaces} sh -c '{first} exec env -i HOME=$HOME $0 hooks uninstall --yes'");
        attempts.push((format!("unshare {namespaces} with another process table"), line));
    }
    // Where the kernel forbids user namespaces, `unshare` fails before `rune` runs. Then only the files are compared.
    let are_allowed = home.run_orphan("unshare -Urpf --mount-proc true").exit == 0;
    for (attempt, line) in attempts {
        let output =
            home.run_orphan(&format!("env -i HOME=\"$HOME\" PATH=/usr/bin:/bin script -qec \"{line}\" /dev/null"));
        if are_allowed {
            refusals.add(&attempt, &output);
        } else {
            assert!(output.exit != 0 && home.all_files() == refusals.before, "{attempt}: {output:?}");
        }
    }
    if are_allowed {
        refusals.check("refused-namespace");
    }
}

#[test]
fn a_terminal_that_another_program_holds_does_not_pass_the_check() {
    let home = home();
    let before = home.all_files();
    let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&master).unwrap();
    unlockpt(&master).unwrap();
    let name = ptsname(&master, Vec::new()).unwrap().into_string().unwrap();
    let line = format!("setsid --ctty --wait \"$0\" hooks uninstall --yes <'{name}' >'{name}' 2>&1");
    let mut output = home.run_orphan(&line);
    let mut bytes = [0; 4096];
    let count = File::from(master).read(&mut bytes).unwrap();
    output.stdout.push_str(&String::from_utf8_lossy(&bytes[..count]));
    assert_refused(&home, &before, &output);
}

#[test]
fn an_agent_in_a_multiplexer_does_not_pass_the_check() {
    let home = home();
    let orphan = Orphan::new();
    let agent = home.path("claude");
    std::fs::copy("/bin/sh", &agent).unwrap();
    let agent = agent.to_str().unwrap();
    let mut refusals = Refusals::of(&home);
    let run = |line: &str| {
        home.start_program_as_person(home.home.path(), Stdin::Terminal, &[agent, "-c", line, RUNE]).finish()
    };
    refusals.add("a child of the agent", &run("\"$0\" hooks uninstall; exit $?"));
    // The orphan has no ancestors, but the agent runs in the same terminal.
    refusals.add("an orphan in the agent's terminal", &run(&orphan.lines("/bin/sh")));
    // A multiplexer that an agent has started has the agent's environment variable.
    let line = [RUNE, "hooks", "uninstall", "--yes"];
    let output = home.start_with_variables(home.home.path(), Stdin::Terminal, &[("CLAUDECODE", "1")], &line).finish();
    refusals.add("a multiplexer that an agent started", &output);
    refusals.check("refused-agent-in-multiplexer");
}

#[test]
fn a_background_job_does_not_pass_the_check() {
    let home = home();
    let before = home.all_files();
    let line = ["/bin/bash", "-c", "set -m; \"$0\" hooks uninstall --yes & wait $!", RUNE];
    let output = home.start_program_as_person(home.home.path(), Stdin::Null, &line).finish();
    assert_refused(&home, &before, &output);
}

#[test]
fn a_script_that_a_person_runs_passes_the_check() {
    let home = home();
    let folder = Path::new("/");
    for line in [
        &["/usr/bin/script", "-qec", &format!("{RUNE} person"), "/dev/null"][..],
        &["/bin/sh", "-c", &format!("x=$({RUNE} person 2>&1) && echo $x | cat")],
        &["/usr/bin/env", "-i", &format!("HOME={}", home.home.path().display()), RUNE, "person", "replacing the guard"],
    ] {
        let output = home.start_program_as_person(folder, Stdin::Terminal, line).finish();
        assert_eq!(output.exit, 0, "{line:?}: {output:?}");
    }
}
