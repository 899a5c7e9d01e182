"""Raw requests to a real server, since HTTP clients would tidy them up."""

import pytest

from tests.web.edge_kit import BEARER, Site, exchange, free_socket, running

TOKEN = BEARER["authorization"]
PORT = b"{port}"


def head(target: str, *headers: str, version: str = "1.1") -> bytes:
    lines = [f"GET {target} HTTP/{version}", *headers, f"Authorization: {TOKEN}"]
    return "\r\n".join([*lines, "Connection: close", "", ""]).encode("latin-1")


ACCEPTED = [
    head("/", "Host: localhost:{port}"),
    head("/", "HOST: 127.0.0.1:{port}"),
    head("/", "host: [::1]:{port}"),
    head("/", "Host:  localhost:{port} "),
    head("/?a=b", "Host: localhost:{port}", "X-Forwarded-Host: evil.example"),
]
REFUSED = [
    *(head("/", f"Host: {name}") for name in ("evil.example", "localhost.evil.example:{port}")),
    *(head("/", f"Host: {name}") for name in ("127.0.0.1.nip.io:{port}", "localhost:1")),
    *(head("/", f"Host: {name}") for name in ("localhost:{port}@evil", "127.0.0.1:{port}.evil")),
    *(head("/", f"Host: {name}") for name in ("0.0.0.0:{port}", "127.1:{port}", "localhost")),
    *(head("/", f"Host: {name}") for name in ("2130706433:{port}", "0x7f.1:{port}", "[::1]")),
    *(head("/", f"Host: {name}") for name in ("[::ffff:127.0.0.1]:{port}", "LOCALHOST:{port}")),
    *(head("/", f"Host: {name}") for name in ("localhost.:{port}", "", "localhost:{port}, evil")),
    head("/"),
    head("/", version="1.0"),
    head("/", "Host: localhost:{port}", "Host: localhost:{port}"),
    head("/", "Host: localhost:{port}", "Host: evil.example"),
    head("/", "Host: evil.example", "X-Forwarded-Host: localhost:{port}"),
    head("/", "Host: evil.example", "Forwarded: host=localhost:{port}"),
    head("http://evil.example/", "Host: localhost:{port}"),
    head("http://localhost:{port}/", "Host: localhost:{port}"),
    head("*", "Host: localhost:{port}"),
    head("/", "Host: localhost:{port}", "Origin: http://localhost:{port}", "Origin: null"),
    head("/", "Host: localhost:{port}", "Sec-Fetch-Site: same-origin", "Sec-Fetch-Site: none"),
    head("/", "Host: localhost:{port}", f"Authorization: {TOKEN}"),
    head("/", "Host : localhost:{port}"),
    head("/", "Host: localhost:{port}\x00"),
]


async def ask_all(templates: list[bytes]) -> tuple[dict[bytes, bytes], Site]:
    """Return one server's answers to the requests, each sent on its own connection."""
    listener = free_socket()
    site = Site(port=listener.getsockname()[1])
    port = str(site.port).encode()
    async with running(site.app, listener):
        answers = {
            template: await exchange(site.port, template.replace(PORT, port))
            for template in templates
        }
    return answers, site


@pytest.mark.req("R02")
async def test_requests_for_our_hosts_are_answered() -> None:
    answers, site = await ask_all(ACCEPTED)
    wrong = {t: a for t, a in answers.items() if not a.startswith(b"HTTP/1.1 200")}
    assert not wrong
    assert site.calls == ["GET /"] * len(ACCEPTED)


@pytest.mark.req("R02")
async def test_other_requests_are_refused_without_an_echo() -> None:
    answers, site = await ask_all(REFUSED)
    for template, answer in answers.items():
        assert answer.startswith((b"HTTP/1.1 403", b"HTTP/1.1 400")), template
        assert b"evil" not in answer, template
        assert b"set-cookie" not in answer.lower(), template
    assert len(answers) == len(REFUSED)
    assert site.calls == []
