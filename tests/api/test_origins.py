"""Pages of other origins that the user allows (`--allow-origins`)."""

import subprocess
import sys

import pytest

from tests.kit.server import ROOT, SAMPLES, TOKEN, running

FRIEND, PATTERN = "http://localhost:3000", "https://app-7.example.com"
CROSS = {"sec-fetch-site": "cross-site", "sec-fetch-mode": "cors", "sec-fetch-dest": "empty"}
BEARER = {"authorization": f"Bearer {TOKEN}"}
OPTIONS = ["--allow-origins", FRIEND, "--allow_origins", r"regex:https://app-\d+\.example\.com"]


@pytest.fixture(scope="module")
def client(tmp_path_factory):
    data = tmp_path_factory.mktemp("origins") / "data"
    with running(SAMPLES, data, *OPTIONS) as server, server.client() as client:
        del client.headers["authorization"]
        yield client


@pytest.mark.parametrize("origin", [FRIEND, PATTERN])
@pytest.mark.parametrize("path", ["/list-apps", "/api/sessions", "/run_sse"])
def test_a_preflight_from_an_allowed_origin_needs_no_token(client, origin, path):
    headers = {
        **CROSS,
        "origin": origin,
        "access-control-request-method": "POST",
        "access-control-request-headers": "authorization,content-type",
    }
    answer = client.options(path, headers=headers)
    assert (answer.status_code, answer.content) == (204, b"")
    assert answer.headers["access-control-allow-origin"] == origin
    assert "POST" in answer.headers["access-control-allow-methods"]
    assert answer.headers["access-control-allow-headers"] == "authorization,content-type"
    assert answer.headers["access-control-allow-credentials"] == "true"
    assert answer.headers["vary"] == "Origin"


@pytest.mark.parametrize("origin", [FRIEND, PATTERN])
def test_an_allowed_origin_reads_and_writes_only_with_the_token(client, origin):
    headers = {**CROSS, "origin": origin}
    refused = client.get("/list-apps", headers=headers)
    assert refused.status_code == 401
    assert refused.headers["access-control-allow-origin"] == origin
    headers |= BEARER
    answer = client.get("/list-apps", headers=headers)
    assert (answer.status_code, "summary" in answer.json()) == (200, True)
    assert answer.headers["access-control-allow-origin"] == origin
    session = client.post("/apps/summary/users/u/sessions", json={}, headers=headers)
    assert session.status_code == 200
    form = client.post("/apps/summary/sessions", data={"title": "x"}, headers=headers)
    assert form.status_code == 415


def test_an_allowed_origin_cannot_use_the_browsers_cookie(client):
    headers = {"origin": str(client.base_url).rstrip("/")}
    login = client.post("/login", data={"token": TOKEN}, headers=headers)
    cookie = {"cookie": login.headers["set-cookie"].partition(";")[0]}
    site = {**CROSS, "sec-fetch-site": "same-site"}
    assert client.get("/list-apps", headers=cookie).status_code == 200
    refused = client.get("/list-apps", headers={**site, **cookie, "origin": FRIEND})
    assert refused.status_code == 401


def test_an_allowed_origin_cannot_reveal_secrets(client):
    headers = {"origin": str(client.base_url).rstrip("/")}
    login = client.post("/login", data={"token": TOKEN}, headers=headers)
    cookie = {"cookie": login.headers["set-cookie"].partition(";")[0]}
    cross_site = {**CROSS, "sec-fetch-site": "same-site", **cookie, **BEARER, "origin": FRIEND}
    form = {"hx-request": "true", "content-type": "application/x-www-form-urlencoded"}
    answer = client.post("/secrets", content="show=yes", headers={**cross_site, **form})
    assert answer.status_code == 403
    assert 'data-secrets="shown"' not in client.get("/", headers=cookie).text


@pytest.mark.parametrize("more", [["*"], ["regex:.*"]])
def test_allowing_all_origins_without_sign_in_is_refused(tmp_path, more):
    options = ["--no-auth", "--no-browser", "--port", "0", "--allow-origins", *more]
    command = [sys.executable, "-m", "devui", str(SAMPLES), "--data-dir", str(tmp_path), *options]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "would let any web page run agents" in done.stderr


@pytest.mark.parametrize("origin", ["http://a:99999", "localhost:3000", "regex:("])
def test_an_invalid_origin_is_refused_at_the_start(tmp_path, origin):
    options = ["--no-browser", "--port", "0", "--allow-origins", origin]
    command = [sys.executable, "-m", "devui", str(SAMPLES), "--data-dir", str(tmp_path), *options]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "is not a" in done.stderr


@pytest.mark.parametrize(
    "origin",
    [
        *("null", "http://localhost:3001", "https://localhost:3000", "http://evil.example"),
        *("https://app-7.example.com.evil.example", "https://app-x.example.com"),
    ],
)
@pytest.mark.parametrize("method", ["GET", "POST", "OPTIONS"])
def test_every_other_origin_is_refused(client, origin, method):
    answer = client.request(method, "/list-apps", headers={**CROSS, **BEARER, "origin": origin})
    assert answer.status_code == 403
    assert not [name for name in answer.headers if name.startswith("access-control-")]


def test_a_proxy_at_an_allowed_origin_may_send_its_own_host_name(client):
    headers = {"host": "localhost:3000", "origin": FRIEND, "sec-fetch-site": "same-origin"}
    answer = client.get("/list-apps", headers={**headers, **BEARER})
    assert answer.status_code == 200
    assert "access-control-allow-origin" not in answer.headers
