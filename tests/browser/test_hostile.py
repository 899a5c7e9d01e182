"""Text from agents, tools and users stays text, on every page (R13 to R16)."""

import re
import time
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Page, expect

from tests.browser import hostile
from tests.browser.hostile import EVENTS, PAYLOADS
from tests.kit.browser import DESKTOP, SessionPage, Visit
from tests.kit.patience import PATIENCE
from tests.kit.server import make_session, run, running

pytestmark = [pytest.mark.browser, pytest.mark.req("R16"), pytest.mark.req("R15")]

EXPECTED = re.compile(
    r"GET /(static/.*|stream|login.*)?"
    r"|(GET|POST) /apps/(hostile|broken)(/sessions|/graph)?"
    r"|(GET|POST) /sessions/\d+(/stream|/runs|/title)?(\?.*)?"
)
GROUP = 5
"""How many texts each session gets."""
FOREIGN = """
(ours) => [...document.querySelectorAll("[hx-ignore] *")].filter((element) =>
    !new RegExp(ours).test(element.outerHTML)
    && ["SCRIPT", "IMG", "IFRAME", "FORM", "INPUT", "BUTTON", "STYLE", "LINK", "META", "BASE",
     "SVG", "TEMPLATE", "HX-PARTIAL"].includes(element.tagName.toUpperCase())
    || [...element.attributes].some(({ name }) => /^(on|style$|id$|hx-|data-hx)/.test(name)))
  .map((element) => element.outerHTML)
"""
OURS = (
    '^(<button class="copy-code" type="button" data-copy-code="" aria-label="Copy code"'
    ' title="Copy code"></button>'
    '|<button class="load-picture" type="button" data-load-picture="https?://[^"]*">'
    "Load picture from [a-z0-9.:-]+</button>"
    '|<input type="checkbox" disabled=""( checked="")? aria-label="(Done|To do)">)$'
)
"""What the Markdown renderer adds, verbatim."""
OUTRAGES = {
    "document.body.innerHTML += '<img src=http://evil.example/x>'": "CSP: img-src http://evil",
    # Chromium checks a handler only when it is about to call it for the first time.
    "document.body.setAttribute('onclick', '1'); document.body.click()": (
        "CSP: script-src-attr inline"
    ),
    "document.body.innerHTML += '<img src=/no-such>'": "status 404: .*/no-such",
    "alert('asked')": "dialog: asked",
    "throw Error('thrown')": "page error: .*thrown",
    "location = location.href.replace('127.0.0.1', 'localhost')": "request to another origin",
}
"""Forbidden actions of a page, and what a visit reports for each in any browser."""


ALL_IN_SIGHT = {**DESKTOP, "height": 8000}
"""A viewport so tall that no row or message leaves the page."""


@pytest.fixture(scope="module")
def hostile_server(tmp_path_factory):
    """A server with the hostile agent."""
    folder = tmp_path_factory.mktemp("hostile")
    hostile.write(folder / "agents")
    with running(folder / "agents", folder / "data", "--no-auth") as hostile_server:
        yield hostile_server


@pytest.fixture
def visit(browser, hostile_server):
    with Visit(browser, hostile_server, viewport=ALL_IN_SIGHT) as visit:
        yield visit
        surplus = [url for url in visit.requests if not EXPECTED.fullmatch(url)]
        assert not surplus


def is_inert(page: Page) -> None:
    assert page.evaluate("typeof window.pwned") == "undefined"
    assert page.evaluate(FOREIGN, OURS) == []
    # The graph's links are SVG links, whose `href` isn't a string.
    links = page.locator("a[href]").evaluate_all(
        "(all) => all.map((a) => [new URL(a.getAttribute('href'), document.baseURI).href, a.rel])"
    )
    outside = [(url, rel) for url, rel in links if urlsplit(url).hostname != "127.0.0.1"]
    assert all(url.startswith("http://") for url, _ in outside)
    assert all(rel == "noopener noreferrer nofollow" for _, rel in outside)


def squeezed(text: str) -> str:
    return " ".join(text.split())


def texts_at(page: Page, selector: str) -> list[str]:
    return [squeezed(text) for text in page.locator(selector).all_text_contents()]


def test_a_visit_notices_every_forbidden_action(browser, hostile_server):
    with Visit(browser, hostile_server) as begun:
        begun.allow("")
        page = begun.open("/")
        for act, complaint_pattern in OUTRAGES.items():
            page.evaluate(f"() => void setTimeout(() => {{ {act} }})")
            deadline = time.monotonic() + PATIENCE
            while not any(
                re.search(complaint_pattern, complaint) for complaint in begun.complaints
            ):
                assert time.monotonic() < deadline, f"{act} went unnoticed: {begun.complaints}"
                page.wait_for_timeout(10)
        expect(page).to_have_url(re.compile("//localhost"))


@pytest.mark.parametrize("first", range(0, len(PAYLOADS), GROUP))
def test_hostile_texts_are_shown_verbatim_by_stream_and_by_load(visit, first):
    group = range(first, first + GROUP)
    streamed = visit.session("hostile", title=PAYLOADS[first])
    for place, number in enumerate(group, start=1):
        streamed.say(f"Say number {number}", "failed")
        expect(streamed.page.locator("#rows .run-end")).to_have_count(place)
    loaded = visit.again(streamed)
    streamed.equals(loaded, "#rows", "#messages")
    for session in (streamed, loaded):
        is_inert(session.page)
        authors, ends = (
            texts_at(session.page, "#rows .who"),
            texts_at(session.page, "#rows .run-end"),
        )
        chat = squeezed(session.page.locator("#messages").text_content())
        for place, text in enumerate(squeezed(PAYLOADS[number]) for number in group):
            begun = place * EVENTS
            assert authors[begun + 1 : begun + EVENTS] == [text] * (EVENTS - 1)
            assert text in ends[place]
            assert text in chat
    title = squeezed(PAYLOADS[first])
    assert squeezed(loaded.page.locator("#title-text").input_value()) == title
    assert squeezed(loaded.page.title()) == f"{title} · devui"


def test_the_inspector_shows_hostile_events_verbatim(visit):
    texts = PAYLOADS[::15]  # test_matrix.py has all of them
    messages = [f"Say number {PAYLOADS.index(text)}" for text in texts]
    session = visit.session("hostile", messages, ends="failed")
    for place in range(1, len(texts) * EVENTS + 1):
        session.select(place)
        expect(session.panel).to_contain_text(f"#{place}")
        is_inert(session.page)
    for tab in ("state", "raw", "log"):
        session.tab(tab)
        is_inert(session.page)
    session.select(place - 2)
    session.tab("state")
    keys = texts_at(session.page, "#panel dt")
    assert squeezed(PAYLOADS[0]) in keys
    assert squeezed(texts[-1]) in keys
    is_inert(session.page)


def test_hostile_names_of_sessions_and_users_are_shown_verbatim(visit, hostile_server):
    with hostile_server.client() as client:
        for text in PAYLOADS[:10]:
            body = {"sessionId": text, "state": {text: text}}
            answer = client.post("/apps/hostile/users/mallory/sessions", json=body)
            assert answer.status_code == 200
    page = visit.open("/apps/hostile")
    expect(page.locator(".app-head .status")).to_have_text("ready")
    is_inert(page)
    names = texts_at(page, ".session .id")
    for text in PAYLOADS[:10]:
        assert text in names
    page.locator(".session .name").first.click()
    is_inert(SessionPage(page).page)


def test_a_hostile_description_readme_and_import_error_are_shown_verbatim(visit):
    page = visit.open("/apps/broken")
    expect(page.locator(".failure")).to_contain_text(PAYLOADS[0])
    is_inert(page)
    page = visit.open("/apps/hostile")
    expect(page.locator(".lead")).to_contain_text(PAYLOADS[2])
    is_inert(page)
    page = visit.open("/")
    expect(page.locator("#app-broken .failure")).to_contain_text(PAYLOADS[2])
    is_inert(page)


def test_a_hostile_user_message_is_shown_verbatim(visit, hostile_server):
    session = visit.session("hostile")
    session.say(PAYLOADS[0], "failed")
    message = session.messages.locator(".plain").first
    expect(message).to_contain_text(squeezed(PAYLOADS[0])[:20])
    is_inert(session.page)
    for first in range(0, len(PAYLOADS), 10):  # each message costs more in a longer session
        texts = PAYLOADS[first : first + 10]
        with hostile_server.client() as client:
            name = make_session(client, "hostile")["id"]
            for text in texts:
                run(client, "hostile", name, text)
            query = {"app": "hostile", "user": "u", "id": name}
            [row] = client.get("/api/sessions", params=query).json()["sessions"]
        loaded = SessionPage(visit.open(f"/sessions/{row['key']}"))
        assert texts_at(loaded.page, "#messages > .msg.user .plain") == list(map(squeezed, texts))
        is_inert(loaded.page)
        loaded.page.close()
