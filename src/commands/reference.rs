//! Completions and man pages, made from the definition of the command line.

use crate::commands::definition;
use crate::runtime::agent_check;
use crate::runtime::files::write_public;
use anyhow::Context;
use clap::Args;
use clap_complete::Shell;
use std::io::Write;
use std::path::PathBuf;

/// Prints completions for a shell
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  rune completions bash > ~/.local/share/bash-completion/completions/rune")]
pub struct CompletionsArgs {
    /// The shell that they are for
    shell: Shell,
}

/// Prints the man page, or writes those of all verbs
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  rune man | man -l -\n  rune man --out ~/.local/share/man/man1")]
pub struct ManArgs {
    /// Write one page a verb into this directory
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

pub fn completions(args: &CompletionsArgs) -> anyhow::Result<()> {
    let mut text = Vec::new();
    clap_complete::generate(args.shell, &mut definition(), "rune", &mut text);
    Ok(std::io::stdout().lock().write_all(&text)?)
}

pub fn man(args: &ManArgs) -> anyhow::Result<()> {
    let Some(folder) = &args.out else {
        let mut text = Vec::new();
        clap_mangen::Man::new(definition()).render(&mut text)?;
        return Ok(std::io::stdout().lock().write_all(&text)?);
    };
    // What it writes over is for its caller to name, and an agent could name anything.
    agent_check::refuse_agent("writing man pages")?;
    std::fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
    let mut command = definition().disable_help_subcommand(true);
    command.build();
    let mut open = vec![command];
    while let Some(command) = open.pop() {
        open.extend(command.get_subcommands().filter(|below| !below.is_hide_set()).cloned());
        let page = clap_mangen::Man::new(command);
        let mut text = Vec::new();
        page.render(&mut text)?;
        write_public(&folder.join(page.get_filename()), &text)?;
    }
    Ok(())
}
