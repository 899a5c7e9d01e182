"""What a run costs: on the page, over HTTP, as a budget, and with the user's own prices."""

import html
import json
import re

import pytest

from tests.kit.debugged_run import DebuggedRun
from tests.kit.server import running, write_app

PAIR = """
from devui.runtime.agents import Agent, SequentialAgent
from devui.runtime.models import Say, Rule, ScriptedLlm


def agent(name, model):
    rules = [Rule(then=Say("one two three four", chunks=3))]
    return Agent(name=name, model=ScriptedLlm(model=model, rules=rules))


root_agent = SequentialAgent(
    name="pair", sub_agents=[agent("cheap", "acme/small-2026-01-31"), agent("dear", "{second}")]
)
"""
LATE = """
import time

from devui.runtime.agents import Agent
from devui.runtime.models import Rule, Say, ScriptedLlm

model = ScriptedLlm(rules=[Rule(then=Say(repr(time.time())))])
root_agent = Agent(name="late", model=model)
"""
OWN = {
    "models": [
        {"name": "small", "input": 1_000_000, "output": 2_000_000},
        {"name": "large", "input": 10_000_000, "output": 20_000_000},
    ]
}
"""A dollar per token or more, so that a few words have a visible price."""


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    folder = tmp_path_factory.mktemp("costs")
    for name, second in (("pair", "large"), ("partly", "who-knows")):
        write_app(folder / "agents", name, PAIR.replace("{second}", second))
    write_app(folder / "agents", "late", LATE)
    (folder / "agents" / "prices.json").write_text(json.dumps(OWN))
    with running(folder / "agents", folder / "data") as server:
        yield server


@pytest.fixture
def client(server):
    with server.client() as client:
        yield client


def ran(client, app: str) -> DebuggedRun:
    debugged = DebuggedRun(client, app).start("hello", pause=False)
    assert debugged.settled()["status"] == "done"
    return debugged


def usage_of(debugged: DebuggedRun, **query) -> dict:
    return debugged.client.get(f"/api/sessions/{debugged.key}/usage", params=query).json()


def token_counts(event: dict) -> tuple[int, int]:
    counts = event["usageMetadata"]
    return counts["promptTokenCount"], counts["totalTokenCount"] - counts["promptTokenCount"]


def test_a_session_costs_the_sum_of_its_answers_by_agent(client):
    debugged = ran(client, "pair")
    first, second = (token_counts(event) for event in debugged.kept()["events"][1:])
    cheap, dear = first[0] + 2 * first[1], 10 * second[0] + 20 * second[1]
    usage = usage_of(debugged)
    assert {each["agent"]: each["cost"] for each in usage["sums"]} == {"cheap": cheap, "dear": dear}
    assert [each["answers"] for each in usage["sums"]] == [1, 1]
    assert (usage["cost"], usage["unpriced"]) == (cheap + dear, 0)
    assert usage_of(debugged, until=2)["cost"] == cheap
    assert usage_of(debugged, until=1) == {**usage, "cost": None, "sums": []}


def test_answers_without_a_price_are_unknown_and_left_out_of_the_sum(client):
    debugged = ran(client, "partly")
    usage = usage_of(debugged)
    assert [each["cost"] for each in usage["sums"]][1] is None
    assert usage["unpriced"] == 1
    page = client.get(f"/sessions/{debugged.key}", headers={"Accept": "text/html"}).text
    costs = re.findall(r'<span class="cost(?: none)?" role="gridcell">(.*?)</span>', page)
    assert costs == ["\u2013", f"{usage['cost']:,.2f}", "\u2013"]
    assert f"<b>${usage['cost']:,.2f}+</b>" in page
    assert "No price is known for 1 answer" in page
    detail = client.get(f"/sessions/{debugged.key}/events/3").text
    assert "no price known for who-knows" in html.unescape(detail)


@pytest.mark.req("R34")
def test_a_budget_in_dollars_holds_the_run_once_it_is_exceeded(client):
    point = client.post(
        "/api/apps/pair/breakpoints", json={"on": "budget", "condition": "run.cost > 500"}
    ).json()
    debugged = DebuggedRun(client, "pair").start("hello", pause=False)
    debugged.settled()
    hold = debugged.hold()
    assert (hold["agent"], hold["breakpoint"]) == ("dear", point["id"])
    assert debugged.tell("continue")["status"] == "done"
    past = client.get(f"/api/sessions/{debugged.key}/hits", params={"breakpoint": point["id"]})
    assert [hit["number"] for hit in past.json()["hits"]] == [3]
    assert usage_of(debugged, until=2)["cost"] <= 500 < usage_of(debugged)["cost"]
    client.delete(f"/api/apps/pair/breakpoints/{point['id']}")


def test_a_budget_can_count_unpriced_answers(client):
    body = {"on": "budget", "condition": "run.unpriced == 1 and run.cost > 0"}
    debugged = ran(client, "partly")
    past = client.post(f"/api/sessions/{debugged.key}/hits", json=body).json()
    assert [hit["number"] for hit in past["hits"]] == [3]


def test_the_time_to_load_an_app_is_not_part_of_its_first_run(client):
    run = DebuggedRun(client, "late").start("when?", pause=False)
    position = run.settled()
    assert position["started"] >= float(run.texts()[-1])  # the answer is the time of import
    [row] = client.get(f"/api/sessions/{run.key}/runs").json()["runs"]
    assert row["started"] == position["started"]
