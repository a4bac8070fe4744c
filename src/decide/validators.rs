//! Validators: checks that patterns cannot express, one file each.
//!
//! A validator is a function `find` from a subject and its context to a match. It returns `block` for certain harm and
//! `suspicious` for possible harm.

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
mod inner_address;
mod install_script;
mod mcp_parameters;
mod mcp_unregistered;
mod mcp_write;
mod misplaced_program;
mod obfuscation;
mod outside_project;
mod protected_path;
mod secret_access;
mod self_protection;
mod tool_settings;
mod unknown_executable;
mod unknown_package;

pub use agent_recursion::is_agent_program;
pub(super) use carried_data::{MIN_ARGUMENT_CHARS, MIN_OPAQUE_CHARS, MIN_QUERY_CHARS, carries_data, is_data};
pub(super) use exfiltration::{DataSources, is_rerouted};
pub(super) use misplaced_program::Compiled;
pub(super) use secret_access::ShownParts;

use super::context::Context;
use super::subject::{Subject, SubjectKind};
use crate::path::zones::Area;
use crate::path::{AbsPath, Place};
use crate::rules::{Match, Tier, ValidatorId};
use crate::shell::{Access, Command};

/// The function of a validator.
type Find = fn(&Subject<'_>, &Context<'_>) -> Option<Match>;

/// The function of every file in this folder, in the order of [`ValidatorId::names`]; the build script writes the table.
const FUNCTIONS: &[Find] = include!(concat!(env!("OUT_DIR"), "/validator_functions.rs"));

// INVARIANT: a subject has one bit for each validator.
const _: () = assert!(FUNCTIONS.len() <= u32::BITS as usize);

/// Runs a validator.
pub(super) fn find(validator: ValidatorId, subject: &Subject<'_>, context: &Context<'_>) -> Option<Match> {
    match FUNCTIONS.get(validator.index()) {
        Some(find) => find(subject, context),
        None => block(format!("the validator `{}` is missing", validator.name())),
    }
}

fn block(reason: impl Into<String>) -> Option<Match> {
    Some(Match { tier: Tier::Block, reason: reason.into() })
}

fn suspicious(reason: impl Into<String>) -> Option<Match> {
    Some(Match { tier: Tier::Suspicious, reason: reason.into() })
}

fn block_if(condition: bool, reason: &'static str) -> Option<Match> {
    if condition { block(reason) } else { None }
}

fn suspicious_if(condition: bool, reason: &'static str) -> Option<Match> {
    if condition { suspicious(reason) } else { None }
}

/// The command that accesses a file, if one does.
fn command_of<'a>(access: &Access, context: &Context<'a>) -> Option<&'a Command> {
    context.reading().zip(access.row).and_then(|(reading, row)| reading.commands.get(row))
}

/// Whether a word that begins with an unknown variable names a file among temporary ones: `$TMPDIR/x`, or `/x` if the
/// variable is not set, which must not be a file of the system.
fn is_below_unknown_temp(access: &Access, context: &Context<'_>) -> bool {
    let name = |start: &&str| access.target.text.strip_prefix(*start);
    let Some(rest) = ["$TMPDIR/", "$TEMP/", "$TMP/", "$RUNNER_TEMP/"].iter().find_map(name) else { return false };
    let path = AbsPath::resolve(&format!("/{rest}"), &Place::default());
    let is_plain = path.components().first().is_some_and(|first| !first.contains(['*', '?', '[', '~']));
    is_plain && !rest.contains(['$', '`']) && !rest.contains("..") && context.zones.area(&path) == Area::Other
}

/// Whether a file is in the container that the accessing command runs in.
fn is_contained(access: &Access, path: &AbsPath, context: &Context<'_>) -> bool {
    command_of(access, context).is_some_and(|command| command.is_contained(path))
}

/// The command, if the subject is one.
fn command<'a>(subject: &Subject<'a>) -> Option<&'a Command> {
    if let SubjectKind::Command(command, _) = subject.kind { Some(command) } else { None }
}
