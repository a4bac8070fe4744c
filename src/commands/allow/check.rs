//! What exceptions may be made from.

use crate::commands::doctor;
use crate::commands::log::refuse_unknown;
use crate::runtime::environment::Environment;
use anyhow::{Context, bail, ensure};
use rune::encoding::escape::one_line;
use rune::mcp::RefusalCode;
use rune::path::protected::Class;
use rune::path::zones::Zones;
use rune::path::{AbsPath, Extent, Place};
use rune::policy::{Config, NoException};
use rune::rules::{Owner, Pattern, Rule};
use rune::verdict::failure::Failure;
use std::collections::BTreeSet;
use std::path::Path;

/// Names in findings that no rule has, so that no exception is compared with them.
const BUILT_IN: [&str; 2] = ["quarantine-escalation", "unreadable-command"];

/// Refuses rules that no exception is made from, and names that no rule has.
pub fn rule(name: &str, config: &Config) -> anyhow::Result<()> {
    let shown = one_line(name, 100);
    if Failure::RULES.iter().any(|(rule, _)| *rule == name) {
        bail!(
            "`{shown}` is a failure of the guard, and there are no exceptions from failures\n  help: `rune doctor` finds the cause"
        );
    }
    if RefusalCode::ALL.iter().any(|code| code.rule().as_str() == name) {
        bail!(
            "`{shown}` is about approvals, and there are no exceptions from it\n  help: `rune mcp status` says what to approve"
        );
    }
    if name.starts_with("project/") {
        bail!("`{shown}` is a rule of this project's own policy\n  help: change the policy in `.rune` of the project");
    }
    if BUILT_IN.contains(&name) {
        let help = "help: write the command in plainer words, or answer the prompt";
        bail!("`{shown}` is not about a particular command, and there are no exceptions from it\n  {help}");
    }
    let named: Vec<&Rule> =
        config.rules.iter().filter(|rule| rule.id.as_str() == name && rule.owner == Owner::Operator).collect();
    if named.is_empty() {
        if config.disabled.iter().any(|disabled| disabled == name) {
            bail!("the rule `{shown}` is disabled, so there is nothing to allow");
        }
        let known: BTreeSet<&str> = config.rules.iter().map(|rule| rule.id.as_str()).collect();
        return refuse_unknown("rule", name, &known, "`rune rules list` lists the rules");
    }
    let (why, help) = match named.iter().find_map(|rule| config.no_exception(rule)) {
        None => return Ok(()),
        Some(NoException::Guard) => ("guards Rune itself", "make the change by hand, outside of the agent"),
        Some(NoException::AlwaysDenied) => {
            ("is in `always_deny`", "such calls cannot be undone; `rune help presets` lists the rules")
        }
        Some(NoException::Tainted) => (
            "is for sessions that have read untrusted content",
            "answer the prompt, or `rune quarantine clear --session ID` if you know what the session has read",
        ),
    };
    bail!("`{shown}` {why}, and there are no exceptions from it\n  help: {help}")
}

/// Refuses patterns that are invalid or match everything.
pub fn pattern(text: &str) -> anyhow::Result<()> {
    let pattern = Pattern::new(text.to_owned());
    if let Err(error) = pattern.check() {
        bail!("pattern `{}`: {}", one_line(text, 200), one_line(&error.message, 400));
    }
    let help = "help: name the case that you mean; `rules.disabled` in config.local.toml disables a rule";
    ensure!(!doctor::matches_everything(&pattern), "`--match {}` matches every call\n  {help}", one_line(text, 200));
    Ok(())
}

/// Refuses what is not the name of a program.
pub fn program(name: &str, config: &Config) -> anyhow::Result<()> {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._+-".contains(&byte);
    let shown = one_line(name, 100);
    let is_name = !name.is_empty() && !name.starts_with(['-', '.']) && name.bytes().all(is_plain);
    ensure!(is_name, "invalid value `{shown}` for `--program`: expected the name of a program, without a directory");
    ensure!(!config.executables.iter().any(|known| known == name), "`{shown}` is allowed already");
    Ok(())
}

/// The absolute path of a directory that may be worked in.
pub fn directory(dir: &Path, environment: &Environment, config: &Config) -> anyhow::Result<String> {
    let shown = dir.display().to_string();
    let shown = one_line(&shown, 200);
    let path = dir.canonicalize().with_context(|| format!("{shown}: no such directory"))?;
    ensure!(path.is_dir(), "{shown}: not a directory");
    let text = path.to_str().with_context(|| format!("{shown}: the path is not valid UTF-8"))?;
    let of = |path: &Path| path.to_string_lossy().into_owned();
    let cwd = environment.project.as_deref().map(of).unwrap_or_default();
    let place = Place { cwd: cwd.clone(), home: environment.home.as_deref().map(of), project: Some(cwd) };
    let resolved = AbsPath::resolve(text, &place);
    let help = "help: name a directory below it";
    if Zones::of(&place).with_work([resolved.clone()]).is_err() {
        bail!("{text} is or contains home, the project or a directory of the system\n  {help}");
    }
    let home = place.home.as_ref().map(|home| AbsPath::resolve(home, &place));
    let is_protected = |class: &Class| class.contains(&resolved, Extent::Exact, home.as_ref());
    ensure!(![Class::Guard, Class::Secrets].iter().any(is_protected), "{text} is protected\n  {help}");
    ensure!(!config.work.iter().any(|known| known == text), "{text} is in `paths.work` already");
    Ok(text.to_owned())
}
