//! Reads the client's transcripts: looks up calls, and reads whole sessions.
//!
//! A transcript holds what was typed and read, so only commands for people show its text. Nothing is opened through a
//! symlink below the client's directory or the directory that the user names, so no other file can be passed off as a
//! transcript.

use crate::runtime::environment::{Environment, now};
use rune::client::{Client, RecordedCall, RecordedLine, RecordedStep};
use rune::quarantined::{ContentSource, Origin, Quarantined};
use rustix::fs::{Dir, FileType, Mode, OFlags, fstat, open, openat};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::slice;
use std::time::SystemTime;

/// A longer line of a transcript is not read.
const MAX_LINE_BYTES: u64 = 64 << 20;

const BUFFER_BYTES: usize = 64 << 10;

/// Characters of a session's id that some clients put into the names of transcripts.
const SHORT_ID_CHARS: usize = 8;

/// The longest id of a session or a call.
const MAX_ID_BYTES: usize = 128;

/// The part of a pattern that stands for the session.
const SESSION: &str = "{session}";

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
        let pattern = pattern.replace(SESSION, session).replace("{start}", &start);
        for path in list(dir, &pattern.split('/').collect::<Vec<_>>()) {
            let Some(mut transcript) = path.open(environment) else { continue };
            let steps = std::iter::from_fn(|| transcript.next_line()).flat_map(|line| line.steps);
            for call in steps.filter_map(|step| if let RecordedStep::Call(call) = step { Some(call) } else { None }) {
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

/// The transcripts of one session: that of the session itself, and those of its subagents.
#[derive(Debug)]
pub struct SessionFiles {
    pub session: String,
    /// The size of all files.
    pub bytes: u64,
    /// When one of the files was last written.
    pub modified: SystemTime,
    paths: Vec<TranscriptPath>,
}

impl SessionFiles {
    /// Opens the transcripts of the session. Returns how many cannot be opened, too.
    pub fn open(&self, environment: &Environment) -> (RecordedLines, usize) {
        let opened: Vec<Transcript> = self.paths.iter().filter_map(|path| path.open(environment)).collect();
        let missing = self.paths.len() - opened.len();
        let files = opened.into_iter().map(|mut transcript| (transcript.next_line(), transcript)).collect();
        (RecordedLines { files }, missing)
    }
}

/// The lines of the transcripts of a session, in the order of their times.
pub struct RecordedLines {
    files: Vec<(Option<RecordedLine>, Transcript)>,
}

impl RecordedLines {
    /// How many lines were too long to be read.
    pub fn skipped(&self) -> usize {
        self.files.iter().map(|(_, transcript)| transcript.skipped).sum()
    }
}

impl Iterator for RecordedLines {
    type Item = RecordedLine;

    fn next(&mut self) -> Option<RecordedLine> {
        let waiting = self.files.iter_mut().filter(|(line, _)| line.is_some());
        let (line, transcript) = waiting.min_by(|(one, _), (other, _)| time_of(one).cmp(time_of(other)))?;
        std::mem::replace(line, transcript.next_line())
    }
}

fn time_of(line: &Option<RecordedLine>) -> &str {
    line.as_ref().map_or("", |line| line.time.as_str())
}

/// All sessions below these directories, each of which may be the client's directory or one below it, and those of single
/// transcripts. Returns what has no transcripts, too.
pub fn sessions(client: &dyn Client, roots: &[PathBuf]) -> (Vec<SessionFiles>, Vec<PathBuf>) {
    let mut found: BTreeMap<(PathBuf, String), Vec<TranscriptPath>> = BTreeMap::new();
    let mut empty = Vec::new();
    for root in roots {
        let below = below(client, root);
        if below.is_empty() {
            empty.push(root.clone());
        }
        for (session, path) in below {
            found.entry((path.project(&session), session)).or_default().push(path);
        }
    }
    let sessions = found.into_iter().map(|((_, session), mut paths)| {
        paths.sort_by(|one, other| one.names.cmp(&other.names));
        paths.dedup_by(|one, other| one.root == other.root && one.names == other.names);
        let found: Vec<_> = paths.iter().filter_map(|path| path.metadata()).collect();
        SessionFiles {
            session,
            bytes: found.iter().map(|(length, _)| length).sum(),
            modified: found.iter().map(|(_, modified)| *modified).max().unwrap_or(SystemTime::UNIX_EPOCH),
            paths,
        }
    });
    (sessions.collect(), empty)
}

/// The transcripts below a directory with the names of their sessions, or that of a file.
fn below(client: &dyn Client, root: &Path) -> Vec<(String, TranscriptPath)> {
    let patterns: Vec<Vec<&str>> =
        client.locations().transcripts.iter().map(|pattern| pattern.split('/').collect()).collect();
    let depth = patterns.iter().map(Vec::len).max().unwrap_or_default();
    let of = |root: &Path, pattern: &[&str], session: &str| {
        let names: Vec<String> = pattern.iter().map(|name| name.replace(SESSION, session)).collect();
        let paths = list(root, &names.iter().map(String::as_str).collect::<Vec<_>>());
        let named = move |path: TranscriptPath| Some((path.session(pattern)?, path));
        paths.into_iter().filter_map(named).collect::<Vec<_>>()
    };
    if root.is_file() {
        let (Some(folder), Some(session)) = (root.parent(), root.file_stem().and_then(|name| name.to_str())) else {
            return Vec::new();
        };
        let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
        // Below `*`, which is the folder.
        let patterns =
            patterns.iter().filter_map(|pattern| pattern.get(pattern.iter().position(|name| *name == "*")? + 1..));
        return patterns.flat_map(|pattern| of(folder, pattern, session)).collect();
    }
    // The client's own directory has names that do not depend on the session, and each directory below it one fewer.
    for cut in 0..depth {
        let patterns = patterns.iter().filter_map(|pattern| pattern.get(cut..)).filter(|pattern| !pattern.is_empty());
        let found: Vec<_> = patterns
            .filter(|pattern| pattern.concat().contains(SESSION))
            .flat_map(|pattern| of(root, pattern, "*"))
            .collect();
        if !found.is_empty() {
            return found;
        }
    }
    Vec::new()
}

/// A transcript below a directory.
#[derive(Clone, Debug)]
struct TranscriptPath {
    root: PathBuf,
    names: Vec<String>,
}

impl TranscriptPath {
    /// The session by the part of the pattern that stands for it.
    fn session(&self, pattern: &[&str]) -> Option<String> {
        let at = pattern.iter().position(|name| name.contains(SESSION))?;
        let (start, end) = pattern.get(at)?.split_once(SESSION)?;
        let session = self.names.get(at)?.strip_prefix(start)?.strip_suffix(end)?;
        is_plain_id(session).then(|| session.to_owned())
    }

    /// The directory that holds the transcripts of a project.
    fn project(&self, session: &str) -> PathBuf {
        let above = self.names.iter().take_while(|name| !name.starts_with(session));
        above.fold(self.root.clone(), |path, name| path.join(name))
    }

    fn file(&self) -> Option<File> {
        let flags = OFlags::RDONLY | OFlags::CLOEXEC;
        let mut dir = open(&self.root, flags | OFlags::DIRECTORY, Mode::empty()).ok()?;
        let (last, above) = self.names.split_last()?;
        for name in above {
            dir = openat(&dir, name, flags | OFlags::DIRECTORY | OFlags::NOFOLLOW, Mode::empty()).ok()?;
        }
        let file = openat(&dir, last, flags | OFlags::NONBLOCK | OFlags::NOFOLLOW, Mode::empty()).ok()?;
        let is_file = FileType::from_raw_mode(fstat(&file).ok()?.st_mode) == FileType::RegularFile;
        is_file.then(|| File::from(file))
    }

    fn metadata(&self) -> Option<(u64, SystemTime)> {
        let found = self.file()?.metadata().ok()?;
        Some((found.len(), found.modified().ok()?))
    }

    fn open(&self, environment: &Environment) -> Option<Transcript> {
        Some(Transcript {
            lines: BufReader::with_capacity(BUFFER_BYTES, self.file()?),
            client: environment.client,
            home: environment.home.as_ref().map(|home| home.to_string_lossy().into_owned()),
            skipped: 0,
        })
    }
}

/// An open transcript.
struct Transcript {
    lines: BufReader<File>,
    client: &'static dyn Client,
    home: Option<String>,
    /// Lines that were too long.
    skipped: usize,
}

impl Transcript {
    /// The next line that records something.
    fn next_line(&mut self) -> Option<RecordedLine> {
        let mut line = Vec::new();
        loop {
            line.clear();
            let count = self.lines.by_ref().take(MAX_LINE_BYTES).read_until(b'\n', &mut line).ok()?;
            if count == 0 {
                return None;
            }
            if count as u64 == MAX_LINE_BYTES && !line.ends_with(b"\n") {
                self.skipped += 1;
                self.lines.skip_until(b'\n').ok()?;
                continue;
            }
            let marks = self.client.locations().transcript_marks;
            let is_needed = |text: &str| marks.is_empty() || marks.iter().any(|mark| text.contains(mark));
            if !std::str::from_utf8(&line).is_ok_and(is_needed) {
                continue;
            }
            let sealed = std::mem::take(&mut line);
            let sealed = Quarantined::new(sealed, Origin::new(ContentSource::ModelOutput, "transcript", now()));
            let recorded = self.client.read_transcript(&sealed, self.home.as_deref());
            if !recorded.steps.is_empty() {
                return Some(recorded);
            }
        }
    }
}

/// The files below `root` whose names match the segments of a pattern. The root itself may be a symlink.
fn list(root: &Path, pattern: &[&str]) -> Vec<TranscriptPath> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let Some((last, above)) = pattern.split_last() else { return Vec::new() };
    let mut dirs: Vec<(Vec<String>, OwnedFd)> =
        open(root, flags, Mode::empty()).into_iter().map(|dir| (Vec::new(), dir)).collect();
    for segment in above {
        let open = |dir: &OwnedFd, name: &str| openat(dir, name, flags | OFlags::NOFOLLOW, Mode::empty()).ok();
        let below = |(names, dir): (Vec<String>, OwnedFd)| {
            let found = matching(&dir, segment).into_iter();
            found
                .filter_map(|name| Some(([names.as_slice(), slice::from_ref(&name)].concat(), open(&dir, &name)?)))
                .collect::<Vec<_>>()
        };
        dirs = dirs.into_iter().flat_map(below).collect();
    }
    let path =
        |names: &[String], name: String| TranscriptPath { root: root.to_owned(), names: [names, &[name]].concat() };
    dirs.iter().flat_map(|(names, dir)| matching(dir, last).into_iter().map(|name| path(names, name))).collect()
}

/// The names in a directory that match `pattern`, in order; a name without `*` need not exist.
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
