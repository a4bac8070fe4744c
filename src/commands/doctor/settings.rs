//! Settings files: those that the client rejects, that disable hooks, or that move them by variables.

use super::Problem;
use crate::commands::hooks::{RegisteredLayer, SettingsLayer, SettingsLayers};
use rune::client::Client;
use rune::client::settings::{InvalidPart, Scope, Settings, Variable};

/// Variables that silence the guard, load code into it, or move its directories if the entries do not name them. Those
/// of the client are added.
const VARIABLES: [&str; 6] = ["QUARANTINE_DISABLE", "HOME", "PATH", "BASH_ENV", "ENV", "ZDOTDIR"];
const VARIABLE_PREFIXES: [&str; 3] = ["XDG_", "LD_", "DYLD_"];

/// Those that are a fault in the settings of a user too.
const USER_VARIABLES: [&str; 2] = ["QUARANTINE_DISABLE", "BASH_ENV"];
const USER_VARIABLE_PREFIXES: [&str; 2] = ["LD_", "DYLD_"];

pub fn check(layers: &SettingsLayers, registered: &[RegisteredLayer<'_>], client: &dyn Client) -> Vec<Problem> {
    let mut problems = Vec::new();
    for layer in layers.iter() {
        match &layer.settings {
            Err((place, what)) => {
                let what = format!("the client cannot read these settings: {what}");
                let advice = format!("mend the file: settings are {}", client.locations().settings_format);
                problems.push(Problem::new("settings-unreadable", what, advice).at(place));
            }
            Ok(settings) => {
                problems.extend(invalid(layer, settings));
                problems.extend(switches(layer, settings, registered, client));
                problems.extend(unasked_mode(layer, settings));
                problems.extend(settings.variables.iter().filter_map(|set| variable(layer, set, client)));
            }
        }
    }
    problems.extend(not_registered(layers, registered));
    problems
}

/// Parts that the client rejects.
fn invalid(layer: &SettingsLayer, settings: &Settings) -> Vec<Problem> {
    let problem = |part: &InvalidPart| {
        let what = format!("{} {}", part.name, part.what);
        let place = layer.place(&part.pointer);
        if part.voids_file {
            let what = format!("the client drops this whole file: {what}");
            return Problem::new("settings-void", what, "mend or remove it").at(place);
        }
        let what = format!("the client drops this entry, and older ones the whole file: {what}");
        Problem::new("entry-invalid", what, "mend or remove the entry").at(place)
    };
    settings.invalid.iter().map(problem).collect()
}

/// Settings that disable hooks, even if another file enables them again.
fn switches(
    layer: &SettingsLayer,
    settings: &Settings,
    registered: &[RegisteredLayer<'_>],
    client: &dyn Client,
) -> Vec<Problem> {
    let mut problems = Vec::new();
    let managed = layer.scope == Scope::Managed;
    if let Some(switch) = settings.hooks_disabled.as_ref().filter(|switch| switch.on) {
        let advice = if managed {
            "the machine's settings decide: ask whoever keeps them".to_owned()
        } else {
            let command = client.locations().enabling_command;
            format!(
                "take it out, or start with `{command}`, or register in the managed scope: `rune hooks install --scope managed`"
            )
        };
        let what = format!("the {} settings switch all hooks off", layer.scope.name());
        problems.push(Problem::new("hooks-disabled", what, advice).at(layer.place(switch.pointer)));
    }
    let in_managed = registered.iter().any(|registered| registered.layer.scope == Scope::Managed);
    let managed_only = settings.managed_hooks_only.as_ref().filter(|switch| switch.on && managed && !in_managed);
    if let Some(switch) = managed_only {
        let what = "the machine's settings let only hooks of their own run";
        let advice = "register there: `rune hooks install --scope managed`";
        problems.push(Problem::new("managed-hooks-only", what, advice).at(layer.place(switch.pointer)));
    }
    problems
}

/// Returns the finding for a permission mode in which the client shows no permission prompt.
fn unasked_mode(layer: &SettingsLayer, settings: &Settings) -> Option<Problem> {
    let mode = settings.unasked_mode.as_ref()?;
    let what =
        format!("new sessions start in the mode `{}`, in which the client shows no permission prompts", mode.name);
    let advice = "take it out, or use the preset strict, which denies what gentle only asks about";
    Some(Problem::new("permissions-bypassed", what, advice).at(layer.place(mode.pointer)))
}

/// A variable that disables hooks, or that a project sets and that changes the guard.
fn variable(layer: &SettingsLayer, set: &Variable, client: &dyn Client) -> Option<Problem> {
    let name = &set.name;
    let of_client = [Some(client.locations().dir_variable), client.locations().project_variable];
    let changes_guard = VARIABLES.contains(&name.as_str())
        || of_client.contains(&Some(name))
        || VARIABLE_PREFIXES.iter().any(|prefix| name.starts_with(prefix));
    let harms_user =
        USER_VARIABLES.contains(&name.as_str()) || USER_VARIABLE_PREFIXES.iter().any(|prefix| name.starts_with(prefix));
    let (id, what, advice) = match (set.disables_hooks, layer.scope.is_project()) {
        (true, true) => ("project-env", format!("the project sets `{name}`, with which no hooks run"), "take it out"),
        (true, false) => ("settings-env", format!("`{name}` is set, with which no hooks run"), "take it out"),
        (false, true) if changes_guard => (
            "project-env",
            format!("the project sets `{name}` for your hooks"),
            "take it out unless you know why it is there; entries with absolute directories and a static binary are not moved by it",
        ),
        (false, false) if harms_user => (
            "settings-env",
            format!("`{name}` is set for your hooks, with which they mark nothing or run other code"),
            "take it out; where you want no notices in one session, set QUARANTINE_DISABLE in its shell",
        ),
        (false, _) => return None,
    };
    Some(Problem::new(id, what, advice).at(layer.place(&set.pointer)))
}

/// The problem that no readable settings file registers the guard.
fn not_registered(layers: &SettingsLayers, registered: &[RegisteredLayer<'_>]) -> Option<Problem> {
    let readable = layers.iter().all(|layer| layer.settings.is_ok());
    let what = "the guard is not registered";
    let advice = "`rune hooks install --preset gentle` registers it; a plugin cannot be seen from here";
    (registered.is_empty() && readable).then(|| Problem::new("not-registered", what, advice))
}

/// Whether a project registers the guard although it is registered for all projects.
pub fn is_repeated(layer: &RegisteredLayer<'_>, all: &[RegisteredLayer<'_>]) -> bool {
    layer.layer.scope.is_project() && all.iter().any(|other| !other.layer.scope.is_project())
}

/// The problem of a project that registers the guard, or a program with its name, a second time.
pub fn repeated(registered: &RegisteredLayer<'_>) -> Problem {
    let scope = registered.layer.scope.name();
    let program = &registered.registration.program;
    let what = format!("the {scope} settings register {program} as a guard beside your own entries, so both run");
    Problem::new("project-registers", what, format!("`rune hooks uninstall --scope {scope}` takes the entries out"))
        .at(registered.layer.place("/hooks"))
}
