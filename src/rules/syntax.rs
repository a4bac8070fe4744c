//! The grammar of `.rules` files: one rule a paragraph, patterns unquoted to the end of their line.
//!
//! The build script reads the embedded rules with this parser, so it depends on nothing but `nearest`.

use super::nearest;

/// Keywords of the lines within a rule.
const CLAUSES: [&str; 10] = [
    "match", "match_any", "match_base_command_not_in", "validator", "only_when", "except_when", "only_when_tainted",
    "nudge", "hits", "misses",
];

/// Variables of a nudge, written in braces.
const VARIABLES: [&str; 5] = ["command", "base_command", "file_path", "tool_name", "server_name"];

/// Lists that `match_base_command_not_in` accepts.
const LISTS: [&str; 2] = ["allowed_executables", "executables.allowed"];

/// How sure a rule is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tier {
    /// It must not happen.
    Block,
    /// A person should look.
    Suspicious,
}

/// Whether the rule matches an example.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expected {
    /// `hits`
    Match,
    /// `misses`
    NoMatch,
}

/// A rule as written.
#[derive(Debug)]
pub struct RuleText<'t> {
    /// How sure it is.
    pub tier: Tier,
    /// The text between the quotes of its first line.
    pub name: &'t str,
    /// The line of its name, from one.
    pub line: usize,
    /// Patterns of `match` or `match_any`.
    pub patterns: Vec<&'t str>,
    /// The validator in place of patterns.
    pub validator: Option<&'t str>,
    /// Patterns of `only_when`.
    pub only_when: Vec<&'t str>,
    /// Patterns of `except_when`.
    pub except_when: Vec<&'t str>,
    /// `only_when_tainted`
    pub only_when_tainted: bool,
    /// The text between the quotes of `nudge`.
    pub nudge: &'t str,
    /// Lines of `hits` and `misses`: what is expected, the line, the text.
    pub examples: Vec<(Expected, usize, &'t str)>,
}

/// Where and why a rule cannot be read.
#[derive(Debug)]
pub struct SyntaxError {
    /// The line, from one.
    pub line: usize,
    /// The column, from one.
    pub column: usize,
    /// What is wrong.
    pub what: String,
    /// What to write instead, or nothing.
    pub help: String,
}

/// What the grammar leaves to its caller.
pub struct Checks<'c> {
    /// Checks the name of a rule; the error says what is wrong with it.
    pub name: &'c dyn Fn(&str) -> Result<(), String>,
    /// Checks the name of a validator; the error suggests another one.
    pub validator: &'c dyn Fn(&str) -> Result<(), String>,
}

/// Reads all rules of a file, and all errors in it.
pub fn parse<'t>(text: &'t str, checks: &Checks<'_>) -> (Vec<RuleText<'t>>, Vec<SyntaxError>) {
    let mut parser = Parser { checks, rules: Vec::new(), draft: None, errors: Vec::new() };
    for (at, line) in text.split('\n').enumerate() {
        parser.line(at + 1, line);
    }
    parser.finish();
    (parser.rules, parser.errors)
}

struct Parser<'t, 'c> {
    checks: &'c Checks<'c>,
    rules: Vec<RuleText<'t>>,
    draft: Option<Draft<'t>>,
    errors: Vec<SyntaxError>,
}

/// A rule that is being read.
struct Draft<'t> {
    rule: RuleText<'t>,
    /// The lines that follow are patterns of `match_any`.
    listing: bool,
    matchers: usize,
    has_nudge: bool,
    /// An error in it was reported.
    broken: bool,
}

/// The text behind `hits` or `misses`, if a line is an example.
fn example(line: &str) -> Option<(Expected, &str)> {
    let hit = line.strip_prefix("  hits ").map(|text| (Expected::Match, text));
    let example = hit.or_else(|| line.strip_prefix("  misses ").map(|text| (Expected::NoMatch, text)));
    example.filter(|(_, text)| !text.trim_start().is_empty())
}

impl<'t> Parser<'t, '_> {
    fn error(&mut self, line: usize, column: usize, what: impl Into<String>, help: impl Into<String>) {
        self.errors.push(SyntaxError { line, column, what: what.into(), help: help.into() });
        if let Some(draft) = &mut self.draft {
            draft.broken = true;
        }
    }

    fn line(&mut self, number: usize, line: &'t str) {
        if let Some(draft) = &mut self.draft
            && let Some((expected, text)) = example(line)
        {
            draft.listing = false;
            return draft.rule.examples.push((expected, number, text.trim_end()));
        }
        let line = line.strip_suffix('\r').unwrap_or(line);
        let text = line.trim_start();
        if text.is_empty() || text.starts_with('#') {
            return;
        }
        let indent = line.len() - text.len();
        let help = "indent with two blanks, and patterns of `match_any` with four";
        if line.get(..indent).is_some_and(|blank| blank.contains('\t')) {
            return self.error(number, 1, "a tab", help);
        }
        match (indent, &mut self.draft) {
            (0, _) => self.header(number, text.trim_end()),
            (2, Some(_)) => self.clause(number, text),
            (4, Some(draft)) if draft.listing => draft.rule.patterns.push(text),
            (_, None) => {
                let help = "a rule begins with `block \"name\"` or `suspicious \"name\"`";
                self.error(number, 1, "a clause outside of a rule", help);
            }
            (..) => self.error(number, indent + 1, format!("unexpected indentation of {indent} blanks"), help),
        }
    }

    fn header(&mut self, number: usize, text: &'t str) {
        self.finish();
        let (word, rest) = text.split_once(' ').unwrap_or((text, ""));
        let tier = match word {
            "block" => Tier::Block,
            "suspicious" => Tier::Suspicious,
            _ => return self.error(number, 1, format!("unknown tier `{word}`"), tier_help(word)),
        };
        let quoted = rest.trim();
        let name = quoted.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
        self.draft = Some(Draft::new(tier, name.unwrap_or_default(), number));
        let checked =
            name.map_or_else(|| Err("the name of a rule is not in double quotes".to_owned()), self.checks.name);
        if let Err(what) = checked {
            self.error(number, text.len() - quoted.len() + 1, what, format!("write `{word} \"my-rule\"`"));
        }
    }

    fn clause(&mut self, number: usize, text: &'t str) {
        let (word, rest) = text.split_once(' ').unwrap_or((text.trim_end(), ""));
        let column = word.len() + 4;
        let value = rest.trim();
        let Some(draft) = &mut self.draft else { return };
        draft.listing = false;
        let bare = matches!(word, "match_any" | "only_when_tainted");
        if CLAUSES.contains(&word) && !bare && value.is_empty() {
            return self.error(number, column, format!("`{word}` without a value"), "");
        }
        let Draft { rule, matchers, listing, .. } = draft;
        *matchers += usize::from(matches!(word, "match" | "match_any" | "match_base_command_not_in" | "validator"));
        match word {
            "match" => rule.patterns.push(rest),
            "match_any" => *listing = true,
            "match_base_command_not_in" => {
                rule.validator = Some("UnknownExecutable");
                if !LISTS.contains(&value) {
                    let help = format!("there is `{}`, the key `executables.allowed` of config.toml", LISTS[0]);
                    self.error(number, column, format!("unknown list `{value}`"), help);
                }
            }
            "validator" => {
                rule.validator = Some(value);
                if let Err(help) = (self.checks.validator)(value) {
                    self.error(number, column, format!("unknown validator `{value}`"), help);
                }
            }
            "only_when" => rule.only_when.push(rest),
            "except_when" => rule.except_when.push(rest),
            "only_when_tainted" => rule.only_when_tainted = true,
            "nudge" => self.nudge(number, column, value),
            // Those with a value are read before.
            "hits" | "misses" => {}
            _ => self.error(number, 3, format!("unknown clause `{word}`"), suggest(word, &CLAUSES)),
        }
    }

    fn nudge(&mut self, number: usize, column: usize, text: &'t str) {
        let inner = text.strip_prefix('"').and_then(|text| text.strip_suffix('"'));
        let Some(inner) = inner else {
            return self.error(number, column, "a nudge without double quotes around it", "write `nudge \"…\"`");
        };
        for (at, _) in inner.match_indices('{') {
            let name = inner.get(at + 1..).and_then(|rest| rest.split_once('}')).map_or("", |(name, _)| name);
            if !VARIABLES.contains(&name) {
                let near = nearest(name, VARIABLES.into_iter()).map(|near| format!("did you mean `{{{near}}}`?"));
                let all = || format!("there are {}", VARIABLES.map(|name| format!("{{{name}}}")).join(", "));
                let help = near.unwrap_or_else(all);
                return self.error(number, column + 1 + at, format!("unknown variable `{{{name}}}`"), help);
            }
        }
        if let Some(draft) = &mut self.draft {
            draft.rule.nudge = inner;
            draft.has_nudge = true;
        }
    }

    /// Ends the rule that is being read.
    fn finish(&mut self) {
        let Some(Draft { rule, matchers, has_nudge, broken, .. }) = self.draft.take() else { return };
        if broken {
            return;
        }
        let missing = match (matchers, has_nudge) {
            (0, _) => Some("a rule that looks for nothing"),
            (2.., _) => Some("a rule with more than one matcher"),
            (1, false) => Some("a rule without a nudge"),
            (1, true) if rule.validator.is_none() && rule.patterns.is_empty() => Some("`match_any` without a pattern"),
            (1, true) => None,
        };
        match missing {
            Some(what) => {
                let help =
                    "a rule has one of `match`, `match_any`, `match_base_command_not_in` or `validator`, and a `nudge`";
                self.error(rule.line, 1, what, help);
            }
            None => self.rules.push(rule),
        }
    }
}

impl<'t> Draft<'t> {
    fn new(tier: Tier, name: &'t str, line: usize) -> Self {
        let rule = RuleText {
            tier,
            name,
            line,
            patterns: Vec::new(),
            validator: None,
            only_when: Vec::new(),
            except_when: Vec::new(),
            only_when_tainted: false,
            nudge: "",
            examples: Vec::new(),
        };
        Draft { rule, listing: false, matchers: 0, has_nudge: false, broken: false }
    }
}

fn tier_help(word: &str) -> String {
    let tier = nearest(word, ["block", "suspicious"].into_iter()).map(|near| format!("did you mean `{near}`?"));
    let clause = || nearest(word, CLAUSES.into_iter());
    let indented = || clause().map(|near| format!("`{near}` belongs into a rule, behind two blanks"));
    tier.or_else(indented).unwrap_or_else(|| "a rule begins with `block` or `suspicious`".to_owned())
}

/// Suggests the nearest of some names, or lists them.
pub fn suggest(wrong: &str, names: &[&str]) -> String {
    let near = nearest(wrong, names.iter().copied()).map(|near| format!("did you mean `{near}`?"));
    near.unwrap_or_else(|| format!("there are {}", names.join(", ")))
}
