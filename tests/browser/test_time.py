"""The page as of an event: by address, scrubber and keys; live updates don't move it."""

import re

import pytest
from playwright.sync_api import expect

from tests.kit.browser import SessionPage

pytestmark = pytest.mark.browser

HOME = "I live in Paris, remember that"
BOOK = "Book a flight to London next Tuesday"


@pytest.fixture
def travelled(visit):
    return visit.session("travel", [HOME])


def row_ids(session: SessionPage) -> list[str]:
    return session.events.evaluate_all("(rows) => rows.map((row) => row.id)")


def is_as_of(session: SessionPage, number: int, count: int) -> None:
    expect(session.page).to_have_url(re.compile(rf"[?&]at={number}\b"))
    expect(session.page.locator("#as-of")).to_have_text(f"as of #{number} of {count}")
    expect(session.row(number)).to_have_attribute("aria-selected", "true")
    ready = session.page.locator('#rows .seq a[tabindex="0"]')
    expect(ready).to_have_count(1)
    assert row_ids(session) == [f"e-{n}" for n in range(1, number + 1)]


def takes_keys(session: SessionPage) -> None:
    """Wait until the scrubber of a page that was just opened has the focus."""
    expect(session.page.locator("#scrub")).to_be_focused()


def test_the_whole_page_is_as_of_the_event_in_its_address(visit, travelled):
    count = travelled.events.count()
    session = visit.again(travelled, "?at=2&tab=state")
    is_as_of(session, 2, count)
    later = f"{count - 2} later events not shown"
    expect(session.page.locator("#timeline .later")).to_contain_text(later)
    expect(session.page.locator("#totals")).to_contain_text(re.compile(r"events\s*2"))
    expect(session.panel).to_contain_text("State as of #2")
    expect(session.panel).not_to_contain_text("Paris")
    expect(session.page.locator("#messages [data-event]").last).to_have_attribute("data-event", "2")
    expect(session.page.locator("#messages")).to_contain_text("no result yet")
    expect(session.page.locator("#composer-state")).to_contain_text("As of #2")
    session.page.get_by_role("link", name="Go live").first.click()
    expect(session.page).to_have_url(re.compile(r"/sessions/\d+$"))
    expect(session.row(count)).to_be_attached()


def test_keys_pressed_faster_than_the_page_loads_all_count(travelled):
    travelled.say(HOME)
    count = travelled.events.count()
    delta = "(rows) => rows.filter((row) => row.querySelector('.delta')).map((row) => row.id)"
    changed = [int(name[2:]) for name in travelled.events.evaluate_all(delta)]
    targets = {",,,,.": count - 2, "<<": changed[-2], "<<>": changed[-1], "<<.": changed[-2] + 1}
    live = travelled.page.url
    for keys, number in (targets | {f"{',' * (count - changed[1] + 1)}<": changed[0]}).items():
        travelled.page.goto(live)
        expect(travelled.events).to_have_count(count)
        travelled.page.evaluate(
            """(keys) => {
                document.activeElement.blur();
                const press = (key) => new KeyboardEvent("keydown", { key, bubbles: true });
                for (const key of keys) document.body.dispatchEvent(press(key));
            }""",
            keys,
        )
        is_as_of(travelled, number, count)


def test_keys_move_the_page_through_time(travelled):
    count, keyboard = travelled.events.count(), travelled.page.keyboard
    travelled.page.evaluate("document.activeElement.blur()")
    keyboard.press(",")
    is_as_of(travelled, count, count)
    keyboard.press(",")
    is_as_of(travelled, count - 1, count)
    takes_keys(travelled)
    keyboard.press("Home")
    is_as_of(travelled, 1, count)
    takes_keys(travelled)
    keyboard.press("ArrowRight")
    is_as_of(travelled, 2, count)
    takes_keys(travelled)
    keyboard.press("Shift+ArrowRight")
    expect(travelled.page.locator("#as-of")).not_to_contain_text("#2 of")
    changed = int(re.search(r"at=(\d+)", travelled.page.url)[1])
    expect(travelled.row(changed).locator(".flag.delta")).to_be_visible()
    is_as_of(travelled, changed, count)
    takes_keys(travelled)
    keyboard.press("End")
    is_as_of(travelled, count, count)
    keyboard.press("<")
    is_as_of(travelled, changed, count)


def test_the_scrubber_follows_the_selected_and_the_newest_event(travelled):
    count = travelled.events.count()
    scrub = travelled.page.locator("#scrub")
    travelled.say(BOOK)
    total = travelled.events.count()
    expect(scrub).to_have_value(str(total))
    travelled.select(count)
    expect(scrub).to_have_value(str(count))
    travelled.page.keyboard.press("Shift+G")
    expect(scrub).to_have_value(str(total))
    travelled.page.go_back()
    expect(scrub).to_have_value(str(count))


def test_new_events_do_not_change_a_page_of_the_past(visit, travelled):
    count = travelled.events.count()
    past = visit.again(travelled, "?at=2&tab=state")
    before = [past.outline(part) for part in ("#rows", "#messages", "#totals", "#panel")]
    travelled.say(BOOK)
    total = travelled.events.count()
    expect(past.page.locator("#as-of")).to_have_text(f"as of #2 of {total}")
    assert total > count
    after = [past.outline(part) for part in ("#rows", "#messages", "#totals", "#panel")]
    assert after == before


def test_selecting_a_row_does_not_leave_a_page_of_the_past(visit, travelled):
    session = visit.again(travelled, "?at=3")
    session.row(1).click()
    expect(session.page).to_have_url(re.compile(r"at=3\b.*event=1\b|event=1\b.*at=3\b"))
    expect(session.page.locator("#as-of")).to_contain_text("as of #3")
    expect(session.row(1)).to_have_attribute("aria-selected", "true")
    assert row_ids(session) == ["e-1", "e-2", "e-3"]


def test_hovering_over_a_tick_shows_its_event_and_what_it_changed(travelled):
    page, count = travelled.page, travelled.events.count()
    changed = int(travelled.page.locator("#rows .row:has(.flag.delta)").get_attribute("data-event"))
    scrub, tip = page.locator("#scrub"), page.locator("#tip")
    box = scrub.bounding_box()
    expect(tip).to_be_hidden()
    way = 7 + (box["width"] - 14) * (changed - 1) / (count - 1)
    page.mouse.move(box["x"] + way, box["y"] + 12)
    expect(tip).to_be_visible()
    expect(tip).to_contain_text(re.compile(rf"#{changed}\b"))
    expect(tip.locator(".change")).to_contain_text(["user:home_airport"])
    page.mouse.move(box["x"] + 7, box["y"] + 12)
    expect(tip).to_contain_text("#1")
    expect(tip).to_contain_text("I live in Paris")
    expect(tip.locator(".change")).to_have_count(0)
    page.keyboard.press("Escape")
    expect(tip).to_be_hidden()
    page.mouse.move(box["x"] + way, box["y"] + 12)
    expect(tip).to_be_visible()
    page.mouse.move(box["x"] + way, box["y"] - 200)
    expect(tip).to_be_hidden()


def test_playback_starts_at_the_selected_row(visit, travelled):
    session = visit.again(travelled)
    session.select(3)
    session.page.get_by_label("Speed").select_option("fast")
    session.page.get_by_label("Play back from here").click()
    expect(session.page.locator("#as-of")).to_contain_text("as of #4")
    session.page.wait_for_url(re.compile(f"at={row_ids(travelled)[-1].removeprefix('e-')}\\b"))


def test_the_states_of_two_events_are_compared(visit, travelled):
    travelled.say(BOOK)
    count, page, panel = travelled.events.count(), travelled.page, travelled.panel
    travelled.select(2)
    travelled.tab("state")
    page.keyboard.press("d")
    expect(panel).to_contain_text("No differences.")
    expect(panel).to_contain_text("Select another event")
    travelled.select(count)
    diff = panel.locator("#state-diff")
    expect(diff.locator("h2")).to_contain_text(f"State from #2 to #{count}")
    city = diff.locator(".var.new").filter(has_text=re.compile(r"^\s*city"))
    expect(city).to_contain_text('"London"')
    expect(city.locator(".by a")).to_have_text(re.compile(r"#\d+"))
    expect(page).to_have_url(re.compile(r"since=2\b"))
    panel.locator("#mark-state").click()
    page.keyboard.press("k")
    expect(diff.locator("h2")).to_contain_text(f"State from #{count - 1} to #{count}")
    panel.get_by_label("Compare with the state as of #").fill("0")
    panel.get_by_role("button", name="Compare").click()
    expect(diff.locator("h2")).to_contain_text(f"State from before the first event to #{count - 1}")
    again = visit.again(travelled, "?" + page.url.partition("?")[2])
    expect(again.panel.locator("#state-diff .var")).to_have_count(diff.locator(".var").count())
    panel.get_by_role("link", name="Show the full state").click()
    expect(panel.locator("#state-at")).to_contain_text(f"State as of #{count - 1}")
    visit.allow("status 404|the server responded with a status of 404")
    page.goto(page.url.partition("?")[0] + "?since=999&tab=state")
    expect(page.locator("main")).to_contain_text("has no event #999")


def test_back_restores_the_previous_selection_and_leaves_the_rest_alone(visit, travelled):
    session = visit.again(travelled)
    page = session.page
    session.composer.fill("half a mess")
    for number in (2, 4, 3):
        session.select(number)
    session.tab("state")
    seen = len(visit.requests)
    for number, tab in ((3, "event"), (4, "event"), (2, "event")):
        page.go_back()
        expect(session.row(number)).to_have_attribute("aria-selected", "true")
        expect(session.panel).to_contain_text(f"#{number}")
        expect(page).to_have_url(re.compile(rf"event={number}\b"))
        expect(page.locator(f"#tab[value={tab}]")).to_have_count(1)
    page.go_forward()
    expect(session.row(4)).to_have_attribute("aria-selected", "true")
    expect(session.composer).to_have_value("half a mess")
    assert not [url for url in visit.requests[seen:] if "/stream" in url]
    for _ in range(2):
        page.go_back()
    expect(page).to_have_url(re.compile(r"/sessions/\d+$"))
    expect(session.composer).to_have_value("half a mess")
    expect(page.locator("#rows [aria-selected=true]")).to_have_count(0)


def test_forms_scroll_into_view_when_they_open(visit, travelled):
    session = visit.again(travelled)
    page = session.page
    page.set_viewport_size({"width": 1440, "height": 620})
    session.select(2)
    page.keyboard.press("f")
    fork = session.panel.locator("details.fork[open]")
    expect(fork.get_by_role("button", name="Fork and run")).to_be_in_viewport(ratio=1)
    fork.get_by_label("with this event edited", exact=True).check()
    expect(fork.get_by_role("button", name="Fork and run")).to_be_in_viewport(ratio=1)
    for _ in range(2):
        session.say(HOME)
    last = session.messages.filter(has_text=HOME).last
    last.hover()
    last.locator(".again summary").click()
    again = last.get_by_role("button", name="Rewind and send again")
    expect(again).to_be_in_viewport(ratio=1)
    again.click()
    expect(last.locator(".again")).not_to_have_attribute("open", "")
    session.ends()
