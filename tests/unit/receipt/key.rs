//! Unit tests of `src/receipt/key.rs`.

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

/// The `check` line is a hash without a key, so an edit of the public key can also correct the hash.
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
    // A key of small order verifies signatures of any text.
    assert_eq!(PublicKey::read(&format!("01{}", "00".repeat(31))), None);
}

#[test]
fn equal_arguments_have_equal_hmacs_in_one_installation_only() {
    let mark = |secret: u8, text: &str| Secret::new([1; 32], [secret; 32]).arguments_key().hmac(&seal(text)).unwrap();
    assert_eq!(mark(2, r#"{"a": 1, "b": 2}"#), mark(2, r#"{"b":2,"a":1.0}"#));
    assert_ne!(mark(2, r#"{"a":1}"#), mark(3, r#"{"a":1}"#));
    assert_ne!(mark(2, r#"{"a":1}"#), mark(2, r#"{"a":2}"#));
    assert!(mark(2, r#"{"a":1,"a":2}"#).starts_with("hmac-sha256-raw:"));
}
