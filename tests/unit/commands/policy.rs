//! Unit tests of `src/commands/policy.rs`.

use super::*;
use rune::policy::Layer;

#[test]
fn the_template_says_nothing_and_all_that_it_offers_can_be_read() {
    assert_eq!(Layer::read(LOCAL_FILE.1, LOCAL_FILE.0), Ok(Layer::default()));
    let offered = |line: &str| line.strip_prefix('#').filter(|rest| !rest.starts_with(' ')).map(str::to_owned);
    let all: Vec<String> = LOCAL_FILE.1.lines().filter_map(offered).collect();
    assert!(all.len() > 15);
    assert_ne!(Layer::read(&all.join("\n"), LOCAL_FILE.0).unwrap(), Layer::default());
}
