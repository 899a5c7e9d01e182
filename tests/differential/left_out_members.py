"""Members and parameters of google-adk's classes that those of the runtime have not, for the guide.

A test holds it against google-adk's: what is told here is not there, and nothing else is missing.
"""

from devui.runtime.left_out import LeftOut

_CONTEXT = "agents.context.Context"
_PARSED = "tools.openapi_tool.openapi_spec_parser.openapi_spec_parser.ParsedOperation"
_REST = "tools.openapi_tool.openapi_spec_parser.rest_api_tool.RestApiTool"


def _of(owner: str, *members: str) -> str:
    """The members of a class; the parameters to make it begin with a bracket."""
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
        "There is no live mode.",
        "`Runner.run_async` with `RunConfig(streaming_mode=StreamingMode.SSE)` streams text.",
    ),
    LeftOut(
        "Members for agents in YAML",
        " ".join(
            f"tools.{each}.from_config"
            for each in (
                "agent_tool.AgentTool",
                "base_tool.BaseTool",
                "base_toolset.BaseToolset",
                "example_tool.ExampleTool",
                "mcp_tool.mcp_toolset.McpToolset",
            )
        ),
        "There are no agents in YAML.",
        "Make the tool in Python: the keywords are the keys of the file.",
    ),
    LeftOut(
        "Contexts of nodes, made by hand",
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
        "A workflow makes the contexts of its nodes; what they know of it is kept in one place.",
        "For a test of a tool or callback, `ToolContext(invocation_context)`.",
    ),
    LeftOut(
        "Tools that toolsets make, made by hand",
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
        "The toolset knows the server and how it is authorised; its tools share that.",
        "`McpToolset` and `OpenAPIToolset`, with `tool_filter` for one tool; of an operation,"
        " `RestApiTool.from_parsed_operation`, and `run_async` calls it. An open client of MCP is"
        " what `await MCPSessionManager.client()` gives.",
    ),
    LeftOut(
        "What belongs to something else that is left out",
        "models.lite_llm.LiteLLMClient.completion models.llm_request.LlmRequest.service_tier"
        " plugins.debug_logging_plugin.DebugLoggingPlugin(tool_result_classifier)"
        " plugins.logging_plugin.LoggingPlugin(tool_result_classifier)"
        " tools.load_artifacts_tool.as_safe_part_for_llm(enable_spreadsheet_parsing)"
        " tools.set_model_response_tool.SetModelResponseTool.func",
        "They are for calls of models that block, Gemini's interactions, classifiers of results"
        " and tables in artifacts, or google-adk's own.",
        "`LiteLLMClient.acompletion`; `process_artifact` of LoadArtifactsTool.",
    ),
    LeftOut(
        "Sessions on database servers",
        _of(
            "sessions.database_session_service.DatabaseSessionService",
            "database_session_factory",
            "db_engine",
        ),
        "There is no SQLAlchemy here, and no driver of PostgreSQL, MySQL or MariaDB: sessions are"
        " kept in SQLite files.",
        "`DatabaseSessionService('sqlite:///sessions.db')`, or a BaseSessionService of your own"
        " that asks your server.",
    ),
)
