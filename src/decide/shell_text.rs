//! Judges shell text: each command, each pipeline, the whole text, and each file access.

use super::context::Context;
use super::file_access::judge_command_access;
use super::matching::apply_rules;
use super::subject::Subject;
use crate::event::{Action, Change, Dialect, Event, ShellText};
use crate::policy::Config;
use crate::shell::{Access, Act, Command, Effects, Reading, Target, Unreadable};
use crate::verdict::{Effect, Finding, RuleId, Verdict};
use std::cell::LazyCell;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// Adds the findings about a call that runs shell text.
pub(crate) fn judge(dialect: Dialect, context: &Context<'_>, verdict: &mut Verdict) {
    let Some(ShellText { reading, effects }) = context.event.shell() else { return };
    verdict.charge(reading.steps);
    verdict.charge(effects.steps());
    for limit in [reading.exceeded, effects.exceeded].into_iter().flatten() {
        verdict.add(context.failure(&limit.failure()));
    }
    // PowerShell is parsed less completely than bash, so an error in it is weaker evidence.
    let effect = match dialect {
        Dialect::Bash => Effect::Ask,
        Dialect::PowerShell => context.config.suspicious,
    };
    report_uncertainty(reading, effect, context, verdict);
    judge_commands(reading, effects, context, verdict);
}

/// Adds the finding about text that cannot be read with certainty.
fn report_uncertainty(reading: &Reading, effect: Effect, context: &Context<'_>, verdict: &mut Verdict) {
    let Some(doubt) = reading.uncertainties.first().filter(|_| context.config.suspicious > Effect::Pass) else {
        return;
    };
    let what = Subject::line().shown(context).unwrap_or_default();
    let reason = format!("{what} cannot be read with certainty: {}", describe(&doubt.reason));
    let finding = Finding::new(RuleId::known("unreadable-command"), effect, reason);
    verdict.add(finding.with_nudge("write it as several plain commands"));
}

/// Rules that ask about a program because it is not known. A file of settings may name programs that other tools install.
const ABOUT_UNKNOWN: [&str; 1] = ["unknown-executable"];

/// Adds the findings about a file that runs by itself and is written by a tool. A part of a file may be no complete text, so
/// that only a whole one must be read with certainty.
pub(crate) fn judge_written(event: &Event<'_>, config: &Config, verdict: &mut Verdict) {
    let Some(ShellText { reading, effects }) = event.shell() else { return };
    let mut context = Context::new(event, config);
    context.applicable.remove(&ABOUT_UNKNOWN);
    for limit in [reading.exceeded, effects.exceeded].into_iter().flatten() {
        verdict.add(context.failure(&limit.failure()));
    }
    verdict.charge(reading.steps);
    judge_commands(reading, effects, &context, verdict);
    // The findings about commands say more.
    if is_whole(&event.action) {
        report_uncertainty(reading, config.suspicious, &context, verdict);
    }
}

/// Whether an edit writes all of a file.
fn is_whole(action: &Action) -> bool {
    let Action::Edit { changes, .. } = action else { return false };
    changes.iter().any(|change| matches!(change, Change::Whole(_)))
}

/// Adds the findings about the commands of a shell text, its pipelines and what they do to files.
fn judge_commands(reading: &Reading, effects: &Effects, context: &Context<'_>, verdict: &mut Verdict) {
    // Shell text may repeat itself thousands of times, so equal commands, pipelines and accesses are judged once.
    let repeated = find_repeated(reading, effects, context);
    let is_repeated = |at: usize| repeated.get(at) == Some(&true);
    for (at, command) in reading.commands.iter().enumerate().filter(|(at, _)| !is_repeated(*at)) {
        apply_rules(&Subject::command(command, at), context, verdict);
    }
    let pipelines = reading.pipelines();
    let mut judged = BTreeSet::new();
    for pipeline in pipelines.iter().filter(|pipeline| judged.insert(&pipeline.canonical)) {
        apply_rules(&Subject::pipeline(pipeline), context, verdict);
    }
    apply_rules(&Subject::line(), context, verdict);
    let texts = LazyCell::new(|| number_texts(reading));
    let mut judged = BTreeSet::new();
    for access in effects.accesses.iter().filter(|access| !access.row.is_some_and(is_repeated)) {
        if AccessKey::of(access, reading, &texts, context).is_none_or(|key| judged.insert(key)) {
            judge_command_access(access, context, verdict);
        }
    }
}

/// Everything that the findings about a file access depend on.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct AccessKey<'a> {
    act: Act,
    file: &'a str,
    has_path: bool,
    deep: bool,
    astray: bool,
    /// The number of the text of the command: its options may say that it shows only names.
    command: Option<usize>,
    /// What it prints becomes variables.
    exported: bool,
    /// The commands that run the program: a container has files of its own.
    via: &'a [String],
}

impl<'a> AccessKey<'a> {
    /// Returns `None` if the findings depend on more than that: on the whole command for deletions and changes of
    /// permissions, on how much of the name is known for a target with an open end, and on the container.
    fn of(access: &'a Access, reading: &'a Reading, texts: &[usize], context: &Context<'_>) -> Option<AccessKey<'a>> {
        let Access { act, target: Target { text, path, open }, deep, astray, row } = access;
        if *open || matches!(act, Act::Remove | Act::Move | Act::Change) {
            return None;
        }
        let command = row.and_then(|row| reading.commands.get(row));
        // Two containers may be different ones.
        if command.is_some_and(|command| command.container.is_some()) {
            return None;
        }
        let via = command.map_or(&[][..], |command| command.via.as_slice());
        let exported = command.is_some_and(|command| context.data_sources.is_exported(command, context));
        let command = row.and_then(|row| texts.get(row)).copied();
        Some(AccessKey {
            act: *act,
            file: text,
            has_path: path.is_some(),
            deep: *deep,
            astray: *astray,
            command,
            exported,
            via,
        })
    }
}

/// Numbers the commands by their canonical texts, so that long texts are not compared for each file access.
fn number_texts(reading: &Reading) -> Vec<usize> {
    let mut numbers: BTreeMap<&str, usize> = BTreeMap::new();
    let texts = reading.commands.iter().map(|command| command.canonical.as_str());
    texts.enumerate().map(|(row, text)| *numbers.entry(text).or_insert(row)).collect()
}

/// Pipelines with the same first command that a pipeline is compared with. Further ones are judged even if repeated.
const MAX_COMPARED_PIPELINES: usize = 8;

/// Returns for each command whether an equal pipeline, with the same file accesses, came before its pipeline.
fn find_repeated(reading: &Reading, effects: &Effects, context: &Context<'_>) -> Vec<bool> {
    let mut repeated = Vec::with_capacity(reading.commands.len());
    let mut seen: BTreeMap<(usize, &str), Vec<Range<usize>>> = BTreeMap::new();
    let accesses = accesses_by_command(reading, effects);
    let changes = starts_of_changes(reading, &accesses);
    let changes_before = |command: &Command| changes.partition_point(|start| *start < command.span.start);
    let mut start = 0;
    for pipeline in reading.commands.chunk_by(|one, other| one.pipeline == other.pipeline) {
        let range = start..start + pipeline.len();
        start = range.end;
        // Two substitutions may look alike and print different things, and the later stages of a pipeline depend on
        // their input.
        let is_exported = |command: &Command| context.data_sources.is_exported(command, context);
        let comparable = !pipeline.iter().any(|command| command.is_dynamic() || is_exported(command));
        let Some(first) = pipeline.first().filter(|first| first.stage == 0 && comparable) else {
            repeated.resize(range.end, false);
            continue;
        };
        let candidates = seen.entry((changes_before(first), first.canonical.as_str())).or_default();
        let is_same = |earlier: &Range<usize>| {
            let commands = reading.commands.get(earlier.clone()).unwrap_or_default();
            let accesses = accesses.get(earlier.clone()).zip(accesses.get(range.clone()));
            earlier.len() == range.len()
                && commands.iter().zip(pipeline).all(is_same_command)
                && commands.iter().map(changes_before).eq(pipeline.iter().map(changes_before))
                && accesses.is_some_and(|(earlier, now)| earlier.iter().zip(now).all(are_same_accesses))
        };
        let is_repeated = candidates.iter().any(is_same);
        repeated.resize(range.end, is_repeated);
        if !is_repeated && candidates.len() < MAX_COMPARED_PIPELINES {
            candidates.push(range);
        }
    }
    repeated
}

/// Where the commands begin that may change how later ones are judged, in order: those that write or fetch files, or set
/// variables. What a program does depends on its files, and what a command prints depends on the variables.
fn starts_of_changes(reading: &Reading, accesses: &[Vec<&Access>]) -> Vec<usize> {
    let writes = |accesses: &Vec<&Access>| {
        accesses.iter().any(|access| access.act.changes() && access.target.text != "/dev/null")
    };
    let sets = |command: &Command| SETTERS.contains(&command.program.as_str());
    let changing =
        reading.commands.iter().zip(accesses).filter(|(command, accesses)| sets(command) || writes(accesses));
    let mut starts: Vec<usize> = changing.map(|(command, _)| command.span.start).collect();
    starts.sort_unstable();
    starts
}

/// Builtins that set variables of the shell from a file, a text or their words.
const SETTERS: [&str; 11] =
    [".", "declare", "eval", "export", "local", "mapfile", "read", "readarray", "readonly", "source", "typeset"];

/// The file accesses of each command. Equal commands may differ in them, for example after a symlink was made.
fn accesses_by_command<'a>(reading: &Reading, effects: &'a Effects) -> Vec<Vec<&'a Access>> {
    let mut by_command = vec![Vec::new(); reading.commands.len()];
    for access in &effects.accesses {
        if let Some(accesses) = access.row.and_then(|row| by_command.get_mut(row)) {
            accesses.push(access);
        }
    }
    by_command
}

fn are_same_accesses((one, other): (&Vec<&Access>, &Vec<&Access>)) -> bool {
    fn key<'a>(access: &&'a Access) -> (Act, &'a str, bool, bool, bool) {
        (access.act, &access.target.text, access.target.open, access.deep, access.astray)
    }
    one.iter().map(key).eq(other.iter().map(key))
}

fn is_same_command((one, other): (&Command, &Command)) -> bool {
    // The parsed words follow from the words.
    one.canonical == other.canonical
        && one.args == other.args
        && one.parsed.is_some() == other.parsed.is_some()
        && one.runs == other.runs
        && one.here_text == other.here_text
        && one.is_decoded == other.is_decoded
        && one.is_captured == other.is_captured
        && one.via == other.via
        && one.input == other.input
        && one.cwd == other.cwd
        && one.other_cwds == other.other_cwds
        && one.env == other.env
        && one.redirects == other.redirects
        && one.hidden == other.hidden
        && one.container == other.container
        && one.stage == other.stage
}

/// Describes why shell text cannot be parsed, without showing any of it.
fn describe(flaw: &Unreadable) -> String {
    match flaw {
        Unreadable::Unterminated(what) => format!("a `{what}` does not end"),
        Unreadable::Syntax(_) => "its syntax is not valid".to_owned(),
        Unreadable::Ambiguous(what) => format!("shells disagree about {what}"),
        Unreadable::Nul => "it holds a zero byte".to_owned(),
        Unreadable::Lookalike => {
            "the name of a program holds characters that look like others or cannot be seen".to_owned()
        }
    }
}
