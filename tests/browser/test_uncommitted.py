"""State before its commit, on the page: what is pending, read too early, or lost."""

import pytest
from playwright.sync_api import expect

from tests.api.test_uncommitted import APPS, begun
from tests.browser.test_debugger import is_held, press
from tests.kit.browser import SessionPage
from tests.kit.debugged_run import DebuggedRun
from tests.kit.server import running, write_app

pytestmark = pytest.mark.browser

GATED = """
import asyncio
from pathlib import Path

from devui.runtime.agents import BaseAgent
from devui.runtime.events import Event, EventActions

GATE = Path(__file__).with_name("gate")


class Writes(BaseAgent):
    async def _run_async_impl(self, ctx):
        ctx.session.state["city"] = "Oslo"
        GATE.with_name("begun").touch()
        while not GATE.exists():
            await asyncio.sleep(0.05)
        yield Event(author=self.name, actions=EventActions(state_delta={"city": "Oslo"}))


root_agent = Writes(name="writes")
"""


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    folder = tmp_path_factory.mktemp("uncommitted")
    for name, code in {**APPS, "gated": GATED, "late": GATED}.items():
        write_app(folder / "agents", name, code)
    with running(folder / "agents", folder / "data") as server:
        server.agents = folder / "agents"
        yield server


def strip(session: SessionPage):
    return session.page.locator("#state-live .scope.pending")


def test_an_agents_writes_are_pending_until_its_event_is_committed(visit, server):
    session = visit.session("gated")
    session.send("go")
    expect(strip(session)).to_contain_text("pending from writes: 1 key")
    expect(strip(session)).to_contain_text('"Oslo"')
    expect(strip(session)).to_contain_text("gated/agent.py:13 in _run_async_impl")
    session.page.reload()
    expect(strip(session)).to_contain_text("pending from writes: 1 key")
    (server.agents / "gated" / "gate").touch()
    session.ends()
    expect(strip(session)).to_have_count(0)
    expect(session.page.locator("#state-live .scope").first).to_contain_text('"Oslo"')


def test_a_page_opened_during_a_run_shows_what_is_pending(visit, server):
    with server.client() as client:
        debugged = DebuggedRun(client, "late").start(pause=False)
        begun(debugged, server.agents / "late")
        session = SessionPage(visit.open(f"/sessions/{debugged.key}"))
        expect(strip(session)).to_contain_text('"Oslo"')
        expect(strip(session)).to_contain_text("pending from code outside any known agent: 1 key")
        (server.agents / "late" / "gate").touch()
        session.ends()
        expect(strip(session)).to_have_count(0)


def test_writes_lost_by_a_failed_run_are_marked_even_after_a_reload(visit):
    session = visit.session("fails")
    session.say("go", "failed")
    for _ in range(2):
        expect(strip(session)).to_have_class("scope pending lost")
        expect(strip(session)).to_contain_text("Lost: 1 key written by fails.")
        expect(strip(session)).to_contain_text("The run ended before the commit.")
        expect(strip(session)).to_contain_text('"half done"')
        session.page.reload()
    session.say("again", "failed")
    expect(strip(session)).to_have_count(1)


def test_a_dirty_read_is_marked_on_the_row_and_links_to_the_write(visit):
    session = visit.session("custom")
    session.say("go")
    flag = session.row(2).locator(".flag.dirty")
    expect(flag).to_contain_text("dirty read")
    expect(flag).to_contain_text("plan, written by planner")
    loaded = visit.again(session)
    session.equals(loaded, "#rows")
    session.select(2)
    notes = session.panel.locator(".notes")
    expect(notes).to_contain_text("dirty read of plan, written by planner at custom/agent.py:8")
    link = notes.get_by_role("link", name="committed as #3")
    link.focus()
    session.page.keyboard.press("Enter")
    expect(session.row(3)).to_have_attribute("aria-selected", "true")
    expect(session.panel.locator(".notes")).to_contain_text(
        "read before the commit plan, by critic"
    )


def test_a_tools_dirty_read_of_its_callbacks_write_is_marked_with_both_lines(visit):
    session = visit.session("callbacks")
    session.send("go")
    session.ends()
    row = session.page.locator("#rows .row", has_text="result")
    expect(row).to_contain_text("dirty read")
    row.click()
    note = session.page.locator("#inspector .notes")
    expect(note).to_contain_text("written by agent (before_tool_callback of tool book)")
    expect(note).to_contain_text("callbacks/agent.py:15 in before")
    expect(note).to_contain_text("read by agent (tool book) at callbacks/agent.py:20 in book")


def test_a_dirty_read_of_a_lost_write_says_so(visit):
    session = visit.session("custom")
    session.page.get_by_label("pause first").check()
    session.send("go")
    is_held(session, "Paused before the commit")
    for number in (1, 2):
        press(session, "n")
        is_held(session, f"Paused after the commit of #{number}, before the agent continues")
    expect(strip(session)).to_contain_text("read by critic")
    session.page.locator("#stop").click()
    session.ends("stopped")
    expect(strip(session)).to_have_class("scope pending lost")
    flag = session.row(2).locator(".flag.dirty")
    expect(flag).to_contain_text("dirty read, lost")
    expect(flag).to_have_attribute("title", "read, and never committed: plan, written by planner")
    loaded = visit.again(session)
    session.equals(loaded, "#rows")
    loaded.page.goto(f"{loaded.page.url}?filter=is:warned")
    expect(loaded.row(2).locator(".flag.dirty")).to_contain_text("dirty read, lost")
    session.select(2)
    expect(session.panel.locator(".notes")).to_contain_text("lost")


def test_a_change_without_a_delta_and_a_lost_race_are_flagged(visit):
    session = visit.session("in_place", state='{"plan": {"steps": [1]}}')
    session.say("go")
    flag = session.row(2).locator(".flag.silent")
    hint = "state changed without a delta: plan.x; assign the key to save it"
    expect(flag).to_contain_text(hint)
    expect(session.row(3).locator(".flag.silent")).to_have_count(0)
    expect(session.row(5).locator(".flag.dirty")).to_contain_text("dirty read, lost")
    session.select(2)
    expect(session.panel.locator(".notes")).to_contain_text("plan.x; assign plan to save it")
    expect(session.panel.locator(".notes")).to_contain_text("by careless")
    race = visit.session("branches")
    race.say("go")
    expect(race.row(3).locator(".flag.overlap")).to_contain_text("winner was also written by")
