"""Tags on the pages: added and removed by keyboard, in bulk, seen in other tabs, and found."""

import re

import pytest
from playwright.sync_api import expect

from tests.kit.browser import Visit
from tests.kit.server import make_session

pytestmark = pytest.mark.browser


def tag(client, app, name, *tags, title=None):
    """Create a session with tags; return its key."""
    make_session(client, app, user="tagger", sessionId=name)
    [row] = client.get(f"/api/sessions?app={app}&id={name}").json()["sessions"]
    client.patch(f"/api/sessions/{row['key']}/tags", json={"add": [*tags]})
    if title:
        origin = {"Origin": str(client.base_url).rstrip("/")}
        client.post(f"/sessions/{row['key']}/title", data={"title": title}, headers=origin)
    return row["key"]


def test_a_session_is_tagged_by_keyboard_and_other_tabs_follow(visit, server):
    with server.client() as client:
        tag(client, "summary", "other", "from elsewhere")
    session = visit.session("summary")
    page, other = session.page, visit.again(session).page
    page.keyboard.press("Control+k")
    page.keyboard.type("tag the session")
    page.keyboard.press("Enter")
    field = page.locator("#new-tag")
    expect(field).to_be_focused()
    suggestion = page.locator("#tag-names option")
    expect(suggestion).to_have_attribute("value", "from elsewhere")
    page.keyboard.type("Needs review")
    page.keyboard.press("Enter")
    removable = page.locator("#tag-list .tag")
    expect(removable).to_have_text(["Needs review"])
    expect(field).to_be_focused()
    expect(field).to_have_value("")
    page.keyboard.type("from ELSEWHERE, bug")
    page.keyboard.press("Enter")
    names = ["bug", "from elsewhere", "Needs review"]
    expect(removable).to_have_text(names)
    expect(suggestion).to_have_count(0)
    for each in (page, other):
        expect(each.locator("#tags .tag")).to_have_text(names[:2])
        expect(each.locator("#tags .more-tags")).to_contain_text("+1")
    expect(other.locator("#tag-list .tag")).to_have_text(names)

    page.keyboard.type("x" * 51)
    page.keyboard.press("Enter")
    error = page.locator("#tag-error")
    expect(error).to_contain_text("a tag has at most 50 characters, this one 51")
    expect(field).to_have_value("x" * 51)
    page.keyboard.press("Backspace")
    expect(error).to_be_empty()
    page.keyboard.type("x")
    page.keyboard.press("Enter")
    expect(error).to_contain_text("a tag has at most 50 characters")
    page.keyboard.press("Shift+Tab")
    expect(page.get_by_role("button", name="Remove the tag Needs review")).to_be_focused()
    page.keyboard.press("Enter")
    expect(removable).to_have_text(names[:2])
    expect(error).to_be_empty()
    expect(other.locator("#tag-list .tag")).to_have_text(names[:2])
    expect(field).to_be_focused()
    page.keyboard.press("Escape")
    expect(field).to_be_hidden()

    page.locator("#tags .tag", has_text="bug").click()
    expect(page).to_have_url(re.compile(r"/apps/summary\?q=tag%3A%22bug%22#sessions"))
    expect(page.locator("tr.session")).to_have_count(1)
    visit.complaints = [each for each in visit.complaints if "400" not in each]


def test_selected_sessions_are_tagged_together_and_filtered_by_a_chip(visit, server):
    with server.client() as client:
        for name, tags in (("bulk-1", ["old"]), ("bulk-2", []), ("bulk-3", ["old"])):
            tag(client, "field_state", name, *tags, title=name)
    page = visit.open("/apps/field_state?q=bulk-&sort=title")
    menu = page.locator("#selection summary")
    expect(menu).to_be_hidden()
    for name in ("bulk-1", "bulk-2"):
        page.get_by_label(f"Select {name}").check()
    page.get_by_label("Select bulk-1").press("Enter")  # does nothing
    menu.click()
    field = page.get_by_label("Tags to add or remove")
    field.fill("fresh, Regression")
    field.press("Enter")  # adds them
    chips = page.locator("tr.session")
    expect(chips.nth(0).locator(".tag")).to_have_text(["fresh", "old", "Regression"])
    expect(chips.nth(1).locator(".tag")).to_have_text(["fresh", "Regression"])
    expect(chips.nth(2).locator(".tag")).to_have_text(["old"])
    expect(page).to_have_url(re.compile(r"\?q=bulk-&sort=title"))
    page.get_by_label("Select bulk-1").check()
    menu.click()
    field.fill("OLD")
    page.locator("#selection").get_by_role("button", name="Remove").click()
    expect(chips.nth(0).locator(".tag")).to_have_text(["fresh", "Regression"])

    chips.nth(1).get_by_role("link", name="fresh").click()
    text = page.get_by_label("Title or ID contains")
    expect(text).to_have_value('tag:"fresh"')
    expect(page.locator("tr.session .name")).to_have_text(["bulk-2", "bulk-1"])
    text.fill("tag:reg -tag:old bulk-1")
    page.get_by_role("button", name="Filter").click()
    expect(page.locator("tr.session .name")).to_have_text(["bulk-1"])

    page = visit.open("/")
    page.locator("li.session", has_text="bulk-3").get_by_role("link", name="old").click()
    expect(page.locator("#named")).to_contain_text("Sessions by tag")
    expect(page.locator(".search-named a[href^='/sessions']")).to_have_text(["bulk-3"])


def test_without_scripts_sessions_are_tagged(browser, server, signed_in):
    with server.client() as client:
        key = tag(client, "faulty", "plain", title="plain")
    with Visit(browser, server, storage_state=signed_in, java_script_enabled=False) as plain:
        page = plain.open(f"/sessions/{key}")
        page.locator(".topbar summary[title=Sessions]").click()
        page.locator("#new-tag").fill("by hand")
        page.locator("#new-tag").press("Enter")
        expect(page.locator("#tags .tag")).to_have_text(["by hand"])
        page.locator(".topbar summary[title=Sessions]").click()
        page.get_by_role("button", name="Remove the tag by hand").click()
        expect(page.locator("#tags .tag")).to_have_count(0)
        page = plain.open("/apps/faulty?q=plain")
        page.get_by_label("Select plain").check()
        page.locator("#selection summary").click()
        page.get_by_label("Tags to add or remove").fill("in bulk")
        page.get_by_label("Tags to add or remove").press("Enter")
        expect(page.locator("tr.session .tag")).to_have_text(["in bulk"])


def test_tags_leave_room_for_the_title_at_every_width(visit, server):
    with server.client() as client:
        tags = ("W" * 50, "needs review", "regression of the last version", "slow")
        key = tag(client, "refunds", "wide", *tags, title="A title of some length")
    page = visit.open("/apps/refunds?q=wide")
    for width in (1440, 1101, 1000, 901, 720, 390):
        page.set_viewport_size({"width": width, "height": 800})
        name, tags = (
            page.locator(f"#s-{key} {each}").bounding_box() for each in (".name", ".tags")
        )
        assert name["width"] > 100, width
        assert tags["x"] + tags["width"] <= width, width
        assert page.evaluate("document.documentElement.scrollWidth") <= width, width
