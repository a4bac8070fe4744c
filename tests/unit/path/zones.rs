//! Unit tests of `src/path/zones.rs`.

use super::*;

#[test]
fn every_path_has_one_area() {
    let root = Place::default();
    let at = |path: &str| AbsPath::resolve(path, &root);
    let zones = Zones { project: at("/home/u/code/p"), home: Some(at("/home/u")), work: Vec::new() };
    for (path, area) in [
        ("/", Area::Vital),
        ("/home", Area::Vital),
        ("/home/u", Area::Vital),
        ("/home/other", Area::Vital),
        ("/home/u/code", Area::Vital),
        ("/home/u/Documents", Area::Vital),
        ("/home/u/code/p", Area::ProjectRoot),
        ("/home/u/code/p/src", Area::InProject),
        ("/home/u/code/p2", Area::Other),
        ("/home/u/Documents/x", Area::Other),
        ("/etc", Area::Vital),
        ("/etc/nginx", Area::System),
        ("/usr/local", Area::Vital),
        ("/usr/local/x", Area::Other),
        ("/tmp", Area::TempRoot),
        ("/tmp/x", Area::InTemp),
        ("/dev/null", Area::Device),
        ("/dev/sda", Area::System),
        ("/data/x", Area::Other),
    ] {
        assert_eq!(zones.area(&at(path)), area, "{path}");
    }
    assert_eq!(zones.text(&at("/home/u/code/p/a/b")), "a/b");
    assert_eq!(zones.text(&at("/home/u/.ssh/id")), "~/.ssh/id");
    assert_eq!(zones.text(&at("/etc/x")), "/etc/x");
}
