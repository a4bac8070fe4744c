//! `rune policy`: the files of the policy, written once and brought up to date without losing an edit.

mod loosened;

use super::hooks::say;
use crate::runtime::environment::Environment;
use crate::runtime::files::{follow, patch, put, read};
use crate::runtime::options::Dirs;
use crate::runtime::{agent_check, receipts};
use anyhow::Context;
use clap::{Args, Subcommand};
use rune::policy::update::{Conflict, Installed, Shipped, Step, shipped, version};
use rune::receipt::Loosening;
use std::path::PathBuf;

/// The operator's own file, which we only ever make.
const LOCAL_FILE: (&str, &str) = ("config.local.toml", include_str!("../../config/config.local.toml"));

#[derive(Debug, Subcommand)]
pub enum Policy {
    Install(InstallArgs),
    Update(UpdateArgs),
}

/// Writes the files of the policy that are missing, and touches no other
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  rune policy install --dry-run")]
pub struct InstallArgs {
    #[command(flatten)]
    dirs: PolicyDirArgs,
}

/// Brings newer defaults into the files of the policy; your edits stay
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  rune policy update --dry-run\n  rune policy update\n\n\
What nobody edited is replaced, what you edited is merged. Where both touch the same lines your file stays, and the\n\
new default is put beside it as *.new: take over what you want, then delete it. config.local.toml is never touched.")]
pub struct UpdateArgs {
    /// Loosen the guard where stdin is not a terminal; a terminal is needed all the same
    #[arg(long)]
    yes: bool,
    #[command(flatten)]
    dirs: PolicyDirArgs,
}

#[derive(Debug, Args)]
pub struct PolicyDirArgs {
    /// Show what would change, and change nothing
    #[arg(long)]
    dry_run: bool,
    /// The directory of the policy [default: $XDG_CONFIG_HOME/rune]
    #[arg(long, value_name = "DIR")]
    config_dir: Option<PathBuf>,
    /// The directory that keeps what we wrote, to merge by [default: $XDG_DATA_HOME/rune]
    #[arg(long, value_name = "DIR")]
    data_dir: Option<PathBuf>,
}

/// Where the policy lies.
struct PolicyDirs {
    config: PathBuf,
    data: PathBuf,
}

/// A file of the policy, what lies on the disk for it, and what is to be done.
struct PolicyFile {
    shipped: Shipped,
    path: PathBuf,
    base: PathBuf,
    beside: PathBuf,
    installed: Installed,
    step: Step,
}

pub fn run(command: &Policy) -> anyhow::Result<()> {
    match command {
        Policy::Install(args) => install(&args.dirs),
        Policy::Update(args) => update(&args.dirs, args.yes),
    }
}

fn install(args: &PolicyDirArgs) -> anyhow::Result<()> {
    let dirs = args.resolve()?;
    let mut files = inspect(&dirs)?;
    // What differs from the default is an edit or an older default, and both are for `update`.
    files.retain(|file| matches!(file.step, Step::Same | Step::Write));
    apply(&files, &dirs, args.dry_run)
}

fn update(args: &PolicyDirArgs, yes: bool) -> anyhow::Result<()> {
    let dirs = args.resolve()?;
    let files = inspect(&dirs)?;
    let changes = files.iter().any(|file| matches!(file.step, Step::Replace | Step::Merge(_)));
    let loosened = if changes { loosened::find(&files, &dirs)? } else { Vec::new() };
    if !loosened.is_empty() {
        say(&format!("less strict than before: {}", loosened.join(", ")))?;
    }
    if changes && !args.dry_run {
        // What a changed pattern lets through cannot be told, so every change counts as a loosening.
        if loosened.is_empty() {
            agent_check::check("changing the policy")?;
        } else {
            agent_check::may_loosen("this update", yes)?;
        }
        receipts::loosen(&Environment::look(&Dirs::default()), Loosening::PolicyUpdate)?;
    }
    apply(&files, &dirs, args.dry_run)
}

fn inspect(dirs: &PolicyDirs) -> anyhow::Result<Vec<PolicyFile>> {
    shipped().into_iter().map(|shipped| PolicyFile::inspect(shipped, dirs)).collect()
}

fn apply(files: &[PolicyFile], dirs: &PolicyDirs, dry: bool) -> anyhow::Result<()> {
    let mut messages = Vec::new();
    for file in files {
        messages.extend(file.describe());
        match (dry, file.text()) {
            (true, Some(text)) if file.installed.mine.is_some() => {
                messages.push(patch(&file.path, file.installed.mine.as_deref().unwrap_or_default(), text));
            }
            (true, _) => {}
            (false, _) => file.write()?,
        }
    }
    let local = dirs.config.join(LOCAL_FILE.0);
    if std::fs::symlink_metadata(&local).is_err() {
        messages.push(format!("wrote {}, which is for your own changes", LOCAL_FILE.0));
        if !dry {
            put(&local, LOCAL_FILE.1, &local)?;
        }
    }
    let at = dirs.config.display();
    match (messages.is_empty(), dry) {
        (true, _) => say(&format!("nothing to do for the policy in {at}")),
        (false, true) => say(&format!("this would happen in {at}:\n{}", messages.join("\n"))),
        (false, false) => say(&format!("in {at}:\n{}", messages.join("\n"))),
    }
}

impl PolicyFile {
    fn inspect(shipped: Shipped, dirs: &PolicyDirs) -> anyhow::Result<PolicyFile> {
        let named = dirs.config.join(&shipped.name);
        let mut beside = named.clone().into_os_string();
        beside.push(".new");
        let (path, beside) = (follow(&named)?, PathBuf::from(beside));
        let base = dirs.data.join("policy").join(&shipped.name);
        let installed = Installed { mine: read(&path)?, base: read(&base)?, waiting: read(&beside)? };
        let step = shipped.step(&installed);
        Ok(PolicyFile { shipped, path, base, beside, installed, step })
    }

    /// The text that comes into force, where one does.
    fn text(&self) -> Option<&str> {
        match &self.step {
            Step::Write | Step::Replace => Some(self.shipped.text),
            Step::Merge(text) => Some(text),
            Step::Same | Step::Edited | Step::Beside(_) | Step::Newer => None,
        }
    }

    fn write(&self) -> anyhow::Result<()> {
        if let Some(text) = self.text() {
            put(&self.path, text, &self.path)?;
        }
        let new = Some(self.shipped.text);
        match self.step {
            // Until they are done, it is not known what they have seen.
            Step::Beside(Conflict::WorkedOn) => return Ok(()),
            Step::Beside(_) if self.installed.waiting.as_deref() != new => {
                put(&self.beside, self.shipped.text, &self.path)?
            }
            // Whoever has taken all of it over need not be messages again.
            Step::Same | Step::Write
                if self.installed.waiting.is_some() && !self.shipped.is_worked_on(&self.installed) =>
            {
                std::fs::remove_file(&self.beside).with_context(|| self.beside.display().to_string())?;
            }
            Step::Same
            | Step::Edited
            | Step::Write
            | Step::Replace
            | Step::Merge(_)
            | Step::Beside(_)
            | Step::Newer => {}
        }
        // Last, so that whatever broke off is done again. From here on the file is what its owner made of this default.
        if self.step != Step::Newer && self.installed.base.as_deref() != new {
            put(&self.base, self.shipped.text, &self.base)?;
        }
        Ok(())
    }

    /// What is done, in one line, where there is something to say.
    fn describe(&self) -> Option<String> {
        let Shipped { name, text } = &self.shipped;
        let said = |text: Option<&str>| text.and_then(version).unwrap_or("no version").to_owned();
        let (old, new) = (said(self.installed.mine.as_deref()), said(Some(text)));
        let beside = || format!("{name}.new is what ships now; take over what you want, then delete it");
        Some(match self.step {
            Step::Same | Step::Edited => return None,
            Step::Write => format!("wrote {name} ({new})"),
            Step::Replace => format!("updated {name} ({old} to {new})"),
            Step::Merge(_) => format!("merged {name} ({old} to {new}): your edits stay"),
            Step::Newer => format!("kept {name}: it is of version {old}, and this program brings the older {new}"),
            Step::Beside(Conflict::Conflict) => {
                format!("kept {name}: your edits and the new default do not go together; {}", beside())
            }
            Step::Beside(Conflict::NoBase) => {
                format!("kept {name}: it is not known what your edits were made to; {}", beside())
            }
            Step::Beside(Conflict::Waiting) => format!("kept {name}: you have not looked yet; {}", beside()),
            Step::Beside(Conflict::WorkedOn) => {
                format!("kept {name} and {name}.new, which you have edited: delete it to get what ships now ({new})")
            }
        })
    }
}

impl PolicyDirArgs {
    fn resolve(&self) -> anyhow::Result<PolicyDirs> {
        let here = std::env::current_dir().context("the current directory cannot be told")?;
        let absolute = |dir: &Option<PathBuf>| dir.as_ref().map(|dir| here.join(dir));
        let dirs = Dirs { config: absolute(&self.config_dir), data: absolute(&self.data_dir), ..Dirs::default() };
        let Environment { config_dir, data_dir, .. } = Environment::look(&dirs);
        let known = |dir: Option<PathBuf>, flag: &str| {
            dir.with_context(|| format!("HOME is not set\n  help: set it, or name `{flag}`"))
        };
        Ok(PolicyDirs { config: known(config_dir, "--config-dir")?, data: known(data_dir, "--data-dir")? })
    }
}

#[cfg(test)]
#[path = "../../tests/unit/commands/policy.rs"]
mod tests;
