"""The Files tab: previews, versions, differences, uploads, and the files as of an event."""

import base64
import struct
import zlib

import pytest
from playwright.sync_api import expect

pytestmark = pytest.mark.browser

SCRIPT = "<script>window.pwned = 1</script>"


def png(red: int) -> bytes:
    """Return a PNG of one pixel."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        whole = kind + data
        return struct.pack(">I", len(data)) + whole + struct.pack(">I", zlib.crc32(whole))

    head = struct.pack(">IIBBBBB", 1, 1, 8, 2, 0, 0, 0)
    body = zlib.compress(bytes([0, red, 0, 0]))
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", body) + chunk(b"IEND", b"")


@pytest.fixture
def trip(visit, server):
    """A session whose first event changes no file, and a function that saves one in it."""
    session = visit.session("travel")
    key = session.page.locator("#main").get_attribute("data-session")
    with server.client() as client:
        rows = client.get("/api/sessions").json()["sessions"]
        [row] = [each for each in rows if str(each["key"]) == key]
        session_path = f"/apps/travel/users/{row['user']}/sessions/{row['id']}"

        def save(name: str, mime: str, data: bytes) -> None:
            blob = {"data": base64.b64encode(data).decode(), "mimeType": mime}
            body = {"filename": name, "artifact": {"inlineData": blob}}
            assert client.post(f"{session_path}/artifacts", json=body).status_code == 200

        assert client.patch(session_path, json={"stateDelta": {"city": "Oslo"}}).status_code == 200
        yield session, save


def test_files_are_viewed_compared_uploaded_and_deleted(visit, trip):
    session, save = trip
    panel, page = session.panel, session.page
    save("plan.json", "application/json", b'{"city": "Oslo", "days": [1, 2]}')
    save("plan.json", "application/json", b'{"city": "Rome", "days": [1, 2]}')
    save("bills.csv", "text/csv", b"who,paid\nann,12\nben,<b>7</b>\n")
    save("user:me.png", "image/png", png(10))
    save("user:me.png", "image/png", png(200))
    save("page.html", "text/html", SCRIPT.encode())
    session.tab("artifacts")
    files = panel.locator(".file-list a")
    expect(files).to_have_count(4)
    expect(panel.locator(".preview.open pre")).to_have_text(SCRIPT)  # the last one saved
    files.filter(has_text="bills.csv").click()
    expect(panel.locator(".preview.open th")).to_have_text(["who", "paid"])
    expect(panel.locator(".preview.open td").last).to_have_text("<b>7</b>")
    files.filter(has_text="plan.json").click()
    expect(panel.locator(".preview.open .json")).to_contain_text("Rome")
    panel.get_by_role("navigation", name="Versions").get_by_text("v0").click()
    expect(panel.locator(".preview.open .json")).to_contain_text("Oslo")
    panel.get_by_role("navigation", name="Compare with").get_by_text("v1").click()
    expect(panel.locator(".file-diff del")).to_have_text('-   "city": "Oslo",')
    expect(panel.locator(".file-diff ins")).to_have_text('+   "city": "Rome",')
    files.filter(has_text="me.png").click()
    expect(panel.locator(".preview.open img")).to_have_js_property("naturalWidth", 1)
    panel.get_by_role("navigation", name="Compare with").get_by_text("v0").click()
    expect(panel.locator(".sides img")).to_have_count(2)
    before, after = (each.bounding_box() for each in panel.locator(".sides figure").all())
    assert before["y"] == after["y"]
    assert before["x"] + before["width"] <= after["x"]

    upload = {"name": "notes.md", "mimeType": "text/markdown", "buffer": b"# Hi"}
    panel.get_by_label("File to upload").set_input_files(upload)
    panel.get_by_role("button", name="Upload", exact=True).click()
    expect(files.filter(has_text="notes.md")).to_have_attribute("aria-current", "true")
    expect(panel.locator(".preview.open pre")).to_have_text("# Hi")
    expect(panel.get_by_label("File to upload")).to_have_value("")
    expect(panel.get_by_role("link", name="Open", exact=True)).to_have_count(0)
    with page.expect_download() as download:
        panel.get_by_role("link", name="Download").click()
    assert download.value.suggested_filename == "notes.md"
    assert download.value.path().read_bytes() == b"# Hi"
    visit.answer_next_dialog(accept=False)
    panel.get_by_role("button", name="Delete this file").click()
    page.wait_for_timeout(500)
    assert not [each for each in visit.requests if each.endswith("/files/delete")]
    expect(files).to_have_count(5)
    visit.answer_next_dialog(accept=True)
    panel.get_by_role("button", name="Delete this file").click()
    expect(files).to_have_count(4)
    assert page.evaluate("window.pwned") is None
    assert session.fits()


def test_an_event_shows_the_files_that_existed_at_the_time(visit, trip):
    session, save = trip
    save("late.txt", "text/plain", b"late")
    again = visit.again(session, "?event=1&tab=artifacts")
    expect(again.panel.locator("h2")).to_contain_text("as of #1")
    late = again.panel.locator(".file-list a").filter(has_text="late.txt")
    expect(late).to_have_count(0)
    again = visit.again(session, "?tab=artifacts")
    late = again.panel.locator(".file-list a").filter(has_text="late.txt")
    expect(late).to_have_text("late.txttext/plain · 4 B")
