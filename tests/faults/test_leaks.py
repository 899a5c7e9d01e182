"""No process or descriptor is left behind, whatever was cut off or refused (R50, R57)."""

import itertools
import re
import shutil
from pathlib import Path

import psutil
import pytest

from devui.web.sse import MAX_STREAMS
from tests.faults.misbehaving_agents import AGENTS
from tests.kit.debugged_run import DebuggedRun
from tests.kit.frames import frames
from tests.kit.killable_servers import ServerForker
from tests.kit.patience import wait_until
from tests.kit.processes import workers_of
from tests.kit.server import Server, get_session, make_session, run, run_body, running, write_app

HTML = {"Accept": "text/html"}

FOREVER = """
import pathlib, time
pathlib.Path({mark!r}).touch()
time.sleep(600)
"""
WITNESS = """
from devui.runtime.agents import Agent
root_agent = Agent(name="witness", description="Version {version}.")
"""


def holdings(server: Server) -> tuple[int, int]:
    """The number of open descriptors and living child processes of a server."""
    process = psutil.Process(server.pid)
    return process.num_fds(), len(process.children(recursive=True))


def holds_no_more(server: Server, before: tuple[int, int]) -> bool:
    """Whether it has no more of either; `before` may include some on their way out."""
    return all(now <= was for now, was in zip(holdings(server), before, strict=True))


@pytest.fixture
def served(tmp_path):
    """A server with three agents, and a client on one connection."""
    for name in ("fine", "sleeps", "deletes"):
        write_app(tmp_path / "agents", name, AGENTS[name])
    with (
        running(tmp_path / "agents", tmp_path / "data", "--no-auth") as server,
        server.client() as client,
    ):
        yield server, client


@pytest.mark.req("R57")
def test_saving_files_of_a_loading_app_does_not_delay_the_end(tmp_path):
    agents = tmp_path / "agents"
    marks = [tmp_path / name for name in ("first", "second", "third")]
    write_app(agents, "slow", FOREVER.format(mark=str(marks[0])))
    write_app(agents, "witness", WITNESS.format(version=0))
    server = Server(agents, tmp_path / "data").start()
    with server.client() as client:

        def app_page() -> str:
            return client.get("/apps/witness", headers=HTML).text

        client.get("/apps/slow", headers=HTML)
        wait_until(marks[0].exists)
        wait_until(lambda: "Version 0." in app_page())
        for version, mark in enumerate(marks[1:], 1):
            write_app(agents, "slow", FOREVER.format(mark=str(mark)))
            write_app(agents, "witness", WITNESS.format(version=version))
            # Changes are handled in order: this one's effect implies the one before.
            wait_until(lambda version=version: f"Version {version}." in app_page())
    assert workers_of(agents)
    assert server.stop() == 0
    assert workers_of(agents) == []
    assert not marks[1].exists(), "the version before was given up for one that hangs, too"


@pytest.mark.req("R51")
def test_an_endless_import_is_ended_and_recovers_on_save(tmp_path):
    agents = tmp_path / "agents"
    for app in ("endless", "fine"):
        write_app(agents, app, AGENTS[app])
    with ServerForker() as forker:
        forked = forker.serve(agents, tmp_path / "data", loads=20)
        with forked.client() as client:
            client.get("/apps/endless", headers=HTML)
            assert DebuggedRun(client, "fine").start(pause=False).settled()["status"] == "done"

            def app_page() -> str:
                return client.get("/apps/endless", headers=HTML).text

            wait_until(lambda: "LoadTimeout" in app_page())
            assert "move slow work out of the module level" in app_page()
            assert "LoadTimeout" in client.get("/", headers=HTML).text
            wait_until(lambda: workers_of(agents, "endless") == [])
            write_app(agents, "endless", AGENTS["fine"])
            wait_until(lambda: "LoadTimeout" not in app_page())
            assert DebuggedRun(client, "endless").start(pause=False).settled()["status"] == "done"
        forked.kill()


@pytest.mark.req("R57")
def test_an_app_deleted_while_loading_leaves_no_process(tmp_path):
    agents, mark, go = tmp_path / "agents", tmp_path / "mark", tmp_path / "go"
    wait = f"while not pathlib.Path({str(go)!r}).exists(): time.sleep(0.01)\n"
    code = f"import pathlib, time\npathlib.Path({str(mark)!r}).touch()\n{wait}"
    file = write_app(agents, "gone", code + WITNESS.format(version=0))
    write_app(agents, "witness", WITNESS.format(version=0))
    with running(agents, tmp_path / "data") as server, server.client() as client:
        client.get("/apps/gone", headers=HTML)
        wait_until(mark.exists)
        shutil.rmtree(file.parent)  # includes the bytecode that Python may have written there
        wait_until(lambda: client.get("/apps/gone", headers=HTML).status_code == 404)
        client.get("/apps/witness", headers=HTML)
        write_app(agents, "witness", WITNESS.format(version=1))
        wait_until(lambda: "Version 1." in client.get("/apps/witness", headers=HTML).text)
        go.touch()
        wait_until(lambda: len(workers_of(agents)) == 1)


@pytest.mark.req("R49")
def test_runs_without_clients_leave_nothing_behind(served):
    server, client = served
    for app in ("fine", "sleeps"):
        client.post(f"/apps/{app}/reload")
    for app in ("fine", "sleeps", "fine", "sleeps"):
        leave_in_the_middle(server, client, app)
    wait_until(lambda: settled(client))
    before = holdings(server)
    for app in ("fine", "sleeps") * 5:
        leave_in_the_middle(server, client, app)
    wait_until(lambda: settled(client))
    wait_until(lambda: holds_no_more(server, before))


def leave_in_the_middle(server: Server, client, app: str) -> None:
    """Start a run, leave after its first event, then delete its session, stopping it if needed."""
    session = make_session(client, app)
    path = f"/apps/{app}/users/u/sessions/{session['id']}"
    with (
        server.client() as leaving,
        leaving.stream("POST", "/run_sse", json=run_body(app, session["id"], "go")) as answer,
    ):
        next(frames(answer.iter_lines()))
    while client.delete(path).status_code == 409:
        page = client.get(newest_page(client, app), headers=HTML).text
        for stop in re.findall(r'action="(/runs/[0-9a-f]+/stop)"', page):
            client.post(stop)


def newest_page(client, app: str) -> str:
    page = client.get(f"/apps/{app}", headers=HTML).text
    return re.search(r'href="(/sessions/\d+)"', page)[1]


def settled(client) -> bool:
    """Whether no session is left."""
    return all(
        client.get(f"/apps/{app}/users/u/sessions").json() == [] for app in ("fine", "sleeps")
    )


@pytest.mark.req("R62")
def test_abandoned_streams_make_room_for_others_during_a_run(served):
    _, client = served
    session = make_session(client, "sleeps")
    page = newest_page(client, "sleeps")
    client.post(f"{page}/runs", data={"text": "go"}, headers={"HX-Request": "true"})
    wait_until(lambda: get_session(client, "sleeps", session["id"])["state"] == {"begun": True})
    for _ in range(MAX_STREAMS + 1):

        def streams() -> bool:
            with client.stream("GET", f"{page}/stream") as answer:
                return answer.status_code == 200 and bool(next(answer.iter_lines()))

        wait_until(streams)
    assert "running" in client.get(page, headers=HTML).text


@pytest.mark.req("R50")
@pytest.mark.parametrize("free", range(1, 8))
def test_a_worker_that_cannot_start_is_reported_and_leaks_nothing(served, free):
    server, client = served
    session = make_session(client, "fine")
    warm_up(client)
    before = holdings(server)
    process = psutil.Process(server.pid)
    limits = process.rlimit(psutil.RLIMIT_NOFILE)
    process.rlimit(psutil.RLIMIT_NOFILE, (room_for(server, free), limits[1]))
    for _ in range(3):
        (frame,) = run(client, "fine", session["id"], "go")
        assert (
            "WorkerNotStarted: the system can't start another process: Too many" in frame["error"]
        )
        assert "ulimit -n" in frame["error"]
    page = client.get("/apps/fine", headers=HTML).text
    assert "the system can&#39;t start another process" in page
    assert client.get("/health").status_code == 200
    wait_until(lambda: holds_no_more(server, before))
    process.rlimit(psutil.RLIMIT_NOFILE, limits)
    frames = run(client, "fine", session["id"], "go")
    assert [frame["content"]["parts"][0]["text"] for frame in frames] == ["begun", "after"]
    assert "start another process" not in client.get("/apps/fine", headers=HTML).text


def warm_up(client) -> None:
    """Load every template that the test renders."""
    client.post("/apps/sleeps/reload")
    for path in ("/apps/sleeps", "/"):
        assert client.get(path, headers=HTML).status_code == 200


def room_for(server: Server, free: int) -> int:
    """The limit that leaves this many free numbers for descriptors."""
    descriptors = {int(file.name) for file in Path(f"/proc/{server.pid}/fd").iterdir()}
    unused = (number for number in itertools.count() if number not in descriptors)
    return next(itertools.islice(unused, free, None))
