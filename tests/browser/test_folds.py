"""Folds of the timeline: by keys, in sessions of a thousand events, and when an event in one is selected."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser.test_long_sessions import ELEMENTS, make
from tests.kit.browser import SessionPage, scroll_through
from tests.kit.server import SAMPLES, running, write_app

pytestmark = pytest.mark.browser

EVENTS, HELPER = 1200, range(300, 420)
"""Events of the session, and those of the agent that the folded one has called."""

BUSY = """
import asyncio
from devui.runtime.agents import Agent, BaseAgent, SequentialAgent
from devui.runtime.events import Event
from google.genai import types


class Busy(BaseAgent):
    async def _run_async_impl(self, ctx):
        for number in range(400):
            await asyncio.sleep(0.02 if number < 40 else 0.002)
            said = types.Content(role="model", parts=[types.Part(text=f"text {number}")])
            yield Event(author=self.name, invocation_id=ctx.invocation_id, content=said)


root_agent = SequentialAgent(name="Team", sub_agents=[Busy(name="Busy")])
"""


def history() -> list[dict]:
    """One long run of an agent, which calls another, between a question and a last answer."""
    events = []
    for number in range(1, EVENTS + 1):
        author, path = "Worker", "Team@1/Worker@1"
        if number in HELPER:
            author, path = "Helper", "Team@1/Worker@1/Helper@1"
        if number > EVENTS - 20:
            author, path = "Editor", "Team@1/Editor@1"
        if number == 1:
            author, path = "user", ""
        said = {"role": "user" if number == 1 else "model", "parts": [{"text": f"text {number}"}]}
        where = {"invocationId": "e", "timestamp": 1_700_000_000.0 + number}
        event = {"id": str(number), "author": author, "content": said, **where}
        events.append({**event, **({"nodeInfo": {"path": path}} if path else {})})
    return events


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    folder = tmp_path_factory.mktemp("folds")
    write_app(folder / "agents", "busy", BUSY)
    write_app(folder / "agents", "summary", (SAMPLES / "summary" / "agent.py").read_text())
    with running(folder / "agents", folder / "data", "--no-auth") as started:
        yield started


@pytest.fixture(scope="module")
def signed_in():
    return None


@pytest.fixture(scope="module")
def path(server):
    return make(server, "folds", history())


@pytest.fixture
def session(visit, path):
    return SessionPage(visit.open(path))


def press(session, *keys):
    for key in keys:
        session.page.keyboard.press(key)


def rest(session):
    """Until the page has left out what it doesn't need."""
    session.page.wait_for_timeout(400)


def elements(session):
    return session.page.evaluate("document.querySelectorAll('#rows *').length")


def fold_worker(session):
    """Fold the agent from one of its last rows."""
    session.select(EVENTS - 60)
    press(session, "ArrowLeft", "ArrowLeft")
    expect(session.row(2).locator(".seq a")).to_be_focused()


def test_a_fold_of_a_thousand_events_is_short_and_unfolds_to_all_of_them(session):
    fold_worker(session)
    head = session.row(2)
    expect(head).to_have_attribute("aria-expanded", "false")
    expect(head).to_contain_text(f"+{EVENTS - 20 - 2}")
    rest(session)
    assert elements(session) < 1000
    assert session.events.filter(visible=True).count() == 2 + 20
    head.locator(".seq a").focus()
    press(session, "ArrowRight")
    expect(session.row(20)).to_be_visible()
    seen = scroll_through(session.page, "#rows", 1)
    assert {*seen["passed"]} >= {*range(2, EVENTS + 1)}
    assert seen["most"] <= ELEMENTS


def test_the_page_stays_short_while_a_folded_agent_runs_on(visit):
    busy = visit.session("busy")
    busy.send("Go")
    head = busy.row(2)
    expect(busy.row(8)).to_be_visible()
    head.locator(".seq a").focus()
    press(busy, "ArrowLeft")
    expect(head).to_have_attribute("aria-expanded", "false")
    busy.ends()
    expect(head).to_contain_text("+399")
    rest(busy)
    assert elements(busy) < 1000
    expect(busy.events.filter(visible=True)).to_have_count(2)
