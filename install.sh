#!/usr/bin/env bash
# Builds rune or takes a built binary, installs it, registers it with Claude Code and shows three decisions; or removes it.
# It needs no terminal unless it loosens the guard, and can be run again at any time. Written for bash 3.2, which macOS has.
set -euo pipefail

# The public key that verifies the SHA256SUMS of releases. No option or variable replaces it, because an agent may have
# started this script.
release_key=MCowBQYDK2VwAyEAd9DMyP+GkZ9rSfqKMSX3ODlaojmjaWJKeklPg4c0UTQ=
max_binary_bytes=67108864
max_sums_bytes=65536
max_seconds_per_file=600

usage() {
  cat <<'USAGE'
Usage: ./install.sh [--binary FILE --sha256 HEX | --from URL [--sha256 HEX]]
                    [--update | --uninstall [--purge]] [--preset NAME]
                    [--prefix DIR] [--yes]

Without --binary and --from, rune is built from source.

  --binary FILE   install this binary, if it has the SHA-256 of --sha256
  --from URL      download the binary for this system from a release: URL is the
                  directory of its files, https only (http on loopback); needs
                  --sha256, or SHA256SUMS there with a valid SHA256SUMS.sig
  --sha256 HEX    the SHA-256 that the binary must have
  --preset NAME   gentle, strict, off, or a file of your own in presets/
                  (default: what is registered, else gentle)
  --prefix DIR    install below DIR (default: ~/.local)
  --update        bring newer defaults into your policy too; your edits stay,
                  and so does the preset
  --uninstall     remove hooks, binary, completions and man pages; your policy
                  and the log stay
  --purge         with --uninstall: remove your policy and the log too
  --yes           loosen the guard where stdin is not a terminal; a terminal is
                  needed all the same
  --help          print this text

Example: ./install.sh --preset strict
USAGE
}

fail() {
  printf 'install.sh: %s\n' "$1" >&2
  exit 1
}

is_sha256() {
  [ ${#1} -eq 64 ] && [ "${1#*[!0-9a-f]}" = "$1" ]
}

set_option() {
  [ -n "$2" ] || fail "$1 needs a value; see ./install.sh --help"
  case $1 in
    --preset) preset=$2 ;;
    --prefix) prefix=$2 ;;
    --binary) file=$2 ;;
    --from) from=$2 ;;
    --sha256) sha256=$2 ;;
  esac
}

verb=install
preset=
prefix=
purge=
yes=
file=
from=
sha256=
while [ $# -gt 0 ]; do
  case $1 in
    --preset | --prefix | --binary | --from | --sha256)
      [ $# -ge 2 ] || fail "$1 needs a value; see ./install.sh --help"
      set_option "$1" "$2"
      shift
      ;;
    --preset=* | --prefix=* | --binary=* | --from=* | --sha256=*) set_option "${1%%=*}" "${1#*=}" ;;
    --update | --uninstall)
      [ "$verb" = install ] || [ "$verb" = "${1#--}" ] || fail "--update and --uninstall are two things"
      verb=${1#--}
      ;;
    --purge) purge=1 ;;
    --yes) yes=1 ;;
    -h | --help) usage && exit 0 ;;
    *) fail "unknown option $1; see ./install.sh --help" ;;
  esac
  shift
done
[ -z "$purge" ] || [ "$verb" = uninstall ] || fail "--purge goes with --uninstall"
[ "$verb" != uninstall ] || [ -z "$file$from$sha256" ] || fail "--uninstall installs nothing"
[ -z "$file" ] || [ -z "$from" ] || fail "--binary and --from exclude each other"
[ -z "$file" ] || [ -n "$sha256" ] || fail "--binary needs --sha256"
[ -z "$sha256" ] || [ -n "$file$from" ] || fail "--sha256 goes with --binary or --from"
if [ -n "$sha256" ]; then
  sha256=$(printf '%s' "$sha256" | tr 'A-F' 'a-f')
  is_sha256 "$sha256" || fail "--sha256 needs 64 hexadecimal digits"
fi
[ -n "${HOME:-}" ] || fail "HOME is not set"
prefix=${prefix:-$HOME/.local}
case $prefix in
  /*) ;;
  *) prefix=$PWD/$prefix ;;
esac
case $file in
  '' | /*) ;;
  *) file=$PWD/$file ;;
esac
cd "$(dirname "${BASH_SOURCE[0]}")"

bin=$prefix/bin
rune=$bin/rune
man=$prefix/share/man/man1
bash_completion=$prefix/share/bash-completion/completions/rune
zsh_completion=$prefix/share/zsh/site-functions/_rune
fish_completion=$prefix/share/fish/vendor_completions.d/rune.fish
# Prints the first of two directories that is absolute, as the binary selects it.
absolute() {
  if [ "${1#/}" != "$1" ]; then printf '%s' "$1"; else printf '%s' "$2"; fi
}
config=$(absolute "${XDG_CONFIG_HOME:-}" "$HOME/.config")/rune
data=$(absolute "${XDG_DATA_HOME:-}" "$HOME/.local/share")/rune
state=$(absolute "${XDG_STATE_HOME:-}" "$HOME/.local/state")/rune
client=$(absolute "${CLAUDE_CONFIG_DIR:-}" "$HOME/.claude")
scratch=$(mktemp -d)
staged=
trap 'rm -rf "$scratch" ${staged:+"$staged"}' EXIT

# --- uninstalling

remove_program() {
  local name page dir
  "$rune" man --out "$scratch/man"
  for page in "$scratch"/man/*; do
    rm -f "$man/${page##*/}"
  done
  rm -f "$bash_completion" "$zsh_completion" "$fish_completion"
  for dir in "$man" "${bash_completion%/*}" "${zsh_completion%/*}" "${fish_completion%/*}"; do
    rmdir "$dir" "${dir%/*}" 2>/dev/null || true
  done
  for name in quarantine security-hook; do
    if [ "$(readlink "$bin/$name" || true)" = rune ]; then rm -f "$bin/$name"; fi
  done
  rm -f "$rune"
  printf 'removed %s, its completions and its man pages\n' "$rune"
}

purge_files() {
  rm -rf "$config" "$data" "$state"
  rm -f "$client/telemetry.jsonl" "$client/quarantine.d/trusted-mcp-allowlist.txt"
  rmdir "$client/quarantine.d" 2>/dev/null || true
  printf 'removed your policy, its data, the session files and the log\n'
}

left() {
  if [ -e "$1" ]; then printf '  %s: %s\n' "$1" "$2"; fi
}

uninstall() {
  local answer='' copy
  if [ ! -x "$rune" ]; then
    [ -z "$purge" ] || fail "there is no $rune to ask whether you are a person; remove $config, $data, $state and $client/telemetry.jsonl by hand"
    printf 'there is no %s\n' "$rune"
  else
    # The binary runs the person check before anything is removed.
    "$rune" hooks uninstall ${yes:+--yes} || fail "nothing was removed"
    remove_program
    if [ -n "$purge" ]; then purge_files; fi
  fi
  answer=$(
    left "$config" 'your policy; --purge removes it'
    left "$data" 'what your policy was made from, for the next update; --purge removes it'
    left "$state" 'what sessions have seen; --purge removes it'
    left "$client/telemetry.jsonl" 'the log; --purge removes it'
    left "$client/quarantine.d" 'the servers that you trust; --purge removes it'
    for copy in "$client"/settings.json.before-rune*; do
      left "$copy" 'your settings before the first change; you have changed them since, so it is yours to delete'
    done
    left "$PWD/target" 'what cargo has built; cargo clean removes it'
  )
  if [ -n "$answer" ]; then printf 'left behind:\n%s\n' "$answer"; fi
  cat <<'NOTE'
Not looked for: hooks that were registered with --scope project, local or managed, or as a plugin. Without the binary
they block; remove the entries that run rune from those settings.
NOTE
}

# --- installing

# Lists the guards that an installation may replace: at the prefix, at the default prefix, and registered.
guards() {
  {
    printf '%s\n' "$rune" "$HOME/.local/bin/rune"
    if [ -r "$client/settings.json" ]; then
      grep -o '"command" *: *"/[^"]*/rune' "$client/settings.json" | sed 's/^[^/]*//' || true
    fi
  } | LC_ALL=C sort -u
}

# Only a person at a terminal may replace a guard by another program. The installed guard runs the person check, never the
# new program, which may accept every process.
check_person() {
  local guard
  guards >"$scratch/guards"
  while IFS= read -r guard <&3; do
    if [ ! -e "$guard" ] || cmp -s "$1" "$guard"; then continue; fi
    case $("$guard" --version 2>/dev/null || true) in
      'rune '*) ;;
      *) fail "$guard does not run, so it cannot check whether you are a person; remove it yourself in a terminal, then run this again" ;;
    esac
    "$guard" person 'replacing the guard' || fail "nothing was replaced"
  done 3<"$scratch/guards"
}

put_in_place() {
  local binary=$1 name
  check_person "$binary"
  if ! cmp -s "$binary" "$rune"; then
    mkdir -p "$bin"
    staged=$(mktemp "$bin/.rune.XXXXXX")
    install -m 755 "$binary" "$staged"
    case $("$staged" --version || true) in
      'rune '*) ;;
      *) fail "the new binary does not run here; nothing was replaced" ;;
    esac
    mv -f "$staged" "$rune"
    staged=
  fi
  for name in quarantine security-hook; do
    if [ "$(readlink "$bin/$name" || true)" = rune ]; then
      :
    elif [ -e "$bin/$name" ] || [ -L "$bin/$name" ]; then
      printf 'install.sh: %s is not ours and stays as it is\n' "$bin/$name" >&2
    else
      ln -s rune "$bin/$name"
    fi
  done
  mkdir -p "$man" "${bash_completion%/*}" "${zsh_completion%/*}" "${fish_completion%/*}"
  # An agent may run this script, but not write man pages.
  "$rune" man --out "$man" || printf 'install.sh: the man pages stay as they are\n' >&2
  "$rune" completions bash >"$bash_completion"
  "$rune" completions zsh >"$zsh_completion"
  "$rune" completions fish >"$fish_completion"
  printf 'installed %s (%s), and the names quarantine and security-hook beside it\n' "$rune" "$("$rune" --version)"
  printf 'completions and man pages are in %s\n' "$prefix/share"
}

register() {
  local answer registered
  if [ "$verb" = update ]; then
    "$rune" policy update ${yes:+--yes}
  else
    "$rune" policy install
  fi

  # An update does not register hooks that were removed.
  registered=yes
  if [ "$verb" = update ] && [ -z "$preset" ]; then
    answer=$("$rune" hooks uninstall --dry-run)
    if [ "${answer#*@@ }" = "$answer" ]; then registered=; fi
  fi
  if [ -n "$registered" ]; then
    answer=$("$rune" hooks install ${preset:+--preset "$preset"} ${yes:+--yes}) || fail "${answer:-the hooks are not registered}"
    printf '%s\n' "$answer"
    preset=${preset:-$(printf '%s\n' "$answer" | sed -n 's/.*preset \([A-Za-z0-9-]*\).*/\1/p' | head -n 1)}
  else
    printf 'no hooks are registered, and an update registers none; %s hooks install does\n' "$rune"
  fi
  case :$PATH: in
    *:"$bin":*) ;;
    *) printf 'note: %s is not on your PATH\n' "$bin" ;;
  esac
}

# --- showing decisions

# Prints the answer to a command and the rule that gives it.
show() {
  local answer effect rule
  answer=$(cd "$scratch" && "$rune" explain --json -- "$1")
  effect=$(printf '%s' "$answer" | sed -n 's/.*"effect":"\([a-z]*\)","findings".*/\1/p')
  rule=$(printf '%s' "$answer" | sed -n 's/.*"findings":\[{"rule":"\([^"]*\)".*/ (\1)/p')
  printf '  %-7s %s%s\n' "$effect" "$1" "$rule"
}

show_decisions() {
  if [ "$preset" = off ]; then
    printf '\nThe guard is off.\n'
    return
  fi
  printf '\nThree decisions of the installed program (nothing is run):\n'
  show 'git status'
  show 'git push --force origin main'
  show 'rm -rf ~'
  "$rune" replay --since 30d --summary || :
  (cd "$HOME" && "$rune" hooks first-run)
  printf '  ./install.sh --uninstall             removes the hooks and the program\n'
}

# --- a binary that was built elsewhere

sha256_of() {
  {
    if command -v sha256sum >/dev/null; then
      sha256sum
    elif command -v shasum >/dev/null; then
      shasum -a 256
    else
      openssl dgst -sha256 -r
    fi
  } <"$1" | cut -d ' ' -f 1
}

# Prints the name that releases give to the binary for this system.
asset_name() {
  local system machine
  case $(uname -s) in
    Linux) system=linux ;;
    Darwin) system=macos ;;
    *) return 1 ;;
  esac
  case $(uname -m) in
    x86_64 | amd64) machine=x86_64 ;;
    aarch64 | arm64) machine=aarch64 ;;
    *) return 1 ;;
  esac
  printf 'rune-%s-%s\n' "$system" "$machine"
}

# Sets the scheme of the download. Plain http is accepted on loopback only, for tests and tunnels.
check_url() {
  local host
  case $from in
    *[!][A-Za-z0-9:/._~%+-]*) fail "--from takes a plain address without user name, query and fragment" ;;
    https://?*) scheme=https ;;
    http://?*)
      scheme=http
      host=${from#http://}
      host=${host%%/*}
      case $host in
        127.0.0.1 | localhost | '[::1]') ;;
        127.0.0.1:* | localhost:* | '[::1]:'*)
          case ${host##*:} in '' | *[!0-9]*) fail "--from has an invalid port" ;; esac
          ;;
        *) fail "--from takes http only from 127.0.0.1, [::1] and localhost; use https" ;;
      esac
      ;;
    *) fail "--from takes an https address" ;;
  esac
  from=${from%/}
}

# Downloads a file of the release into the scratch directory. --max-filesize is not enough: without a Content-Length
# older versions of curl ignore it.
fetch() {
  local name=$1 max_bytes=$2
  curl --disable --globoff --fail --silent --show-error --location --max-redirs 5 --tlsv1.2 \
    --proto "=$scheme" --proto-redir '=https' --connect-timeout 30 --max-time "$max_seconds_per_file" \
    --max-filesize "$max_bytes" "$from/$name" | head -c "$((max_bytes + 1))" >"$scratch/$name" || return 1
  [ "$(wc -c <"$scratch/$name")" -le "$max_bytes" ]
}

# Prints an OpenSSL that knows `pkeyutl -rawin`. The one of macOS is LibreSSL, which does not.
find_openssl() {
  local program
  for program in openssl /opt/homebrew/opt/openssl@3/bin/openssl /usr/local/opt/openssl@3/bin/openssl; do
    case $("$program" version 2>/dev/null || true) in
      'OpenSSL '[3-9]* | 'OpenSSL '[1-9][0-9]*)
        printf '%s\n' "$program"
        return
        ;;
    esac
  done
  return 1
}

# Sets the SHA-256 of a file of the release from SHA256SUMS, whose signature must be valid.
read_signed_sum() {
  local openssl
  openssl=$(find_openssl) || fail "checking the signature needs OpenSSL 3 or newer; install it, or give --sha256"
  fetch SHA256SUMS "$max_sums_bytes" || fail "cannot download $from/SHA256SUMS; without it, --sha256 is needed"
  fetch SHA256SUMS.sig "$max_sums_bytes" || fail "cannot download $from/SHA256SUMS.sig; without it, --sha256 is needed"
  printf -- '-----BEGIN PUBLIC KEY-----\n%s\n-----END PUBLIC KEY-----\n' "$release_key" >"$scratch/key.pem"
  "$openssl" pkeyutl -verify -pubin -inkey "$scratch/key.pem" -rawin -in "$scratch/SHA256SUMS" \
    -sigfile "$scratch/SHA256SUMS.sig" >/dev/null 2>&1 || fail "the signature of $from/SHA256SUMS is not valid"
  sha256=$(sed -n "s/^\([0-9a-f]\{64\}\) [ *]$1\$/\1/p" "$scratch/SHA256SUMS")
  is_sha256 "$sha256" || fail "$from/SHA256SUMS does not list $1 once"
}

# Puts a binary with the right SHA-256 into the scratch directory, where no other process changes it after the check.
take_binary() {
  local asset scheme='' actual
  if [ -n "$file" ]; then
    [ -f "$file" ] || fail "there is no file $file"
    cp "$file" "$scratch/binary"
  else
    command -v curl >/dev/null || fail "--from needs curl"
    check_url
    asset=$(asset_name) || fail "there are no releases for $(uname -s) on $(uname -m); run this without --from to build it"
    [ -n "$sha256" ] || read_signed_sum "$asset"
    fetch "$asset" "$max_binary_bytes" || fail "cannot download $from/$asset"
    mv "$scratch/$asset" "$scratch/binary"
  fi
  actual=$(sha256_of "$scratch/binary")
  [ "$actual" = "$sha256" ] || fail "the binary has the SHA-256 $actual and not $sha256; nothing was installed"
}

if [ "$verb" = uninstall ]; then
  uninstall
  exit 0
fi
if [ -n "$file$from" ]; then
  take_binary
  put_in_place "$scratch/binary"
  register
  show_decisions
  exit 0
fi

# --- building

export PATH="$PATH:${CARGO_HOME:-$HOME/.cargo}/bin"
get="curl --proto '=https' --tlsv1.2 -sSf https://sh.rustup.rs | sh"
wanted=$(sed -n 's/^rust-version = "\(.*\)"$/\1/p' Cargo.toml)
if ! command -v cargo >/dev/null || ! command -v rustc >/dev/null; then
  fail "there is no Rust here, and rune needs $wanted or newer. Get it with
  $get
then run this again"
fi
version=$(rustc --version | sed 's/^rustc \([0-9]*\.[0-9]*\).*/\1/')
if [ "${version%%.*}" -lt "${wanted%%.*}" ] ||
  { [ "${version%%.*}" -eq "${wanted%%.*}" ] && [ "${version#*.}" -lt "${wanted#*.}" ]; }; then
  fail "this is Rust $version, and rune needs $wanted or newer. Get it with
  rustup update stable
or, without rustup, with
  $get
then run this again"
fi

# A static binary starts faster, because there is no dynamic linker to run, and it ignores LD_PRELOAD. Naming the target
# restricts the flags to the program: build scripts and procedural macros cannot be linked statically.
# benches/common/mod.rs uses the same flags.
static_flags='-C target-feature=+crt-static -C relocation-model=static'
host=$(rustc -vV | sed -n 's/^host: //p')
build() {
  cargo build --release --locked --bin rune --message-format=json-render-diagnostics "$@" |
    sed -n 's/.*"executable":"\([^"]*\)".*/\1/p' | tail -n 1
}
binary=
case $host in
  *-linux-*)
    binary=$(RUSTFLAGS="${RUSTFLAGS:-} $static_flags" build --target "$host") ||
      printf 'install.sh: the static build failed; building with the default flags\n' >&2
    ;;
esac
[ -n "$binary" ] || binary=$(build)
[ -x "$binary" ] || fail "cargo built nothing that can be run"

put_in_place "$binary"
register
show_decisions
