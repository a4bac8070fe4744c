use rune::quarantined::{ContentSource, Origin, Quarantined};

fn sealed() -> Quarantined<String> {
    Quarantined::new("secret".to_owned(), Origin::new(ContentSource::Email, "1", time::OffsetDateTime::UNIX_EPOCH))
}

fn main() {
    let mut audit = rune::quarantined::Audit::new(|_| {});
    let mail = sealed();
    mail.expose(rune::quarantined::Reason::new("editing").unwrap(), &mut audit).push_str("!");
}
