//! A progress bar on stderr, if that is a terminal.

use std::io::{IsTerminal, Write};

const WIDTH: u64 = 40;

pub struct Progress {
    total: u64,
    done: u64,
    /// Steps that are drawn; `None` if nothing is.
    drawn: Option<u64>,
}

impl Progress {
    pub fn new(total: u64) -> Progress {
        Progress { total, done: 0, drawn: std::io::stderr().is_terminal().then_some(0) }
    }

    pub fn add(&mut self, bytes: u64) {
        self.done += bytes;
        let percent = (self.done * 100).checked_div(self.total).unwrap_or(100);
        if self.drawn.is_none_or(|drawn| drawn == percent) {
            return;
        }
        self.drawn = Some(percent);
        let full = (percent * WIDTH).div_ceil(100);
        let bar: String = (0..WIDTH).map(|at| if at < full { '#' } else { '.' }).collect();
        write!(std::io::stderr().lock(), "\r[{bar}] {percent:3} %").ok();
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if self.drawn.is_some_and(|drawn| drawn > 0) {
            // Erase the line (ECMA-48).
            write!(std::io::stderr().lock(), "\r\u{1b}[K").ok();
        }
    }
}
