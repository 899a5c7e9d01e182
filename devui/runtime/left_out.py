"""What google-adk has and this runtime doesn't, and what to use instead (devui's own).

`docs/guide/adk-differences.md` lists these names, and importing one fails with this explanation.
"""

import difflib
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path
from types import ModuleType

from devui.runtime.import_paths import BORROWED, PLACES, AliasFinder, AliasLoader, Paths
from devui.runtime.version import __version__

ROOT = "devui.runtime"

_LISTED = re.compile(r'"([A-Za-z]\w*)"')
_DEFINED = re.compile(
    r"^(?:class |(?:async )?def |(?=[A-Z]\w*[a-z]))([A-Za-z]\w+)(?=[(:\[]| [:=])", re.MULTILINE
)
"""Match the names that a package lists, and those that a module defines."""


_PLACES = {name: place for place, names in PLACES.items() for name in names.split()}


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A topic: the names that belong to it, why they are missing, and what to use instead."""

    topic: str
    names: str
    """Modules and names below the root package, including all below them; separated by spaces."""
    why: str
    instead: str

    def covers(self, name: str) -> bool:
        """Return whether a dotted name below the root belongs to the topic."""
        return any(name == one or name.startswith(f"{one}.") for one in self.names.split())


TABLE = (
    LeftOut(
        "Live mode",
        "live agents.LiveRequest agents.LiveRequestQueue agents.live_request_queue"
        " agents.active_streaming_tool agents.transcription_entry"
        " agents.invocation_context.RealtimeCacheEntry"
        " flows.llm_flows.audio_cache_manager flows.llm_flows.audio_transcriber"
        " flows.llm_flows.base_llm_flow.DEFAULT_MAX_RECONNECT_ATTEMPTS"
        " flows.llm_flows.base_llm_flow.DEFAULT_TASK_COMPLETION_DELAY"
        " flows.llm_flows.base_llm_flow.DEFAULT_TRANSFER_AGENT_DELAY"
        " flows.llm_flows.functions.handle_function_calls_live"
        " flows.llm_flows.transcription_manager models.base_llm_connection"
        " models.gemini_llm_connection",
        "Voice and video require Google's live models, which this runtime doesn't support.",
        "`Runner.run_async` with `RunConfig(streaming_mode=StreamingMode.SSE)` streams text.",
    ),
    LeftOut(
        "Google Cloud",
        "agents.ManagedAgent artifacts.gcs_artifact_service artifacts.GcsArtifactService"
        " code_executors.AgentEngineSandboxCodeExecutor code_executors.GkeCodeExecutor"
        " code_executors.VertexAiCodeExecutor"
        " code_executors.agent_engine_sandbox_code_executor code_executors.gke_code_executor"
        " code_executors.vertex_ai_code_executor skills.list_skills_in_gcs_dir"
        " skills.list_skills_in_gcs_dir_async skills.load_skill_from_gcs_dir"
        " skills.load_skill_from_gcs_dir_async examples.VertexAiExampleStore"
        " examples.vertex_ai_example_store integrations memory.VertexAiMemoryBankService"
        " memory.VertexAiRagMemoryService memory.vertex_ai_memory_bank_service"
        " memory.vertex_ai_rag_memory_service models.ApigeeLlm models.apigee_llm"
        " plugins.bigquery_agent_analytics_plugin sessions.VertexAiSessionService"
        " sessions.vertex_ai_session_service tools.APIHubToolset tools.ApiRegistry"
        " tools.DiscoveryEngineSearchTool tools.RemoteMcpServer tools.SearchResultMode"
        " tools.VertexAiLoadProfilesTool"
        " tools.VertexAiSearchTool tools.api_registry tools.apihub_tool"
        " tools.application_integration_tool tools.bigquery tools.bigtable tools.data_agent"
        " tools.discovery_engine_search_tool tools.google_api_tool tools.google_tool"
        " tools.model_consult tools.pubsub tools.retrieval tools.spanner"
        " tools.vertex_ai_load_profiles_tool tools.vertex_ai_search_tool",
        "These are clients of Google Cloud services and can't run without them.",
        "Services: SqliteSessionService, SqliteMemoryService, FileArtifactService,"
        " UnsafeLocalCodeExecutor. Tools: a function that calls Google's client, or an"
        " OpenAPIToolset.",
    ),
    LeftOut(
        "Agents offered to other servers (A2A, MCP)",
        "a2a.agent a2a.converters a2a.executor a2a.experimental a2a.logs a2a.utils"
        " tools.mcp_tool.to_mcp_server",
        "An Agent2Agent or MCP server is a separate program, and settings inside the client are"
        " rarely needed.",
        "To call agents of other servers, use `RemoteA2aAgent` of agents.remote_a2a_agent. To"
        " offer one, write an AgentExecutor of a2a-sdk, or a tool of an MCP server, that runs it"
        " with a Runner; `adk_to_mcp_tool_type` of tools.mcp_tool.conversion_utils describes"
        " tools.",
    ),
    LeftOut(
        "Evaluation",
        "evaluation optimization tools.agent_simulator tools.environment_simulation",
        "Test tools do this better.",
        "Use pytest: run the agent with a Runner and a ScriptedLlm as its model.",
    ),
    LeftOut(
        "Tools and agents of other frameworks",
        "agents.langgraph_agent tools.CrewaiTool tools.LangchainTool tools.ToolboxToolset"
        " tools.crewai_tool tools.langchain_tool tools.toolbox_toolset",
        "Each requires a whole framework for what a function can do.",
        "Write a function with a docstring that calls the other tool: `def search(query: str) ->"
        " str: return their_tool.run(query)`.",
    ),
    LeftOut(
        "Agents in YAML",
        "agents.BaseAgentConfig agents.LlmAgentConfig agents.LoopAgentConfig"
        " agents.ParallelAgentConfig agents.SequentialAgentConfig agents.agent_config"
        " agents.base_agent.BaseAgentConfig agents.llm_agent.BaseAgentConfig"
        " agents.base_agent_config agents.common_configs agents.config_agent_utils"
        " agents.llm_agent_config agents.loop_agent_config agents.parallel_agent_config"
        " agents.sequential_agent_config tools.agent_tool.AgentToolConfig"
        " tools.example_tool.ExampleToolConfig",
        "These config classes aren't included, because a root_agent.yaml works without them.",
        "Declare settings as fields of your agent class, or as parameters of your tool's"
        " `__init__`; the keys of the file are their names.",
    ),
    LeftOut(
        "Other classes of models",
        "models.AnthropicGenerateContentConfig models.AnthropicLlm models.Claude"
        " models.Gemma models.Gemma3Ollama models.anthropic_llm"
        " models.gemma_llm models.interactions_utils models.OCIGenAILlm models.ServiceTier",
        "One class supports them all.",
        'Use `LiteLlm("anthropic/…")` with devui[litellm], or OpenAILlm for any service with'
        " OpenAI's chat completions.",
    ),
    LeftOut(
        "Parts of LiteLlm",
        "models.lite_llm.ChatCompletionAssistantMessage"
        " models.lite_llm.ChatCompletionFileUrlObject"
        " models.lite_llm.ChatCompletionMessageToolCall"
        " models.lite_llm.ChatCompletionSystemMessage"
        " models.lite_llm.ChatCompletionToolCallFunctionChunk"
        " models.lite_llm.ChatCompletionToolMessage models.lite_llm.ChatCompletionUserMessage"
        " models.lite_llm.CustomStreamWrapper models.lite_llm.Delta"
        " models.lite_llm.FunctionChunk models.lite_llm.Message models.lite_llm.ModelResponse"
        " models.lite_llm.ModelResponseStream models.lite_llm.OpenAIMessageContent"
        " models.lite_llm.ReasoningChunk models.lite_llm.TYPE_LABELS models.lite_llm.TextChunk"
        " models.lite_llm.UsageMetadataChunk models.lite_llm.acompletion"
        " models.lite_llm.completion",
        "They belong to litellm, or are google-adk's types for parts of its answers.",
        "Import them from litellm: `from litellm import acompletion`.",
    ),
    LeftOut(
        "Type variables",
        "agents.base_agent.AgentState agents.base_agent.SelfAgent tools.base_tool.SelfTool"
        " tools.base_toolset.SelfToolset plugins.base_plugin.T",
        "Python has an equivalent.",
        "Use `typing.Self`, or your own `TypeVar` bound to the class.",
    ),
    LeftOut(
        "Code in containers",
        "code_executors.ContainerCodeExecutor code_executors.container_code_executor",
        "It requires a Docker daemon.",
        "Use UnsafeLocalCodeExecutor, which runs code in a local process, or your own"
        " BaseCodeExecutor that calls your sandbox.",
    ),
    LeftOut(
        "Computers, shells and files as tools",
        "tools.bash_tool tools.computer_use tools.environment",
        "They give a model control of the machine; the limits of that should be explicit.",
        "Write a function and wrap it in `FunctionTool(func, require_confirmation=True)`.",
    ),
    LeftOut(
        "Creating google-adk's spans yourself",
        "telemetry.google_cloud telemetry.node_tracing telemetry.setup"
        " telemetry.sqlite_span_exporter telemetry.trace_call_llm"
        " telemetry.trace_merged_tool_calls telemetry.trace_send_data telemetry.trace_tool_call"
        " telemetry.tracer telemetry.tracing runners.tracer plugins.auto_tracing_helpers"
        " plugins.auto_tracing_plugin",
        "The runtime emits google-adk's spans, metrics and log records itself, except"
        " `adk.experimental`.",
        "For your own spans, use OpenTelemetry's `trace.get_tracer(__name__)`; they are children of"
        " the current span.",
    ),
    LeftOut(
        "ADK's command line",
        "cli.main cli.__main__ cli._dev_deploy cli._telemetry cli.adk_web_server cli.agent_graph"
        " cli.agent_test_runner cli.api_server cli.browser cli.built_in_agents cli.cli"
        " cli.cli_create cli.cli_deploy cli.cli_eval cli.cli_tools_click cli.conformance"
        " cli.deployers cli.dev_server cli.plugins cli.trigger_routes"
        " cli.utils.DotAdkFolder cli.utils.create_empty_state"
        " cli.utils._nested_agent_loader cli.utils._onboarding"
        " cli.utils.agent_change_handler cli.utils.agent_loader"
        " cli.utils.base_agent_loader cli.utils.cleanup cli.utils.common"
        " cli.utils.dot_adk_folder cli.utils.evals cli.utils.gcp_utils"
        " cli.utils.graph_serialization cli.utils.graph_visualization"
        " cli.utils.local_storage cli.utils.service_factory cli.utils.shared_value"
        " cli.utils.state",
        "devui has its own commands.",
        "Run `devui AGENTS_DIR`; `cli.fast_api.get_fast_api_app` is available, too.",
    ),
    LeftOut(
        "Feature decorators",
        "utils.feature_decorator",
        "Features can't be switched: the runtime does what google-adk does by default.",
        "Remove the line: your own classes don't need `@experimental`.",
    ),
    LeftOut(
        "Internals of google-adk",
        "dependencies labs agents.llm artifacts.artifact_util"
        " auth.auth_credential.BaseModelWithConfig auth.auth_handler.AUTHLIB_AVAILABLE"
        " auth.auth_preprocessor"
        " auth.exchanger.oauth2_credential_exchanger.AUTHLIB_AVAILABLE"
        " auth.oauth2_credential_util"
        " auth.refresher.oauth2_credential_refresher.AUTHLIB_AVAILABLE"
        " flows.llm_flows.base_llm_flow.TOOLSET_AUTH_CREDENTIAL_ID_PREFIX"
        " flows.llm_flows.base_llm_flow.DEFAULT_ENABLE_CACHE_STATISTICS"
        " flows.llm_flows.base_llm_flow.functions flows.llm_flows.agent_transfer.line_break"
        " flows.llm_flows.compaction.CompactionRequestProcessor"
        " flows.llm_flows.contents.drop_orphaned_function_calls"
        " flows.llm_flows.functions.build_auth_request_event"
        " flows.llm_flows.functions.deep_merge_dicts"
        " flows.llm_flows.functions.generate_auth_event"
        " flows.llm_flows.functions.generate_request_confirmation_event"
        " flows.llm_flows.functions.handle_function_call_list_async"
        " flows.llm_flows.functions.merge_parallel_function_response_events"
        " flows.llm_flows.functions.populate_client_function_call_id"
        " flows.llm_flows.functions.remove_client_function_call_id"
        " flows.llm_flows.context flows.llm_flows.core"
        " flows.llm_flows.context_cache_processor flows.llm_flows.extensions"
        " flows.llm_flows.interactions_processor flows.llm_flows.prompt flows.llm_flows.tools"
        " models.gemini_context_cache_manager"
        " platform.get_random platform.reset_random_provider platform.set_random_provider"
        " platform.thread plugins.plugin_manager.PluginCallbackName"
        " plugins.reflect_retry_tool_plugin.PerToolFailuresCounter"
        " plugins.reflect_retry_tool_plugin.GLOBAL_SCOPE_KEY"
        " sessions.migration sessions.schemas"
        " sessions.sqlite_session_service.APP_STATES_TABLE_SCHEMA"
        " sessions.sqlite_session_service.CREATE_SCHEMA_SQL"
        " sessions.sqlite_session_service.EVENTS_TABLE_SCHEMA"
        " sessions.sqlite_session_service.PRAGMA_FOREIGN_KEYS"
        " sessions.sqlite_session_service.SESSIONS_TABLE_SCHEMA"
        " sessions.sqlite_session_service.USER_STATES_TABLE_SCHEMA"
        " tools.mcp_tool.mcp_session_manager.CheckableMcpHttpClientFactory"
        " tools.mcp_tool.mcp_session_manager.retry_on_errors tools.mcp_tool.session_context"
        " tools.openapi_tool.auth.auth_helpers.INTERNAL_AUTH_PREFIX"
        " tools.openapi_tool.auth.auth_helpers.OpenIdConfig"
        " tools.openapi_tool.auth.auth_helpers.credential_to_param"
        " tools.openapi_tool.auth.credential_exchangers"
        " tools.openapi_tool.common"
        " tools.openapi_tool.openapi_spec_parser.AuthPreparationState"
        " tools.openapi_tool.openapi_spec_parser.OperationParser"
        " tools.openapi_tool.openapi_spec_parser.ToolAuthHandler"
        " tools.openapi_tool.openapi_spec_parser.UnauthorizedRecoveryState"
        " tools.openapi_tool.openapi_spec_parser.snake_to_lower_camel"
        " tools.openapi_tool.openapi_spec_parser.operation_parser"
        " tools.openapi_tool.openapi_spec_parser.rest_api_tool.AuthPreparationState"
        " tools.openapi_tool.openapi_spec_parser.rest_api_tool.snake_to_lower_camel"
        " tools.openapi_tool.openapi_spec_parser.tool_auth_handler utils.agent_info"
        " utils.cache_performance_analyzer utils.content_utils"
        " utils.context_utils.find_context_parameter utils.env_utils"
        " utils.output_schema_utils"
        " utils.streaming_utils utils.variant_utils utils.vertex_ai_utils utils.yaml_utils"
        " skills.DEFAULT_SKILL_SYSTEM_INSTRUCTION",
        "The internals of this runtime are different.",
        "Use public names: each package lists its own in `__all__`.",
    ),
    LeftOut(
        "Asking a stronger model",
        "plugins.ForceEscalationPlugin plugins.ModelConsultObservabilityPlugin"
        " tools.ModelConsultContextConfig tools.ModelConsultTool",
        "They belong to the tool that asks a Google Cloud model for advice.",
        "Use an agent with the stronger model as an AgentTool, and your own BasePlugin to watch"
        " it.",
    ),
    LeftOut(
        "Classifying tool results as failures",
        "plugins.ToolResultClassification plugins.ToolResultClassifier",
        "They are for logging plugins; LoggingPlugin logs each result unchanged.",
        "Use `extract_error_from_result` of ReflectAndRetryToolPlugin, or `after_tool_callback` of"
        " your own BasePlugin.",
    ),
    LeftOut(
        "Skills that a model unloads by itself",
        "tools.skill_toolset.UnloadSkillTool",
        "In google-adk it is an experimental feature that is off by default.",
        "Use `SkillToolset(lifecycle_config=...)`, or call the toolset's `unload_skill`.",
    ),
    LeftOut(
        "Reading web pages",
        "tools.load_web_page",
        "It fetches any URL a model names, even inside your network.",
        "Write a function that fetches the pages you allow, or use url_context with a Gemini"
        " model.",
    ),
)


def topic_of(name: str) -> LeftOut | None:
    """Return the topic to which a name below the root belongs; None if it wasn't left out."""
    return next((left_out for left_out in TABLE if left_out.covers(name)), None)


def explanation(name: str) -> str:
    """Explain why a name below the root is missing, and what to use instead."""
    if left_out := topic_of(name):
        return (
            f"{ROOT} has no {name} ({left_out.topic}). {left_out.why} Instead: {left_out.instead}"
        )
    inside = " Names that begin with _ are internal to google-adk." if "._" in f".{name}" else ""
    return f"{ROOT} has no {name}.{inside}{_suggestion(name)}"


class Explainer:
    """Explains imports below the root that no other finder can serve; for `sys.meta_path`.

    It doesn't inherit from importlib.abc, which takes a while to load.
    """

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Raise ModuleNotFoundError with an explanation; return None for other packages.

        The error has no `name`, because `from package import name` would swallow an error with one.
        """
        where, _, name = fullname.rpartition(".")
        if not fullname.startswith(f"{ROOT}.") or name in vars(sys.modules.get(where, object)):
            return None
        raise ModuleNotFoundError(explanation(fullname.removeprefix(f"{ROOT}.")))


class Modules:
    """Finds the runtime's modules, each as a package; for `sys.meta_path`.

    If a package lacks `name`, `from package import name` looks for a submodule of that name, which
    reaches the Explainer. For a plain module, Python itself would report the missing name.
    """

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return what Python's own finder finds below the root; None for other packages."""
        if not fullname.startswith(f"{ROOT}."):
            return None
        spec = PathFinder.find_spec(fullname, path, target)
        if spec is not None and spec.submodule_search_locations is None:
            spec.submodule_search_locations = []
        if spec is not None and spec.origin and fullname.removeprefix(f"{ROOT}.") in BORROWED:
            spec.loader = AliasLoader(fullname, spec.origin, root=ROOT)
        return spec


def install() -> None:
    """Install the finders; the Explainer is asked last, so it doesn't affect other imports."""
    if not any(isinstance(finder, Explainer) for finder in sys.meta_path):
        sys.meta_path.insert(0, Modules())
        sys.meta_path.extend([Paths(ROOT), AliasFinder(ROOT), Explainer()])


def _suggestion(name: str) -> str:
    where, _, last = name.rpartition(".")
    root = _spelling()
    if home := _PLACES.get(last):
        return f" It is in {root}.{home}."
    if home := _homes().get(last):
        return f" It is in {root}{home.removeprefix(ROOT)}."
    module = sys.modules.get(f"{ROOT}.{where}" if where else ROOT)
    options = {*_public(module), *_modules_in(module)}
    # A class isn't a misspelt module.
    close = closest(last, [one for one in options if one[:1].isupper() == last[:1].isupper()])
    if close:
        return f" Did you mean {close}?"
    names = vars(module).get("__all__") if module and where else None
    listing = f" {root}.{where} has {', '.join(names)}." if names else ""
    return f"{_nowhere(name)}{listing}"


def _spelling() -> str:
    """Return the package as the app imports it: google-adk's if this runtime replaces it."""
    return "google.adk" if sys.modules.get("google.adk") is sys.modules[ROOT] else ROOT


def _nowhere(name: str) -> str:
    """Say that google-adk lacks the name, too: runtime and table cover all its public names."""
    if "._" in f".{name}":
        return ""
    return (
        f" google-adk {__version__} has no public name {name}, either. The app may need another"
        " version of google-adk."
    )


def closest(name: str, options: Iterable[str]) -> str:
    """Return the name that is probably meant, even if capitals differ (LLMAgent); "" if none is."""
    names = {one: one for one in options}
    for spelt, among in ((name, names), (name.lower(), {one.lower(): one for one in names})):
        for close in difflib.get_close_matches(spelt, among, n=1, cutoff=0.8):
            return among[close]
    return ""


def _public(module: ModuleType | None) -> Iterator[str]:
    """Yield a module's public names: those that it lists, or those without a leading `_`."""
    names = vars(module) if module else {}
    yield from names.get("__all__", [one for one in names if not one.startswith("_")])


def _modules_in(module: ModuleType | None) -> Iterator[str]:
    for folder in module.__path__ if module else ():
        yield from (path.stem for path in Path(folder).glob("[!_]*"))


@cache
def _homes() -> dict[str, str]:
    """Map each class and function to the module to import it from, by reading the files as text.

    This is the package that lists it, or the module that defines it; nothing is imported.
    """
    homes: dict[str, str] = {}
    base = Path(sys.modules[ROOT].__path__[0])
    files = sorted(base.rglob("*.py"), key=lambda path: (path.stem != "__init__", len(str(path))))
    for path in files:
        text = path.read_text(encoding="utf-8")
        inside = path.relative_to(base).with_suffix("").parts
        module = ".".join([ROOT, *(part for part in inside if part != "__init__")])
        exports = _LISTED.findall(text) if path.stem == "__init__" else []
        for name in [*exports, *_DEFINED.findall(text)]:
            homes.setdefault(name, module)
    return homes
