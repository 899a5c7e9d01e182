"""Many readers, stalled readers, heavy use, and a shutdown amid all of that."""

import asyncio
import json
import signal
import socket
import time
from contextlib import ExitStack, closing

import psutil
import pytest

from devui.debugger.workers.process import HASTY
from devui.web.server import GRACE_SECONDS, HOOK_SECONDS
from devui.web.sse import MAX_STREAMS
from tests.faults.misbehaving_agents import AGENTS, BULKY
from tests.kit.debugged_run import DebuggedRun
from tests.kit.frames import frames, messages
from tests.kit.killable_servers import ForkedServer, ServerForker
from tests.kit.patience import wait_until
from tests.kit.processes import workers_of
from tests.kit.server import TOKEN, Server, make_session, run, run_body, write_app
from tests.kit.terminal import devui

HTML = {"Accept": "text/html"}


@pytest.fixture
def agents(tmp_path):
    for app in ("fine", "raises", "dies", "sleeps", "leaks", "stubborn", "deaf"):
        write_app(tmp_path / "agents", app, AGENTS[app])
    write_app(tmp_path / "agents", "bulky", BULKY)
    return tmp_path / "agents"


@pytest.fixture
def forker():
    with ServerForker() as forker:
        yield forker


def stuck(forked: ForkedServer, path: str) -> socket.socket:
    """A reader with a small buffer that never reads."""
    reader = socket.socket()
    reader.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    port = int(forked.url.rpartition(":")[2])
    reader.connect(("127.0.0.1", port))
    head = f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nAuthorization: Bearer {TOKEN}\r\n\r\n"
    reader.sendall(head.encode())
    return reader


def connections(forked: ForkedServer) -> int:
    return len([each for each in psutil.Process(forked.pid).net_connections() if each.raddr])


def numbers(client, debugged: DebuggedRun) -> list[int]:
    """The numbers of all events, from a stream that reconnects if the machine stalls."""
    seen, last, path = [], "", f"/api/sessions/{debugged.key}/stream"
    while True:
        with client.stream("GET", path, headers={"Last-Event-ID": last}) as answer:
            for message in messages(answer.iter_lines()):
                last = message.id
                payload = json.loads(message.data)
                seen += [payload["number"]] if payload["type"] == "event" else []
                if payload.get("status") == "done":
                    return seen


@pytest.mark.req("R60")
def test_stalled_readers_are_dropped_and_delay_nobody(forker, agents, tmp_path):
    forked = forker.serve(agents, tmp_path / "data", stalled=2)
    assert forked is not None
    with forked.client() as client, ExitStack() as stack:
        debugged = DebuggedRun(client, "bulky")
        run(client, "fine", make_session(client, "fine")["id"], "go")
        client.get(f"/sessions/{debugged.key}", headers=HTML)
        process = psutil.Process(forked.pid)
        before = process.memory_info().rss
        for path in (f"/sessions/{debugged.key}/stream", f"/api/sessions/{debugged.key}/stream"):
            for _ in range(5):
                stack.enter_context(closing(stuck(forked, path)))
        wait_until(lambda: connections(forked) >= 11)
        debugged.start(pause=False)
        assert numbers(client, debugged) == list(range(1, 1_004))
        assert process.memory_info().rss - before < 30_000_000  # for ten readers
        wait_until(lambda: connections(forked) <= 2)
        assert client.get("/health").status_code == 200


CLIENTS = MAX_STREAMS + 32

Answer = tuple[int, bytes, asyncio.StreamReader, asyncio.StreamWriter]


async def open_path(port: int, path: str) -> Answer:
    """Request a path; return the status, the head, and the connection's reader and writer."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=2**22)
    head = f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nAuthorization: Bearer {TOKEN}\r\n\r\n"
    writer.write(head.encode())
    raw_head = await reader.readuntil(b"\r\n\r\n")
    return int(raw_head.split()[1]), raw_head, reader, writer


@pytest.mark.req("R60")
@pytest.mark.req("R62")
@pytest.mark.req("R67")
async def test_many_simultaneous_clients_are_answered_or_told_to_retry(forker, agents, tmp_path):
    forked = forker.serve(agents, tmp_path / "data")
    assert forked is not None
    port = int(forked.url.rpartition(":")[2])
    with forked.client() as client:
        debugged = DebuggedRun(client, "fine")
        page, path = f"/sessions/{debugged.key}", f"/api/sessions/{debugged.key}/stream"
        pages = await asyncio.gather(*(open_path(port, page) for _ in range(CLIENTS)))
        assert {status for status, *_ in pages} == {200}
        streams = await asyncio.gather(*(open_path(port, path) for _ in range(CLIENTS)))
        readers = [reader for status, _, reader, _ in streams if status == 200]
        refusals = [head for status, head, *_ in streams if status == 503]
        assert (len(readers), len(refusals)) == (MAX_STREAMS, CLIENTS - MAX_STREAMS)
        assert all(b"\r\nretry-after: 5\r\n" in head.lower() for head in refusals)
        front = await asyncio.to_thread(client.get, "/", headers=HTML)
        assert f"{len(refusals)} times: a live stream over the limit" in front.text
        await asyncio.to_thread(lambda: debugged.start(pause=False).settled())
        bodies = await asyncio.gather(*(reader.readuntil(b'"status":"done"') for reader in readers))
        assert all(text.count(b'"type":"event"') == 3 for text in bodies)
        for *_, writer in (*pages, *streams):
            writer.close()


def use(forked: ForkedServer) -> None:
    """What people do over time: good and bad runs, abandoned streams, deletions."""
    with forked.client() as client:
        for app in ("fine", "raises", "dies", "sleeps"):
            session = make_session(client, app)["id"]
            body = run_body(app, session, "go")
            with forked.client() as leaver, leaver.stream("POST", "/run_sse", json=body) as answer:
                next(frames(answer.iter_lines()))
            [row] = client.get("/api/sessions", params={"app": app}).json()["sessions"]
            page = f"/sessions/{row['key']}"
            assert client.get(page, headers=HTML).status_code == 200
            for path in (f"{page}/stream", f"/api{page}/stream"):
                with client.stream("GET", path) as answer:
                    next(answer.iter_lines())
            if row["run"] and app == "sleeps":
                client.post(f"/runs/{row['run']}/stop")
            while client.delete(f"/apps/{app}/users/u/sessions/{session}").status_code == 409:
                time.sleep(0.01)


@pytest.mark.req("R50")
@pytest.mark.req("R62")
def test_heavy_use_leaks_no_task_thread_or_descriptor(forker, agents, tmp_path):
    forked = forker.serve(agents, tmp_path / "data")
    assert forked is not None
    process = psutil.Process(forked.pid)

    def resources() -> tuple[int, int, int, int]:
        workers = process.children(recursive=True)
        return (*forked.counts(), process.num_fds() - connections(forked), len(workers))

    for _ in range(3):
        use(forked)
    before = resources()
    rounds = 8
    for _ in range(rounds):
        use(forked)
    # A pool of threads grows by one or two until it is full; a leak grows in each round.
    slack = (0, rounds // 2, 0, 0)
    limits = [count + more for count, more in zip(before, slack, strict=True)]
    wait_until(lambda: all(now <= most for now, most in zip(resources(), limits, strict=True)))


def test_the_steps_of_a_shutdown_take_less_than_five_seconds():
    """Open answers and workers are waited for concurrently."""
    assert max(HOOK_SECONDS + GRACE_SECONDS, sum(HASTY)) < 5


@pytest.mark.req("R56")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_server_shuts_down_cleanly_amid_runs_and_stalled_readers(agents, tmp_path, number):
    server = Server(agents, tmp_path / "data").start()
    with server.client() as client, ExitStack() as stack:
        runs = [
            DebuggedRun(client, app) for app in ("sleeps", "bulky", "leaks", "stubborn", "deaf")
        ]
        for debugged in runs:
            page = f"/sessions/{debugged.key}/stream"
            for _ in range(10):
                stack.enter_context(closing(stuck(server, page)))
            debugged.start(pause=False)
        for debugged in runs:
            wait_until(lambda debugged=debugged: debugged.kept()["state"].get("begun"))
        assert server.stop(number) == 0
    assert workers_of(agents) == []
    done = devui("doctor", "--data-dir", str(server.data), "--agents", str(agents), cwd=server.data)
    assert done.returncode == 0, done.stdout
    server.start()
    with server.client() as client:
        for debugged in runs:
            debugged.client = client
            assert debugged.settled()["status"] in {"interrupted", "done"}
    server.stop()
