"""Every text of the corpus in every place that shows text: nothing executes, nothing is loaded.

Texts arrive by the stream in an open page, by htmx in the inspector, and by loading the page.
tests/browser/test_hostile.py checks what they look like.
"""

import re
from urllib.parse import quote

import pytest
from playwright.sync_api import expect

from devui.web.text.deceptive_characters import visible
from tests.browser import matrix
from tests.browser.corpus import CORPUS
from tests.browser.matrix import GROUP, KINDS
from tests.browser.test_hostile import ALL_IN_SIGHT, is_inert, squeezed, texts_at
from tests.kit.browser import DESKTOP, SessionPage, Visit
from tests.kit.debugged_run import DebuggedRun
from tests.kit.server import running

pytestmark = [pytest.mark.browser, pytest.mark.req("R16"), pytest.mark.req("R15")]

OF_EVENTS = ("event", "raw")
TABS = ("state", "log", "breaks", "run", "request")
GROUPS = -(-len(CORPUS) // GROUP)
ASKED = re.compile(
    r"GET /(static/.*|stream|login.*)?"
    r"|(GET|POST) /apps/(teller|clerk)(/sessions|/graph)?"
    r"|GET /compare(/\w+)?\?.*"
    r"|(GET|POST) /sessions/\d+(/(stream|runs|events(/\d+)?(/breaks|/file)?|state(/keys)?|trace"
    r"|activity|spans/.*|hits/\w+|writes/\w+|log|breakpoints|forks|filter|rows|messages))?(\?.*)?"
    r"|POST /runs/\w+/commands"
)


@pytest.fixture(scope="module")
def hostile_server(tmp_path_factory):
    folder = tmp_path_factory.mktemp("matrix")
    matrix.write(folder / "agents")
    with running(folder / "agents", folder / "data", "--no-auth") as hostile_server:
        yield hostile_server


@pytest.fixture
def client(hostile_server):
    with hostile_server.client() as client:
        yield client


@pytest.fixture
def visit(browser, hostile_server):
    with Visit(browser, hostile_server, viewport=ALL_IN_SIGHT) as visit:
        yield visit
        assert not [url for url in visit.requests if not ASKED.fullmatch(url)]


def look_through(visit: Visit, session: SessionPage, *numbers: int) -> None:
    """Check the inspector on these events and in every tab by htmx, then each tab by loading it."""
    for number in numbers:
        session.select(number)
        for tab in OF_EVENTS:
            session.tab(tab)
            is_inert(session.page)
    tabs = [tab for tab in TABS if session.page.locator(f"#tab-{tab}").count()]
    for tab in tabs:
        session.tab(tab)
        is_inert(session.page)
    session.page.locator("#view-trace").click()
    expect(session.page.locator("#trace")).to_be_visible()
    is_inert(session.page)
    views = (*(f"tab={tab}" for tab in tabs), "view=trace")
    load(visit, *(f"{session.path}?event={numbers[-1]}&{view}" for view in views))


def load(visit: Visit, *paths: str) -> None:
    """Check pages one after the other in a single tab: each stream takes one of six connections.

    Such a tab doesn't load what is far out of view; tests with a tall viewport check that.
    """
    page = visit.context.new_page()
    page.set_viewport_size(DESKTOP)
    for path in paths:
        page.goto(visit.server.url + path)
        is_inert(page)
    page.close()


def state_keys(visit: Visit, session: SessionPage) -> set[str]:
    """Return all state keys: from the panel, and from the pages of scopes that have more."""
    keys = set(texts_at(session.page, "#panel dt"))
    for link in session.page.locator("#panel .scope .more a").all():
        page = visit.open(link.get_attribute("href"))
        while page.locator(".more a").count():
            before = page.locator(".panel dt").count()
            page.locator(".more a").click()
            expect(page.locator(".panel dt").nth(before)).to_be_attached()
        is_inert(page)
        keys |= set(texts_at(page, ".panel dt"))
        page.close()
    return keys


def test_texts_emitted_by_an_agent_are_inert(visit):
    session = visit.session("teller", title=CORPUS[1])
    session.send("tell")
    session.ends("failed")
    is_inert(session.page)
    last = GROUPS * KINDS + 1
    look_through(visit, session, *range(last - KINDS + 1, last + 1))
    loaded = visit.again(session)
    is_inert(loaded.page)
    loaded.tab("state")
    assert {squeezed(visible(text)) for text in CORPUS} <= state_keys(visit, loaded)
    load(visit, *(f"{session.path}?at={n}&event={n}" for n in range(1, last, 40)))
    loaded.page.locator("#filter-field").focus()
    expect(loaded.page.locator("#filter-words > li").nth(GROUPS)).to_be_attached()
    is_inert(loaded.page)


def test_texts_in_an_agents_questions_are_inert(visit):
    session = visit.session("teller")
    session.send("ask")
    session.ends("waiting")
    expect(session.page.locator("#messages form").nth(GROUPS - 1)).to_be_attached()
    is_inert(session.page)
    look_through(visit, session, 3, 4)


def test_texts_sent_to_a_model_and_a_tool_are_inert(visit, client):
    debugged = DebuggedRun(client, "clerk").start("\n\n".join(CORPUS))
    session = SessionPage(visit.open(f"/sessions/{debugged.key}"))
    while debugged.settled()["status"] == "held":
        expect(session.page.locator("#run .run")).to_have_class("run held")
        is_inert(session.page)
        debugged.tell("step_into", wait=False)
    session.ends()
    is_inert(session.page)
    look_through(visit, session, 2, 3, 4)


def test_texts_in_breakpoints_forks_and_filters_are_inert(visit, client):
    debugged = DebuggedRun(client, "clerk").start("go", pause=False)
    debugged.settled()
    path = f"/sessions/{debugged.key}"
    session = SessionPage(visit.open(path))
    for text in CORPUS:
        body = {"on": "tool", "name": text[:100], "log": text.replace("{", "")[:200]}
        answer = client.post("/api/apps/clerk/breakpoints", json=body)
        assert answer.status_code == 201, answer.text
    fork = client.post(f"/api{path}/forks", json={"number": 2, "note": "\n".join(CORPUS)[:2000]})
    assert fork.status_code == 201, fork.text
    look_through(visit, session, 2)
    breaks = [f"/sessions/{key}?tab=breaks" for key in (debugged.key, debugged.key + 1)]
    sides = f"/compare?left={debugged.key}&right={debugged.key + 1}"
    comparisons = [f"{sides}&open=2-2", f"{sides}&unfold=yes&open=4-", sides.partition("&")[0]]
    queries = [f"kind:{' '.join(CORPUS[number::8])}"[:1000] for number in range(8)]
    filters = [f"{path}?filter={quote(words)}" for words in queries]
    load(visit, *breaks, *comparisons, *filters, "/apps/clerk", "/")
