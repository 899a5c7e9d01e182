"""Replaying a recorded run and playing it back, as a person does on the page."""

import pytest
from playwright.sync_api import expect

from tests.kit.browser import Visit
from tests.kit.debugged_run import DebuggedRun
from tests.kit.replayed_apps import team
from tests.kit.server import running, write_app

pytestmark = pytest.mark.browser

TWICE = """() => [1, 2].forEach(() => document.body.dispatchEvent(
    new KeyboardEvent("keydown", { key: " ", bubbles: true, cancelable: true })))"""
"""Presses Space twice, before the first press can take effect."""


@pytest.fixture
def recorded(browser, tmp_path):
    """A page on a recorded run, its session's number, and the folder of the files that it uses."""
    (tmp_path / "manner.txt").write_text("well")
    write_app(tmp_path / "agents", "team", team(tmp_path))
    with (
        running(tmp_path / "agents", tmp_path / "data", "--no-auth") as server,
        server.client() as client,
        Visit(browser, server) as visit,
    ):
        debugged = DebuggedRun(client, "team").start(pause=False)
        debugged.settled()
        page = visit.context.new_page()
        page.goto(f"{server.url}/sessions/{debugged.key}?tab=run")
        yield page, debugged.key, tmp_path


def test_the_page_polls_for_the_progress_of_preparing_a_replay(recorded):
    page, key, _ = recorded
    posts = []
    # Delays the request, so that the page polls before it is answered.
    page.route(f"**/sessions/{key}/replays", lambda post: posts.append(post))
    with page.expect_request(lambda request: f"/jobs?session={key}" in request.url):
        page.get_by_role("button", name="Replay in a fork").click(no_wait_after=True)
    posts[0].continue_()
    expect(page.get_by_role("region", name="Replay")).to_be_visible()


def test_a_run_is_replayed_and_its_first_divergence_shown(recorded):
    page, key, folder = recorded
    live = (folder / "live.log").read_text()
    page.get_by_label("pause at the first event").check()
    page.get_by_role("button", name="Replay in a fork").click()
    bar = page.get_by_role("region", name="Replay")
    expect(bar).to_contain_text("of 12 events, no live calls")
    expect(bar.get_by_role("progressbar")).to_be_visible()
    expect(page.get_by_role("button", name="Stop")).to_have_count(1)
    assert not page.url.endswith(f"/sessions/{key}")
    page.locator("#do-continue").click()
    expect(bar).to_contain_text("Replay is identical 12 of 12 events matched")
    expect(page.locator("#rows .row")).to_have_count(12)
    expect(page.get_by_role("button", name="Stop")).to_have_count(0)

    (folder / "manner.txt").write_text("badly")
    bar.get_by_role("button", name="Replay again").click()
    expect(bar).to_contain_text("writer sent its model a different request than recorded")
    expect(bar.get_by_role("row").last).to_contain_text("Write well.")
    expect(bar.get_by_role("row").last).to_contain_text("Write badly.")
    page.reload()
    expect(bar).to_contain_text("Replay diverged")
    bar.get_by_role("link", name="recorded").click()
    expect(page.locator("#rows [aria-selected=true]")).to_contain_text("2")
    assert (folder / "live.log").read_text() == live


def test_a_run_is_played_back_event_by_event_and_stopped_with_a_key(recorded):
    page, _, folder = recorded
    live = (folder / "live.log").read_text()
    page.get_by_label("Speed").select_option("fast")
    page.get_by_role("link", name="Play back").click()
    page.wait_for_url("**at=12**")
    expect(page.get_by_label("Play back from here")).to_have_attribute("aria-pressed", "false")
    page.goto(page.url.replace("at=12", "at=3"))
    expect(page.get_by_label("Speed")).to_have_value("0")
    page.evaluate(TWICE)
    expect(page.get_by_label("Play back from here")).to_have_attribute("aria-pressed", "false")
    assert "at=3" in page.url
    page.keyboard.press("Space")
    page.wait_for_url("**at=12**")
    assert (folder / "live.log").read_text() == live
