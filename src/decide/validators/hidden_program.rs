//! Programs that run through an option or a setting of another program, or through code in another language.

use super::exfiltration::is_local;
use super::unknown_executable::is_known;
use super::{Context, command, suspicious, suspicious_if};
use crate::decide::subject::{Subject, SubjectKind};
use crate::path::AbsPath;
use crate::path::zones::Area;
use crate::programs::code::lists;
use crate::programs::{CommandLine, Does, Entry, Tail, Use, WordUse, roles};
use crate::rules::Match;
use crate::shell::{Arg, Command};

/// Commands by which the shell parser represents file accesses of inline code. The accesses are judged themselves.
const FILE_COMMANDS: &[&str] = &["cat", "cp", "mv", "rm", "tee"];

/// Whether a `-c` option of git sets something that may run a program or change a remote.
fn has_harmful_setting(command: &Command) -> bool {
    let pairs = command.args.iter().zip(command.args.iter().skip(1));
    let mut settings = pairs
        .filter(|(option, _)| option.text == "-c" || option.text == "--config")
        .filter_map(|(_, setting)| setting.text.split_once('='));
    settings.any(|(key, value)| {
        let key = key.to_ascii_lowercase();
        let harmless_value = !key.starts_with("remote.") && lists(&roles::GIT_HARMLESS_VALUES, value);
        let runs = roles::GIT_RUNNING_ENDS.iter().any(|end| key.ends_with(end));
        (!roles::GIT_HARMLESS.iter().any(|start| key.starts_with(start)) || runs)
            && !harmless_value
            && !lists(&roles::GIT_HARMLESS_SETTINGS, &key)
    })
}

pub(super) fn find(subject: &Subject<'_>, context: &Context<'_>) -> Option<Match> {
    let command = command(subject)?;
    let program = command.program.as_str();
    // `-c` is a setting only before the subcommand: `git commit -c x` reuses a message.
    if program == "git"
        && command.args.first().is_some_and(|arg| arg.text.starts_with('-') || arg.text == "clone")
        && has_harmful_setting(command)
    {
        return suspicious("has a setting that changes what git runs or where it goes");
    }
    // Git runs programs for the user, such as `git bisect run npm test`. Shells and unknown programs are unusual there.
    let by_git = command.via.last().is_some_and(|runner| runner == "git");
    let usual = is_known(program, context) && !lists(&roles::CODE_UNUSUAL, program)
        || is_given_to_git(command, subject, context);
    if by_git && !usual && !command.hidden {
        return suspicious("is run by git, and is not one of the programs that git usually runs");
    }
    // A deletion is judged by its operands, if it has any.
    let has_operands = program != "rm" || command.args.iter().any(|arg| !arg.text.starts_with('-'));
    // Code that asks this machine, such as `requests.get("http://localhost:8000/")`.
    let asks_this_machine = program == "curl" && is_local(command, context);
    let expected = asks_this_machine
        || lists(&roles::CODE_EXPECTED, program)
        || (FILE_COMMANDS.contains(&program) && has_operands);
    suspicious_if(command.hidden && !expected && !is_ordinary_work(command, context), "")
}

/// Whether code starts ordinary work, such as `node -e "execSync('npm test')"`, which is judged by itself as in the shell.
fn is_ordinary_work(command: &Command, context: &Context<'_>) -> bool {
    let language = |runner: &String| context.entry(runner).and_then(|entry| entry.language.as_deref());
    let mut languages = command.via.iter().filter_map(language).peekable();
    if languages.peek().is_none() || !command.known || lists(&roles::CODE_UNUSUAL, &command.program) {
        return false;
    }
    let is_general = languages.all(|language| lists(&roles::CODE_GENERAL, language));
    let Some(line) = command.parsed.as_deref() else {
        return is_general && command.program.contains('/') && is_own_file(&command.program, command, context);
    };
    if !is_general {
        let has_verbs = line.program().is_some_and(|entry| !entry.verbs.is_empty()) && !command.args.is_empty();
        return has_verbs && matches!(command.does(), Some(Does::Look | Does::Work)) && !command.is_dynamic();
    }
    let does_more = line.uses.iter().any(|used| matches!(used.takes, Some(Use::Code | Use::Run | Use::From | Use::To)));
    let does = command.does();
    match (line.language(), line.tail) {
        _ if does_more => false,
        // What these run is judged itself: `npx tsc`, `python3 -m pytest`.
        (_, Some(Tail::Package | Tail::Script)) | (Some(_), Some(Tail::Command)) => true,
        (Some(language), _) => {
            // `python3 -m pytest`
            let tool = |entry: &Entry| entry.verbs.is_empty() && matches!(entry.does, Some(Does::Look | Does::Work));
            let is_tool = matches!(command.args.as_slice(), [option, module, ..]
                if option.text == "-m" && module.is_known() && context.entry(&module.text).is_some_and(tool));
            let mut scripts = line.uses.iter().filter(|used| used.takes == Some(Use::Execute)).peekable();
            let is_script = scripts.peek().is_some();
            let is_own = |file: Arg| file.is_known() && is_own_file(&file.text, command, context);
            let are_own = scripts.all(|used| command.value(used).is_some_and(is_own));
            lists(&roles::CODE_GENERAL, language) && (is_tool || is_script && are_own)
        }
        (None, None) => matches!(does, Some(Does::Look | Does::Work)) && are_words_plain(command, line),
        (None, Some(_)) => false,
    }
}

/// Whether the words are known, but for operands that are only read, listed or tested.
fn are_words_plain(command: &Command, line: &CommandLine) -> bool {
    let is_read = |used: &WordUse| {
        matches!(used.takes, Some(Use::Text | Use::List | Use::Match | Use::Load | Use::Read | Use::Execute))
            && !used.by_option
    };
    let is_plain = |word: usize| line.uses_of(word).iter().any(is_read);
    let unknown = command.args.iter().enumerate().filter(|(_, arg)| !arg.is_known());
    unknown.map(|(word, _)| word).all(is_plain)
}

/// Whether a program is one that the line gives to `git bisect run` or `git rebase --exec`: a file of the project, or a
/// shell with its text, which is judged itself.
fn is_given_to_git(command: &Command, subject: &Subject<'_>, context: &Context<'_>) -> bool {
    let (Some(reading), SubjectKind::Command(_, at)) = (context.reading(), &subject.kind) else { return false };
    let is_verb = |entry: &&Entry| entry.names.iter().any(|name| name == "bisect" || name == "rebase");
    let runs = |outer: &Command| {
        outer.program == "git" && outer.parsed.as_ref().is_some_and(|line| line.path.iter().any(is_verb))
    };
    let is_text = lists(&roles::SHELLS_COMMON, &command.program)
        && matches!(command.args.as_slice(), [option, text, ..] if option.text == "-c" && text.is_known());
    let is_own = command.program.contains('/') && is_own_file(&command.program, command, context);
    // A command stands before those that it runs.
    let mut before = reading.commands.iter().take(*at).rev().take_while(|outer| outer.span == command.span);
    (is_text || is_own) && before.any(runs)
}

/// Whether a file lies in the project and is not written by the same line.
fn is_own_file(file: &str, command: &Command, context: &Context<'_>) -> bool {
    let Some(cwd) = command.cwd.as_deref() else { return false };
    let path = AbsPath::resolve_in(file, cwd, None);
    // A name with blanks is a line of shell text.
    context.zones.area(&path) == Area::InProject && !file.contains(char::is_whitespace) && command.runs.is_none()
}
