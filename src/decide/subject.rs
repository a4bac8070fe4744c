//! Units: the parts of a call that rules are asked about one by one. A call takes the strictest answer.

use super::validators::{self, Context};
use crate::encoding::escape;
use crate::encoding::label::Label;
use crate::path::AbsPath;
use crate::path::zones::Zones;
use crate::rules::{Groups, Match, RuleKind, ValidatorId};
use crate::shell::{Access, Act, Command, Pipeline, without_global_options};
use std::borrow::Cow;
use std::cell::Cell;

/// Characters of a call's own words that a nudge shows.
const MAX_VALUE_CHARS: usize = 200;

/// What a unit is about.
#[derive(Clone, Debug)]
pub enum SubjectKind<'a> {
    /// A command that would run, and which of the line's commands it is.
    Command(&'a Command, usize),
    /// Commands of which each feeds the next.
    Pipeline(&'a Pipeline),
    /// The whole line.
    Line,
    /// Something that a command does to a file.
    Access(Cow<'a, Access>),
    /// The same by a tool that is made for it.
    File(Access),
    /// A page.
    Page(String),
    /// An MCP tool.
    Mcp,
    /// Another agent.
    Agent,
    /// Some sentences of a result, with what stands around them.
    Passage(&'a str),
}

/// One unit: the kind of rules that it is asked about, and the texts that patterns are matched with.
#[derive(Clone, Debug)]
pub struct Subject<'a> {
    kind: RuleKind,
    texts: Vec<(Cow<'a, str>, Groups)>,
    /// What it is about.
    pub subject: SubjectKind<'a>,
    /// The validators that have found nothing in it.
    cleared: Cell<u32>,
}

impl<'a> Subject<'a> {
    fn new(kind: RuleKind, texts: impl IntoIterator<Item = Cow<'a, str>>, subject: SubjectKind<'a>) -> Self {
        let with_groups = |text: Cow<'a, str>| {
            let groups = Groups::of(&text);
            (text, groups)
        };
        Subject { kind, texts: texts.into_iter().map(with_groups).collect(), subject, cleared: Cell::new(0) }
    }

    /// A command: patterns see it as it is, and without the options that stand before its verb.
    pub fn command(command: &'a Command, at: usize) -> Self {
        let texts = [Some(Cow::Borrowed(command.canonical.as_str())), without_global_options(command).map(Cow::Owned)];
        Subject::new(RuleKind::Bash, texts.into_iter().flatten(), SubjectKind::Command(command, at))
    }

    /// A pipeline.
    pub fn pipeline(pipeline: &'a Pipeline) -> Self {
        Subject::new(RuleKind::Bash, [Cow::Borrowed(pipeline.canonical.as_str())], SubjectKind::Pipeline(pipeline))
    }

    /// The line as a whole, for what is in no single command.
    pub fn line() -> Self {
        Subject::new(RuleKind::Bash, [], SubjectKind::Line)
    }

    /// What is deleted, as part of a command.
    pub fn deletion(access: &'a Access) -> Self {
        Subject::new(RuleKind::Bash, [], SubjectKind::Access(Cow::Borrowed(access)))
    }

    /// What a command does to a file.
    pub fn access(access: Cow<'a, Access>, zones: &Zones) -> Self {
        let kind = if access.act.changes() { RuleKind::Edit } else { RuleKind::Read };
        // What is taken away or put back is not a change of what is in it.
        let text = matches!(access.act, Act::Read | Act::Write | Act::Redirect).then(|| text(&access, zones));
        Subject::new(kind, text.map(Cow::Owned), SubjectKind::Access(access))
    }

    /// A file that a tool reads or changes.
    pub fn file(access: Access, zones: &Zones) -> Self {
        let kind = if access.act.changes() { RuleKind::Edit } else { RuleKind::Read };
        Subject::new(kind, [Cow::Owned(text(&access, zones))], SubjectKind::File(access))
    }

    /// A page that is fetched.
    pub fn page(url: &str) -> Self {
        Subject::new(RuleKind::Read, [Cow::Owned(url.to_owned())], SubjectKind::Page(url.to_owned()))
    }

    /// A call of an MCP tool.
    pub fn mcp(tool: &str) -> Self {
        Subject::new(RuleKind::Mcp, [Cow::Owned(tool.to_owned())], SubjectKind::Mcp)
    }

    /// Work for another agent, with these permissions.
    pub fn agent(mode: &str) -> Self {
        Subject::new(RuleKind::Agent, [Cow::Owned(mode.to_owned())], SubjectKind::Agent)
    }

    /// Some sentences of a result, which contain these groups of literals.
    pub(crate) fn passage(text: &'a str, around: &'a str, groups: Groups) -> Self {
        let texts = vec![(Cow::Borrowed(text), groups)];
        Subject { kind: RuleKind::Post, texts, subject: SubjectKind::Passage(around), cleared: Cell::new(0) }
    }

    /// Which rules it is asked about.
    pub fn kind(&self) -> RuleKind {
        self.kind
    }

    /// What patterns are matched with, and the literals of the prefilter in it.
    pub(crate) fn texts(&self) -> impl Iterator<Item = (&str, &Groups)> {
        self.texts.iter().map(|(text, groups)| (text.as_ref(), groups))
    }

    /// What a validator finds in it. Two rules may share one, and what found nothing is not asked again.
    pub(crate) fn ask(&self, validator: ValidatorId, context: &Context<'_>) -> Option<Match> {
        let (cleared, bit) = (self.cleared.get(), 1 << validator.index());
        if cleared & bit != 0 {
            return None;
        }
        let found = validators::find(validator, self, context);
        if found.is_none() {
            self.cleared.set(cleared | bit);
        }
        found
    }

    /// The file that it is about and what is done to it.
    pub fn touched(&self) -> Option<&Access> {
        match &self.subject {
            SubjectKind::Access(access) => Some(access),
            SubjectKind::File(access) => Some(access),
            SubjectKind::Command(..)
            | SubjectKind::Pipeline(_)
            | SubjectKind::Line
            | SubjectKind::Page(_)
            | SubjectKind::Mcp
            | SubjectKind::Agent
            | SubjectKind::Passage(_) => None,
        }
    }

    /// A nudge with the values of its variables, each in backticks unless the nudge quotes it itself.
    pub fn interpolate(&self, nudge: &str, tool: &Label, server: &Label) -> String {
        const QUOTES: [char; 3] = ['`', '\'', '"'];
        let mut text = String::new();
        let mut rest = nudge;
        while let Some((before, behind)) = rest.split_once('{') {
            text.push_str(before);
            let variable =
                behind.split_once('}').and_then(|(name, after)| Some((self.value(name, tool, server)?, after)));
            let Some((value, after)) = variable else {
                text.push('{');
                rest = behind;
                continue;
            };
            let quoted = before.ends_with(QUOTES) && after.starts_with(QUOTES);
            let mark = if quoted || value.is_empty() { "" } else { "`" };
            text.extend([mark, value.as_str(), mark]);
            rest = after;
        }
        text + rest
    }

    /// The value of a variable in a nudge: names as labels, the call's own words escaped and on one line.
    fn value(&self, name: &str, tool: &Label, server: &Label) -> Option<String> {
        let text = self.texts().next().map_or("", |(text, _)| text);
        let raw = match (name, &self.subject) {
            ("tool_name", _) => return Some(tool.to_string()),
            ("server_name", _) => return Some(server.to_string()),
            ("base_command", SubjectKind::Command(command, _)) => command.program.as_str(),
            ("command", SubjectKind::Command(..) | SubjectKind::Pipeline(_)) => text,
            ("file_path", SubjectKind::Access(_) | SubjectKind::File(_)) => text,
            ("base_command" | "command" | "file_path", _) => "",
            _ => return None,
        };
        Some(escape::one_line(raw, MAX_VALUE_CHARS).into_owned())
    }
}

fn text(access: &Access, zones: &Zones) -> String {
    let whole = |path: &AbsPath| zones.text(path);
    let known = access.target.path.as_ref().filter(|_| !access.target.open);
    known.map_or_else(|| access.target.text.clone(), whole)
}
