"""A run that makes events without end: the page stays small and can be used, and stops the run."""

import re

import pytest
from playwright.sync_api import expect

from devui.web.presenters.window import SIZE
from tests.browser.test_long_sessions import ELEMENTS, WINDOW
from tests.kit.browser import SessionPage
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
APPS = {"fast": ENDLESS.format(pause=0), "steady": ENDLESS.format(pause=0.02)}


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    folder = tmp_path_factory.mktemp("busy")
    for name, code in APPS.items():
        write_app(folder / "agents", name, code)
    with running(folder / "agents", folder / "data") as started:
        yield started


def comes_to(session: SessionPage, number: int) -> None:
    """Wait until the page shows an event of this number or a later one."""
    script = "(number) => document.querySelector('#rows').lastElementChild?.dataset.event >= number"
    session.page.wait_for_function(script, arg=number)


def numbers(session: SessionPage, of: str) -> list[int]:
    script = "(all) => all.map((each) => Number(each.dataset.event))"
    return session.page.locator(f"{of} > [data-event]").evaluate_all(script)


@pytest.mark.req("R63")
@pytest.mark.parametrize(("app", "far"), [("fast", 1000), ("steady", 400)])
def test_the_page_of_a_run_without_end_stays_small_and_stops_it(visit, app, far):
    session = visit.session(app)
    session.page.evaluate("window.first = true")
    session.send("go")
    comes_to(session, far)
    assert session.page.evaluate("document.querySelectorAll('*').length") <= 4 * ELEMENTS
    session.page.locator("#stop").click()
    session.ends("stopped")
    assert session.page.evaluate("window.first"), "the page had to be read anew"
    shown = numbers(session, "#rows")
    assert shown == list(range(shown[0], shown[-1] + 1))
    assert len(shown) <= WINDOW + 100
    assert numbers(session, "#messages") == shown
    loaded = numbers(visit.again(session), "#rows")
    assert loaded == shown[-len(loaded) :]
    session.page.get_by_role("link", name="Load earlier events").click()
    expect(session.row(shown[0] - 1)).to_be_attached()


def test_who_reads_elsewhere_keeps_the_rows_and_is_told_of_the_later_ones(visit):
    session = visit.session("fast")
    session.send("go")
    comes_to(session, 100)
    reader = visit.again(session)
    # A stream that is late brings more than a window at once, however slow the disk is.
    late = reader.held_back(re.compile(r"/stream\?"))
    reader.page.reload()
    middle = "(box) => { box.scrollTop = box.scrollHeight / 2; }"
    reader.page.locator("#timeline .scroller").evaluate(middle)
    expect(reader.page.locator("#main:not([data-follows])")).to_be_attached()
    shown = numbers(reader, "#rows")
    comes_to(session, shown[-1] + SIZE + 1)
    visit.allow("ERR_FAILED|htmx:error")
    late.next().abort()
    reader.page.unroute_all()
    expect(reader.page.locator("#later")).to_contain_text("Later events are not shown.")
    figures = reader.page.locator("#totals").inner_text()
    expect(reader.page.locator("#totals")).not_to_have_text(figures)
    assert numbers(reader, "#rows") == shown == list(range(shown[0], shown[-1] + 1))
    # Without scrolling there: who comes to the end follows again, and the link goes.
    reader.page.locator("#later").get_by_role("link", name="Go live").dispatch_event("click")
    comes_to(reader, shown[-1] + 1)
    reader.page.locator("#stop").click()
    session.ends("stopped")
    reader.ends("stopped")
