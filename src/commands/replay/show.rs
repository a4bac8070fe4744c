//! The result as tables, as JSON, and as one line.

use super::suggest::Suggested;
use super::tally::{Example, PresetTally, RuleTally, Tally};
use crate::commands::style::{COLUMNS, Style, paint, wrap};
use rune::encoding::escape::one_line;
use serde::Serialize;
use std::cmp::Reverse;
use std::fmt::Write;

/// Characters of an example in the table.
const MAX_EXAMPLE_CHARS: usize = 72;

pub struct Report<'a> {
    pub tally: &'a Tally,
    /// The preset whose rules are listed.
    pub chosen: &'a str,
    pub suggested: &'a Suggested,
    pub is_hidden: bool,
}

#[derive(Serialize)]
struct ReportJson<'a> {
    sessions: u64,
    calls: u64,
    tainted_sessions: u64,
    unreadable_files: usize,
    skipped_lines: usize,
    first: Option<&'a str>,
    last: Option<&'a str>,
    preset: &'a str,
    presets: Vec<PresetJson<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    suggested: Option<&'a Suggested>,
}

#[derive(Serialize)]
struct PresetJson<'a> {
    preset: &'a str,
    asks: u64,
    denials: u64,
    advice: u64,
    interrupts_per_100: f64,
    advice_per_100: f64,
    quiet_sessions: u64,
    marked_results: u64,
    rules: Vec<RuleJson<'a>>,
}

#[derive(Serialize)]
struct RuleJson<'a> {
    rule: &'a str,
    asks: u64,
    denials: u64,
    advice: u64,
    examples: Vec<ExampleJson<'a>>,
}

#[derive(Serialize)]
struct ExampleJson<'a> {
    time: &'a str,
    session: &'a str,
    tool: &'a str,
    text: Option<&'a str>,
}

fn example_json(example: &Example) -> ExampleJson<'_> {
    ExampleJson { time: &example.time, session: &example.session, tool: &example.tool, text: example.text.as_deref() }
}

fn preset_json(preset: &PresetTally, calls: u64) -> PresetJson<'_> {
    let rules = ranked(preset).into_iter().map(|(name, rule)| RuleJson {
        rule: name,
        asks: rule.asks,
        denials: rule.denials,
        advice: rule.advice,
        examples: rule.examples.iter().map(example_json).collect(),
    });
    PresetJson {
        preset: &preset.name,
        asks: preset.asks,
        denials: preset.denials,
        advice: preset.advice,
        interrupts_per_100: per_100(preset.interrupts(), calls),
        advice_per_100: per_100(preset.advice, calls),
        quiet_sessions: preset.quiet_sessions,
        marked_results: preset.marked,
        rules: rules.collect(),
    }
}

/// A count per hundred calls, with two decimals.
#[expect(clippy::cast_precision_loss, reason = "counts of calls are far below 2^52")]
fn per_100(count: u64, calls: u64) -> f64 {
    if calls == 0 { 0.0 } else { (count as f64 * 10_000.0 / calls as f64).round() / 100.0 }
}

/// The rules of a preset, those that interrupt most first.
fn ranked(preset: &PresetTally) -> Vec<(&str, &RuleTally)> {
    let mut rules: Vec<(&str, &RuleTally)> = preset.rules.iter().map(|(name, rule)| (name.as_str(), rule)).collect();
    rules.sort_by_key(|(_, rule)| Reverse((rule.interrupts(), rule.advice)));
    rules
}

/// A number with separators between thousands.
fn number(count: u64) -> String {
    let digits = count.to_string();
    let at = |(at, digit): (usize, char)| {
        let separator = if at > 0 && (digits.len() - at).is_multiple_of(3) { "," } else { "" };
        format!("{separator}{digit}")
    };
    digits.chars().enumerate().map(at).collect()
}

fn counted(count: u64, what: &str) -> String {
    if count == 1 { format!("1 {what}") } else { format!("{} {what}s", number(count)) }
}

/// One line for the end of an installation; empty if no calls are recorded.
pub fn summary(tally: &Tally) -> String {
    if tally.calls == 0 {
        return String::new();
    }
    let of = |preset: &PresetTally| format!("{} {:.1}", preset.name, per_100(preset.interrupts(), tally.calls));
    let presets = tally.presets.iter().map(of).collect::<Vec<_>>().join(", ");
    let calls = number(tally.calls);
    format!(
        "In the recorded sessions ({calls} calls) would have been stopped, per 100 calls: {presets} (`rune replay`)\n"
    )
}

impl Report<'_> {
    pub fn json(&self) -> anyhow::Result<String> {
        let tally = self.tally;
        let json = ReportJson {
            sessions: tally.sessions,
            calls: tally.calls,
            tainted_sessions: tally.tainted_sessions,
            unreadable_files: tally.unreadable_files,
            skipped_lines: tally.skipped_lines,
            first: tally.times.as_ref().map(|(first, _)| first.as_str()),
            last: tally.times.as_ref().map(|(_, last)| last.as_str()),
            preset: self.chosen,
            presets: tally.presets.iter().map(|preset| preset_json(preset, tally.calls)).collect(),
            suggested: (!self.is_hidden).then_some(self.suggested),
        };
        Ok(crate::commands::to_json(&json)? + "\n")
    }

    pub fn text(&self, style: Style) -> String {
        let tally = self.tally;
        let Some((first, last)) = tally.times.as_ref().filter(|_| tally.calls > 0) else {
            return "no recorded calls match\n  help: name directories with transcripts, or omit `--since`\n"
                .to_owned();
        };
        let day = |time: &str| one_line(&time.chars().take(10).collect::<String>(), 10).into_owned();
        let (sessions, calls) = (counted(tally.sessions, "session"), counted(tally.calls, "call"));
        let mut text = format!("{sessions} with {calls}, {} to {}\n", day(first), day(last));
        if tally.tainted_sessions > 0 {
            writeln!(text, "untrusted content was read in {}", counted(tally.tainted_sessions, "session")).ok();
        }
        for (count, what) in
            [(tally.unreadable_files, "files that cannot be opened"), (tally.skipped_lines, "lines that are too long")]
        {
            if count > 0 {
                writeln!(text, "not judged: {count} {what}").ok();
            }
        }
        let title = format!(
            "\n{:<12}{:>7}{:>8}{:>9}{:>9}{:>9}   sessions without",
            "preset", "asked", "denied", "per 100", "advised", "per 100"
        );
        text.push_str(&paint(style, "1", &title));
        text.push('\n');
        for preset in &tally.presets {
            let (interrupts, advice) = (per_100(preset.interrupts(), tally.calls), per_100(preset.advice, tally.calls));
            let (name, asks, denials) = (one_line(&preset.name, 11), number(preset.asks), number(preset.denials));
            let quiet = format!("{} of {}", number(preset.quiet_sessions), number(tally.sessions));
            let advised = number(preset.advice);
            writeln!(text, "{name:<12}{asks:>7}{denials:>8}{interrupts:>9.2}{advised:>9}{advice:>9.2}   {quiet}").ok();
        }
        if let Some(preset) = tally.presets.iter().find(|preset| preset.name == self.chosen) {
            self.add_rules(&mut text, preset, style);
        }
        self.add_suggestions(&mut text, style);
        text
    }

    fn add_rules(&self, text: &mut String, preset: &PresetTally, style: Style) {
        let rules = ranked(preset);
        if rules.is_empty() {
            return;
        }
        let title = format!(
            "\n{:<50}{:>8}{:>8}{:>8}",
            format!("rules under {}", one_line(&preset.name, 20)),
            "asked",
            "denied",
            "advised"
        );
        text.push_str(&paint(style, "1", &title));
        text.push('\n');
        for (name, rule) in rules {
            let (asks, denials, advice) = (number(rule.asks), number(rule.denials), number(rule.advice));
            writeln!(text, "{:<50}{asks:>8}{denials:>8}{advice:>8}", one_line(name, 48)).ok();
            for example in rule.examples.iter().filter_map(|example| example.text.as_ref().map(|text| (example, text)))
            {
                let (example, command) = example;
                let shown = one_line(command, MAX_EXAMPLE_CHARS - example.tool.chars().count().min(30));
                writeln!(text, "    {}", paint(style, "2", &format!("{}: {shown}", one_line(&example.tool, 30)))).ok();
            }
        }
    }

    fn add_suggestions(&self, text: &mut String, style: Style) {
        let suggested = self.suggested;
        if suggested.lines.is_empty() {
            return;
        }
        let (removed, of) = (number(suggested.removed), number(suggested.of));
        let title = format!("\nto remove {removed} of the {of} interruptions under {}", one_line(self.chosen, 20));
        text.push_str(&paint(style, "1", &title));
        text.push('\n');
        if self.is_hidden {
            text.push_str("not shown to agents: the lines quote commands\n");
            return;
        }
        for line in &suggested.lines {
            // A line that is broken could not be copied.
            writeln!(text, "{:>5}  {}", number(line.removed), line.line).ok();
        }
        let note = "Read each line before you run it: it allows such calls in every project.";
        text.extend(wrap(note, COLUMNS).into_iter().map(|line| line + "\n"));
    }
}
