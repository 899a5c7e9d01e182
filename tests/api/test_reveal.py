"""A signed-in person may see secrets for a while, on the pages of the browser that signed in."""

import re

import pytest

from devui.web.security.redaction import SECONDS, Reveals
from tests.kit.debugged_run import DebuggedRun
from tests.kit.server import running, write_app

pytestmark = pytest.mark.req("R64")

SECRET = "tok-0123456789"
AGENT = """
import os
from google.genai import types
from devui.runtime.agents import BaseAgent
from devui.runtime.events import Event


class Echo(BaseAgent):
    async def _run_async_impl(self, ctx):
        said = ctx.user_content.parts[0].text
        print("It prints", os.environ["PLAIN_TOKEN"])
        part = types.Part(text=f"{said}: {os.environ['PLAIN_TOKEN']}")
        yield Event(author=self.name, content=types.Content(role="model", parts=[part]))


root_agent = Echo(name="echo")
"""


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    folder = tmp_path_factory.mktemp("reveal")
    write_app(folder / "agents", "echo", AGENT)
    (folder / "agents" / "echo" / ".env").write_text(f"PLAIN_TOKEN={SECRET}\n", encoding="utf-8")
    with running(folder / "agents", folder / "data") as server:
        yield server


@pytest.fixture(scope="module")
def session(server):
    with server.client() as client:
        debugged = DebuggedRun(client, "echo").start(pause=False)
        debugged.settled()
        yield debugged


class Browser:
    """The requests of a browser that signed in with the token."""

    def __init__(self, server):
        self.server, self.client = server, server.client()
        del self.client.headers["Authorization"]
        self.client.headers["Accept"] = "text/html"
        token = {"token": "a-token-for-the-tests"}
        assert self.post("/login", token).status_code == 303
        assert self.client.cookies

    def post(self, path, form, **headers):
        own = {"Origin": self.server.url, "Sec-Fetch-Site": "same-origin"}
        return self.client.post(path, data=form, headers={**own, **headers})

    def get(self, path):
        return self.client.get(path)

    def secrets(self, show, **headers):
        return self.post("/secrets", {"show": show}, **headers)


@pytest.fixture
def person(server):
    browser = Browser(server)
    yield browser
    browser.secrets("no")
    browser.client.close()


def state(page):
    return re.search(r'data-secrets="(\w*)"', page)[1]


def test_a_signed_in_person_shows_and_hides_a_pages_secrets(person, session):
    page = f"/sessions/{session.key}"
    before = person.get(page).text
    assert SECRET not in before
    assert state(before) == "hidden"
    answer = person.secrets("yes", Referer=f"{person.server.url}{page}?tab=event&event=2")
    assert (answer.status_code, answer.headers["location"]) == (303, f"{page}?tab=event&event=2")
    during = person.get(answer.headers["location"]).text
    assert SECRET in during
    assert "[redacted]" not in during
    assert state(during) == "shown"
    assert 0 < int(re.search(r'data-secrets-left="(\d+)"', during)[1]) <= SECONDS
    assert person.secrets("no").status_code == 303
    after = person.get(page).text
    assert SECRET not in after
    assert state(after) == "hidden"


def test_an_open_stream_follows_the_persons_choice(person, session):
    with person.client.stream("GET", f"/sessions/{session.key}/stream") as live:
        lines = live.iter_lines()
        for message, choice in (("one", "yes"), ("two", "no"), ("three", "yes")):
            person.secrets(choice)
            session.start(message, pause=False)
            line = next(line for line in lines if f"{message}: " in line)
            assert f"{message}: {SECRET if choice == 'yes' else '[redacted]'}" in line
            session.settled()


def test_only_the_pages_of_that_browser_show_secrets(person, session, server):
    page, run = f"/sessions/{session.key}", session.run
    person.secrets("yes")
    other = Browser(server)
    with server.client() as program:
        for reader in (other.client, program):
            assert SECRET not in reader.get(page, headers={"Accept": "text/html"}).text
    other.client.close()
    paths = [f"/api{page}/{what}" for what in ("events", "state", "export", "recording", "test")]
    paths += [f"/api{page}/export?format=html", f"/api/runs/{run}", f"{page}/test"]
    for path in paths:
        answer = person.get(path)
        assert answer.status_code == 200, path
        assert SECRET not in answer.text, path


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Origin": "http://evil.example"}, 403),
        ({"Sec-Fetch-Site": "cross-site"}, 403),
        ({"Sec-Fetch-Site": "same-site"}, 403),
    ],
)
def test_a_page_of_another_origin_cannot_reveal_secrets(person, session, headers, status):
    assert person.secrets("yes", **headers).status_code == status
    assert SECRET not in person.get(f"/sessions/{session.key}").text


def test_a_link_or_a_form_without_an_origin_cannot_reveal_secrets(person, session):
    assert person.get("/secrets?show=yes").status_code == 405
    assert person.client.post("/secrets", data={"show": "yes"}).status_code in {403, 415}
    assert SECRET not in person.get(f"/sessions/{session.key}").text


def test_a_client_without_a_signed_in_browser_cannot_reveal_secrets(server, session):
    with server.client() as program:
        answer = program.post("/secrets", data={"show": "yes"}, headers={"Origin": server.url})
        assert answer.status_code == 403
        assert "To show or hide secrets, sign in" in answer.text
        del program.headers["Authorization"]
        headers = {"Origin": server.url}
        assert program.post("/secrets", data={"show": "yes"}, headers=headers).status_code == 401


@pytest.mark.parametrize(
    "page",
    ["http://evil.example/x", "{url}//evil.example/x", "//evil.example", "{url}@evil.example", ""],
)
def test_the_answer_never_redirects_to_another_server(person, page):
    answer = person.secrets("yes", Referer=page.format(url=person.server.url))
    assert answer.headers["location"] == "/"


def test_a_page_without_secrets_offers_no_switch(person):
    assert state(person.get("/").text) == "none"


def test_the_log_says_when_secrets_are_shown_and_hidden(session, server, person):
    person.secrets("yes")
    assert server.printed(r"WARNING .*secrets are shown on the pages of a signed-in browser")
    person.secrets("no")
    assert server.printed(r"WARNING .*secrets are hidden again")


def test_secrets_are_hidden_again_after_a_while():
    now = 100.0
    reveals = Reveals(lambda: now)
    reveals.show(b"one")
    assert reveals.seconds_left(b"one") == SECONDS
    assert reveals.seconds_left(b"other") == reveals.seconds_left(None) == 0
    now += SECONDS
    assert reveals.seconds_left(b"one") == 0
