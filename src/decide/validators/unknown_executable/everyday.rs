//! The programs that developers run all day, besides those on the operator's list.

/// Whether it is one of them.
pub(super) fn is_everyday(name: &str) -> bool {
    let first = name.bytes().next().filter(u8::is_ascii).map_or(127, usize::from);
    let place = STARTS.get(first).zip(STARTS.get(first + 1));
    let alike = place.and_then(|(start, end)| EVERYDAY.get(*start..*end)).unwrap_or_default();
    alike.binary_search(&name).is_ok()
}

/// Where the names begin that begin with a letter.
static STARTS: [usize; 129] = {
    let mut starts = [0; 129];
    let (mut at, mut letter) = (0, 0);
    while letter < starts.len() {
        #[expect(clippy::indexing_slicing, reason = "both bounds stand right here, and nothing else is const")]
        {
            while at < EVERYDAY.len() && (EVERYDAY[at].as_bytes()[0] as usize) < letter {
                at += 1;
            }
            starts[letter] = at;
        }
        letter += 1;
    }
    starts
};

/// In order, to be searched by halves.
const EVERYDAY: &[&str] = &[
    "7z", "R", "Rscript", "[", "ack", "act", "actionlint", "addr2line", "ag", "air", "alembic", "alex", "amm", "ant",
    "apply_patch", "apropos", "ar", "arch", "artisan", "astro", "asv", "attw", "autoconf", "automake", "autopep8",
    "ava", "awk", "b2sum", "babel", "bacon", "bandit", "base32", "base64", "basedpyright", "basename", "basenc",
    "bash", "bat", "bat-extras", "bats", "bazel", "bazelisk", "bc", "bear", "bfs", "biome", "bison", "black",
    "black-primer", "bloop", "brakeman", "brew", "btm", "buck2", "buf", "bun", "bundle", "bundler", "bunx", "bunzip2",
    "busybox", "bzcat", "bzgrep", "bzip2", "c++", "c++filt", "c8", "cabal", "cal", "cargo", "cargo-expand",
    "cargo-llvm-cov", "cargo-nextest", "cat", "cc", "ccache", "celery", "changeset", "cheat", "checkstyle", "chgrp",
    "chmod", "choose", "chown", "chromatic", "cksum", "clang", "clang++", "clang-check", "clang-format", "clang-query",
    "clang-tidy", "clangd", "clear", "clj", "cloc", "clojure", "cmake", "cmp", "code", "codespell", "col", "colordiff",
    "colrm", "column", "comm", "commitlint", "compiledb", "composer", "conan", "concurrently", "conda", "convert",
    "corepack", "coursier", "coverage", "cp", "cpio", "cpp", "cppcheck", "cpplint", "createdb", "cross", "cross-env",
    "crystal", "cs", "csc", "cspell", "csplit", "csvcut", "csvkit", "csvlook", "ctags", "ctest", "cucumber",
    "cucumber-js", "cue", "curl", "cut", "cypress", "dart", "dasel", "dash", "date", "dc", "dd", "deactivate", "degit",
    "delta", "deno", "depcheck", "deptrac", "detekt", "df", "dhall", "dialyzer", "diesel", "diff", "diff3", "diffstat",
    "difft", "difftastic", "dig", "dir", "dircolors", "direnv", "dirname", "distcc", "django-admin", "djlint", "dlv",
    "docker", "docker-compose", "dos2unix", "dot", "dotenv", "dotenv-cli", "dotnet", "doxygen", "drizzle-kit", "du",
    "duckdb", "duf", "dune", "dust", "dyff", "earthly", "eas", "echo", "ed", "egrep", "eleventy", "elixir", "elixirc",
    "elm", "elm-format", "elm-test", "emacs", "entr", "env", "env-cmd", "envsubst", "erb", "erl", "erlc", "esbuild",
    "escript", "eslint", "ex", "exa", "expand", "expo", "expr", "eza", "factor", "fake", "false", "fd", "fdfind",
    "ffmpeg", "ffprobe", "fgrep", "file", "find", "fish", "flake8", "flask", "flex", "flock", "flutter", "fmt", "fold",
    "foreman", "fossil", "fourmolu", "free", "fsharpc", "fsi", "fswatch", "fx", "fzf", "g++", "gatsby", "gawk", "gcc",
    "gcov", "gcov-tool", "gcovr", "gdb", "gem", "getconf", "getent", "getopt", "gfind", "gforth", "gh", "ghc", "ghci",
    "git", "git-cliff", "git-lfs", "glab", "glances", "gleam", "glow", "gmake", "gn", "go", "go-task", "gocyclo",
    "gofmt", "gofumpt", "goimports", "golangci-lint", "golint", "goose", "gopls", "gotestsum", "govulncheck", "gperf",
    "gradle", "gradlew", "graphql-codegen", "grep", "gron", "groovy", "groovysh", "groups", "gsed", "gtar", "gtest",
    "gtimeout", "guard", "guile", "gunicorn", "gunzip", "gzip", "hadolint", "hatch", "hatchling", "head", "hexdump",
    "hg", "hlint", "host", "hostid", "hostname", "hq", "htmlhint", "htmlq", "htop", "http", "http-server", "httpie",
    "https", "hub", "hugo", "husky", "hx", "hygen", "hyperfine", "icdiff", "iconv", "id", "identify", "iex",
    "import-linter", "include-what-you-use", "infection", "info", "install", "interrogate", "ioping", "iostat",
    "ipython", "irb", "isort", "iwyu_tool.py", "jaq", "jar", "jasmine", "java", "javac", "javap", "jdeps", "jekyll",
    "jest", "jj", "jlink", "jmap", "jo", "jobs", "join", "jps", "jq", "jsdoc", "jshell", "json-server", "jsonlint",
    "jsonnet", "jstack", "julia", "jupyter", "just", "karma", "kcl", "kill", "kill-port", "knex", "knip", "kotlin",
    "kotlinc", "kotlinc-jvm", "ktfmt", "ktlint", "ktor", "latexmk", "lazygit", "lcov", "ld", "ld.lld", "ldd", "lein",
    "lerna", "less", "lessc", "lex", "license-checker", "lighthouse", "lint-imports", "lint-staged", "lld", "lldb",
    "llvm-cov", "llvm-nm", "llvm-objdump", "llvm-profdata", "llvm-readelf", "ln", "locale", "locate", "locust",
    "logger", "logname", "look", "ls", "lsblk", "lscpu", "lsd", "lsof", "lua", "lz4", "m4", "madge", "magick", "make",
    "mamba", "man", "markdownlint", "markdownlint-cli", "markdownlint-cli2", "mask", "mawk", "md5", "md5sum", "mdbook",
    "mdcat", "memray", "meson", "micro", "microbundle", "migrate", "mill", "mise", "mix", "mkdir", "mkdocs", "mkfifo",
    "mktemp", "mlr", "mocha", "mockgen", "mold", "mongosh", "mono", "more", "msw", "mutmut", "mv", "mvn", "mvnw",
    "mypy", "mysql", "nano", "navi", "nawk", "ncc", "ncu", "nest", "netstat", "next", "next-sitemap", "nextest", "ng",
    "nice", "nim", "ninja", "ninja-build", "nl", "nm", "node", "nodemon", "nohup", "nosetests", "nox", "npm",
    "npm-check", "npm-check-updates", "nproc", "npx", "nslookup", "nuget", "numfmt", "nuxt", "nvim", "nvm", "nx",
    "nyc", "objdump", "ocaml", "od", "opam", "open", "openapi-generator", "openapi-typescript", "openssl", "ormolu",
    "orval", "oxlint", "paket", "pandoc", "pants", "parallel", "parcel", "paste", "patch", "patch-package",
    "patchutils", "pathchk", "pbcopy", "pbpaste", "pdflatex", "pdftotext", "pdm", "perf", "perl", "perldoc", "pest",
    "pg_dump", "pg_format", "pg_isready", "pgformatter", "pgrep", "phan", "php", "php-cs-fixer", "phpcs", "phpstan",
    "phpunit", "pico", "ping", "pinky", "pint", "pip", "pip-audit", "pip-compile", "pip-sync", "pip3", "pipenv",
    "pipx", "pkg-config", "pkill", "plantuml", "playwright", "please", "plop", "pnpm", "pnpx", "poetry", "postcss",
    "pr", "pre-commit", "prettier", "printenv", "printf", "prisma", "procs", "protoc", "prove", "ps", "psalm", "psql",
    "pstree", "ptw", "ptx", "publint", "puma", "purs", "pv", "pwd", "py-spy", "py.test", "pycodestyle", "pydoc",
    "pydoc3", "pydocstyle", "pyenv", "pyflakes", "pylint", "pylsp", "pyre", "pyright", "pytest", "pytest-watch",
    "python", "python2", "python3", "qmake", "racket", "rackup", "radon", "rails", "rake", "ranlib", "readelf",
    "readlink", "realpath", "rebar", "rebar3", "rector", "redis-cli", "redo", "release-it", "remake", "remark",
    "rename", "rev", "revive", "rg", "rga", "rimraf", "ripgrep_all", "rls", "rm", "rmdir", "rollup", "rspec", "rsync",
    "rubocop", "ruby", "ruff", "ruff-lsp", "run-clang-tidy", "rune", "runhaskell", "rush", "rust-analyzer", "rustc",
    "rustc-demangle", "rustfmt", "rustup", "rvm", "rye", "safety", "samu", "sass", "say", "sbcl", "sbt", "sbtn",
    "scala", "scala-cli", "scalac", "scalafmt", "scalene", "scc", "sccache", "scons", "scp", "screen", "script", "sd",
    "sdiff", "sdk", "sed", "semantic-release", "seq", "sequelize", "serve", "sh", "sha1sum", "sha224sum", "sha256sum",
    "sha384sum", "sha512sum", "shasum", "shellcheck", "shfmt", "shuf", "shx", "sidekiq", "size", "size-limit", "sleep",
    "snakeviz", "solargraph", "sorbet", "sort", "sort-package-json", "spago", "sphinx-build", "split", "sponge",
    "sqlc", "sqlfluff", "sqlformat", "sqlite", "sqlite3", "sqlx", "srb", "ss", "stack", "starship",
    "start-server-and-test", "stat", "staticcheck", "stdbuf", "storybook", "strace", "stringer", "strings", "strip",
    "stty", "stylelint", "stylish-haskell", "sum", "svelte-check", "sveltekit", "svgo", "svn", "sw_vers", "swc",
    "swift", "swiftc", "swiftformat", "swiftlint", "swipl", "symfony", "sync", "syncpack", "tac", "tach", "tail",
    "tailwindcss", "tap", "tar", "task", "tclsh", "tealdeer", "tee", "templ", "test", "testcafe", "tidy", "tig",
    "timeout", "tldr", "tmux", "tokei", "top", "touch", "tox", "tput", "tr", "tree", "true", "truncate", "trunk", "ts",
    "ts-jest", "ts-node", "tsc", "tsc-watch", "tsd", "tsort", "tsup", "tsx", "tty", "tup", "turbo", "twiggy", "twine",
    "ty", "type-coverage", "typedoc", "typeorm", "typescript-language-server", "typos", "tzselect", "uglifyjs",
    "ugrep", "ul", "uname", "unbuild", "unexpand", "uniq", "unix2dos", "unlink", "unrar", "unxz", "unzip", "uptime",
    "users", "uuidgen", "uv", "uvicorn", "uvu", "uvx", "vale", "valgrind", "vcpkg", "vdir", "vi", "view", "vim",
    "virtualenv", "vite", "vitest", "viztracer", "vmstat", "vue", "vue-cli-service", "vue-tsc", "vulture", "w", "waf",
    "wait-on", "wasm-bindgen", "wasm-objdump", "wasm-opt", "wasm-pack", "wasm2wat", "wasmtime", "wat2wasm", "watch",
    "watchexec", "watchman", "wc", "wdiff", "wdio", "webpack", "wget", "whatis", "whereis", "which", "who", "whoami",
    "wire", "xargs", "xcodebuild", "xdg-open", "xelatex", "xh", "xmllint", "xq", "xsltproc", "xsv", "xxd", "xz",
    "xzcat", "yacc", "yamllint", "yapf", "yarn", "ydiff", "yes", "yj", "yq", "zcat", "zdiff", "zellij", "zgrep", "zig",
    "zip", "zipinfo", "zless", "zmore", "zoxide", "zsh", "zstd", "zstdcat",
];

#[cfg(test)]
#[path = "../../../../tests/unit/decide/validators/unknown_executable/everyday.rs"]
mod tests;
