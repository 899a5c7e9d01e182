"""Leaving a page ends its requests, in Firefox before the next page loads: that isn't a loss."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser.test_restart import AWAY, banner
from tests.kit.browser import Visit
from tests.kit.server import SAMPLES, running

pytestmark = pytest.mark.browser

NOTE_LOSSES = """
() => {
  sessionStorage.setItem("losses", "");
  const note = (changes) => changes.filter(({ target }) => !target.hidden).forEach(({ target }) =>
    sessionStorage.setItem("losses", sessionStorage.getItem("losses") + target.id));
  const observer = new MutationObserver(note);
  const all = { subtree: true, attributeFilter: ["hidden"] };
  observer.observe(document.getElementById("notices"), all);
  addEventListener("pagehide", () => observer.disconnect());
}
"""
"""Records which notices appear while the page is visible."""


@pytest.fixture
def own_visit(browser, tmp_path):
    with (
        running(SAMPLES, tmp_path / "data", "--no-auth") as server,
        Visit(browser, server) as own_visit,
    ):
        yield own_visit


def test_a_page_reports_a_lost_stream_only_if_it_stays_open(own_visit):
    session = own_visit.session("summary")
    session.say("Shorter, please: one sentence")
    page = session.page
    page.evaluate(NOTE_LOSSES)
    page.reload()
    assert page.evaluate("sessionStorage.getItem('losses')") == ""
    with page.expect_response(re.compile("/export")):
        page.evaluate("(path) => { location = path }", f"/api{session.path}/export?format=json")
    own_visit.allow(AWAY)
    own_visit.server.kill()
    session.send("Shorter, please: one sentence")
    expect(banner(page)).to_be_visible()
    expect(page.locator("#trouble")).to_be_visible()
