"""Where the time of a run goes, as a person sees it on the page."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser.test_standing import let_go, press
from tests.kit.browser import Visit
from tests.kit.model_call_apps import teller
from tests.kit.server import running, write_app
from tests.kit.stuck_apps import APPS

pytestmark = pytest.mark.browser

TALKING = """
from devui.runtime.agents import Agent
from devui.runtime.models.scripted_llm import Rule, Say, ScriptedLlm

rules = [Rule(then=Say("word " * 9000, chunks=9000, delay=0.1))]
root_agent = Agent(name="talking", model=ScriptedLlm(rules=rules))
"""


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    folder = tmp_path_factory.mktemp("trace")
    write_app(folder / "agents", "teller", teller())
    write_app(folder / "agents", "sleeping", APPS["sleeping"])
    write_app(folder / "agents", "talking", TALKING)
    with running(folder / "agents", folder / "data") as started:
        yield started


@pytest.fixture(scope="module")
def signed_in(browser, server):
    context = browser.new_context()
    with Visit(context, server) as visit:
        visit.context.new_page().goto(server.link)
        return context.storage_state()


def test_a_run_that_is_over_is_a_waterfall_that_leads_to_its_events(visit):
    session = visit.session("teller")
    session.send("How is the weather?")
    session.ends()
    press(session, "8")
    lines = session.page.locator("#trace tbody tr")
    expect(lines).to_have_count(4)
    expect(lines.locator("th")).to_have_text(
        [re.compile("teller"), re.compile("test-model"), re.compile("weather"), re.compile("test-")]
    )
    expect(lines.nth(2)).to_have_attribute("aria-level", "2")
    expect(lines.nth(1).locator("td.num")).to_have_text(re.compile("ms|s"))
    lines.nth(0).get_by_role("link").focus()
    session.page.keyboard.press("ArrowDown")
    session.page.keyboard.press("ArrowDown")
    expect(lines.nth(2).get_by_role("link")).to_be_focused()
    session.page.keyboard.press("Enter")
    expect(session.page.locator('#e-3[aria-selected="true"]')).to_be_visible()
    press(session, "8")
    expect(session.page.locator("#trace tr.chosen th")).to_contain_text("weather")
    with session.page.expect_download() as saved:
        session.page.get_by_role("link", name="OTLP JSON").click()
    assert "resourceSpans" in saved.value.path().read_text(encoding="utf-8")


def test_a_run_that_goes_on_shows_its_spans_as_they_begin_and_end(visit, server):
    let_go(server, "sleeping", go=False)
    session = visit.session("sleeping")
    press(session, "8")
    expect(session.page.locator("#trace h2")).to_contain_text("No spans")
    session.send("go")
    tool = session.page.locator("#trace tr.t-tool")
    expect(tool).to_have_class(re.compile("going"))
    expect(tool.locator("td.num")).to_have_text("…")
    let_go(server, "sleeping")
    session.ends()
    expect(tool).not_to_have_class(re.compile("going"))
    expect(session.page.locator("#trace h2")).to_contain_text("Where the time went")
    expect(session.page.locator("#trace tr.t-model")).to_have_count(2)


def test_a_model_that_streams_is_shown_while_it_does(visit):
    session = visit.session("talking")
    press(session, "8")
    session.send("go")
    model = session.page.locator("#trace tr.t-model")
    expect(model).to_have_class(re.compile("going"))
    expect(session.events).to_have_count(1)  # the answer is not whole yet
    session.page.get_by_role("button", name="Stop").first.click()
    session.ends("stopped")


def test_the_trace_stays_beside_the_event_it_selects_and_marks_when_the_run_was_held(visit):
    session = visit.session("teller")
    session.page.get_by_label("pause first").check()
    session.send("How is the weather?")
    for number in (1, 2):
        buttons = session.page.locator("#debugger")
        buttons.get_by_role("button", name="Step", exact=True).click()
        expect(session.row(number)).to_be_visible()
    session.page.locator("#do-continue").click()
    session.ends()
    press(session, "8")
    expect(session.page.locator("#trace h2")).to_contain_text("held for")
    expect(session.page.locator("#trace .holds").first).to_be_attached()
    session.page.locator("#trace tr.t-tool").click()
    expect(session.page.locator('#e-3[aria-selected="true"]')).to_be_visible()
    expect(session.page.locator("#trace tr.chosen th")).to_contain_text("weather")
    assert session.page.evaluate("document.scrollingElement.scrollTop") == 0
