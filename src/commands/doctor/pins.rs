//! Pins of MCP servers: unreadable files, and servers that have no pin although the policy requires one.

use super::Problem;
use crate::runtime::environment::Environment;
use crate::runtime::mcp::records::Store;
use crate::runtime::mcp::servers::Servers;
use crate::runtime::options::Options;
use crate::runtime::policy_files;
use rune::encoding::label::Label;
use rune::mcp::PinPolicy;
use std::path::Path;

pub fn check(options: &Options, environment: &Environment, project: &Path) -> Vec<Problem> {
    let environment = environment.with_dirs(&options.dirs);
    let Ok(store) = Store::of(&environment) else { return Vec::new() };
    let (names, unreadable) = store.servers();
    let advice =
        "calls to its server are denied; run `rune mcp probe` and `rune mcp approve`, and look who changed the file";
    let broken = |path: &Path, what: &str| Problem::new("pin-unreadable", what, advice).at(path.display().to_string());
    let mut problems: Vec<Problem> = unreadable.iter().map(|one| broken(&one.path, &one.what)).collect();
    for name in &names {
        let errors = [store.pin(name).err(), store.observed(name).err()];
        problems.extend(errors.into_iter().flatten().map(|error| broken(&error.path, &error.what)));
    }
    if policy_files::settings(options, &environment).pins != PinPolicy::Required {
        return problems;
    }
    for name in Servers::for_call(&environment, &project.to_string_lossy()).names() {
        let Ok(pin) = store.pin(&name) else { continue };
        if !pin.is_some_and(|pin| pin.is_approved() || pin.is_blocked()) {
            let label = Label::new(&name);
            let what = format!("the MCP server `{label}` is not approved, and this preset denies calls to it");
            let advice = format!("run `rune mcp probe {label}`, and then `rune mcp approve {label}`");
            problems.push(Problem::new("server-unpinned", what, advice));
        }
    }
    problems
}
