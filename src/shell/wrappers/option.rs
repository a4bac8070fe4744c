//! Options and operands whose value is a command: one row a program.

use super::super::Arg;
use super::Inner;

/// Options of programs that take shell text.
const TEXTS: [(&[&str], &[&str]); 14] = [
    (&["go"], &["-exec", "-toolexec", "--exec", "--toolexec", "-vettool", "--vettool"]),
    (&["wget"], &["--use-askpass"]),
    (&["nodemon", "tsx", "watchexec"], &["--exec", "-x"]),
    (&["gcc", "cc", "g++", "clang", "clang++"], &["-wrapper"]),
    (&["make", "gmake"], &["--eval", "-E"]),
    (&["compgen", "mapfile", "readarray"], &["-C"]),
    (&["split"], &["--filter"]),
    (&["man"], &["-P", "--pager"]),
    (&["nc", "ncat", "netcat"], &["-e", "-c", "--exec", "--sh-exec"]),
    (&["rg"], &["--pre"]),
    (&["rsync"], &["-e", "--rsh", "--rsync-path"]),
    (&["sort", "gsort"], &["--compress-program"]),
    (
        &["tar", "gtar", "bsdtar"],
        &[
            "-F", "-I", "--info-script", "--rsh-command", "--to-command", "--use-compress-program",
            "--new-volume-script", "--rmt-command",
        ],
    ),
    (&["zip"], &["-TT", "--unzip-command"]),
];

/// What the options of a program run.
pub(super) fn options(program: &str, args: &[Arg]) -> Vec<Inner> {
    let names = TEXTS.iter().filter(|(programs, _)| programs.contains(&program)).flat_map(|(_, names)| *names);
    let names: Vec<&str> = names.copied().collect();
    let mut texts = if names.is_empty() { Vec::new() } else { values(args, &names) };
    match program {
        "make" | "gmake" => texts.extend(stripped(args, "SHELL=")),
        "tar" | "gtar" | "bsdtar" => {
            let actions = values(args, &["--checkpoint-action"]);
            texts.extend(actions.iter().filter_map(|action| action.strip_prefix("exec=")).map(str::to_owned));
            texts.extend(stripped(args, "-I").into_iter().filter(|text| !text.is_empty()));
        }
        "ssh" | "scp" | "sftp" => {
            let settings = values(args, &["-o"]).into_iter().chain(stripped(args, "-o"));
            texts.extend(settings.filter_map(|setting| {
                let (key, value) = setting.split_once(['=', ' '])?;
                let runs =
                    ["proxycommand", "localcommand", "knownhostscommand"].contains(&key.to_ascii_lowercase().as_str());
                runs.then(|| value.to_owned())
            }));
        }
        "socat" => {
            let commands = args.iter().filter_map(|arg| arg.text.split_once(':'));
            let run = commands.filter(|(kind, _)| ["EXEC", "SYSTEM"].contains(&kind.to_ascii_uppercase().as_str()));
            texts.extend(run.map(|(_, command)| command.split(',').next().unwrap_or_default().to_owned()));
        }
        "vi" | "vim" | "nvim" | "view" | "ex" | "gdb" | "lldb" => {
            let commands =
                values(args, &["-c", "--cmd", "-ex", "--eval-command", "-o"]).into_iter().chain(stripped(args, "+"));
            texts.extend(commands.filter_map(|command| {
                let command = command.trim_start_matches(':').to_owned();
                let shell = command.strip_prefix("shell ").map(str::to_owned);
                shell.or_else(|| command.split_once('!').map(|(_, text)| text.to_owned()))
            }));
        }
        "osascript" => texts.extend(values(args, &["-e"]).iter().flat_map(|script| spoken(script))),
        _ => {}
    }
    texts.into_iter().filter(|text| !text.trim().is_empty()).map(Inner::text).collect()
}

/// The values of these options, in the next word or behind `=`.
fn values(args: &[Arg], names: &[&str]) -> Vec<String> {
    let attached = args.iter().filter_map(|arg| {
        let (name, value) = arg.text.split_once('=')?;
        // GNU takes any beginning of a name that is the only one.
        let begins = |known: &&str| name.starts_with("--") && name.len() > 5 && known.starts_with(name);
        (names.contains(&name) || names.iter().any(begins)).then(|| value.to_owned())
    });
    let pairs = args.iter().zip(args.iter().skip(1));
    let separate =
        pairs.filter(|(name, _)| names.contains(&name.text.as_str())).map(|(_, value)| value.text.to_string());
    attached.chain(separate).collect()
}

fn stripped(args: &[Arg], prefix: &str) -> Vec<String> {
    args.iter().filter_map(|arg| arg.text.strip_prefix(prefix)).map(str::to_owned).collect()
}

/// `do shell script "…"`
fn spoken(script: &str) -> Vec<String> {
    let rest = script.split("do shell script").skip(1);
    rest.filter_map(|rest| rest.split('"').nth(1)).map(str::to_owned).collect()
}
