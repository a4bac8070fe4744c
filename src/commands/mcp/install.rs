//! `rune mcp wrap --install` and `--uninstall`: edits a server's entry and keeps every other byte of the file.

use crate::commands::{current_dir, path_text, program, say};
use crate::runtime::environment::Environment;
use crate::runtime::exit_code::DONE;
use crate::runtime::files::{follow_links, read, write_like};
use crate::runtime::mcp::servers::{Configured, Servers};
use crate::runtime::{agent_check, receipts};
use anyhow::{Context, bail};
use rune::client::server::{Launch, ServerScope};
use rune::client::settings::FileError;
use rune::encoding::label::Label;
use rune::receipt::Loosening;
use std::path::Path;

/// Printed after a change, because an approval includes the command line of the server.
const APPROVE_AGAIN: &str = "the command line of the server has changed: approve it again, and start a new session";

/// Wraps a server in the client's configuration; `flags` are flags of `rune mcp wrap`.
pub fn install(name: &str, flags: &[&str], environment: &Environment) -> anyhow::Result<u8> {
    agent_check::require_person("`rune mcp wrap --install`")?;
    let server = find_server(name, environment)?;
    let Ok(Launch::Stdio { command, args, .. }) = &server.launch else {
        bail!("`{}` is not a stdio server\n  help: use `rune mcp probe`", Label::new(name));
    };
    if wrapped_command(command, args).is_some() {
        bail!("`{}` is already wrapped\n  help: `rune mcp wrap --uninstall` removes the wrap", Label::new(name));
    }
    let program = program()?;
    let data = environment.data_dir.as_ref().context("HOME is not set\n  help: set HOME or `--data-dir`")?;
    let data = path_text(data)?;
    let mut words = vec!["mcp", "wrap", "--server", name, "--data-dir", &data];
    words.extend(flags);
    words.extend(["--", command]);
    let words: Vec<String> = words.into_iter().map(str::to_owned).collect();
    receipts::record_loosening(environment, Loosening::McpWrapInstall)?;
    edit_entry(&server, |text, steps| environment.client.wrap_server(text, steps, &program, &words))?;
    say!("wrapped `{}` in {}", Label::new(name), server.file.display())?;
    if server.scope == ServerScope::Project {
        say("note: the entry contains paths of this machine; other users of the project cannot use it")?;
    }
    say(APPROVE_AGAIN)?;
    Ok(DONE)
}

/// Removes the wrap of a server from the client's configuration.
pub fn uninstall(name: &str, environment: &Environment) -> anyhow::Result<u8> {
    agent_check::require_person("`rune mcp wrap --uninstall`")?;
    let server = find_server(name, environment)?;
    let wrapped = match &server.launch {
        Ok(Launch::Stdio { command, args, .. }) => wrapped_command(command, args).map(|inner| (inner, args.len())),
        Ok(Launch::Http { .. }) | Err(_) => None,
    };
    let ((command, rest), all) = wrapped.with_context(|| format!("`{}` is not wrapped", Label::new(name)))?;
    receipts::record_loosening(environment, Loosening::McpWrapUninstall)?;
    edit_entry(&server, |text, steps| environment.client.unwrap_server(text, steps, &command, all - rest.len()))?;
    say!("removed the wrap of `{}` in {}", Label::new(name), server.file.display())?;
    say(APPROVE_AGAIN)?;
    Ok(DONE)
}

/// Returns the command and arguments that `rune mcp wrap` starts, if the command is `rune mcp wrap`.
pub fn wrapped_command(command: &str, args: &[String]) -> Option<(String, Vec<String>)> {
    let is_rune = Path::new(command).file_name().is_some_and(|name| name == "rune");
    if !is_rune || !matches!(args, [mcp, wrap, ..] if mcp == "mcp" && wrap == "wrap") {
        return None;
    }
    let at = args.iter().position(|word| word == "--")?;
    let (inner, rest) = args.get(at + 1..)?.split_first()?;
    Some((inner.clone(), rest.to_vec()))
}

fn find_server(name: &str, environment: &Environment) -> anyhow::Result<Configured> {
    let servers = Servers::for_directory(environment, &current_dir()?);
    let Some(server) = servers.named(name) else {
        let flaws = servers.flaws.iter().map(|flaw| format!("\n  {flaw}")).collect::<String>();
        bail!("no server `{}` is configured here{flaws}", Label::new(name));
    };
    match server.scope {
        ServerScope::Managed => bail!("{}: managed servers can only be changed by root", server.file.display()),
        ServerScope::Plugin => bail!("{}: the next update of the plugin would undo the change", server.file.display()),
        ServerScope::Local | ServerScope::Project | ServerScope::User => Ok(server.clone()),
    }
}

/// Rewrites the entry of a server in its configuration file.
fn edit_entry(
    server: &Configured,
    change: impl FnOnce(&str, &[&str]) -> Result<String, FileError>,
) -> anyhow::Result<()> {
    let path = follow_links(&server.file)?;
    let before = read(&path)?.with_context(|| format!("{}: the file no longer exists", path.display()))?;
    let steps: Vec<&str> = server.steps.iter().map(String::as_str).collect();
    let after = change(&before, &steps).map_err(|error| anyhow::anyhow!(error.describe(&path)))?;
    write_like(&path, &after, &path)
}
