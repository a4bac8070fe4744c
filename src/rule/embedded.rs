//! The embedded rules, as they were read when the binary was built.

use super::excerpt::{Excerpt, Text};
use super::gist::{Beginning, Gist, Pairs};
use super::patterns::{Patterns, Place};
use super::{Kind, Matcher, Owner, Rule, Source, Tier};
use crate::validator::Validator;
use crate::verdict::RuleId;
use std::borrow::Cow;
use std::ops::Range;
use std::rc::Rc;

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

/// The rules of each embedded file.
const ROWS: &[(&str, &[Row])] = include!(concat!(env!("OUT_DIR"), "/rules.rs"));

/// Room behind the rules for commands, for those about the files that a command touches.
const BEHIND: usize = 32;

/// The rules of a text, if it is the embedded one.
pub(super) fn rules(text: &str, file: &str, kind: Kind, owner: Owner) -> Option<Vec<Rule>> {
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
    rules.extend(rows.iter().map(rule));
    Some(rules)
}

#[cfg(test)]
mod tests {
    use super::super::parse::read;
    use super::*;

    #[test]
    fn what_was_read_at_the_build_is_what_is_written() {
        for (kind, name, text) in Kind::ALL {
            let (written, errors) = read(Rc::new(Cow::Borrowed(text)), name, kind, Owner::Operator);
            assert_eq!(errors, []);
            assert_eq!(rules(text, name, kind, Owner::Operator), Some(written), "{name}");
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
