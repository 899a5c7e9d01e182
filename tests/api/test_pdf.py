"""Pages of PDFs as pictures, in messages and artifacts; invalid files are harmless."""

import base64
import re
import struct

import pytest

from tests.kit.server import make_session, running, write_app

pytest.importorskip("pypdfium2")

AGENT = """
from devui.runtime.agents import LlmAgent
from devui.runtime.models import Rule, Say, ScriptedLlm

root_agent = LlmAgent(name="reader", model=ScriptedLlm(rules=[Rule(then=Say("Hi."))]))
"""
PAGE = {"Accept": "text/html"}


def pdf(*texts: str) -> bytes:
    """A document with one page per text."""
    kids = " ".join(f"{3 + 2 * i} 0 R" for i in range(len(texts)))
    bodies = ["<</Type/Catalog/Pages 2 0 R>>", f"<</Type/Pages/Kids[{kids}]/Count {len(texts)}>>"]
    for i, text in enumerate(texts):
        drawing = f"BT /F 24 Tf 20 100 Td ({text}) Tj ET"
        font = "<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>"
        bodies.append(
            f"<</Type/Page/Parent 2 0 R/MediaBox[0 0 300 200]/Contents {4 + 2 * i} 0 R"
            f"/Resources<</Font<</F {font}>>>>>>"
        )
        bodies.append(f"<</Length {len(drawing)}>>stream\n{drawing}\nendstream")
    out, places = b"%PDF-1.4\n", []
    for number, body in enumerate(bodies, 1):
        places.append(len(out))
        out += f"{number} 0 obj{body}endobj\n".encode()
    table = "".join(f"{place:010} 00000 n \n" for place in places)
    size, start = len(bodies) + 1, len(out)
    return (
        out
        + (
            f"xref\n0 {size}\n0000000000 65535 f \n{table}"
            f"trailer<</Root 1 0 R/Size {size}>>\nstartxref\n{start}\n%%EOF"
        ).encode()
    )


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pdf")
    write_app(folder / "agents", "reader", AGENT)
    with running(folder / "agents", folder / "data") as server:
        yield server


@pytest.fixture
def client(server):
    with server.client() as client:
        yield client


def session_with(client, content: bytes) -> int:
    """The key of a session with a PDF in its first message."""
    session = make_session(client, "reader")["id"]
    query = {"app": "reader", "user": "u", "id": session}
    key = client.get("/api/sessions", params=query).json()["sessions"][0]["key"]
    data = base64.b64encode(content).decode()
    part = {"inlineData": {"mimeType": "application/pdf", "data": data, "displayName": "a.pdf"}}
    message = {"role": "user", "parts": [part]}
    body = {"appName": "reader", "userId": "u", "sessionId": session, "newMessage": message}
    assert client.post("/run", json=body).status_code == 200
    return int(key)


def pictures(page: str) -> list[str]:
    """The addresses of the PDF pages in an HTML page."""
    links = re.findall(r'<img src="([^"]+page=\d+)"', page)
    return [each.replace("&amp;", "&") for each in links]


def test_a_pdf_in_a_message_is_shown_as_pictures(client):
    key = session_with(client, pdf("one", "two"))
    page = client.get(f"/sessions/{key}", headers=PAGE).text
    [first] = pictures(page)
    pages = client.get(first.replace("page=1", "pages=yes"))
    assert "2 pages" in pages.text
    images = [client.get(each) for each in pictures(pages.text)]
    assert [each.headers["content-type"] for each in images] == ["image/png"] * 2
    assert struct.unpack(">II", images[0].content[16:24]) == (1200, 800)
    assert images[0].content != images[1].content
    assert images[0].headers["content-security-policy"].startswith("sandbox;")
    assert client.get(first.replace("page=1", "page=3")).status_code == 404


def test_an_invalid_pdf_is_reported(client):
    key = session_with(client, b"%PDF-1.4\nrubbish" * 1000)
    [first] = pictures(client.get(f"/sessions/{key}", headers=PAGE).text)
    assert client.get(first).status_code == 404
    pages = client.get(first.replace("page=1", "pages=yes")).text
    assert "damaged, encrypted, or too large" in pages.replace("&#39;", "'")


def test_an_uploaded_pdf_is_shown_as_pictures(client, server):
    key = session_with(client, pdf("one"))
    headers = {"Origin": server.url, "Sec-Fetch-Site": "same-origin"}
    files = {"file": ("plan.pdf", pdf("a", "b", "c"), "application/pdf")}
    assert client.post(f"/sessions/{key}/files", files=files, headers=headers).status_code == 303
    tab = client.get(f"/sessions/{key}/files").text
    [first] = pictures(tab)
    assert client.get(first).headers["content-type"] == "image/png"
    assert "3 pages" in client.get(first.replace("page=1", "pages=yes")).text
