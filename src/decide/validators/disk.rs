//! Disks: what writes past the file system, or makes a new one over the old.

use super::{Context, block, command};
use crate::decide::subject::Subject;
use crate::rules::Match;
use crate::shell::Act;

/// Programs that make or undo file systems and partitions.
const MAKERS: &[&str] = &[
    "badblocks", "blkdiscard", "cfdisk", "fdisk", "gdisk", "hdparm", "lvremove", "mke2fs", "mkswap", "newfs", "parted",
    "pvremove", "sfdisk", "sgdisk", "vgremove", "wipefs",
];

/// Devices under `/dev` that hold data.
const STORAGE: [&str; 12] = ["disk", "dm-", "hd", "loop", "mapper", "md", "mmcblk", "nvme", "rdisk", "sd", "vd", "xvd"];

pub(super) fn find(subject: &Subject<'_>, _context: &Context<'_>) -> Option<Match> {
    if let Some(command) = command(subject) {
        let program = command.program.as_str();
        let lists = command
            .args
            .iter()
            .any(|arg| matches!(arg.text.as_str(), "-l" | "--list" | "print" | "-V" | "--version" | "--help"));
        let makes = program == "mkfs" || program.starts_with("mkfs.") || program.starts_with("newfs_");
        let erases = program == "diskutil"
            && command.args.iter().any(|arg| {
                arg.text.to_ascii_lowercase().starts_with("erase") || arg.text.eq_ignore_ascii_case("partitionDisk")
            });
        let made = makes || (MAKERS.contains(&program) && !lists) || erases;
        return made.then(|| block("it makes, changes or erases a file system")).flatten();
    }
    let access = subject.file_access()?;
    let written = matches!(access.act, Act::Write | Act::Redirect | Act::Remove | Act::Move);
    let parts = access.target.path.as_ref()?.components();
    let device =
        matches!(parts, [dev, name, ..] if dev == "dev" && STORAGE.iter().any(|storage| name.starts_with(storage)));
    (written && device).then(|| block("it writes to a disk past its file system")).flatten()
}
