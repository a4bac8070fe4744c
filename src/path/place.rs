//! The directories of a call.

/// The directories against which the paths of a call are resolved.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// The working directory.
    pub cwd: String,
    /// The user's home directory, if known.
    pub home: Option<String>,
    /// The directory of the project; `None` if it is the working directory.
    pub project: Option<String>,
}
