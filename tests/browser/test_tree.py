"""The timeline read like a trace: depth, lanes, calls with their results, and what folds."""

import re
import shutil

import pytest
from playwright.sync_api import expect

from tests.kit.server import SAMPLES, running, write_app

pytestmark = pytest.mark.browser

TEAM = """
import asyncio

from devui.runtime.agents import Agent, ParallelAgent, SequentialAgent
from devui.runtime.models.scripted_llm import Call, Rule, Say, ScriptedLlm


both_called = asyncio.Barrier(2)


async def look_up(city: str) -> str:
    if city != "Oslo":
        await both_called.wait()
    return f"{city} is fine"


def guide(name):
    rules = [Rule(after="look_up", then=Say("Done.")), Rule(then=Call("look_up", city=name))]
    return Agent(name=name, model=ScriptedLlm(rules=rules), tools=[look_up])


fan = ParallelAgent(name="Fan", sub_agents=[guide("Paris"), guide("Rome")])
root_agent = SequentialAgent(name="Team", sub_agents=[fan, guide("Oslo")])
"""
PAIR = """
from devui.runtime.agents import Agent
from devui.runtime.models.scripted_llm import Call, Rule, Say, ScriptedLlm


def list_flights(origin: str, destination: str) -> dict:
    return {"flights": [{"id": "LX100", "price": 120}, {"id": "LX101", "price": 155}]}


def get_weather(city: str) -> dict:
    return {"city": city, "temperature": 22}


calls = [
    Call("list_flights", origin="Zurich", destination="Rome"), Call("get_weather", city="Rome")
]
rules = [Rule(after="get_weather", then=Say("Done.")), Rule(then=calls)]
root_agent = Agent(
    name="Pair", model=ScriptedLlm(rules=rules), tools=[list_flights, get_weather]
)
"""
FAN, OSLO = range(2, 8), range(8, 11)
"""The numbers of the events of these agents."""


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tree")
    write_app(folder / "agents", "team", TEAM)
    write_app(folder / "agents", "pair", PAIR)
    shutil.copytree(SAMPLES / "story_flow", folder / "agents" / "story_flow")
    with running(folder / "agents", folder / "data", "--no-auth") as server:
        yield server


@pytest.fixture(scope="module")
def signed_in():
    return None


@pytest.fixture
def team(visit):
    return visit.session("team", ["Go"])


def values(rows, name):
    script = "(rows, name) => rows.map((row) => row.getAttribute(name))"
    return rows.evaluate_all(script, name)


def height(session, number):
    return session.row(number).bounding_box()["height"]


def test_agents_are_indented_and_parallel_branches_have_lanes(team, visit):
    assert values(team.events, "aria-level") == ["2", *["4"] * len(FAN), *["3"] * len(OSLO)]
    lanes = dict(zip(team.cell("who"), values(team.events, "data-lane"), strict=True))
    assert {lanes["Paris"], lanes["Rome"]} == {"1", "2"}
    assert lanes["user"] is lanes["Oslo"] is None
    visit.again(team).equals(team, "#rows")


def test_a_call_and_its_result_read_as_one_row_until_they_are_shown_apart(team):
    call, result = OSLO[0], OSLO[1]
    assert height(team, call) + height(team, result) < 2 * height(team, 1)
    expect(team.row(FAN[3])).not_to_have_class(re.compile("answers"))  # another branch's is between
    team.row(call).locator(".seq a").focus()
    team.page.keyboard.press("j")
    expect(team.row(result)).to_have_attribute("aria-selected", "true")
    assert team.page.url.endswith(f"event={result}")
    toggle = team.page.get_by_role("button", name="Show calls and results separately")
    toggle.click()
    team.page.reload()
    expect(toggle).to_have_attribute("aria-pressed", "true")
    assert height(team, result) == height(team, 1)


def test_an_agent_folds_to_its_first_row_and_stays_folded(team, visit):
    head = team.row(OSLO[0])
    team.row(OSLO[2]).locator(".seq a").focus()
    team.page.keyboard.press("ArrowLeft")
    expect(head.locator(".seq a")).to_be_focused()
    team.page.keyboard.press("ArrowLeft")
    expect(head).to_have_attribute("aria-expanded", "false")
    expect(head.locator(".seq a")).to_be_focused()
    expect(team.events.filter(visible=True)).to_have_count(1 + len(FAN) + 1)
    expect(head.get_by_role("button", name=re.compile("^Show 2 more events, "))).to_be_visible()
    team.say("Again")
    expect(head).to_have_attribute("aria-expanded", "false")
    team.page.goto(team.page.url.partition("?")[0] + f"?event={OSLO[1]}")
    expect(team.row(OSLO[1])).to_be_visible()
    team.row(FAN[0]).hover()
    team.row(FAN[0]).get_by_role("button", name="Fold these events").click()
    expect(team.row(FAN[0])).to_contain_text(f"+{len(FAN) - 1}")
    team.page.keyboard.press("ArrowRight")
    expect(team.row(FAN[-1])).to_be_visible()


def test_checkpoints_fold_into_the_row_before_them_until_they_are_asked_for(visit):
    story = visit.session("story_flow", ["A story about a lighthouse"])
    kinds = values(story.events, "class")
    first = next(n for n, kind in enumerate(kinds, 1) if "k-text" in kind)
    assert "k-state" in kinds[first - 2]
    assert "k-checkpoint" in kinds[first]
    expect(story.row(first - 1)).to_be_visible()
    expect(story.row(first + 1)).to_be_hidden()
    shown = values(story.events.filter(visible=True), "class")
    assert sum("k-checkpoint" in kind for kind in shown) == 2  # those with which an agent begins
    story.row(first).get_by_role("button", name="more events").click()
    expect(story.row(first + 1)).to_be_visible()
    story.page.goto(f"{story.page.url.partition('?')[0]}?event={first + 1}")
    expect(story.row(first + 1)).to_be_visible()
    story.page.keyboard.press("j")
    expect(story.row(first + 1)).to_have_attribute("aria-selected", "false")


def test_the_first_row_of_an_agent_unfolds_its_checkpoints_and_folds_the_agent(visit):
    story = visit.session("story_flow", ["A story about a lighthouse"])
    authors = values(story.events, "data-path")
    first = next(n for n, path in enumerate(authors, 1) if path and path.endswith("/Critic"))
    critic, visible = story.row(first), story.events.filter(visible=True)
    before = visible.count()
    button = critic.locator("[data-fold-row]")
    expect(button).to_have_text("+2")
    button.click()
    expect(visible).to_have_count(before + 2)
    button.click()  # its second turn is folded with the first
    expect(button).to_have_text(re.compile(r"^\+1\b"))
    button.click()
    expect(button).to_have_text("+2")
    expect(visible).to_have_count(before)


def test_a_row_of_parallel_calls_shows_the_name_of_each(visit):
    pair = visit.session("pair", ["Go"])
    calls, results = (pair.row(number).locator(".what") for number in (2, 3))
    expect(calls).to_have_text('list_flights(origin="Zuric…), get_weather(city="Rome")')
    expect(results).to_have_text('list_flights → {"flights": […, get_weather → {"city": "Rom…')
    second = "(row) => { const r = new Range(), t = row.firstChild, at = t.data.indexOf('get_w');"
    second += " r.setStart(t, at); r.setEnd(t, at + 11);"
    second += " return r.getBoundingClientRect().right - row.getBoundingClientRect().right }"
    assert calls.evaluate(second) <= 0
