//! What a command runs, by the catalogue's entry of its program.

use super::super::canonical::program_name;
use super::super::{Arg, Command, Input};
use super::cwd::{moved, text_in};
use super::{Inner, WORD, joined, shells, unknown_script};
use crate::programs::code::LINES_IPYTHON;
use crate::programs::{self, CommandLine, Does, Tail, Use, WordUse};
use crate::shell::effects::COMMAND_PARTS;
use crate::shell::inline::Language;
use crate::verdict::limits::Meter;

/// Shell text and code in options and operands, the command behind them, and what words of unknown use may run.
pub(super) fn inner(command: &Command, meter: &Meter) -> Vec<Inner> {
    let Some(line) = command.parsed.as_deref() else {
        let texts = guessed_texts(command, |_| true, meter);
        return guessed(command, 0..command.args.len(), meter).into_iter().chain(texts).collect();
    };
    let directory = line.uses.iter().rev().find(|used| used.takes == Some(Use::Directory));
    let directory = directory.and_then(|used| command.value(used));
    let is_runner = line.path.iter().rev().find_map(|entry| entry.does) == Some(Does::Run) || line.tail.is_some();
    let mut inner = texts(command, line, directory.as_ref().filter(|_| is_runner));
    // With a dry flag or `--help`, a program that runs its operands does not.
    let is_dry = line.does == Some(Does::Look) && line.path.iter().any(|entry| entry.does == Some(Does::Run));
    match line.command.filter(|_| !is_dry) {
        Some(start) => {
            inner.extend(code_values(command, line));
            inner.extend(tail(command, line, start, directory));
            inner.extend(packages(command, line, start));
        }
        None => {
            inner.extend(code(command, line, meter));
            inner.extend(script_program(command, line).map(Inner::command));
        }
    }
    // What is not made to run others runs words of unknown use only behind `--`, or by a verb that is not known. Words
    // behind a script are its own.
    let count = command.args.len();
    let dashes = command.args.iter().position(|arg| arg.text == "--").unwrap_or(count);
    let script = line.uses.iter().find(|used| used.takes == Some(Use::Execute) && !used.by_option);
    let is_open = (is_runner || line.unknown_verb) && script.is_none();
    let from = if is_open { usize::from(line.unknown_verb) } else { dashes };
    let unknown = line.uses.iter().filter(|used| used.takes.is_none() && used.start == 0 && used.word >= from);
    inner.extend(guessed(command, unknown.map(|used| used.word), meter));
    let end = script.map(|script| script.word).or(line.command).unwrap_or(count);
    inner.extend(escapes(command, line, end, meter));
    let is_unknown = |word: usize| word < end && line.uses_of(word).iter().all(|used| used.takes.is_none());
    inner.extend(guessed_texts(command, is_unknown, meter));
    inner
}

/// Whether what a command runs is run by an option, a setting or code, and not because that is what it is for.
pub(super) fn hides(command: &Command) -> bool {
    let Some(line) = command.parsed.as_deref() else { return false };
    let by_option = |used: &WordUse| used.takes == Some(Use::Run) && used.by_option && used.aside;
    let is_text = line.command.is_some() || line.uses.iter().any(|used| used.takes == Some(Use::Run));
    let is_code = line.language().is_some() && script_program(command, line).is_none();
    line.uses.iter().any(by_option) || !is_text && is_code
}

/// Shell text in the values of options, and operands that are lines of shell text.
fn texts(command: &Command, line: &CommandLine, directory: Option<&Arg>) -> Vec<Inner> {
    let used = line.uses.iter().filter(|used| used.takes == Some(Use::Run));
    let texts = used.filter_map(|used| {
        let text = command.value(used)?;
        // `EXEC:command,pty`
        let start = command.args.get(used.word).and_then(|word| word.text.get(..used.start)).unwrap_or_default();
        let end = text.text.find(',').filter(|_| start.ends_with(':') && !start.starts_with('-'));
        let text =
            end.map_or(text.clone(), |end| Arg { text: text.text.get(..end).unwrap_or_default().into(), ..text });
        // An operand of one word may also be the name of a script: `concurrently npm:watch`.
        let is_text = used.by_option || !text.is_known() || text.text.contains(' ') || is_program(&text.text);
        is_text.then(|| Inner::text(text_in(directory, text.text.into())))
    });
    texts.collect()
}

/// The command that the operands from `start` on are.
fn tail(command: &Command, line: &CommandLine, start: usize, directory: Option<Arg>) -> Vec<Inner> {
    let mut args = command.args.get(start..).unwrap_or_default().to_vec();
    let is_alone = args.len() == 1;
    let Some(first) = args.first_mut() else { return Vec::new() };
    match line.tail {
        Some(Tail::Shell) => {
            // Text that is typed into a terminal ends with a line end: `screen -X stuff 'x\n'`.
            let text = joined(&args).map(|text| text.trim_end_matches("\\n").trim_end_matches("^M").to_owned());
            let text = text.map(|text| Inner::text(text_in(directory.as_ref(), text)));
            return text.into_iter().collect();
        }
        Some(Tail::Script) => {
            // `hatch run lint:ruff`: what follows an environment is a program.
            let plain = program_of_package(first);
            let name = if is_program(&first.text) || is_alone { first.clone() } else { plain };
            // An interpreter runs a file itself: `bun run ./x.ts`.
            let is_file = line.language().is_some() && name.text.contains(['/', '.']);
            if name.is_known() && !name.text.contains(' ') && (is_file || !is_program(&name.text)) {
                return Vec::new();
            }
            *first = name;
        }
        Some(Tail::Again) => {
            let program = line.runs_as().map_or_else(|| Arg::literal(command.program.clone()), Arg::literal);
            args.insert(0, program);
        }
        Some(Tail::Package) => {
            *first = program_of_package(first);
            // `uv run file.py`
            if line.language() == Some("python") && first.text.ends_with(".py") {
                args.insert(0, Arg::literal("python3"));
            }
        }
        Some(Tail::Command) | None => {}
    }
    // One word with blanks is a line for some programs, and the name of a program for others.
    let text = match args.as_slice() {
        [only] if only.text.contains(' ') => Some(Inner::text(text_in(directory.as_ref(), only.text.to_string()))),
        _ => None,
    };
    let names_program = |arg: &Arg| {
        let program = arg.text.split(' ').next().unwrap_or_default();
        programs::embedded(program_name(program)).is_some()
    };
    if text.is_some() && line.tail != Some(Tail::Command) {
        return text.into_iter().collect();
    }
    let text = text.filter(|_| args.first().is_some_and(names_program));
    let variables = line.uses.iter().filter(|used| used.takes == Some(Use::Variable));
    let variables = variables.filter_map(|used| {
        let arg = command.value(used)?;
        let (name, value) = arg.text.split_once('=')?;
        // `env PATH="$PATH"` leaves the variable as it is.
        let is_same =
            !arg.is_known() && value.trim_matches(['$', '{', '}']) == name && arg.prefix().len() == name.len() + 1;
        (!is_same).then(|| (name.to_owned(), arg.is_known().then(|| value.to_owned())))
    });
    let program = Inner::Command { args, cwd: moved(directory, command), env: variables.collect() };
    text.into_iter().chain([program]).collect()
}

/// The packages that are installed to run a shell or an interpreter, which none of them brings: `npx -p x sh`. A package counts
/// as its program.
fn packages(command: &Command, line: &CommandLine, start: usize) -> Vec<Inner> {
    let program = command.args.get(start).map_or("", |arg| arg.text.as_str());
    let is_foreign = shells::is_shell(program) || Language::from_program(program).is_some();
    if line.tail != Some(Tail::Package) || !is_foreign {
        return Vec::new();
    }
    let packages = command.values(&["-p", "--package"]);
    packages.iter().map(|package| Inner::command(vec![program_of_package(package)])).collect()
}

/// The program of a package: `rimraf@5`, `npm:rimraf`, `black==24.1`, `hatch run lint:ruff`.
fn program_of_package(package: &Arg) -> Arg {
    if !package.is_known() || package.text.contains(['/', ' ']) {
        return package.clone();
    }
    let name = package.text.rsplit_once(':').map_or(package.text.as_str(), |(_, name)| name);
    let end = name.find(['@', '[', '=', '<', '>', '~']).filter(|end| *end > 0).unwrap_or(name.len());
    Arg::literal(name.get(..end).unwrap_or(name))
}

/// Whether a word is a path, or names a program of the catalogue.
fn is_program(word: &str) -> bool {
    word.contains('/') && !word.starts_with('@') || programs::embedded(word).is_some()
}

/// Code in other languages: in options, in operands and on standard input.
fn code(command: &Command, line: &CommandLine, meter: &Meter) -> Vec<Inner> {
    let Some(language) = line.language().map(Language::from_name) else { return tasks(command, line, meter) };
    let with_use = |takes: Option<Use>| line.uses.iter().filter(move |used| used.takes == takes);
    // Languages that are known by name read their own options.
    if let Some(language) = Language::from_program(&command.program) {
        let loose = with_use(None).filter_map(|used| command.value(used));
        // `python3 -m timeit 'code'`
        let loose = loose.filter(|word| word.text.contains('(') && word.text.contains(')'));
        let loose = loose.map(|word| Inner::Code { language, text: word.text.into() });
        let found: Vec<Inner> = super::code(language, command).into_iter().chain(loose).collect();
        let has_magic = line.language() == Some("ipython");
        let escapes: Vec<Inner> = found.iter().filter(|_| has_magic).flat_map(magic).collect();
        return found.into_iter().chain(escapes).collect();
    }
    let mut found = code_values(command, line);
    // TeX reads its program from an operand that begins with a command.
    let operands = with_use(Some(Use::Execute)).filter_map(|used| command.value(used));
    let operands = operands.filter(|operand| operand.text.starts_with('\\'));
    found.extend(operands.map(|operand| Inner::Code { language, text: operand.text.into() }));
    let file = with_use(Some(Use::Execute)).next();
    let names_input = file.and_then(|file| command.value(file)).is_some_and(|file| is_stdin(&file.text));
    let reads_input = found.is_empty() && (file.is_none() || names_input);
    let first = line.path.iter().rev().find_map(|entry| entry.operands.as_ref()).and_then(|spec| spec.first.first());
    match &command.input {
        Input::Text(text) if reads_input => found.push(Inner::Code { language, text: text.to_string() }),
        // An interpreter whose first operand is a file reads its program where there is none.
        Input::Pipe | Input::Unknown
            if names_input || reads_input && first == Some(&Use::Execute) && line.does == Some(Does::Run) =>
        {
            found.extend(unknown_script());
        }
        Input::Text(_) | Input::Pipe | Input::Unknown | Input::Inherited => {}
    }
    found
}

/// The shell text of IPython's escapes: `!ls`, `x = !ls`, `%sx ls`, `%%bash`.
fn magic(code: &Inner) -> Vec<Inner> {
    let Inner::Code { text, .. } = code else { return Vec::new() };
    if let Some((_, cell)) = text.split_once('\n').filter(|_| text.starts_with("%%")) {
        return vec![Inner::text(cell)];
    }
    // An escape takes the rest of its line. It may stand behind other statements.
    let escaped = text.lines().filter_map(|line| {
        line.split_inclusive([';', '='])
            .scan(0, |end, part| {
                let start = *end;
                *end += part.len();
                line.get(start..).map(str::trim_start)
            })
            .find_map(|rest| LINES_IPYTHON.iter().find_map(|start| rest.strip_prefix(start)))
    });
    escaped.map(Inner::text).collect()
}

/// Code in options and operands.
fn code_values(command: &Command, line: &CommandLine) -> Vec<Inner> {
    let Some(language) = line.language().map(Language::from_name) else { return Vec::new() };
    let texts = line.uses.iter().filter(|used| used.takes == Some(Use::Code)).filter_map(|used| command.value(used));
    let texts: Vec<String> = texts.map(|text| text.text.into()).collect();
    // `-e A -e B` is one program.
    let joined = (texts.len() > 1).then(|| texts.join("\n"));
    let codes = texts.into_iter().chain(joined).map(|text| Inner::Code { language, text });
    codes.chain(bangs(command, line)).collect()
}

/// `dc` and `ed` give the rest of a line behind `!` to a shell: `1p!x`, `0r !x`.
fn bangs(command: &Command, line: &CommandLine) -> Vec<Inner> {
    if !matches!(line.language(), Some("dc" | "ed")) || command.program == "bc" {
        return Vec::new();
    }
    let used = line.uses.iter().filter(|used| used.takes == Some(Use::Code)).filter_map(|used| command.value(used));
    let given = if let Input::Text(text) = &command.input { Some(text.to_string()) } else { None };
    let texts: Vec<String> = used.map(|text| text.text.into()).chain(given).collect();
    let lines = texts.iter().flat_map(|text| text.lines()).filter_map(|line| line.split_once('!'));
    lines
        .map(|(_, text)| text.trim())
        .filter(|text| !text.is_empty() && !text.starts_with(['=', '<', '>']))
        .map(Inner::text)
        .collect()
}

/// Lines with an effect in a file of tasks that is read from standard input: `make -f -`.
fn tasks(command: &Command, line: &CommandLine, meter: &Meter) -> Vec<Inner> {
    let mut files = line.uses.iter().filter(|used| used.takes == Some(Use::Execute));
    if !files.any(|file| command.value(file).is_some_and(|file| is_stdin(&file.text))) {
        return Vec::new();
    }
    match &command.input {
        Input::Text(text) => {
            let lines = text.lines().map(|line| line.trim_start_matches(['\t', ' ', '@', '-', '+']));
            let acts = |line: &&str| guess(&line.split_whitespace().collect::<Vec<_>>(), meter).is_some();
            lines.filter(acts).map(Inner::text).collect()
        }
        Input::Pipe | Input::Unknown => unknown_script(),
        Input::Inherited => Vec::new(),
    }
}

fn is_stdin(file: &str) -> bool {
    matches!(file, "-" | "/dev/stdin" | "/dev/fd/0")
}

/// Commands that begin at one of these words, where it names a program of the catalogue and the words behind it have an
/// effect. A program of which it is not known how it runs others may run them: `tini -- rm -rf ~`.
fn guessed(command: &Command, starts: impl IntoIterator<Item = usize>, meter: &Meter) -> Vec<Inner> {
    let words: Vec<&str> = command.args.iter().map(|arg| arg.text.as_str()).collect();
    let mut found = Vec::new();
    for start in starts {
        let is_known = command.args.get(start).is_some_and(Arg::is_known);
        let rest = words.get(start..).unwrap_or_default();
        match guess(rest, meter).filter(|_| is_known) {
            None => {}
            Some(guess) => {
                found.extend(command.args.get(start..).map(|args| Inner::command(args.to_vec())));
                // The rest is judged as what this one runs.
                if guess == Guess::Runs {
                    break;
                }
            }
        }
    }
    found
}

/// Values of options of unknown use that are shell text with an effect: `--pre-command='rm -rf ~'`, `-c 'rm -rf ~'`, and
/// those of variables that a program is given: `make TEST='rm -rf ~'`.
fn guessed_texts(command: &Command, is_unknown: impl Fn(usize) -> bool, meter: &Meter) -> Vec<Inner> {
    let names_command = |option: &str| {
        let name = option.to_ascii_lowercase();
        matches!(option, "-c" | "-e" | "-x")
            || name.starts_with('-') && name.len() > 3 && COMMAND_PARTS.iter().any(|part| name.contains(part))
            || option.ends_with('=')
    };
    let mut found = Vec::new();
    let mut option = "";
    for (index, arg) in command.args.iter().enumerate() {
        let text = arg.text.as_str();
        let (name, value) = match text.split_once('=') {
            // `X=…` and `-DX=…`
            Some((name, value)) if is_variable(name.strip_prefix("-D").unwrap_or(name)) => {
                (text.get(..=name.len()).unwrap_or_default(), value)
            }
            Some((name, value)) if name.starts_with('-') => (name, value),
            _ => (option, text),
        };
        option = text;
        if !value.contains(' ') || !names_command(name) || !is_unknown(index) {
            continue;
        }
        let mut parts = value.split([';', '&', '|', '\n']);
        if parts.any(|part| guess(&part.split_whitespace().collect::<Vec<_>>(), meter).is_some()) {
            found.push(Inner::text(value));
        }
    }
    found
}

fn is_variable(name: &str) -> bool {
    !name.starts_with('-') && !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || "_.:-".contains(c))
}

/// Commands in values of which many programs run the rest in a shell: `!cmd`, `|cmd`, `$(cmd)`, `sh -c cmd`, also behind
/// `KEY=`. Operands of programs that only print or compare them are left out.
fn escapes(command: &Command, line: &CommandLine, end: usize, meter: &Meter) -> Vec<Inner> {
    let is_value = |word: usize| line.uses_of(word).iter().any(|used| used.by_option);
    let looks = line.does == Some(Does::Look);
    let words = command.args.iter().enumerate().take(end).filter(|(_, arg)| arg.text.contains(' '));
    let texts = words.filter_map(|(at, arg)| {
        let value = arg.text.split_once('=').filter(|(key, _)| !key.contains(' ')).map(|(_, value)| value);
        let is_run = !looks || is_value(at) || arg.text.starts_with('+');
        let begun = [Some(arg.text.as_str()), value].into_iter().flatten().find_map(escaped_command);
        begun.filter(|_| is_run).or_else(|| marked_command(&arg.text))
    });
    texts.filter(|text| guess(&text.split_whitespace().collect::<Vec<_>>(), meter).is_some()).map(Inner::text).collect()
}

/// The command in a value that begins with a shell escape or is one of a shell.
fn escaped_command(value: &str) -> Option<&str> {
    let value = value.trim_matches(['+', ':', '"', '\'']);
    let shells = ["sh -c ", "bash -c ", "/bin/sh -c ", "/bin/bash -c ", "zsh -c "];
    if shells.iter().any(|start| value.starts_with(start)) {
        return Some(value);
    }
    let rest = ["!", "|", "$(", "`"].iter().find_map(|start| value.strip_prefix(start))?;
    Some(rest.trim_end_matches([')', '`']).trim())
}

/// The command behind a mark anywhere in a text: formats of tmux, expansions of Kakoune, files of PostScript.
fn marked_command(text: &str) -> Option<&str> {
    let rest = ["#(", "%sh{", "%pipe%"].iter().find_map(|mark| Some(text.split_once(mark)?.1))?;
    rest.split([')', '}']).next()
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Guess {
    /// The words are a command with an effect.
    Acts,
    /// They are a command that runs another one, which has an effect.
    Runs,
}

/// What words do if they are a command.
fn guess(words: &[&str], meter: &Meter) -> Option<Guess> {
    let mut rest = words;
    let mut guess = Guess::Acts;
    loop {
        let (name, args) = rest.split_first()?;
        let entry = programs::embedded(program_name(name)).filter(|_| !args.is_empty())?;
        if !meter.try_charge(WORD * (1 + args.len())) {
            return None;
        }
        if shells::is_shell(name) {
            return Some(Guess::Runs);
        }
        let line = programs::parse(entry, args);
        match line.command {
            Some(start) => {
                guess = Guess::Runs;
                rest = args.get(start..).unwrap_or_default();
            }
            None => {
                let acts = |used: &WordUse| {
                    matches!(
                        used.takes,
                        Some(
                            Use::Remove
                                | Use::Rights
                                | Use::Redirect
                                | Use::Replace
                                | Use::Empty
                                | Use::Write
                                | Use::Into
                                | Use::Send
                                | Use::Execute
                                | Use::Run
                                | Use::Code
                        )
                    )
                };
                // Without a verb, the name may be an ordinary word: `format`.
                let loses = line.does >= Some(Does::Lose) && line.path.len() > 1;
                return (line.uses.iter().any(acts) || loses).then_some(guess);
            }
        }
    }
}

/// The script of an interpreter that is a program of the catalogue, with its arguments: `python3 manage.py flush`.
fn script_program(command: &Command, line: &CommandLine) -> Option<Vec<Arg>> {
    let script = line.uses.iter().find(|used| used.takes == Some(Use::Execute) && !used.by_option)?;
    let arg = command.args.get(script.word).filter(|_| line.language().is_some())?;
    let name = arg.text.rsplit('/').next().unwrap_or_default();
    let has_verbs = |name: &str| programs::embedded(name).is_some_and(|entry| !entry.verbs.is_empty());
    let is_path = arg.text.contains(['/', '.']);
    (arg.is_known() && is_path && has_verbs(name)).then(|| {
        let rest = command.args.iter().skip(script.word + 1).cloned();
        [Arg::literal(name)].into_iter().chain(rest).collect()
    })
}
