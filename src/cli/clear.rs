//! `rune quarantine clear`: a person says that what a session has taken in does not count any more.

use super::args::ClearArgs;
use super::options::Dirs;
use super::world::World;
use super::{person, receipt, session};
use anyhow::{Context, anyhow};
use rune::label::Label;
use rune::receipt::Loosening;
use std::io::Write;

pub fn run(args: &ClearArgs) -> anyhow::Result<()> {
    person::may_loosen("`rune quarantine clear`", args.yes)?;
    let world = World::look(&Dirs::default());
    let session = Label::new(&args.session);
    if !session::seen(&world, &session).is_ok_and(|seen| seen.is_empty()) {
        receipt::loosen(&world, Loosening::QuarantineClear)?;
    }
    let cleared = session::clear(&world, &session).map_err(|what| anyhow!(what))?;
    let told = if cleared.is_empty() {
        "this session had read nothing from strangers".to_owned()
    } else {
        format!("forgotten: {}", cleared.words())
    };
    writeln!(std::io::stdout().lock(), "{told}").context("cannot print")
}
