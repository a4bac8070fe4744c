//! The cmdlets that have an equivalent program, from `rules/cmdlets.toml`.

/// A cmdlet. Its lists are separated by blanks; `rules/cmdlets.toml` describes them.
pub(super) struct Cmdlet {
    pub names: &'static str,
    pub positions: &'static str,
    pub becomes: &'static str,
    pub dropped: &'static str,
}

// `CMDLETS`: all cmdlets. `COMMON`: the parameters of every cmdlet that take a value. `UNIX`: aliases of cmdlets on Windows that
// are programs on other systems.
include!(concat!(env!("OUT_DIR"), "/cmdlets.rs"));

/// Whether a list of words contains a word.
pub(super) fn has_word(list: &str, name: &str) -> bool {
    list.split(' ').any(|known| known == name)
}
