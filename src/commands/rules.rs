//! `rune rules`: checks, lists and tests rules.

use crate::commands::hooks::{NamedPreset, options_with_preset};
use crate::commands::style::{Style, effect_colour, paint};
use crate::runtime::environment::now;
use crate::runtime::exit_code::DONE;
use crate::runtime::policy_files::{self, RuleSelection};
use anyhow::{Context, bail};
use clap::{Args, Subcommand};
use rune::policy::{Config, StaleReason};
use rune::rules::{self, Matcher, Owner, Rule, RuleKind, Tier};
use rune::self_test;
use rune::verdict::failure::Failure;
use std::io::Write;
use std::path::{Path, PathBuf};

#[derive(Debug, Subcommand)]
pub enum Rules {
    /// Reports errors in the policy and its rules, with file, line and column
    #[command(after_help = "Example:\n  rune rules check")]
    Check(RulesArgs),
    /// Lists the rules in the order of evaluation
    #[command(after_help = "Example:\n  rune rules list --preset gentle")]
    List(RulesArgs),
    /// Runs the examples of the rules: a rule must match its `hits` and must not match its `misses`
    #[command(after_help = "Example:\n  rune rules test ~/.config/rune/rules/bash.team.rules")]
    Test(RulesArgs),
}

#[derive(Debug, Args)]
pub struct RulesArgs {
    /// Rule file to use instead of the rules in force
    pub file: Option<PathBuf>,
    /// Preset to decide by [default: the registered one; strict for `test`]
    #[arg(long, value_name = "NAME")]
    pub preset: Option<String>,
    /// Policy directory [default: $XDG_CONFIG_HOME/rune or ~/.config/rune]
    #[arg(long, value_name = "DIR")]
    pub config_dir: Option<PathBuf>,
    /// Print JSON lines instead of a table, for `list`
    #[arg(long)]
    pub json: bool,
}

pub fn run(command: &Rules) -> anyhow::Result<u8> {
    match command {
        Rules::Check(args) => check(args),
        Rules::List(args) => list(args),
        Rules::Test(args) => test(args),
    }
    .map(|()| DONE)
}

fn check(args: &RulesArgs) -> anyhow::Result<()> {
    let (config, notes, _) = load_policy(args)?;
    let mut errors = find_errors(&config);
    if args.file.is_none() {
        let today = now().date();
        let unknown = config
            .exceptions
            .iter()
            .filter(|exception| config.stale_reason(exception, today) == Some(StaleReason::RuleUnknown));
        errors.extend(unknown.map(|unknown| format!("{}: unknown rule `{}`", unknown.source, unknown.rule)));
        let (options, _) = options_with_preset(None, args.config_dir.as_deref())?;
        errors.extend(policy_files::programs::errors(options.environment().config_dir.as_deref()));
    }
    let mut out = std::io::stdout().lock();
    for note in notes {
        writeln!(out, "note: {note}")?;
    }
    if !errors.is_empty() {
        bail!("{}", errors.join("\n"));
    }
    writeln!(out, "{} rules, no errors", config.rules.len())?;
    Ok(())
}

/// Lists the errors in a policy and in the patterns of its rules.
pub fn find_errors(config: &Config) -> Vec<String> {
    let mut errors: Vec<String> = config.failures.iter().map(describe).collect();
    for rule in &config.rules {
        let own = match &rule.matcher {
            Matcher::Patterns(patterns) => &**patterns,
            Matcher::Validator(_) | Matcher::Does(_) => &[],
        };
        let patterns = own.iter().chain(rule.only_when.iter()).chain(rule.except_when.iter());
        errors.extend(patterns.filter_map(|pattern| pattern.check().err()).map(|error| {
            format!("{}: rule `{}`: pattern `{}`: {}", rule.source, rule.id, error.pattern, error.message)
        }));
    }
    errors
}

fn list(args: &RulesArgs) -> anyhow::Result<()> {
    let (config, _, preset) = load_policy(args)?;
    let mut out = std::io::stdout().lock();
    let style = Style::of(&out);
    if !args.json {
        writeln!(out, "{preset}")?;
    }
    let width = config.rules.iter().map(|rule| rule.id.to_string().chars().count()).max().unwrap_or_default();
    for rule in &config.rules {
        let Rule { id, kind, source, .. } = rule;
        let effect = super::explain::effect_name(config.effect(rule));
        let tier = if rule.tier == Tier::Block { "block" } else { "suspicious" };
        if args.json {
            let row = serde_json::json!({"rule": id.as_str(), "kind": kind.name(), "tier": tier, "effect": effect,
                "source": source.to_string()});
            writeln!(out, "{row}")?;
        } else {
            let file = Path::new(&*source.file).file_name().unwrap_or_default().to_string_lossy();
            let effect = paint(style, effect_colour(effect), &format!("{effect:<6}"));
            writeln!(out, "{:<5} {tier:<10} {effect} {id:<width$} {file}:{}", kind.name(), source.line)?;
        }
    }
    Ok(())
}

fn test(args: &RulesArgs) -> anyhow::Result<()> {
    let preset = args.preset.clone().or_else(|| Some("strict".to_owned()));
    let (config, ..) = load_policy_with(args, preset.as_deref())?;
    if let Some(flaw) = config.failures.first() {
        bail!("{}", describe(flaw));
    }
    let examples: usize = config.rules.iter().map(|rule| rule.hits().count() + rule.misses().count()).sum();
    let failed: Vec<String> = self_test::check_examples(&config).iter().map(ToString::to_string).collect();
    if !failed.is_empty() {
        bail!("{} of {examples} examples failed\n{}", failed.len(), failed.join("\n"));
    }
    writeln!(std::io::stdout().lock(), "{examples} examples of {} rules passed", config.rules.len())?;
    Ok(())
}

/// Loads the policy in force with its notes, or the policy with the rules of `args.file` instead of all others.
fn load_policy(args: &RulesArgs) -> anyhow::Result<(Config, Vec<String>, NamedPreset)> {
    load_policy_with(args, args.preset.as_deref())
}

fn load_policy_with(args: &RulesArgs, preset: Option<&str>) -> anyhow::Result<(Config, Vec<String>, NamedPreset)> {
    let (options, preset) = options_with_preset(preset, args.config_dir.as_deref())?;
    let environment = options.environment();
    let Some(file) = &args.file else {
        let config = policy_files::config(&options, &environment, &RuleSelection::all(&RuleKind::all()), None);
        return Ok((config, policy_files::notes(&options, &environment), preset));
    };
    let mut config = policy_files::settings(&options, &environment);
    let (rules, errors) = parse_rule_file(file)?;
    config.add_rules(rules);
    config.failures.extend(errors);
    Ok((config, Vec::new(), preset))
}

fn parse_rule_file(file: &Path) -> anyhow::Result<(Vec<Rule>, Vec<Failure>)> {
    let text = std::fs::read_to_string(file).with_context(|| file.display().to_string())?;
    let name = file.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let Some(kind) = RuleKind::from_file_name(&name) else {
        let names = RuleKind::all().into_iter().map(|kind| format!("{}.rules", kind.name()));
        let known = names.collect::<Vec<_>>().join(", ");
        bail!(
            "{}: the file name does not start with a kind of rules\n  help: name it {known}, or e.g. bash.<name>.rules",
            file.display()
        );
    };
    let (rules, errors) = rules::parse(text, &file.display().to_string(), kind, Owner::Operator);
    Ok((rules, errors.iter().map(|error| Failure::Config(error.to_string())).collect()))
}

fn describe(flaw: &Failure) -> String {
    match flaw {
        Failure::Config(what) => what.clone(),
        Failure::Event(_) | Failure::Limit(_) | Failure::Timeout | Failure::Bug => flaw.reason(),
    }
}
