//! `rune pause` and `rune resume`: a timed switch-off.

use super::hooks::registered_options;
use super::{confirm, say};
use crate::runtime::environment::now;
use crate::runtime::{agent_check, pause, receipts};
use anyhow::{Context, anyhow};
use clap::Args;
use rune::encoding::escape;
use rune::policy::Pause;
use rune::receipt::Loosening;
use time::Duration;

/// Pauses the guard for some time; for people only
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  rune pause 15m\n\n\
The hooks stay registered and answer as under the preset off, except that the rules in `always_deny` of your policy and of gentle \
still deny. The pause ends by itself.")]
pub struct PauseArgs {
    /// How long, at most 8h: 90s, 15m or 2h
    #[arg(value_name = "DURATION")]
    duration: String,
    /// Do not ask; the process still needs a terminal
    #[arg(long)]
    yes: bool,
}

/// Ends a pause
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  rune resume")]
pub struct ResumeArgs {}

pub fn run(args: &PauseArgs) -> anyhow::Result<()> {
    let length = parse_duration(&args.duration)?;
    agent_check::require_confirmed_person("`rune pause`", args.yes)?;
    let environment = registered_options()?.environment();
    let too_long = || anyhow!("a pause of {} is too long: at most 8h", escape::one_line(&args.duration, 40));
    let pause = Pause::new(now(), length).with_context(too_long)?;
    if !confirm(
        &format!("The guard will let everything pass {pause}, except what is always denied. Pause it?"),
        args.yes,
    )? {
        return say("nothing was changed");
    }
    receipts::record_loosening(&environment, Loosening::Pause)?;
    pause::write(&environment, pause)?;
    say!("the guard is paused {pause}; `rune resume` ends the pause")
}

pub fn resume() -> anyhow::Result<()> {
    let environment = registered_options()?.environment();
    let was_paused = pause::read(&environment).is_some();
    pause::remove(&environment)?;
    say(if was_paused { "the pause has ended: the guard is on again" } else { "the guard was not paused" })
}

/// Parses seconds, minutes or hours.
fn parse_duration(text: &str) -> anyhow::Result<Duration> {
    let invalid =
        || anyhow!("invalid duration `{}`: expected e.g. `15m` or `2h`, at most 8h", escape::one_line(text, 40));
    let seconds = match text.chars().last().ok_or_else(invalid)? {
        's' => 1,
        'm' => 60,
        'h' => 3_600,
        _ => return Err(invalid()),
    };
    let count = text.get(..text.len() - 1).filter(|count| count.bytes().all(|byte| byte.is_ascii_digit()));
    let count: i64 = count.and_then(|count| count.parse().ok()).ok_or_else(invalid)?;
    let length = count.checked_mul(seconds).map(Duration::seconds).filter(|length| length.is_positive());
    length.filter(|length| *length <= Pause::MAX).ok_or_else(invalid)
}
