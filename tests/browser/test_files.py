"""Files saved by agents, opened in a browser: nothing in them executes (R24)."""

import base64
import re
from urllib.parse import quote

import pytest

from tests.kit.server import make_session

pytestmark = [pytest.mark.browser, pytest.mark.req("R24")]

SCRIPT = "<script>window.pwned = parent.pwned = top.pwned = 1; fetch('/evil')</script>"
SVG = f"<svg xmlns='http://www.w3.org/2000/svg' onload='fetch(`/evil`)'>{SCRIPT}</svg>"
XSLT = f"<?xml version='1.0'?><?xml-stylesheet type='text/xsl' href='/evil'?><a>{SCRIPT}</a>"
DOWNLOADS = {
    "page.html": ("text/html", SCRIPT, "page.html"),
    "drawing.svg": ("image/svg+xml", SVG, "drawing.svg"),
    "sheet.xml": ("text/xml", XSLT, "sheet.xml"),
    "code.js": ("text/javascript", "top.pwned = 1", "code.js"),
    "untrue.png": ("image/png", SCRIPT, "untrue.png"),
    "untyped": ("", SCRIPT, "untyped"),
    "../../up.html": ("text/html", SCRIPT, "up.html"),
}
"""The MIME type, content, and name under which a browser saves the file."""
SHOWN = {
    "both.png": ("image/png", f"\x89PNG\r\n\x1a\n{SCRIPT}"),
    "words.txt": ("text/plain", SCRIPT),
}


@pytest.fixture
def save(server):
    """A function that saves a file and returns its path."""
    with server.client() as client:
        session = make_session(client, "travel")["id"]
        query = {"app": "travel", "user": "u", "id": session}
        key = client.get("/api/sessions", params=query).json()["sessions"][0]["key"]

        def save(name: str, mime: str, content: str) -> str:
            data = base64.b64encode(content.encode("latin-1")).decode()
            blob = {"data": data, "mimeType": mime}
            body = {"filename": name, "artifact": {"inlineData": blob}}
            path = f"/apps/travel/users/u/sessions/{session}/artifacts"
            assert client.post(path, json=body).status_code == 200
            return f"/sessions/{key}/artifacts/{quote(name, safe='')}"

        yield save


@pytest.mark.parametrize("name", DOWNLOADS)
def test_active_content_is_downloaded_under_a_safe_name(visit, save, name):
    mime, content, filename = DOWNLOADS[name]
    page = visit.open("/")
    with page.expect_download() as download:
        page.evaluate("(path) => { location = path; }", save(name, mime, content))
    assert download.value.suggested_filename.startswith(filename)
    assert page.evaluate("window.pwned") is None
    assert not [url for url in visit.requests if "evil" in url]


@pytest.mark.parametrize("name", SHOWN)
def test_a_displayed_file_does_not_execute(visit, save, name):
    path = save(name, *SHOWN[name])
    page = visit.open(path)
    assert page.evaluate("[window.pwned, document.scripts.length]") == [None, 0]
    home = visit.open("/")
    frame = "(path) => new Promise((end) => { const frame = document.createElement('iframe');"
    frame += " frame.onload = end; frame.src = path; document.body.append(frame); })"
    home.evaluate(frame, path)
    assert home.evaluate("window.pwned") is None
    assert not [url for url in visit.requests if re.search("evil", url)]
