//! Validators: what no pattern can find. A closed list, compiled in, one file each.

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

use crate::decide::applicable::Docket;
use crate::decide::subject::{Subject, Unit};
use crate::event::Event;
use crate::path::zones::Ground;
use crate::path::{AbsPath, Glob};
use crate::policy::Config;
use crate::rules::{Found, Tier};
use crate::shell::{Access, Command, Effects, Reading};

/// What a judgement may look at.
#[derive(Clone, Copy, Debug)]
pub struct Scene<'a> {
    /// The call.
    pub event: &'a Event<'a>,
    /// The policy.
    pub config: &'a Config,
    /// Where it happens.
    pub ground: &'a Ground,
    /// The rules that are asked.
    pub(crate) docket: &'a Docket<'a>,
    /// Files and directories that the operator keeps.
    pub(crate) sensitive: &'a [Glob<'a>],
    /// Those of them that no built-in exemption holds for.
    pub(crate) sensitive_own: &'a [Glob<'a>],
    /// Those of the guard itself.
    pub(crate) own: &'a [Glob<'a>],
    /// What commands print that others may send.
    pub(crate) sources: &'a Sources,
}

impl<'a> Scene<'a> {
    fn reading(&self) -> Option<&'a Reading> {
        self.event.shell().map(|shell| &shell.reading)
    }

    fn effects(&self) -> Option<&'a Effects> {
        self.event.shell().map(|shell| &shell.effects)
    }
}

/// A check by program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Validator {
    /// Agents that are started without their guard, or with what strangers wrote.
    AgentRecursion,
    /// Addresses and headers that carry data.
    CarriedData,
    /// Dependencies that an edit adds, removes or changes.
    DependencyMutation,
    /// Deletions, by what they would delete.
    DestructiveDelete,
    /// Writing to a disk past its file system.
    Disk,
    /// Code that is only put together when it runs.
    DynamicCode,
    /// Variables that change what other programs do.
    EnvironmentPoisoning,
    /// Data that leaves the machine.
    Exfiltration,
    /// A function that starts itself without end.
    ForkBomb,
    /// Programs that run by an option or a line of code.
    HiddenProgram,
    /// Shell text where an MCP server expects a name.
    McpParameters,
    /// MCP servers and tools that nobody has registered.
    McpUnregistered,
    /// MCP tools that write, in a session that has read what others sent.
    McpWrite,
    /// Long encoded texts.
    Obfuscation,
    /// Files outside of the project that are written.
    OutsideProject,
    /// Files that nobody should write on the way.
    ProtectedPath,
    /// Secret files and variables that are read or sent.
    SecretAccess,
    /// What keeps the guard in place.
    SelfProtection,
    /// Programs that nobody has allowed.
    UnknownExecutable,
}

impl Validator {
    /// All of them by name.
    pub const ALL: [(&'static str, Validator); 19] = [
        ("AgentRecursion", Validator::AgentRecursion),
        ("CarriedData", Validator::CarriedData),
        ("DependencyMutation", Validator::DependencyMutation),
        ("DestructiveDelete", Validator::DestructiveDelete),
        ("Disk", Validator::Disk),
        ("DynamicCode", Validator::DynamicCode),
        ("EnvironmentPoisoning", Validator::EnvironmentPoisoning),
        ("Exfiltration", Validator::Exfiltration),
        ("ForkBomb", Validator::ForkBomb),
        ("HiddenProgram", Validator::HiddenProgram),
        ("McpParameters", Validator::McpParameters),
        ("McpUnregistered", Validator::McpUnregistered),
        ("McpWrite", Validator::McpWrite),
        ("Obfuscation", Validator::Obfuscation),
        ("OutsideProject", Validator::OutsideProject),
        ("ProtectedPath", Validator::ProtectedPath),
        ("SecretAccess", Validator::SecretAccess),
        ("SelfProtection", Validator::SelfProtection),
        ("UnknownExecutable", Validator::UnknownExecutable),
    ];

    /// The validator of this name.
    pub fn named(name: &str) -> Option<Validator> {
        Self::ALL.iter().find(|(known, _)| *known == name).map(|(_, validator)| *validator)
    }

    /// Its place in a set.
    pub(crate) fn bit(self) -> u32 {
        1 << self as u32
    }

    /// What it finds in a unit.
    pub fn find(self, unit: &Unit<'_>, scene: &Scene<'_>) -> Option<Found> {
        match self {
            Validator::AgentRecursion => agent_recursion::find(unit, scene),
            Validator::CarriedData => carried_data::find(unit, scene),
            Validator::DependencyMutation => dependency_mutation::find(unit, scene),
            Validator::DestructiveDelete => destructive_delete::find(unit, scene),
            Validator::Disk => disk::find(unit, scene),
            Validator::DynamicCode => dynamic_code::find(unit, scene),
            Validator::EnvironmentPoisoning => environment_poisoning::find(unit, scene),
            Validator::Exfiltration => exfiltration::find(unit, scene),
            Validator::ForkBomb => fork_bomb::find(unit, scene),
            Validator::HiddenProgram => hidden_program::find(unit, scene),
            Validator::McpParameters => mcp_parameters::find(unit, scene),
            Validator::McpUnregistered => mcp_unregistered::find(unit, scene),
            Validator::McpWrite => mcp_write::find(unit, scene),
            Validator::Obfuscation => obfuscation::find(unit, scene),
            Validator::OutsideProject => outside_project::find(unit, scene),
            Validator::ProtectedPath => protected_path::find(unit, scene),
            Validator::SecretAccess => secret_access::find(unit, scene),
            Validator::SelfProtection => self_protection::find(unit, scene),
            Validator::UnknownExecutable => unknown_executable::find(unit, scene),
        }
    }
}

fn block(what: impl Into<String>) -> Option<Found> {
    Some(Found { tier: Tier::Block, what: what.into() })
}

fn suspicious(what: impl Into<String>) -> Option<Found> {
    Some(Found { tier: Tier::Suspicious, what: what.into() })
}

/// The command that touches a file, if one does.
fn command_of<'a>(access: &Access, scene: &Scene<'a>) -> Option<&'a Command> {
    scene.reading().zip(access.row).and_then(|(reading, row)| reading.commands.get(row))
}

/// Whether a file belongs to the container that the command runs in.
fn is_contained(access: &Access, path: &AbsPath, scene: &Scene<'_>) -> bool {
    command_of(access, scene).is_some_and(|command| command.is_contained(path))
}

/// The command that a unit is, if it is one.
fn command<'a>(unit: &Unit<'a>) -> Option<&'a Command> {
    match unit.subject {
        Subject::Command(command, _) => Some(command),
        Subject::Pipeline(_)
        | Subject::Line
        | Subject::Access(_)
        | Subject::File(_)
        | Subject::Page(_)
        | Subject::Mcp
        | Subject::Agent
        | Subject::Passage(..) => None,
    }
}
