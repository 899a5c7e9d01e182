"""Turning a session into a test on the page, with the keyboard."""

import pytest
from playwright.sync_api import expect

from tests.kit.browser import Visit
from tests.kit.server import SAMPLES, running
from tests.kit.terminal import devui

pytestmark = pytest.mark.browser


@pytest.fixture
def own_visit(browser, tmp_path):
    with (
        running(SAMPLES, tmp_path / "data", "--no-auth") as server,
        Visit(browser, server) as own_visit,
    ):
        yield own_visit


def test_saving_a_session_as_a_test_overwrites_files_only_when_told_to(own_visit, tmp_path):
    session = own_visit.session("travel", ["Book a flight to London next Tuesday"])
    page, api = session.page, f"/api{session.path}/test"
    page.evaluate("document.activeElement.blur()")
    page.keyboard.press("M")
    page.wait_for_url("**/test")
    page.go_back()
    page.get_by_label("Sessions", exact=True).press("Enter")
    page.get_by_role("link", name="Make test…").first.press("Enter")
    file, code = page.locator("#test-file"), page.locator(".test-code")
    expect(code).to_contain_text("assert result.agents ==")
    page.get_by_label("Agents in order").press("Space")
    expect(code).not_to_contain_text("assert result.agents ==")
    file.fill("../test_trip.py")
    file.press("Tab")
    expect(page.get_by_role("alert")).to_contain_text("is outside")
    expect(page.locator("#write-test")).to_be_disabled()
    expect(code).to_contain_text("play(AGENT")  # can still be copied
    file.fill("x" * 300)  # longer than a file name may be
    file.press("Tab")
    expect(page.get_by_role("alert")).to_contain_text("name the test file like")
    file.fill("tests/test_trip.py")
    file.press("Tab")
    expect(page.locator("#write-test")).to_be_enabled()
    page.locator("#write-test").press("Enter")
    expect(page.locator("#test-command")).to_have_text("devui test tests/test_trip.py")
    page.locator("#play-test").press("Enter")
    expect(page.locator(".played")).to_contain_text("The test passed.")
    test_file = tmp_path / "tests" / "test_trip.py"
    assert "result.agents" not in test_file.read_text()
    result = devui("test", "--", "-p", "no:cacheprovider", cwd=tmp_path)
    assert (result.returncode, "1 passed" in result.stdout) == (0, True), result.stdout
    test_file.write_text("mine")
    own_visit.allow("409")
    written_over_when_told(page, test_file)
    with own_visit.server.client() as client:
        assert client.post(api, json={"file": "tests/test_trip.py"}).status_code == 409
        assert client.post(api, json={"file": "/tmp/test_trip.py"}).status_code == 422
        other = client.post(api, json={"file": "test_trip.py", "checks": ["text"]}).json()
        assert other["files"] == ["test_trip.py", "test_trip.recordings/1.json"]


def written_over_when_told(page, test_file):
    page.get_by_label("No tool calls").or_(page.get_by_label("Tools in order")).press("Space")
    page.locator("#write-test").press("Enter")
    expect(page.get_by_role("alert")).to_contain_text("tests/test_trip.py already exists")
    assert test_file.read_text() == "mine"
    page.get_by_label("Overwrite it").press("Space")
    page.locator("#write-test").press("Enter")
    expect(page.locator(".written")).to_contain_text("tests/test_trip.recordings/1.json")
    assert "result.tools" not in test_file.read_text()
