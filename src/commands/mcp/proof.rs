//! `rune mcp proof`: runs attacks against the real hook and a real server, and packs the evidence that each is refused
//! by its own reason.

mod client;
pub mod fixture;
mod scenario;
mod home;

use crate::commands::current_program;
use crate::commands::receipts::export::{Contents, write_pack};
use crate::commands::receipts::verify::verify;
use crate::commands::say;
use crate::runtime::environment::now;
use crate::runtime::exit_code::{DONE, FAILED};
use crate::runtime::policy_files::PolicyTexts;
use crate::runtime::receipts;
use anyhow::{Context, bail};
use clap::Args;
use home::{Run, ScenarioHome, TempDir};
use rune::encoding::hex::digest;
use rune::receipt::{Outcome, Secret};
use scenario::{ALL, CONTROL, EXPECTED_FAULTS, Scenario};
use serde::Serialize;
use serde_json::json;
use std::fmt::Write;
use std::path::PathBuf;
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

/// Runs attacks against the real hook and a server that counts calls, and writes a sealed pack of the results
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  rune mcp proof --scenario all --out proof\n  rune mcp proof --scenario schema-drift --out proof --run-id demo --at 2026-06-09T00:00:00Z --json\n\n\
Exit 0: every call was refused with the expected reason, and the server received none. Exit 1: otherwise."
)]
pub struct ProofArgs {
    /// Scenario to run, or `all`
    #[arg(long, value_name = "NAME", default_value = "all")]
    pub scenario: String,
    /// Directory to create
    #[arg(long, value_name = "DIR")]
    pub out: PathBuf,
    /// Name of this run, which is part of its session ids
    #[arg(long, value_name = "ID", default_value = "run")]
    pub run_id: String,
    /// Program whose hook is tested [default: this program]
    #[arg(long, value_name = "PROGRAM")]
    pub hook: Option<PathBuf>,
    /// Time in the receipts [default: now]
    #[arg(long, value_name = "TIME")]
    pub at: Option<String>,
    /// Print JSON instead of text
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Serialize)]
struct CaseResult {
    scenario: &'static str,
    tool: String,
    verdict: String,
    reason: String,
    expected: &'static str,
    rule: Option<String>,
    /// Calls that the server has counted.
    dispatched: usize,
    /// Faults that the verifier found in tampered receipts.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    found: Vec<&'static str>,
    ok: bool,
}

pub fn run(args: &ProofArgs) -> anyhow::Result<u8> {
    let at = match &args.at {
        Some(at) => OffsetDateTime::parse(at, &Rfc3339)
            .with_context(|| format!("invalid value `{at}` for `--at`: expected e.g. `2026-06-09T00:00:00Z`"))?,
        None => now(),
    };
    let is_valid = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    // With the longest scenario name, the session id must still fit into a label.
    if args.run_id.is_empty() || args.run_id.len() > 32 || !args.run_id.chars().all(is_valid) {
        bail!("invalid value `{}` for `--run-id`: expected 1 to 32 letters, digits, `-` or `_`", args.run_id);
    }
    let scenarios: Vec<&Scenario> =
        ALL.iter().filter(|known| args.scenario == "all" || args.scenario == known.name).collect();
    if scenarios.is_empty() {
        let names = ALL.iter().map(|known| known.name).collect::<Vec<_>>().join(", ");
        bail!("unknown scenario `{}`\n  help: the scenarios are all, {names}", args.scenario);
    }
    // The signing key is new in each run. The secret that hashes arguments is not, so that runs can be compared.
    let secret = Secret::new(receipts::random_bytes()?, args_secret(&args.run_id));
    let hook = match &args.hook {
        Some(hook) => hook.canonicalize().with_context(|| hook.display().to_string())?,
        None => current_program()?,
    };
    let run = Run { dir: &TempDir::new()?, hook: &hook, id: &args.run_id, at, secret: &secret };
    let (mut contents, cases) = run_scenarios(&run, &scenarios)?;
    let ok = cases.iter().all(|case| case.ok);
    let summary = json!({"at": receipts::time(Some(at)), "cases": cases, "ok": ok, "run_id": args.run_id,
        "version": "rune.proof/1"});
    contents.push(("summary.json".to_owned(), format!("{summary}\n").into_bytes()));
    contents.push(("report.md".to_owned(), render_report(&cases, args, at).into_bytes()));
    let head = write_pack(&args.out, contents, "proof", &args.run_id, Some(at), &secret)?;
    let verified = verify(&args.out, secret.keys(), Some(&head))?.outcome;
    if args.json {
        let output = json!({"cases": cases, "head": head, "key": secret.public(), "ok": ok, "out": args.out,
            "verified": verified});
        say(&output.to_string())?;
    } else {
        for CaseResult { ok, scenario, verdict, reason, dispatched, .. } in &cases {
            let mark = if *ok { "ok  " } else { "FAIL" };
            say!("{mark} {scenario:<24} {verdict:<6} {reason:<28} dispatched {dispatched}")?;
        }
        let (out, key) = (args.out.display(), secret.public());
        say!("\n{out}\nkey  {key}\nhead {head}\nverify it with: rune receipts verify --key {key} {out}")?;
    }
    Ok(if ok && verified == Outcome::Valid { DONE } else { FAILED })
}

/// Runs the control and the scenarios. Returns receipts, policies and transcript for the pack, and the results.
fn run_scenarios(run: &Run<'_>, scenarios: &[&Scenario]) -> anyhow::Result<(Contents, Vec<CaseResult>)> {
    let mut contents = Contents::new();
    let mut transcript = String::new();
    let mut cases = Vec::new();
    let mut control_receipts = Vec::new();
    let mut environment = None;
    for scenario in [&CONTROL].iter().chain(scenarios) {
        let mut home = ScenarioHome::create(run, scenario.name)?;
        scenario.run(&mut home)?;
        let mut found = Vec::new();
        if scenario.name == "replay-or-reordering" {
            for (code, bytes) in scenario::replay(&mut home, &control_receipts, &run.secret.keys())? {
                contents.push((format!("replay/{code}.jsonl.tampered"), bytes));
                found.push(code);
            }
        }
        cases.push(check(scenario, &home, found)?);
        let bytes = home.receipts()?;
        if scenario.name == CONTROL.name {
            control_receipts.clone_from(&bytes);
        }
        contents.push((format!("receipts/{}.jsonl", home.session), bytes));
        let memory = PolicyTexts::default();
        let policy = home.policy(&memory);
        contents.push((format!("policy/{}/policy.json", scenario.name), policy.list().to_text().into_bytes()));
        let texts = policy.texts.into_iter();
        contents.extend(texts.map(|(name, text)| (format!("policy/{}/{name}", scenario.name), text.into_owned())));
        for step in &home.transcript {
            writeln!(transcript, "{step}")?;
        }
        environment = Some(home.environment.clone());
    }
    if let Some(environment) = environment {
        receipts::seal_operator(&environment, run.at).map_err(anyhow::Error::msg)?;
    }
    let operator = run.dir.0.join("state/receipts/@operator.jsonl");
    contents.push(("receipts/@operator.jsonl".to_owned(), std::fs::read(operator)?));
    contents.push(("transcript.jsonl".to_owned(), transcript.into_bytes()));
    Ok((contents, cases))
}

/// Checks a scenario by its last receipt and the server's call count.
fn check(scenario: &Scenario, home: &ScenarioHome, found: Vec<&'static str>) -> anyhow::Result<CaseResult> {
    let decided = home.last_decision()?;
    let dispatched = home.call_count(scenario.server);
    let reason = decided.reason.unwrap_or_default();
    let verdict = decided.verdict.unwrap_or_default();
    let refused = matches!(verdict.as_str(), "deny" | "ask");
    let control = scenario.name == CONTROL.name;
    let complete = scenario.name != "replay-or-reordering" || found == EXPECTED_FAULTS;
    let ok = reason == scenario.reason
        && complete
        && if control { !refused && dispatched == 1 } else { refused && dispatched == 0 };
    Ok(CaseResult {
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

fn render_report(cases: &[CaseResult], args: &ProofArgs, at: OffsetDateTime) -> String {
    let mut text = format!("# Proof `{}`, {}\n\n", args.run_id, receipts::time(Some(at)));
    let hook = args.hook.as_ref().map_or("the real hook".to_owned(), |hook| format!("`{}`", hook.display()));
    text.push_str(&format!(
        "Each call was put to {hook}. A call without objection was sent to a real MCP server, which counts calls.\n\n"
    ));
    text.push_str("| case | situation | tool | verdict | reason | calls counted | |\n|---|---|---|---|---|---|---|\n");
    for case in cases {
        let summary =
            ALL.iter().chain([&CONTROL]).find(|known| known.name == case.scenario).map_or("", |known| known.summary);
        let ok = if case.ok { "as expected" } else { "**NOT as expected**" };
        text.push_str(&format!(
            "| {} | {summary} | `{}` | {} | `{}` | {} | {ok} |\n",
            case.scenario, case.tool, case.verdict, case.reason, case.dispatched
        ));
    }
    let found: Vec<&str> = cases.iter().flat_map(|case| case.found.iter().copied()).collect();
    if !found.is_empty() {
        text.push_str(&format!(
            "\nThe verifier found these faults in replayed and reordered receipts: {}.\n",
            found.join(", ")
        ));
    }
    text.push_str("\n`ask` counts as refused, because no person was there to allow the call. Verify the pack with `rune receipts verify --key KEY DIR`\nand the key that the command printed: the key in the pack proves nothing by itself.\n");
    text
}

/// The secret that hashes arguments, derived from the run id.
fn args_secret(run_id: &str) -> [u8; 32] {
    let digits = digest(format!("rune proof {run_id}").as_bytes());
    let mut secret = [0; 32];
    secret.iter_mut().zip(digits.bytes()).for_each(|(byte, digit)| *byte = digit);
    secret
}
