//! Values of dangerous variables that are common in builds and harmless.

use crate::path::{AbsPath, Place};
use compact_str::CompactString;

/// Whether a value of a variable is known to be harmless.
pub(super) fn is_harmless_value(name: &str, value: &str) -> bool {
    match name {
        "RUSTFLAGS" | "RUSTDOCFLAGS" | "CARGO_BUILD_RUSTFLAGS" => are_harmless_rust_flags(value),
        "GOFLAGS" => value.split_whitespace().all(is_harmless_go_flag),
        "MAVEN_OPTS" | "GRADLE_OPTS" | "SBT_OPTS" | "JAVA_TOOL_OPTIONS" | "_JAVA_OPTIONS" | "JDK_JAVA_OPTIONS" => {
            value.split_whitespace().all(is_harmless_java_option)
        }
        "GOPROXY" => value
            .split([',', '|'])
            .all(|proxy| matches!(proxy, "direct" | "off" | "https://proxy.golang.org" | "https://goproxy.io")),
        "GOTOOLCHAIN" => value.bytes().all(|byte| byte.is_ascii_alphanumeric() || b".+".contains(&byte)),
        "RUSTC_WRAPPER" => value == "sccache",
        "CC" | "CXX" => !value.contains(['/', ' ']),
        "MAKEFLAGS" | "GNUMAKEFLAGS" | "MFLAGS" => value.split_whitespace().all(|flag| {
            let jobs = flag.strip_prefix("-j").or_else(|| flag.strip_prefix("--jobs="));
            let jobs = jobs.is_some_and(|jobs| jobs.bytes().all(|byte| byte.is_ascii_digit()));
            jobs || matches!(flag, "-k" | "-s" | "-B" | "--silent" | "--no-print-directory" | "--keep-going")
        }),
        "SHELL" => is_shell(value),
        "HOME" | "XDG_CONFIG_HOME" | "CARGO_HOME" => {
            value.starts_with(crate::shell::MKTEMP_PATH) && !value.contains("..")
        }
        "GIT_CONFIG_GLOBAL" | "GIT_CONFIG_SYSTEM" => value == "/dev/null",
        _ => false,
    }
}

/// Whether a value is the path of an installed shell.
fn is_shell(value: &str) -> bool {
    let path = AbsPath::resolve(value, &Place::default());
    let directories: [&[&str]; 4] = [&["bin"], &["usr", "bin"], &["usr", "local", "bin"], &["opt", "homebrew", "bin"]];
    let shells = ["ash", "bash", "dash", "fish", "ksh", "sh", "zsh"];
    let installed = directories
        .iter()
        .any(|directory| path.directories().iter().map(CompactString::as_str).eq(directory.iter().copied()));
    let shell = path.components().last().is_some_and(|name| shells.contains(&name.as_str()));
    value.starts_with('/') && !value.contains("..") && installed && shell
}

/// Whether flags of rustc neither link, load nor run other code.
fn are_harmless_rust_flags(value: &str) -> bool {
    let linkers = ["-fuse-ld=lld", "-fuse-ld=mold", "-fuse-ld=gold"];
    let value = linkers.iter().fold(value.to_owned(), |value, linker| value.replace(&format!("link-arg={linker}"), ""));
    let dangerous =
        ["linker", "runner", "link-arg", "link-self", "plugin", "load", "--extern", "backend", "-L", "/tmp", "@"];
    !dangerous.iter().any(|word| value.contains(word))
}

fn is_harmless_go_flag(flag: &str) -> bool {
    let name = flag.trim_start_matches('-').split('=').next().unwrap_or_default();
    let harmless = [
        "a", "asan", "buildvcs", "count", "cover", "covermode", "failfast", "json", "mod", "modcacherw", "msan", "p",
        "parallel", "race", "run", "short", "tags", "timeout", "trimpath", "v", "vet", "x",
    ];
    flag.starts_with('-') && harmless.contains(&name)
}

/// Whether an option of Java is a size, a switch, or a property that loads no class, file or agent.
fn is_harmless_java_option(option: &str) -> bool {
    let sized = ["-Xmx", "-Xms", "-Xss", "-Xmn"].iter().find_map(|name| option.strip_prefix(name));
    if let Some(size) = sized {
        return size.bytes().all(|byte| byte.is_ascii_alphanumeric());
    }
    if let Some(flag) = option.strip_prefix("-XX:") {
        let number = flag.split_once('=').is_some_and(|(name, value)| {
            !name.contains("On") && value.bytes().next().is_some_and(|byte| byte.is_ascii_digit())
        });
        return number || (flag.starts_with(['+', '-']) && !flag.contains('='));
    }
    let Some(property) = option.strip_prefix("-D") else {
        return matches!(option, "-ea" | "-da" | "-server" | "-client") || option.starts_with("--add-opens=");
    };
    let dangerous = ["agent", "class", "command", "exec", "ext", "init", "jvmargs", "plugin", "script"];
    !dangerous.iter().any(|word| property.to_ascii_lowercase().contains(word))
}
