//! The context of a judgement: what rules and validators may read besides the subject itself.

use super::applicable::ApplicableRules;
use super::validators::{Compiled, DataSources, ShownParts};
use crate::event::Event;
use crate::path::zones::Zones;
use crate::path::{AbsPath, Glob};
use crate::policy::Config;
use crate::programs::{self, Entry};
use crate::shell::{Effects, Reading};
use crate::verdict::Finding;
use crate::verdict::failure::Failure;
use crate::verdict::limits::Limit;
use compact_str::CompactString;
use std::cell::{Cell, OnceCell};

/// The event, the policy, and what is derived from them once for all subjects of the event.
#[derive(Debug)]
pub struct Context<'a> {
    /// The event.
    pub event: &'a Event<'a>,
    /// The policy.
    pub config: &'a Config,
    /// The project, home and temporary directories of the event.
    pub zones: Zones,
    /// An entry of `paths.work` that contains home, the project or a vital directory.
    pub(super) invalid_work: Option<AbsPath>,
    /// The rules that apply to the event.
    pub(super) applicable: ApplicableRules<'a>,
    /// Sensitive paths of the policy.
    pub(super) sensitive: Vec<Glob<'a>>,
    /// Sensitive paths that the operator added to the embedded list. Built-in exemptions do not apply to them.
    pub(super) operator_sensitive: Vec<Glob<'a>>,
    /// Files and directories of the guard itself.
    pub(super) guard_files: Vec<Glob<'a>>,
    /// Commands of the shell text whose output others may send.
    pub(super) data_sources: DataSources,
    /// What compilers in the shell text make.
    pub(super) compiled: OnceCell<Compiled>,
    /// What the commands of the shell text show of the files that they read.
    pub(super) shown_parts: OnceCell<ShownParts>,
    /// Whether a patch adds scripts to a manifest that run when the project is installed.
    pub(super) patch_adds_script: OnceCell<bool>,
    /// A limit that a validator has exceeded.
    pub(super) exceeded: Cell<Option<&'static Limit>>,
}

impl<'a> Context<'a> {
    /// Derives the context of an event.
    pub fn new(event: &'a Event<'a>, config: &'a Config) -> Self {
        let globs = |texts: &'a [CompactString]| texts.iter().map(|text| Glob::new(text)).collect();
        let resolve = |text: &str| AbsPath::resolve(text, &event.place);
        let mut zones = Zones::of(&event.place);
        for worktree in &event.facts.worktrees {
            // A worktree that contains the home directory or the project is ignored.
            zones.add_work(resolve(worktree)).ok();
        }
        let (zones, invalid_work) = match zones.clone().with_work(config.work.iter().map(|text| resolve(text))) {
            Ok(zones) => (zones, None),
            Err(directory) => (zones, Some(directory)),
        };
        Context {
            event,
            config,
            zones,
            invalid_work,
            applicable: ApplicableRules::of(event, config),
            sensitive: globs(&config.sensitive),
            operator_sensitive: globs(&config.operator_sensitive),
            guard_files: event.facts.guard_paths.iter().map(|text| Glob::new(text)).collect(),
            data_sources: DataSources::default(),
            compiled: OnceCell::new(),
            shown_parts: OnceCell::new(),
            patch_adds_script: OnceCell::new(),
            exceeded: Cell::new(None),
        }
    }

    /// Builds the finding for a failure to judge this event.
    pub(super) fn failure(&self, failure: &Failure) -> Finding {
        failure.finding(Some(self.event.phase), self.config.failure)
    }

    /// The parsed shell text of the event.
    pub(super) fn reading(&self) -> Option<&'a Reading> {
        self.event.shell().map(|shell| &shell.reading)
    }

    /// The catalogue's entry of a program.
    pub(super) fn entry(&self, program: &str) -> Option<&'static Entry> {
        self.reading().map_or_else(|| programs::embedded(program), |reading| reading.catalogue().find(program))
    }

    /// What the shell text of the event does to files, variables and the network.
    pub(super) fn effects(&self) -> Option<&'a Effects> {
        self.event.shell().map(|shell| &shell.effects)
    }
}
