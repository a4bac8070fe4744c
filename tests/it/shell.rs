//! The shell parser finds every command that a line would run, and no other.

#[path = "../fuzz/properties/shell.rs"]
mod properties;
mod oracle;
mod spelling;

use crate::support::cases;
use rune::path::Place;
use rune::programs::Catalogue;
use rune::shell::{self, Reading};

fn read(line: &str) -> Reading {
    let place = Place { cwd: "/home/u/proj".into(), home: Some("/home/u".into()), project: None };
    shell::read(line, &place, &Catalogue::shipped())
}

/// The canonical text of every command.
fn canonical_texts(line: &str) -> Vec<String> {
    read(line).commands.into_iter().map(|command| command.canonical.to_string()).collect()
}

/// Which commands of a line are selected.
#[derive(PartialEq, Eq)]
enum Selection {
    All,
    /// Those that no other command runs.
    Direct,
}

/// The words of the selected commands.
fn words(line: &str, selection: Selection) -> Vec<Vec<String>> {
    let is_selected = |command: &shell::Command| selection == Selection::All || command.via.is_empty();
    let commands = read(line).commands.into_iter().filter(is_selected);
    let words = |command: shell::Command| {
        let args = command.args.into_iter().map(|arg| arg.text.to_string());
        [command.program.to_string()].into_iter().chain(args).collect()
    };
    commands.map(words).collect()
}

#[test]
fn different_spellings_have_the_same_canonical_text() {
    for line in [
        "rm -rf /",
        "r\\m -r\\f \\/",
        "'rm' \"-rf\" '/'",
        "r''m -rf \"/\"",
        "$'rm' $'-rf' $'\\x2f'",
        "$'\\162\\155' -rf /",
        "/bin/rm -rf /",
        "/usr/bin/rm\t-rf   /",
        "rm \\\n -rf \\\n /",
        "r\\\nm -rf /",
        "rm${IFS}-rf${IFS}/",
        "rm$IFS-rf$IFS/",
        "{rm,-rf,/}",
        "x=rm; $x -rf /",
        "x='rm -rf /'; $x",
        "a=r b=m; $a$b -rf /",
        "for c in rm; do $c -rf /; done",
    ] {
        assert_eq!(canonical_texts(line), ["rm -rf /"], "{line}");
    }
}

#[test]
fn commands_in_arguments_of_other_programs_are_found() {
    for line in [
        "bash -c 'rm -rf /'",
        "sh -ec 'rm -rf /'",
        "bash -o errexit -lc 'rm -rf /'",
        "bash -c 'sh -c \"rm -rf /\"'",
        "eval rm -rf /",
        "eval 'rm -rf' /",
        "command rm -rf /",
        "builtin command rm -rf /",
        "exec -a x rm -rf /",
        "env rm -rf /",
        "env -i -u B A=1 rm -rf /",
        "/usr/bin/env -C /tmp rm -rf /",
        "env -S 'A=1 rm -rf /'",
        "sudo -u root -E rm -rf /",
        "doas rm -rf /",
        "nohup rm -rf / &",
        "time -p rm -rf /",
        "timeout -s KILL 10 rm -rf /",
        "timeout --signal=KILL 10s rm -rf /",
        "nice -n 10 rm -rf /",
        "ionice -c 3 rm -rf /",
        "setsid rm -rf /",
        "stdbuf -o L rm -rf /",
        "chroot /mnt rm -rf /",
        "flock /tmp/l rm -rf /",
        "watch -n 1 'rm -rf /'",
        "ssh -p 22 host 'rm -rf /'",
        "ssh host rm -rf /",
        "docker run --rm -v a:b alpine rm -rf /",
        "docker exec -it -u root c rm -rf /",
        "docker compose exec web rm -rf /",
        "kubectl exec -n ns pod -- rm -rf /",
        "su -c 'rm -rf /' root",
        "busybox rm -rf /",
        "npx -y rm -rf /",
        "pnpm dlx rm -rf /",
        "git -c alias.x='!rm -rf /' x",
        "git -c core.sshCommand='rm -rf /' fetch",
        "git -c alias.x=y -c alias.y='!rm -rf /' x",
        "git submodule foreach --recursive 'rm -rf /'",
        "git bisect run rm -rf /",
        "git rebase --exec 'rm -rf /' main",
        "trap 'rm -rf /' EXIT",
        "alias ll='rm -rf /'",
        "rune mcp wrap -- rm -rf /",
        "awk 'BEGIN { system(\"rm -rf /\") }'",
        "awk '{ \"rm -rf /\" | getline x }' f",
        "sed '1e rm -rf /' f",
        "tar cf a b --checkpoint=1 --checkpoint-action=exec='rm -rf /'",
        "tar xf a --to-command='rm -rf /'",
        "make SHELL='rm -rf /'",
        "python3 -c 'import os; os.system(\"rm -rf /\")'",
        "python3 -c 'import subprocess as s; subprocess.run([\"rm\", \"-rf\", \"/\"])'",
        "python3 -c 'import shutil; shutil.rmtree(\"/\")'",
        "node -e 'require(\"child_process\").execSync(\"rm -rf /\")'",
        "node -e 'fs.rmSync(\"/\", {recursive: true})'",
        "perl -e 'system(\"rm -rf /\")'",
        "perl -e 'unlink \"/\"'",
        "ruby -e 'system \"rm -rf /\"'",
        "ruby -e '`rm -rf /`'",
        "php -r 'shell_exec(\"rm -rf /\");'",
        "python3 <<'EOF'\nimport os\nos.system('rm -rf /')\nEOF",
        "bash <<EOF\nrm -rf /\nEOF",
        "bash -s <<< 'rm -rf /'",
        "echo 'rm -rf /' | sh",
        "echo rm -rf / | sudo bash",
        "cat <<'EOF' | bash\nrm -rf /\nEOF",
        "find . -exec rm -rf / \\;",
        "find . -execdir rm -rf / +",
        "parallel rm -rf ::: /",
        "script -c 'rm -rf /' log",
        "ssh h 'FOO=bar rm -rf /'",
        "ssh h -p 22 rm -rf /",
        "ssh h -- rm -rf /",
        "watch 'A=b rm -rf /'",
        "su bob -c 'rm -rf /'",
        "su - bob -c 'rm -rf /'",
        "flock x -c 'rm -rf /'",
        "script /dev/null -c 'rm -rf /'",
        "env - PATH=/bin rm -rf /",
        "env -S bash -c 'rm -rf /'",
        "timeout --sig KILL 5 rm -rf /",
        "kubectl exec pod rm -rf /",
        "git -c alias.q='!rm' q -rf /",
        "git clone -c core.sshCommand='rm -rf /' u",
        "printf 'rm -rf /\\n' | bash",
        "bash /dev/fd/0 <<< 'rm -rf /'",
        "x=true; x='rm -rf /' eval '$x'",
        "<&-rm -rf /",
        "2>&-rm -rf /",
        "echo ${x:-<(rm -rf /)}",
        "python3 -c 'from subprocess import run; run([\"rm\", \"-rf\", \"/\"])'",
        "python3 -c 'import subprocess; subprocess.run(\"rm -rf /\", shell=True)'",
        "python3 -c 'import subprocess; subprocess.Popen((\"rm\", \"-rf\", \"/\"))'",
        "perl -e 'qx{rm -rf /}'",
        "perl -e 'open(F, \"rm -rf /|\")'",
        "ruby -e '%x(rm -rf /)'",
        "awk '/x\"/{} BEGIN{system(\"rm -rf /\")}'",
        "sed ':a;e rm -rf /'",
        "mapfile -C 'rm -rf /' -c1 a",
        "ssh -o ProxyCommand='rm -rf /' host",
        "rsync -e 'rm -rf /' a b",
        "nc -e 'rm -rf /' host 1",
        "socat - EXEC:'rm -rf /'",
        "vim -c ':!rm -rf /' f",
        "gdb -ex 'shell rm -rf /'",
        "man -P 'rm -rf /' ls",
        "sort --compress-program='rm -rf /' f",
        ". /dev/stdin <<< 'rm -rf /'",
        "osascript -e 'do shell script \"rm -rf /\"'",
        "hyperfine 'rm -rf /'",
    ] {
        assert!(canonical_texts(line).contains(&"rm -rf /".to_owned()), "{line}: {:?}", canonical_texts(line));
    }
}

#[test]
fn the_wrappers_of_a_command_are_listed() {
    let reading = read("sudo env A=1 bash -c 'rm x'");
    let via: Vec<Vec<String>> = reading.commands.iter().map(|command| command.via.to_vec()).collect();
    let expected: [&[&str]; 4] = [&[], &["sudo"], &["sudo", "env"], &["sudo", "env", "bash"]];
    assert_eq!(via, expected);
}

#[test]
fn data_is_not_a_command() {
    for (line, expected) in [
        ("git commit -m \"rm -rf /\"", vec!["git commit -m 'rm -rf /'"]),
        ("grep -r 'sudo rm' .", vec!["grep -r 'sudo rm' ."]),
        ("cat > notes.md <<'EOF'\nrm -rf /\n$(rm -rf /)\nEOF", vec!["cat"]),
        ("echo \"a; rm -rf /\"", vec!["echo 'a; rm -rf /'"]),
        ("echo a # ; rm -rf /", vec!["echo a"]),
        ("echo a#b;c", vec!["echo 'a#b'", "c"]),
        (
            "git commit -m \"$(cat <<'EOF'\nfix: run `rm -rf /`; (done)\nEOF\n)\"",
            vec!["cat", "git commit -m 'fix: run `rm -rf /`; (done)'"],
        ),
        ("command -v rm", vec!["command -v rm"]),
        ("case rm in rm) :;; esac", vec![":"]),
        ("a=(rm -rf /)", vec![]),
        ("[[ rm == rm || $x =~ (rm|sudo) ]]", vec![]),
        ("echo $((rm - 1))", vec!["echo $()"]),
        ("git -C sub status", vec!["git -C sub status"]),
        ("python3 -c 'print(\"rm -rf /\")'", vec!["python3 -c 'print(\"rm -rf /\")'"]),
        ("sed 's/e/rm/' f", vec!["sed s/e/rm/ f"]),
        ("awk '{print $1}' rm", vec!["awk '{print $1}' rm"]),
        ("npm run rm", vec!["npm run rm"]),
        ("sed '1i\\\nend rm' f", vec!["sed '1i\\\nend rm' f"]),
        ("node -e 'const m=/(a)/.exec(\"rm\")'", vec!["node -e 'const m=/(a)/.exec(\"rm\")'"]),
        ("awk '$1 ~ /foo|bar/ {print}' f", vec!["awk '$1 ~ /foo|bar/ {print}' f"]),
        ("npx eslint -c rm.js", vec!["npx eslint -c rm.js", "eslint -c rm.js"]),
        ("docker build -t rm .", vec!["docker build -t rm ."]),
        ("git push -u origin main", vec!["git push -u origin main"]),
        ("rsync -av -e ssh a b", vec!["rsync -av -e ssh a b", "ssh"]),
        ("cargo test -- --exec", vec!["cargo test -- --exec"]),
    ] {
        assert_eq!(canonical_texts(line), expected, "{line}");
    }
}

#[test]
fn commands_are_found_in_every_construct() {
    for line in [
        "true; rm x",
        "true && rm x",
        "false || rm x",
        "true & rm x",
        "true | rm x",
        "true |& rm x",
        "(rm x)",
        "{ rm x; }",
        "! rm x",
        "coproc rm x",
        "if rm x; then :; fi",
        "if :; then rm x; fi",
        "if :; then :; else rm x; fi",
        "if :; then :; elif rm x; then :; fi",
        "while rm x; do :; done",
        "until :; do rm x; done",
        "for i in a; do rm x; done",
        "for i in $(rm x); do :; done",
        "for ((i=0;i<1;i++)); do rm x; done",
        "select i in a; do rm x; done",
        "case a in a) rm x;; esac",
        "case $(rm x) in a) :;; esac",
        "f() { rm x; }",
        "function f { rm x; }",
        "f() ( rm x )",
        "echo $(rm x)",
        "echo \"$(rm x)\"",
        "echo `rm x`",
        "echo \"`rm x`\"",
        "echo ${a:-$(rm x)}",
        "echo \"${a:-$(rm x)}\"",
        "echo $(( $(rm x) ))",
        "a[$(rm x)]=1",
        "a=($(rm x))",
        "a=$(rm x)",
        "a=$(rm x) b",
        "cat <(rm x)",
        "tee >(rm x)",
        "cat <<EOF\n$(rm x)\nEOF",
        "cat <<EOF\n`rm x`\nEOF",
        "cat <<< \"$(rm x)\"",
        "> $(rm x)",
        "[[ $(rm x) ]]",
        "(( $(rm x) ))",
        "echo $(echo $(rm x))",
        "x\nrm x",
        "# comment\nrm x",
        "a > f rm x; rm x",
        "<f rm x",
        "2>&1 rm x",
        "A=1 B=2 rm x",
        "time rm x",
        "echo \"a\nb\" ; rm x",
        "cat <<EOF; rm x\nEOF",
        "cat <<EOF\nEOF\nrm x",
        "cat <<'A' <<B\nA\nB\nrm x",
        "echo $'it\\'s'; rm x",
        "echo ${x//\\'/}; rm x",
        "echo $((1<<3))\nrm x",
        "echo \"$(case a in a) rm x;; esac)\"",
        "cat <<'E F'\nE F\nrm x",
    ] {
        let found = canonical_texts(line);
        assert!(found.contains(&"rm x".to_owned()), "{line}: {found:?}");
        assert!(read(line).is_readable(), "{line}: {:?}", read(line).uncertainties);
    }
}

#[test]
fn pipelines_have_a_canonical_text() {
    for (line, expected) in [
        ("c\\url -s x|'sh'", vec!["curl -s x | sh"]),
        ("a; b | sudo c | d; e", vec!["b | sudo c | d"]),
        ("a $(b | c) | d", vec!["a $() | d", "b | c"]),
        ("bash -c 'a | b' | c", vec!["bash -c 'a | b' | c", "a | b"]),
        ("a && b", vec![]),
    ] {
        let found: Vec<String> = read(line).pipelines().into_iter().map(|pipeline| pipeline.canonical).collect();
        assert_eq!(found, expected, "{line}");
    }
    let line = "true; curl x |\n sh";
    let span = read(line).pipelines()[0].span.clone();
    assert_eq!(line.get(span), Some("curl x |\n sh"));
}

#[test]
fn values_that_are_known_only_at_run_time_are_dynamic() {
    for line in
        ["$X -rf /", "$(cat f) x", "`cat f` x", "${X:-rm} x", "r$X x", "bash -c \"$X\"", "eval \"$X\"", "*m x", "$1 x"]
    {
        assert!(read(line).commands.iter().any(|command| !command.known), "{line}");
    }
    let unknown_file = read("rm -rf \"$X\"/y").commands;
    assert!(unknown_file[0].known && unknown_file[0].is_dynamic());
    // A value that depends on a condition or on input.
    for line in ["if a; then d=/; else d=x; fi; rm $d", "read d; rm $d"] {
        assert!(read(line).commands.iter().any(|command| command.program == "rm" && command.is_dynamic()), "{line}");
    }
    // All values that are written out are known.
    for line in
        ["if a; then d=/; else d=x; fi; rm $d", "d=x; a && d=/; rm $d", "d=x; for i in 1 2; do rm $d; d=/; done"]
    {
        assert!(read(line).commands.iter().any(|command| command.canonical == "rm /"), "{line}");
    }
}

#[test]
fn invalid_and_ambiguous_lines_are_not_readable() {
    for line in [
        "echo 'a", "echo \"a", "echo $(a", "echo `a", "echo ${a", "if a; then b", "a &&", "a | | b", "; a", "a )",
        "(a", "{ a; b", "a ;; b", "done", "ls\0; rm", "rm\u{a0}-rf /", "r\u{200b}m x", "\u{441}url x", "echo $'a",
    ] {
        assert!(!read(line).is_readable(), "{line:?}");
    }
}

#[test]
fn changes_of_the_working_directory_are_followed() {
    for (line, removes) in [
        ("cd /tmp && rm -rf x", "/tmp/x"),
        ("cd sub && rm x", "/home/u/proj/sub/x"),
        ("set -e; cd sub; rm x", "/home/u/proj/sub/x"),
        ("cd sub || exit; rm x", "/home/u/proj/sub/x"),
        ("mkdir -p sub; cd sub; rm x", "/home/u/proj/sub/x"),
        ("cd; rm x", "/home/u/x"),
        ("cd .. && cd .. && rm -rf x", "/home/x"),
        ("(cd /etc); rm x", "/home/u/proj/x"),
        ("cd /etc | true; rm x", "/home/u/proj/x"),
        ("cd /etc & rm x", "/home/u/proj/x"),
        ("{ cd /etc; } | true; rm x", "/home/u/proj/x"),
        ("f() { cd /etc; }; f; rm x", "/etc/x"),
        ("x=y; x=z | cat; rm $x", "/home/u/proj/y"),
        ("x=y; x=z & rm $x", "/home/u/proj/y"),
        ("pushd /etc; rm x", "/etc/x"),
        ("cd \"$X\"; rm y", "y"),
        ("cd -; rm y", "y"),
        ("cd \"$X\"; rm /y", "/y"),
        ("env -C /etc rm x", "/etc/x"),
        ("D=/etc; cd $D; rm x", "/etc/x"),
        ("rm ~/x", "/home/u/x"),
        ("rm '~/x'", "/home/u/proj/~/x"),
        ("rm $HOME/x", "/home/u/x"),
        ("rm \"$PWD\"/x", "/home/u/proj/x"),
    ] {
        assert_eq!(read(line).effects().removes(), [removes], "{line}");
    }
    // Every possible working directory counts.
    for (line, removes) in [
        ("cd sub; rm x", ["/home/u/proj/sub/x", "/home/u/proj/x"]),
        ("true || cd /etc; rm x", ["/etc/x", "/home/u/proj/x"]),
        ("cd sub && a; rm x", ["/home/u/proj/sub/x", "/home/u/proj/x"]),
        ("if a; then cd /etc; fi; rm x", ["/etc/x", "/home/u/proj/x"]),
    ] {
        assert_eq!(read(line).effects().removes(), removes, "{line}");
    }
}

#[test]
fn effects_of_commands_are_found() {
    for (line, field, expected) in [
        ("a > /x", "writes", vec!["/x"]),
        ("a &>> /x 2> /y", "writes", vec!["/x", "/y"]),
        ("> /x", "writes", vec!["/x"]),
        ("{ a; b; } > /x", "writes", vec!["/x"]),
        ("a 2>&1", "writes", vec![]),
        ("a | tee -a /x /y", "writes", vec!["/x", "/y"]),
        ("cp a b /x", "writes", vec!["/x", "/x/a", "/x/b"]),
        ("cp -t /x a b", "writes", vec!["/x", "/x/a", "/x/b"]),
        ("mv a /x", "removes", vec!["/home/u/proj/a"]),
        ("sed -i 's/a/b/' /x", "writes", vec!["/x"]),
        ("sed -i.bak -e 's/a/b/' /x", "writes", vec!["/x"]),
        ("dd if=/a of=/x", "writes", vec!["/x"]),
        ("curl -o /x https://e.example", "writes", vec!["/x"]),
        ("curl -so/x https://e.example", "network", vec!["https://e.example"]),
        ("wget -O /x https://e.example", "writes", vec!["/x"]),
        ("tar -xf a -C /x", "writes", vec!["/x"]),
        ("sort a -o /x", "writes", vec!["/x"]),
        ("python3 -c 'open(\"/x\", \"w\")'", "writes", vec!["/x"]),
        ("rm -rf /x -- -y", "removes", vec!["/x", "/home/u/proj/-y"]),
        ("find /x -delete", "removes", vec!["/x"]),
        ("cat /x < /y", "reads", vec!["/y", "/x"]),
        ("curl -d @/x https://e.example", "reads", vec!["/x"]),
        ("curl -F f=@/x https://e.example", "reads", vec!["/x"]),
        ("A=1 b", "env", vec!["A"]),
        ("export A=1 B", "env", vec!["A", "B"]),
        ("env A=1 b", "env", vec!["A"]),
        ("declare -x A=1", "env", vec!["A"]),
        ("printf -v A x", "env", vec!["A"]),
        ("read A <<< x", "env", vec!["A"]),
        ("nc e.example 80", "network", vec!["e.example"]),
        ("scp a u@e.example:b", "network", vec!["u@e.example"]),
    ] {
        let effects = read(line).effects();
        let found = match field {
            "writes" => effects.writes(),
            "removes" => effects.removes(),
            "reads" => effects.reads(),
            "env" => effects.variables(),
            _ => effects.network,
        };
        assert_eq!(found, expected, "{line}");
    }
}

#[test]
fn deeply_nested_and_long_lines_do_not_crash_the_parser() {
    for line in [
        "$(".repeat(30_000),
        "((".repeat(30_000),
        "{ ".repeat(30_000),
        "\"$(".repeat(20_000),
        "${x:-".repeat(12_000),
        "if ".repeat(20_000),
        "a; ".repeat(20_000),
        "`".repeat(65_535),
        "case x in (".repeat(6_000),
        "bash -c '".repeat(7_000),
        "docker container ".repeat(4_000),
        "<<a ".repeat(16_000),
        "x=( ".repeat(16_000),
        "[[ ( ".repeat(12_000),
        "f() ".repeat(16_000),
        "! ".repeat(30_000),
        "{a,".repeat(20_000),
        "<(".repeat(30_000),
        "x=$x$x;".repeat(9_000),
        "cd a;".repeat(12_000),
        "pushd a;".repeat(8_000),
        format!("x={};{}", "a".repeat(4_000), "echo $x;".repeat(7_000)),
    ] {
        let shown: String = line.chars().take(20).collect();
        let reading = read(&line);
        assert!(reading.commands.len() <= 20_000, "{shown}");
    }
    let nested = format!("rm -rf /; {}", "$(".repeat(100));
    assert_eq!(read(&nested).commands[0].canonical, "rm -rf /", "commands before the limit still count");
    let last = format!("{}rm -rf /", "true; ".repeat(20_000));
    assert!(read(&last).exceeded.is_some());
    assert!(read(&"x".repeat((1 << 20) + 1)).exceeded.is_some());
}

#[test]
fn the_properties_of_shell_text_hold_for_the_stored_inputs_of_the_fuzzer() {
    let mut count = 0;
    for entry in std::fs::read_dir("tests/fuzz/corpus/shell").unwrap() {
        let bytes = std::fs::read(entry.unwrap().path()).unwrap();
        properties::check(&String::from_utf8_lossy(&bytes));
        count += 1;
    }
    assert!(count > 100, "{count}");
}

#[test]
fn wrapped_commands_are_still_found() {
    // Every tenth, so that each run checks the same ones.
    let commands = cases::commands().into_iter().step_by(10);
    let mut tried = 0;
    for line in commands.filter(|line| line.len() < 2_000) {
        let alone = read(&line);
        // Text after a heredoc or a comment would become part of it, as in a shell.
        if !alone.is_readable() || line.contains("<<") || line.contains('#') || line.ends_with(['&', '\\', '\n']) {
            continue;
        }
        let alone = words(&line, Selection::Direct);
        let quoted = line.replace('\'', "'\\''");
        for wrapped in [
            format!("bash -c '{quoted}'"),
            format!("( {line})"),
            format!("{{ {line}; }}"),
            format!("if {line}; then :; fi"),
            format!("echo \"$( {line})\""),
            format!("{line} | cat"),
            format!("true && {line}"),
            format!("eval '{quoted}'"),
            format!("while {line}; do :; done"),
            format!("sudo sh -c '{quoted}'"),
        ] {
            // Within a construct a word may have more values, or be unknown, which is judged more strictly.
            let found = words(&wrapped, Selection::All);
            let is_unknown = |word: &String| word.contains('$');
            let has = |found: &[String], word: &String| {
                is_unknown(word) || found.contains(word) || found.iter().skip(1).any(is_unknown)
            };
            let kept = |words: &Vec<String>| {
                found.iter().any(|found| {
                    // Unknown positional parameters may be any words.
                    let is_any = found.iter().any(|word| word == "$@");
                    let rest = is_any || words.iter().skip(1).all(|word| has(found, word));
                    // A program that is unknown by itself may be known in a shell without positional parameters.
                    let same = found.first() == words.first() || words.first().is_some_and(is_unknown);
                    same && rest || found.first().is_some_and(is_unknown)
                })
            };
            // In a loop with `cd`, paths are unknown from the second iteration on. Only the program is compared.
            let is_loop = wrapped.starts_with("while ") && line.contains("cd ");
            let runs = |words: &Vec<String>| is_loop && found.iter().any(|found| found.first() == words.first());
            let lost: Vec<&Vec<String>> = alone.iter().filter(|words| !kept(words) && !runs(words)).collect();
            assert!(lost.is_empty(), "{wrapped}\nlost {lost:?}\nfound {found:?}");
        }
        let first = read(&line).commands;
        if let [only] = first.as_slice() {
            let wrapped = format!("env A=1 {line}");
            let found = canonical_texts(&wrapped);
            // `env` accepts only simple commands: no keyword, assignment or redirection before the program.
            let simple = line.starts_with(only.program.as_str()) && !line.contains(['(', '{']);
            assert!(!simple || found.iter().any(|found| *found == only.canonical), "{wrapped}: {found:?}");
        }
        tried += 1;
    }
    assert!(tried > 350, "{tried}");
}
