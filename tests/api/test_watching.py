"""Watching a session over the debugger's API: rows, state, and the stream of changes."""

from contextlib import closing

import pytest

from tests.api.test_stepping import COUNT
from tests.kit.debugged_run import DebuggedRun
from tests.kit.frames import frames, messages
from tests.kit.server import running, write_app


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    folder = tmp_path_factory.mktemp("watching")
    write_app(folder / "agents", "count", COUNT)
    with running(folder / "agents", folder / "data") as server:
        yield server


@pytest.fixture
def client(server):
    with server.client() as client:
        yield client


@pytest.fixture
def done(client):
    debugged = DebuggedRun(client, "count").start("hello", pause=False)
    assert debugged.settled()["status"] == "done"
    return debugged


def rows(debugged, **query):
    path = f"/api/sessions/{debugged.key}/events"
    return debugged.client.get(path, params=query).json()["events"]


def test_rows_have_the_same_texts_as_the_timeline(done):
    first, *others = rows(done)
    assert (first["number"], first["author"], first["kind"], first["text"]) == (
        1,
        "user",
        "user",
        "hello",
    )
    assert [(row["author"], row["text"]) for row in others] == [
        ("count", "n = 1"),
        ("count", "n = 2"),
        ("count", "n = 3"),
    ]
    assert {row["run"] for row in others} == {done.run}


@pytest.mark.parametrize(
    ("query", "numbers"),
    [
        ({"last": 2}, [3, 4]),
        ({"last": 0}, []),
        ({"after": 2}, [3, 4]),
        ({"after": 0, "limit": 1}, [1]),
        ({"after": 4}, []),
    ],
)
def test_rows_are_selected_from_either_end(done, query, numbers):
    assert [row["number"] for row in rows(done, **query)] == numbers


@pytest.mark.parametrize("path", ["events?after=99", "state?at=99", "stream?after=99"])
def test_a_missing_event_is_not_found(done, path):
    answer = done.client.get(f"/api/sessions/{done.key}/{path}")
    assert answer.status_code == 404
    assert "its last event is #4" in answer.json()["detail"]


def test_the_state_is_available_as_of_any_event_and_with_pending_writes(client):
    debugged = DebuggedRun(client, "count", state={"user:name": "Ada"}).start()
    debugged.settled()
    path = f"/api/sessions/{debugged.key}/state"
    for _ in range(4):
        debugged.tell("step_half")
    assert debugged.hold()["gate"] == "before_commit"
    now = client.get(path).json()
    name = {"key": "user:name", "value": "Ada", "number": None, "writer": "initial"}
    assert now == {
        "at": None,
        "values": [{"key": "n", "value": 1, "number": 2, "writer": "event"}, name],
        "pending": [{"key": "n", "old": 1, "new": 2, "hold": debugged.hold()["id"]}],
    }
    debugged.tell("continue")
    then = client.get(path, params={"at": 3}).json()
    assert then["values"][0] == {"key": "n", "value": 2, "number": 3, "writer": "event"}
    assert (then["at"], then["pending"]) == (3, [])


def test_a_stream_reports_everything_in_order(client):
    debugged = DebuggedRun(client, "count").start()
    debugged.settled()
    path = f"/api/sessions/{debugged.key}/stream"
    with client.stream("GET", path) as stream, closing(frames(stream.iter_lines())) as news:
        assert next(news)["holds"][0]["gate"] == "before_commit"
        debugged.post("continue", key="go", position=debugged.position["position"])
        seen = []
        for each in news:
            seen.append(each)
            if each["type"] == "position" and each["ended"]:
                break
    events = [each for each in seen if each["type"] == "event"]
    assert [each["number"] for each in events] == [1, 2, 3, 4]
    assert events[1]["event"]["actions"]["stateDelta"] == {"n": 1}
    lines = [each["text"] for each in seen if each["type"] == "output"]
    assert [text for text in lines if text.startswith("saw")] == ["saw 1", "saw 2", "saw 3"]
    assert seen[-1]["status"] == "done"


def test_a_stream_resumes_where_it_was_cut(done):
    path = f"/api/sessions/{done.key}/stream"
    with done.client.stream("GET", path, params={"after": 3}) as stream:
        frame = next(messages(stream.iter_lines()))
    assert '"number":4' in frame.data
    DebuggedRun.start(done, "again", pause=False)
    done.settled()
    with done.client.stream("GET", path, headers={"Last-Event-ID": frame.id}) as stream:
        assert next(frames(stream.iter_lines()))["number"] == 5


@pytest.mark.req("R58")
def test_a_stream_cut_between_two_events_resumes_with_the_second(done):
    path = f"/api/sessions/{done.key}/stream"
    with done.client.stream("GET", path) as stream:
        cut = [frame.id for frame, _ in zip(messages(stream.iter_lines()), range(4), strict=False)]
    DebuggedRun.start(done, "again", pause=False)
    done.settled()
    seen = []
    for last in cut:
        with done.client.stream("GET", path, headers={"Last-Event-ID": last}) as stream:
            seen.append(next(frames(stream.iter_lines()))["number"])
    assert seen == [2, 3, 4, 5]


def test_a_stream_with_an_offset_of_another_journal_starts_with_a_reset(done):
    path = f"/api/sessions/{done.key}/stream"
    with done.client.stream("GET", path, headers={"Last-Event-ID": "0123456789abcdef.7"}) as stream:
        assert next(messages(stream.iter_lines())).event == "reset"


@pytest.mark.req("R62")
def test_a_stream_ends_when_its_session_is_deleted(client):
    debugged = DebuggedRun(client, "count")
    path = f"/api/sessions/{debugged.key}/stream"
    with client.stream("GET", path) as stream:
        client.delete(f"/apps/count/users/u/sessions/{debugged.session}")
        seen = list(messages(stream.iter_lines()))
    assert seen[0].data == '{"type":"deleted"}'
    assert seen[-1].event == "bye"
    again = client.get(path, headers={"Last-Event-ID": seen[0].id})
    assert (again.status_code, again.content) == (204, b"")
    assert client.get(path).status_code == 404
    with client.stream("GET", f"/sessions/{debugged.key}/stream?after={seen[0].id}") as stream:
        farewell, bye = messages(stream.iter_lines())
    assert "This session was deleted" in farewell.data
    assert bye.event == "bye"
