"""Rewinding sessions, and undoing rewinds, on the page."""

import pytest
from playwright.sync_api import expect

from tests.browser.test_recovery import BOOK, PARIS, button, open_menu
from tests.kit.browser import SessionPage


@pytest.fixture
def travelled(visit) -> SessionPage:
    return visit.session("travel", [BOOK])


def test_a_session_is_rewound_to_before_a_message(travelled, visit):
    count = travelled.events.count()
    travelled.select(2)
    open_menu(travelled)
    button(travelled, "Rewind to before this message").click()
    back = count + 1
    expect(travelled.row(back)).to_contain_text("rewound the session")
    travelled.ends()
    for page in (travelled.page, visit.again(travelled, "?event=2").page):
        marks = page.locator("#rows .taken-back")
        expect(marks).to_have_count(count)
        expect(marks.first).to_have_text(f"rewound at #{back}")
        expect(page.locator(f"#e-{back} .taken-back")).to_have_count(0)
        expect(page.locator("#m-1 .taken-back")).to_be_visible()
        badge = page.locator("#inspector .event .taken-back")
        expect(badge).to_have_text(f"rewound at #{back}")
        expect(badge).to_have_count(1)
    badge.click()
    expect(page.locator(f"#e-{back}")).to_have_attribute("aria-selected", "true")
    travelled.page.locator("#m-1 .taken-back").click()
    expect(travelled.row(back)).to_have_attribute("aria-selected", "true")
    with visit.server.client() as client:
        path = f"/api{travelled.path}"
        events = client.get(f"{path}/events").json()["events"]
        assert [each["rewoundBy"] for each in events] == [back] * count + [None]
        again = {"invocationId": events[-1]["invocationId"]}
        client.post(f"{path}/rewind", json=again).raise_for_status()
    expect(travelled.row(back).locator(".taken-back")).to_be_visible()
    expect(travelled.page.locator("#rows .taken-back, #messages .taken-back")).to_have_count(2)
    travelled.say(BOOK)


def test_a_rewind_is_undone_from_its_message(travelled, visit):
    travelled.say(PARIS)
    count = travelled.events.count()
    open_menu(travelled)
    button(travelled, "Rewind to before this message").click()
    notes = [f"#m-{count + number}" for number in (1, 2, 3)]
    note = travelled.page.locator(notes[0])
    expect(note).to_contain_text(f"Rewound: models don't see #1 to #{count}")
    travelled.equals(visit.again(travelled), notes[0])
    past = visit.again(travelled, f"?at={count + 1}")
    expect(past.page.locator(notes[0])).to_contain_text("Rewound")
    expect(past.page.locator(".undo-rewind")).to_have_count(0)
    expect(travelled.page.locator("#state-live")).not_to_contain_text("LHR")
    travelled.select(count + 1)
    note.get_by_role("button", name="Undo rewind").click()
    expect(travelled.row(1).locator(".taken-back")).to_have_count(0)
    expect(travelled.row(count + 1).locator(".taken-back")).to_be_visible()
    expect(note.get_by_role("button", name="Undo rewind")).to_have_count(0)
    expect(note).not_to_contain_text(f"#1 to #{count}")
    expect(note).to_contain_class("selected")
    travelled.page.get_by_role("link", name="Go live").click()
    expect(travelled.page.locator("#state-live")).to_contain_text("LHR")
    travelled.equals(visit.again(travelled), "#rows", *notes[:2])

    undo = travelled.page.locator(notes[1]).get_by_role("button", name="Undo rewind")
    undo.click()  # the first rewind applies again
    expect(note).to_contain_text(f"Rewound: models don't see #1 to #{count}")
    expect(travelled.row(1).locator(".taken-back")).to_have_count(1)
    travelled.equals(visit.again(travelled), "#rows", *notes)
