//! Keys: who signs, who is believed, and what makes arguments comparable without telling them.

use crate::canonical;
use crate::hex;
use crate::quarantined::Quarantined;
use ed25519_dalek::{Signature, Signer as _, SigningKey, VerifyingKey};
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use std::fmt;

/// The first line of a key file.
const HEADER: &str = "rune.receipt.key/1";

/// How public keys and signatures are marked.
const ED25519: &str = "ed25519:";

/// The secrets of one installation.
pub struct Secret {
    signing: SigningKey,
    args: [u8; 32],
    /// The public key, once: making it costs as much as signing.
    name: String,
    /// The public keys that signed before, oldest first.
    former: Vec<PublicKey>,
}

impl Secret {
    /// Secrets from random bytes.
    pub fn new(signing: [u8; 32], args: [u8; 32]) -> Self {
        let signing = SigningKey::from_bytes(&signing);
        let name = format!("{ED25519}{}", hex::encode(signing.verifying_key().as_bytes()));
        Secret { signing, args, name, former: Vec::new() }
    }

    /// The same secret for arguments with another key to sign with.
    pub fn rotated(&self, signing: [u8; 32]) -> Self {
        let former = self.former.iter().cloned().chain(PublicKey::read(&self.name)).collect();
        Secret { former, ..Secret::new(signing, self.args) }
    }

    /// Reads a key file.
    pub fn read(text: &str) -> Option<Self> {
        let mut lines = text.lines();
        if lines.next() != Some(HEADER) {
            return None;
        }
        let signing = hex::decode(lines.next()?.strip_prefix("ed25519 ")?)?;
        let args = hex::decode(lines.next()?.strip_prefix("args ")?)?;
        let former = lines.map(|line| PublicKey::read(line.strip_prefix("was ")?)).collect::<Option<_>>()?;
        Some(Secret { former, ..Secret::new(signing, args) })
    }

    /// The text of a key file.
    pub fn to_text(&self) -> String {
        let signing = hex::encode(self.signing.as_bytes());
        let former: String = self.former.iter().map(|key| format!("was {}\n", key.as_str())).collect();
        format!("{HEADER}\ned25519 {signing}\nargs {}\n{former}", hex::encode(&self.args))
    }

    /// The keys of this installation, those that signed before too.
    pub fn keys(&self) -> Keys {
        Keys::new(self.former.iter().cloned().chain(PublicKey::read(&self.name)))
    }

    /// The public key.
    pub fn public(&self) -> &str {
        &self.name
    }

    /// A signature under a tag that says what is signed.
    pub(super) fn sign(&self, tag: &str, text: &[u8]) -> String {
        let signature = self.signing.sign(&[tag.as_bytes(), b"\n", text].concat());
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

/// Whether a signature is this key's for a text under a tag.
pub(super) fn is_signed(key: &str, signature: &str, tag: &str, text: &[u8]) -> bool {
    let signed = || {
        let key = VerifyingKey::from_bytes(&hex::decode(key.strip_prefix(ED25519)?)?).ok()?;
        let signature = Signature::from_bytes(&hex::decode(signature.strip_prefix(ED25519)?)?);
        key.verify_strict(&[tag.as_bytes(), b"\n", text].concat(), &signature).ok()
    };
    signed().is_some()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::quarantined::{ContentSource, Origin};

    fn seal(text: &str) -> Quarantined<Vec<u8>> {
        let origin = Origin::new(ContentSource::ModelOutput, "", time::OffsetDateTime::UNIX_EPOCH);
        Quarantined::new(text.as_bytes().to_vec(), origin)
    }

    #[test]
    fn a_key_file_is_read_as_it_was_written_and_no_other_way() {
        let secret = Secret::new([1; 32], [2; 32]).rotated([3; 32]);
        let text = secret.to_text();
        assert_eq!(Secret::read(&text).map(|secret| secret.to_text()), Some(text.clone()));
        assert_eq!(format!("{secret:?}"), format!("Secret({})", secret.public()));
        for wrong in ["", HEADER, &text.replace("/1", "/2"), &text.replace("args ", "arg "), &format!("{text}more\n")] {
            assert!(Secret::read(wrong).is_none(), "{wrong}");
        }
    }

    /// RFC 8032, section 7.1, test 1.
    #[test]
    fn the_public_key_is_the_one_of_the_standard() {
        let seed = hex::decode("9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60").unwrap();
        let public = "ed25519:d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a";
        assert_eq!(Secret::new(seed, [0; 32]).public(), public);
        assert_eq!(PublicKey::read(public.strip_prefix("ed25519:").unwrap()).unwrap().as_str(), public);
        // A key of small order signs anything.
        assert_eq!(PublicKey::read(&format!("01{}", "00".repeat(31))), None);
    }

    #[test]
    fn equal_arguments_have_equal_marks_for_one_installation_only() {
        let mark = |secret: u8, text: &str| Secret::new([1; 32], [secret; 32]).args(&seal(text)).unwrap();
        assert_eq!(mark(2, r#"{"a": 1, "b": 2}"#), mark(2, r#"{"b":2,"a":1.0}"#));
        assert_ne!(mark(2, r#"{"a":1}"#), mark(3, r#"{"a":1}"#));
        assert_ne!(mark(2, r#"{"a":1}"#), mark(2, r#"{"a":2}"#));
        assert!(mark(2, r#"{"a":1,"a":2}"#).starts_with("hmac-sha256-raw:"));
    }
}
