"""The whole surface of the server: pages and their actions, the debugger, ADK's REST API."""

import re
from typing import Any

from starlette.routing import Route

from devui.web.later import Later
from devui.web.views import apps

app = Later("devui.web.views.app")
artifacts = Later("devui.web.views.artifacts")
beside = Later("devui.web.views.compare")
breaks = Later("devui.web.views.breakpoints")
calls = Later("devui.web.views.calls")
events = Later("devui.web.views.events")
gutter = Later("devui.web.views.gutter")
notices = Later("devui.web.views.notices")
requests = Later("devui.web.views.requests")
runs = Later("devui.web.views.runs")
replaying = Later("devui.web.views.replays")
session = Later("devui.web.views.session")
standing = Later("devui.web.views.standing")
stream = Later("devui.web.views.stream")
trying = Later("devui.web.views.trying")
writes = Later("devui.web.views.writes")
uncommitted = Later("devui.web.api.uncommitted")
breakpoints = Later("devui.web.api.breakpoints")
compare = Later("devui.web.api.compare")
debug = Later("devui.web.api.debug")
watch = Later("devui.web.api.watch")
usage = Later("devui.web.api.usage")
recovery = Later("devui.web.api.recovery")
replays = Later("devui.web.api.replays")
keeping = Later("devui.web.views.keeping")
kept_tests = Later("devui.web.api.kept_tests")
spans = Later("devui.web.api.spans")
going = Later("devui.web.views.recovery")
bundles = Later("devui.web.api.bundles")
pruning = Later("devui.web.api.pruning")
notes = Later("devui.web.api.notes")
prompt_diffs = Later("devui.web.api.promptdiffs")
files = Later("devui.web.views.bundles")
noting = Later("devui.web.views.notes")
keyhistory = Later("devui.web.api.keyhistory")
tools = Later("devui.web.api.tools")
trials = Later("devui.web.api.trials")
adk_artifacts = Later("devui.web.api.artifacts")
adk_run = Later("devui.web.api.run")
adk_server = Later("devui.web.api.server")
adk_sessions = Later("devui.web.api.sessions")

_USER = "/apps/{app}/users/{user}"
_BREAKPOINTS = "/api/apps/{app}/breakpoints"
_CALL = "/sessions/{key}/events/{number}/calls/{call}"
_NAMED = _USER + "/sessions/{session}"
_FILES = _NAMED + "/artifacts"
_FILE = _FILES + "/{name:path}"


class FileRoute(Route):
    """A route with the name of an artifact, which may hold line ends, also as its last character.

    Starlette's patterns end before a line end, and `.` does not pass one.
    """

    def __init__(self, path: str, endpoint: Any, *, methods: list[str]) -> None:
        super().__init__(path, endpoint, methods=methods)
        pattern = self.path_regex.pattern.removesuffix("$")
        self.path_regex = re.compile(rf"{pattern}\Z", re.DOTALL)


pages = [
    Route("/", apps.show, methods=["GET"]),
    Route("/stream", stream.apps, methods=["GET"]),
    Route("/apps/{app}", app.show, methods=["GET"]),
    Route("/apps/{app}/reload", app.reload, methods=["POST"]),
    Route("/apps/{app}/tools", trying.tools, methods=["GET"]),
    Route("/apps/{app}/tools/{tool}", trying.tool, methods=["GET", "POST"]),
    Route("/apps/{app}/tools/{tool}/effect", trying.effect, methods=["POST"]),
    Route("/apps/{app}/sessions", app.create_session, methods=["POST"]),
    Route("/compare", beside.show, methods=["GET"]),
    Route("/compare/events", beside.pair, methods=["GET"]),
    Route("/compare/rows", beside.stretch, methods=["GET"]),
    Route("/sessions/{key}", session.show, methods=["GET"]),
    Route("/sessions/{key}/stream", stream.session, methods=["GET"]),
    Route("/sessions/{key}/events", events.older, methods=["GET"]),
    Route("/sessions/{key}/filter", events.filter_terms, methods=["GET"]),
    Route("/sessions/{key}/events/{number}", events.show, methods=["GET"]),
    Route("/sessions/{key}/events/{number}/tip", events.tip, methods=["GET"]),
    Route("/sessions/{key}/events/{number}/again", going.again, methods=["GET"]),
    Route("/sessions/{key}/events/{number}/breaks", gutter.sheet, methods=["GET"]),
    Route(
        "/sessions/{key}/events/{number}/calls/{call}", trying.tool_call, methods=["GET", "POST"]
    ),
    Route("/sessions/{key}/breaks", gutter.here, methods=["GET"]),
    Route("/sessions/{key}/hits/{direction}", gutter.hit, methods=["GET"]),
    Route("/sessions/{key}/writes/{direction}", writes.nearest, methods=["GET"]),
    Route("/sessions/{key}/state", events.state, methods=["GET"]),
    Route("/sessions/{key}/state/history", writes.history, methods=["GET"]),
    Route("/sessions/{key}/standing", standing.show, methods=["GET"]),
    Route("/sessions/{key}/log", standing.log, methods=["GET"]),
    Route("/sessions/{key}/trace", requests.trace, methods=["GET"]),
    Route("/sessions/{key}/spans/{span}/raw", requests.raw, methods=["GET"]),
    Route("/sessions/{key}/spans/{span}/blocks/{position}", requests.block, methods=["GET"]),
    Route("/sessions/{key}/spans/{span}/again", trying.again, methods=["GET", "POST"]),
    Route("/sessions/{key}/runs", runs.start, methods=["POST"]),
    Route("/sessions/{key}/answers", runs.answer, methods=["POST"]),
    Route("/sessions/{key}/breakpoints", breaks.add, methods=["POST"]),
    Route("/sessions/{key}/breakpoints/{number}", breaks.change, methods=["POST"]),
    Route("/sessions/{key}/breakpoints/{number}/edit", breaks.edit, methods=["POST"]),
    Route("/sessions/{key}/breakpoints/{number}/delete", breaks.delete, methods=["POST"]),
    Route("/sessions/{key}/close", going.close, methods=["POST"]),
    Route("/sessions/{key}/export", files.show, methods=["GET"]),
    Route("/sessions/{key}/test", keeping.show, methods=["GET"]),
    Route("/sessions/{key}/test", keeping.make, methods=["POST"]),
    Route("/sessions/{key}/notes/{number}", noting.change, methods=["POST"]),
    Route("/notices/seen", notices.seen, methods=["POST"]),
    Route("/import", files.take, methods=["POST"]),
    Route("/sessions/{key}/forks", going.fork, methods=["POST"]),
    Route("/sessions/{key}/replays", replaying.start, methods=["POST"]),
    Route("/sessions/{key}/rewind", going.rewind, methods=["POST"]),
    Route("/sessions/{key}/title", session.rename, methods=["POST"]),
    Route("/sessions/{key}/delete", session.delete, methods=["POST"]),
    Route("/sessions/{key}/artifacts", artifacts.show, methods=["GET"]),
    FileRoute("/sessions/{key}/artifacts/{name:path}", artifacts.show, methods=["GET"]),
    Route("/runs/{run}/commands", runs.command, methods=["POST"]),
    Route("/runs/{run}/calls", calls.end, methods=["POST"]),
    Route("/runs/{run}/stop", runs.stop, methods=["POST"]),
    Route("/runs/{run}/log", runs.log, methods=["GET"]),
]

debugger = [
    Route("/api/sessions", debug.sessions, methods=["GET"]),
    Route("/api/sessions/import", bundles.take, methods=["POST"]),
    Route("/api/sessions/prune", pruning.prune, methods=["POST"]),
    Route("/api/sessions/{key}/export", bundles.export, methods=["GET"]),
    Route("/api/sessions/{key}/export/preview", bundles.preview, methods=["GET"]),
    Route("/api/sessions/{key}/notes", notes.every, methods=["GET"]),
    Route("/api/sessions/{key}/notes/{number}", notes.change, methods=["PATCH"]),
    Route("/api/sessions/{key}/runs", debug.start, methods=["POST"]),
    Route("/api/sessions/{key}/run", debug.newest, methods=["GET"]),
    Route("/api/runs/{run}", debug.show, methods=["GET"]),
    Route("/api/runs/{run}/standing", debug.standing, methods=["GET"]),
    Route("/api/runs/{run}/commands", debug.command, methods=["POST"]),
    Route("/api/runs/{run}/calls", debug.end_call, methods=["POST"]),
    Route(_BREAKPOINTS, breakpoints.every, methods=["GET"]),
    Route(_BREAKPOINTS, breakpoints.add, methods=["POST"]),
    Route(_BREAKPOINTS + "/{number}", breakpoints.change, methods=["PATCH"]),
    Route(_BREAKPOINTS + "/{number}", breakpoints.delete, methods=["DELETE"]),
    Route("/api/compare", compare.show, methods=["GET"]),
    Route("/api/compare/events", compare.events, methods=["GET"]),
    Route("/api/apps/{app}/tools", tools.every, methods=["GET"]),
    Route("/api/apps/{app}/tools/{tool}", tools.say, methods=["PUT"]),
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
    Route("/api/sessions/{key}/spans/{span}/diff", prompt_diffs.show, methods=["GET"]),
    Route("/api/sessions/{key}/hits", breakpoints.hits, methods=["GET"]),
    Route("/api/sessions/{key}/hits", breakpoints.hits_of_draft, methods=["POST"]),
]

adk = [
    Route("/health", adk_server.health, methods=["GET"]),
    Route("/version", adk_server.version, methods=["GET"]),
    Route("/list-apps", adk_server.list_apps, methods=["GET"]),
    Route("/run", adk_run.run, methods=["POST"]),
    Route("/run_sse", adk_run.run_sse, methods=["POST"]),
    Route(_USER + "/sessions", adk_sessions.list_sessions, methods=["GET"]),
    Route(_USER + "/sessions", adk_sessions.create_session, methods=["POST"]),
    Route(_NAMED, adk_sessions.get_session, methods=["GET"]),
    Route(_NAMED, adk_sessions.create_session_named, methods=["POST"]),
    Route(_NAMED, adk_sessions.patch_session, methods=["PATCH"]),
    Route(_NAMED, adk_sessions.delete_session, methods=["DELETE"]),
    Route(_FILES, adk_artifacts.names, methods=["GET"]),
    Route(_FILES, adk_artifacts.save, methods=["POST"]),
    FileRoute(_FILE + "/versions/{version}/metadata", adk_artifacts.metadata, methods=["GET"]),
    FileRoute(_FILE + "/versions/metadata", adk_artifacts.every_metadata, methods=["GET"]),
    FileRoute(_FILE + "/versions/{version}", adk_artifacts.version, methods=["GET"]),
    FileRoute(_FILE + "/versions", adk_artifacts.versions, methods=["GET"]),
    FileRoute(_FILE, adk_artifacts.newest, methods=["GET"]),
    FileRoute(_FILE, adk_artifacts.delete, methods=["DELETE"]),
]

apis = [*debugger, *adk]

routes = [*pages, *apis]
