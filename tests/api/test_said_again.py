"""A message that the menu offers in a field is sent again unchanged, unless a person edits it."""

import html
import json
import re

import pytest

from tests.kit.debugged_run import DebuggedRun
from tests.kit.patience import wait_until
from tests.kit.server import get_session, running, write_app

SECRET = "tok-0123456789"
AGENT = """
import json
import os
from google.genai import types
from devui.runtime.agents import BaseAgent
from devui.runtime.events import Event


class Reader(BaseAgent):
    async def _run_async_impl(self, ctx):
        texts = [part.text for part in ctx.user_content.parts]
        said = "".join(texts)
        facts = {
            "texts": len(texts),
            "lines": said.count("\\n") + 1,
            "returns": said.count("\\r"),
            "secret": os.environ["PLAIN_TOKEN"] in said,
            "mask": "redacted" in said,
        }
        part = types.Part(text=json.dumps(facts))
        yield Event(author=self.name, content=types.Content(role="model", parts=[part]))


root_agent = Reader(name="reader")
"""
TWO_LINES = {"texts": 1, "lines": 2, "returns": 0, "secret": False, "mask": False}


@pytest.fixture(scope="module")
def client(tmp_path_factory):
    folder = tmp_path_factory.mktemp("said_again")
    write_app(folder / "agents", "reader", AGENT)
    (folder / "agents" / "reader" / ".env").write_text(f"PLAIN_TOKEN={SECRET}\n", encoding="utf-8")
    with running(folder / "agents", folder / "data") as server, server.client() as client:
        client.headers["Origin"] = server.url
        yield client


def reader(client, message) -> DebuggedRun:
    """A session whose agent has read the message."""
    debugged = DebuggedRun(client, "reader").start(message, pause=False)
    assert debugged.settled()["status"] == "done"
    return debugged


def facts(client, session):
    """What the agent found in each message, the newest last."""
    events = get_session(client, "reader", session)["events"]
    answers = [event["content"] for event in events if event["author"] == "reader"]
    return [json.loads(content["parts"][0]["text"]) for content in answers]


def shown(debugged) -> str:
    """The message in the menu's field, with line ends as a browser normalizes them."""
    menu = debugged.client.get(f"/sessions/{debugged.key}/events/1/again").text
    return html.unescape(re.search(r"<textarea[^>]*>(.*?)</textarea>", menu, re.DOTALL)[1]).replace(
        "\r\n", "\n"
    )


def sent_in_fork(debugged, text):
    """What the agent reads if the browser itself sends the form, as for a fork."""
    form = {"number": 1, "change": "message", "run": "yes", "text": text.replace("\n", "\r\n")}
    answer = debugged.client.post(f"/sessions/{debugged.key}/forks", data=form)
    assert answer.status_code == 303, answer.text
    return facts_of_fork(debugged.client, answer.headers["location"])


def facts_of_fork(client, page):
    """What the agent found in the last message of the fork at this address."""
    query = {"key": page.rpartition("/")[2]}
    [row] = client.get("/api/sessions", params=query).json()["sessions"]
    wait_until(lambda: facts(client, row["id"]))
    return facts(client, row["id"])[-1]


def sent_here(debugged, text):
    """What the agent reads if the page's script sends the form, as for a rewind."""
    form, htmx = {"number": 1, "text": text}, {"HX-Request": "true"}
    answer = debugged.client.post(f"/sessions/{debugged.key}/rewind", data=form, headers=htmx)
    assert answer.status_code == 204, answer.text
    wait_until(lambda: len(facts(debugged.client, debugged.session)) == 2)
    return facts(debugged.client, debugged.session)[-1]


def sent_by_composer(debugged, text):
    """What the agent reads if the message is sent in a fork made before it."""
    fork = debugged.client.post(
        f"/sessions/{debugged.key}/forks", data={"number": 1, "change": "message"}
    )
    page = fork.headers["location"]
    assert "[redacted]" not in text or "[redacted]" in debugged.client.get(page).text
    answer = debugged.client.post(f"{page}/runs", data={"text": text.replace("\n", "\r\n")})
    assert answer.status_code == 303, answer.text
    return facts_of_fork(debugged.client, page)


@pytest.fixture(params=[sent_in_fork, sent_here])
def send_again(request):
    return request.param


def test_an_edited_message_has_plain_line_ends(client, send_again):
    assert send_again(reader(client, "one line"), "two\nlines") == TWO_LINES


@pytest.mark.req("R64")
@pytest.mark.parametrize(
    "message",
    [
        f"use {SECRET}\nto pay",
        f"use {SECRET}\r\nto pay",
        {"role": "user", "parts": [{"text": f"use {SECRET}"}, {"text": "\nto pay"}]},
    ],
)
def test_an_unchanged_message_is_sent_verbatim_with_its_secret(client, send_again, message):
    debugged = reader(client, message)
    [first] = facts(client, debugged.session)
    assert (first["secret"], first["mask"]) == (True, False)
    text = shown(debugged)
    assert "[redacted]" in text
    assert send_again(debugged, text) == first


@pytest.mark.req("R64")
@pytest.mark.parametrize("send", [sent_in_fork, sent_here, sent_by_composer])
def test_a_message_edited_around_its_secret_keeps_the_secret(client, send):
    debugged = reader(client, f"use {SECRET} to pay")
    edited = send(debugged, "Please use [redacted] to pay now")
    assert (edited["secret"], edited["mask"]) == (True, False)


@pytest.mark.req("R64")
def test_an_added_redaction_mark_is_sent_literally(client, send_again):
    debugged = reader(client, f"use {SECRET} to pay")
    edited = send_again(debugged, "use [redacted] or [redacted]")
    assert (edited["secret"], edited["mask"]) == (False, True)
