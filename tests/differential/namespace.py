"""The public names of an agent runtime, devui's or google-adk's."""

from functools import cached_property
from importlib import import_module
from typing import Any

from google.genai import types

_WHERE = {
    "agents.base_agent": "BaseAgent BaseAgentState",
    "agents.callback_context": "CallbackContext",
    "agents.context_cache_config": "ContextCacheConfig",
    "agents.invocation_context": "InvocationContext",
    "agents.llm_agent": "Agent LlmAgent",
    "agents.loop_agent": "LoopAgent",
    "agents.parallel_agent": "ParallelAgent",
    "agents.remote_a2a_agent": "RemoteA2aAgent",
    "agents.run_config": "RunConfig StreamingMode",
    "agents.sequential_agent": "SequentialAgent",
    "apps.app": "App EventsCompactionConfig ResumabilityConfig",
    "apps.base_events_summarizer": "BaseEventsSummarizer",
    "apps.llm_event_summarizer": "LlmEventSummarizer",
    "artifacts.file_artifact_service": "FileArtifactService",
    "artifacts.in_memory_artifact_service": "InMemoryArtifactService",
    "auth.auth_tool": "AuthConfig",
    "auth.credential_service.in_memory_credential_service": "InMemoryCredentialService",
    "auth.credential_service.session_state_credential_service": "SessionStateCredentialService",
    "code_executors.base_code_executor": "BaseCodeExecutor",
    "code_executors.built_in_code_executor": "BuiltInCodeExecutor",
    "code_executors.code_execution_utils": "CodeExecutionResult CodeExecutionUtils File",
    "code_executors.unsafe_local_code_executor": "UnsafeLocalCodeExecutor",
    "environment": "LocalEnvironment",
    "events.event": "Event",
    "events.event_actions": "EventActions EventCompaction",
    "examples.base_example_provider": "BaseExampleProvider",
    "examples.example": "Example",
    "events.request_input": "RequestInput",
    "flows.llm_flows._base_llm_processor": "BaseLlmRequestProcessor BaseLlmResponseProcessor",
    "flows.llm_flows.base_llm_flow": "BaseLlmFlow",
    "flows.llm_flows.functions": "find_event_by_function_call_id find_matching_function_call"
    " generate_client_function_call_id get_long_running_function_calls"
    " handle_function_calls_async AF_FUNCTION_CALL_ID_PREFIX",
    "flows.llm_flows.single_flow": "SingleFlow",
    "memory.in_memory_memory_service": "InMemoryMemoryService",
    "memory.memory_entry": "MemoryEntry",
    "models": "FallbackModel",
    "models.base_llm": "BaseLlm LlmCapabilities",
    "models.registry": "LLMRegistry",
    "models.cache_metadata": "CacheMetadata",
    "models.google_llm": "Gemini",
    "models.lite_llm": "LiteLLMClient LiteLlm",
    "models.llm_request": "LlmRequest",
    "models.llm_response": "LlmResponse",
    "planners.base_planner": "BasePlanner",
    "planners.built_in_planner": "BuiltInPlanner",
    "planners.plan_re_act_planner": "PlanReActPlanner",
    "plugins.base_plugin": "BasePlugin",
    "plugins.context_filter_plugin": "ContextFilterPlugin",
    "plugins.debug_logging_plugin": "DebugLoggingPlugin",
    "plugins.global_instruction_plugin": "GlobalInstructionPlugin",
    "plugins": "ReflectAndRetryModelPlugin ToolCallIntegrityPlugin",
    "plugins.logging_plugin": "LoggingPlugin",
    "plugins.multimodal_tool_results_plugin": "MultimodalToolResultsPlugin",
    "plugins.reflect_retry_tool_plugin": "ReflectAndRetryToolPlugin TrackingScope",
    "plugins.save_files_as_artifacts_plugin": "SaveFilesAsArtifactsPlugin",
    "runners": "InMemoryRunner Runner",
    "sessions._session_util": "decode_model extract_json_safe_state_delta extract_state_delta"
    " make_json_safe_state",
    "sessions.base_session_service": "BaseSessionService GetSessionConfig ListSessionsResponse",
    "sessions.database_session_service": "DatabaseSessionService",
    "sessions.in_memory_session_service": "InMemorySessionService",
    "sessions.session": "Session",
    "sessions.sqlite_session_service": "SqliteSessionService",
    "sessions.state": "State",
    "skills.models": "Frontmatter Resources Script Skill",
    "tools.openapi_tool.auth.auth_helpers": "dict_to_auth_scheme openid_dict_to_scheme_credential"
    " service_account_dict_to_scheme_credential token_to_scheme_credential",
    "tools.skill_toolset": "SkillDiscoveryMode SkillLifecycleConfig SkillLifecycleMode"
    " SkillToolset",
    "tools.agent_tool": "AgentTool _get_input_schema _get_output_schema _part_to_text",
    "tools._forwarding_artifact_service": "ForwardingArtifactService",
    "tools.authenticated_function_tool": "AuthenticatedFunctionTool",
    "tools.base_tool": "BaseTool",
    "tools.base_toolset": "BaseToolset",
    "tools.example_tool": "ExampleTool",
    "tools.exit_loop_tool": "exit_loop",
    "tools.function_tool": "FunctionTool",
    "tools.google_search_tool": "GoogleSearchTool",
    "tools.get_user_choice_tool": "get_user_choice_tool",
    "tools.load_artifacts_tool": "load_artifacts_tool",
    "tools.load_memory_tool": "load_memory_tool",
    "tools.long_running_tool": "LongRunningFunctionTool",
    "tools.mcp_tool.conversion_utils": "adk_to_mcp_tool_type gemini_to_json_schema",
    "tools.mcp_tool": "McpToolset SseConnectionParams StdioConnectionParams"
    " StreamableHTTPConnectionParams",
    "tools.openapi_tool.openapi_spec_parser.openapi_spec_parser": "OpenApiSpecParser",
    "tools.openapi_tool.openapi_spec_parser.openapi_toolset": "OpenAPIToolset",
    "tools.openapi_tool.openapi_spec_parser.rest_api_tool": "RestApiTool",
    "tools.preload_memory_tool": "preload_memory_tool",
    "tools.tool_context": "ToolContext",
    "tools.transfer_to_agent_tool": "transfer_to_agent",
    "utils._schema_utils": "validate_schema",
    "utils.model_name_utils": "extract_model_name is_gemini_1_model is_gemini_3_5_live_translate"
    " is_gemini_eap_or_2_or_above is_gemini_model is_gemini_model_id_check_disabled",
    "utils.instructions_utils": "inject_session_state",
    "workflow.utils._workflow_hitl_utils": "create_request_input_response",
    "workflow": "BaseNode DEFAULT_ROUTE Edge FunctionNode JoinNode Node RetryConfig START Workflow"
    " node",
}
_MODULES = {name: module for module, names in _WHERE.items() for name in names.split()}


class Namespace:
    """Public names as attributes: `ns.LlmAgent` is the class that agent authors import."""

    types = types

    def __init__(self, root: str) -> None:
        """Look up names below the package `root`: `devui.runtime` or `google.adk`."""
        self.root = root

    def __getattr__(self, name: str) -> Any:
        if name not in _MODULES:
            raise AttributeError(f"{name}: say in namespace.py which module has it")
        return getattr(import_module(f"{self.root}.{_MODULES[name]}"), name)

    @cached_property
    def Custom(self) -> type:  # noqa: N802
        """An agent whose behavior is a function of its context."""

        class Custom(self.BaseAgent):
            body: Any = None

            async def _run_async_impl(self, ctx):
                async for event in self.body(ctx):
                    yield event

        return Custom

    def content(self, text: str, role: str = "model") -> types.Content:
        """Return a content with one text."""
        return types.Content(role=role, parts=[types.Part(text=text)])

    def response(self, text: str, **fields: Any) -> Any:
        """Return a model response with one text."""
        return self.LlmResponse(content=self.content(text), **fields)

    def event(self, author: str, text: str | None = None, **fields: Any) -> Any:
        """Return an event as a custom agent yields it."""
        content = self.content(text) if text is not None else None
        return self.Event(author=author, content=content, **fields)

    def actions(self, **fields: Any) -> Any:
        """Return the actions of an event."""
        return self.EventActions(**fields)
