//! Events: one tool call or session moment, in terms that are the same for every client.

mod action;
mod facts;
pub mod taint;

pub use action::{Action, Change, Dialect, Field, Server, Shows};
pub use facts::{Facts, Loosened, Nonce, ServerNews};

use crate::encoding::label::Label;
use crate::mcp::{Pins, Standing};
use crate::path::Place;
use crate::quarantined::Quarantined;
use crate::shell::{self, Effects, Reading};
use crate::verdict::Phase;
use crate::verdict::failure::Failure;

/// What can be told of an event, readable or not: enough to answer in the right form and to write a log line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Header {
    /// When; `None` where neither the event nor the command line tells.
    pub phase: Option<Phase>,
    /// The client's own name for the moment.
    pub moment: Label,
    /// The tool's name.
    pub tool: Label,
    /// The session, as the client names it.
    pub session: Label,
}

/// An event that cannot be judged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unread {
    /// What can be told of it.
    pub header: Header,
    /// What is wrong with it.
    pub failure: Failure,
}

/// An event as a client sent it: where it happens and what its shell text does is not known yet.
#[derive(Debug)]
pub struct Message<'a> {
    /// When.
    pub phase: Phase,
    /// What a log line needs.
    pub header: Header,
    /// The tool's name as it came.
    pub tool: Quarantined<String>,
    /// What the tool does.
    pub action: Action,
    /// The tool's result as it came: JSON text, unread.
    pub result: Option<Quarantined<&'a [u8]>>,
    /// The working directory.
    pub cwd: String,
    /// What is wrong with the event although its subject is known.
    pub flaw: Option<Failure>,
}

impl<'a> Message<'a> {
    /// Builds the event: resolves where it happens, and parses its shell text once.
    pub fn locate(self, home: Option<String>, project: Option<String>) -> Event<'a> {
        let Message { phase, header, tool, action, result, cwd, flaw } = self;
        let place = Place { cwd, home, project };
        let shell = ShellText::parse(&action, &place);
        Event { phase, header, tool, action, result, place, facts: Facts::default(), flaw, shell }
    }
}

/// Shell text of a call, parsed.
#[derive(Debug)]
pub struct ShellText {
    /// The commands that it runs.
    pub reading: Reading,
    /// What they do to files, variables and the network.
    pub effects: Effects,
}

impl ShellText {
    fn parse(action: &Action, place: &Place) -> Option<ShellText> {
        let Action::Shell { command: Some(command), dialect } = action else { return None };
        let text = command.inspect("what it would run");
        let reading = match dialect {
            Dialect::Bash => shell::read(text, place),
            Dialect::PowerShell => shell::powershell::read(text, place),
        };
        let effects = reading.effects();
        Some(ShellText { reading, effects })
    }
}

/// One event, with everything that judging it needs. It is not changed once it is complete.
#[derive(Debug)]
pub struct Event<'a> {
    /// When.
    pub phase: Phase,
    /// What a log line needs.
    pub header: Header,
    /// The tool's name as it came.
    pub tool: Quarantined<String>,
    /// What the tool does.
    pub action: Action,
    /// The tool's result as it came: JSON text, unread.
    pub result: Option<Quarantined<&'a [u8]>>,
    /// Where.
    pub place: Place,
    /// What the runtime looked up.
    pub facts: Facts,
    /// What is wrong with the event although its subject is known.
    pub flaw: Option<Failure>,
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
    /// The shell text of the call; `None` where there is none.
    pub fn shell(&self) -> Option<&ShellText> {
        self.shell.as_ref()
    }

    /// How the call stands to what a person has approved; silent where it is no call of an MCP tool, or nobody looked.
    pub fn standing(&self, pins: Pins) -> Standing {
        let (Action::Mcp { input, .. }, Some(lookup), true) = (&self.action, &self.facts.pins, pins != Pins::Off)
        else {
            return Standing::Silent;
        };
        lookup.standing(pins, input.inspect("do the arguments fit the approved schema"))
    }
}
