"""`devui compare`: its output and exit status for sessions and runs."""

import json

import pytest

from tests.kit.debugged_run import DebuggedRun
from tests.kit.model_call_apps import teller
from tests.kit.server import running, write_app
from tests.kit.terminal import Terminal

WEATHER = "How is the weather?"


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    folder = tmp_path_factory.mktemp("compare")
    write_app(folder / "agents", "teller", teller())
    with running(folder / "agents", folder / "data") as server:
        yield server


@pytest.fixture(scope="module")
def told(server):
    """A session with three runs, of which the first two are equal."""
    with server.client() as client:
        session = DebuggedRun(client, "teller", sessionId="told@2")
        for message in (WEATHER, WEATHER, "Say hello sternly"):
            session.start(message, pause=False).settled()
    return session


@pytest.fixture
def terminal(server):
    return Terminal(server)


def test_equal_runs_exit_with_0(terminal, told):
    same = terminal("compare", f"{told.key}@1", f"{told.key}@2")
    assert (same.returncode, same.stderr) == (0, "")
    first, second, rows, last = same.stdout.splitlines()
    assert first.startswith(f"left  {told.key}@1  teller/u/told@2")
    assert first.endswith("done, 4 events")
    assert f"right {told.key}@2" in second
    assert rows == "=     4 events the same, #1 to #4"
    assert last == "no difference"


def test_differences_are_printed_and_exit_with_1(terminal, told):
    other = terminal("compare", f"{told.key}@1", "told@2@3")
    assert (other.returncode, other.stderr) == (1, "")
    lines = other.stdout.splitlines()[2:]
    assert lines[0] == f"≠     #1 user user: {WEATHER} | #9 user user: Say hello sternly  (text)"
    assert lines[1] == f'      text: "{WEATHER}" → "Say hello sternly"'
    assert lines[2].startswith("-     #2 call teller: weather(")
    assert lines[-1] == "4 differences, the first at #1"
    every = terminal("compare", f"{told.key}@1", f"{told.key}@3", "--values").stdout
    assert "      sent to the models: system, config, messages" in every
    whole = terminal("compare", "told@2", str(told.key), "--json")
    assert (whole.returncode, json.loads(whole.stdout)["equal"]) == (0, True)


@pytest.mark.parametrize(
    ("sides", "status", "words"),
    [
        (("9999", "1"), 5, "no session 9999"),
        (("{key}@9", "{key}"), 5, "no run 9"),
        (("nobody", "{key}"), 5, "no session with number or id 'nobody'"),
        (("{key}",), 2, "Missing argument"),
    ],
)
def test_an_impossible_comparison_has_its_own_exit_status(terminal, told, sides, status, words):
    done = terminal("compare", *(side.format(key=told.key) for side in sides))
    assert done.returncode == status
    assert words in done.stderr
