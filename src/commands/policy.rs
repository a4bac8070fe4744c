//! `rune policy`: writes the default policy files, and updates them without losing an edit.

mod loosened;

use crate::commands::current_dir;
use crate::runtime::environment::Environment;
use crate::runtime::files::{diff, follow_links, read, write_like};
use crate::runtime::options::Dirs;
use crate::runtime::{agent_check, receipts};
use anyhow::Context;
use clap::{Args, Subcommand};
use rune::policy::update::{Conflict, EmbeddedFile, FileUpdate, Installed, embedded_files, version};
use rune::receipt::Loosening;
use std::path::PathBuf;

/// Name and template of the file for the user's own settings, which is created once and never changed.
const LOCAL_FILE: (&str, &str) = ("config.local.toml", include_str!("../../config/config.local.toml"));

#[derive(Debug, Subcommand)]
pub enum Policy {
    /// Writes the policy files that are missing, and changes no other
    #[command(after_help = "Example:\n  rune policy install --dry-run")]
    Install(PolicyDirArgs),
    Update(UpdateArgs),
}

/// Updates the policy files to the defaults of this version, and keeps your edits
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  rune policy update --dry-run\n  rune policy update\n\n\
Files without edits are replaced, edited files are merged. If an edit and the update change the same lines, your \
file stays as it is, and the new default is written beside it as *.new: copy what you want, then delete it. \
config.local.toml is never changed.")]
pub struct UpdateArgs {
    /// Loosen the guard even if stdin is not a terminal; the process still needs a terminal
    #[arg(long)]
    yes: bool,
    #[command(flatten)]
    dirs: PolicyDirArgs,
}

#[derive(Debug, Args)]
pub struct PolicyDirArgs {
    /// Show the changes without making them
    #[arg(long)]
    dry_run: bool,
    /// Policy directory [default: $XDG_CONFIG_HOME/rune]
    #[arg(long, value_name = "DIR")]
    config_dir: Option<PathBuf>,
    /// Directory that keeps the defaults as installed, as the base of a merge [default: $XDG_DATA_HOME/rune]
    #[arg(long, value_name = "DIR")]
    data_dir: Option<PathBuf>,
}

struct PolicyDirs {
    config: PathBuf,
    data: PathBuf,
}

/// A policy file: its default, what is on the disk, and the step to take.
struct PolicyFile {
    shipped: EmbeddedFile,
    path: PathBuf,
    /// The default that the file on the disk was made from.
    base: PathBuf,
    /// Where a default that cannot be merged is written.
    beside: PathBuf,
    installed: Installed,
    step: FileUpdate,
}

pub fn run(command: &Policy) -> anyhow::Result<()> {
    match command {
        Policy::Install(args) => install(args),
        Policy::Update(args) => update(&args.dirs, args.yes),
    }
}

fn install(args: &PolicyDirArgs) -> anyhow::Result<()> {
    let dirs = args.resolve()?;
    let mut files = inspect(&dirs)?;
    // A file that differs from the default is edited or older, and both are left to `update`.
    files.retain(|file| matches!(file.step, FileUpdate::Unchanged | FileUpdate::Write));
    apply(&files, &dirs, args.dry_run)
}

fn update(args: &PolicyDirArgs, yes: bool) -> anyhow::Result<()> {
    let dirs = args.resolve()?;
    let files = inspect(&dirs)?;
    let changes = files.iter().any(|file| matches!(file.step, FileUpdate::Replace | FileUpdate::Merge(_)));
    let loosened = if changes { loosened::find(&files, &dirs)? } else { Vec::new() };
    if !loosened.is_empty() {
        say!("less strict than before: {}", loosened.join(", "))?;
    }
    if changes && !args.dry_run {
        // The effect of a changed pattern cannot be compared, so every change counts as a loosening.
        if loosened.is_empty() {
            agent_check::require_person("changing the policy")?;
        } else {
            agent_check::require_confirmed_person("this update", yes)?;
        }
        receipts::record_loosening(&Environment::read(&Dirs::default()), Loosening::PolicyUpdate)?;
    }
    apply(&files, &dirs, args.dry_run)
}

fn inspect(dirs: &PolicyDirs) -> anyhow::Result<Vec<PolicyFile>> {
    embedded_files().into_iter().map(|shipped| PolicyFile::inspect(shipped, dirs)).collect()
}

fn apply(files: &[PolicyFile], dirs: &PolicyDirs, dry_run: bool) -> anyhow::Result<()> {
    let mut messages = Vec::new();
    for file in files {
        messages.extend(file.describe());
        if !dry_run {
            file.write()?;
        } else if let (Some(text), Some(current)) = (file.new_text(), &file.installed.current) {
            messages.push(diff(&file.path, current, text));
        }
    }
    let local = dirs.config.join(LOCAL_FILE.0);
    if std::fs::symlink_metadata(&local).is_err() {
        messages.push(format!("wrote {}, for your own settings", LOCAL_FILE.0));
        if !dry_run {
            write_like(&local, LOCAL_FILE.1, &local)?;
        }
    }
    let at = dirs.config.display();
    match (messages.is_empty(), dry_run) {
        (true, _) => say!("no changes to the policy in {at}"),
        (false, true) => say!("these changes would be made in {at}:\n{}", messages.join("\n")),
        (false, false) => say!("in {at}:\n{}", messages.join("\n")),
    }
}

impl PolicyFile {
    fn inspect(shipped: EmbeddedFile, dirs: &PolicyDirs) -> anyhow::Result<PolicyFile> {
        let named = dirs.config.join(&shipped.name);
        let mut beside = named.clone().into_os_string();
        beside.push(".new");
        let (path, beside) = (follow_links(&named)?, PathBuf::from(beside));
        let base = dirs.data.join("policy").join(&shipped.name);
        let installed = Installed { current: read(&path)?, base: read(&base)?, pending: read(&beside)? };
        let step = shipped.plan_update(&installed);
        Ok(PolicyFile { shipped, path, base, beside, installed, step })
    }

    /// The text that the step writes to the file itself.
    fn new_text(&self) -> Option<&str> {
        match &self.step {
            FileUpdate::Write | FileUpdate::Replace => Some(self.shipped.text),
            FileUpdate::Merge(merged) => Some(&merged.text),
            FileUpdate::Unchanged | FileUpdate::KeepEdited | FileUpdate::WriteBeside(_) | FileUpdate::KeepNewer => None,
        }
    }

    fn write(&self) -> anyhow::Result<()> {
        if let Some(text) = self.new_text() {
            write_like(&self.path, text, &self.path)?;
        }
        let new = Some(self.shipped.text);
        let pending = self.installed.pending.as_deref();
        if self.step == FileUpdate::WriteBeside(Conflict::PendingEdited) {
            // Keep the base: the user has not finished with the default that it stands for.
            return Ok(());
        }
        if matches!(self.step, FileUpdate::WriteBeside(_)) && pending != new {
            write_like(&self.beside, self.shipped.text, &self.path)?;
        }
        // The file equals the default, so the default beside it is no longer needed.
        let is_default = matches!(self.step, FileUpdate::Unchanged | FileUpdate::Write);
        if is_default && pending.is_some() && !self.shipped.is_pending_edited(&self.installed) {
            std::fs::remove_file(&self.beside).with_context(|| self.beside.display().to_string())?;
        }
        // INVARIANT: the base is written last, so that an interrupted update is repeated.
        if self.step != FileUpdate::KeepNewer && self.installed.base.as_deref() != new {
            write_like(&self.base, self.shipped.text, &self.base)?;
        }
        Ok(())
    }

    /// The step in one line, unless the file stays as it is.
    fn describe(&self) -> Option<String> {
        let EmbeddedFile { name, text } = &self.shipped;
        let version_of = |text: Option<&str>| text.and_then(version).unwrap_or("no version").to_owned();
        let (old, new) = (version_of(self.installed.current.as_deref()), version_of(Some(text)));
        let kept = |why: &str| {
            format!("kept {name}: {why}; the new default is {name}.new: copy what you want from it, then delete it")
        };
        Some(match &self.step {
            FileUpdate::Unchanged | FileUpdate::KeepEdited => return None,
            FileUpdate::Write => format!("wrote {name} ({new})"),
            FileUpdate::Replace => format!("updated {name} ({old} to {new})"),
            FileUpdate::Merge(merged) if merged.kept.is_empty() => {
                format!("merged {name} ({old} to {new}), with your edits")
            }
            FileUpdate::Merge(merged) => {
                let kept = merged.kept.join("`, `");
                format!(
                    "merged {name} ({old} to {new}), with your edits; of these the default has changed too: `{kept}`"
                )
            }
            FileUpdate::KeepNewer => {
                format!("kept {name}: its version {old} is newer than {new}, the version of this program")
            }
            FileUpdate::WriteBeside(Conflict::Unmergeable) => kept("your edits conflict with the new default"),
            FileUpdate::WriteBeside(Conflict::UnknownBase) => kept("the default that you edited is unknown"),
            FileUpdate::WriteBeside(Conflict::Pending) => kept("an earlier default still waits for you"),
            FileUpdate::WriteBeside(Conflict::PendingEdited) => {
                format!("kept {name} and {name}.new, which you have edited: delete it to get the new default ({new})")
            }
        })
    }
}

impl PolicyDirArgs {
    fn resolve(&self) -> anyhow::Result<PolicyDirs> {
        let here = current_dir()?;
        let absolute = |dir: &Option<PathBuf>| dir.as_ref().map(|dir| here.join(dir));
        let dirs = Dirs { config: absolute(&self.config_dir), data: absolute(&self.data_dir), ..Dirs::default() };
        let Environment { config_dir, data_dir, .. } = Environment::read(&dirs);
        let known = |dir: Option<PathBuf>, flag: &str| {
            dir.with_context(|| format!("HOME is not set\n  help: set HOME or `{flag}`"))
        };
        Ok(PolicyDirs { config: known(config_dir, "--config-dir")?, data: known(data_dir, "--data-dir")? })
    }
}

#[cfg(test)]
#[path = "../../tests/unit/commands/policy.rs"]
mod tests;
