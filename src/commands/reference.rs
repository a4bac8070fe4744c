//! `rune completions` and `rune man`, generated from the definition of the command line.

use crate::commands::build_cli;
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
    /// Shell to print completions for
    shell: Shell,
}

/// Prints the man page, or writes the pages of all commands
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  rune man | man -l -\n  rune man --out ~/.local/share/man/man1")]
pub struct ManArgs {
    /// Write one page for each command into this directory
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

pub fn completions(args: &CompletionsArgs) -> anyhow::Result<()> {
    let mut text = Vec::new();
    clap_complete::generate(args.shell, &mut build_cli(), "rune", &mut text);
    Ok(std::io::stdout().lock().write_all(&text)?)
}

pub fn man(args: &ManArgs) -> anyhow::Result<()> {
    let Some(folder) = &args.out else {
        let mut text = Vec::new();
        clap_mangen::Man::new(build_cli()).render(&mut text)?;
        return Ok(std::io::stdout().lock().write_all(&text)?);
    };
    // The caller names the files that are overwritten, and an agent could name any directory.
    agent_check::refuse_agent("writing man pages")?;
    std::fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
    let mut command = build_cli().disable_help_subcommand(true);
    command.build();
    let mut pending = vec![command];
    while let Some(command) = pending.pop() {
        pending.extend(command.get_subcommands().filter(|below| !below.is_hide_set()).cloned());
        let page = clap_mangen::Man::new(command);
        let mut text = Vec::new();
        page.render(&mut text)?;
        write_public(&folder.join(page.get_filename()), &text)?;
    }
    Ok(())
}
