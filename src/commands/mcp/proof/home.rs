//! The home directory in which one scenario runs: real configuration, real records and the real hook.

use super::client::FixtureServer;
use super::fixture::COUNT_VARIABLE;
use crate::commands::hook_options;
use crate::runtime::environment::Environment;
use crate::runtime::files::create_private_dir;
use crate::runtime::mcp::records::{PinChangeRequest, Store};
use crate::runtime::options::Dirs;
use crate::runtime::policy_files::PolicyTexts;
use crate::runtime::receipts::{self, PolicySnapshot};
use anyhow::{Context, Error, anyhow, bail};
use rune::client::{self, Response, SampleEvent};
use rune::encoding::canonical::Value as Canonical;
use rune::encoding::label::Label;
use rune::mcp::protocol::Served;
use rune::mcp::{Identity, Observation, Observed, Proposal, Source};
use rune::receipt::{Receipt, ReceiptKind, Secret};
use rune::verdict::Phase;
use serde_json::{Value, json};
use std::fs::{self, DirBuilder};
use std::io::Write;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use time::OffsetDateTime;

const PRESET: &str = "strict";

/// A private directory that is removed when it is dropped.
pub struct TempDir(pub PathBuf);

impl TempDir {
    pub fn new() -> anyhow::Result<TempDir> {
        let random: String = receipts::random_bytes()?.iter().take(8).map(|byte| format!("{byte:02x}")).collect();
        let path = std::env::temp_dir().join(format!("rune-proof-{random}"));
        DirBuilder::new().mode(0o700).create(&path).with_context(|| path.display().to_string())?;
        Ok(TempDir(path))
    }
}

impl Drop for TempDir {
    fn drop(&mut self) {
        fs::remove_dir_all(&self.0).ok();
    }
}

/// What all scenarios of a run have in common.
pub struct Run<'a> {
    /// All homes are below this directory, and share its folder of receipts.
    pub dir: &'a TempDir,
    /// The program whose hook is asked.
    pub hook: &'a Path,
    pub id: &'a str,
    /// The time in receipts.
    pub at: OffsetDateTime,
    pub secret: &'a Secret,
}

pub struct ScenarioHome {
    home: PathBuf,
    hook: PathBuf,
    pub environment: Environment,
    pub session: String,
    at: OffsetDateTime,
    /// Running servers, the latest first.
    servers: Vec<(String, FixtureServer)>,
    /// One entry for each step.
    pub transcript: Vec<Value>,
    scenario: &'static str,
}

impl ScenarioHome {
    /// Creates a home with the signing key and without servers.
    pub fn create(run: &Run<'_>, scenario: &'static str) -> anyhow::Result<ScenarioHome> {
        let home = run.dir.0.join(scenario);
        let dirs = Dirs {
            config: Some(home.join("config")),
            state: Some(run.dir.0.join("state")),
            data: Some(home.join("data")),
            client: Some(home.join(client::DEFAULT.locations().default_dir)),
        };
        let environment = Environment { home: Some(home.clone()), project: None, ..Environment::read(&dirs) };
        let scenario_home = ScenarioHome {
            hook: run.hook.to_owned(),
            session: format!("proof-{}-{scenario}", run.id),
            environment,
            at: run.at,
            servers: Vec::new(),
            transcript: Vec::new(),
            scenario,
            home,
        };
        scenario_home.write("data/receipt.key", &run.secret.to_text())?;
        scenario_home.write("project/README.md", "")?;
        Ok(scenario_home)
    }

    /// Writes a file below the home.
    pub fn write(&self, name: &str, text: &str) -> anyhow::Result<()> {
        let path = self.home.join(name);
        if let Some(folder) = path.parent() {
            create_private_dir(folder)?;
        }
        fs::write(&path, text).with_context(|| path.display().to_string())
    }

    /// The entry of a fixture server in the client's configuration.
    pub fn entry(&self, name: &str, args: &[&str]) -> Value {
        json!({"command": "rune", "args": fixture_words(args), "env": {COUNT_VARIABLE: self.count_file(name)}})
    }

    fn count_file(&self, name: &str) -> PathBuf {
        self.home.join(format!("{}.count", Label::new(name)))
    }

    /// Writes the client's configuration with these servers and their arguments.
    pub fn configure(&self, servers: &[(&str, &[&str])]) -> anyhow::Result<()> {
        let entries: serde_json::Map<String, Value> =
            servers.iter().map(|(name, args)| ((*name).to_owned(), self.entry(name, args))).collect();
        let file = self.environment.user_server_file().context("the client has no file for servers")?;
        fs::write(&file, self.environment.client.render_servers(&entries)).with_context(|| file.display().to_string())
    }

    /// Starts a server without recording what it serves.
    pub fn start(&mut self, name: &str) -> anyhow::Result<()> {
        self.start_server(name, &[])?;
        self.log_step("started", name, None, None);
        Ok(())
    }

    fn start_server(&mut self, name: &str, args: &[&str]) -> anyhow::Result<&mut FixtureServer> {
        let server = FixtureServer::start(&fixture_words(args), self.count_file(name))?;
        self.servers.insert(0, (name.to_owned(), server));
        self.server(name)
    }

    fn server(&mut self, name: &str) -> anyhow::Result<&mut FixtureServer> {
        let server = self.servers.iter_mut().find(|(known, _)| known == name);
        server.map(|(_, server)| server).with_context(|| format!("the server `{name}` does not run"))
    }

    /// Starts a server, and records what it serves.
    pub fn observe(&mut self, name: &str, args: &[&str]) -> anyhow::Result<Observed> {
        self.record_served(name, args, args)
    }

    /// Records that a server serves another schema under the same configuration.
    pub fn observe_drift(&mut self, name: &str) -> anyhow::Result<()> {
        self.record_served(name, &[], &["--drift"]).map(drop)
    }

    /// Starts a server with `args`, and records what it serves as the server that is configured with `entry_args`.
    fn record_served(&mut self, name: &str, entry_args: &[&str], args: &[&str]) -> anyhow::Result<Observed> {
        let tools = self.start_server(name, args)?.tools()?;
        let served =
            Served { tools: tools.iter().map(|tool| tool.to_string().into_bytes()).collect(), ..Served::default() };
        let entry = self.entry(name, entry_args).to_string();
        let entry = Canonical::read(entry.as_bytes()).map_err(|fault| anyhow!("{fault:?}"))?;
        let observed = Observed::new(Observation {
            server: name,
            source: Source::Probe,
            at: self.at,
            identity: Identity::of_entry(&entry),
            served: &served,
            capabilities: None,
        });
        Store::of(&self.environment)?.record(&observed)?;
        self.log_step("observed", name, None, None);
        Ok(observed)
    }

    /// Approves what was observed, one tool or all, as a person would.
    pub fn approve(&mut self, observed: &Observed, tool: Option<&str>) -> anyhow::Result<()> {
        let store = Store::of(&self.environment)?;
        // The receipts of an earlier scenario may be about a server of the same name.
        let pin = store.pin_to_change(observed.server());
        let proposal = Proposal::of(Some(&pin), observed, None, tool)?;
        let hash = proposal.hash();
        let approval = proposal.confirm(&hash.short()).context("the hash is that of the proposal")?;
        let (kind, shown, at) = (ReceiptKind::Approve, Some(hash.to_string()), Some(self.at));
        let change = PinChangeRequest { kind, server: observed.server(), tool, shown, at };
        store.change(&change, |pin| pin.approve(approval, self.at))?;
        self.log_step("approved", observed.server(), None, None);
        Ok(())
    }

    /// Blocks a tool, as a person would.
    pub fn block(&mut self, server: &str, tool: &str) -> anyhow::Result<()> {
        let (kind, shown, at) = (ReceiptKind::Block, None, Some(self.at));
        let change = PinChangeRequest { kind, server, tool: Some(tool), shown, at };
        Store::of(&self.environment)?.change(&change, |pin| pin.block(Some(tool)))?;
        self.log_step("blocked", server, None, None);
        Ok(())
    }

    /// Asks the hook about a call of `served`, a server and its tool, and makes the call unless the hook objects.
    /// Returns the result of the call, if it was made.
    pub fn call(&mut self, tool: &str, served: (&str, &str), input: &Value) -> anyhow::Result<Option<Value>> {
        let decision = match self.hook(&["pre"], Phase::Before, tool, input, None)? {
            Response::Nothing => None,
            Response::Allow => Some("allow"),
            Response::Ask => Some("ask"),
            Response::Deny => Some("deny"),
            Response::Advise | Response::Invalid => Some("unreadable"),
        };
        self.log_step("asked", tool, decision, None);
        // Nobody is there to answer an `ask`.
        if decision.is_some_and(|decision| decision != "allow") {
            return Ok(None);
        }
        let (name, real) = served;
        let result = self.server(name)?.call(real, input)?;
        self.log_step("dispatched", tool, None, None);
        Ok(Some(result))
    }

    /// Passes the result of a call to the hook, as the client does.
    pub fn submit_result(&mut self, tool: &str, input: &Value, result: &Value) -> anyhow::Result<()> {
        let content = result.get("content").cloned().unwrap_or_default();
        self.hook(&["post"], Phase::After, tool, input, Some(content))?;
        self.log_step("result taken in", tool, None, None);
        Ok(())
    }

    /// Ends the session, which seals its receipts.
    pub fn end_session(&mut self) -> anyhow::Result<()> {
        self.hook(&[], Phase::End, "", &Value::Null, None)?;
        self.log_step("session ended", "", None, None);
        Ok(())
    }

    pub fn call_count(&self, name: &str) -> usize {
        self.servers.iter().filter(|(known, _)| known == name).map(|(_, server)| server.count()).max().unwrap_or(0)
    }

    pub fn receipts(&self) -> anyhow::Result<Vec<u8>> {
        let name = receipts::session_name(&Label::new(&self.session));
        let path = receipts::folder(&self.environment).map_err(Error::msg)?.join(receipts::file_name(&name, 1));
        fs::read(&path).with_context(|| path.display().to_string())
    }

    pub fn last_decision(&self) -> anyhow::Result<Receipt> {
        let bytes = self.receipts()?;
        let decision = Receipt::read_lines(&bytes).rev().find(|receipt| receipt.kind == ReceiptKind::Decision);
        decision.context("no receipt of a decision")
    }

    /// Reads the policy that the hook uses.
    pub fn policy<'a>(&self, memory: &'a PolicyTexts) -> PolicySnapshot<'a> {
        PolicySnapshot::read(&hook_options(Some(PRESET), None), &self.environment, None, memory)
    }

    /// Runs the hook with an event of the session, and returns what the client does on its answer.
    fn hook(
        &self,
        words: &[&str],
        phase: Phase,
        tool: &str,
        input: &Value,
        result: Option<Value>,
    ) -> anyhow::Result<Response> {
        let project = self.home.join("project");
        let cwd = &project.to_string_lossy();
        let client = self.environment.client;
        let event = client.sample_event(&SampleEvent {
            session: &self.session,
            cwd,
            phase,
            tool,
            input: input.clone(),
            result,
        });
        let mut command = Command::new(&self.hook);
        command.arg("hook").args(words).args(["--preset", PRESET, "--at", &receipts::time(Some(self.at))]);
        for (flag, dir) in self.environment.dirs() {
            command.arg(flag).arg(dir.unwrap_or(Path::new("/")));
        }
        command.env_clear().env("HOME", &self.home).current_dir(project);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().context("cannot start the hook")?;
        child.stdin.take().context("the hook has no stdin")?.write_all(event.as_bytes())?;
        let output = child.wait_with_output()?;
        if !output.status.success() || !output.stderr.is_empty() {
            bail!("the hook failed with {}: {}", output.status, String::from_utf8_lossy(&output.stderr).trim());
        }
        Ok(client.read_answer(&String::from_utf8_lossy(&output.stdout), output.status.code()).response)
    }

    fn log_step(&mut self, did: &str, what: &str, answer: Option<&str>, found: Option<&str>) {
        let step = self.transcript.len() + 1;
        self.transcript.push(
            json!({"scenario": self.scenario, "step": step, "did": did, "what": what, "answer": answer, "found": found}),
        );
    }

    /// Adds what the verifier found to the transcript.
    pub fn log_verification(&mut self, what: &str, found: &str) {
        self.log_step("verified", what, None, Some(found));
    }
}

/// The arguments of this program that run a fixture server.
fn fixture_words(args: &[&str]) -> Vec<String> {
    ["mcp", "fixture"].iter().chain(args).map(|word| (*word).to_owned()).collect()
}
