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
use crate::verdict::{Finding, Phase, Verdict};
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

    /// The calls in a line of a transcript. `home` is the home directory, for inputs that the client completes.
    fn recorded_calls(&self, line: &Quarantined<Vec<u8>>, home: Option<&str>) -> Vec<RecordedCall>;

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
    /// What every line of a transcript with a call contains.
    pub call_mark: &'static str,
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
        call_mark: "",
        program_path: None,
    };
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
        Answer { stdout: None, stderr: Some(reasons(verdict)), exit: Self::BLOCKED }
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

/// The number of findings that are shown.
const MAX_SHOWN_FINDINGS: usize = 8;

/// One line for each of the findings that decide, and the number of those that are not shown.
fn lines(verdict: &Verdict, line: impl Fn(&Finding) -> Option<String>) -> String {
    let effect = verdict.effect();
    let mut seen = BTreeSet::new();
    let deciding = verdict.distinct().into_iter().filter(|finding| finding.effect() == effect);
    let mut lines: Vec<String> = deciding.filter_map(line).filter(|line| seen.insert(line.clone())).collect();
    let hidden = lines.len().saturating_sub(MAX_SHOWN_FINDINGS);
    lines.truncate(MAX_SHOWN_FINDINGS);
    if hidden > 0 {
        lines.push(format!("and {hidden} more findings"));
    }
    lines.join("\n")
}

/// The reasons of the findings that decide, each with its rule.
fn reasons(verdict: &Verdict) -> String {
    lines(verdict, |finding| Some(format!("Rune ({}): {}", finding.rule(), finding.reason())))
}

/// The alternatives that the findings that decide propose.
fn nudges(verdict: &Verdict) -> String {
    lines(verdict, |finding| finding.nudge().map(str::to_owned))
}

/// The reasons of the findings that decide, as context for a model.
fn context(verdict: &Verdict) -> String {
    lines(verdict, |finding| Some(finding.reason().to_owned()))
}
