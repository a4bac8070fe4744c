//! `Quarantined<T>`: untrusted content in a container that cannot be used by accident.
//!
//! The container has no `Display`, `Serialize`, `Deref` or `AsRef`, its `Debug` shows where the content came
//! from and never the content, and nothing hands out a mutable reference. Whoever needs the content says why,
//! and the reason is kept:
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
//! A reason is not optional, and blanks are not a reason:
//!
//! ```
//! use rune::quarantined::Reason;
//! assert!(Reason::new(" \u{200b}\t").is_err());
//! ```
//!
//! What would leak does not compile:
//!
//! ```compile_fail
//! # use rune::quarantined::{ContentSource, Origin, Quarantined};
//! # let page = Quarantined::new("text", Origin::new(ContentSource::Email, "1", time::OffsetDateTime::UNIX_EPOCH));
//! println!("{page}");
//! ```

use std::fmt;
use time::OffsetDateTime;

/// Where content came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ContentSource {
    /// Typed or sent by a user.
    UserInput,
    /// A page or a fetched document.
    WebContent,
    /// A mail message.
    Email,
    /// A file that somebody handed in.
    FileUpload,
    /// The answer of a third party's interface.
    ApiResponse,
    /// The result of a tool that a model called.
    ToolOutput,
    /// The result of a tool behind an MCP server.
    McpToolOutput,
    /// Text that a model wrote.
    ModelOutput,
    /// A record of our own database.
    Database,
    /// A passage from our own index.
    RagRetrieval,
    /// Nobody can say.
    Unknown,
}

impl ContentSource {
    /// Every source, for tables and tests.
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

/// How much harm content can do if it is obeyed, in ascending order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Risk {
    /// Ours, and checked before.
    Low,
    /// A third party's, but structured.
    Medium,
    /// Anybody can write it.
    High,
    /// Known to be hostile; never inferred, only set.
    Critical,
}

/// Where and when content came in. The caller supplies all of it: this library has no clock and no randomness.
#[derive(Clone, Debug)]
pub struct Origin {
    source: ContentSource,
    risk: Risk,
    id: String,
    at: OffsetDateTime,
}

impl Origin {
    /// An origin whose risk follows from its source.
    pub fn new(source: ContentSource, id: impl Into<String>, at: OffsetDateTime) -> Self {
        Origin { source, risk: source.risk(), id: id.into(), at }
    }

    /// The same origin with another risk than its source implies.
    #[must_use]
    pub fn with_risk(self, risk: Risk) -> Self {
        Origin { risk, ..self }
    }
}

/// Untrusted content, sealed.
pub struct Quarantined<T> {
    value: T,
    origin: Origin,
}

impl<T> Quarantined<T> {
    /// Seals `value`.
    pub fn new(value: T, origin: Origin) -> Self {
        Quarantined { value, origin }
    }

    /// Where the content came from.
    pub fn source(&self) -> ContentSource {
        self.origin.source
    }

    /// How dangerous the content is held to be.
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

    /// Hands out the content for a stated reason, which goes to the audit.
    pub fn expose(&self, reason: Reason, audit: &mut Audit<'_>) -> &T {
        audit.record(&reason, &self.origin);
        &self.value
    }

    /// Seals something derived from the content under the same origin.
    pub(crate) fn derive<U>(&self, value: U, source: ContentSource) -> Quarantined<U> {
        let origin = Origin { source, risk: source.risk().max(self.origin.risk), ..self.origin.clone() };
        Quarantined { value, origin }
    }

    /// Lets a judge inside this library look without exposing; `_why` documents the call site.
    pub(crate) fn inspect(&self, _why: &'static str) -> &T {
        &self.value
    }
}

impl<T> fmt::Debug for Quarantined<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Quarantined").field("origin", &self.origin).finish_non_exhaustive()
    }
}

/// Why content is taken out of quarantine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reason {
    text: String,
    heard: bool,
}

impl Reason {
    /// A reason that says something: at least one letter or digit.
    pub fn new(text: impl Into<String>) -> Result<Self, BlankReason> {
        let text = text.into();
        if text.chars().any(char::is_alphanumeric) { Ok(Reason { text, heard: true }) } else { Err(BlankReason) }
    }

    /// The same reason, counted but kept out of the audit's sink.
    #[must_use]
    pub fn quietly(self) -> Self {
        Reason { heard: false, ..self }
    }
}

/// The reason given for an exposure was blank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlankReason;

impl fmt::Display for BlankReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("exposing quarantined content takes a reason that is not blank")
    }
}

impl std::error::Error for BlankReason {}

/// One exposure, as the audit's sink sees it.
#[derive(Clone, Copy, Debug)]
pub struct Exposure<'a> {
    /// Why the content was taken out.
    pub reason: &'a str,
    /// Where it had come from.
    pub source: ContentSource,
    /// How dangerous it was held to be.
    pub risk: Risk,
    /// The identifier of the content.
    pub id: &'a str,
}

type Sink<'s> = Box<dyn FnMut(&Exposure<'_>) + 's>;
type Alarm<'s> = Box<dyn FnMut(u64) + 's>;

/// Hears every exposure, counts them, and raises an alarm when there are too many.
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
    /// Exposures beyond this many are excess.
    pub const ENOUGH: u64 = 10;

    /// An audit that tells `sink` of each exposure that is not quiet.
    pub fn new(sink: impl FnMut(&Exposure<'_>) + 's) -> Self {
        Audit { sink: Box::new(sink), alarm: None, count: 0 }
    }

    /// Calls `alarm` with the count at each exposure beyond [`Audit::ENOUGH`].
    #[must_use]
    pub fn on_excess(self, alarm: impl FnMut(u64) + 's) -> Self {
        Audit { alarm: Some(Box::new(alarm)), ..self }
    }

    /// How many exposures there were since the start or the last reset.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Starts counting anew.
    pub fn reset(&mut self) {
        self.count = 0;
    }

    fn record(&mut self, reason: &Reason, origin: &Origin) {
        self.count = self.count.saturating_add(1);
        if reason.heard {
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
