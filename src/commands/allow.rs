//! `rune allow`: exceptions from rules, written to `config.local.toml`.

pub mod check;
mod edit;
mod last;
mod list;

pub use last::newest_stop;

use super::hooks::{project, registered_options};
use super::{confirm, current_dir, say};
use crate::runtime::environment::{Environment, now};
use crate::runtime::options::Options;
use crate::runtime::policy_files::{self, RuleSelection};
use crate::runtime::{agent_check, files, receipts};
use anyhow::{Context, anyhow, bail, ensure};
use clap::{ArgGroup, Args};
use edit::NewException;
use rune::encoding::escape::{is_hidden, one_line};
use rune::policy::{Config, Layer};
use rune::receipt::Loosening;
use rune::rules::RuleKind;
use std::path::PathBuf;
use time::{Date, Duration};

/// Makes an exception from a rule, lists exceptions or removes one; for people only
#[derive(Debug, Args)]
#[command(
    group = ArgGroup::new("what").args(["rule", "program", "dir", "last", "list", "remove"]).required(true),
    after_help = "Examples:\n  rune allow --last --reason 'my own branch'\n  \
rune allow git-force-push --match 'origin sandbox/' --reason 'my own'\n  \
rune allow --program terraform --reason 'ours'\n  rune allow --list\n\n\
The change of config.local.toml is shown before it is made. There are no exceptions from failures, from rules in `always_deny`, \
from rules that guard Rune itself, and from rules for sessions that have read untrusted content."
)]
pub struct AllowArgs {
    /// The rule; with `--match`
    #[arg(value_name = "RULE", requires = "pattern")]
    rule: Option<String>,
    /// Regular expression for the commands, files or tools that the rule does not apply to
    #[arg(long = "match", value_name = "REGEX", requires = "rule")]
    pattern: Option<String>,
    /// Program that the rule unknown-executable accepts
    #[arg(long, value_name = "NAME")]
    program: Option<String>,
    /// Directory that is worked in like the project
    #[arg(long, value_name = "PATH")]
    dir: Option<PathBuf>,
    /// The newest call of this project that was stopped, or one of the last ones
    #[arg(long)]
    last: bool,
    /// Why; kept beside the exception
    #[arg(long, value_name = "TEXT", required_unless_present_any = ["list", "remove"])]
    reason: Option<String>,
    /// Last day: a date, or a number of days such as 30d [default for --last: 30d]
    #[arg(long, value_name = "WHEN", conflicts_with_all = ["program", "dir", "list", "remove"])]
    until: Option<String>,
    /// Show the exceptions, how often each was used, and when it ends
    #[arg(long, conflicts_with_all = ["reason", "yes"])]
    list: bool,
    /// Print JSON, for `--list`
    #[arg(long, requires = "list")]
    json: bool,
    /// Remove an exception by its id, or a program or directory by its name
    #[arg(long, value_name = "ID", conflicts_with = "reason")]
    remove: Option<String>,
    /// Do not ask; the process still needs a terminal
    #[arg(long)]
    yes: bool,
}

/// The policy that exceptions are made from.
struct Target {
    options: Options,
    environment: Environment,
    /// Without a pause, which would hide what the rules say.
    config: Config,
    path: PathBuf,
    text: String,
}

impl Target {
    fn read() -> anyhow::Result<Target> {
        let options = registered_options()?;
        let mut environment = options.environment();
        environment.project = Some(project(environment.client, &current_dir()?));
        let dir = environment.config_dir.clone().context("HOME is not set\n  help: set it")?;
        let path = files::follow_links(&dir.join("config.local.toml"))?;
        let text = files::read(&path)?.unwrap_or_default();
        let config = policy_files::config(&options, &environment, &RuleSelection::all(&RuleKind::all()), None);
        Ok(Target { options, environment, config, path, text })
    }

    /// Shows the change of the file, asks, and makes it. Returns whether it was made.
    fn write(&self, new: &str, yes: bool, receipt: Option<Loosening>) -> anyhow::Result<bool> {
        Layer::read(new, &self.path.display().to_string()).map_err(|error| anyhow!("{error}"))?;
        say(&visible(&files::diff(&self.path, &self.text, new)))?;
        if !confirm("Make this change?", yes)? {
            say("nothing was changed")?;
            return Ok(false);
        }
        let now = files::read(&self.path)?.unwrap_or_default();
        ensure!(now == self.text, "{} has changed since it was read\n  help: run this again", self.path.display());
        if let Some(receipt) = receipt {
            receipts::record_loosening(&self.environment, receipt)?;
        }
        files::write_like(&self.path, new, &self.path)?;
        Ok(true)
    }
}

pub fn run(args: &AllowArgs) -> anyhow::Result<()> {
    if args.list {
        return list::run(&Target::read()?, args.json);
    }
    agent_check::require_confirmed_person("`rune allow`", args.yes)?;
    let target = Target::read()?;
    if let Some(failure) = target.config.failures.first() {
        bail!("{}", failure.reason());
    }
    if let Some(name) = &args.remove {
        let new = edit::remove(&target.text, name)?;
        let is_made = target.write(&new, args.yes, None)?;
        return if is_made { say!("removed `{}`", one_line(name, 100)) } else { Ok(()) };
    }
    let reason = args.reason.as_deref().unwrap_or_default();
    ensure!(
        !reason.trim().is_empty(),
        "`--reason` is blank\n  help: say why the exception is needed; the text is kept beside it"
    );
    let new = build(args, &target, reason)?;
    new.notes.iter().try_for_each(|note| say(note))?;
    if target.write(&new.text, args.yes, Some(Loosening::Allow))? {
        for id in new.ids {
            say!("it counts from the next call on; `rune allow --remove {id}` takes it back")?;
        }
    }
    Ok(())
}

/// A change of the file.
#[derive(Default)]
struct Change {
    /// The new text.
    text: String,
    /// By what it can be removed.
    ids: Vec<String>,
    /// What is allowed besides the call that it was made for.
    notes: Vec<String>,
}

fn build(args: &AllowArgs, target: &Target, reason: &str) -> anyhow::Result<Change> {
    let until = args.until.as_deref().map(parse_until).transpose()?;
    if let Some(program) = &args.program {
        check::program(program, &target.config)?;
        let text = edit::add_to_list(&target.text, "executables", "allowed", program, reason)?;
        return Ok(Change { text, ids: vec![program.clone()], ..Change::default() });
    }
    if let Some(dir) = &args.dir {
        let dir = check::directory(dir, &target.environment, &target.config)?;
        let text = edit::add_to_list(&target.text, "paths", "work", &dir, reason)?;
        return Ok(Change { text, ids: vec![dir], ..Change::default() });
    }
    if args.last {
        let until = until.or_else(|| now().date().checked_add(Duration::days(30)));
        return last::build(target, reason, until, args.yes);
    }
    let (Some(rule), Some(pattern)) = (&args.rule, &args.pattern) else { bail!("expected a rule and `--match`") };
    check::rule(rule, &target.config)?;
    check::pattern(pattern)?;
    let id = new_id(&target.config)?;
    let exception =
        NewException { id: id.clone(), rule: rule.clone(), pattern: pattern.clone(), reason: reason.to_owned(), until };
    Ok(Change { text: edit::add_exceptions(&target.text, &[exception])?, ids: vec![id], ..Change::default() })
}

/// The last day of an exception.
fn parse_until(text: &str) -> anyhow::Result<Date> {
    let invalid =
        || anyhow!("invalid value `{}` for `--until`: expected e.g. `30d` or `2030-12-31`", one_line(text, 40));
    let today = now().date();
    let date = match text.strip_suffix('d') {
        Some(days) => {
            let days: u16 = days.parse().map_err(|_| invalid())?;
            today.checked_add(Duration::days(days.into())).ok_or_else(invalid)?
        }
        None => Date::parse(text, &time::format_description::well_known::Iso8601::DATE).map_err(|_| invalid())?,
    };
    ensure!(date >= today, "`--until {}` is in the past", one_line(text, 40));
    Ok(date)
}

/// Letters and digits of ids, without those that look alike.
const ID_LETTERS: &[u8; 32] = b"abcdefghijkmnpqrstuvwxyz23456789";

const ID_LENGTH: usize = 5;

/// A random id that no exception has. It is written to the log, so it says nothing about the exception.
fn new_id(config: &Config) -> anyhow::Result<String> {
    loop {
        let bytes = receipts::random_bytes()?;
        let letters = bytes.iter().take(ID_LENGTH).filter_map(|byte| ID_LETTERS.get(usize::from(byte % 32)));
        let id: String = letters.map(|letter| char::from(*letter)).collect();
        if !config.exceptions.iter().any(|exception| exception.id.as_ref() == Some(&id)) {
            return Ok(id);
        }
    }
}

/// Escapes what cannot be seen in a text of several lines.
fn visible(text: &str) -> String {
    let escape = |c: char| if is_hidden(c) { c.escape_unicode().to_string() } else { c.to_string() };
    text.chars().map(escape).collect()
}
