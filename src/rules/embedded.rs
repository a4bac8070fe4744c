//! The embedded rules, as they were read when the binary was built.

use super::excerpt::{Excerpt, Text};
use super::gist::{Beginning, Gist, Pairs};
use super::patterns::{Patterns, Place};
use super::{Initials, Kind, Matcher, Owner, Rule, Source, Tier};
use crate::decide::validators::Validator;
use crate::verdict::RuleId;
use std::borrow::Cow;
use std::ops::Range;
use std::rc::Rc;

/// A file under a name, by which the linker can put it beside others.
macro_rules! embed {
    ($name:ident, $path:literal) => {
        pub(super) static $name: [u8; include_bytes!($path).len()] = *include_bytes!($path);
    };
}

embed!(BASH_TEXT, "../../rules/bash.rules");
embed!(EDIT_TEXT, "../../rules/edit.rules");
embed!(READ_TEXT, "../../rules/read.rules");
embed!(MCP_TEXT, "../../rules/mcp.rules");
embed!(AGENT_TEXT, "../../rules/agent.rules");
embed!(POST_TEXT, "../../rules/post.rules");

/// The text of a file; of one that is no text, none, which the build would have found.
pub(super) const fn text(bytes: &'static [u8]) -> &'static str {
    match std::str::from_utf8(bytes) {
        Ok(text) => text,
        Err(_) => "",
    }
}

/// A rule by its places in the text of its file.
struct Row {
    tier: Tier,
    name: &'static str,
    line: usize,
    validator: Option<Validator>,
    beginning: Beginning,
    patterns: &'static [Place],
    only_when: &'static [Place],
    except_when: &'static [Place],
    tainted: bool,
    nudge: Range<usize>,
    proof: Range<usize>,
}

// `ROWS`, the rules of each embedded file.
include!(concat!(env!("OUT_DIR"), "/rules.rs"));

/// Room behind the rules for commands, for those about the files that a command touches.
const BEHIND: usize = 32;

/// The rules of a text, if it is the embedded one; of those that look for patterns, only those that could match commands
/// that begin so.
pub(super) fn rules(text: &str, file: &str, kind: Kind, owner: Owner, initials: Option<Initials>) -> Option<Vec<Rule>> {
    let known = kind.embedded();
    let is_embedded = std::ptr::eq(text, known) || text == known;
    let (_, rows) = ROWS.iter().find(|(name, _)| is_embedded && *name == kind.name())?;
    let text: Text = Rc::new(Cow::Borrowed(known));
    let file: Rc<str> = Rc::from(file);
    let patterns = |places: &'static [Place]| Patterns::embedded(&text, places);
    let rule = |row: &Row| Rule {
        id: RuleId::known(row.name),
        tier: row.tier,
        kind,
        matcher: row.validator.map_or_else(|| Matcher::Patterns(patterns(row.patterns)), Matcher::Validator),
        beginning: row.beginning,
        only_when: patterns(row.only_when),
        except_when: patterns(row.except_when),
        only_when_tainted: row.tainted,
        nudge: Excerpt::new(&text, row.nudge.clone()),
        proof: Excerpt::new(&text, row.proof.clone()),
        source: Source { file: Rc::clone(&file), line: row.line },
        owner,
    };
    let behind = if kind == Kind::Bash { BEHIND } else { 0 };
    let mut rules = Vec::with_capacity(rows.len() + behind);
    // A validator begins with whatever.
    let concerns = |row: &&Row| initials.is_none_or(|initials| row.beginning.may_allow(initials.letters()));
    rules.extend(rows.iter().filter(concerns).map(rule));
    Some(rules)
}

#[cfg(test)]
mod tests {
    use super::super::parse::read;
    use super::*;
    use crate::rules::Letters;

    #[test]
    fn no_rule_is_left_out_that_could_match_a_command() {
        let all = rules(Kind::Bash.embedded(), "f", Kind::Bash, Owner::Operator, None).unwrap();
        let examples = all.iter().flat_map(Rule::hits).map(|example| example.text().to_owned());
        let strange =
            ["", " ", "\u{e9}", "\"x y\" z", "'~'", "$X", "/bin/x", "\0", "GIT push", "-x"].map(str::to_owned);
        for command in examples.chain(strange) {
            let initials = Initials::default().with(&command);
            let some = rules(Kind::Bash.embedded(), "f", Kind::Bash, Owner::Operator, Some(initials)).unwrap();
            let letters = Letters::of(&command);
            for rule in all.iter().filter(|rule| rule.beginning.allows(&letters)) {
                assert!(some.contains(rule), "{command}: {:?}", rule.id);
            }
        }
    }

    #[test]
    fn rules_about_other_commands_are_left_out() {
        let initials = Initials::default().with("git status");
        let some = rules(Kind::Bash.embedded(), "f", Kind::Bash, Owner::Operator, Some(initials)).unwrap();
        assert!(some.iter().any(|rule| rule.id.as_str() == "git-force-push"));
        let all = rules(Kind::Bash.embedded(), "f", Kind::Bash, Owner::Operator, None).unwrap();
        assert!(some.len() < all.len(), "{} of {}", some.len(), all.len());
    }

    #[test]
    fn what_was_read_at_the_build_is_what_is_written() {
        for (kind, name, text) in Kind::ALL {
            let (written, errors) = read(Rc::new(Cow::Borrowed(text)), name, kind, Owner::Operator);
            assert_eq!(errors, []);
            assert_eq!(rules(text, name, kind, Owner::Operator, None), Some(written), "{name}");
            let rows = ROWS.iter().filter(|(file, _)| *file == name).flat_map(|(_, rows)| *rows);
            for (place, gist, _) in rows.flat_map(|row| row.patterns.iter().chain(row.only_when).chain(row.except_when))
            {
                assert_eq!(*gist, Gist::of(text.get(place.clone()).unwrap()), "{name}: {place:?}");
            }
            for row in ROWS.iter().filter(|(file, _)| *file == name).flat_map(|(_, rows)| *rows) {
                let firsts = row.patterns.iter().fold(0, |firsts, (_, gist, _)| firsts | gist.first);
                let mut all = Beginning { first: firsts, ..Beginning::default() };
                for (at, more) in row.patterns.iter().flat_map(|(_, gist, _)| gist.start.0.into_iter().enumerate()) {
                    all.start.0[at] |= more;
                }
                assert_eq!(row.beginning, if row.validator.is_some() { Beginning::ANY } else { all }, "{}", row.name);
            }
        }
    }
}
