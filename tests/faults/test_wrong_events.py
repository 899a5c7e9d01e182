"""Events with members of wrong types never get into the journal, and every server starts (R53)."""

import json
import sqlite3
import time
from contextlib import closing

import pytest

from tests.kit.debugged_run import DebuggedRun
from tests.kit.server import Server, running, write_app

pytestmark = pytest.mark.req("R53")

HTML = {"Accept": "text/html"}
TELLS = """
import asyncio
import json

from google.genai import types

from devui.runtime.agents import BaseAgent
from devui.runtime.events import Event


class Forged(Event):
    def model_dump_json(self, **_):
        return self.custom_metadata["text"]


class Tells(BaseAgent):
    async def _run_async_impl(self, ctx):
        told = json.loads(ctx.user_content.parts[0].text)
        yield Event(author=self.name, content=types.ModelContent("begun"))
        yield Forged(author=self.name, custom_metadata=told, partial=told["partial"])
        if told["partial"]:
            yield Event(author=self.name, content=types.ModelContent("more"), partial=True)
            await asyncio.sleep(3600)


root_agent = Tells(name="tells")
"""
EVENT = {"id": "e", "invocationId": "i", "author": "tells", "timestamp": 1.0}
WRONG = [
    *({"timestamp": when} for when in ("yesterday", [1], None, -5, 2.6e11, {})),
    *({"author": who} for who in (7, None, {}, [])),
    *({"branch": 7}, {"id": {}}, {"id": ""}, {"invocationId": []}, {"errorMessage": 5}),
    *({"content": what} for what in (5, "x", [], {"parts": 5}, {"parts": [5]})),
    *({"content": {"parts": [part]}} for part in ({"text": 5}, {"functionCall": 3})),
    {"content": {"parts": [{"functionCall": {"name": {"a": 1}}}]}},
    {"content": {"parts": [{"functionResponse": {"name": "f", "response": 5}}]}},
    *({"actions": what} for what in (5, {"stateDelta": [1]}, {"artifactDelta": {"a": "x"}})),
    {"actions": {"rewindBeforeInvocationId": [1]}},
    *({"usageMetadata": {"totalTokenCount": "many"}}, {"longRunningToolIds": [{}]}),
]
TEXTS = [
    *(json.dumps(EVENT | wrong) for wrong in WRONG),
    *("", "not JSON", "[1]", "null", '"x"', "{}", json.dumps(EVENT)[:-1] + ', "output": NaN}'),
]


@pytest.fixture(scope="module")
def client(tmp_path_factory):
    folder = tmp_path_factory.mktemp("wrong")
    write_app(folder / "agents", "tells", TELLS)
    with running(folder / "agents", folder / "data") as server, server.client() as client:
        yield client


def ended(client, text: str, *, partial: bool) -> DebuggedRun:
    """A finished run that yielded this text as its event."""
    message = json.dumps({"text": text, "partial": partial})
    debugged = DebuggedRun(client, "tells").start(message, pause=False, streaming=True)
    debugged.settled()
    return debugged


@pytest.mark.parametrize("partial", [False, True], ids=["event", "fragment"])
@pytest.mark.parametrize("text", TEXTS, ids=lambda text: text[:60])
def test_an_invalid_event_fails_its_run_with_the_reason_and_a_sample(client, text, partial):
    debugged = ended(client, text, partial=partial)
    error = debugged.position["error"]
    message = error["message"]
    assert (debugged.position["status"], error["type"]) == ("failed", "InvalidEvent")
    assert "the agent's event isn't valid ADK JSON: " in message
    assert message.endswith(f"It starts with: {text}")
    assert debugged.texts()[1:] == ["begun"]
    page = f"/sessions/{debugged.key}"
    for path in (page, f"{page}?event=2&tab=raw", f"/api{page}/export", f"/api{page}/cutoff"):
        assert client.get(path, headers=HTML).status_code == 200, path


def test_impossible_token_counts_break_no_page(client):
    usage = {"totalTokenCount": 2**70, "promptTokenCount": 2**80, "candidatesTokenCount": -5}
    debugged = ended(client, json.dumps(EVENT | {"usageMetadata": usage}), partial=False)
    assert debugged.position["status"] == "done"
    page = f"/sessions/{debugged.key}"
    fork = client.post(f"/api{page}/forks", json={"number": 3})
    assert fork.status_code == 201, fork.text
    for path in (page, f"{page}?event=3", f"/sessions/{fork.json()['key']}", f"/api{page}/usage"):
        assert client.get(path, headers=HTML).status_code == 200, path


@pytest.mark.req("R55")
def test_a_server_starts_even_if_a_runs_last_fragment_is_invalid(tmp_path):
    """Such a fragment may date from before fragments were checked."""
    write_app(tmp_path / "agents", "tells", TELLS)
    server = Server(tmp_path / "agents", tmp_path / "data").start()
    with server.client() as client:
        message = json.dumps({"text": json.dumps(EVENT), "partial": True})
        debugged = DebuggedRun(client, "tells").start(message, pause=False, streaming=True)
        path = f"/api/sessions/{debugged.key}/export"
        while '"type":"chunk"' not in client.get(path).text:
            time.sleep(0.05)
    server.kill()
    plant(server)
    server.start()
    with server.client() as client:
        debugged.client = client
        assert debugged.settled()["status"] == "interrupted"
        page = f"/sessions/{debugged.key}"
        assert client.get(page, headers=HTML).status_code == 200
    server.stop()


def plant(server: Server) -> None:
    """Give the journal's fragments an invalid time."""
    with closing(sqlite3.connect(server.data / "journal.db", isolation_level=None)) as journal:
        changed = journal.execute(
            "UPDATE chunks SET data = json_set(data, '$.timestamp', 'yesterday')"
        )
        assert changed.rowcount > 0
