//! Reads the embedded policy when the binary is built, so that no call has to.
//!
//! Tests compare what comes of it with what a call would have read.
#![allow(
    clippy::disallowed_methods,
    clippy::indexing_slicing,
    clippy::expect_used,
    clippy::panic,
    reason = "a build reads files, and ends where it cannot"
)]

#[path = "src/rules/prefilter/bucket.rs"]
mod bucket;
#[path = "src/rules/prefilter/literals.rs"]
mod literals;
#[path = "src/encoding/nearest.rs"]
mod nearest;
#[path = "src/rules/syntax.rs"]
mod syntax;

use literals::Group;
use nearest::nearest;
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::Path;
use syntax::{Checks, RuleText, SyntaxError};

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    for source in ["rules/prefilter/bucket.rs", "rules/prefilter/literals.rs", "rules/syntax.rs", "encoding/nearest.rs"]
    {
        println!("cargo::rerun-if-changed=src/{source}");
    }
    let out = std::env::var("OUT_DIR").expect("cargo names a directory for what is made");
    let write = |name: &str, text: &str| {
        std::fs::write(Path::new(&out).join(name), text).expect("the directory can be written to");
    };
    let names = validators();
    write("validators.rs", &format!("const VALIDATORS: [&str; {}] = {names:?};", names.len()));
    write("settings.rs", &settings());
    let (rules, prefilter) = rules();
    write("rules.rs", &rules);
    write("prefilter.rs", &prefilter);
    write("digests.rs", &digests());
}

const PRESETS: [&str; 3] = ["gentle", "strict", "off"];
const RULES: [&str; 6] = ["bash", "edit", "read", "mcp", "agent", "post"];

fn read(path: &str) -> String {
    println!("cargo::rerun-if-changed={path}");
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// The names of all validators: those of their files, in camel case and in order.
fn validators() -> Vec<String> {
    let folder = "src/decide/validators";
    println!("cargo::rerun-if-changed={folder}");
    let files = std::fs::read_dir(folder).unwrap_or_else(|error| panic!("{folder}: {error}"));
    let files = files.map(|entry| entry.expect("a readable directory").path());
    let stems = files.filter(|path| path.extension().is_some_and(|end| end == "rs")).map(|path| {
        let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let camel =
            |word: &str| word.chars().take(1).map(|c| c.to_ascii_uppercase()).chain(word.chars().skip(1)).collect();
        stem.split('_').map(camel).collect::<Vec<String>>().concat()
    });
    let mut names: Vec<String> = stems.collect();
    names.sort();
    names
}

/// Every setting of the embedded policy as `(key, values)`, by the name of its file.
fn settings() -> String {
    let mut code = String::from("&[\n");
    let presets = PRESETS.map(|name| (name, format!("presets/{name}.toml")));
    for (name, path) in [("config.toml", "config/config.toml".to_owned())].into_iter().chain(presets) {
        let tables: toml::Table = read(&path).parse().unwrap_or_else(|error| panic!("{path}: {error}"));
        writeln!(code, "    ({name:?}, &[").expect("a text takes everything");
        for (table, keys) in &tables {
            let keys = keys.as_table().unwrap_or_else(|| panic!("{path}: `{table}` is not a table"));
            for (key, value) in keys {
                let values = value.as_array().map_or(std::slice::from_ref(value), Vec::as_slice);
                let texts: Option<Vec<&str>> = values.iter().map(toml::Value::as_str).collect();
                let texts = texts.unwrap_or_else(|| panic!("{path}: `{table}.{key}` is neither a text nor texts"));
                writeln!(code, "        (\"{table}.{key}\", &{texts:?}),").expect("a text takes everything");
            }
        }
        code.push_str("    ]),\n");
    }
    code.push(']');
    code
}

/// The SHA-256 of every embedded text, by the name of its file.
fn digests() -> String {
    let presets = PRESETS.iter().map(|name| format!("presets/{name}.toml"));
    let rules = RULES.iter().map(|name| format!("rules/{name}.rules"));
    let files = presets.chain(rules).map(|name| (name.clone(), name));
    let mut code = String::from("&[\n");
    for (name, path) in [("config.toml".to_owned(), "config/config.toml".to_owned())].into_iter().chain(files) {
        let digest: String = Sha256::digest(read(&path)).iter().map(|byte| format!("{byte:02x}")).collect();
        writeln!(code, "    ({name:?}, {digest:?}),").expect("a text takes everything");
    }
    code.push(']');
    code
}

/// Every embedded rule as a row, by the name of its file, and the prefilter of all patterns.
fn rules() -> (String, String) {
    // The parser of the crate checks names when it is tested; an unknown validator does not compile.
    let checks = Checks { name: &|_| Ok(()), validator: &|_| Ok(()) };
    let texts = RULES.map(|name| (name, read(&format!("rules/{name}.rules"))));
    let files: Vec<(&str, Vec<RuleText<'_>>)> = texts
        .iter()
        .map(|(name, text)| {
            let (rules, errors) = syntax::parse(text, &checks);
            if let Some(SyntaxError { line, column, message, help }) = errors.first() {
                panic!("rules/{name}.rules:{line}:{column}: {message}\n  help: {help}");
            }
            (*name, rules)
        })
        .collect();
    let prefilter = Prefilter::of(files.iter().flat_map(|(_, rules)| rules), texts.iter().map(|(_, text)| text));
    let (mut code, mut all) = (String::new(), String::new());
    for (name, rules) in &files {
        let prefix = name.to_uppercase();
        let rows =
            rules.iter().enumerate().map(|(at, rule)| row(rule, &prefilter, &format!("{prefix}_{at}"), &mut code));
        let rows: String = rows.collect();
        writeln!(all, "    ({name:?}, &[\n{rows}    ]),").expect("a string accepts everything");
    }
    writeln!(code, "static EMBEDDED_RULES: [(&str, &[EmbeddedRule]); {}] = [\n{all}];", files.len())
        .expect("a string accepts everything");
    (code, prefilter.code())
}

/// A rule as a row. Its patterns are statics of their own before it: what they compile to is written into them.
fn row(rule: &RuleText<'_>, prefilter: &Prefilter<'_>, name: &str, code: &mut String) -> String {
    let mut patterns = |list: &str, texts: &[&str]| {
        let pattern = |text: &&str| format!("Pattern::embedded({text:?}, &{:?}), ", prefilter.numbers(text));
        let patterns: String = texts.iter().map(pattern).collect();
        writeln!(code, "static {name}_{list}: [Pattern; {}] = [{patterns}];", texts.len())
            .expect("a string accepts everything");
        format!("&{name}_{list}")
    };
    let example = |(expected, line, text): &(syntax::Expected, usize, &str)| {
        format!("Example {{ expected: Expected::{expected:?}, line: {line}, text: Cow::Borrowed({text:?}) }}, ")
    };
    let index = |name: &str| validators().iter().position(|known| known == name).expect("a known validator");
    let validator =
        rule.validator.map_or("None".to_owned(), |name| format!("Some(ValidatorId::from_index({}))", index(name)));
    format!(
        "        EmbeddedRule {{ tier: Tier::{:?}, name: {:?}, line: {}, validator: {validator}, patterns: {}, only_when: {}, \
         except_when: {}, only_when_tainted: {}, nudge: {:?}, examples: &[{}] }},\n",
        rule.tier,
        rule.name,
        rule.line,
        patterns("MATCH", &rule.patterns),
        patterns("ONLY_WHEN", &rule.only_when),
        patterns("EXCEPT_WHEN", &rule.except_when),
        rule.only_when_tainted,
        rule.nudge,
        rule.examples.iter().map(example).collect::<String>(),
    )
}

/// The literals that the embedded patterns require.
struct Prefilter<'t> {
    /// The groups of literals, without duplicates; a group is known by its place.
    groups: Vec<Group>,
    /// The groups of every pattern.
    patterns: BTreeMap<&'t str, Vec<Group>>,
    /// How often a key occurs in the rules.
    keys: BTreeMap<u32, usize>,
}

impl<'t> Prefilter<'t> {
    fn of<'r>(rules: impl Iterator<Item = &'r RuleText<'t>>, texts: impl Iterator<Item = &'r String>) -> Self
    where
        't: 'r,
    {
        let patterns = rules.flat_map(|rule| rule.patterns.iter().chain(&rule.only_when).chain(&rule.except_when));
        let patterns: BTreeMap<&str, Vec<Group>> = patterns.map(|text| (*text, literals::required(text))).collect();
        let groups: BTreeSet<Group> = patterns.values().flatten().cloned().collect();
        let mut counts = BTreeMap::new();
        texts.flat_map(|text| keys(text.as_bytes())).for_each(|key| *counts.entry(key).or_default() += 1);
        Prefilter { groups: groups.into_iter().collect(), patterns, keys: counts }
    }

    /// Where the rarest key of a literal begins, and the key.
    fn rarest_key(&self, literal: &[u8]) -> (usize, u32) {
        let keys = keys(bucket::without_left_mark(literal)).into_iter().enumerate();
        keys.min_by_key(|(_, key)| self.keys.get(key)).expect("literals are not shorter than keys")
    }

    /// The numbers of the groups of a pattern.
    fn numbers(&self, pattern: &str) -> Vec<usize> {
        let number = |group: &Group| self.groups.binary_search(group).expect("every group is listed");
        self.patterns[pattern].iter().map(number).collect()
    }

    fn code(&self) -> String {
        let mut literals: BTreeMap<(usize, &[u8]), Vec<usize>> = BTreeMap::new();
        for (number, group) in self.groups.iter().enumerate() {
            for literal in group {
                let (_, key) = self.rarest_key(literal);
                literals.entry((bucket::bucket(key), literal)).or_default().push(number);
            }
        }
        let mut buckets = [(0, 0); bucket::BUCKETS];
        for (at, (bucket, _)) in literals.keys().enumerate() {
            let (start, count) = &mut buckets[*bucket];
            (*start, *count) = if *count == 0 { (at, 1) } else { (*start, *count + 1) };
        }
        let literal = |((_, text), groups): (&(usize, &[u8]), &Vec<usize>)| {
            let (offset, _) = self.rarest_key(text);
            let text = text.escape_ascii();
            format!("    Literal {{ text: b\"{text}\", key_offset: {offset}, groups: &{groups:?} }},\n")
        };
        let bucket = |(start, count)| format!("Bucket {{ start: {start}, count: {count} }}, ");
        let pattern = |text: &&str| format!("    ({text:?}, &{:?}),\n", self.numbers(text));
        format!(
            "const GROUPS: usize = {};\nstatic LITERALS: [Literal; {}] = [\n{}];\nstatic TABLE: [Bucket; bucket::BUCKETS] = [{}];\n\
             static PATTERNS: [(&str, &[u16]); {}] = [\n{}];\n",
            self.groups.len(),
            literals.len(),
            literals.iter().map(literal).collect::<String>(),
            buckets.into_iter().map(bucket).collect::<String>(),
            self.patterns.len(),
            self.patterns.keys().map(pattern).collect::<String>(),
        )
    }
}

/// The keys of all adjacent bytes.
fn keys(bytes: &[u8]) -> Vec<u32> {
    let key = |bytes: &[u8]| bytes.iter().map(|byte| bucket::key_byte(*byte)).fold(0, bucket::next_key);
    bytes.windows(bucket::KEY_BYTES).map(key).collect()
}
