"""kill -9 of the server at any moment: nothing that was shown is lost (R35, R49, R55)."""

import contextlib
import itertools
import threading
import time

import httpx2
import psutil
import pytest

from tests.kit.frames import frames
from tests.kit.patience import PATIENCE
from tests.kit.server import (
    SAMPLES,
    Server,
    get_session,
    make_session,
    run,
    run_body,
    write_app,
)
from tests.kit.slow_summary import SUMMARIZE, write_lingering
from tests.kit.terminal import devui

HTMX = {"HX-Request": "true"}


@pytest.fixture
def server(tmp_path):
    server = Server(SAMPLES, tmp_path / "data").start()
    yield server
    server.stop()


def shown_until_killed(server: Server, session: str, kill_after: int) -> list[dict]:
    """The events that a client had seen as committed when the server was killed."""
    seen: list[dict] = []
    body = run_body("travel", session, "Book a flight to London next Tuesday", streaming=True)
    with server.client() as client, client.stream("POST", "/run_sse", json=body) as answer:
        committed = (e for e in frames(answer.iter_lines()) if not e.get("partial"))
        seen += itertools.islice(committed, kill_after)
        server.kill()
        with contextlib.suppress(httpx2.TransportError):  # the connection is cut
            seen += committed
    return seen


def is_sound(server: Server) -> None:
    """Check that the doctor finds no fault in the data folder."""
    done = devui(
        "doctor", "--data-dir", str(server.data), "--agents", str(SAMPLES), cwd=server.data
    )
    assert done.returncode == 0, done.stdout


@pytest.mark.req("R35")
@pytest.mark.req("R36")
@pytest.mark.req("R55")
@pytest.mark.parametrize("kill_after", [1, 2, 3, 5])
def test_events_shown_as_committed_survive_a_kill(server, kill_after):
    with server.client() as client:
        session = make_session(client, "travel")
    seen = shown_until_killed(server, session["id"], kill_after)
    assert len(seen) >= kill_after
    is_sound(server)
    server.start()
    with server.client() as client:
        events = get_session(client, "travel", session["id"])["events"]
        ids = [event["id"] for event in events]
        assert [event["id"] for event in seen if event["id"] in ids] == [e["id"] for e in seen]
        page = client.get("/sessions/1", headers={"Accept": "text/html"}).text
        assert "The run was interrupted" in page
        run(client, "travel", session["id"], "Hello again")
        after = get_session(client, "travel", session["id"])["events"]
        assert after[: len(events)] == events
    is_sound(server)


@pytest.mark.req("R55")
def test_a_run_is_marked_interrupted_only_once_across_restarts(server):
    with server.client() as client:
        session = make_session(client, "travel")
    shown_until_killed(server, session["id"], 2)
    for _ in range(2):
        server.start()
        with server.client() as client:
            page = client.get("/sessions/1", headers={"Accept": "text/html"}).text
        assert page.count('class="row run-end') <= 1
        server.kill()
    server.start()


def test_a_worker_ends_with_its_server(server):
    with server.client() as client:
        run(client, "summary", make_session(client, "summary")["id"], "Hi")
    workers = psutil.Process(server.pid).children(recursive=True)
    assert workers
    server.kill()
    _, alive = psutil.wait_procs(workers, timeout=PATIENCE)
    assert not alive


@pytest.mark.req("R56")
def test_a_server_stops_cleanly_with_a_run_and_a_stream_open(tmp_path):
    write_lingering(tmp_path / "agents")
    server = Server(tmp_path / "agents", tmp_path / "data").start()
    with server.client() as client:
        session = make_session(client, "summary")
        streaming = threading.Event()

        def read() -> None:
            path = "/sessions/1/stream"
            with server.client() as reader, reader.stream("GET", path) as answer:
                for line in answer.iter_lines():
                    if line.startswith("data"):
                        streaming.set()

        reader = threading.Thread(target=read)
        reader.start()
        body = run_body("summary", session["id"], SUMMARIZE, streaming=True)
        with client.stream("POST", "/run_sse", json=body) as answer:
            next(answer.iter_lines())
            assert streaming.wait(PATIENCE)
            assert server.stop() == 0
        reader.join(PATIENCE)
        assert not reader.is_alive()
    server.start()
    with server.client() as client:
        page = client.get("/sessions/1", headers={"Accept": "text/html"}).text
        assert "interrupted" in page
    server.stop()


@pytest.mark.req("R56")
def test_a_server_stops_at_once_while_an_app_is_loading(tmp_path):
    write_app(tmp_path / "agents", "slow", "import time\ntime.sleep(600)\n")
    server = Server(tmp_path / "agents", tmp_path / "data").start()
    with server.client() as client:
        session = make_session(client, "slow")
        response = client.post("/sessions/1/runs", data={"text": "Hi"}, headers=HTMX)
        assert response.status_code == 204
        page = client.get("/sessions/1", headers={"Accept": "text/html"}).text
        assert "running" in page
        assert server.stop() == 0  # the import takes five times as long as the wait here
    server.start()
    with server.client() as client:
        assert get_session(client, "slow", session["id"])["events"] == []
        page = client.get("/sessions/1", headers={"Accept": "text/html"}).text
        assert "The run was interrupted" in page
        client.post("/sessions/1/runs", data={"text": "Hi"}, headers=HTMX)
        page = client.get("/sessions/1", headers={"Accept": "text/html"}).text
        run = page.split('action="/runs/', 1)[1].split("/stop", 1)[0]
        client.post(f"/runs/{run}/stop", headers=HTMX)
        until = time.monotonic() + PATIENCE
        while "The run was stopped" not in page and time.monotonic() < until:
            page = client.get("/sessions/1", headers={"Accept": "text/html"}).text
        assert "The run was stopped" in page
    server.stop()
