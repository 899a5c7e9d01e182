"""Follows the bug hunt of docs/guide/debugging.md step by step and draws its pictures.

With DEVUI_WRITE_SCREENSHOTS=1, the pictures are written to docs/guide/pictures.
"""

import os
import re
import shutil
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.kit.browser import SessionPage, Visit
from tests.kit.server import ROOT, SAMPLES, running

pytestmark = pytest.mark.browser

PICTURES = ROOT / "docs" / "guide" / "pictures"
LARGEST = 150_000
"""The largest size of a picture, in bytes."""
SIZE = {"width": 1180, "height": 720}
SPLIT = "Split the bill of table 7"
BUG, FIX = "bill * percent", "bill * percent / 100"


@pytest.fixture
def hunt(browser, tmp_path):
    """A visit to a server on a copy of the sample, whose code the test fixes at the end."""
    shutil.copytree(SAMPLES / "faulty", tmp_path / "agents" / "faulty")
    with (
        running(tmp_path / "agents", tmp_path / "data") as server,
        Visit(browser, server, viewport=SIZE, color_scheme="light") as hunt,
    ):
        hunt.context.new_page().goto(server.link)
        yield hunt


def picture(session: SessionPage, name: str) -> None:
    """Check that a picture of the guide exists, or draw it if DEVUI_WRITE_SCREENSHOTS is 1."""
    file = PICTURES / f"{name}.png"
    if os.environ.get("DEVUI_WRITE_SCREENSHOTS") != "1":
        assert file.is_file()
        return
    PICTURES.mkdir(exist_ok=True)
    session.page.mouse.move(0, 0)
    session.page.screenshot(path=file, animations="disabled", caret="hide")
    assert file.stat().st_size < LARGEST


def press(session: SessionPage, key: str) -> None:
    session.page.evaluate("document.activeElement.blur()")
    session.page.keyboard.press(key)


def is_held_at_the_voucher(session: SessionPage) -> None:
    expect(session.page.locator("#held .held-by")).to_have_text(re.compile(r"Breakpoint 1: .*bill"))
    expect(session.page.locator("#held .held-changes")).to_contain_text("-756")


def test_the_bug_of_the_guide_is_found_and_fixed(hunt, tmp_path):
    failed = hunt.session("faulty")
    failed.say(SPLIT, "failed")
    expect(failed.page.locator("#timeline")).to_contain_text("nobody is paid for eating")
    picture(failed, "1-failed")
    it_is_found_in_the_past(failed)
    session = hunt.session("faulty")
    session.send(SPLIT)
    is_held_at_the_voucher(session)
    the_rest_is_right_once_the_bill_is(session)
    stopped = hunt.session("faulty")
    stopped.send(SPLIT)
    is_held_at_the_voucher(stopped)
    it_goes_on_with_mended_code(stopped, tmp_path / "agents" / "faulty" / "bill.py")


def it_is_found_in_the_past(session: SessionPage) -> None:
    """Find the event that made the bill negative, with a breakpoint on the key."""
    press(session, "5")
    session.page.locator("#break-on").select_option("state")
    session.page.locator("#break-name").fill("bill")
    session.page.locator("#break-condition").fill("new < 0")
    session.page.locator("#break-condition").press("Enter")
    session.page.get_by_role("link", name="Breakpoint 1: hits in this session").click()
    expect(session.page.locator(".past-hits li")).to_have_count(1)
    press(session, "Shift+F8")
    expect(session.row(5)).to_have_attribute("aria-selected", "true")
    picture(session, "2-hit")


def the_rest_is_right_once_the_bill_is(session: SessionPage) -> None:
    """Edit the held value, and check that everything after it is right."""
    expect(session.page.locator("#pending")).to_contain_text("-756")
    expect(session.page.locator("#pending")).to_contain_text(re.compile(r"bill.py:\d+ in take_v"))
    picture(session, "3-pending")
    session.page.locator("#held .change > summary").first.click()
    bill = session.page.locator("#held").get_by_label("bill", exact=True)
    bill.fill("75.6")
    session.page.locator("#held").get_by_role("button", name="Use these values").press("Enter")
    expect(session.page.locator("#held .diff .added")).to_contain_text("75.6")
    expect(session.page.locator("#pending")).to_contain_text("75.6 will be committed instead")
    picture(session, "4-edited")
    press(session, "n")
    expect(session.page.locator("#held header b")).to_contain_text("after the commit of #5")
    expect(session.page.locator("#state-live .scope").first).to_contain_text("75.6")
    press(session, "c")
    session.ends()
    expect(session.messages.last).to_contain_text("Each of you pays 18.9")


def it_goes_on_with_mended_code(session: SessionPage, code: Path) -> None:
    """Stop the run before anything wrong is committed, fix the code, and resume the run."""
    session.page.locator("#stop").click()
    session.ends("stopped")
    text = code.read_text(encoding="utf-8")
    assert text.count(BUG) == 1
    code.write_text(text.replace(BUG, FIX), encoding="utf-8")
    with session.page.context.new_page() as app:
        app.goto(session.page.url.partition("/sessions/")[0] + "/apps/faulty")
        with app.expect_navigation():
            app.get_by_role("button", name="Reload").click()
    again = session.page.get_by_role("radio", name="run again")
    again.check()
    picture(session, "5-resume")
    session.page.get_by_role("button", name="Resume").click()
    session.ends()
    expect(session.messages.last).to_contain_text("Each of you pays 18.9")
