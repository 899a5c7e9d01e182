"""Pages name the program behind each action: a run, a fork, a breakpoint, a replay, a stop."""

import pytest

from devui.client import Client
from tests.api.test_stepping import COUNT
from tests.kit.server import TOKEN, running, write_app

HTML = {"Accept": "text/html"}
BY = "by mcp:claude"


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    folder = tmp_path_factory.mktemp("actors")
    write_app(folder / "agents", "count", COUNT)
    with running(folder / "agents", folder / "data") as server:
        yield server


@pytest.fixture
def devui(server):
    with Client(server.url, TOKEN, actor="mcp:claude") as client:
        yield client


@pytest.fixture
def page(server):
    with server.client() as client:
        yield lambda path: client.get(path, headers=HTML).text


def done(devui, session, **start):
    return devui.wait(devui.start_run(session, **start))


def test_a_run_names_who_started_and_stopped_it(devui, page):
    session = devui.new_session("count")["key"]
    done(devui, session, message="go")
    assert f'done <span class="by" hx-ignore>started {BY}</span>' in page(f"/sessions/{session}")
    assert f"started {BY}</p>" in page(f"/sessions/{session}?tab=run")
    run = done(devui, session, message="go on", pause=True)
    devui.wait(devui.command(run["run"], "stop"))
    stopped = page(f"/sessions/{session}?tab=run")
    assert f"The run was stopped {BY}</b>" in stopped
    assert f"started {BY}, stopped {BY}</p>" in stopped


def test_forks_replays_and_breakpoints_name_who_made_them(devui, page):
    session = devui.new_session("count")["key"]
    done(devui, session, message="go")
    fork = devui.fork(session, 2)["key"]
    assert f"at #2 {BY}</span>" in page(f"/sessions/{fork}")
    assert f"fork at #2 {BY}</small>" in page(f"/sessions/{session}")
    replay = devui.wait(devui.run(devui.start_replay(session)["run"]))
    assert f"no live calls, {BY}</span>" in page(f"/sessions/{replay['session']}")
    number = devui.add_breakpoint("count", "state", name="n", condition="new == 2")["id"]
    assert f"breakpoint {number}</span> <span hx-ignore>{BY}" in page(
        f"/sessions/{session}?tab=breaks"
    )
    run = done(devui, devui.new_session("count")["key"], message="go")
    assert f"Breakpoint {number} {BY}: " in page(f"/sessions/{run['session']}")
    devui.command(run["run"], "stop")
    devui.delete_breakpoint("count", number)


def test_an_action_from_a_page_names_nobody(server, page):
    with Client(server.url, TOKEN, actor="blue tab") as devui:
        session = devui.new_session("count")["key"]
        done(devui, session, message="go")
    assert "blue tab" not in page(f"/sessions/{session}?tab=run")
