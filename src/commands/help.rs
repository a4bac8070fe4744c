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
    /// Topic, or the words of a command [default: list the commands and topics]
    #[arg(value_name = "TOPIC")]
    words: Vec<String>,
}

/// The topics: name, subject and text of each document.
const TOPICS: [(&str, &str, &str); 7] = [
    ("rules", "the language of rule files, and how rules are tested", include_str!("../../rules/README.md")),
    ("config", "every key of config.toml, files and directories", include_str!("../../config/README.md")),
    ("presets", "what gentle, strict and off do", include_str!("../../presets/README.md")),
    ("architecture", "the source code, and where to add to it", include_str!("../README.md")),
    ("receipts", "the format of receipts and packs", include_str!("../receipt/FORMAT.md")),
    ("tests", "the tests, and differences from the seeds", include_str!("../../tests/README.md")),
    ("benches", "what a call costs, and how that is measured", include_str!("../../benches/README.md")),
];

/// Prints a topic or the help of a command. A topic takes precedence: a command of the same name has `--help`.
pub fn run(args: &HelpArgs) -> anyhow::Result<()> {
    let mut out = std::io::stdout().lock();
    if let [topic] = args.words.as_slice()
        && let Some(text) = find_topic(topic)
    {
        return Ok(out.write_all(text.as_bytes())?);
    }
    let mut cli = build_cli();
    cli.build();
    let mut command = &mut cli;
    for word in &args.words {
        let known: Vec<String> = command.get_subcommands().map(|below| below.get_name().to_owned()).collect();
        match command.find_subcommand_mut(word) {
            Some(below) => command = below,
            None => bail!(unknown_word(word, &known)),
        }
    }
    command.print_long_help()?;
    if args.words.is_empty() {
        writeln!(out, "\nTopics of `rune help TOPIC`:")?;
        for (name, about, _) in TOPICS {
            writeln!(out, "  {name:<13}{about}")?;
        }
    }
    Ok(())
}

fn find_topic(topic: &str) -> Option<&'static str> {
    TOPICS.iter().find(|(name, ..)| *name == topic).map(|(.., text)| *text)
}

/// The error message for a word that is neither a topic nor one of `commands`.
fn unknown_word(word: &str, commands: &[String]) -> String {
    let topics = TOPICS.map(|(name, ..)| name);
    let near = nearest(word, topics.into_iter().chain(commands.iter().map(String::as_str)));
    let help =
        near.map_or_else(|| format!("the topics are {}", topics.join(", ")), |near| format!("did you mean `{near}`?"));
    format!("unknown topic or command `{word}`\n  help: {help}")
}

#[cfg(test)]
#[path = "../../tests/unit/commands/help.rs"]
mod tests;
