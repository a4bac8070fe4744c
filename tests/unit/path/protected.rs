use super::*;
use std::collections::BTreeSet;

/// Paths that patterns of all classes match or nearly match.
fn paths() -> impl Iterator<Item = AbsPath> {
    let globs = FILES.iter().flat_map(|files| files.files.iter().chain(files.except)).map(|glob| glob.as_str());
    let exact = |glob: &str| glob.replace("**", "a/b").replace('*', "Z").replace('?', "z");
    let texts = globs.step_by(4).enumerate().map(move |(at, glob)| {
        let (above, last) = glob.rsplit_once('/').unwrap_or_default();
        // A part of the patterns, each in one form: every path is compared with all patterns.
        match at % 5 {
            0 => format!("{above}/*{last}").replace("**", "a"),
            1 => format!("{above}/*").replace("**", "a"),
            2 => format!("**/{last}"),
            _ => exact(glob),
        }
    });
    texts.enumerate().map(|(at, text)| {
        let places = [
            "/home/user", "/Home/USER/proj", "/home/other", "/root", "", "/home/user/**", "/home/**", "/home/*",
            "/home/user/*", "/home/user/a/**", "/*/user", "/root/snap/x/1", "/h*/**/b",
        ];
        let place = places.get(at / 5 % places.len()).copied().unwrap_or_default();
        AbsPath::resolve_in(&format!("{place}/{}", text.trim_start_matches(['~', '/'])), "/", None)
    })
}

#[test]
fn the_index_by_first_name_finds_every_pattern_that_matches() {
    let home = AbsPath::resolve_in("/home/user", "/", None);
    for path in paths() {
        let places = Places::of(&path, Some(&home));
        for reach in [Extent::Exact, Extent::Tree] {
            for files in &FILES {
                let touches = |glob: &&Glob<'_>| files.touches(glob, &path, reach, Some(&home));
                let text = |glob: &Glob<'static>| glob.as_str();
                let expected: BTreeSet<&str> = files.files.iter().filter(touches).map(text).collect();
                let found: BTreeSet<&str> = files.candidates(&path, &places).filter(touches).map(text).collect();
                assert_eq!(found, expected, "{path:?}");
            }
        }
    }
}

#[test]
fn the_prefilter_hides_no_protected_file() {
    let home = AbsPath::resolve_in("/home/user", "/", None);
    for path in paths() {
        let places = Places::of(&path, Some(&home));
        for reach in [Extent::Exact, Extent::Tree] {
            let lookup = Lookup::new(&path, reach, Some(&home));
            for files in &FILES {
                assert_eq!(lookup.is_in(files.class), files.contains(&lookup, &places), "{path:?}");
            }
        }
    }
}
