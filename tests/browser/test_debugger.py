"""The debugger on the page: pause, step, inspect what is held, continue, resume."""

import json
import re
import sqlite3
from contextlib import closing

import pytest
from playwright.sync_api import expect

from tests.kit.browser import SessionPage, Visit
from tests.kit.slow_summary import SUMMARIZE
from tests.kit.terminal import Terminal

pytestmark = pytest.mark.browser

BOOK = "Book a flight to London next Tuesday"


@pytest.fixture
def paused(visit) -> SessionPage:
    """A run of the travel agent, held before the commit of its first event."""
    session = visit.session("travel")
    session.page.get_by_label("pause first").check()
    session.send(BOOK)
    is_held(session, "Paused before the commit")
    return session


def is_held(session: SessionPage, sentence: str) -> None:
    expect(session.page.locator("#held header b")).to_have_text(sentence)
    expect(session.status).to_have_class("run held")


def press(session: SessionPage, key: str) -> None:
    session.page.evaluate("document.activeElement.blur()")
    session.page.keyboard.press(key)


def command(session: SessionPage, name: str):
    return session.page.locator("#debugger").get_by_role("button", name=name, exact=True)


def test_a_held_run_can_be_stepped_and_continued(paused):
    bar = paused.page.locator("#held .held")
    bar.get_by_role("button", name="Step").click()
    expect(paused.row(1)).to_be_visible()
    is_held(paused, "Paused after the commit of #1, before the agent continues")
    bar.get_by_role("button", name="Continue").click()
    paused.ends()


def test_pause_first_applies_to_one_message(paused):
    expect(paused.page.get_by_label("pause first")).not_to_be_checked()
    press(paused, "c")
    paused.ends()
    paused.say("Book a flight to Oslo")


def test_a_terminal_drives_the_run_that_is_open_on_the_page(paused, visit):
    terminal, key = Terminal(visit.server), paused.path.rpartition("/")[2]
    assert terminal("dbg", "step", "-s", key, "--as", "Ada").returncode == 0
    expect(paused.events).to_have_count(1)
    is_held(paused, "Paused after the commit of #1, before the agent continues")
    expect(paused.page.locator("#debugger")).to_contain_text("Ada")
    press(paused, "m")
    is_held(paused, "Paused before the commit")
    assert "Paused before the commit" in terminal("dbg", "where", "-s", key).stdout
    assert terminal("dbg", "continue", "-s", key).returncode == 0
    paused.ends()


def test_a_run_is_stepped_from_its_first_event_to_its_end(paused, visit):
    expect(paused.events).to_have_count(0)
    expect(paused.page.locator("#live-chat .msg.user")).to_have_text(BOOK)
    press(paused, "n")
    is_held(paused, "Paused after the commit of #1, before the agent continues")
    expect(paused.events).to_have_count(1)
    press(paused, "m")
    is_held(paused, "Paused before the commit")
    expect(paused.page.locator("#held .rail [aria-current]")).to_have_text("produced")
    expect(paused.page.locator("#held .what")).to_have_text('find_airports(city="London")')
    expect(paused.events).to_have_count(1)
    press(paused, "c")
    paused.ends()
    expect(paused.page.locator("#held .held")).to_have_count(0)
    whole = visit.session("travel", [BOOK])
    kinds = "(rows) => rows.map((row) => row.className.match(/k-\\w+/)[0])"
    assert paused.events.evaluate_all(kinds) == whole.events.evaluate_all(kinds)


def test_the_rail_shows_an_event_that_is_being_committed(paused, visit):
    stands = paused.page.locator("#held .rail [aria-current]")
    with closing(sqlite3.connect(visit.server.data / "journal.db", isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        press(paused, "m")
        expect(stands).to_have_text("committing")
        expect(paused.page.locator("#held form")).to_have_count(0)
        paused.page.reload()
        expect(stands).to_have_text("committing")
        other.execute("ROLLBACK")
    is_held(paused, "Paused after the commit of #1, before the agent continues")
    expect(stands).to_have_text("committed")
    press(paused, "c")
    paused.ends()
    expect(paused.page.locator("#held .held")).to_have_count(0)


def test_stepping_into_stops_at_the_agent_the_model_and_the_tool(paused):
    press(paused, "n")
    is_held(paused, "Paused after the commit of #1, before the agent continues")
    for sentence in (
        "Paused before the agent starts",
        "Paused before the model call",
        "Paused after the model call",
    ):
        command(paused, "Into").click()
        is_held(paused, sentence)
        if sentence == "Paused before the agent starts":
            expect(paused.page.locator("#held .held-what")).to_have_text(
                re.compile(r"begins\s+TravelAgent\s+LlmAgent$")
            )
    expect(paused.page.locator("#held .held-what")).to_contain_text("response")
    expect(paused.page.locator("#held .what")).to_have_text('find_airports(city="London")')
    paused.page.get_by_text("Show the response as JSON").click()
    expect(paused.page.locator("#held pre")).to_contain_text("find_airports")


def test_state_changes_of_a_held_event_are_pending_until_committed(paused):
    for _ in range(2):
        command(paused, "Step").click()
        is_held_after = re.compile("Paused after the commit of #")
        expect(paused.page.locator("#held header b")).to_have_text(is_held_after)
    expect(paused.events).to_have_count(2)
    command(paused, "Half").click()
    is_held(paused, "Paused before the commit")
    pending = paused.page.locator("#pending")
    expect(pending).to_contain_text("city")
    expect(pending).to_contain_text('"London"')
    expect(paused.page.locator("#state-live .scope:not(.pending)").first).to_contain_text("no keys")
    command(paused, "Half").click()
    is_held(paused, "Paused after the commit of #3, before the agent continues")
    expect(pending).to_have_count(0)
    expect(paused.page.locator("#state-live .scope").first).to_contain_text('"London"')


def test_a_pause_survives_a_reload_and_is_the_same_in_every_tab(paused, visit):
    paused.page.reload()
    is_held(paused, "Paused before the commit")
    other = visit.again(paused)
    is_held(other, "Paused before the commit")
    command(other, "Step").click()
    is_held(paused, "Paused after the commit of #1, before the agent continues")
    is_held(other, "Paused after the commit of #1, before the agent continues")


def name_of(session: SessionPage) -> str:
    handle = session.page.wait_for_function("() => sessionStorage.getItem('tab')")
    return f"{handle.json_value()} tab"


def test_tabs_see_who_did_what(paused, visit):
    other = visit.again(paused)
    assert name_of(paused) != name_of(other)
    command(other, "Step").click()
    is_held(paused, "Paused after the commit of #1, before the agent continues")
    last = "#debugger .last"
    expect(paused.page.locator(last)).to_have_text("Stepped by you, in another tab")
    expect(other.page.locator(last)).to_have_text("Stepped by you")
    other.page.reload()
    expect(other.page.locator(last)).to_have_text("Stepped by you")
    press(paused, "4")
    expect(paused.page.locator(".log-lines")).to_contain_text(f"started by {name_of(paused)}")
    expect(paused.page.locator(".log-lines")).to_contain_text(f"Step by {name_of(other)}")
    press(paused, "c")
    paused.ends()


def test_tabs_of_another_browser_have_names(paused, visit, browser, server, signed_in):
    color = next(each for each in ("sand", "teal") if f"{each} tab" != name_of(paused))
    with Visit(browser, server, storage_state=signed_in) as elsewhere:
        other = elsewhere.again(paused)
        name_of(other)
        other.page.evaluate(f"sessionStorage.setItem('tab', '{color}')")
        other.page.reload()
        assert name_of(other) == f"{color} tab"
        command(other, "Step").click()
        last = paused.page.locator("#debugger .last")
        expect(last).to_have_text(f"Stepped by {color} tab")
        press(paused, "c")
        paused.ends()


def test_a_double_click_steps_once(paused):
    command(paused, "Step").dblclick()
    is_held(paused, "Paused after the commit of #1, before the agent continues")
    expect(paused.events).to_have_count(1)


def test_pause_holds_a_run_at_its_next_event(halting):
    visit, go = halting
    session = visit.session("summary")
    session.send(SUMMARIZE)
    expect(session.live).to_contain_text("Events carry everything")
    press(session, "p")
    expect(session.page.locator("#debugger .plan")).to_have_text("running up to the next commit")
    go.touch()
    is_held(session, "Paused before the commit")
    expect(session.events).to_have_count(1)
    session.composer.press("F8")
    session.ends()
    expect(session.events).to_have_count(2)


def change(session: SessionPage, text: str, choice: str) -> None:
    button = session.page.get_by_text(choice, exact=True)
    if choice == "Drop the event":
        button.click()
        return
    form = session.page.locator("#held .change").filter(has=button)
    unfold(form)
    if choice == "Reject the call":
        form.get_by_label("Reason to give the model").fill(text)
        form.get_by_label("Reason to give the model").press("Enter")
        return
    if choice == "Use this instead":
        unfold(form.locator(".as-json"))
        form.get_by_label("Replacement for the").fill(text)
    if choice == "Use this result":
        form.get_by_label("Result").fill(text)
    form.get_by_role("button", name=choice, exact=True).click()


def unfold(details) -> None:
    if not details.evaluate("(details) => details.open"):
        details.locator("> summary").click()


def to_the_tool(paused: SessionPage, message: int = 1) -> None:
    """Step from the message to the tool call that follows it."""
    for sentence in (
        f"Paused after the commit of #{message}, before the agent continues",
        "Paused before the commit",
        f"Paused after the commit of #{message + 1}, before the agent continues",
    ):
        command(paused, "Half").click()
        is_held(paused, sentence)
    command(paused, "Into").click()
    is_held(paused, "Paused before the tool call")


def test_a_form_unfolded_on_the_card_scrolls_into_view(paused):
    to_the_tool(paused)
    page = paused.page
    page.set_viewport_size({"width": 1440, "height": 560})
    edit = page.locator("#held .change > summary").get_by_text("Edit", exact=True)
    paused.select(1)  # so that the list doesn't scroll to its end
    edit.evaluate("(edit) => edit.scrollIntoView({ block: 'end' })")
    edit.click()
    button = page.locator("#held").get_by_role("button", name="Use these values")
    expect(button).to_be_in_viewport(ratio=1)


def test_folded_values_on_the_card_stay_inside_it(visit):
    airports = [{"name": f"airport number {number} of London"} for number in range(9)]
    session = visit.session("travel", state=json.dumps({"airports": airports}))
    session.page.get_by_label("pause first").check()
    session.send(BOOK)
    is_held(session, "Paused before the commit")
    to_the_tool(session)
    command(session, "Half").click()
    is_held(session, "Paused before the commit")
    card = session.page.locator("#held .held-changes")
    outside = """(card) => [...card.querySelectorAll(".j-fold > summary")]
        .filter((line) => line.checkVisibility())
        .map((line) => line.getBoundingClientRect().right - card.getBoundingClientRect().right)"""
    assert max(card.evaluate(outside)) <= 0


def test_the_label_of_an_edited_call_stays_on_one_line(paused):
    to_the_tool(paused)
    change(paused, json.dumps({"city": "Paris or " * 20}), "Use this instead")
    expect(paused.page.locator("#held .change-note")).to_contain_text("edited this")
    press(paused, "c")
    paused.ends()
    lines = """(words) => {
        const range = document.createRange();
        range.selectNodeContents(words);
        return range.getClientRects().length;
    }"""
    assert paused.page.locator("#messages .ran b").evaluate(lines) == 1


def test_the_arguments_of_a_held_call_are_edited_and_the_edit_is_shown(paused):
    to_the_tool(paused)
    change(paused, '{"city": "Paris"}', "Use this instead")
    expect(paused.page.locator("#held .change-note")).to_contain_text("edited this")
    expect(paused.page.locator("#held .diff .gone")).to_contain_text("London")
    expect(paused.page.locator("#held .diff .added")).to_contain_text("Paris")
    color = "(line) => getComputedStyle(line).color"
    lines = [
        paused.page.locator(f"#held .diff .{kind}").first for kind in ("same", "gone", "added")
    ]
    assert len({line.evaluate(color) for line in lines}) == 3
    press(paused, "c")
    paused.ends()
    expect(paused.row(3)).to_contain_text("CDG")
    for _ in ("streamed", "loaded"):
        expect(paused.row(3).locator(".what")).to_contain_text('(city="Paris")')
        expect(paused.row(2).locator(".what")).to_have_css("text-decoration-line", "line-through")
        paused.page.reload()


def test_arguments_are_edited_in_fields_and_errors_appear_at_the_field(paused, visit):
    visit.allow("422")
    to_the_tool(paused)
    paused.page.locator("#held .change > summary").first.click()
    form = paused.page.get_by_role("form", name="Arguments of find_airports")
    city = form.get_by_label("city")
    expect(city).to_have_value("London")
    city.fill("Paris")
    paused.page.keyboard.press("Enter")
    expect(paused.page.locator("#held .change-note")).to_contain_text("edited this")
    expect(paused.page.locator("#held .diff .added")).to_contain_text("Paris")
    expect(city).to_be_hidden()
    unfold(paused.page.locator("#held .change").first)
    expect(city).to_have_value("Paris")
    press(paused, "i")
    expect(paused.page.locator("#held .what")).to_have_text('find_airports → ["CDG", "ORY", "BVA"]')
    press(paused, "m")
    is_held(paused, "Paused before the commit")
    expect(paused.page.locator("#held .what")).to_contain_text("CDG")
    unfold(paused.page.locator("#held .change").first)
    state = paused.page.get_by_role("form", name="The event")
    city = state.get_by_label("city", exact=True)
    city.fill("nonsense")
    state.get_by_role("button", name="Use these values").click()
    expect(state.get_by_role("alert")).to_contain_text("invalid JSON")
    expect(city).to_have_attribute("aria-invalid", "true")
    expect(city).to_have_value("nonsense")
    paused.page.reload()
    expect(city).to_have_value("nonsense")
    expect(city).to_be_visible()
    city.fill('"Bern"')
    state.get_by_role("button", name="Use these values").click()
    expect(paused.page.locator("#held .diff .added")).to_contain_text("Bern")
    press(paused, "c")
    paused.ends()
    paused.tab("state")
    expect(paused.panel).to_contain_text("Bern")


@pytest.mark.parametrize("by_key", [False, True])
def test_continue_applies_an_edit_that_was_typed_but_not_sent(paused, by_key):
    to_the_tool(paused)
    paused.page.locator("#held .change > summary").first.click()
    orders = paused.page.locator("#held .held-orders button")
    expect(orders).to_have_text(["Continue", "Step"])
    paused.page.get_by_role("form", name="Arguments of").get_by_label("city").fill("Paris")
    expect(orders).to_have_text(["Continue with edits", "Step with edits"])
    paused.page.reload()
    expect(orders.first).to_have_text("Continue with edits")
    if by_key:
        press(paused, "c")
    else:
        orders.first.click()
    paused.ends()
    expect(paused.row(3)).to_contain_text("CDG")
    paused.select(3)
    expect(paused.panel.locator(".edits .diff .added")).to_contain_text("Paris")


def test_finish_event_applies_an_unsent_edit(paused):
    to_the_tool(paused)
    paused.page.locator("#held .change > summary").first.click()
    paused.page.get_by_role("form", name="Arguments of").get_by_label("city").fill("Paris")
    command(paused, "End after event").click()
    paused.ends("stopped")
    expect(paused.row(3)).to_contain_text("CDG")


def test_run_to_next_similar_event_applies_an_unsent_edit(visit):
    session = visit.session("travel", [BOOK])
    session.page.get_by_label("pause first").check()
    session.send(BOOK)
    is_held(session, "Paused before the commit")
    to_the_tool(session, 9)
    session.page.locator("#held .change > summary").first.click()
    session.page.get_by_role("form", name="Arguments of").get_by_label("city").fill("Paris")
    session.select(4)
    session.page.get_by_role("button", name="Run to next similar event").click()
    expect(session.row(11)).to_contain_text("CDG")
    is_held(session, "Paused before the commit")
    expect(session.page.locator("#held .what")).to_contain_text("search_flights")


def test_continue_is_refused_with_an_invalid_edit(paused, visit):
    visit.allow("422")
    to_the_tool(paused)
    press(paused, "m")
    is_held(paused, "Paused before the commit")
    unfold(paused.page.locator("#held .change").first)
    field = paused.page.get_by_role("form", name="The event").get_by_label("city", exact=True)
    field.fill("nonsense")
    for _ in range(2):
        paused.page.locator("#held .held-orders").get_by_role("button", name="Continue").click()
        paused.told_at(field, "invalid JSON")
        expect(field).to_have_value("nonsense")
    field.fill('"Bern"')
    paused.page.locator("#held .held-orders").get_by_role("button", name="Step with").click()
    is_held(paused, "Paused after the commit of #3, before the agent continues")
    paused.tab("state")
    expect(paused.panel).to_contain_text("Bern")


def test_an_unsent_edit_that_is_folded_or_reverted_is_not_applied(paused):
    to_the_tool(paused)
    edit = paused.page.locator("#held .change").first
    first = paused.page.locator("#held .held-orders button").first
    unfold(edit)
    city = edit.get_by_label("city")
    city.fill("Paris")
    expect(first).to_have_text("Continue with edits")
    city.fill("London")
    expect(first).to_have_text("Continue")
    city.fill("Paris")
    edit.locator("> summary").click()
    expect(first).to_have_text("Continue")
    first.click()
    paused.ends()
    expect(paused.row(3)).to_contain_text("LHR")


def test_continue_with_two_open_edits_is_refused_until_one_is_closed(paused):
    to_the_tool(paused)
    edit = paused.page.locator("#held .change").first
    unfold(edit)
    city = edit.get_by_label("city")
    city.fill("Paris")
    unfold(edit.locator(".as-json"))
    edit.get_by_label("Replacement for the").fill('{"city": "Bern"}')
    paused.page.locator("#held .held-orders button").first.click()
    value = edit.get_by_label("Replacement for the")
    expect(value).to_be_focused()
    assert "Two edits are open" in value.evaluate("(field) => field.validationMessage")
    is_held(paused, "Paused before the tool call")
    edit.locator(".as-json > summary").click()
    press(paused, "c")
    paused.ends()
    expect(paused.row(3)).to_contain_text("CDG")


def test_a_mock_result_with_a_json_typo_is_refused_and_stays_in_the_field(paused, visit):
    visit.allow("422")
    to_the_tool(paused)
    result = paused.page.locator("#held").get_by_label("Result")
    expect(result).to_have_value("")
    for typo in ('{"city": "Rome"', '["LHR"', '"LHR'):
        change(paused, typo, "Use this result")
        paused.told_at(result, "invalid JSON")
        expect(result).to_have_value(typo)
    change(paused, "", "Use this result")
    paused.told_at(result, "enter a value first")
    result.fill("closed for today")
    paused.page.locator("#held").get_by_role("button", name="Continue with mock result").click()
    paused.ends()
    expect(paused.row(3)).to_contain_text("closed for today")


def test_a_mock_result_starts_with_the_last_result_of_the_same_call(paused):
    press(paused, "c")
    paused.ends()
    paused.page.get_by_label("pause first").check()
    paused.send(BOOK)
    is_held(paused, "Paused before the commit")
    to_the_tool(paused, paused.events.count() + 1)
    unfold(paused.page.locator("#held .change").nth(1))
    result = paused.page.locator("#held").get_by_label("Result")
    expect(result).to_have_value(re.compile(r'^\[\s+"LHR"'))
    expect(result).to_have_accessible_name(re.compile("starts with the last result"))
    expect(paused.page.locator("#held .held-orders button").first).to_have_text("Continue")
    paused.page.get_by_role("button", name="Use this result").click()
    expect(paused.page.locator("#held .change-note")).to_contain_text("mocked this call")
    press(paused, "c")
    paused.ends()


def test_an_event_is_dropped_and_a_replacement_that_is_not_json_is_refused(paused, visit):
    visit.allow("422")
    change(paused, "{nonsense", "Use this instead")
    instead = paused.page.get_by_label("Replacement for the event")
    paused.told_at(instead, "invalid JSON.*line 1 column 2")
    expect(instead).to_have_value("{nonsense")
    change(paused, "{}", "Drop the event")
    expect(paused.page.locator("#held .change-note")).to_contain_text("dropped this event")
    expect(paused.page.locator("#held .change-note")).to_be_in_viewport()
    paused.page.locator("#held .edit-notice").get_by_role("button", name="Undo").click()
    expect(paused.page.locator("#held .change-note")).to_have_count(0)
    press(paused, "c")
    paused.ends()
    expect(paused.row(1)).to_contain_text(BOOK)


def test_a_held_run_can_be_stopped(paused):
    paused.page.locator("#stop").click()
    paused.ends("stopped")
    expect(paused.page.locator("#held .held")).to_have_count(0)
    expect(paused.page.locator("#debugger button")).to_have_count(0)


def test_finish_event_commits_one_more_event_so_that_nothing_is_lost(paused):
    press(paused, "n")
    is_held(paused, "Paused after the commit of #1, before the agent continues")
    press(paused, "m")
    is_held(paused, "Paused before the commit")
    command(paused, "End after event").click()
    paused.ends("stopped")
    expect(paused.events).to_have_count(2)
    expect(paused.page.locator("#resume")).to_contain_text("Stopped after #2")
    expect(paused.page.locator("#resume")).not_to_contain_text("Lost")
    paused.page.locator("#resume").get_by_role("button", name="Dismiss").click()
    expect(paused.page.locator("#resume section")).to_have_count(0)


def test_finish_event_waits_for_the_next_commit_and_shift_s_stops_at_once(visit):
    session = visit.session("faulty")
    session.send("Loop forever")
    expect(session.messages.last).to_contain_text("loop_forever")
    press(session, "s")
    expect(session.page.locator("#debugger .plan")).to_have_count(0)
    command(session, "End after event").click()
    expect(session.page.locator("#debugger .plan")).to_contain_text("to the next commit")
    expect(command(session, "End after event")).to_have_count(0)
    expect(session.status).to_have_class(re.compile("run running"))
    press(session, "Shift+S")
    session.ends("stopped")


def test_g_n_runs_to_the_next_event_like_the_selected_one(visit):
    session = visit.session("travel", [BOOK])
    session.page.get_by_label("pause first").check()
    session.send(BOOK)
    is_held(session, "Paused before the commit")
    session.select(2)
    press(session, "1")
    expect(session.panel).to_contain_text("Run to next similar event")
    press(session, "g")
    press(session, "n")
    expect(session.page.locator("#held .what")).to_have_text('find_airports(city="London")')
    is_held(session, "Paused before the commit")
    command(session, "End after event").click()
    session.ends("stopped")


def test_a_stopped_invocation_is_resumed_from_the_page(halting):
    visit, go = halting
    session = visit.session("summary")
    session.send(SUMMARIZE)
    expect(session.live).to_contain_text("Events carry everything")
    session.page.locator("#stop").click()
    session.ends("stopped")
    go.touch()
    session.page.get_by_role("button", name="Resume").click()
    session.ends()
    expect(session.messages.last).to_contain_text("the one that counts")
    expect(session.page.get_by_role("button", name="Resume")).to_have_count(0)
    groups = session.page.locator("#rows > .inv")
    expect(groups).to_have_count(1)


def test_the_streamed_page_of_a_held_run_equals_the_loaded_page(paused, visit):
    command(paused, "Step").click()
    is_held(paused, "Paused after the commit of #1, before the agent continues")
    loaded = visit.again(paused)
    loaded.equals(paused, "#rows", "#messages", "#live-chat", "#panel")
