//! Watching a conversation between a client and a server: which lists were really served.

use super::{Listing, MOST_BYTES, Message, Page, Served};
use crate::encoding::json::items;

/// Questions without an answer that are remembered; no client asks more at a time.
const MOST_ASKED: usize = 1_000;

/// What was asked and waits for its answer.
#[derive(Debug)]
enum Asked {
    Introduction,
    Tools(Listing),
    Prompts(Listing),
}

/// What one line of a server's has told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Heard {
    /// Nothing about what it serves.
    Nothing,
    /// A page of a list that goes on.
    Part,
    /// Something that is now known in whole.
    Whole,
}

/// A conversation, as far as it tells what the server serves.
///
/// A server that answers with another id, twice, or unasked cannot hide a list from us: what it says besides the
/// answer counts as served too, beside the answer, and two tools of one name are nobody's approved tool.
#[derive(Debug, Default)]
pub struct Watch {
    asked: Vec<(String, Asked)>,
    /// Lists whose next page has not been asked for, by its cursor.
    open: Vec<(String, Asked)>,
    served: Served,
    strays: Vec<Vec<u8>>,
    /// A list of tools has been heard; before, nobody knows what is served.
    listed: bool,
}

impl Watch {
    /// What has been served so far.
    pub fn served(&self) -> Served {
        let mut served = self.served.clone();
        served.tools.extend(self.strays.iter().cloned());
        served
    }

    /// Takes a line of the client's.
    pub fn sent(&mut self, line: &[u8]) {
        let message = Message::read(line);
        let (Some(method), Some(id)) = (message.method(), message.id()) else { return };
        let cursor = message.params().and_then(|params| params.string("cursor")).map(|cursor| cursor.text);
        let asked = match (method.as_str(), cursor) {
            ("initialize" | "server/discover", _) => Asked::Introduction,
            ("tools/list", None) => {
                // What came unasked counts until the client asks anew: an answer by another id may be the one it took.
                self.strays.clear();
                Asked::Tools(Listing::default())
            }
            ("prompts/list", None) => Asked::Prompts(Listing::default()),
            ("tools/list" | "prompts/list", Some(cursor)) => {
                let Some(at) = self.open.iter().position(|(known, _)| *known == cursor) else { return };
                self.open.remove(at).1
            }
            _ => return,
        };
        if self.asked.len() < MOST_ASKED {
            self.asked.push((id, asked));
        }
    }

    /// Takes a line of the server's.
    pub fn heard(&mut self, line: &[u8]) -> Heard {
        let line = line.trim_ascii();
        match line.first() {
            Some(b'{') => self.heard_one(line),
            // Some clients take several messages at once.
            Some(b'[') => items(line).into_iter().map(|one| self.heard_one(one)).max().unwrap_or(Heard::Nothing),
            _ => Heard::Nothing,
        }
    }

    /// A line was too long to be read. If it was a list, nobody knows what is served now.
    pub fn missed(&mut self) -> Heard {
        let lists = self.asked.iter().any(|(_, asked)| matches!(asked, Asked::Tools(_)));
        if !lists {
            return Heard::Nothing;
        }
        self.served.tools.clear();
        self.listed = true;
        Heard::Whole
    }

    fn heard_one(&mut self, line: &[u8]) -> Heard {
        let message = Message::read(line);
        let Some(id) = message.id().filter(|_| message.method().is_none()) else { return self.stray(&message) };
        let Some(at) = self.asked.iter().position(|(known, _)| *known == id) else { return self.stray(&message) };
        let (_, asked) = self.asked.remove(at);
        match (asked, message.result()) {
            (Asked::Introduction, Some(result)) => {
                self.served.introduce(result);
                self.stray(&message).max(self.whole())
            }
            (Asked::Tools(listing), Some(result)) if message.is_sound() => match Page::read(result, "tools") {
                Ok(page) => self.page(listing, &page, Asked::Tools),
                Err(_) => self.stray(&message),
            },
            (Asked::Prompts(listing), Some(result)) => match Page::read(result, "prompts") {
                Ok(page) => self.page(listing, &page, Asked::Prompts),
                Err(_) => self.stray(&message),
            },
            (Asked::Introduction | Asked::Tools(_) | Asked::Prompts(_), _) => self.stray(&message),
        }
    }

    fn page(&mut self, mut listing: Listing, page: &Page<'_>, kind: fn(Listing) -> Asked) -> Heard {
        let next = listing.add(page);
        let tools = matches!(kind(Listing::default()), Asked::Tools(_));
        self.listed |= tools;
        let kept = if tools { &mut self.served.tools } else { &mut self.served.prompts };
        // Past a limit nobody knows what is served, and what was approved is not served any more.
        *kept = if next.is_ok() { listing.items.clone() } else { Vec::new() };
        match next {
            Ok(Some(cursor)) => {
                self.open.retain(|(known, _)| *known != cursor);
                self.open.truncate(MOST_ASKED);
                self.open.push((cursor, kind(listing)));
                if tools { Heard::Part } else { Heard::Nothing }
            }
            Ok(None) | Err(_) => self.whole(),
        }
    }

    /// What looks like a list and answers nothing.
    fn stray(&mut self, message: &Message<'_>) -> Heard {
        let mut heard = Heard::Nothing;
        for tool in message.results().flat_map(tools) {
            let bytes: usize = self.strays.iter().map(Vec::len).sum();
            if bytes < MOST_BYTES && !self.served.tools.iter().chain(&self.strays).any(|known| known == tool) {
                self.strays.push(tool.to_vec());
            }
            (heard, self.listed) = (Heard::Whole, true);
        }
        heard
    }

    fn whole(&self) -> Heard {
        if self.listed { Heard::Whole } else { Heard::Nothing }
    }
}

/// Every tool that a result lists, under however many names of one spelling.
fn tools(result: &[u8]) -> Vec<&[u8]> {
    let fields = crate::encoding::json::Fields::read(result);
    let lists: Vec<&[u8]> = fields.iter().filter(|(name, _)| *name == "tools").map(|(_, raw)| raw).collect();
    lists.into_iter().flat_map(items).collect()
}

/// A line of the server's as the client may see it: without the tools that `keep` does not know.
///
/// `None` where the line passes as it is. A list that can be read in more than one way is answered in the server's
/// place with an error, or with silence where it has no id.
pub fn strip(line: &[u8], keep: &dyn Fn(&[u8]) -> bool) -> Option<Vec<u8>> {
    let body = line.trim_ascii();
    match body.first() {
        Some(b'{') => {}
        Some(b'[') => {
            let listed =
                items(body).into_iter().any(|one| Message::read(one).results().any(|one| !tools(one).is_empty()));
            return (listed || may_hide(body)).then(Vec::new);
        }
        _ => return None,
    }
    let message = Message::read(body);
    if !message.is_sound() {
        // The client may be more lenient than we are.
        return may_hide(body).then(|| refusal(&message));
    }
    let result = message.result()?;
    let fields = crate::encoding::json::Fields::read(result);
    if fields.error().is_some() {
        return (!tools(result).is_empty()).then(|| refusal(&message));
    }
    let list = fields.get("tools").filter(|list| list.first() == Some(&b'['))?;
    let all = items(list);
    let kept: Vec<&[u8]> = all.iter().copied().filter(|tool| keep(tool)).collect();
    if kept.len() == all.len() {
        return None;
    }
    // INVARIANT: `list` is a part of `line`; both are the same memory.
    let start = list.as_ptr().addr() - line.as_ptr().addr();
    let (before, after) = (line.get(..start)?, line.get(start + list.len()..)?);
    Some([before, b"[", &kept.join(&b','), b"]", after].concat())
}

/// Whether a text that we cannot read may be a list for somebody who can.
fn may_hide(body: &[u8]) -> bool {
    let holds = |word: &[u8]| body.windows(word.len()).any(|part| part == word);
    holds(b"tools") || holds(b"\\u")
}

fn refusal(message: &Message<'_>) -> Vec<u8> {
    let Some(id) = message.raw_id() else { return Vec::new() };
    let words = br#","error":{"code":-32603,"message":"rune: this answer can be read in more than one way"}}"#;
    [&br#"{"jsonrpc":"2.0","id":"#[..], id, words, b"\n"].concat()
}

#[cfg(test)]
#[path = "../../../tests/unit/mcp/protocol/watch.rs"]
mod tests;
