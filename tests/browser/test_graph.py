"""The graph of an app and its runs, as a person sees and uses it."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser.test_run_activity import press
from tests.kit.patience import wait_until
from tests.kit.server import running, write_app

pytestmark = pytest.mark.browser

TIMES = "\N{MULTIPLICATION SIGN}"
PIPELINE = """
from devui.runtime.agents import Agent, LoopAgent, ParallelAgent, SequentialAgent
from devui.runtime.models.scripted_llm import Call, Rule, Say, ScriptedLlm
from devui.runtime.tools.agent_tool import AgentTool


def lookup(city: str) -> str:
    return city


def say(name, text, **more):
    return Agent(name=name, model=ScriptedLlm(rules=[Rule(then=Say(text))]), **more)


rules = [Rule(after="lookup", then=Say("done")), Rule(then=Call("lookup", city="Oslo"))]
planner = Agent(
    name="planner",
    model=ScriptedLlm(rules=rules),
    tools=[lookup, AgentTool(agent=say("helper", "hm"))],
)
gather = ParallelAgent(name="gather", sub_agents=[say("web", "w"), say("papers", "p")])
pair = [say("critic", "c"), say("writer", "w")]
polish = LoopAgent(name="polish", max_iterations=2, sub_agents=pair)
root_agent = SequentialAgent(name="pipeline", sub_agents=[planner, gather, polish])
"""
WAITING = """
import asyncio
from pathlib import Path

from devui.runtime.agents import Agent, ParallelAgent
from devui.runtime.models.scripted_llm import Call, Rule, Say, ScriptedLlm


async def fetch(page: int) -> str:
    while not Path(__file__).with_name(f"page-{page}").exists():
        await asyncio.sleep(0.01)
    return "text"


def reader(name, then, pages=1):
    rules = [
        Rule(after="fetch", calls=pages, then=Say("done")),
        Rule(after="fetch", then=Call("fetch", page=2)),
        Rule(then=Call("fetch", page=then)),
    ]
    return Agent(name=name, model=ScriptedLlm(rules=rules), tools=[fetch])


pair = [reader("both", 1, pages=2), reader("last", 2)]
root_agent = ParallelAgent(name="readers", sub_agents=pair)
"""


@pytest.fixture(scope="module")
def agents(tmp_path_factory):
    folder = tmp_path_factory.mktemp("graph") / "agents"
    # Several apps, so that a breakpoint in one doesn't affect the others.
    for app in ("pipeline", "full", "edited"):
        write_app(folder, app, PIPELINE)
    write_app(folder, "waiting", WAITING)
    write_app(folder, "sick", "root_agent = missing")
    return folder


@pytest.fixture(scope="module")
def server(agents):
    with running(agents, agents.parent / "data") as server:
        yield server


def node(page, name):
    return page.locator(".graph .node").filter(has=page.locator(f"text.name:text-is('{name}')"))


def test_the_graph_follows_the_run_and_links_to_its_events(visit, tmp_path):
    session = visit.session("pipeline")
    page = session.page
    press(session, "8")
    session.send("go")
    session.ends()
    expect(page.locator("#graph .node")).to_have_count(11)
    expect(node(page, "planner")).to_have_class(re.compile("s-done"))
    expect(node(page, "lookup").locator("title")).to_have_text(re.compile("has run, 1"))
    expect(node(page, "critic").locator(".detail")).to_contain_text(f"2{TIMES}")
    expect(node(page, "helper").first).to_have_class(re.compile("s-idle"))
    expect(page.locator(".graph .line.back.taken")).to_have_count(1)

    node(page, "lookup").click()
    menu = page.locator(".graph-menu:popover-open")
    expect(menu.locator("code")).to_have_text("pipeline/agent.py:7")
    with page.expect_response(re.compile("/breakpoints")):
        menu.get_by_role("button", name="Add breakpoint").click()
    expect(menu).to_have_count(0)

    page.get_by_role("button", name="Zoom in").click()
    expect(page.locator(".graph-view")).to_have_class(re.compile("zoomed"))
    session.send("again")
    expect(node(page, "lookup")).to_have_class(re.compile("s-held"))
    page.locator("#do-continue").click()
    session.ends()
    expect(node(page, "lookup").locator(".detail")).to_have_text(f"2{TIMES}")

    page.goto(f"{page.url.partition('?')[0]}?event=1&tab=graph")
    expect(page.locator("#graph h2")).to_have_text("As of #1")
    expect(node(page, "critic")).to_have_class(re.compile("s-idle"))

    node(page, "critic").focus()
    page.keyboard.press("ArrowDown")
    expect(node(page, "writer")).to_be_focused()
    page.keyboard.press("Enter")
    page.locator(".graph-menu:popover-open").get_by_role("link", name="Filter").click()
    expect(page).to_have_url(re.compile("event=1&tab=graph&filter=author%3A%22writer%22"))
    expect(node(page, "writer")).to_be_focused()
    expect(page.locator("#rows .row:not(.astray)")).to_have_count(4)
    address = page.url.partition("?")[0].replace("/sessions/", "/api/sessions/")
    exported = page.request.get(f"{address}/export?format=html").text()
    assert 'class="node card k-agent s-done"' in exported
    assert "graph-menu" not in exported.partition('<details class="graph-fold">')[2]
    visit.allow("request to another origin: file:")
    (tmp_path / "session.html").write_text(exported, encoding="utf-8")
    page.goto((tmp_path / "session.html").as_uri())
    page.locator(".graph-fold > summary").click()
    expect(node(page, "critic").locator(".detail")).to_be_visible()
    expect(node(page, "critic").locator(".detail")).to_contain_text(f"4{TIMES}")
    expect(page.locator("#graph h2")).to_have_text(re.compile("As of #"))


def test_the_graph_shows_the_second_call_of_a_branch_as_running(visit, agents):
    session = visit.session("waiting")
    page = session.page
    press(session, "8")
    session.send("go")
    fetch = page.locator(".graph .node", has=page.locator("text.name:text-is('fetch')"))
    expect(fetch.first).to_have_class(re.compile("s-running"))
    (agents / "waiting" / "page-1").touch()
    expect(fetch.first.locator("title")).to_have_text(re.compile(f"running, 2{TIMES}"))
    (agents / "waiting" / "page-2").touch()
    session.ends()
    expect(fetch.first.locator("title")).to_have_text(re.compile(f"has run, 2{TIMES}"))


WIDE = """
from devui.runtime.agents import Agent, ParallelAgent
from devui.runtime.models.scripted_llm import Rule, Say, ScriptedLlm


def team(name):
    model = ScriptedLlm(rules=[Rule(then=Say("x"))])
    pair = [Agent(name=f"{name}_worker_{number}", model=model) for number in range(COUNT)]
    return ParallelAgent(name=name, sub_agents=pair)


root_agent = team("wide")
"""


@pytest.mark.parametrize("count", range(2, 7))
def test_names_in_a_graph_of_any_width_are_legible(visit, agents, count):
    write_app(agents, f"wide{count}", WIDE.replace("COUNT", str(count)))
    session = visit.session(f"wide{count}", ["go"])
    press(session, "8")
    name = node(session.page, "wide_worker_1").locator("text.name")
    expect(name).to_be_attached()
    assert name.evaluate(SIZE_OF_TEXT) > 9.9


SIZE_OF_TEXT = """(text) =>
    parseFloat(getComputedStyle(text).fontSize) * text.getScreenCTM().a"""
FITS = """() => {
    const room = document.querySelector(".graph-view").getBoundingClientRect();
    const svg = document.querySelector(".graph-view svg").getBoundingClientRect();
    const fills = Math.max(svg.width / room.width, svg.height / room.height);
    return svg.width <= room.width && svg.height <= room.height && fills > 0.9;
}"""
SMALL_TARGETS = """() => [...document.querySelectorAll("[data-graph-tools] button")]
    .filter((button) => button.checkVisibility())
    .filter((button) => Math.min(button.offsetWidth, button.offsetHeight) < 44)
    .map((button) => button.textContent)"""


def fills_the_screen(page):
    page.get_by_role("button", name="Full screen").click()
    expect(page.locator("#graph:fullscreen")).to_be_visible()
    fits(page)


def fits(page):
    """Wait until the drawing fills its area.

    `wait_for_function` would poll with `eval`, which the page's policy forbids.
    """
    wait_until(lambda: page.evaluate(FITS))


def test_in_full_screen_the_graph_fits_and_has_its_controls(visit):
    session = visit.session("full", ["go"])
    page = session.page
    press(session, "8")
    fills_the_screen(page)
    key = page.locator(".graph-key")
    for word in ("has run", "running", "paused", "failed", "not run"):
        expect(key.get_by_text(word, exact=True)).to_be_in_viewport(ratio=1)
    drawing = page.locator(".graph-view svg")
    width = drawing.bounding_box()["width"]
    page.keyboard.press("+")
    assert drawing.bounding_box()["width"] > width * 1.2
    page.get_by_role("button", name="Zoom out").click()
    assert drawing.bounding_box()["width"] == pytest.approx(width, rel=0.01)
    page.get_by_role("button", name="Zoom in").click()
    page.get_by_role("button", name="Fit").click()
    fits(page)

    node(page, "critic").click()
    expect(page.locator(".graph-menu:popover-open")).to_be_in_viewport(ratio=1)


def test_on_a_phone_the_graph_and_its_controls_fit_the_screen(visit):
    session = visit.session("full", ["go"])
    page = session.page
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(f"{page.url}?tab=graph")
    page.locator(".pane-tabs").get_by_text("Inspector").click()
    fills_the_screen(page)
    assert page.evaluate(SMALL_TARGETS) == []
    page.get_by_role("button", name="Close", exact=True).click()
    expect(page.locator(":fullscreen")).to_have_count(0)
    expect(page.get_by_role("button", name="Close", exact=True)).to_be_hidden()
    expect(page.get_by_role("button", name="Full screen")).to_be_focused()


def test_full_screen_of_another_element_leaves_the_focus_alone(visit):
    session = visit.session("full", ["go"])
    page = session.page
    press(session, "8")
    expect(page.get_by_role("button", name="Full screen")).to_be_visible()
    session.composer.click()
    page.evaluate("document.querySelector('#messages').requestFullscreen()")
    expect(page.locator("#messages:fullscreen")).to_be_visible()
    page.evaluate("document.exitFullscreen()")
    expect(page.locator(":fullscreen")).to_have_count(0)
    expect(page.get_by_role("button", name="Full screen")).not_to_be_focused()


def test_an_apps_page_shows_its_graph_and_redraws_it_when_the_code_changes(visit, agents):
    page = visit.open("/apps/edited")
    page.set_viewport_size({"width": 1280, "height": 500})
    page.reload()
    expect(node(page, "lookup")).to_be_visible()
    assert page.evaluate("scrollY") == 0, "nobody has asked for the graph"
    write_app(agents, "edited", PIPELINE.replace("lookup", "find_city"))
    expect(node(page, "find_city")).to_be_visible()
    expect(node(page, "lookup")).to_have_count(0)

    page.locator(".app-graph > summary").click()
    write_app(agents, "edited", PIPELINE)
    page.locator(".app-tools > summary").click()
    expect(page.locator(".app-tools")).to_contain_text("lookup(")
    expect(page.locator(".app-graph .node").first).to_be_hidden()


def test_the_graph_of_a_broken_app_is_drawn_once_the_app_is_fixed(visit, agents):
    page = visit.open("/apps/sick")
    expect(page.locator(".failure")).to_be_attached()
    page.reload()
    expect(page.locator("#app-graph")).to_be_hidden()
    page.locator(".app-graph > summary").click()
    expect(page.locator("#app-graph")).to_contain_text("Can't draw the app")
    write_app(agents, "sick", PIPELINE)
    expect(node(page, "lookup")).to_be_visible()
