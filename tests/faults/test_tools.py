"""Whatever a tool does, each call has one outcome and its work is done once (R54)."""

from collections import Counter
from typing import Any

import pytest

from tests.kit.debugged_run import DebuggedRun

pytestmark = pytest.mark.req("R54")

RETURN = {"odd", "number", "reads", "half", "ring", "key", "once"}
FAIL = {
    "circle": "",
    "raises": "ValueError: no such seat",
    "leaves": "SystemExit: 3",
    "group": "SystemExit: 3",
    "late": "TimeoutError",
    "cancels": "'cancels' awaited something that was cancelled",
}


def tools_with_results(debugged: DebuggedRun) -> list[str]:
    """The tools that returned something, according to the session's events."""
    names = []
    for event in debugged.kept()["events"]:
        parts: list[dict[str, Any]] = (event.get("content") or {}).get("parts") or []
        names += [part["functionResponse"]["name"] for part in parts if "functionResponse" in part]
    return names


def work_counts(server) -> Counter[str]:
    """How often each tool has worked so far."""
    ledger = server.agents / "tools" / "ledger"
    return Counter(ledger.read_text().split() if ledger.exists() else [])


@pytest.mark.parametrize("tool", sorted([*RETURN, *FAIL]))
def test_each_call_has_one_outcome_and_finished_calls_are_not_repeated(client, server, tool):
    before = work_counts(server)
    debugged = DebuggedRun(client, "tools").start(tool, pause=False)
    status = debugged.settled()
    assert work_counts(server) - before == {tool: 1, "fine": 1}
    if tool in RETURN:
        assert (status["status"], tools_with_results(debugged)) == ("done", [tool, "fine"])
        return
    assert (status["status"], tools_with_results(debugged)) == ("failed", ["fine"])
    page = client.get(f"/sessions/{debugged.key}", headers={"Accept": "text/html"}).text
    assert FAIL[tool] in page.replace("&#39;", "'")
    body = {"invocationId": status["invocationId"]}
    again = client.post(f"/api/sessions/{debugged.key}/runs", json=body)
    assert again.status_code == 201, again.text
    debugged.run = again.json()["run"]
    debugged.settled()
    assert work_counts(server) - before == {tool: 2, "fine": 1}


@pytest.mark.parametrize(
    ("tool", "state", "response"),
    [
        ("half", {}, {"half of a pair": ["\\udfff"]}),
        ("once", {"steps": ["2"], "plan": {"days": [[4]]}}, {"caf\\udce9": {"sizes": ["3"]}}),
        ("ring", {"ring": {"n": 1, "self": "{'n': 1, 'self': {...}}"}}, {"result": None}),
        ("key", {"a\\x00b": "\\ud800"}, {"result": None}),
    ],
)
def test_values_that_cannot_be_stored_are_kept_in_a_readable_form(client, tool, state, response):
    debugged = DebuggedRun(client, "tools").start(tool, pause=False)
    assert debugged.settled()["status"] == "done"
    session = debugged.kept()
    assert session["state"] == state
    first = session["events"][2]["content"]["parts"][0]["functionResponse"]
    assert first["response"] == response
