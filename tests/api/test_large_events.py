"""A tool that returns megabytes: pages show the beginning and link to the whole (R48)."""

import html
import json
import re

import pytest

from tests.kit.debugged_run import DebuggedRun
from tests.kit.server import running, write_app

pytestmark = pytest.mark.req("R48")

SIZE = 5_000_000
AGENT = f"""
from devui.runtime.agents import Agent
from devui.runtime.models.scripted_llm import Call, Rule, Say, ScriptedLlm


def read() -> str:
    return "x" * {SIZE}


rules = [Rule(after="read", then=Say("Done.")), Rule(then=Call("read"))]
root_agent = Agent(name="reader", tools=[read], model=ScriptedLlm(rules=rules))
"""
MAX_CHARACTERS = 1_500_000
"""The maximum size in bytes of a page that shows the beginnings of texts."""


def test_a_huge_result_is_shown_in_part_and_available_in_full(tmp_path):
    write_app(tmp_path / "agents", "reader", AGENT)
    with running(tmp_path / "agents", tmp_path / "data") as server, server.client() as client:
        debugged = DebuggedRun(client, "reader").start(pause=False)
        assert debugged.settled()["status"] == "done"
        page = f"/sessions/{debugged.key}"
        whole = f"/api{page}/events/3"
        for query in ("", "?event=3", "?event=3&tab=raw"):
            text = client.get(page + query, headers={"Accept": "text/html"}).text
            assert len(text) < MAX_CHARACTERS, query
            links = [html.unescape(each) for each in re.findall(r'href="([^"]*)"', text)]
            assert (whole in links) is bool(query), query
        response = client.get(whole).json()["event"]["content"]["parts"][0]["functionResponse"]
        assert response["response"] == {"result": "x" * SIZE}
        assert json.dumps(client.get(f"/api{page}/events/2").json()).count('"functionCall"') == 1
        for missing in (0, 99, "x"):
            assert client.get(f"/api{page}/events/{missing}").status_code == 404
