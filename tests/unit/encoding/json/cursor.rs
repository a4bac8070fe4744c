//! Unit tests of `src/encoding/json/cursor.rs`.

use super::*;

#[test]
fn plain_text_ends_at_the_first_special_byte() {
    for length in (0..300).step_by(7) {
        for at in 0..=length {
            for special in [b'"', b'\\', b'\n', 0, 0x1f] {
                let mut text = "aé !#[]\u{7f}".as_bytes().iter().cycle().take(length).copied().collect::<Vec<u8>>();
                text.get_mut(at).into_iter().for_each(|byte| *byte = special);
                assert_eq!(plain_length(&text), at, "{length} bytes, {special} at {at}");
            }
        }
    }
}
