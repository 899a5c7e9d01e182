"""Every action works without JavaScript, through links and forms."""

import pytest
from playwright.sync_api import Page, expect

from tests.kit.browser import SessionPage, Visit

pytestmark = pytest.mark.browser

BOOK = "Book a flight to London next Tuesday"


@pytest.fixture
def plain(browser, server, signed_in):
    with Visit(browser, server, storage_state=signed_in, java_script_enabled=False) as plain:
        yield plain


def reload_until(page: Page, selector: str) -> None:
    """Reload the page, as a person would, until it has the selector."""
    for _ in range(200):
        if page.locator(selector).count():
            return
        page.reload()
    raise AssertionError(f"{selector} did not come")


def test_a_message_is_sent_and_answered(plain):
    page = plain.open("/")
    page.get_by_role("link", name="travel", exact=True).click()
    page.get_by_role("button", name="New session").first.click()
    session = SessionPage(page)
    session.composer.fill(BOOK)
    page.get_by_role("button", name="Send").click()
    reload_until(page, "#run .run.done")
    expect(session.messages.last).to_contain_text("I found three flights")
    expect(session.events).to_have_count(8)


def test_an_event_and_its_tabs_can_be_opened(plain):
    session = plain.session("travel")
    session.composer.fill("I live in Paris, remember that")
    session.page.get_by_role("button", name="Send").click()
    reload_until(session.page, "#run .run.done")
    session.row(3).click()
    expect(session.panel).to_contain_text("remember_home")
    expect(session.row(3)).to_have_attribute("aria-selected", "true")
    for key, shows in (("state", "State as of #3"), ("raw", "stored"), ("event", "Content")):
        session.page.locator(f"#tab-{key}").click()
        expect(session.panel).to_contain_text(shows)
    session.page.get_by_role("link", name="Next event").click()
    expect(session.panel).to_contain_text("#4")
    session.page.get_by_role("link", name="Go live").click()
    expect(session.page.locator("#as-of")).to_contain_text("live")


def test_a_session_can_be_exported(plain):
    path = plain.session("travel", [BOOK]).path
    page = plain.open(f"{path}/export")
    page.get_by_role("radio", name="Web page").check()
    page.get_by_label("city", exact=True).check()
    page.get_by_role("button", name="Show what is left out").click()
    expect(page.locator(".left-out")).to_contain_text("the state key city")
    expect(page.get_by_role("radio", name="Web page")).to_be_checked()
    with page.expect_download() as begun:
        page.get_by_role("button", name="Download").click()
    assert begun.value.suggested_filename.endswith(".html")


def test_an_example_prompt_can_be_sent(plain):
    session = plain.session("summary")
    session.page.locator(".welcome button.prompt").last.click()
    reload_until(session.page, "#run .run.done")
    expect(session.messages.last).to_contain_text("Events are the history")


def test_a_run_can_be_stopped(plain):
    session = plain.session("faulty")
    session.composer.fill("Loop forever")
    session.page.get_by_role("button", name="Send").click()
    session.page.locator("#stop").click()
    reload_until(session.page, "#messages .run-note")
    expect(session.status).to_have_class("run stopped")
    expect(session.messages.last).to_contain_text("The run was stopped")


def test_a_session_can_be_renamed_and_deleted(plain):
    session = plain.session("summary")
    title = session.page.locator("#title-text")
    title.fill("By hand")
    title.press("Enter")
    expect(title).to_have_value("By hand")
    expect(session.page).to_have_title("By hand · devui")
    session.page.get_by_label("Sessions", exact=True).click()
    session.page.get_by_role("button", name="Delete session").click()
    expect(session.page).to_have_url(plain.server.url + "/apps/summary")
    expect(session.page.locator("main")).not_to_contain_text("By hand")


def test_a_breakpoint_is_added_hit_and_deleted(plain):
    plain.allow("422")
    session = plain.session("summary")
    page = session.page
    page.locator("#tab-breaks").click()
    page.locator("#break-on").select_option("model")
    page.locator("#break-condition").fill("len(")
    page.get_by_role("button", name="Add breakpoint").click()
    expect(page.locator("#break-condition-error")).to_contain_text("column 5")
    expect(page.locator("#break-on")).to_have_value("model")
    page.locator("#break-condition").fill("")
    page.get_by_role("button", name="Add breakpoint").click()
    expect(page.locator("#breakpoints .break")).to_have_count(1)
    session.composer.fill("Summarize the document about the runtime")
    page.get_by_role("button", name="Send").click()
    reload_until(page, "#held .held")
    expect(page.locator("#held .held-by")).to_contain_text(": model")
    page.locator("#held").get_by_role("button", name="Continue").click()
    page.locator("#tab-breaks").click()
    page.get_by_role("button", name="Delete breakpoint").click()
    expect(page.locator("#breakpoints .break")).to_have_count(0)
    reload_until(page, "#run .run.done")


@pytest.mark.parametrize("query", ["", "?event=3"])
def test_selecting_a_row_keeps_the_filter(plain, query):
    session = plain.session("travel")
    session.page.locator("#composer-text").fill(BOOK)
    session.page.locator("#send").click()
    reload_until(session.page, "#run .run.done")
    page = plain.open(session.path + query)
    page.locator("#filter-field").fill("kind:call")
    page.get_by_role("button", name="Filter", exact=True).click()
    page.locator("#e-4 .seq a").click()
    expect(page.locator("#filter-said")).to_have_text("3 shown, 5 hidden")
    expect(page.locator("#e-4")).to_have_attribute("aria-selected", "true")


def test_a_message_is_edited_rewound_and_sent_again(plain):
    session = plain.session("summary")
    page = session.page
    session.composer.fill("Summarize the document about the runtime")
    page.get_by_role("button", name="Send").click()
    reload_until(page, "#run .run.done")
    session.messages.first.hover()
    page.get_by_label("Run again or edit message #1").click()
    path = session.path
    page.get_by_role("link", name="Run again or edit message #1").click()
    expect(page.get_by_role("heading", name="Run this message again")).to_be_visible()
    page.get_by_label("Message", exact=True).fill("Shorter, please")
    page.get_by_role("button", name="Rewind and send again").click()
    expect(page).to_have_url(plain.server.url + path)
    reload_until(page, "#messages :text('Shorter, please')")
    expect(page.locator("#messages")).to_contain_text("Shorter, please")
