"""The history of a key on the page: opened with the mouse, browsed with the keyboard."""

import re

import pytest
from playwright.sync_api import expect

from tests.api.test_key_history import PLANNER
from tests.api.test_uncommitted import APPS
from tests.kit.browser import PausedRequests, SessionPage
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
    """Check that the page is as of a write, whose row is selected and visible."""
    expect(session.page).to_have_url(re.compile(rf"[?&]at={number}\b"))
    expect(session.row(number)).to_have_attribute("aria-selected", "true")
    expect(session.row(number)).to_be_in_viewport()
    expect(session.panel.locator(".writes [aria-current]")).to_contain_text(f"#{number}")


def test_clicking_a_key_shows_its_history_and_keys_move_between_writes(visit):
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
    page.keyboard.press("<")  # to a write of any key; the pin stays
    expect(page).to_have_url(re.compile(r"at=\d+\b.*key=plan\b"))
    page.keyboard.press("}")
    shows(session, 6)
    session.tab("event")  # the pin and its shortcuts stay
    page.keyboard.press("{")
    expect(page).to_have_url(re.compile(r"at=3\b.*tab=event\b"))
    page.locator("#unpin").click()
    expect(page.locator("#pin-bar")).to_have_count(0)


def test_a_nested_value_has_its_own_history(visit):
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


def test_a_link_to_a_key_history_works_on_a_narrow_page(visit):
    session = visit.session("planner", state='{"plan": "none"}')
    page = visit.open("/")
    page.set_viewport_size({"width": 900, "height": 900})
    page.goto(f"{visit.server.url}{session.path}?tab=state&key=plan")
    expect(page.locator("#key-history .set-by")).to_be_in_viewport()


def test_a_key_history_warns_of_parallel_writers_and_updates_live(visit):
    session = visit.session("branches", ["go"])
    session.tab("state")
    session.panel.locator(".var dt a", has_text="winner").click()
    history = session.panel.locator("#key-history")
    expect(history).to_contain_text("wrote it in parallel; the last write wins")
    writes = history.locator(".writes > li")
    expect(writes).to_have_count(2)
    session.say("once more")
    expect(writes).to_have_count(4)
    expect(writes.nth(3)).to_have_attribute("aria-current", "true")


def test_a_history_that_arrives_after_the_reader_moved_on_is_not_shown(visit):
    """An open history is requested when its stream starts; the reader may have moved on by then."""
    session = visit.session("planner", ["go"], state='{"plan": "none"}')
    session.select(6)
    session.tab("state")
    session.panel.locator(".var dt a", has_text="plan").click()
    history, answers = (
        session.panel.locator("#key-history"),
        PausedRequests(session.page, "**/history?*"),
    )
    expect(history.locator(".set-by")).to_have_text("set by #6 second via write_plan")
    session.page.reload()
    answer = answers.next()
    session.select(3)
    expect(history.locator(".set-by")).to_have_text("set by #3 first via write_plan")
    session.page.evaluate(ANSWERED)
    answer.continue_()
    expect(session.page.locator("body")).to_have_attribute("data-answered", "")
    expect(history.locator(".set-by")).to_have_text("set by #3 first via write_plan")
