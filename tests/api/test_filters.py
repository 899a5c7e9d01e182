"""Filtered events over HTTP."""

import pytest

from tests.kit.debugged_run import DebuggedRun
from tests.kit.server import running, write_app

APP = """
from devui.runtime.agents import Agent
from devui.runtime.models import Call, Rule, Say, ScriptedLlm


def look(word: str, tool_context) -> dict:
    for number in range(12):
        tool_context.state[f"key{number}"] = number
    return {"error": "no such page"} if word == "bad" else {"page": "x" * 300 + " a far needle"}


rules = [
    Rule(after="look", then=Say("seen")),
    Rule(user="bad", then=Call("look", word="bad")),
    Rule(then=Call("look", word="good")),
]
root_agent = Agent(name="reader", model=ScriptedLlm(rules=rules), tools=[look])
"""


@pytest.fixture(scope="module")
def client(tmp_path_factory):
    folder = tmp_path_factory.mktemp("filters")
    write_app(folder / "agents", "reader", APP)
    with running(folder / "agents", folder / "data") as server, server.client() as client:
        yield client


@pytest.fixture(scope="module")
def session(client):
    debugged = DebuggedRun(client, "reader")
    for message in ("bad", "good"):
        debugged.start(message, pause=False).settled()
    starred = client.patch(f"/api/sessions/{debugged.key}/notes/4", json={"starred": True})
    assert starred.status_code == 200
    return debugged


@pytest.mark.parametrize(
    ("query", "numbers"),
    [
        ({"filter": "kind:call"}, [2, 6]),
        ({"filter": "is:error"}, [3]),
        ({"filter": "is:failed"}, [3]),
        ({"filter": "kind:ca,us"}, [1, 2, 5, 6]),
        ({"filter": "author:READ kind:te"}, [4, 8]),
        ({"filter": 'author:"read"'}, []),
        ({"filter": 'author:"user","Reader" -kind:call,result'}, [1, 4, 5, 8]),
        ({"filter": 'key:"key1" tool:lo'}, [3, 7]),
        ({"filter": 'key:"key"'}, []),
        ({"filter": "tool:look -is:error"}, [2, 6, 7]),
        ({"filter": "key:key11"}, [3, 7]),
        ({"filter": '"far needle"'}, [7]),
        ({"filter": "is:starred"}, [4]),
        ({"filter": "author:reader", "after": 3, "limit": 2}, [4, 6]),
        ({"filter": "author:reader", "last": 2}, [7, 8]),
        ({"filter": "nobody said this"}, []),
        ({"filter": "args.word == 'bad'"}, [2]),
        ({"filter": "kind == 'call' and args.word != 'bad'"}, [6]),
        ({"filter": "tool:look (result.error like 'no such*')"}, [3]),
        ({"filter": '-kind:result ("key11" in keys) far'}, []),
        ({"filter": '("key11" in keys) "far needle"'}, [7]),
        ({"filter": '-("no such page" in said) tool:look', "last": 2}, [6, 7]),
        ({"filter": '"starred" in flags'}, []),  # without parentheses, words are text
        ({"filter": '("starred" in flags)'}, [4]),
    ],
)
def test_events_are_filtered(session, query, numbers):
    answer = session.client.get(f"/api/sessions/{session.key}/events", params=query)
    assert [row["number"] for row in answer.json()["events"]] == numbers


def test_filter_words_are_listed_and_invalid_filters_refused(session):
    words = session.client.get(f"/api/sessions/{session.key}/filter").json()["words"]
    counts = {each["word"]: each["events"] for each in words}
    assert counts["kind:call"] == 2
    assert counts["is:error"] == 1
    assert counts["author:reader"] == 6
    assert counts["tool:look"] == 4
    for word, events in counts.items():
        query = {"filter": word}
        answer = session.client.get(f"/api/sessions/{session.key}/events", params=query).json()
        assert len(answer["events"]) == events, word
    params = {"filter": "kind:call (state.key1 == 1)"}
    refused = session.client.get(f"/api/sessions/{session.key}/events", params=params)
    assert refused.status_code == 400
    assert "a filter can't use state" in refused.text
    wrong = session.client.get(f"/api/sessions/{session.key}/events", params={"filter": "a b:c"})
    assert wrong.status_code == 400
    assert "filter, character 3: Unknown field: b" in wrong.text


@pytest.mark.req("R30")
def test_a_non_ascii_phrase_is_found_in_events_from_the_api(client):
    far = "x" * 300
    texts = [f"{far} Äpfel nach Zürich 😀", f"{far} to Zurich"]
    events = [{"author": "reader", "content": {"parts": [{"text": text}]}} for text in texts]
    debugged = DebuggedRun(client, "reader", events=events)
    for phrase in ("zürich", "Zürich 😀", "äpfel", "😀"):
        query = {"filter": f'"{phrase}"', "last": 9}
        rows = client.get(f"/api/sessions/{debugged.key}/events", params=query).json()["events"]
        assert [each["number"] for each in rows] == [1], phrase
