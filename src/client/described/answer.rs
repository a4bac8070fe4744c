//! Answers of described clients. What a client can express is a set of forms; what it cannot is decided here, once.

use super::Described;
use crate::client::{Answer, ReadAnswer, Response, context, for_model, for_person};
use crate::event::Header;
use crate::shell::quote_word;
use crate::verdict::{Effect, Phase, Verdict};
use serde_json::Value;

/// What a client can express: the answer for each effect, in which `%` is replaced by a text as a JSON string. `None`
/// where it has no form; then the next stricter or, for texts, no answer is given.
#[derive(Clone, Copy, Debug)]
pub struct Can {
    /// Blocks a call.
    pub deny: &'static str,
    /// Blocks a call to this tool without ending the run. `%` is a shell word.
    pub deny_shell: Option<(&'static str, &'static str)>,
    /// The exit code of a denial.
    pub deny_exit: u8,
    /// Asks the person about a call.
    pub ask: Option<&'static str>,
    /// Tells the model something before a call.
    pub advise: Option<&'static str>,
    /// Tells the model something after a call.
    pub note: Option<&'static str>,
    /// Replaces a result by a text.
    pub replace: Option<&'static str>,
}

impl Can {
    /// Neither an ask nor texts; for the fields that a client does not set.
    pub const NOTHING: Can =
        Can { deny: "", deny_shell: None, deny_exit: 0, ask: None, advise: None, note: None, replace: None };
}

/// What a client does not do, for `rune doctor`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unsupported {
    /// What it does not do.
    pub what: &'static str,
    /// What the guard does in place of it.
    pub instead: &'static str,
}

impl Unsupported {
    /// The client cannot ask the person.
    pub const ASK: Unsupported = Unsupported {
        what: "the client cannot ask a person about a call",
        instead: "the call is denied, and the reason says how a person allows it",
    };
    /// The client shows the model nothing before a call.
    pub const ADVISE: Unsupported =
        Unsupported { what: "the client shows the model no advice before a call", instead: "the log has it" };
    /// The client shows the model nothing after a call.
    pub const NOTE: Unsupported =
        Unsupported { what: "the client shows the model no notice after a call", instead: "the session is tainted" };
    /// The client keeps results as they are.
    pub const REPLACE: Unsupported = Unsupported {
        what: "the client cannot replace a result",
        instead: "in strict, an untrusted result makes the session hot",
    };
}

/// Follows the findings of a call that the client cannot ask about.
const CANNOT_ASK: &str =
    "This needs the decision of a person, and this client cannot ask for it. Do not look for a way around it.";

impl Described {
    /// Renders a verdict.
    pub(super) fn render(&self, header: &Header, verdict: &Verdict) -> Answer {
        let Can { advise, note, replace, ask, .. } = self.can;
        let effect = verdict.effect();
        let form = |form: Option<&'static str>, text: &str| form.map(|form| fill(form, text));
        let stdout = match (header.phase.unwrap_or(Phase::Before), effect) {
            (Phase::Before, Effect::Deny) => return self.denial(header, &for_model(verdict)),
            (Phase::Before, Effect::Ask) => match form(ask, &for_person(verdict)) {
                Some(stdout) => Some(stdout),
                None => return self.denial(header, &format!("{}\n{CANNOT_ASK}", for_model(verdict))),
            },
            (Phase::Before, Effect::Advise) => form(advise, &for_model(verdict)),
            (Phase::After, _) if verdict.replacement().is_some() && replace.is_some() => {
                let text = verdict.replacement().map(|json| json.clone().into_json()).unwrap_or_default();
                let text: String = serde_json::from_str(&text).unwrap_or(text);
                let context = Some(context(verdict)).filter(|_| effect > Effect::Pass);
                let whole: Vec<String> = context.into_iter().chain([text]).collect();
                form(replace, &whole.join("\n\n"))
            }
            (Phase::After | Phase::Failed, Effect::Advise | Effect::Ask | Effect::Deny) => {
                form(note, &context(verdict))
            }
            (Phase::Before | Phase::After | Phase::Failed, Effect::Pass)
            | (Phase::Prompt | Phase::Settings | Phase::Start | Phase::End | Phase::Other, _) => None,
        };
        // Findings that no answer carries go to stderr.
        let stderr = (effect > Effect::Pass && stdout.is_none()).then(|| for_model(verdict));
        Answer { stdout, stderr, exit: 0 }
    }

    fn denial(&self, header: &Header, reason: &str) -> Answer {
        let Can { deny, deny_shell, deny_exit, .. } = self.can;
        let stdout = match deny_shell.filter(|(tool, _)| header.tool.as_str() == *tool) {
            Some((_, form)) => fill(form, &format!("echo {} >&2; false", quote_word(reason))),
            None => fill(deny, reason),
        };
        let stderr = (deny_exit > 0).then(|| reason.to_owned());
        Answer { stdout: Some(stdout), stderr, exit: deny_exit }
    }

    /// Reads an answer as the client does, as far as the forms of this client go.
    pub(super) fn read(&self, stdout: &str, exit: Option<i32>) -> ReadAnswer {
        let stdout = stdout.trim();
        let Can { deny, deny_shell, deny_exit, ask, advise, note, replace } = self.can;
        let is = |form: &str| text_in(form, stdout).is_some();
        let with = |form: Option<&'static str>| form.and_then(|form| text_in(form, stdout));
        let response = match exit {
            Some(0) if stdout.is_empty() => Response::Nothing,
            Some(code) if code != 0 && code != i32::from(deny_exit) => Response::Invalid,
            Some(_) if is(deny) || deny_shell.is_some_and(|(_, form)| is(form)) => Response::Deny,
            Some(0) if ask.is_some_and(is) => Response::Ask,
            Some(0) if [advise, note, replace].into_iter().flatten().any(is) => Response::Advise,
            Some(_) | None => Response::Invalid,
        };
        let context = with(advise).or_else(|| with(note));
        ReadAnswer { response, context, replacement: with(replace).map(Value::String) }
    }
}

/// A form with a text in it. All is ASCII: some shells change the encoding of a program's output.
fn fill(form: &str, text: &str) -> String {
    let mut quoted = String::new();
    for c in Value::from(text).to_string().chars() {
        if c.is_ascii() {
            quoted.push(c);
        } else {
            c.encode_utf16(&mut [0; 2]).iter().for_each(|unit| quoted.push_str(&format!("\\u{unit:04x}")));
        }
    }
    form.replace('%', &quoted)
}

/// The text in an answer of this form; `None` if it has another.
fn text_in(form: &str, answer: &str) -> Option<String> {
    let (start, end) = form.split_once('%')?;
    let end = end.rsplit('%').next().unwrap_or_default();
    let rest = answer.strip_prefix(start)?;
    let mut texts = serde_json::Deserializer::from_str(rest).into_iter::<String>();
    let text = texts.next()?.ok()?;
    rest.ends_with(end).then_some(text)
}
