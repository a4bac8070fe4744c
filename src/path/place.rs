//! The directories that relative paths and `~` are resolved in.

/// Where the call happens.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// The directory that relative paths start from.
    pub cwd: String,
    /// The user's home directory, where known.
    pub home: Option<String>,
    /// The directory of the project, where it is not the one of the call.
    pub project: Option<String>,
}
