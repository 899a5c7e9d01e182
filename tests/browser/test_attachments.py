"""Files in messages: attached, dropped and pasted by a person, and shown from any sender."""

import base64
import re
import struct
import zlib

import pytest
from playwright.sync_api import expect

from tests.kit.browser import Visit
from tests.kit.server import running

pytestmark = pytest.mark.browser

AGENT = '''
from google.genai import types
from devui.runtime.agents import LlmAgent
from devui.runtime.models import BaseLlm, LlmResponse

class Mirror(BaseLlm):
    """Says what it got, and returns the files."""
    async def generate_content_async(self, request, stream=False):
        parts = [part.inline_data for part in request.contents[-1].parts if part.inline_data]
        said = ", ".join(f"{blob.mime_type} of {len(blob.data)} bytes" for blob in parts)
        files = [types.Part(inline_data=blob) for blob in parts]
        text = types.Part(text=f"Got {said or 'no files'}")
        yield LlmResponse(content=types.Content(role="model", parts=[text, *files]))

root_agent = LlmAgent(name="mirror", model=Mirror(model="mirror"))
'''


def png() -> bytes:
    def chunk(kind: bytes, data: bytes) -> bytes:
        check = zlib.crc32(kind + data)
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", check)

    head = struct.pack(">IIBBBBB", 8, 8, 8, 2, 0, 0, 0)
    rows = zlib.compress((b"\0" + b"\xb4\x5a\x28" * 8) * 8)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", rows) + chunk(b"IEND", b"")


def wav() -> bytes:
    """Return half a second of silence."""
    rate, samples = 8000, b"\0\0" * 4000
    head = struct.pack("<4sIHHIIHH", b"fmt ", 16, 1, 1, rate, 2 * rate, 2, 16)
    body = b"WAVE" + head + struct.pack("<4sI", b"data", len(samples)) + samples
    return b"RIFF" + struct.pack("<I", len(body)) + body


HANDED = """([selector, kind, files]) => {
  const data = new DataTransfer();
  for (const [name, type, content] of files) {
    const bytes = Uint8Array.from(atob(content), (c) => c.charCodeAt(0));
    data.items.add(new File([bytes], name, { type }));
  }
  const init = { bubbles: true, cancelable: true };
  document.querySelector(selector).dispatchEvent(kind === "paste"
    ? new ClipboardEvent("paste", { ...init, clipboardData: data })
    : new DragEvent("drop", { ...init, dataTransfer: data }));
}"""
"""Drops or pastes files on an element, as a browser does."""


@pytest.fixture(scope="module")
def mirror(tmp_path_factory):
    root = tmp_path_factory.mktemp("mirror")
    (root / "agents" / "mirror").mkdir(parents=True)
    (root / "agents" / "mirror" / "agent.py").write_text(AGENT)
    with running(root / "agents", root / "data", "--no-auth") as mirror:
        yield mirror


@pytest.fixture
def session(browser, mirror):
    with Visit(browser, mirror) as begun:
        yield begun.session("mirror")


def hand(session, kind: str, selector: str, *files: tuple[str, str, bytes]) -> None:
    coded = [[name, mime, base64.b64encode(data).decode()] for name, mime, data in files]
    session.page.evaluate(HANDED, [selector, kind, coded])


def test_files_are_chosen_dropped_pasted_removed_and_sent(session):
    chips = session.page.locator("[data-attached] > li")
    session.page.locator("[data-files]").set_input_files(
        [
            {"name": "a.csv", "mimeType": "text/csv", "buffer": b"city,nights\nRome,2\n"},
            {"name": "left.txt", "mimeType": "text/plain", "buffer": b"left"},
        ]
    )
    hand(session, "drop", "#messages", ("b.json", "application/json", b'{"deep": {"answer": 42}}'))
    hand(session, "paste", "#composer-text", ("image.png", "image/png", png()))
    expect(chips).to_have_text(
        ["a.csv 19 B", "left.txt 4 B", "b.json 24 B", f"image.png {len(png())} B"]
    )
    expect(chips.last.locator("img")).to_be_visible()
    session.page.get_by_role("button", name="Remove left.txt").click()
    expect(chips).to_have_count(3)

    session.say("")
    expect(chips).to_have_count(0)
    sent, answer = session.messages.first, session.messages.last
    expect(answer).to_contain_text(
        f"Got text/csv of 19 bytes, application/json of 24 bytes, image/png of {len(png())} bytes"
    )
    for picture in (message.locator(".picture img") for message in (sent, answer)):
        expect(picture).to_have_js_property("naturalWidth", 8)
    table, tree = answer.locator(".preview").all()
    table.locator("summary").first.click()
    expect(table.locator("tr")).to_have_text(["citynights", "Rome2"])
    tree.locator("summary").first.click()
    expect(tree.locator(".j-number")).to_have_text("42")


def test_files_are_saved_as_artifacts_if_wanted(session):
    save = session.page.get_by_label("Save as artifacts")
    expect(save).to_be_hidden()
    note = {"name": "note.txt", "mimeType": "text/plain", "buffer": b"Buy milk."}
    session.page.locator("[data-files]").set_input_files([note])
    save.check()
    session.say("")
    sent = session.messages.first
    expect(sent.locator(".chip")).to_have_text("note.txt v0 · text/plain · 9 B")
    expect(sent).not_to_contain_text("Uploaded Artifact")  # which only the model reads
    expect(session.row(1)).to_contain_text("[note.txt]")
    expect(session.messages.last).to_contain_text("Got no files")
    expect(save).to_be_hidden()


def test_files_are_sent_without_text_after_the_app_reloads(browser, mirror):
    """The reload replaces the message field."""
    with Visit(browser, mirror) as visit:
        session, other = visit.session("mirror"), visit.session("mirror")
        table = {"name": "a.csv", "mimeType": "text/csv", "buffer": b"city\nRome\n"}
        session.page.locator("[data-files]").set_input_files([table])
        renamed = AGENT.replace('name="mirror"', 'name="glass"')
        (mirror.agents / "mirror" / "agent.py").write_text(renamed)
        other.say("hello")
        expect(session.composer).to_have_attribute("placeholder", "Message glass")
        session.say("")
        expect(session.messages.last).to_contain_text("Got text/csv of 10 bytes")


def test_files_over_the_limit_are_reported_and_not_attached(session, tmp_path):
    film = tmp_path / "film.mp4"
    film.write_bytes(b"\0" * 15_000_001)
    session.page.locator("[data-files]").set_input_files(film)
    problem = "film.mp4 not attached: a message can carry up to 15 MB"
    expect(session.page.locator("#composer-error")).to_contain_text(problem)
    expect(session.page.locator("[data-attached] > li")).to_have_count(0)
    session.say("only words")
    expect(session.messages.last).to_contain_text("Got no files")


def slow_down(page, bytes_per_second: int) -> None:
    limits = {"offline": False, "latency": 0, "downloadThroughput": -1}
    session = page.context.new_cdp_session(page)
    session.send(
        "Network.emulateNetworkConditions", {**limits, "uploadThroughput": bytes_per_second}
    )


def test_sending_files_shows_progress_and_can_be_cancelled(session):
    page, chips = session.page, session.page.locator("[data-attached] > li")
    film = {"name": "film.mp4", "mimeType": "video/mp4", "buffer": b"\0" * 3_000_000}
    page.locator("[data-files]").set_input_files([film])
    progress = page.get_by_role("progressbar", name="Files sent")
    expect(progress).to_have_count(0)
    slow_down(page, 100_000)
    session.send("Watch this")
    expect(page.locator(".composer [role=status]")).to_have_text("Sending files…")
    expect(progress).to_have_js_property("max", 1)
    expect(progress).to_have_attribute("value", re.compile(r"^0\.\d+$"))
    expect(page.locator("[data-share]").first).to_have_text(re.compile(r"^\d+%$"))
    page.get_by_role("button", name="Cancel").click()
    expect(progress).to_have_count(0)
    expect(session.composer).to_have_value("Watch this")
    expect(session.composer).to_be_focused()
    expect(chips).to_have_count(1)
    expect(session.messages).to_have_count(0)

    slow_down(page, 4_000_000)
    session.say("Watch this")
    expect(session.messages.last).to_contain_text("Got video/mp4 of 3000000 bytes")
    expect(progress).to_have_count(0)
    expect(chips).to_have_count(0)
    expect(session.composer).to_have_value("")


def test_files_that_could_not_be_sent_stay_attached(browser, mirror):
    with Visit(browser, mirror) as visit:
        session = visit.session("mirror")
        table = {"name": "a.csv", "mimeType": "text/csv", "buffer": b"city\nRome\n"}
        session.page.locator("[data-files]").set_input_files([table])
        session.page.route("**/runs", lambda route: route.abort())
        visit.allow("The files could not be sent|net::ERR_FAILED")
        session.send("Look")
        expect(session.page.locator("#trouble")).to_be_visible()
        expect(session.page.locator("[data-attached] > li")).to_have_count(1)
        expect(session.composer).to_have_value("Look")


@pytest.mark.req("R24")
def test_audio_plays_and_markup_in_a_file_is_shown_as_text(session):
    script = b"<script>window.pwned = 1</script>"
    hand(
        session,
        "drop",
        "#messages",
        ("beep.wav", "audio/wav", wav()),
        ("page.html", "text/html", script),
        ("fake.wav", "audio/wav", script),
    )
    session.say("listen")
    answer = session.messages.last
    expect(answer.locator("audio").first).to_have_js_property("readyState", 4)
    expect(answer.locator("audio").first).to_have_js_property("duration", 0.5)
    answer.locator(".preview summary").click()
    expect(answer.locator(".preview pre")).to_have_text(script.decode())
    assert session.page.evaluate("window.pwned") is None


def test_the_last_of_many_attached_files_is_in_sight(session):
    files = [
        {"name": f"notes-{number}.txt", "mimeType": "text/plain", "buffer": b"a" * number}
        for number in range(1, 13)
    ]
    session.page.locator("[data-files]").set_input_files(files)
    chips = session.page.locator("[data-attached] .chip")
    expect(chips).to_have_count(12)
    expect(chips.last).to_be_in_viewport(ratio=1)
