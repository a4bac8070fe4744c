#!/usr/bin/env bash
# Writes src/hook.profdata, by which the compiler knows what a hook runs often and what never, and src/hook.ld, by which
# the linker puts together what it runs, reads and writes: of a large program that is a small part, spread over all of
# it, and each piece of 64 KB that is touched costs a page fault, of what is written each piece of 4 KB. Both are seen
# here, by running events. A profile fits the compiler that it was made with, and a name the code that bore it: what no
# longer fits, or is not there, costs time and nothing else.
# Linux on x86-64, with python3, valgrind, the llvm-profdata of the compiler's LLVM, and the linker that Rust brings
# along there; some fifteen minutes. Usage: benches/tune.sh
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

host=$(rustc -vV | sed -n 's/^host: //p')
llvm=$(rustc -vV | sed -n 's/^LLVM version: \([0-9]*\).*/\1/p')
command -v "llvm-profdata-$llvm" >/dev/null || { echo "benches/tune.sh: llvm-profdata-$llvm is missing" >&2; exit 1; }
rune=target/tune/$host/release/rune
mapfile -t static <src/static.flags
build() {
  CARGO_ENCODED_RUSTFLAGS=$(printf '%s\n' "${static[@]}" "$@" | paste -sd $'\x1f' -) \
    cargo build --release --locked --bin rune --target "$host" --target-dir target/tune
}

# --- the profile: calls of all kinds, each with a process of its own, as a client makes them

build -Cprofile-generate="$scratch/raw" -Cllvm-args=-disable-vp
mkdir "$scratch/home"
python3 - "$rune" "$scratch/home" <<'PYTHON'
import glob, json, subprocess, sys
from pathlib import Path

rune, home = sys.argv[1:]

def run(words, event=b""):
    subprocess.run([rune, *words], input=event, env={"HOME": home}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

run(["policy", "install"])
for path in sorted(glob.glob("tests/cases/*.jsonl")):
    for row in map(json.loads, open(path)):
        if row["event"] == "pre":
            event = {"session_id": "s", "cwd": row["cwd"], "hook_event_name": "PreToolUse",
                     "tool_name": row["tool"], "tool_input": row["input"]}
            run(["hook", "pre"], json.dumps(event).encode())
for path in sorted(glob.glob("tests/fixtures/*.json")):
    phase = "post" if Path(path).name.startswith("posttooluse") else "pre"
    for _ in range(5):
        run(["hook", phase], Path(path).read_bytes())
# What is long is rare, and costs most.
for length in (1 << 16, 1 << 20):
    event = {"session_id": "s", "cwd": home, "hook_event_name": "PostToolUse", "tool_name": "WebFetch",
             "tool_input": {"url": "https://e.example/"}, "tool_response": {"result": "a line of a page.\n" * (length // 18)}}
    for _ in range(10):
        run(["hook", "post"], json.dumps(event).encode())
receipt = {"session_id": "s", "cwd": home, "hook_event_name": "PreToolUse", "tool_name": "mcp__acme__run",
           "tool_input": {"text": "x"}, "mcp_server": {"name": "acme", "source": "user"}}
for _ in range(20):
    run(["hook", "pre"], json.dumps(receipt).encode())
run(["quarantine", "status", "--json"])
PYTHON
"llvm-profdata-$llvm" merge --sparse -o src/hook.profdata "$scratch/raw"

# --- the program by that profile, and a map of it

mapfile -t tuned < <(grep -v hook.ld src/tuned.flags | sed "s|@|$PWD|")
build "${tuned[@]}" -Cstrip=none "-Clink-arg=-Wl,-Map=$scratch/map,--no-demangle"
grep -q '^ *VMA ' "$scratch/map" || { echo 'benches/tune.sh: this linker draws another map' >&2; exit 1; }

# --- the sections of the program by address: address, size, file, section

# Addresses of one length, so that they sort as text.
padded() { sed 's/^/0000000000000000/; s/^0*\([0-9a-f]\{16\}\)\( \|$\)/\1\2/'; }
awk '
  { at = match($0, /:\(\.(text|rodata|data|bss)[^)]*\)$/) }
  at && $3 != "0" {
    file = substr($0, 1, at - 1); sub(/^.*[ \/]/, "", file)
    print $1, $3, file, substr($0, at + 2, RLENGTH - 3)
  }' "$scratch/map" | padded | sort >"$scratch/sections"

# --- what events touch: the number of the event, and the section

export HOME="$scratch/home"
number=0
touched() {
  number=$((number + 1))
  env -i HOME="$HOME" valgrind --tool=lackey --trace-mem=yes --basic-counts=no --log-file="$scratch/trace" \
    "$rune" hook "$1" >/dev/null 2>&1 || true
  sed -n 's/^ *[ILSM] *\([0-9a-f]*\),.*/\1/p' "$scratch/trace" | sort -u | padded | sort -u >"$scratch/addresses"
  # Each address belongs to the last section that begins at or before it.
  sort -m -s -k 1,1 "$scratch/sections" "$scratch/addresses" |
    awk -v number="$number" 'NF > 1 { section = $0; next } section != "" { print number, section; section = "" }' \
      >>"$scratch/touched"
}
command_event() {
  printf '{"session_id":"s","cwd":"%s","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"%s"}}' \
    "$HOME" "$1"
}
# No pipes: what counts the events would count in a process of its own.
touched pre < <(command_event 'git status')
touched pre < <(command_event 'rm -rf /')
# What scripts are made of.
# shellcheck disable=SC2016 # the hook expands it, not this
for line in \
  'set -euo pipefail; cd \"$(git rev-parse --show-toplevel)\" && npm ci --no-audit && npm run lint && npm test' \
  'if [ -n \"$(git diff)\" ]; then echo \"not clean\" >&2; exit 1; fi; rm -rf dist build; mkdir -p out' \
  'for f in src/*.svg; do cp \"$f\" dist/; done; grep -rn TODO . | sort | uniq -c | sort -rn | head -20 > todo.txt' \
  "tar -czf a.tgz -C dist . && sha256sum a.tgz | awk '{print \$1}' > a.sha256; while read -r x; do echo \$x; done < a"; do
  touched pre < <(command_event "$line")
done
for line in 'cargo test --all' 'ls -la src' 'git add -A && git commit -m x && git push' 'python3 -m pytest tests -q' \
  'cat README.md | head -40' 'mkdir -p a/b && mv x.txt a/b/ && sed -i s/a/b/ a/b/x.txt' 'find . -name x.py | xargs wc -l' \
  'docker compose up -d' 'echo hi >> log.txt 2>&1' 'npx tsc --noEmit; node -e 1'; do
  touched pre < <(command_event "$line")
done
# A call that leaves a receipt: the first makes the key, and the second follows it.
for _ in first second; do
  touched pre < <(printf '{"session_id":"s","cwd":"%s","hook_event_name":"PreToolUse","tool_name":"mcp__acme__run","tool_input":{"text":"x"},"mcp_server":{"name":"acme","source":"user"}}' "$HOME")
done
for event in tests/fixtures/*.json; do
  case ${event##*/} in
    posttooluse*) touched post <"$event" ;;
    *) touched pre <"$event" ;;
  esac
done

# --- the list: in the order of the first event, and names that many share last

sort -s -k 2,2 -k 1,1n "$scratch/touched" | sort -s -u -k 2,2 | sort -s -k 1,1n >"$scratch/first"
awk '
  # The same name by another compiler: what it makes up for crates, for what it refers back to, and for copies, and
  # what it knows of how often it runs.
  function shared(name) {
    sub(/^\.text\.(hot|unlikely)\./, ".text.", name); sub(/^\.rodata\.(hot|unlikely)\./, ".rodata.", name)
    gsub(/Cs[0-9A-Za-z]*_/, "Cs*_", name); gsub(/B[0-9A-Za-z]*_/, "B*_", name)
    sub(/\.llvm\..*$/, "*", name); sub(/\.[0-9]+$/, "*", name)
    return name
  }
  function pattern(file, section) {
    if (file ~ /\.a\(/) { sub(/\(/, ":", file); sub(/\)$/, "", file); return "*" file "(" section ")" }
    if (file !~ /rcgu\.o$/) return "*" file "(" section ")"
    return shared(section)
  }
  # A name with and without what a profile puts before it.
  function written(name,  rest) {
    if (name ~ /^\*/) return name
    rest = name
    if (!sub(/^\.(text|rodata)\./, "", rest)) return "*(" name ")"
    match(name, /^\.[a-z]*/)
    return "*(" substr(name, 1, RLENGTH) ".hot." rest " " name " " substr(name, 1, RLENGTH) ".unlikely." rest ")"
  }
  # Texts and numbers without a name cannot be told apart.
  function nameless(section) { return section ~ /^\.rodata(\.\.Lanon|\.cst|\.str|$)/ && !(section == ".rodata" && archive) }
  function kind_of(section) {
    # What is written once, before the program starts, has a place of its own.
    if (section ~ /^\.data\.rel\.ro/) return ""
    match(section, /^\.[a-z]*/)
    return substr(section, 2, RLENGTH - 1)
  }
  FNR == NR { if ($3 ~ /rcgu/) all[shared($4)] += hex($2); next }
  {
    archive = $4 ~ /\.a\(/; kind = kind_of($5)
    if (kind == "" || nameless($5)) next
    name = pattern($4, $5)
    if (!(name in wanted)) order[kind, ++count[kind]] = name
    wanted[name] += hex($3)
  }
  function hex(digits,  at, value) {
    value = 0
    for (at = 1; at <= length(digits); at++) value = value * 16 + index("0123456789abcdef", substr(digits, at, 1)) - 1
    return value
  }
  function list(kind, last,  at, name, bare) {
    for (at = 1; at <= count[kind]; at++) {
      name = order[kind, at]
      if ((all[name] > 4 * wanted[name] + 512) == last) print "    " written(name)
    }
  }
  function section(kind, before, more) {
    print "SECTIONS {\n  ." kind ".hook : {"
    list(kind, 0); list(kind, 1)
    if (more != "") print more
    print "  }\n}\nINSERT BEFORE ." before ";"
  }
  END {
    print "/* What a hook runs, reads and writes, side by side. Written by benches/layout.sh. */"
    section("text", "text")
    # The rules that commands and files are asked about; and what has no name, which is then not spread between large
    # tables that have one.
    section("rodata", "rodata", "    *(.rodata.*4rule8embedded*BASH_* .rodata.*4rule8embedded*EDIT_* .rodata.*4rule8embedded*READ_*)\n" \
      "    *(.rodata.cst*)\n    *(.rodata..Lanon.*)\n    *(.rodata.str*)")
    # The last of what has a value, next to the first of what has none.
    section("data", "bss"); section("bss", "bss")
  }' "$scratch/sections" "$scratch/first" >src/hook.ld
printf 'src/hook.ld: %s names, from %s events\n' "$(grep -c '^    ' src/hook.ld)" "$number"
