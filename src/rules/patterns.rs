//! Lists of patterns. Those of an embedded rule are made when it is asked for the first time: most never are.

use super::Pattern;
use super::excerpt::{Excerpt, Text};
use super::gist::{Gist, Letters};
use std::cell::OnceCell;
use std::fmt;
use std::ops::{Deref, Range};
use thin_vec::ThinVec;

/// A pattern by its place in the text of its file, and its number among those that clues lead to.
pub(super) type Place = (Range<usize>, Gist, Option<u16>);

/// A list of patterns.
#[derive(Clone)]
pub struct Patterns {
    /// Where those of an embedded rule are.
    embedded: Option<(Text, &'static [Place])>,
    made: OnceCell<ThinVec<Pattern>>,
}

impl Patterns {
    /// Those at these places of an embedded file.
    pub(super) fn embedded(text: &Text, places: &'static [Place]) -> Self {
        let embedded = Some(places).filter(|places| !places.is_empty());
        Patterns { embedded: embedded.map(|places| (Text::clone(text), places)), made: OnceCell::new() }
    }

    /// Whether one of them could match a text with these letters. Those that were not made yet need not be for that.
    pub(super) fn could_match(&self, letters: &Letters) -> bool {
        match (&self.embedded, self.made.get()) {
            (Some((_, places)), None) => places.iter().any(|(_, gist, _)| gist.allows(letters)),
            (None, _) | (_, Some(_)) => true,
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.embedded.is_none() && self.made.get().is_none_or(|made| made.is_empty())
    }
}

impl Deref for Patterns {
    type Target = [Pattern];

    fn deref(&self) -> &[Pattern] {
        self.made.get_or_init(|| {
            let Some((text, places)) = &self.embedded else { return ThinVec::new() };
            let made = |(place, gist, number): &'static Place| {
                Pattern::known(Excerpt::new(text, place.clone()), gist, *number)
            };
            places.iter().map(made).collect()
        })
    }
}

impl From<ThinVec<Pattern>> for Patterns {
    fn from(patterns: ThinVec<Pattern>) -> Self {
        Patterns { embedded: None, made: OnceCell::from(patterns) }
    }
}

impl PartialEq for Patterns {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl Eq for Patterns {}

impl fmt::Debug for Patterns {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}
