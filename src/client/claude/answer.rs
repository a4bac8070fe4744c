//! Answers in the form that Claude Code takes, as measured on the real client.

use crate::client::{Answer, ReadAnswer, Response, context, for_model, for_person, way_to_allow};
use crate::event::Header;
use crate::verdict::{Effect, Phase, Verdict};
use serde::Serialize;
use serde_json::Value;
use serde_json::value::RawValue;

/// One answer. Empty fields must be absent: the client ignores an answer with a `null` in it.
#[derive(Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct Reply<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    decision: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    hook_specific_output: Option<Output<'a>>,
    /// Shown to the user, not to the model.
    #[serde(skip_serializing_if = "Option::is_none")]
    system_message: Option<String>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Output<'a> {
    hook_event_name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    permission_decision: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    permission_decision_reason: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    additional_context: Option<String>,
    /// The result that the model is to see, in the tool's own shape: the client silently ignores any other.
    #[serde(skip_serializing_if = "Option::is_none")]
    updated_tool_output: Option<Box<RawValue>>,
}

/// Renders a verdict.
pub(super) fn answer(header: &Header, verdict: &Verdict) -> Answer {
    let effect = verdict.effect();
    let Some(phase) = header.phase else { return Answer::blocked(verdict) };
    let output = |text: Option<String>| Output {
        hook_event_name: header.moment.as_str(),
        permission_decision: None,
        permission_decision_reason: None,
        additional_context: text,
        updated_tool_output: None,
    };
    let decision = |decision: &'static str, reason: Option<String>| Output {
        permission_decision: Some(decision),
        permission_decision_reason: reason,
        ..output(None)
    };
    // A replacement that is not JSON is left out; the notice remains.
    let replacement = || RawValue::from_string(verdict.replacement()?.clone().into_json()).ok();
    let specific = |output| Reply { hook_specific_output: Some(output), ..Reply::default() };
    let reply = match (phase, effect) {
        (Phase::Before, Effect::Pass) if verdict.is_explicit() => Some(specific(decision("allow", None))),
        (Phase::After, _) if verdict.replacement().is_some() => {
            let text = Some(context(verdict)).filter(|_| effect > Effect::Pass);
            Some(specific(Output { updated_tool_output: replacement(), ..output(text) }))
        }
        (_, Effect::Pass) => None,
        // The client shows the reason of an ask to the person and not to the model. In headless mode the ask becomes a denial,
        // whose reason goes to the model. `additionalContext` would reach the model as well.
        (Phase::Before, Effect::Ask) if header.is_attended => {
            Some(specific(decision("ask", Some(for_person(verdict)))))
        }
        (Phase::Before, Effect::Ask) => Some(specific(decision("ask", Some(for_model(verdict))))),
        // The person sees the first line of the reason, and `systemMessage`. The model sees the whole reason only.
        (Phase::Before, Effect::Deny) => {
            let system_message = way_to_allow(verdict).filter(|_| header.is_attended);
            Some(Reply { system_message, ..specific(decision("deny", Some(for_model(verdict)))) })
        }
        // The client cannot ask about a change of its settings, so an ask becomes a denial.
        (Phase::Settings, Effect::Ask | Effect::Deny) => {
            Some(Reply { decision: Some("block"), reason: Some(for_model(verdict)), ..Reply::default() })
        }
        // All findings at the start of a session are shown on one line.
        (Phase::Start, _) => {
            let line = context(verdict).replace('\n', ". ");
            let system_message = Some(format!("Rune: {line}"));
            Some(Reply { system_message, ..specific(output(Some(line))) })
        }
        // Advice reaches the model after the call, so the person is told as well.
        (Phase::Before, _) => {
            let text = for_model(verdict);
            Some(Reply { system_message: Some(text.clone()), ..specific(output(Some(text))) })
        }
        // The model need not know what counts as typed.
        (Phase::Prompt, _) => Some(Reply { system_message: Some(for_model(verdict)), ..Reply::default() }),
        (Phase::After | Phase::Failed, _) => Some(specific(output(Some(context(verdict))))),
        (Phase::Settings | Phase::End | Phase::Other, _) => None,
    };
    // Findings after a call that no answer carries go to stderr.
    let stderr = (phase.is_after() && !verdict.findings().is_empty() && reply.is_none()).then(|| for_model(verdict));
    match reply.map(|reply| serde_json::to_string(&reply)).transpose() {
        Ok(stdout) => Answer { stdout, stderr, exit: 0 },
        Err(_) => Answer::blocked(verdict),
    }
}

/// Reads an answer as the client does.
pub(super) fn read(stdout: &str, exit: Option<i32>) -> ReadAnswer {
    let answer: Value = serde_json::from_str(stdout.trim()).unwrap_or_default();
    let field = |name: &str| answer.pointer(&format!("/hookSpecificOutput/{name}"));
    let text = |name: &str| field(name).and_then(Value::as_str);
    let response = match (exit, text("permissionDecision"), text("additionalContext")) {
        (Some(2), ..) => Response::Deny,
        (Some(0), ..) if stdout.trim().is_empty() => Response::Nothing,
        (Some(0), Some("deny"), _) => Response::Deny,
        (Some(0), Some("ask"), _) => Response::Ask,
        (Some(0), Some("allow"), _) => Response::Allow,
        (Some(0), None, Some(_)) => Response::Advise,
        _ => Response::Invalid,
    };
    let context = text("additionalContext").map(str::to_owned);
    ReadAnswer { response, context, replacement: field("updatedToolOutput").cloned() }
}
