"""Verifies a file of receipts or a pack: verify.py KEY PATH.

Written from src/receipt/FORMAT.md and RFC 8032 alone, with nothing but the standard library, so that it shares no code
with Rune. It exits with 0 (valid), 1 (invalid) or 2 (cannot tell: not sealed).
"""
import hashlib, json, pathlib, sys

RECEIPT, SEAL = "rune.receipt/1", "rune.pack.seal/1"
MEMBERS = set("args_sha256 client count dispatched head key kind next observed part pin policy prev reason rule seq server "
              "session signature time tool torn verdict version".split())

def check(holds, what):
    if not holds: raise ValueError(what)

# Ed25519, RFC 8032 section 5.1. Points have extended coordinates (X, Y, Z, T) with x = X/Z, y = Y/Z and T = XY/Z.
P, ORDER = 2**255 - 19, 2**252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, -1, P) % P

def decode_point(data):
    number = int.from_bytes(data, "little")
    y, sign = number & (2**255 - 1), number >> 255
    check(y < P, "point")
    square = (y * y - 1) * pow(D * y * y + 1, -1, P) % P
    x = pow(square, (P + 3) // 8, P)
    if (x * x - square) % P: x = x * pow(2, (P - 1) // 4, P) % P
    check((x * x - square) % P == 0 and (x or not sign), "point")
    if x & 1 != sign: x = P - x
    return x, y, 1, x * y % P

def add(one, other):
    a, b = (one[1] - one[0]) * (other[1] - other[0]) % P, (one[1] + one[0]) * (other[1] + other[0]) % P
    c, d = 2 * D * one[3] * other[3] % P, 2 * one[2] * other[2] % P
    e, f, g, h = b - a, d - c, d + c, b + a
    return e * f % P, g * h % P, f * g % P, e * h % P

def multiply(number, point):
    result = (0, 1, 1, 0)
    while number:
        if number & 1: result = add(result, point)
        point, number = add(point, point), number >> 1
    return result

BASE = decode_point((4 * pow(5, -1, P) % P).to_bytes(32, "little"))

def verify_signature(key, signature, message):
    check(len(key) == 32 and len(signature) == 64, "length of key or signature")
    public, commitment, s = decode_point(key), decode_point(signature[:32]), int.from_bytes(signature[32:], "little")
    challenge = int.from_bytes(hashlib.sha512(signature[:32] + key + message).digest(), "little") % ORDER
    left, right = multiply(s, BASE), add(commitment, multiply(challenge, public))
    equal = (left[0] * right[2] - right[0] * left[2]) % P == 0 and (left[1] * right[2] - right[1] * left[2]) % P == 0
    check(s < ORDER and equal, "signature")

def sha(data):
    return hashlib.sha256(data).hexdigest()

def canonical(value):
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()

def read(line, version):
    value = json.loads(line)
    check(isinstance(value, dict) and value.get("version") == version and canonical(value) == line, "version or canonical form")
    return value

def check_signed(value, keys, tag):
    rest, signature = {**value}, value["signature"].removeprefix("ed25519:")
    del rest["signature"]
    check(value["key"] in keys and signature == signature.lower(), "key or form of the signature")
    key = bytes.fromhex(value["key"].removeprefix("ed25519:"))
    verify_signature(key, bytes.fromhex(signature), tag.encode() + b"\n" + canonical(rest))

def check_chain(data, keys, faults, where):
    """Appends the faults of a file of receipts; returns whether it is sealed, its head and its number of lines."""
    seq, prev, part, sealed, used = 0, None, None, False, []
    *lines, incomplete = data.split(b"\n")
    for number, line in enumerate(lines, 1):
        try:
            value = read(line, RECEIPT)
            check(set(value) == MEMBERS, "members")
            check_signed(value, keys - set(used[:-1]), RECEIPT)
            if value["key"] not in used: used.append(value["key"])
            part = part or (value["session"], value["part"])
            first = "sha256:" + sha(f"{RECEIPT} begins {value['session']}".encode()) if value["part"] == 1 else value["prev"]
            in_order = (value["seq"], value["prev"], value["session"], value["part"]) == (seq + 1, prev or first, *part)
            is_seal, fits = value["kind"] == "seal", value["head"] == value["prev"] and value["count"] == seq
            check(in_order and not sealed and (fits or not is_seal), "order or seal")
            if value["kind"] == "rotate": keys.add(value["next"])
            seq, prev, sealed = value["seq"], "sha256:" + sha(line), is_seal
        except Exception as fault:
            faults.append(f"{where}:{number}: {fault!r}")
    return sealed and not incomplete, prev, len(lines)

def check_pack(folder, keys, faults):
    """Appends the faults of a pack; returns whether all of its sessions are sealed."""
    operator, index_bytes = folder / "receipts/@operator.jsonl", (folder / "index.json").read_bytes()
    # The operator's receipts contain the rotations of keys.
    if operator.exists(): check_chain(operator.read_bytes(), keys, [], "operator")
    seal, index = read((folder / "seal.json").read_bytes()[:-1], SEAL), read(index_bytes[:-1], "rune.pack/1")
    check_signed(seal, keys, SEAL)
    check(seal["index_sha256"] == sha(index_bytes), "index")
    there = {str(path.relative_to(folder)): sha(path.read_bytes()) for path in folder.rglob("*") if path.is_file()}
    listed = {entry["path"]: entry["sha256"] for entry in index["files"]}
    check({**there, **listed} == there and set(there) - set(listed) == {"index.json", "seal.json"}, "files")
    chains = [(entry, check_chain((folder / entry["path"]).read_bytes(), keys, faults, entry["path"])) for entry in index["chains"]]
    check(all(found[1:] == (entry["head"], entry["count"]) for entry, found in chains), "truncated")
    return all(found[0] or entry["session"] == "rune:operator" for entry, found in chains)

keys, path, faults, sealed = {sys.argv[1]}, pathlib.Path(sys.argv[2]), [], False
try:
    sealed = check_pack(path, keys, faults) if path.is_dir() else check_chain(path.read_bytes(), keys, faults, path.name)[0]
except Exception as fault:
    faults.append(repr(fault))
print("\n".join(faults) or ("valid" if sealed else "cannot tell: not sealed"))
sys.exit(1 if faults else 0 if sealed else 2)
