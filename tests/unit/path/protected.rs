use super::*;

/// Paths that the patterns of all classes match or nearly match.
fn paths() -> impl Iterator<Item = AbsPath> {
    let globs = FILES.iter().flat_map(|files| files.files.iter().chain(files.except)).map(|glob| glob.as_str());
    let exact = |glob: &str| glob.replace("**", "a/b").replace('*', "Z").replace('?', "z");
    let texts = globs.flat_map(move |glob| {
        let (all_but_last, last) = glob.rsplit_once('/').unwrap_or_default();
        let wild = [format!("{all_but_last}/*{last}"), format!("{all_but_last}/*"), glob.replace("e", "?")];
        wild.into_iter().map(|text| text.replace("**", "a/b")).chain([exact(glob), format!("**/{last}")])
    });
    texts.flat_map(|text| {
        let below = text.trim_start_matches(['~', '/']).to_owned();
        let places = ["/home/user", "/Home/USER/proj", "/home/other", "/root", ""];
        places.map(|place| AbsPath::new(&format!("{place}/{below}")).unwrap())
    })
}

#[test]
fn the_index_by_first_name_finds_every_pattern_that_matches() {
    let home = AbsPath::new("/home/user");
    for path in paths() {
        for reach in [Extent::Exact, Extent::Tree] {
            let is_in = |(files, glob): &(&Files, &Glob<'_>)| files.contains(glob, &path, reach, home.as_ref());
            let all = FILES.iter().flat_map(|files| files.files.iter().map(move |glob| (files, glob)));
            let mut expected: Vec<&str> = all.filter(is_in).map(|(_, glob)| glob.as_str()).collect();
            let mut found: Vec<&str> = candidates(&path).filter(is_in).map(|(_, glob)| glob.as_str()).collect();
            expected.sort_unstable();
            expected.dedup();
            found.sort_unstable();
            found.dedup();
            assert_eq!(found, expected, "{path:?}");
        }
    }
}
