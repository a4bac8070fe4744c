//! Words by which it is guessed what programs and code do that the catalogue does not describe, from `rules/words.toml`.

// `OUTPUT_OPTIONS`, `OUTPUT_PARTS`, `COMMAND_PARTS` and `TEXT_CALLS`.
include!(concat!(env!("OUT_DIR"), "/words.rs"));
