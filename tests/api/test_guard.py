"""The side-effect guard over HTTP: it asks before a call with effects is made again."""

import json
from pathlib import Path

import pytest

from tests.kit.debugged_run import DebuggedRun
from tests.kit.server import running, write_app
from tests.source import ROOT

SHOP = """
from pathlib import Path

from devui.runtime.agents import Agent
from devui.runtime.models import Call, Rule, Say, ScriptedLlm
from devui.runtime.tools import ToolContext, has_effects, read_only

LEDGER = Path(__file__).with_name("ledger")


@read_only
def look(place: str) -> str:
    return f"{place} is open"


@has_effects
def pay(amount: int, tool_context: ToolContext) -> str:
    tool_context.state["paid"] = amount
    with LEDGER.open("a") as ledger:
        ledger.write(f"{amount}\\n")
    return f"paid {amount}"


rules = [
    Rule(after="pay", then=Say("done: {result}")),
    Rule(after="look", user="more", then=Call("pay", amount=8)),
    Rule(after="look", then=Call("pay", amount=7)),
    Rule(then=Call("look", place="shop")),
]
root_agent = Agent(name="shop", model=ScriptedLlm(rules=rules), tools=[look, pay])
"""


DESK = """
from devui.runtime.agents import Agent
from devui.runtime.models import Call, Rule, Say, ScriptedLlm

clerk = Agent(name="clerk", model=ScriptedLlm(rules=[Rule(then=Say("hello"))]))
root_agent = Agent(
    name="desk",
    model=ScriptedLlm(rules=[Rule(then=Call("transfer_to_agent", agent_name="clerk"))]),
    sub_agents=[clerk],
)
"""


CONSENT = """
from devui.runtime.agents import Agent
from devui.runtime.models import Call, Rule, Say, ScriptedLlm
from devui.runtime.tools import FunctionTool


def pay(amount: int) -> str:
    return f"paid {amount}"


rules = [Rule(after="pay", then=Say("done")), Rule(then=Call("pay", amount=7))]
tools = [FunctionTool(pay, require_confirmation=True)]
root_agent = Agent(name="consent", model=ScriptedLlm(rules=rules), tools=tools)
"""


SUMS = """
import sys

from devui.runtime.agents import Agent
from devui.runtime.models import Call, Rule, Say, ScriptedLlm
from devui.runtime.tools import McpToolset
from devui.runtime.tools.mcp_tool import StdioConnectionParams
from mcp import StdioServerParameters

server = StdioServerParameters(
    command=sys.executable, args=["-m", "tests.kit.mcp_server", "stdio"], cwd=ROOT
)
root_agent = Agent(
    name="sums",
    model=ScriptedLlm(
        rules=[Rule(after="add", then=Say("summed")), Rule(then=Call("add", a=1, b=2))]
    ),
    tools=[McpToolset(connection_params=StdioConnectionParams(server_params=server, timeout=60))],
)
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    return tmp_path_factory.mktemp("guard")


@pytest.fixture(scope="module")
def server(folder):
    write_app(folder / "agents", "shop", SHOP)
    write_app(folder / "agents", "desk", DESK)
    write_app(folder / "agents", "consent", CONSENT)
    write_app(folder / "agents", "sums", SUMS.replace("ROOT", repr(str(ROOT))))
    with running(folder / "agents", folder / "data") as server:
        yield server


@pytest.fixture
def client(server):
    with server.client() as client:
        yield client
        client.put("/api/apps/shop/tools/pay", json={"effect": None})


@pytest.fixture
def shopped(client, folder):
    """A session in which the tool paid 7; the ledger has been deleted since."""
    debugged = DebuggedRun(client, "shop").start("go", pause=False)
    assert debugged.settled()["status"] == "done"
    (folder / "agents" / "shop" / "ledger").unlink()
    return debugged


def paid(folder: Path) -> list[str]:
    ledger = folder / "agents" / "shop" / "ledger"
    return ledger.read_text().splitlines() if ledger.exists() else []


def forked(debugged: DebuggedRun, **more) -> DebuggedRun:
    """A settled fork; by default, it sends the first message again."""
    body = {"number": 1, "message": True, "run": True, **more}
    row = debugged.client.post(f"/api/sessions/{debugged.key}/forks", json=body).json()
    again = DebuggedRun.__new__(DebuggedRun)
    again.client, again.app, again.session = debugged.client, debugged.app, row["id"]
    again.key, again.run = row["key"], row["run"]
    again.settled()
    return again


def test_a_running_fork_is_held_before_effects_with_the_recorded_result(shopped, folder):
    again = forked(shopped)
    hold = again.hold()
    assert (hold["gate"], hold["tool"], hold["reason"]) == ("before_tool", "pay", "guard")
    guard = hold["guard"]
    assert (guard["effect"], guard["source"], guard["sameArgs"]) == ("effects", "code", True)
    assert guard["recorded"]["result"] == {"result": "paid 7"}
    assert (guard["recorded"]["session"], guard["recorded"]["number"]) == (shopped.key, 5)
    assert (hold["edit"]["action"], hold["edit"]["actor"]) == ("mock", "guard")
    assert again.tell("continue")["status"] == "done"
    assert paid(folder) == []
    assert again.texts()[-1] == "done: paid 7"
    assert again.kept()["state"]["paid"] == 7  # the recorded result brings its writes
    [edit] = again.client.get(f"/api/sessions/{again.key}/edits").json()["edits"]
    assert (edit["tool"], edit["action"], edit["actor"]) == ("pay", "mock", "guard")


def test_a_recorded_result_that_was_not_committed_is_used_on_resume(shopped, folder):
    again = forked(shopped)
    again.tell("run_to", like={"gate": "before_commit", "kind": "result"})
    again.tell("stop")
    path = f"/api/sessions/{again.key}"
    [call] = again.client.get(f"{path}/cutoff").json()["unknown"]
    expected = {"ran": False, "needsDecision": False, "default": "recorded", "answeredBy": "guard"}
    assert expected.items() <= call.items()
    assert (call["recorded"], call["writes"]) == ({"result": "paid 7"}, {"paid": 7})
    page = again.client.get(f"/sessions/{again.key}", headers={"Accept": "text/html"}).text
    assert "The guard used the recorded result, but it wasn&#39;t committed" in page
    body = {"invocationId": again.position["invocationId"]}
    again.run = again.client.post(f"{path}/runs", json=body).json()["run"]
    assert again.settled()["status"] == "done"
    assert (paid(folder), again.kept()["state"]["paid"]) == ([], 7)
    assert again.texts()[-1] == "done: paid 7"


def test_the_tool_runs_again_if_the_recorded_result_is_undone(shopped, folder):
    again = forked(shopped)
    again.tell("undo", wait=False)
    again.position = again.client.get(f"/api/runs/{again.run}").json()
    assert again.tell("continue")["status"] == "done"
    assert paid(folder) == ["7"]


def test_an_edited_call_offers_only_undo(shopped, folder):
    again = forked(shopped)

    def buttons():
        page = again.client.get(f"/sessions/{again.key}", headers={"Accept": "text/html"}).text
        names = ("Use recorded result", "Run again", "Undo")
        return [name for name in names if f">{name}</button>" in page]

    assert buttons() == ["Use recorded result", "Run again"]
    again.tell("edit", value={"amount": 9})
    assert buttons() == ["Undo"]
    again.tell("undo")
    assert buttons() == ["Use recorded result", "Run again"]
    again.tell("edit", value={"amount": 9})
    assert again.tell("continue")["status"] == "done"
    assert paid(folder) == ["9"]


@pytest.mark.parametrize(("policy", "ledger"), [("recorded", []), ("run", ["7"])])
def test_a_guard_policy_given_in_advance_asks_nothing(shopped, folder, policy, ledger):
    again = forked(shopped, guard=policy)
    assert again.position["status"] == "done"
    assert again.kept()["state"]["paid"] == 7
    assert paid(folder) == ledger


def test_the_guard_holds_calls_with_other_arguments_after_a_rewind(shopped, folder):
    body = {"number": 1, "message": "more", "guard": "recorded"}
    shopped.client.post(f"/api/sessions/{shopped.key}/rewind", json=body)
    while True:
        newest = shopped.client.get(f"/api/sessions/{shopped.key}/run").json()
        if newest["status"] == "held":
            break
    [hold] = newest["holds"]
    assert (hold["guard"]["sameArgs"], hold["edit"]) == (False, None)
    assert hold["guard"]["recorded"]["args"] == {"amount": 7}
    shopped.run = newest["run"]
    shopped.settled()
    assert shopped.tell("continue")["status"] == "done"
    assert paid(folder) == ["8"]


def test_a_persons_marking_of_a_tool_overrides_the_code(shopped, folder):
    tools = shopped.client.get("/api/apps/shop/tools").json()["tools"]
    assert [(each["name"], each["effect"], each["source"]) for each in tools] == [
        ("look", "read_only", "code"),
        ("pay", "effects", "code"),
    ]
    path = "/api/apps/shop/tools/pay"
    tool = shopped.client.put(path, json={"effect": "idempotent", "actor": "ada"}).json()
    assert (tool["effect"], tool["source"], tool["by"]) == ("idempotent", "person", "ada")
    assert tool["agents"] == ["shop"]
    assert forked(shopped).position["status"] == "done"
    assert paid(folder) == ["7"]
    assert shopped.client.put(path, json={"effect": "harmless"}).status_code == 422
    assert shopped.client.put(path, json={"effect": None}).json()["source"] == "code"


def test_a_replay_with_live_tools_is_held_by_the_guard(shopped, folder):
    client = shopped.client
    path = f"/api/sessions/{shopped.key}/replays"
    position = client.post(path, json={"liveTools": True}).json()
    again = DebuggedRun.__new__(DebuggedRun)
    again.client, again.key, again.run = client, position["session"], position["run"]
    again.settled()
    assert (again.hold()["reason"], again.hold()["guard"]["effect"]) == ("guard", "effects")
    assert again.tell("continue")["status"] == "done"
    assert paid(folder) == []
    replay = client.get(f"/api/runs/{again.run}/replay").json()
    assert replay["verdict"]["divergence"] is None


def test_a_run_with_a_recorded_result_from_the_guard_is_replayed(shopped, folder):
    client, debugged = shopped.client, forked(shopped, guard="recorded")
    replay = client.post(f"/api/sessions/{debugged.key}/replays", json={}).json()
    again = DebuggedRun.__new__(DebuggedRun)
    again.client, again.key, again.run = client, replay["session"], replay["run"]
    again.settled()
    verdict = client.get(f"/api/runs/{again.run}/replay").json()["verdict"]
    assert (verdict["divergence"], verdict["identical"]) == (None, True)
    [paid_now] = client.get(f"/api/sessions/{again.key}/state").json()["values"]
    assert (paid_now["key"], paid_now["value"]) == ("paid", 7)
    assert paid(folder) == []


def test_a_transfer_is_repeated_without_a_question(client):
    debugged = DebuggedRun(client, "desk").start("go", pause=False)
    debugged.settled()
    again = forked(debugged)
    assert again.position["status"] == "done"
    assert again.texts() == debugged.texts() == ["go", "hello"]


def test_the_guard_shows_an_mcp_servers_hint_but_still_asks(client):
    debugged = DebuggedRun(client, "sums").start("go", pause=False)
    assert debugged.settled()["status"] == "done"
    assert debugged.texts()[-1] == "summed"
    again = forked(debugged)
    hold = again.hold()
    assert (hold["reason"], hold["tool"]) == ("guard", "add")
    assert (hold["guard"]["effect"], hold["guard"]["source"]) == ("idempotent", "hint")
    assert again.tell("continue")["status"] == "done"


def test_a_call_edited_in_a_fork_runs_with_its_new_arguments(shopped, folder):
    calls = [event for event in shopped.kept()["events"] if '"pay"' in json.dumps(event)]
    edited = calls[0]
    edited["content"]["parts"][0]["functionCall"]["args"] = {"amount": 9}
    child = forked(shopped, number=4, message=False, event=edited)
    assert child.position["status"] == "done"
    assert paid(folder) == ["9"]


def test_a_call_that_only_waited_for_confirmation_has_not_run(client):
    asking = DebuggedRun(client, "consent").start("go", pause=False)
    assert asking.settled()["status"] == "done"
    again = forked(asking)
    assert (again.position["status"], again.position["holds"]) == ("done", [])
