"""The whole surface of the server: pages and their actions, the debugger, ADK's REST API."""

from devui.web import adk as adk_web
from devui.web.later import Later
from devui.web.panels import breakpoints
from devui.web.panels.apps import start_views as apps
from devui.web.routing import AdkRoute, Route

app = Later("devui.web.panels.apps.views")
selection = Later("devui.web.panels.apps.selection")
archives = Later("devui.web.panels.bundles.archive")
artifacts = Later("devui.web.panels.artifacts.views")
coding_agents = Later("devui.web.coding_agents.views")
palette = Later("devui.web.panels.palette.views")
search = Later("devui.web.panels.search.views")
search_api = Later("devui.web.panels.search.api")
beside = Later("devui.web.panels.compare.views")
events = Later("devui.web.panels.timeline.views")
requests = Later("devui.web.panels.request.views")
request_api = Later("devui.web.panels.request.api")
runs = Later("devui.web.panels.runs.views")
queueing = Later("devui.web.panels.queue.views")
replaying = Later("devui.web.panels.replays.views")
session = Later("devui.web.panels.session.views")
stream = Later("devui.web.panels.session.live")
trying = Later("devui.web.panels.trials.views")
memory_api = Later("devui.web.panels.memory.api")
memory_views = Later("devui.web.panels.memory.views")
state_edits = Later("devui.web.panels.state.editing")
watched_keys = Later("devui.web.panels.watch.views")
editor = Later("devui.web.panels.editor.views")
values = Later("devui.web.panels.state.value_views")
writes = Later("devui.web.panels.state.history_views")
uncommitted = Later("devui.web.panels.state.uncommitted_api")
compare = Later("devui.web.panels.compare.api")
debug = Later("devui.web.panels.runs.api")
queue = Later("devui.web.panels.queue.api")
questions = Later("devui.web.panels.questions.api")
watch = Later("devui.web.panels.timeline.api")
usage = Later("devui.web.panels.usage.usage")
recovery = Later("devui.web.panels.recovery.api")
replays = Later("devui.web.panels.replays.api")
keeping = Later("devui.web.panels.tests.views")
kept_tests = Later("devui.web.panels.tests.api")
spans = Later("devui.web.panels.trace.api")
traces = Later("devui.web.panels.trace.views")
graphs = Later("devui.web.panels.graph.views")
going = Later("devui.web.panels.recovery.views")
bundles = Later("devui.web.panels.bundles.api")
pruning = Later("devui.web.panels.apps.api")
jobs = Later("devui.web.panels.jobs.api")
notes = Later("devui.web.panels.notes.api")
files = Later("devui.web.panels.bundles.views")
noting = Later("devui.web.panels.notes.views")
keyhistory = Later("devui.web.panels.state.history_api")
trials = Later("devui.web.panels.trials.api")
adk_artifacts = Later("devui.web.adk.artifacts")
adk_run = Later("devui.web.adk.run")
adk_server = Later("devui.web.adk.server")
adk_sessions = Later("devui.web.adk.sessions")

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
    Route("/apps/{app}/tools", trying.tools, methods=["GET"]),
    Route("/apps/{app}/tools/{tool}", trying.tool, methods=["GET", "POST"]),
    Route("/apps/{app}/tools/{tool}/effect", trying.effect, methods=["POST"]),
    Route("/apps/{app}/sessions", app.create_session, methods=["POST"]),
    Route("/apps/{app}/sessions/delete", selection.delete, methods=["POST"]),
    Route("/apps/{app}/sessions/export", archives.export, methods=["POST"]),
    Route("/compare", beside.show, methods=["GET"]),
    Route("/compare/events", beside.pair, methods=["GET"]),
    Route("/compare/rows", beside.stretch, methods=["GET"]),
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
    Route("/sessions/{key}/events/{number}/again", going.again, methods=["GET"]),
    Route(_CALL, trying.tool_call, methods=["GET", "POST"]),
    Route("/sessions/{key}/writes/{direction}", writes.nearest, methods=["GET"]),
    Route("/sessions/{key}/state", events.state, methods=["GET"]),
    Route("/sessions/{key}/state", state_edits.change, methods=["POST"]),
    Route("/sessions/{key}/watched", watched_keys.change, methods=["POST"]),
    Route("/editor", editor.open_place, methods=["POST"]),
    Route("/sessions/{key}/state/keys", values.keys, methods=["GET"]),
    Route("/sessions/{key}/state/value", values.of_state, methods=["GET"]),
    Route("/sessions/{key}/state/history", writes.history, methods=["GET"]),
    Route("/sessions/{key}/standing", runs.run_tab, methods=["GET"]),
    Route("/sessions/{key}/log", runs.log_tab, methods=["GET"]),
    Route("/sessions/{key}/trace", traces.show, methods=["GET"]),
    Route("/sessions/{key}/request", requests.newest, methods=["GET"]),
    Route("/sessions/{key}/graph", graphs.show, methods=["GET"]),
    Route("/sessions/{key}/spans/{span}/raw", requests.raw, methods=["GET"]),
    Route("/sessions/{key}/spans/{span}/blocks/{position}", requests.block, methods=["GET"]),
    Route("/sessions/{key}/spans/{span}/again", trying.again, methods=["GET", "POST"]),
    Route("/sessions/{key}/runs", runs.start, methods=["POST"]),
    Route("/sessions/{key}/queue/{number}", queueing.change, methods=["POST"]),
    Route("/sessions/{key}/answers", runs.answer, methods=["POST"]),
    Route("/sessions/{key}/close", going.close, methods=["POST"]),
    Route("/sessions/{key}/export", files.show, methods=["GET"]),
    Route("/sessions/{key}/test", keeping.show, methods=["GET"]),
    Route("/sessions/{key}/test", keeping.make, methods=["POST"]),
    Route("/sessions/{key}/notes/{number}", noting.change, methods=["POST"]),
    Route("/secrets", session.secrets, methods=["POST"]),
    Route("/notices/seen", session.dismiss_notice, methods=["POST"]),
    Route("/jobs", jobs.show_list, methods=["GET"]),
    Route("/jobs/{job}/stop", jobs.stop_in_list, methods=["POST"]),
    Route("/import", files.take, methods=["POST"]),
    Route("/sessions/{key}/forks", going.fork, methods=["POST"]),
    Route("/sessions/{key}/replays", replaying.start, methods=["POST"]),
    Route("/sessions/{key}/rewind", going.rewind, methods=["POST"]),
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
    *breakpoints.PAGES,
]

debugger = [
    Route("/api/search", search_api.show, methods=["GET"]),
    Route("/api/sessions", debug.sessions, methods=["GET"]),
    Route("/api/sessions/import", bundles.take, methods=["POST"]),
    Route("/api/jobs", jobs.every, methods=["GET"]),
    Route("/api/jobs/{job}", jobs.show, methods=["GET"]),
    Route("/api/jobs/{job}/stop", jobs.stop, methods=["POST"]),
    Route("/api/sessions/prune", pruning.prune, methods=["POST"]),
    Route("/api/sessions/{key}/export", bundles.export, methods=["GET"]),
    Route("/api/sessions/{key}/export/preview", bundles.preview, methods=["GET"]),
    Route("/api/sessions/{key}/notes", notes.every, methods=["GET"]),
    Route("/api/sessions/{key}/notes/{number}", notes.change, methods=["PATCH"]),
    Route("/api/sessions/{key}/runs", debug.start, methods=["POST"]),
    Route("/api/sessions/{key}/run", debug.newest, methods=["GET"]),
    Route("/api/sessions/{key}/queue", queue.show, methods=["GET"]),
    Route("/api/sessions/{key}/queue", queue.add, methods=["POST"]),
    Route("/api/sessions/{key}/queue/{number}", queue.change, methods=["PATCH"]),
    Route("/api/sessions/{key}/queue/{number}", queue.remove, methods=["DELETE"]),
    Route("/api/sessions/{key}/queue/{number}/send", queue.send, methods=["POST"]),
    Route("/api/sessions/{key}/questions", questions.every, methods=["GET"]),
    Route("/api/sessions/{key}/answers", questions.take, methods=["POST"]),
    Route("/api/runs/{run}", debug.show, methods=["GET"]),
    Route("/api/runs/{run}/standing", debug.standing, methods=["GET"]),
    Route("/api/runs/{run}/log", debug.log, methods=["GET"]),
    Route("/api/runs/{run}/commands", debug.command, methods=["POST"]),
    Route("/api/runs/{run}/calls", debug.end_call, methods=["POST"]),
    *breakpoints.API,
    Route("/api/compare", compare.show, methods=["GET"]),
    Route("/api/compare/events", compare.events, methods=["GET"]),
    Route("/api/apps/{app}/memory", memory_api.recall, methods=["GET"]),
    Route("/api/apps/{app}/tools", trials.tools, methods=["GET"]),
    Route("/api/apps/{app}/tools/{tool}", trials.set_effect, methods=["PUT"]),
    Route("/api/apps/{app}/tools/{tool}/trials", trials.tool, methods=["POST"]),
    Route("/api/sessions/{key}/trials", trials.every, methods=["GET"]),
    Route("/api/sessions/{key}/spans/{span}/trials", trials.model, methods=["POST"]),
    Route("/api/sessions/{key}/events", watch.events, methods=["GET"]),
    Route("/api/sessions/{key}/events/{number}", watch.event, methods=["GET"]),
    Route("/api/sessions/{key}/filter", watch.filter_terms, methods=["GET"]),
    Route("/api/sessions/{key}/state", watch.state, methods=["GET"]),
    Route("/api/sessions/{key}/state/history", keyhistory.show, methods=["GET"]),
    Route("/api/sessions/{key}/stream", watch.stream, methods=["GET"]),
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
    Route("/api/sessions/{key}/test", kept_tests.show, methods=["GET"]),
    Route("/api/sessions/{key}/test", kept_tests.make, methods=["POST"]),
    Route("/api/sessions/{key}/edits", debug.edits, methods=["GET"]),
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

# They are tried in this order, and what programs call with each turn comes first.
routes = [*adk, *pages, *debugger, *development, *telemetry, *for_agents]
