"""The list of an app's sessions: sorting, filtering, paging, and bulk actions."""

import re
import zipfile

import pytest
from playwright.sync_api import expect

from tests.kit.browser import Visit
from tests.kit.server import make_session

pytestmark = pytest.mark.browser


def test_sessions_are_sorted_filtered_selected_exported_and_deleted(visit, server, tmp_path):
    with server.client() as client:
        for number in range(1, 54):
            make_session(client, "field_state", user="lister", sessionId=f"list-{number:02}")
    page = visit.open("/apps/field_state?q=list-")
    expect(page.locator(".app-head .status")).to_have_text("ready")  # the page has settled
    expect(page.locator(".pager")).to_contain_text("1\u201350 of 53")
    page.get_by_role("link", name="Next").click()
    expect(page.locator(".session .id")).to_have_text(["list-03", "list-02", "list-01"])
    page.get_by_role("link", name="Title", exact=True).click()
    head = page.get_by_role("columnheader", name="Title")
    expect(head).to_have_attribute("aria-sort", "ascending")
    expect(page.locator(".pager")).to_contain_text("1\u201350 of 53")
    expect(page).to_have_url(re.compile(r"\?q=list-&sort=title"))
    page.get_by_label("Title or ID contains").fill("list-5")
    page.get_by_role("button", name="Filter").click()
    expect(page.locator(".session .id")).to_have_count(4)
    expect(head).to_have_attribute("aria-sort", "ascending")

    delete = page.locator("#selection").get_by_role("button", name="Delete")
    expect(delete).to_be_hidden()
    hint = "Select sessions to tag, export or delete them"
    expect(page.locator("#selection")).to_contain_text(hint)
    page.get_by_label("Select all on this page").check()
    page.locator(".session", has_text="list-50").locator(".pick").uncheck()
    expect(page.locator("#selection")).to_contain_text("3 selected")
    with page.expect_download() as download:
        page.locator("#selection").get_by_role("button", name="Export").click()
    download.value.save_as(tmp_path / "sessions.zip")
    with zipfile.ZipFile(tmp_path / "sessions.zip") as archive:
        assert archive.testzip() is None
        assert len(archive.namelist()) == 3
    delete.click()
    expect(page.get_by_role("heading", name="Delete 3 sessions?")).to_be_visible()
    page.get_by_role("button", name="Delete 3 sessions").click()
    expect(page.locator(".session .id")).to_have_text(["list-50"])
    expect(page.locator("#sessions .notice")).to_have_text("Deleted 3 sessions.")
    page.get_by_label("Status").select_option("Starred")
    page.get_by_role("button", name="Filter").click()
    expect(page.locator(".session-list .empty")).to_contain_text("No sessions match this filter")
    page.get_by_role("link", name="Clear the filter").click()
    expect(page.get_by_label("Title or ID contains")).to_have_value("")


def test_sessions_of_all_pages_are_selected_together(visit, server):
    with server.client() as client:
        for number in range(53):
            make_session(client, "field_state", user="lister", sessionId=f"every-{number:02}")
    page = visit.open("/apps/field_state?q=every-")
    every, selection = page.get_by_label("Select all 53 sessions"), page.locator("#selection")
    expect(every).to_be_hidden()
    page.get_by_label("Select all on this page").check()
    expect(selection).to_contain_text("50 selected")
    every.check()
    expect(selection).to_contain_text("53 selected")
    page.locator(".session .pick").first.uncheck()
    expect(selection).to_contain_text("49 selected")
    expect(every).to_be_hidden()
    page.locator(".session .pick").first.check()
    every.check()
    selection.get_by_role("button", name="Delete").click()
    page.get_by_role("button", name="Delete 53 sessions").click()
    expect(page.locator("#sessions .notice")).to_have_text("Deleted 53 sessions.")


def test_without_scripts_sessions_are_filtered_and_deleted_together(browser, server, signed_in):
    with server.client() as client:
        for name in ("plain-1", "plain-2"):
            make_session(client, "field_state", user="lister", sessionId=name)
    with Visit(browser, server, storage_state=signed_in, java_script_enabled=False) as plain:
        page = plain.open("/apps/field_state")
        page.get_by_label("Title or ID contains").fill("plain-")
        page.get_by_role("button", name="Filter").click()
        expect(page.locator(".session .id")).to_have_text(["plain-2", "plain-1"])
        expect(page.locator("#selection [role=status]")).to_be_empty()
        page.locator(".session .pick").first.check()
        page.locator("#selection").get_by_role("button", name="Delete").click()
        page.get_by_role("button", name="Delete 1 session").click()
        expect(page.locator(".session .id")).to_have_text(["plain-1"])


def test_a_session_is_named_by_its_number(visit, server):
    with server.client() as client:
        make_session(client, "field_state", user="lister", sessionId="named")
    session = visit.session("field_state")
    session.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    key = session.path.rpartition("/")[2]
    expect(session.page.locator("#title-text")).to_have_attribute("placeholder", f"session {key}")
    session.say("Hello")
    button = session.page.get_by_role("button", name=f"session {key}", exact=True)
    button.click()
    expect(session.page.locator(".session-number")).to_have_text("Copied")
    assert session.page.evaluate("navigator.clipboard.readText()") == key
    expect(button).to_be_visible()
    session.equals(visit.again(session), "#title")

    page = visit.open(f"/apps/field_state?q={key}")
    row = page.locator(f"#s-{key}")
    expect(row.locator(".number")).to_have_text(key)
    page.keyboard.press("Control+k")
    page.keyboard.type(key)
    expect(page.locator("#palette [role=option]", has_text=f"session {key} ·")).to_be_visible()
