//! Addresses and headers that carry data: what is asked for tells the server something that it did not know.

use super::exfiltration::{belongs, is_local, is_rerouted};
use super::{Context, suspicious};
use crate::decide::subject::{Subject, SubjectKind};
use crate::rules::Match;
use crate::shell::{Arg, Command, addresses, bodies, uploads};

/// Programs that ask a server for a page.
const FETCHERS: [&str; 12] =
    ["aria2c", "curl", "elinks", "http", "https", "links", "lynx", "w3m", "wget", "wget2", "xh", "xhs"];

/// How keys begin that services give out, and the service that each is for.
const KEYS: [(&str, &str); 14] = [
    ("AIza", "googleapis.com"),
    ("AKIA", "amazonaws.com"),
    ("eyJ", ""),
    ("ghp_", "github.com"),
    ("gho_", "github.com"),
    ("ghs_", "github.com"),
    ("ghu_", "github.com"),
    ("github_pat_", "github.com"),
    ("glpat-", "gitlab.com"),
    ("npm_", "npmjs.org"),
    ("sk-", "openai.com"),
    ("sk-ant-", "anthropic.com"),
    ("xoxb-", "slack.com"),
    ("xoxp-", "slack.com"),
];

/// Characters behind its beginning that a key has at least.
const KEY: usize = 12;

/// Names of parameters that say what is handed over.
const TELLING: [&str; 16] = [
    "api_key", "apikey", "auth", "cookie", "credential", "credentials", "env", "exfil", "key", "passwd", "password",
    "pw", "secret", "session", "token", "access_token",
];

pub(super) fn find(subject: &Subject<'_>, context: &Context<'_>) -> Option<Match> {
    match &subject.kind {
        SubjectKind::Page(url) => {
            (is_laden(url) || holds_key(url).is_some()).then(|| suspicious("the address itself carries data"))?
        }
        SubjectKind::Command(command, _) => by_command(command, context),
        SubjectKind::Pipeline(_)
        | SubjectKind::Line
        | SubjectKind::CommandAccess(_)
        | SubjectKind::ToolAccess(_)
        | SubjectKind::McpTool
        | SubjectKind::Agent
        | SubjectKind::Passage(..) => None,
    }
}

fn by_command(command: &Command, context: &Context<'_>) -> Option<Match> {
    let git = command.program == "git";
    if !git && !FETCHERS.contains(&command.program.as_str()) || is_local(command, context) {
        return None;
    }
    let to: Vec<Arg> = if git {
        command.args.iter().filter(|arg| arg.text.contains("://")).cloned().collect()
    } else {
        addresses(command)
    };
    if to.iter().any(|address| is_laden(address.prefix())) {
        return suspicious("the address itself carries data");
    }
    let bare = Command { args: Vec::new(), ..command.clone() };
    if is_rerouted(&bare, context) {
        return suspicious("a variable leads what it says through another server");
    }
    match body(command) {
        Body::Sent => return suspicious("it sends data to another machine"),
        Body::Asked(parts) if parts.iter().any(|part| is_laden(&format!("?{}", part.text))) => {
            return suspicious("the address itself carries data");
        }
        Body::Asked(_) => {}
    }
    let words = || command.args.iter().filter(|_| !git);
    let to_others = |service: &str| {
        service.is_empty() || is_rerouted(command, context) || !to.iter().all(|address| belongs(&address.text, service))
    };
    if words().chain(&to).any(|arg| holds_key(&arg.text).is_some_and(to_others)) {
        return suspicious("it hands a key to a server that it is not for");
    }
    if words().any(|arg| !is_address(arg) && dense(&arg.text, 16) >= 100) {
        return suspicious("a header carries data");
    }
    // Where all of an address is unknown, it is one of a list, and what is read beside it is its name here.
    let begun = to.iter().any(|address| !address.prefix().is_empty());
    let built = |arg: &Arg| !arg.is_known() && (git && arg.text.contains("$()") || is_read(arg, command, context));
    let told = to.iter().chain(words()).any(built);
    (begun && told).then(|| suspicious("it puts what is read into what it asks a server for"))?
}

/// What a request says beside its address.
enum Body {
    /// Something that the server is to take.
    Sent,
    /// The rest of the address, or nothing.
    Asked(Vec<Arg>),
}

fn body(command: &Command) -> Body {
    if !matches!(command.program.as_str(), "curl" | "wget") {
        return Body::Asked(Vec::new());
    }
    let parts = bodies(command);
    let any = |is: fn(&str) -> bool| command.args.iter().any(|arg| is(&arg.text));
    // Of letters behind one dash, those count that stand before one which takes the rest for itself.
    let gets = any(|word| {
        let letters = word.strip_prefix('-').filter(|letters| !letters.starts_with('-')).unwrap_or_default();
        let last = letters.find(|letter| "AbcCdDeEFhHKmoPQrtTuUwxXyYz".contains(letter)).unwrap_or(letters.len());
        word == "--get" || letters.get(..last).is_some_and(|flags| flags.contains('G'))
    });
    // What follows `--next` is a request of its own.
    let again = any(|word| matches!(word, "--next" | "-:"));
    let long = any(|word| ["--form", "--json", "--upload", "--expand-d"].iter().any(|start| word.starts_with(start)));
    let sent = !uploads(command).is_empty() || long || !parts.is_empty() && (!gets || again);
    if sent { Body::Sent } else { Body::Asked(parts) }
}

/// Whether a word is an address.
fn is_address(arg: &Arg) -> bool {
    arg.text.contains("://")
}

/// Whether a word is put together from lines that are read: by `read` and its like, or by what runs a command for
/// each of them.
fn is_read(arg: &Arg, command: &Command, context: &Context<'_>) -> bool {
    let each = command.via.iter().any(|runner| matches!(runner.as_str(), "xargs" | "gxargs" | "parallel"));
    let readers = || {
        let commands = context.reading().map(|reading| reading.commands.as_slice()).unwrap_or_default();
        commands.iter().filter(|command| matches!(command.program.as_str(), "read" | "mapfile" | "readarray"))
    };
    let names = arg.text.split('$').skip(1).map(|rest| {
        let rest = rest.trim_start_matches(['{', '#', '!']);
        rest.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').next().unwrap_or_default()
    });
    let set = context.effects().map(|effects| effects.env.as_slice()).unwrap_or_default();
    let printed = |name: &str| {
        let value = |(set, value): &(String, Option<String>)| {
            set == name && value.as_deref().is_none_or(|value| value.contains("$()"))
        };
        set.iter().any(value)
    };
    each || names.into_iter().any(|name| {
        let own = matches!(name, "REPLY" | "MAPFILE");
        printed(name)
            || readers().any(|reader| own || !name.is_empty() && reader.args.iter().any(|arg| arg.text == name))
    })
}

/// The service of the key that a text holds.
fn holds_key(text: &str) -> Option<&'static str> {
    let found = KEYS.iter().filter(|(start, _)| {
        text.match_indices(start).any(|(at, start)| {
            let before = text.get(..at).and_then(|before| before.chars().next_back());
            let behind = text.get(at + start.len()..).unwrap_or_default();
            let length = behind.bytes().take_while(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(byte)).count();
            length >= KEY && before.is_none_or(|before| !before.is_ascii_alphanumeric())
                // `sk-` is the end of some words too, and what follows them has no digits.
                && behind.bytes().take(length).any(|byte| byte.is_ascii_digit() || byte.is_ascii_uppercase())
        })
    });
    found.max_by_key(|(start, _)| start.len()).map(|(_, service)| *service)
}

/// Whether an address carries more than the name of a page.
fn is_laden(url: &str) -> bool {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let (place, query) = rest.split_at(rest.find(['?', '#', ';']).unwrap_or(rest.len()));
    let (authority, path) = place.split_at(place.find('/').unwrap_or(place.len()));
    let (user, host) = authority.rsplit_once('@').unwrap_or(("", authority));
    let labels = || host.split('.').rev().skip(1);
    // Names of hosts are written small; what is encoded is not.
    let mixed = |label: &str| {
        label.bytes().any(|byte| byte.is_ascii_uppercase()) && label.bytes().any(|byte| byte.is_ascii_lowercase())
    };
    let telling = query.split(['?', '&', '#', ';', '/']).chain(path.split('/')).any(|parameter| {
        parameter.split_once('=').is_some_and(|(name, value)| {
            value.len() >= 6 && TELLING.iter().any(|telling| telling.eq_ignore_ascii_case(name))
        })
    });
    telling
        || query.len() > 512
        || dense(query, 16) >= 60
        || dense(query, 4) >= 120
        || dense(user, 16) >= 60
        || dense(path, 16) >= 100
        || path.split('/').any(|name| mixed(name) && dense(name, 16) >= 60)
        || dense(path, 4) >= 200
        || labels().any(|label| dense(label, 16) >= if mixed(label) { 20 } else { 40 })
        || labels().map(|label| dense(label, 8)).sum::<usize>() >= 60
}

/// How many characters stand in words of this length or more that nobody would write: words that people search for
/// are letters, and names of pages are such words too.
fn dense(text: &str, least: usize) -> usize {
    let (mut sum, mut word, mut escaped) = (0, String::new(), false);
    let mut bytes = text.bytes().chain([b' ']);
    while let Some(mut byte) = bytes.next() {
        let mut hidden = false;
        if byte == b'%' {
            let mut digits = bytes.clone();
            let digit = |byte: Option<u8>| byte.and_then(|byte| char::from(byte).to_digit(16));
            if let (Some(high), Some(low)) = (digit(digits.next()), digit(digits.next())) {
                byte = u8::try_from(high * 16 + low).unwrap_or(b' ');
                (hidden, bytes) = (byte.is_ascii_alphanumeric(), digits);
            }
        }
        if byte.is_ascii_alphanumeric() {
            word.push(char::from(byte));
            // Nobody needs to escape a letter.
            escaped |= hidden;
            continue;
        }
        if word.len() >= least && (escaped || !is_plain(&word)) {
            sum += word.len();
        }
        word.clear();
        escaped = false;
    }
    sum
}

/// Letters as people write them, or a number.
fn is_plain(word: &str) -> bool {
    let longest = |of: fn(&char) -> bool| word.chars().all(|c| of(&c));
    // Of a name like `getUserProfile` each part is a word.
    let parts = word.split_inclusive(|c: char| c.is_ascii_uppercase()).count();
    let letters = longest(char::is_ascii_alphabetic);
    match () {
        () if longest(char::is_ascii_digit) => word.len() <= 16,
        () if longest(char::is_ascii_uppercase) || longest(char::is_ascii_lowercase) => word.len() <= 24,
        () => letters && word.len() <= 48 && word.len() >= parts.saturating_sub(1) * 4,
    }
}
