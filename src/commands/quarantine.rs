//! `rune quarantine`: what untrusted content came in, and what to do about it.

pub mod clear;
pub mod notice;
pub mod status;
