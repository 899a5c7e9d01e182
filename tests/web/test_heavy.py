"""Heavy work runs off the event loop, so other requests are answered meanwhile (R18)."""

import asyncio
import json
import os
import signal
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

from devui.debugger.breakpoints import hits
from devui.debugger.breakpoints.breakpoint import Draft
from devui.debugger.bundles.writing import Cleaning
from devui.debugger.events import matches
from devui.debugger.events.feed import Batch
from devui.debugger.events.news import PartialArrived, SessionChanged
from devui.debugger.runs.commit import event_of
from devui.debugger.runs.request import RunRequest
from devui.settings import Settings
from devui.store import exports
from devui.store.rows import SessionRow
from devui.store.state import state_json
from devui.web.panels.inspector.detail import event_detail
from devui.web.panels.request.answer import is_changed, model_answer
from devui.web.panels.session.live import LivePage
from devui.web.panels.session.page import session_page
from devui.web.panels.state.panel import state_panel
from devui.web.program import application, open_services
from devui.web.security.access import Access
from devui.web.services import PAGES_AT_ONCE, Services
from devui.web.text import markdown
from devui.web.text.jsontree import json_items, json_text
from devui.wire.events import Event
from devui.wire.inspection import InspectRun
from tests.faults.misbehaving_agents import AGENTS
from tests.kit.patience import PATIENCE
from tests.kit.server import write_app

STREAMING = AGENTS["sleeps"].replace(
    "        await asyncio",
    "        yield event('*partial*').model_copy(update={'partial': True})\n        await asyncio",
)

TALKS = """
from devui.runtime.agents import LlmAgent
from devui.runtime.models.scripted_llm import Rule, Say, ScriptedLlm

model = ScriptedLlm(rules=[Rule(then=Say("A long answer. " * 20_000))])
root_agent = LlmAgent(name="talks", model=model)
"""


@pytest.fixture
async def services(tmp_path: Path) -> AsyncIterator[Services]:
    write_app(tmp_path / "agents", "streams", STREAMING)
    write_app(tmp_path / "agents", "talks", TALKS)
    settings = Settings(agents=tmp_path / "agents", data_dir=tmp_path / "data", auth=False)
    async with open_services(settings, Access(None)) as parts:
        yield parts


class Held:
    """A function that pauses when it is called, on any thread other than the event loop's."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._code = function.__code__
        self.entered, self.go_on = threading.Event(), threading.Event()

    def hook(self, frame: FrameType, event: str, argument: Any) -> None:
        if event == "call" and frame.f_code is self._code:
            self.entered.set()
            assert self.go_on.wait(PATIENCE)

    async def is_reached_by(self, work: asyncio.Task[Any]) -> bool:
        """Wait until the function is called off the loop; return False if the work ends first."""
        while not await asyncio.to_thread(self.entered.wait, 0.05) and not work.done():
            pass
        return self.entered.is_set() and not work.done()


@contextmanager
def hold(function: Callable[..., Any]) -> Iterator[Held]:
    stop = Held(function)
    threading.setprofile(stop.hook)  # for threads started from now on, as all of these are
    asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor())
    try:
        yield stop
    finally:
        stop.go_on.set()
        threading.setprofile(None)
        assert sys.getprofile() is None


async def heavy_session(services: Services) -> SessionRow:
    large = {f"key {n}": "*text* " * 20 for n in range(2000)}
    session = await services.journal.sessions.create("streams", "u", "heavy", {"large": large})
    content = {"role": "model", "parts": [{"text": json.dumps(large)}]}
    event = {"id": "e", "author": "A", "timestamp": 1.0, "content": content}
    new = event_of(Event.of(event), final=True)
    await services.journal.events.append(session.key, new, None)
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
        ("/sessions/{key}/state/value?key=large", json_items),
        ("/api/sessions/{key}/export", Cleaning.record),
        ("/sessions/{key}/export", Cleaning.record),
        ("/api/sessions/{key}/export", exports._state),
        ("/apps/streams/users/u/sessions", state_json),
        ("/apps/streams/users/u/sessions/heavy", state_json),
    ],
)
async def test_another_request_is_answered_while_a_heavy_panel_is_prepared(
    services: Services, path: str, function: Callable[..., Any]
) -> None:
    session = await heavy_session(services)
    app = application(services, Access(None))
    base = f"http://127.0.0.1:{services.settings.port}"
    markdown._cached_long.cache_clear()
    markdown._cached.cache_clear()
    async with httpx2.AsyncClient(
        transport=httpx2.ASGITransport(app), base_url=base, headers={"Accept": "text/html"}
    ) as client:
        with hold(function) as stop:
            request = asyncio.create_task(client.get(path.format(key=session.key)))
            assert await stop.is_reached_by(request)
            assert (await client.get("/health")).status_code == 200
            assert not request.done()
        assert (await request).status_code == 200


@pytest.mark.parametrize(("tab", "function"), [("event", is_changed), ("request", model_answer)])
async def test_a_long_answer_is_compared_with_its_event_off_the_loop(
    services: Services, tab: str, function: Callable[..., Any]
) -> None:
    session = await services.journal.sessions.create("talks", "u", None, {})
    message = {"role": "user", "parts": [{"text": "go"}]}
    run = await services.runs.start(session, RunRequest(message=message))
    base, page = f"http://127.0.0.1:{services.settings.port}", f"/sessions/{session.key}"
    async with httpx2.AsyncClient(
        transport=httpx2.ASGITransport(application(services, Access(None))), base_url=base
    ) as client:
        place = (await client.get(f"/api/runs/{run.id}")).json()
        while place["status"] == "running":
            query = {"after": place["position"]}
            place = (await client.get(f"/api/runs/{run.id}", params=query)).json()
        with hold(function) as stop:
            request = asyncio.create_task(client.get(page, params={"event": 2, "tab": tab}))
            assert await stop.is_reached_by(request)
            assert (await client.get("/health")).status_code == 200
        assert "A long answer." in (await request).text


@pytest.mark.parametrize(
    ("path", "function"),
    [
        ("?filter=words{n}", matches._by_rows),
        ("/rows?first=1&last=1000&skip=0&limit=40&filter=older{n}", matches._by_rows),
        ("/stream?filter=stream{n}", matches._by_rows),
        ("?tab=breaks&hits={point}", hits._Scan.look),
    ],
)
async def test_searches_through_a_session_do_not_block_other_pages(
    services: Services, path: str, function: Callable[..., Any]
) -> None:
    session = await heavy_session(services)
    point = await services.book.add("streams", Draft(on="event", name="text"))
    base, page = f"http://127.0.0.1:{services.settings.port}", f"/sessions/{session.key}"
    async with httpx2.AsyncClient(
        transport=httpx2.ASGITransport(application(services, Access(None))), base_url=base
    ) as client:
        with hold(function) as stop:
            paths = [page + path.format(n=n, point=point.row.id) for n in range(PAGES_AT_ONCE)]
            searches = [asyncio.create_task(client.get(each)) for each in paths]
            assert await stop.is_reached_by(searches[0])
            async with asyncio.timeout(PATIENCE):
                assert (await client.get(page)).status_code == 200
            assert not any(each.done() for each in searches)
        services.streams.close()
        assert {(await each).status_code for each in searches} == {200}


async def test_a_streamed_answer_is_rendered_off_the_loop(
    services: Services,
) -> None:
    session = await services.journal.sessions.create("streams", "u", None, {})
    with services.bus.subscribe(session.key) as reader:
        message = {"role": "user", "parts": [{"text": "go"}]}
        run = await services.runs.start(session, RunRequest(message=message))
        while not (news := [n for n in await reader.batch() if isinstance(n, PartialArrived)]):
            pass
    page = LivePage(services, session, past=False)
    await page.begin(await services.journal.head())
    markdown._cached.cache_clear()
    with hold(markdown._convert) as stop:
        rendering = asyncio.create_task(page.render(Batch(0, list(news))))
        assert await stop.is_reached_by(rendering)
    assert "<em>partial</em>" in await rendering
    await services.runs.stop(run.id, "ada")


async def test_only_a_few_of_many_requested_pages_are_built_at_once(
    services: Services, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = await heavy_session(services)
    base = f"http://127.0.0.1:{services.settings.port}"
    now, most, count, expected = 0, 0, 0, 40 + 2 * 20
    all_made = asyncio.Event()

    def counting_calls(make: Callable[..., Any]) -> Callable[..., Any]:
        async def counting(*values: Any, **named: Any) -> Any:
            nonlocal now, most, count
            now, count = now + 1, count + 1
            most = max(most, now)
            try:
                return await make(*values, **named)
            finally:
                now -= 1
                if count == expected:
                    all_made.set()

        return counting

    monkeypatch.setattr("devui.web.panels.session.views.session_page", counting_calls(session_page))
    monkeypatch.setattr(LivePage, "begin", counting_calls(LivePage.begin))
    monkeypatch.setattr(LivePage, "render", counting_calls(LivePage.render))
    path = f"/sessions/{session.key}"
    async with httpx2.AsyncClient(
        transport=httpx2.ASGITransport(application(services, Access(None))), base_url=base
    ) as client:
        streams = [asyncio.create_task(client.get(f"{path}/stream")) for _ in range(20)]
        pages = [asyncio.create_task(client.get(path)) for _ in range(40)]
        assert {(await page).status_code for page in pages} == {200}
        services.bus.publish(session.key, SessionChanged(session))
        await asyncio.wait_for(all_made.wait(), PATIENCE)
        services.streams.close()
        assert {(await stream).status_code for stream in streams} == {200}
    assert most == PAGES_AT_ONCE


async def test_a_stalled_worker_delays_only_pages_about_its_run(
    services: Services,
) -> None:
    session = await services.journal.sessions.create("streams", "u", None, {})
    message = {"role": "user", "parts": [{"text": "go"}]}
    with services.bus.subscribe(session.key) as reader:
        run = await services.runs.start(session, RunRequest(message=message))
        while not any(isinstance(n, PartialArrived) for n in await reader.batch()):
            pass
    live = services.runs.live(session.key)
    assert live is not None
    assert live.worker is not None
    os.kill(live.worker.process.pid, signal.SIGSTOP)
    pipe = asyncio.create_task(
        live.worker.send(InspectRun(number=0, run="x" * 1_000_000))
    )  # blocks, since the pipe is full
    base, page = f"http://127.0.0.1:{services.settings.port}", f"/sessions/{session.key}"
    try:
        async with httpx2.AsyncClient(
            transport=httpx2.ASGITransport(application(services, Access(None))), base_url=base
        ) as client:
            slow = [
                asyncio.create_task(client.get(f"{page}?tab=run")) for _ in range(PAGES_AT_ONCE)
            ]
            await asyncio.sleep(0.3)
            assert (await client.get(page)).status_code == 200
            assert not any(each.done() for each in slow)
            answers = await asyncio.wait_for(asyncio.gather(*slow), PATIENCE)
            assert {each.status_code for each in answers} == {200}
    finally:
        os.kill(live.worker.process.pid, signal.SIGCONT)
    await pipe
    await services.runs.stop(run.id, "ada")


async def test_an_html_export_formats_a_bounded_amount_and_says_where_it_stops(
    services: Services, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = await services.journal.sessions.create("streams", "u", "long", {})
    for number in range(300):
        content = {"role": "model", "parts": [{"text": f"**bold {number}** " + "words " * 500}]}
        event = {"id": f"e{number}", "author": "A", "timestamp": 1.0, "content": content}
        new = event_of(Event.of(event), final=True)
        await services.journal.events.append(session.key, new, None)
    parsed: list[int] = []
    convert = markdown._convert

    def counted(text: str) -> Any:
        parsed.append(len(text))
        return convert(text)

    markdown._cached.cache_clear()
    monkeypatch.setattr(markdown, "_convert", counted)
    base = f"http://127.0.0.1:{services.settings.port}"
    transport = httpx2.ASGITransport(application(services, Access(None)))
    async with httpx2.AsyncClient(transport=transport, base_url=base) as client:
        page = (await client.get(f"/api/sessions/{session.key}/export?format=html")).text
    assert 0 < sum(parsed) <= 400_000
    formatted, notice, plain = page.partition("messages are shown as written")
    assert notice
    assert page.count("messages are shown as written") == 1
    assert "<strong>bold 0</strong>" in formatted
    assert "**bold 299**" in plain
    for number in range(300):
        forms = f"<strong>bold {number}</strong>", f"**bold {number}** "
        assert (page.count(forms[0]), page.count(f">{forms[1]}")) in {
            (2, 0),
            (0, 2),
        }
