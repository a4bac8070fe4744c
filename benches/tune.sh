#!/usr/bin/env bash
# Writes src/hook.profdata, by which the compiler knows what a hook runs often and what never, and src/hook.ld, by which
# the linker puts together what it runs, reads and writes: of a large program that is a small part, spread over all of
# it, and each piece of 64 KB that is touched costs a page fault, of what is written each piece of 4 KB. Both are seen
# here, by running events. A profile fits the compiler that it was made with, and a name the code that bore it: what no
# longer fits, or is not there, costs time and nothing else.
# Linux on x86-64, with python3, valgrind, the llvm-profdata of the compiler's LLVM, and the linker that Rust brings
# along there; some twenty minutes. Usage: benches/tune.sh
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
python3 - "$rune" "$scratch" <<'PYTHON'
import glob, json, subprocess, sys
from pathlib import Path

rune, scratch = sys.argv[1], Path(sys.argv[2])
# What is an everyday call is said by how often it is made: src/tuned.flags names how many make code worth its place.
OFTEN = 40

def run(home, words, event=b""):
    subprocess.run([rune, *words], input=event, env={"HOME": home}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

def event(cwd, moment, tool, **more):
    """As a client writes it."""
    event = {"session_id": "s", "cwd": cwd, "hook_event_name": moment, "tool_name": tool, **more}
    return json.dumps(event, separators=(",", ":"), ensure_ascii=False).encode(errors="replace")

def before(cwd, tool, **more):
    return event(cwd, "PreToolUse", tool, **more)

# As it was installed, and with settings of the operator's own; in a directory that is there, and in one that is not.
plain, own = (str(scratch / name) for name in ("plain", "own"))
for home in (plain, own):
    Path(home).mkdir()
    run(home, ["policy", "install"])
Path(own, ".config/rune/config.local.toml").write_text("[rules]\ndisabled = []\n")
places = [(plain, plain), (own, "/home/user/proj")]

everyday = []
lines = Path("benches/everyday.txt").read_text().splitlines()
for command in [*lines, "\n".join(lines[2:8]), "\n".join(lines[8:20]), "\n".join(lines[2:])]:
    everyday += [(home, "pre", before(cwd, "Bash", tool_input={"command": command})) for home, cwd in places]
# Calls that leave a receipt: the first makes the key, and the next ones follow it.
for home, cwd in places * 2:
    call = before(cwd, "mcp__acme__run", tool_input={"text": "x"}, mcp_server={"name": "acme", "source": "user"})
    everyday.append((home, "pre", call))
for path in sorted(glob.glob("tests/fixtures/*.json")):
    phase = "post" if Path(path).name.startswith("posttooluse") else "pre"
    everyday.append((plain, phase, Path(path).read_bytes()))

(scratch / "events").mkdir()
for number, (home, phase, call) in enumerate(everyday):
    (scratch / "events" / f"{number:03}.{Path(home).name}.{phase}").write_bytes(call)
    for _ in range(OFTEN):
        run(home, ["hook", phase], call)
# Whatever else people and agents do.
for path in sorted(glob.glob("tests/cases/*.jsonl")):
    for row in map(json.loads, open(path)):
        if row["event"] == "pre" and row["expect"] == "allow":
            run(plain, ["hook", "pre"], before(row["cwd"], row["tool"], tool_input=row["input"]))
# What is long is rare, and costs most.
for length in (1 << 16, 1 << 20):
    page = event(plain, "PostToolUse", "WebFetch", tool_input={"url": "https://e.example/"},
                 tool_response={"result": "a line of a page.\n" * (length // 18)})
    for _ in range(OFTEN):
        run(plain, ["hook", "post"], page)
    for command in ("echo " + "x" * length, "cat > notes.md <<'END'\n" + "a line of a text\n" * (length // 18) + "END\n"):
        for _ in range(OFTEN // 4):
            run(plain, ["hook", "pre"], before(plain, "Bash", tool_input={"command": command}))
run(plain, ["quarantine", "status", "--json"])
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

# Each address belongs to the last section that begins at or before it.
sections_at() {
  padded | sort -u | sort -m -s -k 1,1 "$scratch/sections" - |
    awk -v number="$1" 'NF > 1 { section = $0; next } section != "" { print number, section; section = "" }' \
      >"$scratch/$1.touched"
}
touched() {
  local trace=$scratch/$1.trace home=${2%.*}
  env -i HOME="$scratch/$home" valgrind --tool=lackey --trace-mem=yes --basic-counts=no --log-file="$trace" \
    "$rune" hook "${2##*.}" >/dev/null 2>&1 || true
  sed -n 's/^ *[ILSM] *\([0-9a-f]*\),.*/\1/p' "$trace" | sort -u | sections_at "$1"
  rm "$trace"
}
# The first event instruction by instruction on the machine itself: there, the C library reads a library of the kernel's,
# which valgrind hides, and asks another processor what it can do.
python3 - "$rune" "$scratch"/events/000.* "$scratch/plain" <<'PYTHON' | sections_at 0
import ctypes, os, sys

program, event, home = sys.argv[1:]
ptrace = ctypes.CDLL(None).ptrace
ptrace.restype, ptrace.argtypes = ctypes.c_long, [ctypes.c_long] * 4
TRACE_ME, PEEK_USER, SINGLE_STEP, INSTRUCTION_POINTER = 0, 3, 9, 16 * 8
child = os.fork()
if child == 0:
    os.dup2(os.open(event, os.O_RDONLY), 0)
    for stream in (1, 2):
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream)
    ptrace(TRACE_ME, 0, 0, 0)
    os.execve(program, [program, "hook", "pre"], {"HOME": home})
seen = set()
_, status = os.waitpid(child, 0)
while os.WIFSTOPPED(status):
    seen.add(ptrace(PEEK_USER, child, INSTRUCTION_POINTER, 0))
    ptrace(SINGLE_STEP, child, 0, 0)
    _, status = os.waitpid(child, 0)
print(*(f"{address:x}" for address in sorted(seen) if address >= 0), sep="\n")
PYTHON
number=0
for event in "$scratch"/events/*; do
  number=$((number + 1))
  name=${event##*/}
  touched "$number" "${name#*.}" <"$event" &
  # Two at a time.
  if [ $((number % 2)) -eq 0 ]; then wait; fi
done
wait
cat "$scratch"/*.touched >"$scratch/touched"

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
  # What the linker has merged cannot be told apart. What has no name has a number, which fits this very code.
  function merged(section) { return section ~ /^\.rodata(\.cst|\.str|$)/ && !(section == ".rodata" && archive) }
  function numbered(section) { return section ~ /^\.rodata\.\.Lanon/ }
  function kind_of(section) {
    # What is written once, before the program starts, has a place of its own.
    if (section ~ /^\.data\.rel\.ro/) return ""
    match(section, /^\.[a-z]*/)
    return substr(section, 2, RLENGTH - 1)
  }
  FNR == NR { if ($3 ~ /rcgu/) all[shared($4)] += hex($2); next }
  {
    archive = $4 ~ /\.a\(/; kind = kind_of($5)
    if (kind == "" || merged($5)) next
    name = numbered($5) ? "*(" $5 ")" : pattern($4, $5)
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
  function section(kind, before, first, more) {
    print "SECTIONS {\n  ." kind ".hook : {"
    if (first != "") print first
    list(kind, 0); list(kind, 1)
    if (more != "") print more
    print "  }\n}\nINSERT BEFORE ." before ";"
  }
  END {
    print "/* What a hook runs, reads and writes, side by side. Written by benches/tune.sh. */"
    # What looks through large files of rules, which no event here has.
    section("text", "text", "", "    *(.text.*4rule4skim* .text.*4rule6glance*)")
    # The rules that commands and files are asked about; and what has no name, which is then not spread between large
    # tables that have one.
    # All of it behind the very first bytes of the program, which are read at its start.
    section("rodata", "gcc_except_table", "    *(.rodata.cst*)\n    *(.rodata.str*)", \
      "    *(.rodata.*4rule8embedded*BASH_* .rodata.*4rule8embedded*EDIT_* .rodata.*4rule8embedded*READ_*)\n" \
      "    *(.rodata..Lanon.*)")
    # The last of what has a value, next to the first of what has none.
    section("data", "bss"); section("bss", "bss")
  }' "$scratch/sections" "$scratch/first" >src/hook.ld
printf 'src/hook.ld: %s names, from %s events\n' "$(grep -c '^    ' src/hook.ld)" "$number"
