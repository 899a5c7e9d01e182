"""An app's memories are listed and searched: both services of devui.runtime, and google-adk's."""

import re

import pytest

from tests.kit.oracle import adk_python
from tests.kit.server import make_session, run, running, write_app

NATIVE = """
from devui.runtime.agents import LlmAgent
from devui.runtime.models import Rule, Say, ScriptedLlm

root_agent = LlmAgent(name="teller", model=ScriptedLlm(rules=[Rule(then=Say("Noted."))]))
"""
ADK = """
from google.adk.agents import LlmAgent
from google.adk.models import BaseLlm, LlmResponse
from google.genai import types


class Noting(BaseLlm):
    async def generate_content_async(self, llm_request, stream=False):
        yield LlmResponse(content=types.Content(role="model", parts=[types.Part(text="Noted.")]))


root_agent = LlmAgent(name="teller", model=Noting(model="noting"))
"""


def remembering(client, app):
    """Let the app remember a session of two messages."""
    session = make_session(client, app)["id"]
    for text in ("My cat is called Mia", "I live in <b>London</b>"):
        run(client, app, session, text)
    path = f"/apps/{app}/users/u/memory"
    assert client.patch(path, json={"sessionId": session}).status_code == 200


def recalled(client, app, **query):
    answer = client.get(f"/api/apps/{app}/memory", params={"user": "u", **query})
    assert answer.status_code == 200, answer.text
    body = answer.json()
    texts = ["".join(p["text"] for p in m["content"]["parts"]) for m in body["memories"]]
    return body["service"], body["listed"], texts


@pytest.mark.parametrize("service", ["memory", "sqlite"])
def test_memories_of_the_native_runtime_are_listed_and_searched(tmp_path, service):
    write_app(tmp_path / "agents", "notes", NATIVE)
    uri = "memory://" if service == "memory" else f"sqlite:///{tmp_path}/memory.db"
    options = ["--memory_service_uri", uri]
    if service == "sqlite":
        registering = (
            "from devui.runtime.cli.service_registry import get_service_registry\n"
            "from devui.runtime.memory.sqlite_memory_service import SqliteMemoryService\n"
            "get_service_registry().register_memory_service(\n"
            '    "sqlite", lambda uri, **_: SqliteMemoryService(uri))\n'
        )
        (tmp_path / "agents" / "services.py").write_text(registering)
    with (
        running(tmp_path / "agents", tmp_path / "data", *options) as server,
        server.client() as client,
    ):
        name = "InMemoryMemoryService" if service == "memory" else "SqliteMemoryService"
        assert recalled(client, "notes") == (name, True, [])
        remembering(client, "notes")
        whole = recalled(client, "notes")
        assert whole[2] == [
            "Noted.",
            "I live in <b>London</b>",
            "Noted.",
            "My cat is called Mia",
        ]
        assert recalled(client, "notes", q="cat")[2] == ["My cat is called Mia"]
        assert recalled(client, "notes", user="other")[2] == []
        page = client.get("/apps/notes/memory?user=u&q=london").text
        assert "I live in &lt;b&gt;London&lt;/b&gt;" in page
        assert "No memories of this user yet" in client.get("/apps/notes/memory?user=other").text
        app = client.get("/apps/notes", headers={"Accept": "text/html"}).text
        assert re.search(r'hx-get="/apps/notes/memory"', app)


@pytest.mark.skipif(adk_python() is None, reason="needs google-adk")
def test_google_adks_memories_can_be_searched_but_not_listed(tmp_path):
    write_app(tmp_path / "agents", "notes", ADK)
    options = ["--python", str(adk_python())]
    with (
        running(tmp_path / "agents", tmp_path / "data", *options) as server,
        server.client() as client,
    ):
        remembering(client, "notes")
        assert recalled(client, "notes") == ("InMemoryMemoryService", False, [])
        assert recalled(client, "notes", q="cat")[2] == ["My cat is called Mia"]
        assert "can be searched but not listed" in client.get("/apps/notes/memory?user=u").text
