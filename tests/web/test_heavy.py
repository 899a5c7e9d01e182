"""What is heavy is prepared beside the event loop: others are answered meanwhile (R18)."""

import asyncio
import json
import sys
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

import httpx2
import pytest

from devui.debugger.commit import event_of
from devui.debugger.feed import Batch
from devui.debugger.news import PartialArrived
from devui.debugger.runrequest import RunRequest
from devui.settings import Settings
from devui.store.rows import SessionRow
from devui.web.presenters.detail import event_detail
from devui.web.presenters.live import LivePage
from devui.web.presenters.statepanel import state_panel
from devui.web.program import application, opened
from devui.web.security.access import Access
from devui.web.services import Services
from devui.web.text import markdown
from devui.web.text.jsontext import json_text
from tests.faults.zoo import AGENTS
from tests.kit.patience import PATIENCE
from tests.kit.server import write_app

STREAMING = AGENTS["sleeps"].replace(
    "        await asyncio",
    "        yield event('*partial*').model_copy(update={'partial': True})\n        await asyncio",
)


@pytest.fixture
async def found(tmp_path: Path) -> AsyncIterator[Services]:
    write_app(tmp_path / "agents", "streams", STREAMING)
    settings = Settings(agents=tmp_path / "agents", data_dir=tmp_path / "data", auth=False)
    async with opened(settings, Access(None)) as parts:
        yield parts


class Held:
    """A function that is stopped on its way in, on whichever thread but the loop's it is called."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._code = function.__code__
        self.entered, self.go_on = threading.Event(), threading.Event()

    def hook(self, frame: FrameType, event: str, argument: Any) -> None:
        if event == "call" and frame.f_code is self._code:
            self.entered.set()
            assert self.go_on.wait(PATIENCE)

    async def is_reached_by(self, work: asyncio.Task[Any]) -> bool:
        """Wait until the function was entered beside the loop, or the work done without that."""
        while not await asyncio.to_thread(self.entered.wait, 0.05) and not work.done():
            pass
        return self.entered.is_set() and not work.done()


@contextmanager
def held(function: Callable[..., Any]) -> Iterator[Held]:
    stop = Held(function)
    threading.setprofile(stop.hook)  # for threads that begin from now on, as all of these do
    asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor())
    try:
        yield stop
    finally:
        stop.go_on.set()
        threading.setprofile(None)
        assert sys.getprofile() is None


async def heavy_session(found: Services) -> SessionRow:
    large = {f"key {n}": "*text* " * 20 for n in range(2000)}
    session = await found.journal.sessions.create("streams", "u", None, {"large": large})
    content = {"role": "model", "parts": [{"text": json.dumps(large)}]}
    event = {"id": "e", "author": "A", "timestamp": 1.0, "content": content}
    new = event_of(event, json.dumps(event), final=True)
    await found.journal.events.append(session.key, new, None)
    return session


@pytest.mark.parametrize(
    ("path", "function"),
    [
        ("/sessions/{key}?event=1&tab=event", event_detail),
        ("/sessions/{key}?event=1&tab=event", markdown._convert),
        ("/sessions/{key}?event=1&tab=raw", json_text),
        ("/sessions/{key}?event=1&tab=state", state_panel),
        ("/sessions/{key}", state_panel),
        ("/sessions/{key}/state", state_panel),
    ],
)
async def test_another_request_is_answered_while_a_heavy_panel_is_prepared(
    found: Services, path: str, function: Callable[..., Any]
) -> None:
    session = await heavy_session(found)
    app = application(found, Access(None))
    base = f"http://127.0.0.1:{found.settings.port}"
    markdown._cached_long.cache_clear()
    markdown._cached.cache_clear()
    async with httpx2.AsyncClient(
        transport=httpx2.ASGITransport(app), base_url=base, headers={"Accept": "text/html"}
    ) as client:
        with held(function) as stop:
            asked = asyncio.create_task(client.get(path.format(key=session.key)))
            assert await stop.is_reached_by(asked)
            assert (await client.get("/health")).status_code == 200
            assert not asked.done()
        assert (await asked).status_code == 200


async def test_what_an_answer_in_flight_looks_like_is_prepared_beside_the_loop(
    found: Services,
) -> None:
    session = await found.journal.sessions.create("streams", "u", None, {})
    with found.bus.subscribe(session.key) as reader:
        message = {"role": "user", "parts": [{"text": "go"}]}
        run = await found.runs.start(session, RunRequest(message=message))
        while not (news := [n for n in await reader.batch() if isinstance(n, PartialArrived)]):
            pass
    page = LivePage(found, session, tail=True, past=False)
    await page.begin(await found.journal.head())
    markdown._cached.cache_clear()
    with held(markdown._convert) as stop:
        rendering = asyncio.create_task(page.render(Batch(0, list(news))))
        assert await stop.is_reached_by(rendering)
    assert "<em>partial</em>" in await rendering
    await found.runs.stop(run.id, "ada")
