"""The data folder, or a file in it, is moved or deleted while the server runs (R39, R42)."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.faults.misbehaving_agents import AGENTS
from tests.kit.debugged_run import DebuggedRun
from tests.kit.server import running, write_app
from tests.kit.terminal import devui

PATH = "/apps/fine/users/u/sessions"
TITLE = "The journal was moved or deleted."

pytestmark = pytest.mark.req("R42")


def test_a_run_waits_until_the_folder_is_back(tmp_path):
    write_app(tmp_path / "agents", "fine", AGENTS["fine"])
    data, elsewhere = tmp_path / "data", tmp_path / "elsewhere"
    with running(tmp_path / "agents", data) as server, server.client() as client:
        debugged = DebuggedRun(client, "fine").start()
        data.rename(elsewhere)
        refusal = client.post(PATH, json={})
        assert refusal.status_code == 503
        assert "put it back, or restart devui" in refusal.json()["detail"]
        page = client.get(f"/sessions/{debugged.key}", headers={"Accept": "text/html"}).text
        assert TITLE in page
        elsewhere.rename(data)
        debugged.tell("continue")
        assert debugged.settled()["status"] == "done"
        assert client.post(PATH, json={}).status_code == 200
        before = debugged.kept()["events"]
        assert server.stop() == 0
        server.start()
        with server.client() as after:
            debugged.client = after
            assert debugged.kept()["events"] == before
            assert TITLE not in after.get("/", headers={"Accept": "text/html"}).text


def test_a_restart_after_deleting_the_folder_starts_empty(tmp_path):
    write_app(tmp_path / "agents", "fine", AGENTS["fine"])
    with running(tmp_path / "agents", tmp_path / "data") as server, server.client() as client:
        assert client.post(PATH, json={}).status_code == 200
        shutil.rmtree(tmp_path / "data")
        assert client.post(PATH, json={}).status_code == 503
        assert TITLE in client.get("/", headers={"Accept": "text/html"}).text
        server.stop()
        server.start()
        with server.client() as after:
            assert after.get("/api/sessions").json()["sessions"] == []
            assert after.post(PATH, json={}).status_code == 200


def replaced(file: Path) -> None:
    """Replace the file with a copy of itself."""
    copy = file.with_name("copy")
    shutil.copy(file, copy)
    copy.replace(file)


@pytest.mark.parametrize("beside", ["journal.db-wal", "journal.db-shm"])
@pytest.mark.parametrize("lose", [Path.unlink, replaced])
@pytest.mark.parametrize("end", ["stop", "kill"])
def test_nothing_is_acknowledged_without_the_log_and_nothing_is_lost(
    tmp_path: Path, beside: str, lose: Callable[[Path], None], end: str
) -> None:
    write_app(tmp_path / "agents", "fine", AGENTS["fine"])
    with running(tmp_path / "agents", tmp_path / "data") as server, server.client() as client:
        debugged = DebuggedRun(client, "fine").start(pause=False)
        debugged.settled()
        before = debugged.kept()["events"]
        held = DebuggedRun(client, "fine").start()
        held.settled()
        lose(server.data / beside)
        refusal = client.post(PATH, json={})
        assert refusal.status_code == 503
        assert f"{beside}'" in refusal.json()["detail"]
        assert "restart devui" in refusal.json()["detail"]
        held.tell("continue", wait=False)
        for path in ("/", f"/sessions/{debugged.key}"):
            page = client.get(path, headers={"Accept": "text/html"}).text
            assert "One of the journal&#39;s files was moved or deleted." in page
        assert debugged.kept()["events"] == before
        assert held.kept()["events"] == []
        _ = server.stop() if end == "stop" else server.kill()
        server.start()
        with server.client() as after:
            debugged.client = held.client = after
            assert debugged.kept()["events"] == before
            assert held.settled()["status"] == "interrupted"
            assert after.post(PATH, json={}).status_code == 200
            assert (
                "was moved or deleted" not in after.get("/", headers={"Accept": "text/html"}).text
            )


def test_writes_work_again_once_the_log_is_put_back(tmp_path):
    write_app(tmp_path / "agents", "fine", AGENTS["fine"])
    with running(tmp_path / "agents", tmp_path / "data") as server, server.client() as client:
        log = server.data / "journal.db-wal"
        log.rename(server.data / "away")
        assert client.post(PATH, json={}).status_code == 503
        (server.data / "away").rename(log)
        assert client.post(PATH, json={}).status_code == 200


@pytest.mark.req("R39")
@pytest.mark.parametrize("lose", [Path.unlink, replaced])
def test_a_missing_lock_file_does_not_let_a_second_server_in(tmp_path, lose):
    write_app(tmp_path / "agents", "fine", AGENTS["fine"])
    with running(tmp_path / "agents", tmp_path / "data") as server, server.client() as client:
        lose(server.data / "journal.lock")
        for _ in range(2):
            options = ("--no-browser", "--port", "0", "--data-dir", str(server.data))
            second = devui(str(server.agents), *options, cwd=tmp_path)
            assert second.returncode == 1
            assert f"in use by process {server.pid} at {server.url}" in second.stderr
        assert client.post(PATH, json={}).status_code == 200
        assert server.stop() == 0
        server.start()
        with server.client() as after:
            assert len(after.get("/api/sessions").json()["sessions"]) == 1


def lose_the_file(data: Path, lose: Callable[[Path], None], log: str) -> bytes:
    """Delete or empty the journal, perhaps corrupt its log, and return the log."""
    (data / "journal.db").unlink()
    if lose is Path.touch:
        (data / "journal.db").touch(0o600)
    if log == "nonsense":
        (data / "journal.db-wal").write_bytes(b"no log at all" * 1000)
    return (data / "journal.db-wal").read_bytes()


@pytest.mark.req("R43")
@pytest.mark.parametrize("lose", [Path.unlink, Path.touch], ids=["gone", "empty"])
@pytest.mark.parametrize("log", ["all of it", "the rest of it", "nonsense"])
def test_a_log_without_its_journal_is_kept_and_recovered_if_complete(tmp_path, lose, log):
    write_app(tmp_path / "agents", "fine", AGENTS["fine"])
    with running(tmp_path / "agents", tmp_path / "data") as server:
        with server.client() as client:
            debugged = DebuggedRun(client, "fine").start(pause=False)
            debugged.settled()
            if log == "the rest of it":
                server.stop()  # moves everything into the file
                server.start()
        with server.client() as client:
            late = DebuggedRun(client, "fine").start(pause=False)
            late.settled()
            debugged.client = client
            before = debugged.kept()["events"]
        server.kill()
        content = lose_the_file(server.data, lose, log)
        done = devui("doctor", "--data-dir", str(server.data), "--json", cwd=tmp_path)
        assert done.returncode == 1
        assert "is missing or empty, but its write-ahead log is not" in done.stdout
        assert (server.data / "journal.db-wal").read_bytes() == content
        server.start()
        [aside] = server.data.glob("journal.db.damaged-*-wal")
        assert aside.read_bytes() == content
        with server.client() as after:
            page = after.get("/", headers={"Accept": "text/html"}).text
            assert ("recovered from its log" in page) == (log == "all of it")
            assert ("a new one was created" in page) == (log != "all of it")
            assert str(aside).removesuffix("-wal") in page
            sessions = after.get("/api/sessions").json()["sessions"]
            assert len(sessions) == (2 if log == "all of it" else 0)
            if log == "all of it":
                debugged.client = after
                assert debugged.kept()["events"] == before
            assert after.post(PATH, json={}).status_code == 200
        assert server.stop() == 0
