"""Artifacts as downloads: untrusted bytes that no browser executes (R24)."""

import base64
import html
import json
import re
from urllib.parse import quote

import pytest

from tests.kit.server import make_session, run, running, write_app

SAVES = """
import base64, json

from google.genai import types

from devui.runtime.agents import BaseAgent
from devui.runtime.events import Event


class Saves(BaseAgent):
    async def _run_async_impl(self, ctx):
        name, mime, data = json.loads(ctx.user_content.parts[0].text)
        part = types.Part.from_bytes(data=base64.b64decode(data), mime_type=mime)
        version = await ctx.artifact_service.save_artifact(
            app_name=ctx.app_name, user_id=ctx.user_id, session_id=ctx.session.id,
            filename=name, artifact=part,
        )
        yield Event(author=self.name, content=types.ModelContent(f"version {version}"))


root_agent = Saves(name="saves")
"""
SCRIPT = b"<script>parent.pwned = 1</script>"
RANGES = "bytes=" + ",".join(f"{n}-{n}" for n in range(3_000))
POLICY = (
    "sandbox; default-src 'none'; img-src data:; media-src 'self'; style-src 'unsafe-inline';"
    " frame-ancestors 'self'"
)


@pytest.fixture(scope="module")
def client(tmp_path_factory):
    folder = tmp_path_factory.mktemp("downloads")
    write_app(folder / "agents", "saves", SAVES)
    with running(folder / "agents", folder / "data") as server, server.client() as client:
        yield client


def save(client, name: str, mime: str, data: bytes = SCRIPT) -> str:
    """The path of a saved artifact with this name and type, by default with a script in it."""
    session = make_session(client, "saves")["id"]
    data = base64.b64encode(data).decode()
    last = run(client, "saves", session, json.dumps([name, mime, data]))[-1]
    assert last["content"]["parts"][0]["text"] == "version 0"
    answer = client.get("/api/sessions", params={"app": "saves", "user": "u", "id": session})
    return f"/sessions/{answer.json()['sessions'][0]['key']}/artifacts/{quote(name, safe='')}"


@pytest.mark.req("R24")
@pytest.mark.parametrize("method", ["GET", "HEAD"])
@pytest.mark.parametrize(
    ("name", "mime", "content_type", "disposition"),
    [
        ("a.html", "text/html", "application/octet-stream", 'attachment; filename="a.html"'),
        ("a.svg", "image/svg+xml", "application/octet-stream", 'attachment; filename="a.svg"'),
        ("a.xml", "text/xml", "application/octet-stream", 'attachment; filename="a.xml"'),
        ("a.pdf", "application/pdf", "application/octet-stream", 'attachment; filename="a.pdf"'),
        ("a.js", "text/javascript", "application/octet-stream", 'attachment; filename="a.js"'),
        ("a.png", "image/png", "application/octet-stream", 'attachment; filename="a.png"'),
        ("a.mht", "", "application/octet-stream", 'attachment; filename="a.mht"'),
        ("a.png", "IMAGE/PNG; x=y", "application/octet-stream", 'attachment; filename="a.png"'),
        ('q".html', "text/html", "application/octet-stream", 'attachment; filename="q_.html"'),
        ("../up.html", "text/html", "application/octet-stream", 'attachment; filename="up.html"'),
        ("\u202egnp.html", "text/html", "application/octet-stream", 'attachment; filename="_gnp'),
        ("x" * 300, "text/html", "application/octet-stream", f'attachment; filename="{"x" * 100}"'),
    ],
)
def test_an_artifact_is_a_download_in_a_sandbox(
    client, method, name, mime, content_type, disposition
):
    answer = client.request(method, save(client, name, mime), headers={"Accept": "text/html"})
    assert answer.status_code == 200
    assert answer.headers["content-type"] == content_type
    assert answer.headers["content-disposition"].startswith(disposition)
    assert answer.headers["content-security-policy"] == POLICY
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["cross-origin-resource-policy"] == "same-origin"


@pytest.mark.req("R24")
@pytest.mark.parametrize(
    ("mime", "begins", "inline"),
    [
        ("image/png", b"\x89PNG\r\n\x1a\n", True),
        ("image/jpeg", b"\xff\xd8\xff\xe0", True),
        ("image/gif", b"GIF89a", True),
        ("image/webp", b"RIFF\0\0\0\0WEBP", True),
        ("image/webp", b"RIFF\0\0\0\0WAVE", False),
        ("image/gif", b"\x89PNG\r\n\x1a\n", False),
        ("image/svg+xml", b"\x89PNG\r\n\x1a\n", False),
        ("text/plain", b"plain", True),
        ("text/plain", b"not \0 plain", False),
    ],
)
def test_a_file_is_shown_only_if_its_bytes_match_its_type(client, mime, begins, inline):
    path = save(client, "a.x", mime, begins + SCRIPT)
    expected = mime if inline else "application/octet-stream"
    for headers, status in (({}, 200), ({"Range": "bytes=0-3"}, 206), ({"Range": RANGES}, 200)):
        answer = client.get(path, headers=headers)
        whole = begins + SCRIPT
        assert (answer.status_code, answer.content) == (
            status,
            whole[: 4 if status == 206 else None],
        )
        assert answer.headers["content-security-policy"] == POLICY
        assert answer.headers["content-disposition"].startswith("inline;") is inline
        assert answer.headers["content-type"].split(";")[0] == expected


@pytest.mark.req("R24")
@pytest.mark.parametrize("method", ["GET", "HEAD"])
@pytest.mark.parametrize(
    ("byte_range", "status", "content_range", "content"),
    [
        ("bytes=0-3", 206, "bytes 0-3/10", b"0123"),
        ("bytes=7-", 206, "bytes 7-9/10", b"789"),
        ("bytes=-2", 206, "bytes 8-9/10", b"89"),
        ("bytes=-99", 206, "bytes 0-9/10", b"0123456789"),
        ("bytes=5-99", 206, "bytes 5-9/10", b"56789"),
        ("bytes=10-", 416, "bytes */10", b""),
        ("bytes=-0", 416, "bytes */10", b""),
        ("bytes=3-1", 200, None, b"0123456789"),
        ("bytes=-", 200, None, b"0123456789"),
        ("bytes=0-1,3-4", 200, None, b"0123456789"),
        ("lines=0-1", 200, None, b"0123456789"),
        (f"bytes={'9' * 30}-", 416, "bytes */10", b""),
    ],
)
def test_a_range_is_served_with_the_headers_of_the_whole_file(
    client, method, byte_range, status, content_range, content
):
    path = save(client, "digits.bin", "application/x-digits", b"0123456789")
    answer = client.request(method, path, headers={"Range": byte_range})
    if method == "HEAD":  # a range applies to GET only (RFC 9110, 14.2)
        status, content_range, content = 200, None, b""
        assert answer.headers["content-length"] == "10"
    assert (answer.status_code, answer.content) == (status, content)
    assert answer.headers.get("content-range") == content_range
    assert answer.headers["accept-ranges"] == "bytes"
    assert answer.headers["content-security-policy"] == POLICY
    assert answer.headers["content-disposition"].startswith('attachment; filename="digits.bin"')
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["cross-origin-resource-policy"] == "same-origin"


@pytest.mark.req("R24")
def test_if_range_with_an_outdated_tag_returns_the_whole_file(client):
    path = save(client, "digits.bin", "application/x-digits", b"0123456789")
    headers = {"Range": "bytes=0-3", "If-Range": '"of-before"'}
    assert client.get(path, headers=headers).status_code == 200


@pytest.mark.req("R24")
@pytest.mark.parametrize("name", ["two\nlines", "end.html\n", "a\r\nSet-Cookie: x=1\r\n\r\n"])
def test_a_name_with_line_breaks_is_downloadable_and_forges_no_header(client, name):
    other = save(client, "end.html", "text/html", b"another")
    assert client.get(other).content == b"another"
    answer = client.get(save(client, name, "text/html"))
    assert (answer.status_code, answer.content) == (200, SCRIPT)
    assert "set-cookie" not in answer.headers
    assert answer.headers["content-disposition"].endswith(
        f"filename*=UTF-8''{quote(name, safe='')}"
    )


@pytest.mark.req("R23")
@pytest.mark.req("R24")
@pytest.mark.parametrize("name", [".", ".."])
def test_artifacts_named_like_dot_segments_are_downloadable(client, name):
    event = {"author": "saves", "actions": {"artifactDelta": {name: 0}}}
    session = make_session(client, "saves", events=[event])["id"]
    blob = {"data": base64.b64encode(SCRIPT).decode(), "mimeType": "text/html"}
    body = {"filename": name, "artifact": {"inlineData": blob}}
    upload = client.post(f"/apps/saves/users/u/sessions/{session}/artifacts", json=body)
    assert upload.status_code == 200, upload.text
    listing = client.get("/api/sessions", params={"app": "saves", "user": "u", "id": session})
    place = f"/sessions/{listing.json()['sessions'][0]['key']}"
    page = client.get(f"{place}?event=1", headers={"Accept": "text/html"}).text
    links = set(re.findall(rf'href="({place}/artifacts[^"]*)"', page))
    assert links
    for link in links:
        answer = client.get(html.unescape(link))
        assert (answer.status_code, answer.content) == (200, SCRIPT), link
        assert answer.headers["content-security-policy"] == POLICY
        assert answer.headers["content-disposition"].startswith("attachment;")
