"""Host names, origins, and the addresses that the server may bind to."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from devui.web.security.headers import HeaderError
from devui.web.security.hosts import Authority, BadHostEntry, BindRefused, Hosts, check_bind

LOOPBACK = ["localhost", "127.0.0.1", "127.0.0.53", "::1", "[::1]"]
WIDE = ["0.0.0.0", "::", "192.168.1.5", "fe80::1", "box.example", "localhost.example", "127.1"]


@pytest.mark.req("R01")
@pytest.mark.parametrize("host", LOOPBACK)
@pytest.mark.parametrize("authenticated", [True, False])
def test_a_loopback_address_needs_neither_token_nor_flag(host: str, authenticated: bool) -> None:
    address = check_bind(host, token_given=False, allow_remote=False, authenticated=authenticated)
    assert address == host


@pytest.mark.req("R01")
@pytest.mark.parametrize("blank", ["", "  "])
def test_a_blank_host_means_localhost(blank: str) -> None:
    assert check_bind(blank, token_given=True, allow_remote=True) == "localhost"


@pytest.mark.req("R01")
@pytest.mark.parametrize("host", WIDE)
@pytest.mark.parametrize(("token", "flag"), [(False, False), (True, False), (False, True)])
def test_a_remote_host_needs_a_token_and_the_flag(host: str, token: bool, flag: bool) -> None:
    with pytest.raises(BindRefused, match="reached from other machines"):
        check_bind(host, token_given=token, allow_remote=flag)


@pytest.mark.req("R01")
@pytest.mark.parametrize("host", WIDE)
def test_a_remote_host_is_bound_with_token_and_flag(host: str) -> None:
    assert check_bind(host, token_given=True, allow_remote=True) == host


@pytest.mark.req("R01")
def test_a_remote_host_without_authentication_is_always_refused() -> None:
    with pytest.raises(BindRefused, match="--no-auth"):
        check_bind("0.0.0.0", token_given=True, allow_remote=True, authenticated=False)


@pytest.mark.req("R02")
@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (b"localhost", Authority("localhost", None)),
        (b"localhost:8000", Authority("localhost", 8000)),
        (b"127.0.0.1:8000", Authority("127.0.0.1", 8000)),
        (b"[::1]", Authority("[::1]", None)),
        (b"[::1]:8000", Authority("[::1]", 8000)),
        (b"a.b-c.example:1", Authority("a.b-c.example", 1)),
    ],
)
def test_a_host_header_is_a_name_and_a_port(value: bytes, expected: Authority) -> None:
    assert Authority.parse(value) == expected


@pytest.mark.req("R02")
@pytest.mark.parametrize(
    "value",
    [
        *(b"", b" ", b":8000", b"localhost:", b"localhost:8000:1", b"localhost:99999"),
        *(b"localhost:8000@evil", b"user@localhost", b"http://localhost", b"localhost/"),
        *(b"localhost, evil", b"localhost evil", b"::1", b"[::1", b"[::1]x", b"local\x00host"),
        *(
            b"localhost:-1",
            b"localhost:+80",
            b"localhost:08000",
            b"localhost:0",
            "lōcalhost".encode(),
            b"a" * 300,
            b"localhost\n",
        ),
    ],
)
def test_other_host_headers_are_malformed(value: bytes) -> None:
    with pytest.raises(HeaderError):
        Authority.parse(value)


@pytest.mark.req("R02")
@given(st.binary(max_size=80) | st.from_regex(rb"[a-z0-9.:\[\]@-]{0,40}", fullmatch=True))
def test_only_our_hosts_are_accepted(value: bytes) -> None:
    ours = {b"localhost:8000", b"127.0.0.1:8000", b"[::1]:8000"}
    try:
        accepted = Authority.parse(value) in Hosts.here(8000).authorities
    except HeaderError:
        accepted = False
    assert accepted == (value in ours)


def test_only_the_default_port_may_be_omitted() -> None:
    assert Authority("localhost", None) in Hosts.here(80).authorities
    assert Authority("localhost", None) not in Hosts.here(8000).authorities
    assert b"http://localhost" in Hosts.here(80).origins


@pytest.mark.req("R02")
def test_an_extra_host_can_be_given_by_name_port_or_origin() -> None:
    hosts = Hosts.here(8000, extra=["box.example", "b.example:9000", "https://t.example", " "])
    assert hosts.origins == Hosts.here(8000).origins | {
        b"http://box.example:8000",
        b"http://b.example:9000",
        b"https://t.example",
    }
    assert Authority("t.example", None) in hosts.authorities
    assert Authority("box.example", None) not in hosts.authorities


def test_blank_entries_are_ignored() -> None:
    assert Hosts.here(8000, extra=["", "  "]) == Hosts.here(8000)


@pytest.mark.parametrize(
    "entry", ["*", "*.example", "Box.example", "ftp://x", "a/b", "a:0", "a:99999", "a b"]
)
def test_an_invalid_entry_is_refused(entry: str) -> None:
    with pytest.raises(BadHostEntry):
        Hosts.here(8000, extra=[entry])


def test_a_bound_address_is_accepted_as_host_but_a_wildcard_is_not() -> None:
    assert Authority("192.168.1.5", 8000) in Hosts.here(8000, host="192.168.1.5").authorities
    assert Authority("[fe80::1]", 8000) in Hosts.here(8000, host="fe80::1").authorities
    assert Hosts.here(8000, host="0.0.0.0") == Hosts.here(8000, host="::") == Hosts.here(8000)
