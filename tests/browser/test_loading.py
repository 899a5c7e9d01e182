"""What a page fetches: everything it needs up front, and nothing twice."""

from urllib.parse import urlsplit

import pytest
from playwright.sync_api import BrowserContext, expect

pytestmark = pytest.mark.browser


def fetched(context: BrowserContext, url: str) -> set[str]:
    """Return the paths that a new tab requests, except the icon: browsers fetch it when idle."""
    page = context.new_page()
    session = context.new_cdp_session(page)
    paths: dict[str, str] = {}
    session.on("Network.requestWillBeSent", lambda e: paths.update({e["requestId"]: _path(e)}))
    session.on("Network.requestServedFromCache", lambda e: paths.pop(e["requestId"], None))
    session.on(
        "Network.responseReceived",
        lambda e: e["response"]["fromDiskCache"] and paths.pop(e["requestId"], None),
    )
    session.send("Network.enable")
    with page.expect_response(lambda answer: "stream" in answer.url):
        page.goto(url)
    expect(page.locator("[data-menu], #app-travel").first).to_be_visible()
    return {path for path in paths.values() if not path.endswith("/favicon.svg")}


def _path(event: dict) -> str:
    return urlsplit(event["request"]["url"]).path


def test_a_page_seen_before_fetches_only_itself_and_its_stream(visit):
    session = visit.session("travel").path
    for path, stream in (("/", "/stream"), (session, f"{session}/stream")):
        first = fetched(visit.context, visit.server.url + path)
        assert first >= {path, stream}
        assert fetched(visit.context, visit.server.url + path) == {path, stream}


def test_a_new_browser_fetches_few_files_for_a_page(browser, signed_in, visit):
    for path, most in (("/", 5), (visit.session("travel").path, 7)):
        context = browser.new_context(storage_state=signed_in)
        paths = fetched(context, visit.server.url + path)
        context.close()
        assert any(each.endswith("/stream") for each in paths)
        assert len(paths) <= most, paths
