"""The picture in the README, of a real conversation; redrawn with DEVUI_WRITE_SCREENSHOTS=1."""

import os

import pytest
from playwright.sync_api import expect

from tests.kit.server import ROOT

pytestmark = pytest.mark.browser

PICTURE = ROOT / "docs" / "img" / "session.png"
LARGEST = 300_000
"""The largest size of the picture, in bytes."""


@pytest.mark.skipif(
    os.environ.get("DEVUI_WRITE_SCREENSHOTS") != "1", reason="DEVUI_WRITE_SCREENSHOTS is not 1"
)
def test_the_picture_of_the_readme_can_be_drawn(visit):
    session = visit.session("travel", title="London on Tuesday", user="ada")
    session.say("Book a flight to London next Tuesday")
    session.say("Book it and pay with my card")
    session.select(13)
    session.tab("state")
    expect(session.panel.locator(".var.changed")).to_have_count(1)
    for fold in session.panel.locator(".var.changed details").all():
        fold.locator("summary").click()
    session.page.mouse.move(0, 0)
    PICTURE.parent.mkdir(exist_ok=True)
    session.page.screenshot(path=PICTURE, animations="disabled", caret="hide")
    assert PICTURE.stat().st_size < LARGEST
