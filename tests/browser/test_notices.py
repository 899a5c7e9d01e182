"""Notices about the server on every page: a moved clock, refused requests, and dismissal."""

import re
import urllib.error
import urllib.request
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.kit.browser import Visit, cookies
from tests.kit.debugged_run import DebuggedRun
from tests.kit.patience import PATIENCE
from tests.kit.server import ROOT, SAMPLES, Server

pytestmark = pytest.mark.browser

HOUR = 3600
MOVED_CLOCK = """
import os, pathlib, time

told, true = pathlib.Path(os.environ["MOVED_CLOCK"]), time.time
time.time = lambda: true() + float(told.read_text())
"""
"""Runs in every Python process of the server before anything else, and shifts its wall clock."""


@pytest.fixture(scope="module")
def clock_file(tmp_path_factory):
    """The file with the number of seconds by which the server's clock is shifted."""
    file = tmp_path_factory.mktemp("clock") / "moved"
    file.write_text("0")
    (file.parent / "sitecustomize.py").write_text(MOVED_CLOCK)
    return file


def move(clock_file: Path, seconds: int) -> None:
    """Shift the clock atomically: the server may read the file at any moment."""
    beside = clock_file.with_suffix(".new")
    beside.write_text(str(seconds))
    beside.replace(clock_file)


@pytest.fixture(scope="module")
def server(clock_file):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", f"{clock_file.parent}:{ROOT}")
        patch.setenv("MOVED_CLOCK", str(clock_file))
        server = Server(SAMPLES, clock_file.parent / "data").start()
    try:
        yield server
    finally:
        server.stop()


@pytest.fixture
def visit(browser, server):
    with Visit(browser, server, storage_state=cookies(browser, server)) as visit:
        yield visit


def notice(page: Page, words: str):
    return page.locator("#journal .notice").filter(has_text=words)


def knock(server: Server, **headers: str) -> None:
    """Send a request without a token."""
    request = urllib.request.Request(f"{server.url}/list-apps?q=hidden", headers=headers)
    with pytest.raises(urllib.error.HTTPError):
        urllib.request.urlopen(request, timeout=PATIENCE)


def rebind(server: Server) -> None:
    """Send a request with another host name."""
    knock(server, Host="a.test")


@pytest.mark.req("R47")
def test_a_moved_clock_is_reported_and_changes_no_order(visit, server, clock_file):
    session, apps = visit.session("travel"), visit.open("/")
    with server.client() as client:
        long = {"on": "budget", "condition": f"run.seconds > {HOUR}"}
        assert client.post("/api/apps/travel/breakpoints", json=long).status_code == 201
        debugged = DebuggedRun(client, "travel").start("Hello")
        debugged.settled()
        move(clock_file, -HOUR)
        for page in (session.page, apps):
            expect(notice(page, "The clock was moved back by 1 h 00 min.")).to_be_visible()
        session.say("Book a flight to London next Tuesday")
        move(clock_file, 10 * 365 * 24 * HOUR)
        later = "The clock was moved forward by 3,650 days, the latest of 2 changes."
        expect(notice(session.page, later)).to_be_visible()
        assert client.get(f"/api/runs/{debugged.run}/activity").json()["silentSeconds"] < HOUR
        assert debugged.tell("continue")["status"] == "done"  # it hasn't been running for ten years
        session.say("Book it and pay with my card")
        ids = session.events.evaluate_all("(rows) => rows.map((row) => row.id)")
        assert ids == [f"e-{number}" for number in range(1, len(ids) + 1)]
        again = visit.again(session)  # still signed in, and in the same order
        session.equals(again, "#rows")


@pytest.mark.req("R67")
def test_a_dismissed_notice_returns_when_its_cause_recurs(visit, server):
    session, apps = visit.session("travel"), visit.open("/")
    words = "Requests have been refused"
    rebind(server)
    for page in (session.page, apps):
        expect(notice(page, words)).to_be_visible()
    button = notice(session.page, words).get_by_role("button", name=re.compile("^Dismiss: Req"))
    button.focus()
    session.page.keyboard.press("Enter")
    for page in (session.page, apps):
        expect(notice(page, words)).to_have_count(0)
    # The focus moves to the next notice (of a moved clock, for example), and finally to the page.
    while (focused := session.page.locator(":focus")).get_attribute("id") != "main":
        name = focused.get_attribute("aria-label")
        assert name.startswith("Dismiss: "), name
        session.page.keyboard.press("Enter")
        expect(session.page.get_by_role("button", name=name)).to_have_count(0)
    session.page.reload()
    expect(notice(session.page, words)).to_have_count(0)
    rebind(server)
    for page in (session.page, apps):
        expect(notice(page, words)).to_contain_text("2 times")
    notice(apps, words).get_by_role("button").click()
    expect(notice(session.page, words)).to_have_count(0)


@pytest.mark.req("R67")
def test_a_request_without_the_token_is_reported_on_the_list_of_apps(visit, server):
    session, apps = visit.session("travel"), visit.open("/")
    knock(server)
    expect(notice(apps, "without the token")).to_contain_text("GET /list-apps at ")
    expect(notice(apps, "without the token")).to_contain_text("send the bearer token")
    expect(notice(apps, "hidden")).to_have_count(0)
    session.page.reload()
    expect(notice(session.page, "without the token")).to_have_count(0)
    knock(server)
    expect(notice(apps, "without the token")).to_have_count(1)
    expect(notice(apps, "without the token")).to_contain_text("requests")


def test_a_notice_can_be_dismissed_without_scripts(browser, visit, server):
    state = visit.context.storage_state()
    with Visit(browser, server, storage_state=state, java_script_enabled=False) as unscripted:
        with server.client() as client:
            assert client.get("/list-apps", headers={"Origin": "http://a.test"}).status_code == 403
        page = unscripted.open("/")
        notice(page, "Requests have been refused").get_by_role("button").click()
        expect(notice(page, "Requests have been refused")).to_have_count(0)
        expect(page.get_by_role("heading", name="Apps", exact=True)).to_be_visible()
