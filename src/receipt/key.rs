//! TrustedKeys of receipts: the installation's secret, the trusted public keys, and the HMAC of a call's arguments.

use crate::encoding::canonical;
use crate::encoding::hex::{self, digest};
use crate::quarantined::Quarantined;
use ed25519_dalek::{Signature, Signer, SigningKey, VerifyingKey};
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use std::fmt;
use std::str::Lines;

/// The first line of a key file.
const HEADER: &str = "rune.receipt.key/2";

/// The first line of a version 1 key file: no `public` line and no `check` line.
const HEADER_V1: &str = "rune.receipt.key/1";

/// The prefix of public keys and signatures.
const ED25519: &str = "ed25519:";

/// The secrets of one installation.
pub struct Secret {
    signing: SigningKey,
    args: ArgumentsKey,
    /// The public key as receipts spell it.
    name: String,
    /// The public keys that signed before, oldest first.
    former: Vec<PublicKey>,
}

impl Secret {
    /// Builds the secrets from random bytes.
    pub fn new(signing: [u8; 32], args: [u8; 32]) -> Self {
        let signing = SigningKey::from_bytes(&signing);
        let name = format!("{ED25519}{}", hex::encode(signing.verifying_key().as_bytes()));
        Secret { signing, args: ArgumentsKey(args), name, former: Vec::new() }
    }

    /// Replaces the signing key and keeps the key for arguments.
    pub fn rotated(&self, signing: [u8; 32]) -> Self {
        let former = self.former.iter().cloned().chain(PublicKey::read(&self.name)).collect();
        Secret { former, ..Secret::new(signing, self.args.0) }
    }

    /// Reads a key file of version 1 or 2.
    ///
    /// The public key is always derived from the secret. One stored in the file is only compared with it, and a
    /// different one makes the file invalid: signing with a public key that does not belong to the secret can reveal
    /// the secret (RUSTSEC-2022-0093).
    pub fn read(text: &str) -> Option<Self> {
        let mut lines = checked_lines(text)?;
        let mut member = |name: &str| hex::decode(lines.next()?.strip_prefix(name)?);
        let secret = Secret::new(member("ed25519 ")?, member("args ")?);
        if text.starts_with(HEADER) && member("public ")? != secret.signing.verifying_key().to_bytes() {
            return None;
        }
        let former = lines.map(|line| PublicKey::read(line.strip_prefix("was ")?)).collect::<Option<_>>()?;
        Some(Secret { former, ..secret })
    }

    /// The text of a key file, in version 2.
    pub fn to_text(&self) -> String {
        let public = self.signing.verifying_key();
        let [signing, args, public] =
            [self.signing.as_bytes(), &self.args.0, public.as_bytes()].map(|bytes| hex::encode(bytes));
        let former: String = self.former.iter().map(|key| format!("\nwas {}", key.as_str())).collect();
        let body = format!("{HEADER}\ned25519 {signing}\nargs {args}\npublic {public}{former}");
        format!("{body}\ncheck {}\n", digest(body.as_bytes()))
    }

    /// The public keys of this installation, current and former.
    pub fn keys(&self) -> TrustedKeys {
        TrustedKeys::new(self.former.iter().cloned().chain(PublicKey::read(&self.name)))
    }

    /// The public key as receipts spell it.
    pub fn public(&self) -> &str {
        &self.name
    }

    /// Signs a text under a tag that names the format.
    pub(super) fn sign(&self, tag: &str, text: &[u8]) -> String {
        let signature = self.signing.sign(&tagged(tag, text));
        format!("{ED25519}{}", hex::encode(&signature.to_bytes()))
    }

    /// The key of the HMAC over the arguments of calls.
    pub fn arguments_key(&self) -> &ArgumentsKey {
        &self.args
    }
}

/// The lines of a key file behind its header, without the `check` line of version 2, which is verified.
fn checked_lines(text: &str) -> Option<Lines<'_>> {
    let mut lines = text.lines();
    match lines.next()? {
        HEADER => {
            let (body, check) = text.strip_suffix('\n')?.rsplit_once("\ncheck ")?;
            lines = Some(body).filter(|body| digest(body.as_bytes()) == check)?.lines();
            lines.next()?;
            Some(lines)
        }
        HEADER_V1 => Some(lines),
        _ => None,
    }
}

/// The key of the HMAC over the arguments of calls.
pub struct ArgumentsKey([u8; 32]);

impl ArgumentsKey {
    /// Reads it from a key file. Unlike [`Secret::read`], this does not derive the public key, which takes 0.1 ms.
    pub fn read(text: &str) -> Option<Self> {
        let line = checked_lines(text)?.find_map(|line| line.strip_prefix("args "));
        hex::decode(line?).map(ArgumentsKey)
    }

    /// The HMAC of the arguments of a call: the `args_sha256` member of a receipt and the `input` of a log line.
    pub fn hmac(&self, input: &Quarantined<Vec<u8>>) -> Option<String> {
        let raw = input.inspect("receipts and the log hold the HMAC of the arguments");
        let canonical = canonical::canonical(raw).ok();
        let (prefix, bytes) = match &canonical {
            Some(canonical) => ("hmac-sha256:", canonical.as_bytes()),
            None => ("hmac-sha256-raw:", raw.as_slice()),
        };
        let mut mac = Hmac::<Sha256>::new_from_slice(&self.0).ok()?;
        mac.update(bytes);
        Some(format!("{prefix}{}", hex::encode(&mac.finalize().into_bytes())))
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Secret({})", self.name)
    }
}

/// A public key in its canonical spelling.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PublicKey(String);

impl PublicKey {
    /// Parses a key: 64 hex digits, with or without the `ed25519:` prefix, surrounded by blanks or not. Weak keys are
    /// rejected.
    pub fn read(text: &str) -> Option<Self> {
        let text = text.trim();
        let digits = text.strip_prefix(ED25519).unwrap_or(text).to_ascii_lowercase();
        VerifyingKey::from_bytes(&hex::decode(&digits)?).ok().filter(|key| !key.is_weak())?;
        Some(PublicKey(format!("{ED25519}{digits}")))
    }

    /// The key as receipts spell it.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// The public keys that a verifier trusts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TrustedKeys(Vec<PublicKey>);

impl TrustedKeys {
    /// Trusts these keys and no other.
    pub fn new(keys: impl IntoIterator<Item = PublicKey>) -> Self {
        TrustedKeys(keys.into_iter().collect())
    }

    /// Whether a key is trusted.
    pub fn trusts(&self, key: &str) -> bool {
        self.0.iter().any(|known| known.0 == key)
    }

    /// Trusts the next key of a rotation that a trusted key has signed.
    pub(super) fn add_rotated(&mut self, key: &str) {
        if let Some(key) = PublicKey::read(key).filter(|key| !self.trusts(&key.0)) {
            self.0.push(key);
        }
    }
}

/// The bytes that are signed.
fn tagged(tag: &str, text: &[u8]) -> Vec<u8> {
    [tag.as_bytes(), b"\n", text].concat()
}

/// Whether a signature by this key is valid for a text under a tag.
pub(super) fn is_signed(key: &str, signature: &str, tag: &str, text: &[u8]) -> bool {
    let signed = || {
        let key = VerifyingKey::from_bytes(&hex::decode(key.strip_prefix(ED25519)?)?).ok()?;
        let signature = Signature::from_bytes(&hex::decode(signature.strip_prefix(ED25519)?)?);
        key.verify_strict(&tagged(tag, text), &signature).ok()
    };
    signed().is_some()
}

#[cfg(test)]
#[path = "../../tests/unit/receipt/key.rs"]
mod tests;
