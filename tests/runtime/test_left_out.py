"""Agents' imports work when `google.adk` is replaced by `devui.runtime`, or say why not.

Source: adk-runtime 14, the table of what agent authors import.
"""

import re
import sys
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pytest

import devui.runtime.agents
from devui.runtime.agents import LlmAgent
from devui.runtime.left_out import ROOT, TABLE, explanation, topic_of
from devui.runtime.runners import InMemoryRunner
from tests.differential.left_out_members import MEMBERS
from tests.kit.adk_defaults import public_defaults
from tests.kit.adk_members import public_members
from tests.kit.adk_names import public_names
from tests.kit.defaults import differs
from tests.kit.members import has
from tests.kit.oracle import needs_adk, run_adk

IMPORTED = {
    "Agent": ". agents",
    "LlmAgent": "agents agents.llm_agent",
    "ToolContext": "tools tools.tool_context tools.base_tool",
    "Runner": ". runners runners.runner",  # the last one from the runtime seed
    "InMemorySessionService": "sessions sessions.in_memory_session_service",
    "InMemoryRunner": "runners",
    "AgentTool": "tools tools.agent_tool",
    "CallbackContext": "agents.callback_context tools.tool_context",
    "RunConfig": "agents agents.run_config",
    "StreamingMode": "agents.run_config agents._streaming_mode",
    "google_search": "tools",
    "SequentialAgent": "agents agents.sequential_agent",
    "FunctionTool": "tools tools.function_tool",
    "Event": ". events events.event",
    "EventActions": "events events.event_actions",
    "InMemoryArtifactService": "artifacts artifacts.in_memory_artifact_service",
    "BuiltInPlanner": "planners planners.built_in_planner",
    "App": "apps apps.app",
    "McpToolset": "tools tools.mcp_tool tools.mcp_tool.mcp_toolset",
    "MCPToolset": "tools tools.mcp_tool tools.mcp_tool.mcp_toolset",
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
    "EventsCompactionConfig": "apps.app apps._configs",
    "ResumabilityConfig": "apps apps.app",
    "ExampleTool": "tools tools.example_tool",
    "DatabaseSessionService": "sessions sessions.database_session_service",
    "BaseToolset": "tools tools.base_toolset",
    "Workflow": ". workflow workflow._workflow",
    "node": "workflow workflow._node",
    "FeatureName": "features",
    "override_feature_enabled": "features",
    "Context": ". agents",
    "RequestInput": "events",
    "JoinNode": "workflow workflow._join_node",
    "Edge": "workflow",
    "START": "workflow",
    "BeforeAgentCallback": "agents.base_agent",
    "AfterAgentCallback": "agents.base_agent",
    "BeforeModelCallback": "agents.llm_agent",
    "AfterModelCallback": "agents.llm_agent",
    "OnModelErrorCallback": "agents.llm_agent",
    "BeforeToolCallback": "agents.llm_agent",
    "AfterToolCallback": "agents.llm_agent",
    "OnToolErrorCallback": "agents.llm_agent",
    "InstructionProvider": "agents.llm_agent",
    "ToolUnion": "agents.llm_agent",
    "ToolPredicate": "tools.base_toolset",
    "StdioServerParameters": "tools.mcp_tool.mcp_session_manager tools.mcp_tool.mcp_toolset",
    "SseServerParams": "tools.mcp_tool.mcp_session_manager",
    "StreamableHTTPServerParams": "tools.mcp_tool.mcp_session_manager",
    "REQUEST_EUC_FUNCTION_CALL_NAME": "flows.llm_flows.functions",
    "token_to_scheme_credential": "tools.openapi_tool.auth.auth_helpers",
    "adk_to_mcp_tool_type": "tools.mcp_tool.conversion_utils",
    "BaseLlmRequestProcessor": "flows.llm_flows._base_llm_processor",
    "Aclosing": "utils.context_utils",
    "ReflectAndRetryModelPlugin": "plugins plugins._reflect_retry_model_plugin",
    "NodeTimeoutError": "workflow workflow._errors",
    "load_skill_from_dir": "skills skills._utils",
    "LocalEnvironment": "environment environment._local_environment",
    "NodeTool": "tools._node_tool",
    "print_event": "utils._debug_output",
    "create_request_input_response": "workflow.utils._workflow_hitl_utils",
    "extract_state_delta": "sessions._session_util",
}
"""The table's imports marked must or should, and some others, each with its modules."""

NEEDS = ("Agents on other servers need", "LiteLlm needs", "MCP tools need")
"""The beginnings of errors that name the missing package of an extra."""

LINES = [(name, module) for name, modules in IMPORTED.items() for module in modules.split()]


def load_member(name: str, module: str) -> object:
    """Return what `from devui.runtime.module import name` imports."""
    names: dict[str, object] = {}
    where = ROOT if module == "." else f"{ROOT}.{module}"
    exec(f"from {where} import {name}", names)
    return names[name]


@pytest.mark.parametrize(("name", "module"), LINES)
def test_names_that_authors_import_exist(name, module):
    try:
        assert load_member(name, module) is not None
    except ImportError as error:
        if not str(error).startswith(NEEDS):
            raise


@pytest.mark.parametrize("name", ["LLMAgent", "LlmAgnet"])
def test_an_unknown_name_of_a_package_suggests_similar_names(name):
    with pytest.raises(AttributeError, match="; did you mean 'LlmAgent'"):
        getattr(devui.runtime.agents, name)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("from devui.runtime.evaluation.agent_evaluator import AgentEvaluator", "pytest"),
        ("import devui.runtime.a2a.utils.agent_to_a2a", "RemoteA2aAgent"),
        ("from devui.runtime.tools import VertexAiSearchTool", "Google Cloud"),
        ("from devui.runtime.tools.langchain_tool import LangchainTool", "def search"),
        ("from devui.runtime.agents import LlmAgnet", "Did you mean LlmAgent?"),
        ("from devui.runtime import Agnet", "Did you mean Agent?"),
        ("from devui.runtime.agents import LLMAgent", "Did you mean LlmAgent?"),
        ("from devui.runtime.agents.llm_agnt import LlmAgent", "Did you mean llm_agent?"),
        ("import devui.runtime.runner", "Did you mean runners?"),
        ("from devui.runtime import LlmAgent", "It is in devui.runtime.agents."),
        ("from devui.runtime.agents import Runner", "It is in devui.runtime."),
        (
            "from devui.runtime.tools import StdioConnectionParams",
            "It is in devui.runtime.tools.mcp_tool.",
        ),
        ("from devui.runtime.agents.llm_agent import LlmAgnet", "Did you mean LlmAgent?"),
        (
            "from devui.runtime.tools.function_tool import AgentTool",
            "It is in devui.runtime.tools.",
        ),
        ("from devui.runtime.tools.agent_tool import AgentToolConfig", "parameters of your tool"),
        ("from devui.runtime.models.lite_llm import acompletion", "from litellm import"),
        ("from devui.runtime.utils.feature_decorator import experimental", "Remove the line"),
        (
            "from devui.runtime.tools.skill_toolset import UnloadSkillTool",
            "lifecycle_config",
        ),
        ("from devui.runtime.workflow import ToolsetNode", ".workflow has DEFAULT_ROUTE, START,"),
        (
            "from devui.runtime.agents import ReadonlyContext",
            "It is in devui.runtime.agents.readonly_context.",
        ),
        ("from devui.runtime.workflow._node_state import NodeState", "internal to google-adk"),
        (
            "from devui.runtime.workflow._errors import WorkflowInvariantError",
            "internal to google-adk",
        ),
    ],
)
def test_a_failed_import_says_what_to_do(line, message):
    with pytest.raises(ImportError) as failed:
        exec(line, {})
    assert message in str(failed.value)


def test_a_class_name_is_not_mistaken_for_a_misspelt_module():
    assert "tool_node" not in explanation("tools.ToolsetNode")


def test_advice_for_apps_written_for_google_adk_uses_its_names(monkeypatch):
    assert "It is in devui.runtime.tools.load_memory_tool." in explanation("tools.LoadMemoryTool")
    monkeypatch.setitem(sys.modules, "google.adk", devui.runtime)
    assert "It is in google.adk.tools.load_memory_tool." in explanation("tools.LoadMemoryTool")
    assert "google.adk.workflow has DEFAULT_ROUTE" in explanation("workflow.ToolsetNode")


@needs_adk
def test_google_adk_has_each_name_where_the_advice_says(monkeypatch):
    monkeypatch.setitem(sys.modules, "google.adk", devui.runtime)
    names = NAMES.read_text(encoding="utf-8").split()
    public = {name.rpartition(".")[2] for name in names if not topic_of(name)}
    public -= {"T", "contents"}  # a type variable, and a module of google-adk
    lines = [
        f"from {match[1]} import {name}"
        for name in sorted(public)
        if (match := re.search(r"It is in ([\w.]+)\.$", explanation(f"nowhere.{name}")))
    ]
    assert len(lines) > 200
    code = f"""
    for line in {lines!r}:
        try:
            exec(line)
        except ImportError as error:
            print(line, error)
    """
    assert run_adk(code) == ""


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda agent: InMemoryRunner(agent).run_live(user_id="u", session_id="s"), "run_async"),
        (lambda agent: agent.run_live(None), "StreamingMode.SSE"),
        (lambda agent: type(agent).from_config({}, "agent.yaml"), "fields of your agent class"),
    ],
)
def test_an_unsupported_method_says_what_to_do(ask, message):
    with pytest.raises(NotImplementedError, match=message):
        ask(LlmAgent(name="agent"))


def test_hasattr_of_a_left_out_name_is_false():
    tools = import_module("devui.runtime.tools")
    assert not hasattr(tools, "VertexAiSearchTool")
    assert not hasattr(import_module("devui.runtime.tools.agent_tool"), "AgentToolConfig")


@pytest.mark.parametrize("name", [name for left_out in TABLE for name in left_out.names.split()])
def test_names_listed_as_left_out_do_not_exist(name):
    package, _, last = name.rpartition(".")
    parent = import_module(f"{ROOT}.{package}" if package else ROOT)
    assert not hasattr(parent, last)
    with pytest.raises(ModuleNotFoundError, match="Instead: "):
        find_spec(f"{ROOT}.{name}")


def test_no_name_is_left_out_twice():
    names = [name for left_out in TABLE for name in left_out.names.split()]
    assert len(names) == len(set(names))


NAMES = Path(__file__).with_name("data") / "adk_names.txt"
"""The public names of google-adk 2.13.0, one per line; written by tests.kit.adk_names."""


MEMBERS_OF_ADK = NAMES.with_name("adk_members.txt")
"""Their members and parameters, one per line; written by tests.kit.adk_members."""


DEFAULTS_OF_ADK = NAMES.with_name("adk_defaults.txt")
"""The positions and defaults of those parameters, one per line; from tests.kit.adk_defaults."""

OTHER_DEFAULTS = {
    "apps.app.App.root_agent": "google-adk refuses an app without one, too, when it checks it",
    "errors.InvocationNotFoundError(message)": "worded here",
    "errors.input_validation_error.InputValidationError(message)": "worded here",
    "errors.not_found_error.NotFoundError(message)": "worded here",
    "errors.session_not_found_error.SessionNotFoundError(message)": "worded here",
    "tools.openapi_tool.openapi_spec_parser.rest_api_tool.RestApiTool(operation)": "what stands"
    " before it there is left out, and told in tests/differential/left_out_members.py",
}
"""Parameters and fields with another position or default, and why."""


@needs_adk
def test_the_list_of_public_names_matches_google_adk():
    assert NAMES.read_text(encoding="utf-8").split() == public_names(), (
        "write it anew: python -m tests.kit.adk_names > tests/runtime/data/adk_names.txt"
    )


def test_every_public_name_of_google_adk_exists_or_is_explained():
    missing = []
    for name in NAMES.read_text(encoding="utf-8").split():
        package, _, last = name.rpartition(".")
        if "Instead: " in explanation(name):
            continue
        try:
            load_member(last, package or ".")
        except ImportError as error:
            if "needs the package" not in str(error) and "need the package" not in str(error):
                missing.append(name)
    assert missing == [], "make these, or add them to devui/runtime/left_out.py"


@needs_adk
def test_the_list_of_members_matches_google_adk():
    assert MEMBERS_OF_ADK.read_text(encoding="utf-8").split() == public_members(), (
        "write it anew: python -m tests.kit.adk_members > tests/runtime/data/adk_members.txt"
    )


def find(name: str) -> object:
    """Return the object with this name below the runtime's package."""
    package, _, last = name.rpartition(".")
    return load_member(last, package or ".")


def test_missing_members_and_parameters_are_documented():
    missing = set()
    for line in MEMBERS_OF_ADK.read_text(encoding="utf-8").split():
        try:
            if not has(line, find):
                missing.add(line)
        except ImportError as error:
            if not str(error).startswith(NEEDS):
                raise
    assert missing == {name for left_out in MEMBERS for name in left_out.names.split()}, (
        "make these, or say in tests/differential/left_out_members.py that they are left out"
    )


@needs_adk
def test_the_list_of_defaults_matches_google_adk():
    assert DEFAULTS_OF_ADK.read_text(encoding="utf-8").splitlines() == public_defaults(), (
        "write it anew: python -m tests.kit.adk_defaults > tests/runtime/data/adk_defaults.txt"
    )


def test_parameters_have_google_adks_positions_and_defaults():
    other = {}
    for line in DEFAULTS_OF_ADK.read_text(encoding="utf-8").splitlines():
        try:
            difference = differs(line, find)
        except ImportError as error:
            if not str(error).startswith(NEEDS):
                raise
        else:
            if difference:
                other[line.split(" ")[0]] = difference
    assert other.keys() == OTHER_DEFAULTS.keys(), other


@needs_adk
def test_the_version_matches_google_adk():
    version = run_adk("import importlib.metadata as m; print(m.version('google-adk'))")
    assert version.strip() == devui.runtime.__version__
