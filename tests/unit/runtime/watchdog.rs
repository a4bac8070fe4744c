//! Unit tests of `src/runtime/watchdog.rs`.

use super::*;

#[test]
fn the_watchdog_waits_for_an_answer_that_has_begun() {
    let progress = Arc::new(Progress::new());
    assert!(progress.claim(2) && !progress.claim(0));
    let other = Arc::clone(&progress);
    let answering = std::thread::spawn(move || other.settle(0));
    progress.wait_until_settled();
    assert_eq!(progress.exit_code(7), 0);
    answering.join().unwrap();
}
