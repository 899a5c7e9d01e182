"""The verdicts of the policy on requests, as tables."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from devui.web.security.policy import Refusal, Verdict
from tests.web.edge_kit import TOKEN, Site

NAVIGATE = {"sec-fetch-mode": "navigate", "sec-fetch-dest": "document"}
AUTH = {"authorization": f"Bearer {TOKEN}"}
JSON = {"content-type": "application/json", "content-length": "2"}
FORM = {"content-type": "application/x-www-form-urlencoded", "content-length": "2"}
OURS = "http://localhost:8000"

Judged = Verdict | int
"""A verdict, or the status of a refusal."""


def judge(
    headers: dict[str, str] | list[tuple[str, str]],
    method: str = "GET",
    path: str = "/data",
    site: Site | None = None,
) -> Judged:
    pairs = list(headers.items()) if isinstance(headers, dict) else headers
    if not any(name == "host" for name, _ in pairs):
        pairs = [("host", "localhost:8000"), *pairs]
    raw = [(name.encode(), value.encode("latin-1")) for name, value in pairs]
    scope: dict[str, Any] = {"type": "http", "method": method, "path": path, "headers": raw}
    verdict = (site or Site()).policy.judge(scope)
    return verdict.status if isinstance(verdict, Refusal) else verdict


@pytest.mark.req("R02")
@pytest.mark.parametrize(
    ("host", "expected"),
    [
        ("localhost:8000", Verdict.PASS),
        ("127.0.0.1:8000", Verdict.PASS),
        ("[::1]:8000", Verdict.PASS),
        *((host, 403) for host in ("evil.example", "localhost.evil.example:8000", "localhost:1")),
        *((host, 403) for host in ("127.0.0.1.nip.io:8000", "0.0.0.0:8000", "127.1:8000")),
        *((host, 403) for host in ("2130706433:8000", "0x7f000001:8000", "[::ffff:7f00:1]:8000")),
        *((host, 403) for host in ("[::]:8000", "[::1]", "localhost", "LOCALHOST:8000")),
        *((host, 403) for host in ("localhost.:8000", "127.0.0.1:80")),
        *((host, 400) for host in ("", "localhost:8000@evil", "127.0.0.1:8000.evil")),
        *((host, 400) for host in ("localhost:8000, evil", "localhost:", "evil localhost:8000")),
    ],
)
@pytest.mark.parametrize("path", ["/data", "/static/css/base.css", "/health", "/nowhere"])
@pytest.mark.parametrize("method", ["GET", "OPTIONS"])
def test_only_our_hosts_get_an_answer(host: str, expected: Judged, path: str, method: str) -> None:
    assert judge({"host": host, **AUTH}, method, path) == expected


@pytest.mark.req("R02")
@pytest.mark.parametrize("name", ["host", "origin", "sec-fetch-site", "authorization"])
def test_a_header_that_decides_may_occur_only_once(name: str) -> None:
    value = {"host": "localhost:8000", "origin": OURS, "sec-fetch-site": "same-origin"}
    pair = (name, value.get(name, AUTH["authorization"]))
    rest = [item for item in AUTH.items() if item[0] != name]
    assert judge([*rest, pair, pair]) == 400
    assert judge([*rest, pair]) == Verdict.PASS


@pytest.mark.req("R02")
def test_a_forwarded_host_is_ignored() -> None:
    forwarded = {"x-forwarded-host": "localhost:8000", "forwarded": "host=localhost:8000"}
    assert judge({"host": "evil.example", **forwarded, **AUTH}) == 403
    assert judge({**forwarded, **AUTH}) == Verdict.PASS


@pytest.mark.req("R02")
@pytest.mark.parametrize("path", ["http://evil.example/data", "*", ""])
def test_the_target_of_a_request_is_a_path(path: str) -> None:
    assert judge(AUTH, path=path) == 400
    assert judge(AUTH, path="/data") == Verdict.PASS


SITES = ["same-origin", "same-site", "cross-site", "none", "garbage", "Same-Origin", ""]
MODES = ["navigate", "cors", "no-cors", "same-origin", "websocket"]
DESTINATIONS = ["document", "iframe", "script", "image", "empty"]


def expected_of_fetch(site: str, mode: str, destination: str, method: str) -> Judged:
    """Return the verdict that R03 requires."""
    if site == "same-origin":
        return Verdict.PASS
    if (mode, destination, method) != ("navigate", "document", "GET"):
        return 403
    verdicts = {"none": Verdict.PASS, "same-site": Verdict.ARRIVE, "cross-site": Verdict.ARRIVE}
    return verdicts.get(site, 403)


@pytest.mark.req("R03")
@pytest.mark.parametrize("site", SITES)
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("destination", DESTINATIONS)
@pytest.mark.parametrize(
    ("path", "method"),
    [("/data", "GET"), ("/static/js/app.js", "GET"), ("/login", "GET"), ("/data", "POST")],
)
def test_requests_from_other_sites_are_refused_or_reloaded(
    site: str, mode: str, destination: str, path: str, method: str
) -> None:
    fetch = {"sec-fetch-site": site, "sec-fetch-mode": mode, "sec-fetch-dest": destination}
    expected = expected_of_fetch(site, mode, destination, method)
    assert judge({**fetch, **AUTH, **JSON}, method, path) == expected


@pytest.mark.req("R04")
@pytest.mark.parametrize(
    "origin",
    [
        *("null", "http://localhost", "http://localhost:80", "https://localhost:8000"),
        *("http://localhost:5001", "http://user@localhost:8000", "http://localhost:8000/"),
        *("HTTP://LOCALHOST:8000", "http://localhost:8000 http://evil", "http://localhost:80001"),
        *("http://localhost:8000.evil", "http://evil-localhost:8000", "", "http://localhost:99999"),
    ],
)
@pytest.mark.parametrize("method", ["GET", "POST", "DELETE"])
def test_a_foreign_origin_is_refused(origin: str, method: str) -> None:
    assert judge({"origin": origin, **AUTH, **JSON}, method) == 403


@pytest.mark.req("R04")
@pytest.mark.parametrize("origin", [OURS, "http://127.0.0.1:8000", "http://[::1]:8000"])
def test_our_origins_pass(origin: str) -> None:
    assert judge({"origin": origin, **AUTH, **JSON}, "POST") == Verdict.PASS


@pytest.mark.req("R05")
@pytest.mark.parametrize("path", ["/", "/data", "/nowhere", "/login/", "/staticx", "/health/x"])
def test_reads_need_credentials(path: str) -> None:
    assert judge({}, path=path) == Verdict.SIGN_IN
    assert judge(AUTH, path=path) == Verdict.PASS


@pytest.mark.req("R07")
@pytest.mark.parametrize("path", ["/login", "/health", "/static/css/base.css"])
def test_the_open_paths_need_no_credentials(path: str) -> None:
    assert judge({}, path=path) == Verdict.PASS


@pytest.mark.req("R07")
@pytest.mark.parametrize(
    "value", ["Bearer wrong", f"Basic {TOKEN}", TOKEN, f"Bearer {TOKEN}x", "Bearer", "Bearer "]
)
def test_other_credentials_are_not_accepted(value: str) -> None:
    assert judge({"authorization": value}) == Verdict.SIGN_IN


@pytest.mark.req("R07")
def test_only_the_cookie_of_this_port_is_accepted() -> None:
    site = Site()
    secret = site.access.sign_in(TOKEN)
    assert judge({"cookie": f"a=b; devui-8000={secret}"}, site=site) == Verdict.PASS
    assert judge({"cookie": f"devui-8000=x; devui-8000={secret}"}, site=site) == Verdict.PASS
    assert judge({"cookie": f"devui-9000={secret}"}, site=site) == Verdict.SIGN_IN
    assert judge({"cookie": f"Devui-8000={secret}"}, site=site) == Verdict.SIGN_IN
    assert judge({"cookie": "devui-8000"}, site=site) == Verdict.SIGN_IN


@pytest.mark.req("R06")
@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE"])
@pytest.mark.parametrize(
    ("headers", "expected"),
    [
        ({"content-type": "application/json"}, Verdict.PASS),
        ({"content-type": "Application/JSON; charset=utf-8"}, Verdict.PASS),
        ({**FORM, "hx-request": "true"}, Verdict.PASS),
        ({**FORM, "sec-fetch-site": "same-origin"}, Verdict.PASS),
        ({**FORM, "origin": OURS}, Verdict.PASS),
        ({"content-length": "0"}, Verdict.PASS),
        ({}, Verdict.PASS),
        (FORM, 415),
        ({**FORM, "hx-request": "false"}, 415),
        ({"content-type": "text/plain", "content-length": "2"}, 415),
        ({"content-type": "multipart/form-data; boundary=x", "content-length": "2"}, 415),
        ({"content-type": "application/jsonp", "content-length": "2"}, 415),
        ({"content-type": "text/plain; application/json", "content-length": "2"}, 415),
        ({"content-length": "2"}, 415),
    ],
)
def test_changes_need_a_format_that_no_foreign_page_can_send(
    method: str, headers: dict[str, str], expected: Judged
) -> None:
    assert judge({**headers, **AUTH}, method) == expected


@pytest.mark.req("R04")
def test_a_change_with_only_a_cookie_must_name_its_origin() -> None:
    site = Site()
    cookie = {"cookie": f"devui-8000={site.access.sign_in(TOKEN)}"}
    assert judge({**cookie, **JSON}, "POST", site=site) == 403
    assert judge({**cookie, **JSON, "origin": OURS}, "POST", site=site) == Verdict.PASS
    same = {"sec-fetch-site": "same-origin"}
    assert judge({**cookie, **JSON, **same}, "POST", site=site) == Verdict.PASS


@pytest.mark.req("R07")
def test_without_authentication_foreign_pages_are_still_refused() -> None:
    site = Site(authenticated=False)
    assert judge({}, site=site) == Verdict.PASS
    assert judge(JSON, "POST", site=site) == Verdict.PASS
    assert judge({"origin": "http://evil.example", **JSON}, "POST", site=site) == 403
    assert judge({"sec-fetch-site": "same-site", **JSON}, "POST", site=site) == 403
    assert judge({"host": "evil.example"}, site=site) == 403
    assert judge({**FORM}, "POST", site=site) == 415


NAMES = st.sampled_from(
    ["host", "origin", "cookie", "authorization", "sec-fetch-site", "sec-fetch-mode", "x"]
)
VALUES = st.text(st.characters(max_codepoint=255), max_size=40) | st.sampled_from(
    ["localhost:8000", "same-origin", "navigate", "null", OURS, f"Bearer {TOKEN}"]
)


@pytest.mark.req("R02")
@given(st.lists(st.tuples(NAMES, VALUES), max_size=8), st.sampled_from(["GET", "POST", "X"]))
def test_no_headers_raise_an_error_or_let_a_foreign_host_pass(
    headers: list[tuple[str, str]], method: str
) -> None:
    verdict = judge(headers, method)
    hosts = [value for name, value in headers if name == "host"]
    if verdict is Verdict.PASS and hosts:
        assert hosts in ([name] for name in ("localhost:8000", "127.0.0.1:8000", "[::1]:8000"))
