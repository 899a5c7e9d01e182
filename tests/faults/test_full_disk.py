"""The disk fills up during a run and has room again; a damaged journal (R42, R43)."""

import html
import json
import re
import resource
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from functools import partial
from pathlib import Path

import psutil
import pytest

from devui.address import ServerAddress, read_address
from devui.keys import kept_key
from tests.faults.misbehaving_agents import AGENTS, FLOOD
from tests.kit.debugged_run import DebuggedRun
from tests.kit.frames import messages
from tests.kit.patience import wait_until
from tests.kit.server import running, write_app
from tests.kit.stuck_apps import MODEL

ANY = resource.RLIM_INFINITY
PATH = "/apps/fine/users/u/sessions"
WARNING = "Can&#39;t write to the journal"
LOADS = """
import pathlib, time
while not pathlib.Path(__file__).with_name("go").exists(): time.sleep(0.01)
"""
"""Code whose import waits for a file."""


def shown_until_the_disk_is_full(server, client, debugged: DebuggedRun) -> dict[int, str]:
    """Let the run continue until its events no longer fit; return those seen to be committed."""
    seen: dict[int, str] = {}
    with client.stream("GET", f"/api/sessions/{debugged.key}/stream") as answer:
        debugged.start(pause=False)
        for message in messages(answer.iter_lines()):
            payload = json.loads(message.data)
            if payload["type"] == "event":
                seen[payload["number"]] = payload["id"]
            if len(seen) == 20:
                break
    fill(server, client)
    return seen


def fill(server, client) -> None:
    """Limit the disk's room so that the journal can't be written to."""
    log = (server.data / "journal.db-wal").stat().st_size
    psutil.Process(server.pid).rlimit(psutil.RLIMIT_FSIZE, (log, ANY))
    while (response := client.post(PATH, json={})).status_code != 503:
        assert response.status_code == 200
    assert "check the disk" in response.json()["detail"]


def page_of(client, path: str) -> str:
    return client.get(path, headers={"Accept": "text/html"}).text


def told_of_the_journal(lines: Iterator[str]) -> Iterator[str]:
    """The updates of the journal's notice, from a page's stream."""
    for message in messages(lines):
        if '"#journal"' in message.data:
            yield message.data.split('"#journal"', 1)[1].split("</hx-partial>", 1)[0]


def make_room(server, client, session: str, stop: Callable[[], object] = lambda: None) -> None:
    """Check that every page says that the disk is full until it has room; nobody has to act.

    If a run is stopped meanwhile, its end may be small enough to fit, and the notice disappears.
    """
    for path in ("/", session):
        assert WARNING in page_of(client, path), path
    connect = re.search(r'hx-sse:connect="([^"]+)"', page_of(client, session))
    with client.stream("GET", html.unescape(connect[1])) as answer:
        notices = told_of_the_journal(answer.iter_lines())
        assert WARNING in next(notices)
        stop()
        psutil.Process(server.pid).rlimit(psutil.RLIMIT_FSIZE, (ANY, ANY))
        assert WARNING not in next(notices)
    assert WARNING not in page_of(client, "/")


@pytest.mark.req("R42")
def test_a_run_waits_for_room_on_the_disk_and_loses_nothing(tmp_path):
    agents = tmp_path / "agents"
    write_app(agents, "flood", FLOOD.replace("5_000", "200"))
    write_app(agents, "fine", AGENTS["fine"])
    with running(agents, tmp_path / "data") as server, server.client() as client:
        debugged = DebuggedRun(client, "flood")
        seen = shown_until_the_disk_is_full(server, client, debugged)
        before = debugged.kept()["events"]
        assert {number: before[number - 1]["id"] for number in seen} == seen
        make_room(server, client, f"/sessions/{debugged.key}")
        assert debugged.settled()["status"] == "done"
        events = debugged.kept()["events"]
        assert events[: len(before)] == before
        deltas = [event["actions"]["stateDelta"] for event in events]
        assert [delta["n"] for delta in deltas if "n" in delta] == list(range(1, 200))
        assert client.post(PATH, json={}).status_code == 200


@pytest.mark.req("R42")
@pytest.mark.parametrize("ends", ["by a person", "with the server", "by a kill"])
def test_a_run_that_waits_for_the_disk_can_be_ended(tmp_path, ends):
    agents = tmp_path / "agents"
    write_app(agents, "flood", FLOOD)
    write_app(agents, "fine", AGENTS["fine"])
    with running(agents, tmp_path / "data") as server, server.client() as client:
        debugged = DebuggedRun(client, "flood")
        shown_until_the_disk_is_full(server, client, debugged)
        before = debugged.kept()["events"]
        if ends == "by a person":
            stop = f"/runs/{debugged.run}/stop"
            order = partial(client.post, stop, headers={"HX-Request": "true"})
            make_room(server, client, f"/sessions/{debugged.key}", order)
        elif ends == "with the server":
            assert server.stop() == 0
        else:
            server.kill()
        if ends != "by a person":
            server.start()
        with server.client() as after:
            debugged.client = after
            end = debugged.settled()
            expected = "stopped" if ends == "by a person" else "interrupted"
            assert end["status"] == expected, end
            assert debugged.kept()["events"][: len(before)] == before


@pytest.mark.req("R42")
def test_a_run_stopped_while_its_app_loads_ends_once_the_disk_has_room(tmp_path):
    file = write_app(tmp_path / "agents", "slow", LOADS + AGENTS["fine"])
    write_app(tmp_path / "agents", "fine", AGENTS["fine"])
    with running(tmp_path / "agents", tmp_path / "data") as server, server.client() as client:
        debugged = DebuggedRun(client, "slow").start(pause=False)
        fill(server, client)
        client.post(f"/runs/{debugged.run}/stop", headers={"HX-Request": "true"})
        make_room(server, client, f"/sessions/{debugged.key}")
        file.with_name("go").touch()
        assert debugged.settled()["status"] == "stopped"


@pytest.mark.req("R42")
@pytest.mark.req("R55")
@pytest.mark.parametrize("ends", ["in order", "by a kill"])
def test_a_server_on_a_full_disk_is_readable_and_recovers_with_room(tmp_path, ends):
    agents = tmp_path / "agents"
    write_app(agents, "fine", AGENTS["fine"])
    with running(agents, tmp_path / "data") as server:
        with server.client() as client:
            debugged = DebuggedRun(client, "fine").start(pause=ends == "by a kill")
            debugged.settled()
            before = debugged.kept()["events"]
        _ = server.stop() if ends == "in order" else server.kill()
        log = server.data / "journal.db-wal"
        server.max_file_size = log.stat().st_size if log.exists() else 0
        server.start()
        with server.client() as client:
            debugged.client = client
            path = f"/sessions/{debugged.key}"
            assert debugged.kept()["events"] == before
            assert WARNING in page_of(client, "/")
            assert client.get(f"/api{path}/export").status_code == 200
            assert client.post(PATH, json={}).status_code == 503
            make_room(server, client, path)
            wait_until(lambda: read_address(server.data) == ServerAddress(server.pid, server.url))
            wait_until(lambda: kept_key(server.data, server.pid))
            wait_until(lambda: "running" not in client.get(f"/api{path}/run").json()["status"])
            status = debugged.settled()["status"]
            assert status == ("done" if ends == "in order" else "interrupted")
            assert client.post(PATH, json={}).status_code == 200


@pytest.mark.req("R41")
@pytest.mark.req("R55")
def test_a_server_starts_while_another_program_locks_the_journal(tmp_path):
    agents = tmp_path / "agents"
    write_app(agents, "fine", AGENTS["fine"])
    with running(agents, tmp_path / "data") as server:
        with server.client() as client:
            debugged = DebuggedRun(client, "fine").start()
            debugged.settled()
        server.kill()
        with closing(sqlite3.connect(server.data / "journal.db", isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            server.start()
            with server.client() as client:
                assert "Another program has locked the journal" in page_of(client, "/")
                other.execute("ROLLBACK")
                debugged.client = client
                wait_until(lambda: debugged.settled()["status"] == "interrupted")


@pytest.mark.req("R41")
def test_a_run_waits_for_another_program_that_locks_the_journal(tmp_path):
    agents = tmp_path / "agents"
    write_app(agents, "fine", AGENTS["fine"])
    with running(agents, tmp_path / "data") as server, server.client() as client:
        debugged = DebuggedRun(client, "fine").start()
        debugged.settled()
        file = server.data / "journal.db"
        with closing(sqlite3.connect(file, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            debugged.tell("continue", wait=False)
            wait_until(lambda: "Another program has locked the journal" in page_of(client, "/"))
            assert debugged.kept()["events"] == []
            other.execute("ROLLBACK")
        assert debugged.settled()["status"] == "done"
        assert debugged.texts()[-1] == "after"
        wait_until(lambda: "has locked the journal" not in page_of(client, "/"))


@pytest.mark.req("R41")
def test_a_run_is_reported_held_once_its_hold_is_in_the_journal(tmp_path):
    app = write_app(tmp_path / "agents", "slow", MODEL)
    with running(app.parents[1], tmp_path / "data") as server, server.client() as client:
        debugged = DebuggedRun(client, "slow").start()
        debugged.settled()
        debugged.tell("run_to", like={"gate": "after_model"}, wait=False)
        spans = f"/api/sessions/{debugged.key}/spans"
        wait_until(lambda: [s["type"] for s in client.get(spans).json()["spans"]][-1:] == ["model"])
        file = server.data / "journal.db"
        with closing(sqlite3.connect(file, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            app.with_name("go").touch()
            wait_until(lambda: "Another program has locked the journal" in page_of(client, "/"))
            position = client.get(f"/api/runs/{debugged.run}").json()
            assert (position["status"], position["holds"]) == ("running", [])
            other.execute("ROLLBACK")
        debugged.settled()
        server.kill()
        server.start()
        with server.client() as after:
            [lost] = after.get(f"/api/runs/{debugged.run}").json()["lost"]
            assert lost == debugged.hold()


@pytest.mark.req("R43")
def test_damage_under_a_running_server_is_reported_with_advice(tmp_path):
    agents = tmp_path / "agents"
    write_app(agents, "fine", AGENTS["fine"])
    with running(agents, tmp_path / "data") as server, server.client() as client:
        debugged = DebuggedRun(client, "fine").start(pause=False)
        debugged.settled()
        file = server.data / "journal.db"
        with closing(sqlite3.connect(file)) as other:
            other.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        whole = file.read_bytes()
        file.write_bytes(whole[:4096] + b"\xff" * (len(whole) - 4096))
        for path in ("/", f"/sessions/{debugged.key}", f"/sessions/{debugged.key}/events/1"):
            page = page_of(client, path)
            assert "<h1>The journal is damaged</h1>" in page, path
            assert "restart devui, which keeps the damaged file untouched" in page, path
            assert "Unexpected" not in page, path
        file.write_bytes(whole)  # stopping a test's server checks its journal


@pytest.mark.req("R43")
@pytest.mark.req("R46")
def test_pages_name_the_damaged_journals_copy_and_a_risky_folder(tmp_path):
    (tmp_path / "agents").mkdir()
    data = tmp_path / "Dropbox" / "data"
    data.mkdir(mode=0o700, parents=True)
    (data / "journal.db").write_bytes(b"no database at all")
    (data / "journal.db").chmod(0o600)
    with running(tmp_path / "agents", data) as server, server.client() as client:
        page = html.unescape(page_of(client, "/"))
        assert client.get("/version").json()["sqlite_version"] == sqlite3.sqlite_version
    assert "The data folder is inside Dropbox." in page
    assert f"stores sessions in <code>{data}</code> (SQLite {sqlite3.sqlite_version})." in page
    match = re.search(r"kept as (.+?)\. To recover", page)
    assert Path(match[1]).read_bytes() == b"no database at all"
    assert f'sqlite3 "{match[1]}" .recover' in page
