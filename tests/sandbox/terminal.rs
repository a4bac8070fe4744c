//! A person at a terminal.

use super::{Ran, Sandbox, left_by};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use std::fs::File;
use std::io::{Read, Write};

impl Sandbox {
    /// Runs `rune` at a terminal of its own, outside of any agent's session. Once `prompt` is shown, `answer` is told all
    /// that was, and says what is typed.
    pub fn run_at_terminal(&self, words: &[&str], prompt: &str, answer: impl FnOnce(&str) -> String) -> Ran {
        let terminal = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&terminal).unwrap();
        unlockpt(&terminal).unwrap();
        let name = ptsname(&terminal, Vec::new()).unwrap().into_string().unwrap();
        let mut terminal = File::from(terminal);
        let child = self.orphan(&format!("<{name} >{name} 2>&1"), words);
        let (mut shown, mut answer, mut bytes) = (String::new(), Some(answer), [0; 4096]);
        // It fails once nobody has the other end any more.
        while let Ok(count @ 1..) = terminal.read(&mut bytes) {
            shown.push_str(&String::from_utf8_lossy(&bytes[..count]));
            if shown.contains(prompt)
                && let Some(answer) = answer.take()
            {
                terminal.write_all(answer(&shown).as_bytes()).unwrap();
            }
        }
        assert!(answer.is_none(), "nobody was asked `{prompt}`: {shown}");
        Ran { stdout: shown, ..left_by(child) }
    }
}
