"""Members and parameters that google-adk's classes have and the runtime's lack, for the guide.

A test compares the list with google-adk: each of them is missing here, and no others are.
"""

from devui.runtime.left_out import LeftOut

_CONTEXT = "agents.context.Context"
_PARSED = "tools.openapi_tool.openapi_spec_parser.openapi_spec_parser.ParsedOperation"
_REST = "tools.openapi_tool.openapi_spec_parser.rest_api_tool.RestApiTool"


def _of(owner: str, *members: str) -> str:
    """Return qualified names of a class's members; constructor parameters begin with a bracket."""
    return " ".join(f"{owner}{'' if each[0] == '(' else '.'}{each}" for each in members)


MEMBERS = (
    LeftOut(
        "Members for live mode",
        _of(
            "agents.invocation_context.InvocationContext",
            "active_non_blocking_tool_tasks",
            "active_streaming_tools",
        )
        + " "
        + _of(
            "agents.llm_agent.LlmAgent",
            "DEFAULT_LIVE_MODEL",
            "canonical_live_model",
            "canonical_live_model_async",
            "set_default_live_model",
        )
        + " flows.llm_flows.base_llm_flow.BaseLlmFlow.audio_cache_manager"
        " flows.llm_flows.base_llm_flow.BaseLlmFlow.run_live models.FallbackModel.connect"
        " models.base_llm.BaseLlm.connect models.google_llm.Gemini.connect",
        "Live mode isn't supported.",
        "`Runner.run_async` with `RunConfig(streaming_mode=StreamingMode.SSE)` streams text.",
    ),
    LeftOut(
        "Creating node contexts yourself",
        _of(
            _CONTEXT,
            "(attempt_count)",
            "(node)",
            "(node_path)",
            "(parent_ctx)",
            "(resume_inputs)",
            "(run_id)",
            "(use_as_output)",
            "telemetry_context",
        ),
        "A workflow creates the contexts of its nodes and keeps their data in one place.",
        "To test a tool or callback, use `ToolContext(invocation_context)`.",
    ),
    LeftOut(
        "Creating a toolset's tools yourself",
        _of("tools.mcp_tool.mcp_tool.McpTool", "(auth_credential)", "(auth_scheme)")
        + " tools.mcp_tool.mcp_tool.McpTool(header_provider) "
        + _of(_PARSED, "additional_context", "parameters", "return_value")
        + " "
        + _of(
            _REST,
            "(allow_private_network_access)",
            "(auth_credential)",
            "(auth_scheme)",
            "(credential_key)",
            "(description)",
            "(endpoint)",
            "(header_provider)",
            "(httpx_client_factory)",
            "(name)",
            "(should_parse_operation)",
            "(ssl_verify)",
            "call",
            "credential_exchanger",
            "credential_key",
            "from_parsed_operation_str",
        ),
        "The toolset knows the server and its authorization; its tools share them.",
        "Use `McpToolset` and `OpenAPIToolset`, with `tool_filter` for a single tool. For one"
        " operation, use `RestApiTool.from_parsed_operation` and call it with `run_async`. `await"
        " MCPSessionManager.client()` returns an open MCP client.",
    ),
    LeftOut(
        "Members of other parts that are left out",
        "models.lite_llm.LiteLLMClient.completion models.llm_request.LlmRequest.service_tier"
        " plugins.debug_logging_plugin.DebugLoggingPlugin(tool_result_classifier)"
        " plugins.logging_plugin.LoggingPlugin(tool_result_classifier)"
        " tools.load_artifacts_tool.as_safe_part_for_llm(enable_spreadsheet_parsing)"
        " tools.set_model_response_tool.SetModelResponseTool.func",
        "They are for blocking model calls, Gemini's interactions, result classifiers and tables"
        " in artifacts, or are internal to google-adk.",
        "Use `LiteLLMClient.acompletion`, and `process_artifact` of LoadArtifactsTool.",
    ),
    LeftOut(
        "Sessions on database servers",
        _of(
            "sessions.database_session_service.DatabaseSessionService",
            "database_session_factory",
            "db_engine",
        ),
        "The runtime doesn't include SQLAlchemy or drivers for PostgreSQL, MySQL or MariaDB:"
        " sessions are stored in SQLite files.",
        "Use `DatabaseSessionService('sqlite:///sessions.db')`, or your own BaseSessionService for"
        " your server.",
    ),
)
