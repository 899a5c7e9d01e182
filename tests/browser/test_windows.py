"""Windows that show the same page at once: all receive its events, also in Firefox."""

import pytest
from playwright.sync_api import expect

from tests.kit.browser import Visit
from tests.kit.server import SAMPLES, running

pytestmark = pytest.mark.browser


def test_two_windows_with_the_same_page_both_get_its_stream(browser, tmp_path):
    with (
        running(SAMPLES, tmp_path / "data", "--no-auth") as server,
        Visit(browser, server) as visit,
    ):
        session = visit.session("summary")
        other = visit.open(session.path)
        session.say("Shorter, please: one sentence")
        message = session.messages.last.inner_text()
        expect(other.locator("#messages > .msg").last).to_have_text(message, use_inner_text=True)
