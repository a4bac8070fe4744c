//! A scratch home in which one scenario is played: real configuration, real records, the real hook.

use super::client::Server;
use super::fixture::COUNT;
use crate::runtime::environment::Environment;
use crate::runtime::mcp::records::Store;
use crate::runtime::options::{Dirs, Options};
use crate::runtime::policy_files::PolicyTexts;
use crate::runtime::receipts;
use crate::runtime::receipts::Texts;
use anyhow::{Context, anyhow, bail};
use rune::encoding::canonical::Value as Canonical;
use rune::encoding::label::Label;
use rune::mcp::{Identity, Observed, Proposal, ServedBytes, Source};
use rune::receipt::{Receipt, ReceiptKind, Secret};
use serde_json::{Value, json};
use std::fs::{self, DirBuilder};
use std::io::Write;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use time::OffsetDateTime;

/// The preset that proofs are made with.
const PRESET: &str = "strict";

/// A folder that is gone when it is not needed any more.
pub struct Scratch(pub PathBuf);

impl Scratch {
    pub fn new() -> anyhow::Result<Scratch> {
        let random: String = receipts::random()?.iter().take(8).map(|byte| format!("{byte:02x}")).collect();
        let path = std::env::temp_dir().join(format!("rune-proof-{random}"));
        DirBuilder::new().mode(0o700).create(&path).with_context(|| path.display().to_string())?;
        Ok(Scratch(path))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        fs::remove_dir_all(&self.0).ok();
    }
}

/// One scenario's home.
pub struct Stage {
    home: PathBuf,
    /// The guard that is asked.
    hook: PathBuf,
    pub environment: Environment,
    pub session: String,
    at: OffsetDateTime,
    servers: Vec<(String, Server)>,
    /// What was done, a line each, in labels.
    pub transcript: Vec<Value>,
    scenario: &'static str,
}

/// What the hook answered: nothing, or its decision.
pub type Answer = Option<String>;

impl Stage {
    /// A home without servers, with the key that signs and the folder that all receipts go to.
    pub fn set(
        scratch: &Scratch,
        hook: &Path,
        scenario: &'static str,
        run_id: &str,
        at: OffsetDateTime,
        secret: &Secret,
    ) -> anyhow::Result<Stage> {
        let home = scratch.0.join(scenario);
        let dirs = Dirs {
            config: Some(home.join("config")),
            state: Some(scratch.0.join("state")),
            data: Some(home.join("data")),
            client: Some(home.join(".claude")),
        };
        let environment = Environment { home: Some(home.clone()), project: None, ..Environment::look(&dirs) };
        let stage = Stage {
            hook: hook.to_owned(),
            session: format!("proof-{run_id}-{scenario}"),
            environment,
            at,
            servers: Vec::new(),
            transcript: Vec::new(),
            scenario,
            home,
        };
        stage.write("data/receipt.key", &secret.to_text())?;
        stage.write("project/README.md", "")?;
        Ok(stage)
    }

    /// Writes a file below the home.
    pub fn write(&self, name: &str, text: &str) -> anyhow::Result<()> {
        let path = self.home.join(name);
        if let Some(folder) = path.parent() {
            DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
        }
        fs::write(&path, text).with_context(|| path.display().to_string())
    }

    /// The entry of a fixture server in a client's configuration.
    pub fn entry(&self, name: &str, more: &[&str]) -> Value {
        json!({"command": "rune", "args": words(more), "env": {COUNT: self.count(name)}})
    }

    fn count(&self, name: &str) -> PathBuf {
        self.home.join(format!("{}.count", Label::new(name)))
    }

    /// Writes the client's configuration: its servers.
    pub fn configure(&self, servers: &[(&str, &[&str])]) -> anyhow::Result<()> {
        let mut entries = serde_json::Map::new();
        for (name, more) in servers {
            entries.insert((*name).to_owned(), self.entry(name, more));
        }
        self.write(".claude.json", &json!({"mcpServers": entries}).to_string())
    }

    /// Starts a server that nobody looks at.
    pub fn start(&mut self, name: &str) -> anyhow::Result<()> {
        let server = Server::start(&words(&[]), self.count(name))?;
        self.servers.push((name.to_owned(), server));
        self.note("started", name, None, None);
        Ok(())
    }

    /// Starts a server, and records what it serves.
    pub fn observe(&mut self, name: &str, more: &[&str]) -> anyhow::Result<Observed> {
        let mut server = Server::start(&words(more), self.count(name))?;
        let tools: Vec<String> = server.tools()?.iter().map(ToString::to_string).collect();
        let observed = self.served(name, more, &tools)?;
        Store::of(&self.environment)?.record(&observed)?;
        self.servers.push((name.to_owned(), server));
        self.note("observed", name, None, None);
        Ok(observed)
    }

    /// Records that the same entry of a server now serves something else.
    pub fn observe_drift(&mut self, name: &str) -> anyhow::Result<()> {
        let mut server = Server::start(&words(&["--drift"]), self.count(name))?;
        let tools: Vec<String> = server.tools()?.iter().map(ToString::to_string).collect();
        let observed = self.served(name, &[], &tools)?;
        Store::of(&self.environment)?.record(&observed)?;
        self.servers.insert(0, (name.to_owned(), server));
        self.note("observed", name, None, None);
        Ok(())
    }

    fn served(&self, name: &str, more: &[&str], tools: &[String]) -> anyhow::Result<Observed> {
        let tools: Vec<&[u8]> = tools.iter().map(String::as_bytes).collect();
        let entry = self.entry(name, more).to_string();
        let entry = Canonical::read(entry.as_bytes()).map_err(|fault| anyhow!("{fault:?}"))?;
        Ok(Observed::from_served(&ServedBytes {
            server: name,
            source: Source::Probe,
            at: self.at,
            identity: Identity::of_entry(&entry),
            instructions: None,
            info: None,
            protocol: None,
            capabilities: None,
            tools: &tools,
            prompts: &[],
        }))
    }

    /// Approves what was observed, one tool or all, as a person would.
    pub fn approve(&mut self, observed: &Observed, tool: Option<&str>) -> anyhow::Result<()> {
        let store = Store::of(&self.environment)?;
        let pin = store.pin(observed.server()).map_err(|unreadable| anyhow!("{unreadable:?}"))?;
        let proposal = Proposal::of(pin.as_ref(), observed, None, tool)?;
        let hash = proposal.hash();
        let approval = proposal.confirm(&hash.short())?;
        store.change(observed.server(), |pin| pin.approve(approval, self.at))?;
        let (server, tool) = (Label::new(observed.server()), tool.map(Label::new));
        let done = receipts::deed(
            &self.environment,
            ReceiptKind::Approve,
            server,
            tool,
            Some(hash.to_string()),
            Some(self.at),
        );
        done.map_err(|what| anyhow!(what))?;
        self.note("approved", observed.server(), None, None);
        Ok(())
    }

    /// Blocks a tool, as a person would.
    pub fn block(&mut self, server: &str, tool: &str) -> anyhow::Result<()> {
        Store::of(&self.environment)?.change(server, |pin| pin.block(Some(tool)))?;
        let (name, tool) = (Label::new(server), Some(Label::new(tool)));
        receipts::deed(&self.environment, ReceiptKind::Block, name, tool, None, Some(self.at))
            .map_err(|what| anyhow!(what))?;
        self.note("blocked", server, None, None);
        Ok(())
    }

    /// Asks the hook about a call and dispatches it unless the hook objects; tells the answer and the result.
    pub fn call(&mut self, tool: &str, served: (&str, &str), input: &Value) -> anyhow::Result<(Answer, Option<Value>)> {
        let event = json!({"session_id": self.session, "transcript_path": "/dev/null", "cwd": self.home.join("project"),
            "hook_event_name": "PreToolUse", "tool_name": tool, "tool_input": input});
        let answer = self.hook(&["pre"], &event)?;
        let decision = answer.as_ref().map(|answer| {
            let decision = answer.pointer("/hookSpecificOutput/permissionDecision").and_then(Value::as_str);
            decision.unwrap_or("unreadable").to_owned()
        });
        self.note("asked", tool, decision.as_deref(), None);
        // Whoever would have to say yes is not there.
        if decision.as_deref().is_some_and(|decision| decision != "allow") {
            return Ok((decision, None));
        }
        let (name, real) = served;
        let server = self.servers.iter_mut().find(|(known, _)| known == name);
        let (_, server) = server.with_context(|| format!("the server `{name}` does not run"))?;
        let result = server.call(real, input)?;
        self.note("dispatched", tool, None, None);
        Ok((decision, Some(result)))
    }

    /// Hands the result of a call to the hook, as the client does.
    pub fn hand_in(&mut self, tool: &str, input: &Value, result: &Value) -> anyhow::Result<()> {
        let content = result.get("content").cloned().unwrap_or_default();
        let event = json!({"session_id": self.session, "transcript_path": "/dev/null", "cwd": self.home.join("project"),
            "hook_event_name": "PostToolUse", "tool_name": tool, "tool_input": input, "tool_response": content});
        self.hook(&["post"], &event)?;
        self.note("result taken in", tool, None, None);
        Ok(())
    }

    /// Ends the session, which seals its receipts.
    pub fn end(&mut self) -> anyhow::Result<()> {
        let event = json!({"session_id": self.session, "transcript_path": "/dev/null", "cwd": self.home.join("project"),
            "hook_event_name": "SessionEnd", "reason": "other"});
        self.hook(&[], &event)?;
        self.note("session ended", "", None, None);
        Ok(())
    }

    /// How many calls a server has counted.
    pub fn reached(&self, name: &str) -> usize {
        self.servers.iter().filter(|(known, _)| known == name).map(|(_, server)| server.count()).max().unwrap_or(0)
    }

    /// The receipts of the session.
    pub fn receipts(&self) -> anyhow::Result<Vec<u8>> {
        let path = receipts::file_of(&self.environment, &Label::new(&self.session)).map_err(|what| anyhow!(what))?;
        fs::read(&path).with_context(|| path.display().to_string())
    }

    /// The last decision that the session has a receipt for.
    pub fn decided(&self) -> anyhow::Result<Receipt> {
        let bytes = self.receipts()?;
        let receipts =
            bytes.split(|byte| *byte == b'\n').filter_map(|line| serde_json::from_slice::<Receipt>(line).ok());
        receipts.rev().find(|receipt| receipt.kind == ReceiptKind::Decision).context("no decision has left a receipt")
    }

    /// The policy that the hook judged by.
    pub fn policy<'a>(&self, memory: &'a PolicyTexts) -> Texts<'a> {
        Texts::read(&Options::parse(&["--preset".into(), PRESET.into()]), &self.environment, None, memory)
    }

    /// Runs the real hook on an event; its answer, where it gives one.
    fn hook(&self, words: &[&str], event: &Value) -> anyhow::Result<Option<Value>> {
        let mut command = Command::new(&self.hook);
        command.arg("hook").args(words).args(["--preset", PRESET, "--at", &receipts::time(Some(self.at))]);
        let dirs = [
            ("--config-dir", &self.environment.config_dir),
            ("--state-dir", &self.environment.state_dir),
            ("--data-dir", &self.environment.data_dir),
            ("--client-dir", &self.environment.client_dir),
        ];
        for (flag, dir) in dirs {
            command.arg(flag).arg(dir.as_deref().unwrap_or(Path::new("/")));
        }
        command.env_clear().env("HOME", &self.home).current_dir(self.home.join("project"));
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().context("the hook")?;
        child.stdin.take().context("the hook")?.write_all(event.to_string().as_bytes())?;
        let output = child.wait_with_output()?;
        if !output.status.success() || !output.stderr.is_empty() {
            bail!("the hook ended with {}: {}", output.status, String::from_utf8_lossy(&output.stderr).trim());
        }
        if output.stdout.is_empty() {
            return Ok(None);
        }
        Ok(Some(serde_json::from_slice(&output.stdout).context("the hook's answer")?))
    }

    fn note(&mut self, did: &str, what: &str, answer: Option<&str>, found: Option<&str>) {
        let step = self.transcript.len() + 1;
        self.transcript.push(
            json!({"scenario": self.scenario, "step": step, "did": did, "what": what, "answer": answer, "found": found}),
        );
    }

    /// Notes what the verifier found.
    pub fn note_found(&mut self, what: &str, found: &str) {
        self.note("verified", what, None, Some(found));
    }
}

/// The words that a fixture server is started with.
fn words(more: &[&str]) -> Vec<String> {
    ["mcp", "fixture"].iter().chain(more).map(|word| (*word).to_owned()).collect()
}
