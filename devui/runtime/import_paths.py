"""Where google-adk's import paths lead, as data, and the finders that follow it (devui's own).

Editors write the path of the module that defines a name, or of one that only imports it
(`from google.adk.agents.llm_agent import ToolContext`), and much code uses either. A path without a
module here is created on import and forwards to its home module; each name is fetched from there
when it is requested. So no files need to be maintained for either.
"""

import logging
from collections.abc import Sequence
from functools import partial
from importlib import import_module
from importlib.machinery import ModuleSpec, SourceFileLoader
from sys import modules
from types import ModuleType
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from importlib.abc import Loader

PATHS = {
    "apps.base_events_summarizer": "apps.configs",
    "auth.auth_provider_registry": "auth.base_auth_provider",
    "auth.credential_service.base_credential_service": "auth.credential_service",
    "auth.credential_service.in_memory_credential_service": "auth.credential_service",
    "auth.credential_service.session_state_credential_service": "auth.credential_service",
    "auth.exchanger.base_credential_exchanger": "auth.exchanger",
    "auth.exchanger.credential_exchanger_registry": "auth.exchanger",
    "auth.exchanger.oauth2_credential_exchanger": "auth.exchanger",
    "auth.refresher.base_credential_refresher": "auth.refresher",
    "auth.refresher.credential_refresher_registry": "auth.refresher",
    "auth.refresher.oauth2_credential_refresher": "auth.refresher",
    "errors.already_exists_error": "errors",
    "errors.input_validation_error": "errors",
    "errors.not_found_error": "errors",
    "errors.session_not_found_error": "errors",
    "errors.tool_execution_error": "errors",
    "events.ui_widget": "events.event_actions",
    "examples.base_example_provider": "examples",
    "examples.example": "examples",
    "examples.example_util": "examples",
    "flows.llm_flows.agent_transfer": "flows.llm_flows.tool_steps",
    "flows.llm_flows.auto_flow": "flows.llm_flows.base_llm_flow",
    "flows.llm_flows.basic": "flows.llm_flows.request_steps",
    "flows.llm_flows.compaction": "flows.llm_flows.request_steps",
    "flows.llm_flows.identity": "flows.llm_flows.request_steps",
    "flows.llm_flows.instructions": "flows.llm_flows.request_steps",
    "flows.llm_flows.request_confirmation": "flows.llm_flows.user_answers",
    "flows.llm_flows.single_flow": "flows.llm_flows.base_llm_flow",
    "models.cache_metadata": "models.llm_response",
    "planners.base_planner": "planners",
    "planners.built_in_planner": "planners",
    "planners.plan_re_act_planner": "planners",
    "runners.runner": "runners",
    "skills.prompt": "skills.models",
    "skills.skill_registry": "skills.models",
    "tools.authenticated_function_tool": "tools.base_authenticated_tool",
    "tools.enterprise_search_tool": "tools.google_tools",
    "tools.exit_loop_tool": "tools.control_tools",
    "tools.get_user_choice_tool": "tools.control_tools",
    "tools.google_maps_grounding_tool": "tools.google_tools",
    "tools.google_search_agent_tool": "tools.google_tools",
    "tools.google_search_tool": "tools.google_tools",
    "tools.load_memory_tool": "tools.memory_tools",
    "tools.long_running_tool": "tools.function_tool",
    "tools.preload_memory_tool": "tools.memory_tools",
    "tools.transfer_to_agent_tool": "tools.control_tools",
    "tools.url_context_tool": "tools.google_tools",
    "workflow.utils": "workflow",
    # Private in google-adk, which has no other path for some of their names; in the runtime seed,
    # `runners.runner` is the module that defines the Runner.
    "agents._streaming_mode": "agents.run_config",
    "apps._configs": "apps.app",
    "environment._base_environment": "environment",
    "environment._local_environment": "environment",
    "errors._invocation_not_found_error": "errors",
    "errors._stale_session_error": "errors",
    "features._feature_registry": "features",
    "flows.llm_flows._base_llm_processor": "flows.llm_flows.processors",
    "memory._sqlite_memory_service": "memory",
    "models._capabilities": "models",
    "models._fallback_model": "models",
    "plugins._reflect_retry_model_plugin": "plugins",
    "plugins._tool_call_integrity_plugin": "plugins",
    "sessions._session_util": "sessions.storable",
    "skills._utils": "skills",
    "tools._forwarding_artifact_service": "tools.agent_tool",
    "tools._node_tool": "tools.node_tool",
    "utils._debug_output": "runners",
    "utils._schema_utils": "models.output_schema",
    "workflow._base_node": "workflow",
    "workflow._errors": "workflow.errors",
    "workflow._function_node": "workflow",
    "workflow._graph": "workflow",
    "workflow._join_node": "workflow",
    "workflow._node": "workflow",
    "workflow._retry_config": "workflow",
    "workflow._workflow": "workflow",
    "workflow.utils._workflow_hitl_utils": "workflow.requests",
}
"""The module that has the names of each path, relative to the root package."""

STEPS = {
    "flows.llm_flows.basic": "basic",
    "flows.llm_flows.compaction": "compaction",
    "flows.llm_flows.identity": "identity",
    "flows.llm_flows.instructions": "instructions",
    "flows.llm_flows.request_confirmation": "request_confirmation",
}
"""What the name `request_processor` of each path refers to in its home."""

HOMES = {
    "agents": "BaseAgent InvocationContext LlmAgent RunConfig",
    "agents.base_agent": "BaseAgentState",
    "agents.callback_context": "CallbackContext",
    "agents.context": "Context ReadonlyContext",
    "agents.context_cache_config": "ContextCacheConfig",
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
    "tools.tool_confirmation": "ToolConfirmation",
    "features": "FeatureName",
    "flows.llm_flows._base_llm_processor": "BaseLlmRequestProcessor",
    "memory": "BaseMemoryService",
    "models": "LLMRegistry LlmRequest LlmResponse",
    "planners": "BasePlanner",
    "sessions": "BaseSessionService Session State",
    "sessions.base_session_service": "GetSessionConfig ListSessionsResponse",
    "tools": "BaseTool BaseToolset FunctionTool",
    "tools.base_authenticated_tool": "BaseAuthenticatedTool",
    "tools.base_toolset": "ToolPredicate",
    "tools.mcp_tool": "MCPTool",
    "tools.openapi_tool.openapi_spec_parser": "OpenApiSpecParser OperationEndpoint",
    "tools.set_model_response_tool": "SetModelResponseTool",
    "tools.tool_configs": "BaseToolConfig ToolArgsConfig",
    "tools.tool_context": "ToolContext",
    "workflow": "BaseNode",
}
"""The home module of each name in this runtime."""

PLACES = {
    "agents.base_agent": "BaseAgentState",
    "agents.llm_agent": "BeforeModelCallback BeforeToolCallback ToolUnion",
    "agents.readonly_context": "ReadonlyContext",
    "agents.remote_a2a_agent": "A2AClientError AgentCardResolutionError",
    "apps.base_events_summarizer": "BaseEventsSummarizer",
    "artifacts.base_artifact_service": "ArtifactVersion",
    "auth.auth_credential": "HttpAuth HttpCredentials ServiceAccount ServiceAccountCredential",
    "auth.auth_provider_registry": "AuthProviderRegistry",
    "auth.credential_manager": "CredentialManager",
    "auth.credential_service.base_credential_service": "BaseCredentialService",
    "auth.credential_service.in_memory_credential_service": "InMemoryCredentialService",
    "auth.credential_service.session_state_credential_service": "SessionStateCredentialService",
    "auth.exchanger.base_credential_exchanger": "CredentialExchangeError ExchangeResult",
    "auth.exchanger.credential_exchanger_registry": "CredentialExchangerRegistry",
    "auth.exchanger.oauth2_credential_exchanger": "OAuth2CredentialExchanger",
    "auth.refresher.base_credential_refresher": "CredentialRefresherError",
    "auth.refresher.credential_refresher_registry": "CredentialRefresherRegistry",
    "auth.refresher.oauth2_credential_refresher": "OAuth2CredentialRefresher",
    "code_executors.code_execution_utils": "CodeExecutionInput CodeExecutionResult File",
    "errors.already_exists_error": "AlreadyExistsError",
    "errors.input_validation_error": "InputValidationError",
    "errors.not_found_error": "NotFoundError",
    "errors.session_not_found_error": "SessionNotFoundError",
    "errors.tool_execution_error": "ToolErrorType ToolExecutionError",
    "events.ui_widget": "UiWidget",
    "examples.example_util": "build_example_si convert_examples_to_text",
    "flows.llm_flows.auto_flow": "AutoFlow",
    "flows.llm_flows.single_flow": "SingleFlow",
    "memory.base_memory_service": "SearchMemoryResponse",
    "memory.memory_entry": "MemoryEntry",
    "models.cache_metadata": "CacheMetadata",
    "plugins.context_filter_plugin": "ContextFilterPlugin",
    "plugins.global_instruction_plugin": "GlobalInstructionPlugin",
    "plugins.multimodal_tool_results_plugin": "MultimodalToolResultsPlugin",
    "plugins.save_files_as_artifacts_plugin": "SaveFilesAsArtifactsPlugin",
    "sessions.sqlite_session_service": "SqliteSessionService",
    "skills.prompt": "format_skills_as_xml",
    "tools": "AuthToolArguments",
    "tools.authenticated_function_tool": "AuthenticatedFunctionTool",
    "tools.base_toolset": "BaseToolset",
    "tools.enterprise_search_tool": "EnterpriseWebSearchTool",
    "tools.google_maps_grounding_tool": "GoogleMapsGroundingTool",
    "tools.google_search_agent_tool": "GoogleSearchAgentTool create_google_search_agent",
    "tools.google_search_tool": "GoogleSearchTool",
    "tools.load_artifacts_tool": "as_safe_part_for_llm",
    "tools.load_memory_tool": "LoadMemoryResponse LoadMemoryTool",
    "tools.mcp_tool.mcp_session_manager": "MCPSessionManager",
    "tools.openapi_tool.openapi_spec_parser.rest_api_tool": "HttpxClientFactory",
    "tools.preload_memory_tool": "PreloadMemoryTool",
    "tools.skill_toolset": (
        "ListSkillsTool LoadSkillResourceTool LoadSkillTool "
        "RunSkillScriptTool SearchSkillsTool SkillLifecycleConfig SkillLifecycleMode"
    ),
    "tools.tool_confirmation": "ToolConfirmation",
    "tools.url_context_tool": "UrlContextTool",
}
"""google-adk's module for public names that this runtime defines elsewhere."""

BORROWED = {
    "agents.base_agent": "CallbackContext",
    "agents.callback_context": "Context",
    "agents.invocation_context": (
        "AuthCredential BaseAgent BaseAgentState BaseArtifactService BaseCredentialService "
        "BaseMemoryService BaseNode BaseSessionService BaseTool ContextCacheConfig Event "
        "EventsCompactionConfig ResumabilityConfig RunConfig Session"
    ),
    "agents.llm_agent": (
        "BaseAgentState BaseCodeExecutor BaseNode BasePlanner CallbackContext Context FunctionTool "
        "InvocationContext LLMRegistry LlmRequest LlmResponse ReadonlyContext ToolContext"
    ),
    "agents.loop_agent": "InvocationContext",
    "agents.parallel_agent": "InvocationContext",
    "agents.sequential_agent": "BaseNode BaseTool InvocationContext LlmAgent ReadonlyContext",
    "apps.compaction": "App BaseNode BaseSessionService EventsCompactionConfig Session",
    "auth.auth_handler": "OpenIdConnectWithConfig",
    "auth.base_auth_provider": "CallbackContext",
    "auth.credential_manager": "CallbackContext ExtendedOAuth2 OpenIdConnectWithConfig",
    "auth.credential_service.base_credential_service": "CallbackContext",
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
    "tools.agent_tool": "BaseToolConfig FeatureName ToolArgsConfig ToolContext",
    "tools.authenticated_function_tool": "AuthCredential ToolContext",
    "tools.base_authenticated_tool": "ToolContext",
    "tools.base_toolset": "ReadonlyContext",
    "tools.enterprise_search_tool": "BaseTool ToolContext",
    "tools.example_tool": "BaseToolConfig ToolArgsConfig ToolErrorType ToolExecutionError",
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
"""Modules of google-adk, and the names they import that can also be imported from them."""

_OUTSIDE = {"override": "typing_extensions", "types": "google.genai"}
"""Names that most modules of google-adk have, and their homes outside of it."""

_HOME_OF = {name: home for home, names in HOMES.items() for name in names.split()}


def _borrow(root: str, module: ModuleType, name: str) -> object:
    """Return an attribute of `module` that google-adk's module only imports."""
    if name not in BORROWED.get(module.__name__.removeprefix(f"{root}."), "").split():
        raise AttributeError(f"module {module.__name__!r} has no attribute {name!r}")
    return _lend(root, name)


def _lend(root: str, name: str) -> object:
    return getattr(import_module(f"{root}.{_HOME_OF[name]}"), name)


class Paths:
    """Finds and loads the modules of PATHS, as an entry of `sys.meta_path`.

    It doesn't inherit from importlib.abc, which takes a while to load.
    """

    def __init__(self, root: str) -> None:
        """Serve the paths below the package `root`."""
        self._root = root

    def find_spec(
        self, fullname: str, path: object, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return a spec for each path of the table; a package, so missing names are explained."""
        if fullname.removeprefix(f"{self._root}.") not in PATHS:
            return None
        return ModuleSpec(fullname, cast("Loader", self), is_package=True)

    def create_module(self, spec: ModuleSpec) -> None:
        """Return None, for Python's default module."""

    def exec_module(self, module: ModuleType) -> None:
        """Make the module ask its home for each name."""
        vars(module)["__getattr__"] = partial(self._fetch, module)

    def _fetch(self, module: ModuleType, name: str) -> object:
        path = module.__name__.removeprefix(f"{self._root}.")
        home = import_module(f"{self._root}.{PATHS[path]}")
        if name == "request_processor" and path in STEPS:
            return getattr(home, STEPS[path])
        try:
            return getattr(home, name)
        except AttributeError:
            if name in BORROWED.get(path, "").split():
                return _lend(self._root, name)
            raise


class AliasLoader(SourceFileLoader):
    """Loads a module that also has borrowed names as attributes, as in `base_plugin.BaseTool`."""

    def __init__(self, fullname: str, path: str, *, root: str) -> None:
        """Load the module at that path, which is below `root`."""
        super().__init__(fullname, path)
        self._root = root

    def exec_module(self, module: ModuleType) -> None:
        """Make the module fetch names that it lacks."""
        super().exec_module(module)
        vars(module).setdefault("__getattr__", partial(_borrow, self._root, module))


class AliasFinder:
    """Puts a borrowed name into the module from which it is imported; for `sys.meta_path`.

    If a module lacks `name`, `from module import name` looks for a submodule of that name, and then
    reads the attribute again.
    """

    def __init__(self, root: str) -> None:
        """Serve the modules below `root`."""
        self._root = root

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return None: borrowed names aren't modules."""
        borrower_name, _, name = fullname.rpartition(".")
        borrower = modules.get(borrower_name)
        if borrower is None or not borrower_name.startswith(f"{self._root}."):
            return None
        where = borrower_name.removeprefix(f"{self._root}.")
        if name in BORROWED.get(where, "").split():
            setattr(borrower, name, _lend(self._root, name))
        elif name in _OUTSIDE:
            setattr(borrower, name, getattr(import_module(_OUTSIDE[name]), name))
        elif name == "logger":
            vars(borrower)[name] = logging.getLogger(borrower.__name__)
        return None
