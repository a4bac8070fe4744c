//! Commands: the units of a line of shell text, and what could not be read of it.

use crate::decide::before::{ask, ask_about};
use crate::decide::subject::Subject;
use crate::decide::validators::Context;
use crate::event::{Dialect, ShellText};
use crate::shell::{Access, Act, Command, Effects, Reading, Target, Unreadable};
use crate::verdict::{Effect, Finding, RuleId, Verdict};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// Judges a call that runs shell text: each command, each pipeline, each file that is touched, and the line.
pub(crate) fn judge(dialect: Dialect, context: &Context<'_>, verdict: &mut Verdict) {
    let Some(ShellText { reading, effects }) = context.event.shell() else { return };
    verdict.charge(reading.steps);
    verdict.charge(effects.accesses.len());
    for limit in [reading.exceeded, effects.exceeded].into_iter().flatten() {
        verdict.add(limit.failure().finding(Some(context.event.phase), context.config.failure));
    }
    if let Some(doubt) = reading.doubts.first() {
        let reason =
            format!("this command cannot be read with certainty: {}. Write it in plainer words", words(&doubt.flaw));
        // PowerShell is read less completely than bash: what is not understood is not always odd.
        let effect = match dialect {
            Dialect::Bash => Effect::Ask,
            Dialect::PowerShell => context.config.suspicious,
        };
        if context.config.suspicious > Effect::Pass {
            verdict.add(Finding::new(RuleId::known("unreadable-command"), effect, reason));
        }
    }
    let again = repeated(reading, effects);
    for (at, command) in
        reading.commands.iter().enumerate().zip(&again).filter(|(_, again)| !**again).map(|(row, _)| row)
    {
        ask(&Subject::command(command, at), context, verdict);
    }
    let mut pipelines = reading.pipelines();
    let mut seen = BTreeSet::new();
    pipelines.retain(|pipeline| seen.insert(pipeline.canonical.clone()));
    for pipeline in &pipelines {
        ask(&Subject::pipeline(pipeline), context, verdict);
    }
    ask(&Subject::line(), context, verdict);
    let mut judged = BTreeSet::new();
    for access in effects.accesses.iter().filter(|access| access.row.and_then(|row| again.get(row)) != Some(&true)) {
        if Look::at(access, reading).is_none_or(|look| judged.insert(look)) {
            ask_about(access, context, verdict);
        }
    }
}

/// All that the judgement of an access depends on: what is done to which file, and by which program.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Look<'a> {
    act: Act,
    file: &'a str,
    placed: bool,
    deep: bool,
    astray: bool,
    program: &'a str,
    /// What runs it: a container has files of its own.
    via: &'a [String],
}

impl<'a> Look<'a> {
    /// `None` for what is judged by more than that: deletions and rights by the whole command, and names of which an end is open by
    /// how much of them is known.
    fn at(access: &'a Access, reading: &'a Reading) -> Option<Look<'a>> {
        let Access { act, target: Target { text, path, open }, deep, astray, row } = access;
        if *open || matches!(act, Act::Remove | Act::Move | Act::Change) {
            return None;
        }
        let command = row.and_then(|row| reading.commands.get(row));
        let program = command.map_or("", |command| command.program.as_str());
        let via = command.map_or(&[][..], |command| command.via.as_slice());
        Some(Look { act: *act, file: text, placed: path.is_some(), deep: *deep, astray: *astray, program, via })
    }
}

/// The commands that need not be judged, because their whole pipeline was judged before, word by word the same.
fn repeated(reading: &Reading, effects: &Effects) -> Vec<bool> {
    let mut again = Vec::with_capacity(reading.commands.len());
    let mut seen: BTreeMap<&str, Vec<Range<usize>>> = BTreeMap::new();
    let traces = traces(reading, effects);
    let mut start = 0;
    for pipeline in reading.commands.chunk_by(|one, other| one.pipeline == other.pipeline) {
        let rows = start..start + pipeline.len();
        start = rows.end;
        // What stands behind something else may mean something else there, and so may what is only known when it
        // runs: two substitutions look alike and print other things.
        let comparable = !pipeline.iter().any(Command::is_dynamic);
        let Some(first) = pipeline.first().filter(|first| first.stage == 0 && comparable) else {
            again.resize(rows.end, false);
            continue;
        };
        let known = seen.entry(first.canonical.as_str()).or_default();
        let same = |known: &Range<usize>| {
            let before = reading.commands.get(known.clone()).unwrap_or_default();
            known.len() == rows.len()
                && before.iter().zip(pipeline).all(is_same)
                && traces
                    .get(known.clone())
                    .zip(traces.get(rows.clone()))
                    .is_some_and(|(before, now)| before.iter().zip(now).all(do_the_same))
        };
        let known_before = known.iter().any(same);
        again.resize(rows.end, known_before);
        if !known_before && known.len() < ENOUGH {
            known.push(rows);
        }
    }
    again
}

/// What a command does to files.
type Trace<'a> = Vec<&'a Access>;

/// For each command all that it does to files, which depends on what came before: a link, for one.
fn traces<'a>(reading: &Reading, effects: &'a Effects) -> Vec<Trace<'a>> {
    let mut traces = vec![Trace::new(); reading.commands.len()];
    for access in &effects.accesses {
        if let Some(trace) = access.row.and_then(|row| traces.get_mut(row)) {
            trace.push(access);
        }
    }
    traces
}

fn do_the_same((one, other): (&Trace<'_>, &Trace<'_>)) -> bool {
    let same = |(one, other): (&&Access, &&Access)| {
        let Access { act, target: Target { text, open, .. }, deep, astray, .. } = one;
        *act == other.act
            && *text == other.target.text
            && *open == other.target.open
            && *deep == other.deep
            && *astray == other.astray
    };
    one.len() == other.len() && one.iter().zip(other).all(same)
}

/// Pipelines beyond this that begin alike are judged one by one.
const ENOUGH: usize = 8;

fn is_same((one, other): (&Command, &Command)) -> bool {
    let same = one.canonical == other.canonical && one.via == other.via && one.input == other.input;
    same && one.cwd == other.cwd
        && one.elsewhere == other.elsewhere
        && one.env == other.env
        && one.redirects == other.redirects
        && one.hidden == other.hidden
        && one.mounts == other.mounts
        && one.stage == other.stage
}

/// The flaw in words of our own: what the text says there may be anything.
fn words(flaw: &Unreadable) -> String {
    match flaw {
        Unreadable::Unterminated(what) => format!("a `{what}` does not end"),
        Unreadable::Syntax(_) => "its syntax is not valid".to_owned(),
        Unreadable::Unclear(what) => format!("shells disagree about {what}"),
        Unreadable::Nul => "it holds a zero byte".to_owned(),
        Unreadable::Lookalike => {
            "the name of a program holds characters that look like others or cannot be seen".to_owned()
        }
    }
}
