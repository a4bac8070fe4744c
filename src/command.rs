//! Commands: the units of a line of shell text, and what could not be read of it.

use crate::event::{Dialect, Field};
use crate::failure::Failure;
use crate::judge::{ask, ask_about};
use crate::shell::{Command, Flaw};
use crate::unit::Unit;
use crate::validator::Scene;
use crate::verdict::{Effect, Finding, RuleId, Verdict};

/// Judges a call that runs shell text: each command, each pipeline, each file that is touched, and the line.
pub(crate) fn judge(command: &Field, dialect: Dialect, scene: &Scene<'_>, verdict: &mut Verdict) {
    let Some((reading, effects)) = scene.event.shell() else {
        // Nobody here reads the other dialect beyond plain words.
        if command.is_some() && dialect == Dialect::PowerShell {
            let reason =
                "this is PowerShell, which cannot be read with certainty. Write it as plain words, or use Bash";
            add_unreadable(reason.to_owned(), scene, verdict);
        }
        return;
    };
    if reading.limited {
        let limit = Failure::Limit("more than 1 MB, 10,000 commands or 64 levels".to_owned());
        verdict.add(limit.finding(Some(scene.event.phase), scene.config.failure));
    }
    if let Some(doubt) = reading.doubts.first() {
        let reason =
            format!("this command cannot be read with certainty: {}. Write it in plainer words", words(&doubt.flaw));
        add_unreadable(reason, scene, verdict);
    }
    let mut last: Option<&Command> = None;
    for (at, command) in reading.commands.iter().enumerate() {
        // What was just judged need not be judged again.
        if last.is_none_or(|last| !is_same(last, command)) {
            ask(&Unit::command(command, at), scene, verdict);
        }
        last = Some(command);
    }
    for pipeline in &reading.pipelines() {
        ask(&Unit::pipeline(pipeline), scene, verdict);
    }
    ask(&Unit::line(), scene, verdict);
    for access in &effects.accesses {
        ask_about(access, scene, verdict);
    }
}

fn is_same(one: &Command, other: &Command) -> bool {
    let same = one.canonical == other.canonical && one.via == other.via && one.input == other.input;
    same && one.cwd == other.cwd
        && one.elsewhere == other.elsewhere
        && one.env == other.env
        && one.hidden == other.hidden
        && one.stage == other.stage
}

fn add_unreadable(reason: String, scene: &Scene<'_>, verdict: &mut Verdict) {
    if scene.config.suspicious > Effect::Pass {
        verdict.add(Finding::new(RuleId::known("unreadable-command"), Effect::Ask, reason));
    }
}

/// The flaw in words of our own: what the text says there may be anything.
fn words(flaw: &Flaw) -> String {
    match flaw {
        Flaw::Unterminated(what) => format!("a `{what}` does not end"),
        Flaw::Syntax(_) => "its syntax is not valid".to_owned(),
        Flaw::Unclear(what) => format!("shells disagree about {what}"),
        Flaw::Nul => "it holds a zero byte".to_owned(),
        Flaw::Lookalike => "the name of a program holds characters that look like others or cannot be seen".to_owned(),
    }
}
