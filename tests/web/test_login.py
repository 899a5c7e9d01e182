"""Signing a browser in."""

import html

import pytest
from starlette.testclient import TestClient

from devui.web.htmx import CONFIG
from tests.web.edge_kit import BASE, NAVIGATION, TOKEN, Site

FROM_FORM = {"origin": BASE, "sec-fetch-site": "same-origin"}


@pytest.mark.req("R08")
def test_the_printed_link_is_exchanged_for_a_cookie() -> None:
    site = Site()
    response = site.client().get(f"/login?code={site.access.new_code()}", headers=NAVIGATION)
    assert response.status_code == 303
    assert response.headers["location"] == "/"
    name, *attributes = response.headers["set-cookie"].split("; ")
    assert name.startswith("devui-8000=")
    assert {part.lower() for part in attributes} == {"httponly", "path=/", "samesite=strict"}


@pytest.mark.req("R08")
def test_the_cookie_is_secure_over_https() -> None:
    site = Site()
    client = TestClient(site.app, base_url=BASE.replace("http", "https"), follow_redirects=False)
    response = client.get(f"/login?code={site.access.new_code()}", headers=NAVIGATION)
    assert "secure" in response.headers["set-cookie"].lower().split("; ")


@pytest.mark.req("R08")
def test_the_cookie_gives_access_to_pages() -> None:
    site = Site()
    client = site.client(**NAVIGATION)
    assert client.get("/").status_code == 401
    client.get(f"/login?code={site.access.new_code()}")
    assert client.get("/").status_code == 200


@pytest.mark.req("R08")
def test_a_used_link_is_refused_with_a_helpful_page() -> None:
    site = Site()
    link = f"/login?code={site.access.new_code()}"
    assert site.client().get(link, headers=NAVIGATION).status_code == 303
    again = site.client().get(link, headers=NAVIGATION)
    assert again.status_code == 401
    assert "already used" in again.text
    assert "set-cookie" not in again.headers


def test_a_signed_in_browser_is_redirected_to_the_start_page() -> None:
    site = Site()
    client = site.client(**NAVIGATION)
    link = f"/login?code={site.access.new_code()}"
    client.get(link)
    assert client.get(link).headers["location"] == "/"
    assert client.get("/login").headers["location"] == "/"


@pytest.mark.req("R08")
@pytest.mark.parametrize("credential", ["cookie", "bearer"])
def test_a_link_opened_by_a_signed_in_client_signs_in_no_other(credential: str) -> None:
    site = Site()
    bearer = {"authorization": f"Bearer {TOKEN}"} if credential == "bearer" else {}
    client = site.client(**NAVIGATION, **bearer)
    if credential == "cookie":
        client.get(f"/login?code={site.access.new_code()}")
    link = f"/login?code={site.access.new_code()}"
    client.get(link, headers={"sec-purpose": "prefetch"})
    client.head(link)
    assert client.get(link).headers["location"] == "/"
    assert client.get("/").status_code == 200
    late = site.client().get(link, headers=NAVIGATION)
    assert (late.status_code, "already used" in late.text) == (401, True)
    fresh = f"/login?code={site.access.new_code()}"
    client.head(fresh)
    client.get(fresh, headers={"sec-purpose": "prefetch"})
    assert site.client().get(fresh, headers=NAVIGATION).status_code == 303


@pytest.mark.req("R08")
def test_a_cookie_does_not_outlive_its_server() -> None:
    before, after = Site(), Site()
    client = before.client(**NAVIGATION)
    client.get(f"/login?code={before.access.new_code()}")
    assert client.get("/").status_code == 200
    cookie = f"devui-8000={client.cookies['devui-8000']}"
    assert after.client(**NAVIGATION).get("/", headers={"cookie": cookie}).status_code == 401


@pytest.mark.req("R08")
def test_prefetching_does_not_use_up_the_link() -> None:
    site = Site()
    link = f"/login?code={site.access.new_code()}"
    ahead = {**NAVIGATION, "sec-purpose": "prefetch;prerender"}
    assert site.client().get(link, headers=ahead).status_code == 503
    assert site.client().head(link).status_code == 503
    foreign = {**NAVIGATION, "sec-fetch-site": "cross-site"}
    assert site.client().get(link, headers=foreign).status_code == 200
    assert site.client().get(link, headers=NAVIGATION).status_code == 303


def test_the_token_can_be_pasted_into_the_form() -> None:
    client = Site().client(**NAVIGATION)
    response = client.post("/login", data={"token": f" {TOKEN} "}, headers=FROM_FORM)
    assert response.status_code == 303
    assert client.get("/").status_code == 200


@pytest.mark.parametrize("token", ["wrong", "", "<script>alert(1)</script>", "ü"])
def test_a_wrong_token_shows_the_form_again_without_locking_out(token: str) -> None:
    client = Site().client(**NAVIGATION)
    for _ in range(20):
        response = client.post("/login", data={"token": token}, headers=FROM_FORM)
        assert response.status_code == 401
        assert "isn't this server's access token" in html.unescape(response.text)
        assert "<script" not in response.text
    right = client.post("/login", data={"token": TOKEN}, headers=FROM_FORM)
    assert right.status_code == 303


def test_an_oversized_sign_in_form_is_refused() -> None:
    response = Site().client().post("/login", data={"token": "x" * 5000}, headers=FROM_FORM)
    assert response.status_code == 413


@pytest.mark.req("R07")
def test_pages_scripts_and_htmx_each_get_their_own_sign_in_answer() -> None:
    site = Site()
    page = site.client().get("/", headers=NAVIGATION)
    assert page.status_code == 401
    assert "printed in the terminal" in page.text
    script = site.client().get("/data")
    assert script.status_code == 401
    assert script.headers["www-authenticate"] == "Bearer"
    assert "bearer token" in script.json()["detail"]
    htmx = site.client().get("/data", headers={"hx-request": "true"})
    assert htmx.status_code == 401
    assert htmx.text.startswith('<hx-partial hx-target="#notice"')
    assert "4xx" in CONFIG["noSwap"]


def test_without_authentication_sign_in_redirects_to_the_page() -> None:
    client = Site(authenticated=False).client(**NAVIGATION)
    assert client.get("/login?code=x").headers["location"] == "/"
    assert client.post("/login", data={"token": "x"}, headers=FROM_FORM).status_code == 303
    assert client.get("/").status_code == 200


@pytest.mark.req("R08")
@pytest.mark.parametrize("target", ["//evil.example", "/\\evil.example", "https://evil.example"])
def test_a_link_cannot_redirect_to_another_site(target: str) -> None:
    site = Site()
    query = {"code": site.access.new_code(), "next": target, "url": target}
    response = site.client().get("/login", params=query, headers=NAVIGATION)
    assert response.headers["location"] == "/"


@pytest.mark.req("R08")
@pytest.mark.parametrize(
    ("goal", "leads_to"),
    [
        ("/sessions/7?event=3&tab=state", "/sessions/7?event=3&tab=state"),
        ("//elsewhere.example/", "/"),
        ("/\\elsewhere.example/", "/"),
        ("https://elsewhere.example/", "/"),
        ("/a\r\nset-cookie: b=c", "/"),
        ("", "/"),
    ],
)
def test_the_form_redirects_only_to_pages_of_this_server(goal: str, leads_to: str) -> None:
    site = Site()
    answer = site.client().post(
        "/login", data={"token": TOKEN, "goal": goal}, headers={**NAVIGATION, **FROM_FORM}
    )
    assert (answer.status_code, answer.headers["location"]) == (303, leads_to)


def test_the_sign_in_form_remembers_the_requested_page() -> None:
    page = Site().client(**NAVIGATION).get("/sessions/7?event=3&tab=state")
    assert page.status_code == 401
    assert 'name="goal" value="/sessions/7?event=3&amp;tab=state"' in page.text
