"""Runs that end early: Stop, and a server that is killed and restarted."""

import shutil

import pytest
from playwright.sync_api import Page, expect

from tests.kit.browser import SessionPage, Visit
from tests.kit.server import SAMPLES, make_session, run, running
from tests.kit.slow_summary import SUMMARIZE, write_lingering

pytestmark = pytest.mark.browser

SHORTER = "Shorter, please: one sentence"
AWAY = (
    r"ERR_(CONNECTION|INCOMPLETE|EMPTY|NETWORK|SOCKET)|Failed to fetch|network error"
    r"|NetworkError when|Error in input stream"
)
"""What browsers report when a server is gone."""


@pytest.fixture(scope="module")
def agents(tmp_path_factory):
    """The samples, one with an answer that never ends."""
    folder = shutil.copytree(SAMPLES, tmp_path_factory.mktemp("restart") / "agents")
    write_lingering(folder)
    return folder


@pytest.fixture(scope="module")
def server(agents):
    with running(agents, agents.parent / "data") as server:
        yield server


@pytest.fixture
def open_server(agents, tmp_path):
    """The test's own server, without sign-in."""
    with running(agents, tmp_path / "data", "--no-auth") as open_server:
        yield open_server


@pytest.fixture
def open_visit(browser, open_server):
    with Visit(browser, open_server) as open_visit:
        open_visit.allow(AWAY)
        yield open_visit


def texts(session: SessionPage) -> list[str]:
    return session.events.evaluate_all("(rows) => rows.map((row) => `${row.id} ${row.innerText}`)")


def banner(page: Page):
    return page.locator("#connection")


def test_stop_ends_the_run_and_row_and_chat_say_so(visit):
    session = visit.session("summary")
    session.send(SUMMARIZE)
    expect(session.live).to_contain_text("Events carry everything")
    session.page.locator("#stop").click()
    session.ends("stopped")
    end = session.page.locator("#rows > .run-end")
    expect(end).to_contain_text("The run was stopped")
    expect(session.messages.last).to_contain_text("The run was stopped")
    expect(session.live).to_have_count(0)
    expect(session.page.locator("#live-rows .row")).to_have_count(0)
    session.say(SHORTER)
    expect(session.messages.last).to_contain_text("Events are the history")


def test_the_partial_text_of_a_stopped_answer_stays_readable(visit):
    session = visit.session("summary")
    session.send(SUMMARIZE)
    expect(session.live).to_contain_text("Events carry everything")
    session.page.locator("#stop").click()
    session.ends("stopped")
    note = session.messages.last
    expect(note.locator(".unfinished")).to_contain_text("Events carry everything")
    expect(note).to_contain_text("cut off and isn't part of the session")
    session.equals(visit.again(session), "#messages")


def test_a_tool_that_never_returns_is_stopped(visit):
    session = visit.session("faulty")
    session.send("Loop forever")
    expect(session.row(2)).to_contain_text("loop_forever")
    session.page.locator("#stop").click()
    session.ends("stopped")


def test_every_event_that_was_shown_survives_a_kill_of_the_server(open_visit):
    session = open_visit.session("faulty")
    session.say("Hello")
    session.send("Loop forever")
    expect(session.row(4)).to_contain_text("loop_forever")
    open_visit.server.kill()
    expect(banner(session.page)).to_be_visible()
    before = texts(session)
    open_visit.server.start()
    expect(banner(session.page)).to_be_hidden()
    session.ends("interrupted")
    expect(session.page.locator("#rows > .run-end")).to_contain_text("interrupted")
    expect(session.messages.last).to_contain_text("interrupted")
    expect(session.page.locator("#resume")).to_contain_text("Interrupted when the server stopped")
    assert texts(session)[: len(before)] == before
    again = open_visit.again(session)
    assert texts(again)[: len(before)] == before
    session.equals(
        again, "#rows", "#messages", "#run", "#composer-state", "#live-chat", "#live-rows"
    )


def test_a_page_recovers_by_itself_after_the_server_was_killed(open_visit):
    session = open_visit.session("summary")
    session.send(SUMMARIZE)
    expect(session.live).to_contain_text("Commit comes before resume")
    open_visit.server.kill()
    expect(banner(session.page)).to_be_visible()
    open_visit.server.start()
    expect(banner(session.page)).to_be_hidden()
    expect(session.page.locator("#resume s")).to_contain_text("three main points")
    expect(session.messages.last.locator(".unfinished")).to_contain_text("three main points")
    expect(session.page.locator("#send")).to_be_enabled()
    session.say(SHORTER)
    expect(session.messages.last).to_contain_text("Events are the history")
    expect(session.live).to_have_count(0)


def test_a_message_that_does_not_reach_the_server_stays_in_the_field(
    open_visit,
):
    session = open_visit.session("summary")
    open_visit.server.kill()
    expect(banner(session.page)).to_be_visible()
    session.send(SHORTER)
    expect(session.page.locator("#trouble")).to_be_visible()
    expect(session.composer).to_have_value(SHORTER)
    open_visit.server.start()
    expect(banner(session.page)).to_be_hidden()
    session.composer.press("Enter")
    session.ends()
    expect(session.page.locator("#trouble")).to_be_hidden()


@pytest.mark.req("R58")
def test_a_page_reloads_when_the_servers_data_folder_was_replaced(open_visit, agents, tmp_path):
    session = open_visit.session("travel", ["I live in Paris, remember that for the next trip"])
    seen = session.events.count()
    with running(agents, tmp_path / "other", "--no-auth") as server, server.client() as client:
        other = make_session(client, "summary")
        for _ in range(10):  # more events than the page has seen
            run(client, "summary", other["id"], SHORTER)
    open_visit.server.kill()
    expect(banner(session.page)).to_be_visible()
    shutil.rmtree(open_visit.server.data)
    (tmp_path / "other").rename(open_visit.server.data)
    open_visit.server.start()
    expect(session.events).to_have_count(20)
    assert seen < 20
    expect(session.page.locator("#messages")).not_to_contain_text("Paris")
    expect(banner(session.page)).to_be_hidden()


def test_a_browser_signed_out_by_a_restart_says_so_and_recovers_after_sign_in(browser, tmp_path):
    with (
        running(SAMPLES, tmp_path / "data") as server,
        Visit(browser, server) as visit,
    ):
        visit.allow(AWAY)
        visit.allow("401")
        visit.context.new_page().goto(server.link)
        session = visit.session("summary")
        session.say(SHORTER)
        server.kill()
        expect(banner(session.page)).to_contain_text("Reconnecting")
        server.start()
        expect(banner(session.page)).to_contain_text("Sign in with the new link")
        expect(session.page.get_by_text("Sign in").first).to_be_visible()
        visit.context.new_page().goto(server.link)
        expect(banner(session.page)).to_be_hidden()
        session.say(SHORTER)
        expect(session.page.get_by_text("Sign in").first).to_be_hidden()
