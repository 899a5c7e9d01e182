"""Agent code may do anything: it ends its run and never the server (R50, R52, R53)."""

import threading
import time

import psutil
import pytest

from tests.kit.server import get_session, make_session, run, run_body

pytestmark = pytest.mark.req("R50")


def ends(client, app: str) -> tuple[dict, dict]:
    """Run the app; the last frame, and the session afterwards."""
    session = make_session(client, app)
    frames = run(client, app, session["id"], "go")
    kept = get_session(client, app, session["id"])
    assert kept["state"]["begun"] is True, "what was committed before is kept"
    return frames[-1], kept


def still_serves(client) -> None:
    session = make_session(client, "fine")
    frames = run(client, "fine", session["id"], "go")
    assert [f["content"]["parts"][0]["text"] for f in frames] == ["begun", "after"]


@pytest.mark.parametrize(
    ("app", "error"),
    [
        ("raises", "ValueError: no such seat"),
        ("group", "KeyError: 'a'"),
        ("exits", "SystemExit: 3"),
        ("interrupts", "KeyboardInterrupt: "),
        ("recurses", "RecursionError: "),
    ],
)
def test_whatever_the_agent_raises_fails_its_run(client, app, error):
    last, kept = ends(client, app)
    assert last["error"].startswith(error)
    assert "after" not in kept["state"]
    still_serves(client)


@pytest.mark.parametrize(("app", "how"), [("dies", "status 7"), ("segfaults", "signal 11")])
def test_an_agent_that_ends_its_process_fails_its_run(client, app, how):
    last, _ = ends(client, app)
    assert f"WorkerDied: the agent's process ended with {how}" in last["error"]
    ends(client, app)
    still_serves(client)


@pytest.mark.parametrize("app", ["floods", "closes"])
def test_an_agent_may_print_a_gigabyte_or_close_its_streams(client, server, app):
    before = psutil.Process(server.pid).memory_info().rss
    last, kept = ends(client, app)
    assert kept["state"]["after"] is True, last
    assert psutil.Process(server.pid).memory_info().rss - before < 100_000_000
    still_serves(client)


@pytest.mark.parametrize("app", ["unstorable", "surrogate", "huge"])
@pytest.mark.req("R53")
def test_an_event_that_cannot_be_kept_fails_the_run_or_is_kept_in_a_readable_form(client, app):
    last, kept = ends(client, app)
    assert "error" in last or kept["state"]["after"] is True
    still_serves(client)


@pytest.mark.req("R52")
@pytest.mark.parametrize("app", ["sleeps", "blocks", "stubborn", "leaks"])
def test_stop_ends_a_run_whatever_it_does(client, server, app):
    session = make_session(client, app)
    with client.stream("POST", "/run_sse", json=run_body(app, session["id"], "go")) as answer:
        lines = answer.iter_lines()
        next(line for line in lines if '"begun"' in line)
        with server.client() as other:
            asked = time.monotonic()
            stopped = other.post(f"/runs/{run_of(other, session)}/stop")
            assert stopped.status_code in {204, 303}
            assert other.get("/health").status_code == 200
        assert not [line for line in lines if '"after"' in line]
    assert time.monotonic() - asked < 15
    still_serves(client)
    with server.client() as other:
        assert "The run was stopped" in session_page(other, session)


@pytest.mark.req("R52")
def test_a_blocked_event_loop_is_told_with_the_line_that_blocks_it(client, server):
    session = make_session(client, "blocks")
    with client.stream("POST", "/run_sse", json=run_body("blocks", session["id"], "go")) as answer:
        next(line for line in answer.iter_lines() if '"begun"' in line)
        with server.client() as other:
            while "event loop does not turn" not in (page := session_page(other, session)):
                threading.Event().wait(0.2)
            assert "blocks/agent.py" in page
            assert "while True: pass" in page
            other.post(f"/runs/{run_of(other, session)}/stop")


@pytest.mark.req("R52")
def test_processes_that_an_agent_started_end_with_it(client, server):
    session = make_session(client, "begets")
    with client.stream("POST", "/run_sse", json=run_body("begets", session["id"], "go")) as answer:
        lines = answer.iter_lines()
        next(line for line in lines if '"child"' in line)
        child = psutil.Process(get_state(server, session)["child"])
        with server.client() as other:
            other.post(f"/runs/{run_of(other, session)}/stop")
        list(lines)
    child.wait(timeout=10)


@pytest.mark.req("R51")
@pytest.mark.parametrize(
    ("app", "words"),
    [
        ("syntax", ["SyntaxError", "syntax/agent.py:1"]),
        ("missing", ["a_module_that_is_not_there", "missing/agent.py:1"]),
        ("bare", ["exports neither `root_agent` nor `app`"]),
        ("foreign", ["is a builtins.object"]),
        ("raising", ["RuntimeError: no key", "raising/agent.py:2"]),
        ("exiting", ["SystemExit: bye", "exiting/agent.py:2"]),
    ],
)
def test_an_app_that_does_not_load_is_listed_with_what_is_wrong_and_where(client, app, words):
    client.post(f"/apps/{app}/reload")
    for path in ("/", f"/apps/{app}"):
        page = client.get(path, headers={"Accept": "text/html"}).text
        for word in words:
            assert word in page.replace("&#39;", "'").replace("&#34;", '"'), path
    session = make_session(client, app)
    frames = run(client, app, session["id"], "go")
    assert "error" in frames[-1]


def run_of(client, session: dict) -> str:
    """The id of the run under way, from the page's own Stop form."""
    page = session_page(client, session)
    return page.split('action="/runs/', 1)[1].split("/stop", 1)[0]


def session_page(client, session: dict) -> str:
    listed = client.get(f"/apps/{session['appName']}", headers={"Accept": "text/html"}).text
    keys = [piece.split('"', 1)[0] for piece in listed.split('href="/sessions/')[1:]]
    for key in keys:
        page = client.get(f"/sessions/{key}", headers={"Accept": "text/html"}).text
        if session["id"] in page:
            return page
    raise AssertionError(f"no page shows session {session['id']}")


def get_state(server, session: dict) -> dict:
    with server.client() as client:
        return get_session(client, session["appName"], session["id"])["state"]
