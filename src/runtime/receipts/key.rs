//! The key file of the installation.

use crate::runtime::environment::Environment;
use crate::runtime::files;
use crate::runtime::policy_files;
use anyhow::Context;
use rune::receipt::{ArgumentsKey, Secret};
use std::fs::{self, OpenOptions};
use std::io::{Error, ErrorKind, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::PathBuf;

pub fn path(environment: &Environment) -> Result<PathBuf, String> {
    let data = environment.data_dir.as_ref().ok_or("receipts: HOME is not set and no `--data-dir` is given")?;
    Ok(data.join("receipt.key"))
}

/// Reads the key; `None` if there is none. The error names the file.
pub fn read(environment: &Environment) -> Result<Option<Secret>, String> {
    read_with(environment, Secret::read)
}

/// Reads the key, and creates one if there is none, so that no receipt is lost.
pub fn read_or_create(environment: &Environment) -> Result<Secret, String> {
    read_or_create_with(environment, Secret::read)
}

/// Reads the key for arguments; `None` if there is no key file.
pub fn read_arguments_key(environment: &Environment) -> Result<Option<ArgumentsKey>, String> {
    read_with(environment, ArgumentsKey::read)
}

/// The same, and creates a key file if there is none.
pub fn read_or_create_arguments_key(environment: &Environment) -> Result<ArgumentsKey, String> {
    read_or_create_with(environment, ArgumentsKey::read)
}

fn read_with<T>(environment: &Environment, parse: fn(&str) -> Option<T>) -> Result<Option<T>, String> {
    let path = path(environment)?;
    let Some(text) = policy_files::read_text(&path)? else { return Ok(None) };
    let broken = || format!("{}: not a receipt key\n  help: restore it, or remove it to get a new one", path.display());
    parse(&text).map(Some).ok_or_else(broken)
}

fn read_or_create_with<T>(environment: &Environment, parse: fn(&str) -> Option<T>) -> Result<T, String> {
    if let Some(key) = read_with(environment, parse)? {
        return Ok(key);
    }
    create(environment)?;
    read_with(environment, parse)?.ok_or_else(|| "receipts: the key went missing".to_owned())
}

/// Creates a key if there is none. If several processes try at once, one succeeds and all use its key.
pub fn create(environment: &Environment) -> Result<(), String> {
    let path = path(environment)?;
    if path.exists() {
        return Ok(());
    }
    let in_file = |error: Error| format!("receipts: {}: {error}", path.display());
    let secret = Secret::new(random_bytes().map_err(in_file)?, random_bytes().map_err(in_file)?);
    let write = || -> Result<(), Error> {
        if let Some(folder) = path.parent() {
            files::create_private_dir(folder)?;
        }
        let temporary = path.with_file_name(format!(".receipt.key.{}", std::process::id()));
        // A process that was killed may have left one of the same name.
        fs::remove_file(&temporary).ok();
        let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&temporary)?;
        file.write_all(secret.to_text().as_bytes())?;
        file.sync_all()?;
        // A hard link, unlike a rename, does not replace an existing file.
        let linked = fs::hard_link(&temporary, &path);
        fs::remove_file(&temporary).ok();
        match linked {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(()),
            linked => linked,
        }
    };
    write().map_err(in_file)
}

pub fn replace(environment: &Environment, secret: &Secret) -> anyhow::Result<()> {
    let path = path(environment).map_err(anyhow::Error::msg)?;
    files::write_like(&path, &secret.to_text(), &path).context("the key was not replaced")
}

/// Random bytes from the operating system.
pub fn random_bytes() -> Result<[u8; 32], Error> {
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes)?;
    Ok(bytes)
}
