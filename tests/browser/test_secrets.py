"""Secrets on the page: hidden, shown to the person who asks, and hidden again."""

import pytest
from playwright.sync_api import expect

from tests.api.test_reveal import AGENT, SECRET
from tests.kit.server import running, write_app

pytestmark = pytest.mark.req("R64")


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    folder = tmp_path_factory.mktemp("secrets")
    write_app(folder / "agents", "echo", AGENT)
    (folder / "agents" / "echo" / ".env").write_text(f"PLAIN_TOKEN={SECRET}\n", encoding="utf-8")
    with running(folder / "agents", folder / "data") as server:
        yield server


def test_secrets_that_arrive_live_can_be_shown_and_hidden_with_keys(visit):
    here = visit.session("echo")
    show = here.page.get_by_role("button", name="Show secrets")
    expect(show).to_be_hidden()
    here.send("here")
    chat = here.page.locator("#chat")
    expect(chat.get_by_text("here: [redacted]")).to_be_visible()
    show.focus()
    here.page.keyboard.press("Enter")
    expect(chat.get_by_text(f"here: {SECRET}")).to_be_visible()
    notice = here.page.get_by_role("region", name="Secrets")
    expect(notice).to_contain_text("Secrets are visible")
    expect(show).to_be_hidden()
    notice.get_by_role("button", name="Hide secrets").press("Enter")
    expect(chat.get_by_text("here: [redacted]")).to_be_visible()
    expect(notice).to_be_hidden()


def test_other_tabs_follow_once_they_have_no_unsent_text(visit):
    here = visit.session("echo")
    here.send("tabs")
    expect(here.page.locator("#chat").get_by_text("tabs: [redacted]")).to_be_visible()
    there = visit.again(here)
    field = there.page.get_by_label("Message echo")
    field.fill("a draft")
    here.page.get_by_role("button", name="Show secrets").click()
    expect(here.page.locator("#chat").get_by_text(f"tabs: {SECRET}")).to_be_visible()
    there.page.wait_for_timeout(2500)
    expect(field).to_have_value("a draft")
    expect(there.page.get_by_role("region", name="Secrets")).to_be_hidden()
    field.fill("")
    expect(there.page.locator("#chat").get_by_text(f"tabs: {SECRET}")).to_be_visible()
    there.page.get_by_role("button", name="Hide secrets").click()
    expect(here.page.locator("#chat").get_by_text("tabs: [redacted]")).to_be_visible()
