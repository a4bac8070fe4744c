//! `rune explain --post FILE`: what the hook would do to a result.

use super::{ExplainArgs, preview};
use crate::commands::hook_options;
use crate::runtime::environment::Environment;
use anyhow::{Context, ensure};
use rune::verdict::Phase;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;

pub fn run(file: &Path, args: &ExplainArgs) -> anyhow::Result<()> {
    let event = if file == Path::new("-") {
        std::io::read_to_string(std::io::stdin()).context("cannot read stdin")?
    } else {
        std::fs::read_to_string(file).with_context(|| file.display().to_string())?
    };
    let options = hook_options(args.preset.as_deref(), None);
    let previewed = preview(&event, &options, &Environment::of(options.client, &options.dirs))?;
    ensure!(
        previewed.header.phase.is_some_and(Phase::is_after),
        "{}: not an event after a call\n  help: expected the JSON that the client sends to `rune hook post`",
        file.display()
    );
    let answer = options.client.answer(&previewed.header, &previewed.verdict).stdout.unwrap_or_else(|| "{}".to_owned());
    let mut out = std::io::stdout().lock();
    if args.json {
        return Ok(writeln!(out, "{answer}")?);
    }
    let answer = options.client.read_answer(&answer, Some(0));
    let mut text = match previewed.verdict.surface() {
        None => "the result does not come from an untrusted surface\n".to_owned(),
        Some(surface) if surface.trusted => format!("source: {}, trusted by your policy\n", surface.source),
        Some(surface) => format!("source: {} ({})\n", surface.source, surface.rule),
    };
    if previewed.verdict.surface().is_some_and(|surface| surface.taints) {
        text.push_str("the session would be tainted\n");
    }
    if let Some(context) = answer.context {
        write!(text, "\nadded to the result:\n{context}\n")?;
    }
    if let Some(result) = answer.replacement {
        write!(text, "\nreplaces the result:\n{}\n", serde_json::to_string_pretty(&result)?)?;
    }
    Ok(out.write_all(text.as_bytes())?)
}
