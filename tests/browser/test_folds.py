"""Folds of the timeline: by key, over a thousand events, and around a selected event."""

import pytest
from playwright.sync_api import expect

from tests.browser.test_long_sessions import ELEMENTS, make
from tests.kit.browser import SessionPage, scroll_through
from tests.kit.server import SAMPLES, running, write_app

pytestmark = pytest.mark.browser

EVENTS, HELPER = 1200, range(300, 420)
"""The number of events, and the range of those by the agent that the folded agent calls."""

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
    """Return one long run: an agent that calls another, between a question and a last answer."""
    events = []
    for number in range(1, EVENTS + 1):
        author, path = "Worker", "Team@1/Worker@1"
        if number in HELPER:
            author, path = "Helper", "Team@1/Worker@1/Helper@1"
        if number > EVENTS - 20:
            author, path = "Editor", "Team@1/Editor@1"
        if number == 1:
            author, path = "user", ""
        content = {
            "role": "user" if number == 1 else "model",
            "parts": [{"text": f"text {number}"}],
        }
        where = {"invocationId": "e", "timestamp": 1_700_000_000.0 + number}
        event = {"id": str(number), "author": author, "content": content, **where}
        if number in HELPER:
            event["usageMetadata"] = {"promptTokenCount": 60, "totalTokenCount": 100}
        if number == HELPER[10]:
            event["errorCode"] = "OVERLOADED"
        events.append({**event, **({"nodeInfo": {"path": path}} if path else {})})
    return events


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    folder = tmp_path_factory.mktemp("folds")
    write_app(folder / "agents", "busy", BUSY)
    write_app(folder / "agents", "summary", (SAMPLES / "summary" / "agent.py").read_text())
    with running(folder / "agents", folder / "data", "--no-auth") as server:
        yield server


@pytest.fixture(scope="module")
def signed_in():
    return None


@pytest.fixture(scope="module")
def path(server):
    return make(server, "folds", history())


@pytest.fixture
def session(visit, path):
    """The long run, opened at one of its last events."""
    return SessionPage(visit.open(f"{path}?event={EVENTS - 60}"))


def press(session, *keys):
    for key in keys:
        session.page.keyboard.press(key)


def is_short(session):
    """Wait until the page has checked its rows again and dropped those it doesn't need."""
    session.page.wait_for_function("document.querySelectorAll('#rows *').length < 1000")


def fold_worker(session):
    """Fold the agent from one of its last rows, before its first row is loaded."""
    session.row(EVENTS - 60).locator(".seq a").focus()
    press(session, "ArrowLeft")
    expect(session.row(2).locator(".seq a")).to_be_focused()


def test_a_fold_of_a_thousand_events_is_short_and_unfolds_completely(session, visit):
    before = len(visit.requests)
    fold_worker(session)
    head = session.row(2)
    expect(head).to_have_attribute("aria-expanded", "false")
    expect(head).to_contain_text(f"+{EVENTS - 20 - 2}")
    is_short(session)
    # Fetching all of its events would take eight requests: each returns at most 160.
    assert len([each for each in visit.requests[before:] if "/rows?" in each]) < 8
    expect(session.events.filter(visible=True)).to_have_count(2 + 20)
    head.locator(".seq a").focus()
    press(session, "ArrowRight")
    expect(session.row(20)).to_be_visible()
    seen = scroll_through(session.page, "#rows", 1)
    assert {*seen["passed"]} >= {*range(2, EVENTS + 1)}
    assert seen["jump"] < 3
    assert seen["most"] <= ELEMENTS + 500  # plus what the inspector shows of an event


@pytest.mark.parametrize("number", [EVENTS - 60, 700])
def test_a_fold_is_fetched_the_same_way_with_a_filter(visit, path, number):
    session = SessionPage(visit.open(f"{path}?event={number}&filter=text"))
    before = len(visit.requests)
    session.row(number).locator(".seq a").focus()
    press(session, "ArrowLeft")
    head = session.row(2)
    expect(head.locator(".seq a")).to_be_focused()
    expect(head).to_have_attribute("aria-expanded", "false")
    expect(session.row(EVENTS)).to_be_visible()
    expect(head).to_contain_text(f"+{EVENTS - 20 - 2}")
    is_short(session)
    fetches = [each for each in visit.requests[before:] if "/rows?" in each]
    assert len(fetches) < 8, "as many as the gap has pages would be 30"
    expect(session.events.filter(visible=True)).to_have_count(2 + 20)


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
    is_short(busy)
    expect(busy.events.filter(visible=True)).to_have_count(2)
    header = busy.page.locator("#rows > .inv .meta")
    expect(header).to_contain_text("401 events")  # the page leaves most of them out
    figures = header.inner_text()
    busy.page.reload()
    expect(header).to_have_text(figures)


def test_a_selected_event_in_a_gap_of_a_fold_is_shown(session):
    fold_worker(session)
    is_short(session)
    scrub = session.page.locator("#scrub")
    scrub.evaluate(
        """(slider) => {
            slider.value = 350;
            slider.dispatchEvent(new Event("change", { bubbles: true }));
        }"""
    )
    expect(session.row(350)).to_be_in_viewport()
    expect(session.row(350)).to_have_attribute("aria-selected", "true")


def test_arrows_move_in_the_tree_and_fold_it(visit, path):
    session = SessionPage(visit.open(f"{path}?event={HELPER[3]}"))
    worker, helper = session.row(HELPER[0] - 1), session.row(HELPER[0])
    session.row(HELPER[3]).locator(".seq a").focus()
    press(session, "ArrowLeft")
    expect(helper.locator(".seq a")).to_be_focused()
    expect(helper).to_have_attribute("aria-expanded", "true")
    press(session, "ArrowLeft")
    expect(helper).to_have_attribute("aria-expanded", "false")
    # Most of them are in a gap.
    label = "Show 119 more events, 119 s, 12k tok, 1 failed"
    expect(helper.get_by_role("button", name=label, exact=True)).to_be_visible()
    expect(session.page.get_by_role("columnheader", name="what", exact=True)).to_be_visible()
    expect(worker).to_be_visible()
    press(session, "ArrowRight")
    expect(session.row(HELPER[1])).to_be_visible()  # loaded from a gap
    press(session, "ArrowRight")
    expect(session.row(HELPER[1]).locator(".seq a")).to_be_focused()
    expect(session.row(HELPER[1])).to_have_attribute("aria-selected", "true")  # selecting unfolds
    stops = session.page.locator('#rows .seq a[tabindex="0"]')
    helper.hover()
    helper.get_by_role("button", name="Fold these events").click()
    expect(session.row(HELPER[1])).to_be_hidden()
    expect(stops).to_have_count(1)
    expect(stops).to_be_visible()
    helper.locator(".seq a").focus()
    press(session, "ArrowLeft")
    session.page.wait_for_function("!document.activeElement.closest('[data-folded], [hidden]')")
