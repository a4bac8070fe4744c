//! The cmdlets that have an equivalent program, from `rules/cmdlets.toml`.

/// A cmdlet: its names, its positional parameters, and the words that it becomes. In these words `name` is replaced by
/// the values of a parameter, `name:-x` by an option with each value, and `name?-x` by an option if the switch is given.
/// `dropped` lists parameters whose values are ignored.
pub(super) struct Cmdlet {
    pub names: &'static str,
    pub positions: &'static str,
    pub becomes: &'static str,
    pub dropped: &'static str,
}

// `CMDLETS`.
include!(concat!(env!("OUT_DIR"), "/cmdlets.rs"));

/// Parameters of every cmdlet that take a value.
pub(super) const COMMON: &str = "erroraction ea warningaction wa informationaction errorvariable ev outvariable ov \
    warningvariable outbuffer pipelinevariable progressaction";

/// Aliases of cmdlets on Windows that are programs on other systems.
pub(super) const UNIX: &str = "rm rmdir cp mv cat ls dir curl wget kill ps tee echo sleep sort diff mkdir";

/// Whether a list of words contains a word.
pub(super) fn has_word(list: &str, name: &str) -> bool {
    list.split(' ').any(|known| known == name)
}
