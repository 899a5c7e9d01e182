"""A held run beside other runs and clients, and when its server is killed."""

from tests.api.test_stepping import BOTH, COUNT
from tests.kit.debugged_run import DebuggedRun
from tests.kit.server import make_session, run, running, write_app


def serve(tmp_path):
    for name, code in {"count": COUNT, "both": BOTH}.items():
        write_app(tmp_path / "agents", name, code)
    return running(tmp_path / "agents", tmp_path / "data")


def test_holds_lost_in_a_kill_of_the_server_are_reported(tmp_path):
    with serve(tmp_path) as server:
        with server.client() as client:
            debugged = DebuggedRun(client, "count").start()
            debugged.settled()
            debugged.tell("step_half")
            debugged.tell("step_half")
            before = debugged.position
            assert before["holds"][0]["changes"] == [{"key": "n", "new": 1}]
            server.kill()
        server.start()
        with server.client() as client:
            debugged.client = client
            after = debugged.settled()
            assert (after["status"], after["holds"]) == ("interrupted", [])
            assert after["lost"] == before["holds"]
            assert debugged.kept()["state"] == {}
            late = debugged.post("continue", key="k", position=before["position"])
            assert late.status_code == 409


def test_a_run_that_ends_normally_has_lost_nothing(tmp_path):
    with serve(tmp_path) as server, server.client() as client:
        debugged = DebuggedRun(client, "count").start()
        debugged.settled()
        debugged.tell("step_half")
        assert debugged.tell("continue")["lost"] == []


def test_other_sessions_of_the_app_run_while_one_is_held(tmp_path):
    with serve(tmp_path) as server, server.client() as client:
        debugged = DebuggedRun(client, "count").start()
        debugged.settled()
        other = make_session(client, "count")["id"]
        assert len(run(client, "count", other, "go")) == 3
        assert debugged.settled()["status"] == "held"


def test_sessions_are_listed_with_their_run_under_way(tmp_path):
    with serve(tmp_path) as server, server.client() as client:
        debugged = DebuggedRun(client, "count").start()
        make_session(client, "both")
        of_app = client.get("/api/sessions", params={"app": "count"}).json()["sessions"]
        assert [(row["key"], row["run"]) for row in of_app] == [(debugged.key, debugged.run)]
        everything = client.get("/api/sessions").json()["sessions"]
        assert {row["app"] for row in everything} == {"count", "both"}
        newest = client.get(f"/api/sessions/{debugged.key}/run").json()
        assert newest["run"] == debugged.run
