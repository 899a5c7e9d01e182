"""The guard around an application, as HTTP clients see it."""

from typing import Any

import pytest
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from devui.web.security.headers import CONTENT_SECURITY_POLICY
from tests.web.edge_kit import BASE, BEARER, NAVIGATION, Site

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "media-src 'self'; font-src 'self'; connect-src 'self'; form-action 'self'; frame-src 'self'; "
    "base-uri 'none'; object-src 'none'; frame-ancestors 'none'"
)
EVERYWHERE = {
    "cross-origin-resource-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "same-origin",
    "cache-control": "no-store",
    "content-security-policy": POLICY,
}


async def broken(request: Request) -> Response:
    raise RuntimeError(f"<b>{request.url.path}</b>")


ANSWERS: list[tuple[str, str, dict[str, str], int]] = [
    ("GET", "/", BEARER, 200),
    ("GET", "/data", {}, 401),
    ("GET", "/", NAVIGATION, 401),
    ("GET", "/nowhere", BEARER, 404),
    ("PUT", "/", {**BEARER, "origin": BASE}, 405),
    ("POST", "/data", {**BEARER, "content-type": "text/plain"}, 415),
    ("GET", "/", {"host": "evil.example"}, 403),
    ("GET", "/", {"host": ""}, 400),
    ("GET", "/", {**NAVIGATION, "sec-fetch-site": "cross-site"}, 200),
    ("GET", "/login", {}, 200),
    ("GET", "/broken", BEARER, 500),
]


@pytest.mark.req("R05")
@pytest.mark.req("R13")
@pytest.mark.parametrize(("method", "path", "headers", "status"), ANSWERS)
def test_every_answer_carries_the_security_headers(
    method: str, path: str, headers: dict[str, str], status: int
) -> None:
    site = Site(routes=[Route("/broken", broken)])
    response = site.client().request(method, path, headers=headers)
    assert response.status_code == status
    assert {name: response.headers[name] for name in EVERYWHERE} == EVERYWHERE
    assert "permissions-policy" in response.headers


@pytest.mark.req("R13")
def test_the_content_security_policy_is_the_agreed_one() -> None:
    assert CONTENT_SECURITY_POLICY == POLICY


@pytest.mark.req("R06")
def test_no_answer_carries_a_cors_header() -> None:
    client = Site().client()
    for headers in (BEARER, {**BEARER, "origin": BASE}):
        response = client.get("/cors", headers=headers)
        assert response.status_code == 200
        assert not [name for name in response.headers if name.startswith("access-control")]
        assert response.headers["cache-control"] == "no-store"


@pytest.mark.req("R06")
def test_a_preflight_from_another_origin_is_refused() -> None:
    preflight = {"origin": "http://localhost:5001", "access-control-request-method": "POST"}
    response = Site().client().options("/data", headers={**preflight, **BEARER})
    assert response.status_code == 403
    assert not [name for name in response.headers if name.startswith("access-control")]


@pytest.mark.req("R24")
def test_user_bytes_keep_their_stricter_policy() -> None:
    response = Site().client().get("/user-bytes", headers=BEARER)
    assert response.headers["content-security-policy"] == "sandbox"
    assert response.headers["x-content-type-options"] == "nosniff"


@pytest.mark.req("R02")
@pytest.mark.parametrize("name", ["<script>", "evil.example"])
def test_a_refusal_does_not_echo_the_request_or_set_a_cookie(name: str) -> None:
    site = Site()
    response = site.client().get(f"/{name}", headers={"host": name, **BEARER})
    assert response.status_code in {400, 403}
    assert name not in response.text
    assert "set-cookie" not in response.headers
    assert site.calls == []


@pytest.mark.req("R04")
def test_a_refused_change_never_reaches_the_view() -> None:
    site = Site()
    client = site.client(**BEARER)
    refused = [{"origin": "null"}, {"sec-fetch-site": "same-site"}]
    for headers in refused:
        assert client.post("/data", json={}, headers=headers).status_code == 403
    assert site.calls == []
    assert client.post("/data", json={}, headers={"origin": BASE}).status_code == 200
    assert site.calls == ["POST /data"]
    assert site.app.refusals.total() == len(refused)


@pytest.mark.req("R07")
def test_a_route_needs_credentials_unless_it_is_declared_open() -> None:
    site = Site(routes=[Route("/brand-new", broken)])
    open_ones = {"/login", "/health", "/static/css/base.css"}
    for path in ["/", "/data", "/cors", "/user-bytes", "/brand-new", *open_ones]:
        assert (site.client().get(path).status_code == 401) == (path not in open_ones)


@pytest.mark.req("R03")
def test_a_link_from_another_site_gets_a_page_that_reloads_itself() -> None:
    site = Site()
    foreign = {**NAVIGATION, "sec-fetch-site": "cross-site"}
    response = site.client().get("/data?x=1", headers=foreign)
    assert response.status_code == 200
    assert 'http-equiv="refresh"' in response.text
    assert "x=1" not in response.text
    assert "set-cookie" not in response.headers
    assert site.calls == []


async def test_websockets_are_closed_before_they_open() -> None:
    site, sent = Site(), []

    async def send(message: Any) -> None:
        sent.append(message)

    async def receive() -> Any:
        return {"type": "websocket.connect"}

    await site.app({"type": "websocket", "path": "/", "headers": []}, receive, send)
    assert sent == [{"type": "websocket.close", "code": 1008}]
    assert site.calls == []


def test_browsers_may_cache_static_files_of_this_version() -> None:
    site = Site()
    url = site.renderer.environment.globals["asset"]("css/base.css")
    assert site.client().get(url).headers["cache-control"].endswith("immutable")
    for path in ("css/base.css", "0123456789abcdef/css/base.css", "css/none.css"):
        assert site.client().get(f"/static/{path}").headers["cache-control"] == "no-store"
