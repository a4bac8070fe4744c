//! Calls by name in scripting languages other than sed.

mod argument;
mod build;
mod known;
mod mode;
mod name;

use super::carried::PlainTokens;
use super::expression::{Code, last_component};
use super::lexis::{self, Reading};
use super::token::{Token, doubtful_tokens, tokens};
use super::value::Value;
use super::{Call, Language, Word, carried, distinct, literals, mentioned, paths};
use crate::programs::code::{self, CallEffect, effect_of, lists, modules_of};
use crate::verdict::limits::{Meter, SHELL_STEPS};
pub(super) use argument::{Argument, arguments};
use build::build_calls;
use known::{computed_files, known_call};
pub(super) use name::Imported;
use name::resolve_aliases;

/// What is found in a piece of code.
#[derive(Default)]
struct Found {
    calls: Vec<Call>,
    /// For each token, whether it is the name of a call that is judged.
    judged: Vec<bool>,
    /// Code of the same language that the code evaluates.
    evaluated: Vec<String>,
    /// Strings that look like code of the same language, and that may be evaluated.
    quoted: Vec<String>,
    /// The directories that the code may have changed to.
    directories: Vec<Value>,
    /// The requests among the calls that are given something other than literals.
    requests: Vec<usize>,
    /// Host names that are put together, and looked up.
    hosts: Vec<Word>,
    /// The tokens that stand for literals, once a request needs them.
    plain: Option<PlainTokens>,
}

impl Found {
    /// Whether the expressions between two tokens consist of literals, of numbers, and of names that stand for such.
    fn is_plain(&mut self, code: &Code<'_>, start: usize, end: usize) -> bool {
        self.plain.get_or_insert_with(|| PlainTokens::of(code)).covers(start, end)
    }
}

/// Returns what a piece of code does, with the code that it evaluates.
pub(super) fn calls(language: Language, code: &str, meter: &Meter) -> Vec<Call> {
    let mut all = Vec::new();
    let mut work = vec![(code.to_owned(), Trust::Evaluated)];
    while let Some((code, trust)) = work.pop() {
        meter.charge(code.len() / 2);
        if meter.exceeds(&SHELL_STEPS) {
            break;
        }
        let usual = tokens(language, &code, Reading::Usual);
        if lexis::is_doubtful(language, &code) {
            meter.charge(code.len());
            let flat = doubtful_tokens(language, &code, meter);
            if flat != usual {
                work.extend(mentioned::other_strings(&usual, &flat).map(|text| (text, Trust::Doubtful)));
                let mut found = calls_in(language, &code, flat, meter);
                all.extend(found.calls.drain(..).filter(mentioned::is_command));
            }
        }
        let mut found = calls_in(language, &code, usual, meter);
        all.extend(found.calls.drain(..).filter(|call| trust == Trust::Evaluated || mentioned::is_definite(call)));
        work.extend(found.evaluated.into_iter().map(|text| (text, trust)));
        work.extend(found.quoted.into_iter().map(|text| (text, Trust::Doubtful)));
    }
    distinct(all, meter)
}

/// How certain it is that a text is code.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Trust {
    Evaluated,
    /// It may as well be data: only what it does for certain counts.
    Doubtful,
}

fn calls_in(language: Language, text: &str, tokens: Vec<Token>, meter: &Meter) -> Found {
    let tokens = resolve_aliases(tokens);
    let imported = Imported::of(&tokens, text);
    let code = Code::new(language, &tokens, meter);
    let mut found = Found { judged: vec![false; tokens.len()], ..Found::default() };
    // Elsewhere than in a statement that prints, `>` compares in awk.
    let mut awk_prints = false;
    for (at, token) in tokens.iter().enumerate() {
        if meter.exceeds(&SHELL_STEPS) {
            break;
        }
        awk_prints = match token {
            Token::Name(name) if name == "print" || name == "printf" => language == Language::Awk,
            Token::Sign(';' | '\n' | '{' | '}') => false,
            Token::Name(_) | Token::Text(_) | Token::Mixed(_) | Token::Command(_) | Token::Sign(_) => awk_prints,
        };
        match token {
            Token::Command(pieces) => {
                found.calls.extend(code.string(token).map(|value| Call::Text(value.shell_text())));
                found.evaluated.extend(mentioned::code_of(pieces));
            }
            Token::Mixed(pieces) => found.evaluated.extend(mentioned::code_of(pieces)),
            Token::Name(name) => name_call(&code, name, at, &imported, &mut found),
            // `X["system"]("…")`
            Token::Sign('[') if code.is_sign(code.close(at) + 1, '(') && code.close(at) == at + 2 => {
                if let Some(Token::Text(name)) = code.token(at + 1) {
                    let open = code.close(at) + 1;
                    known_call(&code, effect_of(last_component(name)), name, at, open, &mut found);
                }
            }
            Token::Sign('[') if is_computed_member(&code, at) => found.calls.push(Call::unknown()),
            Token::Sign('|') if language == Language::Awk => found.calls.extend(awk_pipe(&code, at)),
            Token::Sign('>') if awk_prints => {
                let file = code.evaluate(at + 1, code.statement_end(at + 1));
                found.calls.push(Call::Same(vec![Word::known("tee"), file.word()]));
            }
            // `getline x < file`
            Token::Sign('<') if language == Language::Awk => {
                let mut before = tokens.get(at.saturating_sub(2)..at).unwrap_or_default().iter();
                if before.any(|token| matches!(token, Token::Name(name) if name == "getline")) {
                    found.calls.extend(awk_file(&code, at + 1, "cat"));
                }
            }
            // `@f(x)`
            Token::Sign('@') if language == Language::Awk => found.calls.push(Call::unknown()),
            // gawk connects to the network through special file names.
            Token::Text(text) if language == Language::Awk && text.starts_with("/inet") => {
                found.calls.push(Call::same(&["curl", "--data", "@-", text]));
            }
            Token::Text(_) | Token::Sign(_) => {}
        }
    }
    found.calls.extend(mentioned::callables(&code, &imported, &found.judged));
    hand_on(&code, &mut found);
    let mut calls = std::mem::take(&mut found.calls);
    calls.extend(carried::credentials(&code));
    calls.extend(carried::shown_pickle(&code));
    calls.extend(mentioned::cut_path(&code));
    let is_vague = |call: &Call| matches!(call, Call::Run(words) if words.first().is_some_and(Word::is_unknown));
    let runs_unknown = calls.iter().any(is_vague);
    let removes = imported.has(&code::WORDS_REMOVE_MODULES);
    let loose = literals::loose(&code, &literals::Judged { judged: &found.judged, runs_unknown, removes });
    calls.extend(loose.calls);
    found.quoted = loose.quoted;
    let mut calls = distinct(calls, meter);
    name_targets(&mut calls, &code);
    Found { calls, ..found }
}

/// The use of a file whose name awk computes.
fn awk_file(code: &Code<'_>, start: usize, program: &str) -> Vec<Call> {
    let end = if code.is_sign(start, '(') { code.close(start) + 1 } else { start + 1 };
    // `$1 $2` puts fields together.
    let fields = (start..end).filter(|at| code.name(*at).is_some_and(|name| name.starts_with('$'))).count();
    let value = code.evaluate(start, end);
    let computed = computed_files(std::slice::from_ref(&value));
    if fields > 1 || value.is_decoded() {
        return vec![Call::same(&[known::COMPUTED_FILE])];
    }
    let known = (!value.is_unknown()).then(|| Call::Same(vec![Word::known(program), value.word()]));
    computed.into_iter().chain(known).collect()
}

/// Adds what the code hands on to other machines, to its output and to other processes.
fn hand_on(code: &Code<'_>, found: &mut Found) {
    let is = |call: &Call, program: &str| match call {
        Call::Same(words) => words.first().is_some_and(|word| word.text == program),
        Call::Run(_) | Call::Text(_) | Call::Loose(_) => false,
    };
    let reads = found.calls.iter().any(|call| is(call, "cat")) || carried::has_environment(code);
    let fetches = found.calls.iter().any(|call| is(call, "curl"));
    for &at in found.requests.iter().filter(|_| reads) {
        if let Some(Call::Same(words)) = found.calls.get_mut(at)
            && words.len() == 2
        {
            words.splice(1..1, [Word::known("--data"), Word::known("@-")]);
        }
    }
    if reads {
        let send = |host: Word| Call::Same(vec![Word::known("curl"), Word::known("--data"), Word::known("@-"), host]);
        found.calls.extend(found.hosts.drain(..).map(send));
    }
    found.calls.extend(carried::environment(code));
    found.calls.extend(carried::unpickled(code, fetches));
    found.calls.extend(carried::ended_processes(code));
}

/// If the file that a call changes or reads is unknown, it may be any that the code names.
fn name_targets(calls: &mut Vec<Call>, code: &Code<'_>) {
    for (kind, all) in [(changes as fn(&[Word]) -> bool, false), (reads, true)] {
        let is_vague = |call: &Call| match call {
            Call::Same(words) => words.iter().any(Word::is_unknown) && kind(words),
            Call::Run(_) | Call::Text(_) | Call::Loose(_) => false,
        };
        let Some(Call::Same(words)) = calls.iter().find(|call| is_vague(call)).cloned() else { continue };
        // The program that the code looks up: `shutil.which("x")`.
        if !all && let Some(program) = carried::located_program(code, calls) {
            let words: Vec<&str> =
                words.iter().filter(|word| !word.is_unknown()).map(|word| word.text.as_str()).collect();
            calls.push(Call::Text(format!("{} \"$(which {program})\"", words.join(" "))));
        }
        let verb: Vec<Word> = words.into_iter().filter(|word| !word.is_unknown()).collect();
        // The home directory itself can only be removed.
        let removes = verb.first().is_some_and(|verb| verb.text == "rm");
        let texts = paths::named_paths(code).into_iter().filter(|path| removes || path.text != "~/");
        calls.extend(texts.map(|text| Call::Same(verb.iter().cloned().chain([text]).collect())));
        let left = |words: &[Word]| words.iter().any(Word::is_unknown) && kind(words) && (all || writes(words));
        calls.retain(|call| !matches!(call, Call::Same(words) if left(words)));
    }
}

fn reads(words: &[Word]) -> bool {
    words.first().is_some_and(|verb| verb.text == "cat")
}

fn changes(words: &[Word]) -> bool {
    words.first().is_some_and(|verb| ["chmod", "cp", "mv", "rm", "tee"].contains(&verb.text.as_str()))
}

fn writes(words: &[Word]) -> bool {
    words.first().is_some_and(|verb| verb.text == "tee")
}

/// `globalThis[x](…)`: any function of the language.
fn is_computed_member(code: &Code<'_>, at: usize) -> bool {
    let before = at.checked_sub(1);
    let scope =
        before.and_then(|at| code.name(at)).is_some_and(|name| lists(&code::WORDS_SCOPES, last_component(name)));
    let key = code.evaluate(at + 1, code.close(at));
    scope && code.is_sign(code.close(at) + 1, '(') && key.text().is_none()
}

/// Judges a name that may be a call, or a function that is passed on.
fn name_call(code: &Code<'_>, name: &str, at: usize, imported: &Imported, found: &mut Found) {
    let before = |back: usize| at.checked_sub(back).and_then(|at| code.token(at));
    let is_method = before(1) == Some(&Token::Sign('.'));
    let is_arrow = before(1) == Some(&Token::Sign('>')) && before(2) == Some(&Token::Sign('-'));
    match name {
        // `/x/.exec("y")` is a method of a regular expression.
        _ if is_method && matches!(before(2), Some(Token::Sign(sign)) if !matches!(sign, ')' | ']')) => return,
        // `$db->exec()` is a method of something.
        "exec" | "system" | "query" if is_arrow && !imported.is_foreign => return,
        // `model().eval()` is a method of an unknown object. It may also be an interpreter of another language.
        "eval" if is_method => {
            if let (true, Some(Token::Text(text))) = (code.is_sign(at + 1, '('), code.token(at + 2)) {
                found
                    .calls
                    .extend(super::calls(Language::Other, text, code.meter).into_iter().filter(mentioned::is_definite));
            }
            return;
        }
        _ => {}
    }
    // Perl: `eval` alone evaluates the line that was read.
    if name == "eval"
        && code.language == Language::Perl
        && matches!(code.token(at + 1), None | Some(Token::Sign(';' | '}' | '\n')))
    {
        found.calls.push(Call::unknown());
        return;
    }
    // awk: `@f(x)` calls the function that a variable names.
    if name.starts_with('@') && code.language == Language::Awk {
        found.calls.push(Call::unknown());
        return;
    }
    // PHP suppresses errors with `@unlink`.
    let name = name.trim_start_matches(['@', '&', '\\']);
    // Django: `User.objects.all().delete()`
    if name == "delete" && is_method && code.is_sign(at + 2, ')') {
        let object =
            at.checked_sub(2).and_then(|close| code.open(close)).and_then(|open| code.name(open.checked_sub(1)?));
        if object.is_some_and(|object| object.ends_with("objects.all")) {
            found.calls.extend(build_calls(CallEffect::Lose, &[], None).unwrap_or_default());
            return;
        }
    }
    // Ruby: `TCPSocket.new("host", 80)` connects, `UDPSocket.new.send("text", 0, "host", 9)` sends.
    let class = [".new", ".open", ".start"].iter().find_map(|method| name.strip_suffix(method));
    let class = class.or_else(|| name.strip_suffix(".new.send"));
    let connects = |class: &&str| effect_of(last_component(class)) == Some(CallEffect::Send);
    let name = class.filter(connects).unwrap_or(name);
    let last = last_component(name);
    // Perl: `Net::FTP->new("host")` connects.
    let is_built = code.is_sign(at + 1, '-') && code.is_sign(at + 2, '>') && code.name(at + 3) == Some("new");
    if code.language == Language::Perl && is_built && connects(&name) {
        return known_call(code, Some(CallEffect::Send), name, at, at + 4, found);
    }
    let called = code.is_sign(at + 1, '(');
    if code.language == Language::Php && name.starts_with('$') && called {
        found.calls.extend(variable_call(code, name, at));
        return;
    }
    // A pattern for hidden files below a directory that is not known.
    if called
        && matches!(last, "glob" | "rglob" | "iglob")
        && let Some(Token::Text(pattern)) = code.token(at + 2)
        && pattern.starts_with('.')
        && !pattern.starts_with("./")
        && !pattern.starts_with("..")
        && pattern.contains('*')
        && pattern.contains('/')
    {
        found.calls.push(Call::Text(format!("cat ~/{pattern}")));
    }
    // The file is the path that the method is called on.
    if matches!(last, "read_text" | "read_bytes") {
        let object = receiver(code, name, at);
        found.calls.extend(computed_files(std::slice::from_ref(&object)));
        found.calls.push(Call::Same(vec![Word::known("cat"), object.word()]));
        return;
    }
    let is_lua_code = code.language == Language::Lua && matches!(name, "load" | "loadstring" | "dostring");
    let effect =
        if is_lua_code { Some(CallEffect::Code) } else { effect_of(last).or_else(|| http_request(name, imported)) };
    let Some(effect) = effect.filter(|effect| counts(code.language, name, *effect, imported)) else { return };
    // A request whose method or second argument says that it carries data.
    let carries = imported.posts || last == "urlopen" && called && code.statement_end(at + 2) + 1 < code.close(at + 1);
    // PHP: `file_get_contents("https://…", false, $context)`.
    let asks_server = || {
        let address = code.evaluate(at + 2, code.statement_end(at + 2)).text();
        effect == CallEffect::Read && called && address.is_some_and(|address| address.starts_with("http"))
    };
    let effect = if carries && (effect == CallEffect::Fetch || asks_server()) { CallEffect::Send } else { effect };
    // With a condition, not everything goes: `User.where(…).delete_all`, `deleteMany({a: 1})`.
    if effect == CallEffect::Lose {
        let is_filtered = is_method
            || called && !code.is_sign(at + 2, ')') && !(code.is_sign(at + 2, '{') && code.is_sign(at + 3, '}'));
        let by_condition = matches!(last, "delete_all" | "destroy_all" | "deleteMany" | "delete_many");
        let used = called || matches!(code.language, Language::Ruby | Language::Elixir);
        if used && !(by_condition && is_filtered) {
            found.calls.extend(build_calls(effect, &[], None).unwrap_or_default());
        }
        return;
    }
    // `p.unlink()` deletes the file that `p` names.
    let object = receiver(code, name, at);
    let on_object = called && (is_method || name.contains('.'));
    let is_empty = called && code.is_sign(at + 2, ')') || !called && is_method && code.language == Language::Ruby;
    let of_object = is_method || name.contains('.');
    if of_object && is_empty && effect == CallEffect::Delete && matches!(last, "unlink" | "rmdir" | "rmtree") {
        found.calls.push(Call::Same(vec![Word::known("rm"), Word::known("-rf"), object.word()]));
        return;
    }
    if on_object && (!object.is_unknown() || object.is_decoded()) {
        // `Path("x").chmod(0o777)`
        if effect == CallEffect::Rights {
            let mode = mode::first(code, at + 2, code.close(at + 1), &[Argument::Value(Value::unknown())]);
            let given: Vec<Argument> = mode.into_iter().chain([Argument::Value(object)]).collect();
            found.calls.extend(build_calls(effect, &given, None).unwrap_or_default());
            return;
        }
        let opens = effect == CallEffect::Open && mode_writes(&code.evaluate(at + 2, code.close(at + 1)));
        let touches = last == "touch" || effect == CallEffect::WriteObject || opens;
        if touches {
            found.calls.extend(computed_files(std::slice::from_ref(&object)));
            found.calls.push(Call::Same(vec![Word::known("tee"), object.word()]));
        }
    }
    known_call(code, Some(effect), name, at, at + 1, found);
}

/// PHP: `$f("…")`.
fn variable_call(code: &Code<'_>, name: &str, at: usize) -> Vec<Call> {
    let function = match code.values_of(name) {
        [value] => value.text(),
        _ => None,
    };
    if let Some(effect) = function.and_then(|name| effect_of(&name)) {
        let arguments = arguments(code, at + 2, code.close(at + 1));
        return build_calls(effect, &arguments, None).unwrap_or_default();
    }
    // A function that is defined here runs what it contains.
    let is_text = matches!(code.values_of(name), [value] if value.text().is_some());
    if code.defines(name) || is_text { Vec::new() } else { vec![Call::unknown()] }
}

/// The value of the object that a method is called on.
fn receiver(code: &Code<'_>, name: &str, at: usize) -> Value {
    if let Some((object, _)) = name.rsplit_once('.') {
        return match code.values_of(object) {
            [only] => only.clone(),
            _ => Value::unknown(),
        };
    }
    // `Path("x").unlink()`, `(home / "x").unlink()`
    let Some(close) = at.checked_sub(2).filter(|close| code.is_sign(*close, ')')) else { return Value::unknown() };
    let Some(open) = code.open(close) else { return Value::unknown() };
    let start = if open.checked_sub(1).is_some_and(|at| code.name(at).is_some()) { open - 1 } else { open };
    code.evaluate(start, close + 1)
}

fn mode_writes(mode: &Value) -> bool {
    mode.text().is_some_and(|mode| mode.len() <= 4 && mode.contains(['w', 'a', 'x', '+']))
}

/// Whether a name means a call with this effect, by the module before it.
fn counts(language: Language, name: &str, effect: CallEffect, imported: &Imported) -> bool {
    let last = last_component(name);
    let module = name.rsplit_once(['.', ':']).map_or("", |(module, _)| module.trim_end_matches(':'));
    let innermost = last_component(module);
    let Some(modules) = modules_of(last) else { return true };
    // `exec` is also a method of regular expressions.
    let is_own_exec = last == "exec" && language == Language::Node && module.is_empty();
    let is_listed = modules.contains(&module) || modules.contains(&innermost);
    // `from subprocess import run` allows the bare name.
    let is_bare_import = imported.subprocess && module.is_empty() && matches!(last, "run" | "call")
        || imported.has(modules) && (last != "exec" || module.is_empty());
    if is_own_exec && effect == CallEffect::Run {
        let modules = &imported.modules;
        return modules.is_empty()
            || imported.has(&["child_process", "shelljs"])
            || !modules.iter().any(|name| name.starts_with('.'));
    }
    is_listed || language == Language::Perl || is_bare_import
}

/// Returns the effect of a call of an HTTP client: `requests.post`, `axios.get`, `Net::HTTP.get`.
fn http_request(name: &str, imported: &Imported) -> Option<CallEffect> {
    let (module, verb) = name.rsplit_once('.').unwrap_or(("", name));
    let client = [
        "requests", "httpx", "axios", "http", "https", "Net::HTTP", "urllib3", "session", "aiohttp", "got",
        "superagent", "needle", "undici", "httpc", ":httpc", "Req", "HTTPoison",
    ]
    .contains(&module)
        || imported.has(&["http", "https", "axios", "got"]);
    match verb {
        "get" | "head" | "request" if client => Some(CallEffect::Fetch),
        "post" | "put" | "patch" if client && !module.is_empty() => Some(CallEffect::Send),
        _ => None,
    }
}

/// Returns the command of `"cmd" | getline` or `print | "cmd"`.
fn awk_pipe(code: &Code<'_>, at: usize) -> Option<Call> {
    let before = at.checked_sub(1).and_then(|at| code.token(at));
    if before == Some(&Token::Sign('|')) || code.is_sign(at + 1, '|') {
        return None;
    }
    // `|&` is a pipe in both directions.
    let next = if code.is_sign(at + 1, '&') { at + 2 } else { at + 1 };
    let known = |name: &str| match code.values_of(name) {
        [only] if !only.is_unknown() => Some(Call::Text(only.shell_text())),
        _ => Some(Call::unknown()),
    };
    match (before, code.token(next)) {
        (Some(Token::Text(text)), Some(Token::Name(name))) if name == "getline" => Some(Call::Text(text.clone())),
        (_, Some(Token::Text(text))) => Some(Call::Text(text.clone())),
        (Some(Token::Name(command)), Some(Token::Name(name))) if name == "getline" => known(command),
        (_, Some(Token::Name(name))) if name != "getline" => known(name),
        (Some(Token::Sign(')')), Some(Token::Name(_))) => Some(Call::unknown()),
        _ => None,
    }
}
