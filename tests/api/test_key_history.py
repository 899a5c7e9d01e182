"""The writes of a state key, and the differences between two moments, over HTTP."""

from typing import Any

import pytest

from tests.kit.debugged_run import DebuggedRun
from tests.kit.server import running, write_app

PLANNER = """
from devui.runtime.agents import Agent, SequentialAgent
from devui.runtime.models import Call, Rule, Say, ScriptedLlm


def write_plan(done: bool, tool_context) -> str:
    steps = [{"do": "look"}, {"do": "book", "done": done}]
    tool_context.state["plan"] = {"title": "trip", "steps": steps}
    return "written"


def planner(name, done):
    rules = [
        Rule(after="write_plan", then=Say("ready")),
        Rule(then=Call("write_plan", done=done)),
    ]
    return Agent(name=name, model=ScriptedLlm(rules=rules), tools=[write_plan])


planners = [planner("first", False), planner("second", True)]
root_agent = SequentialAgent(name="root", sub_agents=planners)
"""
EMPTY = """
from devui.runtime.agents import Agent
from devui.runtime.models import Say, Rule, ScriptedLlm

root_agent = Agent(name="quiet", model=ScriptedLlm(rules=[Rule(then=Say("yes"))]))
"""


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    folder = tmp_path_factory.mktemp("history")
    write_app(folder / "agents", "planner", PLANNER)
    write_app(folder / "agents", "quiet", EMPTY)
    with running(folder / "agents", folder / "data") as server:
        yield server


@pytest.fixture(scope="module")
def client(server):
    with server.client() as client:
        yield client


@pytest.fixture
def planner(client):
    debugged = DebuggedRun(client, "planner", state={"plan": "none"}).start("go", pause=False)
    assert debugged.settled()["status"] == "done"
    return debugged


def history(debugged: DebuggedRun, **query: Any) -> dict[str, Any]:
    answer = debugged.client.get(f"/api/sessions/{debugged.key}/state/history", params=query)
    assert answer.status_code == 200, answer.text
    return answer.json()


def who(write: dict[str, Any]) -> tuple[str, str | None, list[str]]:
    return write["writer"], write["author"], write["tools"]


def test_each_write_has_its_agent_its_tool_and_its_changes(planner):
    start, first, second = history(planner, key="plan")["writes"]
    assert who(start) == ("initial", None, [])
    assert who(first) == ("event", "first", ["write_plan"])
    assert who(second) == ("event", "second", ["write_plan"])
    assert second["changes"] == [{"path": "steps[1].done", "old": False, "new": True}]
    assert first["old"] == "none"
    assert "old" not in start
    rows = planner.client.get(f"/api/sessions/{planner.key}/events").json()["events"]
    assert [row["author"] for row in rows if row["number"] == second["number"]] == ["second"]


def test_a_part_of_a_value_is_blamed_on_the_write_that_set_it(planner):
    whole = history(planner, key="plan")
    writers = {each["path"]: each["author"] for each in whole["blame"]}
    assert writers == {
        "title": "first",
        "steps[0]": "first",
        "steps[1].do": "first",
        "steps[1].done": "second",
    }
    part = history(planner, key="plan", path="steps[1].done")
    assert part["by"]["author"] == "second"
    assert history(planner, key="plan", path="title")["by"]["author"] == "first"
    assert [who(each)[1] for each in history(planner, key="plan", path="title")["writes"]] == [
        None,
        "first",
    ]
    assert history(planner, key="plan", path="nowhere")["by"] is None


def test_the_history_ends_at_the_requested_event(planner):
    number = history(planner, key="plan")["writes"][1]["number"]
    assert len(history(planner, key="plan", at=number)["writes"]) == 2
    assert len(history(planner, key="plan", at=number - 1)["writes"]) == 1
    assert len(history(planner, key="plan", at=0)["writes"]) == 1


@pytest.mark.parametrize(
    ("query", "status"),
    [("", 400), ("?key=plan&scope=x", 400), ("?key=plan&path=a..b", 400), ("?key=plan&at=99", 404)],
)
def test_an_invalid_history_request_is_refused(planner, query, status):
    address = f"/api/sessions/{planner.key}/state/history{query}"
    assert planner.client.get(address).status_code == status


def test_a_write_of_another_session_to_a_shared_key_is_from_elsewhere(client):
    mine = DebuggedRun(client, "quiet", user="ada")
    other = DebuggedRun(client, "quiet", user="ada")
    patch(other, {"user:name": "Ada"})
    patch(mine, {"own": 1})
    patch(other, {"user:name": "Lovelace"})
    shared = history(mine, key="user:name")
    assert [each["writer"] for each in shared["writes"]] == ["elsewhere", "elsewhere"]
    assert {each["session"] for each in shared["writes"]} == {other.key}
    assert history(mine, key="name", scope="user") == shared
    state = client.get(f"/api/sessions/{mine.key}/state", params={"at": 1}).json()
    writers = {each["key"]: (each["value"], each["writer"]) for each in state["values"]}
    assert writers["user:name"] == ("Ada", "elsewhere")
    assert writers["own"] == (1, "event")
    third = DebuggedRun(client, "quiet", user="ada", state={"user:name": "Byron"})
    began = history(mine, key="user:name")["writes"][-1]
    assert (began["writer"], began["session"], began["number"]) == ("elsewhere", third.key, None)
    page = client.get(f"/sessions/{mine.key}", params={"tab": "state", "key": "user:name"}).text
    assert f'<a href="/sessions/{third.key}?tab=state">elsewhere</a>' in page


def test_differences_between_two_moments_are_listed_by_path(planner):
    numbers = [each["number"] for each in history(planner, key="plan")["writes"]]
    query = {"from": numbers[1], "at": numbers[2]}
    diff = planner.client.get(f"/api/sessions/{planner.key}/state", params=query).json()
    [change] = diff["changes"]
    assert (diff["from"], change["key"], change["number"]) == (numbers[1], "plan", numbers[2])
    assert change["changes"] == [{"path": "steps[1].done", "old": False, "new": True}]
    back = planner.client.get(
        f"/api/sessions/{planner.key}/state", params={"from": numbers[2], "at": numbers[1]}
    ).json()
    assert back["changes"][0]["changes"] == [{"path": "steps[1].done", "old": True, "new": False}]
    query = {"from": numbers[1], "at": numbers[1]}
    assert not planner.client.get(f"/api/sessions/{planner.key}/state", params=query).json()[
        "changes"
    ]


def patch(session: DebuggedRun, delta: dict[str, Any]) -> None:
    """Change the state with one event."""
    address = f"/apps/{session.app}/users/{_user(session)}/sessions/{session.session}"
    answer = session.client.patch(address, json={"stateDelta": delta})
    assert answer.status_code == 200, answer.text


def _user(session: DebuggedRun) -> str:
    rows = session.client.get("/api/sessions").json()["sessions"]
    return next(each["user"] for each in rows if each["key"] == session.key)


def test_links_lead_to_the_next_and_previous_write_at_a_path(planner):
    def there(way: str, **query: Any) -> str:
        address = f"/sessions/{planner.key}/writes/{way}"
        return planner.client.get(address, params=query).headers["location"]

    first, second = (each["number"] for each in history(planner, key="plan")["writes"][1:])
    done, title = {"key": "plan", "path": "steps[1].done"}, {"key": "plan", "path": "title"}
    assert f"at={second}&" in there("previous", **done)
    assert f"at={first}&" in there("previous", **done, at=second)
    assert f"at={first}&" in there("previous", **title)
    assert f"at={second}&" in there("next", **done, at=first)
    assert f"at={first}&" in there("next", **title, at=1)
    assert f"at={second}&" in there("next", **title, at=second)  # there is no next one: it stays
    assert f"at={first}&" in there("previous", **done, then=["previous"])
    assert f"at={second}&" in there("previous", **done, then=["previous", "next"])
    assert f"at={first - 1}&" in there("previous", **done, then=["previous", "earlier"])
    assert f"at={second}&" in there("previous", **done, then=["earlier", "later"])
    assert "at=1&" in there("previous", at=1, **done, then=["earlier"])
    assert f"at={first}&key=none" in there("previous", key="none", at=second, of="all")
    assert f"at={second}&key=none" in there("previous", key="none", at=second)
    assert (
        planner.client.get(
            f"/sessions/{planner.key}/writes/next", params={"then": "up"}
        ).status_code
        == 400
    )
