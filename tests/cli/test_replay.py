"""`devui replay` executes recorded runs again and explains differences."""

import json

import pytest

from tests.kit.debugged_run import DebuggedRun
from tests.kit.replayed_apps import team
from tests.kit.server import running, write_app
from tests.kit.terminal import Terminal

MANY = "so " * 200
"""Words before the one that differs."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("replay")
    (folder / "manner.txt").write_text(MANY + "well")
    write_app(folder / "agents", "team", team(folder))
    return folder


@pytest.fixture(scope="module")
def server(folder):
    with running(folder / "agents", folder / "data") as server:
        yield server


def test_replay_checks_runs_and_explains_the_first_difference(server, folder):
    terminal = Terminal(server)
    with server.client() as client:
        recorded = DebuggedRun(client, "team").start(pause=False)
        recorded.settled()
        recorded.start("and again", pause=False).settled()
        live, key = (folder / "live.log").read_text(), str(recorded.key)

        done = terminal("replay", key)
        assert (done.returncode, done.stderr) == (0, "")
        assert "tick 1" in done.stdout
        assert done.stdout.splitlines()[-1].endswith(
            "identical: 12 of 12 events as recorded, 10 recorded answers"
        )
        sessions = len(client.get("/api/sessions").json()["sessions"])
        checked = terminal("replay", key, "--check", "--json")
        verdicts = [
            json.loads(line)["verdict"]["identical"] for line in checked.stdout.splitlines()
        ]
        assert (checked.returncode, verdicts) == (0, [True, True])
        assert len(client.get("/api/sessions").json()["sessions"]) == sessions

        (folder / "manner.txt").write_text(MANY + "badly")
        other = terminal("replay", key, "--check")
        assert other.returncode == 1
        assert "diverged: writer sent its model a different request" in other.stdout
        assert "so well." in other.stdout
        assert "so badly." in other.stdout
        newest = [each["key"] for each in client.get("/api/sessions").json()["sessions"][:2]]
        assert [
            line.removeprefix("  replayed in session ")
            for line in other.stdout.splitlines()
            if line.startswith("  replayed in session ")
        ] == [str(each) for each in sorted(newest)]
        assert terminal("replay", key, "--run", "none").returncode == 5
        assert (folder / "live.log").read_text() == live


def test_a_breakpoint_holds_a_replay_but_not_a_check(server):
    terminal = Terminal(server)
    with server.client() as client:
        recorded = DebuggedRun(client, "team").start(pause=False)
        recorded.settled()
        body = {"on": "tool", "name": "*", "hit": "== 1"}
        breakpoint_ = client.post("/api/apps/team/breakpoints", json=body)
        assert breakpoint_.status_code == 201, breakpoint_.text
        checked = terminal("replay", str(recorded.key), "--check")
        assert (checked.returncode, checked.stderr) == (0, "")
        with terminal.open("replay", str(recorded.key)) as replay:
            held = replay.complaint("held in session ")
            newest = client.get("/api/sessions").json()["sessions"][0]["key"]
            going_on = ("dbg", "continue", "--session", str(newest))
            assert f"`devui {' '.join(going_on)}`" in held
            while not replay.is_over:  # parallel agents may each be held at their own call
                terminal(*going_on)
            status, _ = replay.ended()
            assert (status, "identical" in replay.lines[-1]) == (0, True)
        client.delete(f"/api/apps/team/breakpoints/{breakpoint_.json()['id']}")
