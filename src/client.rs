//! Clients: the programs that run the hook, one folder for each.
//!
//! Everything that is particular to a client is behind the trait [`Client`]: the form of its events and answers, where
//! its files lie, how the guard is registered in them and what in them disables it. Its methods are pure; the callers
//! read and write the files.

pub mod claude;
pub mod cline;
pub mod codex;
pub mod copilot;
pub mod described;
pub mod droid;
mod edit;
pub mod gemini;
pub mod kimi;
pub mod opencode;
pub mod qwen;
mod recognise;
pub mod registration;
pub mod server;
pub mod settings;

pub use recognise::{Caller, recognise};

use crate::encoding::json::Fields;
use crate::event::{EventError, Header, Message};
use crate::quarantined::Quarantined;
use crate::verdict::{Effect, Finding, Phase, Remedy, Verdict};
use registration::{Drift, PluginFiles, Registration};
use serde_json::{Map, Value};
use server::{Introduction, Launch, LaunchContext, PluginServers, ServerFile, ServerOrigin};
use settings::{FileError, Scope, Settings, SettingsDirs};
use std::collections::BTreeSet;
use std::fmt;
use std::path::{Path, PathBuf};

/// The bytes of an event and the fields in them, which are read once: an event may have many megabytes.
#[derive(Debug)]
pub struct Payload<'a> {
    input: &'a Quarantined<Vec<u8>>,
    fields: Fields<'a>,
}

impl<'a> Payload<'a> {
    /// Reads the fields of an event.
    pub fn read(input: &'a Quarantined<Vec<u8>>) -> Payload<'a> {
        Payload { input, fields: Fields::read(input.inspect("an event is read")) }
    }
}

/// A client that runs the hook.
pub trait Client: fmt::Debug + Sync {
    /// The name of the client, as `--client` takes it.
    fn name(&self) -> &'static str;

    /// The directories, files and variables of the client.
    fn locations(&self) -> &'static Locations;

    /// The name of the product.
    fn title(&self) -> &'static str;

    /// The names of the tools whose input is read, besides those of MCP servers.
    fn tools(&self) -> Vec<&'static str>;

    /// Parses one event.
    fn parse_payload<'a>(&self, payload: &Payload<'a>) -> Result<Message<'a>, EventError>;

    /// Parses one event that has not been read yet.
    fn parse<'a>(&self, input: &'a Quarantined<Vec<u8>>) -> Result<Message<'a>, EventError> {
        self.parse_payload(&Payload::read(input))
    }

    /// Builds the header of an event of which only the command line is known.
    fn header(&self, phase: Option<Phase>) -> Header;

    /// Renders a verdict in the form that the client takes.
    fn answer(&self, header: &Header, verdict: &Verdict) -> Answer;

    /// The input of the tool in an event, as JSON text, for its HMAC in the log; `None` if there is none or it is long.
    fn tool_input(&self, event: &Quarantined<Vec<u8>>) -> Option<Quarantined<Vec<u8>>>;

    /// What a line of a transcript records. `home` is the home directory, for inputs that the client completes.
    fn read_transcript(&self, line: &Quarantined<Vec<u8>>, home: Option<&str>) -> RecordedLine;

    /// Renders the event that the client sent to the hook for a recorded step.
    fn recorded_event(&self, place: &RecordedPlace<'_>, step: RecordedEvent<'_>) -> Quarantined<Vec<u8>>;

    /// Reads an answer back as the client does; `exit` is `None` where a signal ended the process.
    fn read_answer(&self, stdout: &str, exit: Option<i32>) -> ReadAnswer;

    /// Renders an event as the client sends it.
    fn sample_event(&self, sample: &SampleEvent<'_>) -> String;

    /// Whether [`Client::sample_event`] can render a call of this tool, and the client takes an answer to it.
    fn has_sample(&self, phase: Phase, tool: &str) -> bool;

    /// The settings file of a scope. `None` where the client has none, or where its directory is not known.
    fn settings_file(&self, scope: Scope, dirs: &SettingsDirs<'_>) -> Option<PathBuf>;

    /// Reads the text of a settings file.
    fn read_settings(&self, text: &str) -> Result<Settings, FileError>;

    /// Whether the text of a settings file sets a variable for hooks, or cannot be read and may do so.
    fn may_set_variable(&self, settings: &str, name: &str) -> bool;

    /// The line and column, from 1, of the value that the names in `steps` lead to.
    fn locate(&self, text: &str, steps: &[&str]) -> Option<(usize, usize)>;

    /// The text of a settings file with the entries of a registration in place of older entries of the guard.
    /// `before` is the text that the file had before the first entry was added, if it is known.
    fn install(&self, registration: &Registration, text: &str, before: Option<&str>) -> Result<String, FileError>;

    /// The text of a settings file without entries of the guard; `None` if the file did not exist before them.
    fn uninstall(&self, text: &str, before: Option<&str>) -> Result<Option<String>, FileError>;

    /// The differences between a settings file and what [`Client::install`] would write for the registration.
    fn drift(&self, wanted: &Registration, text: &str) -> Result<Vec<Drift>, FileError>;

    /// What a settings file takes away from the guard that is registered in it, one line each.
    fn losses(&self, registration: &Registration, text: &str) -> Result<Vec<String>, FileError>;

    /// Why the client does not run the hooks of a settings file, and what to do; `read` returns the text of a file.
    fn obstacle(
        &self,
        file: &Path,
        text: &str,
        read: &mut dyn FnMut(&Path) -> Option<String>,
    ) -> Option<(String, &'static str)>;

    /// What the client does not do.
    fn unsupported(&self) -> &'static [described::Unsupported];

    /// The other files that register the guard, beside the settings file: names and texts.
    fn scripts(&self, registration: &Registration) -> Vec<(&'static str, String)>;

    /// The files of a plugin that registers the guard.
    fn plugin(&self, registration: &Registration) -> Result<PluginFiles, FileError>;

    /// Whether a plugin that is installed and enabled for `here` may answer permission prompts in place of the user.
    /// `read` returns the text of a file.
    fn plugins_answer_prompts(
        &self,
        dirs: &SettingsDirs<'_>,
        here: &Path,
        read: &mut dyn FnMut(&Path) -> Option<String>,
    ) -> bool;

    /// Files below the client's directory that come with a registration for a user, with their texts.
    fn user_files(&self, registration: &Registration) -> Vec<(&'static str, String)> {
        let _ = registration;
        Vec::new()
    }

    /// The text of a settings file with the guard's line in the client's status bar; `None` if there is another one, or if
    /// the client has no status bar.
    fn with_status_line(&self, registration: &Registration, text: &str) -> Result<Option<String>, FileError> {
        let _ = (registration, text);
        Ok(None)
    }

    /// Whether the text of a plugin's manifest is that of the plugin that [`Client::plugin`] writes.
    fn is_own_plugin(&self, manifest: &str) -> bool;

    /// The files that may hold a user's MCP servers. The first that exists counts, or else the last.
    fn user_server_files(&self, client_dir: &Path, home: Option<&Path>) -> Vec<PathBuf>;

    /// The MCP servers in a file. `projects` are the directories whose own sections are read too.
    fn servers(&self, text: &str, projects: &[&str]) -> ServerFile;

    /// Renders a file with these MCP servers, by name, as [`Client::servers`] reads it.
    fn render_servers(&self, servers: &Map<String, Value>) -> String;

    /// The MCP servers of plugins that are installed and enabled for `here`. `read` returns the text of a file.
    fn plugin_servers(
        &self,
        dirs: &SettingsDirs<'_>,
        here: &Path,
        read: &mut dyn FnMut(&Path) -> Option<String>,
    ) -> PluginServers;

    /// Where the client found a server, from the word that its event has for it.
    fn server_origin(&self, source: &str) -> ServerOrigin;

    /// Expands variables in a launch, as the client does before it starts the server.
    fn expand(&self, launch: &Launch, context: &LaunchContext<'_>) -> Launch;

    /// The variables that the client adds to the environment of a server.
    fn server_environment(&self, context: &LaunchContext<'_>) -> Vec<(&'static str, String)>;

    /// The text of a file with `program` as the command of the server that `steps` lead to, and `words` before its
    /// arguments.
    fn wrap_server(&self, text: &str, steps: &[&str], program: &str, words: &[String]) -> Result<String, FileError>;

    /// The inverse of [`Client::wrap_server`]: `program` is the command again, and `count` arguments are removed.
    fn unwrap_server(&self, text: &str, steps: &[&str], program: &str, count: usize) -> Result<String, FileError>;

    /// Splits a name of which only the servers' names tell where the tool begins: the server, and the tool. `None` if no
    /// server has that name, or if the client has no such names.
    fn split_call(&self, name: &str, servers: &[String]) -> Option<(String, String)>;

    /// How the client introduces itself to MCP servers.
    fn introduction(&self) -> Introduction;

    /// The name of an MCP server in the names of calls, `mcp__<server>__<tool>`.
    fn server_name_in_calls(&self, server: &str) -> String;
}

/// Directories, files and variables of a client that do not depend on the machine.
#[derive(Debug)]
pub struct Locations {
    /// The variable that names the client's directory.
    pub dir_variable: &'static str,
    /// The client's directory below the home directory, if no variable names one.
    pub default_dir: &'static str,
    /// The variable in which hooks are told the project's directory.
    pub project_variable: Option<&'static str>,
    /// The environment variable that is `0` if the client runs headless.
    pub attended_variable: Option<&'static str>,
    /// The variable in which programs are told the session.
    pub session_variable: Option<&'static str>,
    /// The directory of the machine's settings, which no user and no project can override.
    pub managed_dir: &'static str,
    /// The directory below `managed_dir` with further settings files.
    pub managed_fragments: &'static str,
    /// The file below `managed_dir` that names MCP servers; if it exists, there are no others.
    pub managed_servers: &'static str,
    /// The MCP servers that the client itself provides, in no file.
    pub own_servers: &'static [OwnServer],
    /// The file in a project that names MCP servers.
    pub project_servers: &'static str,
    /// The settings files in the client's directory.
    pub settings_names: &'static [&'static str],
    /// The format of settings files, in words.
    pub settings_format: &'static str,
    /// The command that starts the client with hooks although its settings disable them.
    pub enabling_command: &'static str,
    /// The name of the client's program.
    pub program: &'static str,
    /// The oldest version of the client that understands the registered entries.
    pub minimum_version: [u32; 3],
    /// The transcripts of a session below the client's directory: `*` is any name, `{session}` the session.
    pub transcripts: &'static [&'static str],
    /// Texts of which every line of a transcript that is read has one; empty if all lines are read.
    pub transcript_marks: &'static [&'static str],
    /// A part of the path of the client's program, where the file itself has another name than the client.
    pub program_path: Option<&'static str>,
}

impl Locations {
    /// Nothing but the usual file of a project's servers; for the fields that a client does not set.
    pub const NONE: Locations = Locations {
        dir_variable: "",
        default_dir: "",
        project_variable: None,
        attended_variable: None,
        session_variable: None,
        managed_dir: "",
        managed_fragments: "",
        managed_servers: "",
        own_servers: &[],
        project_servers: ".mcp.json",
        settings_names: &[],
        settings_format: "",
        enabling_command: "",
        program: "",
        minimum_version: [0, 0, 0],
        transcripts: &[],
        transcript_marks: &[],
        program_path: None,
    };
}

/// A line of a client's transcript.
#[derive(Debug, Default)]
pub struct RecordedLine {
    /// When it was written, in RFC 3339; empty if it does not say so.
    pub time: String,
    /// The working directory.
    pub cwd: String,
    /// The permission mode, where the line names it.
    pub mode: String,
    /// Whether it was copied from another session, in which the hook has judged it.
    pub is_copy: bool,
    /// The prompt, calls and results in it, in order.
    pub steps: Vec<RecordedStep>,
}

/// Something that the hook is run for.
#[derive(Debug)]
pub enum RecordedStep {
    /// What the user typed.
    Prompt(Quarantined<String>),
    /// A call, before it ran.
    Call(RecordedCall),
    /// What became of a call.
    Result(RecordedResult),
}

/// What became of a recorded call.
#[derive(Debug)]
pub struct RecordedResult {
    /// The client's name for the call.
    pub call: String,
    /// Whether it ran.
    pub outcome: Outcome,
    /// The result or the error as JSON text.
    pub content: Quarantined<Vec<u8>>,
}

/// Whether a recorded call ran.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It ran.
    Done,
    /// It ran and failed.
    Failed,
    /// A person, a rule or a hook stopped it, so no hook ran after it.
    Refused,
}

/// Where and how a recorded step took place.
#[derive(Clone, Copy, Debug)]
pub struct RecordedPlace<'a> {
    /// The session.
    pub session: &'a str,
    /// The working directory.
    pub cwd: &'a str,
    /// The permission mode; may be empty.
    pub mode: &'a str,
}

/// A recorded step with what its event needs of earlier ones.
#[derive(Clone, Copy, Debug)]
pub enum RecordedEvent<'a> {
    /// A prompt.
    Prompt(&'a Quarantined<String>),
    /// Before a call.
    Before(&'a RecordedCall),
    /// After a call.
    After(&'a RecordedCall, &'a RecordedResult),
}

/// A call as the client's transcript has it.
#[derive(Debug)]
pub struct RecordedCall {
    /// The client's name for the call.
    pub id: String,
    /// The name of the tool.
    pub tool: String,
    /// The working directory.
    pub cwd: String,
    /// What the tool is asked to do, for people: the command, the file or the address.
    pub text: Quarantined<String>,
    /// The input as JSON text: as recorded, and as the client may have completed it for the hook.
    pub inputs: Vec<Quarantined<Vec<u8>>>,
}

/// An MCP server that a client itself provides.
#[derive(Debug)]
pub struct OwnServer {
    /// Its name.
    pub name: &'static str,
    /// Those of its tools that run code. No rule reads the code, so these are not known.
    pub runs_code: &'static [&'static str],
}

/// All clients. A new client is a file beside this one, an entry here, and a row in `recognise.rs`.
pub static ALL: [&dyn Client; 9] = [
    DEFAULT,
    &codex::CODEX,
    &gemini::GEMINI,
    &qwen::QWEN,
    &copilot::COPILOT,
    &opencode::OPENCODE,
    &droid::DROID,
    &cline::CLINE,
    &kimi::KIMI,
];

/// Any other program that runs the hook. Before a call, its answer is one that blocks in all known clients.
pub static UNKNOWN: described::Described = described::Described {
    name: "unknown",
    title: "an unknown client",
    locations: &Locations { default_dir: ".claude", ..Locations::NONE },
    names: &[described::Names::COMMON],
    events: &[],
    tools: &[],
    mcp: described::McpNames::COMMON,
    can: described::Can {
        deny: r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":%},"decision":"deny","reason":%,"permissionDecision":"deny","permissionDecisionReason":%,"permission":"deny","user_message":%,"agent_message":%,"cancel":true,"errorMessage":%}"#,
        deny_exit: Answer::BLOCKED,
        ..described::Can::NOTHING
    },
    unsupported: &[],
    place: described::Place { user: "", project: "", form: described::Form::Entries, events: &[], switch: None },
    obstacle: None,
    transcript: None,
    servers: described::Servers { file: "", member: "" },
    sample: "{}",
};

/// The client of a command line that names none.
pub const DEFAULT: &dyn Client = &claude::Claude;

/// The client of this name.
pub fn named(name: &str) -> Option<&'static dyn Client> {
    ALL.iter().copied().find(|client| client.name() == name)
}

/// An answer of the hook, in the form of one client.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Answer {
    /// One JSON object, or nothing where there is no opinion.
    pub stdout: Option<String>,
    /// A diagnostic for people and logs.
    pub stderr: Option<String>,
    /// The exit code.
    pub exit: u8,
}

impl Answer {
    /// The exit code that blocks a call.
    pub const BLOCKED: u8 = 2;

    /// The answer where no JSON can be given: exit code 2 blocks, and the reason goes to stderr.
    pub fn blocked(verdict: &Verdict) -> Answer {
        Answer { stdout: None, stderr: Some(for_model(verdict)), exit: Self::BLOCKED }
    }
}

/// An answer as the client understands it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadAnswer {
    /// What the client does.
    pub response: Response,
    /// The text that the model is shown besides the result.
    pub context: Option<String>,
    /// The result that replaces that of the tool.
    pub replacement: Option<Value>,
}

/// What a client does on an answer, mildest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Response {
    /// It runs the call without its own permission check.
    Allow,
    /// It proceeds as without a hook.
    Nothing,
    /// It shows a text to the model.
    Advise,
    /// It asks the user.
    Ask,
    /// It refuses the call.
    Deny,
    /// It cannot read the answer.
    Invalid,
}

/// An event to be rendered in the form of a client. The tool and its input have the names that rules have for them.
#[derive(Clone, Debug)]
pub struct SampleEvent<'a> {
    /// The session.
    pub session: &'a str,
    /// The directory of the call.
    pub cwd: &'a str,
    /// When the client runs the hook. In a phase that is not about a call, the fields below are not used.
    pub phase: Phase,
    /// The tool.
    pub tool: &'a str,
    /// The input of the tool.
    pub input: Value,
    /// The result, after the call.
    pub result: Option<Value>,
}

/// Findings that are shown before a call.
const MAX_SHOWN_FINDINGS: usize = 3;

/// Texts about a result that are shown: the notice, and the rules that its content matches.
const MAX_SHOWN_NOTICES: usize = 8;

/// The lines of a text for a person.
fn for_person(verdict: &Verdict) -> String {
    let lines = [reasons(verdict, ": `rune explain --last`"), safer(verdict)].concat();
    lines.into_iter().chain(way_to_allow(verdict)).collect::<Vec<_>>().join("\n")
}

/// The commands by which a person allows the call.
fn way_to_allow(verdict: &Verdict) -> Option<String> {
    let commands: Vec<&str> = remedies(verdict)?.into_iter().map(Remedy::command).collect();
    Some(format!("Allow (you, in a terminal): {}", commands.join("; ")))
}

/// The lines of a text for a model, which may also be shown to a person.
fn for_model(verdict: &Verdict) -> String {
    let lines = [reasons(verdict, ""), safer(verdict)].concat();
    let remedy = remedies(verdict).map(|remedies| {
        let commands: BTreeSet<String> = remedies.into_iter().map(|remedy| format!("`{}`", remedy.lookup())).collect();
        format!("A person can allow this: {}", commands.into_iter().collect::<Vec<_>>().join(", "))
    });
    lines.into_iter().chain(remedy).collect::<Vec<_>>().join("\n")
}

/// One line for each of the findings that decide, and the number of those that are not shown, with `lookup` behind it.
fn reasons(verdict: &Verdict, lookup: &str) -> Vec<String> {
    let line = |finding: &Finding| {
        let reason = finding.reason();
        let end = if reason.ends_with(['.', '!', '?', '…']) { "" } else { "." };
        Some(format!("Rune ({}): {reason}{end}", finding.rule()))
    };
    let all = lines(verdict, line);
    let hidden = all.len().saturating_sub(MAX_SHOWN_FINDINGS);
    let more = (hidden > 0).then(|| {
        let findings = if hidden == 1 { "finding" } else { "findings" };
        format!("and {hidden} more {findings}{lookup}")
    });
    all.into_iter().take(MAX_SHOWN_FINDINGS).chain(more).collect()
}

/// The alternatives to the findings that are shown.
fn safer(verdict: &Verdict) -> Vec<String> {
    let nudges = lines(verdict, |finding| finding.nudge().map(|nudge| format!("Safer: {nudge}")));
    nudges.into_iter().take(MAX_SHOWN_FINDINGS).collect()
}

/// What a person can do so that a stopped call passes; `None` if one of the findings must hold.
fn remedies(verdict: &Verdict) -> Option<BTreeSet<Remedy>> {
    let stopping = verdict.findings().iter().filter(|finding| finding.effect() >= Effect::Ask);
    let remedies: BTreeSet<Remedy> = stopping.map(Finding::remedy).collect::<Option<_>>()?;
    Some(remedies).filter(|remedies| !remedies.is_empty())
}

/// A line for each of the findings that decide, without duplicates.
fn lines(verdict: &Verdict, line: impl Fn(&Finding) -> Option<String>) -> Vec<String> {
    let mut seen = BTreeSet::new();
    verdict.deciding().filter_map(line).filter(|line| seen.insert(line.clone())).collect()
}

/// The reasons of the findings that decide, as context for a model.
fn context(verdict: &Verdict) -> String {
    let all = lines(verdict, |finding| Some(finding.reason().to_owned()));
    let hidden = all.len().saturating_sub(MAX_SHOWN_NOTICES);
    let more = (hidden > 0).then(|| format!("and {hidden} more findings"));
    all.into_iter().take(MAX_SHOWN_NOTICES).chain(more).collect::<Vec<_>>().join("\n")
}
