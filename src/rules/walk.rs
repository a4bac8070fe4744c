//! The text of a pattern, piece by piece, as far as it needs no compiler to be understood.

/// A piece of a pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Piece<'p> {
    /// This character.
    Literal(char),
    /// One of these characters.
    OneOf(&'p str),
    /// One character of several, or a place between two.
    Vague,
    /// The place between a word and something else.
    Edge,
    /// `^`
    Start,
    /// `(`
    Open,
    /// `)`
    Close,
    /// `|`
    Or,
    /// The pattern ends.
    End,
}

/// How often a piece stands in a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Times {
    Once,
    /// At least once.
    Often,
    /// Once, or not at all.
    Maybe,
    /// However often, or not at all.
    Perhaps,
}

impl Times {
    /// At least once.
    pub fn is_sure(self) -> bool {
        matches!(self, Times::Once | Times::Often)
    }
}

/// Characters of a class that are told one by one.
const FEW: usize = 4;

/// Groups within groups.
pub(super) const DEEPEST: usize = 16;

/// A pattern on its way.
pub(super) struct Walk<'p> {
    /// What was not taken yet.
    pub rest: &'p str,
    depth: usize,
    /// Letters count in either case.
    pub folded: bool,
}

impl<'p> Walk<'p> {
    pub fn new(pattern: &'p str) -> Self {
        let bare = pattern.strip_prefix("(?i)");
        Walk { rest: bare.unwrap_or(pattern), depth: 0, folded: bare.is_some() }
    }

    /// The next piece; `None` for what only the compiler understands.
    pub fn next(&mut self) -> Option<(Piece<'p>, Times)> {
        let piece = match self.take() {
            None => return (self.depth == 0).then_some((Piece::End, Times::Once)),
            Some('|') => return Some((Piece::Or, Times::Once)),
            Some('^') => return Some((Piece::Start, Times::Once)),
            Some('(') => {
                // Flags change what characters mean.
                if self.peek() == Some(b'?') {
                    self.rest = self.rest.strip_prefix("?:")?;
                }
                self.depth += 1;
                return (self.depth < DEEPEST).then_some((Piece::Open, Times::Once));
            }
            Some(')') => {
                self.depth = self.depth.checked_sub(1)?;
                Piece::Close
            }
            Some('[') => {
                let begins = self.rest;
                self.class()?;
                let inside = begins.get(..begins.len().saturating_sub(self.rest.len() + 1)).unwrap_or_default();
                // A sign between two characters would make a range.
                let plain = |c: char| c.is_ascii_alphanumeric() || " _:;,/=?&-".contains(c);
                let range = inside.trim_end_matches('-').contains('-');
                let few = inside.len() <= FEW && !range && inside.chars().all(plain);
                if few { Piece::OneOf(inside) } else { Piece::Vague }
            }
            Some('.' | '$') => Piece::Vague,
            Some('\\') => self.escape()?,
            Some('*' | '+' | '?' | '{' | '}' | ']') => return None,
            Some(c) => Piece::Literal(c),
        };
        Some((piece, self.quantifier()?))
    }

    fn peek(&self) -> Option<u8> {
        self.rest.as_bytes().first().copied()
    }

    fn take(&mut self) -> Option<char> {
        let mut chars = self.rest.chars();
        let first = chars.next();
        self.rest = chars.as_str();
        first
    }

    fn quantifier(&mut self) -> Option<Times> {
        let times = match self.peek() {
            Some(b'?') => Times::Maybe,
            Some(b'*') => Times::Perhaps,
            Some(b'+') => Times::Often,
            Some(b'{') => return self.repetition(),
            _ => return Some(Times::Once),
        };
        self.take();
        if self.peek() == Some(b'?') {
            self.take();
        }
        // Two in a row are for the compiler to judge.
        (!matches!(self.peek(), Some(b'*' | b'+' | b'?'))).then_some(times)
    }

    /// `{2}`, `{2,}` or `{2,5}`.
    fn repetition(&mut self) -> Option<Times> {
        let (inside, rest) = self.rest.strip_prefix('{')?.split_once('}')?;
        let (least, most) = inside.split_once(',').map_or((inside, None), |(least, most)| (least, Some(most)));
        let number = |text: &str| {
            text.parse::<usize>().ok().filter(|number| *number <= 100 && text.bytes().all(|b| b.is_ascii_digit()))
        };
        let least = number(least)?;
        if let Some(most) = most.filter(|most| !most.is_empty()) {
            number(most).filter(|most| *most >= least)?;
        }
        self.rest = rest;
        // What follows may make it lazy, or be an error.
        let plain = !matches!(self.peek(), Some(b'*' | b'+' | b'?' | b'{'));
        plain.then_some(if least == 0 { Times::Perhaps } else { Times::Often })
    }

    /// What an escape stands for.
    fn escape(&mut self) -> Option<Piece<'p>> {
        match self.take()? {
            'b' => Some(Piece::Edge),
            'd' | 's' | 'w' | 'D' | 'S' | 'W' => Some(Piece::Vague),
            'n' => Some(Piece::Literal('\n')),
            c if c.is_ascii_punctuation() && !"<>".contains(c) => Some(Piece::Literal(c)),
            _ => None,
        }
    }

    /// A class of the plain kind; anything else is for the compiler to judge.
    fn class(&mut self) -> Option<()> {
        if self.peek() == Some(b'^') {
            self.take();
        }
        if self.peek() == Some(b']') {
            return None;
        }
        loop {
            let from = match self.take()? {
                ']' => return Some(()),
                '[' => return None,
                // Two of them are for the compiler to judge.
                sign @ ('&' | '~') if self.rest.starts_with(sign) => return None,
                '\\' => {
                    let escaped = self
                        .take()
                        .filter(|c| "dswDSWn".contains(*c) || (c.is_ascii_punctuation() && !"<>".contains(*c)))?;
                    // A range from or to an escape.
                    if self.peek() == Some(b'-') && !self.rest.starts_with("-]") {
                        return None;
                    }
                    escaped
                }
                c => c,
            };
            // A sign at the end is only a sign.
            if self.peek() != Some(b'-') || self.rest.starts_with("-]") {
                continue;
            }
            self.take();
            let to = self.take().filter(|to| to.is_alphanumeric() && from.is_alphanumeric())?;
            if from > to || self.peek() == Some(b'-') && !self.rest.starts_with("-]") {
                return None;
            }
        }
    }
}
