"""Comparisons over HTTP: a fork and its parent, two runs of a session, two events."""

from typing import Any

import pytest

from tests.kit.debugged_run import DebuggedRun
from tests.kit.model_call_apps import teller
from tests.kit.server import make_session, run, running, write_app

BOOK = "Book a flight to London next Tuesday"


def compare(client: Any, left: Any, right: Any) -> dict[str, Any]:
    answer = client.get("/api/compare", params={"left": left, "right": right})
    assert answer.status_code == 200, answer.text
    return answer.json()


def pair(client: Any, left: Any, right: Any, *numbers: int | None) -> dict[str, Any]:
    numbers_by_name = dict(zip(("leftEvent", "rightEvent"), numbers, strict=True))
    query = {"left": left, "right": right, **{k: v for k, v in numbers_by_name.items() if v}}
    answer = client.get("/api/compare/events", params=query)
    assert answer.status_code == 200, answer.text
    return answer.json()


@pytest.fixture
def travelled(client: Any) -> int:
    """The key of a travel agent's session with one turn."""
    return travel_session(client, BOOK)


def travel_session(client: Any, *messages: str) -> int:
    session = make_session(client, "travel")["id"]
    for message in messages:
        run(client, "travel", session, message)
    query = {"app": "travel", "user": "u", "id": session}
    return client.get("/api/sessions", params=query).json()["sessions"][0]["key"]


def test_a_fork_that_repeats_the_message_is_equal(client, travelled):
    body = {"number": 1, "message": True, "run": True}
    fork = client.post(f"/api/sessions/{travelled}/forks", json=body).json()
    settle(client, fork["run"])
    comparison = compare(client, travelled, fork["key"])
    assert (comparison["equal"], comparison["differences"], comparison["first"]) == (True, 0, None)
    assert {row["kind"] for row in comparison["rows"]} == {"same"}
    assert comparison["left"]["events"] == len(comparison["rows"]) == comparison["right"]["events"]
    assert comparison["left"]["tokens"] == comparison["right"]["tokens"] > 0
    assert comparison["left"]["status"] == "done"
    itself = pair(client, travelled, fork["key"], 3, 3)
    assert (itself["sections"], itself["state"], itself["prompts"]) == ([], [], None)
    prompts = pair(client, travelled, fork["key"], 2, 2)["prompts"]
    assert prompts["aspects"] == []


def test_a_paused_run_is_called_paused_as_on_its_page(client, travelled):
    paused = DebuggedRun(client, "travel").start(BOOK)
    paused.settled()
    query = {"left": travelled, "right": paused.key}
    page = client.get("/compare", params=query, headers={"Accept": "text/html"}).text
    assert '<span class="status held"><i class="shape"></i>paused</span>' in page
    assert "<td>done</td>" in page
    assert "<td>paused</td>" in page
    paused.tell("stop")
    page = client.get("/compare", params=query, headers={"Accept": "text/html"}).text
    assert "<td>stopped</td>" in page


def test_the_page_shows_a_changed_key_as_in_the_state(client, travelled):
    query = {"left": travel_session(client, BOOK), "right": travelled}
    page = client.get("/compare", params=query, headers={"Accept": "text/html"}).text
    assert "State changes" in page
    assert ">app:lookups<" in page
    assert "[&#34;app:lookups&#34;]" not in page


def test_an_imported_copy_of_a_session_is_equal_and_has_equal_prompts(client, travelled):
    bundle = client.get(f"/api/sessions/{travelled}/export").content
    headers = {"content-type": "application/json"}
    landed = client.post("/api/sessions/import", content=bundle, headers=headers).json()["key"]
    comparison = compare(client, travelled, landed)
    assert (comparison["equal"], comparison["prompts"]) == (True, [])
    assert pair(client, travelled, landed, 2, 2)["prompts"]["aspects"] == []


def test_a_fork_differs_from_its_parent_from_its_edited_event_on(client, travelled):
    events = client.get(f"/api/sessions/{travelled}/events").json()["events"]
    number = next(e["number"] for e in events if e["kind"] == "result" and "airports" in e["text"])
    whole = client.get(f"/apps/travel/users/u/sessions/{session_id_of(client, travelled)}").json()
    event = whole["events"][number - 1]
    event["content"]["parts"][0]["functionResponse"]["response"] = {"result": ["OSL"]}
    event["actions"]["stateDelta"]["city"] = "Oslo"
    body = {"number": number, "event": event, "run": True}
    fork = client.post(f"/api/sessions/{travelled}/forks", json=body).json()
    settle(client, fork["run"])
    comparison = compare(client, travelled, fork["key"])
    assert [row["kind"] for row in comparison["rows"][: number - 1]] == ["same"] * (number - 1)
    first = comparison["first"]
    assert (first["kind"], first["left"], first["right"]) == ("changed", number, number)
    assert first["aspects"] == ["results", "state"]
    details = pair(client, travelled, fork["key"], number, number)
    results, state = details["sections"]
    assert (results["aspect"], results["name"]) == ("results", "find_airports")
    assert state["changes"] == [{"path": "city", "old": "London", "new": "Oslo"}]
    assert [each["key"] for each in details["state"]] == ["city"]


def test_later_events_of_the_parent_do_not_count_as_differences(tmp_path):
    write_app(tmp_path / "agents", "teller", teller())
    with running(tmp_path / "agents", tmp_path / "data") as server, server.client() as client:
        debugged = DebuggedRun(client, "teller")
        debugged.start("How is the weather in Oslo?", pause=False).settled()
        path = f"/api/sessions/{debugged.key}"
        event = client.get(f"{path}/events/3").json()["event"]
        event["content"]["parts"][0]["functionResponse"]["response"] = {"sky": "grey"}
        body = {"number": 3, "event": event, "run": True}
        fork = client.post(f"{path}/forks", json=body).json()
        settle(client, fork["run"])
        for _ in range(2):
            debugged.start("How is the weather?", pause=False).settled()
        comparison = compare(client, debugged.key, fork["key"])
        rows = comparison["rows"]
        assert [(row["left"], row["right"]) for row in rows[:4]] == [(i, i) for i in range(1, 5)]
        assert [row["left"] for row in rows[4:]] == list(range(5, 13))
        assert {(row["kind"], row["later"], row["differs"]) for row in rows[4:]} == {
            ("left", True, False)
        }
        assert comparison["differences"] == 1
        assert comparison["first"] == rows[2]
        query = {"left": debugged.key, "right": fork["key"]}
        page = client.get("/compare", params=query, headers={"Accept": "text/html"}).text
        assert "8 later events" in page
        assert "left only" not in page
        folded = {**query, "leftEvent": 5, "count": 8}
        rows_of_fold = client.get("/compare/rows", params=folded).text
        assert [f'id="p-{number}-"' in rows_of_fold for number in range(4, 14)] == [
            *(False, *(True,) * 8, False)
        ]
        swapped = compare(client, fork["key"], debugged.key)
        assert swapped["differences"] == comparison["differences"]
        assert [row["right"] for row in swapped["rows"] if row["later"]] == list(range(5, 13))


def test_a_forks_next_turn_is_aligned_with_the_same_turn_of_its_parent(client, travelled):
    whole = client.get(f"/api/sessions/{travelled}/events").json()["events"]
    fork = client.post(f"/api/sessions/{travelled}/forks", json={"number": len(whole)}).json()
    session = session_id_of(client, travelled)
    run(client, "travel", session, "Hello")
    run(client, "travel", session, BOOK)
    assert compare(client, travelled, fork["key"])["equal"]
    run(client, "travel", session_id_of(client, fork["key"]), "Hello")
    comparison = compare(client, travelled, fork["key"])
    assert comparison["equal"]
    assert {row["later"] for row in comparison["rows"] if row["kind"] == "left"} == {True}


def session_id_of(client: Any, key: int) -> str:
    every = client.get("/api/sessions").json()["sessions"]
    return next(each["id"] for each in every if each["key"] == key)


def settle(client: Any, name: str) -> None:
    position = client.get(f"/api/runs/{name}").json()
    while position["status"] in {"running", "stopping"}:
        query = {"after": position["position"]}
        position = client.get(f"/api/runs/{name}", params=query).json()
    assert position["status"] == "done"


def test_runs_of_a_session_are_compared_including_their_prompts(tmp_path):
    write_app(tmp_path / "agents", "teller", teller())
    with running(tmp_path / "agents", tmp_path / "data") as server, server.client() as client:
        debugged = DebuggedRun(client, "teller")
        for message in ("How is the weather?", "How is the weather?", "Say hello sternly"):
            debugged.start(message, pause=False).settled()
        second = compare(client, f"{debugged.key}@1", f"{debugged.key}@2")
        assert second["equal"]
        assert [(row["left"], row["right"]) for row in second["rows"]] == [
            (1, 5),
            (2, 6),
            (3, 7),
            (4, 8),
        ]
        assert second["left"]["run"] != second["right"]["run"]
        third = compare(client, f"{debugged.key}@1", f"{debugged.key}@3")
        assert third["first"]["aspects"] == ["text"]
        assert second["prompts"] == []
        assert third["prompts"] == [
            {"piece": piece, "left": 4, "right": 10} for piece in ("system", "config")
        ]
        last = third["rows"][-1]
        assert (last["kind"], last["left"], last["right"]) == ("changed", 4, 10)
        prompts = pair(client, debugged.key, debugged.key, 4, 10)["prompts"]
        assert prompts["aspects"] == ["system", "config", "messages"]
        assert prompts["left"]["session"] == debugged.key


def test_an_empty_session_is_compared_with_another(client, travelled):
    empty = travel_session(client)
    comparison = compare(client, empty, travelled)
    assert {row["kind"] for row in comparison["rows"]} == {"right"}
    assert (comparison["left"]["status"], comparison["left"]["tokens"]) == (None, None)
    assert compare(client, empty, travel_session(client))["equal"]
    alone = pair(client, empty, travelled, None, 1)
    assert alone["sections"][0]["changes"] == [{"path": "", "new": BOOK}]
    assert (alone["left"], alone["state"]) == (None, None)


@pytest.mark.parametrize(
    ("query", "status", "words"),
    [
        ({}, 400, "`left` must be a session number"),
        ({"left": "x"}, 400, "`left` must be a session number"),
        ({"left": "{key}@", "right": "{key}"}, 400, "12@2"),
        ({"left": "{key}@9", "right": "{key}"}, 404, "no run 9: it has 1"),
        ({"left": "{key}", "right": "999999"}, 404, "no session 999999"),
    ],
)
def test_an_invalid_comparison_is_refused_with_the_reason(client, travelled, query, status, words):
    params = {name: value.format(key=travelled) for name, value in query.items()}
    answer = client.get("/api/compare", params=params)
    assert answer.status_code == status
    assert words in answer.json()["detail"]


def test_comparing_missing_events_is_refused(client, travelled):
    sides = {"left": travelled, "right": travelled}
    none = client.get("/api/compare/events", params=sides)
    assert (none.status_code, "at least one event" in none.json()["detail"]) == (400, True)
    wrong = client.get("/api/compare/events", params={**sides, "leftEvent": "99"})
    assert (wrong.status_code, "has no event '99'" in wrong.json()["detail"]) == (404, True)
