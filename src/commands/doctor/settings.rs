//! What the settings files say about all hooks: which are off, which are dropped, and whose they are.

use super::finding::Finding;
use crate::commands::hooks::{Layer, Layers, Level, Wired};
use rune::client::claude::settings::Settings;

/// Variables that move or silence a guard whose entries do not say where things are, or that load other code into it.
const VARIABLES: [&str; 5] = ["QUARANTINE_DISABLE", "HOME", "PATH", "CLAUDE_CONFIG_DIR", "CLAUDE_PROJECT_DIR"];
const PREFIXES: [&str; 3] = ["XDG_", "LD_", "DYLD_"];

/// Variables that start the client without hooks.
const SWITCHES: [&str; 2] = ["CLAUDE_CODE_SIMPLE", "CLAUDE_CODE_SAFE_MODE"];

pub fn check(layers: &Layers, wired: &[Wired<'_>]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for layer in layers.iter() {
        match &layer.settings {
            Err((place, what)) => findings.push(
                Finding::new(
                    "settings-unreadable",
                    format!("the client cannot read these settings: {what}"),
                    "mend the file: settings are plain JSON, without comments",
                )
                .at(place),
            ),
            Ok(settings) => {
                findings.extend(invalid(layer, settings));
                findings.extend(switches(layer, settings, wired));
                findings.extend(variables(layer, settings));
            }
        }
    }
    findings.extend(registered(layers, wired));
    findings
}

/// Members and entries that the client refuses.
fn invalid(layer: &Layer, settings: &Settings) -> Vec<Finding> {
    let finding = |invalid: rune::client::claude::settings::Invalid| {
        let what = format!("{} {}", invalid.event, invalid.what);
        let place = layer.place(&invalid.pointer);
        if invalid.voids {
            let what = format!("the client drops this whole file: {what}");
            return Finding::new("settings-void", what, "mend or remove it").at(place);
        }
        let what = format!("the client drops this entry, and older ones the whole file: {what}");
        Finding::new("entry-invalid", what, "mend or remove the entry").at(place)
    };
    settings.invalid().into_iter().map(finding).collect()
}

/// Switches that turn hooks off, whether or not another file turns them on again.
fn switches(layer: &Layer, settings: &Settings, wired: &[Wired<'_>]) -> Vec<Finding> {
    let mut findings = Vec::new();
    let managed = layer.level == Level::Managed;
    if settings.is_on("disableAllHooks") {
        let advice = if managed {
            "the machine's settings decide: ask whoever keeps them"
        } else {
            "take it out, or start with `claude --settings '{\"disableAllHooks\": false}'`, or register in the managed scope: `rune hooks install --scope managed`"
        };
        let what = format!("the {} settings switch all hooks off", layer.level.name());
        findings.push(Finding::new("hooks-disabled", what, advice).at(layer.place("/disableAllHooks")));
    }
    let in_managed = wired.iter().any(|wired| wired.layer.level == Level::Managed);
    if managed && settings.is_on("allowManagedHooksOnly") && !in_managed {
        findings.push(
            Finding::new(
                "managed-hooks-only",
                "the machine's settings let only hooks of their own run",
                "register there: `rune hooks install --scope managed`",
            )
            .at(layer.place("/allowManagedHooksOnly")),
        );
    }
    findings
}

/// Variables that a project sets for the hooks of its user, and those that switch hooks off whoever sets them.
fn variables(layer: &Layer, settings: &Settings) -> Vec<Finding> {
    let project = layer.level.is_project();
    let ours = |name: &str| VARIABLES.contains(&name) || PREFIXES.iter().any(|prefix| name.starts_with(prefix));
    let finding = |name: &str| {
        let (id, what, advice) = match (SWITCHES.contains(&name), project) {
            (true, true) => {
                ("project-env", format!("the project sets `{name}`, with which no hooks run"), "take it out")
            }
            (true, false) => ("settings-env", format!("`{name}` is set, with which no hooks run"), "take it out"),
            (false, true) if ours(name) => (
                "project-env",
                format!("the project sets `{name}` for your hooks"),
                "take it out unless you know why it is there; entries with absolute directories and a static binary are not moved by it",
            ),
            (false, _) => return None,
        };
        Some(Finding::new(id, what, advice).at(layer.place(&format!("/env/{name}"))))
    };
    settings.variables().into_iter().filter_map(finding).collect()
}

/// Whether we are registered at all.
fn registered(layers: &Layers, wired: &[Wired<'_>]) -> Option<Finding> {
    let readable = layers.iter().all(|layer| layer.settings.is_ok());
    let what = "the guard is not registered";
    let advice = "`rune hooks install --preset gentle` registers it; a plugin cannot be seen from here";
    (wired.is_empty() && readable).then(|| Finding::new("not-registered", what, advice))
}

/// Whether a project registers what is registered for all projects.
pub fn is_doubled(one: &Wired<'_>, all: &[Wired<'_>]) -> bool {
    one.layer.level.is_project() && all.iter().any(|wired| !wired.layer.level.is_project())
}

/// A project that registers the guard once more, or something that passes for it.
pub fn doubled(wired: &Wired<'_>) -> Finding {
    let scope = wired.layer.level.name();
    let program = &wired.registration.program;
    let what = format!("the {scope} settings register {program} as a guard beside your own entries, so both run");
    Finding::new("project-registers", what, format!("`rune hooks uninstall --scope {scope}` takes the entries out"))
        .at(wired.layer.place("/hooks"))
}
