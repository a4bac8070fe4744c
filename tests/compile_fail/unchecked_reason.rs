use rune::quarantined::{ContentSource, Origin, Quarantined};

fn sealed() -> Quarantined<String> {
    Quarantined::new("secret".to_owned(), Origin::new(ContentSource::Email, "1", time::OffsetDateTime::UNIX_EPOCH))
}

fn main() {
    let mut audit = rune::quarantined::Audit::new(|_| {});
    let mail = sealed();
    let _ = mail.expose("just a string", &mut audit);
}
