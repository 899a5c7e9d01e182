"""Breakpoints on the page: added, hit, switched off, made from a row, shared by two tabs."""

import re

import pytest
from playwright.sync_api import expect

from tests.kit.browser import SessionPage

pytestmark = pytest.mark.browser

BOOK = "Book a flight to London next Tuesday"
FIRST_CALL = 2
"""The number of the event that calls `find_airports`."""


@pytest.fixture(autouse=True)
def _breakpoints_are_the_apps_and_none_is_left_behind(server):
    yield
    with server.client() as client:
        for point in client.get("/api/apps/travel/breakpoints").json()["breakpoints"]:
            client.delete(f"/api/apps/travel/breakpoints/{point['id']}").raise_for_status()


@pytest.fixture
def session(visit):
    """A new session of the travel agent."""
    return visit.session("travel")


@pytest.fixture
def booking(visit):
    """A session in which the travel agent has answered."""
    return visit.session("travel", [BOOK])


def points(session: SessionPage):
    return session.page.locator("#breakpoints .break")


def make(session: SessionPage, **fields: str) -> None:
    """Fill in and submit the form in the open tab."""
    for name, value in fields.items():
        field = session.page.locator(f"#break-{name}")
        if name in {"on", "when"}:
            field.select_option(value)
        else:
            if not field.is_visible():
                session.page.get_by_text("Hit count and log message").click()
            field.fill(value)
    session.page.get_by_role("button", name="Add breakpoint").click()


def is_held_by(session: SessionPage, what: str) -> None:
    expect(session.page.locator("#held .held-by")).to_have_text(
        re.compile(rf"Breakpoint \d+: {re.escape(what)}$")
    )
    mark = "break_if" if " if " in what else "break"  # the icons in the list and the gutter
    expect(session.page.locator("#held .held-by use")).to_have_attribute("href", f"#i-{mark}")
    expect(session.status).to_have_class("run held")


def press(session: SessionPage, key: str) -> None:
    session.page.evaluate("document.activeElement.blur()")
    session.page.keyboard.press(key)


def test_a_tool_breakpoint_holds_the_run_until_it_is_continued(session):
    press(session, "5")
    make(session, on="tool", name="find_airports", condition='args.city == "London"')
    expect(points(session)).to_have_count(1)
    expect(session.page.locator("#break-name")).to_have_value("")
    expect(session.page.locator("#count-breaks")).to_have_text("1")
    session.send(BOOK)
    is_held_by(session, 'tool find_airports if args.city == "London"')
    expect(session.page.locator("#held header b")).to_have_text("Paused before the tool call")
    expect(points(session).locator(".hits")).to_have_text("hit 1 time")
    press(session, "c")
    session.ends()


def test_an_invalid_condition_is_reported_at_its_field_and_input_is_kept(session, visit):
    visit.allow("422")
    session.tab("breaks")
    make(session, on="state", name="city", condition="new >")
    condition = session.page.locator("#break-condition")
    expect(condition).to_have_attribute("aria-invalid", "true")
    expect(session.page.locator("#break-condition-error")).to_contain_text("column 6")
    expect(session.page.locator("#break-condition-error mark")).to_have_text(" ")
    expect(condition).to_have_value("new >")
    expect(session.page.locator("#break-name")).to_have_value("city")
    expect(session.page.locator("#break-on")).to_have_value("state")
    expect(points(session)).to_have_count(0)
    make(session, condition='new == "London"')
    expect(points(session)).to_have_count(1)
    expect(session.page.locator("#break-condition-error")).to_have_count(0)


def test_a_disabled_breakpoint_does_not_hold_the_run(session):
    session.tab("breaks")
    make(session, on="tool", name="find_airports")
    switch = session.page.get_by_role("switch")
    switch.click()
    expect(switch).to_have_attribute("aria-checked", "false")
    expect(session.page.locator("#count-breaks")).to_have_text("")
    session.say(BOOK)
    expect(points(session).locator(".hits")).to_have_count(0)
    switch.click()
    expect(switch).to_have_attribute("aria-checked", "true")
    session.send("Which airports has London?")
    is_held_by(session, "tool find_airports")
    session.page.locator("#stop").click()
    session.ends("stopped")


def test_two_quick_clicks_leave_the_switch_on_and_three_turn_it_off(session):
    session.tab("breaks")
    make(session, on="tool", name="find_airports")
    expect(session.page.locator("#count-breaks")).to_have_text("1")  # the page's last update
    switch = session.page.get_by_role("switch")
    for clicks, state in ((2, "true"), (3, "false")):
        with session.page.expect_response(last_of(clicks)):
            switch.click(click_count=clicks)
        session.page.reload()
        expect(switch).to_have_attribute("aria-checked", state)


def last_of(posts: int):
    """Return a predicate that matches the response to the `posts`-th POST."""
    seen = []
    return lambda response: (
        response.request.method == "POST" and (seen.append(response) or len(seen) == posts)
    )


def test_b_toggles_a_breakpoint_on_events_like_the_selected_one(booking):
    booking.select(FIRST_CALL)
    press(booking, "b")
    expect(booking.page.locator("#count-breaks")).to_have_text("1")
    expect(booking.page.locator("#break-said")).to_contain_text("added: call event of")
    booking.page.locator("#go-live").click()
    booking.send(BOOK)
    expect(booking.page.locator("#held .held-by")).to_contain_text("call event of")
    press(booking, "c")
    expect(booking.page.locator("#held .what")).to_contain_text("search_flights")
    booking.row(FIRST_CALL).click()
    expect(booking.row(FIRST_CALL)).to_have_attribute("aria-selected", "true")
    press(booking, "b")
    expect(booking.page.locator("#count-breaks")).to_have_text("")
    press(booking, "c")
    booking.ends()


def test_an_event_offers_matching_breakpoints_and_run_to_next_similar(booking):
    booking.select(FIRST_CALL)
    run_to = booking.page.get_by_role("button", name="Run to next similar event")
    expect(run_to).to_be_hidden()
    booking.page.get_by_role("button", name="Break before find_airports").click()
    expect(booking.page.locator("#like-said")).to_contain_text("added: tool find_airports")
    booking.send(BOOK)
    is_held_by(booking, "tool find_airports")
    booking.select(FIRST_CALL + 2)
    run_to.click()
    expect(booking.page.locator("#held .what")).to_contain_text("search_flights")
    expect(booking.page.locator("#held header b")).to_have_text("Paused before the commit")
    press(booking, "c")
    booking.ends()


def test_a_breakpoint_is_edited_in_place_and_input_survives_a_conflict(session, visit):
    visit.allow("422")
    visit.allow("409")
    press(session, "5")
    make(session, on="tool", name="find_airports", condition='args.city == "Rome"')
    other = visit.again(session, "?tab=breaks")
    point = points(session)
    change = point.locator("summary").first
    change.press("Enter")
    condition = point.get_by_label("Condition", exact=True)
    expect(condition).to_have_value('args.city == "Rome"')
    condition.fill("args.city ==")
    condition.press("Enter")
    expect(point.locator(".field-error")).to_contain_text("column 13")
    expect(condition).to_have_value("args.city ==")
    points(other).locator("summary").first.click()
    points(other).get_by_label("Name").fill("find_*")
    points(other).get_by_role("button", name="Save").click()
    expect(points(other).locator("b")).to_have_text("tool find_*")
    expect(points(other).get_by_label("Name")).to_be_hidden()
    condition.fill('args.city == "London"')
    condition.press("Enter")
    expect(point.locator(".overtaken")).to_contain_text('tool find_* if args.city == "Rome"')
    expect(condition).to_have_value('args.city == "London"')
    condition.press("Enter")
    expect(condition).to_be_hidden()
    expect(change).to_be_focused()
    expect(points(other).locator("code")).to_have_text('args.city == "London"')
    expect(points(other).get_by_label("Condition")).to_have_value('args.city == "London"')
    session.send(BOOK)
    is_held_by(session, 'tool find_airports if args.city == "London"')
    press(session, "c")
    session.ends()


def test_two_tabs_see_the_same_breakpoints(session, visit):
    session.tab("breaks")
    other = visit.again(session, "?tab=breaks")
    make(session, on="model")
    expect(points(other)).to_have_count(1)
    other.page.get_by_role("switch").click()
    expect(session.page.get_by_role("switch")).to_have_attribute("aria-checked", "false")
    make(session, on="error")
    deletes = other.page.get_by_role("button", name=re.compile("Delete breakpoint"))
    expect(deletes).to_have_count(2)
    deletes.first.press("Enter")
    expect(deletes).to_have_count(1)
    expect(deletes).to_be_focused()
    deletes.press("Enter")
    expect(points(session)).to_have_count(0)
    expect(other.page.get_by_role("button", name="Add breakpoint")).to_be_focused()


def test_a_logpoint_writes_to_the_log_without_holding_the_run(session):
    session.tab("breaks")
    make(session, on="tool", name="find_airports", log="asked for {args.city}")
    session.say(BOOK)
    session.tab("log")
    expect(session.panel).to_contain_text("asked for London")


def test_past_hits_of_a_breakpoint_can_be_browsed(visit):
    session = visit.session("travel", [BOOK, BOOK])
    session.tab("breaks")
    make(session, on="tool", name="find_airports")
    session.page.get_by_role("link", name=re.compile("hits in this session")).click()
    hits = session.page.locator(".past-hits li")
    expect(hits).to_have_count(2)
    expect(session.page.locator("#hit-next")).to_have_attribute("aria-disabled", "true")
    session.page.locator("#hit-previous").click()
    expect(hits.nth(1).locator("a")).to_have_attribute("aria-current", "true")
    session.page.locator("#hit-previous").click()
    expect(hits.nth(0).locator("a")).to_have_attribute("aria-current", "true")
    expect(session.row(FIRST_CALL)).to_have_attribute("aria-selected", "true")
    session.row(5).click()
    expect(session.row(5)).to_have_attribute("aria-selected", "true")
    session.page.locator("#hit-next").click()
    expect(hits.nth(1).locator("a")).to_have_attribute("aria-current", "true")


# --- the gutter ------------------------------------------------------------------------------


def mark(session: SessionPage, number: int):
    return session.page.locator(f"#g-{number} a")


def test_clicking_the_gutter_of_a_row_offers_what_to_break_on(booking):
    mark(booking, FIRST_CALL).click()
    sheet = booking.page.get_by_role("dialog", name=f"Break on events like #{FIRST_CALL}")
    expect(sheet).to_be_visible()
    expect(sheet.get_by_role("checkbox")).to_have_count(3)
    sheet.get_by_role("checkbox", name="author").click()
    expect(sheet.get_by_role("checkbox", name="author")).not_to_be_checked()
    sheet.get_by_label("Condition").fill('args.city == "London"')
    sheet.get_by_role("button", name="Add breakpoint", exact=True).click()
    expect(sheet).to_be_hidden()
    expect(booking.page.locator("#break-said")).to_contain_text("added: tool find_airports")
    expect(mark(booking, FIRST_CALL)).to_be_focused()
    expect(mark(booking, FIRST_CALL)).to_have_class("stop-here at-conditional")
    expect(mark(booking, FIRST_CALL)).to_have_accessible_name(
        re.compile(r"Breakpoint \d+: tool find_airports, if args.city")
    )
    booking.send(BOOK)
    is_held_by(booking, 'tool find_airports if args.city == "London"')
    press(booking, "c")
    booking.ends()


def test_the_gutter_works_with_the_keyboard_alone(booking):
    press(booking, "g")
    booking.page.keyboard.press("g")
    booking.page.keyboard.press("j")
    expect(booking.row(FIRST_CALL)).to_have_attribute("aria-selected", "true")
    sheet = booking.page.locator("#sheet")
    booking.page.keyboard.press("Shift+B")
    expect(sheet.get_by_role("checkbox").first).to_be_focused()
    booking.page.keyboard.press("Escape")
    expect(sheet).to_be_hidden()
    expect(booking.row(FIRST_CALL).locator(".seq a")).to_be_focused()
    booking.page.keyboard.press("Shift+B")
    expect(sheet.get_by_role("checkbox").first).to_be_focused()
    booking.page.keyboard.press("Space")
    expect(sheet.get_by_role("checkbox").first).not_to_be_checked()
    booking.page.keyboard.press("Enter")
    expect(sheet).to_be_hidden()
    expect(mark(booking, FIRST_CALL)).to_have_class("stop-here at-break")
    expect(mark(booking, FIRST_CALL)).to_be_focused()
    booking.page.keyboard.press("Enter")
    here = sheet.locator(".break")
    expect(here.locator("b")).to_have_text("tool find_airports of TravelAgent")
    here.get_by_role("switch").press("Space")
    expect(here.get_by_role("switch")).to_have_attribute("aria-checked", "false")
    expect(mark(booking, FIRST_CALL)).to_have_class("stop-here at-break off")
    here.locator("summary").first.press("Enter")
    here.get_by_label("Condition").fill("args.city")
    here.get_by_label("Condition").press("Enter")
    expect(here.locator("summary").first).to_be_focused()
    expect(here.locator("code")).to_have_text("args.city")
    expect(mark(booking, FIRST_CALL)).to_have_class("stop-here at-conditional off")
    here.get_by_role("button", name=re.compile("Delete")).press("Enter")
    expect(here).to_have_count(0)
    expect(mark(booking, FIRST_CALL)).to_have_class("stop-here")
    expect(sheet.get_by_role("checkbox").first).to_be_focused()
    booking.page.keyboard.press("Escape")


def test_gutter_marks_differ_by_icon_and_stay_current_in_every_tab(booking, visit):
    other = visit.again(booking)
    booking.select(FIRST_CALL)
    press(booking, "l")
    for page in (booking, other):
        expect(mark(page, FIRST_CALL)).to_have_class("stop-here at-log")
        expect(mark(page, FIRST_CALL).locator("use")).to_have_attribute("href", "#i-break_log")
    press(booking, "b")
    for page in (booking, other):
        expect(mark(page, FIRST_CALL)).to_have_class("stop-here at-break")
    mark(other, FIRST_CALL).click()
    here = other.page.locator("#sheet .break")
    expect(here).to_have_count(2)
    field = other.page.locator("#sheet-condition")
    field.fill("args.city")
    booking.tab("breaks")
    booking.page.get_by_role("switch").last.click()
    for page in (booking, other):
        expect(mark(page, FIRST_CALL)).to_have_class("stop-here at-log")
    expect(here.last.get_by_role("switch")).to_have_attribute("aria-checked", "false")
    booking.page.get_by_role("switch").first.click()
    expect(mark(other, FIRST_CALL)).to_have_class("stop-here at-break off")
    press(booking, "l")
    expect(here).to_have_count(1)
    press(booking, "b")
    expect(mark(other, FIRST_CALL)).to_have_class("stop-here")
    expect(here).to_have_count(0)
    expect(field).to_have_value("args.city")
    expect(field).to_be_focused()


def test_a_row_whose_gutter_is_replaced_under_the_pointer_loses_its_highlight(booking):
    booking.select(FIRST_CALL)
    mark(booking, FIRST_CALL).hover()
    lit = re.compile(r"\bpaired\b")
    expect(booking.row(FIRST_CALL)).to_have_class(lit)
    press(booking, "b")
    expect(mark(booking, FIRST_CALL)).to_have_class("stop-here at-break")
    booking.page.mouse.move(1, 1)
    expect(booking.row(FIRST_CALL)).not_to_have_class(lit)


def test_an_invalid_condition_is_reported_in_the_sheet_which_stays_open(booking, visit):
    visit.allow("422")
    mark(booking, 1).click()
    booking.page.locator("#sheet-condition").fill("text >")
    booking.page.locator("#sheet-condition").press("Enter")
    expect(booking.page.locator("#sheet-said")).to_contain_text("column 7")
    expect(booking.page.locator("#sheet-said .wrong")).to_have_text("text > ")
    expect(booking.page.locator("#sheet-said mark")).to_have_text(" ")
    expect(booking.page.locator("#sheet-condition")).to_have_value("text >")
    expect(points(booking)).to_have_count(0)
    booking.page.keyboard.press("Escape")


def test_shift_f8_goes_to_the_previous_hit_while_a_selection_is_loading(visit):
    session = visit.session("travel", [BOOK, BOOK])
    session.select(FIRST_CALL)
    press(session, "l")
    expect(session.page.locator("#break-said")).to_contain_text("added: call event")
    going = session.held_back(re.compile(r"/sessions/\d+(\?|$)"))
    press(session, "Shift+G")
    held = going.next()
    press(session, "Shift+F8")
    held.continue_()
    session.page.unroute_all()
    expect(session.page).to_have_url(re.compile(r"event=([3-9]|\d\d)"))
    last = int(session.page.url.partition("event=")[2].partition("&")[0])
    expect(session.row(last)).to_have_attribute("aria-selected", "true")
    expect(session.row(last).locator(".kind")).to_have_text("call")
    press(session, "Shift+F8")
    expect(session.row(last)).to_have_attribute("aria-selected", "false")
    press(session, "Shift+F9")
    expect(session.row(last)).to_have_attribute("aria-selected", "true")
    press(session, "Shift+F9")
    expect(session.page.locator("#break-said")).to_have_text("No breakpoint hit after this event")
    expect(session.row(last)).to_have_attribute("aria-selected", "true")


def test_clicking_the_current_tab_keeps_unsaved_input(visit, session):
    session.tab("breaks")
    page, condition = session.page, session.page.locator("#break-condition")
    condition.fill("tokens > 5")
    visit.requests.clear()
    page.locator("#tab-breaks").click()
    page.keyboard.press("5")
    page.evaluate("() => fetch('/')")  # earlier requests are recorded by then
    assert visit.requests == ["GET /"]
    expect(condition).to_have_value("tokens > 5")
    session.tab("log")


def test_the_form_suggests_the_tools_and_agents_of_the_app(booking):
    booking.tab("breaks")
    for name, value in (("name", "book_flight"), ("agent", "TravelAgent")):
        suggestions = booking.page.locator(f"#break-{name}").get_attribute("list")
        option = booking.page.locator(f'#{suggestions} option[value="{value}"]')
        expect(option).to_have_count(1)
