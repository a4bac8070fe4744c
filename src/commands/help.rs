//! `rune help`: the documents of the repository, and the help of the other commands.

use crate::commands::build_cli;
use anyhow::bail;
use clap::Args;
use rune::encoding::nearest;
use std::io::Write;

/// Prints a document, or the help of a command
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  rune help rules\n  rune help hooks install")]
pub struct HelpArgs {
    /// A topic, or the words of a command; without one, the commands and the topics
    #[arg(value_name = "TOPIC")]
    words: Vec<String>,
}

/// The topics: name, what the document is about, and its text.
const TOPICS: [(&str, &str, &str); 7] = [
    ("rules", "the language of rule files, and how rules are tested", include_str!("../../rules/README.md")),
    ("config", "every key of config.toml, files and directories", include_str!("../../config/README.md")),
    ("presets", "what gentle, strict and off do", include_str!("../../presets/README.md")),
    ("architecture", "the source code, and where to add to it", include_str!("../README.md")),
    ("receipts", "the format of receipts and packs", include_str!("../receipt/FORMAT.md")),
    ("tests", "the tests, and differences from the seeds", include_str!("../../tests/README.md")),
    ("benches", "what a call costs, and how that is measured", include_str!("../../benches/README.md")),
];

/// Prints what `args` name. A topic wins over a command of the same name: that command has `--help`.
pub fn run(args: &HelpArgs) -> anyhow::Result<()> {
    let mut command = build_cli();
    command.build();
    let mut out = std::io::stdout().lock();
    if let [topic] = args.words.as_slice()
        && let Some(text) = text(topic)
    {
        return Ok(out.write_all(text.as_bytes())?);
    }
    let mut named = &mut command;
    for word in &args.words {
        let known: Vec<String> = named.get_subcommands().map(|below| below.get_name().to_owned()).collect();
        match named.find_subcommand_mut(word) {
            Some(below) => named = below,
            None => bail!(unknown(word, &known)),
        }
    }
    named.print_long_help()?;
    if args.words.is_empty() {
        writeln!(out, "\nTopics of `rune help TOPIC`:")?;
        for (name, about, _) in TOPICS {
            writeln!(out, "  {name:<13}{about}")?;
        }
    }
    Ok(())
}

/// The document of a topic.
fn text(topic: &str) -> Option<&'static str> {
    TOPICS.iter().find(|(name, ..)| *name == topic).map(|(.., text)| *text)
}

/// The error for a word that is neither a topic nor one of these commands.
fn unknown(word: &str, commands: &[String]) -> String {
    let topics = TOPICS.map(|(name, ..)| name);
    let near = nearest(word, topics.into_iter().chain(commands.iter().map(String::as_str)));
    let help =
        near.map_or_else(|| format!("the topics are {}", topics.join(", ")), |near| format!("did you mean `{near}`?"));
    format!("unknown topic or command `{word}`\n  help: {help}")
}

#[cfg(test)]
#[path = "../../tests/unit/commands/help.rs"]
mod tests;
