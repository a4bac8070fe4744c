//! URLs and headers that carry data to a server.

use super::exfiltration::{is_local, is_rerouted};
use super::{Context, command, suspicious, suspicious_if};
use crate::decide::subject::{Subject, SubjectKind};
use crate::encoding::address::{
    Address, EXAMPLES_CARDS, EXAMPLES_PASSWORDS, SENDERS_ADDRESSES, SENDERS_PAGES, services_by_key, unescaped,
};
use crate::programs::code::lists;
use crate::programs::roles;
use crate::rules::Match;
use crate::shell::{Arg, Command, addresses, bodies, uploads};

/// The least length of a key after its prefix.
const MIN_KEY_CHARS: usize = 12;

pub(super) fn find(subject: &Subject<'_>, context: &Context<'_>) -> Option<Match> {
    if let SubjectKind::Page(url) = &subject.kind {
        let carries = carries_data(url) || key_service(url).is_some() || holds_login(url) || is_sender(url);
        return suspicious_if(carries, "carries data in the address itself");
    }
    if let SubjectKind::Query(text) = &subject.kind {
        let is_tainted = !context.event.facts.taint.is_empty();
        let carries = key_service(text).is_some()
            || text.split_whitespace().any(is_login)
            || names_key(text)
            || lists_people(text)
            || is_tainted && (is_data(text, MIN_QUERY_CHARS) || carries_data(text));
        return suspicious_if(carries, "carries data in what is asked for");
    }
    find_in_command(command(subject)?, context)
}

/// The characters in encoded words from which on a query counts as data. Two hashes of git have 80.
pub(in crate::decide) const MIN_QUERY_CHARS: usize = 60;
pub(in crate::decide) const MIN_ARGUMENT_CHARS: usize = 100;
pub(in crate::decide) const MIN_OPAQUE_CHARS: usize = 400;

/// Whether a text that is no address carries data: a key, or encoded words with this many characters together.
pub(in crate::decide) fn is_data(text: &str, least: usize) -> bool {
    count_encoded(text, 16) >= least || least < MIN_OPAQUE_CHARS && key_service(text).is_some()
}

fn find_in_command(command: &Command, context: &Context<'_>) -> Option<Match> {
    let git = command.program == "git";
    if !git && !lists(&roles::NETWORK_FETCHERS, &command.program) || is_local(command, context) {
        return None;
    }
    let urls: Vec<Arg> = if git {
        command.args.iter().filter(|arg| arg.text.contains("://")).cloned().collect()
    } else {
        addresses(command)
    };
    if urls.iter().any(|url| carries_data(url.prefix())) {
        return suspicious("carries data in the address itself");
    }
    let without_args = Command { args: Vec::new(), ..command.clone() };
    if is_rerouted(&without_args, context) {
        return suspicious("is led through another server by a variable");
    }
    match request_body(command) {
        Body::Sent => return suspicious("sends data to another machine"),
        Body::InUrl(parts) if parts.iter().any(|part| carries_data(&format!("?{}", part.text))) => {
            return suspicious("carries data in the address itself");
        }
        Body::InUrl(_) => {}
    }
    let words = || command.args.iter().filter(|_| !git);
    let is_for_another = |service: &str| {
        service.is_empty()
            || is_rerouted(command, context)
            || !urls.iter().all(|url| Address::parse(&url.text).is_of_service(service))
    };
    if words().chain(&urls).any(|arg| key_service(&arg.text).is_some_and(is_for_another)) {
        return suspicious("hands a key to a server that it is not for");
    }
    if words().any(|arg| !is_url(arg) && count_encoded(&arg.text, 16) >= 100) {
        return suspicious("carries data in a header");
    }
    // A URL that is unknown from its beginning is one of a list, and other words that are read belong to the same list.
    let has_known_url = urls.iter().any(|url| !url.prefix().is_empty());
    let built = |arg: &Arg| !arg.is_known() && (git && arg.text.contains("$()") || is_read(arg, command, context));
    let has_read = urls.iter().chain(words()).any(built);
    suspicious_if(has_known_url && has_read, "puts what is read into what it asks a server for")
}

/// The data of a request besides its URL.
enum Body {
    /// A body.
    Sent,
    /// Parameters of the URL, or nothing.
    InUrl(Vec<Arg>),
}

fn request_body(command: &Command) -> Body {
    if !matches!(command.program.as_str(), "curl" | "wget") {
        return Body::InUrl(Vec::new());
    }
    let parts = bodies(command);
    let any = |is: fn(&str) -> bool| command.args.iter().any(|arg| is(&arg.text));
    // In a cluster of short options, `G` is an option only before the first letter that takes a value.
    let gets = any(|word| {
        let letters = word.strip_prefix('-').filter(|letters| !letters.starts_with('-')).unwrap_or_default();
        let last = letters.find(|letter| "AbcCdDeEFhHKmoPQrtTuUwxXyYz".contains(letter)).unwrap_or(letters.len());
        word == "--get" || letters.get(..last).is_some_and(|flags| flags.contains('G'))
    });
    // `--next` starts another request.
    let has_next = any(|word| matches!(word, "--next" | "-:"));
    let has_body_option =
        any(|word| ["--form", "--json", "--upload", "--expand-d"].iter().any(|start| word.starts_with(start)));
    let sent = !uploads(command).is_empty() || has_body_option || !parts.is_empty() && (!gets || has_next);
    if sent { Body::Sent } else { Body::InUrl(parts) }
}

fn is_url(arg: &Arg) -> bool {
    arg.text.contains("://")
}

/// Whether a word contains text that is read: by `read` or `mapfile`, by a substitution, or by `xargs` or `parallel`.
pub(super) fn is_read(arg: &Arg, command: &Command, context: &Context<'_>) -> bool {
    let each = command.via.iter().any(|runner| matches!(runner.as_str(), "xargs" | "gxargs" | "parallel"));
    let names = arg.text.split('$').skip(1).map(|rest| {
        let rest = rest.trim_start_matches(['{', '#', '!']);
        rest.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').next().unwrap_or_default()
    });
    each || names.into_iter().any(|name| context.data_sources.is_read_variable(name, context))
}

/// Whether an address has a login in front of its host, or within its parameters: `?dsn=postgres%3A%2F%2Fu%3Ap%40db`.
fn holds_login(url: &str) -> bool {
    let (_, query) = url.split_at(url.find(['?', '#']).unwrap_or(url.len()));
    let plain = unescaped(query);
    is_login(url) || plain.split(['=', '&']).any(is_login)
}

/// Whether a text is an address of another machine with a password that is not one of examples.
fn is_login(text: &str) -> bool {
    let address = Address::parse(text);
    let password = address.user.split_once(':').map_or("", |(_, password)| password);
    let is_example = |password: &str| {
        let name = password.trim_matches(|c: char| !c.is_ascii_alphanumeric()).to_ascii_lowercase();
        name.is_empty() || EXAMPLES_PASSWORDS.contains(&name.as_str())
    };
    text.contains("://") && !address.is_this_machine() && !is_example(password)
}

/// Whether a request for an address sends a message.
fn is_sender(url: &str) -> bool {
    let address = Address::parse(url);
    let path = address.location.split(['?', '#']).next().unwrap_or_default();
    let path = unescaped(path.trim_start_matches('/'));
    SENDERS_ADDRESSES.iter().any(|sender| {
        let (host, start) = sender.split_once('/').unwrap_or((sender, ""));
        let is_path = match start.strip_prefix("*/") {
            // What a channel is told stands behind its name.
            Some(verb) => path
                .split_once('/')
                .is_some_and(|(name, rest)| !SENDERS_PAGES.contains(&name) && rest.split('/').next() == Some(verb)),
            None => path.starts_with(start),
        };
        address.host == host && is_path
    })
}

/// Whether a text has a word that looks like a key beside one that says so.
fn names_key(text: &str) -> bool {
    let is_mixed = |word: &str| {
        let has = |of: fn(&u8) -> bool| word.bytes().any(|byte| of(&byte));
        let plain = word.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+/=_".contains(&byte));
        plain && has(u8::is_ascii_digit) && has(u8::is_ascii_lowercase) && has(u8::is_ascii_uppercase)
    };
    let parts = || text.split(|c: char| !c.is_ascii_alphanumeric()).map(str::to_ascii_lowercase);
    let says = || parts().any(|part| matches!(part.as_str(), "key" | "secret" | "token" | "password" | "credential"));
    text.split_whitespace().any(|word| word.len() >= 20 && is_mixed(word) && !is_name(word)) && says()
}

/// Whether a word looks like the name of a type or a function, which has long parts and few numbers:
/// `AWSSecretsManagerV2ClientBuilder`.
fn is_name(word: &str) -> bool {
    let (mut parts, mut numbers) = (1, 0);
    let bytes = word.as_bytes();
    for (at, byte) in bytes.iter().enumerate().skip(1) {
        let before = bytes.get(at - 1).copied().unwrap_or_default();
        let is_before_lower = bytes.get(at + 1).is_some_and(u8::is_ascii_lowercase);
        // `AWS` is one part of `AWSSecrets`.
        parts += usize::from(byte.is_ascii_uppercase() && (!before.is_ascii_uppercase() || is_before_lower));
        numbers += usize::from(byte.is_ascii_digit() && !before.is_ascii_digit());
    }
    word.len() > parts * 4 && numbers <= 2
}

/// Whether a text has the number of a card, or addresses of several people.
fn lists_people(text: &str) -> bool {
    // `react@18.2.0` and `actions/checkout@v4.1` are packages.
    let is_mail = |word: &&str| {
        let word = word.trim_matches(|c: char| !c.is_ascii_alphanumeric());
        word.split_once('@').is_some_and(|(name, host)| {
            let domain = host.rsplit_once('.').map_or("", |(_, domain)| domain);
            let is_domain = domain.len() > 1 && domain.bytes().all(|byte| byte.is_ascii_alphabetic());
            !name.is_empty() && !name.contains('/') && is_domain && !host.starts_with("example.")
        })
    };
    let words = text.split(|c: char| c.is_whitespace() || matches!(c, ',' | ';' | '<' | '>'));
    text.split_whitespace().any(is_card) || words.filter(is_mail).count() > 1
}

/// Whether a word is the number of a card: 13 to 19 digits with a check digit (ISO/IEC 7812-1).
fn is_card(word: &str) -> bool {
    let digits: Vec<u32> = word.chars().filter_map(|c| c.to_digit(10)).collect();
    let is_number = word.chars().all(|c| c.is_ascii_digit() || c == '-') && (13..=19).contains(&digits.len());
    let doubled = |digit: u32| if digit > 4 { digit * 2 - 9 } else { digit * 2 };
    let sum: u32 =
        digits.iter().rev().enumerate().map(|(at, digit)| if at % 2 == 1 { doubled(*digit) } else { *digit }).sum();
    let is_example = || {
        let number: String = word.chars().filter(char::is_ascii_digit).collect();
        EXAMPLES_CARDS.iter().any(|card| match card.strip_suffix('*') {
            Some(start) => number.starts_with(start),
            None => number == *card,
        })
    };
    is_number && matches!(digits.first(), Some(3..=6)) && sum.is_multiple_of(10) && !is_example()
}

/// Returns the domain of the service whose API key a text contains.
fn key_service(text: &str) -> Option<&'static str> {
    let is_key = |byte: &u8| byte.is_ascii_alphanumeric() || b"_-".contains(byte);
    let is_random = |byte: &u8| byte.is_ascii_digit() || byte.is_ascii_uppercase();
    let matching = services_by_key().filter(|(start, _)| {
        // The end of the characters of a key, and of the last digit or capital among them. Matches may stand in each other.
        let (mut end, mut end_of_random) = (0, 0);
        text.match_indices(*start).any(|(at, start)| {
            let from = at + start.len();
            if from >= end {
                let behind = text.as_bytes().get(from..).unwrap_or_default();
                let run = behind.split(|byte| !is_key(byte)).next().unwrap_or_default();
                end = from + run.len();
                end_of_random = from + run.iter().rposition(is_random).map_or(0, |last| last + 1);
            }
            let before = text.get(..at).and_then(|before| before.chars().next_back());
            end - from >= MIN_KEY_CHARS && before.is_none_or(|before| !before.is_ascii_alphanumeric())
                // Words may end in `sk-` too, but what follows them has no digits or capitals.
                && end_of_random > from
        })
    });
    matching.max_by_key(|(start, _)| start.len()).map(|(_, service)| service)
}

/// Whether a URL carries data: a secret parameter, or encoded text in any of its parts.
pub(in crate::decide) fn carries_data(url: &str) -> bool {
    let Address { user, written_host: host, location, .. } = Address::parse(url);
    let (path, query) = location.split_at(location.find(['?', '#', ';']).unwrap_or(location.len()));
    let labels = || host.split('.').rev().skip(1);
    // Host names are usually in lower case; encoded data is not.
    let mixed = |label: &str| {
        label.bytes().any(|byte| byte.is_ascii_uppercase()) && label.bytes().any(|byte| byte.is_ascii_lowercase())
    };
    let has_secret = query.split(['?', '&', '#', ';', '/']).chain(path.split('/')).any(|parameter| {
        parameter.split_once('=').is_some_and(|(name, value)| {
            let is_secret =
                |name: &str| roles::NETWORK_SECRET_PARAMETERS.iter().any(|secret| secret.eq_ignore_ascii_case(name));
            let names_secret =
                |part: &str| roles::NETWORK_SECRET_PARTS.iter().any(|secret| secret.eq_ignore_ascii_case(part));
            value.len() >= 6 && (is_secret(name) || name.split(['_', '-', '.']).any(names_secret))
        })
    });
    has_secret
        || query.len() > 512
        || count_encoded(query, 16) >= 60
        || count_encoded(query, 4) >= 120
        || count_encoded(user, 16) >= 60
        || count_encoded(path, 16) >= 100
        || path.split('/').any(|name| mixed(name) && count_encoded(name, 16) >= 60)
        || count_encoded(path, 4) >= 200
        || labels().any(|label| count_encoded(label, 16) >= if mixed(label) { 20 } else { 40 })
        || labels().map(|label| count_encoded(label, 8)).sum::<usize>() >= 60
}

/// Counts the characters in words of at least this length that look encoded.
fn count_encoded(text: &str, least: usize) -> usize {
    let (mut sum, mut word, mut escaped) = (0, String::new(), false);
    let mut bytes = text.bytes().chain([b' ']);
    while let Some(mut byte) = bytes.next() {
        let mut needless = false;
        if byte == b'%' {
            let mut digits = bytes.clone();
            let digit = |byte: Option<u8>| byte.and_then(|byte| char::from(byte).to_digit(16));
            if let (Some(high), Some(low)) = (digit(digits.next()), digit(digits.next())) {
                byte = u8::try_from(high * 16 + low).unwrap_or(b' ');
                (needless, bytes) = (byte.is_ascii_alphanumeric(), digits);
            }
        }
        if byte.is_ascii_alphanumeric() {
            word.push(char::from(byte));
            // Escaping a letter or digit is not necessary in a URL.
            escaped |= needless;
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

/// Whether a word looks like natural language, an identifier or a number.
fn is_plain(word: &str) -> bool {
    let all = |of: fn(&char) -> bool| word.chars().all(|c| of(&c));
    // In a name like `getUserProfile`, each part is a word.
    let parts = word.split_inclusive(|c: char| c.is_ascii_uppercase()).count();
    let letters = all(char::is_ascii_alphabetic);
    match () {
        () if all(char::is_ascii_digit) => word.len() <= 16,
        () if all(char::is_ascii_uppercase) || all(char::is_ascii_lowercase) => word.len() <= 24,
        () => letters && word.len() <= 48 && word.len() >= parts.saturating_sub(1) * 4,
    }
}
