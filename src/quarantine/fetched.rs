//! Calls whose result holds what strangers wrote: commands that fetch it, and reads of files that hold it.

mod own;

use crate::encoding::label::Label;
use crate::event::{Event, ShellText};
use crate::path::{AbsPath, Place, names_overlap};
use crate::policy::Config;
use crate::quarantined::{ContentSource, Quarantined};
use crate::shell::Command;

// `FILES_UPLOADS`, `FILES_PACKAGES`, `FILES_TEXTS`, `FILES_ENDINGS`, `FILES_SEARCHERS`, `REFS_REMOTES`, `REFS_PROPOSALS` and
// `REFS_FETCHED`.
include!(concat!(env!("OUT_DIR"), "/sources.rs"));

/// The files that strangers have written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ForeignFile {
    /// A file below a directory of uploads.
    Upload,
    /// A text for readers in an installed package.
    PackageText,
}

impl ForeignFile {
    /// Which of them a path is. The names in it may have wildcards.
    pub(super) fn of(path: &AbsPath) -> Option<Self> {
        if path.directories().iter().any(|directory| is_uploads(directory)) {
            return Some(ForeignFile::Upload);
        }
        let name = path.components().last().map(|name| name.to_ascii_lowercase()).unwrap_or_default();
        let is_text = FILES_TEXTS.iter().any(|text| name.starts_with(text))
            || FILES_ENDINGS.iter().any(|ending| name.ends_with(ending));
        let holds = |package: &&str| {
            let parts: Vec<&str> = package.split('/').collect();
            path.directories().windows(parts.len()).any(|names| names.iter().eq(parts.iter()))
        };
        (is_text && FILES_PACKAGES.iter().any(holds)).then_some(ForeignFile::PackageText)
    }

    /// The rule that marks its content.
    pub(super) fn rule(self) -> &'static str {
        match self {
            ForeignFile::Upload => "quarantine-upload",
            ForeignFile::PackageText => "quarantine-package",
        }
    }

    /// The kind of its label.
    pub(super) fn kind(self) -> &'static str {
        match self {
            ForeignFile::Upload => "upload",
            ForeignFile::PackageText => "package",
        }
    }
}

/// Whether a name or a pattern for names may be that of a directory of uploads.
pub(super) fn is_uploads(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    // `*` and `**` stand for any directory, of which hardly one is for uploads.
    let is_particular = name.bytes().any(|byte| byte.is_ascii_alphanumeric());
    is_particular && FILES_UPLOADS.iter().any(|uploads| names_overlap(name.as_bytes(), uploads.as_bytes()))
}

/// The label of the output of a command line, if any of it is untrusted.
pub(super) fn source(command: &Quarantined<String>, event: &Event<'_>, config: &Config) -> Option<Label> {
    let ShellText { reading, effects, .. } = event.shell()?;
    // A command line that was not fully parsed may have fetched anything.
    if reading.exceeded.or(effects.exceeded).is_some() {
        return Some(Label::of("shell", ""));
    }
    let adds_remote = reading.commands.iter().any(own::adds_remote);
    let brings = |command: &Command| own::brings(command, adds_remote, config);
    if let Some(command) = reading.commands.iter().find(|command| brings(command)) {
        // It has no host, because the arguments may contain passwords.
        return Some(Label::of("shell", &command.program));
    }
    let searches = reading.commands.iter().any(|command| FILES_SEARCHERS.contains(&command.program.as_str()));
    effects.reads().iter().find_map(|path| {
        let resolved = AbsPath::resolve(path, &Place::default());
        if matches!(resolved.directories(), [dev, kind, ..] if dev == "dev" && (kind == "tcp" || kind == "udp")) {
            return Some(Label::of("shell", ""));
        }
        let searches_uploads = searches && resolved.components().last().is_some_and(|name| is_uploads(name));
        let foreign = if searches_uploads { Some(ForeignFile::Upload) } else { ForeignFile::of(&resolved) };
        let spilled = || (event.is_spilled)(&resolved, event.header.session.as_str()).then_some("spill");
        let kind = foreign.map(ForeignFile::kind).or_else(spilled)?;
        Some(Label::file(kind, &command.derive(path.clone(), ContentSource::ModelOutput)))
    })
}
