//! Unit tests of `src/decide/validators.rs`.

use super::*;

#[test]
fn every_file_in_this_folder_is_registered() {
    assert_eq!(ALL.map(|(name, _)| name), ValidatorId::names());
}
