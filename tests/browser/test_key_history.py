"""Who wrote a key, in the page: by mouse from the state panel, by keys from write to write."""

import re

import pytest
from playwright.sync_api import expect

from tests.api.test_key_history import PLANNER
from tests.api.test_uncommitted import APPS
from tests.kit.browser import HeldBack, SessionPage
from tests.kit.server import running, write_app

pytestmark = pytest.mark.browser

ANSWERED = """document.addEventListener("htmx:finally:request", (event) => {
  if (event.detail.ctx.request.action.includes("/history?")) document.body.dataset.answered = "";
})"""


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    folder = tmp_path_factory.mktemp("keys")
    write_app(folder / "agents", "planner", PLANNER)
    write_app(folder / "agents", "branches", APPS["branches"])
    with running(folder / "agents", folder / "data") as server:
        yield server


def shows(session: SessionPage, number: int) -> None:
    """The page is as of a write, whose row is selected and in sight."""
    expect(session.page).to_have_url(re.compile(rf"[?&]at={number}\b"))
    expect(session.row(number)).to_have_attribute("aria-selected", "true")
    expect(session.row(number)).to_be_in_viewport()
    expect(session.panel.locator(".writes [aria-current]")).to_contain_text(f"#{number}")


def test_a_click_on_a_key_tells_who_wrote_it_and_keys_go_from_write_to_write(visit):
    session = visit.session("planner", ["go"], state='{"plan": "none"}')
    session.tab("state")
    page, history = session.page, session.panel.locator("#key-history")
    session.panel.locator(".var dt a", has_text="plan").click()
    expect(history.locator(".set-by")).to_have_text("set by #6 second via write_plan")
    writes = history.locator(".writes > li")
    expect(writes).to_have_count(3)
    expect(history.get_by_role("img", name="3 writes")).to_be_visible()
    expect(writes.nth(0)).to_contain_text("initial state")
    expect(writes.nth(2)).to_contain_text(re.compile(r"\.steps\[1\]\.done\s*false\s*→\s*true"))
    page.keyboard.press("{")
    shows(session, 6)
    page.keyboard.press("{")
    shows(session, 3)
    expect(page.locator("#write-back")).to_have_attribute("aria-disabled", "true")
    page.keyboard.press("}")
    shows(session, 6)
    page.keyboard.press("<")  # of any key, and the pin stays
    expect(page).to_have_url(re.compile(r"at=\d+\b.*key=plan\b"))
    page.keyboard.press("}")
    shows(session, 6)
    session.tab("event")  # the pin stays, and so do its keys
    page.keyboard.press("{")
    expect(page).to_have_url(re.compile(r"at=3\b.*tab=event\b"))
    page.locator("#unpin").click()
    expect(page.locator("#pin-bar")).to_have_count(0)


def test_what_is_inside_a_value_has_a_history_of_its_own(visit):
    session = visit.session("planner", ["go"], state='{"plan": "none"}')
    session.select(6)
    session.tab("state")
    page, value = session.page, session.panel.locator(".var .now")
    value.locator("summary").first.click()
    value.get_by_role("link", name="title").focus()
    page.keyboard.press("Enter")
    expect(page.locator("#pin-bar .pinned")).to_have_text("Pinned: plan.title")
    expect(page.locator("#key-history .set-by")).to_have_text("set by #3 first via write_plan")
    page.keyboard.press("{")
    shows(session, 3)  # the second write left the title as it was
    page.locator("#pin-bar a", has_text="plan").click()
    expect(page.locator("#pin-bar .pinned")).to_have_text("Pinned: plan")


def test_a_link_to_a_history_shows_it_on_a_narrow_page_too(visit):
    session = visit.session("planner", state='{"plan": "none"}')
    page = visit.open("/")
    page.set_viewport_size({"width": 900, "height": 900})
    page.goto(f"{visit.server.url}{session.path}?tab=state&key=plan")
    expect(page.locator("#key-history .set-by")).to_be_in_viewport()


def test_parallel_writers_are_warned_of_and_news_come_to_an_open_history(visit):
    session = visit.session("branches", ["go"])
    session.tab("state")
    session.panel.locator(".var dt a", has_text="winner").click()
    history = session.panel.locator("#key-history")
    expect(history).to_contain_text("wrote it in parallel; the last writer wins")
    writes = history.locator(".writes > li")
    expect(writes).to_have_count(2)
    session.say("once more")
    expect(writes).to_have_count(4)
    expect(writes.nth(3)).to_have_attribute("aria-current", "true")


def test_an_answer_about_what_is_not_shown_any_more_is_not_placed(visit):
    """An open history asks for itself when its stream begins; the reader may be elsewhere then."""
    session = visit.session("planner", ["go"], state='{"plan": "none"}')
    session.select(6)
    session.tab("state")
    session.panel.locator(".var dt a", has_text="plan").click()
    history, answers = session.panel.locator("#key-history"), HeldBack(session.page, "**/history?*")
    expect(history.locator(".set-by")).to_have_text("set by #6 second via write_plan")
    session.page.reload()
    answer = answers.next()
    session.select(3)
    expect(history.locator(".set-by")).to_have_text("set by #3 first via write_plan")
    session.page.evaluate(ANSWERED)
    answer.continue_()
    expect(session.page.locator("body")).to_have_attribute("data-answered", "")
    expect(history.locator(".set-by")).to_have_text("set by #3 first via write_plan")
