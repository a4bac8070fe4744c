//! Programs by the part that they play for the rules, and settings of git, from `rules/roles.toml`.

use super::code::WordList;

// A static for each list, named after its table and its key, in order.
include!(concat!(env!("OUT_DIR"), "/roles.rs"));
