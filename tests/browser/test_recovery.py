"""Interrupted runs, forks and rewinds, as a person handles them on the page."""

import re
from contextlib import ExitStack

import pytest
from playwright.sync_api import expect

from tests.api.test_model_errors import APP as BUSY
from tests.api.test_unknown_calls import FRAGILE
from tests.browser.test_restart import AWAY
from tests.kit.browser import SessionPage, Visit
from tests.kit.cutoff import Clerk
from tests.kit.processes import processes_of
from tests.kit.server import running, write_app
from tests.kit.slow_summary import SUMMARIZE, write_lingering

pytestmark = pytest.mark.browser

BOOK = "Book a flight to London next Tuesday"


@pytest.fixture
def clerk(tmp_path):
    return Clerk(tmp_path / "agents")


@pytest.fixture
def own_visit(browser, tmp_path, clerk):
    with (
        running(tmp_path / "agents", tmp_path / "data", "--no-auth") as server,
        Visit(browser, server) as own_visit,
    ):
        yield own_visit


@pytest.fixture
def visit_app(browser, tmp_path):
    """A function that visits a server of its own with one app, given the app's name and code."""
    with ExitStack() as stack:

        def visit_app(name: str, code: str) -> Visit:
            write_app(tmp_path / "agents", name, code)
            server = running(tmp_path / "agents", tmp_path / "data", "--no-auth")
            return stack.enter_context(Visit(browser, stack.enter_context(server)))

        yield visit_app


def bar(session: SessionPage):
    return session.page.locator("#resume .resume")


def button(session: SessionPage, name: str):
    return session.page.get_by_role("button", name=name, exact=True)


@pytest.fixture
def cut(own_visit, clerk) -> SessionPage:
    """A run that was stopped while its tool was working."""
    return stopped(own_visit, clerk, "pay")


def stopped(visit: Visit, clerk: Clerk, message: str) -> SessionPage:
    session = visit.session("clerk")
    session.composer.fill(message)
    button(session, "Send").dblclick()  # counts as one click, as all double clicks here do
    clerk.wait_for_tool()
    session.page.locator("#stop").click()
    session.ends("stopped")
    clerk.will_finish()
    return session


def test_a_call_with_unknown_outcome_is_asked_about_and_not_repeated(cut, clerk):
    expect(bar(cut)).to_contain_text("Stopped")
    expect(bar(cut).locator(".unknown legend")).to_contain_text("pay(amount=7)")
    expect(bar(cut).locator(".unknown legend")).to_contain_text("may or may not have")
    expect(bar(cut).get_by_label("treat as failed")).to_be_checked()
    bar(cut).get_by_label("enter a result").check()
    cut.page.get_by_label("Result of pay, as JSON").fill('{"result": "paid by hand"}')
    button(cut, "Resume").dblclick()
    cut.ends()
    expect(cut.messages.last).to_contain_text("answered: paid by hand")
    expect(bar(cut)).to_have_count(0)
    assert clerk.ledger == ["pay 7"]


def test_a_call_with_unknown_outcome_can_be_rerun_with_the_keyboard(cut, clerk):
    bar(cut).get_by_label("treat as failed").focus()
    cut.page.keyboard.press("ArrowUp")
    cut.page.keyboard.press("ArrowUp")
    expect(bar(cut).get_by_label("run again")).to_be_checked()
    button(cut, "Resume").press("Enter")
    cut.ends()
    expect(cut.messages.last).to_contain_text("answered: pay 7 done")
    assert clerk.ledger == ["pay 7", "pay 7"]


def test_a_call_that_is_answered_later_can_be_waited_for(own_visit, clerk):
    cut = stopped(own_visit, clerk, "order")
    expect(bar(cut).locator(".unknown legend")).to_contain_text("order(item=")
    expect(bar(cut).get_by_label("wait for its answer")).to_be_checked()
    button(cut, "Resume").click()
    expect(bar(cut)).to_contain_text("Waiting for an answer")
    assert clerk.ledger == ["order tea"]


def test_a_result_that_is_empty_or_invalid_json_is_refused_at_its_field(cut, own_visit, clerk):
    own_visit.allow("422")
    bar(cut).get_by_label("enter a result").check()
    alert = bar(cut).get_by_role("alert")
    button(cut, "Resume").click()
    expect(alert).to_contain_text("Enter the result as JSON, or null")
    cut.page.get_by_label("Result of pay, as JSON").fill("{nonsense")
    button(cut, "Resume").click()
    expect(alert).to_contain_text("the result isn't valid JSON")
    expect(cut.page.get_by_label("Result of pay, as JSON")).to_have_value("{nonsense")
    with clerk.broken():
        expect(cut.page.locator("#warnings")).to_contain_text("clerk failed to load")
    own_visit.allow(AWAY)
    own_visit.server.kill()
    expect(cut.page.locator("#connection")).to_be_visible()
    own_visit.server.start()
    expect(cut.page.locator("#connection")).to_be_hidden()
    expect(alert).to_contain_text("the result isn't valid JSON")
    cut.page.get_by_label("Result of pay, as JSON").fill('{"result": "paid by hand"}')
    button(cut, "Resume").click()
    cut.ends()
    expect(cut.messages.last).to_contain_text("answered: paid by hand")


def test_a_run_that_failed_with_a_models_error_is_retried(visit_app):
    visit = visit_app("busy", BUSY.replace("NAME", "busy"))
    session = visit.session("busy")
    session.say("go", "failed")
    expect(bar(session)).to_contain_text("Failed")
    session.equals(visit.again(session), "#resume")
    session.page.keyboard.press("Control+K")
    session.page.keyboard.type("retry")
    session.page.get_by_role("option", name="Retry from here").click()
    session.ends()
    expect(session.messages.last).to_contain_text("Here I am.")
    expect(bar(session)).to_have_count(0)


CAPRICIOUS = """
from devui.runtime.agents import Agent, SequentialAgent
from devui.runtime.models import Call, Rule, Say, ScriptedLlm

failures = [ConnectionError("503")]


def charge(amount: int) -> str:
    if failures:
        raise failures.pop()
    return "charged"


def count(callback_context):
    callback_context.state["turns"] = callback_context.state.get("turns", 0) + 1


script = [Rule(after="charge", then=Say("{result}")), Rule(then=Call("charge", amount=7))]
till = Agent(name="till", model=ScriptedLlm(rules=script), tools=[charge])
root_agent = SequentialAgent(name="shop", sub_agents=[till])
"""
"""Its tool fails once. It records no checkpoints, so its runs can't be resumed."""


def test_a_run_that_cannot_be_resumed_is_sent_again(visit_app):
    visit = visit_app("shop", CAPRICIOUS)
    session = visit.session("shop", ["pay now"], ends="failed")
    expect(bar(session)).to_contain_text("Failed after #")
    expect(bar(session)).to_contain_text("charge(amount=7) raised ConnectionError")
    expect(bar(session)).not_to_contain_text("unless you enter")
    expect(bar(session)).not_to_contain_text("to None")
    session.equals(visit.again(session), "#resume")
    button(session, "Send again").dblclick()
    session.ends()
    expect(session.messages.last).to_contain_text("charged")
    expect(session.messages.filter(has_text="pay now")).to_have_count(2)
    expect(session.page.locator("#messages .taken-back").first).to_be_visible()
    expect(bar(session)).to_have_count(0)


def test_a_call_that_no_fork_can_continue_from_is_reached_again_and_edited(visit_app):
    echoing = CAPRICIOUS.replace('return "charged"', 'return f"charged {amount}"')
    visit = visit_app("shop", echoing.replace('[ConnectionError("503")]', "[]"))
    session = visit.session("shop", ["pay now"])
    session.select(2)
    form = session.panel.locator(".fork")
    form.locator("summary").click()
    expect(button(session, "Fork and run")).to_have_count(0)
    expect(form).not_to_contain_text("with this event edited")
    form.get_by_label("with state edited").check()
    expect(button(session, "Run again to here")).to_be_hidden()
    form.get_by_label("from here, unchanged").check()
    button(session, "Run again to here").click()
    expect(session.page.locator("#lineage .fork-of")).to_be_visible()
    expect(session.page.locator("#held .held")).to_contain_text("charge(amount=7)")
    session.select(1)
    session.panel.locator(".fork summary").click()
    expect(button(session, "Fork and run")).to_be_visible()
    session.page.locator("#held .change > summary").first.click()
    arguments = session.page.get_by_role("form", name="Arguments of")
    arguments.get_by_label("amount").fill("3")
    session.page.locator("#held .held-orders").get_by_role("button", name="Continue").click()
    session.ends()
    expect(session.messages.last).to_contain_text("charged 3")


def test_a_fork_is_the_first_choice_when_a_rewind_would_corrupt_state(visit_app):
    counting = CAPRICIOUS.replace("tools=[charge]", "tools=[charge], before_agent_callback=count")
    visit = visit_app("shop", counting)
    session = visit.session("shop", ["pay now"], ends="failed")
    expect(bar(session)).to_contain_text("added since then to None: turns")
    expect(bar(session).locator(".answers button").first).to_have_text("Send again in a fork")
    session.equals(visit.again(session), "#resume")
    button(session, "Send again in a fork").click()
    expect(session.page.locator("#lineage .fork-of")).to_be_visible()
    session.ends()
    expect(session.messages.last).to_contain_text("charged")


def test_results_and_errors_of_a_retried_call_show_their_attempt(visit_app, tmp_path):
    visit = visit_app("fragile", FRAGILE)
    session = visit.session("fragile")
    session.say("go", "failed")
    # The row above has the message; the run's end adds where it was raised.
    expect(session.events.last.locator(".what")).to_contain_text("KeyError: 'GBP'")
    end = session.page.locator("#rows > .run-end")
    expect(end.locator(".what")).to_have_text(re.compile(r"^\s*fragile/agent\.py:\d+ in rate"))
    expect(end.locator("summary")).to_have_text("Traceback")
    button(session, "Retry from here").click()
    expect(session.messages).to_have_count(4)
    session.ends("failed")
    expect(session.messages.last.locator("header")).to_have_text("fragile")
    session.equals(visit.again(session), "#messages")
    code = FRAGILE.replace('{"EUR": 1.0}', '{"EUR": 1.0, "GBP": 0.85}')
    write_app(tmp_path / "agents", "fragile", code)
    button(session, "Retry from here").click()
    session.ends()
    again = visit.again(session)
    for page in (session, again):
        errors = page.messages.locator(".what")
        expect(errors).to_have_text(["KeyError 'GBP'", "KeyError 'GBP'try 2"])
        expect(page.messages.locator(".outcome")).to_have_text(["no result", "0.85try 3"])
        # The result stands where it was returned: after the failures, and before the answer.
        numbers = [int(each.get_attribute("data-event")) for each in page.messages.all()]
        assert numbers == sorted(numbers)
        repeated = page.messages.filter(has_text="0.85try 3")
        expect(repeated).to_have_attribute("data-event", str(numbers[-2]))
        expect(repeated.locator(".asked code")).to_have_text('currency="GBP"')
        flags = page.events.locator(".flag.attempt")
        expect(flags).to_contain_text(["try 2", "try 3"])
    for selector in ("#messages", "#rows"):
        session.equals(again, selector)
    key = session.page.locator("#main").get_attribute("data-session")
    file = again.page.request.get(
        f"{visit.server.url}/api/sessions/{key}/export?format=html"
    ).text()
    assert file.count(">try 2<") == file.count(">try 3<") == 2  # in the chat and the row


def test_a_failed_call_is_edited_and_run_in_a_fork(visit_app):
    visit = visit_app("fragile", FRAGILE)
    session = visit.session("fragile", ["go"], ends="failed")
    bar(session).get_by_role("link", name="Edit and fork…").click()
    form = session.panel.locator(".fork")
    expect(form.get_by_label("with this event edited", exact=True)).to_be_checked()
    form.get_by_label("currency").fill("EUR")
    form.get_by_role("button", name="Fork and run").click()
    session.ends()
    expect(session.messages.last).to_contain_text("1.0")
    expect(session.messages.locator(".asked code")).to_have_text('currency="EUR"')
    expect(session.page.locator(".fork-of")).to_be_visible()


def test_a_retry_after_a_state_edit_belongs_to_its_message(visit_app):
    visit = visit_app("fragile", FRAGILE)
    session = visit.session("fragile", ["go"], ends="failed")
    headings = session.page.locator("#rows > .inv")
    session.page.get_by_role("link", name="Set a new key").click()
    session.panel.get_by_role("textbox", name="Key").fill("city")
    session.panel.get_by_label("Value, as JSON").fill('"Rome"')
    button(session, "Save").click()
    expect(headings.last.locator(".say")).to_have_text("State edited")
    for retry in (1, 2):
        button(session, "Retry from here").click()
        expect(headings.last.locator(".meta")).to_contain_text(f"{retry} failed")
        session.ends("failed")
    expect(headings.locator(".say")).to_have_text(["go", "State edited", "go continued"])
    headings.last.get_by_role("button").click()
    expect(session.events).to_have_count(6)
    expect(session.events.last).to_be_hidden()
    expect(session.events.first).to_be_visible()
    headings.last.get_by_role("button").click()
    session.equals(visit.again(session), "#rows")


def test_a_dismissed_run_stays_closed_after_a_reload(cut, own_visit):
    button(cut, "Dismiss").click()
    expect(bar(cut)).to_have_count(0)
    expect(cut.status).to_have_text("closed")
    cut.page.reload()
    expect(cut.messages.last).to_contain_text("The run was stopped")
    expect(bar(cut)).to_have_count(0)
    for lists in ("/", "/apps/clerk"):
        expect(own_visit.open(lists).locator(".session .status")).to_have_text("closed")


def test_streamed_text_that_was_lost_is_struck_through(own_visit, tmp_path):
    write_lingering(tmp_path / "agents")
    session = own_visit.session("summary")
    session.send(SUMMARIZE)
    expect(session.live).to_contain_text("Events carry everything")
    session.page.locator("#stop").click()
    session.ends("stopped")
    expect(bar(session).locator("s")).to_contain_text("Events carry everything")
    again = own_visit.again(session)
    session.equals(again, "#resume")


def test_a_held_event_of_a_stopped_run_is_reported_as_lost(visit):
    session = visit.session("travel")
    session.page.get_by_label("pause first").check()
    session.send(BOOK)
    expect(session.status).to_have_class("run held")
    session.page.evaluate("document.activeElement.blur()")
    session.page.keyboard.press("n")
    point = session.page.locator("#held .rail [aria-current]")
    expect(point).to_have_text("committed")
    session.page.keyboard.press("m")
    expect(point).to_have_text("produced")
    session.page.locator("#stop").click()
    session.ends("stopped")
    expect(bar(session)).to_contain_text("Lost before it was committed, call by TravelAgent:")
    expect(bar(session).locator("s").first).to_contain_text("find_airports")
    button(session, "Resume").click()
    session.ends()


def test_fork_here_leaves_the_session_alone_and_continues_in_a_new_one(cut, clerk):
    path = cut.path
    button(cut, "Fork here").dblclick()
    cut.page.wait_for_url(lambda url: path not in url)
    fork = SessionPage(cut.page)
    expect(fork.events).to_have_count(2)
    expect(bar(fork)).to_contain_text("Forked in the middle")
    bar(fork).get_by_label("run again").check()
    button(fork, "Resume").click()
    fork.ends()
    expect(fork.messages.last).to_contain_text("answered: pay 7 done")


@pytest.fixture
def travelled(visit) -> SessionPage:
    return visit.session("travel", [BOOK])


def forked(session: SessionPage, press: str = "Fork") -> SessionPage:
    before = session.path
    button(session, press).click()
    session.page.wait_for_url(lambda url: not url.split("?")[0].endswith(before))
    return SessionPage(session.page)


def test_f_forks_at_the_selected_event_and_the_lineage_links_back(travelled):
    path = travelled.path
    whole = travelled.events.count()
    travelled.select(3)
    travelled.page.keyboard.press("f")
    form = travelled.page.locator(".fork form")
    expect(form.get_by_label("from here, unchanged")).to_be_focused()
    form.get_by_label("Note").fill("another city")
    fork = forked(travelled)
    expect(fork.events).to_have_count(3)
    fork.page.locator("#lineage .fork-of").click()
    fork.page.wait_for_url(lambda url: url.split("?")[0].endswith(path))
    back = SessionPage(fork.page)
    assert back.path == path
    expect(back.events).to_have_count(whole)
    back.page.locator("#lineage summary").click()
    sheet = back.page.locator("#lineage .sheet")
    expect(sheet).to_contain_text("fork at #3, another city")
    for width in (900, 500, 390, 320):
        back.page.set_viewport_size({"width": width, "height": 800})
        expect(sheet).to_be_in_viewport(ratio=0.99)


def test_a_fork_with_edited_state_leaves_its_parent_unchanged(travelled, visit):
    before = travelled.path
    travelled.row(3).hover()
    travelled.row(3).locator(".fork-here").click()
    travelled.page.get_by_label("with state edited").check()
    expect(travelled.page.get_by_text("Other keys keep their values.")).to_be_visible()
    travelled.page.get_by_label("State keys to set, as JSON").fill('{"city": "Rome"}')
    fork = forked(travelled)
    expect(fork.events).to_have_count(4)
    expect(fork.page.locator("#state-live")).to_contain_text('"Rome"')
    parent = SessionPage(visit.open(before))
    expect(parent.page.locator("#state-live")).to_contain_text('"London"')


def test_a_fork_can_start_with_the_event_edited(travelled, visit):
    visit.allow("422")
    travelled.select(3)
    travelled.page.keyboard.press("f")
    travelled.page.get_by_label("with this event edited as JSON").check()
    field = travelled.page.get_by_label("Replacement event, as JSON")
    edited = field.input_value().replace('"London"', '"Rome"')
    field.fill(edited + ",")
    button(travelled, "Fork").click()
    alert = travelled.page.locator(".fork [role=alert]")
    expect(alert).to_contain_text("the event isn't valid JSON: Extra data")
    expect(field).to_have_value(edited + ",")
    field.fill(edited)
    fork = forked(travelled)
    expect(fork.page.locator("#state-live")).to_contain_text('"Rome"')
    expect(fork.page.locator("#lineage .fork-of")).to_contain_text("at #3 (edited)")
    fork.select(3)
    expect(fork.panel).to_contain_text("Rome")
    expect(fork.panel).to_contain_text("You edited it")


def test_a_message_can_be_rephrased_in_a_fork(travelled):
    travelled.select(1)
    travelled.page.keyboard.press("f")
    expect(travelled.page.get_by_label("before this message")).to_be_checked()
    fork = forked(travelled)
    expect(fork.events).to_have_count(0)
    expect(fork.composer).to_have_value(BOOK)
    expect(fork.composer).to_be_focused()
    fork.page.keyboard.type(", please")  # the caret is at the end
    expect(fork.composer).to_have_value(f"{BOOK}, please")
    fork.say("Book a flight to London next Monday")


def test_fork_and_run_sends_the_message_again(travelled):
    count = travelled.events.count()
    travelled.select(1)
    travelled.page.keyboard.press("f")
    fork = forked(travelled, "Fork and run")
    fork.ends()
    expect(fork.events).to_have_count(count)


def test_a_list_of_sessions_marks_forks(travelled):
    travelled.select(3)
    travelled.page.keyboard.press("f")
    travelled.page.get_by_placeholder("note (optional)").fill("another day")
    fork = forked(travelled)
    key = fork.path.rsplit("/", 1)[1]
    fork.page.goto(fork.page.url.split("/sessions/")[0] + "/apps/travel")
    expect(fork.page.locator(f"#s-{key} .forked")).to_have_attribute(
        "title", "fork at #3: another day"
    )


def open_menu(session: SessionPage) -> None:
    message = session.page.locator("#m-1")
    message.hover()
    message.locator(".again summary").click()


PARIS = "I live in Paris, remember that for the next trip"


def test_the_last_message_is_edited_and_sent_again_in_the_same_session(travelled):
    open_menu(travelled)
    menu = travelled.page.locator("#m-1 .again")
    expect(menu.locator(".primary")).to_have_text("Rewind and send again")
    expect(menu.locator(".edit p")).to_contain_text(
        f"A rewind hides #1 to #{travelled.events.count()} from models until you undo it."
    )
    menu.get_by_label("Message", exact=True).fill(PARIS)
    button(travelled, "Rewind and send again").click()
    own = travelled.page.locator("#messages .msg.user").last  # the answer doesn't repeat it
    expect(own).to_contain_text("Paris, remember that for the next trip")
    travelled.ends()


def test_an_earlier_message_is_sent_again_in_a_fork_by_default(travelled):
    travelled.say(PARIS)
    count = travelled.events.count()
    open_menu(travelled)
    menu = travelled.page.locator("#m-1 .again")
    expect(menu.locator(".primary")).to_have_text("Send again in a fork")
    expect(menu.locator(".edit p")).to_contain_text(f"hides #1 to #{count}")
    expect(menu.locator(".edit p code")).to_have_text("airports, city, trip")
    menu.get_by_label("Message", exact=True).fill(f"{BOOK}, please")
    before = travelled.path
    button(travelled, "Send again in a fork").click()
    travelled.page.wait_for_url(lambda url: before not in url)
    travelled.ends()
    expect(travelled.page.locator("#messages .msg.user")).to_contain_text(f"{BOOK}, please")
    expect(travelled.page.locator("#messages .taken-back")).to_have_count(0)


def test_the_menu_of_the_last_message_is_visible_without_hovering(travelled):
    travelled.say(PARIS)
    first, last = travelled.page.locator(".msg.user .again").all()
    travelled.page.mouse.move(5, 5)
    expect(last).to_have_css("opacity", "1")
    expect(first).to_have_css("opacity", "0")
    travelled.select(1)
    travelled.page.mouse.move(5, 5)
    expect(first).to_have_css("opacity", "1")


def tells_of_the_dead_worker(page: SessionPage) -> None:
    expect(bar(page)).to_contain_text("Failed after #2")
    expect(bar(page)).to_contain_text("pay wasn't called.")
    expect(bar(page).locator(".unknown")).to_have_count(0)  # the call wasn't made
    for name in ("Resume", "Fork here", "Dismiss"):
        expect(bar(page).get_by_role("button", name=name)).to_be_enabled()
    page.tab("breaks")
    expect(page.panel.locator(".break")).to_have_count(1)


def test_a_worker_killed_while_its_run_is_held_loses_only_what_is_held(own_visit, clerk):
    server = own_visit.server
    own_visit.allow("ERR_|Failed to fetch|network error")
    clerk.will_finish()
    session = own_visit.session("clerk")
    with server.client() as client:
        stop = {"on": "tool", "name": "pay"}
        client.post("/api/apps/clerk/breakpoints", json=stop).raise_for_status()
    session.send("pay")
    expect(session.status).to_have_class("run held")
    expect(session.page.locator("#held")).to_contain_text("pay")
    for worker in processes_of(server, "clerk"):  # more than one if the app is being reloaded
        worker.kill()
    session.ends("failed")

    tells_of_the_dead_worker(session)
    seen = session.outline("#resume")
    session.page.reload()
    tells_of_the_dead_worker(session)
    assert session.outline("#resume") == seen
    server.kill()
    clerk.loads_late()
    server.start()
    again = own_visit.again(session)
    tells_of_the_dead_worker(again)
    assert again.outline("#resume") == seen
    button(again, "Resume").click()
    expect(bar(again).get_by_text("Waiting for the app to load")).to_be_visible()
    clerk.may_load()
    expect(again.status).to_have_class("run held")  # the breakpoint is still there
    again.page.locator("#held").get_by_role("button", name="Continue").click()
    again.ends()
    expect(again.messages.last).to_contain_text("answered: pay 7 done")
    assert clerk.ledger == ["pay 7"]
