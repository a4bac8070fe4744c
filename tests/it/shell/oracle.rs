//! Compares the parser with a real bash: the paths that a script deletes are found, or reported as unknown.
//!
//! The scripts do not use `pwd`: the parser assumes that the `cd` before it succeeded.

use rune::path::Place;
use rune::programs::Catalogue;
use rune::shell;
use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const SCRIPTS: usize = 500;

/// Every script begins with these definitions.
const START: &str = "X=a; Y=b/c; Z=src; i=q; A=(a k/l); set -- build w; f() { echo k; }; ";

const VALUES: [&str; 24] = [
    "build", "src", "~", "a/b", "..", "../..", "/opt/q", "\"$HOME/k\"", "a", "$X", "\"$Y\"", "$Z", "\"\"", "~/m",
    "\"$(echo a)\"", "$(dirname \"$X\")", "\"${X%/*}\"", "\"${X##*/}\"", "${Y:-b}", "\"${1}\"",
    "\"$(basename \"$Y\" .c)\"", "$(printf %s \"$X\")", "lib.c/d", "lib.c",
];

const OPERANDS: [&str; 18] = [
    "\"$X\"", "\"$Y\"", "$Z", "\"$1\"", "\"$2\"", "\"$@\"", "\"${A[0]}\"", "\"${A[@]}\"", "\"${A[1]}\"", "$X/k",
    "\"$X\"/\"$Y\"", "../$Z", "\"${X%/*}\"", "\"${Y#*/}\"", "\"$(echo \"$X\")\"", "..", "$X$Y", "{a,$X}",
];

const MOVES: [&str; 15] = [
    "cd a", "cd a/b", "cd nope", "cd ..", "cd -", "cd", "cd /opt", "cd \"$X\"", "pushd a", "popd", "command cd a",
    "builtin cd a/b", "pushd -n a", "cd -P a", "mkdir -p m; cd m",
];

/// A pseudo-random generator (xorshift), with the same scripts in every run.
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % u64::try_from(end).unwrap()).unwrap()
    }

    fn pick<'a>(&mut self, of: &[&'a str]) -> &'a str {
        of[self.below(of.len())]
    }

    fn value(&mut self) -> &'static str {
        self.pick(&VALUES)
    }

    fn removal(&mut self) -> String {
        format!("rm -rf {}", self.pick(&OPERANDS))
    }

    fn assignment(&mut self) -> String {
        let (name, value, other) = (self.pick(&["X", "Y", "Z"]), self.value(), self.value());
        match self.below(14) {
            0..4 => format!("{name}={value}"),
            4 => format!("export {name}={value}"),
            5 => format!("local {name}={value}"),
            6 => format!("unset {name}"),
            7 => format!("A=({value} {other})"),
            8 => format!("A+=({value})"),
            9 => format!("set -- {value} {other}"),
            10 => "shift".to_owned(),
            11 => format!("readonly Z={value}"),
            12 => format!("set a {value}"),
            _ => format!("eval \"{name}=/opt/e\""),
        }
    }

    fn condition(&mut self) -> String {
        match self.below(6) {
            0 => self.assignment(),
            1 => self.pick(&MOVES).to_owned(),
            _ => self.pick(&["true", "false", "[ -d a ]", "[ -d nope ]", "[ -n \"$X\" ]", "! true"]).to_owned(),
        }
    }

    fn list(&mut self, depth: usize) -> String {
        let count = 1 + self.below(3);
        (0..count).map(|_| self.statement(depth)).collect::<Vec<_>>().join("; ")
    }

    fn statement(&mut self, depth: usize) -> String {
        let Some(depth) = depth.checked_sub(1).filter(|_| self.below(10) > 2) else {
            return match self.below(5) {
                0 | 1 => self.removal(),
                2 | 3 => self.assignment(),
                _ => self.pick(&MOVES).to_owned(),
            };
        };
        let (list, other) = (self.list(depth), self.list(depth));
        let (one, two) = (self.statement(depth), self.statement(depth));
        let (when, value, again) = (self.condition(), self.value(), self.value());
        match self.below(24) {
            0 => format!("{{ {list}; }}"),
            1 => format!("( {list} )"),
            2 => format!("if {when}; then {list}; else {other}; fi"),
            3 => format!("if {when}; then {list}; fi"),
            4 => format!("for X in {value} {again}; do {list}; done"),
            5 => format!("for i in {value} *.none; do {list}; done"),
            6 => format!("n=0; while [ $n -lt 2 ]; do n=$((n+1)); {list}; done"),
            7 => format!("case \"$X\" in a) {list};; *) {other};; esac"),
            8 => format!("{one} && {two}"),
            9 => format!("{one} || {two}"),
            10 => format!("{when} && {one} || {two}"),
            11 => format!("{when} || {one}"),
            12 => format!("{one} & wait"),
            13 => format!("{one} | cat"),
            14 => format!("g() {{ {list}; }}; g {value}"),
            15 => format!("g() {{ local X=$1; {list}; }}; g {value}"),
            16 if !list.contains('\'') => format!("bash -c '{list}' _ a"),
            17 if !list.contains('\'') => format!("eval '{list}'"),
            18 => format!("trap '{}' EXIT", self.removal()),
            19 => format!("X=$({list}; echo {value})"),
            20 => format!("Y=q bash -c '{}'", self.removal()),
            21 => format!("Y=q eval '{}'", self.removal()),
            22 => format!("{} || exit", self.pick(&MOVES)),
            _ => format!("for a in \"${{A[@]}}\"; do X=$a; {list}; done"),
        }
    }
}

/// Makes a home with a project, and an `rm` that only logs its operands.
fn set_up(root: &Path) -> (PathBuf, PathBuf) {
    let home = root.join("home/user");
    let project = home.join("proj");
    for directory in ["a/b/c", "build", "src"] {
        fs::create_dir_all(project.join(directory)).unwrap();
    }
    fs::create_dir_all(root.join("bin")).unwrap();
    let rm = root.join("bin/rm");
    let log = root.join("log");
    let script = format!(
        "#!/bin/sh\nfor a; do case $a in -*) ;; *) printf '%s\\t%s\\n' \"$PWD\" \"$a\" >> '{}';; esac; done\n",
        log.display()
    );
    fs::write(&rm, script).unwrap();
    fs::set_permissions(&rm, fs::Permissions::from_mode(0o755)).unwrap();
    (home, project)
}

/// Removes `.` and `..` from a path without looking at the file system.
fn normalise(path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    format!("/{}", parts.join("/"))
}

#[test]
fn paths_that_bash_deletes_are_found() {
    let root = tempfile::tempdir().unwrap();
    let mut random = Random(0x5eed_7777);
    let (mut deletions, mut known_scripts) = (0, 0);
    for number in 0..SCRIPTS {
        // A separate directory for each script.
        let root = root.path().join(number.to_string());
        let (home, project) = set_up(&root);
        let script = format!("{START}{}; {}; {}", random.assignment(), random.list(2), random.removal());
        let output = Command::new("bash")
            .args(["-c", &script])
            .current_dir(&project)
            .env_clear()
            .env("HOME", &home)
            .env("FUNCNEST", "6")
            .env("PATH", format!("{}:/usr/bin:/bin", root.join("bin").display()))
            .stdin(Stdio::null())
            .output()
            .unwrap();
        drop(output);
        let log = fs::read_to_string(root.join("log")).unwrap_or_default();
        let real: BTreeSet<String> = log
            .lines()
            .filter_map(|line| line.split_once('\t'))
            .filter(|(_, name)| !name.is_empty())
            .map(|(from, name)| {
                normalise(&if name.starts_with('/') { name.to_owned() } else { format!("{from}/{name}") })
            })
            .collect();
        let place = Place {
            cwd: project.display().to_string(),
            home: Some(home.display().to_string()),
            project: Some(project.display().to_string()),
        };
        let reading = shell::read(&script, &place, &Catalogue::shipped());
        let removes = reading.effects().removes();
        let unknown = !reading.is_readable() || removes.iter().any(|path| path.contains('$') || !path.starts_with('/'));
        deletions += real.len();
        known_scripts += usize::from(!unknown);
        let known: BTreeSet<String> = removes.iter().map(|path| normalise(path)).collect();
        let missed: Vec<&String> = real.iter().filter(|path| !known.contains(*path)).collect();
        assert!(unknown || missed.is_empty(), "{script}\nmissed {missed:?}\nread {known:?}");
    }
    // Guards against a test that compares nothing.
    assert!(deletions > SCRIPTS && known_scripts > SCRIPTS / 4, "{deletions} deletions, {known_scripts} scripts known");
}

/// Parts of random words with tildes.
const TILDE_PARTS: [&str; 22] = [
    "~", "~", "~", ":", ":", "/", "/", "=", "=", "a", "b", "+", "-", "[1]", "\"~\"", "\\~", "':'", "\\:", "'/'",
    "\"b\"", "${X}", "{~,a}",
];

/// Commands that contain such a word, which replaces `@`.
const TILDE_COMMANDS: [&str; 8] = [
    "p @",
    "v=@; p \"$v\"",
    "export v=@; p \"$v\"",
    "declare v=@; p \"$v\"",
    "for v in @; do p \"$v\"; done",
    "p name=@",
    "p -v @",
    "p --name=@",
];

#[test]
fn tildes_expand_as_in_bash() {
    let (home, cwd) = ("/home/u", "/usr");
    let mut random = Random(0x5eed_0717);
    let (mut lines, mut known) = (Vec::new(), 0);
    for _ in 0..3_000 {
        let length = 1 + random.below(7);
        let word: String = (0..length).map(|_| random.pick(&TILDE_PARTS)).collect();
        // Bash does not expand `${X}` in `~:${X}`.
        let odd = word.contains("~:") && word.contains("${X}");
        let place = random.pick(&TILDE_COMMANDS);
        // An assignment does not expand braces.
        let listed = word.contains('{') && place.contains("v=@");
        if !odd && !listed {
            lines.push(place.replace('@', &word));
        }
    }
    // Each line runs in a subshell, and control characters separate the output.
    let body: String = lines.iter().map(|line| format!("(unset v; {line}); printf '\\1'\n")).collect();
    let script = format!("X=a/b; p() {{ printf '%s\\2' \"$@\"; }}\n{body}");
    let output = Command::new("bash")
        .args(["-c", &script])
        .current_dir(cwd)
        .env_clear()
        .env("HOME", home)
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let printed: Vec<&str> = text.split_terminator('\u{1}').collect();
    assert_eq!(printed.len(), lines.len(), "{}", String::from_utf8_lossy(&output.stderr));
    let place = Place { cwd: cwd.to_owned(), home: Some(home.to_owned()), project: None };
    for (line, printed) in lines.iter().zip(printed) {
        let reading = shell::read(&format!("X=a/b; {line}"), &place, &Catalogue::shipped());
        let args: Vec<&shell::Arg> = reading
            .commands
            .iter()
            .filter(|command| command.program == "p")
            .flat_map(|command| &command.args)
            .collect();
        // Homes of other users are unknown.
        if args.iter().all(|arg| arg.is_known()) {
            // The parser evaluates a loop for all values at once, so only the sets are compared.
            let printed: BTreeSet<&str> = printed.split_terminator('\u{2}').collect();
            assert_eq!(args.iter().map(|arg| arg.text.as_str()).collect::<BTreeSet<_>>(), printed, "{line}");
            known += 1;
        }
    }
    assert!(known > 1_500, "{known} lines are known");
}
