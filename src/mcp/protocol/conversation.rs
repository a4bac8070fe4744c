//! Follows the conversation between a client and a server, to learn which lists the server really served.

use super::{ListPage, Listing, MAX_SERVED_BYTES, RpcMessage, Served};
use crate::encoding::json::{Fields, items};

/// Pending requests, and open lists, that are remembered.
const MAX_PENDING: usize = 1_000;

/// A request that waits for its response.
#[derive(Debug)]
enum PendingRequest {
    Introduction,
    Tools(Listing),
    Prompts(Listing),
}

/// What one line of a server changed in what is known to be served.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ListUpdate {
    /// Nothing.
    Unchanged,
    /// A page of tools was added, and more pages follow.
    Partial,
    /// The list of tools is complete.
    Complete,
}

/// A conversation, as far as it shows what the server serves.
///
/// A server cannot hide a list by answering with another id, twice, or unasked: such tools count as served in addition
/// to those of the response, and two tools with the same name cannot be pinned.
#[derive(Debug, Default)]
pub struct Conversation {
    pending: Vec<(String, PendingRequest)>,
    /// Lists whose next page has not been requested, by its cursor.
    open: Vec<(String, PendingRequest)>,
    served: Served,
    /// Tools from messages that answer no request.
    unrequested: Vec<Vec<u8>>,
    /// A list of tools was received. Before that it is unknown what is served.
    listed: bool,
}

impl Conversation {
    /// What has been served so far.
    pub fn served(&self) -> Served {
        let mut served = self.served.clone();
        served.tools.extend(self.unrequested.iter().cloned());
        served
    }

    /// Takes a line of the client.
    pub fn record_request(&mut self, line: &[u8]) {
        let message = RpcMessage::read(line);
        let (Some(method), Some(id)) = (message.method(), message.id()) else { return };
        let cursor = message.params().and_then(|params| params.string("cursor")).map(|cursor| cursor.text);
        let request = match (method.as_str(), cursor) {
            ("initialize" | "server/discover", _) => PendingRequest::Introduction,
            ("tools/list", None) => {
                // Until this new request the client may have used an unrequested list.
                self.unrequested.clear();
                PendingRequest::Tools(Listing::default())
            }
            ("prompts/list", None) => PendingRequest::Prompts(Listing::default()),
            ("tools/list" | "prompts/list", Some(cursor)) => {
                let Some(at) = self.open.iter().position(|(known, _)| *known == cursor) else { return };
                self.open.remove(at).1
            }
            _ => return,
        };
        if self.pending.len() < MAX_PENDING {
            self.pending.push((id, request));
        }
    }

    /// Takes a line of the server, which may be a batch of messages.
    pub fn record_response(&mut self, line: &[u8]) -> ListUpdate {
        let line = line.trim_ascii();
        match line.first() {
            Some(b'{') => self.record_message(line),
            Some(b'[') => {
                items(line).into_iter().map(|item| self.record_message(item)).max().unwrap_or(ListUpdate::Unchanged)
            }
            _ => ListUpdate::Unchanged,
        }
    }

    /// Takes a line of the server that was too long to be read. If a list is pending, it is unknown what is served.
    pub fn record_oversized_line(&mut self) -> ListUpdate {
        if !self.pending.iter().any(|(_, request)| matches!(request, PendingRequest::Tools(_))) {
            return ListUpdate::Unchanged;
        }
        self.served.tools.clear();
        self.listed = true;
        ListUpdate::Complete
    }

    fn record_message(&mut self, line: &[u8]) -> ListUpdate {
        let message = RpcMessage::read(line);
        let id = message.id().filter(|_| message.method().is_none());
        let request = id.and_then(|id| self.pending.iter().position(|(known, _)| *known == id));
        let Some((_, request)) = request.map(|at| self.pending.remove(at)) else {
            return self.record_unrequested(&message);
        };
        match (request, message.result()) {
            (PendingRequest::Introduction, Some(result)) => {
                self.served.set_introduction(result);
                self.record_unrequested(&message).max(self.complete())
            }
            (PendingRequest::Tools(listing), Some(result)) if message.is_valid() => {
                match ListPage::read(result, "tools") {
                    Ok(page) => self.record_page(listing, &page, PendingRequest::Tools),
                    Err(_) => self.record_unrequested(&message),
                }
            }
            (PendingRequest::Prompts(listing), Some(result)) => match ListPage::read(result, "prompts") {
                Ok(page) => self.record_page(listing, &page, PendingRequest::Prompts),
                Err(_) => self.record_unrequested(&message),
            },
            (PendingRequest::Introduction | PendingRequest::Tools(_) | PendingRequest::Prompts(_), _) => {
                self.record_unrequested(&message)
            }
        }
    }

    fn record_page(
        &mut self,
        mut listing: Listing,
        page: &ListPage<'_>,
        request: fn(Listing) -> PendingRequest,
    ) -> ListUpdate {
        let next = listing.add(page);
        let is_tools = matches!(request(Listing::default()), PendingRequest::Tools(_));
        self.listed |= is_tools;
        let list = if is_tools { &mut self.served.tools } else { &mut self.served.prompts };
        // Beyond a limit it is unknown what is served, so nothing counts as served.
        *list = if next.is_ok() { listing.items.clone() } else { Vec::new() };
        match next {
            Ok(Some(cursor)) => {
                self.open.retain(|(known, _)| *known != cursor);
                self.open.truncate(MAX_PENDING);
                self.open.push((cursor, request(listing)));
                if is_tools { ListUpdate::Partial } else { ListUpdate::Unchanged }
            }
            Ok(None) | Err(_) => self.complete(),
        }
    }

    /// Takes the tools of a message that answers no request.
    fn record_unrequested(&mut self, message: &RpcMessage<'_>) -> ListUpdate {
        let mut update = ListUpdate::Unchanged;
        for tool in message.results().flat_map(listed_tools) {
            let bytes: usize = self.unrequested.iter().map(Vec::len).sum();
            let is_known = self.served.tools.iter().chain(&self.unrequested).any(|known| known == tool);
            if bytes < MAX_SERVED_BYTES && !is_known {
                self.unrequested.push(tool.to_vec());
            }
            (update, self.listed) = (ListUpdate::Complete, true);
        }
        update
    }

    fn complete(&self) -> ListUpdate {
        if self.listed { ListUpdate::Complete } else { ListUpdate::Unchanged }
    }
}

/// Every tool in a result, also where it has several lists of tools.
fn listed_tools(result: &[u8]) -> Vec<&[u8]> {
    let fields = Fields::read(result);
    let lists: Vec<&[u8]> = fields.iter().filter(|(name, _)| *name == "tools").map(|(_, raw)| raw).collect();
    lists.into_iter().flat_map(items).collect()
}

/// What a client may be served.
pub trait ServedFilter {
    /// Whether it may be served this tool.
    fn keeps_tool(&self, tool: &[u8]) -> bool;
    /// Whether it may be served these instructions, which are raw JSON.
    fn keeps_instructions(&self, instructions: &[u8]) -> bool;
}

/// Removes the tools and instructions that the filter rejects from a line of the server. `None` if the line passes
/// unchanged.
///
/// A list that clients could parse in different ways is replaced by an error response, or removed if it has no id.
pub fn filter_served(line: &[u8], keep: &dyn ServedFilter) -> Option<Vec<u8>> {
    let body = line.trim_ascii();
    match body.first() {
        Some(b'{') => {}
        Some(b'[') => {
            let serves = |item| RpcMessage::read(item).results().any(serves_anything);
            return (items(body).into_iter().any(serves) || may_serve(body)).then(Vec::new);
        }
        _ => return None,
    }
    let message = RpcMessage::read(body);
    if !message.is_valid() {
        // The client's parser may be more lenient.
        return may_serve(body).then(|| error_response(&message));
    }
    let result = message.result()?;
    let fields = Fields::read(result);
    if fields.error().is_some() {
        return serves_anything(result).then(|| error_response(&message));
    }
    let withheld = fields.get("instructions").filter(|text| *text != b"null" && !keep.keeps_instructions(text));
    let mut parts: Vec<(&[u8], Vec<u8>)> = withheld.map(|text| (text, b"\"\"".to_vec())).into_iter().collect();
    if let Some(list) = fields.get("tools").filter(|list| list.first() == Some(&b'[')) {
        let all = items(list);
        let kept: Vec<&[u8]> = all.iter().copied().filter(|tool| keep.keeps_tool(tool)).collect();
        if kept.len() < all.len() {
            parts.push((list, [b"[", &*kept.join(&b','), b"]"].concat()));
        }
    }
    replace_parts(line, parts)
}

/// Replaces some parts of a line. `None` if there are none.
///
/// INVARIANT: each part is a subslice of `line`, and no two overlap.
fn replace_parts(line: &[u8], mut parts: Vec<(&[u8], Vec<u8>)>) -> Option<Vec<u8>> {
    let start = |part: &[u8]| part.as_ptr().addr() - line.as_ptr().addr();
    parts.sort_by_key(|(part, _)| start(part));
    let (mut replaced, mut end) = (Vec::with_capacity(line.len()), 0);
    for (part, by) in &parts {
        replaced.extend_from_slice(line.get(end..start(part))?);
        replaced.extend_from_slice(by);
        end = start(part) + part.len();
    }
    replaced.extend_from_slice(line.get(end..)?);
    (!parts.is_empty()).then_some(replaced)
}

/// Whether a result has tools or instructions.
fn serves_anything(result: &[u8]) -> bool {
    !listed_tools(result).is_empty() || Fields::read(result).iter().any(|(name, _)| name == "instructions")
}

/// Whether invalid JSON may contain tools or instructions for a more lenient parser.
fn may_serve(body: &[u8]) -> bool {
    let contains = |word: &[u8]| body.windows(word.len()).any(|part| part == word);
    contains(b"tools") || contains(b"instructions") || contains(b"\\u")
}

fn error_response(message: &RpcMessage<'_>) -> Vec<u8> {
    let Some(id) = message.raw_id() else { return Vec::new() };
    let error = br#","error":{"code":-32603,"message":"rune: this answer can be read in more than one way"}}"#;
    [&br#"{"jsonrpc":"2.0","id":"#[..], id, error, b"\n"].concat()
}

#[cfg(test)]
#[path = "../../../tests/unit/mcp/protocol/conversation.rs"]
mod tests;
