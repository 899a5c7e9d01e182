"""The server survives whatever an agent yields, and history stays intact (R38, R48, R53)."""

import json
import re
import threading

import pytest

from tests.faults.seen import ends, shown, still_serves
from tests.kit.patience import PATIENCE
from tests.kit.processes import worker_of
from tests.kit.server import get_session, make_session, run

pytestmark = pytest.mark.req("R50")


@pytest.mark.req("R53")
@pytest.mark.parametrize(
    ("app", "words"),
    [
        ("unstorable", "<object object at"),
        ("surrogate", r"bad \\ud800 text"),
        ("halfway", r"half of \\ud83d"),
        ("numberless", '"none": null'),
        ("stranger", "of another"),
        ("extra", '"author": "faulty"'),
        ("deep", "<list that is nested too deeply>"),
    ],
)
def test_an_event_with_values_that_are_not_json_is_kept(client, app, words):
    last, session = ends(client, app)
    assert "error" not in last
    assert session["state"]["after"] is True
    assert words in json.dumps(session["events"])
    shown(client, session, "begun", "after")
    still_serves(client)


@pytest.mark.req("R53")
def test_an_event_yielded_twice_is_stored_once(client):
    last, session = ends(client, "twice")
    assert "error" not in last
    texts = [event["content"]["parts"][0]["text"] for event in session["events"]]
    assert texts == ["go", "begun", "the same", "after"]


@pytest.mark.req("R53")
def test_a_too_large_event_fails_the_run_with_the_reason(client):
    last, session = ends(client, "huge")
    assert re.match(r"FrameTooLarge: a message of [\d,]+ bytes is over", last["error"])
    assert re.search(r"It begins: [^…]*xxx[^…]{,500}…", last["error"]), "a sample is kept"
    assert "after" not in session["state"]
    shown(client, session, "begun", "The run failed", "It begins: ", "xxxxx…")
    still_serves(client)


@pytest.mark.req("R48")
@pytest.mark.parametrize(
    "quotes",
    [
        pytest.param(9_500_000, id="on its way to the worker"),
        pytest.param(8_388_500, id="on its way back, as an event"),
    ],
)
def test_a_message_too_large_for_the_wire_fails_its_run(client, server, quotes):
    client.post("/apps/fine/reload")
    worker = worker_of(server, "fine")
    session = make_session(client, "fine")
    frames = run(client, "fine", session["id"], '"' * quotes)
    assert len(frames) == 1
    assert re.match(r"FrameTooLarge: a message of [\d,]+ bytes is over", frames[0]["error"])
    assert get_session(client, "fine", session["id"])["events"] == []
    still_serves(client)
    client.post("/apps/fine/reload")
    worker.wait(timeout=PATIENCE)  # all its runs are over, the failed one included


@pytest.mark.req("R38")
def test_tasks_left_behind_by_a_run_cannot_write(client):
    session = make_session(client, "lingers")
    run(client, "lingers", session["id"], "go")
    other = make_session(client, "lingers")
    run(client, "lingers", other["id"], "go")
    threading.Event().wait(1)
    for name in (session["id"], other["id"]):
        assert "late" not in get_session(client, "lingers", name)["state"]


def test_events_appended_concurrently_are_all_in_the_history(client):
    session = make_session(client, "together")
    for count in (4, 10):
        frames = run(client, "together", session["id"], "go")
        assert f"knows {count}" in [f["content"]["parts"][0]["text"] for f in frames]


def test_an_agent_reads_the_current_state_of_another_session(client):
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
