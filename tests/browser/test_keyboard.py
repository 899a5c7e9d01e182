"""Keyboard-only use, and what a screen reader announces."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.kit.browser import SessionPage
from tests.kit.slow_summary import SUMMARIZE

pytestmark = pytest.mark.browser

BOOK = "Book a flight to London next Tuesday"
ANSWERED = 8


@pytest.fixture
def travel(visit):
    """A session with an answer and nothing focused."""
    session = visit.session("travel", [BOOK])
    session.page.evaluate("document.activeElement.blur()")
    return session


def press(session: SessionPage, *keys: str) -> None:
    for key in keys:
        session.page.keyboard.press(key)


def is_selected(session: SessionPage, number: int) -> None:
    expect(session.row(number)).to_have_attribute("aria-selected", "true")
    expect(session.page).to_have_url(re.compile(rf"event={number}\b"))
    expect(session.panel).to_contain_text(f"#{number}")


def focused(page: Page) -> str:
    return page.evaluate("document.activeElement.id || document.activeElement.href")


def test_j_and_k_step_through_the_events_and_the_inspector_follows(travel):
    press(travel, "k")
    is_selected(travel, ANSWERED)
    press(travel, "k")
    is_selected(travel, ANSWERED - 1)
    press(travel, "k", "k", "k")
    is_selected(travel, ANSWERED - 4)
    press(travel, "j")
    is_selected(travel, ANSWERED - 3)


def test_a_row_selected_by_moving_up_is_not_covered_by_the_headers(travel):
    travel.page.set_viewport_size({"width": 1440, "height": 400})
    for number in range(ANSWERED, 1, -1):
        press(travel, "k")
        is_selected(travel, number)
        row, top = travel.row(number).bounding_box(), 0
        for header in (".timeline .heads", "#rows > .inv"):
            box = travel.page.locator(header).first.bounding_box()
            top = max(top, box["y"] + box["height"])
        assert row["y"] >= top, number


def test_g_g_goes_to_the_first_event_and_shift_g_follows_the_newest(travel):
    press(travel, "g", "g")
    is_selected(travel, 1)
    expect(travel.page.locator("#as-of")).to_have_text(f"selected #1 of {ANSWERED}")
    press(travel, "Shift+G")
    expect(travel.page).to_have_url(re.compile(r"/sessions/\d+$"))
    expect(travel.page.locator("#as-of")).to_contain_text("live")
    expect(travel.page.locator('#rows .row[aria-selected="true"]')).to_have_count(0)


@pytest.mark.parametrize(
    ("key", "tab", "shows"),
    [("1", "event", "Content"), ("2", "state", "State as of #3"), ("3", "raw", '"author"')],
)
def test_number_keys_choose_the_inspectors_tab(travel, key, tab, shows):
    travel.select(3)
    press(travel, "4")
    expect(travel.panel).to_contain_text("Run log")
    press(travel, key)
    expect(travel.page.locator(f"#tab-{tab}")).to_have_attribute("aria-selected", "true")
    expect(travel.panel).to_contain_text(shows)
    press(travel, "j")
    is_selected(travel, 4)
    expect(travel.page.locator(f"#tab-{tab}")).to_have_attribute("aria-selected", "true")


def test_the_tabs_of_the_inspector_are_one_tab_stop(travel):
    travel.select(3)
    tabs = travel.page.get_by_role("tablist", name="Inspector").get_by_role("tab")
    expect(tabs).to_have_count(9)
    fetched = []
    travel.page.on("request", lambda request: fetched.append(request.url))
    tabs.first.focus()
    press(travel, "ArrowRight", "ArrowRight")
    expect(travel.page.locator("#tab-raw")).to_be_focused()
    press(travel, "End", "ArrowRight")
    expect(tabs.first).to_be_focused()
    press(travel, "ArrowLeft", "Home", "ArrowRight")
    assert fetched == []  # only opening a tab fetches it
    for key, tab in (("Enter", "state"), ("Space", "raw")):
        expect(travel.page.locator(f"#tab-{tab}")).to_be_focused()
        press(travel, key)
        expect(travel.page.locator(f"#tab-{tab}")).to_have_attribute("aria-selected", "true")
        expect(travel.page.locator(f"#tab-{tab}")).to_be_focused()
        is_one_stop(travel, "Inspector")
        press(travel, "ArrowRight")
    expect(travel.page.get_by_role("tabpanel", name="Raw")).to_contain_text('"author"')
    press(travel, "Tab")
    expect(travel.panel).to_be_focused()
    press(travel, "Shift+Tab")
    expect(travel.page.locator("#tab-raw")).to_be_focused()
    press(travel, "j")
    is_selected(travel, 4)
    travel.say("Book it")
    is_one_stop(travel, "Inspector")


def test_the_views_are_one_tab_stop(travel):
    expect(travel.page.get_by_role("tabpanel", name="Events")).to_be_visible()
    travel.page.locator("#view-events").focus()
    press(travel, "ArrowRight", "Enter")
    expect(
        travel.page.get_by_role("tabpanel", name="Trace").get_by_role("treegrid")
    ).to_be_visible()
    expect(travel.page.locator("#view-trace")).to_be_focused()
    is_one_stop(travel, "View")
    travel.page.locator("#view-events").click()
    travel.page.locator("#filter-field").fill("kind:call")  # replaces the whole timeline
    press(travel, "Enter")
    expect(travel.page.locator("#filter-said")).to_have_text("3 shown, 5 hidden")
    is_one_stop(travel, "View")


def test_the_panes_of_a_phone_are_tabs_that_open_as_they_are_reached(travel):
    expect(travel.page.get_by_role("region", name="Chat")).to_be_visible()
    travel.page.set_viewport_size({"width": 390, "height": 844})
    travel.page.get_by_role("tab", name="Chat").focus()
    press(travel, "ArrowRight")
    expect(travel.page.get_by_role("tabpanel", name="Events and trace")).to_be_visible()
    expect(travel.page.locator("#chat")).to_be_hidden()
    is_one_stop(travel, "Panes")
    travel.page.locator("#filter-field").fill("kind:call")  # replaces the pane
    travel.page.locator("#filter-field").press("Enter")
    expect(travel.page.locator("#filter-said")).to_have_text("3 shown, 5 hidden")
    expect(travel.page.get_by_role("tabpanel", name="Events and trace")).to_be_visible()
    travel.page.get_by_role("tab", name="Events", exact=True).first.focus()
    press(travel, "End")
    expect(travel.page.get_by_role("tabpanel", name="Inspector", exact=True)).to_be_visible()
    travel.page.set_viewport_size({"width": 1440, "height": 900})
    expect(travel.page.get_by_role("region", name="Inspector")).to_be_visible()


def is_one_stop(session: SessionPage, name: str) -> None:
    tabs = session.page.get_by_role("tablist", name=name)
    expect(tabs.locator('[role="tab"][tabindex="0"]')).to_have_count(1)
    expect(tabs.locator('[aria-selected="true"][tabindex="0"]')).to_have_count(1)
    expect(tabs.locator("a:not([tabindex])")).to_have_count(0)


@pytest.mark.parametrize(("way", "number"), [("click", 3), ("key", 4)])
def test_a_tab_clicked_while_a_selection_is_loading_waits_for_it(travel, way, number):
    travel.select(5)
    travel.page.evaluate(
        """way => {
            const link = document.querySelector("#e-3 .seq a");
            const key = new KeyboardEvent("keydown", { key: "j", bubbles: true, cancelable: true });
            if (way === "click") link.click();
            else { link.focus(); link.dispatchEvent(key); }
            document.getElementById("tab-raw").click();
        }""",
        way,
    )
    is_selected(travel, number)
    expect(travel.page.locator("#tab-raw")).to_have_attribute("aria-selected", "true")
    expect(travel.panel).to_contain_text('"author"')


def test_enter_opens_the_focused_event(travel):
    travel.row(2).locator(".seq a").focus()
    press(travel, "Enter")
    is_selected(travel, 2)


def test_escape_leaves_the_message_field_and_never_enters_it(travel):
    press(travel, "Escape")
    expect(travel.composer).not_to_be_focused()
    press(travel, "r")
    expect(travel.composer).to_be_focused()
    expect(travel.composer).to_have_value("")
    press(travel, "Escape")
    assert focused(travel.page).endswith(f"event={ANSWERED}")
    press(travel, "Escape")
    expect(travel.composer).not_to_be_focused()


def test_letters_typed_into_a_field_are_text(travel):
    travel.composer.focus()
    travel.page.keyboard.type("jk1?gGt")
    expect(travel.composer).to_have_value("jk1?gGt")
    expect(travel.page.locator("dialog#keys")).to_be_hidden()
    expect(travel.page).to_have_url(re.compile(r"/sessions/\d+$"))


def test_enter_sends_and_shift_enter_inserts_a_line_break(visit):
    session = visit.session("summary")
    session.composer.focus()
    session.page.keyboard.type("Shorter,")
    press(session, "Shift+Enter")
    session.page.keyboard.type("please")
    expect(session.composer).to_have_value("Shorter,\nplease")
    expect(session.events).to_have_count(0)
    press(session, "Enter")
    session.ends()
    expect(session.composer).to_have_value("")
    expect(session.composer).to_be_focused()
    expect(session.messages.first).to_have_text(re.compile("Shorter,\\s*please"))


@pytest.mark.parametrize("composing", [True, False])
def test_enter_that_ends_a_composition_does_not_send(visit, composing):
    """In Safari, only the key code shows that this Enter belongs to an input method."""
    session = visit.session("summary")
    session.composer.fill("今日は")
    is_handled = session.composer.evaluate(
        """(field, isComposing) => !field.dispatchEvent(new KeyboardEvent("keydown", {
            key: "Enter", keyCode: 229, isComposing, bubbles: true, cancelable: true }))""",
        composing,
    )
    assert not is_handled
    expect(session.composer).to_have_value("今日は")
    expect(session.events).to_have_count(0)


def test_a_question_mark_shows_the_keys_and_escape_hides_them(travel):
    sheet = travel.page.locator("dialog#keys")
    press(travel, "?")
    expect(sheet).to_be_visible()
    for text in ("next event", "first event", "send the message", "switch theme"):
        expect(sheet).to_contain_text(text)
    press(travel, "j")
    expect(travel.page).to_have_url(re.compile(r"/sessions/\d+$"))
    press(travel, "Escape")
    expect(sheet).to_be_hidden()
    press(travel, "k")
    is_selected(travel, ANSWERED)


def test_the_list_of_keys_can_be_searched(travel):
    press(travel, "?")
    sheet = travel.page.locator("dialog#keys")
    travel.page.keyboard.type("breakpoint hit")
    expect(sheet.locator("dl div:visible")).to_have_count(2)
    expect(sheet.get_by_role("heading", level=3)).to_have_text(["Breakpoints"])
    travel.page.keyboard.type("s of nobody")
    expect(sheet).to_contain_text("No shortcuts match.")


def test_escape_closes_a_menu_and_restores_the_focus(travel):
    summary = travel.page.get_by_label("Sessions", exact=True)
    summary.focus()
    press(travel, "Enter")
    expect(travel.page.get_by_role("button", name="Delete session")).to_be_visible()
    press(travel, "Escape")
    expect(travel.page.get_by_role("button", name="Delete session")).to_be_hidden()
    expect(summary).to_be_focused()


def test_an_invocation_folds_and_unfolds(travel):
    travel.row(3).locator(".seq a").focus()
    header = travel.page.locator("#rows > .inv")
    press(travel, "ArrowLeft")
    expect(header.locator("[data-fold]")).to_be_focused()
    press(travel, "ArrowLeft")
    expect(travel.page.locator("#rows .row[data-event]:visible")).to_have_count(0)
    expect(header).to_have_attribute("aria-expanded", "false")
    press(travel, "ArrowRight")
    expect(header).to_have_attribute("aria-expanded", "true")
    expect(travel.page.locator("#rows .row[data-event]:visible")).to_have_count(ANSWERED)
    press(travel, "ArrowRight")
    expect(travel.row(1).locator(".seq a")).to_be_focused()
    header.locator("[data-fold]").click()
    expect(header).to_have_attribute("aria-expanded", "false")


def test_an_invocation_folded_while_its_row_is_being_selected_stays_folded(travel):
    header = travel.page.locator("#rows > .inv")
    selection = travel.held_back(re.compile(r"\?event=3$"))
    travel.row(3).click()
    held = selection.next()
    header.locator("[data-fold]").click()
    expect(header).to_have_attribute("aria-expanded", "false")
    held.continue_()
    is_selected(travel, 3)
    press(travel, "2")
    expect(travel.page.locator("#tab-state")).to_have_attribute("aria-selected", "true")
    expect(header).to_have_attribute("aria-expanded", "false")
    travel.page.locator("#messages .at").first.click()
    expect(header).to_have_attribute("aria-expanded", "true")


def test_the_events_are_a_treegrid_with_one_tab_stop(travel):
    travel.page.set_viewport_size({"width": 1900, "height": 900})  # room for every column
    grid = travel.page.get_by_role("treegrid", name="Events")
    expect(grid.get_by_role("columnheader")).to_have_count(7)  # one agent, and no model has a price
    levels = grid.locator("#rows > [role=row]").evaluate_all(
        "(rows) => rows.map((row) => row.getAttribute('aria-level'))"
    )
    assert levels == ["1", *["2"] * ANSWERED]
    stops = grid.locator('#rows .seq a[tabindex="0"]')
    expect(stops).to_have_count(1)
    press(travel, "k", "k")
    is_selected(travel, ANSWERED - 1)
    expect(stops).to_have_count(1)
    expect(stops).to_have_text(str(ANSWERED - 1))
    travel.say("Book it")
    expect(stops).to_have_count(1)


def test_run_status_changes_are_announced_politely(visit):
    session = visit.session("faulty")
    status = session.page.locator('#spoken[role="status"][aria-live="polite"]')
    session.send("Loop forever")
    expect(status).to_contain_text("running")
    session.page.locator("#stop").click()
    session.ends("stopped")
    expect(status).to_contain_text("stopped")


def test_new_events_do_not_take_the_focus(travel):
    travel.page.locator("#title-text").focus()
    other = travel.page.context.new_page()
    other.goto(travel.page.url)
    SessionPage(other).say("Book it and pay with my card")
    travel.ends()
    expect(travel.row(18)).to_be_attached()
    expect(travel.page.locator("#title-text")).to_be_focused()
    travel.row(2).locator(".seq a").focus()
    SessionPage(other).say("Book it and pay with my card")
    travel.ends()
    assert focused(travel.page).endswith("event=2")


def test_a_title_being_typed_survives_new_events(travel):
    travel.page.locator("#title-text").focus()
    travel.page.keyboard.type("Half a ti")
    other = travel.page.context.new_page()
    other.goto(travel.page.url)
    SessionPage(other).say("Book it")
    travel.ends()
    expect(travel.page.locator("#title-text")).to_have_value(re.compile("Half a ti"))
    expect(travel.page.locator("#title-text")).to_be_focused()


def test_a_draft_survives_an_incoming_answer(halting):
    visit, go = halting
    session = visit.session("summary")
    session.send(SUMMARIZE)
    expect(session.live).to_be_visible()
    session.page.keyboard.type("And then?")
    go.touch()
    session.ends()
    expect(session.composer).to_have_value("And then?")
    expect(session.events).to_have_count(2)


def test_the_first_tab_stop_skips_to_the_content(travel):
    travel.page.reload()
    press(travel, "Escape")
    travel.page.evaluate("document.activeElement.blur()")
    skip = travel.page.get_by_role("link", name="Skip to content")
    skip.focus()
    expect(skip).to_be_in_viewport()
    press(travel, "Enter")
    expect(travel.page.locator("#main")).to_be_focused()


def test_every_control_has_a_name(travel):
    nameless = travel.page.evaluate(
        """() => [...document.querySelectorAll("button, a[href], input, textarea")]
        .filter((control) => control.type !== "hidden")
        .filter((control) => !control.closest("[hidden]"))
        .filter((control) => !(control.ariaLabel || control.textContent.trim() || control.title
            || control.labels?.length))
        .map((control) => control.outerHTML)"""
    )
    assert nameless == []
