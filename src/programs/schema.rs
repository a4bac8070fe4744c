//! Reads catalogue files (`rules/programs/*.toml`); `rules/README.md` describes the format.
//!
//! The build script compiles this file too, so it uses nothing of the crate but `entry`.

use super::entry::{Does, Entry, Operands, Scope, Style, Tail, Use, ValueOption, Verb};
use compact_str::CompactString;
use toml::{Table, Value};

/// A catalogue file: its entries and their examples.
#[derive(Clone, Debug, Default)]
pub struct CatalogueFile {
    /// The programs, in the order of the file.
    pub entries: Vec<Entry>,
    /// The examples of all programs.
    pub examples: Vec<Example>,
}

/// An example: a command line, and what the catalogue says about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Example {
    /// The command line.
    pub command: String,
    /// What it does, and its uses such as `read a.txt`.
    pub expected: Vec<String>,
}

/// The uses, by the keys that list options of that use.
pub const USES: [(&str, Use); 21] = [
    ("text", Use::Text),
    ("list", Use::List),
    ("match", Use::Match),
    ("load", Use::Load),
    ("read", Use::Read),
    ("send", Use::Send),
    ("write", Use::Write),
    ("redirect", Use::Redirect),
    ("replace", Use::Replace),
    ("rights", Use::Rights),
    ("into", Use::Into),
    ("empty", Use::Empty),
    ("remove", Use::Remove),
    ("execute", Use::Execute),
    ("run", Use::Run),
    ("code", Use::Code),
    ("to", Use::To),
    ("from", Use::From),
    ("variable", Use::Variable),
    ("directory", Use::Directory),
    ("unknown", Use::Unknown),
];

/// The ways in which a command is written, by the word in `operands`.
const TAILS: [(&str, Tail); 5] = [
    ("run*", Tail::Command),
    ("shell*", Tail::Shell),
    ("package*", Tail::Package),
    ("script*", Tail::Script),
    ("again*", Tail::Again),
];

/// The effects, by name.
pub const DOES: [(&str, Does); 7] = [
    ("look", Does::Look),
    ("work", Does::Work),
    ("run", Does::Run),
    ("publish", Does::Publish),
    ("change", Does::Change),
    ("lose", Does::Lose),
    ("destroy", Does::Destroy),
];

/// Reads a catalogue file.
///
/// # Errors
///
/// Returns one line that names the program, the key and what is wrong with it.
pub fn parse(text: &str) -> Result<CatalogueFile, String> {
    let tables: Table = text.parse().map_err(|error: toml::de::Error| {
        let before = error.span().and_then(|span| text.get(..span.start)).unwrap_or_default();
        format!("line {}: {}", before.matches('\n').count() + 1, error.message())
    })?;
    let mut file = CatalogueFile::default();
    for (name, value) in &tables {
        let table = value.as_table().ok_or_else(|| format!("`{name}`: expected a table"))?;
        let entry = entry(name, table, &mut file.examples).map_err(|error| format!("`{name}`: {error}"))?;
        if let Some(hole) = hole(&entry, false) {
            return Err(format!(
                "`{name}`: `{hole}` has the effect `run`, but neither says what it runs nor has `finds`"
            ));
        }
        file.entries.push(entry);
    }
    Ok(file)
}

/// The name of an entry that runs something without saying what; `told`: one above it says it.
fn hole(entry: &Entry, told: bool) -> Option<&str> {
    let runs = |takes: &Use| matches!(takes, Use::Run | Use::Execute | Use::Code);
    let by_operands = entry.operands.as_ref().is_some_and(|spec| {
        spec.tail.is_some() || spec.first.iter().chain(&spec.rest).chain(spec.last.iter()).any(runs)
    });
    let by_options = entry.options.iter().any(|option| runs(&option.takes)) || !entry.command.is_empty();
    let told = told || by_operands || by_options || entry.finds;
    let is_hole = entry.does == Some(Does::Run) && !told && entry.verbs.is_empty();
    let name = entry.names.first().map(AsRef::as_ref).filter(|_| is_hole);
    name.or_else(|| entry.verbs.iter().filter_map(told_entry).find_map(|verb| hole(verb, told)))
}

/// The entry of a verb that a file describes.
fn told_entry(verb: &Verb) -> Option<&Entry> {
    match verb {
        Verb::Told(entry) => Some(entry),
        Verb::Shipped { .. } => None,
    }
}

/// Reads the table of a program or of a verb.
fn entry(name: &str, table: &Table, examples: &mut Vec<Example>) -> Result<Entry, String> {
    let mut entry = Entry::default();
    let mut names = vec![CompactString::from(name)];
    let mut options = Vec::new();
    let mut verbs: Vec<(Vec<String>, Entry)> = Vec::new();
    for (key, value) in table {
        let fail = |error: String| format!("`{key}`: {error}");
        match key.as_str() {
            "aliases" => names.extend(words(value).map_err(fail)?.into_iter().map(CompactString::from)),
            "does" => entry.does = Some(does(string(value).map_err(fail)?).map_err(fail)?),
            "operands" => entry.operands = Some(operands(string(value).map_err(fail)?).map_err(fail)?),
            "flags" => entry.flags = flags(value).map_err(fail)?,
            "dry" => entry.dry = names_of(value).map_err(fail)?,
            "local" => entry.local = names_of(value).map_err(fail)?,
            "plain" => entry.plain = names_of(value).map_err(fail)?,
            "recursive" => entry.recursive = names_of(value).map_err(fail)?,
            "attached" => entry.attached = names_of(value).map_err(fail)?,
            "pairs" => entry.pairs = names_of(value).map_err(fail)?,
            "first" => entry.first = names_of(value).map_err(fail)?,
            "with" => {
                let table = value.as_table().ok_or_else(|| fail("expected a table by flags".to_owned()))?;
                for (flags, value) in table {
                    let table = value.as_table().ok_or_else(|| fail(format!("`{flags}`: expected a table")))?;
                    let is_fit =
                        |key: &str| matches!(key, "operands" | "reveals") || USES.iter().any(|(name, _)| *name == key);
                    let unfit = table.keys().find(|key| !is_fit(key));
                    if let Some(unfit) = unfit {
                        return Err(fail(format!("`{flags}`: `{unfit}`: unknown key")));
                    }
                    let changed =
                        self::entry(flags, table, examples).map_err(|error| fail(format!("`{flags}`: {error}")))?;
                    let flags = flags.split_whitespace().map(CompactString::from).collect();
                    entry.with.push((flags, changed));
                }
            }
            "command" => entry.command = names_of(value).map_err(fail)?,
            "finds" => entry.finds = !string(value).map_err(fail)?.is_empty(),
            "as" => entry.runs_as = Some(string(value).map_err(fail)?.into()),
            "language" => entry.language = Some(string(value).map_err(fail)?.into()),
            "standalone" if value.is_bool() => entry.standalone = value.as_bool().unwrap_or_default(),
            "reveals" if value.is_bool() => entry.reveals = value.as_bool().unwrap_or_default(),
            "injects" if value.is_bool() => entry.injects = value.as_bool().unwrap_or_default(),
            "brings" if value.is_bool() => entry.brings = value.as_bool().unwrap_or_default(),
            "activates" if value.is_bool() => entry.activates = value.as_bool().unwrap_or_default(),
            "style" => {
                entry.style = match string(value).map_err(fail)? {
                    "single" => Style::Single,
                    "assignments" => Style::Assignments,
                    other => return Err(fail(format!("unknown style `{other}`"))),
                };
            }
            "scope" => {
                entry.scope = match string(value).map_err(fail)? {
                    "machine" => Scope::Machine,
                    "command" => Scope::Command,
                    other => return Err(fail(format!("unknown scope `{other}`"))),
                };
            }
            "verb" => {
                let table = value.as_table().ok_or_else(|| fail("expected a table of verbs".to_owned()))?;
                for (verb, value) in table {
                    let table = value.as_table().ok_or_else(|| fail(format!("`{verb}`: expected a table")))?;
                    let nested =
                        self::entry(verb, table, examples).map_err(|error| fail(format!("`{verb}`: {error}")))?;
                    verbs.push((verb.split(' ').map(str::to_owned).collect(), nested));
                }
            }
            "verbs" => {
                let table = value.as_table().ok_or_else(|| fail("expected lists of verbs by effect".to_owned()))?;
                for (effect, value) in table {
                    let listed = list(value).map_err(|error| fail(format!("`{effect}`: {error}")))?;
                    for verb in listed {
                        let mut nested = Entry::default();
                        match effect.as_str() {
                            "reveals" => nested.reveals = true,
                            "injects" => nested.injects = true,
                            "brings" => nested.brings = true,
                            "activates" => nested.activates = true,
                            effect => nested.does = Some(does(effect).map_err(fail)?),
                        }
                        verbs.push((verb.split(' ').map(str::to_owned).collect(), nested));
                    }
                }
            }
            "examples" => {
                for line in list(value).map_err(fail)? {
                    let (command, expected) =
                        line.rsplit_once(" => ").ok_or_else(|| fail(format!("`{line}`: expected `COMMAND => …`")))?;
                    let expected = expected.split(", ").map(str::to_owned).collect();
                    examples.push(Example { command: command.to_owned(), expected });
                }
            }
            _ => {
                let (_, takes) =
                    USES.iter().find(|(name, _)| name == key).ok_or_else(|| fail("unknown key".to_owned()))?;
                for name in words(value).map_err(fail)? {
                    if !name.starts_with(['-', '+']) && !name.ends_with(['=', ':']) {
                        return Err(fail(format!("`{name}` is not an option")));
                    }
                    options.push(ValueOption { name: name.into(), takes: *takes });
                }
            }
        }
    }
    entry.names = names;
    entry.options = options;
    let mut merged: Vec<Verb> = Vec::new();
    for (path, verb) in verbs {
        insert(&mut merged, &path, verb)?;
    }
    // `-m`: options that are verbs come first, so that other options need not be compared with all verbs.
    merged.sort_by_key(|verb| !verb.is_option());
    entry.verbs = merged;
    Ok(entry)
}

/// Adds a verb at a path of words, and joins it with what is already known about it.
fn insert(verbs: &mut Vec<Verb>, path: &[String], verb: Entry) -> Result<(), String> {
    let Some((word, rest)) = path.split_first() else { return Ok(()) };
    let known = verbs.iter().position(|known| known.names().next() == Some(word));
    let at = known.unwrap_or_else(|| {
        verbs.push(Verb::Told(Box::new(Entry { names: vec![word.into()], ..Entry::default() })));
        verbs.len() - 1
    });
    let Some(Verb::Told(known)) = verbs.get_mut(at) else { return Ok(()) };
    if !rest.is_empty() {
        return insert(&mut known.verbs, rest, verb);
    }
    if known.does.is_some() && verb.does.is_some() {
        return Err(format!("`{word}` is listed twice"));
    }
    for nested in known.join(verb) {
        if let Verb::Told(nested) = nested {
            let word = nested.names.first().map(|name| name.to_string()).unwrap_or_default();
            insert(&mut known.verbs, &[word], *nested)?;
        }
    }
    Ok(())
}

impl Entry {
    /// Adds what another entry tells about the same program or verb; what is told already holds. Returns the verbs of the
    /// other entry, which are not added.
    pub fn join(&mut self, other: Entry) -> Vec<Verb> {
        let Entry { names, does, verbs, options, operands, flags, dry, plain, recursive, attached, pairs, .. } = other;
        let Entry { command, finds, runs_as, first, with, language, reveals, brings, activates, style, .. } = other;
        let Entry { local, scope, injects, standalone, .. } = other;
        // The first name of a verb table is its whole path.
        self.names.extend(names.into_iter().skip(1));
        self.does = self.does.or(does);
        self.options.extend(options);
        self.operands = self.operands.take().or(operands);
        self.flags.extend(flags);
        for (list, more) in [
            (&mut self.command, command),
            (&mut self.dry, dry),
            (&mut self.local, local),
            (&mut self.plain, plain),
            (&mut self.recursive, recursive),
            (&mut self.attached, attached),
            (&mut self.pairs, pairs),
            (&mut self.first, first),
        ] {
            list.extend(more);
        }
        self.with.extend(with);
        self.finds |= finds;
        self.runs_as = self.runs_as.take().or(runs_as);
        self.language = self.language.take().or(language);
        self.standalone |= standalone;
        self.reveals |= reveals;
        self.injects |= injects;
        self.brings |= brings;
        self.activates |= activates;
        if self.scope == Scope::default() {
            self.scope = scope;
        }
        if self.style == Style::default() {
            self.style = style;
        }
        verbs
    }
}

fn string(value: &Value) -> Result<&str, String> {
    value.as_str().ok_or_else(|| "expected a string".to_owned())
}

/// A string of words separated by blanks.
fn words(value: &Value) -> Result<Vec<String>, String> {
    Ok(string(value)?.split_whitespace().map(str::to_owned).collect())
}

/// Names of options, separated by blanks.
fn names_of(value: &Value) -> Result<Vec<CompactString>, String> {
    Ok(words(value)?.into_iter().map(CompactString::from).collect())
}

/// An array of strings.
fn list(value: &Value) -> Result<Vec<String>, String> {
    let items = value.as_array().ok_or_else(|| "expected an array of strings".to_owned())?;
    items.iter().map(|item| string(item).map(str::to_owned)).collect()
}

fn does(name: &str) -> Result<Does, String> {
    DOES.iter()
        .find(|(known, _)| *known == name)
        .map(|(_, does)| *does)
        .ok_or_else(|| format!("unknown effect `{name}`"))
}

/// `{ lose = "--hard", destroy = "-f --force" }`.
fn flags(value: &Value) -> Result<Vec<(CompactString, Does)>, String> {
    let table = value.as_table().ok_or_else(|| "expected a table of flags by effect".to_owned())?;
    let mut flags = Vec::new();
    for (effect, names) in table {
        let effect = does(effect)?;
        flags.extend(words(names)?.into_iter().map(|name| (name.into(), effect)));
    }
    Ok(flags)
}

/// `text read* write`: the uses of the operands; that of the one with `*` holds for any number. A command comes last:
/// `variable* text run*`, `text* -- run*`.
fn operands(spec: &str) -> Result<Operands, String> {
    let mut operands = Operands::default();
    for word in spec.split_whitespace() {
        if operands.tail.is_some() {
            return Err("nothing can follow a command".to_owned());
        }
        if let Some((_, tail)) = TAILS.iter().find(|(name, _)| *name == word) {
            operands.tail = Some(*tail);
            continue;
        }
        match word {
            "--" => operands.dashes = true,
            "variable*" => operands.variables = true,
            "version" => operands.version = true,
            // Each operand is shell text.
            "line*" => operands.rest = Some(Use::Run),
            _ => {
                let name = word.trim_end_matches('*');
                let takes = USES.iter().find(|(known, _)| *known == name).map(|(_, takes)| *takes);
                let takes = takes.ok_or_else(|| format!("unknown use `{name}`"))?;
                if name != word {
                    if operands.rest.replace(takes).is_some() {
                        return Err("more than one `*`".to_owned());
                    }
                } else if operands.rest.is_none() {
                    operands.first.push(takes);
                } else {
                    operands.last.push(takes);
                }
            }
        }
    }
    Ok(operands)
}
