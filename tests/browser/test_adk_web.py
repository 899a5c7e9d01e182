"""google-adk's stock front end on our server, used as a person would (adk-web 1.10, 3)."""

import json
import re
import shutil
import time
from contextlib import contextmanager

import pytest
from playwright.sync_api import expect

from tests.differential.routes import TOOLBOX
from tests.kit.browser import Visit, cookies
from tests.kit.oracle import adk_python, needs_adk
from tests.kit.patience import PATIENCE
from tests.kit.server import get_session, running, write_app

pytestmark = needs_adk

SLOW = (
    TOOLBOX.replace('text == "fail"', 'text == "wait"').replace(
        'raise ValueError("no such thing")',
        """
            import asyncio, pathlib
            while not pathlib.Path(__file__).with_name("go").exists():
                await asyncio.sleep(0.05)
            part = types.Part(text="you waited")""",
    )
)  # fmt: skip

FONTS = "https://fonts.gstatic.com/**"


@pytest.fixture(scope="module", params=["google-adk", "devui"])
def server(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp("stock")
    write_app(folder / "agents", "toolbox", SLOW)
    options = ["--python", str(adk_python()), "--engine", request.param, "--adk-web"]
    with running(folder / "agents", folder / "data", *options) as server:
        yield server


@contextmanager
def visiting(browser, server, query=""):
    with Visit(browser, server, storage_state=cookies(browser, server)) as visit:
        # Only fonts are loaded from another origin; there may be no network here.
        visit.context.route(FONTS, lambda route: route.fulfill(status=200, body=""))
        visit.allow("request to another origin: https://fonts.gstatic.com/")
        visit.allow("Failed to decode downloaded font|OTS parsing error")
        visit.allow("CSP: script-src eval")  # a library probes for eval and works without it
        yield Stock(visit, query)


@pytest.fixture
def stock(browser, server):
    with visiting(browser, server) as stock:
        yield stock


class Stock:
    """The page of google-adk's front end."""

    def __init__(self, visit, query):
        self.visit = visit
        self.page = visit.open(f"/dev-ui/?app=toolbox&userId=u{query}")
        self.rows = self.page.locator("app-event-row")
        self.panel = self.page.locator("app-side-panel")

    def send(self, text):
        box = self.page.locator("textarea").first
        box.fill(text)
        box.press("Enter")

    def say(self, text, answer):
        self.send(text)
        expect(self.rows.last).to_contain_text(answer)

    def drawer(self, title):
        """Open the list of sessions."""
        self.page.locator(".toolbar-session-group button", has_text=title).first.click()
        expect(self.page.locator(".session-selector-current-id")).to_be_visible()

    def shows_the_call(self):
        """Check the panes of the last event and the waterfall."""
        self.rows.last.click()
        self.panel.get_by_text("input", exact=True).click()
        expect(self.panel).to_contain_text("Repeat.")
        self.panel.get_by_text("output", exact=True).click()
        expect(self.panel).to_contain_text("note answered")
        self.panel.get_by_text("account_tree", exact=True).click()
        expect(self.panel.locator("svg:has(g.graph)")).to_contain_text("helper")
        self.page.get_by_text("Traces", exact=True).click()
        trace = self.page.locator("app-trace-tree")
        expect(trace).to_contain_text("generate_content echo")
        expect(trace).to_contain_text("note")

    @property
    def session(self):
        """Its id, which the page sends when it requests the trace after an answer."""
        until = time.monotonic() + PATIENCE
        while True:
            paths = [each for each in self.visit.requests if "debug/trace/session/" in each]
            if paths or time.monotonic() > until:
                return paths[-1].rpartition("/")[2]
            self.page.wait_for_timeout(50)

    def stored(self):
        with self.visit.server.client() as client:
            return get_session(client, "toolbox", self.session)


def test_a_conversation_uses_a_tool_a_file_and_a_confirmation(stock):
    stock.say("hello", "you said hello")
    stock.say("call note", "note answered")
    expect(stock.page.locator("app-event-row", has_text="State: word")).to_have_count(1)
    stock.say("call draw", "draw answered")
    stock.panel.get_by_role("tab", name="State").click()
    expect(stock.panel).to_contain_text("word")
    stock.panel.get_by_role("tab", name="Artifacts").click()
    expect(stock.panel).to_contain_text("word.txt")
    expect(stock.panel).to_contain_text("tea")
    stock.send("call pay")
    stock.page.get_by_role("checkbox", name="Confirmed").check()
    stock.page.get_by_role("button", name="Submit").click()
    expect(stock.rows.last).to_contain_text("pay answered")
    assert stock.stored()["state"]["word"] == "tea"


def test_a_streamed_answer_becomes_one_event(stock):
    stock.page.get_by_role("button", name="More options").click()
    stock.page.get_by_role("menuitem", name="Streaming").click()
    stock.page.keyboard.press("Escape")
    stock.say("one two three", "you said one two three")
    expect(stock.rows).to_have_count(2)
    assert len(stock.stored()["events"]) == 2


def test_request_response_graph_and_trace_survive_a_restart(browser, server):
    with visiting(browser, server) as stock:
        stock.say("call note", "note answered")
        stock.shows_the_call()
        session = stock.session
    server.stop()
    server.start()
    with visiting(browser, server, f"&session={session}") as stock:
        expect(stock.rows).to_have_count(4)
        stock.shows_the_call()


@pytest.mark.parametrize("server", ["google-adk"], indirect=True)  # the engine makes no difference
def test_a_session_is_renamed_exported_imported_and_deleted(stock, tmp_path):
    stock.say("call note", "note answered")
    stock.drawer("call note")
    stock.page.get_by_role("button", name="Edit").click()
    name = stock.page.locator(".session-selector-current-id-value")
    name.fill("tea time")
    name.press("Enter")
    expect(stock.page.locator(".toolbar-session-group")).to_contain_text("tea time")
    with stock.page.expect_download() as download:
        stock.page.get_by_role("button", name="Export").click()
    file = tmp_path / "session.json"
    shutil.copy(download.value.path(), file)
    exported = json.loads(file.read_text(encoding="utf-8"))
    with stock.page.expect_file_chooser() as chooser:
        stock.page.get_by_role("button", name="Import").click()
    with stock.page.expect_response(lambda answer: answer.request.method == "POST") as imported:
        chooser.value.set_files(file)
    assert imported.value.ok
    expect(stock.rows).to_have_count(len(exported["events"]))
    with stock.visit.server.client() as client:
        sessions = client.get("/apps/toolbox/users/u/sessions").json()
    twins = [each["id"] for each in sessions if each["state"].get("word") == "tea"]
    assert stock.session in twins
    expect(stock.page.locator(".mat-drawer-backdrop.mat-drawer-shown")).to_have_count(0)
    stock.drawer("")
    stock.page.get_by_role("button", name="Delete").click()
    with stock.page.expect_response(lambda answer: answer.request.method == "DELETE") as deleted:
        stock.page.locator("mat-dialog-container").get_by_role("button", name="Delete").click()
    remaining = {each["id"] for each in sessions} - {deleted.value.url.rpartition("/")[2]}
    assert len(remaining) == len(sessions) - 1
    with stock.visit.server.client() as client:
        now = client.get("/apps/toolbox/users/u/sessions").json()
    assert {each["id"] for each in now} == remaining


def test_a_run_survives_a_reload_while_it_answers(stock, server):
    go = server.agents / "toolbox" / "go"
    go.unlink(missing_ok=True)
    stock.say("hello", "you said hello")
    stock.send("wait")
    expect(stock.rows.last).to_contain_text("wait")
    stock.page.reload()
    expect(stock.page.locator("app-event-row", has_text="you said hello")).to_be_visible()
    go.touch()
    row = stock.page.locator("app-event-row", has_text="you waited")
    for _ in range(100):
        if row.count():
            break
        stock.page.reload()
        expect(stock.page.locator("app-event-row", has_text="you said hello")).to_be_visible()
    expect(row).to_be_visible()
    assert not any("errorCode" in event for event in stock.stored()["events"])


def test_the_front_end_requires_sign_in(browser, server):
    context = browser.new_context()
    page = context.new_page()
    answer = page.goto(f"{server.url}/dev-ui/")
    assert answer.status == 401
    expect(page.get_by_text(re.compile("access token", re.IGNORECASE)).first).to_be_visible()
    context.close()
