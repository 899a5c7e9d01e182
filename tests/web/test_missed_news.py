"""A page whose stream was too slow also gets news that isn't in the journal (R42, R60, R67)."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest

from devui.debugger.events import bus as buses
from devui.settings import Settings
from devui.web.program import application, open_services
from devui.web.security.access import Access
from tests.faults.misbehaving_agents import AGENTS
from tests.kit.patience import PATIENCE
from tests.kit.server import write_app

BEHIND = 5
"""How many items of news a reader may be behind in this test."""


class SlowReader:
    """An ASGI client that reads the pieces of a stream, or makes the server wait."""

    def __init__(self) -> None:
        self.takes = asyncio.Event()
        self.takes.set()
        self._pieces: asyncio.Queue[str] = asyncio.Queue()

    async def send(self, message: dict[str, Any]) -> None:
        await self.takes.wait()
        self._pieces.put_nowait(message.get("body", b"").decode())

    async def receive(self) -> dict[str, Any]:
        await asyncio.Event().wait()
        raise AssertionError

    async def until(self, text: str) -> None:
        async with asyncio.timeout(PATIENCE):
            while text not in await self._pieces.get():
                pass


@asynccontextmanager
async def reading(app: Any, host: str, path: str) -> AsyncIterator[SlowReader]:
    reader = SlowReader()
    scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": "GET",
        "scheme": "http",
        "path": path,
        "raw_path": path.encode(),
        "query_string": b"",
        "headers": [(b"host", host.encode())],
    }
    stream = asyncio.create_task(app(scope, reader.receive, reader.send))
    try:
        yield reader
    finally:
        stream.cancel()
        await asyncio.wait([stream])


@pytest.mark.req("R42")
@pytest.mark.req("R60")
@pytest.mark.req("R67")
async def test_a_page_that_was_cut_off_gets_the_notice_it_missed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(buses, "CAPACITY", BEHIND)
    write_app(tmp_path / "agents", "fine", AGENTS["fine"])
    settings = Settings(agents=tmp_path / "agents", data_dir=tmp_path / "data", auth=False)
    async with open_services(settings, Access(None)) as services:
        app, host = application(services, Access(None)), f"127.0.0.1:{settings.port}"
        transport = httpx2.ASGITransport(app)
        session = await services.journal.sessions.create("fine", "u", "s", {})
        async with (
            httpx2.AsyncClient(transport=transport, base_url=f"http://{host}") as client,
            reading(app, host, f"/sessions/{session.key}/stream") as page,
        ):
            await page.until('"#journal"')
            page.takes.clear()
            for n in range(3 * BEHIND):
                changed = await client.patch(
                    "/apps/fine/users/u/sessions/s", json={"stateDelta": {"n": n}}
                )
                assert changed.status_code == 200
            refused = await client.get("/list-apps", headers={"Origin": "http://evil.example"})
            assert refused.status_code == 403
            page.takes.set()
            await page.until("Requests have been refused")
