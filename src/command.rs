//! Commands: what the reading of shell text means for a verdict.

use crate::config::Config;
use crate::event::{Action, Dialect, Event};
use crate::failure::Failure;
use crate::shell::{self, Flaw};
use crate::verdict::{Effect, Finding, RuleId, Verdict};

/// Judges a call that runs shell text: what cannot be read is for a person to look at.
pub(crate) fn judge(event: &Event<'_>, config: &Config, verdict: &mut Verdict) {
    let Action::Shell { command: Some(command), dialect: Dialect::Bash } = &event.action else { return };
    let reading = shell::read(command.inspect("is it readable"), &event.place);
    if reading.limited {
        let limit = Failure::Limit("more than 1 MB, 10,000 commands or 64 levels".to_owned());
        verdict.add(limit.finding(Some(event.phase), config.failure));
    }
    if let Some(doubt) = reading.doubts.first() {
        let reason =
            format!("this command cannot be read with certainty: {}. Write it in plainer words", words(&doubt.flaw));
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
