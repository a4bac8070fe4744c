//! The `.rules` language: one rule a paragraph, patterns unquoted to the end of their line.

use super::embedded;
use super::example;
use super::excerpt::{Excerpt, Text};
use super::gist::Beginning;
use super::{Initials, Kind, Matcher, Owner, Pattern, Rule, Source, Tier};
use crate::decide::validators::Validator;
use crate::policy::nearest;
use crate::swar::Marks;
use crate::verdict::RuleId;
use std::borrow::Cow;
use std::fmt;
use std::ops::Range;
use std::rc::Rc;
use thin_vec::ThinVec;

/// What a line within a rule may begin with.
const CLAUSES: [&str; 10] = [
    "match",
    "match_any",
    "match_base_command_not_in",
    "validator",
    "only_when",
    "except_when",
    "only_when_tainted",
    "nudge",
    "hits",
    "misses",
];

/// What may stand in braces in a nudge.
const VARIABLES: [&str; 5] = ["command", "base_command", "file_path", "tool_name", "server_name"];

/// The lists that a program can be missing from.
const LISTS: [&str; 2] = ["allowed_executables", "executables.allowed"];

/// Where and why a rule cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuleError {
    /// The file.
    pub file: Rc<str>,
    /// The line, from one.
    pub line: usize,
    /// The column, from one.
    pub column: usize,
    what: String,
    help: Option<String>,
}

impl fmt::Display for RuleError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let RuleError { file, line, column, what, help } = self;
        write!(f, "{file}:{line}:{column}: {what}")?;
        help.as_ref().map_or(Ok(()), |help| write!(f, "\n  help: {help}"))
    }
}

/// Reads all rules of a file, and all errors in it. A file without a rule is an error: it would disarm the guard.
pub fn parse(text: impl Into<Cow<'static, str>>, file: &str, kind: Kind, owner: Owner) -> (Vec<Rule>, Vec<RuleError>) {
    parse_for(None, text, file, kind, owner)
}

/// The same for a call whose commands begin so, without those of the embedded rules that could not concern it.
pub fn parse_for(
    initials: Option<Initials>,
    text: impl Into<Cow<'static, str>>,
    file: &str,
    kind: Kind,
    owner: Owner,
) -> (Vec<Rule>, Vec<RuleError>) {
    let text: Text = Rc::new(text.into());
    match embedded::rules(&text, file, kind, owner, initials.filter(|_| kind == Kind::Bash)) {
        Some(rules) => (rules, Vec::new()),
        None => read(text, file, kind, owner),
    }
}

/// Reads one rule, of which the first line is line `number` of its file; `None` where something is wrong with it.
pub(super) fn one(text: Text, number: usize, file: &Rc<str>, kind: Kind, owner: Owner) -> Option<Vec<Rule>> {
    let mut parser = Parser::new(&text, Rc::clone(file), kind, owner);
    parser.lines(number);
    parser.errors.is_empty().then_some(parser.rules)
}

pub(super) fn read(text: Text, file: &str, kind: Kind, owner: Owner) -> (Vec<Rule>, Vec<RuleError>) {
    let mut parser = Parser::new(&text, Rc::from(file), kind, owner);
    parser.lines(1);
    parser.drop_doubles();
    if parser.rules.is_empty() && parser.errors.is_empty() {
        parser.error(1, 1, "there is no rule in this file".to_owned(), "delete the file to get the default rules");
    }
    (parser.rules, parser.errors)
}

struct Parser {
    file: Rc<str>,
    text: Text,
    kind: Kind,
    owner: Owner,
    rules: Vec<Rule>,
    draft: Option<Draft>,
    errors: Vec<RuleError>,
}

/// A rule that is being read.
struct Draft {
    tier: Tier,
    id: RuleId,
    line: usize,
    patterns: ThinVec<Pattern>,
    validator: Option<Validator>,
    /// The lines that follow are patterns.
    listing: bool,
    matchers: usize,
    only_when: ThinVec<Pattern>,
    except_when: ThinVec<Pattern>,
    only_when_tainted: bool,
    nudge: Option<Excerpt>,
    /// Its place in the file.
    place: Range<usize>,
    /// Something in it is wrong, and said.
    broken: bool,
}

impl Parser {
    fn new(text: &Text, file: Rc<str>, kind: Kind, owner: Owner) -> Self {
        Parser { file, text: Rc::clone(text), kind, owner, rules: Vec::new(), draft: None, errors: Vec::new() }
    }

    /// Reads all lines, of which the first is line `number` of the file.
    fn lines(&mut self, mut number: usize) {
        let text = Rc::clone(&self.text);
        let mut start = 0;
        while start < text.len() {
            let end = line_end(text.as_bytes(), start);
            self.line(number, start, text.get(start..end).unwrap_or_default());
            number += 1;
            start = end + 1;
        }
        self.finish();
    }

    fn error(&mut self, line: usize, column: usize, what: String, help: impl Into<String>) {
        let help = Some(help.into()).filter(|help: &String| !help.is_empty());
        self.errors.push(RuleError { file: Rc::clone(&self.file), line, column, what, help });
        if let Some(draft) = &mut self.draft {
            draft.broken = true;
        }
    }

    fn line(&mut self, number: usize, start: usize, line: &str) {
        if let Some(draft) = &mut self.draft {
            // A proof is read by whoever asks for it.
            if example::split(line).is_some() {
                draft.listing = false;
                draft.place.end = start + line.len();
                return;
            }
        }
        let line = line.strip_suffix('\r').unwrap_or(line);
        let end = start + line.len();
        let text = line.trim_start();
        if text.is_empty() || text.starts_with('#') {
            return;
        }
        let indent = line.len() - text.len();
        if line.get(..indent).is_some_and(|blank| blank.contains('\t')) {
            return self.error(
                number,
                1,
                "a tab".to_owned(),
                "indent with two blanks, and patterns of `match_any` with four",
            );
        }
        match (indent, &mut self.draft) {
            (0, _) => self.header(number, text.trim_end(), start),
            (2, Some(_)) => self.clause(number, text, end),
            (4, Some(draft)) if draft.listing => {
                add(&mut draft.patterns, pattern(&self.text, text, end));
            }
            (_, None) => self.error(
                number,
                1,
                "a clause outside of a rule".to_owned(),
                "a rule begins with `block \"name\"` or `suspicious \"name\"`",
            ),
            (..) => self.error(
                number,
                indent + 1,
                format!("unexpected indentation of {indent} blanks"),
                "indent with two blanks, and patterns of `match_any` with four",
            ),
        }
    }

    fn header(&mut self, number: usize, text: &str, start: usize) {
        self.finish();
        let (word, rest) = text.split_once(' ').unwrap_or((text, ""));
        let tier = match word {
            "block" => Tier::Block,
            "suspicious" => Tier::Suspicious,
            _ => {
                let near =
                    nearest(word, ["block", "suspicious"].into_iter()).or_else(|| nearest(word, CLAUSES.into_iter()));
                let help = near.map_or_else(
                    || "a rule begins with `block` or `suspicious`".to_owned(),
                    |near| {
                        if CLAUSES.contains(&near) {
                            format!("`{near}` belongs into a rule, behind two blanks")
                        } else {
                            format!("did you mean `{near}`?")
                        }
                    },
                );
                return self.error(number, 1, format!("unknown tier `{word}`"), help);
            }
        };
        let quoted = rest.trim();
        let name = quoted.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
        let id = match (name, self.owner) {
            (None, _) => Err("the name of a rule is not in double quotes".to_owned()),
            (Some(name), Owner::Operator) => RuleId::named(name),
            (Some(name), Owner::Project) => RuleId::of_project(name),
        };
        let wrong = id.as_ref().err().cloned();
        self.draft = Some(Draft::new(tier, id.unwrap_or(RuleId::known("unnamed")), number, start));
        if let Some(what) = wrong {
            let column = text.len() - quoted.len() + 1;
            self.error(number, column, what, format!("write `{word} \"my-rule\"`"));
        }
    }

    /// Of two rules with one name, the second is an error.
    fn drop_doubles(&mut self) {
        let mut order: Vec<&Rule> = self.rules.iter().collect();
        order.sort_by(|a, b| a.id.as_str().cmp(b.id.as_str()));
        let doubles = order.iter().zip(order.iter().skip(1)).filter(|(first, second)| first.id == second.id);
        let doubles: Vec<(usize, usize)> =
            doubles.map(|(first, second)| (first.source.line, second.source.line)).collect();
        for (first, second) in doubles {
            let Some(at) = self.rules.iter().position(|rule| rule.source.line == second) else { continue };
            let rule = self.rules.remove(at);
            let help = format!("the first one is on line {first}");
            let column = if rule.tier == Tier::Block { 7 } else { 12 };
            self.error(second, column, format!("a second rule named `{}`", rule.id), help);
        }
        self.errors.sort_by_key(|error| error.line);
    }

    /// A clause, of a line that ends at `end`.
    fn clause(&mut self, number: usize, text: &str, end: usize) {
        let (word, rest) = text.split_once(' ').unwrap_or((text.trim_end(), ""));
        let column = word.len() + 4;
        let Some(draft) = &mut self.draft else { return };
        draft.listing = false;
        let bare = matches!(word, "match_any" | "only_when_tainted");
        if CLAUSES.contains(&word) && !bare && rest.trim().is_empty() {
            return self.error(number, column, format!("`{word}` without a value"), "");
        }
        match word {
            "match" => {
                draft.matchers += 1;
                add(&mut draft.patterns, pattern(&self.text, rest, end));
            }
            "match_any" => {
                draft.matchers += 1;
                draft.listing = true;
            }
            "match_base_command_not_in" => {
                draft.matchers += 1;
                draft.validator = Some(Validator::UnknownExecutable);
                if !LISTS.contains(&rest.trim()) {
                    let help = format!("there is `{}`, the key `executables.allowed` of config.toml", LISTS[0]);
                    self.error(number, column, format!("unknown list `{}`", rest.trim()), help);
                }
            }
            "validator" => {
                draft.matchers += 1;
                draft.validator = Validator::named(rest.trim());
                if draft.validator.is_none() {
                    let names = Validator::ALL.map(|(name, _)| name);
                    let near = nearest(rest.trim(), names.into_iter());
                    let help = near.map_or_else(
                        || format!("there are {}", names.join(", ")),
                        |near| format!("did you mean `{near}`?"),
                    );
                    self.error(number, column, format!("unknown validator `{}`", rest.trim()), help);
                }
            }
            "only_when" => add(&mut draft.only_when, pattern(&self.text, rest, end)),
            "except_when" => add(&mut draft.except_when, pattern(&self.text, rest, end)),
            "only_when_tainted" => draft.only_when_tainted = true,
            "nudge" => self.nudge(number, column, rest.trim(), end - (rest.len() - rest.trim_end().len())),
            // Those with a value are kept before.
            "hits" | "misses" => {}
            _ => {
                let near = nearest(word, CLAUSES.into_iter());
                let help = near.map_or_else(
                    || format!("there are {}", CLAUSES.join(", ")),
                    |near| format!("did you mean `{near}`?"),
                );
                self.error(number, 3, format!("unknown clause `{word}`"), help);
            }
        }
    }

    /// A nudge, of which the last quote stands before `end`.
    fn nudge(&mut self, number: usize, column: usize, text: &str, end: usize) {
        let Some(inner) = text.strip_prefix('"').and_then(|text| text.strip_suffix('"')).filter(|_| text.len() > 1)
        else {
            return self.error(
                number,
                column,
                "a nudge without double quotes around it".to_owned(),
                "write `nudge \"…\"`",
            );
        };
        for (at, _) in inner.match_indices('{') {
            let name = inner.get(at + 1..).and_then(|rest| rest.split_once('}')).map_or("", |(name, _)| name);
            if !VARIABLES.contains(&name) {
                let near = nearest(name, VARIABLES.into_iter()).map(|near| format!("did you mean `{{{near}}}`?"));
                let help = near
                    .unwrap_or_else(|| format!("there are {}", VARIABLES.map(|name| format!("{{{name}}}")).join(", ")));
                return self.error(number, column + 1 + at, format!("unknown variable `{{{name}}}`"), help);
            }
        }
        if let Some(draft) = &mut self.draft {
            draft.nudge = Some(Excerpt::new(&self.text, end - 1 - inner.len()..end - 1));
        }
    }

    fn finish(&mut self) {
        let Some(draft) = self.draft.take() else { return };
        if draft.broken {
            return;
        }
        let line = draft.line;
        let missing = match (draft.matchers, &draft.nudge) {
            (0, _) => Some("a rule that looks for nothing"),
            (2.., _) => Some("a rule with more than one matcher"),
            (1, None) => Some("a rule without a nudge"),
            (1, Some(_)) if draft.validator.is_none() && draft.patterns.is_empty() => {
                Some("`match_any` without a pattern")
            }
            (1, Some(_)) => None,
        };
        if let Some(what) = missing {
            let help =
                "a rule has one of `match`, `match_any`, `match_base_command_not_in` or `validator`, and a `nudge`";
            return self.error(line, 1, what.to_owned(), help);
        }
        let matcher = draft.validator.map_or_else(|| Matcher::Patterns(draft.patterns.into()), Matcher::Validator);
        self.rules.push(Rule {
            id: draft.id,
            tier: draft.tier,
            kind: self.kind,
            matcher,
            beginning: Beginning::ANY,
            only_when: draft.only_when.into(),
            except_when: draft.except_when.into(),
            only_when_tainted: draft.only_when_tainted,
            nudge: draft.nudge.unwrap_or_else(|| Excerpt::from("")),
            proof: Excerpt::new(&self.text, draft.place),
            source: Source { file: Rc::clone(&self.file), line },
            owner: self.owner,
        });
    }
}

impl Draft {
    fn new(tier: Tier, id: RuleId, line: usize, start: usize) -> Self {
        Draft {
            tier,
            id,
            line,
            patterns: ThinVec::new(),
            validator: None,
            listing: false,
            matchers: 0,
            only_when: ThinVec::new(),
            except_when: ThinVec::new(),
            only_when_tainted: false,
            nudge: None,
            place: start..start,
            broken: false,
        }
    }
}

/// Where the line that begins at `start` ends. Eight bytes at a time: a file may hold thousands of rules.
pub(super) fn line_end(text: &[u8], start: usize) -> usize {
    let mut rest = text.get(start..).unwrap_or_default();
    while let Some((chunk, behind)) = rest.split_first_chunk() {
        if let Some(first) = Marks::same(u64::from_le_bytes(*chunk), b'\n').first() {
            return text.len() - rest.len() + first;
        }
        rest = behind;
    }
    let behind = rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len());
    text.len() - rest.len() + behind
}

/// Most lists hold one pattern, and there may be thousands of them.
fn add(patterns: &mut ThinVec<Pattern>, pattern: Pattern) {
    if patterns.is_empty() {
        patterns.reserve_exact(1);
    }
    patterns.push(pattern);
}

/// The pattern that a line ends with.
fn pattern(file: &Text, text: &str, end: usize) -> Pattern {
    Pattern::new(Excerpt::new(file, end - text.len()..end))
}

#[cfg(test)]
mod tests {
    use super::*;
    use thin_vec::thin_vec;

    fn errors(text: &str) -> Vec<String> {
        parse(text.to_owned(), "f.rules", Kind::Bash, Owner::Operator).1.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn lines_end_where_they_end() {
        for text in ["", "\n", "a\nb", "abcdefgh\n", "abcdefg\nh\n\n", "\u{8a}\u{9}\u{b}\n12345678901234567890\n\n\n"] {
            let mut lines = Vec::new();
            let mut start = 0;
            while start <= text.len() {
                let end = line_end(text.as_bytes(), start);
                lines.push(text.get(start..end).unwrap());
                start = end + 1;
            }
            assert_eq!(lines, text.split('\n').collect::<Vec<_>>(), "{text:?}");
        }
    }

    #[test]
    fn a_rule_is_read_whole() {
        let text = "# version: 1.0.0\n\nblock \"a-b\"\n  match_any\n    ^x  y \n    z\n  except_when q\n  nudge \"do {command}\"\n  hits x  y\n  misses w\n";
        let (rules, errors) = parse(text, "f.rules", Kind::Bash, Owner::Operator);
        assert_eq!(errors, []);
        let rule = &rules[0];
        assert_eq!((rule.id.as_str(), rule.tier, rule.source.line), ("a-b", Tier::Block, 3));
        assert_eq!(rule.matcher, Matcher::Patterns(thin_vec![Pattern::new("^x  y "), Pattern::new("z")].into()));
        assert_eq!(rule.nudge.as_str(), "do {command}");
        assert_eq!((rule.hits().count(), rule.misses().count(), rule.except_when.len()), (1, 1, 1));
        assert_eq!(
            rule.hits().map(|hit| (hit.line, hit.text().to_owned())).collect::<Vec<_>>(),
            [(9, "x  y".to_owned())]
        );
    }

    #[test]
    fn all_errors_of_a_file_come_at_once_with_place_and_way_out() {
        let text = "blok \"a\"\n  match x\nblock \"b\"\n  match x\n  nuge \"y\"\nblock \"\"\nblock \"d\"\n  validator Nothing\n  nudge \"{comand}\"\nblock \"e\"\n  match x\n";
        let found = errors(text);
        let expected = [
            "f.rules:1:1: unknown tier `blok`\n  help: did you mean `block`?",
            "f.rules:2:1: a clause outside of a rule",
            "f.rules:5:3: unknown clause `nuge`\n  help: did you mean `nudge`?",
            "f.rules:6:7: a rule without a name\n  help: write `block \"my-rule\"`",
            "f.rules:8:13: unknown validator `Nothing`",
            "f.rules:9:10: unknown variable `{comand}`\n  help: did you mean `{command}`?",
            "f.rules:10:1: a rule without a nudge",
        ];
        assert_eq!(found.len(), expected.len(), "{found:#?}");
        for (found, expected) in found.iter().zip(expected) {
            assert!(found.starts_with(expected), "{found}");
        }
    }

    #[test]
    fn of_rules_with_one_name_only_the_first_is_kept() {
        let rule = |name: &str, pattern: &str| format!("block \"{name}\"\n  match {pattern}\n  nudge \"n\"\n");
        let text = [rule("b", "x"), rule("a", "y"), rule("b", "z")].concat();
        let (rules, errors) = parse(text, "f.rules", Kind::Bash, Owner::Operator);
        assert_eq!(
            rules.iter().map(|rule| (rule.id.as_str(), rule.source.line)).collect::<Vec<_>>(),
            [("b", 1), ("a", 4)]
        );
        let errors: Vec<String> = errors.iter().map(ToString::to_string).collect();
        assert_eq!(errors, ["f.rules:7:7: a second rule named `b`\n  help: the first one is on line 1"]);
    }

    #[test]
    fn a_name_is_any_text_between_quotes() {
        let long = "n".repeat(100);
        for name in ["My Rule 2", "Größe: ätzend!", "a'b", "unnamed", "rune", "x/rune/y", "\u{1b}[31m", long.as_str()]
        {
            let (rules, errors) = parse(
                format!("block  \"{name}\" \n  match x\n  nudge \"n\"\n"),
                "f.rules",
                Kind::Bash,
                Owner::Operator,
            );
            assert_eq!((rules.len(), errors), (1, vec![]), "{name}");
            assert_eq!(rules[0].id.as_str(), name);
        }
        let (rules, _) =
            parse("block \"a\u{1b}`b\"\n  match x\n  nudge \"n\"\n", "f.rules", Kind::Bash, Owner::Operator);
        assert_eq!(rules[0].id.to_string(), r"a\u{1b}\u{60}b", "it is shown escaped");
    }

    #[test]
    fn a_name_that_cannot_be_used_is_an_error_with_its_place() {
        let long = format!("\"{}\"", "n".repeat(101));
        for (name, expected) in [
            ("\"\"", "a rule without a name"),
            ("\"  \"", "a rule without a name"),
            ("x", "the name of a rule is not in double quotes"),
            ("\"x", "the name of a rule is not in double quotes"),
            ("\"", "the name of a rule is not in double quotes"),
            ("\"a\"b\"", "a double quote within the name of a rule"),
            (&long, "the name of a rule is longer than 100 characters"),
            ("\"rune/limit\"", "names that begin with `rune/` are reserved for failures of the guard"),
            ("\" Rune/x\"", "names that begin with `rune/` are reserved for failures of the guard"),
        ] {
            for owner in [Owner::Operator, Owner::Project] {
                let text = format!("suspicious {name}\n  match x\n  nudge \"n\"\n");
                let (rules, errors) = parse(text, "f.rules", Kind::Bash, owner);
                let errors: Vec<String> = errors.iter().map(ToString::to_string).collect();
                assert_eq!(rules, []);
                let expected = format!("f.rules:1:12: {expected}\n  help: write `suspicious \"my-rule\"`");
                assert_eq!(errors, [expected], "{name}");
            }
        }
    }

    #[test]
    fn an_emptied_file_is_an_error() {
        for text in ["", "# version: 1\n", "\n\n"] {
            assert_eq!(errors(text).len(), 1, "{text:?}");
        }
    }
}
