//! Values of variables that are ordinary in builds and tests, and values that are unusual in any variable.

use super::{
    COMMANDS_ORDINARY, COMMANDS_RUNNING, OPTIONS_ALLOWED, OPTIONS_LOADING, OPTIONS_REFUSED, Purpose, SERVERS_EXCEPT,
    SERVERS_ORDINARY, matches,
};
use crate::decide::context::Context;
use crate::decide::validators::is_agent_program;
use crate::encoding::address::Address;
use crate::path::protected::{classes, is_installed, is_ordinary};
use crate::path::zones::Area;
use crate::path::{AbsPath, Extent, Place};
use crate::programs::code::lists;
use crate::programs::{self, Does, roles};
use crate::shell::{self, Act, Command, Effects, Reading};
use compact_str::CompactString;
use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};

/// Values that only switch a feature on or off.
const SWITCHES: [&str; 12] = ["", ":", "0", "1", "true", "false", "none", "yes", "no", "on", "off", "/dev/null"];

/// Where a variable is set.
pub(super) struct Judge<'a, 'c> {
    /// The name of the variable.
    pub name: &'a str,
    /// The event.
    pub context: &'a Context<'c>,
    /// What counts for variables that name a home directory, if the line sets one.
    pub homes: Option<&'a Homes>,
    /// Where the commands run for which it is set, if it names a file without a directory.
    pub directories: Option<&'a Directories<'a>>,
    pub line: &'a LineFacts,
}

/// What is true of the whole shell text. It is found out once, because a text may set thousands of variables.
#[derive(Default)]
pub(super) struct LineFacts {
    only_looks_at_containers: OnceCell<bool>,
    asks_only_this_machine: OnceCell<bool>,
}

/// Working directories of commands; `None` for an unknown one.
pub(super) type Directories<'a> = BTreeSet<Option<&'a str>>;

/// What the line does that makes another home directory dangerous.
pub(super) struct Homes {
    /// It runs a shell, git, an agent or the guard, which obey the files of the home directory, or writes an unknown file.
    is_obeyed: bool,
    /// The files that it changes.
    changed: BTreeMap<Vec<CompactString>, Extent>,
}

impl Homes {
    /// Whether a variable names a home directory that tests may replace.
    pub fn are_named_by(name: &str) -> bool {
        ["HOME", "XDG_CONFIG_HOME", "CARGO_HOME"].contains(&name)
    }

    pub fn of(reading: &Reading, effects: &Effects) -> Homes {
        let obeys = |command: &Command| {
            let name = command.program.rsplit('/').next().unwrap_or_default();
            is_shell(name) || is_agent_program(name) || lists(&roles::SHELLS_OBEYING, name)
        };
        let mut homes = Homes { is_obeyed: reading.commands.iter().any(obeys), changed: BTreeMap::new() };
        for access in effects.accesses.iter().filter(|access| access.act.changes()) {
            let Some(path) = &access.target.path else {
                homes.is_obeyed |= !matches!(access.act, Act::Remove);
                continue;
            };
            let is_tree = access.target.open || access.deep;
            let reach = homes.changed.entry(path.components().to_vec()).or_insert(Extent::Exact);
            if is_tree {
                *reach = Extent::Tree;
            }
        }
        homes
    }
}

impl Judge<'_, '_> {
    /// Whether a value of a variable with a known purpose is ordinary.
    pub fn is_harmless(&self, purpose: Purpose, value: &str) -> bool {
        // `.` and `1` are directories where a directory is expected.
        let is_switch = SWITCHES.contains(&value) && (value.is_empty() || value == "/dev/null" || !self.names_file());
        is_switch
            || match purpose {
                Purpose::Code => self.is_prompt(value),
                Purpose::Search => self.are_ordinary_directories(value) && value.split(':').all(|part| part != "."),
                Purpose::Settings => self.is_below_project(value),
                Purpose::Home => self.is_ordinary_home(value),
                Purpose::Output => self.is_ordinary_output(value),
                Purpose::Command => self.is_ordinary_command(value),
                Purpose::Options => self.are_harmless_options(value),
                // The name of a context says nothing about where it leads, unless a program of this machine gives it.
                Purpose::Server if self.name.ends_with("_CONTEXT") || self.name.ends_with("_CONNECTION") => {
                    SERVERS_ORDINARY.iter().any(|pattern| matches(pattern, value))
                        || *self.line.only_looks_at_containers.get_or_init(|| self.only_looks_at_containers())
                }
                Purpose::Server => value.split([',', '|', ' ']).all(is_ordinary_server),
            }
    }

    /// Whether a value of a variable that is only known by the shape of its name is worth a question.
    pub fn is_unusual(&self, purpose: Purpose, value: &str) -> bool {
        let is_foreign_file =
            || value.starts_with('/') && !self.is_ordinary_place(&self.resolve(value)) && self.is_of_known_program();
        match purpose {
            Purpose::Code => value.contains('/') && !self.is_below_project(value),
            Purpose::Search | Purpose::Settings | Purpose::Home | Purpose::Output => is_foreign_file(),
            Purpose::Command => {
                let first = value.split_whitespace().next().unwrap_or_default();
                let is_program = first.starts_with('/') && !self.is_ordinary_place(&self.resolve(first));
                let runs = value.contains(' ') && COMMANDS_RUNNING.contains(&first);
                is_program || runs
            }
            Purpose::Options => has_word(value, &OPTIONS_LOADING),
            Purpose::Server => {
                let excepted = SERVERS_EXCEPT.iter().any(|pattern| matches(pattern, self.name));
                let is_address = value.contains("://") || self.name.ends_with("_PROXY");
                is_address && !excepted && self.is_of_known_program() && !is_ordinary_server(value)
            }
        }
    }

    /// Whether directories of installed tools are added to `PATH`, or the project's own behind all others.
    pub fn is_path_of_tools(&self, value: &str) -> bool {
        let is_inherited = |part: &str| part == "/usr/bin";
        let mut behind = false;
        value.split(':').all(|part| {
            behind |= is_inherited(part);
            let path = self.resolve(part);
            is_installed(&path, self.context.zones.home.as_ref())
                || self.is_below_project(part) && (behind || is_tool_directory(&path))
        })
    }

    /// Whether a value consists of directories of the project or of installed tools.
    pub fn are_ordinary_directories(&self, value: &str) -> bool {
        value.split(':').all(|part| {
            let path = self.resolve(part);
            let in_project = matches!(self.context.zones.area(&path), Area::InProject | Area::ProjectRoot);
            !part.is_empty() && (in_project || is_installed(&path, self.context.zones.home.as_ref()))
        })
    }

    /// Whether options neither load nor run other code.
    pub fn are_harmless_options(&self, value: &str) -> bool {
        let row = |rows: &[&'static str]| {
            rows.iter()
                .filter_map(|row| row.split_once(' '))
                .find(|(name, _)| *name == self.name)
                .map(|(_, words)| words)
        };
        if let Some(allowed) = row(&OPTIONS_ALLOWED) {
            let is_allowed = |option: &str| allowed.split(' ').any(|pattern| matches(pattern, option));
            return value.split_whitespace().all(is_allowed);
        }
        let value = ["lld", "mold", "gold"]
            .iter()
            .fold(value.to_owned(), |value, linker| value.replace(&format!("link-arg=-fuse-ld={linker}"), ""));
        let refused = row(&OPTIONS_REFUSED).is_some_and(|words| words.split(' ').any(|word| value.contains(word)));
        !refused && !has_word(&value, &OPTIONS_LOADING)
    }

    /// Whether the shell text only prints what containers there are, wherever they run.
    fn only_looks_at_containers(&self) -> bool {
        let commands = self.context.reading().map(|reading| reading.commands.as_slice()).unwrap_or_default();
        let is_export = |command: &Command| command.program == "export";
        let runs_containers = |command: &Command| lists(&roles::CONTAINERS_ENGINES, &command.program);
        commands.iter().any(runs_containers)
            && commands.iter().all(|command| is_export(command) || command.does() == Some(Does::Look))
    }

    /// Whether every address in the shell text is this machine, for which checks may be switched off.
    pub fn is_for_this_machine(&self, value: &str) -> bool {
        let is_local = |address: &str| Address::parse(address).is_nearby();
        let asks_only_this_machine = || {
            let network = self.context.effects().map(|effects| effects.network.as_slice()).unwrap_or_default();
            !network.is_empty() && network.iter().all(|address| is_local(address))
        };
        *self.line.asks_only_this_machine.get_or_init(asks_only_this_machine) || is_local(value) && value.contains('.')
    }

    fn resolve(&self, path: &str) -> AbsPath {
        let place = &self.context.event.place;
        AbsPath::resolve(path, &Place { cwd: place.cwd.clone(), home: place.home.clone(), project: None })
    }

    fn is_below_project(&self, value: &str) -> bool {
        let path = self.resolve(value);
        !value.is_empty() && !value.contains('$') && self.context.zones.area(&path) == Area::InProject
    }

    /// Whether a file may be written without a question. Without a slash it is a switch or a file in the working directory
    /// of the command.
    fn is_ordinary_output(&self, value: &str) -> bool {
        let is_ordinary_place = |path: &AbsPath| {
            let area = self.context.zones.area(path);
            matches!(area, Area::InProject | Area::ProjectRoot | Area::InTemp | Area::Device)
                || is_ordinary(path, self.context.zones.home.as_ref())
        };
        if value.contains('/') {
            return is_ordinary_place(&self.resolve(value));
        }
        let home = self.context.zones.home.as_ref();
        let is_unprotected = |path: &AbsPath| classes(path, Extent::Exact, home).next().is_none();
        self.directories.into_iter().flatten().all(|directory| match directory {
            // Few switches have a dot.
            Some(directory) => {
                let path = AbsPath::resolve_in(value, directory, None);
                is_unprotected(&path) && (!value.contains('.') || is_ordinary_place(&path))
            }
            // The home directory has the most files that programs obey.
            None => is_unprotected(&self.resolve(&format!("~/{value}"))),
        })
    }

    /// Whether a path lies in the project, where tools are installed, or elsewhere in the home directory.
    fn is_ordinary_place(&self, path: &AbsPath) -> bool {
        let home = self.context.zones.home.as_ref();
        matches!(self.context.zones.area(path), Area::InProject | Area::ProjectRoot | Area::Device | Area::System)
            || is_installed(path, home)
            || home.is_some_and(|home| path.is_below(home))
    }

    /// Whether the name begins with the name of a program in the catalogue.
    fn is_of_known_program(&self) -> bool {
        let lower = self.name.to_ascii_lowercase();
        let first = lower.split('_').next().unwrap_or_default();
        let program = if first == lower { lower.strip_suffix("rc").unwrap_or_default() } else { first };
        program.len() > 1 && programs::embedded(program).is_some()
    }

    /// Whether the value is always the name of a file or directory.
    fn names_file(&self) -> bool {
        ["_ENV", "ENV", "_DIR", "PATH", "_TREE", "FILES", "LIB", "STARTUP", "RUSTC", "INPUTRC"]
            .iter()
            .any(|end| self.name.ends_with(end))
    }

    /// Whether a prompt runs nothing.
    fn is_prompt(&self, value: &str) -> bool {
        matches!(self.name, "PS0" | "PS1" | "PS4") && !value.contains(['`', '(', '/'])
    }

    fn is_ordinary_home(&self, value: &str) -> bool {
        // The variable has this value already.
        self.name == "HOME" && Some(value) == self.context.event.place.home.as_deref()
            || value.starts_with(crate::shell::MKTEMP_PATH) && !value.contains("..")
            || Homes::are_named_by(self.name) && self.is_scratch_home(value)
    }

    /// Whether a value is a directory for tests in the project or among temporary files, in which the line writes no
    /// settings, and no program of the line is one that obeys settings there by itself.
    fn is_scratch_home(&self, value: &str) -> bool {
        let Some(homes) = self.homes else { return false };
        let place = self.resolve(value);
        let is_scratch = matches!(self.context.zones.area(&place), Area::InTemp | Area::InProject)
            && !value.contains(['$', '*', '?', '[']);
        // What is written there counts as if it were written at home.
        let is_settings = |(path, reach): (&Vec<CompactString>, &Extent)| {
            let below = path.get(place.components().len()..).unwrap_or_default().join("/");
            let home = self.context.zones.home.as_ref();
            if below.is_empty() {
                return *reach == Extent::Tree;
            }
            classes(&self.resolve(&format!("~/{below}")), *reach, home).next().is_some()
        };
        let is_copied_above = (0..place.components().len())
            .any(|at| homes.changed.get(place.head(at).components()) == Some(&Extent::Tree));
        let from = place.components().to_vec();
        let mut below = homes.changed.range(from..).take_while(|(path, _)| path.starts_with(place.components()));
        is_scratch && !homes.is_obeyed && !is_copied_above && !below.any(is_settings)
    }

    /// Whether the editor is `sed` with a script that only changes the file that it is given: `sed -i 's/^pick/reword/'`.
    fn is_plain_sed(&self, value: &str) -> bool {
        if !self.name.ends_with("EDITOR") || !value.starts_with("sed -i") {
            return false;
        }
        let place = &self.context.event.place;
        let catalogue = self.context.reading().map(|reading| reading.catalogue().clone()).unwrap_or_default();
        let reading = shell::read(value, place, &catalogue);
        let is_sed = matches!(reading.commands.as_slice(), [only] if only.program == "sed" && !only.is_dynamic());
        is_sed && reading.is_readable() && reading.effects().accesses.is_empty()
    }

    fn is_ordinary_command(&self, value: &str) -> bool {
        let mut words = value.split_whitespace();
        let first = words.next().unwrap_or_default();
        let path = self.resolve(first);
        let name = path.components().last().map_or("", |name| name.as_str());
        let names_shell = self.name == "SHELL" || self.name == "CONFIG_SHELL";
        let installed = match first.starts_with('/') {
            true => names_shell && !first.contains("..") && is_system_program(&path),
            false => !names_shell && !first.contains('/'),
        };
        let listed = if is_shell(name) { names_shell } else { COMMANDS_ORDINARY.contains(&name) };
        let compiler = matches!(self.name, "CC" | "CXX") && !value.contains(['/', ' ']);
        let plain = |word: &str| word.starts_with('-') && !word.contains(['/', '$', '`', ';', '|', '&', '=']);
        let ssh = first == "ssh" && are_harmless_ssh_options(value);
        installed && (compiler || ssh || listed && words.all(plain)) || self.is_plain_sed(value)
    }
}

fn is_shell(name: &str) -> bool {
    lists(&roles::SHELLS_COMMON, name)
}

/// Whether options of ssh run no command and read no other configuration.
fn are_harmless_ssh_options(value: &str) -> bool {
    let lower = value.to_ascii_lowercase();
    !["command", "include", "knownhostsfile", "provider", "-f", "-j", "proxy"].iter().any(|word| lower.contains(word))
        && !value.contains(['`', '$', ';', '|', '&', '\n'])
}

fn is_system_program(path: &AbsPath) -> bool {
    let directory = path.directories().join("/");
    matches!(directory.as_str(), "bin" | "usr/bin" | "usr/local/bin" | "opt/homebrew/bin")
}

/// Whether the tools of a project install programs in a directory.
fn is_tool_directory(path: &AbsPath) -> bool {
    let names: Vec<&str> = path.components().iter().map(|name| name.as_str()).collect();
    matches!(
        names.as_slice(),
        [.., "node_modules", ".bin"] | [.., ".venv" | "venv" | "env" | "vendor", "bin" | "Scripts"] | [.., "target", _]
    )
}

fn is_ordinary_server(value: &str) -> bool {
    let address = Address::parse(value);
    let is_socket = matches!(address.scheme.as_str(), "unix" | "npipe" | "fd");
    let is_plain = address.scheme == "http";
    value.is_empty()
        || is_socket
        || address.is_nearby()
        || !is_plain
            && SERVERS_ORDINARY.iter().any(|pattern| matches(pattern, &address.host) || matches(pattern, value))
}

/// Whether a text has a word that begins with one of these, or contains one of the long ones.
fn has_word(text: &str, words: &[&str]) -> bool {
    let lower = text.to_ascii_lowercase();
    let starts = text.split(|c: char| c.is_whitespace() || c == '"' || c == '\'');
    let has = |listed: &&str| match listed.len() {
        0..=6 => starts.clone().any(|word| word.starts_with(listed)),
        _ => lower.contains(&listed.to_ascii_lowercase()),
    };
    words.iter().any(has)
}
