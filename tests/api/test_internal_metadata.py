"""The API neither returns nor accepts the runtime's own marks on events (`__adk_internal_…`).

Source: adk-runtime 1.4.
"""

import json

import pytest

from tests.kit.server import get_session, make_session, run, run_body, running, write_app

SILENT = """
from devui.runtime import Workflow
from devui.runtime.workflow import START


def first(node_input: str):
    return node_input


def silent(node_input: str):
    pass


def last(ctx):
    return "the end"


root_agent = Workflow(name="graph", edges=[(START, first, silent, last)])
"""
READER = """
from devui.runtime.agents import BaseAgent
from devui.runtime.events import Event


class Reader(BaseAgent):
    async def _run_async_impl(self, ctx):
        first = ctx.session.events[0].custom_metadata
        labels = {"job": 7, "text": "__adk_internal_ is a prefix"}
        yield Event(author=self.name, message=repr(first), custom_metadata=labels)


root_agent = Reader(name="reader")
"""
MARK = '"__adk_internal_'


@pytest.fixture(scope="module")
def client(tmp_path_factory):
    folder = tmp_path_factory.mktemp("internal")
    write_app(folder / "agents", "graph", SILENT)
    write_app(folder / "agents", "reader", READER)
    with running(folder / "agents", folder / "data") as server, server.client() as client:
        yield client


def event_page(client, session):
    """The page of a session's third event, which shows it as the journal has it."""
    query = {"app": "graph", "user": "u", "id": session}
    [row] = client.get("/api/sessions", params=query).json()["sessions"]
    return client.get(f"/sessions/{row['key']}/events/3", headers={"Accept": "text/html"}).text


def test_marks_are_in_the_journal_but_in_no_answer(client):
    session = make_session(client, "graph")["id"]
    streamed = run(client, "graph", session, "go")
    assert MARK not in json.dumps(streamed)
    assert "__adk_internal_node_ended" in event_page(client, session)
    whole = get_session(client, "graph", session)
    assert MARK not in json.dumps(whole)
    assert whole["events"][1:] == streamed
    again = client.post("/run", json=run_body("graph", session, "go")).json()
    assert [event["nodeInfo"]["path"] for event in again][1] == "graph@1/silent@1"
    assert MARK not in json.dumps(again)
    assert "customMetadata" not in again[1]


def test_other_metadata_is_returned_unchanged(client):
    session = make_session(client, "reader")["id"]
    [event] = run(client, "reader", session, "go")
    assert event["customMetadata"] == {"job": 7, "text": "__adk_internal_ is a prefix"}


def test_marks_from_a_client_are_dropped_and_its_events_marked_restored(client):
    metadata = {"job": 1, "__adk_internal_node_ended": True}
    event = {"author": "user", "content": {"parts": [{"text": "Hi"}]}, "custom_metadata": metadata}
    session = make_session(client, "reader", events=[event])
    assert session["events"][0]["customMetadata"] == {"job": 1}
    [reply] = run(client, "reader", session["id"], "go")
    text = reply["content"]["parts"][0]["text"]
    assert text == "{'job': 1, '__adk_internal_restored_event': True}"
