"""Where a run spends its time, as a person sees it on the page."""

import re
from itertools import pairwise

import pytest
from playwright.sync_api import expect

from tests.browser.test_run_activity import let_go, press
from tests.kit.browser import SessionPage, Visit
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

LOOP = """
from devui.runtime.agents import Agent, LoopAgent
from devui.runtime.models.scripted_llm import Rule, Say, ScriptedLlm

writer = Agent(name="writer", model=ScriptedLlm(rules=[Rule(then=Say("Dear friend"))]))
root_agent = LoopAgent(name="loop", max_iterations=3, sub_agents=[writer])
"""


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    folder = tmp_path_factory.mktemp("trace")
    write_app(folder / "agents", "teller", teller())
    write_app(folder / "agents", "sleeping", APPS["sleeping"])
    write_app(folder / "agents", "talking", TALKING)
    write_app(folder / "agents", "loop", LOOP)
    with running(folder / "agents", folder / "data") as server:
        yield server


def test_a_finished_run_is_a_waterfall_that_links_to_its_events(visit):
    session = visit.session("teller")
    session.send("How is the weather?")
    session.ends()
    press(session, "v")
    lines = session.page.locator("#trace tbody tr")
    expect(lines).to_have_count(4)
    expect(lines.locator("th")).to_have_text(
        [re.compile("teller"), re.compile("test-model"), re.compile("weather"), re.compile("test-")]
    )
    expect(lines.nth(2)).to_have_attribute("aria-level", "2")
    expect(lines.nth(1).locator("td.num")).to_have_text(re.compile("ms|s"))
    expect(lines.nth(0).get_by_role("link")).to_be_focused()
    session.page.keyboard.press("ArrowDown")
    session.page.keyboard.press("ArrowDown")
    expect(lines.nth(2).get_by_role("link")).to_be_focused()
    session.page.keyboard.press("Enter")
    expect(session.page.locator('#e-3[aria-selected="true"]')).to_be_attached()
    expect(session.page.locator("#trace tr.chosen th")).to_contain_text("weather")
    with session.page.expect_download() as download:
        session.page.get_by_role("link", name="OTLP JSON").click()
    assert "resourceSpans" in download.value.path().read_text(encoding="utf-8")


def test_the_trace_of_an_active_run_shows_spans_as_they_begin_and_end(visit, server):
    let_go(server, "sleeping", go=False)
    session = visit.session("sleeping")
    press(session, "v")
    expect(session.page.locator("#trace h2")).to_have_text("No runs yet")
    session.send("go")
    tool = session.page.locator("#trace tr.t-tool")
    expect(tool).to_have_class(re.compile("going"))
    expect(tool.locator("td.num")).to_have_text("…")
    let_go(server, "sleeping")
    session.ends()
    expect(tool).not_to_have_class(re.compile("going"))
    expect(session.page.locator("#trace h2")).to_have_text("go")
    expect(session.page.locator("#trace tr.t-model")).to_have_count(2)


def test_a_streaming_model_call_is_shown_in_the_trace(visit):
    session = visit.session("talking")
    press(session, "v")
    session.send("go")
    model = session.page.locator("#trace tr.t-model")
    expect(model).to_have_class(re.compile("going"))
    expect(session.events).to_have_count(1)  # the answer isn't complete yet
    session.page.get_by_role("button", name="Stop").first.click()
    session.ends("stopped")


def test_a_trace_marks_holds_and_stays_open_when_a_span_is_selected(visit):
    session = visit.session("teller")
    session.page.get_by_label("pause first").check()
    session.send("How is the weather?")
    for number in (1, 2):
        buttons = session.page.locator("#debugger")
        buttons.get_by_role("button", name="Step", exact=True).click()
        expect(session.row(number)).to_be_visible()
    session.page.locator("#do-continue").click()
    session.ends()
    press(session, "v")
    about = session.page.locator("#trace .about")
    expect(about).to_contain_text(re.compile("not counting .* paused"))
    expect(session.page.locator("#trace .holds").first).to_be_attached()
    session.page.locator("#trace tr.t-tool").click()
    expect(session.page.locator("#trace tr.chosen th")).to_contain_text("weather")
    expect(session.panel).to_contain_text("result #3")
    assert session.page.evaluate("document.scrollingElement.scrollTop") == 0
    expect(session.page.locator("#trace .runs")).to_have_count(0)  # it is the only run


def test_the_rounds_of_a_loop_are_numbered_in_rows_and_trace(visit):
    session = visit.session("loop", ["go"])
    rounds = session.events.locator(".flag.round")
    expect(rounds).to_have_text([re.compile(f"^round {number}") for number in (2, 3)])
    expect(session.row(3).locator(".flag.round")).to_have_count(1)
    visit.again(session).equals(session, "#rows")
    press(session, "v")
    names = [r"loop", *(rf"writer {n} of 3" for n in (1, 2, 3))]
    expect(session.page.locator("#trace tr.t-agent th")).to_have_text(
        [re.compile(rf"{name}$") for name in names]
    )


@pytest.mark.parametrize("scripts", [True, False], ids=["scripts", "no_scripts"])
def test_a_trace_is_titled_with_its_message_and_links_to_adjacent_runs(
    visit, browser, server, signed_in, scripts
):
    texts = [f"Weather in {city}?" for city in ("Oslo", "Rome", "Lima")]
    path = visit.session("teller", texts).path
    with Visit(browser, server, storage_state=signed_in, java_script_enabled=scripts) as reader:
        page = reader.open(f"{path}?view=trace&tab=raw")
        heading, place = page.locator("#trace h2"), page.locator("#trace .runs")
        before = page.get_by_role("link", name="Previous run")
        after = page.get_by_role("link", name="Next run")
        expect(heading).to_have_text("Weather in Lima?")
        expect(page.locator("#trace time")).to_have_attribute("datetime", re.compile(r"^20..-"))
        expect(place).to_contain_text("3 of 3")
        expect(after).to_have_attribute("aria-disabled", "true")
        before.click()
        expect(heading).to_have_text("Weather in Rome?")
        expect(place).to_contain_text("2 of 3")
        expect(page.locator("#trace tr.t-model a")).to_have_attribute(
            "href", re.compile("event=4&")
        )
        before.click()
        expect(heading).to_have_text("Weather in Oslo?")
        expect(before).to_have_attribute("aria-disabled", "true")
        after.click()
        expect(heading).to_have_text("Weather in Rome?")
        is_trace(SessionPage(page))
        expect(page).to_have_url(re.compile("event=3&"))


BOXES = """axis => [...axis.querySelectorAll('text')].map(each => {
  const { left, right } = each.getBoundingClientRect();
  return { text: each.textContent, left, right };
}).filter(each => each.right > each.left)"""


def axis_labels(page):
    """Return the visible axis labels from left to right; none may be cut off or overlap."""
    labels = page.locator("#trace .axis").evaluate(BOXES)
    edge = page.locator("#trace .trace-body").evaluate("it => it.getBoundingClientRect().right")
    assert labels[-1]["right"] <= edge, labels
    for one, other in pairwise(labels):
        assert one["right"] < other["left"], labels
    return [each["text"] for each in labels]


@pytest.mark.parametrize(("seconds", "count"), [(3.45, 3), (0.519, 5), (6.0, 6)])
def test_every_label_of_the_axis_is_readable(visit, server, seconds, count):
    began, trace = 1_700_000_000, f"{int(seconds * 1000):032x}"
    span = {"traceId": trace, "spanId": f"{1:016x}", "name": "invoke_agent teller"}
    span |= {"startTimeUnixNano": f"{began}000000000"}
    span |= {"endTimeUnixNano": str(round((began + seconds) * 1000) * 1_000_000)}
    operation = {"key": "gen_ai.operation.name", "value": {"stringValue": "invoke_agent"}}
    span |= {"attributes": [operation]}
    with server.client() as client:
        body = {"resourceSpans": [{"scopeSpans": [{"spans": [span]}]}]}
        client.post("/v1/traces", json=body).raise_for_status()
        sessions = client.get("/api/sessions").json()["sessions"]
    newest = max(session["key"] for session in sessions)
    page = visit.open(f"/sessions/{newest}?view=trace")
    expect(page.locator("#trace .axis line")).to_have_count(count)
    assert len(axis_labels(page)) == count + 1
    page.set_viewport_size({"width": 390, "height": 844})
    page.get_by_role("navigation", name="Panes").get_by_role("tab", name="Events").click()
    expect(page.locator("#trace .axis")).to_be_visible()
    assert len(axis_labels(page)) >= count


@pytest.fixture
def session(visit):
    return visit.session("teller", ["How is the weather?"])


def is_trace(session: SessionPage) -> None:
    """Check that the trace is shown and the events can't be reached."""
    expect(session.page.locator("#trace tbody tr").first).to_be_visible()
    expect(session.page.get_by_role("treegrid", name="Events")).to_have_count(0)
    expect(session.page.get_by_role("combobox", name="Filter the events")).to_have_count(0)


def test_the_view_is_in_the_address_and_survives_navigation(session, visit):
    page, choice = session.page, session.page.locator("#trace tr.chosen th")
    session.select(2)
    session.tab("request")
    page.get_by_role("tab", name="Trace", exact=True).click()
    is_trace(session)
    expect(choice).to_contain_text("test-model")
    page.locator("#trace tr.t-model").last.click()
    expect(page).to_have_url(re.compile(r"event=4&.*view=trace"))
    expect(page.locator("#tab-request")).to_have_attribute("aria-selected", "true")
    expect(session.panel).to_contain_text("400 prompt tokens")
    press(session, "k")
    expect(choice).to_contain_text("weather")
    page.locator("#m-4 .at").click()
    expect(choice).to_contain_text("test-model")
    press(session, ",")
    expect(page).to_have_url(re.compile(r"view=trace&.*at=3$"))
    is_trace(session)
    expect(choice).to_contain_text("weather")
    page.go_back()
    is_trace(session)
    page.locator("#go-live").click()
    expect(page).to_have_url(re.compile(r"/sessions/\d+\?(tab=request&)?view=trace$"))
    expect(choice).to_have_count(0)
    page.reload()
    is_trace(session)
    again = visit.open(f"{session.path}?tab=trace&event=3")
    expect(again).to_have_url(re.compile(r"\?event=3&view=trace$"))
    expect(again.locator("#tab-event")).to_have_attribute("aria-selected", "true")
    expect(again.locator("#trace tr.chosen th")).to_contain_text("weather")


def test_back_and_the_filter_key_return_to_the_events(session):
    press(session, "v")
    is_trace(session)
    session.page.go_back()
    expect(session.page.locator("#trace")).to_have_count(0)
    expect(session.row(1)).to_be_visible()
    session.page.go_forward()
    is_trace(session)
    press(session, "/")
    expect(session.page.locator("#filter-field")).to_be_focused()
    expect(session.page.locator("#trace")).to_have_count(0)


def test_quick_steps_in_the_trace_each_move_by_one_event(session):
    session.select(1)
    press(session, "v")
    is_trace(session)
    for _ in range(3):
        session.page.keyboard.press("j")
    expect(session.page).to_have_url(re.compile(r"event=4\b"))
    expect(session.page.locator("#trace tr.chosen th")).to_contain_text("test-model")


def test_new_events_are_added_while_the_trace_is_shown(session):
    press(session, "v")
    session.send("And tomorrow?")
    session.ends()
    expect(session.events).to_have_count(6)
    is_trace(session)
    press(session, "v")
    expect(session.events.last).to_be_in_viewport()
    expect(session.page.locator("#trace")).to_have_count(0)


def test_without_javascript_the_switch_is_a_link(session, browser, server, signed_in):
    with Visit(browser, server, storage_state=signed_in, java_script_enabled=False) as plain:
        page = plain.open(session.path)
        page.get_by_role("link", name="Trace", exact=True).click()
        is_trace(plain_session := SessionPage(page))
        page.locator("#trace tr.t-tool").get_by_role("link").click()
        is_trace(plain_session)
        expect(plain_session.panel).to_contain_text("weather")
        page.locator("#tab-raw").click()
        is_trace(plain_session)
        page.get_by_role("link", name="Events", exact=True).click()
        expect(plain_session.row(3)).to_be_visible()
