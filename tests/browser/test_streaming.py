"""An answer while it streams: each fragment waits until the page has shown the previous one."""

import pytest
from playwright.sync_api import expect

from tests.browser.test_live import SHOWN, same
from tests.kit.browser import SessionPage
from tests.kit.server import Server, running, write_app

pytestmark = pytest.mark.browser

WORDS = ["Events ", "carry ", "everything ", "that ", "counts."]
SPEAKS = f"""
import asyncio
from pathlib import Path

from google.genai import types

from devui.runtime.agents import Agent
from devui.runtime.models import BaseLlm, LlmResponse

WORDS = {WORDS!r}


def response(text, partial):
    content = types.Content(role="model", parts=[types.Part(text=text)])
    return LlmResponse(content=content, partial=partial)


class Word(BaseLlm):
    async def generate_content_async(self, llm_request, stream=False):
        folder = Path(__file__).parent / llm_request.contents[-1].parts[0].text
        for number, word in enumerate([*WORDS, ""]):
            while not (folder / str(number)).exists():
                await asyncio.sleep(0.02)
            yield response(word or "".join(WORDS), partial=bool(word))


root_agent = Agent(name="speaks", model=Word(model="word-by-word"))
"""

CHUNKS, EVENTS, MEGABYTES = 6_000, 300, 20
MUCH = f"""
from google.genai import types
from devui.runtime.agents import Agent, BaseAgent
from devui.runtime.events import Event
from devui.runtime.models.scripted_llm import Rule, Say, ScriptedLlm

model = ScriptedLlm(rules=[Rule(then=Say("word " * {CHUNKS}, chunks={CHUNKS}))])


class Much(BaseAgent):
    async def _run_async_impl(self, ctx):
        if ctx.user_content.parts[0].text == "events":
            for number in range({EVENTS}):
                content = types.ModelContent(f"event {{number}} " + "x" * 500)
                yield Event(author=self.name, invocation_id=ctx.invocation_id, content=content)
            return
        async for event in self.sub_agents[0].run_async(ctx):
            yield event


root_agent = Much(name="much", sub_agents=[Agent(name="speaks", model=model)])
"""


class Answer:
    """An answer whose next word comes when a test releases it."""

    def __init__(self, session: SessionPage, server: Server, name: str) -> None:
        self.session = session
        self._folder = server.agents / "speaks" / name
        self._folder.mkdir()
        self._count = 0
        session.send(name)

    def next(self) -> str:
        """Release one more word, and return the answer so far."""
        (self._folder / str(self._count)).touch()
        self._count += 1
        return "".join(WORDS[: self._count]).strip()

    def ends(self) -> None:
        """Release the rest of the answer."""
        while self._count <= len(WORDS):
            self.next()
        self.session.ends()


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    folder = tmp_path_factory.mktemp("streaming")
    write_app(folder / "agents", "speaks", SPEAKS)
    write_app(folder / "agents", "much", MUCH)
    with running(folder / "agents", folder / "data") as server:
        server.agents = folder / "agents"
        yield server


def test_an_answer_streams_into_one_growing_bubble(visit, server):
    session = visit.session("speaks")
    answer = Answer(session, server, "grows")
    for _ in WORDS:
        text = answer.next()
        expect(session.live).to_have_count(1)
        expect(session.live.locator(".prose")).to_have_text(text)
    answer.ends()
    expect(session.live).to_have_count(0)
    expect(session.page.locator("#live-rows .row")).to_have_count(0)
    expect(session.messages.last.locator(".prose")).to_have_text("".join(WORDS))


def test_a_streaming_row_is_flagged_partial(visit, server):
    session = visit.session("speaks")
    answer = Answer(session, server, "flagged")
    live = session.page.locator("#live-rows .row")
    answer.next()
    expect(live.locator(".flag.partial")).to_have_text("partial")
    answer.next()
    expect(live.locator(".flag.chunks")).to_contain_text("2 chunks")
    answer.ends()
    expect(live).to_have_count(0)
    expect(session.row(2).locator(".flags")).to_contain_text(f"{len(WORDS)} chunks")


def test_a_reload_during_an_answer_neither_loses_nor_duplicates_text(visit, server):
    session = visit.session("speaks")
    answer = Answer(session, server, "reloaded")
    for _ in range(3):
        text = answer.next()
        expect(session.live.locator(".prose")).to_have_text(text)
        session.page.reload()
        expect(session.live.locator(".prose")).to_have_text(text)
        expect(session.status).to_have_class("run running")
    answer.ends()
    numbers = session.events.evaluate_all("(rows) => rows.map((row) => row.id)")
    assert numbers == ["e-1", "e-2"]
    expect(session.messages).to_have_count(2)
    expect(session.live).to_have_count(0)
    expect(session.messages.last.locator(".prose")).to_have_text("".join(WORDS))
    same(session, visit.again(session), SHOWN)


@pytest.mark.req("R63")
def test_a_page_that_has_streamed_a_lot_uses_little_memory(visit):
    """Usage is the size of the JavaScript heap after a collection, and the number of elements."""
    session = visit.session("much")
    devtools = session.page.context.new_cdp_session(session.page)

    def usage() -> tuple[int, int]:
        devtools.send("HeapProfiler.collectGarbage")
        heap = devtools.send("Runtime.getHeapUsage")["usedSize"]
        return heap, session.page.evaluate("document.querySelectorAll('*').length")

    session.say("chunks")
    bytes_once, elements_once = usage()
    session.say("chunks")
    bytes_twice, elements_twice = usage()
    assert bytes_twice < MEGABYTES * 1_000_000
    assert bytes_twice - bytes_once < 500_000, "a page holds on to what was streamed"
    assert elements_twice - elements_once < 200
    session.say("events")
    expect(session.row(EVENTS + 5)).to_be_attached()
    bytes_then, elements_then = usage()
    assert bytes_then - bytes_twice < EVENTS * 10_000
    assert elements_then - elements_twice < EVENTS * 40
