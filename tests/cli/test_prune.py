"""One command deletes unused sessions (R48)."""

import json

import pytest

from tests.faults.misbehaving_agents import AGENTS
from tests.kit.debugged_run import DebuggedRun
from tests.kit.server import running, write_app
from tests.kit.terminal import devui

DAY = 86_400


@pytest.fixture
def server(tmp_path):
    for name in ("fine", "other"):
        write_app(tmp_path / "agents", name, AGENTS["fine"])
    with running(tmp_path / "agents", tmp_path / "data") as server:
        yield server


@pytest.mark.req("R48")
def test_unused_sessions_are_listed_and_deleted_only_with_yes(server, client, terminal):
    old, starred, noted, tagged, held, other = (
        DebuggedRun(client, name) for name in ("fine", "fine", "fine", "fine", "fine", "other")
    )
    for each in (old, noted):
        each.start(pause=False).settled()
    client.patch(f"/api/sessions/{starred.key}/notes/0", json={"starred": True})
    client.patch(f"/api/sessions/{noted.key}/notes/1", json={"text": "look"})
    client.patch(f"/api/sessions/{tagged.key}/tags", json={"add": ["keep"]})
    held.start().settled()

    def pruned(*options):
        done = terminal("prune", "--json", *options)
        assert done.returncode == 0, done.stderr
        result = json.loads(done.stdout)
        return {each["key"] for each in result["sessions"]}, result["deleted"]

    assert pruned("--days", "0") == ({old.key, other.key}, False)
    assert pruned("--days", "1") == (set(), False)
    output = terminal("prune", "--days", "0", "--app", "fine").stdout
    assert f"session {old.key} “go” of fine, 3 events" in output
    assert "1 session; add --yes to delete" in output
    with client.stream("GET", f"/api/sessions/{old.key}/stream") as stream:
        assert pruned("--days", "0", "--app", "fine", "--yes") == ({old.key}, True)
        assert any("deleted" in line for line in stream.iter_lines())
    remaining = {each["key"] for each in client.get("/api/sessions").json()["sessions"]}
    assert remaining == {starred.key, noted.key, tagged.key, held.key, other.key}
    assert terminal("prune", "--days", "-1").returncode == 2
    held.tell("stop")


@pytest.mark.req("R48")
def test_a_new_session_with_old_events_is_not_pruned(server, client, tmp_path):
    event = {"id": "1", "author": "user", "invocationId": "i", "timestamp": 1.0}
    DebuggedRun(client, "fine", events=[event])
    server.stop()
    data, agents = ("--data-dir", str(server.data)), ("--agents", str(server.agents))
    done = devui("prune", "--days", "1", *data, *agents, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, "no unused sessions\n"), done.stderr
    done = devui("prune", "--days", "0", "--yes", *data, *agents, cwd=tmp_path)
    assert (done.returncode, "deleted 1 session" in done.stdout) == (0, True), done.stderr
