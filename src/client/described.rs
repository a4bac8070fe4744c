//! Clients that are described by data: where their events have things, what their tools do, and the form of each answer.
//!
//! [`Claude`](super::claude::Claude) implements the trait in code, because it has settings layers, plugins and stored
//! results, which the other clients do not have. Every other client is a static [`Described`].

mod answer;
mod entries;
mod event;
mod sample;
mod servers;
mod tables;
mod transcript;

pub use answer::{Can, Unsupported};
pub use entries::{Form, Place};
pub use servers::Servers;
pub use tables::{Does, McpNames, Names};
pub use transcript::Transcript;

use super::claude::locate::locate;
use super::registration::{Drift, PluginFiles, Registration};
use super::server::{Introduction, Launch, LaunchContext, PluginServers, ServerFile, ServerOrigin};
use super::settings::{FileError, Scope, Settings, SettingsDirs};
use super::{
    Answer, Client, Locations, Outcome, Payload, ReadAnswer, RecordedEvent, RecordedLine, RecordedPlace, RecordedStep,
    SampleEvent,
};
use crate::encoding::label::Label;
use crate::event::{EventError, Header, Message};
use crate::mcp::tool::sanitize_name;
use crate::quarantined::{ContentSource, Quarantined};
use crate::verdict::{Phase, Verdict};
use serde_json::{Map, Value, json};
use std::path::{Path, PathBuf};

/// Finds out why a client does not run the hooks of a settings file, and what to do: the file, its text, and how to read
/// another file.
pub type Obstacle = fn(&Path, &str, &mut dyn FnMut(&Path) -> Option<String>) -> Option<(String, &'static str)>;

/// A client that is described by data.
#[derive(Debug)]
pub struct Described {
    /// The name of the client, as `--client` takes it.
    pub name: &'static str,
    /// The name of the product.
    pub title: &'static str,
    /// The directories, files and variables of the client.
    pub locations: &'static Locations,
    /// Where its payloads have things: one for each shape.
    pub names: &'static [Names],
    /// Its events. One that is not listed is not judged, unless it names a tool.
    pub events: &'static [(&'static str, Phase)],
    /// Its tools: the names, with blanks between them, and what they do.
    pub tools: &'static [(&'static str, Does)],
    /// How it names the tools of MCP servers.
    pub mcp: McpNames,
    /// What it can express.
    pub can: Can,
    /// What it does not do, and what the guard does in place of it.
    pub unsupported: &'static [Unsupported],
    /// Where and how the guard is registered in it.
    pub place: Place,
    /// Why the client does not run the hooks of a settings file, and what to do.
    pub obstacle: Option<Obstacle>,
    /// The calls in its transcripts.
    pub transcript: Option<Transcript>,
    /// The user's MCP servers.
    pub servers: Servers,
    /// Fields of its payloads by which it is recognised, as JSON.
    pub sample: &'static str,
}

impl Client for Described {
    fn name(&self) -> &'static str {
        self.name
    }

    fn locations(&self) -> &'static Locations {
        self.locations
    }

    fn title(&self) -> &'static str {
        self.title
    }

    fn tools(&self) -> Vec<&'static str> {
        self.tools.iter().flat_map(|(names, _)| names.split(' ')).collect()
    }

    fn parse_payload<'a>(&self, payload: &Payload<'a>) -> Result<Message<'a>, EventError> {
        self.parse_event(payload)
    }

    fn header(&self, phase: Option<Phase>) -> Header {
        Header { phase, moment: Label::new(self.event_name(phase)), ..Header::default() }
    }

    fn answer(&self, header: &Header, verdict: &Verdict) -> Answer {
        self.render(header, verdict)
    }

    fn tool_input(&self, event: &Quarantined<Vec<u8>>) -> Option<Quarantined<Vec<u8>>> {
        self.input_of(event)
    }

    fn read_transcript(&self, line: &Quarantined<Vec<u8>>, _home: Option<&str>) -> RecordedLine {
        let calls = self.transcript.map(|transcript| transcript.calls(line)).unwrap_or_default();
        RecordedLine { steps: calls.into_iter().map(RecordedStep::Call).collect(), ..RecordedLine::default() }
    }

    fn recorded_event(&self, place: &RecordedPlace<'_>, step: RecordedEvent<'_>) -> Quarantined<Vec<u8>> {
        let (phase, call, result) = match step {
            RecordedEvent::Prompt(_) => (Phase::Prompt, None, None),
            RecordedEvent::Before(call) => (Phase::Before, Some(call), None),
            RecordedEvent::After(call, result) if result.outcome == Outcome::Failed => {
                (Phase::Failed, Some(call), Some(result))
            }
            RecordedEvent::After(call, result) => (Phase::After, Some(call), Some(result)),
        };
        let parse = |content: &Quarantined<Vec<u8>>| {
            serde_json::from_slice::<Value>(content.inspect("a call is judged again")).unwrap_or_default()
        };
        let event = self.sample(&SampleEvent {
            session: place.session,
            cwd: place.cwd,
            phase,
            tool: call.map_or("", |call| call.tool.as_str()),
            input: call.and_then(|call| call.inputs.last()).map(parse).unwrap_or_default(),
            result: result.map(|result| parse(&result.content)),
        });
        let event = event.into_bytes();
        match (step, result) {
            (RecordedEvent::Prompt(prompt), _) => prompt.derive(event, ContentSource::UserInput),
            (_, Some(result)) => result.content.derive(event, ContentSource::ToolOutput),
            (RecordedEvent::Before(call) | RecordedEvent::After(call, _), None) => {
                call.text.derive(event, ContentSource::ModelOutput)
            }
        }
    }

    fn read_answer(&self, stdout: &str, exit: Option<i32>) -> ReadAnswer {
        self.read(stdout, exit)
    }

    fn sample_event(&self, sample: &SampleEvent<'_>) -> String {
        self.sample(sample)
    }

    fn has_sample(&self, phase: Phase, tool: &str) -> bool {
        let input = json!({"command": "", "file_path": "", "content": "", "url": ""});
        self.native(tool, &input).is_some() && (phase == Phase::Before || self.can.note.is_some())
    }

    fn settings_file(&self, scope: Scope, dirs: &SettingsDirs<'_>) -> Option<PathBuf> {
        self.settings_path(scope, dirs)
    }

    fn read_settings(&self, text: &str) -> Result<Settings, FileError> {
        self.summary(text)
    }

    fn may_set_variable(&self, _settings: &str, _name: &str) -> bool {
        // None of these clients sets variables for hooks from a settings file.
        false
    }

    fn locate(&self, text: &str, steps: &[&str]) -> Option<(usize, usize)> {
        locate(text, steps)
    }

    fn install(&self, registration: &Registration, text: &str, before: Option<&str>) -> Result<String, FileError> {
        self.with_entries(registration, text, before)
    }

    fn uninstall(&self, text: &str, before: Option<&str>) -> Result<Option<String>, FileError> {
        self.without_entries(text, before)
    }

    fn drift(&self, wanted: &Registration, text: &str) -> Result<Vec<Drift>, FileError> {
        self.differences(wanted, text)
    }

    fn losses(&self, registration: &Registration, text: &str) -> Result<Vec<String>, FileError> {
        self.lost(registration, text)
    }

    fn obstacle(
        &self,
        file: &Path,
        text: &str,
        read: &mut dyn FnMut(&Path) -> Option<String>,
    ) -> Option<(String, &'static str)> {
        self.obstacle?(file, text, read)
    }

    fn unsupported(&self) -> &'static [Unsupported] {
        self.unsupported
    }

    fn scripts(&self, registration: &Registration) -> Vec<(&'static str, String)> {
        self.other_scripts(registration)
    }

    fn plugin(&self, _registration: &Registration) -> Result<PluginFiles, FileError> {
        Err(FileError::new(format!("{} has no plugins that can register the guard", self.name)))
    }

    fn plugins_answer_prompts(
        &self,
        _dirs: &SettingsDirs<'_>,
        _here: &Path,
        _read: &mut dyn FnMut(&Path) -> Option<String>,
    ) -> bool {
        false
    }

    fn is_own_plugin(&self, _manifest: &str) -> bool {
        false
    }

    fn user_server_files(&self, client_dir: &Path, _home: Option<&Path>) -> Vec<PathBuf> {
        vec![client_dir.join(self.servers.file)]
    }

    fn servers(&self, text: &str, _projects: &[&str]) -> ServerFile {
        self.servers.read(text, self.servers.file.ends_with(".toml"))
    }

    fn render_servers(&self, servers: &Map<String, Value>) -> String {
        json!({self.servers.member: servers}).to_string()
    }

    fn plugin_servers(
        &self,
        _dirs: &SettingsDirs<'_>,
        _here: &Path,
        _read: &mut dyn FnMut(&Path) -> Option<String>,
    ) -> PluginServers {
        PluginServers::default()
    }

    fn server_origin(&self, _source: &str) -> ServerOrigin {
        ServerOrigin::Unknown
    }

    fn expand(&self, launch: &Launch, _context: &LaunchContext<'_>) -> Launch {
        launch.clone()
    }

    fn server_environment(&self, _context: &LaunchContext<'_>) -> Vec<(&'static str, String)> {
        Vec::new()
    }

    fn wrap_server(
        &self,
        _text: &str,
        _steps: &[&str],
        _program: &str,
        _words: &[String],
    ) -> Result<String, FileError> {
        Err(FileError::new(format!("servers of {} cannot be wrapped", self.name)))
    }

    fn unwrap_server(&self, _text: &str, _steps: &[&str], _program: &str, _count: usize) -> Result<String, FileError> {
        Err(FileError::new("the server is not wrapped"))
    }

    fn split_call(&self, name: &str, servers: &[String]) -> Option<(String, String)> {
        let servers = servers.iter().map(|server| sanitize_name(server));
        let known = servers.chain(self.mcp.own.iter().map(|server| (*server).to_owned()));
        let split = |server: String| {
            let tool = name.strip_prefix(&server)?.strip_prefix(self.mcp.joint).filter(|tool| !tool.is_empty())?;
            Some((server.clone(), tool.to_owned()))
        };
        known.filter(|server| !server.is_empty()).filter_map(split).max_by_key(|(server, _)| server.len())
    }

    fn introduction(&self) -> Introduction {
        Introduction {
            protocol_version: "2025-06-18",
            client_info: json!({"name": self.name, "version": "0"}),
            capabilities: json!({}),
        }
    }

    fn server_name_in_calls(&self, server: &str) -> String {
        sanitize_name(server)
    }
}
