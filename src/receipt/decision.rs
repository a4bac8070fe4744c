//! What a receipt says of a call that was judged.

use super::{Receipt, Secret};
use crate::encoding::label::Label;
use crate::event::{Action, Event, Header};
use crate::mcp::{Code, Lookup};
use crate::policy::{Config, Receipts};
use crate::quarantine::Namespace;
use crate::quarantined::{ContentSource, Quarantined};
use crate::verdict::Phase;
use crate::verdict::{Effect, Finding, Verdict};

/// A call of an MCP tool and what was decided about it, in labels, beside arguments that nobody can see.
#[derive(Debug)]
pub struct Decision {
    tool: Label,
    server: Label,
    pin: Option<String>,
    observed: Option<String>,
    effect: Effect,
    reason: String,
    rule: Option<String>,
    input: Option<Quarantined<Vec<u8>>>,
}

impl Decision {
    /// The decision about an event, where the policy wants a receipt for it.
    pub fn of(event: &Event<'_>, config: &Config, verdict: &Verdict) -> Option<Self> {
        // Calls that are not about MCP pay for this one look.
        if event.phase != Phase::Before {
            return None;
        }
        let (server, input) = if let Action::Mcp { server, input } = &event.action {
            let tool = event.tool.inspect("its server becomes a label");
            (Namespace::of_tool(tool, server.as_ref(), event, config), Some(input))
        } else if let Action::Resource { server: Some(server) } = &event.action {
            (Namespace::of_server(server.inspect("it becomes a label")), None)
        } else {
            return None;
        };
        let wanted = config.project.as_ref().map_or(config.receipts, |own| config.receipts.max(own.receipts));
        if !wanted.includes(verdict.effect()) {
            return None;
        }
        let input = input.map(|input| {
            input.derive(input.inspect("whoever has the key may compare it").clone(), ContentSource::ModelOutput)
        });
        let told = event.facts.pins.as_ref().map(Lookup::told);
        let pin = told.and_then(|told| told.pin).map(|hash| hash.to_string());
        let observed = told.and_then(|told| told.observed).map(|hash| hash.to_string());
        let told = Decision::told(&event.header, verdict);
        Some(Decision { server: Label::new(server.as_str()), input, pin, observed, ..told })
    }

    /// The decision about an event that was not judged, as far as it can be told.
    pub fn of_failure(header: &Header, wanted: Receipts, verdict: &Verdict) -> Option<Self> {
        let before = header.phase.is_none_or(|phase| phase == Phase::Before);
        let about = before && header.tool.as_str().starts_with("mcp__");
        (about && wanted.includes(verdict.effect())).then(|| Decision::told(header, verdict))
    }

    fn told(header: &Header, verdict: &Verdict) -> Self {
        let deciding = verdict.deciding().next().filter(|finding| finding.effect() > Effect::Pass);
        Decision {
            tool: header.tool.clone(),
            server: Label::default(),
            pin: None,
            observed: None,
            effect: verdict.effect(),
            reason: deciding.map_or_else(|| "NO_OBJECTION".to_owned(), code),
            rule: deciding.map(|finding| finding.rule().to_string()),
            input: None,
        }
    }

    pub(super) fn fill(&self, receipt: &mut Receipt, secret: &Secret) {
        let text = |label: &Label| Some(label.to_string()).filter(|text| !text.is_empty());
        receipt.args_sha256 = self.input.as_ref().and_then(|input| secret.args(input));
        receipt.dispatched = (self.effect == Effect::Deny).then_some(false);
        receipt.observed.clone_from(&self.observed);
        receipt.pin.clone_from(&self.pin);
        receipt.reason = Some(self.reason.clone());
        receipt.rule.clone_from(&self.rule);
        receipt.server = text(&self.server);
        receipt.tool = text(&self.tool);
        receipt.verdict = Some(self.effect.name().to_owned());
    }
}

/// The reason code of a finding: that of its pin, else its rule in capitals.
fn code(finding: &Finding) -> String {
    if let Some(code) = Code::ALL.iter().find(|code| code.rule() == *finding.rule()) {
        return code.word().to_owned();
    }
    let capital = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_uppercase() } else { '_' };
    finding.rule().as_str().chars().map(capital).collect()
}
