"""Uncommitted state: who wrote it, who read it, and whether it was committed or lost."""

import time
from pathlib import Path

import pytest

from tests.kit.debugged_run import DebuggedRun
from tests.kit.patience import PATIENCE
from tests.kit.server import running, write_app

CUSTOM = """
from devui.runtime.agents import BaseAgent
from devui.runtime.events import Event, EventActions


class Planner(BaseAgent):
    async def _run_async_impl(self, ctx):
        ctx.session.state["plan"] = {"steps": 3}
        async for event in self.sub_agents[0].run_async(ctx):
            yield event
        delta = {"plan": {"steps": 3}}
        yield Event(author=self.name, actions=EventActions(state_delta=delta))


class Critic(BaseAgent):
    async def _run_async_impl(self, ctx):
        ctx.session.state.get("plan")
        ctx.session.state.get("plan")
        yield Event(author=self.name)


root_agent = Planner(name="planner", sub_agents=[Critic(name="critic")])
"""
IN_PLACE = """
from devui.runtime.agents import BaseAgent
from devui.runtime.events import Event


class Careless(BaseAgent):
    async def _run_async_impl(self, ctx):
        ctx.session.state["plan"]["x"] = 1
        yield Event(author=self.name)
        yield Event(author=self.name)
        ctx.session.state["plan"]["steps"].append(4)
        ctx.session.state["forgotten"] = True
        yield Event(author=self.name)
        async for event in self.sub_agents[0].run_async(ctx):
            yield event


class Reader(BaseAgent):
    async def _run_async_impl(self, ctx):
        ctx.session.state["forgotten"]
        yield Event(author=self.name)


root_agent = Careless(name="careless", sub_agents=[Reader(name="reader")])
"""
TOOLS = """
import asyncio

from devui.runtime.agents import Agent
from devui.runtime.models import Call, Rule, Say, ScriptedLlm

ready = {}


async def write(tool_context):
    "Write."
    tool_context.state["city"] = "Oslo"
    ready.setdefault("written", asyncio.Event()).set()
    return "written"


async def look(tool_context):
    "Look."
    await ready.setdefault("written", asyncio.Event()).wait()
    tool_context.state["country"] = "Norway"
    return tool_context.state["city"]


async def other(tool_context):
    "Write, too."
    await ready.setdefault("written", asyncio.Event()).wait()
    tool_context.state["city"] = "Bergen"
    return "written, too"


def before(callback_context):
    callback_context.state["begun"] = True


rules = [
    Rule(after="write", then=Say("{result}")),
    Rule(user="clash", then=[Call("write"), Call("other")]),
    Rule(then=[Call("write"), Call("look")]),
]
root_agent = Agent(
    name="agent",
    model=ScriptedLlm(rules=rules),
    tools=[write, look, other],
    before_agent_callback=before,
)
"""
CALLBACKS = """
from devui.runtime.agents import Agent
from devui.runtime.models import Call, Rule, Say, ScriptedLlm


def ask(callback_context, llm_request):
    callback_context.state["asked"] = callback_context.state.get("asked", 0) + 1


def answered(callback_context, llm_response):
    callback_context.state["answered"] = callback_context.state["asked"]


def before(tool, args, tool_context):
    tool_context.state["seat"] = "12A"


def book(tool_context):
    "Book."
    tool_context.state["booked"] = [tool_context.state["seat"], tool_context.state["seat"]]
    return tool_context.state["booked"]


def after(tool, args, tool_context, tool_response):
    tool_context.state["told"] = tool_context.state.get("booked")
    return {"told": tool_context.state["told"]}


root_agent = Agent(
    name="agent",
    model=ScriptedLlm(rules=[Rule(after="book", then=Say("{result}")), Rule(then=Call("book"))]),
    tools=[book],
    before_tool_callback=before,
    after_tool_callback=after,
    before_model_callback=ask,
    after_model_callback=answered,
)
"""
OWN = """
from devui.runtime.agents import Agent
from devui.runtime.models import Call, Rule, Say, ScriptedLlm


async def find(tool_context):
    "Find."
    tool_context.state["customer"] = {"name": "Ada"}
    return tool_context.state["customer"]


root_agent = Agent(
    name="agent",
    model=ScriptedLlm(rules=[Rule(after="find", then=Say("found")), Rule(then=Call("find"))]),
    tools=[find],
)
"""
FAILS = """
from devui.runtime.agents import BaseAgent
from devui.runtime.events import Event


class Fails(BaseAgent):
    async def _run_async_impl(self, ctx):
        yield Event(author=self.name)
        ctx.session.state["draft"] = "half done"
        ctx.session.state["temp:secret"] = {"token": "not told"}
        ctx.session.state["temp:secret"]["token"] = "nor this"
        raise RuntimeError("no more")


root_agent = Fails(name="fails")
"""
BRANCHES = """
from devui.runtime.agents import BaseAgent, ParallelAgent
from devui.runtime.events import Event, EventActions


class Writes(BaseAgent):
    async def _run_async_impl(self, ctx):
        delta = {"winner": self.name, self.name: 1}
        yield Event(author=self.name, branch=ctx.branch, actions=EventActions(state_delta=delta))


root_agent = ParallelAgent(name="race", sub_agents=[Writes(name="one"), Writes(name="two")])
"""
WAITS = """
import asyncio
from pathlib import Path

from devui.runtime.agents import BaseAgent
from devui.runtime.events import Event, EventActions

HERE = Path(__file__)


class Waits(BaseAgent):
    async def _run_async_impl(self, ctx):
        HERE.with_name("begun").touch()
        while not HERE.with_name("gate").exists():
            await asyncio.sleep(0.01)
        ctx.session.state["city"] = "Oslo"
        yield Event(author=self.name, actions=EventActions(state_delta={"city": "Oslo"}))


root_agent = Waits(name="waits")
"""
COMMITS = """
import asyncio
import time
from pathlib import Path

from devui.runtime.agents import BaseAgent
from devui.runtime.events import Event, EventActions

HERE = Path(__file__)


class Commits(BaseAgent):
    ctx: object = None

    async def _run_async_impl(self, ctx):
        state, self.ctx = ctx.session.state, ctx
        await getattr(self, HERE.parent.name)(state)
        yield Event(author=self.name)

    def commit(self, city, **known):
        actions = EventActions(state_delta={"city": city})
        event = Event(author=self.name, actions=actions, **known)
        return self.ctx.session_service.append_event(self.ctx.session, event)

    async def again(self, state):
        state["city"] = "Oslo"
        first = asyncio.create_task(self.commit("Oslo"))
        await asyncio.sleep(0)
        state["city"] = "Bergen"
        await asyncio.gather(first, self.commit("Bergen"))

    async def at_once(self, state):
        HERE.with_name("begun").touch()
        while not HERE.with_name("gate").exists():
            time.sleep(0.01)
        state["city"] = "Bergen"
        first = "Bergen" if HERE.parent.name == "same" else "Oslo"
        await asyncio.gather(self.commit(first), self.commit("Bergen"))

    same = at_once

    async def refused(self, state):
        event = await self.commit("Oslo")
        state["city"] = "Bergen"
        try:
            await self.commit("Bergen", id=event.id)
        except Exception as error:
            print("refused:", error)
        HERE.with_name("begun").touch()
        while not HERE.with_name("gate").exists():
            await asyncio.sleep(0.01)


root_agent = Commits(name="commits")
"""
APPS = {
    **dict.fromkeys(("again", "at_once", "same", "refused"), COMMITS),
    "custom": CUSTOM,
    "waits": WAITS,
    "blocks": WAITS.replace("await asyncio.sleep", "time.sleep").replace("asyncio", "time"),
    "in_place": IN_PLACE,
    "tools": TOOLS,
    "callbacks": CALLBACKS,
    "own": OWN,
    "fails": FAILS,
    "branches": BRANCHES,
}


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    folder = tmp_path_factory.mktemp("uncommitted")
    for name, code in APPS.items():
        write_app(folder / "agents", name, code)
    with running(folder / "agents", folder / "data") as server:
        server.agents = folder / "agents"
        yield server


@pytest.fixture
def client(server):
    with server.client() as client:
        yield client


def run(client, app: str, message: str = "go", **session) -> DebuggedRun:
    """A watched run that has ended."""
    debugged = DebuggedRun(client, app, **session).start(message, pause=False, watch=True)
    debugged.settled()
    return debugged


def accesses(debugged: DebuggedRun, **query) -> tuple[list[dict], list[dict]]:
    path = f"/api/sessions/{debugged.key}/uncommitted"
    answer = debugged.client.get(path, params=query).json()
    return answer["writes"], answer["reads"]


def test_a_dirty_read_is_reported_with_its_write(client):
    debugged = run(client, "custom")
    [write], [read] = accesses(debugged)
    assert (write["key"], write["agent"], write["value"]) == ("plan", "planner", {"steps": 3})
    assert (write["old"], write["outcome"], write["event"]) == (None, "committed", 3)
    assert write["place"].startswith("custom/agent.py:8 in _run_async_impl")
    assert (read["agent"], read["reads"], read["event"]) == ("critic", write["number"], 2)
    assert (read["outcome"], read["key"]) == ("committed", "plan")


def test_an_unwatched_run_records_nothing(client):
    debugged = DebuggedRun(client, "custom").start(pause=False)
    debugged.settled()
    assert accesses(debugged) == ([], [])


def test_a_run_whose_session_is_streamed_is_watched(client):
    debugged = DebuggedRun(client, "custom")
    with client.stream("GET", f"/api/sessions/{debugged.key}/stream") as stream:
        debugged.start(pause=False)
        assert any('"status":"done"' in line for line in stream.iter_lines())
    assert [[each["key"] for each in some] for some in accesses(debugged)] == [
        ["plan"],
        ["plan"],
    ]


def test_watching_starts_with_an_event_already_on_its_way(client, server):
    debugged = DebuggedRun(client, "waits").start(pause=False)
    folder = begun(debugged, server.agents / "waits")
    with client.stream("GET", f"/api/sessions/{debugged.key}/stream") as stream:
        (folder / "gate").touch()
        assert any('"status":"done"' in line for line in stream.iter_lines())
    assert [(each["outcome"], each["event"]) for each in accesses(debugged)[0]] == [
        ("committed", 2)
    ]


def test_pausing_keeps_the_writes_of_an_event_already_on_its_way(client, server):
    debugged = DebuggedRun(client, "blocks").start(pause=False)
    folder = begun(debugged, server.agents / "blocks")
    assert debugged.post("pause", key="pause").status_code == 200
    (folder / "gate").touch()
    debugged.settled()
    patience = time.monotonic() + PATIENCE
    while not accesses(debugged)[0]:
        assert time.monotonic() < patience
    debugged.tell("continue")
    assert [(each["outcome"], each["event"]) for each in accesses(debugged)[0]] == [
        ("committed", 2)
    ]


def test_writes_of_a_refused_event_are_lost(client, server):
    debugged = DebuggedRun(client, "refused").start(pause=False)
    folder = begun(debugged, server.agents / "refused")
    with client.stream("GET", f"/api/sessions/{debugged.key}/stream") as stream:
        (folder / "gate").touch()
        assert any('"status":"done"' in line for line in stream.iter_lines())
    other = run(client, "refused")
    for each in (debugged, other):
        write = accesses(each)[0][-1]
        assert (write["value"], write["outcome"], write["event"]) == ("Bergen", "lost", None)


@pytest.mark.parametrize("app", ["at_once", "same"])
def test_dropping_one_of_two_pending_events_keeps_the_others_writes(client, server, app):
    debugged = DebuggedRun(client, app).start(pause=False)
    folder = begun(debugged, server.agents / app)
    assert debugged.post("pause", key="pause").status_code == 200
    (folder / "gate").touch()
    debugged.settled()
    patience = time.monotonic() + PATIENCE
    while len(debugged.position["holds"]) < 2 or not accesses(debugged)[0]:
        assert time.monotonic() < patience
        debugged.settled()
    first, _ = debugged.position["holds"]
    debugged.tell("drop", hold=first["id"])
    debugged.tell("continue")
    outcomes = [(each["value"], each["outcome"], each["event"]) for each in accesses(debugged)[0]]
    assert outcomes == [("Bergen", "committed", 2)]


def test_a_write_while_an_event_is_on_its_way_is_separate(client):
    outcomes = [(w["value"], w["outcome"], w["event"]) for w in accesses(run(client, "again"))[0]]
    assert outcomes == [("Oslo", "committed", 2), ("Bergen", "committed", 3)]


def begun(debugged: DebuggedRun, folder: Path) -> Path:
    """The app's folder, once its agent is at work."""
    patience = time.monotonic() + PATIENCE
    while not (folder / "begun").exists():
        assert time.monotonic() < patience
        debugged.client.get(f"/api/runs/{debugged.run}")
    return folder


def test_a_write_is_pending_until_its_event_is_committed(client):
    debugged = DebuggedRun(client, "custom").start(watch=True)
    debugged.settled()
    debugged.tell("run_to", like={"gate": "before_commit", "agent": "critic"})
    [write], [read] = accesses(debugged)
    assert (write["outcome"], write["event"], read["event"]) == ("pending", None, None)
    state = f"/api/sessions/{debugged.key}/state"
    [pending] = client.get(state).json()["pending"]
    assert pending == {"key": "plan", "new": {"steps": 3}, "hold": None}
    debugged.tell("run_to", like={"gate": "before_commit", "agent": "planner"})
    [pending] = client.get(state).json()["pending"]
    assert pending == {"key": "plan", "new": {"steps": 3}, "hold": debugged.hold()["id"]}
    debugged.tell("continue")
    assert client.get(state).json()["pending"] == []
    assert [write["outcome"] for write in accesses(debugged)[0]] == ["committed"]


def test_uncommitted_writes_of_a_failed_run_are_lost(client):
    debugged = run(client, "fails")
    assert debugged.position["status"] == "failed"
    [write], reads = accesses(debugged)
    assert (write["key"], write["value"], write["outcome"]) == ("draft", "half done", "lost")
    assert reads == []


def test_uncommitted_writes_of_a_stopped_run_are_lost(client):
    debugged = DebuggedRun(client, "custom").start(watch=True)
    debugged.settled()
    debugged.tell("run_to", like={"gate": "before_commit", "agent": "critic"})
    debugged.tell("stop")
    assert debugged.position["status"] == "stopped"
    assert [write["outcome"] for write in accesses(debugged)[0]] == ["lost"]


def test_lost_writes_are_known_after_a_kill_of_the_server(tmp_path):
    write_app(tmp_path / "agents", "custom", CUSTOM)
    with running(tmp_path / "agents", tmp_path / "data") as server:
        with server.client() as client:
            debugged = DebuggedRun(client, "custom").start(watch=True)
            debugged.settled()
            debugged.tell("run_to", like={"gate": "after_commit", "agent": "critic"})
            server.kill()
        server.start()
        with server.client() as debugged.client:
            [write], [read] = accesses(debugged)
    assert (write["value"], write["outcome"], write["event"]) == ({"steps": 3}, "lost", None)
    assert (read["outcome"], read["event"]) == ("lost", 2)


def test_an_edited_event_keeps_the_notes_about_its_writes_and_reads(client):
    debugged = DebuggedRun(client, "in_place", state={"plan": {"steps": [1]}}).start(watch=True)
    debugged.settled()
    delta = {"plan": {"x": 1, "steps": [1, 4]}}
    for agent, edit in [
        ("careless", {"content": {"parts": [{"text": "edited"}]}}),
        ("careless", {"content": {"parts": [{"text": "edited"}]}}),
        ("careless", {"actions": {"stateDelta": delta}}),
        ("reader", {"content": {"parts": [{"text": "edited"}]}}),
    ]:
        debugged.tell("run_to", like={"gate": "before_commit", "agent": agent})
        debugged.tell("edit", value=edit)
        debugged.tell("run_to", like={"gate": "after_commit", "agent": agent})
    debugged.tell("continue")
    noted = [row_of(debugged, number)["notes"] for number in (2, 3, 4, 5)]
    assert [[f"{note['kind']} {note['key']}" for note in notes] for notes in noted] == [
        ["silent plan.x"],
        [],
        ["silent forgotten"],
        ["dirty forgotten"],
    ]
    writes, [read] = accesses(debugged)
    assert read["event"] == 5
    outcomes = [
        (write["outcome"], write["event"]) for write in writes if write["value"] == delta["plan"]
    ]
    assert outcomes == [("committed", 4)]
    assert debugged.kept()["state"] == delta


def test_writes_of_a_dropped_event_are_lost(client):
    debugged = DebuggedRun(client, "custom").start(watch=True)
    debugged.settled()
    debugged.tell("run_to", like={"gate": "before_commit", "agent": "planner"})
    debugged.tell("drop")
    debugged.tell("continue")
    assert [write["outcome"] for write in accesses(debugged)[0]] == ["lost"]
    assert "plan" not in debugged.kept()["state"]


def test_a_change_in_place_without_a_delta_is_flagged_and_lost(client):
    debugged = run(client, "in_place", state={"plan": {"steps": [1]}})
    by_event = sorted(accesses(debugged)[0], key=lambda write: (write["flagged"], write["key"]))
    first, forgotten, second = by_event
    assert (first["paths"], first["flagged"], first["agent"]) == (["plan.x"], 2, "careless")
    assert (second["paths"], second["flagged"]) == (["plan.steps[1]", "plan.x"], 4)
    assert (forgotten["paths"], forgotten["flagged"]) == (["forgotten"], 4)
    assert {write["outcome"] for write in (second, forgotten)} == {"lost"}
    assert debugged.kept()["state"] == {"plan": {"steps": [1]}}


def test_renaming_the_session_does_not_affect_detected_changes(client, server):
    debugged = DebuggedRun(client, "in_place", state={"plan": {"steps": [1]}}).start(watch=True)
    debugged.settled()
    debugged.tell("step_event")
    path, own = f"/sessions/{debugged.key}/title", {"Origin": server.url}
    renamed = client.post(path, data={"title": "Another name"}, headers=own)
    assert renamed.status_code == 303
    debugged.tell("continue")
    plans = [write for write in accesses(debugged)[0] if write["key"] == "plan"]
    assert [write["old"] for write in plans] == [{"steps": [1]}] * 2
    assert [write["flagged"] for write in plans] == [2, 4]


def test_a_read_of_another_tools_write_in_the_same_turn_is_dirty(client):
    debugged = run(client, "tools", "look")
    writes, [read] = accesses(debugged)
    by_key = {write["key"]: write for write in writes}
    assert by_key.keys() == {"city", "country", "begun"}
    assert {write["outcome"] for write in writes} == {"committed"}
    assert (by_key["city"]["tool"], read["tool"]) == ("write", "look")
    assert by_key["begun"]["role"] == "before_agent_callback"
    assert read["event"] == by_key["city"]["event"] == by_key["country"]["event"]


def test_reads_between_a_tool_and_callbacks_are_dirty(client):
    debugged = run(client, "callbacks")
    writes, reads = accesses(debugged)
    by = {write["number"]: (write["key"], write["role"], write["outcome"]) for write in writes}
    before, after = "callback before the model", "callback after the model"
    dirty_read = (("asked", before, "committed"), after, "committed")
    assert [(by[read["reads"]], read["role"], read["outcome"]) for read in reads] == [
        dirty_read,
        (("seat", "before_tool_callback", "committed"), "", "committed"),
        (("booked", "", "committed"), "after_tool_callback", "committed"),
        dirty_read,
    ]
    assert reads[1]["place"].startswith("callbacks/agent.py:20 in book")
    assert row_of(debugged, 2)["notes"] == [
        {"kind": "dirty", "key": "asked", "by": f"agent ({before})"}
    ]
    assert row_of(debugged, 3)["notes"] == [
        {"kind": "dirty", "key": "seat", "by": "agent (before_tool_callback of tool book)"},
        {"kind": "dirty", "key": "booked", "by": "agent (tool book)"},
    ]


def test_a_tools_read_of_its_own_write_is_not_dirty(client):
    [write], reads = accesses(run(client, "own"))
    assert (write["key"], write["tool"], write["outcome"]) == ("customer", "find", "committed")
    assert reads == []


def test_overlapping_writes_of_two_tools_are_reported(client):
    debugged = run(client, "tools", "clash")
    writes, reads = accesses(debugged)
    city = [write for write in writes if write["key"] == "city"]
    assert reads == []
    assert [(write["value"], write["outcome"]) for write in city] == [
        ("Oslo", "overwritten"),
        ("Bergen", "committed"),
    ]
    assert city[1]["overlaps"] == city[0]["number"]
    row = row_of(debugged, city[1]["event"])
    assert row["notes"] == [{"kind": "overlap", "key": "city", "by": "agent (tool write)"}]


def row_of(debugged: DebuggedRun, number: int) -> dict:
    path = f"/api/sessions/{debugged.key}/events"
    return debugged.client.get(path).json()["events"][number - 1]


def test_overlapping_writes_of_branches_are_noted_at_the_second_commit(client):
    debugged = run(client, "branches")
    assert row_of(debugged, 2)["notes"] == []
    [note] = row_of(debugged, 3)["notes"]
    assert (note["kind"], note["key"]) == ("overlap", "winner")
    assert note["by"] in {"one", "two"}


def test_notes_are_in_the_rows_and_writes_can_be_selected_by_event(client):
    debugged = run(client, "custom")
    assert row_of(debugged, 2)["notes"] == [{"kind": "dirty", "key": "plan", "by": "planner"}]
    writes, reads = accesses(debugged, event=3)
    assert [write["key"] for write in writes] == ["plan"]
    assert reads == []
