"""The disk fails in ways other than being full (R42, R43)."""

import sqlite3
import subprocess
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from tests.faults.misbehaving_agents import AGENTS
from tests.kit.badreads import COMPILER, BadReads
from tests.kit.debugged_run import DebuggedRun
from tests.kit.patience import PATIENCE
from tests.kit.server import Server, get_session, run, write_app

HTMX = {"HX-Request": "true"}
PAGE = 4096


@pytest.fixture
def server(tmp_path):
    write_app(tmp_path / "agents", "fine", AGENTS["fine"])
    server = Server(tmp_path / "agents", tmp_path / "data")
    yield server
    server.stop()


def empty_the_log(data: Path) -> None:
    """Checkpoint the log into the file, so that no page of it is left in memory."""
    with closing(sqlite3.connect(data / "journal.db")) as other:
        other.execute("PRAGMA wal_checkpoint(TRUNCATE)")


@contextmanager
def reads_fail(disk: BadReads) -> Iterator[None]:
    """Let reads fail with EIO."""
    disk.begin()
    yield
    disk.end()


@contextmanager
def overwritten(file: Path) -> Iterator[None]:
    """Overwrite all pages of the file but the first with nonsense, and restore them afterwards."""
    whole = file.read_bytes()
    file.write_bytes(whole[:PAGE] + b"\xff" * (len(whole) - PAGE))
    yield
    file.write_bytes(whole)


def over(client, run_id: str) -> dict:
    """Wait for the end of a run, whatever else the journal answers meanwhile."""
    patience = time.monotonic() + PATIENCE
    while True:
        answer = client.get(f"/api/runs/{run_id}")
        if answer.status_code == 200 and answer.json()["ended"] is not None:
            return answer.json()
        assert time.monotonic() < patience, answer.text
        time.sleep(0.05)


@pytest.mark.req("R42")
@pytest.mark.req("R50")
@pytest.mark.parametrize(
    "disk",
    [
        "overwritten",
        pytest.param("EIO", marks=pytest.mark.skipif(not COMPILER, reason="needs a C compiler")),
    ],
)
def test_a_run_ends_even_if_the_disk_fails(server, tmp_path, disk):
    bad = BadReads(tmp_path) if disk == "EIO" else None
    server.environment = bad.environment if bad else {}
    server.start()
    with server.client() as client:
        debugged = DebuggedRun(client, "fine").start()
        debugged.settled()
        empty_the_log(server.data)
        fault = reads_fail(bad) if bad else overwritten(server.data / "journal.db")
        with fault:
            debugged.post("continue", key="on", position=debugged.position["position"])
            time.sleep(2)
            stopped = client.post(f"/runs/{debugged.run}/stop", headers=HTMX)
            assert stopped.status_code == 204, stopped.text
        assert over(client, debugged.run)["status"] in {"failed", "stopped"}
        assert client.post(f"/runs/{debugged.run}/stop", headers=HTMX).status_code == 204
        frames = run(client, "fine", debugged.session, "again")
        assert [each["content"]["parts"][0]["text"] for each in frames] == ["begun", "after"]
        session = get_session(client, "fine", debugged.session)
        assert session["state"]["after"] is True
        path = f"/apps/fine/users/u/sessions/{debugged.session}"
        assert client.delete(path).status_code == 200


@contextmanager
def read_only_disk(folder: Path) -> Iterator[None]:
    """Make the folder a file system of its own that takes no writes."""
    try:
        subprocess.run(["mount", "--bind", folder, folder], check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("needs the right to mount")
    try:
        subprocess.run(["mount", "-o", "remount,ro,bind", folder], check=True)
        yield
    finally:
        subprocess.run(["umount", "--lazy", folder], check=True)


@pytest.mark.req("R42")
@pytest.mark.parametrize("ended", ["in order", "by a kill"])
@pytest.mark.parametrize("lock", ["kept", "deleted"])
def test_a_server_on_a_read_only_disk_serves_what_is_stored(server, ended, lock):
    server.start()
    with server.client() as client:
        debugged = DebuggedRun(client, "fine").start(pause=False)
        debugged.settled()
        events = debugged.kept()["events"]
        cut_off = DebuggedRun(client, "fine").start()
        cut_off.settled()
    _ = server.stop() if ended == "in order" else server.kill()
    if lock == "deleted":
        (server.data / "journal.lock").unlink()
    (server.data / "server.json").unlink(missing_ok=True)
    before = {file: file.read_bytes() for file in server.data.iterdir()}
    path = f"/sessions/{debugged.key}"
    with read_only_disk(server.data):
        server.start()
        with server.client() as client:
            debugged.client = client
            assert debugged.kept()["events"] == events
            for page in ("/", path):
                response = client.get(page, headers={"Accept": "text/html"})
                assert response.status_code == 200, page
                assert "Can&#39;t write to the journal" in response.text, page
            assert client.get(f"/api{path}/export").status_code == 200
            refusal = client.post("/apps/fine/users/u/sessions", json={})
            assert refusal.status_code == 503
            assert "check the disk" in refusal.json()["detail"]
        assert server.stop() == 0
        assert {file: file.read_bytes() for file in server.data.iterdir()} == before
    server.start()
    with server.client() as client:
        debugged.client = cut_off.client = client
        assert debugged.kept()["events"] == events
        assert cut_off.settled()["status"] == "interrupted"
        assert run(client, "fine", debugged.session, "again")
