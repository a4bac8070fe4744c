//! Words by which it is guessed what the catalogue does not describe, from `rules/words.toml`.

// A static for each list.
include!(concat!(env!("OUT_DIR"), "/words.rs"));
