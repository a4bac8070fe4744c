use super::Address;

#[test]
fn every_spelling_of_a_metadata_address_is_recognised() {
    for text in [
        "http://169.254.169.254/latest/meta-data/",
        "169.254.169.254",
        "http://2852039166/",
        "http://0xa9fea9fe/",
        "http://0xA9.0xFE.0xA9.0xFE/",
        "http://0251.0376.0251.0376",
        "http://169.254.43518/",
        "http://169.16689662/",
        "http://[::ffff:a9fe:a9fe]/",
        "http://[::ffff:169.254.169.254]:80/",
        "http://[64:ff9b::a9fe:a9fe]",
        "http://[::169.254.169.254]/",
        "http://169.254.169.254./x",
        "http://user:pw@169.254.169.254/",
        "HTTP://METADATA.GOOGLE.INTERNAL/",
        "http:/169.254.169.254/",
        "http:\\\\169.254.169.254\\x",
        "http://169.254.169.254\\@example.com/",
        "http://%31%36%39.254.169.254/",
        "http://１６９.254.169。254/",
        "http://169.254.169.254.nip.io/",
        "http://x-169-254-169-254.sslip.io",
        "http://[fd00:ec2::254]/",
        "fd00:ec2::254",
        " http://169.254.170.2/v2 ",
        "gopher://169.254.169.254:80/_GET",
        "metadata.google.internal.",
    ] {
        assert!(Address::parse(text).is_metadata(), "{text}: {:?}", Address::parse(text));
    }
    for text in [
        "https://example.com/169.254.169.254",
        "https://169.254.169.254@example.com/",
        "http://169.254.example.com/",
        "https://docs.example.com/?u=http://169.254.169.254/",
        "http://1692.54.1.1",
        "http://metadata.example.com",
    ] {
        assert!(!Address::parse(text).is_metadata(), "{text}");
    }
}

#[test]
fn this_machine_is_told_apart_from_names_that_only_begin_like_it() {
    for text in [
        "http://localhost:3000/x", "localhost:3000", ":3000", "127.0.0.1", "http://127.1/", "http://0177.0.0.1/",
        "http://[::1]:80/", "::1", "http://localhost:$PORT/", "LOCALHOST", "http://app.localhost/", "http://0/",
    ] {
        assert!(Address::parse(text).is_this_machine(), "{text}: {:?}", Address::parse(text));
    }
    for text in [
        "http://localhost:80@example.com/",
        "http://localhost.example.com/",
        "http://127.0.0.1.example.com/",
        "http://localhost$X/",
        "http://$HOST/",
        "http://10.0.0.1/",
        "http://127.evil/",
        "",
    ] {
        assert!(!Address::parse(text).is_this_machine(), "{text}");
    }
    assert!(Address::parse("http://api:8000/x").is_nearby());
    assert!(!Address::parse("http://metadata/x").is_nearby());
    assert!(!Address::parse("http://api.example.com/").is_nearby());
}

#[test]
fn a_backslash_ends_the_host() {
    assert!(Address::parse("https://api.github.com/x").is_of_service("github.com"));
    assert!(!Address::parse("https://evil.example\\.github.com/x").is_of_service("github.com"));
    assert!(!Address::parse("https://evilgithub.com").is_of_service("github.com"));
    assert!(!Address::parse("http://github.com").is_of_service("github.com"));
}

#[test]
fn parts_are_kept_as_written() {
    let address = Address::parse("https://u:p@Example.com:8443/a/b?q=1#f");
    let parts = (address.user, address.host.as_str(), address.written_host, address.port, address.location);
    assert_eq!(parts, ("u:p", "example.com", "Example.com", "8443", "/a/b?q=1#f"));
    assert_eq!(Address::parse("data:text/html,x").scheme, "data");
    assert_eq!(Address::parse("file:///etc/passwd").scheme, "file");
}
