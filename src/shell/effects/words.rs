//! Words by which it is guessed what programs and code do that the catalogue does not describe, from `rules/words.toml`.

// The tables of `rules/words.toml`, named after their sections and keys.
include!(concat!(env!("OUT_DIR"), "/words.rs"));
