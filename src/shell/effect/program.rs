//! What programs do to files and variables, by their operands and options.

use super::super::options::Options;
use super::super::{Arg, Command, Input};
use super::{Act, Noted, Target, fetch};

/// Programs that read every file they are given.
const READERS: [&str; 38] = [
    ".",
    "ag",
    "b2sum",
    "base32",
    "base64",
    "bat",
    "batcat",
    "cat",
    "cksum",
    "cmp",
    "column",
    "comm",
    "csplit",
    "cut",
    "diff",
    "fold",
    "gcat",
    "head",
    "hexdump",
    "less",
    "md5sum",
    "more",
    "nl",
    "od",
    "paste",
    "pr",
    "rev",
    "sha256sum",
    "source",
    "split",
    "strings",
    "tac",
    "tail",
    "uniq",
    "vimdiff",
    "wc",
    "xxd",
    "zcat",
];

/// Programs that change every file they are given.
const WRITERS: [&str; 18] = [
    "bunzip2", "bzip2", "ed", "emacs", "ex", "nvim", "gunzip", "gzip", "mkfifo", "mknod", "nano", "touch", "truncate",
    "unxz", "vi", "vim", "xz", "zstd",
];

/// The options of these programs that take a value.
pub(super) fn options(program: &str) -> Options {
    let (short, long): (&'static str, &'static [&'static str]) = match program {
        "cp" | "mv" | "install" | "ln" => ("tSgmo", &["group", "mode", "owner", "suffix", "target-directory"]),
        "curl" | "wget" | "http" | "https" | "xh" => return fetch::options(program),
        "grep" | "egrep" | "fgrep" | "rg" => (
            "ABCDefgmt",
            &[
                "after-context",
                "before-context",
                "context",
                "exclude",
                "exclude-dir",
                "file",
                "glob",
                "include",
                "max-count",
                "max-depth",
                "regexp",
                "sort",
                "type",
            ],
        ),
        "head" | "tail" => ("nc", &["bytes", "lines"]),
        "read" => ("adinNptu", &[]),
        "rsync" => ("efTBM", &["exclude", "exclude-from", "files-from", "include", "log-file", "rsh"]),
        "jq" => ("fL", &["arg", "argjson", "indent", "rawfile", "slurpfile"]),
        "nc" | "ncat" => ("egimpqsTwX", &[]),
        "scp" => ("cFiJloPSD", &[]),
        "sed" => ("efl", &["expression", "file"]),
        "awk" | "gawk" | "mawk" => ("fFvi", &["file", "field-separator", "assign", "include"]),
        "sort" => ("kotST", &["key", "output"]),
        "ssh" => ("BbcDEeFIiJLlmOopQRSWw", &[]),
        "tar" => ("bCfFgIKLNTVX", &["directory", "file"]),
        "touch" | "truncate" => ("drts", &["date", "reference", "size"]),
        "chmod" | "chown" | "chgrp" => ("", &["reference", "from"]),
        _ => ("", &[]),
    };
    Options { short, long }
}

impl Arg {
    /// The word without its beginning.
    pub(super) fn behind(&self, start: &str) -> Option<Arg> {
        let text = self.text.strip_prefix(start)?.to_owned();
        Some(Arg { text, known: self.known.map(|known| known.saturating_sub(start.len())), glob: self.glob })
    }
}

/// The value of an option in any of its spellings: `-o x`, `-ox`, `-sox`, `--output x`, `--output=x`.
pub(super) fn option(command: &Command, names: &[&str]) -> Vec<Arg> {
    let taken = options(&command.program);
    let mut found = Vec::new();
    for (at, arg) in command.args.iter().enumerate() {
        if arg.text == "--" {
            break;
        }
        let next = command.args.get(at + 1);
        for name in names {
            if abbreviates(&arg.text, name) {
                let value = arg.text.find('=').and_then(|at| arg.behind(arg.text.get(..=at)?));
                found.extend(value.or_else(|| next.cloned()));
                continue;
            }
            match arg.behind(name) {
                Some(value) if value.text.is_empty() => found.extend(next.cloned()),
                Some(value) if name.starts_with("--") => found.extend(value.behind("=")),
                Some(value) => found.push(value.behind("=").unwrap_or(value)),
                None => found.extend(clustered(arg, name, taken.short, next)),
            }
        }
    }
    found
}

/// `--upload-fi` is `--upload-file`: any beginning of a name that is long enough to be the only one.
fn abbreviates(word: &str, name: &str) -> bool {
    let given = word.split('=').next().unwrap_or_default();
    given.starts_with("--") && given.len() > 7 && given.len() < name.len() && name.starts_with(given)
}

/// The value of an option that stands behind others in one word: `-so x`, `-sox`.
fn clustered(arg: &Arg, name: &str, valued: &str, next: Option<&Arg>) -> Option<Arg> {
    let letter = name.strip_prefix('-').filter(|letter| letter.len() == 1)?;
    let cluster = arg.text.strip_prefix('-').filter(|cluster| !cluster.starts_with('-'))?;
    let at = cluster.find(letter)?;
    // A letter before it that takes a value has taken the rest.
    if cluster.get(..at)?.contains(|c: char| valued.contains(c) || !c.is_ascii_alphanumeric()) {
        return None;
    }
    let value = arg.behind(arg.text.get(..at + 2)?)?;
    if value.text.is_empty() { next.cloned() } else { Some(value) }
}

/// Whether one of these options is given, alone or in a cluster of letters.
fn has(command: &Command, names: &[&str]) -> bool {
    command.args.iter().any(|arg| names.iter().any(|name| arg.text.starts_with(name)))
}

/// Whether a cluster of short options holds one of these letters, or a long option is given or abbreviated.
fn flag(command: &Command, letters: &str, long: &str) -> bool {
    command.args.iter().take_while(|arg| arg.text != "--").any(|arg| match arg.text.strip_prefix("--") {
        Some(name) => name.len() >= 3 && long.starts_with(name),
        None => arg.text.strip_prefix('-').is_some_and(|cluster| cluster.contains(|c| letters.contains(c))),
    })
}

pub(super) fn note(noted: &mut Noted<'_>) {
    let command = noted.command;
    let program = command.program.as_str();
    // A patch on the standard input names its files itself.
    let patches = matches!(program, "apply_patch" | "patch")
        || program == "git" && command.args.iter().any(|arg| arg.text == "apply");
    if let (true, Input::Text(patch)) = (patches, &command.input) {
        crate::patch::paths(patch).into_iter().for_each(|path| noted.note(Act::Write, &Arg::literal(path)));
    }
    if command.args.is_empty() {
        return;
    }
    let operands = options(program).operands(&command.args);
    let operands = operands.as_slice();
    match program {
        "rm" | "rmdir" | "unlink" | "shred" | "trash" | "srm" | "wipe" | "rimraf" | "del-cli" | "grm" => {
            let deep = matches!(program, "rimraf" | "del-cli") || flag(command, "rR", "recursive");
            operands.iter().for_each(|operand| noted.take_down(Act::Remove, operand, deep));
        }
        "find" | "gfind" => find(noted),
        "tee" | "sponge" => operands.iter().for_each(|operand| noted.note(Act::Redirect, operand)),
        "chmod" | "chown" | "chgrp" | "chattr" | "setfacl" => {
            // A mode may look like an option: `chmod -x file`.
            let mode = command.args.iter().any(|arg| is_mode(&arg.text));
            noted.all(Act::Change, operands.iter().skip(usize::from(!mode)).copied());
        }
        "cp" | "install" | "ln" | "mv" | "rsync" | "scp" | "gcp" | "gmv" => copy(noted, operands),
        "mkdir" => noted.all(Act::Write, operands.iter().copied()),
        "prettier" | "biome" | "eslint" | "gofmt" | "goimports" | "shfmt"
            if has(command, &["--write", "-w", "--fix"]) =>
        {
            noted.all(Act::Write, operands.iter().copied());
        }
        "black" | "isort" | "rustfmt" => noted.all(Act::Write, operands.iter().copied()),
        "go" | "shuf" | "rustc" | "esbuild" => noted.all(Act::Write, &option(command, &["-o", "--output"])),
        "sed" | "gsed" if has(command, &["-i", "--in-place"]) || in_cluster(command, 'i', "efl") => {
            let scripted = !option(command, &["-e", "--expression", "-f", "--file"]).is_empty();
            noted.all(Act::Write, operands.iter().skip(usize::from(!scripted)).copied());
        }
        "perl" | "ruby" if in_cluster(command, 'i', "eIMmF") => {
            let scripted = command.args.iter().any(|arg| is_script_option(&arg.text));
            let words = command.args.iter().filter(|arg| !arg.text.starts_with('-'));
            noted.all(Act::Write, words.skip(usize::from(scripted)));
        }
        "awk" | "gawk" => {
            let inplace = option(command, &["-i", "--include"]).iter().any(|arg| arg.text == "inplace");
            let scripted = !option(command, &["-f", "--file"]).is_empty();
            let act = if inplace { Act::Write } else { Act::Read };
            noted.all(act, operands.iter().skip(usize::from(!scripted)).copied().filter(|arg| !arg.text.contains('=')));
        }
        "dd" => {
            for arg in &command.args {
                if let Some(file) = arg.behind("of=") {
                    noted.note(Act::Redirect, &file);
                } else if let Some(file) = arg.behind("if=") {
                    noted.note(Act::Read, &file);
                }
            }
        }
        "sort" => {
            noted.all(Act::Write, &option(command, &["-o", "--output"]));
            noted.all(Act::Read, operands.iter().copied());
        }
        "curl" | "wget" | "http" | "https" | "xh" => fetch::note(noted, operands),
        "tar" | "gtar" | "bsdtar" => tar(noted, operands),
        "unzip" => {
            option(command, &["-d"]).iter().for_each(|directory| noted.take_down(Act::Write, directory, true));
            noted.all(Act::Read, operands.first().copied());
        }
        "zip" => {
            noted.all(Act::Write, operands.first().copied());
            let act = if in_cluster(command, 'm', "") { Act::Remove } else { Act::Read };
            operands.iter().skip(1).for_each(|operand| noted.take_down(act, operand, true));
        }
        "gpg" | "openssl" | "age" | "pandoc" | "gcc" | "cc" | "clang" | "g++" | "clang++" => {
            noted.all(Act::Write, &option(command, &["-o", "--output", "-out"]));
            noted.all(Act::Read, &option(command, &["-in", "-i", "-inkey"]));
            if matches!(program, "gpg" | "age") {
                noted.all(Act::Read, operands.iter().copied());
            }
        }
        "ssh-keygen" => noted.all(Act::Write, &option(command, &["-f"])),
        "git" => git(noted),
        "nc" | "ncat" | "netcat" | "ssh" | "telnet" | "ftp" | "sftp" => {
            noted.effects.network.extend(operands.first().map(|arg| arg.text.clone()));
        }
        "grep" | "egrep" | "fgrep" | "rg" | "sed" | "gsed" => {
            let scripted = !option(command, &["-e", "-f", "--regexp", "--expression", "--file"]).is_empty();
            noted.all(Act::Read, operands.iter().skip(usize::from(!scripted)).copied());
        }
        // Its values and its program are operands too; the file comes last.
        "yq" | "dasel" if has(command, &["-i", "--inplace"]) => {
            noted.all(Act::Write, operands.iter().skip(1).copied());
        }
        "gh" => {
            noted.all(Act::Read, &option(command, &["-F", "--body-file", "--notes-file", "--file"]));
            if operands.first().is_some_and(|noun| noun.text == "gist") {
                noted.all(Act::Read, operands.iter().skip(2).copied());
            }
        }
        "jq" | "yq" => {
            let file = operands.iter().skip(1).next_back();
            let filter = |arg: &&&Arg| {
                arg.text.contains(['=', '|', '[', ' ', '('])
                    || (arg.text.starts_with('.') && !arg.text.contains('/') && !arg.text.starts_with(".env"))
            };
            noted.all(Act::Read, file.filter(|arg| !filter(arg)).copied());
        }
        "export" | "declare" | "typeset" | "readonly" | "local" => {
            for arg in operands {
                let (name, value) = arg.text.split_once('=').map_or((arg.text.as_str(), None), |(n, v)| (n, Some(v)));
                let value = value.and_then(|_| super::super::walk::value_of(name, &arg.behind(&format!("{name}="))?));
                // `declare -n x=PATH` makes another name for it.
                if flag(command, "n", "") && program != "export" {
                    noted.effects.env.extend(arg.text.split_once('=').map(|(_, named)| (named.to_owned(), None)));
                }
                // A name alone is handed on as it is.
                if !name.is_empty() && (arg.text.contains('=') || program == "export") {
                    noted.effects.env.push((name.to_owned(), value));
                }
            }
        }
        "read" | "mapfile" | "readarray" => {
            noted.effects.env.extend(option(command, &["-a"]).into_iter().map(|arg| (arg.text, None)));
            noted.effects.env.extend(operands.iter().map(|arg| (arg.text.clone(), None)));
        }
        "printf" => noted.effects.env.extend(option(command, &["-v"]).into_iter().map(|arg| (arg.text, None))),
        "patch" => noted.all(Act::Write, operands.first().copied()),
        "xargs" => noted.all(Act::Read, &option(command, &["-a", "--arg-file"])),
        _ if READERS.contains(&program) => noted.all(Act::Read, operands.iter().copied()),
        _ if WRITERS.contains(&program) => noted.all(Act::Write, operands.iter().copied()),
        // Where a program says that it writes, it does.
        _ => {
            let outputs = option(
                command,
                &["--output", "--out", "--outdir", "--out-dir", "--outfile", "--target-dir", "--output-dir", "--dest"],
            );
            noted.all(Act::Write, outputs.iter().filter(|path| path.text.starts_with('/')));
            if matches!(program, "javac" | "cmake" | "pip" | "pip3" | "tree" | "docker" | "kotlinc" | "protoc") {
                let places = option(command, &["-d", "-B", "-t", "-o"]);
                noted.all(Act::Write, places.iter().filter(|path| path.text.starts_with('/')));
            }
        }
    }
}

/// `-x`, `-rwx`: what is taken from everybody.
fn is_mode(word: &str) -> bool {
    word.strip_prefix('-').is_some_and(|mode| !mode.is_empty() && mode.chars().all(|c| "rwxXst".contains(c)))
}

/// Whether a short option stands in a cluster, before any letter that takes a value.
fn in_cluster(command: &Command, letter: char, valued: &str) -> bool {
    command.args.iter().filter_map(|arg| arg.text.strip_prefix('-')).any(|cluster| {
        let letters = cluster.chars().take_while(|c| c.is_ascii_alphanumeric());
        !cluster.starts_with('-') && letters.take_while(|c| !valued.contains(*c)).any(|c| c == letter)
    })
}

fn is_script_option(word: &str) -> bool {
    word.starts_with('-') && !word.starts_with("--") && word.ends_with('e')
}

fn find(noted: &mut Noted<'_>) {
    let command = noted.command;
    let prints = option(command, &["-fprint", "-fprintf", "-fls", "-fprint0"]);
    noted.all(Act::Write, &prints);
    if !has(command, &["-delete"]) {
        return;
    }
    let starts: Vec<Arg> = command
        .args
        .iter()
        .skip_while(|arg| matches!(arg.text.as_str(), "-L" | "-H" | "-P"))
        .take_while(|arg| !arg.text.starts_with('-') && !matches!(arg.text.as_str(), "(" | "!"))
        .cloned()
        .collect();
    let starts = if starts.is_empty() { vec![Arg::literal(".")] } else { starts };
    // With a test only some of it goes.
    let tests = [
        "-name",
        "-iname",
        "-path",
        "-ipath",
        "-regex",
        "-type",
        "-mtime",
        "-mmin",
        "-size",
        "-empty",
        "-newer",
        "-mindepth",
    ];
    for start in starts {
        if let Some(name) = super::super::runner::only_name(&command.args).filter(|_| start.is_known()) {
            let text = format!("{}/**/{name}", start.text.trim_end_matches('/'));
            noted.take_down(Act::Remove, &Arg { text, known: None, glob: true }, true);
        } else if has(command, &tests) {
            let text = format!("{}/", start.text.trim_end_matches('/'));
            let known = start.known.or(Some(text.len()));
            noted.take_down(Act::Remove, &Arg { text: format!("{text}$FOUND"), known, glob: false }, true);
        } else {
            noted.take_down(Act::Remove, &start, true);
        }
    }
}

fn copy(noted: &mut Noted<'_>, operands: &[&Arg]) {
    let command = noted.command;
    let remote = matches!(command.program.as_str(), "scp" | "rsync");
    let elsewhere = |arg: &Arg| remote && arg.text.split_once(':').is_some_and(|(host, _)| !host.contains('/'));
    if remote {
        let hosts = operands.iter().filter(|arg| elsewhere(arg)).filter_map(|arg| arg.text.split_once(':'));
        noted.effects.network.extend(hosts.map(|(host, _)| host.to_owned()));
    }
    let named = option(command, &["-t", "--target-directory"]);
    let (target, sources) = match (named.first(), operands.split_last()) {
        (Some(target), _) => (Some(target.clone()), operands),
        // `ln x` makes its link here.
        (None, Some((only, []))) if command.program == "ln" => (Some(Arg::literal(".")), std::slice::from_ref(only)),
        (None, Some((last, sources))) => (Some((*last).clone()), sources),
        (None, None) => (None, operands),
    };
    let act = match command.program.as_str() {
        "mv" | "gmv" => Act::Move,
        "rsync" if has(command, &["--remove-source-files"]) => Act::Remove,
        _ => Act::Read,
    };
    for source in sources.iter().filter(|source| !elsewhere(source)) {
        noted.take_down(act, source, true);
    }
    let Some(target) = target.filter(|target| !elsewhere(target)) else { return };
    // What is copied whole may bring any file with it.
    if matches!(command.program.as_str(), "rsync" | "ln")
        || flag(command, "rRa", "recursive")
        || flag(command, "", "archive")
    {
        noted.take_down(Act::Write, &target, true);
    }
    match sources {
        [] => noted.note(Act::Write, &target),
        sources => sources.iter().for_each(|source| noted.put(&target, Some(source))),
    }
}

fn tar(noted: &mut Noted<'_>, operands: &[&Arg]) {
    let command = noted.command;
    let first = command.args.first().map_or("", |arg| arg.text.as_str());
    let bundled = !first.starts_with('-');
    let verb = |letter: char| {
        (bundled && first.contains(letter)) || in_cluster(command, letter, if letter == 'c' { "C" } else { "" })
    };
    let unpacks = verb('x') || has(command, &["--extract", "--get"]);
    let directories = option(command, &["-C", "--directory"]);
    let mut files = option(command, &["-f", "--file"]);
    let mut operands: Vec<Arg> = operands.iter().map(|arg| (*arg).clone()).collect();
    if bundled && !operands.is_empty() {
        operands.remove(0);
        if first.contains('f') && !operands.is_empty() {
            files.push(operands.remove(0));
        }
    }
    if unpacks {
        directories.iter().for_each(|directory| noted.take_down(Act::Write, directory, true));
        noted.all(Act::Read, &files);
    } else if verb('c') || has(command, &["--create"]) {
        noted.all(Act::Write, files.iter().filter(|file| file.text != "-"));
        if has(command, &["--remove-files"]) {
            operands.iter().for_each(|operand| noted.take_down(Act::Remove, operand, true));
        }
        operands.iter().for_each(|operand| noted.take_down(Act::Read, operand, true));
    }
}

/// `git checkout x -- file`, `git restore file`, `git rm`, `git mv`.
fn git(noted: &mut Noted<'_>) {
    let words = super::super::runner::behind_global(&noted.command.args);
    // `git -C dir` works in another directory.
    let elsewhere =
        noted.command.args.iter().zip(noted.command.args.iter().skip(1)).find(|(option, _)| option.text == "-C");
    let moved = elsewhere
        .filter(|_| words.len() < noted.command.args.len())
        .map(|(_, dir)| Target::of(dir, noted.command.cwd.as_deref()));
    let moved = moved.map(|target| Command {
        cwd: target.path.filter(|_| !target.open).map(|path| path.to_string().into()),
        ..noted.command.clone()
    });
    let mut noted = Noted {
        command: moved.as_ref().unwrap_or(noted.command),
        row: noted.row,
        astray: noted.astray,
        effects: &mut *noted.effects,
    };
    let noted = &mut noted;
    let Some((verb, rest)) = words.split_first() else { return };
    let paths = || {
        let named = rest.iter().skip_while(|arg| arg.text != "--").skip(1);
        let named: Vec<&Arg> = named.collect();
        if named.is_empty() { rest.iter().filter(|arg| !arg.text.starts_with('-')).collect() } else { named }
    };
    match verb.text.as_str() {
        // From another commit it is as good as written anew.
        "checkout" if rest.iter().any(|arg| arg.text == "--") => {
            let from = rest.iter().take_while(|arg| arg.text != "--").any(|arg| !arg.text.starts_with('-'));
            let act = if from { Act::Write } else { Act::Restore };
            paths().into_iter().for_each(|path| noted.take_down(act, path, true));
        }
        // `git checkout abc123 file`
        "checkout" => {
            let words = rest.iter().filter(|arg| !arg.text.starts_with('-')).skip(1);
            let named =
                !rest.iter().any(|arg| matches!(arg.text.as_str(), "-b" | "-B" | "--orphan" | "-t" | "--track"));
            noted.all(Act::Write, words.filter(|_| named));
        }
        "clone" => noted.all(Act::Write, rest.iter().filter(|arg| !arg.text.starts_with('-')).skip(1)),
        "diff" | "log" | "archive" | "format-patch" | "bundle" => {
            let files =
                rest.iter().filter_map(|arg| arg.behind("--output=").or_else(|| arg.behind("--output-directory=")));
            let pairs = rest
                .iter()
                .zip(rest.iter().skip(1))
                .filter(|(option, _)| option.text == "-o" || option.text == "--output");
            let files: Vec<Arg> = files.chain(pairs.map(|(_, file)| file.clone())).collect();
            noted.all(Act::Write, &files);
        }
        "restore" => {
            let source =
                |arg: &&Arg| matches!(arg.text.as_str(), "-s" | "--source") || arg.text.starts_with("--source=");
            let from = rest.iter().any(|arg| source(&arg));
            noted.all(if from { Act::Write } else { Act::Restore }, paths());
        }
        "rm" if !rest.iter().any(|arg| arg.text == "--cached") => {
            paths().into_iter().for_each(|path| noted.take_down(Act::Remove, path, true));
        }
        "init" | "worktree" => {
            let words = rest.iter().filter(|arg| !arg.text.starts_with('-') && arg.text.contains('/'));
            noted.all(Act::Write, words);
        }
        "mv" => {
            if let Some((target, sources)) = paths().split_last() {
                noted.all(Act::Move, sources.iter().copied());
                sources.iter().for_each(|source| noted.put(target, Some(source)));
            }
        }
        _ => {}
    }
}
