//! Claude Code.

mod answer;
mod event;
pub(super) mod locate;
mod plugins;
mod register;
mod rewrap;
pub(super) mod servers;
pub(super) mod settings;
mod spill;
mod transcript;
mod validate;

use super::described::Unsupported;
use super::registration::{Drift, PluginFiles, Registration};
use super::server::{Introduction, Launch, LaunchContext, PluginServers, ServerFile, ServerOrigin, ServerScope};
use super::settings::{FileError, Scope, Settings, SettingsDirs};
use super::{
    Answer, Client, Locations, OwnServer, Payload, ReadAnswer, RecordedEvent, RecordedLine, RecordedPlace, SampleEvent,
};
use crate::event::{EventError, Header, Message};
use crate::quarantined::Quarantined;
use crate::verdict::{Phase, Verdict};
use serde_json::{Map, Value, json};
use settings::SettingsJson;
use std::path::{Path, PathBuf};

/// Claude Code.
#[derive(Debug)]
pub struct Claude;

static LOCATIONS: Locations = Locations {
    dir_variable: "CLAUDE_CONFIG_DIR",
    default_dir: ".claude",
    project_variable: Some("CLAUDE_PROJECT_DIR"),
    attended_variable: Some("CLAUDE_CODE_SESSION_ATTENDED"),
    session_variable: Some("CLAUDE_CODE_SESSION_ID"),
    managed_dir: if cfg!(target_os = "macos") { "/Library/Application Support/ClaudeCode" } else { "/etc/claude-code" },
    managed_fragments: "managed-settings.d",
    managed_servers: "managed-mcp.json",
    // The editor that the client is connected to.
    own_servers: &[OwnServer { name: "ide", runs_code: &["executeCode"] }],
    project_servers: ".mcp.json",
    settings_names: &["settings.json", "settings.local.json"],
    settings_format: "plain JSON, without comments",
    enabling_command: "claude --settings '{\"disableAllHooks\": false}'",
    program: "claude",
    // Older versions do not know `args` in the entry of a hook.
    minimum_version: [2, 1, 139],
    transcript_marks: &["tool_use", "\"user\""],
    transcripts: &["projects/*/{session}.jsonl", "projects/*/{session}/subagents/*.jsonl"],
    // The native build is a file named by its version.
    program_path: Some("/claude/versions/"),
};

impl Client for Claude {
    fn name(&self) -> &'static str {
        "claude"
    }

    fn locations(&self) -> &'static Locations {
        &LOCATIONS
    }

    fn title(&self) -> &'static str {
        "Claude Code"
    }

    fn tools(&self) -> Vec<&'static str> {
        event::TOOLS.to_vec()
    }

    fn parse_payload<'a>(&self, payload: &Payload<'a>) -> Result<Message<'a>, EventError> {
        event::parse(payload)
    }

    fn header(&self, phase: Option<Phase>) -> Header {
        event::header(phase)
    }

    fn answer(&self, header: &Header, verdict: &Verdict) -> Answer {
        answer::answer(header, verdict)
    }

    fn tool_input(&self, event: &Quarantined<Vec<u8>>) -> Option<Quarantined<Vec<u8>>> {
        event::tool_input(event)
    }

    fn read_transcript(&self, line: &Quarantined<Vec<u8>>, home: Option<&str>) -> RecordedLine {
        transcript::read(line, home)
    }

    fn recorded_event(&self, place: &RecordedPlace<'_>, step: RecordedEvent<'_>) -> Quarantined<Vec<u8>> {
        event::recorded(place, step)
    }

    fn read_answer(&self, stdout: &str, exit: Option<i32>) -> ReadAnswer {
        answer::read(stdout, exit)
    }

    fn sample_event(&self, sample: &SampleEvent<'_>) -> String {
        event::sample(sample)
    }

    fn has_sample(&self, _phase: Phase, _tool: &str) -> bool {
        true
    }

    fn settings_file(&self, scope: Scope, dirs: &SettingsDirs<'_>) -> Option<PathBuf> {
        match scope {
            Scope::User => Some(dirs.client?.join("settings.json")),
            Scope::Project => Some(dirs.project.join(".claude/settings.json")),
            Scope::Local => Some(dirs.project.join(".claude/settings.local.json")),
            Scope::Given => None,
            Scope::Managed => Some(dirs.managed.join("managed-settings.json")),
        }
    }

    fn read_settings(&self, text: &str) -> Result<Settings, FileError> {
        SettingsJson::read(text).map(|settings| settings.summary())
    }

    fn may_set_variable(&self, settings: &str, name: &str) -> bool {
        settings::may_set_variable(settings, name)
    }

    fn locate(&self, text: &str, steps: &[&str]) -> Option<(usize, usize)> {
        locate::locate(text, steps)
    }

    fn install(&self, registration: &Registration, text: &str, before: Option<&str>) -> Result<String, FileError> {
        register::install(registration, text, before)
    }

    fn uninstall(&self, text: &str, before: Option<&str>) -> Result<Option<String>, FileError> {
        register::remove(text, before)
    }

    fn drift(&self, wanted: &Registration, text: &str) -> Result<Vec<Drift>, FileError> {
        SettingsJson::read(text).map(|settings| register::drift(wanted, &settings))
    }

    fn losses(&self, registration: &Registration, text: &str) -> Result<Vec<String>, FileError> {
        SettingsJson::read(text).map(|settings| register::losses(registration, &settings))
    }

    fn obstacle(
        &self,
        _file: &Path,
        _text: &str,
        _read: &mut dyn FnMut(&Path) -> Option<String>,
    ) -> Option<(String, &'static str)> {
        None
    }

    fn unsupported(&self) -> &'static [Unsupported] {
        &[]
    }

    fn scripts(&self, _registration: &Registration) -> Vec<(&'static str, String)> {
        Vec::new()
    }

    fn plugin(&self, registration: &Registration) -> Result<PluginFiles, FileError> {
        plugins::own_plugin(registration)
    }

    fn plugins_answer_prompts(
        &self,
        dirs: &SettingsDirs<'_>,
        here: &Path,
        read: &mut dyn FnMut(&Path) -> Option<String>,
    ) -> bool {
        plugins::answer_prompts(self, dirs, here, read)
    }

    fn user_files(&self, registration: &Registration) -> Vec<(&'static str, String)> {
        plugins::user_files(registration)
    }

    fn with_status_line(&self, registration: &Registration, text: &str) -> Result<Option<String>, FileError> {
        register::with_status_line(registration, text)
    }

    fn is_own_plugin(&self, manifest: &str) -> bool {
        plugins::is_own_plugin(manifest)
    }

    fn user_server_files(&self, client_dir: &Path, home: Option<&Path>) -> Vec<PathBuf> {
        // In the default directory, the file exists only if a variable names that directory too.
        let usual = home.filter(|home| client_dir == home.join(".claude"));
        [client_dir].into_iter().chain(usual).map(|dir| dir.join(".claude.json")).collect()
    }

    fn servers(&self, text: &str, projects: &[&str]) -> ServerFile {
        servers::read(text, projects)
    }

    fn render_servers(&self, servers: &Map<String, Value>) -> String {
        json!({"mcpServers": servers}).to_string()
    }

    fn plugin_servers(
        &self,
        dirs: &SettingsDirs<'_>,
        here: &Path,
        read: &mut dyn FnMut(&Path) -> Option<String>,
    ) -> PluginServers {
        plugins::servers(self, dirs, here, read)
    }

    fn server_origin(&self, source: &str) -> ServerOrigin {
        match source {
            "managed" | "enterprise" => ServerOrigin::Scope(ServerScope::Managed),
            "local" => ServerOrigin::Scope(ServerScope::Local),
            "project" => ServerOrigin::Scope(ServerScope::Project),
            "user" => ServerOrigin::Scope(ServerScope::User),
            "dynamic" | "claudeai" | "sdk" => ServerOrigin::NoFile,
            _ => ServerOrigin::Unknown,
        }
    }

    fn expand(&self, launch: &Launch, context: &LaunchContext<'_>) -> Launch {
        servers::expand(launch, context)
    }

    fn server_environment(&self, context: &LaunchContext<'_>) -> Vec<(&'static str, String)> {
        let text = |path: &Path| path.to_string_lossy().into_owned();
        let mut variables = vec![
            ("CLAUDECODE", "1".to_owned()),
            ("CLAUDE_CODE_ENTRYPOINT", "cli".to_owned()),
            ("CLAUDE_PROJECT_DIR", text(context.project)),
        ];
        variables.extend(context.plugin_root.map(|root| ("CLAUDE_PLUGIN_ROOT", text(root))));
        variables
    }

    fn wrap_server(&self, text: &str, steps: &[&str], program: &str, words: &[String]) -> Result<String, FileError> {
        rewrap::wrap(text, steps, program, words)
    }

    fn unwrap_server(&self, text: &str, steps: &[&str], program: &str, count: usize) -> Result<String, FileError> {
        rewrap::unwrap(text, steps, program, count)
    }

    fn split_call(&self, _name: &str, _servers: &[String]) -> Option<(String, String)> {
        None
    }

    fn introduction(&self) -> Introduction {
        Introduction {
            protocol_version: "2025-11-25",
            client_info: json!({"name": "claude-code", "title": "Claude Code", "version": "2.1.325",
                "description": "Anthropic's agentic coding tool", "websiteUrl": "https://claude.com/claude-code"}),
            capabilities: json!({"roots": {"listChanged": true}, "elicitation": {"form": {}, "url": {}}}),
        }
    }

    fn server_name_in_calls(&self, server: &str) -> String {
        servers::name_in_calls(server)
    }
}
