//! What programs do to files and variables, by their operands and options.

use super::super::options::Options;
use super::super::{Arg, Command, Input};
use super::{Act, Noted, archive, container, copy, fetch, git, mode, product, search};

/// Programs that read every file they are given.
const READERS: &[&str] = &[
    ".", "b2sum", "base32", "base64", "basenc", "bat", "batcat", "bzcat", "bzgrep", "bzless", "cat", "cksum", "cmp",
    "col", "colordiff", "colrm", "column", "comm", "csplit", "csvcut", "csvlook", "cut", "delta", "diff", "diff3",
    "difft", "envsubst", "expand", "fmt", "fold", "gcat", "glow", "gron", "head", "hexdump", "icdiff", "iconv", "jaq",
    "join", "less", "look", "m4", "md5", "md5sum", "mdcat", "mlr", "more", "nl", "od", "paste", "pr", "ptx", "rev",
    "rga", "sdiff", "sha1sum", "sha224sum", "sha256sum", "sha384sum", "sha512sum", "shasum", "source", "split",
    "strings", "sum", "tac", "tail", "tsort", "ul", "unexpand", "uniq", "vimdiff", "wc", "wdiff", "xmllint", "xq",
    "xsv", "xxd", "xzcat", "ydiff", "zcat", "zdiff", "zegrep", "zfgrep", "zgrep", "zless", "zmore", "zstdcat",
];

/// Programs that change every file they are given.
const WRITERS: &[&str] = &["ed", "emacs", "ex", "nvim", "mkfifo", "mknod", "nano", "touch", "truncate", "vi", "vim"];

/// The options of these programs that take a value.
pub(in super::super) fn options(program: &str) -> Options {
    let (short, long): (&'static str, &'static [&'static str]) = match program {
        "cp" | "gcp" | "mv" | "gmv" | "install" | "ln" | "gln" => {
            ("tSgmo", &["group", "mode", "owner", "suffix", "target-directory"])
        }
        "curl" | "wget" | "http" | "https" | "xh" => return fetch::options(program),
        "grep" | "egrep" | "fgrep" | "rg" | "ag" | "ack" | "ugrep" => (
            "ABCDefgmtdT",
            &[
                "after-context", "before-context", "context", "exclude", "exclude-dir", "file", "glob", "include",
                "max-count", "max-depth", "regexp", "sort", "type",
            ],
        ),
        "head" | "tail" => ("nc", &["bytes", "lines"]),
        "read" => ("adinNptu", &[]),
        "rsync" => (
            "efTBM",
            &["copy-dest", "exclude", "exclude-from", "files-from", "include", "link-dest", "log-file", "rsh"],
        ),
        "jq" => ("fL", &["arg", "argjson", "indent", "rawfile", "slurpfile"]),
        "nc" | "ncat" | "netcat" => ("egimpqsTwXxIOPV", &["exec", "sh-exec", "proxy", "wait", "idle-timeout", "delay"]),
        "uniq" => ("fsw", &["skip-fields", "skip-chars", "check-chars"]),
        "shuf" => ("nio", &["head-count", "input-range", "output"]),
        "openssl" => ("", &[]),
        "scp" => ("cFiJloPSD", &[]),
        "sed" => ("efl", &["expression", "file"]),
        "awk" | "gawk" | "mawk" => ("fFvi", &["file", "field-separator", "assign", "include"]),
        "sort" => ("kotST", &["key", "output"]),
        "ssh" => ("BbcDEeFIiJLlmOopQRSWw", &[]),
        "tar" => ("bCfFgIKLNTVX", &["directory", "file"]),
        "touch" | "truncate" => ("drts", &["date", "reference", "size"]),
        _ => return mode::options(program).unwrap_or(Options::NONE),
    };
    Options { short, long }
}

/// The value of an option in any of its spellings: `-o x`, `-ox`, `-sox`, `--output x`, `--output=x`.
pub(super) fn option(command: &Command, names: &[&str]) -> Vec<Arg> {
    let mut found = Vec::new();
    if !command.args.iter().any(|arg| arg.text.starts_with('-')) {
        return found;
    }
    let taken = options(&command.program);
    for (at, arg) in command.args.iter().enumerate() {
        if arg.text == "--" {
            break;
        }
        if !arg.text.starts_with('-') {
            continue;
        }
        let next = command.args.get(at + 1);
        // A word that begins otherwise is none of them, in no spelling.
        let long = arg.text.starts_with("--");
        let third = arg.text.as_bytes().get(2);
        let alike =
            |name: &&&str| !(long && name.starts_with("--")) || third.is_none() || third == name.as_bytes().get(2);
        for name in names.iter().filter(alike) {
            if abbreviates(&arg.text, name, &taken) {
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

/// `--upload-fi` is `--upload-file`: any beginning of a name that is not a name itself.
fn abbreviates(word: &str, name: &str, taken: &Options) -> bool {
    let given = word.split('=').next().unwrap_or_default();
    let Some((given, name)) = given.strip_prefix("--").zip(name.strip_prefix("--")) else { return false };
    let listed = taken.long.is_empty() || taken.meant(given) == name;
    given.len() > 2 && given.len() < name.len() && name.starts_with(given) && listed && taken.meant(given) != given
        || (taken.long.is_empty() && given.len() > 5 && given.len() < name.len() && name.starts_with(given))
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
pub(super) fn has(command: &Command, names: &[&str]) -> bool {
    command.args.iter().any(|arg| names.iter().any(|name| arg.text.starts_with(name)))
}

/// Whether a cluster of short options holds one of these letters, or a long option is given or abbreviated.
pub(super) fn flag(command: &Command, letters: &str, long: &str) -> bool {
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
        crate::encoding::patch::paths(patch).into_iter().for_each(|path| noted.note(Act::Write, &Arg::literal(path)));
    }
    if command.args.is_empty() {
        return;
    }
    let operands = options(program).operands(&command.args);
    let operands = operands.as_slice();
    if product::product(noted, operands) {
        return;
    }
    match program {
        "rm" | "rmdir" | "unlink" | "shred" | "trash" | "srm" | "wipe" | "rimraf" | "del-cli" | "grm" => {
            let deep = matches!(program, "rimraf" | "del-cli") || flag(command, "rR", "recursive");
            operands.iter().for_each(|operand| noted.take_down(Act::Remove, operand, deep));
        }
        "find" | "gfind" | "bfs" => search::find(noted),
        "tee" | "sponge" => operands.iter().for_each(|operand| noted.note(Act::Redirect, operand)),
        _ if mode::changes_rights(program) => mode::note(noted, operands),
        // It makes directories, and sets the mode of those that are there.
        "install" if options(program).has(&command.args, 'd', "directory") => {
            noted.all(Act::Write, operands.iter().copied());
            mode::change(noted, operands);
        }
        "cp" | "install" | "ln" | "mv" | "link" | "rsync" | "scp" | "gcp" | "gln" | "gmv" => {
            copy::copy(noted, operands);
        }
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
        // `perl -ne 'code' file`: what is looped over is read.
        "perl" | "ruby" if in_cluster(command, 'n', "eEIMmFr") || in_cluster(command, 'p', "eEIMmFr") => {
            let code = command.args.iter().position(|arg| is_script_option(&arg.text));
            let files = command.args.iter().skip(code.map_or(0, |at| at + 2)).filter(|arg| !arg.text.starts_with('-'));
            noted.all(Act::Read, files);
        }
        "awk" | "gawk" | "mawk" | "nawk" => {
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
        "tar" | "gtar" | "bsdtar" => archive::tar(noted),
        "unzip" => {
            option(command, &["-d"]).iter().for_each(|directory| noted.take_down(Act::Write, directory, true));
            noted.all(Act::Read, operands.first().copied());
        }
        // `7z a archive file…`
        "7z" | "7za" | "7zz" if operands.first().is_some_and(|verb| matches!(verb.text.as_str(), "a" | "u")) => {
            noted.all(Act::Write, operands.get(1).copied());
            operands.iter().skip(2).for_each(|operand| noted.take_down(Act::Read, operand, true));
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
        // It shows a key, or makes one.
        "ssh-keygen" => {
            let shows = ['l', 'y', 'e', 'B', 'F', 'L'].iter().any(|letter| in_cluster(command, *letter, "fbtCNPOI"));
            noted.all(if shows { Act::Read } else { Act::Write }, &option(command, &["-f"]));
        }
        "git" => git::git(noted),
        "docker" | "podman" | "nerdctl" | "docker-compose" => {
            container::mounts(noted);
            named_outputs(noted);
        }
        "nc" | "ncat" | "netcat" | "ssh" | "telnet" | "ftp" | "sftp" => {
            noted.effects.network.extend(operands.first().map(|arg| arg.text.to_string()));
        }
        "sed" | "gsed" => {
            let scripted = !option(command, &["-e", "-f", "--expression", "--file"]).is_empty();
            noted.all(Act::Read, operands.iter().skip(usize::from(!scripted)).copied());
        }
        "grep" | "egrep" | "fgrep" | "rg" | "ag" | "ack" | "ugrep" => search::grep(noted, operands),
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
            // `--rawfile name file`
            let named = command.args.windows(3).filter_map(|words| match words {
                [option, _, file] if matches!(option.text.as_str(), "--rawfile" | "--slurpfile" | "--argfile") => {
                    Some(file)
                }
                _ => None,
            });
            noted.all(Act::Read, named);
            let file = operands.iter().skip(1).next_back();
            let filter = |arg: &&&Arg| {
                arg.text.contains(['=', '|', '[', ' ', '('])
                    || (arg.text.starts_with('.') && !arg.text.contains('/') && !arg.text.starts_with(".env"))
            };
            noted.all(Act::Read, file.filter(|arg| !filter(arg)).copied());
        }
        "export" | "declare" | "typeset" | "readonly" | "local" => {
            let is_reference = program != "export" && flag(command, "n", "");
            for arg in operands {
                let (name, value) = arg.text.split_once('=').map_or((arg.text.as_str(), None), |(n, v)| (n, Some(v)));
                let value = value.and_then(|_| crate::shell::eval::env_value(name, &arg.behind(&format!("{name}="))?));
                // `declare -n x=PATH` makes another name for it.
                if is_reference {
                    noted.effects.env.extend(arg.text.split_once('=').map(|(_, named)| (named.to_owned(), None)));
                }
                // A name alone is handed on as it is.
                if !name.is_empty() && (arg.text.contains('=') || program == "export") {
                    noted.effects.env.push((name.to_owned(), value));
                }
            }
        }
        "read" | "mapfile" | "readarray" => {
            noted.effects.env.extend(option(command, &["-a"]).into_iter().map(|arg| (arg.text.into(), None)));
            noted.effects.env.extend(operands.iter().map(|arg| (arg.text.to_string(), None)));
        }
        "printf" => noted.effects.env.extend(option(command, &["-v"]).into_iter().map(|arg| (arg.text.into(), None))),
        "patch" => noted.all(Act::Write, operands.first().copied()),
        "xargs" => noted.all(Act::Read, &option(command, &["-a", "--arg-file"])),
        "bunzip2" | "bzip2" | "gunzip" | "gzip" | "unxz" | "xz" | "zstd" | "unzstd" => {
            noted.all(Act::Read, operands.iter().copied());
            if !in_cluster(command, 'c', "S") && !has(command, &["--stdout", "--to-stdout"]) {
                noted.all(Act::Write, operands.iter().copied());
            }
        }
        _ if READERS.contains(&program) => noted.all(Act::Read, operands.iter().copied()),
        _ if WRITERS.contains(&program) => noted.all(Act::Write, operands.iter().copied()),
        _ => named_outputs(noted),
    }
}

/// Where a program says that it writes, it does.
fn named_outputs(noted: &mut Noted<'_>) {
    let command = noted.command;
    let outputs = option(
        command,
        &["--output", "--out", "--outdir", "--out-dir", "--outfile", "--target-dir", "--output-dir", "--dest"],
    );
    noted.all(Act::Write, outputs.iter().filter(|path| path.text.starts_with('/')));
    let program = command.program.as_str();
    if matches!(program, "javac" | "cmake" | "pip" | "pip3" | "tree" | "docker" | "podman" | "kotlinc" | "protoc") {
        let places = option(command, &["-d", "-B", "-t", "-o"]);
        noted.all(Act::Write, places.iter().filter(|path| path.text.starts_with('/')));
    }
}

/// Whether a short option stands in a cluster, before any letter that takes a value.
pub(super) fn in_cluster(command: &Command, letter: char, valued: &str) -> bool {
    command.args.iter().filter_map(|arg| arg.text.strip_prefix('-')).any(|cluster| {
        let letters = cluster.chars().take_while(|c| c.is_ascii_alphanumeric());
        !cluster.starts_with('-') && letters.take_while(|c| !valued.contains(*c)).any(|c| c == letter)
    })
}

fn is_script_option(word: &str) -> bool {
    word.starts_with('-') && !word.starts_with("--") && word.ends_with(['e', 'E'])
}
