"""Signing in: the printed link, the token, and what a visitor without either sees."""

import pytest
from playwright.sync_api import expect

from tests.kit.browser import Visit
from tests.kit.server import SAMPLES, TOKEN, running
from tests.kit.terminal import devui

pytestmark = [pytest.mark.browser, pytest.mark.req("R08")]


@pytest.fixture
def stranger(browser, server):
    """A browser that has not signed in."""
    with Visit(browser, server) as stranger:
        stranger.allow("401")
        yield stranger


@pytest.mark.parametrize("path", ["/", "/apps/travel", "/sessions/1", "/sessions/1/stream"])
def test_without_a_cookie_every_page_says_how_to_sign_in(stranger, path):
    page = stranger.context.new_page()
    answer = page.goto(stranger.server.url + path)
    assert answer.status == 401
    expect(page.get_by_role("heading", name="Sign in to devui")).to_be_visible()
    expect(page.locator("main")).to_contain_text("Open the link that devui printed")


def test_a_printed_link_works_once_and_leaves_no_code_behind(browser, tmp_path):
    with running(SAMPLES, tmp_path / "data") as server:
        with Visit(browser, server) as first:
            page = first.context.new_page()
            page.goto(server.link)
            expect(page.get_by_role("heading", name="Apps", exact=True)).to_be_visible()
            assert page.url == f"{server.url}/"
            assert page.evaluate("performance.getEntriesByType('navigation')[0].name") == page.url
            page.goto(server.link)
            expect(page.get_by_role("heading", name="Apps", exact=True)).to_be_visible()
        with Visit(browser, server) as second:
            second.allow("401")
            page = second.context.new_page()
            assert page.goto(server.link).status == 401
            expect(page.get_by_role("alert")).to_contain_text("This link was already used")
            expect(page.locator("main")).to_contain_text("To get a new link, run devui link")
            done = devui("link", "--data-dir", str(tmp_path / "data"), cwd=tmp_path)
            page.goto(done.stdout.strip())
            expect(page.get_by_role("heading", name="Apps", exact=True)).to_be_visible()


def test_a_guessed_link_does_not_work(stranger):
    page = stranger.open("/login?code=guessed")
    expect(page.get_by_role("alert")).to_contain_text("already used or is more than ten minutes")


def test_the_token_signs_in_and_a_wrong_one_is_rejected(stranger):
    page = stranger.open("/")
    page.get_by_label("Access token").fill("not-the-token-of-this-server")
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("alert")).to_contain_text("isn't this server's access token")
    page.get_by_label("Access token").fill(TOKEN)
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("heading", name="Apps", exact=True)).to_be_visible()


def test_no_script_can_read_the_cookie(visit):
    page = visit.open("/")
    assert page.evaluate("document.cookie") == ""
    (cookie,) = visit.context.cookies()
    assert (cookie["httpOnly"], cookie["sameSite"]) == (True, "Strict")


@pytest.mark.req("R07")
def test_every_page_says_that_no_sign_in_is_needed(browser, tmp_path):
    with (
        running(SAMPLES, tmp_path / "data", "--no-auth") as server,
        Visit(browser, server) as visit,
    ):
        visit.allow("404")
        for path in ("/", "/apps/travel", visit.session("travel").path, "/nowhere"):
            expect(visit.open(path).get_by_text("No sign-in").first).to_be_visible()
