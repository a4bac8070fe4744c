//! The command that does the same as a call.

use super::super::value::Value;
use super::super::{Call, Word};
use super::argument::Argument;
use crate::encoding::address::is_remote_code;
use crate::programs::code::{CallEffect, effect_of};

/// The arguments of a call, as the operands of a command.
struct Operands<'a> {
    given: &'a [Argument],
    /// The directory that the code has changed to.
    directory: Option<&'a Value>,
}

impl Operands<'_> {
    /// An argument by its position.
    fn value(&self, at: usize) -> Option<&Value> {
        match self.given.get(at)? {
            Argument::Value(value) => Some(value),
            Argument::Keyword(..) | Argument::OneOf(_) | Argument::List(_) => None,
        }
    }

    fn text(&self, at: usize) -> Option<String> {
        self.value(at).and_then(Value::text)
    }

    /// The paths that an argument may be.
    fn paths(&self, at: usize) -> Vec<Word> {
        let values: &[Value] = match self.given.get(at) {
            Some(argument @ (Argument::Value(_) | Argument::OneOf(_) | Argument::List(_))) => argument.values(),
            Some(Argument::Keyword(..)) | None => &[],
        };
        let paths = values.iter().map(|value| self.path(value.word()));
        let paths: Vec<Word> = paths.collect();
        if paths.is_empty() { vec![Word::unknown()] } else { paths }
    }

    /// A relative path in the directory that the code has changed to.
    fn path(&self, word: Word) -> Word {
        match self.directory {
            Some(directory) if !directory.is_unknown() && !word.is_unknown() && !word.text.starts_with(['/', '~']) => {
                let mut base = directory.word();
                if base.known.is_some() {
                    return base;
                }
                base.text = format!("{}/", base.text.trim_end_matches('/'));
                base.known = word.known.map(|known| base.text.len() + known);
                base.text.push_str(&word.text);
                base
            }
            _ => word,
        }
    }

    fn keyword(&self, names: &[&str]) -> Option<&Value> {
        self.given.iter().find_map(|argument| match argument {
            Argument::Keyword(name, value) if names.contains(&name.as_str()) => Some(value),
            Argument::Keyword(..) | Argument::Value(_) | Argument::OneOf(_) | Argument::List(_) => None,
        })
    }

    /// Whether an argument names a place on a server: `ftp://host/file`, or `ssh2.sftp://…`, a stream of PHP.
    fn sends_to(&self, at: usize) -> bool {
        let schemes = ["ftp://", "ftps://", "http://", "https://", "s3://", "ssh2.", "gs://"];
        self.text(at).is_some_and(|place| schemes.iter().any(|scheme| place.starts_with(scheme)))
    }

    /// Whether a request carries data.
    fn carries_data(&self) -> bool {
        self.keyword(&["data", "json", "files", "body", "content"]).is_some()
    }

    /// The address of a request or a connection: the first argument that is one, or the first of all.
    fn address(&self) -> Word {
        let known = |value: &&Value| !value.is_unknown();
        let all = || self.given.iter().flat_map(Argument::values);
        let is_address = |value: &&Value| value.word().text.contains("://");
        let is_host = |value: &&Value| {
            let text = value.word().text;
            text.contains('.') || text.starts_with("localhost")
        };
        let value = all().find(is_address).or_else(|| all().filter(known).find(is_host)).or_else(|| all().find(known));
        value.map_or_else(Word::unknown, Value::word)
    }
}

fn with(words: &[&str], operands: Vec<Word>) -> Option<Vec<Call>> {
    Some(vec![Call::Same(words.iter().map(|word| Word::known(word)).chain(operands).collect())])
}

/// The commands that do the same as a call; `None` if its arguments show that it is another one.
pub(super) fn build_calls(effect: CallEffect, given: &[Argument], directory: Option<&Value>) -> Option<Vec<Call>> {
    let operands = Operands { given, directory };
    // A method without arguments acts on its object, which is unknown here.
    if given.is_empty() && !matches!(effect, CallEffect::Unknown | CallEffect::WriteObject | CallEffect::Lose) {
        return None;
    }
    match effect {
        CallEffect::Run => Some(vec![run(given)?]),
        CallEffect::Spawn => {
            let values = given.iter().filter(|argument| !matches!(argument, Argument::Keyword(..)));
            let words: Vec<Word> = values.flat_map(Argument::values).map(Value::word).collect();
            (!words.is_empty()).then(|| vec![Call::Run(words)])
        }
        // A function that takes the options of the program: `shelljs.rm("-rf", "x")`.
        CallEffect::Delete if operands.text(0).is_some_and(|option| option.starts_with('-')) => {
            with(&["rm"], given.iter().flat_map(Argument::values).map(Value::word).collect())
        }
        CallEffect::Delete => with(&["rm", "-rf"], operands.paths(0)),
        CallEffect::Write if operands.sends_to(0) => with(&["curl", "--data", "@-"], operands.paths(0)),
        CallEffect::Write => with(&["tee"], operands.paths(0)),
        // The mode comes first, as for the program.
        CallEffect::Rights => {
            let mode = operands.value(0).map_or_else(Word::unknown, Value::word);
            with(&["chmod"], [vec![mode], operands.paths(1)].concat())
        }
        CallEffect::Open => Some(vec![open(&operands)]),
        CallEffect::Move => with(&["mv"], [operands.paths(0), operands.paths(1)].concat()),
        CallEffect::Copy if operands.sends_to(1) => {
            with(&["curl", "-T"], [operands.paths(0), operands.paths(1)].concat())
        }
        CallEffect::Copy => with(&["cp"], [operands.paths(0), operands.paths(1)].concat()),
        CallEffect::Fetch if operands.carries_data() => with(&["curl", "--data", "@-"], vec![operands.address()]),
        CallEffect::Fetch => with(&["curl"], vec![operands.address()]),
        CallEffect::Send => with(&["curl", "--data", "@-"], vec![operands.address()]),
        CallEffect::Read => {
            let file = operands.paths(0).into_iter().next().unwrap_or_else(Word::unknown);
            // Ruby: `IO.read("|cmd")` runs a command.
            if let Some(command) = file.text.strip_prefix('|') {
                return Some(vec![Call::Text(command.to_owned())]);
            }
            let is_address = file.text.contains("://");
            with(&[if is_address { "curl" } else { "cat" }], vec![file])
        }
        // A computed name may find any call.
        CallEffect::Lookup => {
            let name = operands.text(1).or_else(|| operands.text(0));
            let harmless = name.is_some_and(|name| effect_of(&name).is_none());
            (!harmless).then(|| vec![Call::unknown()])
        }
        CallEffect::Code if operands.text(0).is_some_and(|text| is_remote_code(&text)) => {
            Some(vec![Call::fetched_code(&operands.text(0).unwrap_or_default())])
        }
        CallEffect::Unknown | CallEffect::Code => Some(vec![Call::unknown()]),
        CallEffect::WriteObject => with(&["tee"], vec![Word::unknown()]),
        CallEffect::Lose => with(&["psql", "-c", "drop table of_code"], Vec::new()),
        CallEffect::Chdir | CallEffect::Resolve => None,
    }
}

fn run(given: &[Argument]) -> Option<Call> {
    let is_value = |argument: &Argument| matches!(argument, Argument::Value(value) if !value.is_unknown());
    Some(match given.first()? {
        // Several strings are a program and its arguments.
        Argument::Value(first) if !first.is_unknown() && given.len() > 1 && given.iter().skip(1).all(is_value) => {
            Call::Run(given.iter().flat_map(Argument::values).map(Value::word).collect())
        }
        Argument::Value(value) if !value.is_unknown() => {
            // `system2("rm", c("-rf", "x"))`
            match given.get(1) {
                Some(Argument::List(words)) if !words.is_empty() => {
                    Call::Run([value].into_iter().chain(words).map(Value::word).collect())
                }
                _ => Call::Text(value.shell_text()),
            }
        }
        // `system("")` in awk flushes its output, and runs nothing.
        Argument::Value(value) if value.text().is_some_and(|text| text.is_empty()) && given.len() == 1 => {
            Call::Text(String::new())
        }
        Argument::List(words) => Call::Run(words.iter().map(Value::word).collect()),
        Argument::Value(_) | Argument::OneOf(_) | Argument::Keyword(..) => Call::unknown(),
    })
}

fn open(operands: &Operands<'_>) -> Call {
    let same = |verb: &str, file: Word| Call::Same(vec![Word::known(verb), file]);
    let file = || operands.paths(0).into_iter().next().unwrap_or_else(Word::unknown);
    // A computed second argument may be a mode that writes.
    if operands.value(1).is_some_and(|mode| !mode.is_unknown() && mode.text().is_none()) {
        return same("tee", Word::unknown());
    }
    let named = operands.keyword(&["mode"]).and_then(Value::text);
    let Some(mode) = named.or_else(|| operands.text(1)) else {
        let file = file();
        // Ruby: `open("|cmd")` runs a command.
        return match file.text.strip_prefix('|') {
            Some(command) => Call::Text(command.to_owned()),
            None if file.text.contains("://") => same("curl", file),
            None => same("cat", file),
        };
    };
    // Perl: mode and name in one argument, `open(F, ">x")`.
    let attached = mode.strip_prefix('>').map(|file| file.trim_start_matches('>').trim());
    if let Some(file) = attached.filter(|file| !file.is_empty()) {
        return same("tee", operands.path(Word::known(file)));
    }
    // Perl: a command, `open(F, "cmd |")`, `open(F, "-|", "cmd")`.
    if let Some(command) = mode.trim().strip_suffix('|').or_else(|| mode.trim().strip_prefix('|')) {
        let command = if command.trim_matches('-').is_empty() { operands.text(2) } else { Some(command.to_owned()) };
        return command.map_or_else(Call::unknown, Call::Text);
    }
    // Perl: mode and name apart, `open(my $f, ">>", "x")`.
    let third = operands.value(2).filter(|value| !value.is_unknown()).map(|value| operands.path(value.word()));
    if let Some(file) = third.clone().filter(|_| mode.starts_with('>')) {
        return same("tee", file);
    }
    let writes = mode.len() <= 4 && mode.contains(['w', 'a', 'x', '+', '>']);
    // Perl: the first argument is a handle, `open(F, "x")`, `open(F, "<", "x")`.
    let first = file();
    if writes {
        return same("tee", first);
    }
    if !first.is_unknown() {
        return same("cat", first);
    }
    let is_mode = mode.len() <= 4 && mode.chars().all(|c| "rwabtU+<".contains(c));
    let name = || operands.path(Word::known(mode.trim_start_matches(['<', ' '])));
    same("cat", third.unwrap_or_else(|| if is_mode { first } else { name() }))
}
