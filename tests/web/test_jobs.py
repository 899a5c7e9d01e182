"""Long jobs show their progress where they were started, and leave nothing behind when stopped."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx2
import pytest

from devui.debugger.adk_imports.sqlite import MAGIC
from devui.debugger.background.jobs import Jobs, JobStopped
from devui.debugger.bundles.importing import BundleImporter
from devui.debugger.bundles.reading import check
from devui.debugger.bundles.writing import Cleaning
from devui.debugger.events.news import RunChanged
from devui.debugger.replays import recordings
from devui.debugger.runs.commit import event_of
from devui.debugger.runs.request import RunRequest
from devui.debugger.saved_tests.cleaning import cleaned
from devui.settings import Settings
from devui.store.rows import SessionRow
from devui.web import uploads
from devui.web.panels.bundles import api, imports
from devui.web.panels.bundles import html as exported
from devui.web.panels.jobs import panel as shown
from devui.web.program import application, open_services
from devui.web.render import Renderer
from devui.web.security.access import Access
from devui.web.services import Services
from devui.wire.events import Event
from tests.faults.misbehaving_agents import AGENTS
from tests.kit.patience import PATIENCE
from tests.kit.server import write_app
from tests.web.test_heavy import hold

JSON = {"Content-Type": "application/json"}
SMALL = "x" * 10


@pytest.fixture
async def services(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Services]:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(shown, "UNSHOWN", 0)
    write_app(tmp_path / "agents", "quick", AGENTS["fine"])
    settings = Settings(agents=tmp_path / "agents", data_dir=tmp_path / "data", auth=False)
    async with open_services(settings, Access(None)) as parts:
        yield parts


@pytest.fixture
async def client(services: Services) -> AsyncIterator[httpx2.AsyncClient]:
    base = f"http://127.0.0.1:{services.settings.port}"
    transport = httpx2.ASGITransport(application(services, Access(None)))
    async with httpx2.AsyncClient(
        transport=transport, base_url=base, headers={"Accept": "text/html", "Origin": base}
    ) as opened_client:
        yield opened_client


async def session_of(services: Services, text: str) -> SessionRow:
    session = await services.journal.sessions.create("quick", "u", None, {}, title="Trip")
    for number in range(3):
        content = {"role": "model", "parts": [{"text": text}]}
        event = {"id": f"e{number}", "author": "A", "timestamp": 1.0, "content": content}
        new = event_of(Event.of(event), final=True)
        await services.journal.events.append(session.key, new, None)
    return session


async def run_session(services: Services) -> SessionRow:
    session = await services.journal.sessions.create("quick", "u", None, {})
    message = {"role": "user", "parts": [{"text": "go"}]}
    with services.bus.subscribe(session.key) as reader:
        await services.runs.start(session, RunRequest(message=message))
        while not any(isinstance(n, RunChanged) and n.run.ended for n in await reader.batch()):
            pass
    return session


async def stopped_while_held(
    client: httpx2.AsyncClient, function: Callable[..., Any], request: Callable[[], Any]
) -> Any:
    """Stop the job of a request while it is inside the function; return the request's answer."""
    with hold(function) as stop:
        task = asyncio.create_task(request())
        assert await stop.is_reached_by(task)
        (job,) = [
            each
            for each in (await client.get("/api/jobs")).json()["jobs"]
            if each["status"] == "running"
        ]
        list_of_page = "/jobs" if job["session"] is None else f"/jobs?session={job['session']}"
        page = (await client.get(list_of_page)).text
        assert "<progress" in page
        assert "data-active" in page
        answer = await client.post(f"/jobs/{job['job']}/stop", headers={"HX-Request": "true"})
        assert "Canceling" in answer.text
    answer = await task
    stopped = (await client.get(f"/api/jobs/{job['job']}")).json()
    assert stopped["status"] == "stopped"
    page = (await client.get(list_of_page)).text
    assert "Nothing was saved" in page
    assert "data-active" not in page
    return answer


async def everything(services: Services, tmp_path: Path) -> tuple[int, list[str]]:
    rows = await services.journal.sessions.recent(100)
    return len(rows), await asyncio.to_thread(files_in, tmp_path)


def files_in(folder: Path) -> list[str]:
    """Return the files outside the data folder."""
    files = (each for each in folder.rglob("*") if "data" not in each.parts)
    return sorted(str(each) for each in files if each.is_file())


@pytest.mark.parametrize("as_page", [True, False])
async def test_a_stopped_import_leaves_nothing_behind(
    services: Services, client: httpx2.AsyncClient, tmp_path: Path, as_page: bool
) -> None:
    session = await session_of(services, SMALL)
    bundle = (await client.get(f"/api/sessions/{session.key}/export")).content
    before = await everything(services, tmp_path)

    def request() -> Any:
        if as_page:
            return client.post("/import", files={"file": ("trip.json", bundle)})
        return client.post("/api/sessions/import", content=bundle, headers=JSON)

    answer = await stopped_while_held(client, check, request)
    if as_page:
        assert (answer.status_code, answer.headers["location"]) == (303, "/")
    else:
        assert answer.status_code == 409
    assert await everything(services, tmp_path) == before
    assert (await request()).status_code in {201, 303}


async def test_an_import_counts_received_bytes_and_can_be_stopped_midway(
    services: Services, client: httpx2.AsyncClient, tmp_path: Path
) -> None:
    session = await session_of(services, SMALL)
    bundle = (await client.get(f"/api/sessions/{session.key}/export")).content
    before = await everything(services, tmp_path)
    half, name = asyncio.Event(), "0123456789abcdef" * 2

    async def body() -> AsyncIterator[bytes]:
        yield bundle[: len(bundle) // 2]
        await half.wait()
        yield bundle[len(bundle) // 2 :]

    headers = {**JSON, "Content-Length": str(len(bundle)), "X-Devui-Job": name}
    # httpx's transport reads the whole body before sending it, so this calls the application.
    task = asyncio.create_task(exchange(services, "POST", "/api/sessions/import", body(), headers))
    while not (job := (await client.get(f"/api/jobs/{name}")).json()).get("done"):
        assert not task.done(), task.result()
    assert (job["done"], job["total"]) == (len(bundle) // 2, 3 * len(bundle))
    assert (await client.post(f"/api/jobs/{name}/stop")).json()["status"] == "stopping"
    half.set()
    assert (await task)[0]["status"] == 409
    assert await everything(services, tmp_path) == before


async def exchange(
    services: Services,
    method: str,
    path: str,
    body: AsyncIterator[bytes],
    headers: dict[str, str],
    closed: asyncio.Event | None = None,
    reading: Callable[[], Awaitable[object]] | None = None,
) -> list[Any]:
    """Return the messages that the application sends to a client, which leaves once `closed`."""
    path, _, query = path.partition("?")
    base = f"127.0.0.1:{services.settings.port}"
    scope = {
        "type": "http",
        "http_version": "1.1",
        "method": method,
        "scheme": "http",
        "path": path,
        "raw_path": path.encode(),
        "query_string": query.encode(),
        "client": ("127.0.0.1", 1),
        "server": ("127.0.0.1", services.settings.port),
        "root_path": "",
        "headers": [(k.lower().encode(), v.encode()) for k, v in {"Host": base, **headers}.items()],
    }
    messages: list[Any] = []
    ended = asyncio.Event()

    async def receive() -> dict[str, Any]:
        async for chunk in body:
            return {"type": "http.request", "body": chunk, "more_body": True}
        if ended.is_set():
            await (closed or asyncio.Event()).wait()
            return {"type": "http.disconnect"}
        ended.set()
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: Any) -> None:
        messages.append(message)
        if reading is not None and message["type"] == "http.response.body":
            await reading()

    await application(services, Access(None))(scope, receive, send)
    return messages


async def nothing() -> AsyncIterator[bytes]:
    for each in ():
        yield each


@pytest.mark.parametrize(
    ("query", "function"), [("", Cleaning.record), ("?format=html", Renderer.part)]
)
async def test_a_stopped_export_is_cut_off(
    services: Services, client: httpx2.AsyncClient, query: str, function: Callable[..., Any]
) -> None:
    session = await session_of(services, "large text " * 20_000)
    path = f"/api/sessions/{session.key}/export{query}"
    messages = await stopped_while_held(
        client, function, lambda: exchange(services, "GET", path, nothing(), {})
    )
    assert messages[0]["status"] == 200
    assert all(each.get("more_body") for each in messages[1:])  # so the server drops the connection


@pytest.mark.parametrize(
    ("query", "function"), [("", Cleaning.record), ("?format=html", Renderer.part)]
)
async def test_an_export_stops_when_its_tab_is_closed(
    services: Services, client: httpx2.AsyncClient, query: str, function: Callable[..., Any]
) -> None:
    session = await session_of(services, "large text " * 20_000)
    path, closed = f"/api/sessions/{session.key}/export{query}", asyncio.Event()
    with hold(function) as stop:
        task = asyncio.create_task(exchange(services, "GET", path, nothing(), {}, closed))
        assert await stop.is_reached_by(task)
        closed.set()
        for _ in range(5):
            await asyncio.sleep(0)  # let the loop notice the disconnect
        assert (await client.get("/api/jobs")).json()["jobs"][0]["status"] == "stopping"
    messages = await task
    assert all(each.get("more_body") for each in messages[1:])
    (job,) = (await client.get("/api/jobs")).json()["jobs"]
    assert job["status"] == "stopped"
    assert job["done"] < job["total"]


async def test_stopping_the_creation_of_a_test_leaves_no_files(
    services: Services, client: httpx2.AsyncClient, tmp_path: Path
) -> None:
    session = await run_session(services)
    before = await everything(services, tmp_path)

    def request() -> Any:
        return client.post(f"/sessions/{session.key}/test", data={"file": "tests/test_it.py"})

    answer = await stopped_while_held(client, cleaned, request)
    assert (answer.status_code, answer.headers["location"]) == (
        303,
        f"/sessions/{session.key}/test",
    )
    assert await everything(services, tmp_path) == before
    assert (await request()).status_code == 200
    assert len((await everything(services, tmp_path))[1]) == len(before[1]) + 2


@pytest.mark.parametrize("api", [True, False])
async def test_a_replay_stopped_during_its_preparation_makes_no_fork(
    services: Services, client: httpx2.AsyncClient, tmp_path: Path, *, api: bool
) -> None:
    session = await run_session(services)
    before = await everything(services, tmp_path)
    path = f"/api/sessions/{session.key}/replays" if api else f"/sessions/{session.key}/replays"

    def request() -> Any:
        return client.post(path, json={}) if api else client.post(path, data={})

    answer = await stopped_while_held(client, recordings._with_progress, request)
    assert answer.status_code == (409 if api else 303)
    assert await everything(services, tmp_path) == before
    again = await request()
    assert again.status_code == (201 if api else 303), again.text
    last = (await client.get("/api/jobs")).json()["jobs"][-1]
    assert (last["kind"], last["status"], last["done"]) == ("replay", "done", last["total"])
    assert await everything(services, tmp_path) != before


def test_a_job_is_shown_only_after_a_moment() -> None:
    jobs = Jobs()
    with jobs.begin("export", "Trip", session=7) as job:
        view = shown.job_list(jobs, 7)
        assert (view.jobs, view.active) == ((), True)
        job.started -= 1
        job.begin(200)
        job.advance(50)
        (item,) = shown.job_list(jobs, 7).jobs
        assert (item.text, item.percent) == ("Exporting Trip", 25)
        job.advance(1_000)
        assert shown.job_list(jobs, 7).jobs[0].percent == 100
        assert shown.job_list(jobs, 8).jobs == ()
    assert shown.job_list(jobs, 7) == shown.JobList("/jobs?session=7")


def test_a_finished_job_cannot_be_stopped_and_its_id_is_not_reused() -> None:
    jobs = Jobs()
    with jobs.begin("export", "Trip", job_id="a" * 32) as first:
        pass
    first.stop()
    assert first.status == "done"
    with jobs.begin("export", "Trip", job_id="a" * 32) as second:
        assert second.id != first.id
        second.stop()
        with pytest.raises(JobStopped):
            second.advance()


async def test_an_html_export_can_be_stopped_while_its_copy_is_made(
    services: Services, client: httpx2.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = await session_of(services, SMALL)
    writers: list[object] = []
    monkeypatch.setattr(exported, "_Writer", lambda *values, **_: writers.append(values))
    path = f"/api/sessions/{session.key}/export?format=html"
    await stopped_while_held(
        client, BundleImporter.store, lambda: exchange(services, "GET", path, nothing(), {})
    )
    assert not writers


async def forever() -> AsyncIterator[bytes]:
    yield b"{"
    await asyncio.Event().wait()


async def test_an_import_of_unknown_size_has_no_total_and_ends_when_it_stalls(
    services: Services, client: httpx2.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(uploads, "STALLED", 0.5)
    name = "0123456789abcdef" * 2
    headers = {**JSON, "X-Devui-Job": name}
    task = asyncio.create_task(
        exchange(services, "POST", "/api/sessions/import", forever(), headers)
    )
    while not (job := (await client.get(f"/api/jobs/{name}")).json()).get("done"):
        assert not task.done(), task.result()
    assert (job["done"], job["total"]) == (1, 0)
    assert (await asyncio.wait_for(task, PATIENCE))[0]["status"] == 409
    assert (await client.get(f"/api/jobs/{name}")).json()["status"] == "stopped"


@pytest.mark.parametrize("query", ["", "?format=html"])
async def test_a_stalled_download_ends(
    services: Services, client: httpx2.AsyncClient, monkeypatch: pytest.MonkeyPatch, query: str
) -> None:
    monkeypatch.setattr(api, "STALLED", 0.1)
    session = await session_of(services, SMALL)
    path = f"/api/sessions/{session.key}/export{query}"
    paused = asyncio.Event()
    download = exchange(services, "GET", path, nothing(), {}, reading=paused.wait)
    messages = await asyncio.wait_for(download, PATIENCE)
    assert all(each.get("more_body") for each in messages[1:])
    (job,) = (await client.get("/api/jobs")).json()["jobs"]
    assert job["status"] == "stopped"


async def test_a_stopped_import_of_a_database_says_how_many_sessions_it_added(
    services: Services, client: httpx2.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = await session_of(services, SMALL)

    class Stored:
        def __init__(self, *_: object, **__: object) -> None:
            """Ignore the arguments."""

        def heads(self) -> list[None]:
            return [None] * 3

        def close(self) -> None:
            """Do nothing."""

    async def take(services: Services, _: object, __: object, *rest: Any, **___: object) -> None:
        arrivals, job, *_ = rest
        job.advance()
        arrivals.new.append(session)
        if len(arrivals.new) == 2:
            job.stop()

    monkeypatch.setattr(imports, "SqliteTables", Stored)
    monkeypatch.setattr(imports, "Database", Stored)
    monkeypatch.setattr(imports, "_take_one", take)
    answer = await client.post("/import", files={"file": ("all.db", MAGIC)})
    assert "The import was stopped" in answer.text
    (job,) = (await client.get("/api/jobs")).json()["jobs"]
    assert job["status"] == "stopped"
    assert "The import of all.db was stopped after 2 sessions." in (await client.get("/jobs")).text


@pytest.mark.parametrize("first_is_damaged", [False, True])
async def test_damaged_state_does_not_cut_off_a_list_that_has_begun(
    services: Services,
    client: httpx2.AsyncClient,
    monkeypatch: pytest.MonkeyPatch,
    first_is_damaged: bool,
) -> None:
    for name in ("a", "b"):
        await services.journal.sessions.create("quick", "u", name, {"x": 1})
    whole = (await client.get("/apps/quick/users/u/sessions")).json()
    at = type(services.journal.state).at

    async def values(state: Any, key: int, *rest: Any) -> Any:
        read = await at(state, key, *rest)
        row = await services.journal.sessions.get(key)
        is_first = row is not None and row.id == whole[0]["id"]
        return [replace(v, value="{") if is_first == first_is_damaged else v for v in read]

    monkeypatch.setattr(type(services.journal.state), "at", values)
    answer = await client.get("/apps/quick/users/u/sessions")
    if first_is_damaged:
        assert answer.status_code >= 500
    else:
        first, second = answer.json()
        assert first == whole[0]
        assert second["state"]["x"].startswith("[damaged in the journal]")
