use rune::quarantined::{ContentSource, Origin, Quarantined};

fn sealed() -> Quarantined<String> {
    Quarantined::new("secret".to_owned(), Origin::new(ContentSource::Email, "1", time::OffsetDateTime::UNIX_EPOCH))
}

fn main() {
    let _ = rune::encoding::label::Label::new(&sealed());
}
