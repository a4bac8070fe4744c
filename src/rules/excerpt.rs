//! Excerpts: places in the text of a file, so that reading a file of rules copies none of it.

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;
use std::rc::Rc;

/// The text of a file of rules.
pub(super) type Text = Rc<Cow<'static, str>>;

/// A place in the text of a file.
#[derive(Clone)]
pub struct Excerpt {
    file: Text,
    place: Range<u32>,
}

impl Excerpt {
    pub(super) fn new(file: &Text, place: Range<usize>) -> Self {
        let at = |offset: usize| u32::try_from(offset).unwrap_or(u32::MAX);
        Excerpt { file: Rc::clone(file), place: at(place.start)..at(place.end) }
    }

    /// What stands there.
    pub fn as_str(&self) -> &str {
        self.file.get(self.place.start as usize..self.place.end as usize).unwrap_or_default()
    }
}

impl From<&str> for Excerpt {
    fn from(text: &str) -> Self {
        Excerpt::new(&Rc::new(Cow::Owned(text.to_owned())), 0..text.len())
    }
}

impl PartialEq for Excerpt {
    fn eq(&self, other: &Self) -> bool {
        self.as_str() == other.as_str()
    }
}

impl Eq for Excerpt {}

impl fmt::Debug for Excerpt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.as_str())
    }
}
