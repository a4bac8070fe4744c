//! `rune policy`: the files of the policy, written once and brought up to date without losing an edit.

mod stage;

use super::hooks::say;
use crate::runtime::environment::Environment;
use crate::runtime::files::{diff, follow_links, read, write_like};
use crate::runtime::options::Dirs;
use crate::runtime::{agent_check, receipts};
use anyhow::Context;
use clap::{Args, Subcommand};
use rune::policy::update::{Conflict, Installed, Shipped, Step, shipped, version};
use rune::receipt::Loosening;
use std::path::PathBuf;

/// The operator's own file, which we only ever make.
const LOCAL: (&str, &str) = ("config.local.toml", include_str!("../../config/config.local.toml"));

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
    place: PlaceArgs,
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
    place: PlaceArgs,
}

#[derive(Debug, Args)]
pub struct PlaceArgs {
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
struct Place {
    config: PathBuf,
    data: PathBuf,
}

/// A file of the policy, what lies on the disk for it, and what is to be done.
struct File {
    shipped: Shipped,
    path: PathBuf,
    base: PathBuf,
    beside: PathBuf,
    found: Installed,
    step: Step,
}

pub fn run(command: &Policy) -> anyhow::Result<()> {
    match command {
        Policy::Install(args) => install(&args.place),
        Policy::Update(args) => update(&args.place, args.yes),
    }
}

fn install(args: &PlaceArgs) -> anyhow::Result<()> {
    let place = args.place()?;
    let mut files = look(&place)?;
    // What differs from the default is an edit or an older default, and both are for `update`.
    files.retain(|file| matches!(file.step, Step::Same | Step::Write));
    apply(&files, &place, args.dry_run)
}

fn update(args: &PlaceArgs, yes: bool) -> anyhow::Result<()> {
    let place = args.place()?;
    let files = look(&place)?;
    let changes = files.iter().any(|file| matches!(file.step, Step::Replace | Step::Merge(_)));
    let loosened = if changes { stage::loosened(&files, &place)? } else { Vec::new() };
    if !loosened.is_empty() {
        say(&format!("less strict than before: {}", loosened.join(", ")))?;
    }
    if changes && !args.dry_run {
        // What a changed pattern lets through cannot be told, so every change counts as a loosening.
        if loosened.is_empty() {
            agent_check::require_person("changing the policy")?;
        } else {
            agent_check::require_confirmed_person("this update", yes)?;
        }
        receipts::record_loosening(&Environment::read(&Dirs::default()), Loosening::PolicyUpdate)?;
    }
    apply(&files, &place, args.dry_run)
}

fn look(place: &Place) -> anyhow::Result<Vec<File>> {
    shipped().into_iter().map(|shipped| File::look(shipped, place)).collect()
}

fn apply(files: &[File], place: &Place, dry: bool) -> anyhow::Result<()> {
    let mut told = Vec::new();
    for file in files {
        told.extend(file.told());
        match (dry, file.text()) {
            (true, Some(text)) if file.found.mine.is_some() => {
                told.push(diff(&file.path, file.found.mine.as_deref().unwrap_or_default(), text));
            }
            (true, _) => {}
            (false, _) => file.write()?,
        }
    }
    let local = place.config.join(LOCAL.0);
    if std::fs::symlink_metadata(&local).is_err() {
        told.push(format!("wrote {}, which is for your own changes", LOCAL.0));
        if !dry {
            write_like(&local, LOCAL.1, &local)?;
        }
    }
    let at = place.config.display();
    match (told.is_empty(), dry) {
        (true, _) => say(&format!("nothing to do for the policy in {at}")),
        (false, true) => say(&format!("this would happen in {at}:\n{}", told.join("\n"))),
        (false, false) => say(&format!("in {at}:\n{}", told.join("\n"))),
    }
}

impl File {
    fn look(shipped: Shipped, place: &Place) -> anyhow::Result<File> {
        let named = place.config.join(&shipped.name);
        let mut beside = named.clone().into_os_string();
        beside.push(".new");
        let (path, beside) = (follow_links(&named)?, PathBuf::from(beside));
        let base = place.data.join("policy").join(&shipped.name);
        let found = Installed { mine: read(&path)?, base: read(&base)?, waiting: read(&beside)? };
        let step = shipped.step(&found);
        Ok(File { shipped, path, base, beside, found, step })
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
            write_like(&self.path, text, &self.path)?;
        }
        let new = Some(self.shipped.text);
        match self.step {
            // Until they are done, it is not known what they have seen.
            Step::Beside(Conflict::WorkedOn) => return Ok(()),
            Step::Beside(_) if self.found.waiting.as_deref() != new => {
                write_like(&self.beside, self.shipped.text, &self.path)?
            }
            // Whoever has taken all of it over need not be told again.
            Step::Same | Step::Write if self.found.waiting.is_some() && !self.shipped.is_worked_on(&self.found) => {
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
        if self.step != Step::Newer && self.found.base.as_deref() != new {
            write_like(&self.base, self.shipped.text, &self.base)?;
        }
        Ok(())
    }

    /// What is done, in one line, where there is something to say.
    fn told(&self) -> Option<String> {
        let Shipped { name, text } = &self.shipped;
        let said = |text: Option<&str>| text.and_then(version).unwrap_or("no version").to_owned();
        let (old, new) = (said(self.found.mine.as_deref()), said(Some(text)));
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

impl PlaceArgs {
    fn place(&self) -> anyhow::Result<Place> {
        let here = std::env::current_dir().context("the current directory cannot be told")?;
        let absolute = |dir: &Option<PathBuf>| dir.as_ref().map(|dir| here.join(dir));
        let dirs = Dirs { config: absolute(&self.config_dir), data: absolute(&self.data_dir), ..Dirs::default() };
        let Environment { config_dir, data_dir, .. } = Environment::read(&dirs);
        let known = |dir: Option<PathBuf>, flag: &str| {
            dir.with_context(|| format!("HOME is not set\n  help: set it, or name `{flag}`"))
        };
        Ok(Place { config: known(config_dir, "--config-dir")?, data: known(data_dir, "--data-dir")? })
    }
}

#[cfg(test)]
#[path = "../../tests/unit/commands/policy.rs"]
mod tests;
