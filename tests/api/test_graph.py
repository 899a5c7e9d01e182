"""What the graph says of calls that a person kept from being made."""

import html
import re

import pytest

from tests.kit.debugged import Debugged
from tests.kit.server import running, write_app

AGENT = """
from devui.runtime.agents import Agent
from devui.runtime.models import Call, Rule, Say, ScriptedLlm
from devui.runtime.tools import FunctionTool


def look(city: str) -> str:
    return city


def pay(amount: int) -> str:
    return f"paid {amount}"


rules = [
    Rule(after="look", then=Say("Seen.")),
    Rule(after="pay", then=Say("Done.")),
    Rule(user="pay", then=Call("pay", amount=5)),
    Rule(then=Call("look", city="Oslo")),
]
tools = [look, FunctionTool(pay, require_confirmation=True)]
root_agent = Agent(name="root", model=ScriptedLlm(rules=rules), tools=tools)
"""
TIMES = "\N{MULTIPLICATION SIGN}"


@pytest.fixture(scope="module")
def client(tmp_path_factory):
    folder = tmp_path_factory.mktemp("graph")
    write_app(folder / "agents", "root", AGENT)
    with running(folder / "agents", folder / "data") as server, server.client() as client:
        yield client


def graph_of(debugged: Debugged, tool: str) -> tuple[str, str]:
    """What a tool's node says in words, and beside its name."""
    headers = {"HX-Request": "true"}
    text = debugged.client.get(f"/sessions/{debugged.key}/graph", headers=headers).text
    node = next(each for each in text.split('<a class="node ') if f"<title>tool {tool}," in each)
    words = html.unescape(re.search("<title>(.*?)(?: · .*)?</title>", node)[1])
    words = re.sub(r", [\d.]+ m?s$", "", words)
    return words, re.search('class="detail"[^>]*>(.*?)<', node)[1]


def test_calls_that_a_person_kept_from_the_tool_are_not_counted_as_made(client):
    debugged = Debugged(client, "root")
    for command, value in (("skip", None), ("reject", "no"), ("mock", "Rome")):
        debugged.start()
        debugged.settled()
        debugged.tell("run_to", like={"gate": "before_tool"})
        debugged.tell(command, value=value)
        assert debugged.tell("continue")["status"] == "done"
    words, detail = graph_of(debugged, "look")
    assert (words, detail) == ("tool look, not run, 1 skipped, 1 rejected, 1 mocked", "")
    for _ in range(2):
        debugged.start(pause=False).settled()
    words, detail = graph_of(debugged, "look")
    assert words == f"tool look, has run, 2{TIMES}, 1 skipped, 1 rejected, 1 mocked"
    assert detail == f"2{TIMES}"


@pytest.mark.parametrize(
    ("confirmed", "words"),
    [(False, "not run, 1 rejected"), (True, f"has run, 1{TIMES}")],
)
def test_a_call_that_asks_first_counts_once_and_only_with_a_consent(client, confirmed, words):
    debugged = Debugged(client, "root").start("pay", pause=False)
    debugged.settled()
    [question] = client.get(f"/api/runs/{debugged.run}/standing").json()["questions"]
    assert graph_of(debugged, "pay")[0] == "tool pay, not run, 1 waiting for confirmation"
    response = {"id": question["call"], "name": question["name"]}
    part = {"functionResponse": {**response, "response": {"confirmed": confirmed}}}
    debugged.start({"role": "user", "parts": [part]}, pause=False).settled()
    assert debugged.texts()[-1] == "Done."
    assert graph_of(debugged, "pay")[0] == f"tool pay, {words}"
