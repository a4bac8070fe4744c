//! `rune mcp proof`: that each kind of attack is refused for its own reason, shown by the real hook and a real server.

mod client;
pub mod fixture;
mod scenario;
mod stage;

use crate::commands::hooks::say;
use crate::commands::receipts::export::{Contents, write_pack};
use crate::commands::receipts::verify::verify;
use crate::runtime::exit_code::{DONE, FAILED};
use crate::runtime::policy_files::PolicyTexts;
use crate::runtime::receipts;
use anyhow::{Context, anyhow, bail};
use clap::Args;
use rune::encoding::hex::digest;
use rune::receipt::{Outcome, Secret};
use scenario::{ALL, CONTROL, FOUND, Scenario};
use serde::Serialize;
use serde_json::json;
use stage::{Scratch, Stage};
use std::fmt::Write;
use std::path::PathBuf;
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

/// Plays attacks against the real hook and a server that counts, and writes a sealed pack of what came of it
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  rune mcp proof --scenario all --out proof\n  rune mcp proof --scenario schema-drift --out proof --run-id demo --at 2026-06-09T00:00:00Z --json\n\n\
Exit 0: every case was refused for its own reason, and the server counted no call. Exit 1: one was not."
)]
pub struct ProofArgs {
    /// One scenario, or all
    #[arg(long, value_name = "NAME", default_value = "all")]
    pub scenario: String,
    /// The directory to make
    #[arg(long, value_name = "DIR")]
    pub out: PathBuf,
    /// A name for this run, which is part of the names of its sessions
    #[arg(long, value_name = "ID", default_value = "run")]
    pub run_id: String,
    /// The guard that the cases are put to, called as this program is [default: this program]
    #[arg(long, value_name = "PROGRAM")]
    pub hook: Option<PathBuf>,
    /// The time that the receipts say [default: now]
    #[arg(long, value_name = "TIME")]
    pub at: Option<String>,
    /// JSON instead of words
    #[arg(long)]
    pub json: bool,
}

/// What came of one scenario.
#[derive(Debug, Serialize)]
struct Case {
    scenario: &'static str,
    tool: String,
    verdict: String,
    reason: String,
    expected: &'static str,
    rule: Option<String>,
    /// How many calls the server has counted.
    dispatched: usize,
    /// What the verifier found in receipts that were replayed and reordered.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    found: Vec<&'static str>,
    ok: bool,
}

pub fn run(args: &ProofArgs) -> anyhow::Result<u8> {
    let at = match &args.at {
        Some(at) => OffsetDateTime::parse(at, &Rfc3339).context("`--at` needs a time such as 2026-06-09T00:00:00Z")?,
        None => crate::runtime::environment::now(),
    };
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    // Together with the longest scenario it still has to be the label of a session.
    if args.run_id.is_empty() || args.run_id.len() > 32 || !args.run_id.chars().all(plain) {
        bail!("`--run-id` needs up to 32 letters, digits, `-` and `_`");
    }
    let wanted: Vec<&Scenario> =
        ALL.iter().filter(|known| args.scenario == "all" || args.scenario == known.name).collect();
    if wanted.is_empty() {
        let names = ALL.iter().map(|known| known.name).collect::<Vec<_>>().join(", ");
        bail!("unknown scenario `{}`\n  help: there are all, {names}", args.scenario);
    }
    // The key is fresh; what makes arguments comparable is not, so that two runs can be compared.
    let secret = Secret::new(receipts::random_bytes()?, args_secret(&args.run_id));
    let scratch = Scratch::new()?;
    let own = std::env::current_exe().context("where this program lies cannot be told")?;
    let hook =
        args.hook.as_ref().map_or(Ok(own), |hook| hook.canonicalize().with_context(|| hook.display().to_string()))?;
    let mut contents = Contents::new();
    let mut transcript = String::new();
    let mut cases = Vec::new();
    let mut control_receipts = Vec::new();
    let mut environment = None;
    for scenario in [&CONTROL].into_iter().chain(wanted) {
        let mut stage = Stage::set(&scratch, &hook, scenario.name, &args.run_id, at, &secret)?;
        scenario.play(&mut stage)?;
        let mut found = Vec::new();
        if scenario.name == "replay-or-reordering" {
            for (code, bytes) in scenario::replay(&mut stage, &control_receipts, &secret.keys())? {
                contents.push((format!("replay/{code}.jsonl.tampered"), bytes));
                found.push(code);
            }
        }
        cases.push(case(scenario, &stage, found)?);
        let bytes = stage.receipts()?;
        if scenario.name == CONTROL.name {
            control_receipts.clone_from(&bytes);
        }
        contents.push((format!("receipts/{}.jsonl", stage.session), bytes));
        let memory = PolicyTexts::default();
        let policy = stage.policy(&memory);
        contents.push((format!("policy/{}/policy.json", scenario.name), policy.list().to_text().into_bytes()));
        let texts = policy.texts.into_iter();
        contents.extend(texts.map(|(name, text)| (format!("policy/{}/{name}", scenario.name), text.into_owned())));
        for step in &stage.transcript {
            writeln!(transcript, "{step}")?;
        }
        environment = Some(stage.environment.clone());
    }
    // Nobody approves anything in these homes any more.
    environment
        .map_or(Ok(()), |environment| receipts::seal_operator(&environment, at))
        .map_err(|what| anyhow!(what))?;
    let operator = scratch.0.join("state/receipts/@operator.jsonl");
    contents.push(("receipts/@operator.jsonl".to_owned(), std::fs::read(operator)?));
    let ok = cases.iter().all(|case| case.ok);
    let summary = json!({"at": receipts::time(Some(at)), "cases": cases, "ok": ok, "run_id": args.run_id, "version": "rune.proof/1"});
    contents.push(("transcript.jsonl".to_owned(), transcript.into_bytes()));
    contents.push(("summary.json".to_owned(), format!("{summary}\n").into_bytes()));
    contents.push(("report.md".to_owned(), report(&cases, args, at).into_bytes()));
    let head = write_pack(&args.out, contents, "proof", &args.run_id, Some(at), &secret)?;
    let verified = verify(&args.out, secret.keys(), Some(&head))?.outcome;
    if args.json {
        let told = json!({"cases": cases, "head": head, "key": secret.public(), "ok": ok, "out": args.out, "verified": verified});
        say(&told.to_string())?;
    } else {
        for case in &cases {
            let word = if case.ok { "ok  " } else { "FAIL" };
            say(&format!(
                "{word} {:<24} {:<6} {:<28} dispatched {}",
                case.scenario, case.verdict, case.reason, case.dispatched
            ))?;
        }
        say(&format!("\n{}\nkey  {}\nhead {head}", args.out.display(), secret.public()))?;
        say(&format!("verify it with: rune receipts verify --key {} {}", secret.public(), args.out.display()))?;
    }
    Ok(if ok && verified == Outcome::Valid { DONE } else { FAILED })
}

/// What came of a scenario, by its last receipt and by the server's count.
fn case(scenario: &Scenario, stage: &Stage, found: Vec<&'static str>) -> anyhow::Result<Case> {
    let decided = stage.decided()?;
    let dispatched = stage.reached(scenario.server);
    let reason = decided.reason.unwrap_or_default();
    let verdict = decided.verdict.unwrap_or_default();
    let refused = matches!(verdict.as_str(), "deny" | "ask");
    let control = scenario.name == CONTROL.name;
    let complete = scenario.name != "replay-or-reordering" || found == FOUND;
    let ok = reason == scenario.reason
        && complete
        && if control { !refused && dispatched == 1 } else { refused && dispatched == 0 };
    Ok(Case {
        scenario: scenario.name,
        tool: decided.tool.unwrap_or_default(),
        verdict,
        reason,
        expected: scenario.reason,
        rule: decided.rule,
        dispatched,
        found,
        ok,
    })
}

fn report(cases: &[Case], args: &ProofArgs, at: OffsetDateTime) -> String {
    let mut text = format!("# Proof `{}`, {}\n\n", args.run_id, receipts::time(Some(at)));
    let hook = args.hook.as_ref().map_or("the real hook".to_owned(), |hook| format!("`{}`", hook.display()));
    text.push_str(&format!(
        "Each case was put to {hook}; what it did not object to was sent to a real MCP server, which counts.\n\n"
    ));
    text.push_str(
        "| case | what it shows | tool | verdict | reason | calls counted | |\n|---|---|---|---|---|---|---|\n",
    );
    for case in cases {
        let shows =
            ALL.iter().chain([&CONTROL]).find(|known| known.name == case.scenario).map_or("", |known| known.shows);
        let ok = if case.ok { "as it should be" } else { "**NOT as it should be**" };
        text.push_str(&format!(
            "| {} | {shows} | `{}` | {} | `{}` | {} | {ok} |\n",
            case.scenario, case.tool, case.verdict, case.reason, case.dispatched
        ));
    }
    let found: Vec<&str> = cases.iter().flat_map(|case| case.found.iter().copied()).collect();
    if !found.is_empty() {
        text.push_str(&format!("\nReceipts that were replayed and reordered were found out: {}.\n", found.join(", ")));
    }
    text.push_str("\n`ask` counts as refused: whoever would have to say yes was not there. The pack is verified by `rune receipts verify --key KEY DIR`,\nwith the key that the command printed: the one in the pack proves nothing by itself.\n");
    text
}

fn args_secret(run_id: &str) -> [u8; 32] {
    let digits = digest(format!("rune proof {run_id}").as_bytes());
    let mut secret = [0; 32];
    secret.iter_mut().zip(digits.bytes()).for_each(|(byte, digit)| *byte = digit);
    secret
}
