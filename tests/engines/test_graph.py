"""Both runtimes' apps are drawn: agents, tools, AgentTools, workflow nodes and routes."""

import re

import pytest

from tests.kit.oracle import adk_python, needs_adk
from tests.kit.server import running, write_app

PIPELINE = """
from google.adk.agents import LlmAgent, LoopAgent, SequentialAgent
from google.adk.tools.agent_tool import AgentTool


def lookup(city: str) -> str:
    return city


helper = LlmAgent(name="helper", model="m")
planner = LlmAgent(name="planner", model="m", tools=[lookup, AgentTool(agent=helper)])
polish = LoopAgent(name="polish", sub_agents=[LlmAgent(name="critic", model="m")])
root_agent = SequentialAgent(name="pipeline", sub_agents=[planner, polish])
"""
FLOW = """
from google.adk import Workflow
from google.adk.workflow import START


def classify(node_input: str):
    return "x"


def refund(node_input: str):
    return "r"


def reply(node_input: str):
    return "a"


root_agent = Workflow(
    name="flow", edges=[(START, classify), (classify, {"refund": refund, "other": reply})]
)
"""


@pytest.mark.parametrize("engine", ["devui", pytest.param("google-adk", marks=needs_adk)])
def test_an_app_of_either_runtime_is_drawn(tmp_path, engine):
    options = ["--engine", engine]
    options += ["--python", str(adk_python())] if engine == "google-adk" else []
    write_app(tmp_path / "agents", "pipeline", PIPELINE)
    write_app(tmp_path / "agents", "flow", FLOW)
    folders = tmp_path / "agents", tmp_path / "data"
    with running(*folders, *options) as server, server.client() as client:
        pipeline = client.get("/apps/pipeline/graph").text
        flow = client.get("/apps/flow/graph").text
    assert re.findall(r'class="node (\w+) k-(\w+) ', pipeline) == [
        ("frame", "sequential"),
        ("frame", "loop"),
        ("card", "agent"),
        ("tool", "tool"),
        ("tool", "agent_tool"),
        ("card", "agent"),
        ("card", "agent"),
    ]
    assert "helper, not run" in pipeline
    functions = re.findall(r"k-function.*?<title>function (\w+),", flow)
    assert sorted(functions) == ["classify", "refund", "reply"]
    assert sorted(re.findall(r'class="">(\w+)</text>', flow)) == ["other", "refund"]
