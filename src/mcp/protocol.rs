//! The MCP messages that say what a server serves. Lists are assembled page by page, within limits.
//!
//! Tools are kept as the bytes that were served, because duplicate keys in them have to be detected later.

mod conversation;

pub use conversation::{Conversation, ListUpdate, ServedFilter, filter_served};

use crate::encoding::json::{Fields, Text, items};
use std::collections::BTreeSet;

/// Pages of one list that are read; a server may send pages forever.
pub const MAX_LIST_PAGES: usize = 100;

/// Elements of one list that are read.
pub const MAX_LIST_ITEMS: usize = 5_000;

/// Bytes of one server's lists that are read.
pub const MAX_SERVED_BYTES: usize = 16 << 20;

/// The longest cursor that is sent back to a server.
const MAX_CURSOR_BYTES: usize = 16 << 10;

/// What a server has served in one session.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Served {
    /// Its instructions to the model, as raw JSON.
    pub instructions: Option<Vec<u8>>,
    /// Its `serverInfo`, as raw JSON.
    pub info: Option<Vec<u8>>,
    /// Its protocol version.
    pub protocol: Option<String>,
    /// Its tools, each as raw JSON.
    pub tools: Vec<Vec<u8>>,
    /// Its prompts, each as raw JSON.
    pub prompts: Vec<Vec<u8>>,
}

impl Served {
    /// Takes the server's description from the result of `initialize`.
    pub fn set_introduction(&mut self, result: &[u8]) {
        let fields = Fields::read(result);
        // A field that occurs twice is ambiguous. The whole result is kept in its place, which never equals an
        // approved value.
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

    /// Reads a dump: the result of `tools/list`, a response that contains one, or a list of tools.
    pub fn import(text: &[u8]) -> Result<Served, String> {
        let text = text.trim_ascii();
        let text = text.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(text);
        let mut served = Served::default();
        if text.first() == Some(&b'[') {
            // `ListPage::read` takes an object, so the list is wrapped in one.
            let whole = [b"{\"tools\":", text, b"}"].concat();
            served.tools = ListPage::read(&whole, "tools")?.to_owned_items();
            return Ok(served);
        }
        let fields = Fields::read(text);
        if let Some(flaw) = fields.error() {
            return Err(flaw.to_string());
        }
        let result = fields.get("result").unwrap_or(text);
        let page = ListPage::read(result, "tools")?;
        if page.next.is_some() {
            return Err("it is one page of several\n  help: join the pages into one list of tools".to_owned());
        }
        served.tools = page.to_owned_items();
        served.set_introduction(result);
        Ok(served)
    }
}

/// One JSON-RPC message.
#[derive(Debug)]
pub struct RpcMessage<'a> {
    fields: Fields<'a>,
}

impl<'a> RpcMessage<'a> {
    /// Reads one message.
    pub fn read(line: &'a [u8]) -> RpcMessage<'a> {
        RpcMessage { fields: Fields::read(line) }
    }

    /// Whether it is a valid JSON object.
    pub fn is_valid(&self) -> bool {
        self.fields.error().is_none()
    }

    /// Its method, if it is a request or notification.
    pub fn method(&self) -> Option<String> {
        self.fields.string("method").map(|text| text.text)
    }

    /// Its parameters.
    pub fn params(&self) -> Option<Fields<'a>> {
        self.fields.object("params")
    }

    /// Its normalized id: clients compare ids as JavaScript does, so `1`, `1.0` and `"1"` are equal.
    pub fn id(&self) -> Option<String> {
        let raw = self.fields.get("id")?;
        let text = Text::read(raw).map_or_else(|| String::from_utf8_lossy(raw).into_owned(), |text| text.text);
        Some(text.trim().parse::<f64>().map_or(text, |number| number.to_string()))
    }

    /// Its id as raw JSON.
    pub fn raw_id(&self) -> Option<&'a [u8]> {
        self.fields.get("id")
    }

    /// Its result, unless it has two.
    pub fn result(&self) -> Option<&'a [u8]> {
        self.fields.get("result")
    }

    /// Every result in it: a client may use either of two.
    fn results(&self) -> impl Iterator<Item = &'a [u8]> {
        self.fields.iter().filter(|(name, _)| *name == "result").map(|(_, raw)| raw)
    }

    /// The code of its error. The message is not exposed, because the server wrote it.
    pub fn error(&self) -> Option<i64> {
        let error = self.fields.object("error")?;
        Some(error.get("code").and_then(|raw| serde_json::from_slice(raw).ok()).unwrap_or_default())
    }
}

/// One page of a list.
#[derive(Debug, PartialEq, Eq)]
pub struct ListPage<'a> {
    /// Its elements, as raw JSON.
    pub items: Vec<&'a [u8]>,
    /// The cursor of the next page.
    pub next: Option<String>,
}

impl<'a> ListPage<'a> {
    /// Reads a result that contains a list with this name.
    pub fn read(result: &'a [u8], name: &str) -> Result<ListPage<'a>, String> {
        let fields = Fields::read(result);
        if let Some(flaw) = fields.error() {
            return Err(flaw.to_string());
        }
        let list = fields.get(name).filter(|raw| raw.first() == Some(&b'['));
        let list = list.ok_or_else(|| format!("it has no list `{name}`"))?;
        let next = fields.string("nextCursor").map(|cursor| cursor.text);
        Ok(ListPage { items: items(list), next })
    }

    fn to_owned_items(&self) -> Vec<Vec<u8>> {
        self.items.iter().map(|item| item.to_vec()).collect()
    }
}

/// A list that is assembled from its pages.
#[derive(Debug, Default)]
pub struct Listing {
    /// The elements so far, as raw JSON.
    pub items: Vec<Vec<u8>>,
    pages: usize,
    bytes: usize,
    cursors: BTreeSet<String>,
}

impl Listing {
    /// Adds a page and returns the cursor of the next one, if any. Fails when a limit is exceeded.
    pub fn add(&mut self, page: &ListPage<'_>) -> Result<Option<String>, String> {
        self.pages += 1;
        self.bytes += page.items.iter().map(|item| item.len()).sum::<usize>();
        self.items.extend(page.to_owned_items());
        let (items, pages) = (self.items.len(), self.pages);
        if items > MAX_LIST_ITEMS {
            return Err(format!("it serves more than {MAX_LIST_ITEMS} entries"));
        }
        if self.bytes > MAX_SERVED_BYTES {
            return Err(format!("it serves more than {} MB", MAX_SERVED_BYTES >> 20));
        }
        let Some(next) = &page.next else { return Ok(None) };
        if next.len() > MAX_CURSOR_BYTES {
            return Err(format!("its cursor is longer than {MAX_CURSOR_BYTES} bytes"));
        }
        if !self.cursors.insert(next.clone()) {
            return Err("its pages repeat: a cursor occurs twice".to_owned());
        }
        if pages >= MAX_LIST_PAGES {
            return Err(format!("its list has more than {pages} pages"));
        }
        Ok(Some(next.clone()))
    }
}

#[cfg(test)]
#[path = "../../tests/unit/mcp/protocol.rs"]
mod tests;
