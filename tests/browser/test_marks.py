"""Changes made by people are marked wherever the event is shown, next to the original."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser.test_debugger import change, command, is_held, press, unfold
from tests.kit.browser import SessionPage
from tests.kit.server import get_session

pytestmark = pytest.mark.browser

BOOK = "Book a flight to London next Tuesday"
MOCKED = "answered for the tool"
MINE, ANOTHERS = f"[Yy]ou {MOCKED}", f"[Yy]ou, in another tab, {MOCKED}"


@pytest.fixture
def at_the_tool(visit) -> SessionPage:
    """A run of the travel agent, held before its first tool is called."""
    session = visit.session("travel")
    session.page.get_by_label("pause first").check()
    session.send(BOOK)
    is_held(session, "Paused before the commit")
    for sentence in (
        "Paused after the commit of #1, before the agent continues",
        "Paused before the commit",
        "Paused after the commit of #2, before the agent continues",
    ):
        command(session, "Half").click()
        is_held(session, sentence)
    command(session, "Into").click()
    is_held(session, "Paused before the tool call")
    return session


def decide(session: SessionPage, text: str, choice: str, note: str) -> None:
    change(session, text, choice)
    expect(session.page.locator("#held .change-note")).to_contain_text(note)
    press(session, "c")
    session.ends()


def test_an_edit_folds_its_form_and_the_card_shows_its_effect(at_the_tool):
    card = at_the_tool.page.locator("#held")
    edit = card.locator(".change").first
    filled = card.locator("button.primary").locator("visible=true")
    buttons = card.locator(".held-do > form > button, .held-do > details > summary")
    expect(buttons).to_have_text(["Continue", "Step", "Edit", "Mock result", "Skip or reject"])
    expect(at_the_tool.page.locator("#steps .primary")).to_have_count(0)
    unfold(edit)
    edit.get_by_label("city").fill("Paris")
    edit.get_by_label("city").press("Enter")
    expect(edit.locator(".held-form")).to_be_hidden()
    expect(edit.locator("> summary")).to_be_focused()
    expect(card.locator(".what del")).to_contain_text("London")
    expect(card.locator(".what ins")).to_contain_text("Paris")
    expect(card.locator(".diff")).to_be_hidden()
    expect(filled).to_have_text(["Continue"])
    card.get_by_role("button", name="Undo").click()
    expect(card.locator(".what")).not_to_contain_text("Paris")
    press(at_the_tool, "m")
    is_held(at_the_tool, "Paused before the commit")
    changes = card.locator(".held-changes")
    expect(changes).to_contain_text("London")
    unfold(edit)
    state = edit.get_by_role("form", name="The event")
    state.get_by_label("city", exact=True).fill('"Bern"')
    state.get_by_role("button", name="Use these values").click()
    expect(changes).to_contain_text("Bern")
    expect(changes).not_to_contain_text("London")
    expect(card.locator(".edit-notice")).to_contain_text("You edited this")
    unfold(edit)
    state.get_by_label("city", exact=True).fill('"Oslo"')
    card.get_by_role("button", name="Drop the event").click()
    expect(card.locator(".change-note")).to_contain_text("dropped this event")
    expect(changes).to_have_count(0)
    expect(card.locator(".held-orders button").first).to_have_text("Continue")
    press(at_the_tool, "c")
    at_the_tool.ends()


def test_a_mocked_result_is_marked_in_row_chat_inspector_and_json(at_the_tool, visit):
    session = at_the_tool
    decide(session, '["XXX"]', "Use this result", "mocked this call")
    for view, deed in ((session, MINE), (visit.again(session), ANOTHERS)):
        flag = view.row(3).get_by_text("mocked")
        expect(flag).to_have_attribute("title", re.compile(deed))
        expect(flag).to_contain_text(re.compile(f"mocked: .*{deed}"))
        expect(view.row(2).locator(".flag.edited")).to_have_count(0)
        expect(view.page.locator("#m-2 .outcome .by-hand")).to_have_text(re.compile(deed))
    press(session, "g")
    session.select(3)
    edits = session.panel.locator(".edits")
    expect(edits).to_contain_text(MOCKED)
    edits.get_by_text("Original", exact=True).click()
    expect(edits).to_contain_text('"city": "London"')
    session.tab("raw")
    expect(session.panel.locator(".edits")).to_contain_text(MOCKED)


@pytest.mark.parametrize(
    ("choice", "text", "note", "word"),
    [
        ("Use this instead", '{"city": "Paris"}', "edited this", "edited"),
        ("Skip the call", "{}", "skipped this call", "skipped"),
        (
            "Reject the call",
            "too far",
            "rejected this call (too far). This takes effect when the run continues.",
            "rejected",
        ),
        ("Reject the call", "", "rejected this call. This takes effect", "rejected"),
    ],
)
def test_edited_skipped_and_rejected_calls_are_labelled_so(at_the_tool, choice, text, note, word):
    session = at_the_tool
    decide(session, text, choice, note)
    expect(session.row(3).locator(".flag.edited")).to_contain_text(word)
    session.select(3)
    edits = session.panel.locator(".edits")
    edits.get_by_text("Original", exact=True).click()
    expect(edits).to_contain_text('"city": "London"')
    if word == "edited":
        expect(edits.locator(".diff .gone")).to_contain_text("London")
        expect(edits.locator(".diff .added")).to_contain_text("Paris")


def test_an_edited_message_has_a_pencil_in_the_chat(visit):
    session = visit.session("travel")
    session.page.get_by_label("pause first").check()
    session.send(BOOK)
    is_held(session, "Paused before the commit")
    command(session, "Half").click()
    is_held(session, "Paused after the commit of #1, before the agent continues")
    command(session, "Half").click()
    is_held(session, "Paused before the commit")
    unfold(session.page.locator("#held .change").first)
    event = session.page.get_by_role("form", name="The event")
    event.get_by_label("arguments of find_airports").fill('{"city": "Paris"}')
    event.get_by_role("button", name="Use these values").click()
    expect(session.page.locator("#held .change-note")).to_contain_text("edited this")
    expect(session.page.locator("#held .held-what del")).to_contain_text('"London"')
    expect(session.page.locator("#held .held-what ins")).to_contain_text('"Paris"')
    press(session, "c")
    session.ends()
    changed = '"London" → "Paris"'
    by_hand = session.page.locator("#m-2 .by-hand").first
    expect(by_hand).to_contain_text("You edited the event")
    expect(by_hand).to_contain_text(changed)
    expect(session.row(2).locator(".what")).to_contain_text(changed)
    with visit.server.client() as client:
        [row] = client.get("/api/sessions", params={"app": "travel"}).json()["sessions"][:1]
        event = get_session(client, "travel", row["id"], row["user"])["events"][1]
    assert event["customMetadata"]["devui_edited"][0]["action"] == "edit"


def test_a_dropped_event_has_a_row_where_it_would_have_been(visit):
    session = visit.session("travel")
    session.page.get_by_label("pause first").check()
    session.send(BOOK)
    for sentence in (
        "Paused before the commit",
        "Paused after the commit of #1, before the agent continues",
        "Paused before the commit",
    ):
        is_held(session, sentence)
        if sentence != "Paused before the commit" or session.events.count() == 0:
            command(session, "Half").click()
    change(session, "{}", "Drop the event")
    expect(session.page.locator("#held .change-note")).to_contain_text("dropped this event")
    expect(session.page.locator("#held .held-what del")).to_contain_text("find_airports")
    expect(command(session, "Drop the event")).to_have_count(0)
    press(session, "c")
    session.ends()
    for view, who in ((session, "You"), (visit.again(session), "You, in another tab,")):
        row = view.page.locator("#rows > .dropped")
        expect(row).to_contain_text(f"{who} dropped an event of TravelAgent")
        expect(view.page.locator("#e-1 + .dropped")).to_have_count(1)
    row = session.page.locator("#rows > .dropped")
    row.get_by_text("Original event").click()
    expect(row).to_contain_text("find_airports")
