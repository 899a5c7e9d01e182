"""Two sessions or runs side by side: opening a comparison and walking through it."""

import re
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.kit.browser import SessionPage, Visit
from tests.kit.debugged_run import DebuggedRun
from tests.kit.server import make_session

pytestmark = pytest.mark.browser

BOOK = "Book a flight to London next Tuesday"


@pytest.fixture
def client(server):
    with server.client() as client:
        yield client


def travelled(client: Any, *messages: str) -> DebuggedRun:
    session = DebuggedRun(client, "travel")
    for message in messages:
        session.start(message, pause=False).settled()
    return session


def forked(client: Any, parent: DebuggedRun) -> DebuggedRun:
    """Fork the parent with another result of its first tool, and run the fork to its end."""
    events = parent.kept()["events"]
    number = next(
        n
        for n, event in enumerate(events, 1)
        if "functionResponse" in event.get("content", {}).get("parts", [{}])[0]
    )
    event = events[number - 1]
    event["content"]["parts"][0]["functionResponse"]["response"] = {"result": ["LGW"]}
    body = {"number": number, "event": event, "run": True, "id": f"fork-of-{parent.key}"}
    answer = client.post(f"/api/sessions/{parent.key}/forks", json=body).json()
    fork = DebuggedRun.__new__(DebuggedRun)
    fork.client, fork.app, fork.session, fork.key = client, "travel", answer["id"], answer["key"]
    fork.run = answer["run"]
    fork.settled()
    return fork


def pair(page: Page, left: int | str, right: int | str) -> Locator:
    return page.locator(f"#p-{left}-{right}")


def focused(page: Page, left: int | str, right: int | str) -> None:
    expect(pair(page, left, right).locator("> summary")).to_be_focused()


def test_a_fork_is_compared_with_its_parent_difference_by_difference(visit, client):
    parent = travelled(client, BOOK)
    fork = forked(client, parent)
    session = SessionPage(visit.open(f"/sessions/{fork.key}"))
    session.page.locator("#lineage").get_by_role("link", name="compare").click()
    page, keys = session.page, session.page.keyboard
    page.wait_for_url(re.compile(rf"/compare\?left={parent.key}&right={fork.key}$"))  # for its keys
    expect(page.locator(".verdict")).to_contain_text("first at #3: result differs")
    expect(page.locator(".compared[aria-label*=Right] .about")).to_contain_text("a fork of session")
    first = pair(page, 3, 3)
    expect(first).to_have_attribute("open", "")
    expect(first.locator(".flag").first).to_have_text("first")
    expect(first.locator("h2").first).to_have_text("Result of find_airports")
    expect(first.locator(".compared-value .left").first).to_contain_text('"LHR"')
    keys.press("n")
    focused(page, 3, 3)
    keys.press("n")
    focused(page, 4, 4)
    expect(page.locator("[data-walk-position]")).to_have_text(re.compile(r"^2 of \d+$"))
    keys.press("Enter")
    airport = pair(page, 4, 4).locator(".compared-value").filter(has_text="airport")
    expect(airport.locator(".right").first).to_contain_text('"LGW"')
    expect(pair(page, 4, 4).locator(".differences")).to_contain_text("unchanged message")
    keys.press("ArrowLeft")
    expect(pair(page, 4, 4)).not_to_have_attribute("open", "")
    keys.press("k")
    focused(page, 3, 3)
    keys.press("p")
    focused(page, 3, 3)
    keys.press("x")
    expect(page).to_have_url(re.compile(rf"left={fork.key}&right={parent.key}&at=3-3$"))
    focused(page, 3, 3)
    expect(pair(page, 3, 3).locator(".compared-value .right").first).to_contain_text('"LHR"')
    pair(page, 3, 3).get_by_role("link", name="Open #3 on the right").click()
    expect(page).to_have_url(re.compile(rf"/sessions/{parent.key}\?event=3$"))
    page.go_back()
    focused(page, 3, 3)


def test_matching_events_are_folded_and_the_focus_survives_unfolding(visit, client):
    session = travelled(client, BOOK)
    path = f"/compare?left={session.key}&right={session.key}"
    page = visit.open(path)
    expect(page.locator(".verdict")).to_have_text("No differences")
    stretch = page.locator(".stretch summary")
    expect(stretch).to_contain_text(re.compile(r"\d+ matching events"))
    page.keyboard.press("j")
    expect(stretch).to_be_focused()
    page.keyboard.press("Enter")
    focused(page, 1, 1)
    page.keyboard.press("Enter")
    expect(pair(page, 1, 1).locator(".said")).to_have_text(
        "The events are the same. The state afterwards is the same."
    )
    page.keyboard.press("j")
    focused(page, 2, 2)
    page.keyboard.press("u")
    expect(page).to_have_url(re.compile("unfold=yes"))
    expect(page.locator(".pair")).to_have_count(len(session.kept()["events"]))
    focused(page, 2, 2)
    page.keyboard.press("u")
    expect(stretch).to_be_focused()
    page.keyboard.press("u")
    focused(page, 2, 2)
    page.keyboard.press("?")
    expect(page.locator("#keys")).to_contain_text("next difference")


def test_the_newest_run_is_compared_with_the_previous_one(visit, client):
    session = travelled(client, BOOK, "Which airports does Paris have?")
    page = visit.open(f"/sessions/{session.key}?tab=run")
    page.get_by_role("link", name="Compare with the previous run").click()
    expect(page).to_have_url(re.compile(rf"left={session.key}@1&right={session.key}@2$"))
    expect(page.locator("body.comparing")).to_be_visible()
    expect(page.locator(".verdict")).to_contain_text("first at #1: text differs")
    expect(page.locator(".pair.first del").first).to_contain_text("Book")
    page.locator(".compared").first.locator("summary").click()
    page.get_by_role("link", name="the whole session").first.click()
    expect(page).to_have_url(re.compile(rf"left={session.key}&right={session.key}@2$"))


def test_two_sessions_of_a_list_are_selected_for_comparison(visit, client):
    keys = sorted(travelled(client, *messages).key for messages in ((BOOK,), ()))
    page = visit.open("/apps/travel")
    button = page.locator("#selection [data-compare]")
    expect(button).to_be_disabled()
    expect(button).to_contain_text("select two")
    page.locator(f"#s-{keys[0]} .pick").check()
    expect(button).to_contain_text("select one more")
    page.locator(f"#s-{keys[1]} .pick").check()
    button.click()
    expect(page).to_have_url(re.compile(rf"left={keys[0]}&right={keys[1]}$"))
    expect(page.locator(".verdict")).to_contain_text("first at #1: left only")
    expect(page.locator(".pair.left")).to_have_count(page.locator(".pair").count())


def test_a_comparison_can_be_chosen_and_read_without_scripts(browser, server, signed_in, client):
    parent = travelled(client, BOOK)
    fork = forked(client, parent)
    with Visit(browser, server, storage_state=signed_in, java_script_enabled=False) as plain:
        page = plain.open(f"/compare?session={parent.key}")
        page.locator(f'.choices a[href$="right={fork.key}"]').click()
        expect(page.locator(".verdict")).to_contain_text("first at #3")
        pair(page, 4, 4).locator("summary").click()
        pair(page, 4, 4).get_by_role("link", name="Show differences").click()
        expect(pair(page, 4, 4).locator("h2").first).to_have_text("Call to search_flights")
        page.locator("#fold").click()
        expect(pair(page, 1, 1)).to_be_visible()


def long_session(client: Any, changed: dict[int, str], count: int = 1000) -> int:
    """Create a session of `count` events, with the texts in `changed`, and return its key."""
    texts = {number: changed.get(number, f"line {number}") for number in range(1, count + 1)}
    events = [
        {
            "id": f"e{number}",
            "invocationId": "i",
            "author": "user" if number == 1 else "TravelAgent",
            "timestamp": 1_795_000_000.0 + number,
            "content": {"role": "model", "parts": [{"text": text}]},
        }
        for number, text in texts.items()
    ]
    session = make_session(client, "travel", events=events)
    query = {"app": "travel", "user": "u", "id": session["id"]}
    return client.get("/api/sessions", params=query).json()["sessions"][0]["key"]


def test_a_comparison_of_a_thousand_events_is_walked_page_by_page(visit, client):
    plain = long_session(client, {})
    few = long_session(client, {300: "another", 900: "one more"})
    page = visit.open(f"/compare?left={plain}&right={few}")
    expect(page.locator(".stretch")).to_have_count(3)
    page.keyboard.press("n")
    page.keyboard.press("n")
    focused(page, 900, 900)
    all_other = long_session(client, {number: f"word {number}" for number in range(2, 1001)})
    page.goto(f"{visit.server.url}/compare?left={plain}&right={all_other}")
    expect(page.locator(".verdict")).to_contain_text("999 differences, first at #2")
    expect(page.locator(".pair")).to_have_count(400)
    page.locator("#pairs .pair").last.locator("> summary").focus()
    page.keyboard.press("n")
    expect(page).to_have_url(re.compile("from=400"))
    expect(pair(page, 401, 401)).to_be_attached()


@pytest.mark.parametrize("width", [1440, 900, 700])
def test_the_differences_of_a_row_are_never_cut_off(visit, client, width):
    left, right = travelled(client, BOOK), travelled(client, "I live in Paris")
    page = visit.open(f"/compare?left={left.key}&right={right.key}")
    page.set_viewport_size({"width": width, "height": 900})
    expect(page.locator(".pair .flag").filter(has_text="different step").first).to_be_visible()
    cut = page.eval_on_selector_all(
        ".pair .aspects",
        """all => all.filter(each => {
            const box = each.getBoundingClientRect();
            return [...each.children].some(mark => {
                const {left, right, top, bottom} = mark.getBoundingClientRect();
                return left < box.left || right > Math.min(box.right, innerWidth)
                    || top < box.top || bottom > box.bottom;
            });
        }).map(each => each.textContent)""",
    )
    assert cut == []


def test_stepping_through_differences_scrolls_only_the_rows(visit, client):
    left, right = travelled(client, BOOK, BOOK, "I live in Paris", BOOK), travelled(client, BOOK)
    page = visit.open(f"/compare?left={left.key}&right={right.key}&unfold=yes")
    page.set_viewport_size({"width": 1440, "height": 620})
    for _ in range(20):
        page.keyboard.press("n")
    expect(page.locator("[data-walk-position]")).to_have_text(re.compile(r"^20 of \d+$"))
    expect(page.locator(".pair > summary:focus")).to_be_in_viewport(ratio=1)
    expect(page.locator(".topbar h1")).to_be_in_viewport(ratio=1)
