"""Pages for sandboxed frames: what they may load, and who may show them."""

import base64
import re
from hashlib import sha256

import httpx2
import pytest

from tests.kit.server import running, write_app

AGENT = """
from devui.runtime.agents import LlmAgent
from devui.runtime.models import Rule, Say, ScriptedLlm

root_agent = LlmAgent(name="teller", model=ScriptedLlm(rules=[Rule(then=Say("Hi."))]))
"""
README = "# Teller\n\n```mermaid\ngraph TD\n```\n\n![a cat](https://cats.example/a.png)\n"


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    root = tmp_path_factory.mktemp("frames")
    write_app(root / "agents", "teller", AGENT)
    (root / "agents" / "teller" / "README.md").write_text(README)
    with running(root / "agents", root / "data") as server:
        yield server


@pytest.fixture
def client(server):
    with server.client() as client:
        yield client


def policy(response: httpx2.Response) -> dict[str, str]:
    parts = response.headers["content-security-policy"].split("; ")
    return {name: values for name, _, values in (part.partition(" ") for part in parts)}


def picture(client: httpx2.Client, address: str) -> httpx2.Response:
    return client.get("/frames/picture", params={"address": address})


CLOSED = {
    "default-src": "'none'",
    "base-uri": "'none'",
    "form-action": "'none'",
    "frame-ancestors": "'self'",
}


@pytest.mark.req("R13")
def test_the_page_that_draws_diagrams_runs_two_known_scripts_and_loads_nothing(server, client):
    page = client.get("/apps/teller", headers={"Accept": "text/html"}).text
    static = re.search(r"/static/[0-9a-f]{16}/", page)
    assert static
    with httpx2.Client(base_url=server.url) as stranger:  # like every static file
        response = stranger.get(f"{static[0]}frames/diagram.html")
    assert response.status_code == 200
    assert response.headers["content-type"] == "text/html; charset=utf-8"
    assert "immutable" in response.headers["cache-control"]
    assert response.headers["x-frame-options"] == "SAMEORIGIN"
    scripts = re.findall(r"<script>(.*?)</script>", response.text, re.DOTALL)
    assert len(scripts) == response.text.count("<script") == 2
    hashes = [base64.b64encode(sha256(script.encode()).digest()).decode() for script in scripts]
    assert policy(response) == {
        **CLOSED,
        "script-src": " ".join(f"'sha256-{each}'" for each in hashes),
        "style-src": "'unsafe-inline'",
        "img-src": "'none'",
        "sandbox": "allow-scripts",
    }


@pytest.mark.req("R19")
def test_the_page_of_a_picture_loads_from_its_host_only(client):
    response = picture(client, "https://Cats.example:8443/a b.png".replace(" ", "%20"))
    assert response.status_code == 200
    allowed = policy(response)
    assert re.fullmatch(r"'sha256-[\w+/=]+'", allowed.pop("style-src"))
    assert allowed == {
        **CLOSED,
        "script-src": "'none'",
        "img-src": "https://cats.example:8443",
        "sandbox": "",
    }
    assert response.headers["x-frame-options"] == "SAMEORIGIN"
    assert 'src="https://cats.example:8443/a%20b.png"' in response.text
    assert '<meta name="referrer" content="no-referrer">' in response.text


@pytest.mark.req("R16")
def test_an_address_cannot_leave_its_attribute_or_change_the_policy(client):
    address = 'https://a.example/"><script>alert(1)</script>;script-src%20*'
    response = picture(client, address)
    assert "<script" not in response.text
    assert policy(response)["img-src"] == "https://a.example"


@pytest.mark.parametrize(
    "address",
    [
        *("", "cat.png", "//a.example/x", "javascript:alert(1)", "data:image/png;base64,AA"),
        *("file:///etc/passwd", "ftp://a.example/x", "https://me@a.example/", "https://a b/"),
        *("https://a.example\\@b.example/", "https://a.example;script-src/", "https:///x"),
        *("https://a.example:99999/", "https://*.example/", "https://[::1]/", "https://a..b/"),
        "https://a.example/" + "x" * 5000,
    ],
)
def test_an_address_that_could_be_misread_is_refused(client, address):
    response = picture(client, address)
    assert response.status_code == 400
    assert "address must be the http or https URL of a picture" in response.text


def test_a_host_in_other_letters_is_named_in_ascii(client):
    response = picture(client, "https://\u0430pple.example/a.png")  # with a Cyrillic a
    assert policy(response)["img-src"] == "https://xn--pple-43d.example"
    assert 'src="https://xn--pple-43d.example/a.png"' in response.text


@pytest.mark.req("R07")
def test_a_picture_needs_the_sign_in(server):
    with httpx2.Client(base_url=server.url) as stranger:
        assert picture(stranger, "https://cats.example/a.png").status_code == 401


def test_a_readme_offers_its_pictures_and_marks_its_diagrams(client):
    page = client.get("/apps/teller", headers={"Accept": "text/html"}).text
    assert ">Load picture from cats.example</button>" in page
    assert '<div class="code diagram">' in page
    assert 'src="https://cats.example' not in page
