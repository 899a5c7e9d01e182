"""Trial calls and the guard, as a person uses them."""

import pytest
from playwright.sync_api import expect

from tests.api.test_guard import SHOP
from tests.api.test_trials import BENCH
from tests.kit.server import running, write_app

pytestmark = pytest.mark.browser


SLOW = """
import asyncio
from pathlib import Path

from devui.runtime.agents import Agent
from devui.runtime.models import Say, Rule, ScriptedLlm
from devui.runtime.tools import read_only


@read_only
async def wait(name: str) -> str:
    try:
        while not Path(name).exists():
            await asyncio.sleep(0.02)
    except asyncio.CancelledError:
        Path(name + ".left").touch()
        raise
    return "it came"


root_agent = Agent(name="slow", model=ScriptedLlm(rules=[Rule(then=Say("yes"))]), tools=[wait])
"""


MAIL = """
from devui.runtime.agents import Agent
from devui.runtime.models import Call, Rule, Say, ScriptedLlm


def send(to: str) -> str:
    return f"sent to {to}"


def fetch() -> str: ...
def sort() -> str: ...


rules = [Rule(after="send", then=Say("done")), Rule(then=Call("send", to="Bob"))]
root_agent = Agent(name="mail", model=ScriptedLlm(rules=rules), tools=[send, fetch, sort])
"""


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    folder = tmp_path_factory.mktemp("trials")
    write_app(folder / "agents", "bench", BENCH)
    write_app(folder / "agents", "shop", SHOP)
    write_app(folder / "agents", "slow", SLOW)
    write_app(folder / "agents", "mail", MAIL)
    write_app(folder / "agents", "post", MAIL)
    with running(folder / "agents", folder / "data") as server:
        yield server


def test_a_tool_is_tried_from_its_call_and_a_model_is_asked_again_with_edits(visit):
    session = visit.session("bench", ["count"])
    count, keyboard = session.events.count(), session.page.keyboard
    session.select(2)
    session.tab("event")
    session.panel.get_by_text("Try tool").press("Enter")
    step = session.panel.get_by_label("step int", exact=True)
    expect(step).to_have_value("1")
    step.fill("3")
    keyboard.press("Enter")
    trial = session.panel.locator(".trial")
    expect(trial).to_contain_text("count(step=3) with the state as of #2")
    expect(trial.locator(".vars")).to_contain_text("n")
    expect(trial).to_contain_text("n.txt")
    session.tab("request")
    session.panel.get_by_text("Ask again with edits").click()
    session.panel.get_by_label("message 1, user").fill("good evening")
    session.panel.get_by_role("button", name="Ask again", exact=True).click()
    answer = session.panel.locator(".trial")
    expect(answer.locator(".side-by-side")).to_contain_text("hello")
    expect(answer.locator("del").first).to_contain_text("count")
    assert session.events.count() == count
    again = visit.again(session, "?event=2&tab=request")
    expect(again.panel.locator("#ask-again .trial")).to_contain_text("differs from the recording")


def test_a_tool_can_be_tried_from_its_result_too(visit):
    session = visit.session("bench", ["count"])
    session.select(3)
    session.tab("event")
    session.panel.get_by_text("Try tool").click()
    expect(session.panel.get_by_label("step int", exact=True)).to_have_value("1")
    session.panel.get_by_role("button", name="Run", exact=True).click()
    trial = session.panel.locator(".trial")
    expect(trial).to_contain_text("count(step=1) with the state as of #2")


def test_the_apps_page_shows_tool_effects_and_runs_unknown_tools_on_request(visit):
    page = visit.open("/apps/bench")
    page.locator(".app-tools > summary").click()
    fail = page.locator(".tools .tool", has=page.get_by_text("fail", exact=True))
    effect = fail.get_by_role("combobox")
    expect(effect).to_contain_text("side effects unknown")
    fail.get_by_text("Try it").click()
    fail.get_by_label("how str", exact=True).fill("soft")
    fail.get_by_role("button", name="Run anyway", exact=True).click()
    expect(fail.locator(".trial .error-box")).to_contain_text("ValueError: no luck (bench/agent.py")
    effect.select_option("read-only")
    expect(effect).to_have_value("read_only")
    page.reload()
    page.locator(".app-tools > summary").click()
    expect(effect).to_have_value("read_only")


def test_the_effects_of_a_tool_are_shown_where_it_is_tried(visit):
    session = visit.session("mail", ["go"])
    session.select(2)
    session.tab("event")
    panel = session.panel
    panel.get_by_text("Try tool").click()
    expect(panel.locator(".warn")).to_contain_text("doesn't know whether this tool has side")
    panel.locator(".try").get_by_label("to str", exact=True).fill("Ada")
    panel.get_by_role("button", name="Mark as read-only").first.click()
    expect(panel.locator(".warn")).to_have_count(0)
    expect(panel.locator(".trial")).to_have_count(0)
    expect(panel.locator(".try").get_by_label("to str", exact=True)).to_have_value("Ada")
    panel.get_by_role("button", name="Run", exact=True).click()
    expect(panel.locator(".trial")).to_contain_text("sent to Ada")


def test_all_tools_with_unknown_effects_are_set_at_once(visit):
    page = visit.open("/apps/post")
    page.locator(".app-tools > summary").click()
    effects = page.locator(".tools .tool select")
    chosen = "(selects) => selects.map((select) => select.value)"
    expect(effects).to_have_count(3)
    effects.nth(1).select_option("idempotent")
    whole = page.locator(".set-all")
    expect(whole).to_contain_text("Set all 2 unknown tools to")
    whole.get_by_role("combobox").select_option("effects")
    expect(whole).to_have_count(0)
    assert effects.evaluate_all(chosen) == ["effects", "idempotent", "effects"]
    page.reload()
    page.locator(".app-tools > summary").click()
    expect(effects).to_have_count(3)
    assert effects.evaluate_all(chosen) == ["effects", "idempotent", "effects"]


def test_a_slow_tool_is_waited_for_and_can_be_cancelled(visit, tmp_path):
    page = visit.open()
    page.clock.install()
    page.goto(f"{visit.server.url}/apps/slow")
    page.locator(".app-tools > summary").click()
    tool = page.locator(".tools .tool", has=page.get_by_text("wait", exact=True))
    tool.get_by_text("Try it").click()
    run = tool.get_by_role("button", name="Run", exact=True)
    waits = tool.get_by_text("Waiting for the tool").first
    tool.get_by_label("name str", exact=True).fill(str(tmp_path / "come"))
    run.click()
    expect(waits).to_be_visible()
    page.clock.fast_forward(120_000)  # other requests have timed out by then
    (tmp_path / "come").touch()
    expect(tool.locator(".trial")).to_contain_text("it came")
    tool.get_by_label("name str", exact=True).fill(str(tmp_path / "never"))
    run.click()
    expect(waits).to_be_visible()
    tool.get_by_role("button", name="Cancel").first.click()
    expect(waits).to_be_hidden()
    expect(run).to_be_enabled()
    page.clock.resume()
    while not (tmp_path / "never.left").exists():  # bounded by the suite's time limit
        page.reload()


def test_a_forked_run_stops_before_a_tool_with_effects_and_reuses_its_result(visit):
    session = visit.session("shop", ["go"])
    session.select(1)
    session.tab("event")
    session.page.keyboard.press("f")
    session.panel.get_by_role("button", name="Fork and run").click()
    guard = session.page.locator(".held-guard")
    expect(guard).to_contain_text("This tool has side effects. It already ran with these")
    expect(guard).to_contain_text("The recorded result will be used.")
    expect(session.page.locator("#held .edit-notice, #held .change[open]")).to_have_count(0)
    expect(guard).to_contain_text("#5 in the parent session")
    expect(guard.locator("[aria-pressed=true]")).to_have_text("Use recorded result")
    session.page.locator("#rows").press("c")
    session.ends()
    expect(session.page.locator("#messages")).to_contain_text("done: paid 7")
    expect(session.row(5)).to_contain_text("mocked")
    mocked = session.page.url
    session.page.go_back()
    session.panel.get_by_role("button", name="Fork and run").click()
    guard.get_by_role("button", name="Run again").click()
    expect(guard.locator("[aria-pressed=true]")).to_have_text("Run again")
    expect(guard).to_contain_text("The tool will run again.")
    session.page.locator("#rows").press("c")
    session.ends()
    expect(session.row(5)).to_contain_text("paid 7")
    expect(session.row(5)).not_to_contain_text("mocked")
    session.page.goto(f"{mocked.partition('?')[0]}?event=5&tab=event")
    expect(session.panel.locator(".edits h3")).to_have_text("Changed by the guard")
