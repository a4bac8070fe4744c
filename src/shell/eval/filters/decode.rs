//! Decoders: base64, base32, hex.

use crate::encoding::base64 as encoding;
use crate::encoding::hex;
use crate::verdict::limits::Meter;

/// What a filter does with its input.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Direction {
    Encode,
    Decode,
}

/// Reads the options of `base64` and the like.
fn direction(options: &[&str]) -> Option<Direction> {
    let mut found = Direction::Encode;
    for option in options {
        match *option {
            "-d" | "-D" | "--decode" | "--d" | "--de" | "--dec" | "-di" | "-id" => found = Direction::Decode,
            "-i" | "--ignore-garbage" | "-w0" | "--wrap=0" | "-w" | "0" | "-" => {}
            _ => return None,
        }
    }
    Some(found)
}

fn text(bytes: Vec<u8>) -> Option<String> {
    String::from_utf8(bytes).ok().filter(|text| !text.contains('\0'))
}

fn plain(input: &str) -> String {
    input.chars().filter(|c| !c.is_whitespace()).collect()
}

pub(super) fn base64(options: &[&str], input: &str, _: &Meter) -> Option<String> {
    match direction(options)? {
        Direction::Decode => text(encoding::decode(&plain(input))?),
        Direction::Encode => Some(encoding::encode(input.as_bytes()) + "\n"),
    }
}

pub(super) fn base32(options: &[&str], input: &str, _: &Meter) -> Option<String> {
    (direction(options)? == Direction::Decode).then_some(())?;
    let (mut bits, mut held, mut bytes) = (0_u32, 0, Vec::new());
    for byte in plain(input).trim_end_matches('=').bytes() {
        let digit = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'2'..=b'7' => byte - b'2' + 26,
            _ => return None,
        };
        bits = bits << 5 | u32::from(digit);
        held += 5;
        if held >= 8 {
            held -= 8;
            bytes.push(u8::try_from(bits >> held & 0xff).ok()?);
        }
    }
    text(bytes)
}

pub(super) fn basenc(options: &[&str], input: &str, meter: &Meter) -> Option<String> {
    let (format, rest): (Vec<&str>, Vec<&str>) = options.iter().partition(|option| option.starts_with("--base"));
    match format.as_slice() {
        ["--base64" | "--base64url"] => base64(&rest, input, meter),
        ["--base32"] => base32(&rest, input, meter),
        ["--base16"] => (direction(&rest)? == Direction::Decode).then(|| from_hex(input)).flatten(),
        _ => None,
    }
}

/// `openssl base64 -d`, `openssl enc -base64 -d`
pub(super) fn openssl(options: &[&str], input: &str, meter: &Meter) -> Option<String> {
    let (verb, rest) = options.split_first()?;
    let is_format = |option: &str| matches!(option, "-base64" | "-a");
    let by_verb = *verb == "base64" || *verb == "enc" && rest.iter().any(|option| is_format(option));
    let flags: Vec<&str> =
        rest.iter().copied().filter(|option| !is_format(option) && !matches!(*option, "-A" | "-in" | "-out")).collect();
    if by_verb { base64(&flags, input, meter) } else { None }
}

/// `xxd -r -p`, `xxd -p`
pub(super) fn xxd(options: &[&str], input: &str, _: &Meter) -> Option<String> {
    let has = |letter: char| options.iter().any(|option| option.contains(letter));
    let known = |option: &&str| matches!(*option, "-r" | "-p" | "-ps" | "-plain" | "-rp" | "-pr" | "-");
    (options.iter().all(known) && has('p')).then_some(())?;
    if has('r') { from_hex(input) } else { Some(hex::encode(input.as_bytes()) + "\n") }
}

fn from_hex(input: &str) -> Option<String> {
    let digits: Option<Vec<u8>> =
        plain(input).chars().map(|c| c.to_digit(16).and_then(|digit| u8::try_from(digit).ok())).collect();
    let digits = digits?;
    let (pairs, []) = digits.as_chunks::<2>() else { return None };
    text(pairs.iter().map(|[high, low]| high << 4 | low).collect())
}
