//! Keys of the policy that take away what the preset gives, without any sample call that would show it.

use super::Problem;
use crate::commands::hooks::default_preset;
use crate::runtime::environment::{Environment, now};
use crate::runtime::options::Options;
use crate::runtime::policy_files;
use rune::mcp::PinPolicy;
use rune::policy::{Config, Exception, Receipts};
use rune::rules::{Pattern, RuleKind};

/// Texts that have nothing in common. A pattern that matches all of them limits nothing.
const UNRELATED_TEXTS: [&str; 3] = ["a", "git push --force origin main", "/Users/x/§.7"];

/// Compares a policy with its preset as it ships. A preset that does not ship is not compared.
pub fn check(config: &Config, options: &Options, environment: &Environment) -> Vec<Problem> {
    let mut problems: Vec<Problem> =
        config.exceptions.iter().filter(|exception| is_blanket(exception)).map(blanket).collect();
    let preset = options.preset.clone().unwrap_or_else(|| default_preset(environment));
    let Some(shipped) = policy_files::shipped(&preset, &RuleKind::all()) else { return problems };
    let taint_rules = shipped.rules.iter().filter(|rule| rule.only_when_tainted);
    let disabled: Vec<String> = taint_rules
        .map(|rule| rule.id.to_string())
        .filter(|id| config.disabled.iter().any(|disabled| disabled == id.as_str()))
        .collect();
    if !disabled.is_empty() {
        let what = format!("rules for sessions that have read untrusted content are disabled: {}", disabled.join(", "));
        let advice =
            "take them out of `rules.disabled`, or make an exception with a `match` for the case that you meant";
        problems.push(Problem::new("taint-rule-disabled", what, advice));
    }
    let keys = [
        (
            config.pins == PinPolicy::Off && shipped.pins != PinPolicy::Off,
            "pins-off",
            "`mcp.pins = \"off\"`: changed MCP servers and tools are not noticed, and blocked ones can be called",
            "take it out; with `when-present`, only servers that you have approved are checked",
        ),
        (
            config.receipts == Receipts::Off && shipped.receipts != Receipts::Off,
            "receipts-off",
            "`mcp.receipts = \"off\"`: denied calls of MCP tools leave no receipt",
            "take it out; with `denials`, only calls that are asked about or denied leave one",
        ),
        (
            config.failure < shipped.failure,
            "failure-asks",
            "`decision.failure = \"ask\"`: calls that cannot be judged are asked about, and this preset denies them",
            "take it out where no person watches the session",
        ),
        (
            config.knows_user_servers && !shipped.knows_user_servers,
            "user-servers-known",
            "`mcp.user_servers = \"known\"`: MCP servers of your own configuration count as registered",
            "take it out, and approve them with `rune mcp approve`",
        ),
    ];
    let loosened = keys.into_iter().filter(|(is_looser, ..)| *is_looser);
    problems.extend(loosened.map(|(_, id, what, advice)| Problem::new(id, what, advice)));
    problems
}

/// Whether a pattern limits nothing.
pub fn matches_everything(pattern: &Pattern) -> bool {
    UNRELATED_TEXTS.iter().all(|text| pattern.matches(text).unwrap_or_default())
}

/// Whether an exception is in force and takes its whole rule away.
fn is_blanket(exception: &Exception) -> bool {
    !exception.is_expired(Some(now().date()))
        && (exception.patterns.is_empty() || exception.patterns.iter().any(matches_everything))
}

fn blanket(exception: &Exception) -> Problem {
    let what = format!("the exception from `{}` holds for every call, so the rule never applies", exception.rule);
    let advice = "give it a `match` for the case that you meant, and an `until`";
    Problem::new("exception-blanket", what, advice).at(&exception.source)
}
