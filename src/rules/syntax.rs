//! The grammar of `.rules` files. Patterns are not quoted and end with their line.
//!
//! The build script includes this file, so it depends on nothing but `nearest`.

use super::nearest;
use std::borrow::Cow;

/// Keywords of the clauses of a rule.
const CLAUSES: [&str; 12] = [
    "match", "match_any", "match_base_command_not_in", "does", "validator", "only_when", "except_when",
    "only_when_tainted", "reason", "nudge", "hits", "misses",
];

/// Variables of a reason and of a nudge, written in braces.
const VARIABLES: [&str; 5] = ["command", "base_command", "file_path", "tool_name", "server_name"];

/// Lists that `match_base_command_not_in` accepts.
const LISTS: [&str; 2] = ["allowed_executables", "executables.allowed"];

/// Effects that `does` accepts: those of the catalogue, and `reveals` for commands that print credentials.
const EFFECTS: [&str; 8] = ["look", "work", "run", "publish", "change", "lose", "destroy", "reveals"];

/// The tier of a rule, for which the policy sets the effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tier {
    /// The call is certain to do harm.
    Block,
    /// The call may do harm.
    Suspicious,
}

/// The expected outcome of an example.
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
    /// The tier.
    pub tier: Tier,
    /// The name, without quotes.
    pub name: &'t str,
    /// The line of the header, from 1.
    pub line: usize,
    /// Patterns of `match` or `match_any`. Names of definitions are replaced here and in the two lists below.
    pub patterns: Vec<Cow<'t, str>>,
    /// The name of the validator, if there is one instead of patterns.
    pub validator: Option<&'t str>,
    /// Effects of `does`.
    pub does: Vec<&'t str>,
    /// Patterns of `only_when`.
    pub only_when: Vec<Cow<'t, str>>,
    /// Patterns of `except_when`.
    pub except_when: Vec<Cow<'t, str>>,
    /// `only_when_tainted`
    pub only_when_tainted: bool,
    /// The reason, without quotes; empty if there is none.
    pub reason: &'t str,
    /// The nudge, without quotes.
    pub nudge: &'t str,
    /// Lines of `hits` and `misses`: the expected outcome, the line, and the text.
    pub examples: Vec<(Expected, usize, &'t str)>,
}

/// A syntax error and its position.
#[derive(Debug)]
pub struct SyntaxError {
    /// The line, from 1.
    pub line: usize,
    /// The column, from 1.
    pub column: usize,
    /// What is wrong.
    pub message: String,
    /// What to write instead; may be empty.
    pub help: String,
}

/// Checks that the grammar leaves to its caller.
pub struct Checks<'c> {
    /// Checks the name of a rule. The error is the message.
    pub name: &'c dyn Fn(&str) -> Result<(), String>,
    /// Checks the name of a validator. The error is the help.
    pub validator: &'c dyn Fn(&str) -> Result<(), String>,
}

/// Parses a file, and returns its valid rules and its errors.
pub fn parse<'t>(text: &'t str, checks: &Checks<'_>) -> (Vec<RuleText<'t>>, Vec<SyntaxError>) {
    let mut parser = Parser { checks, definitions: Vec::new(), rules: Vec::new(), current: None, errors: Vec::new() };
    for (at, line) in text.split('\n').enumerate() {
        parser.parse_line(at + 1, line);
    }
    parser.finish_rule();
    (parser.rules, parser.errors)
}

struct Parser<'t, 'c> {
    checks: &'c Checks<'c>,
    /// The names in braces that patterns may use, and the patterns that they stand for.
    definitions: Vec<(String, String)>,
    rules: Vec<RuleText<'t>>,
    current: Option<RuleBuilder<'t>>,
    errors: Vec<SyntaxError>,
}

/// A rule that is being parsed.
struct RuleBuilder<'t> {
    rule: RuleText<'t>,
    /// Whether the next lines may be patterns of `match_any`.
    in_match_any: bool,
    matchers: usize,
    has_nudge: bool,
    has_error: bool,
}

/// Parses a line of `hits` or `misses`.
fn parse_example(line: &str) -> Option<(Expected, &str)> {
    let hit = line.strip_prefix("  hits ").map(|text| (Expected::Match, text));
    let example = hit.or_else(|| line.strip_prefix("  misses ").map(|text| (Expected::NoMatch, text)));
    example.filter(|(_, text)| !text.trim_start().is_empty())
}

impl<'t> Parser<'t, '_> {
    fn error(&mut self, line: usize, column: usize, message: impl Into<String>, help: impl Into<String>) {
        self.errors.push(SyntaxError { line, column, message: message.into(), help: help.into() });
        if let Some(current) = &mut self.current {
            current.has_error = true;
        }
    }

    fn parse_line(&mut self, number: usize, line: &'t str) {
        if let Some(current) = &mut self.current
            && let Some((expected, text)) = parse_example(line)
        {
            current.in_match_any = false;
            return current.rule.examples.push((expected, number, text.trim_end()));
        }
        let line = line.strip_suffix('\r').unwrap_or(line);
        let text = line.trim_start();
        if text.is_empty() || text.starts_with('#') {
            return;
        }
        let indent = line.len() - text.len();
        let help = "indent clauses with two spaces, and patterns of `match_any` with four";
        if line.get(..indent).is_some_and(|blank| blank.contains('\t')) {
            return self.error(number, 1, "a tab in the indentation", help);
        }
        match (indent, &mut self.current) {
            (0, _) => match text.strip_prefix("define ") {
                Some(definition) => self.parse_definition(number, definition),
                None => self.parse_header(number, text.trim_end()),
            },
            (2, Some(_)) => self.parse_clause(number, text),
            (4, Some(current)) if current.in_match_any => current.rule.patterns.push(expand(text, &self.definitions)),
            (_, None) => {
                let help = "a rule begins with `block \"name\"` or `suspicious \"name\"`";
                self.error(number, 1, "a clause outside of a rule", help);
            }
            (..) => self.error(number, indent + 1, format!("unexpected indentation of {indent} spaces"), help),
        }
    }

    /// Parses the name and the pattern of a definition, which may use earlier ones.
    fn parse_definition(&mut self, number: usize, definition: &'t str) {
        self.finish_rule();
        let (name, pattern) = definition.split_once(' ').unwrap_or((definition, ""));
        let in_braces = format!("{{{name}}}");
        let is_name = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_');
        if !is_name || pattern.trim().is_empty() {
            let help = "write `define my_words (one|two)`, and `{my_words}` in patterns";
            return self.error(number, 8, "a definition has a name of lower-case letters, and a pattern", help);
        }
        if self.definitions.iter().any(|(known, _)| *known == in_braces) {
            return self.error(number, 8, format!("a second definition of `{name}`"), "");
        }
        let pattern = format!("(?:{})", expand(pattern, &self.definitions));
        self.definitions.push((in_braces, pattern));
    }

    fn parse_header(&mut self, number: usize, text: &'t str) {
        self.finish_rule();
        let (word, rest) = text.split_once(' ').unwrap_or((text, ""));
        let tier = match word {
            "block" => Tier::Block,
            "suspicious" => Tier::Suspicious,
            _ => return self.error(number, 1, format!("unknown tier `{word}`"), tier_help(word)),
        };
        let quoted = rest.trim();
        let name = quoted.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
        self.current = Some(RuleBuilder::new(tier, name.unwrap_or_default(), number));
        let checked =
            name.map_or_else(|| Err("the name of a rule is not in double quotes".to_owned()), self.checks.name);
        if let Err(message) = checked {
            self.error(number, text.len() - quoted.len() + 1, message, format!("write `{word} \"my-rule\"`"));
        }
    }

    fn parse_clause(&mut self, number: usize, text: &'t str) {
        let (word, rest) = text.split_once(' ').unwrap_or((text.trim_end(), ""));
        let column = word.len() + 4;
        let value = rest.trim();
        let pattern = || expand(rest, &self.definitions);
        let Some(current) = &mut self.current else { return };
        current.in_match_any = false;
        let bare = matches!(word, "match_any" | "only_when_tainted");
        if CLAUSES.contains(&word) && !bare && value.is_empty() {
            return self.error(number, column, format!("`{word}` without a value"), "");
        }
        let RuleBuilder { rule, matchers, in_match_any, .. } = current;
        *matchers +=
            usize::from(matches!(word, "match" | "match_any" | "match_base_command_not_in" | "does" | "validator"));
        match word {
            "match" => rule.patterns.push(pattern()),
            "match_any" => *in_match_any = true,
            "match_base_command_not_in" => {
                rule.validator = Some("UnknownExecutable");
                if !LISTS.contains(&value) {
                    let help = format!("there is `{}`, the key `executables.allowed` of config.toml", LISTS[0]);
                    self.error(number, column, format!("unknown list `{value}`"), help);
                }
            }
            "does" => {
                rule.does = value.split_whitespace().collect();
                let unknown = rule.does.iter().find(|effect| !EFFECTS.contains(effect)).copied();
                if let Some(effect) = unknown {
                    self.error(number, column, format!("unknown effect `{effect}`"), suggest(effect, &EFFECTS));
                }
            }
            "validator" => {
                rule.validator = Some(value);
                if let Err(help) = (self.checks.validator)(value) {
                    self.error(number, column, format!("unknown validator `{value}`"), help);
                }
            }
            "only_when" => rule.only_when.push(pattern()),
            "except_when" => rule.except_when.push(pattern()),
            "only_when_tainted" => rule.only_when_tainted = true,
            "reason" => {
                let reason = self.parse_text("reason", number, column, value);
                self.edit(|current| current.rule.reason = reason.unwrap_or_default());
            }
            "nudge" => {
                let nudge = self.parse_text("nudge", number, column, value);
                self.edit(|current| current.rule.nudge = nudge.unwrap_or_default());
                self.edit(|current| current.has_nudge = true);
            }
            // `parse_line` handles those with a value.
            "hits" | "misses" => {}
            _ => self.error(number, 3, format!("unknown clause `{word}`"), suggest(word, &CLAUSES)),
        }
    }

    fn edit(&mut self, change: impl FnOnce(&mut RuleBuilder<'t>)) {
        if let Some(current) = &mut self.current {
            change(current);
        }
    }

    /// Parses a text in double quotes and checks its variables. Returns `None` after an error.
    fn parse_text(&mut self, clause: &str, number: usize, column: usize, text: &'t str) -> Option<&'t str> {
        let inner = text.strip_prefix('"').and_then(|text| text.strip_suffix('"'));
        let Some(inner) = inner else {
            let help = format!("write `{clause} \"…\"`");
            self.error(number, column, format!("a {clause} without double quotes around it"), help);
            return None;
        };
        for (at, _) in inner.match_indices('{') {
            let name = inner.get(at + 1..).and_then(|rest| rest.split_once('}')).map_or("", |(name, _)| name);
            if !VARIABLES.contains(&name) {
                let near = nearest(name, VARIABLES.into_iter()).map(|near| format!("did you mean `{{{near}}}`?"));
                let all = || format!("there are {}", VARIABLES.map(|name| format!("{{{name}}}")).join(", "));
                let help = near.unwrap_or_else(all);
                self.error(number, column + 1 + at, format!("unknown variable `{{{name}}}`"), help);
                return None;
            }
        }
        Some(inner)
    }

    /// Adds the current rule to the list if it is complete and has no error.
    fn finish_rule(&mut self) {
        let Some(RuleBuilder { rule, matchers, has_nudge, has_error, .. }) = self.current.take() else { return };
        if has_error {
            return;
        }
        let incomplete = match (matchers, has_nudge) {
            (0, _) => Some("a rule without a matcher"),
            (2.., _) => Some("a rule with more than one matcher"),
            (1, false) => Some("a rule without a nudge"),
            (1, true) if rule.validator.is_none() && rule.does.is_empty() && rule.patterns.is_empty() => {
                Some("`match_any` without a pattern")
            }
            (1, true) => None,
        };
        match incomplete {
            Some(message) => {
                let help = "a rule has one of `match`, `match_any`, `match_base_command_not_in`, `does` or `validator`, and a `nudge`";
                self.error(rule.line, 1, message, help);
            }
            None => self.rules.push(rule),
        }
    }
}

impl<'t> RuleBuilder<'t> {
    fn new(tier: Tier, name: &'t str, line: usize) -> Self {
        let rule = RuleText {
            tier,
            name,
            line,
            patterns: Vec::new(),
            validator: None,
            does: Vec::new(),
            only_when: Vec::new(),
            except_when: Vec::new(),
            only_when_tainted: false,
            reason: "",
            nudge: "",
            examples: Vec::new(),
        };
        RuleBuilder { rule, in_match_any: false, matchers: 0, has_nudge: false, has_error: false }
    }
}

/// Replaces the names of definitions in a pattern.
fn expand<'t>(text: &'t str, definitions: &[(String, String)]) -> Cow<'t, str> {
    let mut expanded = Cow::Borrowed(text);
    for (name, pattern) in definitions.iter().filter(|(name, _)| text.contains(name.as_str())) {
        expanded = Cow::Owned(expanded.replace(name, pattern));
    }
    expanded
}

fn tier_help(word: &str) -> String {
    let tier = nearest(word, ["block", "suspicious"].into_iter()).map(|near| format!("did you mean `{near}`?"));
    let clause = || nearest(word, CLAUSES.into_iter());
    let indented = || clause().map(|near| format!("`{near}` is a clause of a rule: indent it with two spaces"));
    tier.or_else(indented).unwrap_or_else(|| "a rule begins with `block` or `suspicious`".to_owned())
}

/// Suggests the nearest name, or lists all names if none is near.
pub fn suggest(wrong: &str, names: &[&str]) -> String {
    let near = nearest(wrong, names.iter().copied()).map(|near| format!("did you mean `{near}`?"));
    near.unwrap_or_else(|| format!("there are {}", names.join(", ")))
}
