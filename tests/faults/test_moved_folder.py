"""The data folder is moved or deleted while the server runs (R42)."""

import shutil

import pytest

from tests.faults.zoo import AGENTS
from tests.kit.debugged import Debugged
from tests.kit.server import running, write_app

PATH = "/apps/fine/users/u/sessions"
TITLE = "The journal was moved or deleted."

pytestmark = pytest.mark.req("R42")


def test_a_run_waits_until_the_folder_is_back(tmp_path):
    write_app(tmp_path / "agents", "fine", AGENTS["fine"])
    data, elsewhere = tmp_path / "data", tmp_path / "elsewhere"
    with running(tmp_path / "agents", data) as server, server.client() as client:
        debugged = Debugged(client, "fine").start()
        data.rename(elsewhere)
        refused = client.post(PATH, json={})
        assert refused.status_code == 503
        assert "put it back, or restart devui" in refused.json()["detail"]
        page = client.get(f"/sessions/{debugged.key}", headers={"Accept": "text/html"}).text
        assert TITLE in page
        elsewhere.rename(data)
        debugged.tell("continue")
        assert debugged.settled()["status"] == "done"
        assert client.post(PATH, json={}).status_code == 200
        kept = debugged.kept()["events"]
        assert server.stop() == 0
        server.start()
        with server.client() as after:
            debugged.client = after
            assert debugged.kept()["events"] == kept
            assert TITLE not in after.get("/", headers={"Accept": "text/html"}).text


def test_a_restart_begins_anew_where_the_folder_was_deleted(tmp_path):
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
