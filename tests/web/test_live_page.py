"""What a live page gets of a run, piece by piece (Law 5)."""

import json
from pathlib import Path
from typing import Any

import pytest

from devui.debugger.events.feed import Batch
from devui.debugger.events.news import EventCommitted, RunChanged
from devui.debugger.runs.commit import event_of
from devui.settings import Settings
from devui.web.panels.session.live import LivePage
from devui.web.program import open_services
from devui.web.security.access import Access
from devui.wire.events import Event
from tests.faults.misbehaving_agents import AGENTS
from tests.kit.server import write_app


def event(name: str, part: dict[str, Any]) -> Event:
    content = {"role": "model", "parts": [part]}
    fields = {"id": name, "invocationId": "i", "author": "a", "timestamp": 1.0, "content": content}
    return Event.of(fields, json.dumps(fields))


async def test_a_run_is_not_shown_as_done_before_the_page_gets_its_end(
    tmp_path: Path,
) -> None:
    """The run ends while its start is still on the way to the page."""
    write_app(tmp_path / "agents", "fine", AGENTS["fine"])
    settings = Settings(agents=tmp_path / "agents", data_dir=tmp_path / "data", auth=False)
    async with open_services(settings, Access(None)) as services:
        session = await services.journal.sessions.create("fine", "u", None, {})
        page = LivePage(services, session, past=False)
        await page.begin(await services.journal.head())
        begun = await services.journal.runs.start("r", session.key)
        over = await services.journal.runs.change("r", "done")
        first = await page.render(Batch(begun.seq, [RunChanged(begun)]))
        assert "run done" not in first
        assert "run done" in await page.render(Batch(over.seq, [RunChanged(over)]))


@pytest.mark.parametrize(("status", "reads_as_one"), [("done", True), ("failed", False)])
async def test_a_result_is_shown_with_its_call_if_nothing_is_between_them(
    tmp_path: Path, status: str, reads_as_one: bool
) -> None:
    """The page is loaded after a run ended with the call, and before the result arrives."""
    write_app(tmp_path / "agents", "fine", AGENTS["fine"])
    settings = Settings(agents=tmp_path / "agents", data_dir=tmp_path / "data", auth=False)
    call = event("1", {"functionCall": {"id": "c", "name": "ask", "args": {}}})
    result = event("2", {"functionResponse": {"id": "c", "name": "ask", "response": {"x": 1}}})
    async with open_services(settings, Access(None)) as services:
        session = await services.journal.sessions.create("fine", "u", None, {})
        await services.journal.runs.start("r", session.key)
        done = await services.journal.events.append(
            session.key, event_of(call, final=False), run="r"
        )
        await services.journal.runs.change("r", status)
        page = LivePage(services, session, past=False)
        await page.begin(await services.journal.head())
        await services.journal.events.append(session.key, event_of(result, final=False), run=None)
        [(row, body)] = await services.journal.events.following(session.key, done.seq, 1)
        answer = await page.render(Batch(row.seq, [EventCommitted(row, body)]))
        assert 'id="e-2"' in answer
        assert (" answers" in answer.partition('id="e-2"')[0].rpartition("<div")[2]) is reads_as_one
