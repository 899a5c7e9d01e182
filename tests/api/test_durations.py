"""All views show the same duration of a run: from start to end, less the time it was held.

The speed of the machine doesn't matter: sleeps last at least as long as requested, and figures
are compared with each other and with the journal's timestamps.
"""

import re
import time
from collections.abc import Iterator
from typing import Any

import httpx2
import pytest

from devui.web.text.formats import UNKNOWN
from tests.kit.debugged_run import DebuggedRun, settled
from tests.kit.server import running, write_app

WORK = 0.5
"""How long each run's tool takes, in seconds."""
HOLD = 0.4
"""The minimum duration of each hold, in seconds."""
HOLDS = 4
"""The minimum number of holds of each run."""
ROUNDING = 0.05
"""How much rounding may change a figure such as `3.4 s`."""
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


def stepped(client: httpx2.Client, app: str, command: str) -> DebuggedRun:
    """A run that was held at every step of this kind, several times within its outer agent."""
    debugged = DebuggedRun(client, app).start()
    debugged.settled()
    holds = 0
    while debugged.position["status"] == "held":
        time.sleep(HOLD)
        holds += 1
        debugged.tell(command)
    assert debugged.position["status"] == "done"
    assert holds >= HOLDS
    return debugged


@pytest.fixture(scope="module")
def held(client: httpx2.Client) -> DebuggedRun:
    """A run that was held before and after each event, the last one included."""
    return stepped(client, "digger", "step_half")


def part(text: str, start: str, end: str) -> str:
    """The text of a page between two strings, without tags."""
    inside = text.partition(start)[2].partition(end)[0]
    return " ".join(re.sub("<[^>]*>", " ", inside).split())


def header(debugged: DebuggedRun, key: int, query: str = "") -> str:
    page = debugged.client.get(f"/sessions/{key}{query}").text
    return part(page, "<i>time</i>", "</b>")


def compared(debugged: DebuggedRun, left: str, right: str) -> list[str]:
    page = debugged.client.get("/compare", params={"left": left, "right": right}).text
    figures = part(page, "<tbody>", "</tbody>")
    return list(re.findall(r"(\S+(?: s)?) time (\S+(?: s)?)", figures)[0])


def seconds(text: str) -> float:
    """The seconds in a text such as `0.81 s` or `810 ms`."""
    number, unit = text.split()
    return float(number) / {"s": 1, "ms": 1000}[unit]


def gross(debugged: DebuggedRun) -> float:
    """The time from the run's start to its end, holds included."""
    position = debugged.client.get(f"/api/runs/{debugged.run}").json()
    return float(position["ended"] - position["started"])


def spans_of(debugged: DebuggedRun) -> dict[tuple[str, str], dict[str, Any]]:
    """The run's last span of each type and name."""
    spans = debugged.client.get(f"/api/sessions/{debugged.key}/spans").json()["spans"]
    return {(span["type"], span["name"]): span for span in spans}


def test_pages_agree_on_the_duration_of_a_run_that_was_held(held: DebuggedRun) -> None:
    time_at_work = header(held, held.key)
    assert WORK <= seconds(time_at_work) <= gross(held) - HOLDS * HOLD + ROUNDING
    assert compared(held, str(held.key), f"{held.key}@1") == [time_at_work] * 2
    page = held.client.get(f"/sessions/{held.key}?view=trace&tab=graph").text
    about = part(page, '<div class="about">', "</div>")
    pause = re.search(rf"{time_at_work} not counting ([\d.]+ s) paused$", about)
    assert pause
    both = seconds(time_at_work) + seconds(pause[1])
    assert both == pytest.approx(gross(held), abs=2 * ROUNDING)
    [root, *_] = re.findall(r'class="num">([^<]+)<', page)
    assert WORK <= seconds(root) <= seconds(time_at_work) + 2 * ROUNDING
    node = part(page, 'class="detail"', "</text>").rpartition("·")[2]
    assert node.strip() == root


def turns(client: httpx2.Client, key: int) -> list[str]:
    """The durations of the turns, as shown in the timeline's headers."""
    headers = client.get(f"/sessions/{key}").text.split('<div class="inv"')[1:]
    return [part(each, 'class="meta"', "</div>").split(" · ")[1] for each in headers]


def rows(client: httpx2.Client, key: int) -> list[float | None]:
    """The seconds of each row, None where unknown."""
    page = client.get(f"/sessions/{key}").text
    cells = re.findall(r'class="dt[ "][^>]*role="gridcell"[^>]*>([^<]*)<', page)
    return [None if each == UNKNOWN else float(each) for each in cells]


def test_a_session_with_one_run_lasts_as_long_as_its_only_turn(client: httpx2.Client) -> None:
    debugged = DebuggedRun(client, "digger").start(pause=False)
    debugged.settled()
    assert turns(client, debugged.key) == [header(debugged, debugged.key)]


def test_events_produced_in_a_fork_have_a_duration(client: httpx2.Client) -> None:
    debugged = DebuggedRun(client, "digger").start(pause=False)
    debugged.settled()
    path = f"/api/sessions/{debugged.key}"
    event = client.get(f"{path}/events/3").json()["event"]
    body = {"number": 3, "event": event, "run": True}
    fork = client.post(f"{path}/forks", json=body).json()
    assert settled(client, fork["run"])["status"] == "done"
    copied, last = rows(client, fork["key"])[:3], rows(client, fork["key"])[3]
    assert copied == [*rows(client, debugged.key)[:2], None]
    assert last is not None
    assert turns(client, fork["key"]) == [header(debugged, fork["key"])]
    assert seconds(header(debugged, fork["key"])) >= (copied[1] or 0) + last - 0.02


def test_durations_in_a_trace_exclude_holds(client: httpx2.Client) -> None:
    boss = stepped(client, "boss", "step_into")
    page = client.get(f"/sessions/{boss.key}?view=trace").text
    took = [seconds(each) for each in re.findall(r'class="num">([^<]+)<', page)]
    lines = [
        part(each, ">", "</th>") for each in page.partition("data-trace")[2].split("<th role")[4:]
    ]
    names = [tuple(each.split()[:2]) for each in lines]
    figures = dict(zip(names, took, strict=True))
    dig, digger, outer = ("tool", "dig"), ("tool", "digger"), ("agent", "boss")
    assert WORK <= figures[dig] <= figures[digger] <= figures[outer]
    spans = spans_of(boss)
    # The innermost call was never held; of the holds within the others, one is enough to tell.
    assert figures[dig] == pytest.approx(spans[dig]["seconds"], abs=ROUNDING)
    for around in (digger, outer):
        assert figures[around] <= spans[around]["seconds"] - HOLD + ROUNDING


def test_the_api_reports_the_same_duration_as_the_page(held: DebuggedRun) -> None:
    query = {"left": str(held.key), "right": f"{held.key}@1"}
    answer = held.client.get("/api/compare", params=query).json()
    assert answer["left"]["seconds"] == answer["right"]["seconds"]
    time_at_work = seconds(header(held, held.key))
    assert answer["left"]["seconds"] == pytest.approx(time_at_work, abs=ROUNDING)


def test_the_time_of_a_fork_includes_the_events_that_it_copied(held: DebuggedRun) -> None:
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
