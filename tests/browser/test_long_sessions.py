"""A session of a thousand events: pages show a window of it, and stay small."""

import pytest
from playwright.sync_api import Page, expect

from tests.kit.browser import SessionPage
from tests.kit.restyled import restyled
from tests.kit.server import Server

pytestmark = pytest.mark.browser

EVENTS = 1000
WINDOW = 300
"""Rows that a page shows at the most before anybody asks for more."""
ELEMENTS, BYTES = 3000, 220_000
"""What the page of any session has at the most. What a row or a message has that few people open
(a menu, a form) is fetched when it is opened."""


def history(turn_length: int = 10) -> list[dict]:
    """A thousand events in turns."""
    events = []
    for number in range(1, EVENTS + 1):
        turn, place = divmod(number - 1, turn_length)
        author = "user" if place == 0 else "SummaryAgent"
        said = {"role": "user" if place == 0 else "model", "parts": [{"text": f"text {number}"}]}
        delta = {"stateDelta": {"count": number}} if place == 5 else {}
        where = {"invocationId": f"e-{turn}", "timestamp": 1_700_000_000.0 + number}
        events.append({"id": str(number), "author": author, "content": said, **where})
        events[-1]["actions"] = delta
    return events


def short_turns() -> list[dict]:
    """The same events, each turn a question, a call, a result and an answer."""
    events = []
    for number, event in enumerate(history(4)):
        call = {"id": f"call-{number // 4}", "name": "count"}
        part = [
            event["content"]["parts"][0],
            {"functionCall": {**call, "args": {"turn": number}}},
            {"functionResponse": {**call, "response": {"count": number}}},
            event["content"]["parts"][0],
        ][number % 4]
        delta = {"stateDelta": {"count": number}} if number % 4 == 2 else {}
        content = {**event["content"], "parts": [part]}
        events.append({**event, "content": content, "actions": delta})
    return events


def make(server: Server, name: str, events: list[dict] | None = None) -> str:
    """The address of a new session with the history."""
    with server.client() as client:
        body = {"sessionId": name, "events": events or history()}
        answer = client.post("/apps/summary/users/reader/sessions", json=body)
        assert answer.status_code == 200, answer.text
        page = client.get("/apps/summary", headers={"Accept": "text/html"}).text
    item = page[: page.index(f'title="{name}"')]
    return "/sessions/" + item.rpartition('href="/sessions/')[2].partition('"')[0]


@pytest.fixture(scope="module")
def path(server):
    """A session that tests only look at."""
    return make(server, "long")


@pytest.fixture
def session(visit, path):
    return SessionPage(visit.open(path))


def numbers(session: SessionPage) -> list[int]:
    return session.events.evaluate_all("(rows) => rows.map((row) => Number(row.dataset.event))")


def top(page: Page, row: str) -> float:
    return page.locator(row).evaluate("(row) => row.getBoundingClientRect().top")


@pytest.mark.req("R48")
def test_a_page_shows_the_newest_events_and_fetches_no_more_by_itself(session, visit):
    shown = numbers(session)
    assert shown == list(range(shown[0], EVENTS + 1))
    assert len(shown) <= WINDOW
    expect(session.row(EVENTS)).to_be_in_viewport()
    expect(session.messages.last).to_be_in_viewport()
    session.select(EVENTS - 5)
    expect(session.panel).to_contain_text(f"#{EVENTS - 5}")
    assert numbers(session) == shown
    assert not [request for request in visit.requests if "/events?before" in request]
    assert session.page.evaluate("document.querySelectorAll('*').length") <= ELEMENTS


def test_a_page_of_short_turns_is_small(visit, server):
    """The shortest turns have the most messages with menus, calls and marks."""
    session = SessionPage(visit.open(make(server, "turns-of-4", short_turns())))
    assert len(numbers(session)) > 50
    assert session.page.evaluate("document.querySelectorAll('*').length") <= ELEMENTS
    with server.client() as client:
        page = client.get(session.path, headers={"Accept": "text/html"})
    assert len(page.content) <= BYTES
    session = visit.again(session, "?tab=state&key=count")
    writes = session.panel.locator(".writes > li")
    expect(writes).to_have_count(200)
    expect(writes.last).to_be_in_viewport(ratio=1)
    session.panel.get_by_role("link", name="Earlier writes").click()
    expect(writes).to_have_count(50)
    expect(writes.last).to_contain_text("#199")


def test_the_menu_of_a_message_is_fetched_when_it_is_opened(session, visit):
    menu = session.page.locator(".msg.user .again").last
    assert menu.locator("form").count() == 0
    before = len(visit.requests)
    for _ in range(3):
        menu.locator("summary").press("Enter")
    expect(menu.get_by_role("button", name="Rewind to before this message")).to_be_visible()
    asked = [each for each in visit.requests[before:] if each.endswith("/again")]
    assert len(asked) == 1, "opened once more it is still there"


def test_earlier_events_are_fetched_above_without_a_jump_or_a_double(session):
    before = numbers(session)
    link = session.page.get_by_role("link", name="Load earlier events")
    link.evaluate("(link) => link.closest('.scroller').scrollTop = 0")
    first = f"#e-{before[0]}"
    expect(session.row(before[0] - 1)).to_be_attached()
    here = top(session.page, first)
    box = session.page.locator("#timeline .scroller").bounding_box()
    assert box["y"] - 200 < here < box["y"] + box["height"], "the reader still sees the same row"
    after = numbers(session)
    assert after == list(range(after[0], EVENTS + 1))
    messages = session.messages.evaluate_all("(all) => all.map((one) => Number(one.dataset.event))")
    assert messages == sorted(set(messages))
    assert messages[0] == after[0]


def test_an_invocation_of_many_windows_has_one_header_above_its_rows(visit, server):
    session = SessionPage(visit.open(make(server, "turns-of-500", history(500))))
    for _ in range(2):
        before = numbers(session)
        link = session.page.get_by_role("link", name="Load earlier events")
        link.evaluate("(link) => link.closest('.scroller').scrollTop = 0")
        expect(session.row(before[0] - 1)).to_be_attached()
    headers = session.page.locator("#rows > .inv")
    expect(headers).to_have_count(1)
    after = headers.evaluate("(header) => header.nextElementSibling.dataset.event")
    assert int(after) == numbers(session)[0]


def test_a_permalink_shows_the_events_around_it(visit, path):
    session = SessionPage(visit.open(f"{path}?event=500&tab=state"))
    expect(session.row(500)).to_be_in_viewport()
    expect(session.row(500)).to_have_attribute("aria-selected", "true")
    shown = numbers(session)
    assert shown[0] < 450
    assert shown[-1] > 550
    assert len(shown) <= WINDOW
    expect(session.panel).to_contain_text("State as of #500")
    expect(session.panel).to_contain_text("496")


def test_a_permalink_to_the_beginning(visit, path):
    session = SessionPage(visit.open(f"{path}?event=5"))
    expect(session.row(5)).to_be_in_viewport()
    assert numbers(session)[0] == 1
    expect(session.page.get_by_role("link", name="Load earlier events")).to_have_count(0)
    expect(session.panel).to_contain_text("text 5")


def test_from_a_window_of_the_past_the_page_goes_live(visit, path):
    session = SessionPage(visit.open(f"{path}?event=5"))
    last = numbers(session)[-1]
    later = session.page.locator("#timeline .later")
    expect(later).to_contain_text(f"{EVENTS - last} later events not shown.")
    later.get_by_role("link", name="Show the next ones").click()
    expect(session.row(last + 1)).to_have_attribute("aria-selected", "true")
    assert numbers(session)[-1] > last + 1
    later.get_by_role("link", name="Go live").click()
    expect(session.row(EVENTS)).to_be_in_viewport()
    expect(session.page.locator("#as-of")).to_contain_text("live")
    expect(later).to_have_count(0)


def test_g_g_goes_to_the_first_of_a_thousand_events(session):
    session.page.evaluate("document.activeElement.blur()")
    session.page.keyboard.press("g")
    session.page.keyboard.press("g")
    expect(session.row(1)).to_have_attribute("aria-selected", "true")
    expect(session.row(1)).to_be_in_viewport()


def test_the_first_event_of_a_page_of_the_past_is_shown_with_what_is_around_it(visit, path):
    session = SessionPage(visit.open(f"{path}?at=100&filter=text"))
    session.page.locator("#rows").press("g")
    session.page.keyboard.press("g")
    expect(session.row(1)).to_have_attribute("aria-selected", "true")
    expect(session.page.locator("#as-of")).to_have_text(f"as of #100 of {EVENTS}")
    last = numbers(session)[-1]
    assert last < 100
    expect(session.page.locator("#timeline .later")).to_contain_text(f"{100 - last} later")
    session = SessionPage(visit.open(f"{path}?at=100&event=10"))
    assert numbers(session)[:10] == [*range(1, 11)]
    session.page.get_by_role("link", name="Show the next ones").click()
    expect(session.page.locator("#as-of")).to_have_text(f"as of #100 of {EVENTS}")
    expect(session.row(100)).to_be_attached()
    expect(session.row(101)).to_have_count(0)


def test_long_numbers_are_shown_in_full_and_cover_nothing(session):
    number = session.row(EVENTS - 5).locator(".seq a")
    number.evaluate("(link) => { link.textContent = '123456'; }")
    cut = "(link) => link.parentElement.scrollWidth > link.parentElement.clientWidth"
    assert not number.evaluate(cut)
    at = session.messages.last.locator(".at")
    at.evaluate("(link) => { link.textContent = '#12345'; }")
    free = "(link) => parseFloat(getComputedStyle(link.parentElement).paddingInlineEnd)"
    assert at.bounding_box()["width"] <= at.evaluate(free)


def test_the_scrubber_goes_anywhere(session):
    scrub = session.page.locator("#scrub")
    scrub.focus()
    session.page.keyboard.press("Home")
    expect(session.row(1)).to_have_attribute("aria-selected", "true")
    expect(session.panel).to_contain_text("#1")


def test_a_message_goes_on_where_a_long_session_ends(visit, server):
    session = SessionPage(visit.open(make(server, "longer")))
    session.send("Shorter, please: one sentence")
    expect(session.row(EVENTS + 2)).to_be_in_viewport()
    session.ends()
    assert len(numbers(session)) <= WINDOW + 2


def test_a_rewind_marks_what_a_page_shows_however_far_back_that_is(visit, server):
    later = [{**event, "id": f"later {event['id']}"} for event in history()[-20:]]
    path = make(server, "taken back", [*history(), *later])
    session = SessionPage(visit.open(f"{path}?event=5"))
    with server.client() as client:
        client.post(f"/api{path}/rewind", json={"number": 1}).raise_for_status()
    shown = numbers(session)
    expect(session.page.locator("#rows .taken-back")).to_have_count(len(shown))
    expect(session.page.locator("#messages .taken-back")).to_have_count(session.messages.count())
    expect(session.panel.locator(".taken-back")).to_have_count(1)
    by = len(history()) + len(later) + 1
    expect(session.row(5).locator(".taken-back")).to_have_text(f"taken back by the rewind #{by}")
    session.row(5).locator(".taken-back").click()
    expect(session.panel).to_contain_text(f"#{by}")


def test_what_arrives_is_all_that_is_styled(visit, server):
    """A selector that makes each new row cost as much as all rows froze pages of busy runs."""
    session = SessionPage(visit.open(make(server, "styled", short_turns())))
    elements = session.page.evaluate("document.querySelectorAll('*').length")
    with restyled(session.page) as passes:
        session.send("Shorter, please: one sentence")
        session.ends()
    assert passes, "a turn is styled"
    assert max(passes) < elements / 6, passes
