//! `rune explain --post FILE`: what would be done to a result.

use super::ExplainArgs;
use super::preview;
use crate::runtime::environment::Environment;
use crate::runtime::options::Options;
use anyhow::{Context, ensure};
use rune::verdict::Phase;
use std::fmt::Write as _;
use std::io::{Read, Write as _};
use std::path::Path;

pub fn run(file: &Path, args: &ExplainArgs) -> anyhow::Result<()> {
    let mut event = String::new();
    if file == Path::new("-") {
        std::io::stdin().read_to_string(&mut event).context("cannot read stdin")?;
    } else {
        event = std::fs::read_to_string(file).with_context(|| file.display().to_string())?;
    }
    let words: Vec<_> = args.preset.iter().flat_map(|preset| ["--preset".into(), preset.into()]).collect();
    let options = Options::parse(&words);
    let judged = preview(&event, &options, &Environment::read(&options.dirs))?;
    ensure!(
        judged.header.phase.is_some_and(Phase::is_after),
        "{}: this is no event after a call\n  help: it is what the client sends to `rune hook post`",
        file.display()
    );
    let answer = options.client.answer(&judged.header, &judged.verdict).stdout.unwrap_or_else(|| "{}".to_owned());
    let mut out = std::io::stdout().lock();
    if args.json {
        return writeln!(out, "{answer}").context("cannot print");
    }
    let answer: serde_json::Value = serde_json::from_str(&answer).context("the answer is no JSON")?;
    let mut told = match judged.verdict.surface() {
        None => "the result comes from no untrusted surface\n".to_owned(),
        Some(surface) if surface.trusted => format!("source: {}, which you trust\n", surface.source),
        Some(surface) => format!("source: {} ({})\n", surface.source, surface.rule),
    };
    if judged.verdict.surface().is_some_and(|surface| surface.taints) {
        told.push_str("the session would be tainted\n");
    }
    let output = answer.get("hookSpecificOutput");
    if let Some(said) = output.and_then(|output| output.get("additionalContext")?.as_str()) {
        write!(told, "\nbeside the result:\n{said}\n")?;
    }
    if let Some(result) = output.and_then(|output| output.get("updatedToolOutput")) {
        write!(told, "\nin its place:\n{}\n", serde_json::to_string_pretty(result)?)?;
    }
    out.write_all(told.as_bytes()).context("cannot print")
}
