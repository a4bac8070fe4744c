//! Effects: what the commands of a line do to files, variables and the network, derived once for every rule.

use super::options::Options;
use super::{Arg, Command, Reading};
use crate::event::Place;
use crate::path::AbsPath;

/// What a line does. Paths are absolute where they can be known, else as they are written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Effects {
    /// Files that are written or replaced.
    pub writes: Vec<String>,
    /// Files that are removed.
    pub removes: Vec<String>,
    /// Files that are read.
    pub reads: Vec<String>,
    /// Variables that are set for programs.
    pub env: Vec<String>,
    /// Hosts and addresses that are talked to.
    pub network: Vec<String>,
}

pub(super) fn effects(reading: &Reading) -> Effects {
    let mut effects = Effects::default();
    for command in reading.commands.iter().chain(&reading.loose) {
        let at = |arg: &Arg| resolve(arg, command);
        for redirect in &command.redirects {
            if redirect.writes {
                effects.writes.push(at(&redirect.target));
            }
            if redirect.reads {
                effects.reads.push(at(&redirect.target));
            }
        }
        effects.env.extend(command.env.iter().map(|(name, _)| name.clone()));
        of_program(command, &at, &mut effects);
    }
    for list in [&mut effects.writes, &mut effects.removes, &mut effects.reads, &mut effects.env, &mut effects.network]
    {
        let mut seen = std::collections::HashSet::new();
        let fresh: Vec<bool> = list.iter().map(|item| seen.insert(item.as_str())).collect();
        let mut fresh = fresh.into_iter();
        list.retain(|_| fresh.next().unwrap_or(true));
    }
    effects
}

/// The absolute path of a word, as far as it can be known.
fn resolve(arg: &Arg, command: &Command) -> String {
    let rooted = arg.prefix().starts_with('/');
    match &command.cwd {
        _ if arg.prefix().is_empty() && !arg.is_known() => arg.text.clone(),
        None if !rooted => arg.text.clone(),
        cwd => {
            let place = Place { cwd: cwd.as_deref().unwrap_or_default().to_owned(), home: None };
            // A tilde was expanded where it was one; here it is a character.
            let text = if arg.text.starts_with('~') { format!("./{}", arg.text) } else { arg.text.clone() };
            format!("/{}", AbsPath::resolve(&text, &place).components().join("/"))
        }
    }
}

/// The options of these programs that take a value.
fn options(program: &str) -> Options {
    let (short, long): (&'static str, &'static [&'static str]) = match program {
        "cp" | "mv" | "install" | "ln" => ("tSgmo", &["group", "mode", "owner", "suffix", "target-directory"]),
        "curl" => (
            "AbcCdDeEFhHKmoPQrtTuUwxXyYz",
            &[
                "connect-timeout",
                "cookie",
                "cookie-jar",
                "data",
                "data-binary",
                "data-raw",
                "data-urlencode",
                "dump-header",
                "form",
                "header",
                "json",
                "max-time",
                "oauth2-bearer",
                "output",
                "proxy",
                "range",
                "referer",
                "request",
                "retry",
                "upload-file",
                "user",
                "user-agent",
                "write-out",
            ],
        ),
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
        "sort" => ("kotST", &["key", "output"]),
        "ssh" => ("BbcDEeFIiJLlmOopQRSWw", &[]),
        "tar" => ("bCfFgIKLNTVX", &["directory", "file"]),
        "wget" => (
            "aAeDioOPQtTUwX",
            &[
                "body-data",
                "body-file",
                "directory-prefix",
                "header",
                "method",
                "output-document",
                "output-file",
                "post-data",
                "post-file",
                "user-agent",
            ],
        ),
        _ => ("", &[]),
    };
    Options { short, long }
}

/// The value of an option in any of its spellings: `-o x`, `-ox`, `--output x`, `--output=x`.
fn option<'a>(command: &'a Command, names: &[&str]) -> Vec<Arg> {
    let mut found = Vec::new();
    let mut args = command.args.iter().peekable();
    while let Some(arg) = args.next() {
        for name in names {
            let value = arg.text.strip_prefix(name);
            let long = name.starts_with("--");
            match value {
                Some("") => found.extend(args.peek().map(|next: &&'a Arg| (*next).clone())),
                Some(value) if long => found.extend(value.strip_prefix('=').map(Arg::literal)),
                Some(value) => found.push(Arg::literal(value)),
                None => {}
            }
        }
    }
    found
}

fn of_program(command: &Command, at: &dyn Fn(&Arg) -> String, effects: &mut Effects) {
    let operands = options(&command.program).operands(&command.args);
    let paths = |args: &[&Arg]| args.iter().map(|arg| at(arg)).collect::<Vec<_>>();
    let has =
        |letters: &[&str]| command.args.iter().any(|arg| letters.iter().any(|letter| arg.text.starts_with(letter)));
    match command.program.as_str() {
        "rm" | "rmdir" | "unlink" | "shred" => effects.removes.extend(paths(&operands)),
        "find" if has(&["-delete"]) => {
            let start = operands.first().map_or_else(|| at(&Arg::literal(".")), |start| at(start));
            // With a test only some of it goes.
            let tests = [
                "-name", "-iname", "-path", "-ipath", "-regex", "-type", "-mtime", "-mmin", "-size", "-empty", "-newer",
            ];
            effects.removes.push(if has(&tests) { format!("{start}/$FOUND") } else { start });
        }
        "tee" | "touch" | "truncate" | "mkfifo" | "mknod" => effects.writes.extend(paths(&operands)),
        "cp" | "install" | "ln" | "mv" | "rsync" | "scp" => {
            let target = option(command, &["-t", "--target-directory"]);
            let (last, sources) =
                operands.split_last().map_or((None, operands.as_slice()), |(last, rest)| (Some(*last), rest));
            let sources: Vec<&Arg> = if target.is_empty() { sources.to_vec() } else { operands.clone() };
            effects.writes.extend(target.iter().map(at));
            effects.writes.extend(last.filter(|_| target.is_empty()).map(at));
            let moved = if command.program == "mv" { &mut effects.removes } else { &mut effects.reads };
            moved.extend(paths(&sources));
            if matches!(command.program.as_str(), "scp" | "rsync") {
                effects.writes.retain(|path| !path.contains(':'));
                effects.reads.retain(|path| !path.contains(':'));
                effects.network.extend(
                    operands.iter().filter_map(|arg| arg.text.split_once(':')).map(|(host, _)| host.to_owned()),
                );
            }
        }
        "sed" | "perl" if has(&["-i", "--in-place", "-pi", "-Ei", "-ni"]) => {
            let scripted = !option(command, &["-e", "--expression", "-f"]).is_empty();
            effects.writes.extend(paths(operands.get(usize::from(!scripted)..).unwrap_or_default()));
        }
        "dd" => {
            let value = |name: &str| {
                command
                    .args
                    .iter()
                    .filter_map(|arg| arg.text.strip_prefix(name))
                    .map(|file| at(&Arg::literal(file)))
                    .collect::<Vec<_>>()
            };
            effects.writes.extend(value("of="));
            effects.reads.extend(value("if="));
        }
        "sort" => {
            effects.writes.extend(option(command, &["-o", "--output"]).iter().map(at));
            effects.reads.extend(paths(&operands));
        }
        "curl" | "wget" | "http" | "https" | "xh" => fetch(command, &operands, at, effects),
        "tar" | "unzip" => effects.writes.extend(option(command, &["-C", "--directory", "-d"]).iter().map(at)),
        "nc" | "ncat" | "netcat" | "ssh" | "telnet" | "ftp" | "sftp" => {
            effects.network.extend(operands.first().map(|arg| arg.text.clone()))
        }
        "cat" | "head" | "tail" | "less" | "more" | "tac" | "nl" | "xxd" | "od" | "base64" | "strings" | "wc"
        | "cut" | "uniq" | "bat" | "source" | "." => effects.reads.extend(paths(&operands)),
        "grep" | "egrep" | "fgrep" | "rg" | "awk" | "sed" => {
            effects.reads.extend(paths(operands.get(1..).unwrap_or_default()))
        }
        // Its values and its program are operands too; the file comes last.
        "jq" => {
            let file = operands.get(1..).unwrap_or_default().last();
            let filter = |arg: &&&Arg| {
                arg.text.contains(['=', '|', '[', ' ', '(']) || (arg.text.starts_with('.') && !arg.text.contains('/'))
            };
            effects.reads.extend(file.filter(|arg| !filter(arg)).map(|arg| at(arg)));
        }
        "export" | "declare" | "typeset" | "readonly" | "local" => {
            let names = operands.iter().map(|arg| arg.text.split('=').next().unwrap_or_default().to_owned());
            effects.env.extend(names.filter(|name| !name.is_empty()));
        }
        "read" | "mapfile" | "readarray" => effects.env.extend(operands.iter().map(|arg| arg.text.clone())),
        "printf" => effects.env.extend(option(command, &["-v"]).into_iter().map(|arg| arg.text)),
        _ => {}
    }
}

/// Downloads: where to, what is sent, and with whom.
fn fetch(command: &Command, operands: &[&Arg], at: &dyn Fn(&Arg) -> String, effects: &mut Effects) {
    let curl = command.program == "curl";
    let outputs: &[&str] = if curl {
        &["-o", "--output", "-D", "--dump-header", "-c", "--cookie-jar"]
    } else {
        &["-O", "--output-document", "-o", "--output-file"]
    };
    effects.writes.extend(option(command, outputs).iter().filter(|arg| arg.text != "-").map(at));
    let sent = option(
        command,
        &[
            "-d",
            "--data",
            "--data-binary",
            "--data-raw",
            "--data-urlencode",
            "--json",
            "-F",
            "--form",
            "--post-data",
            "--body-data",
        ],
    );
    let files = sent.iter().filter_map(|arg| {
        arg.text.split_once('@').or_else(|| arg.text.split_once("=<")).map(|(_, file)| file.to_owned())
    });
    let uploads =
        option(command, &["-T", "--upload-file", "--post-file", "--body-file"]).into_iter().map(|arg| arg.text);
    effects.reads.extend(files.chain(uploads).filter(|file| file != "-").map(|file| at(&Arg::literal(file))));
    effects.network.extend(operands.iter().map(|arg| arg.text.clone()));
}
