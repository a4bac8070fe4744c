//! Looks up calls in the client's transcripts.
//!
//! A transcript holds what was typed and read, so only commands for people read it. Nothing is opened through a symlink
//! below the client's directory, so no other file can be passed off as a transcript.

use crate::runtime::environment::{Environment, now};
use rune::client::RecordedCall;
use rune::quarantined::{ContentSource, Origin, Quarantined};
use rustix::fs::{Dir, FileType, Mode, OFlags, fstat, open, openat};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::os::fd::OwnedFd;

/// A longer line of a transcript is skipped.
const MAX_LINE_BYTES: u64 = 64 << 20;

/// The longest id of a session or a call.
const MAX_ID_BYTES: usize = 128;

/// Whether an id has only letters, digits, `-` and `_`, so that it cannot lead out of a directory.
pub fn is_plain_id(id: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    (1..=MAX_ID_BYTES).contains(&id.len()) && id.bytes().all(is_plain)
}

/// The calls of a session with these ids, by id. A call that is recorded twice, with different inputs perhaps, has several
/// entries.
pub fn find(environment: &Environment, session: &str, ids: &BTreeSet<&str>) -> BTreeMap<String, Vec<RecordedCall>> {
    let mut found: BTreeMap<String, Vec<RecordedCall>> = BTreeMap::new();
    let Some(dir) = environment.client_dir.as_deref().filter(|_| is_plain_id(session)) else { return found };
    for pattern in environment.client.locations().transcripts {
        let pattern = pattern.replace("{session}", session);
        let segments: Vec<&str> = pattern.split('/').collect();
        let Ok(dir) = open(dir, DIRECTORY, Mode::empty()) else { continue };
        for_each_file(&dir, &segments, &mut |file| {
            for call in calls(file, environment).filter(|call| ids.contains(call.id.as_str()) && is_plain_id(&call.id))
            {
                found.entry(call.id.clone()).or_default().push(call);
            }
        });
    }
    found
}

/// The calls in a transcript, in order.
fn calls(file: File, environment: &Environment) -> impl Iterator<Item = RecordedCall> {
    let home = environment.home.as_ref().map(|home| home.to_string_lossy().into_owned());
    let client = environment.client;
    let mut lines = BufReader::with_capacity(256 << 10, file);
    let next = move || {
        let mut line = Vec::new();
        let count = lines.by_ref().take(MAX_LINE_BYTES).read_until(b'\n', &mut line).ok()?;
        if count as u64 == MAX_LINE_BYTES {
            lines.skip_until(b'\n').ok()?;
            line.clear();
        }
        (count > 0).then_some(line)
    };
    std::iter::from_fn(next).flat_map(move |line| {
        if !std::str::from_utf8(&line).is_ok_and(|text| text.contains("tool_use")) {
            return Vec::new();
        }
        let line = Quarantined::new(line, Origin::new(ContentSource::ModelOutput, "transcript", now()));
        client.recorded_calls(&line, home.as_deref())
    })
}

/// Opens a directory. The client's directory itself may be a symlink.
const DIRECTORY: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);

/// Opens a file without waiting for a writer of a pipe.
const FILE: OFlags = OFlags::RDONLY.union(OFlags::NONBLOCK).union(OFlags::CLOEXEC);

/// Calls a function for each regular file below `dir` whose names match the segments of a pattern, in the order of the names.
/// Symlinks are not followed. One file is open at a time, because there may be more than a process may open.
fn for_each_file(dir: &OwnedFd, segments: &[&str], read: &mut impl FnMut(File)) {
    let Some((pattern, below)) = segments.split_first() else { return };
    let flags = if below.is_empty() { FILE } else { DIRECTORY };
    for name in matching(dir, pattern) {
        let Ok(entry) = openat(dir, &name, flags | OFlags::NOFOLLOW, Mode::empty()) else { continue };
        let is_file =
            || fstat(&entry).is_ok_and(|found| FileType::from_raw_mode(found.st_mode) == FileType::RegularFile);
        if !below.is_empty() {
            for_each_file(&entry, below, read);
        } else if is_file() {
            read(File::from(entry));
        }
    }
}

/// The names in a directory that match `pattern`.
fn matching(dir: &OwnedFd, pattern: &str) -> BTreeSet<String> {
    let Some((start, end)) = pattern.split_once('*') else { return BTreeSet::from([pattern.to_owned()]) };
    let entries = Dir::read_from(dir).into_iter().flatten().flatten();
    let names = entries.filter_map(|entry| entry.file_name().to_str().ok().map(str::to_owned));
    let is_match = |name: &String| {
        let is_name = !matches!(name.as_str(), "." | "..");
        is_name && name.len() >= start.len() + end.len() && name.starts_with(start) && name.ends_with(end)
    };
    names.filter(is_match).collect()
}
