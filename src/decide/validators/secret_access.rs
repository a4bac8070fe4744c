//! Secrets that are read: files that hold keys, and variables that are shown.

use super::protected_path::{is_secret_settings, letters_of};
use super::{Context, block, command, suspicious};
use crate::decide::subject::Subject;
use crate::event::Action;
use crate::path::{AbsPath, Extent, Glob, globs, names_overlap, touches, touches_any_home, touches_tree};
use crate::rules::Match;
use crate::shell::{Act, Arg};
use compact_str::CompactString;

/// Files that are keys, wherever they lie.
const KEYS: [Glob<'_>; 25] = globs([
    "~/.npmrc",
    "~/.pgpass",
    "~/.my.cnf",
    "~/.claude/.credentials.json",
    "~/.local/share/keyrings/**",
    "~/.local/share/rune/receipt.key",
    "~/.ssh/id_*",
    "~/.ssh/*.pem",
    "~/.ssh/*_key",
    "~/.gnupg/**",
    "~/.aws/credentials",
    "~/.config/gcloud/*credentials*",
    "~/.azure/*token*",
    "~/.kube/config",
    "~/.netrc",
    "~/.pypirc",
    "~/.git-credentials",
    "~/.docker/config.json",
    "~/.config/gh/hosts.yml",
    "~/.cargo/credentials*",
    "~/.password-store/**",
    "/etc/shadow",
    "/etc/shadow-",
    "/etc/gshadow",
    "/proc/*/environ",
]);

/// Programs that print their arguments.
const PRINTERS: &[&str] = &["echo", "printf", "print", "cat", "logger"];

/// Programs that run a line of code.
const SPEAKERS: &[&str] =
    &["awk", "bun", "deno", "gawk", "jaq", "jq", "lua", "mawk", "node", "perl", "php", "python", "ruby"];

pub(super) fn find(subject: &Subject<'_>, context: &Context<'_>) -> Option<Match> {
    if let Some(command) = command(subject) {
        let shown = match command.program.as_str() {
            "printenv" => command.args.iter().any(|arg| is_secret_name(&arg.text, context)),
            program if PRINTERS.contains(&program) => command.args.iter().any(|arg| names_secret(arg, context)),
            "declare" | "typeset" | "export" if command.args.first().is_some_and(|arg| arg.text == "-p") => {
                command.args.iter().any(|arg| is_secret_name(&arg.text, context))
            }
            program if SPEAKERS.contains(&program.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.')) => {
                command.args.iter().any(|arg| asks_for_secret(&arg.text, context))
            }
            _ => false,
        };
        return shown.then(|| suspicious("it shows a variable that holds a secret")).flatten();
    }
    let access = subject.touched()?;
    if !matches!(access.act, Act::Read | Act::Match) {
        return None;
    }
    let path = access.target.path.as_ref()?;
    let reach = if access.target.open || access.deep { Extent::Tree } else { Extent::Exact };
    // A search through the files of the system shows lines of some, and of those that are locked nothing.
    let all = reach == Extent::Tree || path.components().last().is_some_and(|name| name == "**");
    let searched = (searches(access.row, context) || matches!(context.event.action, Action::Files { .. })) && all;
    let mut keys = KEYS.iter().filter(|glob| !searched || glob.is_at_home());
    let listed = keys.any(|glob| anywhere(*glob, path, reach, context));
    // Who works at home reads there.
    let whole = access.deep
        && !access.target.open
        && *path != context.zones.project
        && context.zones.home.as_ref().is_some_and(|home| home.components().starts_with(path.components()));
    if (is_key(path) || listed || whole) && !is_public(path) {
        return block("the file holds keys or passwords");
    }
    if access.act == Act::Match {
        return None;
    }
    // Where nothing is searched, no key is met that was not met above.
    let secret = holds_secrets(path, context, || searched && is_listed_key(path, Extent::Exact, context));
    secret.then(|| suspicious("the file holds secrets")).flatten()
}

/// Whether a file must not be sent: it holds secrets, or everybody on this machine may read it and nobody elsewhere.
pub(super) fn is_secret_file(path: &AbsPath, context: &Context<'_>) -> bool {
    let accounts = matches!(path.components(), [etc, name] if etc == "etc" && name == "passwd");
    accounts && is_listed(context.sensitive, path, context)
        || holds_secrets(path, context, || is_listed_key(path, Extent::Exact, context))
}

/// Whether a file holds secrets, by its name and by the operator's list.
fn holds_secrets(path: &AbsPath, context: &Context<'_>, is_key_too: impl FnOnce() -> bool) -> bool {
    let listed = is_listed(context.sensitive, path, context);
    is_listed(context.sensitive_own, path, context)
        || ((listed || is_key(path) || is_key_too()) && !is_public(path))
        || is_secret_settings(path)
}

fn is_listed(places: &[Glob<'_>], path: &AbsPath, context: &Context<'_>) -> bool {
    places.iter().any(|place| touches_tree(*place, path, Extent::Exact, context.zones.home.as_ref()))
}

/// Whether a file has the name of a key that only its owner may read.
pub(super) fn has_name_of_key(path: &AbsPath) -> bool {
    is_key(path) && !is_public(path)
}

/// Whether a key that only its owner may read lies here or, where what lies below is meant too, below.
pub(super) fn is_listed_key(path: &AbsPath, reach: Extent, context: &Context<'_>) -> bool {
    !is_public(path) && KEYS.iter().any(|glob| anywhere(*glob, path, reach, context))
}

/// Whether a path is one of the user's home or of anybody's.
fn anywhere(glob: Glob<'_>, path: &AbsPath, reach: Extent, context: &Context<'_>) -> bool {
    touches_any_home(glob, path, reach) || touches(glob, path, reach, context.zones.home.as_ref())
}

/// Whether a command looks for a text in all files, and shows lines of some.
fn searches(row: Option<usize>, context: &Context<'_>) -> bool {
    let command = context.reading().zip(row).and_then(|(reading, row)| reading.commands.get(row));
    command.is_some_and(|command| {
        ["grep", "egrep", "fgrep", "rg", "ag", "ack", "ugrep"].contains(&command.program.as_str())
    })
}

/// The names that keys have by themselves, wherever they lie.
fn is_key(path: &AbsPath) -> bool {
    let name = path.components().last().map_or("", CompactString::as_str);
    // The key that receipts are signed with lies where the installation says.
    let own = || matches!(path.components(), [.., folder, name] if folder == "rune" && name == "receipt.key");
    ["id_rsa", "id_dsa", "id_ecdsa", "id_ed25519"].iter().any(|key| *key == name || is_spelled_out(name, key)) || own()
}

/// Whether a pattern is about this name: it can match it, and says most of it. `id_*` is the beginning of many names.
fn is_spelled_out(pattern: &str, name: &str) -> bool {
    let said = letters_of(pattern);
    (said > 3 || said == 3 && !pattern.ends_with(['*', '?'])) && names_overlap(name.as_bytes(), pattern.as_bytes())
}

/// What everybody may know: public keys, known hosts, the names of hosts.
fn is_public(path: &AbsPath) -> bool {
    let name = path.components().last().map_or("", CompactString::as_str);
    name.ends_with(".pub")
        || matches!(name, "known_hosts" | "config" | "authorized_keys" | "passwd")
            && !path.components().iter().any(|part| part == ".kube")
}

/// Whether a line of code asks for such a variable: `os.environ["X"]`, `process.env.X`, `ENV["X"]`, `$ENV.X`.
fn asks_for_secret(code: &str, context: &Context<'_>) -> bool {
    const DOORS: [&str; 6] = ["environ", "process.env", "ENV", "getenv", "Deno.env", "Bun.env"];
    let mut doors: Vec<usize> = DOORS.iter().flat_map(|door| code.match_indices(door)).map(|(at, _)| at).collect();
    if doors.is_empty() {
        return false;
    }
    doors.sort_unstable();
    // All words with their places: the name stands right behind, in brackets, quotes or dots.
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let mut words: Vec<(usize, &str)> = Vec::new();
    let mut start = 0;
    for word in code.split(|c: char| !is_part(c)) {
        if !word.is_empty() {
            words.push((start, word));
        }
        let behind = code.get(start + word.len()..).and_then(|rest| rest.chars().next());
        start += word.len() + behind.map_or(0, char::len_utf8);
    }
    let secret: Vec<bool> = words.iter().map(|(_, word)| is_secret_name(word, context)).collect();
    let mut end = 0;
    for statement in code.split(['\n', ';']) {
        let start = end;
        end += statement.len() + 1;
        // What is assigned to is not asked for.
        let assigned = statement.rfind("] =").max(statement.rfind("]=")).map(|at| start + at);
        let here = doors.partition_point(|at| *at < start)..doors.partition_point(|at| *at < end);
        let mut asked = doors.get(here).unwrap_or_default().iter();
        if asked.any(|at| {
            let next = words.partition_point(|(start, _)| start <= at);
            let names = secret.get(next..secret.len().min(next + 3)).unwrap_or_default();
            assigned.is_none_or(|assigned| assigned < *at) && names.contains(&true)
        }) {
            return true;
        }
    }
    false
}

/// Whether a variable holds a secret, by its name and by the operator's list.
pub(super) fn is_secret_name(name: &str, context: &Context<'_>) -> bool {
    let upper = name.to_ascii_uppercase();
    if context.config.secrets.iter().any(|secret| *secret == upper) {
        return true;
    }
    let shaped = |part: &str| {
        matches!(
            part,
            "KEY"
                | "TOKEN"
                | "SECRET"
                | "SECRETS"
                | "PASS"
                | "PASSWORD"
                | "PASSWD"
                | "PASSPHRASE"
                | "CREDENTIAL"
                | "CREDENTIALS"
                | "APIKEY"
                | "PAT"
                | "PRIVATE"
        )
    };
    let parts: Vec<&str> = upper.split('_').collect();
    // One word alone is a loop's variable more often than a secret.
    (parts.len() > 1 || upper != "KEY" && upper != "PASS" && upper != "PAT" && upper != "PRIVATE")
        && name == upper
        && parts.iter().any(|part| {
            shaped(part) || ["PASSWORD", "TOKEN", "SECRET", "APIKEY", "PASSWD"].iter().any(|end| part.ends_with(end))
        })
        && !parts
            .iter()
            .any(|part| matches!(*part, "PUBLIC" | "PATH" | "FILE" | "DIR" | "NAME" | "ID" | "COUNT" | "LIMIT" | "MAX"))
}

/// Whether a word holds the value of such a variable.
pub(super) fn names_secret(arg: &Arg, context: &Context<'_>) -> bool {
    if arg.is_known() {
        return false;
    }
    let unknown = arg.text.get(arg.prefix().len()..).unwrap_or_default();
    unknown.split('$').skip(1).any(|rest| {
        let name = rest.trim_start_matches(['{', '!']);
        let end = name.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).unwrap_or(name.len());
        // `${X:+set}` only tells whether it is there.
        !name.get(end..).is_some_and(|rest| rest.starts_with(":+") || rest.starts_with('+'))
            && name.get(..end).is_some_and(|name| is_secret_name(name, context))
    })
}
