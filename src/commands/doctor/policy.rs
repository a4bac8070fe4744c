//! The policy of a registered hook: files with errors, and exceptions and names of rules without effect.

use super::{Problem, loosened};
use crate::commands::rules;
use crate::runtime::environment::{Environment, now};
use crate::runtime::options::Options;
use crate::runtime::policy_files;
use rune::policy::{Config, StaleReason};
use rune::rules::RuleKind;
use rune::verdict::failure::Failure;
use std::path::Path;

pub fn check(options: &Options, environment: &Environment, project: &Path) -> Vec<Problem> {
    let environment = environment.with_dirs(&options.dirs);
    let mut config = policy_files::config(
        options,
        &environment,
        &policy_files::RuleSelection::all(&RuleKind::all()),
        policy_files::project_policy_dir(project).as_deref(),
    );
    if let Err(what) = policy_files::add_allowlist(&mut config, &environment, &policy_files::PolicyTexts::default()) {
        config.failures.push(Failure::Config(what));
    }
    let mut flaws = rules::find_errors(&config);
    flaws.extend(policy_files::programs::errors(environment.config_dir.as_deref()));
    let mut problems: Vec<Problem> = flaws.iter().map(|flaw| flaw_problem("policy-broken", flaw)).collect();
    let of_project = config.project.as_deref().map(rules::find_errors).unwrap_or_default();
    let of_project = of_project.iter().filter(|flaw| !flaws.contains(flaw));
    problems.extend(of_project.map(|flaw| flaw_problem("project-policy-broken", flaw)));
    problems.extend(exceptions(&config));
    problems.extend(loosened::check(&config, options, &environment));
    problems.extend(policy_files::unknown_rules(options, &environment).into_iter().map(|(name, place, near)| {
        let near = near.map(|near| format!("did you mean `{near}`? ")).unwrap_or_default();
        let what = format!("`{name}` is no rule, so naming it does nothing");
        Problem::new("unknown-rule", what, format!("{near}`rune rules list` shows the rules")).at(place)
    }));
    problems
}

/// Splits the description of a flaw into place, description and help.
fn flaw_problem(id: &'static str, flaw: &str) -> Problem {
    let help = "mend it; until then every call is asked about or denied";
    let (what, help) = flaw.split_once("\n  help: ").unwrap_or((flaw, help));
    let is_place = |text: &str| text.starts_with('/') || text.ends_with(|c: char| c.is_ascii_digit());
    match what.split_once(": ").filter(|(place, _)| is_place(place)) {
        Some((place, what)) => Problem::new(id, what, help).at(place),
        None => Problem::new(id, what, help),
    }
}

fn exceptions(config: &Config) -> Vec<Problem> {
    let today = now().date();
    let problem = |exception: &rune::policy::Exception| {
        let rule = &exception.rule;
        let (id, what) = match config.stale_reason(exception, today)? {
            StaleReason::Expired => ("exception-expired", format!("the exception from `{rule}` has expired")),
            StaleReason::RuleDisabled => {
                ("exception-of-disabled-rule", format!("an exception from `{rule}`, which is disabled"))
            }
            StaleReason::RuleUnknown => {
                ("exception-of-unknown-rule", format!("an exception from `{rule}`, which is no rule"))
            }
        };
        let advice = "take it out or mend it; `rune rules list` shows the rules";
        Some(Problem::new(id, what, advice).at(&exception.source))
    };
    config.exceptions.iter().filter_map(problem).collect()
}
