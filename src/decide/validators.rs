//! Validators: checks that patterns cannot express, one file each.

mod agent_recursion;
mod carried_data;
mod dependency_mutation;
mod destructive_delete;
mod disk;
mod dynamic_code;
mod environment_poisoning;
mod exfiltration;
mod fork_bomb;
mod hidden_program;
mod mcp_parameters;
mod mcp_unregistered;
mod mcp_write;
mod obfuscation;
mod outside_project;
mod protected_path;
mod secret_access;
mod self_protection;
mod unknown_executable;

pub use agent_recursion::AGENTS;
pub(crate) use exfiltration::Sources;

use crate::decide::applicable::ApplicableRules;
use crate::decide::subject::{Subject, SubjectKind};
use crate::event::Event;
use crate::path::zones::Zones;
use crate::path::{AbsPath, Glob};
use crate::policy::Config;
use crate::rules::{Match, Tier, ValidatorId};
use crate::shell::{Access, Command, Effects, Reading};

/// What a judgement may look at.
#[derive(Clone, Copy, Debug)]
pub struct Context<'a> {
    /// The call.
    pub event: &'a Event<'a>,
    /// The policy.
    pub config: &'a Config,
    /// Where it happens.
    pub zones: &'a Zones,
    /// The rules that are asked.
    pub(crate) applicable: &'a ApplicableRules<'a>,
    /// Files and directories that the operator keeps.
    pub(crate) sensitive: &'a [Glob<'a>],
    /// Those of them that no built-in exemption holds for.
    pub(crate) sensitive_own: &'a [Glob<'a>],
    /// Those of the guard itself.
    pub(crate) own: &'a [Glob<'a>],
    /// What commands print that others may send.
    pub(crate) sources: &'a Sources,
}

impl<'a> Context<'a> {
    fn reading(&self) -> Option<&'a Reading> {
        self.event.shell().map(|shell| &shell.reading)
    }

    fn effects(&self) -> Option<&'a Effects> {
        self.event.shell().map(|shell| &shell.effects)
    }
}

type Find = fn(&Subject<'_>, &Context<'_>) -> Option<Match>;

/// All validators by name, in order. A new validator is a file in this folder, a `mod` line and an entry here.
const ALL: [(&str, Find); 19] = [
    ("AgentRecursion", agent_recursion::find),
    ("CarriedData", carried_data::find),
    ("DependencyMutation", dependency_mutation::find),
    ("DestructiveDelete", destructive_delete::find),
    ("Disk", disk::find),
    ("DynamicCode", dynamic_code::find),
    ("EnvironmentPoisoning", environment_poisoning::find),
    ("Exfiltration", exfiltration::find),
    ("ForkBomb", fork_bomb::find),
    ("HiddenProgram", hidden_program::find),
    ("McpParameters", mcp_parameters::find),
    ("McpUnregistered", mcp_unregistered::find),
    ("McpWrite", mcp_write::find),
    ("Obfuscation", obfuscation::find),
    ("OutsideProject", outside_project::find),
    ("ProtectedPath", protected_path::find),
    ("SecretAccess", secret_access::find),
    ("SelfProtection", self_protection::find),
    ("UnknownExecutable", unknown_executable::find),
];

/// Runs a validator. One that is missing from [`ALL`] blocks: a test makes sure that none is.
pub(crate) fn find(validator: ValidatorId, subject: &Subject<'_>, context: &Context<'_>) -> Option<Match> {
    match ALL.get(validator.index()) {
        Some((_, find)) => find(subject, context),
        None => block(format!("the validator `{}` is missing", validator.name())),
    }
}

fn block(what: impl Into<String>) -> Option<Match> {
    Some(Match { tier: Tier::Block, what: what.into() })
}

fn suspicious(what: impl Into<String>) -> Option<Match> {
    Some(Match { tier: Tier::Suspicious, what: what.into() })
}

/// The command that touches a file, if one does.
fn command_of<'a>(access: &Access, context: &Context<'a>) -> Option<&'a Command> {
    context.reading().zip(access.row).and_then(|(reading, row)| reading.commands.get(row))
}

/// Whether a file belongs to the container that the command runs in.
fn is_contained(access: &Access, path: &AbsPath, context: &Context<'_>) -> bool {
    command_of(access, context).is_some_and(|command| command.is_contained(path))
}

/// The command that a unit is, if it is one.
fn command<'a>(subject: &Subject<'a>) -> Option<&'a Command> {
    match subject.subject {
        SubjectKind::Command(command, _) => Some(command),
        SubjectKind::Pipeline(_)
        | SubjectKind::Line
        | SubjectKind::Access(_)
        | SubjectKind::File(_)
        | SubjectKind::Page(_)
        | SubjectKind::Mcp
        | SubjectKind::Agent
        | SubjectKind::Passage(..) => None,
    }
}

#[cfg(test)]
#[path = "../../tests/unit/decide/validators.rs"]
mod tests;
