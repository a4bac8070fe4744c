//! Reads rule files: the operator's replace or extend the embedded ones, the project's are added on top.

use super::PolicyTexts;
use super::read::{is_dangling, read_copy};
use rune::decide::needed_kinds;
use rune::event::Event;
use rune::policy::Config;
use rune::rules::{self, Owner, Rule, RuleError, RuleKind};
use rune::verdict::failure::Failure;
use rustix::fs::{CWD, Dir, Mode, OFlags, openat};
use rustix::io::Errno;
use std::path::Path;

/// Which rules to read.
pub struct RuleSelection {
    pub kinds: Vec<RuleKind>,
    /// The files that were read.
    pub texts: PolicyTexts,
}

impl RuleSelection {
    pub fn all(kinds: &[RuleKind]) -> Self {
        RuleSelection { kinds: kinds.to_vec(), texts: PolicyTexts::default() }
    }

    pub fn of(event: &Event<'_>) -> Self {
        RuleSelection { kinds: needed_kinds(event), texts: PolicyTexts::default() }
    }

    /// Reads a rule file; `None` if it does not exist. The error means that the file as a whole cannot be read.
    fn read(&self, path: &Path, name: &str, kind: RuleKind, owner: Owner) -> Result<Option<ParsedRules>, String> {
        // Receipts are hashed over the rules for MCP tools only, so other files are not cached.
        let text = if kind == RuleKind::Mcp {
            self.texts.text(path, Some(kind.embedded()))?
        } else {
            read_copy(path, kind.embedded())?
        };
        Ok(text.map(|text| rules::parse(text, name, kind, owner)))
    }

    /// The names of the `.rules` files in a directory, sorted.
    fn rule_files(&self, directory: &Path) -> Result<Vec<String>, String> {
        let names = rule_files(directory)?;
        if self.kinds.contains(&RuleKind::Mcp) {
            self.texts.cache_rule_files(directory, &names);
        }
        Ok(names)
    }
}

/// The valid rules of a file, and the errors of the others.
type ParsedRules = (Vec<Rule>, Vec<RuleError>);

/// Adds the content rules, which only results from untrusted surfaces need.
pub fn add_content_rules(config: &mut Config, directory: Option<&Path>, project: Option<&Path>) {
    let selection = RuleSelection::all(&[RuleKind::Post]);
    add_operator_rules(config, directory, &selection);
    if let (Some(config_of_project), Some(project)) = (&mut config.project, project) {
        config_of_project.add_rules(config.rules.clone());
        add_project_rules(config_of_project, project, &selection);
    }
}

/// Adds the operator's rules: `bash.rules` replaces the embedded file, `bash.<name>.rules` extends it.
pub fn add_operator_rules(config: &mut Config, directory: Option<&Path>, selection: &RuleSelection) {
    let names = directory.map_or(Ok(Vec::new()), |directory| selection.rule_files(directory));
    let names = names.unwrap_or_else(|error| {
        // The embedded rules stay in force.
        config.failures.push(Failure::Config(error));
        Vec::new()
    });
    for name in names.iter().filter(|name| RuleKind::from_file_name(name).is_none()) {
        let forms = |kind: RuleKind| format!("{0}.rules, {0}.<name>.rules", kind.name());
        let known = RuleKind::all().into_iter().map(forms).collect::<Vec<_>>().join("; ");
        let what = format!("rules/{name}: unknown kind of rule file\n  help: there are {known}");
        config.failures.push(Failure::Config(what));
    }
    for kind in &selection.kinds {
        let base = format!("{}.rules", kind.name());
        if !names.contains(&base) {
            let defaults = rules::parse(kind.embedded(), &base, *kind, Owner::Operator);
            add(config, defaults);
        }
        let Some(directory) = directory else { continue };
        for name in names.iter().filter(|name| RuleKind::from_file_name(name) == Some(*kind)) {
            let path = directory.join(name);
            match selection.read(&path, &path.display().to_string(), *kind, Owner::Operator) {
                Ok(Some(rules)) => add(config, rules),
                Ok(None) => {}
                Err(error) => config.failures.push(Failure::Config(error)),
            }
        }
    }
}

/// The names of all rules of the operator.
pub fn all_rule_names(directory: Option<&Path>) -> Vec<String> {
    let kinds = RuleKind::all();
    let mut config = Config::fold([], Vec::new()).with_default_rules(&kinds);
    add_operator_rules(&mut config, directory, &RuleSelection::all(&kinds));
    config.rules.iter().map(|rule| rule.id.as_str().to_owned()).collect()
}

/// Adds the project's rules. INVARIANT: no text of the project's files reaches an answer.
pub fn add_project_rules(config: &mut Config, directory: &Path, selection: &RuleSelection) {
    let failure = |what: &str| Failure::Config(format!("the project's own policy cannot be read: {what}"));
    let names = match selection.rule_files(directory) {
        Ok(names) => names,
        Err(_) => return config.failures.push(failure("its rules directory")),
    };
    for name in &names {
        let Some(kind) = RuleKind::from_file_name(name) else {
            config.failures.push(failure("one of its rule files has an unknown name"));
            continue;
        };
        if !selection.kinds.contains(&kind) {
            continue;
        }
        let file = format!(".rune/rules/{}.rules", kind.name());
        match selection.read(&directory.join(name), &file, kind, Owner::Project) {
            Ok(Some((rules, errors))) => {
                config.add_rules(rules);
                config.failures.extend(errors.iter().map(|error| failure(&format!("{file}, line {}", error.line))));
            }
            Ok(None) => {}
            Err(_) => config.failures.push(failure("one of its rule files")),
        }
    }
}

fn add(config: &mut Config, (rules, errors): ParsedRules) {
    config.add_rules(rules);
    config.failures.extend(errors.iter().map(|error| Failure::Config(error.to_string())));
}

/// The names of the `.rules` files in a directory, sorted.
pub fn rule_files(directory: &Path) -> Result<Vec<String>, String> {
    files_of(directory, ".rules")
}

/// The names of the files in a directory that end in `extension`, sorted; none if it does not exist.
pub fn files_of(directory: &Path, extension: &str) -> Result<Vec<String>, String> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let in_directory = |error| format!("{}: {}", directory.display(), std::io::Error::from(error));
    let entries = match openat(CWD, directory, flags, Mode::empty()).and_then(Dir::new) {
        Ok(entries) => entries,
        Err(Errno::NOENT) if !is_dangling(directory) => return Ok(Vec::new()),
        Err(error) => return Err(in_directory(error)),
    };
    let mut names = Vec::new();
    for entry in entries {
        let entry = entry.map_err(in_directory)?;
        let name = entry.file_name().to_string_lossy();
        if name.ends_with(extension) && !name.starts_with('.') {
            names.push(name.into_owned());
        }
    }
    names.sort();
    Ok(names)
}
