"""The timeline read like a trace: depth, lanes, calls with their results, and folds."""

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
DUO = """
from devui.runtime.agents import Agent
from devui.runtime.models.scripted_llm import Call, Rule, Say, ScriptedLlm

hello = Rule(user="hello", then=Say("Good morning."))
ask = Rule(then=Call("transfer_to_agent", agent_name="Clerk"))
clerk = Agent(name="Clerk", model=ScriptedLlm(rules=[Rule(then=Say("Here I am."))]))
root_agent = Agent(name="Porter", model=ScriptedLlm(rules=[hello, ask]), sub_agents=[clerk])
"""
STATE = """
from devui.runtime.agents import Agent, SequentialAgent
from devui.runtime.models.scripted_llm import Rule, Say, ScriptedLlm


def count_turn(callback_context):
    callback_context.state["turns"] = callback_context.state.get("turns", 0) + 1


def settle(callback_context):
    callback_context.state["bill"] = 84
    callback_context.state["tip"] = 8


def waiter(name, **callbacks):
    model = ScriptedLlm(rules=[Rule(then=Say("Enjoy."))])
    return Agent(name=name, model=model, **callbacks)


Ann = waiter("Ann", before_agent_callback=count_turn, after_agent_callback=settle)
Ben = waiter("Ben", before_agent_callback=count_turn)
root_agent = SequentialAgent(name="Inn", sub_agents=[Ann, Ben])
"""
RACE = """
import asyncio

from devui.runtime.agents import Agent, ParallelAgent
from devui.runtime.models.scripted_llm import Call, Rule, Say, ScriptedLlm


async def wait(seconds: float) -> str:
    await asyncio.sleep(seconds)
    return "done"


def runner(name, seconds):
    rules = [Rule(after="wait", then=Say("Done.")), Rule(then=Call("wait", seconds=seconds))]
    return Agent(name=name, model=ScriptedLlm(rules=rules), tools=[wait])


root_agent = ParallelAgent(name="Race", sub_agents=[runner("Slow", 0.6), runner("Fast", 0.4)])
"""
TURNS, WORDS, SETTLED, OTHER_TURNS = 2, 3, 4, 5
"""The numbers of Ann's events, and of Ben's first one."""
FAN, OSLO = range(2, 8), range(8, 11)
"""The numbers of these agents' events."""


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tree")
    write_app(folder / "agents", "team", TEAM)
    write_app(folder / "agents", "pair", PAIR)
    write_app(folder / "agents", "inn", STATE)
    write_app(folder / "agents", "duo", DUO)
    write_app(folder / "agents", "race", RACE)
    for sample in ("story_flow", "refunds"):
        shutil.copytree(SAMPLES / sample, folder / "agents" / sample)
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


def test_the_duration_of_a_parallel_branchs_event_counts_from_its_own_last_event(visit):
    race = visit.session("race", ["Go"])
    columns = race.cell("who"), race.cell("kind"), values(race.events, "data-seconds")
    rows = zip(*columns, strict=True)
    seconds = {who: float(took) for who, kind, took in rows if kind == "result"}
    assert seconds["Fast"] >= 0.4
    assert seconds["Slow"] >= 0.6, "the result of the other branch came in between"
    race.page.goto(f"{race.page.url}?filter=kind:result+seconds%3E0.59")
    expect(race.events).to_have_count(1)
    assert race.cell("who") == ["Slow"]


def test_a_call_and_its_result_read_as_one_row_until_shown_separately(team):
    call, result = OSLO[0], OSLO[1]
    assert height(team, call) + height(team, result) < 2 * height(team, 1)
    expect(team.row(FAN[3])).not_to_have_class(re.compile("answers"))  # another branch between
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


def test_checkpoints_are_folded_into_the_previous_row(visit):
    story = visit.session("story_flow", ["A story about a lighthouse"])
    kinds = values(story.events, "class")
    first = next(n for n, kind in enumerate(kinds, 1) if "k-text" in kind)
    assert "k-state" in kinds[first - 2]
    assert "k-checkpoint" in kinds[first]
    expect(story.row(first - 1)).to_be_visible()
    expect(story.row(first + 1)).to_be_hidden()
    shown = values(story.events.filter(visible=True), "class")
    assert not any("k-checkpoint" in kind for kind in shown)
    story.row(first).get_by_role("button", name="more events").click()
    expect(story.row(first + 1)).to_be_visible()
    story.page.goto(f"{story.page.url.partition('?')[0]}?event={first + 1}")
    expect(story.row(first + 1)).to_be_visible()
    story.page.keyboard.press("j")
    expect(story.row(first + 1)).to_have_attribute("aria-selected", "false")


def test_the_first_row_of_an_agent_unfolds_its_checkpoints_and_folds_the_agent(visit):
    story = visit.session("story_flow", ["A story about a lighthouse"])
    paths, kinds = values(story.events, "data-path"), values(story.events, "class")
    loop = [n for n, path in enumerate(paths, 1) if path and "/CriticReviserLoop" in path]
    checkpoint, first = loop[:2]
    assert "k-checkpoint" in kinds[checkpoint - 1]
    head, visible = story.row(first), story.events.filter(visible=True)
    before = visible.count()
    button = head.locator("[data-fold-row]")
    expect(button).to_contain_text(re.compile(r"^\+2\b"))
    button.click()
    expect(visible).to_have_count(before + 2)
    button.click()  # folds the loop that starts here, though its checkpoint is above
    expect(button).to_contain_text(re.compile(rf"^\+{loop[-1] - first + 2}\b"))
    expect(story.row(checkpoint)).to_be_hidden()
    expect(visible).to_have_count(before - 3)
    button.click()
    expect(button).to_contain_text(re.compile(r"^\+2\b"))
    expect(visible).to_have_count(before)


def test_the_author_column_appears_once_a_second_agent_speaks(visit):
    duo = visit.session("duo", ["hello", "hello"])
    column, authors = duo.page.locator(".heads .who"), duo.events.locator(".who")
    expect(column).to_be_hidden()
    expect(authors.filter(visible=True)).to_have_count(0)
    duo.say("The clerk, please")
    expect(column).to_be_visible()
    expect(authors.filter(visible=True).last).to_have_text("Clerk")
    expect(authors.filter(visible=True).first).to_have_text("user")
    visit.again(duo).equals(duo, "#rows")


def test_a_workflow_has_an_author_column_for_its_nodes(visit):
    refunds = visit.session("refunds", ["Please refund 18"])
    expect(refunds.page.locator(".heads .who")).to_be_visible()


def test_on_phones_the_kind_is_an_icon_with_a_word_for_screen_readers(visit):
    pair = visit.session("pair", ["Go"])
    pair.page.set_viewport_size({"width": 390, "height": 800})
    pair.page.get_by_role("tab", name="Events", exact=True).first.click()
    kind, text = pair.row(2).locator(".kind"), pair.row(2).locator(".what")
    expect(kind).to_have_text("call")
    assert kind.bounding_box()["width"] < 30
    assert text.bounding_box()["width"] > 190


def test_state_changes_fold_into_their_agents_previous_row_and_name_the_keys(visit):
    inn = visit.session("inn", ["Hello"])
    expect(inn.row(SETTLED)).to_be_hidden()
    for number in (TURNS, OTHER_TURNS):  # the row above is the user's or another agent's
        expect(inn.row(number)).to_be_visible()
    button = inn.row(WORDS).get_by_role("button", name="Show 1 more event, changes bill, tip")
    expect(button).to_have_text("+1 · Δ bill, tip")
    button.click()
    expect(inn.row(SETTLED)).to_be_visible()
    inn.row(WORDS).locator("[data-fold-row]").click()
    expect(inn.row(SETTLED)).to_be_hidden()
    inn.page.goto(f"{inn.page.url.partition('?')[0]}?event={SETTLED}")
    expect(inn.row(SETTLED)).to_be_visible()
    inn.page.goto(f"{inn.page.url.partition('?')[0]}?filter=kind%3Astate")
    expect(inn.events).to_have_count(3)
    expect(inn.row(SETTLED)).to_be_visible()


def test_a_folded_row_that_gets_a_note_becomes_visible(visit, server):
    inn = visit.session("inn", ["Hello"])
    expect(inn.row(SETTLED)).to_be_hidden()
    key = re.search(r"/sessions/(\d+)", inn.page.url)[1]
    with server.client() as client:
        client.patch(f"/api/sessions/{key}/notes/{SETTLED}", json={"text": "why 84?"})
    expect(inn.row(SETTLED)).to_be_visible()
    expect(inn.row(WORDS).locator("[data-fold-row]")).to_have_count(0)


def test_a_row_of_parallel_calls_shows_the_name_of_each(visit):
    pair = visit.session("pair", ["Go"])
    calls, results = (pair.row(number).locator(".what") for number in (2, 3))
    expect(calls).to_have_text('list_flights(origin="Zuric…), get_weather(city="Rome")')
    expect(results).to_have_text('list_flights → {"flights": […, get_weather → {"city": "Rom…')
    second = "(row) => { const r = new Range(), t = row.firstChild, at = t.data.indexOf('get_w');"
    second += " r.setStart(t, at); r.setEnd(t, at + 11);"
    second += " return r.getBoundingClientRect().right - row.getBoundingClientRect().right }"
    assert calls.evaluate(second) <= 0
