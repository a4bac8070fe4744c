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
        let other = Secret::new([4; 32], [2; 32]).to_text();
        let public = |text: &str| text.lines().nth(3).unwrap().to_owned();
        for wrong in [
            "",
            HEADER,
            &text.replace("/2", "/1"),
            &text.replace("/2", "/3"),
            &text.replace("args ", "arg "),
            &text.replace(&public(&text), &public(&other)),
            &text.replace("was ", "is "),
            text.trim_end(),
            &format!("{text}more\n"),
        ] {
            assert!(Secret::read(wrong).is_none(), "{wrong}");
        }
    }

    #[test]
    fn a_key_file_without_a_public_key_is_read_too() {
        let [one, args] = [[1; 32], [2; 32]].map(|bytes| hex::encode(&bytes));
        let was = Secret::new([3; 32], [2; 32]).name;
        let bare = format!("{HEADER_V1}\ned25519 {one}\nargs {args}\nwas {was}\n");
        let secret = Secret::read(&bare).unwrap();
        assert_eq!(secret.to_text(), Secret::new([3; 32], [2; 32]).rotated([1; 32]).to_text());
        for wrong in [bare.replace("was ", "check "), format!("{bare}more\n"), bare.replace("args", "public")] {
            assert!(Secret::read(&wrong).is_none(), "{wrong}");
        }
    }

    /// The `check` line is a hash without a key: whoever edits the public key can also correct the hash.
    #[test]
    fn a_stored_public_key_that_is_not_the_secrets_is_an_error_even_with_a_correct_check_line() {
        let text = Secret::new([1; 32], [2; 32]).to_text();
        let (own, other) = (Secret::new([1; 32], [2; 32]).name, Secret::new([4; 32], [2; 32]).name);
        let digits = |name: &str| name.strip_prefix(ED25519).unwrap().to_owned();
        let (body, _) = text.rsplit_once("\ncheck ").unwrap();
        let checked = |body: &str| format!("{body}\ncheck {}\n", digest(body.as_bytes()));
        assert!(Secret::read(&checked(body)).is_some());
        assert!(Secret::read(&checked(&body.replace(&digits(&own), &digits(&other)))).is_none());
    }

    /// RFC 8032 signatures are deterministic. The expected values come from Python's `cryptography`.
    #[test]
    fn keys_and_signatures_of_earlier_versions_stay_the_same() {
        let v1 = format!("{HEADER_V1}\ned25519 {}\nargs {}\n", "07".repeat(32), "02".repeat(32));
        let v2 = Secret::read(&v1).unwrap().to_text();
        for text in [&v1, &v2] {
            let secret = Secret::read(text).unwrap();
            assert_eq!(secret.public(), "ed25519:ea4a6c63e29c520abef5507b132ec5f9954776aebebe7b92421eea691446d22c");
            let signature = secret.sign("tag", b"text");
            let (r, s) = (
                "0aaa40e371eb90c9ab31e888cc4468abff429e66b2f05307a7d2fd3502944c58",
                "d798fcb8ee73a4a31e748578839430a499638f51a5e1e9cc5ffbf45432de300d",
            );
            assert_eq!(signature, format!("{ED25519}{r}{s}"));
            assert!(is_signed(secret.public(), &signature, "tag", b"text"));
            assert!(!is_signed(secret.public(), &signature, "tag", b"other"));
            assert!(!is_signed(secret.public(), &signature, "other", b"text"));
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
