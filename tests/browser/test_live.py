"""Live content equals stored content: reloads, second tabs, and both ways to build a page."""

import pytest
from playwright.sync_api import expect

from tests.kit.browser import SessionPage
from tests.kit.slow_summary import SUMMARIZE

pytestmark = pytest.mark.browser

TURNS = {
    "travel": ["Book a flight to London next Tuesday", "Book it and pay with my card"],
    "summary": ["Think first, then summarize it", "Shorter, please: one sentence"],
    "field_state": [
        "Write value_2 and read it back",
        "Show me a dirty read",
        "What is stored now?",
    ],
    "faulty": ["Trip the safety filter", "Divide one by zero", "How do you do?", "Exit"],
}
SHOWN = [
    "#rows",
    "#messages",
    "#run",
    "#totals",
    "#ticks",
    "#composer-state",
    "#title",
    "#warnings",
]


def converse(session: SessionPage, turns: list[str]) -> None:
    for text in turns:
        session.send(text)
        session.ends("done", "failed")


def numbers(session: SessionPage) -> list[str]:
    return session.events.evaluate_all("(rows) => rows.map((row) => row.id)")


def same(one: SessionPage, other: SessionPage, parts: list[str]) -> None:
    for part in parts:
        one.equals(other, part)


@pytest.mark.parametrize("app", TURNS)
def test_a_streamed_page_equals_the_loaded_page(visit, app):
    """So does a page that was loaded between two answers."""
    streamed = visit.session(app)
    converse(streamed, TURNS[app][:1])
    between = visit.again(streamed)
    converse(between, TURNS[app][1:])
    loaded = visit.again(streamed)
    for page in (streamed, between):
        same(page, loaded, [*SHOWN, "#panel", "#live-rows", "#live-chat"])


def test_repeated_reloads_during_a_run_neither_lose_nor_duplicate_events(visit):
    session = visit.session("travel")
    for text in TURNS["travel"]:
        with session.page.expect_response("**/runs"):
            session.send(text)
        for _ in range(4):
            session.page.reload()
        session.ends()
    assert numbers(session) == [f"e-{number}" for number in range(1, 19)]
    same(session, visit.again(session), SHOWN)


def test_a_second_tab_shows_the_same_live_content(halting):
    visit, go = halting
    first = visit.session("summary")
    second = visit.again(first)
    first.send(SUMMARIZE)
    expect(second.live).to_contain_text("Events carry everything")
    expect(first.live).to_contain_text("Events carry everything")
    expect(second.status).to_have_class("run running")
    expect(second.page.locator("#stop")).to_be_visible()
    go.touch()
    for tab in (first, second):
        tab.ends()
    same(first, second, SHOWN)


def test_a_tab_opened_during_a_run_ends_up_the_same(visit):
    first = visit.session("travel")
    first.send(TURNS["travel"][0])
    expect(first.row(3)).to_be_attached()
    second = visit.again(first)
    for tab in (first, second):
        tab.ends()
    same(first, second, SHOWN)


def test_a_tab_showing_an_event_gets_new_rows_and_keeps_its_panel(visit):
    first = visit.session("travel")
    first.say(TURNS["travel"][0])
    second = visit.again(first, "?event=3&tab=state")
    before = second.outline("#panel")
    first.say(TURNS["travel"][1])
    second.ends()
    assert second.outline("#panel") == before
    expect(second.row(3)).to_have_attribute("aria-selected", "true")
    expect(second.page.locator("#as-of")).to_have_text("selected #3 of 18")
    same(first, second, SHOWN)


def turn_away(session: SessionPage, *, hidden: bool) -> None:
    """Simulate the tab going to the background or coming back."""
    session.page.evaluate(
        """(hidden) => {
        Object.defineProperty(document, "hidden", { value: hidden, configurable: true });
        document.dispatchEvent(new Event("visibilitychange"));
    }""",
        hidden,
    )


@pytest.mark.req("R61")
def test_a_background_tab_catches_up_when_it_is_shown(visit):
    first = visit.session("travel")
    second = visit.again(first)
    second.say(TURNS["travel"][0])
    first.ends()
    turn_away(first, hidden=True)
    second.say(TURNS["travel"][1])
    expect(first.events).to_have_count(8)
    expect(first.page.locator("#connection")).to_be_hidden()
    turn_away(first, hidden=False)
    expect(first.events).to_have_count(18)
    first.ends()
    same(first, second, SHOWN)


@pytest.mark.req("R61")
def test_more_visible_tabs_than_connections_all_load_and_stay_current(visit):
    """Browsers open at most six connections to a server."""
    first = visit.session("travel")
    tabs = [first, *(visit.again(first) for _ in range(6))]
    for turn, events in zip(TURNS["travel"], (8, 18), strict=True):
        tabs.reverse()
        tabs[0].say(turn)
        for tab in tabs:
            expect(tab.events).to_have_count(events)
            tab.ends()
    for tab in tabs[1:]:
        same(tabs[0], tab, SHOWN)
