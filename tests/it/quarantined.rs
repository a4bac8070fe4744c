//! What `Quarantined` and `Reason` do not offer. The assertions are checked when the tests are compiled.

use rune::quarantined::{Audit, Quarantined, Reason};
use static_assertions::assert_not_impl_any;
use std::borrow::{Borrow, BorrowMut};
use std::fmt::{Display, LowerHex, Write};
use std::ops::{Deref, DerefMut, Index};

assert_not_impl_any!(Quarantined<String>: Display, ToString, LowerHex, Write);
assert_not_impl_any!(Quarantined<String>: Deref, AsRef<str>, AsRef<String>, AsRef<[u8]>, Borrow<str>, Borrow<String>);
assert_not_impl_any!(Quarantined<String>: DerefMut, AsMut<str>, AsMut<String>, BorrowMut<str>, BorrowMut<String>);
assert_not_impl_any!(Quarantined<String>: Into<String>, Into<Vec<u8>>, Index<std::ops::RangeFull>, IntoIterator);
assert_not_impl_any!(Quarantined<String>: serde::Serialize, PartialEq<str>, PartialEq<String>);
assert_not_impl_any!(Reason: From<String>, From<&'static str>, Default);

/// The content is handed out for a checked reason, with a record, and never to be changed.
type Expose = for<'a, 'b, 'c> fn(&'a Quarantined<String>, Reason, &'b mut Audit<'c>) -> &'a String;

#[test]
fn content_is_exposed_for_a_reason_and_read_only() {
    let _: Expose = Quarantined::<String>::expose;
}
