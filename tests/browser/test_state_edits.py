"""Editing a state value on the page: by its type or as JSON, and never over a newer one."""

import pytest
from playwright.sync_api import expect

pytestmark = pytest.mark.browser


def test_a_value_is_edited_in_place_and_a_newer_one_is_not_overwritten(visit, server):
    state = '{"city": "Oslo", "days": 3, "plan": {"steps": [1]}, "app:rate": 1.5}'
    session = visit.session("summary", state=state)
    panel, page = session.panel, session.page

    def value(key: str):
        return panel.locator(".var").filter(has=page.locator(f"dt span:text-is('{key}')"))

    session.tab("state")
    value("city").get_by_role("link", name="Edit city").click()
    panel.get_by_role("textbox", name="Edit city").fill("Rome")
    panel.get_by_role("button", name="Save", exact=True).click()
    expect(value("city")).to_contain_text("Rome")
    expect(session.row(1)).to_contain_text("Rome")
    value("plan").get_by_role("link", name="Edit plan").click()
    panel.get_by_label("Value, as JSON").fill('{"steps": [1, 2]}')
    panel.get_by_role("button", name="Save", exact=True).click()
    expect(session.row(2)).to_contain_text("plan")
    panel.get_by_role("link", name="Set a new key").click()
    expect(panel.get_by_role("textbox", name="Key")).to_be_focused()
    page.keyboard.type("user:name")
    field = panel.get_by_label("Value, as JSON or plain text")
    field.fill('"Ann')
    visit.allow("422")
    field.press("Control+Enter")
    expect(panel.get_by_role("alert")).to_contain_text("invalid JSON")
    expect(field).to_have_value('"Ann')
    field.fill("Ann of Oslo")
    expect(panel.get_by_role("alert")).to_have_count(0)
    field.press("Control+Enter")
    expect(value("name")).to_contain_text("Ann of Oslo")

    value("rate").get_by_role("link", name="Edit rate").click()
    field = panel.get_by_role("spinbutton", name="Edit app:rate")
    expect(field).to_have_value("1.5")
    with server.client() as client:
        elsewhere = client.post("/apps/summary/users/other/sessions", json={}).json()["id"]
        path = f"/apps/summary/users/other/sessions/{elsewhere}"
        assert client.patch(path, json={"stateDelta": {"app:rate": 2}}).status_code == 200
    visit.allow("409")
    field.fill("9")
    panel.get_by_role("button", name="Save", exact=True).click()
    expect(panel.get_by_role("alert")).to_contain_text("has changed: it is now 2. Save again")
    expect(field).to_have_value("9")
    panel.get_by_role("button", name="Save", exact=True).click()
    expect(value("rate")).to_contain_text("9")
