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
use std::path::Path;

/// A longer line of a transcript is skipped.
const MAX_LINE_BYTES: u64 = 64 << 20;

/// Characters of a session's id that some clients put into the names of transcripts.
const SHORT_ID_CHARS: usize = 8;

/// The longest id of a session or a call.
const MAX_ID_BYTES: usize = 128;

/// Whether an id has only letters, digits, `-` and `_`, so that it cannot lead out of a directory.
pub fn is_plain_id(id: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    (1..=MAX_ID_BYTES).contains(&id.len()) && id.bytes().all(is_plain)
}

/// The calls of a session with these ids, by id; an empty id stands for all calls, which are those with an empty id then. A
/// call that is recorded twice, with different inputs perhaps, has several entries.
pub fn find(environment: &Environment, session: &str, ids: &BTreeSet<&str>) -> BTreeMap<String, Vec<RecordedCall>> {
    let mut found: BTreeMap<String, Vec<RecordedCall>> = BTreeMap::new();
    let Some(dir) = environment.client_dir.as_deref().filter(|_| is_plain_id(session)) else { return found };
    for pattern in environment.client.locations().transcripts {
        let start: String = session.chars().take(SHORT_ID_CHARS).collect();
        let pattern = pattern.replace("{session}", session).replace("{start}", &start);
        let segments: Vec<&str> = pattern.split('/').collect();
        for file in open_all(dir, &segments) {
            for call in calls(file, environment) {
                if is_plain_id(&call.id) && ids.contains(call.id.as_str()) {
                    found.entry(call.id.clone()).or_default().push(call);
                } else if ids.contains("") {
                    found.entry(String::new()).or_default().push(call);
                }
            }
        }
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
        if !std::str::from_utf8(&line).is_ok_and(|text| text.contains(client.locations().call_mark)) {
            return Vec::new();
        }
        let line = Quarantined::new(line, Origin::new(ContentSource::ModelOutput, "transcript", now()));
        client.recorded_calls(&line, home.as_deref())
    })
}

/// Opens the regular files below `dir` whose names match the segments of a pattern. The directory itself may be a symlink.
fn open_all(dir: &Path, segments: &[&str]) -> Vec<File> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let mut dirs: Vec<OwnedFd> = open(dir, flags, Mode::empty()).into_iter().collect();
    let Some((last, above)) = segments.split_last() else { return Vec::new() };
    for segment in above {
        dirs = dirs.iter().flat_map(|dir| open_matching(dir, segment, flags)).collect();
    }
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let files = dirs.iter().flat_map(|dir| open_matching(dir, last, flags));
    let is_file =
        |file: &OwnedFd| fstat(file).is_ok_and(|found| FileType::from_raw_mode(found.st_mode) == FileType::RegularFile);
    files.filter(is_file).map(File::from).collect()
}

/// Opens the entries of a directory that match `pattern`, without following symlinks, in the order of their names.
fn open_matching(dir: &OwnedFd, pattern: &str, flags: OFlags) -> Vec<OwnedFd> {
    let open = |name: &str| openat(dir, name, flags | OFlags::NOFOLLOW, Mode::empty()).ok();
    let Some((start, end)) = pattern.split_once('*') else { return open(pattern).into_iter().collect() };
    let entries = Dir::read_from(dir).into_iter().flatten().flatten();
    let names = entries.filter_map(|entry| entry.file_name().to_str().ok().map(str::to_owned));
    let is_match = |name: &String| {
        let is_name = !matches!(name.as_str(), "." | "..");
        is_name && name.len() >= start.len() + end.len() && name.starts_with(start) && name.ends_with(end)
    };
    let names: BTreeSet<String> = names.filter(is_match).collect();
    names.iter().filter_map(|name| open(name)).collect()
}
