//! Unit tests of `src/encoding/bytes.rs`.

use super::*;

#[test]
fn the_first_accepted_byte_is_found_wherever_it_is() {
    for length in (0..300).step_by(7) {
        for at in 0..=length {
            let mut bytes = vec![b'a'; length];
            bytes.get_mut(at..).unwrap_or_default().fill(b'"');
            let expected = (at < length).then_some(at);
            assert_eq!(position(&bytes, |byte| byte == b'"'), expected, "{length} bytes, from {at}");
        }
    }
}
