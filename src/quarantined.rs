//! `Quarantined<T>`: a container that prevents accidental use of untrusted content.
//!
//! It has no `Display`, `Serialize`, `Deref` or `AsRef`, its `Debug` shows the origin and never the content, and no
//! method returns a mutable reference. A caller has to give a reason to read the content, and the reason is audited:
//!
//! ```
//! use rune::quarantined::{Audit, ContentSource, Origin, Quarantined, Reason, Risk};
//! use time::OffsetDateTime;
//!
//! let at = OffsetDateTime::UNIX_EPOCH;
//! let page = Quarantined::new("<h1>hello</h1>".to_owned(), Origin::new(ContentSource::WebContent, "page-1", at));
//! assert_eq!(page.risk(), Risk::High);
//! assert!(!format!("{page:?}").contains("hello"));
//!
//! let mut reasons = Vec::new();
//! let mut audit = Audit::new(|exposure| reasons.push(exposure.reason.to_owned()));
//! let text = page.expose(Reason::new("rendered in a sandboxed frame")?, &mut audit);
//! assert_eq!(text, "<h1>hello</h1>");
//! drop(audit);
//! assert_eq!(reasons, ["rendered in a sandboxed frame"]);
//! # Ok::<(), rune::quarantined::BlankReason>(())
//! ```
//!
//! A blank reason is rejected:
//!
//! ```
//! use rune::quarantined::Reason;
//! assert!(Reason::new(" \u{200b}\t").is_err());
//! ```
//!
//! Code that would leak the content does not compile:
//!
//! ```compile_fail
//! # use rune::quarantined::{ContentSource, Origin, Quarantined};
//! # let page = Quarantined::new("text", Origin::new(ContentSource::Email, "1", time::OffsetDateTime::UNIX_EPOCH));
//! println!("{page}");
//! ```

use std::fmt;
use time::OffsetDateTime;

/// The source of content.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ContentSource {
    /// Typed or sent by a user.
    UserInput,
    /// A web page or another fetched document.
    WebContent,
    /// An email.
    Email,
    /// An uploaded file.
    FileUpload,
    /// The response of a third party's API.
    ApiResponse,
    /// The result of a tool that a model called.
    ToolOutput,
    /// The result of an MCP tool.
    McpToolOutput,
    /// Text that a model wrote.
    ModelOutput,
    /// A record of the operator's own database.
    Database,
    /// A passage from the operator's own search index.
    RagRetrieval,
    /// The source is not known.
    Unknown,
}

impl ContentSource {
    /// Every source.
    pub const ALL: [ContentSource; 11] = [
        ContentSource::UserInput,
        ContentSource::WebContent,
        ContentSource::Email,
        ContentSource::FileUpload,
        ContentSource::ApiResponse,
        ContentSource::ToolOutput,
        ContentSource::McpToolOutput,
        ContentSource::ModelOutput,
        ContentSource::Database,
        ContentSource::RagRetrieval,
        ContentSource::Unknown,
    ];

    /// The risk that the source alone implies.
    pub fn risk(self) -> Risk {
        match self {
            ContentSource::UserInput
            | ContentSource::WebContent
            | ContentSource::Email
            | ContentSource::FileUpload
            | ContentSource::Unknown => Risk::High,
            ContentSource::ApiResponse
            | ContentSource::ToolOutput
            | ContentSource::McpToolOutput
            | ContentSource::ModelOutput => Risk::Medium,
            ContentSource::Database | ContentSource::RagRetrieval => Risk::Low,
        }
    }
}

/// How harmful content may be if a model obeys it, in ascending order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Risk {
    /// The operator's own content.
    Low,
    /// Content of a third party with a known structure.
    Medium,
    /// Content that anyone can write.
    High,
    /// Known to be hostile. No source implies it; a caller sets it.
    Critical,
}

/// The source, identifier and time of content. The caller supplies all of them, because this library has no clock and
/// no randomness.
#[derive(Clone, Debug)]
pub struct Origin {
    source: ContentSource,
    risk: Risk,
    id: String,
    at: OffsetDateTime,
}

impl Origin {
    /// Creates an origin with the risk of its source.
    pub fn new(source: ContentSource, id: impl Into<String>, at: OffsetDateTime) -> Self {
        Origin { source, risk: source.risk(), id: id.into(), at }
    }

    /// Replaces the risk.
    #[must_use]
    pub fn with_risk(self, risk: Risk) -> Self {
        Origin { risk, ..self }
    }
}

/// Untrusted content and its origin.
pub struct Quarantined<T> {
    value: T,
    origin: Origin,
}

impl<T> Quarantined<T> {
    /// Puts a value into quarantine.
    pub fn new(value: T, origin: Origin) -> Self {
        Quarantined { value, origin }
    }

    /// The source of the content.
    pub fn source(&self) -> ContentSource {
        self.origin.source
    }

    /// The risk of the content.
    pub fn risk(&self) -> Risk {
        self.origin.risk
    }

    /// The identifier that the caller gave.
    pub fn id(&self) -> &str {
        &self.origin.id
    }

    /// The time that the caller gave.
    pub fn at(&self) -> OffsetDateTime {
        self.origin.at
    }

    /// Returns the content and records the reason in the audit.
    pub fn expose(&self, reason: Reason, audit: &mut Audit<'_>) -> &T {
        audit.record(&reason, &self.origin);
        &self.value
    }

    /// Puts a derived value into quarantine, with the same origin and at least the same risk.
    pub(crate) fn derive<U>(&self, value: U, source: ContentSource) -> Quarantined<U> {
        let origin = Origin { source, risk: source.risk().max(self.origin.risk), ..self.origin.clone() };
        Quarantined { value, origin }
    }

    /// Returns the content for a check inside this library; `_why` documents the call site.
    pub(crate) fn inspect(&self, _why: &'static str) -> &T {
        &self.value
    }
}

impl<T> fmt::Debug for Quarantined<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Quarantined").field("origin", &self.origin).finish_non_exhaustive()
    }
}

/// The reason for reading quarantined content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reason {
    text: String,
    is_audited: bool,
}

impl Reason {
    /// Creates a reason. It must contain a letter or digit.
    pub fn new(text: impl Into<String>) -> Result<Self, BlankReason> {
        let text = text.into();
        if text.chars().any(char::is_alphanumeric) { Ok(Reason { text, is_audited: true }) } else { Err(BlankReason) }
    }

    /// Counts the exposure, but does not pass it to the audit's sink.
    #[must_use]
    pub fn quietly(self) -> Self {
        Reason { is_audited: false, ..self }
    }
}

/// The error for a blank reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlankReason;

impl fmt::Display for BlankReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the reason for exposing quarantined content is blank")
    }
}

impl std::error::Error for BlankReason {}

/// One exposure, as passed to the audit's sink.
#[derive(Clone, Copy, Debug)]
pub struct Exposure<'a> {
    /// The reason.
    pub reason: &'a str,
    /// The source of the content.
    pub source: ContentSource,
    /// The risk of the content.
    pub risk: Risk,
    /// The identifier of the content.
    pub id: &'a str,
}

type Sink<'s> = Box<dyn FnMut(&Exposure<'_>) + 's>;
type Alarm<'s> = Box<dyn FnMut(u64) + 's>;

/// Records and counts exposures, and calls an alarm when there are too many.
///
/// ```
/// use rune::quarantined::{Audit, ContentSource, Origin, Quarantined, Reason};
///
/// let mail = Quarantined::new(7, Origin::new(ContentSource::Email, "m", time::OffsetDateTime::UNIX_EPOCH));
/// let mut alarms = Vec::new();
/// let mut audit = Audit::new(|_| {}).on_excess(|count| alarms.push(count));
/// for _ in 0..12 {
///     mail.expose(Reason::new("counting")?.quietly(), &mut audit);
/// }
/// audit.reset();
/// mail.expose(Reason::new("counting")?, &mut audit);
/// drop(audit);
/// assert_eq!(alarms, [11, 12]);
/// # Ok::<(), rune::quarantined::BlankReason>(())
/// ```
pub struct Audit<'s> {
    sink: Sink<'s>,
    alarm: Option<Alarm<'s>>,
    count: u64,
}

impl<'s> Audit<'s> {
    /// The number of exposures without an alarm.
    pub const ENOUGH: u64 = 10;

    /// Creates an audit that passes each exposure to `sink`, except those with a quiet reason.
    pub fn new(sink: impl FnMut(&Exposure<'_>) + 's) -> Self {
        Audit { sink: Box::new(sink), alarm: None, count: 0 }
    }

    /// Calls `alarm` with the count at each exposure beyond [`Audit::ENOUGH`].
    #[must_use]
    pub fn on_excess(self, alarm: impl FnMut(u64) + 's) -> Self {
        Audit { alarm: Some(Box::new(alarm)), ..self }
    }

    /// The number of exposures since the start or the last reset.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Resets the count.
    pub fn reset(&mut self) {
        self.count = 0;
    }

    fn record(&mut self, reason: &Reason, origin: &Origin) {
        self.count = self.count.saturating_add(1);
        if reason.is_audited {
            let Origin { source, risk, id, .. } = origin;
            (self.sink)(&Exposure { reason: &reason.text, source: *source, risk: *risk, id });
        }
        if let Some(alarm) = self.alarm.as_mut().filter(|_| self.count > Self::ENOUGH) {
            alarm(self.count);
        }
    }
}

impl fmt::Debug for Audit<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Audit").field("count", &self.count).finish_non_exhaustive()
    }
}
