"""What the graph says of each node: counts, times and marks, now and as of an event."""

import html
import re
import time

import pytest

from tests.kit.debugged_run import DebuggedRun, settled
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


def graph_of(debugged: DebuggedRun, tool: str) -> tuple[str, str]:
    """The title of a tool's node, and the text beside its name."""
    headers = {"HX-Request": "true"}
    text = debugged.client.get(f"/sessions/{debugged.key}/graph", headers=headers).text
    node = next(each for each in text.split('<a class="node ') if f"<title>tool {tool}," in each)
    words = html.unescape(re.search("<title>(.*?)(?: · .*)?</title>", node)[1])
    words = re.sub(r", [\d.]+ m?s$", "", words)
    return words, re.search('class="detail"[^>]*>(.*?)<', node)[1]


ROUTES = """
from devui.runtime import Context, Event, Workflow
from devui.runtime.events import RequestInput
from devui.runtime.workflow import START, JoinNode, node


def read(ctx: Context, node_input: str):
    ctx.route = "known"
    return node_input


def price(node_input: str):
    return 1


def age(node_input: str):
    return 2


def again(ctx: Context):
    return "again"


@node(rerun_on_resume=True)
async def ask(ctx: Context, node_input: dict):
    answer = ctx.resume_inputs.get("q-" + ctx.invocation_id)
    if answer is None:
        yield RequestInput(interrupt_id="q-" + ctx.invocation_id, message="Pay?")
        return
    ctx.route = "yes"
    yield 3


def pay(node_input: int):
    return "paid"


def refuse(node_input: int):
    return "refused"


root_agent = Workflow(
    name="routes",
    edges=[
        (START, read, {"known": (price, age), "unknown": again}),
        ((price, age), JoinNode(name="facts"), ask),
        (ask, {"yes": pay, "no": refuse}),
    ],
)
"""


def test_taken_edges_are_marked_and_an_asking_node_waits_for_you(tmp_path):
    write_app(tmp_path / "agents", "routes", ROUTES)
    with running(tmp_path / "agents", tmp_path / "data") as server, server.client() as client:
        debugged = DebuggedRun(client, "routes").start("go", pause=False)
        debugged.settled()
        headers = {"HX-Request": "true"}
        address = f"/sessions/{debugged.key}/graph"
        text = client.get(address, headers=headers).text
        assert re.findall("<title>([^<]*), taken", text) == [
            "START to read",
            "read to price, known",
            "read to age, known",
            "price to facts",
            "age to facts",
            "facts to ask",
        ]
        assert re.search('class="node node k-function s-waiting"', text)
        assert "<title>function ask, waiting for you, 1" in text
        assert re.search('class="name"[^>]*>start<', text)
        [question] = client.get(f"/api/runs/{debugged.run}/activity").json()["questions"]
        response = {"id": question["call"], "name": question["name"], "response": {"result": "y"}}
        debugged.start({"role": "user", "parts": [{"functionResponse": response}]}, pause=False)
        debugged.settled()
        text = client.get(address, headers=headers).text
        assert "<title>ask to pay, yes, taken" in text
        assert "<title>ask to refuse, no, not taken" in text
        assert "<title>function ask, has run," in text


def test_skipped_rejected_and_mocked_calls_are_not_counted_as_made(client):
    debugged = DebuggedRun(client, "root")
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
def test_a_call_that_needs_confirmation_counts_once_if_confirmed(client, confirmed, words):
    debugged = DebuggedRun(client, "root").start("pay", pause=False)
    debugged.settled()
    [question] = client.get(f"/api/runs/{debugged.run}/activity").json()["questions"]
    assert graph_of(debugged, "pay")[0] == "tool pay, waiting for you, 1 waiting for confirmation"
    response = {"id": question["call"], "name": question["name"]}
    part = {"functionResponse": {**response, "response": {"confirmed": confirmed}}}
    debugged.start({"role": "user", "parts": [part]}, pause=False).settled()
    assert debugged.texts()[-1] == "Done."
    assert graph_of(debugged, "pay")[0] == f"tool pay, {words}"


STEPS = """
import time

from devui.runtime.agents import Agent, SequentialAgent
from devui.runtime.models import Call, Rule, Say, ScriptedLlm


def look(city: str) -> str:
    time.sleep(0.1)
    return city


def pay(amount: int) -> str:
    if amount:
        raise RuntimeError("card refused")
    return "paid"


rules = [Rule(after="look", then=Call("pay", amount=5)), Rule(then=Call("look", city="Oslo"))]
payer = Agent(name="payer", model=ScriptedLlm(rules=rules), tools=[look, pay])
root_agent = SequentialAgent(
    name="steps",
    sub_agents=[Agent(name="greeter", model=ScriptedLlm(rules=[Rule(then=Say("Hi."))])), payer],
)
"""
PAUSE = 1.0
TOOK = rf", 1{TIMES}, ([\d.]+) (m?s)"


@pytest.fixture(scope="module")
def stepped(tmp_path_factory):
    """A run that was paused after its first and third events, and failed at its sixth."""
    folder = tmp_path_factory.mktemp("steps")
    write_app(folder / "agents", "steps", STEPS)
    with running(folder / "agents", folder / "data") as server, server.client() as client:
        debugged = DebuggedRun(client, "steps").start()
        debugged.settled()
        time.sleep(PAUSE)
        debugged.tell("run_to", like={"gate": "before_tool"})
        time.sleep(PAUSE)
        assert debugged.tell("continue")["status"] == "failed"
        yield debugged


def titles(client, key, event=None):
    """The titles of the nodes by name, as of an event or now."""
    query = {} if event is None else {"event": event}
    headers = {"HX-Request": "true"}
    text = client.get(f"/sessions/{key}/graph", params=query, headers=headers).text
    return titles_in(text)


def titles_in(text):
    nodes = re.findall(r'<a class="node [^>]*><title>(\w+ (\w+),.*?)(?: · .*?)?</title>', text)
    return {name: html.unescape(title) for title, name in nodes}


def seconds(title):
    number, unit = re.search(TOOK, title).groups()
    return float(number) / (1000 if unit == "ms" else 1)


def test_counts_times_and_marks_are_as_of_the_event(stepped):
    client, key = stepped.client, stepped.key
    at = {number: titles(client, key, number) for number in range(1, 7)}
    assert len(stepped.kept()["events"]) == 6
    assert at[1]["greeter"] == "agent greeter, paused here"
    assert re.fullmatch(f"agent greeter, running{TOOK}", at[2]["greeter"])
    assert at[2]["payer"] == "agent payer, not run"
    assert re.fullmatch(f"agent greeter, has run{TOOK}", at[3]["greeter"])
    assert re.fullmatch(f"agent payer, running{TOOK}", at[3]["payer"])
    assert at[3]["look"] == f"tool look, paused here, 1{TIMES}"
    assert re.fullmatch(f"tool look, has run{TOOK}", at[4]["look"])
    assert at[4]["pay"] == "tool pay, not run"
    assert at[5]["pay"] == f"tool pay, running, 1{TIMES}"
    assert re.fullmatch(f"agent payer, running{TOOK}", at[5]["payer"])
    assert re.fullmatch(f"tool pay, failed{TOOK}, 1 error", at[6]["pay"])
    assert re.fullmatch(f"agent payer, failed{TOOK}, 1 error", at[6]["payer"])
    assert at[6] == titles(client, key)
    times = [seconds(at[number]["payer"]) for number in range(3, 7)]
    assert times == sorted(times)
    assert times[1] >= times[0] + 0.09, "the tool's tenth of a second"
    assert times[-1] < PAUSE, "the run was paused"


def test_a_fork_and_its_export_have_the_counts_and_times_of_the_events_they_copied(stepped):
    client, key = stepped.client, stepped.key
    fork = client.post(f"/api/sessions/{key}/forks", json={"number": 4}).json()["key"]
    now, then = titles(client, fork), titles(client, key, 4)
    assert re.fullmatch(f"agent payer, has run{TOOK}", now["payer"])
    assert now == {name: title.replace("running", "has run") for name, title in then.items()}
    assert titles(client, fork, 3) == titles(client, key, 3)
    again = client.post(f"/api/sessions/{fork}/forks", json={"number": 3}).json()["key"]
    assert seconds(titles(client, again)["payer"]) == seconds(titles(client, key, 3)["payer"])

    for session in (key, fork, again):
        page = client.get(f"/api/sessions/{session}/export", params={"format": "html"}).text
        assert titles_in(page) == titles(client, session)
        bundle = client.get(f"/api/sessions/{session}/export").content
        headers = {"Content-Type": "application/json"}
        params = {"ids": "new"}
        answer = client.post("/api/sessions/import", params=params, content=bundle, headers=headers)
        assert titles(client, answer.json()["key"]) == titles(client, session)


FAILING = """
from devui.runtime.agents import BaseAgent
from devui.runtime.apps import App, ResumabilityConfig

runs = []


class First(BaseAgent):
    async def _run_async_impl(self, context):
        runs.append(context)
        if len(runs) == 1:
            raise RuntimeError("no luck")
        async for event in self.sub_agents[0].run_async(context):
            yield event


class Second(BaseAgent):
    async def _run_async_impl(self, context):
        raise RuntimeError("no luck either")
        yield


app = App(
    name="failing",
    root_agent=First(name="first", sub_agents=[Second(name="second")]),
    resumability_config=ResumabilityConfig(is_resumable=True),
)
"""


def test_a_run_that_fails_without_an_event_is_in_the_graph(tmp_path):
    write_app(tmp_path / "agents", "failing", FAILING)
    with running(tmp_path / "agents", tmp_path / "data") as server, server.client() as client:
        first = DebuggedRun(client, "failing").start("Hello", pause=False).settled()
        runs = f"/api/sessions/{first['session']}/runs"
        second = client.post(runs, json={"invocationId": first["invocationId"]}).json()
        assert settled(client, second["run"])["status"] == "failed"
        events = client.get(f"/api/sessions/{first['session']}/events").json()["events"]
        assert [each["kind"] for each in events] == ["user"]
        graph = client.get(f"/sessions/{first['session']}/graph", headers={"HX-Request": "true"})
        assert "<title>agent second, failed, 1" in graph.text
