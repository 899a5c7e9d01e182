"""Names that google-adk's modules import, and so can be imported from there (devui's own).

`from google.adk.agents.llm_agent import ToolContext` is what editors write that complete names, and
much code has it. Such a name is fetched from where it is at home, when it is asked for.
"""

import logging
from collections.abc import Sequence
from importlib import import_module
from importlib.machinery import ModuleSpec
from sys import modules
from types import ModuleType

_HOMES = {
    "agents": "BaseAgent InvocationContext LlmAgent RunConfig",
    "agents.base_agent": "BaseAgentState",
    "agents.callback_context": "CallbackContext",
    "agents.context": "Context",
    "agents.context_cache_config": "ContextCacheConfig",
    "agents.readonly_context": "ReadonlyContext",
    "agents.run_config": "ServiceTier",
    "apps": "App EventsCompactionConfig ResumabilityConfig",
    "artifacts": "BaseArtifactService",
    "auth": (
        "AuthConfig AuthCredential HttpAuth HttpCredentials OAuth2Auth "
        "OpenIdConnectWithConfig ServiceAccount ServiceAccountCredential"
    ),
    "auth.auth_schemes": "ExtendedOAuth2",
    "auth.credential_service": "BaseCredentialService",
    "code_executors": "BaseCodeExecutor CodeExecutionInput CodeExecutionResult",
    "errors": (
        "AlreadyExistsError InputValidationError SessionNotFoundError StaleSessionError "
        "ToolErrorType ToolExecutionError"
    ),
    "events": "Event",
    "events.tool_confirmation": "ToolConfirmation",
    "features": "FeatureName",
    "flows.llm_flows._base_llm_processor": "BaseLlmRequestProcessor",
    "memory": "BaseMemoryService",
    "models": "LlmRequest LlmResponse",
    "sessions": "BaseSessionService Session State",
    "sessions.base_session_service": "GetSessionConfig ListSessionsResponse",
    "tools": "BaseTool BaseToolset FunctionTool",
    "tools.base_authenticated_tool": "BaseAuthenticatedTool",
    "tools.base_toolset": "ToolPredicate",
    "tools.mcp_tool": "MCPTool",
    "tools.openapi_tool.openapi_spec_parser": "OpenApiSpecParser OperationEndpoint",
    "tools.set_model_response_tool": "SetModelResponseTool",
    "tools.tool_context": "ToolContext",
    "workflow": "BaseNode",
}
"""Where the names are at home here."""

BORROWED = {
    "agents.base_agent": "CallbackContext",
    "agents.callback_context": "Context",
    "agents.context": "ReadonlyContext",
    "agents.invocation_context": (
        "AuthCredential BaseAgent BaseAgentState BaseArtifactService BaseCredentialService "
        "BaseMemoryService BaseNode BaseSessionService BaseTool ContextCacheConfig Event "
        "EventsCompactionConfig ResumabilityConfig RunConfig Session"
    ),
    "agents.llm_agent": (
        "BaseAgentState BaseNode CallbackContext Context FunctionTool InvocationContext LlmRequest "
        "LlmResponse ReadonlyContext ToolContext"
    ),
    "agents.loop_agent": "InvocationContext",
    "agents.parallel_agent": "InvocationContext",
    "agents.sequential_agent": "BaseNode BaseTool InvocationContext LlmAgent ReadonlyContext",
    "apps.compaction": "App BaseNode BaseSessionService EventsCompactionConfig Session",
    "auth.auth_handler": "OpenIdConnectWithConfig",
    "auth.base_auth_provider": "CallbackContext",
    "auth.credential_manager": "CallbackContext ExtendedOAuth2 OpenIdConnectWithConfig",
    "auth.credential_service.in_memory_credential_service": "CallbackContext",
    "auth.credential_service.session_state_credential_service": "CallbackContext",
    "auth.exchanger.oauth2_credential_exchanger": "OpenIdConnectWithConfig",
    "code_executors.base_code_executor": "CodeExecutionInput CodeExecutionResult",
    "code_executors.built_in_code_executor": "CodeExecutionInput CodeExecutionResult",
    "code_executors.unsafe_local_code_executor": "CodeExecutionInput",
    "flows.llm_flows.base_llm_flow": "BaseAgent InvocationContext LlmResponse",
    "flows.llm_flows.basic": "BaseLlmRequestProcessor Event InvocationContext LlmRequest",
    "flows.llm_flows.request_confirmation": (
        "BaseLlmRequestProcessor BaseTool Event InvocationContext LlmRequest ToolConfirmation "
        "ToolContext"
    ),
    "models.llm_request": "BaseTool ServiceTier",
    "planners.base_planner": "CallbackContext LlmRequest ReadonlyContext",
    "planners.built_in_planner": "CallbackContext LlmRequest ReadonlyContext",
    "planners.plan_re_act_planner": "CallbackContext LlmRequest ReadonlyContext",
    "plugins.base_plugin": "BaseAgent BaseTool CallbackContext Event LlmRequest LlmResponse",
    "plugins.context_filter_plugin": "CallbackContext LlmRequest LlmResponse",
    "plugins.debug_logging_plugin": (
        "AuthCredential BaseAgent BaseTool CallbackContext Event HttpAuth HttpCredentials "
        "LlmRequest LlmResponse OAuth2Auth ServiceAccount ServiceAccountCredential State"
    ),
    "plugins.global_instruction_plugin": "CallbackContext LlmRequest LlmResponse ReadonlyContext",
    "plugins.logging_plugin": (
        "BaseAgent BaseTool CallbackContext Event LlmRequest LlmResponse ToolContext"
    ),
    "plugins.multimodal_tool_results_plugin": (
        "BaseTool CallbackContext LlmRequest LlmResponse ToolContext"
    ),
    "plugins.reflect_retry_tool_plugin": "BaseTool ToolContext",
    "plugins.save_files_as_artifacts_plugin": "BaseAgent CallbackContext InvocationContext",
    "runners": "BaseToolset ContextCacheConfig GetSessionConfig StaleSessionError",
    "sessions.database_session_service": (
        "AlreadyExistsError BaseSessionService Event GetSessionConfig ListSessionsResponse "
        "Session SessionNotFoundError StaleSessionError State"
    ),
    "sessions.in_memory_session_service": "FeatureName State",
    "sessions.sqlite_session_service": (
        "AlreadyExistsError SessionNotFoundError StaleSessionError State"
    ),
    "skills.models": "FeatureName",
    "tools.agent_tool": "FeatureName ToolContext",
    "tools.authenticated_function_tool": "AuthCredential ToolContext",
    "tools.base_authenticated_tool": "ToolContext",
    "tools.base_toolset": "ReadonlyContext",
    "tools.enterprise_search_tool": "BaseTool ToolContext",
    "tools.example_tool": "ToolErrorType ToolExecutionError",
    "tools.function_tool": "FeatureName ToolContext",
    "tools.google_maps_grounding_tool": "BaseTool ToolContext",
    "tools.google_search_tool": "ToolContext",
    "tools.load_artifacts_tool": "BaseTool FeatureName",
    "tools.load_mcp_resource_tool": "BaseTool FeatureName LlmRequest",
    "tools.load_memory_tool": "FeatureName",
    "tools.mcp_tool.mcp_session_manager": "FeatureName",
    "tools.mcp_tool.mcp_tool": (
        "AuthConfig AuthCredential BaseAuthenticatedTool CallbackContext FeatureName "
        "ReadonlyContext SetModelResponseTool ToolContext"
    ),
    "tools.mcp_tool.mcp_toolset": "MCPTool ReadonlyContext ToolPredicate",
    "tools.openapi_tool.openapi_spec_parser.openapi_toolset": (
        "AuthConfig OpenApiSpecParser ReadonlyContext ToolPredicate"
    ),
    "tools.openapi_tool.openapi_spec_parser.rest_api_tool": (
        "FeatureName InputValidationError OperationEndpoint ReadonlyContext ToolContext"
    ),
    "tools.set_model_response_tool": "ToolContext",
    "tools.skill_toolset": (
        "BaseCodeExecutor CodeExecutionInput FeatureName ReadonlyContext ToolContext ToolPredicate"
    ),
    "tools.tool_context": "Context",
    "tools.url_context_tool": "BaseTool ToolContext",
}
"""Modules of google-adk, and what can be imported from them that they import themselves."""

_OUTSIDE = {"override": "typing_extensions", "types": "google.genai"}
"""What any module may be asked for, since most of google-adk's have it; at home elsewhere."""

_HOME_OF = {name: home for home, names in _HOMES.items() for name in names.split()}


class Borrowed:
    """Puts such a name into the module it is asked of: a finder of `sys.meta_path`.

    `from module import name` looks for a module of that name when the module has none, and takes
    what is there after that.
    """

    def __init__(self, root: str) -> None:
        """Lend to the modules below `root`."""
        self._root = root

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Never a module: what is lent is no module."""
        asked, _, name = fullname.rpartition(".")
        borrower = modules.get(asked)
        if borrower is None or not asked.startswith(f"{self._root}."):
            return None
        where = asked.removeprefix(f"{self._root}.")
        if name in BORROWED.get(where, "").split():
            home = import_module(f"{self._root}.{_HOME_OF[name]}")
            setattr(borrower, name, getattr(home, name))
        elif name in _OUTSIDE:
            setattr(borrower, name, getattr(import_module(_OUTSIDE[name]), name))
        elif name == "logger":
            vars(borrower)[name] = logging.getLogger(borrower.__name__)
        return None
