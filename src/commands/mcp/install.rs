//! Putting the wrap into a server's configuration and taking it out, as text: every foreign byte stays.

use crate::commands::hooks::say;
use crate::runtime::environment::Environment;
use crate::runtime::exit_code::DONE;
use crate::runtime::files::{follow, put, read};
use crate::runtime::mcp::servers::{Configured, Scope, Servers};
use crate::runtime::{agent_check, receipts};
use anyhow::{Context, bail};
use rune::client::claude::rewrap;
use rune::client::claude::server::Launch;
use rune::client::claude::settings::Broken;
use rune::encoding::label::Label;
use rune::receipt::Loosening;
use std::path::Path;

pub fn install(name: &str, strip: bool, environment: &Environment) -> anyhow::Result<u8> {
    agent_check::check("`rune mcp wrap --install`")?;
    let server = find(name, environment)?;
    let Ok(Launch::Stdio { command, args, .. }) = &server.launch else {
        bail!("`{}` is not a server on standard streams\n  help: use `rune mcp probe`", Label::new(name));
    };
    if unwrapped(command, args).is_some() {
        bail!("`{}` is wrapped already\n  help: `rune mcp wrap --uninstall` takes it out", Label::new(name));
    }
    let program = std::env::current_exe().context("where this program lies cannot be told")?;
    let data = environment.data_dir.as_ref().context("HOME is not set\n  help: set it, or name `--data-dir`")?;
    let mut words = vec!["mcp".to_owned(), "wrap".to_owned(), "--server".to_owned(), name.to_owned()];
    words.extend(["--data-dir".to_owned(), text(data)?]);
    words.extend(strip.then(|| "--strip".to_owned()));
    words.extend(["--".to_owned(), command.clone()]);
    let program = text(&program)?;
    receipts::loosen(environment, Loosening::McpWrapInstall)?;
    edit(&server, |text, steps| rewrap::wrap(text, steps, &program, &words))?;
    say(&format!("`{}` is wrapped in {}", Label::new(name), server.file.display()))?;
    if server.scope == Scope::Project {
        say("note: the entry names files of this machine; others who share the project need their own")?;
    }
    say("the way it is started has changed: approve the server again, and start a new session")?;
    Ok(DONE)
}

pub fn uninstall(name: &str, environment: &Environment) -> anyhow::Result<u8> {
    agent_check::check("`rune mcp wrap --uninstall`")?;
    let server = find(name, environment)?;
    let found = match &server.launch {
        Ok(Launch::Stdio { command, args, .. }) => unwrapped(command, args).map(|found| (found, args.len())),
        Ok(Launch::Http { .. }) | Err(_) => None,
    };
    let ((command, rest), all) = found.with_context(|| format!("`{}` is not wrapped", Label::new(name)))?;
    receipts::loosen(environment, Loosening::McpWrapUninstall)?;
    edit(&server, |text, steps| rewrap::unwrap(text, steps, &command, all - rest.len()))?;
    say(&format!("`{}` is as it was in {}", Label::new(name), server.file.display()))?;
    say("the way it is started has changed: approve the server again, and start a new session")?;
    Ok(DONE)
}

/// The command and arguments that our wrap would start, where a server is wrapped.
pub fn unwrapped(command: &str, args: &[String]) -> Option<(String, Vec<String>)> {
    let ours = Path::new(command).file_name().is_some_and(|name| name == "rune");
    if !ours || args.first().map(String::as_str) != Some("mcp") || args.get(1).map(String::as_str) != Some("wrap") {
        return None;
    }
    let at = args.iter().position(|word| word == "--")?;
    let (inner, rest) = args.get(at + 1..)?.split_first()?;
    Some((inner.clone(), rest.to_vec()))
}

fn find(name: &str, environment: &Environment) -> anyhow::Result<Configured> {
    let here = std::env::current_dir().context("the current directory cannot be told")?;
    let servers = Servers::for_directory(environment, &here);
    let Some(server) = servers.named(name) else {
        let flaws = servers.flaws.iter().map(|flaw| format!("\n  {flaw}")).collect::<String>();
        bail!("no server `{}` is configured here{flaws}", Label::new(name));
    };
    match server.scope {
        Scope::Managed => bail!("{}: the machine's servers belong to root", server.file.display()),
        Scope::Plugin => bail!("{}: the next update of the plugin would undo it", server.file.display()),
        Scope::Local | Scope::Project | Scope::User => Ok(server.clone()),
    }
}

/// Changes the entry of a server in the text of its file.
fn edit(server: &Configured, change: impl FnOnce(&str, &[&str]) -> Result<String, Broken>) -> anyhow::Result<()> {
    let path = follow(&server.file)?;
    let before = read(&path)?.with_context(|| format!("{}: it is gone", path.display()))?;
    let steps: Vec<&str> = server.steps.iter().map(String::as_str).collect();
    let after = change(&before, &steps)
        .map_err(|broken| anyhow::anyhow!("{}:{}:{}: {}", path.display(), broken.line, broken.column, broken.what))?;
    put(&path, &after, &path)
}

fn text(path: &Path) -> anyhow::Result<String> {
    let text = path.to_str().with_context(|| format!("{}: not a name that JSON can hold", path.display()))?;
    Ok(text.to_owned())
}
