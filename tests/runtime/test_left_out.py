"""Agents' imports work when `google.adk` is replaced by `devui.runtime`, or say why not.

Source: adk-runtime 14, the table of what agent authors import.
"""

import json
from importlib import import_module
from importlib.util import find_spec

import pytest

from devui.runtime.left_out import ROOT, TABLE, explanation
from tests.kit.oracle import needs_adk, run_adk

IMPORTED = {
    "Agent": ". agents",
    "LlmAgent": "agents agents.llm_agent",
    "ToolContext": "tools tools.tool_context",
    "Runner": ". runners",
    "InMemorySessionService": "sessions sessions.in_memory_session_service",
    "InMemoryRunner": "runners",
    "AgentTool": "tools tools.agent_tool",
    "CallbackContext": "agents.callback_context",
    "RunConfig": "agents agents.run_config",
    "StreamingMode": "agents.run_config",
    "google_search": "tools",
    "SequentialAgent": "agents agents.sequential_agent",
    "FunctionTool": "tools tools.function_tool",
    "Event": ". events events.event",
    "EventActions": "events events.event_actions",
    "InMemoryArtifactService": "artifacts artifacts.in_memory_artifact_service",
    "BuiltInPlanner": "planners planners.built_in_planner",
    "App": "apps apps.app",
    "McpToolset": "tools.mcp_tool tools.mcp_tool.mcp_toolset",
    "MCPToolset": "tools.mcp_tool tools.mcp_tool.mcp_toolset",
    "Session": "sessions sessions.session",
    "State": "sessions sessions.state",
    "LoopAgent": "agents agents.loop_agent",
    "LlmRequest": "models models.llm_request",
    "LlmResponse": "models models.llm_response",
    "LiteLlm": "models.lite_llm",
    "ParallelAgent": "agents agents.parallel_agent",
    "InvocationContext": "agents agents.invocation_context",
    "StdioConnectionParams": "tools.mcp_tool tools.mcp_tool.mcp_session_manager",
    "SseConnectionParams": "tools.mcp_tool tools.mcp_tool.mcp_session_manager",
    "StreamableHTTPConnectionParams": "tools.mcp_tool tools.mcp_tool.mcp_session_manager",
    "PlanReActPlanner": "planners planners.plan_re_act_planner",
    "get_fast_api_app": "cli.fast_api",
    "BaseTool": "tools tools.base_tool",
    "load_artifacts": "tools",
    "BaseAgent": "agents agents.base_agent",
    "ReadonlyContext": "agents.readonly_context",
    "BuiltInCodeExecutor": "code_executors code_executors.built_in_code_executor",
    "LongRunningFunctionTool": "tools tools.long_running_tool",
    "OpenAPIToolset": "tools.openapi_tool tools.openapi_tool.openapi_spec_parser.openapi_toolset",
    "BasePlugin": "plugins plugins.base_plugin",
    "AuthCredential": "auth auth.auth_credential",
    "AuthCredentialTypes": "auth auth.auth_credential",
    "Gemini": "models models.google_llm",
    "load_memory": "tools",
    "preload_memory": "tools",
    "InMemoryMemoryService": "memory memory.in_memory_memory_service",
    "RemoteA2aAgent": "agents.remote_a2a_agent",
    "SkillToolset": "tools.skill_toolset",
    "OAuth2Auth": "auth auth.auth_credential",
    "EventsCompactionConfig": "apps.app",
    "ResumabilityConfig": "apps apps.app",
    "ExampleTool": "tools tools.example_tool",
    "DatabaseSessionService": "sessions sessions.database_session_service",
    "BaseToolset": "tools tools.base_toolset",
    "Workflow": ". workflow",
    "node": "workflow",
    "Context": ". agents",
    "RequestInput": "events",
    "JoinNode": "workflow",
    "Edge": "workflow",
    "START": "workflow",
}
"""What the table has as must and should, and the modules below the root it is imported from."""

ELSEWHERE = {"get_fast_api_app", "RemoteA2aAgent"}
"""Of these, the names that are left out, with an explanation."""

LINES = [(name, module) for name, modules in IMPORTED.items() for module in modules.split()]


def imported(name: str, module: str) -> object:
    """What `from devui.runtime.module import name` gives."""
    names: dict[str, object] = {}
    where = ROOT if module == "." else f"{ROOT}.{module}"
    exec(f"from {where} import {name}", names)
    return names[name]


@pytest.mark.parametrize(("name", "module"), LINES)
def test_what_authors_import_is_there_or_explained(name, module):
    if name in ELSEWHERE:
        with pytest.raises(ImportError, match="Instead: "):
            imported(name, module)
        return
    try:
        assert imported(name, module) is not None
    except ImportError as error:
        if not str(error).startswith(("LiteLlm needs", "Tools of MCP servers need")):
            raise  # otherwise the package of an extra is missing, and the error names it


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("from devui.runtime.evaluation.agent_evaluator import AgentEvaluator", "pytest"),
        ("import devui.runtime.a2a.utils.agent_to_a2a", "OpenAPIToolset"),
        ("from devui.runtime.tools import VertexAiSearchTool", "Google Cloud"),
        ("from devui.runtime.tools.langchain_tool import LangchainTool", "def search"),
        ("from devui.runtime.agents import LlmAgnet", "Did you mean LlmAgent?"),
        ("from devui.runtime import Agnet", "Did you mean Agent?"),
        ("import devui.runtime.nothing.such", "docs/guide/runtime.md"),
    ],
)
def test_an_import_of_what_is_not_there_says_what_to_do(line, said):
    with pytest.raises(ImportError) as failed:
        exec(line, {})
    assert said in str(failed.value)


def test_looking_for_a_name_is_no_import():
    tools = import_module("devui.runtime.tools")
    assert not hasattr(tools, "VertexAiSearchTool")


@pytest.mark.parametrize("name", [name for left_out in TABLE for name in left_out.names.split()])
def test_what_is_said_to_be_left_out_is_not_there(name):
    package, _, last = name.rpartition(".")
    parent = import_module(f"{ROOT}.{package}" if package else ROOT)
    assert not hasattr(parent, last)
    with pytest.raises(ModuleNotFoundError, match="Instead: "):
        find_spec(f"{ROOT}.{name}")


def test_nothing_is_left_out_twice():
    names = [name for left_out in TABLE for name in left_out.names.split()]
    assert len(names) == len(set(names))


PUBLIC = """
import ast, json, os
import google.adk
base = os.path.dirname(google.adk.__file__)
found = []
for folder, folders, files in os.walk(base):
    folders[:] = [one for one in folders if not one.startswith("_")]
    package = os.path.relpath(folder, base).replace(os.sep, ".").strip(".")
    if "__init__.py" not in files:
        continue
    at = package + "." if package else ""
    found += [at + one[:-3] for one in files if one.endswith(".py") and one[0] != "_"]
    with open(os.path.join(folder, "__init__.py")) as file:
        tree = ast.parse(file.read())
    for node in ast.walk(tree):
        targets = getattr(node, "targets", None) or [getattr(node, "target", None)]
        if "__all__" in [getattr(one, "id", None) for one in targets]:
            value = getattr(node, "value", None)
            found += [at + one.value for one in getattr(value, "elts", []) if hasattr(one, "value")]
print(json.dumps(sorted({one for one in found if not one.rpartition(".")[2].startswith("_")})))
"""


@needs_adk
def test_every_public_name_of_google_adk_is_there_or_explained():
    missing = []
    for name in json.loads(run_adk(PUBLIC)):
        package, _, last = name.rpartition(".")
        if "Instead: " in explanation(name):
            continue
        try:
            imported(last, package or ".")
        except ImportError as error:
            if "needs the package" not in str(error) and "need the package" not in str(error):
                missing.append(name)
    assert missing == [], "make these, or add them to devui/runtime/left_out.py"
