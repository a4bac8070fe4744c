//! `rune rules`: work on rules before they work on anybody.

use crate::runtime::environment::{Environment, now};
use crate::runtime::exit_code::DONE;
use crate::runtime::options::Options;
use crate::runtime::policy_files;
use anyhow::{Context, bail};
use clap::{Args, Subcommand};
use rune::policy::{Config, Idle};
use rune::rules::{self, Matcher, Owner, Rule, RuleKind, Tier};
use rune::self_test;
use rune::verdict::failure::Failure;
use std::io::Write;
use std::path::{Path, PathBuf};

#[derive(Debug, Subcommand)]
pub enum Rules {
    /// Says what is wrong with the policy and its rules, with file, line and column
    #[command(after_help = "Example:\n  rune rules check")]
    Check(RulesArgs),
    /// Lists the rules in the order in which they are asked
    #[command(after_help = "Example:\n  rune rules list --preset gentle")]
    List(RulesArgs),
    /// Runs the examples of the rules: every `hits` is answered by its rule, every `misses` by nobody
    #[command(after_help = "Example:\n  rune rules test ~/.config/rune/rules/bash.team.rules")]
    Test(RulesArgs),
}

#[derive(Debug, Args)]
pub struct RulesArgs {
    /// One file instead of those in force
    pub file: Option<PathBuf>,
    /// The preset to answer by [default: strict]
    #[arg(long, value_name = "NAME")]
    pub preset: Option<String>,
    /// The directory of the policy [default: $XDG_CONFIG_HOME/rune or ~/.config/rune]
    #[arg(long, value_name = "DIR")]
    pub config_dir: Option<PathBuf>,
    /// JSON lines instead of a table, for `list`
    #[arg(long)]
    pub json: bool,
}

/// Runs one of these commands.
pub fn run(command: &Rules) -> anyhow::Result<u8> {
    match command {
        Rules::Check(args) => check(args),
        Rules::List(args) => list(args),
        Rules::Test(args) => test(args),
    }
    .map(|()| DONE)
}

/// Every kind of rules.
pub const ALL: [RuleKind; 6] =
    [RuleKind::Bash, RuleKind::Edit, RuleKind::Read, RuleKind::Mcp, RuleKind::Agent, RuleKind::Post];

/// Reads every rule and every pattern, and says what is wrong with them.
pub fn check(args: &RulesArgs) -> anyhow::Result<()> {
    let (config, notes) = policy(args)?;
    let mut wrong = flaws(&config);
    let today = now().date();
    let unknown = config.exceptions.iter().filter(|exception| config.idle(exception, today) == Some(Idle::Unknown));
    if args.file.is_none() {
        wrong.extend(unknown.map(|unknown| format!("{}: there is no rule `{}`", unknown.source, unknown.rule)));
    }
    let mut out = std::io::stdout().lock();
    for note in notes {
        writeln!(out, "note: {note}")?;
    }
    if !wrong.is_empty() {
        bail!("{}", wrong.join("\n"));
    }
    writeln!(out, "{} rules, nothing wrong", config.rules.len())?;
    Ok(())
}

/// What is wrong with a policy and with the patterns of its rules, with its place where it is known.
pub fn flaws(config: &Config) -> Vec<String> {
    let mut wrong: Vec<String> = config.flaws.iter().map(explained).collect();
    for rule in &config.rules {
        let lists = rule.only_when.iter().chain(rule.except_when.iter());
        let patterns = match &rule.matcher {
            Matcher::Patterns(patterns) => patterns.iter().chain(lists).collect::<Vec<_>>(),
            Matcher::Validator(_) => lists.collect(),
        };
        for error in patterns.into_iter().filter_map(|pattern| pattern.check().err()) {
            wrong.push(format!("{}: rule `{}`: pattern `{}`: {}", rule.source, rule.id, error.pattern, error.what));
        }
    }
    wrong
}

/// Lists the rules in force, in the order in which they are asked.
pub fn list(args: &RulesArgs) -> anyhow::Result<()> {
    let (config, _) = policy(args)?;
    let mut out = std::io::stdout().lock();
    for rule in &config.rules {
        let Rule { id, kind, source, .. } = rule;
        let effect = super::explain::name(config.effect(rule));
        let tier = if rule.tier == Tier::Block { "block" } else { "suspicious" };
        if args.json {
            let row = serde_json::json!({"rule": id.as_str(), "kind": kind.name(), "tier": tier, "effect": effect, "source": source.to_string()});
            writeln!(out, "{row}")?;
        } else {
            writeln!(out, "{:<6} {tier:<10} {effect:<6} {id:<26} {source}", kind.name())?;
        }
    }
    Ok(())
}

/// Runs the examples of the rules.
pub fn test(args: &RulesArgs) -> anyhow::Result<()> {
    let (config, _) = policy(args)?;
    if let Some(flaw) = config.flaws.first() {
        bail!("{}", explained(flaw));
    }
    let examples: usize = config.rules.iter().map(|rule| rule.hits().count() + rule.misses().count()).sum();
    let wrong: Vec<String> = self_test::disproofs(&config).iter().map(ToString::to_string).collect();
    if !wrong.is_empty() {
        bail!("{} of {examples} examples do not hold\n{}", wrong.len(), wrong.join("\n"));
    }
    writeln!(std::io::stdout().lock(), "{examples} examples of {} rules hold", config.rules.len())?;
    Ok(())
}

/// The policy in force, or that of one file on top of the defaults of its kind.
fn policy(args: &RulesArgs) -> anyhow::Result<(Config, Vec<String>)> {
    let preset = args.preset.clone().unwrap_or_else(|| "strict".to_owned());
    let mut words: Vec<std::ffi::OsString> = vec!["--preset".into(), preset.into()];
    if let Some(dir) = &args.config_dir {
        words.extend(["--config-dir".into(), dir.clone().into()]);
    }
    let options = Options::parse(&words);
    let environment = Environment::read(&options.dirs);
    let Some(file) = &args.file else {
        let config = policy_files::config(&options, &environment, &policy_files::RuleSelection::all(&ALL), None);
        return Ok((config, policy_files::notes(&options, &environment)));
    };
    let mut config = policy_files::config(&options, &environment, &policy_files::RuleSelection::all(&[]), None);
    let (rules, errors) = one(file)?;
    config.add_rules(rules);
    config.flaws.extend(errors);
    Ok((config, Vec::new()))
}

fn one(file: &PathBuf) -> anyhow::Result<(Vec<Rule>, Vec<Failure>)> {
    let text = std::fs::read_to_string(file).with_context(|| file.display().to_string())?;
    let name = file.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let Some(kind) = RuleKind::of_file(&name) else {
        let known = RuleKind::ALL.map(|(_, kind, _)| format!("{kind}.rules")).join(", ");
        bail!(
            "{}: the name does not tell which calls the rules are for; there are {known}, and bash.<name>.rules",
            file.display()
        );
    };
    let (rules, errors) = rules::parse(text, &Path::new(file).display().to_string(), kind, Owner::Operator);
    Ok((rules, errors.iter().map(|error| Failure::Config(error.to_string())).collect()))
}

fn explained(flaw: &Failure) -> String {
    match flaw {
        Failure::Config(what) => what.clone(),
        Failure::Event(_) | Failure::Limit(_) | Failure::Timeout | Failure::Bug => flaw.reason(),
    }
}
