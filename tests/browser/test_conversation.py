"""A first conversation: from the printed link to the state of every event."""

import json
import re

import pytest
from playwright.sync_api import expect

from tests.kit.browser import SessionPage

pytestmark = pytest.mark.browser

BOOK = "Book a flight to London next Tuesday"


@pytest.fixture
def travel(visit):
    return visit.session("travel")


@pytest.fixture
def booking(visit):
    return visit.session("travel", [BOOK])


def test_a_new_user_finds_an_app_starts_a_session_and_gets_an_answer(visit):
    page = visit.open("/")
    page.get_by_role("link", name="travel", exact=True).click()
    page.get_by_role("button", name="New session").first.click()
    session = SessionPage(page)
    session.composer.wait_for()
    expect(session.composer).to_be_focused()
    session.say(BOOK)
    expect(session.messages.last).to_contain_text("I found three flights from")


def test_a_first_message_on_the_apps_page_starts_a_session(visit):
    visit.allow("422")
    page = visit.open("/apps/travel")
    field = page.get_by_label("First message")
    field.press("Enter")
    field.fill("Book a flight")
    field.press("Shift+Enter")
    field.press_sequentially("to London")
    field.press("Enter")
    session = SessionPage(page)
    expect(session.messages.first).to_contain_text("Book a flight\nto London")
    expect(session.composer).to_be_focused()
    page.keyboard.type("please pause")
    expect(session.composer).to_have_value("please pause")
    session.composer.fill("")
    session.ends()
    page.reload()
    expect(session.messages.first).to_be_visible()
    expect(session.composer).not_to_be_focused()
    page.go_back()
    page.locator(".new-session summary").click()
    page.get_by_label("Initial state").fill("{oops")
    field.fill("Hello")
    field.press("Enter")
    expect(page.locator("#new-state-error")).to_be_visible()
    expect(field).to_have_value("Hello")


def test_an_example_prompt_starts_a_session_with_the_message_field_focused(visit):
    page = visit.open("/apps/travel")
    page.locator(".prompts button").first.click()
    session = SessionPage(page)
    expect(session.messages.first).to_be_visible()
    expect(session.composer).to_be_focused()
    session.ends()
    page.keyboard.press("Control+K")
    page.keyboard.type("new session")
    page.keyboard.press("Enter")
    prompt = page.locator("#welcome .prompt").first
    expect(prompt).to_be_visible()
    expect(session.composer).to_be_focused()
    prompt.click()
    expect(session.messages.first).to_be_visible()
    expect(session.composer).to_be_focused()
    session.ends()


def test_a_session_opened_from_a_list_leaves_letters_to_the_shortcuts(visit, booking):
    page = visit.open("/apps/travel")
    page.get_by_label("First message").fill("Hello")
    page.locator(f'a[href="{booking.path}"]').first.click()
    session = SessionPage(page)
    expect(session.messages.last).to_be_visible()
    expect(session.composer).not_to_be_focused()


def test_text_typed_before_the_last_message_is_acknowledged_is_kept(travel):
    requests = travel.held_back("**/runs")
    travel.send("Which airports has London?")
    message_request = requests.next()
    answer = message_request.fetch()
    travel.ends()
    travel.composer.fill(BOOK)
    with travel.page.expect_event("requestfinished", lambda request: request.url.endswith("/runs")):
        message_request.fulfill(response=answer)
    travel.page.unroute_all()
    travel.composer.press("Enter")
    expect(travel.messages.filter(has_text=BOOK)).to_have_count(1)
    expect(travel.composer).to_have_value("")
    travel.ends()


def test_the_timeline_has_a_row_for_every_event(travel):
    head = travel.page.locator("#timeline .row.head")
    place = head.bounding_box()
    travel.say(BOOK)
    assert head.bounding_box()["y"] == place["y"], "the first message moved the table"
    kinds = ["user", "call", "result", "call", "result", "call", "result", "text"]
    assert travel.cell("kind") == kinds
    assert travel.cell("who") == ["user", *["TravelAgent"] * 7]
    assert travel.cell("seq") == [str(number) for number in range(1, 9)]


def test_rows_are_flagged_with_what_their_events_did(travel):
    travel.say(BOOK)
    for number, flag in [(2, "4 chunks"), (3, "Δ 3"), (5, "Δ 3"), (7, "1 artifact")]:
        expect(travel.row(number).locator(".flags")).to_contain_text(flag)
    final = travel.row(8).locator(".flag.final")
    final.hover()
    expect(final).to_have_attribute("title", "the last answer of this invocation")
    expect(travel.row(8).locator(".seq a")).to_have_accessible_description(
        re.compile("final ?: the last answer of this invocation")
    )
    final.click()
    expect(travel.row(8)).to_have_attribute("aria-selected", "true")
    expect(travel.page.locator("#rows .flag.final")).to_have_count(1)
    expect(travel.page.locator("#rows .flag.partial")).to_have_count(0)
    assert all(text.replace(".", "").isdigit() for text in travel.cell("dt")[1:])


def facts(session: SessionPage) -> dict[str, str]:
    """Return the labelled fields of the inspector, including the folded ones."""
    if session.panel.locator("#ids:not([open])").count():
        session.panel.locator("#ids summary").click()
    lines = session.panel.locator(".facts > div")
    names, values = lines.locator("dt").all_inner_texts(), lines.locator("dd").all_inner_texts()
    return dict(zip(names, values, strict=True))


def test_the_inspector_omits_finality_for_a_users_message(booking):
    booking.select(1)
    expect(booking.panel.locator("h2")).to_contain_text("user")
    assert facts(booking)["partial"] == "no"
    assert "is_final_response()" not in facts(booking)


def test_clicking_a_row_shows_labelled_fields_and_the_raw_json(booking):
    booking.select(8)
    fields = facts(booking)
    assert fields["is_final_response()"] == "yes"
    assert fields["partial"] == "no"
    assert fields["invocation"].startswith("e-")
    assert "branch" not in fields
    assert len(fields["id"]) == 36
    expect(booking.panel.locator("h2")).to_contain_text("TravelAgent")
    expect(booking.panel.locator(".when time").first).to_have_text(
        re.compile(r"\d\d:\d\d:\d\d\.\d")
    )
    raw = booking.panel.locator("#raw-fold")
    sections = booking.panel.locator(".event > *")
    expect(sections.last).to_have_id("raw-fold")
    expect(raw.locator("pre")).to_be_hidden()
    raw.locator("summary").click()
    event = json.loads(raw.locator("pre").inner_text())
    assert event["author"] == "TravelAgent"
    assert event["invocationId"] == fields["invocation"]


def test_an_event_shows_its_content_and_actions_first(booking):
    booking.select(3)
    panel = booking.panel
    headings = panel.locator(".event :is(h3, .event-do > a)")
    texts = ["Content", "State changes", "Edit and fork…", "Details", "Raw JSON"]
    expect(headings).to_contain_text(texts)
    expect(panel.get_by_text("is_final_response()", exact=True)).to_be_visible()
    expect(panel.get_by_text("partial", exact=True)).to_be_visible()
    expect(panel.get_by_text("invocation", exact=True)).to_be_hidden()
    panel.get_by_role("link", name="Edit and fork…").click()
    fork = panel.locator(".fork")
    expect(fork.get_by_label("with this event edited", exact=True)).to_be_checked()
    expect(fork.locator("button.primary")).to_have_text("Fork and run")
    panel.get_by_text("Try tool").click()
    expect(panel.get_by_role("form", name="Tool arguments")).to_be_visible()
    expect(fork.locator("form")).to_be_hidden()


def test_the_inspector_shows_what_an_event_did_to_state_and_artifacts(booking):
    booking.select(3)
    changes = booking.panel.locator(
        "section", has=booking.page.get_by_role("heading", name="State")
    )
    for change in ["city", "airports", "app:lookups"]:
        expect(changes.locator("dt", has_text=change)).to_have_count(1)
    booking.select(7)
    with booking.page.expect_download() as download:
        booking.panel.get_by_role("link", name="Save itinerary.txt").click()
    assert "DV 318" in download.value.path().read_text()


def test_the_partial_events_of_an_answer_can_be_viewed_afterwards(booking):
    booking.select(8)
    chunks = booking.panel.locator(".chunks")
    chunks.locator("summary").click()
    expect(chunks.locator("li")).to_have_count(20)


def scopes(session: SessionPage) -> dict[str, list[str]]:
    """Return the keys in the state panel by scope."""
    sections = session.panel.locator(".scope")
    return {
        section.locator("h3").inner_text().split()[0]: section.locator("dt").all_inner_texts()
        for section in sections.all()
    }


def test_the_state_is_shown_by_scope_as_of_each_event(visit):
    travel = visit.session("travel", [BOOK], user="by-scope")
    travel.select(2)
    travel.tab("state")
    assert scopes(travel)["session"] == []
    travel.select(5)
    expect(travel.panel).to_contain_text("State as of #5")
    assert scopes(travel) == {
        "session": ["airports", "city", "trip"],
        "user:": ["home_airport", "searches"],
        "app:": ["lookups"],
        "temp:": [],
    }
    expect(travel.panel.locator(".scope").last).to_contain_text("discarded")


def test_temporary_state_is_shown_as_discarded_during_the_invocation(travel):
    travel.page.get_by_label("pause first").check()
    travel.send(BOOK)
    command = travel.page.locator("#debugger").get_by_role("button")
    for number in range(1, 6):
        expect(travel.status).to_have_class("run held")
        command.filter(has_text="Step").click()
        expect(travel.events).to_have_count(number)
    temp = travel.panel.locator(".scope").last
    expect(temp).to_contain_text("cheapest")
    expect(temp).to_contain_text("discarded")
    command.filter(has_text="Continue").click()
    travel.ends()
    expect(temp).not_to_contain_text("cheapest")


def test_values_changed_by_the_selected_event_show_old_and_new(visit):
    travel = visit.session("travel", [BOOK, "Book it"])
    number = next(n for n, text in enumerate(travel.cell("what"), 1) if text.startswith("book_f"))
    travel.select(number + 1)
    travel.tab("state")
    changed = travel.panel.locator(".var.changed")
    expect(changed.locator("dt")).to_have_text("trip")
    expect(changed.locator(".old")).to_contain_text("4 keys")
    expect(changed.locator(".now")).to_contain_text("5 keys")
    expect(travel.panel.locator(".var:not(.changed) .old")).to_have_count(0)


@pytest.mark.parametrize("app", ["travel", "field_state", "summary", "faulty"])
def test_a_sample_offers_three_prompts_and_a_click_sends_one(visit, app):
    session = visit.session(app)
    prompts = session.page.locator(".welcome button.prompt")
    expect(prompts).to_have_count(3)
    text = prompts.first.inner_text().strip()
    prompts.first.click()
    expect(session.messages.first).to_contain_text(text)
    end = session.page.locator("#run .run:is(.done, .failed)")
    expect(end).to_be_visible()
