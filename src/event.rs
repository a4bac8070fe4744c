//! Events: one tool call or session event, in terms that are the same for every client.
//!
//! A client parses its input into a [`Message`]: what it sent, and nothing else. The runtime turns the message into an
//! [`Event`], which adds the directories, the parsed shell text and the facts of the machine, and which is judged.

mod action;
pub mod destinations;
mod facts;
pub mod memory;
pub mod taint;

pub use action::{Action, Change, Dialect, Field, Replaces, Server, Shows};
pub use facts::{Answers, Facts, LooseningRecord, Nonce, ServerProvider, UnapprovedServers};

use crate::encoding::label::Label;
use crate::encoding::patch;
use crate::mcp::{Hints, PinCheck, PinPolicy};
use crate::path::{AbsPath, Place, protected};
use crate::programs::Catalogue;
use crate::quarantined::{ContentSource, Quarantined};
use crate::shell::{self, Effects, Reading};
use crate::verdict::Phase;
use crate::verdict::failure::Failure;
use crate::verdict::limits::{Meter, SHELL_STEPS};
use std::collections::BTreeSet;
use std::iter;

/// What an answer and a log line need to know of an event, even if it cannot be parsed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Header {
    /// `None` if neither the event nor the command line names it.
    pub phase: Option<Phase>,
    /// The client's name for the kind of event.
    pub moment: Label,
    /// The name of the tool.
    pub tool: Label,
    /// The client's name for the session.
    pub session: Label,
    /// The client's name for the call.
    pub call: Label,
    /// Whether a person answers what is asked.
    pub is_attended: bool,
}

/// An event that cannot be parsed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventError {
    /// What could be parsed of it.
    pub header: Box<Header>,
    /// Why it cannot be parsed.
    pub failure: Failure,
}

/// Whether a client stores results of the session in a file: those that are too large, or that arrive late.
pub type SpillTest = fn(&AbsPath, &str) -> bool;

/// An event as the client sent it. [`Message::into_event`] completes it.
#[derive(Debug)]
pub struct Message<'a> {
    /// When the client runs the hook.
    pub phase: Phase,
    /// What an answer and a log line need.
    pub header: Header,
    /// The name of the tool, unchanged.
    pub tool: Quarantined<String>,
    /// What the tool does.
    pub action: Action,
    /// The result of the tool: JSON text, not parsed.
    pub result: Option<Quarantined<&'a [u8]>>,
    /// The working directory.
    pub cwd: String,
    /// The client's test for spilled results.
    pub is_spilled: SpillTest,
    /// Who answers an ask, as far as the event says.
    pub answers: Answers,
    /// How the client replaces results.
    pub replaces: Replaces,
    /// What is wrong with the event although it could be parsed.
    pub failure: Option<Failure>,
}

impl<'a> Message<'a> {
    /// The message of a call whose tool has this name.
    #[must_use]
    pub fn with_tool(self, name: String) -> Message<'a> {
        let header = Header { tool: Label::tool(&name), ..self.header };
        Message { tool: self.tool.derive(name, ContentSource::ModelOutput), header, ..self }
    }

    /// Builds the event: adds the directories and parses the shell text with the catalogue. Facts are added later, see
    /// [`Event::with_facts`].
    pub fn into_event(self, home: Option<String>, project: Option<String>, catalogue: &Catalogue) -> Event<'a> {
        let Message { phase, header, tool, action, result, cwd, is_spilled, answers, replaces, failure } = self;
        let place = Place { cwd, home, project };
        let shell = ShellText::parse(&action, phase, &place, catalogue);
        let facts = Facts { answers, ..Facts::default() };
        Event { phase, header, tool, action, result, place, is_spilled, replaces, facts, failure, shell }
    }
}

/// The parsed shell text of a call.
#[derive(Debug)]
pub struct ShellText {
    /// The commands in it.
    pub reading: Reading,
    /// What the commands do to files, variables and the network.
    pub effects: Effects,
}

impl ShellText {
    fn parse(action: &Action, phase: Phase, place: &Place, catalogue: &Catalogue) -> Option<ShellText> {
        let reading = match action {
            Action::Shell { command: Some(command), dialect } => {
                let text = command.inspect("what it would run");
                match dialect {
                    Dialect::Bash => shell::read(text, place, catalogue),
                    Dialect::PowerShell => shell::powershell::read(text, place, catalogue),
                }
            }
            Action::Edit { path: Some(path), changes } if phase == Phase::Before => {
                let texts = changes.iter().map(|change| match change {
                    Change::Whole(text) | Change::Replace { new: text, .. } => text.inspect("what runs by itself"),
                });
                let path = path.inspect("does it run by itself").as_str();
                read_written(texts.map(|text| (iter::once(path), text.as_str())), place, catalogue)?
            }
            Action::Patch { text: Some(text) } if phase == Phase::Before => {
                let parts = patch::parts(text.inspect("what runs by itself"));
                read_written(parts.iter().map(|part| (part.paths(), part.added.as_str())), place, catalogue)?
            }
            Action::Shell { .. }
            | Action::Edit { .. }
            | Action::Patch { .. }
            | Action::Read { .. }
            | Action::Files { .. }
            | Action::Fetch { .. }
            | Action::Search { .. }
            | Action::Mcp { .. }
            | Action::Resource { .. }
            | Action::Agent { .. }
            | Action::Settings { .. }
            | Action::Prompt { .. }
            | Action::Other => return None,
        };
        let effects = reading.effects();
        Some(ShellText { reading, effects })
    }
}

/// Reads what is written to files that tools run by themselves: the names that each file may have, and a text.
fn read_written<'t, N: Iterator<Item = &'t str>>(
    written: impl Iterator<Item = (N, &'t str)>,
    place: &Place,
    catalogue: &Catalogue,
) -> Option<Reading> {
    let meter = Meter::default();
    let home = place.home.as_ref().map(|home| AbsPath::resolve(home, place));
    let mut commands = String::new();
    for (names, text) in written {
        let paths = names.map(|name| AbsPath::resolve(name, place));
        // A part of a patch may repeat the name of its file thousands of times.
        let obeyed: BTreeSet<String> =
            paths.filter(|path| protected::is_obeyed(path, home.as_ref())).map(|path| path.to_string()).collect();
        for name in obeyed.iter().take_while(|_| !meter.exceeds(&SHELL_STEPS)) {
            meter.charge(text.len());
            commands.extend([shell::written_text(name, text, &meter).trim(), "\n"]);
        }
    }
    // The search for commands in settings stops at the limit.
    let exceeded = Some(&SHELL_STEPS).filter(|limit| meter.exceeds(limit));
    if commands.trim().is_empty() && exceeded.is_none() {
        return None;
    }
    let mut reading = shell::read(&commands, place, catalogue);
    reading.exceeded = reading.exceeded.or(exceeded);
    reading.steps += meter.spent();
    Some(reading)
}

/// One event, with everything that judging it needs.
#[derive(Debug)]
pub struct Event<'a> {
    /// When the client runs the hook.
    pub phase: Phase,
    /// What an answer and a log line need.
    pub header: Header,
    /// The name of the tool, unchanged.
    pub tool: Quarantined<String>,
    /// What the tool does.
    pub action: Action,
    /// The result of the tool: JSON text, not parsed.
    pub result: Option<Quarantined<&'a [u8]>>,
    /// The directories of the call.
    pub place: Place,
    /// The client's test for spilled results.
    pub is_spilled: SpillTest,
    /// How the client replaces results.
    pub replaces: Replaces,
    /// What the runtime has looked up.
    pub facts: Facts,
    /// What is wrong with the event although it could be parsed.
    pub failure: Option<Failure>,
    shell: Option<ShellText>,
}

impl<'a> Event<'a> {
    /// The event with these facts.
    #[must_use]
    pub fn with_facts(self, facts: Facts) -> Event<'a> {
        Event { facts, ..self }
    }
}

impl Event<'_> {
    /// The shell text of the call.
    pub fn shell(&self) -> Option<&ShellText> {
        self.shell.as_ref()
    }

    /// What the approved definition of the tool says of its use.
    pub(crate) fn hints(&self) -> Hints {
        self.facts.pins.as_ref().and_then(|pins| pins.approved_tool()).map_or(Hints::None, Hints::of)
    }

    /// Compares the call with what a person has approved. Silent if it is not a call of an MCP tool or nothing was looked up.
    pub fn check_pins(&self, pins: PinPolicy) -> PinCheck {
        let (Action::Mcp { input, .. }, Some(lookup), true) = (&self.action, &self.facts.pins, pins != PinPolicy::Off)
        else {
            return PinCheck::NotApplicable;
        };
        lookup.check(pins, input.inspect("do the arguments fit the approved schema"))
    }
}
