//! The policy of a registered hook: what cannot be read of it, and exceptions that except nothing.

use super::finding::Finding;
use crate::commands::rules;
use crate::runtime::environment::{Environment, now};
use crate::runtime::options::Options;
use crate::runtime::policy_files;
use rune::policy::{Config, Idle};
use rune::verdict::failure::Failure;
use std::path::Path;

pub fn check(options: &Options, environment: &Environment, project: &Path) -> Vec<Finding> {
    let environment = environment.with_dirs(&options.dirs);
    let mut config = policy_files::config(
        options,
        &environment,
        &policy_files::RuleSelection::all(&rules::ALL),
        policy_files::project_policy_dir(project).as_deref(),
    );
    if let Err(what) = policy_files::add_allowlist(&mut config, &environment, &policy_files::PolicyTexts::default()) {
        config.flaws.push(Failure::Config(what));
    }
    let own = rules::flaws(&config);
    let mut findings: Vec<Finding> = own.iter().map(|flaw| broken("policy-broken", flaw)).collect();
    let theirs = config.project.as_deref().map(rules::flaws).unwrap_or_default();
    let theirs = theirs.iter().filter(|flaw| !own.contains(flaw));
    findings.extend(theirs.map(|flaw| broken("project-policy-broken", flaw)));
    findings.extend(exceptions(&config));
    findings.extend(policy_files::unknown_rules(options, &environment).into_iter().map(|(name, place, near)| {
        let near = near.map(|near| format!("did you mean `{near}`? ")).unwrap_or_default();
        let what = format!("`{name}` is no rule, so naming it does nothing");
        Finding::new("unknown-rule", what, format!("{near}`rune rules list` shows the rules")).at(place)
    }));
    findings
}

/// A flaw in the words of a finding: its place, what is wrong, and the help that it brings.
fn broken(id: &'static str, flaw: &str) -> Finding {
    let help = "mend it; until then every call is asked about or denied";
    let (what, help) = flaw.split_once("\n  help: ").unwrap_or((flaw, help));
    let is_place = |text: &str| text.starts_with('/') || text.ends_with(|c: char| c.is_ascii_digit());
    match what.split_once(": ").filter(|(place, _)| is_place(place)) {
        Some((place, what)) => Finding::new(id, what, help).at(place),
        None => Finding::new(id, what, help),
    }
}

fn exceptions(config: &Config) -> Vec<Finding> {
    let today = now().date();
    let finding = |exception: &rune::policy::Exception| {
        let rule = &exception.rule;
        let (id, what) = match config.idle(exception, today)? {
            Idle::Expired => ("exception-expired", format!("the exception from `{rule}` has expired")),
            Idle::Disabled => ("exception-of-disabled-rule", format!("an exception from `{rule}`, which is disabled")),
            Idle::Unknown => ("exception-of-unknown-rule", format!("an exception from `{rule}`, which is no rule")),
        };
        let advice = "take it out or mend it; `rune rules list` shows the rules";
        Some(Finding::new(id, what, advice).at(&exception.source))
    };
    config.exceptions.iter().filter_map(finding).collect()
}
