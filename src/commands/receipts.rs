//! `rune receipts`: lists, shows, exports and verifies receipts, and manages the key that signs them.

pub mod export;
mod list;
pub mod verify;

use crate::commands::hooks::DirArgs;
use crate::commands::say;
use crate::runtime::agent_check;
use crate::runtime::exit_code::DONE;
use crate::runtime::receipts::{self, key};
use anyhow::{Context, Error};
use clap::{Args, Subcommand};
use rune::receipt::{PublicKey, ReceiptBody};
use std::path::PathBuf;

#[derive(Debug, Subcommand)]
pub enum Receipts {
    List(ListArgs),
    Show(ShowArgs),
    Export(ExportArgs),
    Verify(VerifyArgs),
    /// Shows the public key, or replaces the key that signs receipts
    #[command(subcommand, arg_required_else_help = true, after_help = "Example:\n  rune receipts key show")]
    Key(KeyCommand),
}

/// Lists the sessions that have receipts
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  rune receipts list")]
pub struct ListArgs {
    /// Print JSON lines instead of a table
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub dirs: DirArgs,
}

/// Shows the receipts of a session without verifying them
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  rune receipts show 977a3550-4d8b-4ce0-8865-a064dffdc873")]
pub struct ShowArgs {
    /// Session id, or a file of receipts
    pub session: String,
    /// Print the lines as they are in the file
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub dirs: DirArgs,
}

/// Copies receipts into a sealed pack and prints its hash; keep the hash where no agent can write
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  rune receipts export --out audit-november\n  rune receipts export 977a3550-4d8b-4ce0-8865-a064dffdc873 --out audit"
)]
pub struct ExportArgs {
    /// Session to export [default: all]
    pub session: Option<String>,
    /// Directory to create
    #[arg(long, value_name = "DIR")]
    pub out: PathBuf,
    /// Print JSON instead of text
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub dirs: DirArgs,
}

/// Verifies a file of receipts, a folder of them, or a pack, with nothing but the public key
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  rune receipts verify --key audit.pub audit-november\n  rune receipts verify --head sha256:… session.jsonl\n\n\
Exit 0: valid. Exit 1: invalid; each fault is printed with its line. Exit 2: undecided, e.g. if a session is not sealed and receipts may be missing at its end."
)]
pub struct VerifyArgs {
    /// Trusted public key, as a file or 64 hex digits; may be repeated [default: this installation's key]
    #[arg(long, value_name = "FILE|HEX")]
    pub key: Vec<String>,
    /// Hash that was kept elsewhere: of a receipt that must exist, or of a pack
    #[arg(long, value_name = "HASH")]
    pub head: Option<String>,
    /// Print JSON instead of text
    #[arg(long)]
    pub json: bool,
    /// File, folder or pack to verify
    pub path: PathBuf,
    #[command(flatten)]
    pub dirs: DirArgs,
}

#[derive(Debug, Subcommand)]
pub enum KeyCommand {
    /// Prints the public key of this installation, which verifies its receipts
    #[command(after_help = "Example:\n  rune receipts key show > audit.pub")]
    Show(DirArgs),
    Rotate(RotateArgs),
}

/// Replaces the key; the old key signs the new one; for people only
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  rune receipts key rotate")]
pub struct RotateArgs {
    /// Go on even if stdin is not a terminal; the process still needs a terminal
    #[arg(long)]
    pub yes: bool,
    #[command(flatten)]
    pub dirs: DirArgs,
}

pub fn run(command: &Receipts) -> anyhow::Result<u8> {
    match command {
        Receipts::List(args) => list::list(args)?,
        Receipts::Show(args) => list::show(args)?,
        Receipts::Export(args) => export::run(args)?,
        Receipts::Verify(args) => return verify::run(args),
        Receipts::Key(KeyCommand::Show(dirs)) => {
            let secret = key::read(&dirs.environment()?).map_err(Error::msg)?;
            let help = "help: the first receipt creates one, and so does `rune hooks install`";
            say(secret.with_context(|| format!("this installation has no key yet\n  {help}"))?.public())?;
        }
        Receipts::Key(KeyCommand::Rotate(args)) => rotate(args)?,
    }
    Ok(DONE)
}

fn rotate(args: &RotateArgs) -> anyhow::Result<()> {
    agent_check::require_confirmed_person("`rune receipts key rotate`", args.yes)?;
    let environment = args.dirs.environment()?;
    let old = key::read_or_create(&environment).map_err(Error::msg)?;
    let new = old.rotated(key::random_bytes()?);
    let next = PublicKey::read(new.public()).context("the generated key is invalid")?;
    // If the process ends between the two writes, the old key stays in use and the new one is never used.
    receipts::record_operator_action(&environment, &ReceiptBody::Rotate(next), None).map_err(Error::msg)?;
    key::replace(&environment, &new)?;
    say!("{}\nsigns from now on; it is signed by the old key {}", new.public(), old.public())
}

/// Replaces what is not printable ASCII, and truncates: file names and receipts may contain anything.
fn printable(text: &str) -> String {
    text.chars().map(|c| if c.is_ascii_graphic() { c } else { '?' }).take(128).collect()
}
