"""What a run took is the same everywhere: from its start to its end, less what it was held."""

import re
import time
from collections.abc import Iterator

import httpx2
import pytest

from tests.kit.debugged import Debugged, settled
from tests.kit.server import running, write_app

WORK = 0.5
"""Seconds that each run's tool takes."""
HOLD = 0.4
"""Seconds of each hold."""
APP = f"""
import time

from devui.runtime.agents import Agent
from devui.runtime.models.scripted_llm import Call, Rule, Say, ScriptedLlm
from devui.runtime.tools.agent_tool import AgentTool


def dig() -> str:
    time.sleep({WORK})
    return "gold"


rules = [Rule(after="dig", then=Say("done")), Rule(then=Call("dig"))]
root_agent = Agent(name="digger", model=ScriptedLlm(rules=rules), tools=[dig])
"""
BOSS = f"""
{APP}
rules = [Rule(after="digger", then=Say("done")), Rule(then=Call("digger", request="dig"))]
tools = [AgentTool(agent=root_agent)]
root_agent = Agent(name="boss", model=ScriptedLlm(rules=rules), tools=tools)
"""


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx2.Client]:
    folder = tmp_path_factory.mktemp("durations")
    write_app(folder / "agents", "digger", APP)
    write_app(folder / "agents", "boss", BOSS)
    with running(folder / "agents", folder / "data") as server, server.client() as client:
        yield client


def stepped(client: httpx2.Client, app: str, command: str) -> Debugged:
    """A run that was held at every step of this kind."""
    debugged = Debugged(client, app).start()
    debugged.settled()
    holds = 0
    while debugged.position["status"] == "held":
        time.sleep(HOLD)
        holds += 1
        debugged.tell(command)
    assert debugged.position["status"] == "done"
    assert holds * HOLD > 3 * WORK
    return debugged


@pytest.fixture(scope="module")
def held(client: httpx2.Client) -> Debugged:
    """A run that was held before and after each event, also after its last one."""
    return stepped(client, "digger", "step_half")


def part(text: str, start: str, end: str) -> str:
    """What a part of a page says."""
    inside = text.partition(start)[2].partition(end)[0]
    return " ".join(re.sub("<[^>]*>", " ", inside).split())


def header(debugged: Debugged, key: int, query: str = "") -> str:
    page = debugged.client.get(f"/sessions/{key}{query}").text
    return part(page, "<i>time</i>", "</b>")


def compared(debugged: Debugged, left: str, right: str) -> list[str]:
    page = debugged.client.get("/compare", params={"left": left, "right": right}).text
    figures = part(page, "<tbody>", "</tbody>")
    return list(re.findall(r"(\S+(?: s)?) time (\S+(?: s)?)", figures)[0])


def seconds(text: str) -> float:
    """`0.81 s`, `810 ms`."""
    number, unit = text.split()
    return float(number) / {"s": 1, "ms": 1000}[unit]


def test_pages_agree_on_what_a_run_took_that_was_held(held: Debugged) -> None:
    time_at_work = header(held, held.key)
    assert WORK <= seconds(time_at_work) < 2 * WORK
    assert compared(held, str(held.key), f"{held.key}@1") == [time_at_work] * 2
    page = held.client.get(f"/sessions/{held.key}?view=trace&tab=graph").text
    about = part(page, '<div class="about">', "</div>")
    assert re.search(rf"{time_at_work} plus [\d.]+ s paused by the debugger$", about)
    [root, *_] = re.findall(r'class="num">([^<]+)<', page)
    assert WORK <= seconds(root) <= seconds(time_at_work) + 0.05
    node = part(page, 'class="detail"', "</text>").rpartition("·")[2]
    assert node.strip() == root


def test_no_line_of_a_trace_includes_holds(client: httpx2.Client) -> None:
    boss = stepped(client, "boss", "step_into")
    page = client.get(f"/sessions/{boss.key}?view=trace").text
    took = [seconds(each) for each in re.findall(r'class="num">([^<]+)<', page)]
    lines = [
        part(each, ">", "</th>") for each in page.partition("data-trace")[2].split("<th role")[4:]
    ]
    names = [tuple(each.split()[:2]) for each in lines]
    spans = dict(zip(names, took, strict=True))
    digging = spans["tool", "dig"]
    assert WORK <= digging <= spans["tool", "digger"] <= spans["agent", "boss"] < 2 * WORK


def test_the_api_says_the_same_of_both_sides(held: Debugged) -> None:
    query = {"left": str(held.key), "right": f"{held.key}@1"}
    answer = held.client.get("/api/compare", params=query).json()
    assert answer["left"]["seconds"] == answer["right"]["seconds"]
    assert f"{answer['left']['seconds']:.2f} s" == header(held, held.key)


def test_the_time_of_a_fork_includes_the_events_that_it_copied(held: Debugged) -> None:
    forks = f"/api/sessions/{held.key}/forks"
    key = held.client.post(forks, json={"number": 4}).json()["key"]
    parent = held.client.get(f"/api/sessions/{held.key}/events").json()["events"]
    assert len(parent) == 4
    copied = header(held, key)
    assert WORK <= seconds(copied) <= seconds(header(held, held.key))
    assert compared(held, str(key), str(key)) == [copied] * 2
    assert header(held, key, "?at=4") == copied
    bundle = held.client.get(f"/api/sessions/{key}/export").content
    json = {"content-type": "application/json"}
    landed = held.client.post("/api/sessions/import", content=bundle, headers=json).json()
    assert header(held, landed["key"]) == copied
    run = held.client.post(f"/api/sessions/{key}/runs", json={"message": "dig on"}).json()["run"]
    assert settled(held.client, run)["status"] == "done"
    both = header(held, key)
    assert seconds(both) > seconds(copied)
    assert compared(held, str(key), str(held.key)) == [both, header(held, held.key)]
    assert header(held, key, "?at=4") == copied
