"""Files that tools saved as artifacts, in the chat and in the exported file."""

import re

import pytest
from playwright.sync_api import expect

from tests.kit.browser import Visit
from tests.kit.server import running, write_app

pytestmark = pytest.mark.browser

AGENT = '''
import struct
import zlib

from google.genai import types

from devui.runtime.agents import LlmAgent
from devui.runtime.models import Call, Rule, Say, ScriptedLlm


def chunk(kind, data):
    whole = kind + data
    return struct.pack(">I", len(data)) + whole + struct.pack(">I", zlib.crc32(whole))


def png(width, height):
    head = chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0))
    body = chunk(b"IDAT", zlib.compress((b"\\0" + b"\\x90" * width) * height))
    return b"\\x89PNG\\r\\n\\x1a\\n" + head + body + chunk(b"IEND", b"")


async def draw(tool_context) -> dict:
    """Draws a map, and saves what is none under the name of one."""
    bad = types.Part.from_bytes(data=b"<script>no picture</script>", mime_type="image/png")
    await tool_context.save_artifact("broken.png", bad)
    good = types.Part.from_bytes(data=png(300, 400), mime_type="image/png")
    return {"version": await tool_context.save_artifact("map.png", good)}


answers = [Rule(after="draw", then=Say("Here it is.")), Rule(then=Call("draw"))]
root_agent = LlmAgent(name="drawer", tools=[draw], model=ScriptedLlm(rules=answers))
'''
REPORT = """
from google.genai import types

from devui.runtime.agents import Agent
from devui.runtime.models.scripted_llm import Call, Rule, Say, ScriptedLlm


async def save(tool_context) -> str:
    for name, mime in (("bills.csv", "text/csv"), ("note.txt", "text/plain")):
        part = types.Part.from_bytes(data=b"who,paid\\nann,12\\n", mime_type=mime)
        await tool_context.save_artifact(name, part)
    return "saved"


rules = [Rule(after="save", then=Say("Done.")), Rule(then=Call("save"))]
root_agent = Agent(name="Clerk", model=ScriptedLlm(rules=rules), tools=[save])
"""
FILES = [(version, name) for version in (0, 1) for name in ("broken.png", "map.png")]


@pytest.fixture
def drawer(browser, tmp_path):
    write_app(tmp_path / "agents", "drawer", AGENT)
    write_app(tmp_path / "agents", "report", REPORT)
    with (
        running(tmp_path / "agents", tmp_path / "data", "--no-auth") as server,
        Visit(browser, server) as begun,
    ):
        yield begun


def drawn(session, count: int) -> None:
    """Check that the chat has `count` chips, and pictures only for valid images among them."""
    chips = session.messages.locator(".chip.k-artifact")
    expect(chips).to_have_text(
        [re.compile(rf"^{name} v{version} · image/png · \d+ B$") for version, name in FILES[:count]]
    )
    pictures = session.messages.locator(".thumbnail img")
    expect(pictures).to_have_count(count // 2)
    expect(pictures.last).to_have_js_property("naturalHeight", 400)


def test_a_saved_picture_is_in_the_chat_and_opens_its_version(drawer, tmp_path):
    session = drawer.session("drawer")
    page = session.page
    for count in (2, 4):
        session.say("Draw")
        drawn(session, count)
        expect(session.messages.last).to_be_in_viewport(ratio=1)  # the picture pushed it down
    page.reload()
    drawn(session, 4)
    session.select(3)
    saved = session.panel.locator("section", has_text="Files saved").locator(".chip")
    expect(saved.first).to_have_text("broken.png v0 · image/png · 27 B")
    assert session.messages.locator(".thumbnail").last.bounding_box()["height"] <= 162
    session.messages.locator(".thumbnail").first.click()
    shown = session.panel.locator(".preview.open img")
    expect(shown).to_have_attribute("src", re.compile(r"/artifacts/map\.png\?version=0$"))

    key = page.locator("#main").get_attribute("data-session")
    exported = page.request.get(f"{drawer.server.url}/api/sessions/{key}/export?format=html")
    (tmp_path / "file.html").write_bytes(exported.body())
    drawer.allow("request to another origin: file:.*/file.html$")
    page.goto((tmp_path / "file.html").as_uri())
    expect(page.locator("#messages .chip.k-artifact")).to_have_count(4)
    images = page.locator("#messages .picture img")
    expect(images).to_have_count(2)
    for image in images.all():
        expect(image).to_have_js_property("naturalHeight", 400)


def test_a_deleted_picture_leaves_only_its_chip(drawer):
    session = drawer.session("drawer")
    session.say("Draw")
    drawn(session, 2)
    page, panel = session.page, session.panel
    session.messages.locator(".thumbnail").click()
    drawer.answer_next_dialog(accept=True)
    panel.get_by_role("button", name="Delete this file").click()
    expect(panel.locator(".file-list a")).to_have_count(1)
    page.reload()
    expect(session.messages.locator(".chip.k-artifact")).to_have_text(
        [re.compile(r"^broken.png v0 · image/png · 27 B$"), "map.png v0"]
    )
    expect(session.messages.locator(".thumbnail")).to_have_count(0)


def test_selecting_a_result_with_files_marks_its_card_and_scrolls_to_it(drawer):
    session = drawer.session("drawer")
    session.say("Draw")
    page = session.page
    number = int(page.locator("#messages .outcome").get_attribute("data-event"))
    outcome, files = page.locator("#messages .outcome"), page.locator(f"#m-{number}")
    page.set_viewport_size({"width": 1440, "height": 420})
    session.select(number)
    for element in outcome, files:
        expect(element).to_have_class(re.compile("selected"))
    expect(outcome).to_be_in_viewport(ratio=1)
    again = drawer.again(session, f"?event={number}").page
    again.set_viewport_size({"width": 1440, "height": 420})
    again.reload()
    expect(again.locator("#messages .outcome")).to_be_in_viewport(ratio=1)
    expect(again.locator("#messages .outcome")).to_have_class(re.compile("selected"))


def test_a_file_that_browsers_do_not_open_is_opened_in_files(drawer):
    session = drawer.session("report", ["Go"])
    chat, panel = session.messages, session.panel
    note = chat.get_by_role("link", name="Open note.txt")
    expect(note).to_have_attribute("target", "_blank")
    chat.get_by_role("link", name="Open bills.csv in Files").click()
    expect(panel.locator(".preview.open th")).to_have_text(["who", "paid"])
    expect(panel.get_by_role("link", name="Open", exact=True)).to_have_count(0)
