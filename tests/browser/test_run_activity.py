"""Why a run makes no progress, as a person finds out on the page."""

import re

import pytest
from playwright.sync_api import expect

from tests.kit.browser import SessionPage, Visit
from tests.kit.processes import suspended, worker_of
from tests.kit.server import running, write_app
from tests.kit.stuck_apps import APPS

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    folder = tmp_path_factory.mktemp("activity")
    for name, code in APPS.items():
        write_app(folder / "agents", name, code)
    with running(folder / "agents", folder / "data") as server:
        yield server


@pytest.fixture
def begin(visit, server):
    """A function that starts a run of an app; the run waits until it is released at the end."""
    begun: list[str] = []

    def start(app: str, *, pause: bool = False) -> SessionPage:
        begun.append(app)
        let_go(server, app, go=False)
        session = visit.session(app)
        if pause:
            session.page.get_by_label("pause first").check()
        session.send("go")
        expect(session.status).to_have_class(re.compile("run (running|held|waiting)"))
        return session

    yield start
    for app in begun:
        let_go(server, app)


def let_go(server, app: str, *, go: bool = True) -> None:
    file = server.agents / app / "go"
    if go:
        file.write_text("go", encoding="utf-8")
    else:
        file.unlink(missing_ok=True)


def press(session: SessionPage, key: str) -> None:
    session.page.evaluate("document.activeElement.blur()")
    session.page.keyboard.press(key)


def test_the_chat_names_the_running_tool_and_counts_its_seconds(begin, server):
    session = begin("sleeping")
    doing = session.page.locator("#live-chat .waiting")
    expect(doing).to_contain_text(re.compile(r"^look_up \d+ s$"))
    age = doing.locator("time").inner_text()
    expect(doing.locator("time")).not_to_have_text(age)
    let_go(server, "sleeping")
    session.ends()
    expect(doing).to_have_count(0)


def test_a_run_without_progress_offers_an_explanation_and_h_opens_it(begin, server):
    session = begin("sleeping")
    chip = session.page.locator("#why")
    expect(chip).to_contain_text(re.compile(r"waiting for look_up, \d+ s"))
    press(session, "h")
    activity = session.page.locator("#activity")
    call = activity.locator(".pending-calls li")
    expect(call).to_contain_text("look_up")
    expect(call).to_contain_text('{"city":"Oslo"}')
    expect(activity.locator(".task > .frames")).to_contain_text("until_told")
    expect(call.locator("time")).to_have_text(re.compile(r"\d+ s"))
    fold = activity.locator(".folded").last
    fold.locator("summary").click()
    expect(fold.locator("li").first).to_be_visible()
    age = call.locator("time").inner_text()
    expect(call.locator("time")).not_to_have_text(age)
    expect(fold.locator("li").first).to_be_visible()
    a_pause_is_taken_back(session)
    let_go(server, "sleeping")
    session.ends()
    expect(activity.locator(".pending-calls")).to_have_count(0)
    expect(activity.locator("h2")).to_have_text("Latest run: done")


def a_pause_is_taken_back(session: SessionPage) -> None:
    """Check that Continue revokes a Pause that hasn't taken effect, as the run makes no progress.

    A double click on Pause must not revoke it, although Continue is in its place by then.
    """
    plan, mouse = session.page.locator("#debugger .plan"), session.page.mouse
    session.page.locator("#do-pause").click()
    expect(plan).to_have_text("running up to the next commit")
    session.page.evaluate("addEventListener('submit', () => { window.ordered = true; }, true)")
    mouse.down(click_count=2)
    mouse.up(click_count=2)
    assert not session.page.evaluate("window.ordered")
    press(session, "c")
    expect(plan).to_have_count(0)
    expect(session.page.locator("#do-pause")).to_be_visible()


@pytest.mark.parametrize(
    ("app", "name", "function"),
    [("thread", "fetch", "fetch"), ("model", "slow-one", "generate_content_async")],
)
def test_a_thread_and_a_model_call_are_shown_with_their_line(begin, app, name, function):
    session = begin(app)
    session.page.locator("#why").click()
    activity = session.page.locator("#activity")
    expect(activity.locator(".pending-calls li b")).to_have_text(name)
    expect(activity.locator(".task > .frames").first).to_contain_text(f"{app}/agent.py:")
    expect(activity.locator(".task")).to_contain_text(function)


def test_a_tool_that_blocks_the_event_loop_is_named_until_it_returns(begin, server):
    session = begin("blocked")
    press(session, "6")
    worst = session.page.locator("#activity .whys .bad")
    expect(worst).to_contain_text("The tool crunch has been blocking the event loop")
    expect(worst).to_contain_text("blocked/agent.py:")
    expect(worst).to_contain_text("in crunch")
    expect(session.page.locator("#warnings")).to_contain_text("The tool crunch is blocking")
    let_go(server, "blocked")
    session.ends()
    expect(session.page.locator("#warnings .warn")).to_have_count(0)


def test_a_deadlock_is_shown_with_both_lines_and_can_be_stopped(begin):
    session = begin("deadlock")
    session.page.locator("#why").click()
    activity = session.page.locator("#activity")
    worst = activity.locator(".whys .bad")
    expect(worst).to_contain_text("Deadlock: tasks 2 and 3 are waiting for each other")
    expect(worst).to_contain_text(re.compile(r"2 is at deadlock/agent\.py:\d+; 3 is at"))
    both = activity.locator(".task.circle")
    expect(both).to_have_count(2)
    expect(both.first).to_contain_text("waiting for a lock held by task 3")
    expect(both.first).to_contain_text("async with second:")
    stop = session.page.get_by_role("button", name=re.compile("Stop"))
    expect(stop).to_have_count(1)
    stop.click()
    session.ends("stopped")


def test_a_question_to_a_person_is_named_and_links_to_its_event(begin):
    session = begin("asking")
    session.ends("waiting")
    press(session, "h")
    why = session.page.locator("#activity .whys .warn")
    expect(why).to_contain_text("cashier asks for confirmation")
    why.get_by_role("link").click()
    expect(session.page.locator(".row[aria-selected=true]")).to_have_attribute("data-event", "3")


STEPS = (
    "Paused after the commit of #1, before the agent continues",
    "Paused before the agent starts",
    "Paused before the model call",
    "Paused after the model call",
    "Paused before the commit",
    "Paused after the commit of #2, before the agent continues",
)


def test_one_of_two_held_calls_continues_alone_and_is_listed_beside_the_other(begin, server):
    session = begin("tools", pause=True)
    bars = session.page.locator("#held .held")
    for sentence in STEPS:
        expect(bars).to_have_count(1)
        press(session, "i")
        expect(bars.locator("header b")).to_have_text(sentence)
    press(session, "i")
    expect(bars).to_have_count(2)
    slow = bars.filter(has_text="slow(")
    slow.locator(".held-orders").get_by_role("button", name="Continue").click()
    expect(slow).to_have_count(0)
    expect(bars).to_contain_text('quick(where="near")')
    beside = session.page.locator("#held .beside li")
    expect(beside).to_contain_text("mover running slow")
    expect(beside).to_contain_text("tools/agent.py:")
    press(session, "h")
    why = session.page.locator("#activity .whys li")
    expect(why).to_contain_text("Paused by the debugger before the tool call (quick, mover)")
    both = session.page.locator("#activity .beside li")
    expect(both).to_have_text([re.compile("mover held quick"), re.compile("mover running slow")])
    let_go(server, "tools")
    expect(beside).to_have_count(0)
    expect(bars).to_have_count(1)
    press(session, "c")
    session.ends()


def test_parallel_branches_are_held_separately_and_running_ones_are_listed(begin, server):
    session = begin("branches", pause=True)
    bars = session.page.locator("#held .held")
    beside = session.page.locator("#held .beside")
    runs = re.compile(r"right \(search\.right\)\s+running\s+slow")
    while not runs.search(beside.inner_text() if beside.count() else ""):
        expect(bars).not_to_have_count(0)
        before = session.page.locator("#steps input[name=position]").input_value()
        press(session, "n")
        expect(session.page.locator("#steps input[name=position]")).not_to_have_value(before)
        expect(bars).not_to_have_count(0)
    expect(bars.first.locator("header")).to_contain_text("search.")
    expect(beside).to_contain_text("branches/agent.py:")
    press(session, "c")
    expect(bars).to_have_count(0)
    let_go(server, "branches")
    session.ends()
    expect(session.messages.filter(has_text="done")).to_have_count(3)


def test_without_scripts_the_run_is_explained_too(begin, browser, server, signed_in):
    session = begin("sleeping")
    session.page.locator("#why").click()
    expect(session.page.locator("#activity .pending-calls")).to_contain_text("look_up")
    with Visit(browser, server, storage_state=signed_in, java_script_enabled=False) as plain:
        page = plain.open(session.path)
        page.locator("#why").click()
        expect(page.locator("#activity .pending-calls")).to_contain_text("look_up")
        page.locator("#activity").get_by_role("button", name="Pause at the next event").click()
        page.goto(server.url + session.path + "?tab=run")
        let_go(server, "sleeping")
        expect(session.status).to_have_class("run held")


def test_a_hanging_call_is_answered_from_the_panel_which_keeps_the_input(begin):
    session = begin("sleeping")
    session.page.locator("#why").click()
    call = session.page.locator("#activity .pending-calls li")
    expect(call.locator("b")).to_have_text("look_up")
    call.get_by_text("Answer instead").click()
    field = call.get_by_role("textbox", name="Answer for look_up")
    field.press_sequentially('{"found": ')
    age = call.locator("time").first.inner_text()
    requests = session.page.evaluate("performance.getEntriesByType('resource').length")
    session.page.wait_for_function(
        "before => performance.getEntriesByType('resource').length > before + 2", arg=requests
    )
    expect(call.locator("time").first).not_to_have_text(age)
    expect(field).to_be_focused()
    field.press_sequentially('"Oslo, by hand"}')
    expect(field).to_have_value('{"found": "Oslo, by hand"}')
    field.press("Tab")
    session.page.keyboard.press("Enter")
    session.ends()
    expect(session.page.locator(".row[data-event='3']")).to_contain_text("mocked")
    expect(session.page.locator("#timeline")).to_contain_text("Oslo, by hand")
    expect(session.page.locator("#activity .pending-calls")).to_have_count(0)


def test_a_hanging_call_is_ended_and_the_agent_continues_with_its_error(begin):
    session = begin("thread")
    session.page.locator("#why").click()
    call = session.page.locator("#activity .pending-calls li")
    expect(call.locator(".call-note")).to_contain_text("in a thread can't be stopped")
    call.get_by_role("button", name="End this call").click()
    session.ends()
    expect(session.messages.last).to_contain_text("done")
    notice = re.compile(r"[a-z]+ tab ended the call of fetch")
    expect(session.page.locator("#timeline")).to_contain_text(notice)


def test_an_answer_form_follows_the_tools_declaration_and_reports_errors(begin, visit):
    visit.allow("422")
    session = begin("declared")
    session.page.locator("#why").click()
    call = session.page.locator("#activity .pending-calls li")
    expect(call.locator("b")).to_have_text("quote")
    call.get_by_text("Answer instead").click()
    form = call.get_by_role("form", name="Result of quote")
    form.get_by_label("price").fill("-3")
    form.get_by_label("from").fill("the desk")
    form.get_by_role("button", name="Answer with these values").click()
    expect(form.get_by_role("alert")).to_have_text("price: must be 0 or more")
    with session.page.expect_response("**/activity"):
        pass  # the panel has refreshed once
    with session.page.expect_response("**/activity"):
        expect(form.get_by_role("alert")).to_have_text("price: must be 0 or more")
    expect(form.get_by_label("from")).to_have_value("the desk")
    form.get_by_label("price").fill("12.5")
    form.get_by_role("button", name="Answer with these values").click()
    session.ends()
    expect(session.page.locator("#timeline")).to_contain_text("12.5")


def test_an_answer_being_typed_survives_an_unresponsive_process(begin, server):
    session = begin("declared")
    session.page.locator("#why").click()
    call = session.page.locator("#activity .pending-calls li")
    expect(call.locator("b")).to_have_text("quote")
    call.get_by_text("Answer instead").click()
    price = call.get_by_label("price")
    price.fill("12.5")
    with suspended(worker_of(server, "declared")):
        expect(session.page.locator("#activity .whys")).to_contain_text("isn't responding")
        expect(price).to_have_value("12.5")
    expect(session.page.locator("#activity .whys")).to_have_count(0)
    expect(price).to_have_value("12.5")
    call.get_by_role("button", name="Answer with these values").click()
    session.ends()
