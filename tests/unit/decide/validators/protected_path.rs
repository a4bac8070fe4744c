//! Unit tests of `src/decide/validators/protected_path.rs`.

use super::*;
use crate::path::Place;

#[test]
fn env_files_are_secret_and_their_examples_are_not() {
    for (name, expected) in [
        (".env", true),
        (".ENV", true),
        (".env.production", true),
        (".env.local", true),
        (".envrc", true),
        (".env*", true),
        (".env.example", false),
        (".env.local.example", false),
        (".environment", false),
        ("environment.ts", false),
    ] {
        assert_eq!(is_env_file(&AbsPath::resolve(name, &Place::default())), expected, "{name}");
    }
}
