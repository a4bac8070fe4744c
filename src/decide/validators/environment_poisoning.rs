//! Environment variables that change which code other programs run.

mod harmless;

use super::{Context, block, suspicious};
use crate::decide::subject::{Subject, SubjectKind};
use crate::path::zones::Area;
use crate::path::{AbsPath, Extent, Place, globs, touches};
use crate::rules::{Match, Tier};
use harmless::is_harmless_value;

/// Variables that can make a program load or run other code, or talk to another server.
const DANGEROUS: [&str; 150] = [
    "ANSIBLE_CONFIG", "ANTHROPIC_BASE_URL", "AWS_CONFIG_FILE", "BASHOPTS", "BASH_ALIASES", "BASH_CMDS", "BASH_ENV",
    "BASH_FUNC", "BROWSER", "BUNDLE_GEMFILE", "CARGO_BUILD_RUSTC", "CARGO_BUILD_RUSTC_WRAPPER",
    "CARGO_BUILD_RUSTFLAGS", "CARGO_ENCODED_RUSTFLAGS", "CARGO_HOME", "CC", "CDPATH", "CLASSPATH", "CLAUDE_CONFIG_DIR",
    "CMAKE_CXX_COMPILER_LAUNCHER", "CMAKE_C_COMPILER_LAUNCHER", "COMPILER_PATH", "COMPOSER_HOME", "COMSPEC",
    "CURL_HOME", "CXX", "DOCKER_HOST", "DOTNET_STARTUP_HOOKS", "EDITOR", "ELIXIR_ERL_OPTIONS", "ENV", "ERL_AFLAGS",
    "ERL_FLAGS", "ERL_ZFLAGS", "EXINIT", "FCEDIT", "FZF_DEFAULT_COMMAND", "FZF_DEFAULT_OPTS", "GCC_EXEC_PREFIX",
    "GCONV_PATH", "GEM_HOME", "GEM_PATH", "GIT_ASKPASS", "GIT_COMMON_DIR", "GIT_CONFIG", "GIT_CONFIG_COUNT",
    "GIT_CONFIG_GLOBAL", "GIT_CONFIG_NOSYSTEM", "GIT_CONFIG_PARAMETERS", "GIT_CONFIG_SYSTEM", "GIT_DIR", "GIT_EDITOR",
    "GIT_EXEC_PATH", "GIT_EXTERNAL_DIFF", "GIT_OBJECT_DIRECTORY", "GIT_PAGER", "GIT_PROXY_COMMAND",
    "GIT_SEQUENCE_EDITOR", "GIT_SSH", "GIT_SSH_COMMAND", "GIT_SSL_NO_VERIFY", "GIT_TEMPLATE_DIR", "GIT_WORK_TREE",
    "GNUMAKEFLAGS", "GOENV", "GOFLAGS", "GOINSECURE", "GOPROXY", "GOTOOLCHAIN", "GOVCS", "GRADLE_OPTS", "HGRCPATH",
    "HOME", "INPUTRC", "JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "KUBECONFIG", "LESSCLOSE", "LESSOPEN", "LIBRARY_PATH",
    "LOCPATH", "LUA_CPATH", "LUA_INIT", "LUA_PATH", "MAKEFILES", "MAKEFLAGS", "MANPAGER", "MAVEN_OPTS", "MFLAGS",
    "NODE_EXTRA_CA_CERTS", "NODE_PATH", "NODE_REPL_EXTERNAL_MODULE", "NODE_TLS_REJECT_UNAUTHORIZED",
    "NPM_CONFIG_GLOBALCONFIG", "NPM_CONFIG_NODE_OPTIONS", "NPM_CONFIG_USERCONFIG", "OPENAI_BASE_URL", "OPENSSL_CONF",
    "OPENSSL_MODULES", "PAGER", "PERL5DB", "PERL5LIB", "PERL5OPT", "PERLLIB", "PHPRC", "PHP_INI_SCAN_DIR",
    "PIP_CONFIG_FILE", "PIP_EXTRA_INDEX_URL", "PIP_INDEX_URL", "PIP_TRUSTED_HOST", "PROMPT_COMMAND", "PS0", "PS1",
    "PS4", "PYTEST_PLUGINS", "PYTHONBREAKPOINT", "PYTHONHOME", "PYTHONINSPECT", "PYTHONSTARTUP", "PYTHONUSERBASE",
    "RIPGREP_CONFIG_PATH", "RUBYLIB", "RUBYOPT", "RUBYSHELL", "RUSTC", "RUSTC_WORKSPACE_WRAPPER", "RUSTC_WRAPPER",
    "RUSTDOC", "RUSTDOCFLAGS", "RUSTFLAGS", "SBT_OPTS", "SHELL", "SHELLOPTS", "SSH_ASKPASS", "SSLKEYLOGFILE",
    "SUDO_ASKPASS", "SVN_SSH", "TAR_OPTIONS", "TCLLIBPATH", "TERMINFO", "UV_DEFAULT_INDEX", "UV_EXTRA_INDEX_URL",
    "UV_INDEX_URL", "VIMINIT", "VISUAL", "WGETRC", "XDG_CONFIG_HOME", "YARN_RC_FILENAME", "ZDOTDIR", "_JAVA_OPTIONS",
];

fn is_dangerous(name: &str) -> bool {
    // rustfmt would put each name of the table on a line of its own if this long one were among them.
    name == "GIT_ALTERNATE_OBJECT_DIRECTORIES" || DANGEROUS.contains(&name)
}

/// Values that only switch a feature on or off.
const SWITCHES: [&str; 7] = ["", ":", "0", "1", "true", "false", "none"];

/// Values that are ordinary pagers, editors and compilers.
const ORDINARY_PROGRAMS: [&str; 15] = [
    "cat", "less", "more", "less -R", "less -FRX", "vi", "vim", "nvim", "nano", "emacs", "code", "code --wait", "gcc",
    "clang", "cc",
];

/// Variables whose value is always the name of a file or directory.
const FILE_VARIABLES: [&str; 14] = [
    "BASH_ENV", "CLASSPATH", "ENV", "GIT_TEMPLATE_DIR", "GIT_WORK_TREE", "INPUTRC", "LIBRARY_PATH", "MAKEFILES",
    "NODE_PATH", "PERL5LIB", "PYTHONSTARTUP", "RUBYLIB", "RUSTC", "ZDOTDIR",
];

/// Whether a value is only a switch, or an ordinary program for a variable that names one.
fn is_switch(name: &str, value: &str) -> bool {
    let program_variables = ["PAGER", "EDITOR", "VISUAL", "BROWSER", "CC", "CXX", "ASKPASS", "FCEDIT"];
    if FILE_VARIABLES.contains(&name) {
        return value.is_empty() || value == "/dev/null";
    }
    let names_program = || program_variables.iter().any(|end| name.ends_with(end));
    SWITCHES.contains(&value) || ORDINARY_PROGRAMS.contains(&value) && names_program()
}

pub(super) fn find(subject: &Subject<'_>, context: &Context<'_>) -> Option<Match> {
    if !matches!(subject.kind, SubjectKind::Line) {
        return None;
    }
    let env = context.effects()?.env.iter();
    let matches = env.filter_map(|(name, value)| find_in_variable(name, value.as_deref(), context));
    matches.max_by_key(|matched| matched.tier == Tier::Block)
}

fn find_in_variable(name: &str, value: Option<&str>, context: &Context<'_>) -> Option<Match> {
    let certain = || block("it sets a variable that changes what other programs do");
    let possible = || suspicious("it sets a variable that can change what other programs do");
    let name = name.trim_end_matches('+');
    match name {
        "LD_PRELOAD" => certain(),
        // The project's own modules, and options of Node.js that load nothing.
        "PYTHONPATH" | "NODE_OPTIONS" if value.is_some_and(|value| is_ordinary(name, value, context)) => None,
        "PATH" if value.is_some_and(|value| is_ordinary(name, value, context)) => possible(),
        "PATH" | "PYTHONPATH" | "NODE_OPTIONS" => certain(),
        _ if name.starts_with("LD_") || name.starts_with("DYLD_") => possible(),
        _ if name.starts_with("CARGO_TARGET_") && (name.ends_with("_RUNNER") || name.ends_with("_LINKER")) => {
            possible()
        }
        _ if ["GIT_CONFIG_KEY", "GIT_CONFIG_VALUE", "BASH_FUNC"].iter().any(|start| name.starts_with(start)) => {
            possible()
        }
        _ if ["npm_config_script_shell", "npm_config_registry"].iter().any(|key| name.eq_ignore_ascii_case(key)) => {
            possible()
        }
        // The variable has this value already.
        "HOME" if value.is_some() && value == context.event.place.home.as_deref() => None,
        _ if is_dangerous(name)
            && !value.is_some_and(|value| is_switch(name, value) || is_harmless_value(name, value)) =>
        {
            possible()
        }
        _ => None,
    }
}

/// Whether a value consists of directories of the project or of installed tools, or of harmless options of Node.js.
fn is_ordinary(name: &str, value: &str, context: &Context<'_>) -> bool {
    if name == "NODE_OPTIONS" {
        let is_harmless = |option: &str| {
            let numeric = option
                .split_once('=')
                .is_some_and(|(key, size)| key.starts_with("--max") && size.bytes().all(|b| b.is_ascii_digit()));
            let harmless = [
                "--enable-source-maps", "--no-warnings", "--experimental-vm-modules", "--trace-warnings",
                "--openssl-legacy-provider", "--no-deprecation", "--experimental-strip-types", "--inspect",
            ];
            numeric || harmless.contains(&option)
        };
        return !value.is_empty() && value.split_whitespace().all(is_harmless);
    }
    let place = Place { cwd: context.event.place.cwd.clone(), home: context.event.place.home.clone(), project: None };
    !value.is_empty()
        && value.split(':').all(|part| {
            let path = AbsPath::resolve(part, &place);
            let tools = globs([
                "~/.cargo/bin", "~/.local/bin", "~/go/bin", "~/.bun/bin", "~/.deno/bin", "/usr/**", "/bin", "/sbin",
                "/opt/homebrew/**", "~/.nvm/**", "~/.pyenv/**",
            ]);
            let home = context.zones.home.as_ref();
            !part.is_empty()
                && (matches!(context.zones.area(&path), Area::InProject | Area::ProjectRoot)
                    || tools.iter().any(|tool| touches(*tool, &path, Extent::Exact, home)))
        })
}
