"""Sessions as people manage them: created, named, found again, deleted."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.kit.browser import SessionPage
from tests.kit.server import make_session

pytestmark = pytest.mark.browser

STATE = '{"city": "Paris", "user:home_airport": "ORY", "app:lookups": 7}'


def fill(page: Page, **fields: str) -> None:
    details = page.locator(".new-session details")
    if details.get_attribute("open") is None:
        details.locator("summary").click()
    for name, value in fields.items():
        page.locator(f"#new-{name}").fill(value)
    page.locator(".new-session .go button").click()


def test_a_session_is_created_with_an_id_a_user_a_title_and_a_state(visit):
    page = visit.open("/apps/travel")
    fill(page, id="trip-1", user="ada", title="To <Paris> & back", state=STATE)
    page.wait_for_url("**/sessions/*")
    session = SessionPage(page)
    expect(page.locator("#title-text")).to_have_value("To <Paris> & back")
    expect(page).to_have_title("To <Paris> & back · devui")
    expect(session.panel).to_contain_text("home_airport")
    expect(session.panel.locator(".scope").first).to_contain_text('"Paris"')
    expect(page.locator(".welcome")).to_contain_text("3 state keys set at the start")
    page.get_by_label("Sessions", exact=True).click()
    expect(page.locator(".ids")).to_contain_text("ada")
    expect(page.locator(".ids")).to_contain_text("trip-1")


def test_the_title_of_a_forks_tab_tells_it_from_its_parent(visit):
    parent = visit.session("travel", ["Book a flight to London next Tuesday"], title="London")
    with visit.server.client() as client:
        made = client.post(f"/api{parent.path}/forks", json={"number": 3}).raise_for_status()
    key = made.json()["key"]
    page = visit.open(f"/sessions/{key}")
    expect(parent.page).to_have_title("London · devui")
    expect(page).to_have_title(f"London · session {key} · fork at #3 · devui")
    page.locator("#title-text").fill("Paris")
    page.keyboard.press("Enter")
    expect(page).to_have_title(f"Paris · session {key} · fork at #3 · devui")


@pytest.mark.parametrize(
    ("fields", "field", "says"),
    [
        ({"state": "{city: 'Paris'}"}, "state", "JSON"),
        ({"state": '["Paris"]'}, "state", "must be a JSON object"),
        ({"state": '{"a": 1, "a": 2}'}, "state", "a"),
        ({"id": "taken"}, "id", "taken"),
    ],
)
def test_an_error_in_a_new_session_is_shown_at_its_field_and_input_is_kept(
    visit, server, fields, field, says
):
    visit.allow("422")
    with server.client() as client:
        client.post("/apps/summary/users/eve/sessions", json={"sessionId": "taken"})
    values = {"id": "fresh", "user": "eve", "title": "My title", "state": '{"a": 1}'} | fields
    page = visit.open("/apps/summary")
    count = page.locator(".sessions .session").count()
    fill(page, **values)
    error = page.locator(f"#new-{field}-error")
    expect(error).to_contain_text(says, ignore_case=True)
    expect(page.locator(f"#new-{field}")).to_have_attribute("aria-invalid", "true")
    expect(page.locator(".field-error")).to_have_count(1)
    for name, value in values.items():
        expect(page.locator(f"#new-{name}")).to_have_value(value)
        expect(page.locator(f"#new-{name}")).to_be_visible()
    expect(page.locator(".sessions .session")).to_have_count(count)


def test_a_title_edited_in_place_shows_in_other_tabs_and_leaves_state_alone(visit):
    session = visit.session("travel", ["I live in Paris, remember that for the next trip"])
    other = visit.again(session)
    state = session.outline("#panel")
    session.page.locator("#title-text").fill("Home is Paris")
    session.page.locator("#title-text").press("Enter")
    expect(other.page.locator("#title-text")).to_have_value("Home is Paris")
    expect(other.page.locator("#named")).to_have_text("Home is Paris")  # in the menu of sessions
    assert session.outline("#panel") == state
    fresh = visit.again(session)
    expect(fresh.page.locator("#title-text")).to_have_value("Home is Paris")
    expect(fresh.events).to_have_count(session.events.count())
    assert fresh.outline("#panel") == state


def test_escape_reverts_a_change_of_the_title(visit):
    session = visit.session("summary", title="As it was")
    title = session.page.locator("#title-text")
    title.fill("Something else")
    title.press("Escape")
    expect(title).to_have_value("As it was")
    expect(visit.again(session).page.locator("#title-text")).to_have_value("As it was")


def test_a_session_is_renamed_in_its_list(visit):
    session = visit.session("summary", title="Old name")
    page = visit.open("/apps/summary?q=name&sort=title")
    item = page.locator(f"#s-{session.path.rpartition('/')[2]}")
    item.get_by_label("Rename or delete").click()
    item.get_by_label("Title").fill("New name")
    item.get_by_role("button", name="Rename", exact=True).click()
    expect(item.locator(".name")).to_have_text("New name")
    expect(page).to_have_url(re.compile(r"/apps/summary\?q=name&sort=title#sessions$"))
    expect(visit.again(session).page.locator("#title-text")).to_have_value("New name")


def delete(session: SessionPage) -> None:
    session.page.get_by_label("Sessions", exact=True).click()
    session.page.get_by_role("button", name="Delete session").click()


def test_a_session_is_deleted_only_after_confirmation(visit):
    visit.allow("404")
    session = visit.session("summary", title="Short-lived")
    visit.answer_next_dialog(accept=False)
    delete(session)
    session.page.reload()
    expect(session.page.locator("#title-text")).to_have_value("Short-lived")
    other = visit.again(session)
    visit.answer_next_dialog(accept=True)
    delete(session)
    session.page.wait_for_url("**/apps/summary")
    expect(session.page.locator("main")).not_to_contain_text("Short-lived")
    expect(other.page.locator("#warnings")).to_contain_text("This session was deleted")
    page = visit.open(other.path)
    expect(page.locator("main")).to_contain_text("it may have been deleted")


def test_a_session_with_an_active_run_is_not_deleted_and_the_page_says_why(visit):
    visit.allow("409")
    session = visit.session("faulty")
    session.send("Loop forever")
    expect(session.row(2)).to_be_attached()
    visit.answer_next_dialog(accept=True)
    delete(session)
    expect(session.page.locator("main")).to_contain_text("stop it first")
    session.page.goto(visit.server.url + "/apps/faulty")
    session.page.locator(".session", has_text="running").locator("a.name").first.click()
    session.page.locator("#stop").click()
    session.ends("stopped")


def test_sessions_are_listed_newest_first_with_their_users_and_events(visit, server):
    with server.client() as client:
        for name in ("first", "second", "third"):
            make_session(client, "field_state", user="archivist", sessionId=name)
    page = visit.open("/apps/field_state")
    mine = page.locator(".session", has_text="archivist")
    assert mine.locator(".id").all_inner_texts() == ["third", "second", "first"]
    expect(mine.first.locator(".col-events")).to_have_text("0")
    mine.last.locator("a.name").click()
    SessionPage(page).say("What is stored now?")
    page = visit.open("/apps/field_state")
    mine = page.locator(".session", has_text="archivist")
    expect(mine.first.locator(".id")).to_have_text("first")
    expect(mine.first.locator(".col-events")).to_have_text("2")
    expect(visit.open("/").locator(".sessions .session").first).to_contain_text("first")


@pytest.mark.parametrize(
    ("path", "says"),
    [
        ("/apps/no-such-app", "no-such-app"),
        ("/sessions/999999", "there is no session 999999"),
        ("/sessions/0", "there is no session 0"),
        ("/sessions/travel", "There is no such session"),
        ("/nowhere", "devui has no page at this address."),
    ],
)
def test_an_unknown_address_shows_a_page_that_says_so(visit, path, says):
    visit.allow("404")
    page = visit.open(path)
    expect(page.locator("main")).to_contain_text(says, ignore_case=True)
    page.get_by_role("link", name="All apps", exact=True).click()
    expect(page.get_by_role("heading", name="Apps")).to_be_visible()


@pytest.mark.parametrize("number", ["99", "0", "-1", "one", "1e3", "9" * 40])
def test_an_unknown_event_shows_a_page_that_says_so(visit, number):
    visit.allow("404")
    session = visit.session("summary")
    page = visit.open(f"{session.path}?event={number}")
    expect(page.locator("main")).to_contain_text(re.compile("has no (such )?event"))


def test_a_message_larger_than_the_limit_is_refused_and_stays_in_the_field(visit):
    visit.allow("413")
    session = visit.session("summary")
    text = "€€€€€€€ " * 50_000  # each € is three bytes
    session.composer.fill(text)
    session.page.locator("#send").click()
    expect(session.page.locator("#notice")).to_contain_text("Too large")
    expect(session.composer).to_have_value(text)
    expect(session.events).to_have_count(0)
    session.page.get_by_role("button", name="Dismiss", exact=True).click()
    expect(session.page.locator("#notice .notice")).to_have_count(0)


def test_a_blank_message_is_not_sent(visit):
    session = visit.session("summary")
    session.send("  \n ")
    session.say("Shorter, please: one sentence")
    expect(session.events).to_have_count(2)
