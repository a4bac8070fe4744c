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

#[path = "src/rules/clause.rs"]
mod clause;
#[path = "src/rules/clue.rs"]
mod clue;
#[expect(dead_code, reason = "only the gists are of use here")]
#[path = "src/rules/gist.rs"]
mod gist;
#[path = "src/rules/walk.rs"]
mod walk;

use clause::{Clause, Clue};
use gist::{Beginning, Gist};
use sha2::{Digest, Sha256};
use std::fmt::Write;
use std::ops::Range;
use std::path::Path;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let out = std::env::var("OUT_DIR").expect("cargo names a directory for what is made");
    let write = |name: &str, text: &str| {
        std::fs::write(Path::new(&out).join(name), text).expect("the directory can be written to");
    };
    write("settings.rs", &settings());
    let (rules, clues) = rules();
    write("rules.rs", &rules);
    write("clues.rs", &clues.write());
    write("digests.rs", &digests());
}

const PRESETS: [&str; 3] = ["gentle", "strict", "off"];
const RULES: [&str; 6] = ["bash", "edit", "read", "mcp", "agent", "post"];

fn read(path: &str) -> String {
    println!("cargo::rerun-if-changed={path}");
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{path}: {error}"))
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

/// Every embedded rule as a row, by the name of its file, and the clues to those about content.
///
/// All lists have names, so that the linker can put together those that every command is compared with.
fn rules() -> (String, Clues) {
    let mut clues = Clues::default();
    let (mut code, mut files) = (String::new(), String::new());
    for name in RULES {
        let text = read(&format!("rules/{name}.rules"));
        let mut start = 0;
        let mut row: Option<Row> = None;
        let mut rows: Vec<Row> = Vec::new();
        for (at, line) in text.split('\n').enumerate() {
            let end = start + line.len();
            if let Some(tier) = ["Block", "Suspicious"].into_iter().find(|tier| line.starts_with(&tier.to_lowercase()))
            {
                rows.extend(row.take());
                let name = line.split('"').nth(1).unwrap_or_default().to_owned();
                row = Some(Row { tier, name, line: at + 1, proof: start..start, ..Row::default() });
            } else if let Some(row) = &mut row {
                row.take(line, end, Some(&mut clues).filter(|_| name == "post"));
            }
            start = end + 1;
        }
        rows.extend(row);
        let (file, count) = (name.to_uppercase(), rows.len());
        let rows: String =
            rows.into_iter().enumerate().map(|(at, row)| row.write(&format!("{file}_{at}"), &mut code)).collect();
        writeln!(code, "static {file}: [Row; {count}] = [\n{rows}];").expect("a text takes everything");
        writeln!(files, "    ({name:?}, &{file}),").expect("a text takes everything");
    }
    writeln!(code, "static ROWS: [(&str, &[Row]); {}] = [\n{files}];", RULES.len()).expect("a text takes everything");
    (code, clues)
}

/// What leads to patterns.
#[derive(Default)]
struct Clues {
    /// The lists of each pattern, the one that tells most first.
    patterns: Vec<Vec<Clause>>,
}

impl Clues {
    /// The number of a pattern.
    fn add(&mut self, pattern: &str) -> usize {
        let mut clauses = clause::clauses(pattern);
        let shortest = |clause: &Clause| clause.iter().map(|clue| clue.text.len()).min().unwrap_or(0);
        clauses.sort_by_key(|clause| (std::cmp::Reverse(shortest(clause)), clause.len()));
        self.patterns.push(clauses);
        self.patterns.len() - 1
    }

    fn write(&self) -> String {
        let key = |clue: &Clue| clue.key().expect("clues can be looked up").into_iter().fold(0, clue::behind);
        let place = |clue: &Clue| clue::place(key(clue));
        let mut clues: Vec<&Clue> = self.patterns.iter().flatten().flatten().collect();
        clues.sort_by_key(|clue| (place(clue), *clue));
        clues.dedup();
        let number = |clue: &Clue| clues.iter().position(|other| *other == clue).expect("all of them are there");
        let mut places = [0_u64; 1024];
        let mut lists = vec![0; (1 << 16 >> clue::SHARE) + 1];
        for clue in &clues {
            let place = usize::from(place(clue));
            places[place >> 6] |= 1 << (place & 63);
            lists[(place >> clue::SHARE) + 1] += 1;
        }
        (1..lists.len()).for_each(|at| lists[at] += lists[at - 1]);
        let patterns: Vec<Vec<Vec<usize>>> = self
            .patterns
            .iter()
            .map(|clauses| clauses.iter().map(|clause| clause.iter().map(number).collect()).collect())
            .collect();
        let leads: Vec<Vec<usize>> = (0..clues.len())
            .map(|clue| {
                let led = |number: &usize| patterns[*number].first().is_some_and(|clause| clause.contains(&clue));
                (0..patterns.len()).filter(led).collect()
            })
            .collect();
        let mut texts = String::new();
        let mut rows = String::new();
        for clue in &clues {
            let (start, length) = (texts.len(), clue.text.len());
            texts.push_str(&clue.text);
            let Clue { left, right, .. } = clue;
            write!(rows, "Clue {{ start: {start}, length: {length}, left: {left}, right: {right} }}, ")
                .expect("a text takes everything");
        }
        let clauses: Vec<Vec<usize>> = patterns.iter().flatten().cloned().collect();
        let begins = starts(&patterns);
        format!(
            "static TEXTS: [u8; {}] = *b\"{}\";\nstatic CLUES: [Clue; {}] = [{rows}];\n\
             static PLACES: [u64; 1024] = {places:?};\nstatic LISTS: [u16; {}] = {lists:?};\n{}{}\
             static PATTERNS: [u16; {}] = {begins:?};\n",
            texts.len(),
            texts.as_bytes().escape_ascii(),
            clues.len(),
            lists.len(),
            in_a_row("LEADS", &leads),
            in_a_row("CLAUSES", &clauses),
            begins.len(),
        )
    }
}

/// Where each of several lists begins when they stand in a row, and where the last one ends.
fn starts<T>(lists: &[Vec<T>]) -> Vec<usize> {
    let mut end = 0;
    let ends = lists.iter().map(|list| {
        end += list.len();
        end
    });
    [0].into_iter().chain(ends).collect()
}

/// Lists in a row, under a name.
fn in_a_row(name: &str, lists: &[Vec<usize>]) -> String {
    let items = lists.concat();
    let (count, starts) = (lists.len() + 1, starts(lists));
    format!("static {name}: Lists<{count}, {}> = Lists {{ starts: {starts:?}, items: {items:?} }};\n", items.len())
}

/// A rule, in the words of the code that is made.
#[derive(Default)]
struct Row {
    tier: &'static str,
    name: String,
    line: usize,
    validator: Option<String>,
    beginning: Beginning,
    patterns: Vec<Pattern>,
    only_when: Vec<Pattern>,
    except_when: Vec<Pattern>,
    tainted: bool,
    nudge: Range<usize>,
    proof: Range<usize>,
}

/// A pattern: where it stands, what it needs, and its number among those that clues lead to.
struct Pattern {
    place: Range<usize>,
    gist: Gist,
    number: Option<usize>,
}

impl Pattern {
    /// The same in code; what it refers to is written before it, under a name.
    fn write(self, name: &str, code: &mut String) -> String {
        let Pattern { place, gist: Gist { first, start, all, pairs, one_of }, number } = self;
        writeln!(code, "static {name}: [Pairs; {}] = {one_of:?};", one_of.len()).expect("a text takes everything");
        format!(
            "({place:?}, Gist {{ first: {first:#x}, start: {start:?}, all: {all:#x}, pairs: {pairs:?}, \
             one_of: Cow::Borrowed(&{name}) }}, {number:?}), "
        )
    }
}

/// Several patterns under a name.
fn write_patterns(patterns: Vec<Pattern>, name: &str, code: &mut String) {
    let count = patterns.len();
    let patterns = patterns.into_iter().enumerate();
    let texts: String = patterns.map(|(at, pattern)| pattern.write(&format!("{name}_{at}"), code)).collect();
    writeln!(code, "static {name}: [Place; {count}] = [{texts}];").expect("a text takes everything");
}

impl Row {
    /// Takes down a line of the rule, which ends at `end`.
    fn take(&mut self, line: &str, end: usize, clues: Option<&mut Clues>) {
        let (word, rest) = line.trim_start().split_once(' ').unwrap_or((line.trim(), ""));
        let pattern = |pattern: &str, number: Option<usize>| Pattern {
            place: end - pattern.len()..end,
            gist: Gist::of(pattern),
            number,
        };
        let own =
            if line.starts_with("    ") { Some(line.trim_start()) } else { Some(rest).filter(|_| word == "match") };
        if let Some(own) = own {
            let Beginning { first, start } = Gist::of(own).beginning();
            self.beginning.first |= first;
            self.beginning.start.0.iter_mut().zip(start.0).for_each(|(mine, more)| *mine |= more);
            return self.patterns.push(pattern(own, clues.map(|clues| clues.add(own))));
        }
        match word {
            "only_when" => self.only_when.push(pattern(rest, None)),
            "except_when" => self.except_when.push(pattern(rest, None)),
            "only_when_tainted" => self.tainted = true,
            "validator" => self.validator = Some(rest.to_owned()),
            "match_base_command_not_in" => self.validator = Some("UnknownExecutable".to_owned()),
            "nudge" => self.nudge = end - rest.len() + 1..end - 1,
            "hits" | "misses" => self.proof.end = end,
            // What else a line may say, the reader of rules says.
            _ => {}
        }
    }

    /// The same in code; what it refers to is written before it, under names that begin with this one.
    fn write(self, prefix: &str, code: &mut String) -> String {
        let Row { tier, name, line, validator, beginning, patterns, only_when, except_when, tainted, nudge, proof } =
            self;
        let Beginning { first, start } = if validator.is_some() { Beginning::ANY } else { beginning };
        let beginning = format!("Beginning {{ first: {first:#x}, start: {start:?} }}");
        let validator = validator.map_or("None".to_owned(), |name| format!("Some(Validator::{name})"));
        for (patterns, list) in [(patterns, "MATCH"), (only_when, "ONLY"), (except_when, "EXCEPT")] {
            write_patterns(patterns, &format!("{prefix}_{list}"), code);
        }
        format!(
            "    Row {{ tier: Tier::{tier}, name: {name:?}, line: {line}, validator: {validator}, beginning: {beginning}, patterns: &{prefix}_MATCH, \
             only_when: &{prefix}_ONLY, except_when: &{prefix}_EXCEPT, tainted: {tainted}, nudge: {nudge:?}, proof: {proof:?} }},\n"
        )
    }
}
