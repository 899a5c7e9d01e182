"""The command palette: one list of what a page can do, opened with Ctrl+K on every page."""

import re

import pytest
from playwright.sync_api import Page, expect

pytestmark = pytest.mark.browser

PHONE = {"width": 390, "height": 780}


def options(page: Page, text: str = ""):
    return page.locator("#palette [role=option]", has_text=text)


def active_option(page: Page):
    return page.locator("#palette [role=option][aria-selected=true]")


def test_the_palette_runs_the_chosen_command_and_restores_the_focus(visit):
    session = visit.session("travel", ["Book a flight to London next Tuesday"])
    page, field = session.page, session.page.get_by_role("combobox", name="Find a command")
    page.keyboard.press("Control+K")
    expect(options(page, "Fork at the selected event")).to_have_count(0)
    page.keyboard.type("rewind")  # a synonym; disabled without an event
    expect(active_option(page)).to_have_text("Fork at the selected eventselect an event firstf")
    expect(active_option(page)).to_have_attribute("aria-disabled", "true")
    page.keyboard.press("Enter")
    expect(field).to_be_focused()
    field.fill("artifacts")
    expect(active_option(page)).to_have_text("Tab Files9")
    page.keyboard.press("Escape")
    session.composer.focus()
    page.keyboard.press("Control+K")
    expect(field).to_be_focused()
    expect(options(page, "Stop immediately")).to_have_count(0)  # nothing runs
    expect(page.get_by_role("group", name="Apps").get_by_role("option")).not_to_have_count(0)
    page.keyboard.press("ArrowUp")
    expect(active_option(page)).to_have_text("Write a messager")
    expect(active_option(page)).to_be_in_viewport()
    page.keyboard.press("Escape")
    expect(session.composer).to_be_focused()

    page.keyboard.press("Control+K")
    page.keyboard.type("theme")
    expect(active_option(page)).to_have_text("Switch themet")
    expect(field).to_have_attribute(
        "aria-activedescendant", active_option(page).get_attribute("id")
    )
    page.keyboard.press("Enter")
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    expect(session.composer).to_be_focused()

    page.keyboard.press("Control+K")
    page.keyboard.type("#3")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(r"event=3\b"))
    page.keyboard.press("Control+K")
    expect(page.get_by_role("group", name="Recent").get_by_role("option")).to_have_text(
        ["Switch themet"]
    )
    page.keyboard.type("tab raw")
    page.keyboard.press("Enter")
    expect(page.locator("#tab-raw")).to_have_attribute("aria-selected", "true")


FOUND_BY = {
    "help": "Show keyboard shortcuts",
    "docs": "HTTP API reference",
    "guide": "HTTP API reference",
    "go live": "Follow the newest event",
    "end after": "End after event",
}


def test_the_palette_finds_commands_by_other_words(visit):
    page = visit.session("travel").page
    page.keyboard.press("Control+K")
    for text, name in FOUND_BY.items():
        page.get_by_role("combobox", name="Find a command").fill(text)
        commands = page.get_by_role("group", name="Commands", exact=True)
        expect(commands.get_by_role("option", name=name).first).to_be_visible()


@pytest.mark.parametrize("width", [1440, 390])
def test_the_palette_offers_what_the_card_of_a_paused_event_does(visit, width):
    session = visit.session("travel")
    session.page.set_viewport_size({"width": width, "height": 780})
    page, card = session.page, session.page.locator("#held .held")
    page.get_by_label("pause first").check()
    session.send("Book a flight to London next Tuesday")
    expect(card.get_by_text("Drop the event")).to_be_attached()
    page.keyboard.press("Control+K")
    page.keyboard.type("edit")
    expect(active_option(page).locator(".label")).to_have_text("Edit")
    page.keyboard.press("Enter")
    expect(card.locator("details.change[open] > summary")).to_have_text("Edit")
    expect(card.locator("details.change :focus")).to_be_visible()
    page.keyboard.press("Control+K")
    page.keyboard.type("drop")
    page.keyboard.press("Enter")
    expect(card.locator("[data-deed]")).to_be_visible()


def test_on_a_phone_the_palette_shows_all_that_tells_a_session_from_its_fork(visit):
    parent = visit.session("travel", ["Book a flight to London next Tuesday"], title="London" * 9)
    with visit.server.client() as client:
        client.post(f"/api{parent.path}/forks", json={"number": 4}).raise_for_status()
    page = visit.open("/")
    page.set_viewport_size(PHONE)
    page.get_by_role("button", name="Commands and search").click()
    note = options(page, "fork at #4").locator("small").first
    assert note.evaluate("note => note.scrollWidth <= note.clientWidth")


@pytest.mark.parametrize("width", [1440, 390])
def test_the_magnifier_of_a_session_opens_the_palette(visit, width):
    """A phone has no other way to open it."""
    page = visit.session("travel").page
    page.set_viewport_size({"width": width, "height": 800})
    address = page.url
    page.get_by_role("button", name="Commands and search").click()
    expect(page.get_by_role("combobox", name="Find a command")).to_be_focused()
    page.keyboard.press("Escape")
    assert page.url == address


def test_the_palette_finds_sessions_and_events_and_opens_the_search(visit):
    session = visit.session(
        "travel", ["Book a flight to London next Tuesday"], title="Spring in London"
    )
    page = session.page
    page.keyboard.press("Control+K")
    page.keyboard.type('"a flight to lon"')
    events = page.get_by_role("group", name="Events", exact=True).get_by_role("option")
    expect(events.first).to_contain_text("#1 Book a flight to London next Tuesday")
    page.keyboard.press("Control+A")
    page.keyboard.type("spring in")
    expect(options(page)).to_have_text(
        [
            f"Spring in Londonsession {session.path.rpartition('/')[2]} · travel · 8 events",
            "Search all sessions for “spring in”",
        ]
    )
    page.keyboard.press("ArrowUp")
    expect(active_option(page)).to_have_text("Search all sessions for “spring in”")
    page.keyboard.press("Control+A")
    page.keyboard.type("no such thing at all")
    expect(options(page)).to_have_text(["Search all sessions for “no such thing at all”"])
    page.keyboard.press("Enter")
    expect(page.get_by_text("No events match")).to_be_visible()
    page.get_by_role("searchbox").fill("kind:user london")
    page.keyboard.press("Enter")
    result = page.locator(".searched", has_text="Spring in London").locator("li a").first
    expect(result.locator("mark").first).to_have_text("London")
    result.click()
    expect(page).to_have_url(re.compile(r"/sessions/\d+\?event=\d+$"))


def test_late_results_keep_the_option_that_the_person_moved_to(visit):
    session = visit.session("travel", ["Book a flight to London next Tuesday"])
    page = session.page
    event = page.get_by_role("group", name="Events", exact=True).get_by_role("option").first
    page.keyboard.press("Control+K")
    page.keyboard.type("lon")
    expect(event).to_contain_text("London")
    href = event.get_attribute("href")
    late = session.held_back(re.compile(r"/palette\?.*q=london"))
    page.keyboard.type("don")
    answer = late.next()
    while active_option(page).get_attribute("href") != href:
        page.keyboard.press("ArrowDown")
    groups = page.locator("#palette-found [role=group]")
    groups.evaluate_all("(all) => all.forEach((each) => each.classList.add('old'))")
    answer.continue_()
    expect(page.locator("#palette-found .old")).to_have_count(0)
    expect(active_option(page)).to_have_attribute("href", href)


def test_the_empty_palette_lists_other_sessions_first(visit):
    other = visit.session("travel", title="The other one")
    page = visit.session("travel", title="This one").page
    page.evaluate("localStorage.clear()")
    page.keyboard.press("Control+K")
    expect(options(page).first).to_contain_text("The other one")
    expect(active_option(page)).to_have_attribute("href", other.path)
    expect(page.locator("#palette-found")).not_to_contain_text("This one")


def test_the_palette_switches_themes_and_says_why_pause_is_unavailable(visit):
    page = visit.session("travel").page
    page.keyboard.press("Control+K")
    page.keyboard.type("pause")
    expect(options(page).first).to_have_text(re.compile("Pause at the next event.*no run in progr"))
    page.keyboard.press("Control+A")
    page.keyboard.type("dark")
    expect(options(page).first).to_have_text("Use the dark theme")
    page.keyboard.press("Enter")
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    page.keyboard.press("Control+K")
    page.keyboard.type("light")
    expect(options(page).first).to_have_text("Use the light theme")


def test_the_palette_opens_at_once_and_lists_the_keys_of_the_help_sheet(visit):
    page = visit.session("travel").page
    opened = page.evaluate("""() => {
        document.body.dispatchEvent(
            new KeyboardEvent("keydown", { key: "k", ctrlKey: true, bubbles: true }));
        return [document.querySelector("#palette").open, document.activeElement.role];
    }""")
    assert opened == [True, "combobox"]
    keys = set(options(page).locator("kbd").all_text_contents())
    page.keyboard.press("Escape")
    page.locator("main").click()
    page.evaluate("document.activeElement.blur()")
    page.keyboard.press("?")
    sheet = set(page.locator("#keys kbd").all_text_contents())
    assert keys <= sheet | set("1234567890")
    assert {"C", "t", "?", "/", "1"} <= keys & sheet


def test_a_button_opens_the_palette_on_every_page_of_a_phone(visit):
    page = visit.context.new_page()
    page.set_viewport_size(PHONE)
    for path in ("/", "/apps/travel", "/docs"):
        page.goto(visit.server.url + path)
        page.get_by_role("button", name="Commands and search").click()
        page.keyboard.type("theme")
        expect(options(page, "Switch theme")).to_be_in_viewport()
        box = page.locator("#palette").bounding_box()
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= PHONE["width"]
        page.keyboard.press("Escape")
        expect(page.locator("#palette")).to_be_hidden()
