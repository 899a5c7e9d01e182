"""A page whose stream is cut anywhere still shows every event once, in order (R58)."""

import random
import re

import pytest
from playwright.sync_api import expect

from tests.kit.browser import Visit, cookies, scroll_through
from tests.kit.cutting_proxy import CuttingProxy
from tests.kit.debugged_run import DebuggedRun
from tests.kit.rounds import rounds
from tests.kit.server import running, write_app

pytestmark = [pytest.mark.browser, pytest.mark.req("R58")]

EVENTS = 200
TALKS = f"""
import asyncio

from google.genai import types

from devui.runtime.agents import BaseAgent
from devui.runtime.events import Event


class Talks(BaseAgent):
    async def _run_async_impl(self, ctx):
        for number in range(1, {EVENTS}):
            print("line", number, flush=True)
            yield Event(author=self.name, content=types.ModelContent(f"word {{number}}"))
            await asyncio.sleep(0.05)


root_agent = Talks(name="talks")
"""


@pytest.fixture
def server(tmp_path):
    write_app(tmp_path / "agents", "talks", TALKS)
    with running(tmp_path / "agents", tmp_path / "data") as server:
        yield server


@pytest.mark.parametrize("seed", range(rounds(1, 6)))
def test_a_page_whose_stream_keeps_being_cut_shows_every_event_once(browser, server, seed):
    draw = random.Random(seed)
    cuts = [draw.choice([draw.randrange(1, 500), draw.randrange(1, 20_000)]) for _ in range(10)]
    cuts[3:3], cuts[7:7] = ["refuse"], ["drop"]
    with (
        CuttingProxy(server.port, cuts) as proxy,
        Visit(browser, server, storage_state=cookies(browser, server)) as visit,
        server.client() as client,
    ):
        visit.allow("request to another origin|ERR_|503|network error|Failed to fetch")
        debugged = DebuggedRun(client, "talks")
        page = visit.context.new_page()
        page.goto(f"{proxy.url}/sessions/{debugged.key}?tab=log")
        debugged.start("go", pause=False).settled()
        expect(page.locator("#run .run")).to_have_class("run done")
        rows = page.locator("#rows > .row[data-event]")
        expect(rows.last).to_have_id(f"e-{EVENTS}")
        for items in ("#rows", "#messages"):
            assert sorted(scroll_through(page, items)["passed"]) == list(range(1, EVENTS + 1))
        lines = page.locator("#log-live > .log-line").filter(has_text="line ")
        expect(lines).to_have_text([re.compile(rf"line {n}$") for n in range(1, EVENTS)])
        assert len(proxy.left) < len(cuts) - 3, "it was hardly ever cut"
