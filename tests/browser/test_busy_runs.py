"""A run that emits events endlessly: its page stays small and usable, and can stop the run."""

import re

import pytest
from playwright.sync_api import expect

from devui.web.panels.timeline.window import SIZE
from tests.browser.test_long_sessions import ELEMENTS, WINDOW
from tests.kit.browser import SessionPage, scroll_through
from tests.kit.server import running, write_app

pytestmark = pytest.mark.browser

ENDLESS = """
import asyncio

from google.genai import types

from devui.runtime.agents import BaseAgent
from devui.runtime.events import Event


class Endless(BaseAgent):
    async def _run_async_impl(self, ctx):
        while True:
            part = types.Part(text="once more")
            yield Event(author=self.name, content=types.Content(role="model", parts=[part]))
            await asyncio.sleep({pause})


root_agent = Endless(name="endless")
"""
APPS = {"fast": ENDLESS.format(pause=0), "steady": ENDLESS.format(pause=0.01)}


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    folder = tmp_path_factory.mktemp("busy")
    for name, code in APPS.items():
        write_app(folder / "agents", name, code)
    with running(folder / "agents", folder / "data") as server:
        yield server


def comes_to(session: SessionPage, number: int) -> None:
    """Wait until the page shows this event or a later one."""
    script = "(number) => document.querySelector('#rows').lastElementChild?.dataset.event >= number"
    session.page.wait_for_function(script, arg=number)


def numbers(session: SessionPage, of: str) -> list[int]:
    script = "(all) => all.map((each) => Number(each.dataset.event))"
    return session.page.locator(f"{of} > [data-event]").evaluate_all(script)


@pytest.mark.req("R63")
@pytest.mark.parametrize(("app", "far"), [("fast", WINDOW + SIZE), ("steady", WINDOW + 1)])
def test_the_page_of_an_endless_run_stays_small_and_can_stop_it(visit, app, far):
    session = visit.session(app)
    session.page.evaluate("window.first = true")
    session.send("go")
    comes_to(session, far)
    assert session.page.evaluate("document.querySelectorAll('*').length") <= 4 * ELEMENTS
    session.page.locator("#stop").click()
    session.ends("stopped")
    assert session.page.evaluate("window.first"), "the page had to be read anew"
    visible = numbers(session, "#rows")
    assert visible == sorted(set(visible))
    assert len(visible) <= WINDOW
    last = session.events.last
    expect(last).to_be_in_viewport()
    scrolled = sorted(scroll_through(session.page, "#rows")["passed"])
    assert scrolled == list(range(1, int(last.get_attribute("data-event") or 0) + 1))


def test_a_reader_who_scrolled_up_keeps_the_rows_and_finds_newer_ones_below(visit):
    session = visit.session("steady")
    session.send("go")
    comes_to(session, 100)
    reader = visit.again(session)
    # A delayed stream delivers more than a window at once, however slow the disk is.
    late = reader.held_back(re.compile(r"/stream\?"))
    reader.page.reload()
    up = "(box) => { box.scrollTop -= box.clientHeight; }"
    reader.page.locator("#timeline .scroller").evaluate(up)
    visible = numbers(reader, "#rows")
    here = reader.row(visible[-1] - 30)
    expect(here).to_be_in_viewport()
    comes_to(session, visible[-1] + SIZE + 1)
    visit.allow("ERR_FAILED|htmx:error")
    late.next().abort()
    reader.page.unroute_all()
    expect(reader.page.locator("#rows > .gap")).not_to_have_count(0)
    figures = reader.page.locator("#totals").inner_text()
    expect(reader.page.locator("#totals")).not_to_have_text(figures)
    expect(here).to_be_in_viewport()
    reader.page.locator("#timeline [data-newer]").click()
    comes_to(reader, visible[-1] + SIZE)
    expect(reader.events.last).to_be_in_viewport()
    reader.page.locator("#stop").click()
    session.ends("stopped")
    reader.ends("stopped")
