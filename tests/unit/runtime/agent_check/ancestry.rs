//! Unit tests of `src/runtime/agent_check/ancestry.rs`, on synthetic process trees.

use super::*;

const DEV: u32 = 1000;
const PTS: Terminal = Terminal::Pty(3);

/// A process with its own process group and without a terminal.
fn process(pid: u32, parent: u32, name: &str) -> Process {
    Process { pid, parent, name: name.to_owned(), uid: DEV, group: pid, ..Process::default() }
}

fn init() -> Process {
    Process { uid: 0, argv: words("/sbin/init"), ..process(1, 0, "systemd") }
}

fn words(line: &str) -> Vec<String> {
    line.split_whitespace().map(str::to_owned).collect()
}

impl Process {
    fn root(self) -> Self {
        Process { uid: 0, ..self }
    }

    fn argv(self, line: &str) -> Self {
        Process { argv: words(line), ..self }
    }

    fn exe(self, path: &str) -> Self {
        Process { exe: Some(path.to_owned()), ..self }
    }

    fn variable(self, name: &str) -> Self {
        Process { variables: vec!["PATH".to_owned(), name.to_owned()], ..self }
    }

    /// In a terminal, whose foreground is `foreground`.
    fn at(self, terminal: Terminal, foreground: u32) -> Self {
        Process { terminal: Some(terminal), foreground: Some(foreground), ..self }
    }

    /// In the foreground of `PTS`.
    fn front(self) -> Self {
        let pid = self.pid;
        self.at(PTS, pid)
    }

    fn holds(self, number: u32) -> Self {
        Process { masters: vec![number], ..self }
    }

    fn stopped(self) -> Self {
        Process { is_stopped: true, ..self }
    }
}

/// `rune` as process 100 below 50, in the foreground of `PTS`.
fn rune() -> Process {
    process(100, 50, "rune").front()
}

/// An interactive shell as process 50.
fn shell(parent: u32) -> Process {
    process(50, parent, "bash").argv("-bash").at(PTS, 100)
}

fn judge<const N: usize>(processes: [Process; N]) -> Result<(), Refusal> {
    check_person(&ProcessTable::new(processes.into_iter().chain([init()])), 100)
}

#[track_caller]
fn assert_agent<const N: usize>(sign: &str, processes: [Process; N]) {
    match judge(processes) {
        Err(Refusal::Agent(text)) => assert!(text.contains(sign), "{text}"),
        other => panic!("{other:?}"),
    }
}

#[track_caller]
fn assert_holder<const N: usize>(holder: u32, processes: [Process; N]) {
    match judge(processes) {
        Err(Refusal::Holder { pid, .. }) => assert_eq!(pid, holder),
        other => panic!("{other:?}"),
    }
}

// --- people

#[test]
fn a_person_in_a_terminal_emulator() {
    for name in ["kitty", "alacritty", "gnome-terminal-", "konsole", "xterm", "foot", "ghostty", "wezterm-gui", "st"] {
        let systemd = process(10, 1, "systemd").argv("/usr/lib/systemd/systemd --user");
        assert_eq!(judge([rune(), shell(20), process(20, 10, name).holds(3), systemd]), Ok(()), "{name}");
    }
}

#[test]
fn a_person_in_the_terminal_of_an_editor() {
    let server = "/home/dev/.vscode-server/cli/servers/x/server";
    let script = format!("{server}/node {server}/out/bootstrap-fork --type=ptyHost --logsLevel=1");
    let (server, jbr) = (format!("{server}/node"), "/opt/idea/jbr/bin/java");
    let lines = [
        (
            "code",
            "/usr/share/code/code",
            "/usr/share/code/code --type=utility --utility-sub-type=node.mojom.NodeService",
        ),
        ("node-MainThread", &server, &script),
        ("java", jbr, "/opt/idea/jbr/bin/java -Xmx2g com.intellij.idea.Main"),
        ("emacs", "/usr/bin/emacs-gtk", "emacs"),
        ("python3", "/usr/bin/python3.12", "/usr/bin/python3 /usr/bin/terminator"),
        ("guake", "/usr/bin/python3.13", "/usr/bin/python3 -sP /usr/bin/guake"),
        ("kitty", "/nix/store/x-kitty/bin/.kitty-wrapped", "kitty"),
        ("tmux: server", "/usr/bin/tmux", "tmux new-session -d"),
    ];
    for (name, exe, line) in lines {
        let above = process(19, 1, "MainThread");
        let table = [rune(), shell(20), process(20, 19, name).exe(exe).argv(line).holds(3), above];
        assert_eq!(judge(table), Ok(()), "{name}");
    }
}

#[test]
fn a_program_that_calls_itself_a_terminal() {
    let lines = [
        // `exec -a st script …`, and names that a process has set.
        ("script", "/usr/bin/script", "st -qec x"),
        ("kitty", "/usr/bin/python3.12", "kitty"),
        ("tmux: server", "/usr/bin/perl", "tmux"),
        ("sshd", "/usr/bin/script", "sshd: dev@pts/3"),
        // The name of a script.
        ("python3", "/usr/bin/python3.12", "python3 tmux-x.py"),
        ("python3", "/usr/bin/python3.12", "python3 /home/dev/terminator"),
        ("python3", "/usr/bin/python3.12", "python3 -cimport /usr/bin/terminator"),
        ("python3", "/usr/bin/python3.12", "python3 /usr/../home/dev/terminator"),
        ("python3", "/home/dev/python3", "/usr/bin/python3 /usr/bin/terminator"),
        // The arguments of an editor.
        ("python3", "/usr/bin/python3.12", "python3 x.py --type=ptyHost"),
        ("script", "/usr/bin/script", "script -qec x --type=ptyHost"),
        ("bash", "/usr/bin/bash", "bash x.sh com.intellij.idea.Main"),
        ("node", "/usr/bin/node", "node /home/dev/out/bootstrap-fork --type=ptyHost"),
        ("java", "/usr/lib/jvm/21/bin/java", "java -cp x com.intellij.idea.Main"),
    ];
    // A process that is not dumpable: its executable and its files are hidden.
    let hidden = Process { hides_exe: true, ..process(40, 1, "kitty") };
    assert_eq!(judge([rune(), shell(40), hidden]), Err(Refusal::Orphan));
    for (name, exe, line) in lines {
        assert_holder(40, [rune(), shell(40), process(40, 1, name).exe(exe).argv(line).holds(3)]);
        let unseen = process(40, 1, name).exe(exe).argv(line);
        assert_eq!(judge([rune(), shell(40), unseen]), Err(Refusal::Orphan), "{line}");
    }
}

#[test]
fn a_person_over_ssh_whose_server_is_hidden() {
    for name in ["sshd", "sshd-session"] {
        // It was root, and its executable is hidden.
        let served = Process { hides_exe: true, ..process(20, 19, name).argv("sshd:") };
        let table = [rune(), shell(20), served, process(19, 18, name).root(), process(18, 1, "sshd").root()];
        assert_eq!(judge(table), Ok(()), "{name}");
    }
    // A login program that any user has started is not a login.
    assert_eq!(judge([rune(), shell(20), process(20, 19, "sshd"), process(19, 1, "sh")]), Err(Refusal::Orphan));
}

#[test]
fn a_person_in_tmux_or_screen() {
    for name in ["tmux: server", "screen", "SCREEN", "zellij", "mosh-server"] {
        assert_eq!(judge([rune(), shell(20), process(20, 1, name).holds(3)]), Ok(()), "{name}");
    }
    // `screen` is setgid on Debian, so its files are hidden.
    assert_eq!(judge([rune(), shell(20), process(20, 1, "screen")]), Ok(()));
}

#[test]
fn a_person_at_the_console_or_in_wsl() {
    let console = Terminal::Line(1025);
    let login = process(20, 1, "login").root().argv("/bin/login -p --");
    let table = [
        process(100, 50, "rune").at(console, 100),
        process(50, 20, "bash").argv("-bash").at(console, 100),
        login.at(console, 100),
    ];
    assert_eq!(judge(table), Ok(()));
    // A process that can open the device can make it the controlling terminal of a new session.
    let taken = [process(100, 50, "rune").at(console, 100), process(50, 1, "sh").at(console, 100)];
    assert_eq!(judge(taken), Err(Refusal::Orphan));
    let relay = process(20, 19, "Relay(50)").root().argv("/init");
    assert_eq!(judge([rune(), shell(20), relay, process(19, 1, "SessionLeader").root()]), Ok(()));
}

#[test]
fn a_person_in_a_container() {
    // `docker exec -it`: the parent and the holder are outside of the namespace.
    assert_eq!(judge([rune(), shell(0)]), Ok(()));
    // `docker run -it`: the shell is the first process.
    let table = ProcessTable::new([process(100, 1, "rune").front(), process(1, 0, "bash").at(PTS, 100)]);
    assert_eq!(check_person(&table, 100), Ok(()));
    // A terminal that was opened inside, whose holder is hidden, does not count.
    let table = ProcessTable::new([rune(), shell(1), process(1, 0, "bash").at(Terminal::Pty(0), 1)]);
    assert_eq!(check_person(&table, 100), Err(Refusal::Orphan));
}

#[test]
fn a_person_behind_sudo_or_script_in_a_terminal_emulator() {
    for name in ["sudo", "script", "asciinema", "systemd-run"] {
        let outer = Terminal::Pty(0);
        let holder = process(30, 40, name).at(outer, 30).holds(3);
        let emulator = process(20, 1, "kitty").holds(0);
        assert_eq!(
            judge([rune(), shell(30), holder, process(40, 20, "bash").at(outer, 30), emulator]),
            Ok(()),
            "{name}"
        );
    }
}

#[test]
fn a_person_where_processes_of_other_users_are_hidden() {
    let mut table = ProcessTable::new([rune(), shell(20)]);
    table.hides_others = true;
    assert_eq!(check_person(&table, 100), Ok(()));
    // An orphan's parent is the first process, hidden or not.
    let mut table = ProcessTable::new([rune(), shell(1)]);
    table.hides_others = true;
    assert_eq!(check_person(&table, 100), Err(Refusal::Orphan));
}

#[test]
fn a_person_who_has_stopped_the_agent_of_this_terminal() {
    let agent = || process(60, 50, "claude").at(PTS, 100);
    let emulator = || process(20, 1, "kitty").holds(3);
    assert_eq!(judge([rune(), shell(20), agent().stopped(), emulator()]), Ok(()));
    assert_agent("`claude`, runs in this terminal", [rune(), shell(20), agent(), emulator()]);
}

#[test]
fn a_person_whose_other_window_runs_an_agent() {
    let agent = process(60, 51, "claude").at(Terminal::Pty(4), 60);
    let other = process(51, 20, "bash").at(Terminal::Pty(4), 60);
    let server = Process { masters: vec![3, 4], ..process(20, 1, "tmux: server") };
    assert_eq!(judge([rune(), shell(20), server, agent, other]), Ok(()));
}

#[test]
fn a_person_whose_terminal_two_processes_hold() {
    // `sudo` in `sudo` in `script`.
    let (outer, inner) = (Terminal::Pty(0), Terminal::Pty(1));
    let one = process(30, 40, "sudo").at(inner, 30).holds(3);
    let other = Process { group: 30, ..process(31, 30, "sudo").at(inner, 30).holds(3) };
    let script = process(41, 42, "script").at(outer, 41).holds(1);
    let table = [rune(), shell(30), one, other, process(40, 41, "bash").at(inner, 30), script];
    let emulator = [process(42, 20, "bash").at(outer, 41), process(20, 1, "kitty").holds(0), init()];
    assert_eq!(check_person(&ProcessTable::new(table.into_iter().chain(emulator)), 100), Ok(()));
}

// --- agents

#[test]
fn an_agent_above() {
    let emulator = || process(20, 1, "kitty").holds(3);
    assert_agent("process 50, `claude`,", [rune(), process(50, 20, "claude").at(PTS, 50), emulator()]);
    let below = [rune(), shell(60), process(60, 20, "codex").at(PTS, 100), emulator()];
    assert_agent("process 60, `codex`,", below);
    assert_agent("`CLAUDECODE` is set", [rune().variable("CLAUDECODE"), shell(20), emulator()]);
    let marked = process(40, 20, "sh").variable("GEMINI_CLI").at(PTS, 100);
    assert_agent("which has `GEMINI_CLI` set", [rune(), shell(40), marked, emulator()]);
}

#[test]
fn an_agent_under_the_name_of_its_interpreter() {
    let lines = [
        ("node", "node /usr/lib/node_modules/@anthropic-ai/claude-code/cli.js"),
        ("node-MainThread", "/usr/bin/node --no-warnings /usr/bin/gemini"),
        ("bun", "bun run /home/dev/.bun/bin/opencode"),
        ("python3.12", "/usr/bin/python3.12 /home/dev/.local/bin/aider --model x"),
        ("python3", "python3 -m aider"),
        ("2.1.139", "/home/dev/.local/share/claude/versions/2.1.139"),
        ("MainThread", "claude"),
    ];
    for (name, line) in lines {
        let agent = process(60, 20, name).argv(line).at(PTS, 100);
        assert_agent("process 60", [rune(), shell(60), agent, process(20, 1, "kitty").holds(3)]);
    }
    // A path that contains the name of an agent is not an agent.
    for line in ["node /home/claude/src/server.js", "python3 /home/dev/codex/main.py", "vim claude", "bash -c claude"] {
        let other = process(60, 20, "node").argv(line).at(PTS, 100);
        assert_eq!(judge([rune(), shell(60), other, process(20, 1, "kitty").holds(3)]), Ok(()), "{line}");
    }
}

#[test]
fn an_orphan_with_an_emptied_environment() {
    assert_eq!(judge([process(100, 50, "rune"), process(50, 1, "sh")]), Err(Refusal::NoTerminal));
    // It still has the terminal and the process group of its agent.
    let orphan = || Process { group: 60, ..process(100, 1, "rune").at(PTS, 60) };
    let agent = process(60, 51, "claude").at(PTS, 60);
    let person = process(51, 20, "bash").at(PTS, 60);
    let emulator = || process(20, 1, "kitty").holds(3);
    assert_agent("runs in this terminal", [orphan(), agent, person.clone(), emulator()]);
    // The agent has ended, and the person continues in the terminal.
    let person = Process { foreground: Some(51), ..person };
    assert_eq!(judge([orphan().at(PTS, 51), person, emulator()]), Err(Refusal::Background));
}

#[test]
fn setsid_leaves_no_terminal() {
    let table = [process(100, 50, "rune"), process(50, 1, "sh").argv("sh scripts/setup.sh")];
    assert_eq!(judge(table), Err(Refusal::NoTerminal));
}

#[test]
fn a_new_terminal_below_an_agent() {
    let script = process(40, 60, "script").argv("script -qec x").holds(3);
    assert_agent("process 60, `claude`,", [rune(), shell(40), script.clone(), process(60, 1, "claude")]);
    // The same process as an orphan, with an empty environment.
    assert_holder(40, [rune(), shell(40), Process { parent: 1, ..script }]);
}

#[test]
fn a_new_terminal_whose_holder_alone_leads_to_an_agent() {
    // `pty.spawn` whose child has forked twice.
    let holder = process(40, 60, "python3").argv("python3 -c import").holds(3);
    assert_agent("`codex`, made this terminal", [rune(), shell(1), holder, process(60, 1, "codex")]);
    let holder = process(40, 1, "python3").variable("CLAUDECODE").holds(3);
    assert_agent("`CLAUDECODE` set, made this terminal", [rune(), shell(1), holder]);
}

#[test]
fn a_new_terminal_whose_holder_was_left_behind() {
    for name in ["python3", "script", "expect", "socat", "node", "perl", "unbuffer"] {
        assert_holder(40, [rune(), shell(1), process(40, 1, name).holds(3)]);
        // With the terminal of its agent, or another one that a program has opened.
        let agent = process(60, 20, "claude").at(Terminal::Pty(0), 60);
        let holder = Process { group: 60, ..process(40, 1, name).at(Terminal::Pty(0), 60).holds(3) };
        assert_holder(40, [rune(), shell(1), holder, agent, process(20, 1, "kitty").holds(0)]);
    }
}

#[test]
fn terminals_that_hold_each_other() {
    let one = process(30, 1, "script").at(Terminal::Pty(4), 30).holds(3);
    let other = process(31, 1, "script").at(PTS, 31).holds(4);
    assert_holder(30, [rune(), shell(1), one, other]);
    let itself = process(30, 1, "script").front().holds(3);
    assert_holder(30, [rune(), shell(1), itself]);
}

#[test]
fn a_multiplexer_started_by_an_agent() {
    let server = process(20, 1, "tmux: server").variable("CLAUDECODE").holds(3);
    assert_agent("`CLAUDECODE` set,", [rune(), shell(20), server.clone()]);
    // The parent is gone, and the multiplexer still holds the terminal.
    assert_agent("made this terminal", [rune(), shell(1), server]);
}

#[test]
fn a_namespace_that_hides_ancestors() {
    // `script -qec 'unshare -Urpf --mount-proc env -i rune …'` below an agent: the same table as of `docker exec -it`.
    for (origin, refusal) in [(TableOrigin::NestedNamespace, Refusal::Nested), (TableOrigin::Forged, Refusal::Forged)] {
        let mut table = ProcessTable::new([rune(), shell(0)]);
        table.origin = origin;
        assert_eq!(check_person(&table, 100), Err(refusal));
        let mut table = ProcessTable::new([process(1, 0, "rune").at(PTS, 1)]);
        table.origin = origin;
        assert!(check_person(&table, 1).is_err());
    }
}

#[test]
fn a_new_terminal_with_the_number_of_a_persons() {
    // One of the two holders belongs to another devpts instance. Which one is unknown.
    for name in ["python3", "containerd-shim"] {
        let strange = process(15, 1, name).root().holds(3);
        assert_holder(15, [rune(), shell(20), process(20, 1, "kitty").holds(3), strange]);
    }
}

// --- broken tables

#[test]
fn a_loop_of_parents_ends() {
    assert_eq!(judge([rune(), shell(60), process(60, 50, "sh").at(PTS, 100)]), Err(Refusal::Orphan));
    assert_eq!(judge([process(100, 100, "rune").front()]), Err(Refusal::Orphan));
}

#[test]
fn missing_processes_are_refused() {
    assert_eq!(judge([]), Err(Refusal::Unreadable));
    assert_eq!(judge([rune()]), Err(Refusal::Orphan));
    assert_eq!(judge([rune(), shell(20)]), Err(Refusal::Orphan));
    assert_eq!(judge([Process { foreground: None, ..rune() }, shell(20)]), Err(Refusal::Background));
}

#[test]
fn a_refusal_has_help_and_no_control_characters() {
    let holder = Refusal::Holder { pid: 7, name: "a\u{1b}[31m".to_owned() };
    assert!(!holder.to_string().contains('\u{1b}'));
    for refusal in [
        Refusal::Agent(String::new()),
        Refusal::NoTerminal,
        Refusal::Background,
        holder,
        Refusal::Orphan,
        Refusal::Nested,
    ] {
        assert!(refusal.help().contains("terminal of your own"), "{refusal}");
    }
}
