//! Keys of receipts: the installation's secret, the trusted public keys, and the HMAC of a call's arguments.

use crate::encoding::canonical;
use crate::encoding::hex;
use crate::encoding::hex::digest;
use crate::quarantined::Quarantined;
use ed25519_dalek::{Signature, Signer, SigningKey, VerifyingKey};
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use std::fmt;

/// The first line of a key file.
const HEADER: &str = "rune.receipt.key/2";

/// The first line of a version 1 key file: no `public` line and no `check` line.
const HEADER_V1: &str = "rune.receipt.key/1";

/// The prefix of public keys and signatures.
const ED25519: &str = "ed25519:";

/// The secrets of one installation.
pub struct Secret {
    signing: SigningKey,
    /// The key of the HMAC over a call's arguments.
    args: [u8; 32],
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
        Secret { signing, args, name, former: Vec::new() }
    }

    /// Replaces the signing key and keeps the key for arguments.
    pub fn rotated(&self, signing: [u8; 32]) -> Self {
        let former = self.former.iter().cloned().chain(PublicKey::read(&self.name)).collect();
        Secret { former, ..Secret::new(signing, self.args) }
    }

    /// Reads a key file of version 1 or 2.
    ///
    /// The public key is always derived from the secret. One stored in the file is only compared with it, and a
    /// different one makes the file invalid: signing with a public key that does not belong to the secret can reveal
    /// the secret (RUSTSEC-2022-0093).
    pub fn read(text: &str) -> Option<Self> {
        let mut lines = text.lines();
        let stores_public = match lines.next()? {
            HEADER => {
                let (body, check) = text.strip_suffix('\n')?.rsplit_once("\ncheck ")?;
                lines = Some(body).filter(|body| digest(body.as_bytes()) == check)?.lines();
                lines.next().is_some()
            }
            HEADER_V1 => false,
            _ => return None,
        };
        let mut member = |name: &str| hex::decode(lines.next()?.strip_prefix(name)?);
        let secret = Secret::new(member("ed25519 ")?, member("args ")?);
        if stores_public && member("public ")? != secret.signing.verifying_key().to_bytes() {
            return None;
        }
        let former = lines.map(|line| PublicKey::read(line.strip_prefix("was ")?)).collect::<Option<_>>()?;
        Some(Secret { former, ..secret })
    }

    /// The text of a key file, in version 2.
    pub fn to_text(&self) -> String {
        let public = self.signing.verifying_key();
        let [signing, args, public] =
            [self.signing.as_bytes(), &self.args, public.as_bytes()].map(|bytes| hex::encode(bytes));
        let former: String = self.former.iter().map(|key| format!("\nwas {}", key.as_str())).collect();
        let body = format!("{HEADER}\ned25519 {signing}\nargs {args}\npublic {public}{former}");
        format!("{body}\ncheck {}\n", digest(body.as_bytes()))
    }

    /// The keys of this installation, those that signed before too.
    pub fn keys(&self) -> Keys {
        Keys::new(self.former.iter().cloned().chain(PublicKey::read(&self.name)))
    }

    /// The public key.
    pub fn public(&self) -> &str {
        &self.name
    }

    /// Signs a text under a tag that says what is signed.
    pub(super) fn sign(&self, tag: &str, text: &[u8]) -> String {
        let signature = self.signing.sign(&tagged(tag, text));
        format!("{ED25519}{}", hex::encode(&signature.to_bytes()))
    }

    /// What a receipt says of arguments.
    pub(super) fn args(&self, input: &Quarantined<Vec<u8>>) -> Option<String> {
        let raw = input.inspect("whoever has the key may compare the arguments of two calls");
        let canonical = canonical::canonical(raw).ok();
        let (mark, bytes) = match &canonical {
            Some(canonical) => ("hmac-sha256:", canonical.as_bytes()),
            None => ("hmac-sha256-raw:", raw.as_slice()),
        };
        let mut mac = Hmac::<Sha256>::new_from_slice(&self.args).ok()?;
        mac.update(bytes);
        Some(format!("{mark}{}", hex::encode(&mac.finalize().into_bytes())))
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Secret({})", self.name)
    }
}

/// A public key in its one spelling.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PublicKey(String);

impl PublicKey {
    /// A key as somebody writes it: 64 hex digits, with or without the mark, with or without blanks around.
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

/// The keys that whoever verifies believes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Keys(Vec<PublicKey>);

impl Keys {
    /// These keys and no other.
    pub fn new(keys: impl IntoIterator<Item = PublicKey>) -> Self {
        Keys(keys.into_iter().collect())
    }

    /// Whether a key is believed.
    pub fn believes(&self, key: &str) -> bool {
        self.0.iter().any(|known| known.0 == key)
    }

    /// Believes a key that a believed one has named.
    pub(super) fn hand_on(&mut self, key: &str) {
        if let Some(key) = PublicKey::read(key).filter(|key| !self.believes(&key.0)) {
            self.0.push(key);
        }
    }
}

/// The bytes that are signed.
fn tagged(tag: &str, text: &[u8]) -> Vec<u8> {
    [tag.as_bytes(), b"\n", text].concat()
}

/// Whether a signature is this key's for a text under a tag.
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
