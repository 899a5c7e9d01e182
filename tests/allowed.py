"""The exceptions to the house rules, each with its reason; a test fails if one isn't needed.

A key is `path:Class.function`, or the path alone for a whole file.
"""

from collections.abc import Mapping

MODULE_LINES = {
    "devui/client/endpoints.py": "generated from the routes: one class with a method for each",
}

FUNCTION_LINES: dict[str, str] = {}

COMPLEXITY: dict[str, str] = {}

NESTING = {
    "devui/web/adk/run.py:_events": (
        "batches of news of several kinds, and a generator cannot hand its return to a helper"
    ),
    "devui/runtime/models/scripted_llm.py:ScriptedLlm.generate_content_async": (
        "three kinds of step, and a generator cannot hand its yields to a helper"
    ),
}

POSITIONAL: dict[str, str] = {
    "devui/runtime/flows/llm_flows/functions.py:handle_function_calls_async": (
        "google-adk's; steps of one's own in a flow call it without keywords"
    ),
}

BROAD_EXCEPT = {
    "devui/runtime/agents/yaml_agents.py:_File._agent": (
        "an agent's own class may raise anything if a file leaves out what it needs"
    ),
    "devui/testing/player.py:_answer": (
        "users' modules raise anything while they are imported; pytest reports it"
    ),
    "devui/web/render.py:_BytecodeCache.load_bytecode": (
        "a file that is cut off makes pickle and marshal raise anything; it is written anew"
    ),
    "devui/runtime/agents/base_agent.py:_clean_up": (
        "users' callbacks; the cancellation goes on whatever they raise"
    ),
    "devui/runtime/agents/agent_runs.py:_attempts": (
        "an agent of users; its RetryConfig says whether it is tried again (12.5)"
    ),
    "devui/runtime/agents/llm_agent.py:listed_by": (
        "users' toolsets; an agent runs without one that cannot be listed (adk-runtime 6.1)"
    ),
    "devui/web/text/formulas.py:to_mathml": (
        "a parser that raises errors of many kinds for text from anybody; the source is shown then"
    ),
    "devui/runtime/closing.py:take_all": "what goes wrong is raised when all steps are taken",
    "devui/runtime/jsonable.py:_list_or_repr": (
        "users' iterators; one that breaks off is logged, and does not cost its event (R54)"
    ),
    "devui/runtime/models/fallback_model.py:FallbackModel.generate_content_async": (
        "whatever a model's library raises may carry a status; what carries none is raised again"
    ),
    "devui/runtime/models/gemini_cache.py:_create": (
        "an answer does not depend on a cache, whatever either HTTP client of google-genai raises"
    ),
    "devui/runtime/models/gemini_cache.py:_delete": "a cache that is not deleted ends by itself",
    "devui/runtime/models/lite_llm.py:_facts": (
        "litellm has no narrower type for a model that it does not know"
    ),
    "devui/runtime/agents/hand_over.py:produce": (
        "carries any error of a branch to the consumer, who raises it again"
    ),
    "devui/runtime/tools/argument_converters.py:Converter.__call__": (
        "validators of users' types; the model is told what they raise, and the run goes on"
    ),
    "devui/hosting/host.py:Host._serve": (
        "plugins and services of users, as their app is loaded; the page tells what they raise"
    ),
    "devui/worker/trials.py:Trials._try": (
        "agent code may raise anything, sys.exit() included; it ends the trial, never the worker"
    ),
    "devui/worker/project.py:_extra": "plugins of users; one that fails is left out and logged",
    "devui/worker/project.py:_analytics": "a client of the cloud; without it the app runs on",
    "devui/runtime/cli/service_registry.py:load_services_module": (
        "code of users that registers services; what it raises is logged"
    ),
    "devui/worker/trials.py:_silence": "users' toolsets; what one raises is told on the page",
    "devui/worker/replay/headless.py:Headless.execute": (
        "agent code may raise anything, sys.exit() included; the verdict tells it"
    ),
    "devui/runtime/apps/compaction.py:_summarized": (
        "users' summarizers and models; the whole history is still there, so the run goes on"
    ),
    "devui/runtime/flows/llm_flows/model_call.py:ModelCall._between_callbacks": (
        "the model edge: on_model_error callbacks may answer for any error"
    ),
    "devui/runtime/flows/llm_flows/tool_calls.py:ToolCall._run_guarded": (
        "the tool edge: on_tool_error callbacks may answer for any error"
    ),
    "devui/runtime/flows/llm_flows/tool_calls.py:ToolCall._tell_of_cancellation": (
        "users' callbacks; the cancellation goes on whatever they raise"
    ),
    "devui/runtime/invocations/loop.py:_leave": (
        "the caller has left: a hook that fails is logged, and nobody else can be told"
    ),
    "devui/runtime/invocations/loop.py:_seal_quietly": (
        "the caller has left, or gets another error: what fails besides is logged"
    ),
    "devui/runtime/invocations/toolsets.py:_closed_in_time": (
        "users' toolsets; one that fails to close holds up no other"
    ),
    "devui/runtime/workflow/node_runner.py:_attempt": (
        "users' nodes; the error stands in the run, and is raised where that began"
    ),
    "devui/runtime/workflow/tool_node.py:ToolNode._result": (
        "the tool edge: on_tool_error callbacks may answer for any error"
    ),
    "devui/runtime/plain_threads.py:Outcome.run": (
        "users' functions in a thread; what one raises is raised where it was called"
    ),
    "devui/runtime/plugins/context_filter_plugin.py:ContextFilterPlugin.before_model_callback": (
        "users' filters; a request that cannot be shortened goes out whole"
    ),
    "devui/runtime/plugins/plugin_manager.py:PluginManager._close": (
        "users' plugins; all are closed, then the failures are raised"
    ),
    "devui/runtime/plugins/plugin_manager.py:_first_result": (
        "users' plugins; the error is raised again with the plugin's name"
    ),
    "devui/runtime/plugins/plugin_manager.py:PluginManager._tell_all": (
        "users' plugins; telling them of an error must not hide that error"
    ),
    "devui/runtime/artifacts/message_files.py:save_file": (
        "users' artifact services; a file that cannot be saved stays in the message"
    ),
    "devui/runtime/sessions/state.py:deep_copy": (
        "copying runs methods of users' classes, which raise what they like"
    ),
    "devui/runtime/tools/delegated_agent_tool.py:DelegatedAgentTool.run_async": (
        "users' agents; the model that called one is told why it failed (adk-runtime 12.8)"
    ),
    "devui/runtime/tools/load_artifacts_tool.py:LoadArtifactsTool._load": (
        "users' functions; a file that cannot be prepared is left out of the request"
    ),
    "devui/runtime/tools/skill_script_tool.py:save": (
        "users' artifact services; a file that cannot be kept is not among those that were"
    ),
    "devui/runtime/tools/skill_script_tool.py:RunSkillCommandTool._run": (
        "users' environments; the model is told why a command did not run"
    ),
    "devui/runtime/tools/skill_toolset.py:_refreshed": (
        "users' environments; the model is told what a skill says now, whatever they raise"
    ),
    "devui/runtime/tools/skill_script_tool.py:RunSkillScriptTool._run": (
        "users' code executors; the model is told why a script did not run"
    ),
    "devui/runtime/tools/skill_tools.py:SearchSkillsTool._run": (
        "users' registries; the model is told why a search failed"
    ),
    "devui/runtime/tools/skill_tools.py:SkillTool._skill": (
        "users' registries; the model is told why a skill did not come"
    ),
    "devui/runtime/tools/mcp_tool/mcp_tool.py:McpTool.run_async": (
        "users' servers and what gives them headers; the model is told why a call failed"
    ),
    "devui/runtime/tools/load_mcp_resource_tool.py:LoadMcpResourceTool.process_llm_request": (
        "users' servers; an agent runs without resources that cannot be listed (adk-runtime 8.9)"
    ),
    "devui/runtime/tools/load_mcp_resource_tool.py:LoadMcpResourceTool._contents": (
        "users' servers; a resource that cannot be read is left out of the request"
    ),
    "devui/runtime/tools/memory_tools.py:PreloadMemoryTool.process_llm_request": (
        "users' memory services; an agent that nobody asked to remember goes on without"
    ),
    "devui/store/sqlite/database.py:_run_one": (
        "an error belongs to the job's caller and not to the batch it was written with"
    ),
    "devui/debugger/runs/driver.py:Driver.run": (
        "the run edge on the server: the run ends, is told why, and no other run is hurt"
    ),
    "devui/debugger/background/tasks.py:_run_logged": (
        "the task edge: what a task did not expect is logged and takes no other task down"
    ),
    "devui/debugger/workers/workers.py:Workers._listen.receive": (
        "a worker may send anything: what cannot be taken ends that worker"
    ),
    "devui/worker/instruments/calls.py:Calls.around_model_call": (
        "errors of a call that a person has ended are dropped; all others are raised again"
    ),
    "devui/worker/instruments/calls.py:Calls.around_tool_call": "as above",
    "devui/worker/telemetry_exporters.py:_instrument": (
        "instrumentation of others, which may not fit the library; the app runs without"
    ),
    "devui/worker/tools.py:declaration_of": (
        "users' tools may raise anything when they declare themselves; the form goes without"
    ),
    "devui/worker/state/values.py:_repr": "users' classes may raise anything in their `__repr__`",
    "devui/worker/state/values.py:same": "users' classes may raise anything in their `__eq__`",
    "devui/runtime/mistakes.py:text_of": (
        "str() of a user's exception runs the user's code, which may raise again"
    ),
    "devui/worker/__main__.py:main": (
        "importing an app may raise anything, SystemExit included; its author is told"
    ),
    "devui/worker/runs.py:Runs._run": (
        "the run edge: agent code may raise anything, and it ends its run alone"
    ),
    "devui/worker/tasks.py:TaskInspector.answer": (
        "walks what belongs to others and goes on meanwhile; the thread that hears the server lives"
    ),
    "devui/worker/tasks.py:TaskInspector.blocked": "as above, in the thread of the watchdog",
    "devui/worker/tasks.py:_about": (
        "arguments of calls may be any objects of anybody's, which change meanwhile"
    ),
}

LITERAL_GETATTR = {
    "devui/worker/structure.py:Structure._add": "agents have tools, workflows a graph",
    "devui/worker/structure.py:Structure._add_tool": "a tool may be a function",
    "devui/worker/structure.py:Structure._code_place": "only what wraps a function has one",
    "devui/worker/structure.py:_kind": "custom agents of either runtime are agents, too",
    "devui/worker/structure.py:_named_in": "modules without a file are asked as well",
    "devui/runtime/telemetry/messages.py:error_type": "errors of users and of libraries",
    "devui/runtime/telemetry/tools.py:seconds_of": "spans that are not recorded have no times",
    "devui/worker/tools.py:effect_of_tool": "tools of users and of two runtimes, or functions",
    "devui/worker/tools.py:returns_of": "only tools that wrap a function have one",
    "devui/worker/tools.py:confirmation_of": "only tools of some classes ask, on either runtime",
    "devui/worker/engine.py:Engine._tree": "a field that older versions of google-adk lack",
    "devui/worker/engine.py:_model_name": "the agent's model, or its name",
    "devui/worker/engine.py:_tool_name": "tools of users: objects, functions or toolsets",
    "devui/worker/engines/adk.py:_children": "agents have no graph, and graphs no sub-agents",
    "devui/worker/engines/adk.py:_runner": "a property that google-adk 2.0 lacks",
    "devui/worker/engines/adk.py:_steers": "a field that older versions of google-adk lack",
    "devui/worker/engines/adk.py:_wrap": "a mark on functions of google-adk and of users",
}

INFLATES = {
    "devui/web/assets.py": "it compresses static files, and reads none",
    "devui/web/panels/artifacts/pdf_renderer.py": "it writes pictures, and reads none",
    "devui/web/panels/bundles/archive.py": "it writes archives for download, and reads none",
    "devui/web/panels/trace/api.py": (
        "exporters of OpenTelemetry send gzip; 64 MB come of it at the most"
    ),
}

DYNAMIC_CODE = {
    "devui/worker/debuggers.py:listen": "one package by its name: it needs an extra",
    "devui/__init__.py:serve": "one module of ours, so that importing devui stays cheap",
    "devui/cli/commands.py:_look_for_mistakes": "a module of ours, for mistakes alone",
    "devui/cli/commands.py:CommandGroup.get_command": "names of modules from a table of ours",
    "devui/cli/import_.py:_remote": "one module of ours, by its name: it needs an extra",
    "devui/cli/mcp.py:command": "one module of ours, by its name: it needs an extra",
    "devui/debugger/events/checked.py:event_shape": "one module of ours, by its name",
    "devui/debugger/stepping/gatekeeper.py:_changed_fields": "one module of ours, by its name",
    "devui/runtime/yaml_parser.py": "safe_load makes nothing but data",
    "devui/runtime/exports.py:lazy.load": "module names from a table of ours, never from data",
    "devui/runtime/import_paths.py:Paths._fetch": "module names from a table of ours",
    "devui/runtime/import_paths.py:AliasLoader.exec_module": "loads a module of ours",
    "devui/runtime/import_paths.py:_lend": "module names from a table of ours",
    "devui/runtime/import_paths.py:AliasFinder.find_spec": "module names from a table of ours",
    "devui/runtime/telemetry/switch.py:instruments": "one module of ours, by its name",
    "devui/web/lazy_modules.py:LazyModule.load": "module names from tables of ours",
    "devui/runtime/agents/yaml_agents.py:_File._module": "the author's own code, as in agent.py",
    "devui/worker/loading.py:_description": "modules of the engine, by their names",
    "devui/worker/project.py:_plugin": "plugins that the user names on the command line",
    "devui/worker/project.py:_analytics": "one module of the engine, by its name",
    "devui/worker/project.py:memory_service": "one module of the engine, by its name",
    "devui/runtime/cli/service_registry.py:load_services_module": "the user's `services.py`",
    "devui/runtime/cli/service_registry.py:_register": "classes that the user's YAML names",
    "devui/worker/engines/choice.py:Aliases.create_module": "modules below devui.runtime alone",
    "devui/worker/telemetry_exporters.py:_instrument": "one module of another package, by its name",
    "devui/worker/telemetry.py:start_exporting": "one module of ours, by its name",
    "devui/worker/engines/choice.py:_kit": "module names from a table of ours, never from data",
    "devui/wire/framing.py:codecs": "one module of ours, by its name",
    "devui/worker/standalone.py:provide": "the package itself, from where it lies",
    "devui/worker/loading.py:load": "the agent loader: importing the user's code is its job",
}

WRITES = {
    "devui/web/render.py:_BytecodeCache.dump_bytecode": (
        "compiled templates, beside Python's own bytecode"
    ),
    "devui/web/panels/bundles/archive.py:_archive": (
        "a member of the archive that is being sent; nothing of it is on disk"
    ),
    "devui/debugger/saved_tests/places.py:write_all": (
        "a test that a person places in the project, never among the agents"
    ),
}

BUILT_SQL: dict[str, str] = {
    "devui/store/sqlite/checkup.py:_damaged_texts": (
        "names of tables are no values; they are the schema's"
    ),
}

SLEEPS = {
    "devui/debugger/health/clock_watch.py:ClockWatch._watch": (
        "no system tells of a clock that was moved"
    ),
    "devui/runtime/agents/agent_runs.py:_attempts": "the delay of a RetryConfig (12.5)",
    "devui/runtime/workflow/node_runner.py:perform": "the delay of a RetryConfig (12.5)",
    "devui/debugger/runs/end.py:RunEnd.finish": "nobody tells when a disk works again",
    "devui/debugger/health/journal.py:Health._try_again": "nobody tells when a disk has room again",
    "devui/web/sse.py:EventStream._keep_alive": "it measures silence",
    "devui/web/program.py:_announce_again": "nobody tells when a disk has room again",
    "devui/web/panels/session/live.py:_app_messages": (
        "paces pushes that news has already called for"
    ),
    "devui/cli/follow.py:_stop_job": "jobs have no stream that tells when one ends",
}

SAFE_MARKUP = {
    "devui/web/text/markdown.py:_clean": "cleaned by nh3 just before (R18)",
    "devui/web/render.py:Renderer.part": "the output of a template, which escapes by itself",
}


def settle(findings: Mapping[str, str], reasons: Mapping[str, str], advice: str) -> None:
    """Fail for every finding without a reason, and for every reason without a finding."""
    wrong = [message for key, message in findings.items() if key not in reasons]
    unused = [
        f"tests/allowed.py: {key} needs no exception any more" for key in reasons.keys() - findings
    ]
    assert not wrong, f"{advice}\n" + "\n".join(wrong)
    assert not unused, "\n".join(unused)
