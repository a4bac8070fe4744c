//! Names in code of other languages and words of statements, from `rules/code.toml`.

/// What a function does, by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallEffect {
    /// Runs shell text, or a program with its arguments.
    Run,
    /// Runs a program with a list of arguments.
    Spawn,
    Delete,
    Write,
    /// Changes the mode of files.
    Rights,
    /// Reads, or writes if the mode says so.
    Open,
    Move,
    Copy,
    Fetch,
    /// Asks for the address of a host.
    Resolve,
    Send,
    Read,
    /// Runs something that its arguments do not determine.
    Unknown,
    /// Writes to the object that it is called on.
    WriteObject,
    /// Returns a function by its name.
    Lookup,
    /// Runs code of the same language.
    Code,
    /// Changes the working directory.
    Chdir,
    /// Removes data from a database.
    Lose,
}

// `CALLS`: functions with their effects. `BEHIND`: the modules of names that count only behind one of them. A static for each list
// of the tables `words`, `lines` and `statements`. All but the lines are in order.
include!(concat!(env!("OUT_DIR"), "/code.rs"));

/// Returns the effect of a function by the last component of its name.
pub fn effect_of(name: &str) -> Option<CallEffect> {
    let at = CALLS.binary_search_by(|(known, _)| (*known).cmp(name)).ok()?;
    CALLS.get(at).map(|(_, effect)| *effect)
}

/// The modules of which a name must be a part to count.
pub fn modules_of(name: &str) -> Option<&'static [&'static str]> {
    let at = BEHIND.binary_search_by(|(known, _)| (*known).cmp(name)).ok()?;
    BEHIND.get(at).map(|(_, modules)| *modules)
}

/// Whether a sorted list contains a word.
pub fn lists(list: &[&str], word: &str) -> bool {
    list.binary_search(&word).is_ok()
}
