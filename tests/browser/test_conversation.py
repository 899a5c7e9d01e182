"""A first conversation: from the printed link to the state of every event."""

import pytest
from playwright.sync_api import expect

from tests.kit.browser import SessionPage

pytestmark = pytest.mark.browser

BOOK = "Book a flight to London next Tuesday"
RECORD = """
(list) => {
  window.seen = [];
  const look = () => {
    const text = list.querySelector(".live .prose")?.textContent;
    if (text && window.seen.at(-1) !== text) window.seen.push(text);
  };
  new MutationObserver(look).observe(list, { childList: true, subtree: true, characterData: true });
}
"""


@pytest.fixture
def travel(visit):
    return visit.session("travel")


def test_a_new_user_finds_an_app_starts_a_session_and_gets_an_answer(visit):
    page = visit.open("/")
    page.get_by_role("link", name="travel", exact=True).click()
    page.get_by_role("button", name="New session").first.click()
    session = SessionPage(page)
    session.composer.wait_for()
    expect(session.composer).to_be_focused()
    session.say(BOOK)
    expect(session.messages.last).to_contain_text("I found three flights from ZRH to LHR")


def test_the_answer_streams_into_one_bubble_that_grows(travel):
    travel.page.locator("#live-chat").evaluate(RECORD)
    travel.say(BOOK)
    seen = travel.page.evaluate("window.seen")
    final = [text for text in seen if text.strip().startswith("I found")]
    assert len(final) >= 3
    assert [len(text) for text in final] == sorted(len(text) for text in final)
    expect(travel.live).to_have_count(0)
    expect(travel.page.locator("#live-rows .row")).to_have_count(0)


def test_the_timeline_has_a_row_for_every_event(travel):
    travel.say(BOOK)
    kinds = ["user", "call", "result", "call", "result", "call", "result", "text"]
    assert travel.cell("kind") == kinds
    assert travel.cell("who") == ["user", *["TravelAgent"] * 7]
    assert travel.cell("seq") == [str(number) for number in range(1, 9)]
