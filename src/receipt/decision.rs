//! The members of a receipt that describe a judged call.

use super::{Receipt, Secret, member};
use crate::encoding::label::Label;
use crate::event::{Action, Event, Header};
use crate::mcp::{PinFacts, RefusalCode};
use crate::policy::{Config, Receipts};
use crate::quarantine::Namespace;
use crate::quarantined::{ContentSource, Quarantined};
use crate::verdict::{Effect, Finding, Phase, Verdict};

/// A call of an MCP tool and its verdict. Everything is a label or a constant, except the arguments, of which a receipt
/// holds only an HMAC.
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
    /// Describes the verdict about an event; `None` if the policy asks for no receipt.
    pub fn of(event: &Event<'_>, config: &Config, verdict: &Verdict) -> Option<Self> {
        if event.phase != Phase::Before {
            return None;
        }
        let (server, input) = if let Action::Mcp { server, input } = &event.action {
            let tool = event.tool.inspect("its server becomes a label");
            (Namespace::of_tool(tool, server.as_ref(), event, config), Some(input))
        } else if let Action::Resource { server: Some(server), .. } = &event.action {
            (Namespace::of_server(server.inspect("it becomes a label")), None)
        } else {
            return None;
        };
        let wanted = config.project.as_ref().map_or(config.receipts, |project| config.receipts.max(project.receipts));
        if !wanted.includes(verdict.effect()) {
            return None;
        }
        let input = input
            .map(|input| input.derive(input.inspect("a receipt holds its HMAC").clone(), ContentSource::ModelOutput));
        let facts = event.facts.pins.as_ref();
        let pin = facts.and_then(PinFacts::pin_hash).map(|hash| hash.to_string());
        let observed = facts.and_then(PinFacts::observed_hash).map(|hash| hash.to_string());
        let decision = Decision::from_verdict(&event.header, verdict);
        Some(Decision { server: Label::new(server.as_str()), input, pin, observed, ..decision })
    }

    /// Describes the verdict about an event that could not be judged, from its header alone.
    pub fn of_failure(header: &Header, wanted: Receipts, verdict: &Verdict) -> Option<Self> {
        let is_before = header.phase.is_none_or(|phase| phase == Phase::Before);
        let is_mcp = header.tool.as_str().starts_with("mcp__");
        (is_before && is_mcp && wanted.includes(verdict.effect())).then(|| Decision::from_verdict(header, verdict))
    }

    fn from_verdict(header: &Header, verdict: &Verdict) -> Self {
        let deciding = verdict.deciding().next().filter(|finding| finding.effect() > Effect::Pass);
        Decision {
            tool: header.tool.clone(),
            server: Label::default(),
            pin: None,
            observed: None,
            effect: verdict.effect(),
            reason: deciding.map_or_else(|| "NO_OBJECTION".to_owned(), reason_code),
            rule: deciding.map(|finding| finding.rule().to_string()),
            input: None,
        }
    }

    /// Sets the members of a receipt of kind `decision`.
    pub(super) fn fill(&self, receipt: &mut Receipt, secret: &Secret) {
        receipt.args_sha256 = self.input.as_ref().and_then(|input| secret.arguments_key().hmac(input));
        receipt.dispatched = (self.effect == Effect::Deny).then_some(false);
        receipt.observed.clone_from(&self.observed);
        receipt.pin.clone_from(&self.pin);
        receipt.reason = Some(self.reason.clone());
        receipt.rule.clone_from(&self.rule);
        receipt.server = member(&self.server);
        receipt.tool = member(&self.tool);
        receipt.verdict = Some(self.effect.name().to_owned());
    }
}

/// The reason code of a finding: the refusal code of a pin rule, else the name of the rule in capitals.
fn reason_code(finding: &Finding) -> String {
    if let Some(code) = RefusalCode::ALL.iter().find(|code| code.rule() == *finding.rule()) {
        return code.as_str().to_owned();
    }
    let capital = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_uppercase() } else { '_' };
    finding.rule().as_str().chars().map(capital).collect()
}
