//! `rune receipts`: what people ask of receipts.

pub mod export;
pub mod list;
pub mod verify;

use crate::commands::hooks::{DirArgs, say};
use crate::runtime::agent_check;
use crate::runtime::exit_code::DONE;
use crate::runtime::receipts::append::Writer;
use crate::runtime::receipts::key;
use anyhow::{Context, anyhow};
use clap::{Args, Subcommand};
use rune::receipt::{PublicKey, ReceiptBody};
use std::path::PathBuf;

#[derive(Debug, Subcommand)]
pub enum Receipts {
    List(ListArgs),
    Show(ShowArgs),
    Export(ExportArgs),
    Verify(VerifyArgs),
    /// The key that signs: show the public one, or sign with a new one from now on
    #[command(subcommand, arg_required_else_help = true, after_help = "Example:\n  rune receipts key show")]
    Key(Key),
}

/// Lists the sessions that have receipts
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  rune receipts list")]
pub struct ListArgs {
    /// JSON lines instead of a table
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub dirs: DirArgs,
}

/// Shows the receipts of a session; whether they are genuine, `verify` tells
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  rune receipts show 977a3550-4d8b-4ce0-8865-a064dffdc873")]
pub struct ShowArgs {
    /// The session, or a file of receipts
    pub session: String,
    /// The lines as they are
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub dirs: DirArgs,
}

/// Copies receipts into a sealed pack, and prints a hash of it to keep where no agent can write
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  rune receipts export --out audit-november\n  rune receipts export 977a3550-4d8b-4ce0-8865-a064dffdc873 --out audit"
)]
pub struct ExportArgs {
    /// The session [default: all]
    pub session: Option<String>,
    /// The directory to make
    #[arg(long, value_name = "DIR")]
    pub out: PathBuf,
    /// JSON instead of words
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub dirs: DirArgs,
}

/// Verifies a file of receipts, a folder of them, or a pack; needs nothing but the key
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  rune receipts verify --key audit.pub audit-november\n  rune receipts verify --head sha256:… session.jsonl\n\n\
Exit 0: valid. Exit 1: invalid, with each fault and its line. Exit 2: cannot tell, as where a session is not sealed and more may have followed."
)]
pub struct VerifyArgs {
    /// A public key to believe, as a file or 64 hex digits; may be given more than once [default: this installation's]
    #[arg(long, value_name = "FILE|HEX")]
    pub key: Vec<String>,
    /// A hash that was kept elsewhere: of a receipt that has to be there, or of a pack
    #[arg(long, value_name = "HASH")]
    pub head: Option<String>,
    /// JSON instead of words
    #[arg(long)]
    pub json: bool,
    /// What to verify
    pub path: PathBuf,
    #[command(flatten)]
    pub dirs: DirArgs,
}

#[derive(Debug, Subcommand)]
pub enum Key {
    Show(KeyArgs),
    Rotate(RotateArgs),
}

/// Prints the public key of this installation, for those who verify
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  rune receipts key show > audit.pub")]
pub struct KeyArgs {
    #[command(flatten)]
    pub dirs: DirArgs,
}

/// Signs with a new key from now on; the old one signs that; for people only
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  rune receipts key rotate")]
pub struct RotateArgs {
    /// Do it where stdin is not a terminal; a terminal is needed all the same
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
        Receipts::Key(Key::Show(args)) => {
            let environment = args.dirs.environment()?;
            let secret = key::read(&environment).map_err(|what| anyhow!(what))?;
            let help = "help: the first receipt makes one, and so does `rune hooks install`";
            say(secret.with_context(|| format!("there is no key yet\n  {help}"))?.public())?;
        }
        Receipts::Key(Key::Rotate(args)) => rotate(args)?,
    }
    Ok(DONE)
}

fn rotate(args: &RotateArgs) -> anyhow::Result<()> {
    agent_check::may_loosen("`rune receipts key rotate`", args.yes)?;
    let environment = args.dirs.environment()?;
    let old = key::read_or_make(&environment).map_err(|what| anyhow!(what))?;
    let new = old.rotated(key::random()?);
    let next = PublicKey::read(new.public()).context("the new key is none")?;
    // Should we end between the two, the old key goes on and the new one is never used.
    Writer::of_operator(&environment, None)
        .and_then(|writer| writer.append(&ReceiptBody::Rotate(next)))
        .map_err(|what| anyhow!(what))?;
    key::replace(&environment, &new)?;
    say(&format!("{}\nnow signs; {} has signed that", new.public(), old.public()))
}
