//! What an MCP server serves: its messages read raw, its lists put together page by page, within limits.
//!
//! Tools are kept as the bytes that were served. What they are worth is judged elsewhere, and a reader that had
//! already dropped a duplicate key could not tell.

mod watch;

pub use watch::{Heard, Watch, strip};

use crate::encoding::json::{Fields, Text, items};
use std::collections::BTreeSet;

/// Pages of one list that are read; a server that has more never ends.
pub const MOST_PAGES: usize = 100;

/// Tools of one server that are read.
pub const MOST_TOOLS: usize = 5_000;

/// Bytes of one server's answers that are read.
pub const MOST_BYTES: usize = 16 << 20;

/// Bytes of a cursor, which we have to send back.
const LONGEST_CURSOR: usize = 16 << 10;

/// What a server has served in one session.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Served {
    /// Its instructions to the model, as raw JSON.
    pub instructions: Option<Vec<u8>>,
    /// What it says about itself, as raw JSON.
    pub info: Option<Vec<u8>>,
    /// The version of the protocol that it speaks.
    pub protocol: Option<String>,
    /// Its tools, each as raw JSON.
    pub tools: Vec<Vec<u8>>,
    /// Its prompts, each as raw JSON.
    pub prompts: Vec<Vec<u8>>,
}

impl Served {
    /// Takes what the first answer of a server says about it.
    pub fn introduce(&mut self, result: &[u8]) {
        let fields = Fields::read(result);
        // Of a field that is there twice neither counts: it is kept whole, and so differs from every other.
        let raw = |name: &str| {
            let mut found = fields.iter().filter(|(field, _)| *field == name).map(|(_, raw)| raw);
            match (found.next(), found.next()) {
                (Some(raw), None) => Some(raw.to_vec()),
                (Some(_), Some(_)) => Some(result.to_vec()),
                (None, _) => None,
            }
        };
        self.instructions = raw("instructions");
        self.info = raw("serverInfo");
        self.protocol = fields.string("protocolVersion").map(|version| version.text);
    }

    /// Reads a dump: the result of `tools/list`, an answer that holds one, or a list of tools.
    pub fn import(text: &[u8]) -> Result<Served, String> {
        let text = text.trim_ascii();
        let text = text.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(text);
        let mut served = Served::default();
        if text.first() == Some(&b'[') {
            // The grammar is checked by looking at the list as a field.
            let whole = [b"{\"tools\":", text, b"}"].concat();
            served.tools = Page::read(&whole, "tools")?.owned();
            return Ok(served);
        }
        let fields = Fields::read(text);
        if let Some(flaw) = fields.error() {
            return Err(flaw.to_string());
        }
        let result = fields.get("result").unwrap_or(text);
        let page = Page::read(result, "tools")?;
        if page.next.is_some() {
            return Err("it is one page of several\n  help: join the pages into one list of tools".to_owned());
        }
        served.tools = page.owned();
        served.introduce(result);
        Ok(served)
    }
}

/// One JSON-RPC message, as far as anybody has to look.
#[derive(Debug)]
pub struct Message<'a> {
    fields: Fields<'a>,
}

impl<'a> Message<'a> {
    /// Reads one message.
    pub fn read(line: &'a [u8]) -> Message<'a> {
        Message { fields: Fields::read(line) }
    }

    /// Whether it is a message at all.
    pub fn is_sound(&self) -> bool {
        self.fields.error().is_none()
    }

    /// What it asks for or tells of.
    pub fn method(&self) -> Option<String> {
        self.fields.string("method").map(|text| text.text)
    }

    /// Its parameters.
    pub fn params(&self) -> Option<Fields<'a>> {
        self.fields.object("params")
    }

    /// Its id, in one spelling: clients compare ids as JavaScript does, and so `1`, `1.0` and `"1"` are one.
    pub fn id(&self) -> Option<String> {
        let raw = self.fields.get("id")?;
        let text = Text::read(raw).map_or_else(|| String::from_utf8_lossy(raw).into_owned(), |text| text.text);
        Some(text.trim().parse::<f64>().map_or(text, |number| number.to_string()))
    }

    /// The raw id, to be sent back.
    pub fn raw_id(&self) -> Option<&'a [u8]> {
        self.fields.get("id")
    }

    /// The result that it carries.
    pub fn result(&self) -> Option<&'a [u8]> {
        self.fields.get("result")
    }

    /// Every result in it; a client that takes the last of two must not see one that we have not.
    fn results(&self) -> impl Iterator<Item = &'a [u8]> {
        self.fields.iter().filter(|(name, _)| *name == "result").map(|(_, raw)| raw)
    }

    /// The code of the error that it carries; its words are the server's, and nobody's to repeat.
    pub fn error(&self) -> Option<i64> {
        let error = self.fields.object("error")?;
        Some(error.get("code").and_then(|raw| serde_json::from_slice(raw).ok()).unwrap_or_default())
    }
}

/// One page of a list.
#[derive(Debug, PartialEq, Eq)]
pub struct Page<'a> {
    /// Its elements, raw.
    pub items: Vec<&'a [u8]>,
    /// Where the next one begins.
    pub next: Option<String>,
}

impl<'a> Page<'a> {
    /// Reads a result that holds a list of this name.
    pub fn read(result: &'a [u8], name: &str) -> Result<Page<'a>, String> {
        let fields = Fields::read(result);
        if let Some(flaw) = fields.error() {
            return Err(flaw.to_string());
        }
        let list = fields.get(name).filter(|raw| raw.first() == Some(&b'['));
        let list = list.ok_or_else(|| format!("it holds no list `{name}`"))?;
        let next = fields.string("nextCursor").map(|cursor| cursor.text);
        Ok(Page { items: items(list), next })
    }

    fn owned(&self) -> Vec<Vec<u8>> {
        self.items.iter().map(|item| item.to_vec()).collect()
    }
}

/// A list that is put together from its pages.
#[derive(Debug, Default)]
pub struct Listing {
    /// What has come so far, raw.
    pub items: Vec<Vec<u8>>,
    pages: usize,
    bytes: usize,
    cursors: BTreeSet<String>,
}

impl Listing {
    /// Takes one more page; tells where the next one begins, if there is one.
    pub fn add(&mut self, page: &Page<'_>) -> Result<Option<String>, String> {
        self.pages += 1;
        self.bytes += page.items.iter().map(|item| item.len()).sum::<usize>();
        self.items.extend(page.owned());
        let (items, pages) = (self.items.len(), self.pages);
        if items > MOST_TOOLS {
            return Err(format!("it serves {items} entries and more; {MOST_TOOLS} are read"));
        }
        if self.bytes > MOST_BYTES {
            return Err(format!("it serves more than {} MB", MOST_BYTES >> 20));
        }
        let Some(next) = &page.next else { return Ok(None) };
        if next.len() > LONGEST_CURSOR {
            return Err("its cursor is longer than anybody needs".to_owned());
        }
        if !self.cursors.insert(next.clone()) {
            return Err("its pages lead in a circle".to_owned());
        }
        if pages >= MOST_PAGES {
            return Err(format!("its list has no end: {pages} pages, and there are more"));
        }
        Ok(Some(next.clone()))
    }
}

#[cfg(test)]
#[path = "../../tests/unit/mcp/protocol.rs"]
mod tests;
