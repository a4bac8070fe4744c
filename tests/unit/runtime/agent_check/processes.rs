//! Unit tests of `src/runtime/agent_check/processes.rs`.

use super::*;

#[cfg(target_os = "linux")]
#[test]
fn both_sources_agree_about_this_process() {
    let pid = std::process::id();
    let (one, other) = (from_proc(), from_ps());
    let (one, other) = (one.get(pid).unwrap(), other.get(pid).unwrap());
    assert_eq!((one.parent, one.uid, one.group), (other.parent, other.uid, other.group));
    assert_eq!(one.terminal, other.terminal);
    assert!(one.variables.iter().all(|name| other.variables.contains(name)), "{:?}", other.variables);
}

#[cfg(target_os = "linux")]
#[test]
fn only_the_initial_user_namespace_maps_all_ids_to_themselves() {
    assert!(is_initial("         0          0 4294967295\n"));
    for map in ["", "0 1000 1\n", "0 0 1\n", "0 100000 65536\n", "0 0 4294967295\n1 1 1\n", "1000 0 1\n"] {
        assert!(!is_initial(map), "{map}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_table_that_contradicts_system_calls_is_forged() {
    let pid = std::process::id();
    let own = from_proc().get(pid).unwrap().clone();
    assert_ne!(check_origin(&ProcessTable::new([own.clone()])), TableOrigin::Forged);
    let parent = own.parent.wrapping_add(1);
    for forged in [Process { parent, ..own.clone() }, Process { uid: 4711, ..own.clone() }, Process { pid: 0, ..own }] {
        assert_eq!(check_origin(&ProcessTable::new([forged])), TableOrigin::Forged);
    }
}

#[test]
fn devices_are_decoded_as_the_kernel_encodes_them() {
    assert_eq!(terminal_of_device(0), None);
    assert_eq!(terminal_of_device(34816), Some(Terminal::Pty(0)));
    assert_eq!(terminal_of_device(34816 + 5), Some(Terminal::Pty(5)));
    assert_eq!(terminal_of_device(34816 + (1 << 20) + 44), Some(Terminal::Pty(300)));
    assert_eq!(terminal_of_device(1025), Some(Terminal::Line(1025)));
    let names = [("ttys003", Some(Terminal::Pty(3))), ("pts/12", Some(Terminal::Pty(12))), ("??", None)];
    for (name, terminal) in names {
        assert_eq!(terminal_of_name(name), terminal, "{name}");
    }
    assert_eq!(terminal_of_name("console"), Some(Terminal::Line(0)));
}

#[cfg(target_os = "linux")]
#[test]
fn the_process_that_opened_a_terminal_is_its_holder() {
    use rustix::pty::{OpenptFlags, openpt, ptsname};
    let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    let name = ptsname(&master, Vec::new()).unwrap().into_string().unwrap();
    let number = name.rsplit('/').next().unwrap().parse().unwrap();
    let table = from_proc();
    // Processes that other tests are starting may hold a copy.
    assert!(table.holders(Terminal::Pty(number)).any(|process| process.pid == std::process::id()));
}
