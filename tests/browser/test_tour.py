"""The tour of the debugger: offered once, followed on the page itself, left with Escape."""

import re

import pytest
from playwright.sync_api import expect

pytestmark = pytest.mark.browser


@pytest.fixture(autouse=True)
def _without_breakpoints(server):
    """Delete the app's breakpoints afterwards: a tour leaves its breakpoint behind."""
    yield
    with server.client() as client:
        for each in client.get("/api/apps/faulty/breakpoints").json()["breakpoints"]:
            client.delete(f"/api/apps/faulty/breakpoints/{each['id']}")


def card(page):
    return page.locator("#tour")


def title(page, text):
    expect(card(page).locator("h2")).to_have_text(text)


def test_the_tour_can_be_followed_to_its_end(visit):
    session = visit.session("travel")
    page = session.page
    page.locator("#welcome [data-tour-begin]").click()
    expect(page).to_have_url(re.compile(r"/sessions/\d+"))
    title(page, "Pause where it goes wrong")
    act = card(page).locator("[data-tour-act]")
    expect(act).to_be_focused()
    page.keyboard.press("Enter")
    expect(act).to_have_text("Fill it in")
    page.keyboard.press("Enter")
    expect(page.locator("#break-form button.primary")).to_be_focused()
    page.keyboard.press("Enter")
    title(page, "Run it")
    act.click()
    page.keyboard.press("Enter")
    title(page, "Look, then change it")
    expect(page.locator("#held")).to_contain_text("-756")
    act.click()
    expect(page.locator("#held .held-form button.primary")).to_be_focused()
    page.keyboard.press("Enter")
    title(page, "Continue")
    page.locator("#held").get_by_role("button", name="Undo").press("Enter")
    title(page, "Look, then change it")
    act.click()
    expect(page.locator("#held .held-form button.primary")).to_be_focused()
    page.keyboard.press("Enter")
    title(page, "Continue")
    page.locator("#do-continue").click()
    title(page, "Each of you pays 18.9")
    expect(page.locator("#messages")).to_contain_text("18.9")
    page.keyboard.press("Escape")
    expect(card(page)).to_be_hidden()


@pytest.mark.parametrize("width", [390, 1440])
def test_the_cards_button_alone_leads_to_the_end(visit, width):
    """The button names what it presses next, and the card doesn't cover what the step is about."""
    page = visit.session("faulty").page
    page.set_viewport_size({"width": width, "height": 900})
    page.locator("#welcome [data-tour-begin]").click()
    act = card(page).locator("[data-tour-act]")
    for label, about in (
        ("Open Breaks", "[data-tabs][aria-label=Inspector]"),
        ("Fill it in", "#break-form"),
        ("Add breakpoint", "#break-form"),
        ("Write it", "[data-composer]"),
        ("Send", "[data-composer]"),
        ("Enter 75.6", None),
        ("Use these values", "#held .held-form button.primary"),
        ("Continue", "#do-continue"),
    ):
        expect(act).to_have_text(label)
        expect(act).to_be_enabled()
        assert about is None or not covers(page, about), label
        act.click()
    title(page, "Each of you pays 18.9")
    expect(page.locator("#messages")).to_contain_text("18.9")


def test_the_value_that_the_tour_enters_is_sent_by_continue(visit):
    page, act = begin(visit)
    for label in ("Open Breaks", "Fill it in", "Add breakpoint", "Write it", "Send", "Enter 75.6"):
        expect(act).to_have_text(label)
        act.click()
    expect(act).to_have_text("Use these values")
    page.locator("#held").get_by_role("button", name="Continue with edits").click()
    title(page, "Each of you pays 18.9")
    expect(page.locator("#messages")).to_contain_text("18.9")


def covers(page, selector):
    """Return whether the card overlaps the element."""
    over, under = card(page).bounding_box(), page.locator(selector).bounding_box()
    return (
        under is not None
        and over["x"] < under["x"] + under["width"]
        and under["x"] < over["x"] + over["width"]
        and over["y"] < under["y"] + under["height"]
        and under["y"] < over["y"] + over["height"]
    )


def test_the_tour_is_offered_once_and_restarted_from_the_help_sheet(visit):
    session = visit.session("faulty")
    page = session.page
    offer = page.locator("#welcome [data-tour-offer]")
    offer.locator("[data-tour-decline]").click()
    expect(offer).to_be_hidden()
    page.reload()
    expect(page.locator("#welcome h2")).to_be_visible()
    expect(offer).to_be_hidden()
    page.locator("#composer-text").press("Escape")
    page.keyboard.press("?")
    page.locator("#keys [data-tour-begin]").click()
    title(page, "Pause where it goes wrong")
    expect(page.locator("#keys")).to_be_hidden()
    page.locator("#composer-text").fill("the page stays usable")
    page.keyboard.press("Escape")
    expect(card(page)).to_be_hidden()
    expect(page.locator("#composer-text")).to_have_value("the page stays usable")


@pytest.mark.parametrize("width", [390, 900])
def test_the_card_stays_within_the_window(visit, width):
    session = visit.session("faulty")
    page = session.page
    page.set_viewport_size({"width": width, "height": 800})
    page.locator("#welcome [data-tour-begin]").click()
    box = card(page).bounding_box()
    assert box is not None
    assert 0 <= box["x"] <= width - box["width"]
    assert 0 <= box["y"] <= 800 - box["height"]
    card(page).locator("[data-tour-act]").click()
    expect(page.locator("#break-form")).to_be_visible()


def begin(visit):
    page = visit.session("faulty").page
    page.locator("#welcome [data-tour-begin]").click()
    title(page, "Pause where it goes wrong")
    return page, card(page).locator("[data-tour-act]")


def test_a_tour_that_cannot_continue_says_why_and_starts_over(visit):
    """One reason is a disabled breakpoint, another a reader who continues too early."""
    page, act = begin(visit)
    act.click()
    expect(act).to_have_text("Fill it in")
    act.click()
    page.keyboard.press("Enter")
    title(page, "Run it")
    page.locator("#breakpoints .switch").first.click()
    expect(page.locator("#breakpoints form.off")).to_have_count(1)
    act.click()
    page.keyboard.press("Enter")
    expect(card(page)).to_contain_text("The run ended without a pause")
    page.locator("#breakpoints .switch").first.click()
    expect(page.locator("#breakpoints form.off")).to_have_count(0)
    before = page.url
    expect(act).to_have_text("Start over")
    act.click()
    title(page, "Pause where it goes wrong")
    act.click()
    title(page, "Run it")
    assert page.url.partition("?")[0] != before.partition("?")[0]
    act.click()
    page.keyboard.press("Enter")
    title(page, "Look, then change it")
    page.locator("#do-continue").click()
    expect(card(page)).to_contain_text("The run went on before you changed the value")
    expect(act).to_have_text("Start over")


def test_escape_closes_the_suggestions_first_and_then_only_the_tour(visit):
    page, _ = begin(visit)
    page.locator("#filter-field").click()
    expect(page.locator("#filter-words")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator("#filter-words")).to_be_hidden()
    expect(card(page)).to_be_visible()
    page.locator("#composer-text").focus()
    page.keyboard.press("Escape")
    expect(card(page)).to_be_hidden()
    expect(page.locator("#composer-text")).to_be_focused()
