//! Programs that run where nobody looks for one: by an option, a setting, or a line of code in another language.

use super::{Scene, command, suspicious};
use crate::rule::Found;
use crate::unit::Unit;

/// What such options are made for.
const EXPECTED: [&str; 20] = [
    "brotli", "bzip2", "cat", "gzip", "lbzip2", "less", "lz4", "lzma", "lzop", "more", "pbzip2", "pigz", "pxz",
    "pzstd", "ssh", "unzstd", "xz", "zstd", "zstdmt", "true",
];

/// How the reader writes down that code changes a file: it is judged as that.
const FILES: [&str; 3] = ["cp", "mv", "tee"];

pub(super) fn find(unit: &Unit<'_>, _scene: &Scene<'_>) -> Option<Found> {
    let command = command(unit)?;
    let program = command.program.as_str();
    let expected = EXPECTED.contains(&program) || FILES.contains(&program);
    (command.hidden && !expected)
        .then(|| suspicious("a program runs here by way of another one's option or code"))
        .flatten()
}
