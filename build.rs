//! Parses the embedded policy at build time and writes it as Rust tables, so that no call has to parse it.
//!
//! | file in `OUT_DIR` | content | included by |
//! |---|---|---|
//! | `validators.rs` | the names of the validators | `src/rules/validator.rs` |
//! | `validator_functions.rs` | their functions, in the same order | `src/decide/validators.rs` |
//! | `settings.rs` | the keys of `config.toml` and the presets | `src/policy/layer.rs` |
//! | `rules.rs` | the rules and their patterns | `src/rules/embedded.rs` |
//! | `prefilter.rs` | the literals that the patterns require | `src/rules/prefilter.rs` |
//! | `programs.bin`, `programs.rs` | the catalogue of programs, and the names in it | `src/programs.rs` |
//! | `paths.rs` | the classes of protected files | `src/path/protected.rs` |
//! | `addresses.rs`, `tool_roots.rs`, `variables.rs`, `words.rs` | word lists about servers, tools, environment variables and unknown programs | `src/encoding/address.rs`, `src/shell/tool_roots.rs`, `src/decide/validators/environment_poisoning.rs`, `src/shell/effects/words.rs` |
//! | `manifests.rs` | where manifests declare dependencies | `src/decide/validators/dependency_mutation/manifest.rs` |
//! | `destinations.rs`, `mcp_tools.rs` | word lists about the arguments and the names of MCP tools | `src/event/destinations.rs`, `src/mcp/tool_use.rs` |
//! | `code.rs` | names in code and words of statements | `src/programs/code.rs` |
//! | `cmdlets.rs` | the cmdlets of PowerShell | `src/shell/powershell/cmdlets.rs` |
//! | `roles.rs` | programs by their part in the rules, and settings of git | `src/programs/roles.rs` |
//! | `digests.rs` | the SHA-256 of every shipped file | `src/policy/update.rs` |
//!
//! Unit tests compare the tables with the result of parsing the same files at run time.
#![allow(
    clippy::disallowed_methods,
    clippy::indexing_slicing,
    clippy::expect_used,
    clippy::panic,
    reason = "a build script reads files, and fails by panicking"
)]

#[path = "src/rules/prefilter/bucket.rs"]
mod bucket;
#[path = "src/rules/prefilter/literals.rs"]
mod literals;
#[path = "src/encoding/nearest.rs"]
mod nearest;
/// The catalogue's types and reader.
#[path = "."]
mod programs {
    #[path = "src/programs/entry.rs"]
    pub mod entry;
    #[path = "src/programs/schema.rs"]
    pub mod schema;
}
#[path = "src/rules/syntax.rs"]
mod syntax;

use literals::Group;
use nearest::nearest;
use programs::entry::{Entry, Verb};
use programs::schema::Example;
use sha2::{Digest, Sha256};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::Path;
use syntax::{Checks, RuleText, SyntaxError};

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    for source in [
        "rules/prefilter/bucket.rs", "rules/prefilter/literals.rs", "rules/syntax.rs", "encoding/nearest.rs",
        "programs/entry.rs", "programs/schema.rs",
    ] {
        println!("cargo::rerun-if-changed=src/{source}");
    }
    let out = std::env::var("OUT_DIR").expect("cargo sets OUT_DIR");
    let write = |name: &str, text: &str| {
        std::fs::write(Path::new(&out).join(name), text).expect("OUT_DIR is writable");
    };
    let modules = file_stems("src/decide/validators", "rs");
    let validators: Vec<String> = modules.iter().map(|module| camel_case(module)).collect();
    write("validators.rs", &format!("&{validators:?}"));
    let functions: String = modules.iter().map(|module| format!("{module}::find, ")).collect();
    write("validator_functions.rs", &format!("&[{functions}]"));
    write("settings.rs", &settings_table());
    let kinds = file_stems("rules", "rules");
    let (rules, prefilter) = rule_tables(&kinds, &validators);
    write("rules.rs", &rules);
    write("prefilter.rs", &prefilter);
    write("digests.rs", &digest_table(&kinds));
    let (entries, names) = programs();
    std::fs::write(Path::new(&out).join("programs.bin"), entries).expect("OUT_DIR is writable");
    write("programs.rs", &names);
    write("paths.rs", &paths());
    for name in ["addresses", "destinations", "manifests", "mcp_tools", "sources", "tool_roots", "variables", "words"] {
        write(&format!("{name}.rs"), &word_lists(&format!("rules/{name}.toml")));
    }
    write("code.rs", &code_words("rules/code.toml"));
    write("roles.rs", &code_words("rules/roles.toml"));
    write("cmdlets.rs", &cmdlets());
}

const PRESETS: [&str; 3] = ["gentle", "strict", "off"];

/// Reads a file, and has cargo run this script again when it changes.
fn read(path: &str) -> String {
    println!("cargo::rerun-if-changed={path}");
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// The names of the files in a folder with this extension, without it, sorted.
fn file_stems(folder: &str, extension: &str) -> Vec<String> {
    println!("cargo::rerun-if-changed={folder}");
    let files = std::fs::read_dir(folder).unwrap_or_else(|error| panic!("{folder}: {error}"));
    let files = files.map(|entry| entry.expect("a readable directory").path());
    let files = files.filter(|path| path.extension().is_some_and(|end| end == extension));
    let mut stems: Vec<String> =
        files.map(|path| path.file_stem().unwrap_or_default().to_string_lossy().into_owned()).collect();
    stems.sort();
    stems
}

/// `fork_bomb` as `ForkBomb`.
fn camel_case(name: &str) -> String {
    let camel = |word: &str| word.chars().take(1).map(|c| c.to_ascii_uppercase()).chain(word.chars().skip(1)).collect();
    name.split('_').map(camel).collect::<Vec<String>>().concat()
}

/// A table of `(file, [(key, values)])` with every setting of `config.toml` and the presets.
fn settings_table() -> String {
    let mut code = String::from("&[\n");
    let presets = PRESETS.map(|name| (name, format!("presets/{name}.toml")));
    for (name, path) in [("config.toml", "config/config.toml".to_owned())].into_iter().chain(presets) {
        let tables: toml::Table = read(&path).parse().unwrap_or_else(|error| panic!("{path}: {error}"));
        writeln!(code, "    ({name:?}, &[").expect("writing to a string succeeds");
        for (table, keys) in &tables {
            let keys = keys.as_table().unwrap_or_else(|| panic!("{path}: `{table}` is not a table"));
            for (key, value) in keys {
                let values = value.as_array().map_or(std::slice::from_ref(value), Vec::as_slice);
                let texts: Option<Vec<&str>> = values.iter().map(toml::Value::as_str).collect();
                let texts = texts
                    .unwrap_or_else(|| panic!("{path}: `{table}.{key}` is neither a string nor a list of strings"));
                writeln!(code, "        (\"{table}.{key}\", &{texts:?}),").expect("writing to a string succeeds");
            }
        }
        code.push_str("    ]),\n");
    }
    code.push(']');
    code
}

/// Encodes the catalogue: all entries one after the other, and the code of a table of names.
fn programs() -> (Vec<u8>, String) {
    let mut encoder = Encoder::default();
    let mut examples = Vec::new();
    let mut names: BTreeMap<String, (u32, String)> = BTreeMap::new();
    for stem in file_stems("rules/programs", "toml") {
        let path = format!("rules/programs/{stem}.toml");
        let file = programs::schema::parse(&read(&path)).unwrap_or_else(|error| panic!("{path}: {error}"));
        for entry in file.entries {
            let told = entry.names.clone();
            let number = encoder.add(entry);
            for name in told {
                if let Some((_, other)) = names.insert(name.to_string(), (number, path.clone())) {
                    panic!("{path}: `{name}` is also in {other}");
                }
            }
        }
        examples.extend(file.examples);
    }
    let mut table = phf_codegen::Map::new();
    for (name, (number, _)) in &names {
        table.entry(name.as_str(), number.to_string());
    }
    let example = |example: &Example| format!("    ({:?}, &{:?}),\n", example.command, example.expected);
    let code = format!(
        "static PROGRAMS: phf::Map<&'static str, u32> = {};\nstatic ENDS: [u32; {}] = {:?};\n\
         static EXAMPLES: [(&str, &[&str]); {}] = [\n{}];\n",
        table.build(),
        encoder.ends.len(),
        encoder.ends,
        examples.len(),
        examples.iter().map(example).collect::<String>()
    );
    (encoder.bytes, code)
}

/// Encodes the entries of programs, and those of their verbs as entries of their own.
#[derive(Default)]
struct Encoder {
    bytes: Vec<u8>,
    /// Where each entry ends.
    ends: Vec<usize>,
}

impl Encoder {
    /// Adds an entry, and returns its number.
    fn add(&mut self, mut entry: Entry) -> u32 {
        for verb in &mut entry.verbs {
            if let Verb::Told(told) = verb {
                let names = told.names.join(" ").into();
                let letters = Verb::first_letters(told.names.iter().map(AsRef::as_ref));
                *verb = Verb::Shipped { names, letters, number: self.add(std::mem::take(told)) };
            }
        }
        self.bytes.extend(postcard::to_allocvec(&entry).expect("an entry can be encoded"));
        self.ends.push(self.bytes.len());
        u32::try_from(self.ends.len() - 1).expect("fewer entries")
    }
}

/// Compiles a file of word lists: `[table] key = […]` becomes the static `TABLE_KEY`.
fn word_lists(path: &str) -> String {
    let tables: toml::Table = read(path).parse().unwrap_or_else(|error| panic!("{path}: {error}"));
    let mut code = String::new();
    for (table, keys) in &tables {
        for (key, value) in keys.as_table().unwrap_or_else(|| panic!("{path}: `{table}` is not a table")) {
            let words = value.as_array().unwrap_or_else(|| panic!("{path}: `{table}.{key}` is not a list"));
            let words: Vec<&str> = words.iter().filter_map(toml::Value::as_str).collect();
            let name = format!("{table}_{key}").to_uppercase();
            writeln!(code, "pub(crate) static {name}: [&str; {}] = {words:?};", words.len())
                .expect("a string accepts everything");
        }
    }
    code
}

/// Compiles the classes of protected files, and the names by which most other paths are told apart from them.
fn paths() -> String {
    let path = "rules/paths.toml";
    let tables: toml::Table = read(path).parse().unwrap_or_else(|error| panic!("{path}: {error}"));
    let mut rows = String::new();
    let [mut names, mut beginnings, mut endings, mut middles] = [const { BTreeSet::new() }; 4];
    let (mut ordinary, mut installed, mut obeyed) = (Vec::new(), Vec::new(), Vec::new());
    for (class, table) in &tables {
        let list = |key: &str| -> Vec<String> {
            let items = table.get(key).and_then(toml::Value::as_array).cloned().unwrap_or_default();
            let text =
                |item: &toml::Value| item.as_str().unwrap_or_else(|| panic!("{path}: `{class}.{key}`")).to_owned();
            items.iter().map(text).flat_map(|text| expand_braces(&text)).collect()
        };
        match class.as_str() {
            "ordinary" => ordinary = list("files"),
            "installed" => installed = list("files"),
            "obeyed" => obeyed = list("files"),
            _ => {}
        }
        if matches!(class.as_str(), "ordinary" | "installed" | "obeyed") {
            continue;
        }
        let worst = table.get("worst").and_then(toml::Value::as_str);
        let worst = camel_case(worst.unwrap_or_else(|| panic!("{path}: `{class}.worst` is missing")));
        let (files, except) = (list("files"), list("except"));
        let (mut anchored, mut floating) = (NameIndex::default(), NameIndex::default());
        for (position, file) in files.iter().enumerate() {
            let below = file.strip_prefix('~').unwrap_or(file).trim_start_matches('/');
            if below.starts_with("**") { &mut floating } else { &mut anchored }.add(below, position);
            // The last name that says something tells most other paths apart.
            let parts = file.split('/').filter(|name| !matches!(*name, "" | "~" | "**"));
            let found = parts.rev().find_map(|name| match name.split_once('*') {
                None => Some(names.insert(name.to_lowercase())),
                Some((begin, _)) if begin.len() > 1 => Some(beginnings.insert(begin.to_lowercase())),
                Some(("" | ".", end)) if end.len() > 1 && !end.contains('*') => {
                    Some(endings.insert(end.to_lowercase()))
                }
                Some(("", rest)) => match rest.split_once('*') {
                    Some((middle, _)) if middle.len() > 2 => Some(middles.insert(middle.to_lowercase())),
                    _ => None,
                },
                Some(_) => None,
            });
            // The prefilter does not find settings without a fixed name; their validator does without it.
            assert!(found.is_some() || class == "tool_settings", "{path}: `{class}`: `{file}` has no fixed name");
        }
        writeln!(
            rows,
            "    Files {{ class: Class::{}, worst: WorstUse::{worst}, files: &globs({files:?}), except: &globs({except:?}), \
             anchored: {anchored}, floating: {floating} }},",
            camel_case(class)
        )
        .expect("a string accepts everything");
    }
    let mut code = format!("static FILES: [Files; {}] = [\n{rows}];\n", rows.lines().count());
    for (name, globs) in [("ORDINARY", ordinary), ("INSTALLED", installed), ("OBEYED", obeyed)] {
        writeln!(code, "static {name}: [Glob<'static>; {}] = globs({globs:?});", globs.len())
            .expect("a string accepts everything");
    }
    let first = |text: &str| text.as_bytes().first().copied();
    let last = |text: &str| text.as_bytes().last().copied();
    writeln!(code, "{}", by_letter("NAMES", names, first)).expect("a string accepts everything");
    writeln!(code, "{}", by_letter("BEGINNINGS", beginnings, first)).expect("a string accepts everything");
    writeln!(code, "{}", by_letter("ENDINGS", endings, last)).expect("a string accepts everything");
    writeln!(code, "static MIDDLES: [&str; {}] = {:?};", middles.len(), middles.iter().collect::<Vec<_>>())
        .expect("a string accepts everything");
    code
}

/// The cmdlets of PowerShell as Rust tables.
fn cmdlets() -> String {
    let path = "rules/cmdlets.toml";
    let table: toml::Table = read(path).parse().unwrap_or_else(|error| panic!("{path}: {error}"));
    let text = |table: &toml::Table, key: &str| match table.get(key) {
        None => String::new(),
        Some(value) => value.as_str().unwrap_or_else(|| panic!("{path}: `{key}` is not a string")).to_owned(),
    };
    let cmdlets = table.get("cmdlet").and_then(toml::Value::as_array).expect("there are cmdlets");
    let mut code = format!("pub(super) static CMDLETS: [Cmdlet; {}] = [\n", cmdlets.len());
    for cmdlet in cmdlets {
        let cmdlet = cmdlet.as_table().expect("a cmdlet is a table");
        let unknown = cmdlet.keys().find(|key| !CMDLET_KEYS.contains(&key.as_str()));
        assert!(unknown.is_none(), "{path}: unknown key {unknown:?}");
        let fields = CMDLET_KEYS.map(|key| format!("{key}: {:?}", text(cmdlet, key)));
        writeln!(code, "    Cmdlet {{ {} }},", fields.join(", ")).expect("a string accepts everything");
    }
    let [common, unix] = ["common", "unix"].map(|key| text(&table, key));
    format!("{code}];\npub(super) const COMMON: &str = {common:?};\npub(super) const UNIX: &str = {unix:?};\n")
}

const CMDLET_KEYS: [&str; 4] = ["names", "positions", "becomes", "dropped"];

/// The positions of patterns by their first names.
#[derive(Default)]
struct NameIndex {
    by_name: BTreeMap<String, Vec<usize>>,
    unnamed: Vec<usize>,
}

impl NameIndex {
    /// Adds a pattern, which begins with a name or with `**`.
    fn add(&mut self, pattern: &str, position: usize) {
        let first = pattern.split('/').find(|name| !matches!(*name, "" | "**")).unwrap_or_default();
        if first.is_empty() || first.contains(['*', '?', '[']) {
            self.unnamed.push(position);
        } else {
            self.by_name.entry(first.to_lowercase()).or_default().push(position);
        }
    }
}

impl std::fmt::Display for NameIndex {
    /// Writes it as Rust code.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let rows: String = self.by_name.iter().map(|(name, globs)| format!("({name:?}, &{globs:?}), ")).collect();
        write!(f, "NameIndex {{ by_name: &[{rows}], unnamed: &{:?} }}", self.unnamed)
    }
}

/// Compiles a table of texts by one of their bytes.
fn by_letter(name: &str, texts: BTreeSet<String>, letter: impl Fn(&str) -> Option<u8>) -> String {
    let mut table: BTreeMap<u8, Vec<String>> = BTreeMap::new();
    for text in texts {
        table.entry(letter(&text).expect("no text is empty")).or_default().push(text);
    }
    let rows: String = table.iter().map(|(letter, texts)| format!("({letter}, &{texts:?}), ")).collect();
    format!("static {name}: [(u8, &[&str]); {}] = [{rows}];", table.len())
}

/// Expands `a{b,c}d` to `abd` and `acd`.
fn expand_braces(text: &str) -> Vec<String> {
    let Some((begin, rest)) = text.split_once('{') else { return vec![text.to_owned()] };
    let (inside, end) = rest.split_once('}').unwrap_or_else(|| panic!("`{text}` has no closing brace"));
    let ends = expand_braces(end);
    inside.split(',').flat_map(|part| ends.iter().map(move |end| format!("{begin}{part}{end}"))).collect()
}

/// Compiles a file of word lists: functions with their effects, their modules, and a static for each other list.
fn code_words(path: &str) -> String {
    let tables: toml::Table = read(path).parse().unwrap_or_else(|error| panic!("{path}: {error}"));
    let texts = |value: &toml::Value| -> Vec<String> {
        if let Some(text) = value.as_str() {
            let plain = |word: &str| word.replace("''", "").trim_end_matches(['!', '?']).to_owned();
            return text.split_whitespace().map(plain).collect();
        }
        let items = value.as_array().unwrap_or_else(|| panic!("{path}: `{value:?}` is neither a string nor a list"));
        items.iter().filter_map(|item| item.as_str().map(str::to_owned)).collect()
    };
    let mut code = String::new();
    for (table, keys) in &tables {
        let keys = keys.as_table().unwrap_or_else(|| panic!("{path}: `{table}` is not a table"));
        match table.as_str() {
            "calls" => {
                let mut calls: BTreeMap<String, String> = BTreeMap::new();
                for (effect, names) in keys {
                    for name in texts(names) {
                        let effect = camel_case(&effect.replace('-', "_"));
                        let other = calls.insert(name.clone(), effect.clone());
                        assert!(other.is_none_or(|other| other == effect), "{path}: `{name}` has two effects");
                    }
                }
                let rows: String =
                    calls.iter().map(|(name, effect)| format!("({name:?}, CallEffect::{effect}), ")).collect();
                writeln!(code, "static CALLS: [(&str, CallEffect); {}] = [{rows}];", calls.len())
            }
            "behind" => {
                let modules: BTreeMap<&String, Vec<String>> =
                    keys.iter().map(|(key, value)| (key, texts(value))).collect();
                let rows: String =
                    modules.iter().map(|(name, modules)| format!("({name:?}, &{modules:?}), ")).collect();
                writeln!(code, "static BEHIND: [(&str, &[&str]); {}] = [{rows}];", modules.len())
            }
            _ => keys.iter().try_for_each(|(key, value)| {
                let mut words = texts(value);
                if table != "lines" {
                    words.sort();
                    words.dedup();
                }
                let name = format!("{table}_{key}").replace('-', "_").to_uppercase();
                writeln!(code, "pub static {name}: WordList = WordList::new(&{words:?});")
            }),
        }
        .expect("writing to a string succeeds");
    }
    code
}

/// A table of `(file, SHA-256)` with every shipped file.
fn digest_table(kinds: &[String]) -> String {
    let presets = PRESETS.iter().map(|name| format!("presets/{name}.toml"));
    let rules = kinds.iter().map(|name| format!("rules/{name}.rules"));
    let files = presets.chain(rules).map(|name| (name.clone(), name));
    let mut code = String::from("&[\n");
    for (name, path) in [("config.toml".to_owned(), "config/config.toml".to_owned())].into_iter().chain(files) {
        let digest: String = Sha256::digest(read(&path)).iter().map(|byte| format!("{byte:02x}")).collect();
        writeln!(code, "    ({name:?}, {digest:?}),").expect("writing to a string succeeds");
    }
    code.push(']');
    code
}

/// The code of `rules.rs` and of `prefilter.rs`.
fn rule_tables(kinds: &[String], validators: &[String]) -> (String, String) {
    // Names of rules are checked by a unit test, names of validators by `rule_code`.
    let checks = Checks { name: &|_| Ok(()), validator: &|_| Ok(()) };
    let texts: Vec<(&String, String)> = kinds.iter().map(|name| (name, read(&format!("rules/{name}.rules")))).collect();
    let files: Vec<(&str, Vec<RuleText<'_>>)> = texts
        .iter()
        .map(|(name, text)| {
            let (rules, errors) = syntax::parse(text, &checks);
            if let Some(SyntaxError { line, column, message, help }) = errors.first() {
                panic!("rules/{name}.rules:{line}:{column}: {message}\n  help: {help}");
            }
            (name.as_str(), rules)
        })
        .collect();
    let prefilter = Prefilter::of(&files, texts.iter().map(|(_, text)| text));
    let (mut code, mut table) = (String::new(), String::new());
    for (name, rules) in &files {
        let rules = rules.iter().enumerate().map(|(at, rule)| {
            let prefix = format!("{}_{at}", name.to_uppercase());
            rule_code(rule, &prefix, validators, &prefilter, &mut code)
        });
        let rules: String = rules.collect();
        writeln!(table, "    ({name:?}, &[\n{rules}    ]),").expect("writing to a string succeeds");
    }
    writeln!(code, "static EMBEDDED_RULES: &[(&str, &[EmbeddedRule])] = &[\n{table}];")
        .expect("writing to a string succeeds");
    (code, prefilter.code())
}

/// The code of one `EmbeddedRule`.
///
/// Its patterns are added to `code` as statics whose names begin with `prefix`, because a pattern caches its compiled form.
fn rule_code(
    rule: &RuleText<'_>,
    prefix: &str,
    validators: &[String],
    prefilter: &Prefilter<'_>,
    code: &mut String,
) -> String {
    let mut patterns = |clause: &str, texts: &[Cow<'_, str>]| {
        let pattern = |text: &Cow<'_, str>| format!("Pattern::embedded({text:?}, &{:?}), ", prefilter.numbers(text));
        let patterns: String = texts.iter().map(pattern).collect();
        writeln!(code, "static {prefix}_{clause}: [Pattern; {}] = [{patterns}];", texts.len())
            .expect("writing to a string succeeds");
        format!("&{prefix}_{clause}")
    };
    let example = |(expected, line, text): &(syntax::Expected, usize, &str)| {
        format!("Example {{ expected: Expected::{expected:?}, line: {line}, text: Cow::Borrowed({text:?}) }}, ")
    };
    let index = |name: &str| validators.iter().position(|known| known == name).expect("a known validator");
    let validator =
        rule.validator.map_or("None".to_owned(), |name| format!("Some(ValidatorId::from_index({}))", index(name)));
    let does = rule.does.iter().map(|name| match programs::schema::DOES.iter().find(|(known, _)| known == name) {
        Some((_, does)) => format!("NamedEffect::Does(Does::{does:?}), "),
        None => "NamedEffect::Reveals, ".to_owned(),
    });
    let does: String = does.collect();
    format!(
        "        EmbeddedRule {{ tier: Tier::{:?}, name: {:?}, line: {}, validator: {validator}, does: &[{does}], patterns: {}, only_when: {}, \
         except_when: {}, only_when_tainted: {}, reason: {:?}, nudge: {:?}, examples: &[{}] }},\n",
        rule.tier,
        rule.name,
        rule.line,
        patterns("MATCH", &rule.patterns),
        patterns("ONLY_WHEN", &rule.only_when),
        patterns("EXCEPT_WHEN", &rule.except_when),
        rule.only_when_tainted,
        rule.reason,
        rule.nudge,
        rule.examples.iter().map(example).collect::<String>(),
    )
}

/// The literals that the embedded patterns require.
struct Prefilter<'t> {
    /// The number of each group of literals. The groups of patterns for calls come before those of patterns for results only.
    groups: BTreeMap<Group, usize>,
    /// How many groups belong to patterns for calls.
    call_groups: usize,
    /// The groups of every pattern.
    patterns: BTreeMap<Cow<'t, str>, Vec<Group>>,
    /// How often each key occurs in the rule files.
    frequencies: BTreeMap<u32, usize>,
}

impl<'t> Prefilter<'t> {
    fn of<'r>(files: &[(&str, Vec<RuleText<'t>>)], texts: impl Iterator<Item = &'r String>) -> Self {
        let (mut patterns, mut of_calls, mut of_results) = (BTreeMap::new(), BTreeSet::new(), BTreeSet::new());
        for (kind, rules) in files {
            let of_kind = if *kind == "post" { &mut of_results } else { &mut of_calls };
            for text in
                rules.iter().flat_map(|rule| rule.patterns.iter().chain(&rule.only_when).chain(&rule.except_when))
            {
                let groups = literals::required(text);
                of_kind.extend(groups.iter().cloned());
                patterns.insert(text.clone(), groups);
            }
        }
        let call_groups = of_calls.len();
        let only_results = of_results.difference(&of_calls).cloned();
        let groups = of_calls.iter().cloned().chain(only_results).enumerate().map(|(at, group)| (group, at)).collect();
        let mut frequencies = BTreeMap::new();
        texts.flat_map(|text| keys(text.as_bytes())).for_each(|key| *frequencies.entry(key).or_default() += 1);
        Prefilter { groups, call_groups, patterns, frequencies }
    }

    /// The offset of the rarest key of a literal, and the key. Looking up a rare key finds fewer literals to compare.
    fn rarest_key(&self, literal: &[u8]) -> (usize, u32) {
        let keys = keys(literals::without_left_mark(literal)).into_iter().enumerate();
        keys.min_by_key(|(_, key)| self.frequencies.get(key)).expect("a literal is at least as long as a key")
    }

    /// The numbers of the groups of a pattern.
    fn numbers(&self, pattern: &str) -> Vec<usize> {
        self.patterns[pattern].iter().map(|group| self.groups[group]).collect()
    }

    /// The code of `prefilter.rs`.
    fn code(&self) -> String {
        let mut groups_of: BTreeMap<&[u8], BTreeSet<usize>> = BTreeMap::new();
        for (group, number) in &self.groups {
            for literal in group {
                groups_of.entry(literal).or_default().insert(*number);
            }
        }
        // In each bucket, the literals of patterns for calls come first.
        let mut literals: Vec<(usize, bool, &[u8], &BTreeSet<usize>)> = Vec::new();
        for (literal, groups) in &groups_of {
            let (_, key) = self.rarest_key(literal);
            let only_results = groups.iter().all(|number| *number >= self.call_groups);
            literals.push((bucket::bucket(key), only_results, literal, groups));
        }
        literals.sort();
        let mut buckets = [(0, 0, 0); bucket::BUCKETS];
        for (at, (bucket, only_results, ..)) in literals.iter().enumerate() {
            let (start, count, calls) = &mut buckets[*bucket];
            *start = if *count == 0 { at } else { *start };
            *count += 1;
            *calls += usize::from(!only_results);
        }
        let literal = |(_, _, text, groups): &(usize, bool, &[u8], &BTreeSet<usize>)| {
            let (offset, _) = self.rarest_key(text);
            let plain = literals::without_left_mark(text);
            let left = if plain.len() < text.len() { text[0] } else { 0 };
            let (right, plain) = match plain.split_last() {
                Some((mark @ &(bucket::END | bucket::EDGE), plain)) => (*mark, plain),
                _ => (0, plain),
            };
            let plain = plain.escape_ascii();
            let groups: Vec<usize> = groups.iter().copied().collect();
            format!(
                "    Literal {{ text: b\"{plain}\", left: {left}, right: {right}, key_offset: {offset}, groups: &{groups:?} }},\n"
            )
        };
        let bucket = |(start, count, calls)| format!("Bucket {{ start: {start}, count: {count}, calls: {calls} }}, ");
        let pattern = |text: &Cow<'_, str>| format!("    ({text:?}, &{:?}),\n", self.numbers(text));
        format!(
            "const GROUPS: usize = {};\nconst CALL_GROUPS: u16 = {};\nstatic LITERALS: [Literal; {}] = [\n{}];\nstatic TABLE: [Bucket; bucket::BUCKETS] = [{}];\n\
             static PATTERNS: [(&str, &[u16]); {}] = [\n{}];\n",
            self.groups.len(),
            self.call_groups,
            literals.len(),
            literals.iter().map(literal).collect::<String>(),
            buckets.into_iter().map(bucket).collect::<String>(),
            self.patterns.len(),
            self.patterns.keys().map(pattern).collect::<String>(),
        )
    }
}

/// The keys at every offset of a text.
fn keys(bytes: &[u8]) -> Vec<u32> {
    let key = |bytes: &[u8]| bytes.iter().map(|byte| bucket::key_byte(*byte)).fold(0, bucket::next_key);
    bytes.windows(bucket::KEY_BYTES).map(key).collect()
}
