"""A run whose model answered with an error: done for ADK, failed for a person."""

import re

import pytest

from tests.api.test_resume import APP as FLAKY
from tests.kit.debugged_run import DebuggedRun, settled
from tests.kit.server import running, write_app

APP = """
from pathlib import Path

from devui.runtime.agents import Agent
from devui.runtime.apps import App, ResumabilityConfig
from devui.runtime.models import Fail, Rule, Say, ScriptedLlm

MARK = Path(__file__).with_name("tried")


class Overloaded(ScriptedLlm):
    async def generate_content_async(self, llm_request, stream=False):
        self.rules = [Rule(then=Say("Here I am.") if MARK.exists() else Fail("BUSY", "Try later."))]
        MARK.touch()
        async for answer in super().generate_content_async(llm_request, stream):
            yield answer


root_agent = Agent(name="NAME", model=Overloaded(rules=[]))
"""
RESUMABLE = """
app = App(
    name="NAME",
    root_agent=root_agent,
    resumability_config=ResumabilityConfig(is_resumable=True),
)
"""


@pytest.fixture
def client(tmp_path):
    agents = tmp_path / "agents"
    write_app(agents, "busy", APP.replace("NAME", "busy"))
    write_app(agents, "flaky", FLAKY)
    write_app(agents, "resumable", (APP + RESUMABLE).replace("NAME", "resumable"))
    with running(agents, tmp_path / "data") as server, server.client() as opened:
        yield opened


def page(client, address):
    return client.get(address, headers={"Accept": "text/html"}).text


def statuses(markup):
    return re.findall(r'class="run (\w+)"', markup)


def statuses_in(graph):
    """The statuses of an agent and its tool in the graph, by their names."""
    nodes = re.findall(r'class="node [^"]* s-(\w+)".*?<title>\w+ (\w+),', graph, re.DOTALL)
    return {name: status for status, name in nodes if name in {"first", "connect"}}


def cutoff(session):
    return session.client.get(f"/api/sessions/{session.key}/cutoff").json()


def resume(session):
    body = {"invocationId": session.position["invocationId"]}
    return session.client.post(f"/api/sessions/{session.key}/runs", json=body)


def test_a_run_ending_with_a_model_error_has_failed_and_can_be_retried(client):
    session = DebuggedRun(client, "busy").start("go", pause=False)
    assert session.settled()["status"] == "done"
    assert cutoff(session)["status"] == "failed"
    shown = page(client, f"/sessions/{session.key}")
    assert statuses(shown) == ["failed"]
    assert "Retry from here</button>" in shown

    answer = resume(session)
    assert answer.status_code == 201, answer.text
    assert settled(client, answer.json()["run"])["status"] == "done"
    assert session.texts()[-1] == "Here I am."
    shown = page(client, f"/sessions/{session.key}")
    assert (statuses(shown), cutoff(session)["status"]) == (["done"], "idle")
    assert "Retry from here" not in shown


def test_the_graph_shows_failures_until_a_retry_succeeds(client):
    session = DebuggedRun(client, "flaky").start("go", pause=False)
    assert session.settled()["status"] == "failed"
    graph = f"/sessions/{session.key}/graph"
    assert statuses_in(page(client, graph)) == {"first": "failed", "connect": "failed"}
    assert settled(client, resume(session).json()["run"])["status"] == "done"
    assert statuses_in(page(client, graph)) == {"first": "done", "connect": "done"}


def test_the_page_says_why_a_completed_agent_cannot_be_retried(client):
    session = DebuggedRun(client, "resumable").start("go", pause=False)
    assert session.settled()["status"] == "done"
    shown = page(client, f"/sessions/{session.key}")
    assert statuses(shown) == ["failed"]
    assert "Retry from here" not in shown
    assert "the agent recorded that it is done" in shown
    assert resume(session).status_code == 409


def test_a_closed_session_no_longer_counts_as_failed(client):
    session = DebuggedRun(client, "busy").start("go", pause=False)
    session.settled()
    client.post(f"/api/sessions/{session.key}/close", json={}).raise_for_status()
    assert cutoff(session)["status"] == "idle"
    assert statuses(page(client, f"/sessions/{session.key}")) == ["idle"]


def test_a_run_with_a_model_error_is_listed_as_failed(client):
    session = DebuggedRun(client, "busy").start("go", pause=False)
    session.settled()
    link = f'href="/sessions/{session.key}"'
    assert link in page(client, "/apps/busy?status=failed")
    assert link not in page(client, "/apps/busy?status=done")
