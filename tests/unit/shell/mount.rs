//! Unit tests of `src/shell/mount.rs`.

use super::*;
use crate::programs;

fn mounts(volumes: &[&str], binds: &[&str]) -> Vec<Mount> {
    let volumes = volumes.iter().filter_map(|value| Bind::from_volume(&Arg::literal(*value)));
    let binds = binds.iter().filter_map(|value| Bind::from_mount(&Arg::literal(*value)));
    volumes.chain(binds).filter_map(|bind| bind.resolve(Some("/p"))).collect()
}

fn hosted(mounts: &[Mount], path: &str, recursive: bool) -> (Vec<String>, bool) {
    let found = map_to_host(mounts, &Target::of(&Arg::literal(path), None), recursive);
    (found.targets.into_iter().map(|target| target.text).collect(), found.contained)
}

#[test]
fn the_innermost_mount_is_the_one_that_is_seen() {
    let mounts = mounts(&["/data:/h", "./x:/h/x/"], &[]);
    for (path, recursive, targets, contained) in [
        ("/h", false, vec!["/data"], false),
        ("/h/a/b", false, vec!["/data/a/b"], false),
        ("/h/x/y", false, vec!["/p/x/y"], false),
        ("/hx", false, vec![], true),
        ("/", false, vec![], true),
        ("/", true, vec!["/data", "/p/x"], true),
        ("/h", true, vec!["/data", "/p/x"], false),
        ("/*/a", false, vec!["/data/a"], true),
    ] {
        let targets: Vec<String> = targets.into_iter().map(str::to_owned).collect();
        assert_eq!(hosted(&mounts, path, recursive), (targets, contained), "{path}");
    }
}

#[test]
fn a_word_may_be_resolved_above_a_mount() {
    let mounts = mounts(&["/data:/a/h"], &[]);
    for (path, recursive, targets) in [
        ("/p/h/x", false, vec!["/data/x"]),
        ("/p/a/h/x", false, vec!["/data/x"]),
        ("/p/a", false, vec![]),
        ("/p/a", true, vec!["/data"]),
        ("/p", true, vec![]),
        ("/p/x/h", false, vec![]),
    ] {
        assert_eq!(
            hosted(&mounts, path, recursive),
            (targets.into_iter().map(str::to_owned).collect(), true),
            "{path}"
        );
    }
}

#[test]
fn what_is_unknown_of_a_mount_is_open() {
    let unknown = |text: &str, known: usize| Arg { text: text.into(), known: Some(known), glob: false };
    for (volume, source, open) in [
        (unknown("$x:/h", 0), None, true),
        (unknown("/data:$t", 6), Some("/data"), true),
        (unknown("/data:/h$t", 8), Some("/data"), true),
        (unknown("$volume", 0), None, true),
    ] {
        let mount = Bind::from_volume(&volume).and_then(|bind| bind.resolve(Some("/p"))).unwrap();
        let found = map_to_host(&[mount], &Target::of(&Arg::literal("/h/x"), None), false).targets;
        let found: Vec<_> =
            found.iter().map(|target| (target.path.as_ref().map(AbsPath::to_string), target.open)).collect();
        assert_eq!(found, [(source.map(str::to_owned), open)], "{}", volume.text);
    }
}

#[test]
fn a_verb_stands_behind_options_that_may_take_a_value() {
    for (line, expected) in [
        ("docker --tlscacert x run a", "run"),
        ("docker --unknown x container cp a", "cp"),
        ("docker compose --progress plain exec a", "exec"),
        ("docker-compose -f x run a", "run"),
        ("docker buildx build a", "build"),
        ("docker ps run", "ps"),
        ("docker start run", "start"),
    ] {
        let words: Vec<&str> = line.split(' ').collect();
        let (program, words) = words.split_first().unwrap();
        assert_eq!(programs::parse(programs::embedded(program).unwrap(), words).verb(), expected, "{line}");
    }
}

#[test]
fn options_in_any_order_name_the_same_mount() {
    for value in [
        "type=bind,source=/data,target=/h",
        "dst=/h,src=/data,type=bind",
        "type=bind,Source=/data,destination=/h,bind-propagation=rslave",
        "\"type=bind\",\"src=/data\",\"dst=/h\"",
        "readonly=false,src=/data,dst=/h",
        "readonly=False,src=/data,dst=/h",
        "ro=f,src=/data,dst=/h",
        "ro,src=/data,dst=/h,readonly=0",
        "volume-opt=device=/data,source=x,dst=/h",
        "type=volume,dst=/h,volume-opt=type=none,volume-opt=device=/data,volume-opt=o=bind",
    ] {
        assert_eq!(hosted(&mounts(&[], &[value]), "/h/a", false).0, ["/data/a"], "{value}");
    }
    for value in ["type=bind,src=/data,dst=/h,readonly", "ro,src=/data,dst=/h", "src=data,dst=/h", "type=tmpfs,dst=/h"]
    {
        assert_eq!(hosted(&mounts(&[], &[value]), "/h/a", false).0, [""; 0], "{value}");
    }
    for value in ["=/data:/h", "/data:/h:z", "/data:/h/", "/data:/h:ro,rw"] {
        assert_eq!(hosted(&mounts(&[value], &[]), "/h/a", false).0, ["/data/a"], "{value}");
    }
    for value in ["data:/h", "/h", "/data:/h:ro", "/data:/h:z,ro", "/data:/h:rw,ro"] {
        assert_eq!(hosted(&mounts(&[value], &[]), "/h/a", false).0, [""; 0], "{value}");
    }
}
