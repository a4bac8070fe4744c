//! Traits that `Quarantined` and `Reason` must not implement. The compiler checks the assertions.

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

/// Exposing content needs a checked reason and an audit, and returns a shared reference.
type Expose = for<'a, 'b, 'c> fn(&'a Quarantined<String>, Reason, &'b mut Audit<'c>) -> &'a String;

#[test]
fn content_is_exposed_for_a_reason_and_read_only() {
    let _: Expose = Quarantined::<String>::expose;
}
