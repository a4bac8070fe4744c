//! Commands that write to a disk directly, or create a file system on it.

use super::{Context, block_if, command};
use crate::decide::subject::Subject;
use crate::programs::{code, roles};
use crate::rules::Match;
use crate::shell::{Act, Arg};

pub(super) fn find(subject: &Subject<'_>, _context: &Context<'_>) -> Option<Match> {
    if let Some(command) = command(subject) {
        let program = command.program.as_str();
        let is_listing =
            |arg: &Arg| matches!(arg.text.as_str(), "-l" | "--list" | "print" | "-V" | "--version" | "--help");
        // Letters by which `hdparm` prints or measures; what they are combined with may do more.
        let is_reading = |arg: &Arg| {
            let letters = arg.text.strip_prefix('-').unwrap_or("I");
            !letters.is_empty() && letters.chars().all(|letter| "IigtTCHv".contains(letter))
        };
        let reads = program == "hdparm"
            && command.args.iter().any(|arg| arg.text.starts_with('-'))
            && command.args.iter().all(|arg| arg.is_known() && is_reading(arg));
        let lists = command.args.iter().any(is_listing) || reads;
        let formats = program == "mkfs" || program.starts_with("mkfs.") || program.starts_with("newfs_");
        let erases = program == "diskutil"
            && command.args.iter().any(|arg| {
                arg.text.to_ascii_lowercase().starts_with("erase") || arg.text.eq_ignore_ascii_case("partitionDisk")
            });
        // An image is a file like any other: `mkfs.ext4 -F disk.img`.
        let operands = command.args.iter().filter(|arg| !arg.text.starts_with('-'));
        let is_image = |arg: &Arg| {
            arg.is_known()
                && [".img", ".iso", ".raw", ".ext4", ".vfat", ".qcow2"].iter().any(|end| arg.text.ends_with(end))
        };
        let has_device = command.args.iter().any(|arg| arg.text.contains("/dev/") || !arg.is_known());
        if !has_device && operands.clone().any(is_image) {
            return None;
        }
        let changes = formats || (code::lists(&roles::FILES_FORMATTERS, program) && !lists) || erases;
        return block_if(changes, "makes, changes or erases a file system");
    }
    let access = subject.file_access()?;
    let written = matches!(access.act, Act::Write | Act::Redirect | Act::Remove | Act::Move);
    let parts = access.target.path.as_ref()?.components();
    let is_disk = |name: &str| roles::FILES_DISKS.iter().any(|storage| name.starts_with(storage));
    let device = matches!(parts, [dev, name, ..] if dev == "dev" && is_disk(name));
    block_if(written && device, "")
}
