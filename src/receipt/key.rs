//! Keys: who signs, who is believed, and what makes arguments comparable without telling them.

use super::digest;
use crate::canonical;
use crate::hex;
use crate::quarantined::Quarantined;
use curve25519_dalek::{EdwardsPoint, Scalar};
use ed25519_dalek::hazmat::ExpandedSecretKey;
use ed25519_dalek::{Signature, SigningKey, VerifyingKey};
use hmac::{Hmac, KeyInit, Mac};
use sha2::{Digest, Sha256, Sha512};
use std::fmt;

/// The first line of a key file.
const HEADER: &str = "rune.receipt.key/2";

/// The first line of a key file that does not hold the public key.
const BARE: &str = "rune.receipt.key/1";

/// How public keys and signatures are marked.
const ED25519: &str = "ed25519:";

/// The secrets of one installation.
pub struct Secret {
    signing: [u8; 32],
    /// What follows from `signing`.
    public: [u8; 32],
    args: [u8; 32],
    /// The public key as receipts spell it.
    name: String,
    /// The public keys that signed before, oldest first.
    former: Vec<PublicKey>,
}

impl Secret {
    /// Secrets from random bytes.
    pub fn new(signing: [u8; 32], args: [u8; 32]) -> Self {
        Secret::with(signing, SigningKey::from_bytes(&signing).verifying_key().to_bytes(), args)
    }

    fn with(signing: [u8; 32], public: [u8; 32], args: [u8; 32]) -> Self {
        let name = format!("{ED25519}{}", hex::encode(&public));
        Secret { signing, public, args, name, former: Vec::new() }
    }

    /// The same secret for arguments with another key to sign with.
    pub fn rotated(&self, signing: [u8; 32]) -> Self {
        let former = self.former.iter().cloned().chain(PublicKey::read(&self.name)).collect();
        Secret { former, ..Secret::new(signing, self.args) }
    }

    /// Reads a key file.
    ///
    /// Deriving the public key costs as much as signing, so the file holds it. Both come from the same hand: whoever
    /// could write another public key there could as well write another secret. That the two have come apart by
    /// accident, the last line tells.
    pub fn read(text: &str) -> Option<Self> {
        let mut lines = text.lines();
        let held = match lines.next()? {
            HEADER => {
                let (body, check) = text.strip_suffix('\n')?.rsplit_once("\ncheck ")?;
                lines = Some(body).filter(|body| digest(body.as_bytes()) == check)?.lines();
                lines.next().is_some()
            }
            BARE => false,
            _ => return None,
        };
        let mut member = |name: &str| hex::decode(lines.next()?.strip_prefix(name)?);
        let (signing, args) = (member("ed25519 ")?, member("args ")?);
        let secret = if held { Secret::with(signing, member("public ")?, args) } else { Secret::new(signing, args) };
        let former = lines.map(|line| PublicKey::read(line.strip_prefix("was ")?)).collect::<Option<_>>()?;
        Some(Secret { former, ..secret })
    }

    /// The text of a key file.
    pub fn to_text(&self) -> String {
        let [signing, args, public] = [&self.signing, &self.args, &self.public].map(|bytes| hex::encode(bytes));
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

    /// A signature under a tag that says what is signed, by RFC 8032, section 5.1.6.
    ///
    /// The steps are spelled out, because the library takes a public key only as a point, and finding that costs a tenth
    /// of a whole receipt; a signature needs no more than its bytes.
    ///
    /// INVARIANT: the text names the public key. One text that is signed under two public keys would give the secret
    /// away, and none ever is: should a key file hold a wrong one, its signatures are not genuine, and tell nothing.
    pub(super) fn sign(&self, tag: &str, text: &[u8]) -> String {
        let hash = |first: &[u8], second: &[u8]| {
            let parts = [first, second, tag.as_bytes(), b"\n", text];
            let hash = parts.iter().fold(Sha512::new(), Sha512::chain_update);
            Scalar::from_bytes_mod_order_wide(&hash.finalize().into())
        };
        let secret = ExpandedSecretKey::from(&self.signing);
        let nonce = hash(&secret.hash_prefix, &[]);
        let point = EdwardsPoint::mul_base(&nonce).compress();
        let scalar = hash(point.as_bytes(), &self.public) * secret.scalar + nonce;
        format!("{ED25519}{}{}", hex::encode(point.as_bytes()), hex::encode(scalar.as_bytes()))
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
        let bare = format!("{BARE}\ned25519 {one}\nargs {args}\nwas {was}\n");
        let secret = Secret::read(&bare).unwrap();
        assert_eq!(secret.to_text(), Secret::new([3; 32], [2; 32]).rotated([1; 32]).to_text());
        for wrong in [bare.replace("was ", "check "), format!("{bare}more\n"), bare.replace("args", "public")] {
            assert!(Secret::read(&wrong).is_none(), "{wrong}");
        }
    }

    #[test]
    fn a_public_key_that_is_kept_signs_like_one_that_is_derived() {
        use ed25519_dalek::Signer as _;
        for number in 0..100_u8 {
            let (seed, text) = ([number; 32], vec![number; usize::from(number) * 11]);
            let derived = SigningKey::from_bytes(&seed).sign(&[b"tag\n", text.as_slice()].concat());
            let kept = Secret::read(&Secret::new(seed, [2; 32]).to_text()).unwrap();
            assert_eq!(kept.sign("tag", &text), format!("{ED25519}{}", hex::encode(&derived.to_bytes())), "{number}");
            assert!(is_signed(kept.public(), &kept.sign("tag", &text), "tag", &text), "{number}");
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
