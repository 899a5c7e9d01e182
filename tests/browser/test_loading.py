"""What a page fetches: everything it needs at once, and nothing twice."""

from urllib.parse import urlsplit

import pytest
from playwright.sync_api import BrowserContext, expect

pytestmark = pytest.mark.browser

PRELOADED = "(links) => links.map((link) => new URL(link.href ?? link.src).pathname)"
LOADED = "performance.getEntriesByType('resource').map((entry) => new URL(entry.name).pathname)"


def fetched(context: BrowserContext, url: str) -> set[str]:
    """The paths that a new tab asks the server for, but the icon: browsers fetch it when idle."""
    page = context.new_page()
    session = context.new_cdp_session(page)
    asked: dict[str, str] = {}
    session.on("Network.requestWillBeSent", lambda e: asked.update({e["requestId"]: _path(e)}))
    session.on("Network.requestServedFromCache", lambda e: asked.pop(e["requestId"], None))
    session.on(
        "Network.responseReceived",
        lambda e: e["response"]["fromDiskCache"] and asked.pop(e["requestId"], None),
    )
    session.send("Network.enable")
    with page.expect_response(lambda answer: "stream" in answer.url):
        page.goto(url)
    expect(page.locator("[data-menu], #app-travel").first).to_be_visible()
    return {path for path in asked.values() if not path.endswith("/favicon.svg")}


def _path(event: dict) -> str:
    return urlsplit(event["request"]["url"]).path


def test_a_page_that_was_seen_before_fetches_itself_and_its_stream(visit):
    session = visit.session("travel").path
    for path, stream in (("/", "/stream"), (session, f"{session}/stream")):
        first = fetched(visit.context, visit.server.url + path)
        assert first >= {path, stream}
        assert fetched(visit.context, visit.server.url + path) == {path, stream}


def test_a_page_names_every_module_before_the_first_one_asks_for_it(visit):
    for page in (visit.open(), visit.session("travel").page):
        page.wait_for_load_state()
        named = page.locator("link[rel=modulepreload], script[type=module]").evaluate_all(PRELOADED)
        early = page.locator("script:not([type=module])").evaluate_all(PRELOADED)
        loaded = {path for path in page.evaluate(LOADED) if path.endswith(".js")}
        assert loaded - set(early) == set(named)
        assert len(named) == len(set(named)) > 5
