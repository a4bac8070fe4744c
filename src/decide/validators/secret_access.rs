//! Reads of secrets: files that hold keys, and commands that print secret variables.

mod shown;

pub(crate) use shown::ShownParts;
pub(super) use shown::lists_files;

use super::exfiltration::prints_environment;
use super::protected_path::{is_env_file, literal_chars};
use super::{Context, block, command, command_of, suspicious, suspicious_if};
use crate::decide::subject::Subject;
use crate::event::Action;
use crate::path::protected::{Class, Lookup};
use crate::path::zones::Area;
use crate::path::{AbsPath, Extent, Glob, names_overlap, touches_tree};
use crate::programs::code::lists;
use crate::programs::{Does, roles};
use crate::rules::Match;
use crate::shell::{Act, Arg, Command, Input};
use compact_str::CompactString;

pub(super) fn find(subject: &Subject<'_>, context: &Context<'_>) -> Option<Match> {
    if let Some(command) = command(subject) {
        let printed = match command.program.as_str() {
            "envsubst" => match &command.input {
                Input::Text(text) => names_secret(&Arg::unknown(&**text), context),
                Input::Inherited | Input::Pipe | Input::Unknown => false,
            },
            "printenv" => command.args.iter().any(|arg| is_secret_name(&arg.text, context)),
            program if lists(&roles::OUTPUT_ECHOING, program) => {
                command.args.iter().any(|arg| names_secret(arg, context))
            }
            "sed" | "awk" | "gawk" | "tr" | "grep" if command.args.iter().any(|arg| names_secret(arg, context)) => true,
            "declare" | "typeset" | "export" if command.args.first().is_some_and(|arg| arg.text == "-p") => {
                command.args.iter().any(|arg| is_secret_name(&arg.text, context))
            }
            program
                if lists(&roles::CODE_PRINTING, program.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.')) =>
            {
                command.args.iter().any(|arg| reads_secret_variable(&arg.text, context))
            }
            _ => false,
        };
        if prints_environment(command) && context.data_sources.loads_secrets(command, context) {
            return suspicious("shows the variables of a file with secrets");
        }
        let prints_input = command.does() == Some(Does::Look) || matches!(command.program.as_str(), "cat" | "tee");
        let here_text = command.here_text.as_ref().filter(|_| prints_input);
        let printed = printed || here_text.is_some_and(|text| names_secret(&Arg::unknown(text), context));
        return suspicious_if(printed, "");
    }
    let access = subject.file_access()?;
    if !matches!(access.act, Act::Read | Act::Match) {
        return None;
    }
    let path = access.target.path.as_ref()?;
    let command = command_of(access, context);
    if lists_files(access, context) {
        return None;
    }
    let reach = if access.target.open || access.deep { Extent::Tree } else { Extent::Exact };
    if reach == Extent::Exact && is_fixture_key(path, context) {
        return None;
    }
    // A search through system directories cannot read files such as `/etc/shadow`, so only keys at home count for it.
    let is_tree = reach == Extent::Tree || path.components().last().is_some_and(|name| name == "**");
    let is_search = command.is_some_and(|command| lists(&roles::FILES_SEARCHERS, &command.program));
    let searched = is_tree && (is_search || matches!(context.event.action, Action::Files { .. }));
    let listed = if searched {
        Class::Keys.contains_at_home(path, reach, context.zones.home.as_ref())
    } else {
        Class::Keys.contains(path, reach, context.zones.home.as_ref())
    };
    // Reading the whole home directory reads the keys in it, unless it is the project.
    let covers_home = access.deep
        && !access.target.open
        && *path != context.zones.project
        && context.zones.home.as_ref().is_some_and(|home| home.components().starts_with(path.components()));
    if (is_key(path) || listed || covers_home) && !is_public(path) {
        return block("holds keys or passwords");
    }
    if access.act == Act::Read && searches_for_secrets(path, context) {
        return suspicious("is outside of the project, and is searched for passwords");
    }
    // Without a search, all keys have been compared above.
    if access.act == Act::Match
        || !holds_secrets(path, context, || searched && is_listed_key(path, Extent::Exact, context))
    {
        return None;
    }
    let is_exported = |command: &Command| context.data_sources.is_exported(command, context);
    let shows_no_value = shown::hides_secrets(access, context) || command.is_some_and(is_exported);
    let is_exempt = shows_no_value && !is_listed(&context.operator_sensitive, path, context);
    suspicious_if(!is_exempt, "holds secrets")
}

/// Whether a tool of the client shows lines with passwords or keys from files outside of the project.
fn searches_for_secrets(path: &AbsPath, context: &Context<'_>) -> bool {
    const SECRETS: [&str; 13] = [
        "passw", "secret", "token", "api_key", "apikey", "private_key", "private key", "credential", "mnemonic",
        "wallet", "akia", "ghp_", "authtoken",
    ];
    let Action::Files { text: Some(text), .. } = &context.event.action else { return false };
    let text = text.inspect("does it search for secrets").to_ascii_lowercase();
    let is_outside = !path.is_below(&context.zones.project) && *path != context.zones.project;
    let is_own = matches!(context.zones.area(path), Area::System | Area::Vital | Area::Other)
        && !crate::path::protected::is_installed(path, context.zones.home.as_ref())
        && !path
            .components()
            .iter()
            .any(|name| matches!(name.as_str(), "src" | "node_modules" | "site-packages" | ".cargo" | "pkg" | "docs"));
    is_outside && is_own && SECRETS.iter().any(|part| text.contains(part))
}

/// Directories of a project with data of its tests.
const FIXTURES: [&str; 9] =
    ["test", "tests", "fixtures", "testdata", "test-data", "__fixtures__", "spec", "__tests__", "testing"];

/// Whether a file is a key that belongs to the tests of the project.
fn is_fixture_key(path: &AbsPath, context: &Context<'_>) -> bool {
    let below = path.components().strip_prefix(context.zones.project.components());
    let is_fixture = below.and_then(<[_]>::split_last).is_some_and(|(name, directories)| {
        !name.contains(['*', '?', '[', '{'])
            && !directories.iter().any(|name| name.starts_with('.'))
            && directories.iter().any(|name| FIXTURES.contains(&name.as_str()))
    });
    let home = context.zones.home.as_ref();
    is_fixture
        && (is_key(path) || Class::KeyFiles.contains(path, Extent::Exact, home))
        && !is_listed(&context.operator_sensitive, path, context)
}

/// Whether a file must not be sent to other machines: it holds secrets, or it is `/etc/passwd` and listed as sensitive.
pub(super) fn is_secret_file(path: &AbsPath, context: &Context<'_>) -> bool {
    let accounts = matches!(path.components(), [etc, name] if etc == "etc" && name == "passwd");
    accounts && is_listed(&context.sensitive, path, context)
        || holds_secrets(path, context, || is_listed_key(path, Extent::Exact, context))
}

/// Whether a file holds secrets, by its name and by the sensitive paths of the policy.
fn holds_secrets(path: &AbsPath, context: &Context<'_>, is_key_too: impl FnOnce() -> bool) -> bool {
    let lookup = Lookup::new(path, Extent::Exact, context.zones.home.as_ref());
    let listed = is_listed(&context.sensitive, path, context);
    is_listed(&context.operator_sensitive, path, context)
        || ((listed || is_key(path) || is_key_too()) && !is_public(path))
        || is_env_file(path)
        || [Class::Secrets, Class::KeyFiles, Class::ToolSecrets].into_iter().any(|class| lookup.is_in(class))
}

fn is_listed(globs: &[Glob<'_>], path: &AbsPath, context: &Context<'_>) -> bool {
    globs.iter().any(|glob| touches_tree(*glob, path, Extent::Exact, context.zones.home.as_ref()))
}

/// Whether a file has the name of a private key.
pub(super) fn has_name_of_key(path: &AbsPath) -> bool {
    is_key(path) && !is_public(path)
}

/// Whether a path is a listed private key or, for [`Extent::Tree`], a directory above one.
pub(super) fn is_listed_key(path: &AbsPath, reach: Extent, context: &Context<'_>) -> bool {
    !is_public(path) && Class::Keys.contains(path, reach, context.zones.home.as_ref())
}

/// Whether a file has the name of a key, in any directory.
fn is_key(path: &AbsPath) -> bool {
    let name = path.components().last().map_or("", CompactString::as_str);
    // The directory of the key that signs receipts is configurable.
    let is_receipt_key =
        || matches!(path.components(), [.., folder, name] if folder == "rune" && name == "receipt.key");
    ["id_rsa", "id_dsa", "id_ecdsa", "id_ed25519"].iter().any(|key| *key == name || is_spelled_out(name, key))
        || is_receipt_key()
}

/// Whether a pattern matches a name and spells out enough of it: `id_*` matches many other names too.
fn is_spelled_out(pattern: &str, name: &str) -> bool {
    let literal = literal_chars(pattern);
    (literal > 3 || literal == 3 && !pattern.ends_with(['*', '?']))
        && names_overlap(name.as_bytes(), pattern.as_bytes())
}

/// Whether a file in a directory of keys is public: public keys, known hosts, configuration.
fn is_public(path: &AbsPath) -> bool {
    let name = path.components().last().map_or("", CompactString::as_str);
    let in_ssh = path.directories().last().is_some_and(|folder| folder == ".ssh");
    name.ends_with(".pub") || name == "passwd" || in_ssh && matches!(name, "known_hosts" | "config" | "authorized_keys")
}

/// Whether code reads a secret variable: `os.environ["X"]`, `process.env.X`, `ENV["X"]`, `$ENV.X`.
fn reads_secret_variable(code: &str, context: &Context<'_>) -> bool {
    const ENVIRONMENTS: [&str; 7] = ["environ", "process.env", "ENV", "getenv", "Deno.env", "Bun.env", "strenv"];
    let mut accesses: Vec<usize> =
        ENVIRONMENTS.iter().flat_map(|name| code.match_indices(name)).map(|(at, _)| at).collect();
    if accesses.is_empty() {
        return false;
    }
    accesses.sort_unstable();
    // All words with their offsets. The name of the variable follows the access, in brackets, quotes or after a dot.
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let mut words: Vec<(usize, &str)> = Vec::new();
    let mut start = 0;
    for word in code.split(|c: char| !is_part(c)) {
        if !word.is_empty() {
            words.push((start, word));
        }
        let separator = code.get(start + word.len()..).and_then(|rest| rest.chars().next());
        start += word.len() + separator.map_or(0, char::len_utf8);
    }
    words.retain(|(_, word)| is_secret_name(word, context));
    let mut end = 0;
    for statement in code.split(['\n', ';']) {
        let start = end;
        end += statement.len() + 1;
        // An access on the left of an assignment is not a read.
        let assigned = statement.rfind("] =").max(statement.rfind("]=")).map(|at| start + at);
        let here = accesses.partition_point(|at| *at < start)..accesses.partition_point(|at| *at < end);
        let mut reads = accesses.get(here).unwrap_or_default().iter();
        if reads.any(|at| {
            let next = words.get(words.partition_point(|(start, _)| start <= at));
            assigned.is_none_or(|assigned| assigned < *at) && next.is_some_and(|(start, _)| *start < end)
        }) {
            return true;
        }
    }
    false
}

/// Whether a variable holds a secret, by its name and by the list of the policy.
pub(super) fn is_secret_name(name: &str, context: &Context<'_>) -> bool {
    let upper = name.to_ascii_uppercase();
    if context.config.secrets.iter().any(|secret| *secret == upper) {
        return true;
    }
    let words = [
        "KEY", "TOKEN", "SECRET", "SECRETS", "PASS", "PASSWORD", "PASSWD", "PASSPHRASE", "CREDENTIAL", "CREDENTIALS",
        "APIKEY", "PAT", "PRIVATE",
    ];
    let parts: Vec<&str> = upper.split('_').collect();
    // These words alone are common names of loop variables.
    (parts.len() > 1 || upper != "KEY" && upper != "PASS" && upper != "PAT" && upper != "PRIVATE")
        && name == upper
        && parts.iter().any(|part| {
            words.contains(part)
                || ["PASSWORD", "TOKEN", "SECRET", "APIKEY", "PASSWD"].iter().any(|end| part.ends_with(end))
        })
        && !parts
            .iter()
            .any(|part| matches!(*part, "PUBLIC" | "PATH" | "FILE" | "DIR" | "NAME" | "ID" | "COUNT" | "LIMIT" | "MAX"))
}

/// Whether a word contains the value of a secret variable.
pub(super) fn names_secret(arg: &Arg, context: &Context<'_>) -> bool {
    if arg.is_known() {
        return false;
    }
    let unknown = arg.text.get(arg.prefix().len()..).unwrap_or_default();
    unknown.split('$').skip(1).any(|rest| {
        let name = rest.trim_start_matches(['{', '!']);
        let end = name.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).unwrap_or(name.len());
        // `${X:+set}` expands to whether the variable is set.
        !name.get(end..).is_some_and(|rest| rest.starts_with(":+") || rest.starts_with('+'))
            && name.get(..end).is_some_and(|name| is_secret_name(name, context))
    })
}
