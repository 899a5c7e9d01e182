"""Agent code may do anything: it ends its run and never the server (R50, R52, R53)."""

import html
import json
import re
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import psutil
import pytest

from devui.debugger.driver import SECONDS_TO_STOP, SECONDS_TO_TERMINATE
from tests.kit.debugged import Debugged
from tests.kit.patience import PATIENCE
from tests.kit.processes import worker_of, workers_of
from tests.kit.server import get_session, make_session, run, run_body

pytestmark = pytest.mark.req("R50")
HTMX = {"HX-Request": "true"}
HTML = {"Accept": "text/html"}


def ends(client, app: str) -> tuple[dict, dict]:
    """Run the app; the last frame, and the session afterwards."""
    session = make_session(client, app)
    frames = run(client, app, session["id"], "go")
    kept = get_session(client, app, session["id"])
    assert kept["state"]["begun"] is True, "what was committed before is kept"
    return frames[-1], kept


def shown(client, kept: dict, *words: str) -> None:
    """The session's page tells it, in a row of its own."""
    page = html.unescape(session_page(client, kept))
    rows = page.split('id="rows"', 1)[1].split('id="live-rows"', 1)[0]
    told = re.sub(r"\s+", " ", re.sub("<[^>]*>", "", rows))
    assert [each for each in words if each not in told] == [], told[-2000:]


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
        ("surrogates", "FileNotFoundError: caf"),
        ("shouts", "ValueError: xxx"),
        ("unspeakable", "Odd: (its message cannot be told: RuntimeError)"),
        ("cancels", "CancelledError: "),
        ("misuses", "Refused: the initial state has to be a dict"),
        ("deletes", "Refused: session"),
        ("texts", "TypeError: Agent 'zoo' yielded 'no event' (str)"),
        ("nothing", "TypeError: Agent 'zoo' yielded None"),
        ("dicts", "TypeError: Agent 'zoo' yielded {'author': 'zoo'} (dict)"),
        ("untidy", "OSError: cannot put away"),
        ("deep", "RecursionError: "),
    ],
)
def test_whatever_the_agent_raises_fails_its_run(client, app, error):
    last, kept = ends(client, app)
    assert last["error"].startswith(error)
    assert "after" not in kept["state"]
    shown(client, kept, "begun", "The run failed", error.strip())
    still_serves(client)


@pytest.mark.parametrize(("app", "how"), [("dies", "status 7"), ("segfaults", "signal 11")])
def test_an_agent_that_ends_its_process_fails_its_run(client, app, how):
    for _ in range(2):
        last, kept = ends(client, app)
        assert f"WorkerDied: the agent's process ended with {how}" in last["error"]
        shown(client, kept, "begun", "The run failed", f"ended with {how}")
    still_serves(client)


@pytest.mark.parametrize("app", ["exits", "dies", "segfaults"])
def test_what_one_run_does_to_its_process_is_nothing_to_those_of_other_apps(client, app):
    other = Debugged(client, "fine").start()
    other.settled()
    last, _ = ends(client, app)
    assert "error" in last
    assert other.tell("continue")["status"] == "done"
    assert other.texts() == ["go", "begun", "after"]


@pytest.mark.parametrize("app", ["forks", "moves", "patches", "hoards", "ignores", "takes"])
def test_an_agent_may_do_to_its_process_what_it_likes(client, app):
    for _ in range(2):
        last, kept = ends(client, app)
        assert "error" in last or kept["state"]["after"] is True
        shown(client, kept, "begun", "The run failed" if "error" in last else "after")
    still_serves(client)


def test_a_copy_of_the_worker_does_none_of_its_work_and_prints(client):
    session = make_session(client, "divides")
    frames = run(client, "divides", session["id"], "go")
    assert [f["content"]["parts"][0]["text"] for f in frames] == ["begun", "after"]
    log = log_of(client, session)
    assert log.count("in a copy of its own") == 2
    assert log.count("was ended. End it where its work is done") == 3
    assert log.count("before") == 1
    _, kept = ends(client, "pools")
    assert kept["events"][-2]["content"]["parts"][0]["text"] == "[3, 2, 1, 0, 1, 2]"
    shown(client, kept, "begun", "[3, 2, 1, 0, 1, 2]", "after")
    shown(client, session, "begun", "after")


def test_the_end_of_a_worker_is_noticed_whoever_outlives_it(client):
    last, kept = ends(client, "abandons")
    try:
        assert "WorkerDied: the agent's process ended with signal 9" in last["error"]
        shown(client, kept, "The run failed", "ended with signal 9")
        still_serves(client)
    finally:
        for process in kept["state"]["escaped"]:
            psutil.Process(process).kill()


def test_a_thread_that_outlives_its_run_ends_with_its_worker(client, server):
    for _ in range(2):
        last, kept = ends(client, "outlives")
        assert "error" not in last
        shown(client, kept, "begun", "after")
    worker = worker_of(server, "outlives")
    client.post("/apps/outlives/reload")
    worker.wait(timeout=PATIENCE)
    still_serves(client)


@pytest.mark.req("R34")
def test_an_agent_that_asks_its_model_for_ever_is_stopped_at_the_limit(client):
    session = make_session(client, "spins")
    last = run(client, "spins", session["id"], "go")[-1]
    assert "20" in last["error"], last
    events = get_session(client, "spins", session["id"])["events"]
    assert str(events).count("'functionResponse'") == 20
    shown(client, session, "The run failed", last["error"])
    still_serves(client)


@pytest.mark.parametrize("app", ["floods", "closes"])
def test_an_agent_may_print_a_gigabyte_or_close_its_streams(client, server, app):
    before = psutil.Process(server.pid).memory_info().rss
    last, kept = ends(client, app)
    assert kept["state"]["after"] is True, last
    assert psutil.Process(server.pid).memory_info().rss - before < 100_000_000
    shown(client, kept, "begun", "after")
    still_serves(client)


@pytest.mark.req("R53")
@pytest.mark.parametrize(
    ("app", "words"),
    [
        ("unstorable", "<object object at"),
        ("surrogate", r"bad \\ud800 text"),
        ("halfway", r"half of \\ud83d"),
        ("numberless", '"none": null'),
        ("stranger", "of another"),
        ("extra", '"author": "zoo"'),
    ],
)
def test_an_event_that_has_no_form_in_json_is_kept_in_a_readable_one(client, app, words):
    last, kept = ends(client, app)
    assert "error" not in last
    assert kept["state"]["after"] is True
    assert words in json.dumps(kept["events"])
    shown(client, kept, "begun", "after")
    still_serves(client)


@pytest.mark.req("R53")
def test_an_event_that_comes_twice_is_kept_once(client):
    last, kept = ends(client, "twice")
    assert "error" not in last
    texts = [event["content"]["parts"][0]["text"] for event in kept["events"]]
    assert texts == ["go", "begun", "the same", "after"]


@pytest.mark.req("R53")
def test_an_event_that_is_too_large_fails_the_run_with_the_reason(client):
    last, kept = ends(client, "huge")
    assert re.match(r"FrameTooLarge: a message of [\d,]+ bytes is over", last["error"])
    assert re.search(r"It begins: [^…]*xxx[^…]{,500}…", last["error"]), "a sample is kept"
    assert "after" not in kept["state"]
    shown(client, kept, "begun", "The run failed", "It begins: ", "xxxxx…")
    still_serves(client)


@pytest.mark.req("R52")
def test_the_steps_by_which_a_run_is_stopped_take_eight_seconds_at_most():
    assert SECONDS_TO_STOP + SECONDS_TO_TERMINATE <= 8


@pytest.mark.req("R52")
@pytest.mark.parametrize("app", ["sleeps", "blocks", "stubborn", "leaks", "deaf"])
def test_stop_ends_a_run_whatever_it_does(client, server, app):
    session = make_session(client, app)
    with client.stream("POST", "/run_sse", json=run_body(app, session["id"], "go")) as answer:
        lines = answer.iter_lines()
        next(line for line in lines if '"begun"' in line)
        with server.client() as other:
            stopped = other.post(f"/runs/{run_of(other, session)}/stop")
            assert stopped.status_code in {204, 303}
            assert other.get("/health").status_code == 200
        assert not [line for line in lines if '"after"' in line]
    still_serves(client)
    with server.client() as other:
        assert "The run was stopped" in session_page(other, session)


def test_many_runs_may_begin_together_on_a_worker_that_is_not_there_yet(client):
    client.post("/apps/fine/reload")
    sessions = [make_session(client, "fine")["id"] for _ in range(10)]
    with ThreadPoolExecutor(10) as pool:
        ended = list(pool.map(lambda name: run(client, "fine", name, "go"), sessions))
    assert all("error" not in frames[-1] for frames in ended)


@pytest.mark.req("R48")
@pytest.mark.parametrize(
    "quotes",
    [
        pytest.param(9_500_000, id="on its way to the worker"),
        pytest.param(8_388_500, id="on its way back, as an event"),
    ],
)
def test_a_message_that_does_not_fit_the_wire_fails_its_run(client, server, quotes):
    client.post("/apps/fine/reload")
    worker = worker_of(server, "fine")
    session = make_session(client, "fine")
    frames = run(client, "fine", session["id"], '"' * quotes)
    assert len(frames) == 1
    assert re.match(r"FrameTooLarge: a message of [\d,]+ bytes is over", frames[0]["error"])
    assert get_session(client, "fine", session["id"])["events"] == []
    still_serves(client)
    client.post("/apps/fine/reload")
    worker.wait(timeout=PATIENCE)  # it is done with all its runs, the one that failed included


@pytest.mark.req("R38")
def test_what_a_run_leaves_behind_can_write_nothing(client):
    session = make_session(client, "lingers")
    run(client, "lingers", session["id"], "go")
    other = make_session(client, "lingers")
    run(client, "lingers", other["id"], "go")
    threading.Event().wait(1)
    for name in (session["id"], other["id"]):
        assert "late" not in get_session(client, "lingers", name)["state"]


def test_events_appended_side_by_side_are_all_in_the_agents_history(client):
    session = make_session(client, "together")
    for count in (4, 10):
        frames = run(client, "together", session["id"], "go")
        assert f"knows {count}" in [f["content"]["parts"][0]["text"] for f in frames]


def test_another_session_is_read_as_it_is_now(client):
    path = "/apps/peeks/users/u/sessions/other"
    make_session(client, "peeks", session_id="other", state={"x": 1})
    session = make_session(client, "peeks")
    seen = []
    for change in (None, {"x": 2}, {"x": 3}):
        if change:
            client.patch(path, json={"stateDelta": change})
        frames = run(client, "peeks", session["id"], "go")
        seen += [text for f in frames if "sees" in (text := f["content"]["parts"][0]["text"])]
    client.delete(path)
    frames = run(client, "peeks", session["id"], "go")
    seen += [text for f in frames if "sees" in (text := f["content"]["parts"][0]["text"])]
    assert seen == ["sees 1", "sees 2", "sees 3", "sees None"]


def test_any_number_of_short_lines_is_bounded(client, server):
    session = make_session(client, "chatters")
    run(client, "chatters", session["id"], "go")
    page = session_page(client, session)
    assert "The run failed" not in page
    lines = log_of(client, session).splitlines()
    assert len(lines) < 20_000
    assert "output cut" in lines[-1]


def test_the_log_has_the_last_line_and_what_threads_print(client):
    session = make_session(client, "mumbles")
    run(client, "mumbles", session["id"], "go")
    log = log_of(client, session)
    for words in ("from a thread", "whole line", "no end"):
        assert words in log


@pytest.mark.req("R52")
def test_stop_right_after_the_start_is_not_lost(client, server):
    session = make_session(client, "sleeps")
    key = key_of(client, session)
    workers = set()
    for _ in range(10):
        begun = client.post(f"/sessions/{key}/runs", data={"text": "go"}, headers=HTMX)
        assert begun.status_code < 400, begun.text
        run_id = run_of(client, session)
        client.post(f"/runs/{run_id}/stop", headers=HTMX)
        while GOING.search(client.get(f"/sessions/{key}", headers=HTML).text):
            time.sleep(0.02)
        workers |= {process.pid for process in workers_of(server.agents, "sleeps")}
    assert len(workers) == 1, "a process had to be killed"


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
    child.wait(timeout=PATIENCE)


@pytest.mark.req("R51")
@pytest.mark.parametrize(
    ("app", "words"),
    [
        ("syntax", ["SyntaxError", "syntax/agent.py:1"]),
        ("missing", ["a_module_that_is_not_there", "missing/agent.py:1"]),
        ("circular", ["partially initialized module", "circular/agent.py:1"]),
        ("asks", ["EOFError", "asks/agent.py:1"]),
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


@pytest.mark.req("R51")
@pytest.mark.parametrize("app", ["announces", "laments"])
def test_what_an_app_prints_while_it_is_imported_is_on_its_page(client, app):
    client.post(f"/apps/{app}/reload")
    page = client.get(f"/apps/{app}", headers=HTML).text
    printed = page.split("Printed while it was loaded", 1)[1].split("</pre>", 1)[0]
    assert "reading &lt;b&gt;prices&lt;/b&gt;\n" in printed
    assert "warning: prices: they are of last year\n" in printed
    assert "no end" in printed
    while "from a child" not in client.get(f"/apps/{app}", headers=HTML).text:
        threading.Event().wait(0.1)  # it comes by another way than the rest


@pytest.mark.req("R51")
def test_the_notice_of_an_app_that_does_not_load_has_the_last_it_printed(client):
    client.post("/apps/laments/reload")
    session = make_session(client, "laments")
    page = session_page(client, session)
    assert "laments does not load" in page
    assert re.search("The last it printed: (no end|from a child)", page)


def test_of_what_an_app_prints_without_end_the_first_lines_are_kept(client):
    client.post("/apps/prattles/reload")
    page = client.get("/apps/prattles", headers=HTML).text
    assert "line 199\n" in page
    assert "line 200\n" not in page
    assert "9,800 more lines not kept" in page
    run(client, "prattles", make_session(client, "prattles")["id"], "go")


def run_of(client, session: dict) -> str:
    """The id of the run under way, from the page's own Stop form."""
    page = session_page(client, session)
    return page.split('action="/runs/', 1)[1].split("/stop", 1)[0]


def key_of(client, session: dict) -> str:
    return session_page(client, session).split('data-session="', 1)[1].split('"', 1)[0]


def log_of(client, session: dict) -> str:
    """All output of the session's only run."""
    event = client.get(f"/sessions/{key_of(client, session)}/events/1", headers=HTML).text
    run_id = re.search(r"<code[^>]*>([0-9a-f]{32})</code>|>([0-9a-f]{32})<", event)
    return client.get(f"/runs/{run_id[1] or run_id[2]}/log").text


GOING = re.compile('class="run (running|held|stopping) ?"')


def session_page(client, session: dict) -> str:
    query = {"app": session["appName"], "user": session["userId"], "id": session["id"]}
    [row] = client.get("/api/sessions", params=query).json()["sessions"]
    return client.get(f"/sessions/{row['key']}", headers=HTML).text


def get_state(server, session: dict) -> dict:
    with server.client() as client:
        return get_session(client, session["appName"], session["id"])["state"]
