"""All routes of the server: pages and their actions, the debugger's API, ADK's REST API."""

from devui.web import adk as adk_web
from devui.web.lazy_modules import LazyModule
from devui.web.panels.apps import start_views as apps
from devui.web.routing import AdkRoute, Route

app = LazyModule("devui.web.panels.apps.views")
selection = LazyModule("devui.web.panels.apps.selection")
archives = LazyModule("devui.web.panels.bundles.archive")
artifacts = LazyModule("devui.web.panels.artifacts.views")
coding_agents = LazyModule("devui.web.coding_agents.views")
breakpoint_views = LazyModule("devui.web.panels.breakpoints.views")
breakpoints = LazyModule("devui.web.panels.breakpoints.api")
palette = LazyModule("devui.web.panels.palette.views")
search = LazyModule("devui.web.panels.search.views")
search_api = LazyModule("devui.web.panels.search.api")
compare_views = LazyModule("devui.web.panels.compare.views")
events = LazyModule("devui.web.panels.timeline.views")
requests = LazyModule("devui.web.panels.request.views")
request_api = LazyModule("devui.web.panels.request.api")
runs = LazyModule("devui.web.panels.runs.views")
queue_views = LazyModule("devui.web.panels.queue.views")
replay_views = LazyModule("devui.web.panels.replays.views")
session = LazyModule("devui.web.panels.session.views")
stream = LazyModule("devui.web.panels.session.live")
trial_views = LazyModule("devui.web.panels.trials.views")
memory_api = LazyModule("devui.web.panels.memory.api")
memory_views = LazyModule("devui.web.panels.memory.views")
state_edits = LazyModule("devui.web.panels.state.editing")
watched_keys = LazyModule("devui.web.panels.watch.views")
editor = LazyModule("devui.web.panels.editor.views")
values = LazyModule("devui.web.panels.state.value_views")
writes = LazyModule("devui.web.panels.state.history_views")
uncommitted = LazyModule("devui.web.panels.state.uncommitted_api")
compare = LazyModule("devui.web.panels.compare.api")
runs_api = LazyModule("devui.web.panels.runs.api")
queue = LazyModule("devui.web.panels.queue.api")
questions = LazyModule("devui.web.panels.questions.api")
timeline_api = LazyModule("devui.web.panels.timeline.api")
usage = LazyModule("devui.web.panels.usage.usage")
recovery = LazyModule("devui.web.panels.recovery.api")
replays = LazyModule("devui.web.panels.replays.api")
test_views = LazyModule("devui.web.panels.tests.views")
saved_tests = LazyModule("devui.web.panels.tests.api")
spans = LazyModule("devui.web.panels.trace.api")
traces = LazyModule("devui.web.panels.trace.views")
graphs = LazyModule("devui.web.panels.graph.views")
recovery_views = LazyModule("devui.web.panels.recovery.views")
bundles = LazyModule("devui.web.panels.bundles.api")
pruning = LazyModule("devui.web.panels.apps.api")
sign_in_links = LazyModule("devui.web.security.sign_in_links")
jobs = LazyModule("devui.web.panels.jobs.api")
notes = LazyModule("devui.web.panels.notes.api")
bundle_views = LazyModule("devui.web.panels.bundles.views")
note_views = LazyModule("devui.web.panels.notes.views")
state_history = LazyModule("devui.web.panels.state.history_api")
trials = LazyModule("devui.web.panels.trials.api")
adk_artifacts = LazyModule("devui.web.adk.artifacts")
adk_run = LazyModule("devui.web.adk.run")
adk_server = LazyModule("devui.web.adk.server")
adk_sessions = LazyModule("devui.web.adk.sessions")

_USER = "/apps/{app}/users/{user}"
_CALL = "/sessions/{key}/events/{number}/calls/{call}"
_NAMED = _USER + "/sessions/{session}"
_FILES = _NAMED + "/artifacts"
_FILE = _FILES + "/{name:path}"


pages = [
    Route("/", apps.show, methods=["GET"]),
    Route("/stream", stream.apps, methods=["GET"]),
    Route("/palette", palette.show, methods=["GET"]),
    Route("/search", search.show, methods=["GET"]),
    Route("/apps/{app}", app.show, methods=["GET"]),
    Route("/apps/{app}/reload", app.reload, methods=["POST"]),
    Route("/apps/{app}/engine", app.choose_engine, methods=["POST"]),
    Route("/apps/{app}/graph", graphs.of_app, methods=["GET"]),
    Route("/apps/{app}/memory", memory_views.show, methods=["GET"]),
    Route("/apps/{app}/tools", trial_views.tools, methods=["GET"]),
    Route("/apps/{app}/tools", trial_views.unknown_effects, methods=["POST"]),
    Route("/apps/{app}/tools/{tool}", trial_views.tool, methods=["GET", "POST"]),
    Route("/apps/{app}/tools/{tool}/effect", trial_views.effect, methods=["POST"]),
    Route("/apps/{app}/sessions", app.create_session, methods=["POST"]),
    Route("/apps/{app}/sessions/delete", selection.delete, methods=["POST"]),
    Route("/apps/{app}/sessions/export", archives.export, methods=["POST"]),
    Route("/compare", compare_views.show, methods=["GET"]),
    Route("/compare/events", compare_views.pair, methods=["GET"]),
    Route("/compare/rows", compare_views.folded_rows, methods=["GET"]),
    Route("/sessions/{key}", session.show, methods=["GET"]),
    Route("/sessions/{key}/stream", stream.session, methods=["GET"]),
    Route("/sessions/{key}/rows", events.rows, methods=["GET"]),
    Route("/sessions/{key}/messages", events.messages, methods=["GET"]),
    Route("/sessions/{key}/filter", events.filter_terms, methods=["GET"]),
    Route("/sessions/{key}/events/{number}", events.show, methods=["GET"]),
    Route("/sessions/{key}/events/{number}/value", values.of_event, methods=["GET"]),
    Route("/sessions/{key}/events/{number}/file", artifacts.of_event, methods=["GET"]),
    Route("/sessions/{key}/events/{number}/text", events.text, methods=["GET"]),
    Route("/sessions/{key}/events/{number}/tip", events.tip, methods=["GET"]),
    Route("/sessions/{key}/events/{number}/again", recovery_views.again, methods=["GET"]),
    Route(_CALL, trial_views.tool_call, methods=["GET", "POST"]),
    Route("/sessions/{key}/writes/{direction}", writes.nearest, methods=["GET"]),
    Route("/sessions/{key}/state", events.state, methods=["GET"]),
    Route("/sessions/{key}/state", state_edits.change, methods=["POST"]),
    Route("/sessions/{key}/watched", watched_keys.change, methods=["POST"]),
    Route("/editor", editor.open_place, methods=["POST"]),
    Route("/sessions/{key}/state/keys", values.keys, methods=["GET"]),
    Route("/sessions/{key}/state/value", values.of_state, methods=["GET"]),
    Route("/sessions/{key}/state/history", writes.history, methods=["GET"]),
    Route("/sessions/{key}/activity", runs.run_tab, methods=["GET"]),
    Route("/sessions/{key}/log", runs.log_tab, methods=["GET"]),
    Route("/sessions/{key}/trace", traces.show, methods=["GET"]),
    Route("/sessions/{key}/request", requests.newest, methods=["GET"]),
    Route("/sessions/{key}/graph", graphs.show, methods=["GET"]),
    Route("/sessions/{key}/spans/{span}/raw", requests.raw, methods=["GET"]),
    Route("/sessions/{key}/spans/{span}/blocks/{position}", requests.block, methods=["GET"]),
    Route(
        "/sessions/{key}/spans/{span}/blocks/{position}/file", requests.block_file, methods=["GET"]
    ),
    Route("/sessions/{key}/spans/{span}/again", trial_views.again, methods=["GET", "POST"]),
    Route("/sessions/{key}/runs", runs.start, methods=["POST"]),
    Route("/sessions/{key}/queue/{number}", queue_views.change, methods=["POST"]),
    Route("/sessions/{key}/answers", runs.answer, methods=["POST"]),
    Route("/sessions/{key}/close", recovery_views.close, methods=["POST"]),
    Route("/sessions/{key}/export", bundle_views.show, methods=["GET"]),
    Route("/sessions/{key}/test", test_views.show, methods=["GET"]),
    Route("/sessions/{key}/test", test_views.make, methods=["POST"]),
    Route("/sessions/{key}/notes/{number}", note_views.change, methods=["POST"]),
    Route("/secrets", session.secrets, methods=["POST"]),
    Route("/notices/seen", session.dismiss_notice, methods=["POST"]),
    Route("/jobs", jobs.show_list, methods=["GET"]),
    Route("/jobs/{job}/stop", jobs.stop_in_list, methods=["POST"]),
    Route("/import", bundle_views.take, methods=["POST"]),
    Route("/sessions/{key}/forks", recovery_views.fork, methods=["POST"]),
    Route("/sessions/{key}/replays", replay_views.start, methods=["POST"]),
    Route("/sessions/{key}/rewind", recovery_views.rewind, methods=["POST"]),
    Route("/sessions/{key}/title", session.rename, methods=["POST"]),
    Route("/sessions/{key}/delete", session.delete, methods=["POST"]),
    Route("/sessions/{key}/files", artifacts.tab, methods=["GET"]),
    Route("/sessions/{key}/files", artifacts.upload, methods=["POST"]),
    Route("/sessions/{key}/files/delete", artifacts.delete, methods=["POST"]),
    Route("/sessions/{key}/artifacts", artifacts.show, methods=["GET"]),
    Route("/sessions/{key}/artifacts/{name:path}", artifacts.show, methods=["GET"]),
    Route("/runs/{run}/commands", runs.command, methods=["POST"]),
    Route("/runs/{run}/calls", runs.end_call, methods=["POST"]),
    Route("/runs/{run}/stop", runs.stop, methods=["POST"]),
    Route("/runs/{run}/log", runs.log, methods=["GET"]),
    Route("/sessions/{key}/breakpoints", breakpoint_views.add, methods=["POST"]),
    Route("/sessions/{key}/breakpoints/{number}", breakpoint_views.switch, methods=["POST"]),
    Route("/sessions/{key}/breakpoints/{number}/edit", breakpoint_views.edit, methods=["POST"]),
    Route("/sessions/{key}/breakpoints/{number}/delete", breakpoint_views.delete, methods=["POST"]),
    Route("/sessions/{key}/events/{number}/breaks", breakpoint_views.sheet, methods=["GET"]),
    Route("/sessions/{key}/breaks", breakpoint_views.here, methods=["GET"]),
    Route("/sessions/{key}/hits/{direction}", breakpoint_views.nearest_hit, methods=["GET"]),
]

debugger = [
    Route("/api/search", search_api.show, methods=["GET"]),
    Route("/api/sessions", runs_api.sessions, methods=["GET"]),
    Route("/api/sessions/import", bundles.take, methods=["POST"]),
    Route("/api/jobs", jobs.every, methods=["GET"]),
    Route("/api/jobs/{job}", jobs.show, methods=["GET"]),
    Route("/api/jobs/{job}/stop", jobs.stop, methods=["POST"]),
    Route("/api/sessions/prune", pruning.prune, methods=["POST"]),
    Route("/api/sign-in-links", sign_in_links.make, methods=["POST"]),
    Route("/api/sessions/{key}/export", bundles.export, methods=["GET"]),
    Route("/api/sessions/{key}/export/preview", bundles.preview, methods=["GET"]),
    Route("/api/sessions/{key}/notes", notes.every, methods=["GET"]),
    Route("/api/sessions/{key}/notes/{number}", notes.change, methods=["PATCH"]),
    Route("/api/sessions/{key}/runs", runs_api.start, methods=["POST"]),
    Route("/api/sessions/{key}/run", runs_api.newest, methods=["GET"]),
    Route("/api/sessions/{key}/queue", queue.show, methods=["GET"]),
    Route("/api/sessions/{key}/queue", queue.add, methods=["POST"]),
    Route("/api/sessions/{key}/queue/{number}", queue.change, methods=["PATCH"]),
    Route("/api/sessions/{key}/queue/{number}", queue.remove, methods=["DELETE"]),
    Route("/api/sessions/{key}/queue/{number}/send", queue.send, methods=["POST"]),
    Route("/api/sessions/{key}/questions", questions.every, methods=["GET"]),
    Route("/api/sessions/{key}/answers", questions.take, methods=["POST"]),
    Route("/api/runs/{run}", runs_api.show, methods=["GET"]),
    Route("/api/runs/{run}/activity", runs_api.activity, methods=["GET"]),
    Route("/api/runs/{run}/log", runs_api.log, methods=["GET"]),
    Route("/api/runs/{run}/commands", runs_api.command, methods=["POST"]),
    Route("/api/runs/{run}/calls", runs_api.end_call, methods=["POST"]),
    Route("/api/apps/{app}/breakpoints", breakpoints.every, methods=["GET"]),
    Route("/api/apps/{app}/breakpoints", breakpoints.add, methods=["POST"]),
    Route("/api/apps/{app}/breakpoints/{number}", breakpoints.change, methods=["PATCH"]),
    Route("/api/apps/{app}/breakpoints/{number}", breakpoints.delete, methods=["DELETE"]),
    Route("/api/sessions/{key}/hits", breakpoints.hits, methods=["GET"]),
    Route("/api/sessions/{key}/hits", breakpoints.hits_of_draft, methods=["POST"]),
    Route("/api/compare", compare.show, methods=["GET"]),
    Route("/api/compare/events", compare.events, methods=["GET"]),
    Route("/api/apps/{app}/memory", memory_api.recall, methods=["GET"]),
    Route("/api/apps/{app}/tools", trials.tools, methods=["GET"]),
    Route("/api/apps/{app}/tools/{tool}", trials.set_effect, methods=["PUT"]),
    Route("/api/apps/{app}/tools/{tool}/trials", trials.tool, methods=["POST"]),
    Route("/api/sessions/{key}/trials", trials.every, methods=["GET"]),
    Route("/api/sessions/{key}/spans/{span}/trials", trials.model, methods=["POST"]),
    Route("/api/sessions/{key}/events", timeline_api.events, methods=["GET"]),
    Route("/api/sessions/{key}/events/{number}", timeline_api.event, methods=["GET"]),
    Route("/api/sessions/{key}/filter", timeline_api.filter_terms, methods=["GET"]),
    Route("/api/sessions/{key}/state", timeline_api.state, methods=["GET"]),
    Route("/api/sessions/{key}/state/history", state_history.show, methods=["GET"]),
    Route("/api/sessions/{key}/stream", timeline_api.stream, methods=["GET"]),
    Route("/api/sessions/{key}/uncommitted", uncommitted.show, methods=["GET"]),
    Route("/api/sessions/{key}/cutoff", recovery.show_cutoff, methods=["GET"]),
    Route("/api/sessions/{key}/close", recovery.close, methods=["POST"]),
    Route("/api/sessions/{key}/forks", recovery.forks, methods=["GET"]),
    Route("/api/sessions/{key}/forks", recovery.fork, methods=["POST"]),
    Route("/api/sessions/{key}/rewind", recovery.rewind, methods=["POST"]),
    Route("/api/sessions/{key}/runs", replays.runs, methods=["GET"]),
    Route("/api/sessions/{key}/recording", replays.recording, methods=["GET"]),
    Route("/api/sessions/{key}/replays", replays.start, methods=["POST"]),
    Route("/api/runs/{run}/replay", replays.show, methods=["GET"]),
    Route("/api/sessions/{key}/test", saved_tests.show, methods=["GET"]),
    Route("/api/sessions/{key}/test", saved_tests.make, methods=["POST"]),
    Route("/api/sessions/{key}/edits", runs_api.edits, methods=["GET"]),
    Route("/api/sessions/{key}/usage", usage.show, methods=["GET"]),
    Route("/api/sessions/{key}/spans", spans.every, methods=["GET"]),
    Route("/api/sessions/{key}/trace", spans.trace, methods=["GET"]),
    Route("/api/sessions/{key}/spans/{span}", spans.show, methods=["GET"]),
    Route("/api/sessions/{key}/spans/{span}/diff", request_api.show, methods=["GET"]),
]

adk = [
    AdkRoute("/health", adk_server.health, methods=["GET"]),
    AdkRoute("/version", adk_server.version, methods=["GET"]),
    AdkRoute("/list-apps", adk_server.list_apps, methods=["GET"]),
    AdkRoute("/run", adk_run.run, methods=["POST"]),
    AdkRoute("/run_sse", adk_run.run_sse, methods=["POST"]),
    AdkRoute("/apps/{app}/app-info", adk_server.app_info, methods=["GET"]),
    AdkRoute(_USER + "/memory", adk_sessions.remember, methods=["PATCH"]),
    AdkRoute(_USER + "/sessions", adk_sessions.list_sessions, methods=["GET"]),
    AdkRoute(_USER + "/sessions", adk_sessions.create_session, methods=["POST"]),
    AdkRoute(_NAMED, adk_sessions.get_session, methods=["GET"]),
    AdkRoute(_NAMED, adk_sessions.create_session_named, methods=["POST"]),
    AdkRoute(_NAMED, adk_sessions.patch_session, methods=["PATCH"]),
    AdkRoute(_NAMED, adk_sessions.delete_session, methods=["DELETE"]),
    AdkRoute(_FILES, adk_artifacts.names, methods=["GET"]),
    AdkRoute(_FILES, adk_artifacts.save, methods=["POST"]),
    AdkRoute(_FILE + "/versions/{version}/metadata", adk_artifacts.metadata, methods=["GET"]),
    AdkRoute(_FILE + "/versions/metadata", adk_artifacts.every_metadata, methods=["GET"]),
    AdkRoute(_FILE + "/versions/{version}", adk_artifacts.version, methods=["GET"]),
    AdkRoute(_FILE + "/versions", adk_artifacts.versions, methods=["GET"]),
    AdkRoute(_FILE, adk_artifacts.newest, methods=["GET"]),
    AdkRoute(_FILE, adk_artifacts.delete, methods=["DELETE"]),
]

development = [
    AdkRoute(path, endpoint, methods=methods) for path, endpoint, methods in adk_web.ROUTES
]

telemetry = [Route("/v1/traces", spans.take_otlp, methods=["POST"])]

for_agents = [
    Route("/mcp", coding_agents.mcp, methods=["POST", "DELETE"]),
    Route("/llms.txt", coding_agents.llms, methods=["GET"]),
]

apis = [*debugger, *adk, *development, *telemetry, *for_agents]

# Routes are tried in this order; those that programs call with each turn come first.
routes = [*adk, *pages, *debugger, *development, *telemetry, *for_agents]
