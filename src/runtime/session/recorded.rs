//! The state of a recorded session that is judged again: the same as on disk, in memory.

use super::SessionState;
use rune::encoding::label::Label;
use rune::event::Header;
use rune::event::memory::Memory;
use rune::event::taint::Taint;
use rune::verdict::{Heat, Note, Surface};
use std::cell::RefCell;
use std::collections::BTreeSet;

/// The files of one session, as the hook writes them, and what they say.
#[derive(Debug)]
pub struct RecordedSession {
    taint: RefCell<(String, Taint)>,
    memory: RefCell<(String, Memory)>,
    asked_programs: RefCell<Vec<String>>,
    seen_servers: RefCell<BTreeSet<String>>,
    time: RefCell<String>,
}

impl RecordedSession {
    /// A new session on a machine on which these servers were seen before.
    pub fn new(seen_servers: BTreeSet<String>) -> Self {
        // The salt keeps hashes on disk from being compared, and these never get there.
        let memory = Memory::new([0; 16]);
        RecordedSession {
            taint: RefCell::default(),
            memory: RefCell::new((String::new(), memory)),
            asked_programs: RefCell::default(),
            seen_servers: RefCell::new(seen_servers),
            time: RefCell::default(),
        }
    }

    /// Whether the session has read untrusted content.
    pub fn is_tainted(&self) -> bool {
        !self.taint.borrow().1.is_empty()
    }

    /// Sets the time of the current step, in RFC 3339.
    pub fn set_time(&self, time: &str) {
        time.clone_into(&mut self.time.borrow_mut());
    }
}

impl SessionState for RecordedSession {
    fn taint(&self, _: &Label) -> Result<Taint, String> {
        Ok(self.taint.borrow().1.clone())
    }

    fn memory(&self, _: &Label) -> Result<Memory, String> {
        Ok(self.memory.borrow().1.clone())
    }

    fn asked_programs(&self, _: &Label) -> Vec<String> {
        self.asked_programs.borrow().clone()
    }

    fn seen_servers(&self) -> BTreeSet<String> {
        self.seen_servers.borrow().clone()
    }

    fn add_taint(&self, header: &Header, surface: &Surface, heat: Heat) -> Result<(), String> {
        let (text, taint) = &mut *self.taint.borrow_mut();
        text.push_str(&Taint::line(&surface.source, &self.time.borrow(), &header.tool, heat));
        *taint = Taint::read(text);
        Ok(())
    }

    fn add_notes(&self, _: &Label, salt: &str, notes: &[Note]) -> Result<(), String> {
        if notes.is_empty() {
            return Ok(());
        }
        let (text, memory) = &mut *self.memory.borrow_mut();
        text.push_str(salt);
        text.extend(notes.iter().map(Note::line));
        *memory = Memory::read(text)?;
        Ok(())
    }

    fn add_asked_programs(&self, _: &Label, programs: &[&str]) -> Result<(), String> {
        self.asked_programs.borrow_mut().extend(programs.iter().map(|name| (*name).to_owned()));
        Ok(())
    }

    fn add_seen_servers(&self, fingerprints: &[String]) -> Result<(), String> {
        self.seen_servers.borrow_mut().extend(fingerprints.iter().cloned());
        Ok(())
    }
}
