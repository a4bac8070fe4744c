use super::{NewException, add_exceptions, add_to_list, remove};

fn exception(id: &str) -> NewException {
    let until = time::Date::from_calendar_date(2030, time::Month::December, 31).ok();
    NewException {
        id: id.to_owned(),
        rule: "git-force-push".to_owned(),
        pattern: r"^git push '\x27'$".to_owned(),
        reason: "a \"reason\"".to_owned(),
        until,
    }
}

fn is_valid(text: &str) -> bool {
    rune::policy::Layer::read(text, "x").is_ok()
}

#[test]
fn exceptions_go_below_comments_and_other_tables_and_can_be_removed() {
    let template = include_str!("../../../../config/config.local.toml");
    for text in ["", template, "preset = 'strict' # mine\n\n[paths]\nwork = [\"/w\"]\n# the end\n"] {
        let one = add_exceptions(text, &[exception("a")]).unwrap();
        let two = add_exceptions(&one, &[exception("b"), exception("c")]).unwrap();
        assert!(is_valid(&two), "{two}");
        assert!(two.starts_with(text.trim_end()), "{two}");
        assert_eq!(two.matches("[[exceptions]]\nid = ").count(), 3, "{two}");
        let gone = ["a", "b", "c"].iter().fold(two, |text, id| remove(&text, id).unwrap());
        assert_eq!(gone.trim(), text.trim());
    }
    let inline = "exceptions = [{ rule = \"x\", match = \"y\", reason = \"z\" }] # mine\n";
    let text = add_exceptions(inline, &[exception("a")]).unwrap();
    assert!(is_valid(&text) && text.ends_with("] # mine\n"), "{text}");
    assert_eq!(remove(&text, "a").unwrap(), inline);
    assert!(add_exceptions("exceptions = 1", &[exception("a")]).is_err());
}

#[test]
fn items_of_lists_are_on_lines_of_their_own_below_their_reasons() {
    let text = add_to_list("", "executables", "allowed", "terraform", "ours\nevil = 1").unwrap();
    assert_eq!(text, "[executables]\nallowed = [\n    # ours\\nevil = 1\n    \"terraform\",\n]\n");
    let text = add_to_list("[executables]\nallowed = [\"x\"] # mine\n", "executables", "allowed", "y", "r").unwrap();
    assert_eq!(text, "[executables]\nallowed = [\"x\",\n    # r\n    \"y\",\n] # mine\n");
    assert!(is_valid(&text));
    assert!(is_valid(&remove(&text, "y").unwrap()));
    assert!(remove(&text, "z").is_err());
    let commented = "[executables]\nallowed = [\n    \"x\", # mine\n    # the end\n]\n";
    let text = add_to_list(commented, "executables", "allowed", "y", "r").unwrap();
    assert!(text.starts_with(commented.trim_end_matches("\n]\n")) && is_valid(&text), "{text}");
    let further = add_to_list(&text, "executables", "allowed", "z", "s").unwrap();
    assert_eq!(remove(&further, "z").unwrap(), text);
    assert_eq!(remove(&text, "y").unwrap(), commented);
    assert!(add_to_list("paths = 1", "paths", "work", "/w", "r").is_err());
}
