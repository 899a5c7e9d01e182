"""A session of a thousand events: a page shows a window of them and stays small."""

import re

import pytest
from playwright.sync_api import Page, expect

from devui.web.panels.timeline.window import SIZE
from tests.kit.browser import PausedRequests, SessionPage, scroll_through
from tests.kit.server import Server
from tests.kit.style_counts import restyled

pytestmark = pytest.mark.browser

EVENTS = 1000
WINDOW = 300
"""The most rows that a page shows before its reader asks for more."""
SCROLLED = 500
"""The length of a list to scroll: more than a window, and more than one request returns."""
ELEMENTS, BYTES = 3000, 220_000
"""The most elements and bytes of any session's page.

Rarely opened parts of a row or message (a menu, a form) are fetched when they are opened.
"""


def history(turn_length: int = 10) -> list[dict]:
    """Return a thousand events in turns."""
    events = []
    for number in range(1, EVENTS + 1):
        turn, place = divmod(number - 1, turn_length)
        author = "user" if place == 0 else "SummaryAgent"
        content = {"role": "user" if place == 0 else "model", "parts": [{"text": f"text {number}"}]}
        delta = {"stateDelta": {"count": number}} if place == 5 else {}
        where = {"invocationId": f"e-{turn}", "timestamp": 1_700_000_000.0 + number}
        events.append({"id": str(number), "author": author, "content": content, **where})
        events[-1]["actions"] = delta
    return events


def short_turns() -> list[dict]:
    """Return such events in turns of a question, a call, a result, and an answer with tokens."""
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
        if number % 4 == 3:  # else the first answer would add a column and change all rows
            usage = {"promptTokenCount": 40, "candidatesTokenCount": 2, "totalTokenCount": 42}
            events[-1]["usageMetadata"] = usage
    return events


def make(server: Server, name: str, events: list[dict] | None = None) -> str:
    """Create a session with the events, and return its path."""
    with server.client() as client:
        body = {"sessionId": name, "events": events or history()}
        answer = client.post("/apps/summary/users/reader/sessions", json=body)
        assert answer.status_code == 200, answer.text
        page = client.get("/apps/summary", headers={"Accept": "text/html"}).text
    item = page[: page.index(f'title="{name}"')]
    return "/sessions/" + item.rpartition('href="/sessions/')[2].partition('"')[0]


@pytest.fixture(scope="module")
def path(server):
    """A session that tests don't change."""
    return make(server, "long")


@pytest.fixture
def session(visit, path):
    return SessionPage(visit.open(path))


def numbers(session: SessionPage) -> list[int]:
    return session.events.evaluate_all("(rows) => rows.map((row) => Number(row.dataset.event))")


def top(page: Page, row: str) -> float:
    return page.locator(row).evaluate("(row) => row.getBoundingClientRect().top")


@pytest.mark.req("R48")
def test_a_page_shows_the_newest_events_and_fetches_nothing_else_by_itself(session, visit):
    # By now the page has checked its rows once and dropped those far out of view.
    expect(session.events).not_to_have_count(SIZE)
    visible = numbers(session)
    assert visible == list(range(visible[0], EVENTS + 1))
    assert len(visible) <= WINDOW
    expect(session.row(EVENTS)).to_be_in_viewport()
    expect(session.messages.last).to_be_in_viewport()
    session.select(EVENTS - 5)
    expect(session.panel).to_contain_text(f"#{EVENTS - 5}")
    assert numbers(session) == visible
    assert not [request for request in visit.requests if "/rows?" in request]
    assert session.page.evaluate("document.querySelectorAll('*').length") <= ELEMENTS


def test_a_page_of_short_turns_is_small(visit, server):
    """Short turns have the most messages with menus, calls and marks."""
    session = SessionPage(visit.open(make(server, "turns-of-4", short_turns())))
    assert len(numbers(session)) > 30
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
    expect(session.row(199)).to_be_in_viewport()
    expect(session.page.locator("#m-200")).to_be_visible()


def test_the_menu_of_a_message_is_fetched_once_when_it_opens(session, visit):
    menu = session.page.locator(".msg.user .again").last
    assert menu.locator("form").count() == 0
    before = len(visit.requests)
    for _ in range(3):
        menu.locator("summary").press("Enter")
    expect(menu.get_by_role("button", name="Rewind to before this message")).to_be_visible()
    fetches = [each for each in visit.requests[before:] if each.endswith("/again")]
    assert len(fetches) == 1, "opened once more it is still there"


@pytest.fixture(scope="module")
def scrolled_path(server):
    """A session to scroll from end to end, which takes longer the more events it has."""
    return make(server, "scrolled", history()[:SCROLLED])


@pytest.mark.parametrize("items", ["#rows", "#messages"])
def test_a_list_scrolls_from_its_end_to_its_beginning_and_back(visit, scrolled_path, items):
    """With the wheel, each item passes once, in order, and doesn't jump as others load."""
    session = SessionPage(visit.open(scrolled_path))
    for way in (-1, 1):
        seen = scroll_through(session.page, items, way)
        assert sorted(seen["passed"]) == list(range(1, SCROLLED + 1))
        assert seen["jump"] < 3
        assert seen["most"] <= ELEMENTS
    expect(session.row(SCROLLED)).to_be_in_viewport()
    expect(session.messages.last).to_be_in_viewport()


def test_the_scrollbar_can_be_dragged_to_any_event(session):
    box = session.page.locator("#timeline .scroller")
    for place in (0.5, 0.1, 0.9, 0.0, 0.3):
        box.evaluate("(box, place) => { box.scrollTop = box.scrollHeight * place; }", place)
        session.page.wait_for_function(
            """([low, high]) => {
                const box = document.querySelector("#timeline .scroller");
                const { top, bottom } = box.getBoundingClientRect();
                return [...document.querySelectorAll("#rows > .row[data-event]")].some((row) => {
                    const at = row.getBoundingClientRect(), number = Number(row.dataset.event);
                    return at.top < bottom && at.bottom > top && number >= low && number <= high;
                });
            }""",
            arg=[EVENTS * place - 80, EVENTS * place + 80],
        )
        visible = numbers(session)
        assert visible == sorted(set(visible))
        assert session.page.evaluate("document.querySelectorAll('*').length") <= ELEMENTS


@pytest.mark.parametrize("items", ["#rows", "#messages"])
def test_a_jump_to_the_top_of_a_list_ends_there(visit, server, items):
    words = "word " * 60
    events = short_turns()
    for event in events[::4]:  # so that a gap is taller than its estimate
        event["content"]["parts"] = [{"text": f"{words}{event['id']}"}]
    page = visit.open(make(server, f"top-{items[1:]}", events))
    box = page.locator(".scroller", has=page.locator(items))
    first = page.locator(f"{items} [data-event='1']").first
    box.evaluate("(box) => { box.scrollTop = 0; }")
    expect(first).to_be_in_viewport()
    page.wait_for_timeout(500)
    expect(first).to_be_in_viewport()
    assert box.evaluate("(box) => box.scrollTop") == 0


def test_a_selection_survives_the_fetching_of_rows(session):
    selections = PausedRequests(session.page, re.compile(r"/sessions/\d+\?.*event="))
    session.row(EVENTS - 5).click()
    selection = selections.next()
    box = session.page.locator("#timeline .scroller")
    box.evaluate("(box) => { box.scrollTop = box.scrollHeight * 0.5; }")
    expect(session.row(EVENTS // 2)).to_be_attached()
    selection.continue_()
    expect(session.panel).to_contain_text(f"#{EVENTS - 5}")
    expect(session.row(EVENTS - 5)).to_have_attribute("aria-selected", "true")


def test_an_invocation_of_many_windows_has_one_header_above_its_rows(visit, server):
    session = SessionPage(visit.open(make(server, "turns-of-500", history(500))))
    box = session.page.locator("#timeline .scroller")
    box.evaluate("(box) => { box.scrollTop = box.scrollHeight * 0.8; }")
    expect(session.row(800)).to_be_attached()
    headers = session.page.locator("#rows > .inv")
    expect(headers).to_have_count(1)


def test_a_permalink_shows_the_events_around_it(visit, path):
    session = SessionPage(visit.open(f"{path}?event=500&tab=state"))
    expect(session.row(500)).to_be_in_viewport()
    expect(session.row(500)).to_have_attribute("aria-selected", "true")
    visible = numbers(session)
    assert visible[0] < 470
    assert visible[-1] > 530
    assert len(visible) <= WINDOW
    expect(session.panel).to_contain_text("State as of #500")
    expect(session.panel).to_contain_text("496")


def test_a_permalink_to_an_early_event_shows_the_beginning(visit, path):
    session = SessionPage(visit.open(f"{path}?event=5"))
    expect(session.row(5)).to_be_in_viewport()
    assert numbers(session)[0] == 1
    expect(session.page.locator("#rows > :first-child")).to_have_class("inv")
    expect(session.panel).to_contain_text("text 5")


def test_go_live_returns_from_an_old_event_to_the_newest(visit, path):
    session = SessionPage(visit.open(f"{path}?event=5"))
    expect(session.row(EVENTS)).to_have_count(0)
    session.page.locator("#go-live").click()
    expect(session.row(EVENTS)).to_be_in_viewport()
    expect(session.page.locator("#as-of")).to_contain_text("live")


def test_selecting_with_the_scrubber_scrolls_both_lists_to_the_event(session):
    session.page.evaluate("window.first = true")
    scrub = session.page.locator("#scrub")
    scrub.evaluate(
        """(slider) => {
            slider.value = 300;
            slider.dispatchEvent(new Event("change", { bubbles: true }));
        }"""
    )
    expect(session.row(300)).to_have_attribute("aria-selected", "true")
    expect(session.row(300)).to_be_in_viewport()
    expect(session.page.locator("#m-300")).to_be_in_viewport()


def test_g_g_goes_to_the_first_of_a_thousand_events(session):
    session.page.evaluate("document.activeElement.blur()")
    session.page.keyboard.press("g")
    session.page.keyboard.press("g")
    expect(session.row(1)).to_have_attribute("aria-selected", "true")
    expect(session.row(1)).to_be_in_viewport()


def test_a_page_of_the_past_shows_all_events_up_to_its_moment(visit, path):
    session = SessionPage(visit.open(f"{path}?at=100&filter=text"))
    session.page.locator("#rows").press("g")
    session.page.keyboard.press("g")
    expect(session.row(1)).to_have_attribute("aria-selected", "true")
    expect(session.page.locator("#as-of")).to_have_text(f"as of #100 of {EVENTS}")
    later = session.page.locator("#timeline .later")
    expect(later).to_contain_text(f"{EVENTS - 100} later events not shown.")
    session = SessionPage(visit.open(f"{path}?at=100&event=10"))
    assert numbers(session)[:10] == [*range(1, 11)]
    box = session.page.locator("#timeline .scroller")
    box.evaluate("(box) => { box.scrollTop = box.scrollHeight; }")
    expect(session.row(100)).to_be_in_viewport()
    expect(session.row(101)).to_have_count(0)


def test_long_numbers_are_shown_in_full_and_overlap_nothing(session):
    number = session.row(EVENTS - 5).locator(".seq a")
    number.evaluate("(link) => { link.textContent = '123456'; }")
    cut = "(link) => link.parentElement.scrollWidth > link.parentElement.clientWidth"
    assert not number.evaluate(cut)
    at = session.messages.last.locator(".at")
    at.evaluate("(link) => { link.textContent = '#12345'; }")
    free = "(link) => parseFloat(getComputedStyle(link.parentElement).paddingInlineEnd)"
    assert at.bounding_box()["width"] <= at.evaluate(free)


def test_home_on_the_scrubber_selects_the_first_event(session):
    scrub = session.page.locator("#scrub")
    scrub.focus()
    session.page.keyboard.press("Home")
    expect(session.row(1)).to_have_attribute("aria-selected", "true")
    expect(session.panel).to_contain_text("#1")


def test_a_message_is_appended_at_the_end_of_a_long_session(visit, server):
    session = SessionPage(visit.open(make(server, "longer")))
    session.send("Shorter, please: one sentence")
    expect(session.row(EVENTS + 2)).to_be_in_viewport()
    session.ends()
    assert len(numbers(session)) <= WINDOW + 2


def test_a_rewind_marks_the_events_on_a_page_however_far_back_they_are(visit, server):
    later = [{**event, "id": f"later {event['id']}"} for event in history()[-20:]]
    path = make(server, "taken back", [*history(), *later])
    session = SessionPage(visit.open(f"{path}?event=5"))
    with server.client() as client:
        client.post(f"/api{path}/rewind", json={"number": 1}).raise_for_status()
    by = len(history()) + len(later) + 1
    for items in ("#rows > .row", "#messages > .msg"):
        others = f"{items}[data-event]:not([data-event='{by}'])"
        expect(session.page.locator(f"{others}:has(.taken-back)")).not_to_have_count(0)
        expect(session.page.locator(f"{others}:not(:has(.taken-back))")).to_have_count(0)
    expect(session.panel.locator(".taken-back")).to_have_count(1)
    expect(session.row(5).locator(".taken-back")).to_have_text(f"rewound at #{by}")
    session.panel.locator(".taken-back").click()
    expect(session.panel).to_contain_text(f"#{by}")


def test_only_new_content_is_restyled(visit, server):
    """A selector that made each new row as costly as all rows together froze pages of busy runs."""
    session = SessionPage(visit.open(make(server, "styled", short_turns())))
    # By now the page has checked its rows once and dropped those far out of view.
    expect(session.events).not_to_have_count(SIZE)
    elements = session.page.evaluate("document.querySelectorAll('*').length")
    with restyled(session.page) as passes:
        session.send("Shorter, please: one sentence")
        session.ends()
    assert passes, "a turn is styled"
    # A turn styles 300 elements at once, more if a busy machine merges passes; all rows are 1,500.
    assert max(passes) < elements / 3, passes


def test_hovering_and_focusing_rows_restyles_no_others(visit, server):
    session = SessionPage(visit.open(make(server, "pointed at", short_turns())))
    expect(session.events).not_to_have_count(SIZE)
    last = int(session.events.last.get_attribute("data-event") or 0)
    session.page.keyboard.press("g")  # keyboard use makes the focus visible
    with restyled(session.page) as passes:
        for number in range(last - 8, last):
            session.row(number).hover()
            session.row(number).locator(".seq a").focus()
    assert passes
    assert max(passes) < 80, passes
